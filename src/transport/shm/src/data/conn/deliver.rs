//! The receives and reports of a connection's receiving direction.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use dat_core::event::Status;
use dat_core::transport::{Delivery, Placement, RecvDone, RecvId, Special, Taken, Verdict};
use dat_memory::datagrams::{DatagramReceiver, Receiver};
use host::cold_path;

use super::{Conn, ConnPhase};
use crate::Shm;
use crate::pending::Pending;
use crate::rx::{Fatal, Stop};
use crate::tx::Tx;

impl Conn {
    #[inline]
    pub fn is_up(&self) -> bool {
        self.phase.load(Ordering::Acquire) == ConnPhase::Up as u8
    }

    /// Takes the next receive for an arriving message. Returns `false` if there is none; a later post then resumes the
    /// connection.
    ///
    /// # Errors
    /// The connection fails.
    pub fn take(self: &Arc<Self>, taken: &mut Taken) -> std::result::Result<bool, Fatal> {
        let note_taken = |id| match self.sink.recv_taken(id) {
            Verdict::Continue => Ok(true),
            Verdict::Break => Err(Fatal::default()),
        };
        if let Receiver::Shared(srq) = &self.receiver {
            if !srq.take(self, taken) {
                self.note_stall(true);
                return Ok(false);
            }
            // If the message waited, a turn that the post did not resume may have found the receive.
            self.note_stall(false);
            return note_taken(taken.id);
        }
        if self.sink.recv_take(taken) {
            return Ok(true);
        }
        // The lock on the endpoint's receives orders a post and the second take: the post sees the flag, or the take
        // sees the receive.
        self.rnr.store(true, Ordering::SeqCst);
        let found = self.sink.recv_take(taken);
        if found {
            self.rnr.store(false, Ordering::SeqCst);
        } else {
            self.note_stall(true);
        }
        Ok(found)
    }

    #[inline]
    pub fn datagrams(&self) -> Option<&DatagramReceiver<Shm>> {
        self.receiver.datagrams()
    }

    /// Completes the next receive, if it has one segment, with a message of `len` bytes that `place` copies.
    ///
    /// # Errors
    /// The reason why the message is not delivered. Sets `failed` to a receive that is too short or has no memory. If
    /// there is no receive, only [`Conn::take`] makes a later post resume the connection.
    #[inline(always)]
    pub fn deliver<'s>(
        &self,
        len: u64,
        solicited: bool,
        failed: &mut Option<RecvId>,
        place: impl Placement<'s>,
    ) -> std::result::Result<(), Stop> {
        let Receiver::Shared(srq) = &self.receiver else {
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
        // SAFETY: the core has posted this receive on the endpoint's adapter.
        let checked = place.section().and_then(|section| unsafe { self.sink.recheck(&segment, section) });
        if len > segment.len || !place.place(&segment, checked) {
            cold_path();
            // The verdict does not matter: the connection fails, and its end returns the buffer.
            let _ = self.sink.recv_taken(id);
            *failed = Some(id);
            return Err(if len > segment.len { Stop::TooLong } else { Stop::NoRegion });
        }
        match self.sink.recv_arrived(RecvDone { id, status: Status::Success, len, solicited }) {
            Verdict::Continue => Ok(()),
            Verdict::Break => Err(Stop::Broken),
        }
    }

    /// Locks the sending direction for `what`. Returns `None` once the connection is closed.
    pub fn with_tx<R>(&self, what: impl FnOnce(&mut Tx) -> R) -> Option<R> {
        self.sink.lock_tx().map(|mut tx| what(&mut tx))
    }

    #[inline]
    pub fn complete(&self, done: RecvDone) {
        self.sink.recv_done(done);
    }

    pub fn complete_special(&self, done: RecvDone, what: Special) {
        self.sink.recv_special(done, what);
    }

    /// Returns the transfers of all peers to and from this process's memory.
    pub fn transfers(&self) -> Option<Pending> {
        self.attachment.get()?.link.context()?.links.transfers()
    }
}
