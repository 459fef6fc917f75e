//! Local memory regions by context: the table in which every post looks them up.
//!
//! A row has the whole context and the zone within which its rights hold, so a check compares context, zone and end.
//! Contexts of far rows (above 2,047) take the slower function, and so does a region whose bytes are counted from 0:
//! its row names no zone, so the usual check has nothing to add.
//!
//! A receive keeps with its segment how many regions were deregistered when it was checked. If the number is the same
//! when the message comes, all regions that were found then are still there ([`LmrTable::recheck`]); otherwise the
//! region is pinned and checked again.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

use host::epoch::{EpochGuard, Memory};
use host::lock::Mutex;
use host::memory::{self, NoMemory, Room};

use crate::error::{Access, Arg, Error, Result};
use crate::mem::Rights;
use crate::slab::Handle;
use crate::transport::{Checked, Segment};

/// A segment as a program names it, not yet checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalSegment {
    /// Context of the region.
    pub context: u32,
    /// First byte.
    pub addr: u64,
    /// Bytes.
    pub len: u64,
}

/// The segments of a post, in the form that its poster has. Each is read once, when it is checked.
pub trait SegmentList {
    /// The number of segments.
    fn count(&self) -> usize;

    /// The segment `at`, which is less than the number of segments.
    fn segment(&self, at: usize) -> LocalSegment;

    /// Whether there is exactly one segment, and [`SegmentList::segment`] can read it.
    fn is_single(&self) -> bool;

    /// Checks the number and the place of the segments. Both are valid if [`SegmentList::is_single`].
    ///
    /// # Errors
    /// [`Arg::SegmentCount`], [`Arg::Segments`].
    fn check(&self) -> Result<()>;
}

impl<S: AsRef<[LocalSegment]> + ?Sized> SegmentList for S {
    #[inline]
    fn count(&self) -> usize {
        self.as_ref().len()
    }

    #[inline]
    fn segment(&self, at: usize) -> LocalSegment {
        self.as_ref()[at]
    }

    #[inline]
    fn is_single(&self) -> bool {
        self.count() == 1
    }

    #[inline]
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// A segment whose memory stays registered as long as the section `'s`. Only the table of regions makes one.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct CheckedSegment<'s> {
    segment: Segment,
    section: PhantomData<&'s EpochGuard<Memory>>,
}

impl Deref for CheckedSegment<'_> {
    type Target = Segment;

    #[inline(always)]
    fn deref(&self) -> &Segment {
        &self.segment
    }
}

/// A region as the table knows it.
pub(crate) struct Registration {
    /// The number of its first byte.
    pub addr: u64,
    /// What is added to the number of a byte for its address; 0 where that is the number.
    pub origin: u64,
    pub len: u64,
    pub rights: Rights,
    pub zone: u32,
    pub key: u64,
}

/// One row of the table. Each has a cache line of its own.
#[derive(Default)]
#[repr(align(64))]
struct RegionRow {
    /// The whole context, or [`EMPTY`].
    context: AtomicU32,
    rights: AtomicU32,
    key: AtomicU64,
    addr: AtomicU64,
    len: AtomicU64,
    /// The zone of the region, which a post compares; with [`DENIED`] if the region cannot be written, or read, locally, and if
    /// the numbers of its bytes are not their addresses, so that the usual check has nothing to add.
    writers: AtomicU64,
    readers: AtomicU64,
    handle: AtomicUsize,
    origin: AtomicU64,
}

const _: () = assert!(size_of::<RegionRow>() == 64);

/// The rights by each of which a region can be written. Hardware has no local read right: what can be written locally can be
/// read as well.
const WRITABLE: Rights = Rights::LOCAL_WRITE;
const READABLE: Rights = Rights::LOCAL_READ.union(Rights::LOCAL_WRITE);

/// In an empty row: the context of no region, because its index is that of no row.
const EMPTY: u32 = u32::MAX;

/// With it, what a row has for its zone is equal to that of no post.
const DENIED: u64 = 1 << 32;

/// So many contexts rest before one is named again.
const RESTING: usize = 1024;

const INDEX_BITS: u32 = 20;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;
const GENERATION_MASK: u32 = (1 << (32 - INDEX_BITS)) - 1;
/// More than the contexts that rest before one is named again, so that programs that register and free find their regions
/// among the first rows.
const FIRST_CHUNK: usize = 2048;
const CHUNKS: usize = 9;

/// Regions by context. Look-ups take no lock: rows never move, and a row that changes under a reader is noticed by its
/// context.
pub struct LmrTable {
    near: Box<[RegionRow; FIRST_CHUNK]>,
    /// The chunks behind the first one, once they are needed.
    far: [OnceLock<Box<[RegionRow]>>; CHUNKS - 1],
    /// The number of regions that were removed.
    removals: AtomicU64,
    rows: Mutex<Rows>,
}

struct Rows {
    free: VecDeque<u32>,
    used: u32,
    /// The generation with which a row begins.
    first_generation: u16,
    next_generation: Vec<u16>,
}

/// The number of tables that were made, for their first generations.
static MADE: AtomicU32 = AtomicU32::new(0);

/// How far apart the first generations of the first 64 tables are: a context is that of one of them until its row was named
/// so often. Those of later tables lie between.
const APART: u32 = 64;

/// Chunk and place of a row: chunk k holds 2048 * 2^k rows.
#[inline]
fn place(index: u32) -> (usize, usize) {
    let n = index as usize + FIRST_CHUNK;
    let chunk = (usize::BITS - 1 - n.leading_zeros()) as usize - FIRST_CHUNK.trailing_zeros() as usize;
    (chunk, n - (FIRST_CHUNK << chunk))
}

impl LmrTable {
    /// The most regions that one adapter can have.
    pub const CAPACITY: usize = (1 << INDEX_BITS) - FIRST_CHUNK;

    /// A table of no regions.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub(crate) fn new() -> std::result::Result<Self, NoMemory> {
        let made = MADE.fetch_add(1, Ordering::Relaxed);
        let first_generation = (made.wrapping_mul(APART) % GENERATION_MASK + 1) as u16;
        Ok(LmrTable {
            near: empty_rows(FIRST_CHUNK)?.try_into().map_err(|_| NoMemory)?,
            far: Default::default(),
            removals: AtomicU64::new(0),
            rows: Mutex::new(Rows { free: Default::default(), used: 0, first_generation, next_generation: Vec::new() }),
        })
    }

    /// The row with the index of a context.
    #[inline(always)]
    fn row(&self, context: u32) -> Option<&RegionRow> {
        let index = context & INDEX_MASK;
        self.near.get(index as usize).or_else(|| self.far_row(index))
    }

    /// A row behind the first chunk.
    fn far_row(&self, index: u32) -> Option<&RegionRow> {
        let (chunk, at) = place(index);
        self.far.get(chunk.checked_sub(1)?)?.get()?.get(at)
    }

    /// Enters a region and gives it a context; `None` if there are no more, or there is no memory for more.
    pub(crate) fn insert(&self, registration: &Registration) -> Option<u32> {
        let mut rows = self.rows.lock();
        // A context is named again only after many others, and with another generation.
        let reuse = rows.free.len() > RESTING || rows.used as usize >= Self::CAPACITY;
        let fresh = if reuse && !rows.free.is_empty() { None } else { self.fresh(&mut rows).ok() };
        let index = fresh.or_else(|| rows.free.pop_front())?;
        let generation = u32::from(rows.next_generation[index as usize]);
        let following = (generation & GENERATION_MASK) % GENERATION_MASK + 1;
        rows.next_generation[index as usize] = following as u16;
        let row = self.row(index)?;
        let context = generation << INDEX_BITS | index;
        let zone_if = |rights| {
            let plain = registration.origin == 0 && registration.rights.intersects(rights);
            u64::from(registration.zone) | if plain { 0 } else { DENIED }
        };
        // SYNC row: a reader that finds one of these fields finds the old context gone when it loads the context again.
        fence(Ordering::Release);
        row.addr.store(registration.addr, Ordering::Relaxed);
        row.origin.store(registration.origin, Ordering::Relaxed);
        row.len.store(registration.len, Ordering::Relaxed);
        row.writers.store(zone_if(WRITABLE), Ordering::Relaxed);
        row.readers.store(zone_if(READABLE), Ordering::Relaxed);
        row.rights.store(u32::from(registration.rights.bits()), Ordering::Relaxed);
        row.key.store(registration.key, Ordering::Relaxed);
        row.handle.store(0, Ordering::Relaxed);
        // SYNC row: the fields are in place before the context, so a reader that finds the context has its fields.
        row.context.store(context, Ordering::Release);
        Some(context)
    }

    /// The index of a row that was never used.
    fn fresh(&self, rows: &mut Rows) -> std::result::Result<u32, NoMemory> {
        let index = rows.used;
        if index as usize >= Self::CAPACITY {
            return Err(NoMemory);
        }
        let (chunk, at) = place(index);
        if at == 0 {
            let len = FIRST_CHUNK << chunk;
            // Room for all that can be freed, so that a free never needs memory.
            let more = index as usize + len - rows.free.len();
            rows.free.room(more)?;
            rows.next_generation.room(len)?;
            if let Some(far) = chunk.checked_sub(1) {
                // Nobody else makes it, because the rows are locked.
                let _ = self.far[far].set(empty_rows(len)?);
            }
        }
        rows.used += 1;
        let first = rows.first_generation;
        rows.next_generation.push(first);
        Ok(index)
    }

    pub(crate) fn set_handle(&self, context: u32, handle: Handle) {
        if let Some(row) = self.row(context) {
            row.handle.store(handle.0, Ordering::Release);
        }
    }

    pub(crate) fn remove(&self, context: u32) {
        let mut rows = self.rows.lock();
        if let Some(row) = self.row(context) {
            row.context.store(EMPTY, Ordering::SeqCst);
            // SYNC removals: raised behind the emptying of the row. Since readers load the number before the row, one
            // that has the new number does not find the region.
            self.removals.store(self.removals.load(Ordering::Relaxed) + 1, Ordering::Release);
            rows.free.push_back(context & INDEX_MASK);
        }
    }

    /// The segment, if its memory is registered still, as far as can be said at once.
    ///
    /// # Safety
    /// [`LmrTable::check`] of this table has given the segment, or one that has all its bytes.
    #[inline(always)]
    pub unsafe fn recheck<'a>(
        &self,
        segment: &'a Segment,
        _: &'a EpochGuard<Memory>,
    ) -> Option<&'a CheckedSegment<'a>> {
        // SAFETY: nothing but a segment is in it.
        let checked = unsafe { &*ptr::from_ref(segment).cast() };
        (self.removals.load(Ordering::Acquire) == segment.since).then_some(checked)
    }

    fn find(&self, context: u32) -> Option<Registration> {
        self.look_up(context).map(|(registration, _)| registration)
    }

    /// The region that a context names, and its handle.
    fn look_up(&self, context: u32) -> Option<(Registration, Handle)> {
        let row = self.row(context)?;
        // SYNC row: pairs with the store in insert.
        if row.context.load(Ordering::Acquire) != context {
            return None;
        }
        let registration = Registration {
            addr: row.addr.load(Ordering::Relaxed),
            origin: row.origin.load(Ordering::Relaxed),
            len: row.len.load(Ordering::Relaxed),
            rights: Rights::from_bits_truncate(row.rights.load(Ordering::Relaxed) as u8),
            zone: row.writers.load(Ordering::Relaxed) as u32,
            key: row.key.load(Ordering::Relaxed),
        };
        let handle = Handle(row.handle.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        (row.context.load(Ordering::Relaxed) == context).then_some((registration, handle))
    }

    /// Checks a segment against the region it names, for use within `zone`.
    ///
    /// # Errors
    /// [`Error::PrivilegesViolation`] for an unknown context or a missing right,
    /// [`Error::ProtectionViolation`] for another zone, [`Arg::Segments`] for a range
    /// outside the region.
    #[inline(always)]
    pub fn check(&self, segment: &LocalSegment, zone: u32, right: Rights) -> Result<Segment> {
        let writes = right.contains(Rights::LOCAL_WRITE);
        // SYNC removals: loaded before the row.
        let since = self.removals.load(Ordering::Acquire);
        let granted = self.row(segment.context).and_then(|row| row.grants(segment, zone, writes, since));
        match granted {
            Some(segment) => Ok(segment),
            None => self.check_otherwise(segment, zone, writes, since),
        }
    }

    /// Does what [`LmrTable::check`] does; returns also the segment as one that stays registered, if the caller is in a
    /// section.
    #[inline(always)]
    pub fn check_in<'s>(
        &self,
        section: Option<&'s EpochGuard<Memory>>,
        segment: &LocalSegment,
        zone: u32,
        right: Rights,
    ) -> Result<(Segment, Option<CheckedSegment<'s>>)> {
        let segment = self.check(segment, zone, right)?;
        Ok((segment, section.map(|_| CheckedSegment { segment, section: PhantomData })))
    }

    /// Does what [`LmrTable::check`] does for a segment that the row does not grant as it is: it counts from another number
    /// than its address, or it is refused.
    #[cold]
    #[inline(never)]
    fn check_otherwise(&self, segment: &LocalSegment, zone: u32, writes: bool, since: u64) -> Result<Segment> {
        let (enough, access) = if writes { (WRITABLE, Access::Write) } else { (READABLE, Access::Read) };
        let region = self.find(segment.context).ok_or(Error::PrivilegesViolation(access))?;
        if region.zone != zone {
            return Err(Error::ProtectionViolation(access));
        }
        if !region.rights.intersects(enough) {
            return Err(Error::PrivilegesViolation(access));
        }
        // If bytes are counted by their addresses, the range is all that is left for which the row can have refused.
        if region.origin == 0 || !within(segment, &region) {
            return Err(Error::InvalidParameter(Arg::Segments));
        }
        let addr = segment.addr.wrapping_add(region.origin);
        Ok(Segment { addr, len: segment.len, key: region.key, since })
    }

    /// Checks the segments of a work request as [`LmrTable::check`] does, for use within `zone`, and adds them to
    /// `checked`. Skips segments of length 0. Returns the sum of the lengths.
    ///
    /// # Errors
    /// Those of [`LmrTable::check`]; [`Arg::SegmentCount`] if there are more than a work request can name,
    /// [`Error::LengthError`] if the sum does not fit its type.
    pub fn check_all<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        zone: u32,
        right: Rights,
        checked: &mut Checked,
    ) -> Result<u64> {
        let mut total = 0_u64;
        for at in 0..segments.count() {
            let segment = segments.segment(at);
            if segment.len == 0 {
                continue;
            }
            let piece = self.check(&segment, zone, right)?;
            checked.try_push(piece).map_err(|_| Error::InvalidParameter(Arg::SegmentCount))?;
            total = total.checked_add(segment.len).ok_or(Error::LengthError)?;
        }
        Ok(total)
    }

    /// Whether a segment lies in a region of any zone.
    pub fn covers(&self, segment: &LocalSegment) -> bool {
        self.find(segment.context).is_some_and(|registration| within(segment, &registration))
    }

    /// The zone of a region, if the region still exists.
    pub fn zone_of(&self, context: u32) -> Option<u32> {
        self.find(context).map(|registration| registration.zone)
    }

    /// The handle of the region that a context names.
    pub fn handle_of(&self, context: u32) -> Option<Handle> {
        self.look_up(context).map(|(_, handle)| handle)
    }
}

/// Rows that are no region's.
fn empty_rows(count: usize) -> std::result::Result<Box<[RegionRow]>, NoMemory> {
    let mut rows = memory::vec(count)?;
    rows.extend((0..count).map(|_| RegionRow { context: AtomicU32::new(EMPTY), ..RegionRow::default() }));
    Ok(rows.into_boxed_slice())
}

fn within(segment: &LocalSegment, registration: &Registration) -> bool {
    segment
        .addr
        .checked_sub(registration.addr)
        .is_some_and(|offset| offset <= registration.len && segment.len <= registration.len - offset)
}

impl RegionRow {
    /// The checked form of a segment that lies in this region and may be used within `zone`; `None` if that is not so, or
    /// the row has changed meanwhile. `since` is the number of removals before.
    #[inline(always)]
    fn grants(&self, segment: &LocalSegment, zone: u32, writes: bool, since: u64) -> Option<Segment> {
        let &LocalSegment { context, addr, len } = segment;
        // SYNC row: pairs with the store in `insert`. Behind the fields comes an Acquire fence, and the context again.
        if self.context.load(Ordering::Acquire) != context {
            return None;
        }
        let users = if writes { &self.writers } else { &self.readers };
        // A segment before the region is at an offset beyond its end.
        let offset = addr.wrapping_sub(self.addr.load(Ordering::Relaxed));
        if users.load(Ordering::Relaxed) != zone.into() || offset.checked_add(len)? > self.len.load(Ordering::Relaxed) {
            return None;
        }
        let key = self.key.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        (self.context.load(Ordering::Relaxed) == context).then_some(Segment { addr, len, key, since })
    }
}

#[cfg(test)]
mod tests;
