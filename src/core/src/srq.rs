//! Shared receive queues.
//!
//! A posted buffer is *available* until an endpoint takes it and *outstanding* until the
//! program has dequeued its completion, which a [`srq_accounting::OutstandingRecv`] counts.
//!
//! Posts and reports wait for the lock on the books, so under it the transport is called to hand over a buffer and for
//! nothing else. Resizes and new watermarks, which are calls of the device, have a lock of their own around the books
//! and the call, so they reach the transport in the order in which they entered the books. Queries, resizes and new
//! watermarks first have the transport report all that has happened (`Poll::Complete`); a transport reports only what
//! it has consumed. The books alone decide on the event of the low watermark and disarm when they find it due, so it
//! comes once for each arming. A buffer taken between the books and the device is not lost: a transport that is armed
//! reports taken buffers if its limit is undercut already.

use std::sync::Arc;

use host::lock::Mutex;
use host::memory;

use crate::error::{Arg, Error, Result, Role, StateError};
use crate::event::AsyncReason;
use crate::ia::Ia;
use crate::lmr_table::SegmentList;
use crate::mem::Rights;
use crate::probes::{self, WatermarkKind};
use crate::pz::Pz;
use crate::slab::{Handle, Header, Kind};
use crate::srq_accounting::{self, Completed, SrqAccounting};
use crate::transport::{Checked, Poll, RecvId, Transport};
use crate::users::Use;

/// A shared receive queue.
pub struct Srq<T: Transport> {
    pub(crate) header: Header,
    pub(crate) ia: Arc<Ia<T>>,
    pub(crate) zone: u32,
    pz: Mutex<Option<Use<Pz<T>>>>,
    max_segments: usize,
    /// The transport's side of it.
    pub(crate) queue: T::Srq,
    /// Held during a change of the size or the watermark, including the transport's part, so that there is one change
    /// at a time. Taken before the books, and never for posting or receiving.
    tuning: Mutex<()>,
    pub(crate) accounting: Arc<Mutex<SrqAccounting>>,
}

/// The parameters of a queue, as [`Srq::query`] shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SrqStatus {
    /// Entries that the queue has.
    pub max_recvs: usize,
    /// Segments that a receive can have.
    pub max_segments: usize,
    /// The watermark last set.
    pub low_watermark: usize,
    /// Buffers that endpoints can take.
    pub available: usize,
    /// Entries occupied.
    pub outstanding: usize,
}

impl<T: Transport> Drop for Srq<T> {
    fn drop(&mut self) {
        srq_accounting::end(&self.accounting);
    }
}

impl<T: Transport> Srq<T> {
    /// Makes a queue for `max_recvs` receives of up to `max_segments` segments, to which no
    /// endpoint is attached.
    ///
    /// # Errors
    /// [`Arg::Attributes`] for a size of 0 or above the adapter's limits,
    /// [`Error::ModelNotSupported`], [`Error::InsufficientResources`].
    pub fn create(ia: &Arc<Ia<T>>, pz: &Arc<Pz<T>>, max_recvs: usize, max_segments: usize) -> Result<Arc<Self>> {
        let limits = ia.transport.attributes();
        if !limits.srq {
            return Err(Error::ModelNotSupported);
        }
        let fits =
            (1..=limits.max_recvs_per_srq).contains(&max_recvs) && (1..=limits.max_segments).contains(&max_segments);
        if !fits {
            return Err(Error::InvalidParameter(Arg::Attributes));
        }
        ia.room_for(Kind::Srq)?;
        let pz = Use::of(pz).ok_or(Error::InvalidHandle(Role::Pz))?;
        let queue = ia.transport.srq_create(&pz.zone, max_recvs, max_segments)?;
        let mut accounting = SrqAccounting::new();
        accounting.grow(max_recvs)?;
        ia.adopt(Srq {
            header: Header::default(),
            ia: ia.clone(),
            zone: pz.id(),
            pz: Mutex::new(Some(pz)),
            max_segments,
            queue,
            tuning: Mutex::default(),
            accounting: memory::arc(Mutex::new(accounting))?,
        })
    }

    /// The queue of the receives that are posted to an endpoint for datagrams, which has no handle.
    pub(crate) fn of_endpoint(ia: &Arc<Ia<T>>, pz: &Arc<Pz<T>>, max_recvs: usize) -> Result<Arc<Self>> {
        let max_segments = ia.transport.attributes().max_segments;
        let queue = ia.transport.srq_create(&pz.zone, max_recvs.max(1), max_segments)?;
        let mut accounting = SrqAccounting::new();
        accounting.grow(max_recvs)?;
        Ok(memory::arc(Srq {
            header: Header::default(),
            ia: ia.clone(),
            zone: pz.id(),
            // The endpoint uses the zone.
            pz: Mutex::new(None),
            max_segments,
            queue,
            tuning: Mutex::default(),
            accounting: memory::arc(Mutex::new(accounting))?,
        })?)
    }

    /// Whether it is one made by [`Srq::of_endpoint`]. Its buffers are free as soon as they are complete, whenever the program
    /// takes their completions.
    #[inline(always)]
    pub(crate) fn is_of_endpoint(&self) -> bool {
        self.header.handle() == Handle::NULL
    }

    /// Makes room for `max_recvs` receives, if there is less.
    pub(crate) fn make_room(&self, max_recvs: usize) -> Result<()> {
        if max_recvs > self.accounting.lock().len() {
            self.ia.transport.srq_resize(&self.queue, max_recvs)?;
            self.accounting.lock().grow(max_recvs)?;
        }
        Ok(())
    }

    /// Frees the queue; buffers on it vanish.
    ///
    /// # Errors
    /// [`StateError::SrqInUse`] while an endpoint is attached.
    pub fn free(&self) -> Result<()> {
        if !self.header.users.retire() {
            return Err(Error::InvalidState(StateError::SrqInUse));
        }
        self.reclaim();
        Ok(())
    }

    pub(crate) fn free_anyway(&self) {
        self.header.users.retire_anyway();
        self.reclaim();
    }

    fn reclaim(&self) {
        self.pz.lock().take();
        self.ia.disown(self);
    }

    /// Its protection zone; `None` once freed.
    pub fn pz(&self) -> Option<Arc<Pz<T>>> {
        self.pz.lock().as_ref().map(|pz| pz.object().clone())
    }

    /// Posts a receive of any number of segments.
    #[inline(never)]
    pub(crate) fn post_any_recv<S: SegmentList + ?Sized>(&self, segments: &S, cookie: u64) -> Result<()> {
        segments.check()?;
        if segments.count() > self.max_segments {
            return Err(Error::InvalidParameter(Arg::SegmentCount));
        }
        let mut checked = Checked::new();
        self.ia.lmrs.check_all(segments, self.zone, Rights::LOCAL_WRITE, &mut checked)?;
        self.hand_in(&checked, cookie).map(|_| ())
    }

    /// The sizes, the watermark and the counters, exact at this moment.
    pub fn query(&self) -> SrqStatus {
        self.ia.transport.poll(None, Poll::Complete);
        let accounting = self.accounting.lock();
        SrqStatus {
            max_recvs: accounting.max_recvs,
            max_segments: self.max_segments,
            low_watermark: accounting.low_watermark,
            available: accounting.available,
            outstanding: accounting.outstanding(),
        }
    }

    /// Changes the number of entries to `max_recvs`. No buffer and no message is lost; the
    /// watermark stays armed, or not, as it was.
    ///
    /// # Errors
    /// [`Arg::QueueLength`] for 0 or above the adapter's limit, [`StateError::SrqTooShort`]
    /// below the outstanding buffers or the low watermark,
    /// [`Error::InsufficientResources`].
    pub fn resize(&self, max_recvs: usize) -> Result<()> {
        if max_recvs == 0 || max_recvs > self.ia.transport.attributes().max_recvs_per_srq {
            return Err(Error::InvalidParameter(Arg::QueueLength));
        }
        self.ia.transport.poll(None, Poll::Complete);
        let _tuning = self.tuning.lock();
        let grows = {
            let mut accounting = self.accounting.lock();
            if max_recvs < accounting.outstanding() || max_recvs < accounting.low_watermark {
                return Err(Error::InvalidState(StateError::SrqTooShort));
            }
            let grows = max_recvs > accounting.len();
            if !grows {
                accounting.max_recvs = max_recvs;
            }
            grows
        };
        if grows {
            // What can fail comes first.
            self.accounting.lock().room(max_recvs)?;
            // The new size is larger than the old one, so all buffers posted meanwhile fit it as well.
            self.ia.transport.srq_resize(&self.queue, max_recvs)?;
            self.accounting.lock().grow(max_recvs)?;
        }
        Ok(())
    }

    /// Sets the low watermark and arms its event. The event is raised at once if fewer buffers are available already. 0
    /// disarms it.
    ///
    /// # Errors
    /// [`Arg::Watermark`] above the number of entries, [`Error::ModelNotSupported`], or the error of the transport. The
    /// old watermark then stays in force, armed or not as it was.
    pub fn set_low_watermark(&self, low_watermark: usize) -> Result<()> {
        if !self.ia.transport.attributes().srq_low_watermark {
            return Err(Error::ModelNotSupported);
        }
        self.ia.transport.poll(None, Poll::Complete);
        // The transport is armed without holding the books' lock, because receives would wait for it. Nothing is lost:
        // * Calls pass from the books to the transport in order, so the transport ends up armed for the watermark in
        //   the books.
        // * Only the books decide whether the event is due, and they disarm in the same step. So the event comes once
        //   for each arming, whether from here, from `taken`, or from a late report of the transport on an earlier
        //   arming.
        // * A buffer that is taken before the transport is armed is still reported, as `Transport::srq_arm_limit`
        //   promises.
        let tuning = self.tuning.lock();
        let (before, due) = {
            let mut accounting = self.accounting.lock();
            if low_watermark > accounting.max_recvs {
                return Err(Error::InvalidParameter(Arg::Watermark));
            }
            let before = (accounting.low_watermark, accounting.armed);
            (accounting.low_watermark, accounting.armed) = (low_watermark, true);
            (before, accounting.fires())
        };
        let limit = if due { 0 } else { low_watermark };
        let result = self.ia.transport.srq_arm_limit(&self.queue, limit);
        let due = match result {
            Ok(()) => due,
            // The old watermark stays in force; the available buffers may have dropped below it meanwhile.
            Err(_) => {
                let mut accounting = self.accounting.lock();
                (accounting.low_watermark, accounting.armed) = before;
                accounting.fires()
            }
        };
        drop(tuning);
        if due {
            self.raise();
        }
        result
    }

    /// Records that an endpoint took a buffer. Harmless if it was reported already.
    pub(crate) fn taken(&self, id: RecvId) {
        let fires = self.accounting.lock().take(id);
        if fires {
            self.raise();
        }
    }

    /// Raises the watermark's event.
    #[cold]
    fn raise(&self) {
        probes::watermark(self.header.handle(), WatermarkKind::SrqLow);
        log::debug!(target: host::diagnostics::SRQ, "shared receive queue {}: below the low watermark", self.header.handle());
        self.ia.raise(self.header.handle(), AsyncReason::SrqLowWatermark);
    }

    /// Records that a buffer is complete, and before that, if it was not reported, that an endpoint took it. `None` if
    /// there is no such buffer.
    #[inline(always)]
    pub(crate) fn complete(&self, id: RecvId) -> Option<Completed> {
        let (completed, fires) = srq_accounting::complete(&self.accounting, id)?;
        if fires {
            self.raise();
        }
        Some(completed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
