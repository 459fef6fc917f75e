//! Shared receive queues (SRQs).
//!
//! A posted buffer is *available* until an endpoint takes it. It is *outstanding*, and occupies an entry, until the
//! program dequeues its completion. In the completion, a [`srq_accounting::OutstandingRecv`] counts it.
//!
//! Posts, and reports of the transport, lock the accounting. Of the transport's functions, core calls only `post` under
//! this lock. A resize and a new watermark need slow calls of the device. They hold `tuning` while they change the
//! accounting and call the transport, so that both see the changes in the same order. A resize, a new watermark and a
//! query first poll all completions (`Poll::Complete`).

use std::sync::Arc;

use host::lock::Mutex;
use host::memory;

use crate::arena::{Header, Kind};
use crate::error::{Arg, Error, Result, Role, StateError};
use crate::event::{AsyncReason, Streams};
use crate::ia::Ia;
use crate::lmr_table::SegmentList;
use crate::mem::Rights;
use crate::probes::{self, WatermarkKind};
use crate::pz::Pz;
use crate::srq_accounting::{self, Completed, SrqAccounting};
use crate::transport::{Checked, Poll, QueueKind, QueueSnapshot, RecvId, Segment, SharedReceives, Taken, Transport};
use crate::users::Use;

/// A shared receive queue.
pub struct Srq<T: Transport> {
    pub(crate) header: Header,
    pub(crate) ia: Arc<Ia<T>>,
    pub(crate) zone: u32,
    pub(crate) pz: Mutex<Option<Use<Pz<T>>>>,
    max_segments: usize,
    pub(crate) queue: T::Srq,
    /// Serialises changes of size or watermark, each including its call of the transport. Locked before the accounting,
    /// but not for posts and reports.
    tuning: Mutex<()>,
    pub(crate) accounting: Arc<Mutex<SrqAccounting>>,
}

/// The parameters and counters of an SRQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SrqStatus {
    /// Number of entries.
    pub max_recvs: usize,
    /// Maximum segments of a receive.
    pub max_segments: usize,
    /// Low watermark.
    pub low_watermark: usize,
    /// Number of buffers that an endpoint can take.
    pub available: usize,
    /// Number of occupied entries: available buffers, taken ones, and completions that the program has not dequeued.
    pub outstanding: usize,
}

impl<T: Transport> Drop for Srq<T> {
    fn drop(&mut self) {
        srq_accounting::end(&self.accounting);
    }
}

impl<T: Transport> Srq<T> {
    /// Creates an SRQ with `max_recvs` entries, for receives of up to `max_segments` segments.
    ///
    /// # Errors
    /// [`Arg::Attributes`] for a number that is 0 or above the adapter's limit, [`Error::ModelNotSupported`] if the
    /// adapter has no SRQs, [`Error::InsufficientResources`].
    pub fn create(ia: &Arc<Ia<T>>, pz: &Arc<Pz<T>>, max_recvs: usize, max_segments: usize) -> Result<Arc<Self>> {
        let limits = ia.attributes();
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
        let queue = T::Srq::create(&ia.transport, &pz.zone, max_recvs, max_segments)?;
        let mut accounting = SrqAccounting::new(if T::TAKES_RECEIVES { max_segments } else { 0 });
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

    /// Returns whether endpoints in the zone `pz` can use the SRQ.
    pub(crate) fn serves(&self, pz: &Pz<T>) -> bool {
        pz.id() == self.zone || self.ia.attributes().srq_zone_difference
    }

    /// Frees the SRQ and its buffers.
    ///
    /// # Errors
    /// [`StateError::SrqInUse`] while an endpoint is attached.
    pub fn free(&self) -> Result<()> {
        if !self.header.users.retire() {
            return Err(Error::InvalidState(StateError::SrqInUse));
        }
        self.free_anyway();
        Ok(())
    }

    pub(crate) fn free_anyway(&self) {
        self.header.users.retire_anyway();
        self.pz.lock().take();
        // Keeps the handle from reuse until events of this SRQ no longer wait for room in the asynchronous EVD.
        let _dying = self.ia.disown(self);
        self.ia.forget_late(self.header.handle());
    }

    #[inline(never)]
    pub(crate) fn post_any_recv<S: SegmentList + ?Sized>(&self, segments: &S, cookie: u64) -> Result<()> {
        segments.check()?;
        if segments.count() > self.max_segments {
            return Err(Error::InvalidParameter(Arg::SegmentCount));
        }
        let mut checked = Checked::new();
        self.ia.lmrs.check_all(segments, self.zone, Rights::LOCAL_WRITE, &mut checked)?;
        self.hand_in(&checked, cookie)
    }

    /// Returns a snapshot for tools; `None` if another thread holds the lock on the accounting.
    pub(crate) fn glance(&self) -> Option<QueueSnapshot> {
        let accounting = self.accounting.try_lock()?;
        Some(QueueSnapshot {
            handle: self.header.handle(),
            kind: QueueKind::Srq,
            streams: Streams::empty(),
            size: accounting.max_recvs,
            filled: accounting.available,
            low_watermark: if accounting.armed { accounting.low_watermark } else { 0 },
            lost: 0,
            has_waiter: false,
        })
    }

    /// Polls all completions, and returns the status.
    pub fn query(&self) -> SrqStatus {
        self.ia.transport.poll(None, Poll::Complete);
        let accounting = self.accounting.lock();
        SrqStatus {
            max_recvs: accounting.max_recvs,
            max_segments: self.max_segments,
            low_watermark: accounting.low_watermark,
            available: accounting.available,
            outstanding: accounting.outstanding,
        }
    }

    /// Changes the number of entries to `max_recvs`. Keeps the buffers, and does not re-arm the watermark.
    ///
    /// # Errors
    /// [`Arg::QueueLength`] for 0 or above the adapter's limit, [`StateError::SrqTooShort`] below the number of
    /// outstanding buffers or the low watermark, [`Error::InsufficientResources`].
    pub fn resize(&self, max_recvs: usize) -> Result<()> {
        if max_recvs == 0 || max_recvs > self.ia.attributes().max_recvs_per_srq {
            return Err(Error::InvalidParameter(Arg::QueueLength));
        }
        self.ia.transport.poll(None, Poll::Complete);
        let _tuning = self.tuning.lock();
        let grows = {
            let mut accounting = self.accounting.lock();
            if max_recvs < accounting.outstanding || max_recvs < accounting.low_watermark {
                return Err(Error::InvalidState(StateError::SrqTooShort));
            }
            let grows = max_recvs > accounting.len();
            if !grows {
                accounting.max_recvs = max_recvs;
            }
            grows
        };
        if grows {
            // Allocates first, so that `grow` cannot fail after the transport's resize.
            self.accounting.lock().room(max_recvs)?;
            // The accounting is unlocked during the call. A concurrent post fits anyway, because the new size is
            // larger.
            self.queue.resize(&self.ia.transport, max_recvs)?;
            self.accounting.lock().grow(max_recvs)?;
        }
        Ok(())
    }

    /// Sets the low watermark and arms its event, which is raised immediately if fewer buffers are available. With 0 no
    /// event is raised.
    ///
    /// # Errors
    /// [`Arg::Watermark`] above the number of entries, [`Error::ModelNotSupported`] without support by the adapter,
    /// errors of the transport. Watermark and arming are then unchanged.
    pub fn set_low_watermark(&self, low_watermark: usize) -> Result<()> {
        if !self.ia.attributes().srq_low_watermark {
            return Err(Error::ModelNotSupported);
        }
        self.ia.transport.poll(None, Poll::Complete);
        // The accounting is unlocked during the transport's call, so that receives need not wait. This is safe:
        // * `tuning` orders the calls, so the transport is armed for the watermark in the accounting.
        // * Only the accounting raises the event, and disarms with it: one event per arming, even after a late report.
        // * `SharedReceives::arm_limit` also reports buffers taken before it.
        let tuning = self.tuning.lock();
        let (before, mut due) = {
            let mut accounting = self.accounting.lock();
            if low_watermark > accounting.max_recvs {
                return Err(Error::InvalidParameter(Arg::Watermark));
            }
            let before = (accounting.low_watermark, accounting.armed);
            (accounting.low_watermark, accounting.armed) = (low_watermark, true);
            (before, accounting.fires())
        };
        let limit = if due { 0 } else { low_watermark };
        let result = self.queue.arm_limit(&self.ia.transport, limit);
        if result.is_err() {
            // Restores the old watermark. The number of available buffers may have dropped below it during the call.
            let mut accounting = self.accounting.lock();
            (accounting.low_watermark, accounting.armed) = before;
            due = accounting.fires();
        }
        drop(tuning);
        if due {
            self.raise();
        }
        result
    }

    /// Takes the oldest buffer, if it has at least `least` bytes. Returns whether it took the buffer.
    pub(crate) fn take(&self, taken: &mut Taken, least: u64) -> bool {
        let found = self.accounting.lock().take_oldest(taken, least);
        if found == Some(true) {
            self.raise();
        }
        found.is_some()
    }

    /// Takes and completes the oldest buffer, if it has one segment of at least `least` bytes.
    #[inline(always)]
    pub(crate) fn take_one(&self, least: u64) -> Option<(Segment, Completed)> {
        let (cookie, segment, fires) = self.accounting.lock().take_one(least)?;
        if fires {
            self.raise();
        }
        Some((segment, Completed { cookie, charge: srq_accounting::charge(&self.accounting) }))
    }

    pub(crate) fn retake(&self, completed: Completed) -> RecvId {
        // The buffer's record occupies the entry again, so the drop of the charge must not free the entry.
        std::mem::forget(completed.charge);
        self.accounting.lock().retake(completed.cookie)
    }

    /// Records that an endpoint took a buffer. A repeated call for the same buffer has no effect.
    pub(crate) fn taken(&self, id: RecvId) {
        let fires = self.accounting.lock().take(id);
        if fires {
            self.raise();
        }
    }

    #[cold]
    fn raise(&self) {
        probes::watermark(self.header.handle(), WatermarkKind::SrqLow);
        log::debug!(target: host::diagnostics::SRQ, "shared receive queue {}: below the low watermark", self.header.handle());
        self.ia.raise(self.header.handle(), AsyncReason::SrqLowWatermark);
    }

    /// Records that a buffer is complete, and also that an endpoint took it, if [`Srq::taken`] was not called for it.
    /// Returns `None` for an unknown buffer.
    #[inline(always)]
    pub(crate) fn complete(&self, id: RecvId) -> Option<Completed> {
        let (cookie, fires) = self.accounting.lock().complete(id)?;
        if fires {
            self.raise();
        }
        Some(Completed { cookie, charge: srq_accounting::charge(&self.accounting) })
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
