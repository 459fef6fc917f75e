//! The buffers of a shared receive queue.
//!
//! There is one record ([`Buffer`]) for each entry. If core stores the receives (`Transport::TAKES_RECEIVES`), the
//! records of available buffers form a queue.
//!
//! A buffer is *held* from its post until its completion. The completion's event contains an [`OutstandingRecv`], so
//! the buffer stays outstanding until the program dequeues the event.
//!
//! An event can outlive the queue. If each event had a reference to the accounting, this would cost two locked
//! instructions. So events have none until the queue is freed: the free adds a reference for each event that still
//! exists.

use std::mem;
use std::ptr::NonNull;
use std::sync::Arc;

use host::cold_path;
use host::epoch::{self, EpochGuard, Memory};
use host::lock::Mutex;
use host::memory::Room;

use crate::error::Result;
use crate::fifo::Fifo;
use crate::transport::{RecvId, Segment, Taken};

const NONE: u32 = u32::MAX;

/// The buffers of an SRQ. One lock protects all fields.
pub(crate) struct SrqAccounting {
    pub max_recvs: usize,
    /// Maximum number of stored segments of a buffer; 0 if the transport stores the segments.
    max_segments: usize,
    pub available: usize,
    pub low_watermark: usize,
    pub armed: bool,
    /// `true` if the queue is freed, so that each [`OutstandingRecv`] owns a reference.
    ended: bool,
    /// Number of occupied entries: held buffers and [`OutstandingRecv`]s.
    pub outstanding: usize,
    buffers: Vec<Buffer>,
    /// The head of the list of free buffers, or [`NONE`].
    free: u32,
    /// The head of the queue, or [`NONE`].
    oldest: u32,
    /// The end of the queue; meaningless if the queue is empty.
    newest: u32,
    /// For each buffer in the queue, all segments but the first.
    others: Fifo<Segment>,
}

#[derive(Clone, Copy)]
struct Buffer {
    state: State,
    /// The next buffer in the list of free ones or in the queue, or [`NONE`].
    next: u32,
    cookie: u64,
    count: usize,
    first: Segment,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    Available,
    Taken,
}

impl SrqAccounting {
    /// Returns the accounting of no entries. Each buffer stores up to `max_segments` segments.
    pub fn new(max_segments: usize) -> Self {
        SrqAccounting {
            max_recvs: 0,
            max_segments,
            available: 0,
            low_watermark: 0,
            armed: false,
            ended: false,
            outstanding: 0,
            buffers: Vec::new(),
            free: NONE,
            oldest: NONE,
            newest: NONE,
            others: Fifo::default(),
        }
    }

    pub fn len(&self) -> usize {
        self.buffers.len()
    }

    pub fn room(&mut self, entries: usize) -> Result<()> {
        let more = entries.saturating_sub(self.buffers.len());
        self.buffers.room(more)?;
        let others = entries.saturating_mul(self.max_segments.saturating_sub(1));
        Ok(self.others.room(others.saturating_sub(self.others.len()))?)
    }

    pub fn grow(&mut self, entries: usize) -> Result<()> {
        self.room(entries)?;
        for id in self.buffers.len()..entries {
            let next = mem::replace(&mut self.free, id as u32);
            self.buffers.push(Buffer { state: State::Free, next, cookie: 0, count: 0, first: Segment::default() });
        }
        self.max_recvs = entries;
        Ok(())
    }

    /// Returns the number of the next buffer, or `None` if all entries are occupied.
    #[inline(always)]
    pub fn vacancy(&self) -> Option<RecvId> {
        if self.outstanding < self.max_recvs { Some(self.free.into()) } else { None }
    }

    /// Adds the buffer whose number [`SrqAccounting::vacancy`] returned. With `stored`, also appends it to the queue,
    /// with these segments.
    #[inline(always)]
    pub fn add(&mut self, cookie: u64, stored: Option<&[Segment]>) {
        let id = self.free;
        let Some(buffer) = self.buffers.get_mut(id as usize) else { return };
        self.free = mem::replace(&mut buffer.next, NONE);
        (buffer.state, buffer.cookie) = (State::Available, cookie);
        self.outstanding += 1;
        self.available += 1;
        let Some(segments) = stored else { return };
        buffer.count = segments.len();
        if let Some((first, others)) = segments.split_first() {
            buffer.first = *first;
            others.iter().for_each(|&segment| self.others.add(segment));
        }
        let last = if self.oldest == NONE { &mut self.oldest } else { &mut self.buffers[self.newest as usize].next };
        *last = id;
        self.newest = id;
    }

    /// Records that an endpoint took a buffer. Returns whether to raise the watermark event.
    #[inline(always)]
    pub fn take(&mut self, id: RecvId) -> bool {
        match self.buffers.get_mut(id as usize) {
            Some(buffer) if buffer.state == State::Available => {
                buffer.state = State::Taken;
                self.took()
            }
            _ => false,
        }
    }

    /// Takes the oldest buffer of the queue, if it has at least `least` bytes. Returns whether to raise the watermark
    /// event, or `None` if there is no such buffer.
    pub fn take_oldest(&mut self, taken: &mut Taken, least: u64) -> Option<bool> {
        let id = self.oldest;
        let buffer = self.buffers.get_mut(id as usize)?;
        taken.set(id.into(), buffer.count, buffer.first, &self.others);
        if taken.capacity < least {
            return None;
        }
        self.oldest = buffer.next;
        buffer.state = State::Taken;
        for _ in 1..buffer.count {
            self.others.pop();
        }
        Some(self.took())
    }

    /// Takes the oldest buffer of the queue and frees its record, if it has one segment of at least `least` bytes. The
    /// entry remains occupied. Returns cookie, segment, and whether to raise the watermark event.
    #[inline(always)]
    pub fn take_one(&mut self, least: u64) -> Option<(u64, Segment, bool)> {
        let id = self.oldest;
        let buffer = self.buffers.get_mut(id as usize)?;
        let Buffer { cookie, count: 1, first, .. } = *buffer else { return None };
        if first.len < least {
            return None;
        }
        self.oldest = mem::replace(&mut buffer.next, mem::replace(&mut self.free, id));
        buffer.state = State::Free;
        Some((cookie, first, self.took()))
    }

    /// Reverts [`SrqAccounting::take_one`], except that the buffer is now taken.
    pub fn retake(&mut self, cookie: u64) -> RecvId {
        let id = self.free;
        if let Some(buffer) = self.buffers.get_mut(id as usize) {
            self.free = buffer.next;
            (buffer.state, buffer.cookie) = (State::Taken, cookie);
        }
        id.into()
    }

    /// Frees a completed buffer. Returns its cookie and whether to raise the watermark event, or `None` if the buffer
    /// was free already.
    #[inline(always)]
    pub fn complete(&mut self, id: RecvId) -> Option<(u64, bool)> {
        let buffer = self.buffers.get_mut(id as usize)?;
        let cookie = buffer.cookie;
        let state = mem::replace(&mut buffer.state, State::Free);
        if state == State::Free {
            return None;
        }
        buffer.next = mem::replace(&mut self.free, id as u32);
        Some((cookie, state == State::Available && self.took()))
    }

    fn charges(&self) -> usize {
        let held = self.buffers.iter().filter(|buffer| buffer.state != State::Free).count();
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
pub(crate) fn charge(accounting: &Arc<Mutex<SrqAccounting>>) -> OutstandingRecv {
    // SAFETY: the address of an Arc's value is not null.
    OutstandingRecv(unsafe { NonNull::new_unchecked(Arc::as_ptr(accounting).cast_mut()) })
}

pub(crate) fn end(accounting: &Arc<Mutex<SrqAccounting>>) {
    {
        let mut locked = accounting.lock();
        locked.ended = true;
        for _ in 0..locked.charges() {
            // The drop of an [`OutstandingRecv`] drops this reference.
            mem::forget(accounting.clone());
        }
    }
    // Waits for drops that found `ended` unset and may hold the lock without a reference. Later drops find it set, so
    // they own a reference.
    epoch::synchronize::<Memory>(None);
}

/// A completed buffer whose event the program has not dequeued. The drop frees the entry of the SRQ.
#[derive(Debug)]
pub(crate) struct OutstandingRecv(NonNull<Mutex<SrqAccounting>>);

// SAFETY: any thread may lock the accounting.
unsafe impl Send for OutstandingRecv {}

impl OutstandingRecv {
    /// Subtracts this object from the outstanding buffers. Returns `true` if this object owns a reference, which the
    /// caller must drop.
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
        // SAFETY: one reference was added above. If there is a second one, this object owns it: the queue is freed.
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
