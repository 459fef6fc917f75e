//! Copies between the segments of a request and other memory of this process.
//!
//! A thread holds a [`RegionRef`] while it copies, so it never accesses a region after its free.
//!
//! A transfer's *last word*, the aligned 8, 4, 2 or 1 bytes at the end of the destination, is stored last, with one
//! store: a thread that polls it then sees all bytes. Contiguous segments count as one.
//!
//! Each [`Slice`] of a long transfer acquires the regions again.

use arrayvec::ArrayVec;
use dat_core::transport::{MAX_SEGMENTS, Segment};

use crate::regions::{RegionRef, RegionTable};
use crate::user::{LastWord, Source, Target, copy, copy_lists, copy_tail_last, take_last_word};

/// A part of a transfer.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// Offset in the transfer.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
    /// `true` for the last slice of the transfer.
    pub last: bool,
}

/// A list with room for all segments and the last word.
pub type List<T> = ArrayVec<T, { MAX_SEGMENTS + 1 }>;

/// Returns references to the regions of all segments; `None` if one has been freed.
#[inline]
pub fn acquire_all<'a>(
    segments: &[Segment],
    mut region_ref: impl FnMut(u32) -> Option<RegionRef<'a>>,
) -> Option<List<RegionRef<'a>>> {
    let mut region_refs = List::new();
    let pinned = segments.iter().all(|segment| {
        region_ref(segment.key as u32).is_some_and(|region_ref| region_refs.try_push(region_ref).is_ok())
    });
    pinned.then_some(region_refs)
}

/// Returns up to `most` bytes of a segment from `skip`; no bytes if its region does not contain them.
#[inline]
pub fn source<'a>(region_ref: &'a RegionRef<'_>, segment: &Segment, skip: u64, most: u64) -> Source<'a> {
    let len = (segment.len - skip).min(most);
    region_ref.source(segment.addr + skip, len).unwrap_or(Source::EMPTY)
}

/// Does what [`source`] does, for writing.
#[inline]
pub fn target<'a>(region_ref: &'a RegionRef<'_>, segment: &Segment, skip: u64, most: u64) -> Target<'a> {
    let len = (segment.len - skip).min(most);
    region_ref.target(segment.addr + skip, len).unwrap_or(Target::EMPTY)
}

/// Copies `from` to `to`. If `last`, stores the last word last.
#[inline]
pub fn store(to: Target<'_>, from: Source<'_>, last: bool) {
    if last {
        copy_tail_last(to, from);
    } else {
        copy(to, from);
    }
}

/// Copies lists as [`store`] copies pieces.
pub fn store_lists(mut to: List<Target<'_>>, mut from: List<Source<'_>>, last: bool) {
    if !last {
        return copy_lists(to, &from);
    }
    let place = take_last_word(&mut to);
    // The last word is read before the copy, which may overwrite its source.
    let word = gather_last(&mut from, place.len());
    copy_lists(to, &from);
    word.store(place);
}

/// Removes and returns the last `len` bytes of a list, up to 8.
pub fn gather_last(list: &mut List<Source<'_>>, len: usize) -> LastWord {
    let mut word = LastWord::default();
    let mut left = len;
    while left > 0 {
        let Some(piece) = list.pop() else { break };
        let (head, part) = piece.split(piece.len().saturating_sub(left));
        copy(word.target(left).split(left - part.len()).1, part);
        left -= part.len();
        if !head.is_empty() {
            list.push(head);
        }
    }
    word
}

/// Calls `f` for each segment in `offset .. offset + len`, with its reference and the bytes to skip and take.
#[inline]
pub fn pieces<'a, 'p>(
    segments: &'a [Segment],
    region_refs: &'a [RegionRef<'p>],
    offset: u64,
    len: u64,
    mut f: impl FnMut(&'a Segment, &'a RegionRef<'p>, u64, u64),
) {
    let mut skip = offset;
    let mut left = len;
    for (segment, region_ref) in segments.iter().zip(region_refs) {
        if left == 0 {
            return;
        }
        if skip >= segment.len {
            skip -= segment.len;
            continue;
        }
        let take = (segment.len - skip).min(left);
        f(segment, region_ref, skip, take);
        left -= take;
        skip = 0;
    }
}

/// Copies a whole transfer into one segment that has room for it. Returns `false` if the segment's region has been
/// freed.
#[inline(always)]
pub fn scatter_one(regions: &RegionTable, segment: &Segment, bytes: Source<'_>) -> bool {
    let Some(region_ref) = regions.acquire(segment.key as u32) else { return false };
    let Ok(to) = region_ref.target(segment.addr, bytes.len() as u64) else { return false };
    copy_tail_last(to, bytes);
    true
}

/// Passes `len` bytes from `offset` of the segments to `sink`, in order, as one or several pieces. Returns `false` if a
/// region has been freed.
#[inline(always)]
pub fn gather(
    regions: &RegionTable,
    segments: &[Segment],
    offset: u64,
    len: u64,
    mut sink: impl FnMut(Source<'_>),
) -> bool {
    if let [segment] = segments {
        let Some(region_ref) = regions.acquire(segment.key as u32) else { return false };
        if offset <= segment.len {
            sink(source(&region_ref, segment, offset, len));
        }
        return true;
    }
    let Some(region_refs) = acquire_all(segments, |key| regions.acquire(key)) else { return false };
    pieces(segments, &region_refs, offset, len, |segment, region_ref, skip, take| {
        sink(source(region_ref, segment, skip, take))
    });
    true
}

/// Fills `to` with the segments' bytes from `offset`. Returns `false` if a region has been freed.
#[inline]
pub fn gather_into(regions: &RegionTable, segments: &[Segment], offset: u64, to: &mut [u8]) -> bool {
    let len = to.len() as u64;
    let mut filled = 0;
    gather(regions, segments, offset, len, |source| filled += copy(Target::of(&mut to[filled..]), source))
}

/// Copies `bytes` to the segments at `offset`; `last` ends the transfer. Returns `false` if a region has been freed.
#[inline]
pub fn scatter(regions: &RegionTable, segments: &[Segment], offset: u64, bytes: Source<'_>, last: bool) -> bool {
    if let [segment] = segments {
        let Some(region_ref) = regions.acquire(segment.key as u32) else { return false };
        if offset <= segment.len {
            store(target(&region_ref, segment, offset, bytes.len() as u64), bytes, last);
        }
        return true;
    }
    scatter_list(regions, segments, offset, bytes, last)
}

#[inline(never)]
fn scatter_list(regions: &RegionTable, segments: &[Segment], offset: u64, bytes: Source<'_>, last: bool) -> bool {
    let Some(region_refs) = acquire_all(segments, |key| regions.acquire(key)) else { return false };
    let slice = Slice { offset, len: bytes.len() as u64, last };
    store_lists(targets(segments, &region_refs, slice), List::from_iter([bytes]), last);
    true
}

/// Returns the targets of a slice.
pub fn targets<'a>(segments: &'a [Segment], region_refs: &'a [RegionRef<'_>], slice: Slice) -> List<Target<'a>> {
    let mut list = List::new();
    pieces(segments, region_refs, slice.offset, slice.len, |segment, region_ref, skip, take| {
        let _ = list.try_push(target(region_ref, segment, skip, take));
    });
    list
}

/// Returns the sources of a slice.
pub fn sources<'a>(segments: &'a [Segment], region_refs: &'a [RegionRef<'_>], slice: Slice) -> List<Source<'a>> {
    let mut list = List::new();
    pieces(segments, region_refs, slice.offset, slice.len, |segment, region_ref, skip, take| {
        let _ = list.try_push(source(region_ref, segment, skip, take));
    });
    list
}
