//! The local memory regions of an adapter by context, as posts look them up.
//!
//! Each region has a row in the table. The check of a segment compares the segment's context, zone and end with this
//! row. The lookup of a row above 2,047 is slower, and regions with [`Base::Zero`](crate::Base::Zero) need the slow
//! path.
//!
//! A posted receive stores how many regions had been deregistered when its segments were checked. If this number is the
//! same when the message arrives ([`LmrTable::recheck`]), the segments are still registered. Otherwise the transport
//! looks up their regions again.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

use host::epoch::{EpochGuard, Memory};
use host::lock::Mutex;
use host::memory::{self, NoMemory, Room};

use crate::arena::Handle;
use crate::error::{Access, Arg, Error, Result};
use crate::mem::Rights;
use crate::transport::{Checked, Segment};

/// A program's segment, before its check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct LocalSegment {
    pub context: u32,
    /// Address of the first byte.
    pub addr: u64,
    pub len: u64,
}

/// The segments of a post, in the caller's format. A check reads each segment once.
pub trait SegmentList {
    /// Returns the number of segments.
    fn count(&self) -> usize;

    /// Returns segment `at`, which must be below the number of segments.
    fn segment(&self, at: usize) -> LocalSegment;

    /// Returns whether [`SegmentList::segment`] can read segment 0 and there is no other segment.
    fn is_single(&self) -> bool;

    /// Checks the number of segments and the address of the list. Succeeds if [`SegmentList::is_single`].
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

/// A segment that stays registered, with the access `A`, during the epoch section `'s`. Only [`LmrTable`] creates this
/// type.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct CheckedSegment<'s, A = Readable> {
    segment: Segment,
    section: PhantomData<(&'s EpochGuard<Memory>, A)>,
}

/// The access of a [`CheckedSegment`] that may be read.
#[derive(Clone, Copy, Debug)]
pub enum Readable {}

/// The access of a [`CheckedSegment`] that may be written.
#[derive(Clone, Copy, Debug)]
pub enum Writable {}

impl<A> Deref for CheckedSegment<'_, A> {
    type Target = Segment;

    #[inline(always)]
    fn deref(&self) -> &Segment {
        &self.segment
    }
}

pub(crate) struct Registration {
    /// The program's address of the first byte ([`Base::first`](crate::Base::first)).
    pub addr: u64,
    /// Real address minus the program's address.
    pub origin: u64,
    pub len: u64,
    pub rights: Rights,
    pub zone: u32,
    pub key: u64,
    /// NULL until [`LmrTable::set_handle`].
    pub handle: Handle,
}

#[derive(Default)]
#[repr(align(64))]
struct RegionRow {
    /// The region's context, or [`EMPTY`].
    context: AtomicU32,
    rights: AtomicU32,
    key: AtomicU64,
    addr: AtomicU64,
    len: AtomicU64,
    /// The zone whose endpoints may write to the region locally. Includes [`DENIED`] if the region lacks the right, or
    /// if `origin` is not 0. `readers` is the same for reads.
    writers: AtomicU64,
    readers: AtomicU64,
    handle: AtomicUsize,
    origin: AtomicU64,
}

const _: () = assert!(size_of::<RegionRow>() == 64);

const WRITABLE: Rights = Rights::LOCAL_WRITE;
/// Any of these rights allows local reads: hardware has no right that only allows writes.
const READABLE: Rights = Rights::LOCAL_READ.union(Rights::LOCAL_WRITE);

const EMPTY: u32 = u32::MAX;

/// Flag in `writers` and `readers` of a row, which makes the fast check fail.
const DENIED: u64 = 1 << 32;

/// Minimum number of free rows before a row is reused, so that a stale context stays invalid for long.
const MIN_FREE: usize = 1024;

const INDEX_BITS: u32 = 20;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;
const GENERATION_MASK: u32 = (1 << (32 - INDEX_BITS)) - 1;
/// Number of rows in the first chunk. More than [`MIN_FREE`], so that most programs use only this chunk.
const FIRST_CHUNK: usize = 2048;
const CHUNKS: usize = 9;

/// Regions by context. A lookup takes no lock: rows never move, and a second load of the context reveals a change.
pub struct LmrTable {
    near: Box<[RegionRow; FIRST_CHUNK]>,
    /// Chunks after `near`, allocated when needed.
    far: [OnceLock<Box<[RegionRow]>>; CHUNKS - 1],
    removals: AtomicU64,
    rows: Mutex<Rows>,
}

struct Rows {
    free: VecDeque<u32>,
    used: u32,
    first_generation: u16,
    next_generation: Vec<u16>,
}

static TABLES_CREATED: AtomicU32 = AtomicU32::new(0);

/// Distance between the first generations (the upper 12 bits of contexts) of successive tables. The contexts of 64
/// successive tables differ until 64 regions have used the same row.
const GENERATION_STEP: u32 = 64;

/// Returns chunk and index of a row. Chunk k contains 2048 * 2^k rows.
#[inline]
fn place(index: u32) -> (usize, usize) {
    let n = index as usize + FIRST_CHUNK;
    let chunk = (usize::BITS - 1 - n.leading_zeros()) as usize - FIRST_CHUNK.trailing_zeros() as usize;
    (chunk, n - (FIRST_CHUNK << chunk))
}

impl LmrTable {
    /// Maximum number of regions of one adapter.
    pub const CAPACITY: usize = (1 << INDEX_BITS) - FIRST_CHUNK;

    pub(crate) fn new() -> std::result::Result<Self, NoMemory> {
        let made = TABLES_CREATED.fetch_add(1, Ordering::Relaxed);
        let first_generation = (made.wrapping_mul(GENERATION_STEP) % GENERATION_MASK + 1) as u16;
        Ok(LmrTable {
            near: empty_rows(FIRST_CHUNK)?.try_into().map_err(|_| NoMemory)?,
            far: Default::default(),
            removals: AtomicU64::new(0),
            rows: Mutex::new(Rows { free: Default::default(), used: 0, first_generation, next_generation: Vec::new() }),
        })
    }

    #[inline(always)]
    fn row(&self, context: u32) -> Option<&RegionRow> {
        let index = context & INDEX_MASK;
        self.near.get(index as usize).or_else(|| self.far_row(index))
    }

    fn far_row(&self, index: u32) -> Option<&RegionRow> {
        let (chunk, at) = place(index);
        self.far.get(chunk.checked_sub(1)?)?.get()?.get(at)
    }

    /// Inserts a region and returns its context. Returns `None` if the table is full or out of memory.
    pub(crate) fn insert(&self, registration: &Registration) -> Option<u32> {
        let mut rows = self.rows.lock();
        let reuse = rows.free.len() > MIN_FREE || rows.used as usize >= Self::CAPACITY;
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
        // SYNC row: a reader that loads a new field gets a different context from its second load, so it uses no field.
        fence(Ordering::Release);
        row.addr.store(registration.addr, Ordering::Relaxed);
        row.origin.store(registration.origin, Ordering::Relaxed);
        row.len.store(registration.len, Ordering::Relaxed);
        row.writers.store(zone_if(WRITABLE), Ordering::Relaxed);
        row.readers.store(zone_if(READABLE), Ordering::Relaxed);
        row.rights.store(u32::from(registration.rights.bits()), Ordering::Relaxed);
        row.key.store(registration.key, Ordering::Relaxed);
        row.handle.store(registration.handle.0, Ordering::Relaxed);
        // SYNC row: a reader that loads this context also finds its fields.
        row.context.store(context, Ordering::Release);
        Some(context)
    }

    fn fresh(&self, rows: &mut Rows) -> std::result::Result<u32, NoMemory> {
        let index = rows.used;
        if index as usize >= Self::CAPACITY {
            return Err(NoMemory);
        }
        let (chunk, at) = place(index);
        if at == 0 {
            let len = FIRST_CHUNK << chunk;
            // Reserves memory for a free of every row, so that `remove` needs none.
            let more = index as usize + len - rows.free.len();
            rows.free.room(more)?;
            rows.next_generation.room(len)?;
            if let Some(far) = chunk.checked_sub(1) {
                // Cannot fail: while `rows` is locked, no other thread sets this chunk.
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
            // SYNC removals: raised after the row is emptied. A reader loads the number first, so with the new number
            // it does not find the region.
            self.removals.store(self.removals.load(Ordering::Relaxed) + 1, Ordering::Release);
            rows.free.push_back(context & INDEX_MASK);
        }
    }

    /// Returns the segment if no region was deregistered since its check.
    ///
    /// # Safety
    /// [`LmrTable::check`] of this table must have returned the segment, or one that contains it, for the access `A`.
    #[inline(always)]
    pub(crate) unsafe fn recheck<'a, A>(
        &self,
        segment: &'a Segment,
        _: &'a EpochGuard<Memory>,
    ) -> Option<&'a CheckedSegment<'a, A>> {
        // SAFETY: `CheckedSegment` is a transparent wrapper of `Segment`.
        let checked = unsafe { &*ptr::from_ref(segment).cast() };
        (self.removals.load(Ordering::Acquire) == segment.since).then_some(checked)
    }

    fn find(&self, context: u32) -> Option<Registration> {
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
            handle: Handle(row.handle.load(Ordering::Relaxed)),
        };
        fence(Ordering::Acquire);
        (row.context.load(Ordering::Relaxed) == context).then_some(registration)
    }

    /// Checks a segment against its region, for use in `zone`.
    ///
    /// # Errors
    /// [`Error::PrivilegesViolation`] for an unknown context or a missing right, [`Error::ProtectionViolation`] for
    /// another zone, [`Arg::Segments`] for a range outside the region.
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

    /// Like [`LmrTable::check`]. With an epoch guard, also returns a segment that stays registered during the guard.
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

    /// Checks a segment that failed the fast check: the addresses of its region start at 0, or the segment is invalid.
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
        // If `origin` is 0, only the range can have failed the fast check.
        if region.origin == 0 || !within(segment, &region) {
            return Err(Error::InvalidParameter(Arg::Segments));
        }
        let addr = segment.addr.wrapping_add(region.origin);
        Ok(Segment { addr, len: segment.len, key: region.key, since })
    }

    /// Appends the checked segments of a request to `checked`, except empty ones. Returns their total length.
    ///
    /// # Errors
    /// Errors of [`LmrTable::check`], [`Arg::SegmentCount`] if `checked` is full, [`Error::LengthError`] if the sum
    /// overflows.
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

    /// Returns whether a segment is inside its region; `false` for an unknown context.
    pub fn covers(&self, segment: &LocalSegment) -> bool {
        self.find(segment.context).is_some_and(|registration| within(segment, &registration))
    }

    /// Returns the zone of the region with this context; `None` if there is no such region.
    pub fn zone_of(&self, context: u32) -> Option<u32> {
        self.find(context).map(|registration| registration.zone)
    }

    /// Returns the handle of the region with this context; `None` if there is no such region.
    pub fn handle_of(&self, context: u32) -> Option<Handle> {
        self.find(context).map(|registration| registration.handle)
    }
}

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
    /// Returns the checked segment. Returns `None` if this row does not grant the access, or changes during the check.
    #[inline(always)]
    fn grants(&self, segment: &LocalSegment, zone: u32, writes: bool, since: u64) -> Option<Segment> {
        let &LocalSegment { context, addr, len } = segment;
        // SYNC row: pairs with the store in `insert`. An Acquire fence and a second load of the context follow.
        if self.context.load(Ordering::Acquire) != context {
            return None;
        }
        let users = if writes { &self.writers } else { &self.readers };
        // If the segment starts before the region, the offset wraps, and exceeds the length of every region.
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
