//! A connection as its receiving direction sees it: the receives of its endpoint or its shared queue, and its reports.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use dat_core::event::Status;
use dat_core::transport::{Delivery, LARGEST_DATAGRAM, Placement, RecvDone, RecvId, Special, Taken, Verdict};
use host::cold_path;

use super::{Conn, ConnPhase};
use crate::pending::Pending;
use crate::rx::{Fatal, Stop};
use crate::tx::Tx;

impl Conn {
    /// True while data flows.
    #[inline]
    pub fn is_up(&self) -> bool {
        self.phase.load(Ordering::Acquire) == ConnPhase::Up as u8
    }

    /// Takes the next receive for a message of `len` bytes that is arriving; false if there is none, and then the connection is
    /// looked at again once there is.
    ///
    /// # Errors
    /// The connection cannot go on.
    pub fn take(self: &Arc<Self>, taken: &mut Taken, len: u64) -> std::result::Result<bool, Fatal> {
        let note_taken = |id| match self.sink.recv_taken(id) {
            Verdict::Continue => Ok(true),
            Verdict::Break => Err(Fatal::default()),
        };
        if let Some(queue) = &self.datagrams {
            if len > LARGEST_DATAGRAM as u64 {
                return Err(Fatal::default());
            }
            if queue.take_datagram(taken, len) {
                return note_taken(taken.id);
            }
            self.sink.datagram_lost();
            return Ok(true);
        }
        if let Some(srq) = &self.srq {
            if !srq.take(self, taken) {
                self.note_stall(true);
                return Ok(false);
            }
            // The message may have waited, and this may not be the turn that the post of the receive began.
            self.note_stall(false);
            return note_taken(taken.id);
        }
        if self.sink.recv_take(taken) {
            return Ok(true);
        }
        // A thread that posts next either finds this set, or posted before the second look: both happen under the lock
        // of the endpoint's receives.
        self.rnr.store(true, Ordering::SeqCst);
        let found = self.sink.recv_take(taken);
        if found {
            self.rnr.store(false, Ordering::SeqCst);
        } else {
            self.note_stall(true);
        }
        Ok(found)
    }

    /// Whether it carries datagrams.
    pub fn has_datagrams(&self) -> bool {
        self.datagrams.is_some()
    }

    /// Completes the next receive with a message of `len` bytes if it has one segment: `place` puts the message there.
    /// [`Conn::take`] is what has the connection looked at again.
    ///
    /// # Errors
    /// The message is not delivered, for this reason. A receive that is too short, or has no memory, is then in `failed`.
    #[inline(always)]
    pub fn deliver<'s>(
        &self,
        len: u64,
        solicited: bool,
        failed: &mut Option<RecvId>,
        place: impl Placement<'s>,
    ) -> std::result::Result<(), Stop> {
        let Some(srq) = &self.srq else {
            let (id, stop) = match self.sink.deliver(len, solicited, place) {
                Delivery::Done => return Ok(()),
                Delivery::Other => {
                    cold_path();
                    return Err(Stop::Other);
                }
                Delivery::TooLong(id) => (id, Stop::TooLong),
                Delivery::NoMemory(id) => (id, Stop::NoRegion),
            };
            cold_path();
            *failed = Some(id);
            return Err(stop);
        };
        let (id, segment) = srq.take_one().ok_or(Stop::Other)?;
        self.note_stall(false);
        // SAFETY: the core has posted it.
        let checked = place.section().and_then(|section| unsafe { self.sink.recheck(&segment, section) });
        if len > segment.len || !place.place(&segment, checked) {
            cold_path();
            // The connection fails anyway, and its end has the buffer from now on.
            let _ = self.sink.recv_taken(id);
            *failed = Some(id);
            return Err(if len > segment.len { Stop::TooLong } else { Stop::NoRegion });
        }
        match self.sink.recv_arrived(RecvDone { id, status: Status::Success, len, solicited }) {
            Verdict::Continue => Ok(()),
            Verdict::Break => Err(Stop::Broken),
        }
    }

    /// Locks the other direction of the connection for `what`; `None` once the connection is over.
    pub fn with_tx<R>(&self, what: impl FnOnce(&mut Tx) -> R) -> Option<R> {
        self.sink.lock_tx().map(|mut tx| what(&mut tx))
    }

    /// Reports a receive that is complete.
    #[inline]
    pub fn complete(&self, done: RecvDone) {
        if self.datagrams.is_some() {
            cold_path();
            // One that is lost has no receive.
            if done.id != RecvId::MAX {
                self.sink.recv_special(done, Special::Datagram);
            }
        } else {
            self.sink.recv_done(done);
        }
    }

    /// Reports a receive that is complete, and that brought more than bytes.
    pub fn complete_special(&self, done: RecvDone, what: Special) {
        self.sink.recv_special(done, what);
    }

    /// The transfers that all peers of this process have under way.
    pub fn transfers(&self) -> Option<Pending> {
        self.attachment.get()?.link.context()?.links.transfers()
    }
}
