//! The books of a shared receive queue: where each of its buffers is.
//!
//! A buffer is *held* from its post until it is complete. Then its number is free again, and a [`OutstandingRecv`] counts it: that
//! travels into the completion event, and whatever becomes of the event, dropping the charge takes the buffer off the
//! count.
//!
//! An event may outlive the queue, so the books live as long as there are charges. Since a reference for each would cost
//! two locked instructions a message, the charges of a queue that lives have none: the queue gives each of them one when
//! it ends.

use std::mem;
use std::ptr::NonNull;
use std::sync::Arc;

use host::cold_path;
use host::epoch::{self, EpochGuard, Memory};
use host::lock::Mutex;
use host::memory::Room;

use crate::error::Result;
use crate::transport::RecvId;

/// The number of no buffer.
const NONE: u32 = u32::MAX;

/// The place of each buffer. Posting and receiving wait for the lock on this.
pub(crate) struct SrqAccounting {
    pub max_recvs: usize,
    pub available: usize,
    pub low_watermark: usize,
    pub armed: bool,
    /// Whether the queue has ended, so that each charge has a reference to the books.
    ended: bool,
    /// The number of entries that are occupied: the buffers that were posted and are not complete, and the charges.
    outstanding: usize,
    /// The buffers by receive number.
    buffers: Vec<Buffer>,
    /// The free buffer that was in use last.
    free: u32,
}

/// A buffer, which is free, available or taken.
#[derive(Clone, Copy)]
enum Buffer {
    /// The number of another free buffer, or [`NONE`].
    Free(u32),
    /// Endpoints can take it. With the cookie that the poster gave.
    Available(u64),
    /// An endpoint has taken it.
    Taken(u64),
}

/// A free buffer, about to be posted.
pub(crate) struct Vacancy<'a> {
    id: u32,
    buffer: &'a mut Buffer,
    free: &'a mut u32,
    outstanding: &'a mut usize,
    available: &'a mut usize,
}

impl Vacancy<'_> {
    /// Its receive number.
    #[inline(always)]
    pub fn id(&self) -> RecvId {
        self.id.into()
    }

    /// Notes that it was posted.
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
    /// SrqAccounting of no buffers.
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

    /// The number of entries that are occupied.
    #[inline(always)]
    pub fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// The number of buffers that there is memory for.
    pub fn len(&self) -> usize {
        self.buffers.len()
    }

    /// Gets the memory for `entries` buffers at a time.
    ///
    /// # Errors
    /// [`crate::error::Resource::Memory`].
    pub fn room(&mut self, entries: usize) -> Result<()> {
        let more = entries.saturating_sub(self.buffers.len());
        Ok(self.buffers.room(more)?)
    }

    /// Makes room for `entries` buffers at a time.
    ///
    /// # Errors
    /// Those of [`SrqAccounting::room`].
    pub fn grow(&mut self, entries: usize) -> Result<()> {
        self.room(entries)?;
        for id in self.buffers.len()..entries {
            self.buffers.push(Buffer::Free(mem::replace(&mut self.free, id as u32)));
        }
        self.max_recvs = entries;
        Ok(())
    }

    /// A free buffer; `None` if all entries are occupied.
    #[inline(always)]
    pub fn vacancy(&mut self) -> Option<Vacancy<'_>> {
        if self.outstanding >= self.max_recvs {
            return None;
        }
        let SrqAccounting { buffers, free, outstanding, available, .. } = self;
        let id = *free;
        Some(Vacancy { id, buffer: buffers.get_mut(id as usize)?, free, outstanding, available })
    }

    /// Notes that an endpoint took a buffer. Returns whether the watermark's event is due.
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

    /// Notes that a buffer is complete, and before that, if it was not noted, that an endpoint took it. From now on a
    /// charge counts it. Returns its cookie, and whether the watermark's event is due; `None` if there is no such buffer.
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

    /// The buffers that endpoints can take, in no order.
    pub fn all_available(&self) -> Vec<RecvId> {
        let available = |buffer: &Buffer| matches!(buffer, Buffer::Available(_));
        (0..).zip(&self.buffers).filter(|(_, buffer)| available(buffer)).map(|(id, _)| id).collect()
    }

    /// The number of charges.
    fn charges(&self) -> usize {
        let held = self.buffers.iter().filter(|buffer| !matches!(buffer, Buffer::Free(_))).count();
        self.outstanding - held
    }

    /// Counts a buffer that an endpoint took. Returns whether the watermark's event is due.
    #[inline(always)]
    fn took(&mut self) -> bool {
        self.available -= 1;
        self.armed && self.fires()
    }

    /// Whether the watermark's event is due; true once for each arming.
    #[inline]
    pub fn fires(&mut self) -> bool {
        let due = self.armed && self.available < self.low_watermark;
        if due {
            self.armed = false;
        }
        due
    }
}

/// A buffer that is complete.
pub(crate) struct Completed {
    /// The cookie that the poster gave.
    pub cookie: u64,
    /// The charge for its event.
    pub charge: OutstandingRecv,
}

/// Does what [`SrqAccounting::complete`] does with locked books, and makes the charge.
#[inline(always)]
pub(crate) fn complete(accounting: &Arc<Mutex<SrqAccounting>>, id: RecvId) -> Option<(Completed, bool)> {
    let (cookie, fires) = accounting.lock().complete(id)?;
    // SAFETY: the address of what an Arc has is not null.
    let charge = OutstandingRecv(unsafe { NonNull::new_unchecked(Arc::as_ptr(accounting).cast_mut()) });
    Some((Completed { cookie, charge }, fires))
}

/// Ends the books of a queue that has neither users nor buffers any more, only charges.
pub(crate) fn end(accounting: &Arc<Mutex<SrqAccounting>>) {
    {
        let mut books_now = accounting.lock();
        books_now.ended = true;
        for _ in 0..books_now.charges() {
            // A charge that finds the end drops this.
            mem::forget(accounting.clone());
        }
    }
    // A charge that was counted before the end may still be leaving the lock. One that takes the lock later finds the end
    // and has a reference.
    epoch::synchronize::<Memory>(None);
}

/// One buffer of a shared receive queue that is complete, and whose event the program has not taken.
#[derive(Debug)]
pub(crate) struct OutstandingRecv(NonNull<Mutex<SrqAccounting>>);

// SAFETY: it is used by one thread at a time, and any thread may lock the books.
unsafe impl Send for OutstandingRecv {}

impl OutstandingRecv {
    /// Takes the buffer off the count. Returns whether the charge has a reference to the books, which it then gives up.
    ///
    /// # Safety
    /// The books must stay until this returns.
    #[inline(always)]
    unsafe fn settle(&self) -> bool {
        // SAFETY: the caller's promise.
        let mut accounting = unsafe { self.0.as_ref() }.lock();
        accounting.outstanding -= 1;
        accounting.ended
    }

    /// Does what dropping it does, for a thread that cannot enter a section.
    #[cold]
    #[inline(never)]
    fn settle_counted(&self) {
        let address = self.0.as_ptr();
        // SAFETY: the address is that of an Arc's value, which lives as long as it counts this charge.
        unsafe { Arc::increment_strong_count(address) };
        // SAFETY: the reference keeps the books.
        let references = 1 + usize::from(unsafe { self.settle() });
        // SAFETY: one was counted above, the other one is that of a charge of ended books.
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
        // SAFETY: the books live as long as they count this charge, and then until the section ends.
        let ended = unsafe { self.settle() };
        drop(section);
        if ended {
            cold_path();
            // SAFETY: the charge has this reference, because the books have ended.
            unsafe { Arc::decrement_strong_count(self.0.as_ptr()) };
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
