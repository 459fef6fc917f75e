//! Accounting of a shared receive queue's buffers.
//!
//! A buffer is *held* from its post to its completion. Its completion event then contains an [`OutstandingRecv`], so
//! the buffer counts as outstanding until the program dequeues the event.
//!
//! An event can outlive the queue. A reference of each event to the accounting would cost two locked instructions, so
//! events have none until the queue is freed: the free adds a reference for each event that still exists.

use std::mem;
use std::ptr::NonNull;
use std::sync::Arc;

use host::cold_path;
use host::epoch::{self, EpochGuard, Memory};
use host::lock::Mutex;
use host::memory::Room;

use crate::error::Result;
use crate::transport::RecvId;

const NONE: u32 = u32::MAX;

/// The state of each buffer, under a lock.
pub(crate) struct SrqAccounting {
    pub max_recvs: usize,
    pub available: usize,
    pub low_watermark: usize,
    pub armed: bool,
    /// `true` if the queue is freed, so that each [`OutstandingRecv`] owns a reference.
    ended: bool,
    /// Number of held buffers and of [`OutstandingRecv`]s.
    outstanding: usize,
    buffers: Vec<Buffer>,
    /// The head of the list of free buffers, or [`NONE`].
    free: u32,
}

#[derive(Clone, Copy)]
enum Buffer {
    /// In the list of free buffers, with the next one or [`NONE`].
    Free(u32),
    /// Posted with this cookie; endpoints can take the buffer.
    Available(u64),
    /// Posted with this cookie; an endpoint has taken the buffer.
    Taken(u64),
}

pub(crate) struct Vacancy<'a> {
    id: u32,
    buffer: &'a mut Buffer,
    free: &'a mut u32,
    outstanding: &'a mut usize,
    available: &'a mut usize,
}

impl Vacancy<'_> {
    #[inline(always)]
    pub fn id(&self) -> RecvId {
        self.id.into()
    }

    #[inline(always)]
    pub fn fill(self, cookie: u64) {
        if let Buffer::Free(next) = *self.buffer {
            *self.free = next;
            *self.buffer = Buffer::Available(cookie);
            *self.outstanding += 1;
            *self.available += 1;
        }
    }
}

impl SrqAccounting {
    pub const fn new() -> Self {
        SrqAccounting {
            max_recvs: 0,
            available: 0,
            low_watermark: 0,
            armed: false,
            ended: false,
            outstanding: 0,
            buffers: Vec::new(),
            free: NONE,
        }
    }

    #[inline(always)]
    pub fn outstanding(&self) -> usize {
        self.outstanding
    }

    pub fn len(&self) -> usize {
        self.buffers.len()
    }

    pub fn room(&mut self, entries: usize) -> Result<()> {
        let more = entries.saturating_sub(self.buffers.len());
        Ok(self.buffers.room(more)?)
    }

    pub fn grow(&mut self, entries: usize) -> Result<()> {
        self.room(entries)?;
        for id in self.buffers.len()..entries {
            self.buffers.push(Buffer::Free(mem::replace(&mut self.free, id as u32)));
        }
        self.max_recvs = entries;
        Ok(())
    }

    #[inline(always)]
    pub fn vacancy(&mut self) -> Option<Vacancy<'_>> {
        if self.outstanding >= self.max_recvs {
            return None;
        }
        let SrqAccounting { buffers, free, outstanding, available, .. } = self;
        let id = *free;
        Some(Vacancy { id, buffer: buffers.get_mut(id as usize)?, free, outstanding, available })
    }

    /// Records that an endpoint took a buffer. Returns whether to raise the watermark event.
    #[inline(always)]
    pub fn take(&mut self, id: RecvId) -> bool {
        match self.buffers.get_mut(id as usize) {
            Some(buffer @ &mut Buffer::Available(cookie)) => {
                *buffer = Buffer::Taken(cookie);
                self.took()
            }
            _ => false,
        }
    }

    /// Frees a completed buffer. Returns its cookie and whether to raise the watermark event, or `None` if the buffer
    /// was free already.
    #[inline(always)]
    fn complete(&mut self, id: RecvId) -> Option<(u64, bool)> {
        let buffer = self.buffers.get_mut(id as usize)?;
        let (cookie, available) = match *buffer {
            Buffer::Available(cookie) => (cookie, true),
            Buffer::Taken(cookie) => (cookie, false),
            Buffer::Free(_) => return None,
        };
        *buffer = Buffer::Free(mem::replace(&mut self.free, id as u32));
        Some((cookie, available && self.took()))
    }

    fn charges(&self) -> usize {
        let held = self.buffers.iter().filter(|buffer| !matches!(buffer, Buffer::Free(_))).count();
        self.outstanding - held
    }

    #[inline(always)]
    fn took(&mut self) -> bool {
        self.available -= 1;
        self.armed && self.fires()
    }

    /// Returns whether to raise the watermark event, and disarms it, so that it is raised at most once per arming.
    #[inline]
    pub fn fires(&mut self) -> bool {
        let due = self.armed && self.available < self.low_watermark;
        if due {
            self.armed = false;
        }
        due
    }
}

pub(crate) struct Completed {
    pub cookie: u64,
    pub charge: OutstandingRecv,
}

#[inline(always)]
pub(crate) fn complete(accounting: &Arc<Mutex<SrqAccounting>>, id: RecvId) -> Option<(Completed, bool)> {
    let (cookie, fires) = accounting.lock().complete(id)?;
    // SAFETY: the address of an Arc's value is not null.
    let charge = OutstandingRecv(unsafe { NonNull::new_unchecked(Arc::as_ptr(accounting).cast_mut()) });
    Some((Completed { cookie, charge }, fires))
}

pub(crate) fn end(accounting: &Arc<Mutex<SrqAccounting>>) {
    {
        let mut books_now = accounting.lock();
        books_now.ended = true;
        for _ in 0..books_now.charges() {
            // The drop of an [`OutstandingRecv`] drops this reference.
            mem::forget(accounting.clone());
        }
    }
    // Waits for drops that found `ended` unset and may still hold the lock, without a reference. Later drops find it
    // set.
    epoch::synchronize::<Memory>(None);
}

/// A completed buffer whose event the program has not dequeued.
#[derive(Debug)]
pub(crate) struct OutstandingRecv(NonNull<Mutex<SrqAccounting>>);

// SAFETY: any thread may lock the accounting.
unsafe impl Send for OutstandingRecv {}

impl OutstandingRecv {
    /// Removes this object from the outstanding ones. Returns whether it owns a reference, which the caller must drop.
    ///
    /// # Safety
    /// The accounting must outlive the call.
    #[inline(always)]
    unsafe fn settle(&self) -> bool {
        // SAFETY: the caller promises that the accounting lives.
        let mut accounting = unsafe { self.0.as_ref() }.lock();
        accounting.outstanding -= 1;
        accounting.ended
    }

    #[cold]
    #[inline(never)]
    fn settle_counted(&self) {
        let address = self.0.as_ptr();
        // SAFETY: this is the address of an Arc's value, which lives while it counts this object.
        unsafe { Arc::increment_strong_count(address) };
        // SAFETY: the new reference keeps the accounting alive.
        let references = 1 + usize::from(unsafe { self.settle() });
        // SAFETY: one reference was added above. If there is a second one, this object owns it, because the queue is
        // freed.
        (0..references).for_each(|_| unsafe { Arc::decrement_strong_count(address) });
    }
}

impl Drop for OutstandingRecv {
    #[inline(never)]
    fn drop(&mut self) {
        let Some(section) = EpochGuard::<Memory>::enter() else {
            cold_path();
            return self.settle_counted();
        };
        // SAFETY: the accounting lives while it counts this object, and after that until the section ends.
        let ended = unsafe { self.settle() };
        drop(section);
        if ended {
            cold_path();
            // SAFETY: the queue has ended, so this object owns a reference.
            unsafe { Arc::decrement_strong_count(self.0.as_ptr()) };
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
