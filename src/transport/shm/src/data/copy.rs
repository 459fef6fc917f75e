//! Copies between registered memory, the ring, and the peer's memory.
//!
//! Copies between processes hold counted references to the local regions ([`dat_software::regions`]), which delay only
//! a free of these regions. Transfers between processes consist of separately checked [`Slice`]s.
//!
//! # The last word
//! A transfer's last word ([`dat_software::copy`]) becomes visible last and atomically. If the destination is in this
//! process, the word is copied to a temporary first and stored last.
//!
//! If the destination is in the peer, the kernel copies a word of one byte as a separate piece, atomically on most
//! CPUs; on x86-64 and aarch64, also a word of eight bytes. On CPUs with `fsrm`, Linux 6.4 and newer use `rep movsb`:
//! the word's last byte becomes visible last, but its other bytes may precede it.
//!
//! The kernel may copy other last words byte by byte, so the peer stores them. A write of up to 8 KiB with such a last
//! word uses the ring completely, and is not revocable. Of a longer write, only the last word uses the ring. Until the
//! peer has consumed that record, later short writes and reads also use the ring, and long ones wait. The
//! [`guard`](crate::guard) wakes a peer whose program only spins on memory.
//!
//! # When the kernel refuses
//! Seccomp filters or lost privileges can make the kernel refuse copies at any time; any error except a bad address is
//! a refusal. The process then stops copying from and to this peer and notifies the peer (`Message::Reads`), so later
//! messages use the ring. A started transfer continues from the current byte: a write as pieces through the ring, a
//! read as a request for the rest. The receiver of a rendezvous message or write requests the remaining bytes through
//! the response ring, which never waits for receives. The sender keeps the segments until the receiver has consumed the
//! record.

use dat_core::event::Status;
use dat_core::transport::{RemoteSegment, Segment};
use dat_core::{Change, Rights};
use dat_software::copy::{List, acquire_all, gather_last, sources, store_lists, target, targets};
pub use dat_software::copy::{Slice, gather, scatter, scatter_one, source, store};
use dat_software::regions::{AccessContext, RegionRef, RegionTable};
use dat_software::user::{self, LastWord, Source, Target, copy, copy_tail_last, tail_len, take_last_word};

use crate::control_region::Peer;
use crate::offer::Part;
use crate::os::vm::{self, VmError};
use crate::peer_segment::End;

/// The reason why a copy did not complete.
#[derive(Clone, Copy)]
pub enum CopyError {
    Failed(Status),
    /// The kernel refuses this copy, or this process does not copy directly: the transfer must use the ring.
    Refused,
    PeerGone,
}

const NOT_REGISTERED: CopyError = CopyError::Failed(Status::LocalProtection);
const NOT_GRANTED: CopyError = CopyError::Failed(Status::RemoteAccess);

pub type Copied<T = ()> = Result<T, CopyError>;

fn may_copy(end: &End) -> Copied {
    if end.peer_segment.reads_peer.get() { Ok(()) } else { Err(CopyError::Refused) }
}

/// Acquires the regions of `segments` for a copy to or from another process. Fails with [`CopyError::Refused`] if this
/// process does not copy directly, and with [`NOT_REGISTERED`] if a region has been freed.
fn acquire_counted<'a>(end: &'a End, segments: &[Segment]) -> Result<List<RegionRef<'a>>, CopyError> {
    may_copy(end)?;
    acquire_all(segments, |key| end.regions().acquire_counted(key)).ok_or(NOT_REGISTERED)
}

/// Returns the target of a peer's write as a segment; `None` unless the region grants remote and local writes.
pub fn granted(end: &End, remote: &RemoteSegment) -> Option<Segment> {
    let granted = end.regions().grant(remote, Rights::REMOTE_WRITE | Rights::LOCAL_WRITE, &end.own).ok()?;
    Some(Segment { addr: granted.addr(), len: remote.len, key: remote.key.into(), since: 0 })
}

pub fn may_announce(end: &End, remote: &RemoteSegment) -> bool {
    let wanted = Rights::REMOTE_WRITE | Rights::LOCAL_WRITE;
    end.peer_segment.peer().is_some_and(|peer| locate(end, peer, remote, wanted).is_some())
}

pub fn may_read(end: &End, remote: &RemoteSegment) -> bool {
    end.regions().grant(remote, Rights::REMOTE_READ, &end.own).is_ok()
}

fn places(places: &[RemoteSegment], slice: Slice) -> List<(u64, u64)> {
    let mut list = List::new();
    let (mut skip, mut left) = (slice.offset, slice.len);
    for &RemoteSegment { addr, len, .. } in places {
        let take = len.saturating_sub(skip).min(left);
        if take > 0 {
            let _ = list.try_push((addr.wrapping_add(skip), take));
        }
        skip = skip.saturating_sub(len);
        left -= take;
    }
    list
}

/// Copies to or from another process: enters a transfer slot, checks access with `locate`, calls `copy`, and leaves the
/// slot. Restarts if that process has replaced its target thread. `fault` is the status for a bad address.
fn reach<T>(
    end: &End,
    fault: Status,
    locate: impl Fn(&Peer) -> Option<u64>,
    mut copy: impl FnMut(i32, u64) -> Result<T, VmError>,
) -> Copied<T> {
    loop {
        let moving = end.begin_moving().ok_or(CopyError::PeerGone)?;
        let peer = end.peer_segment.peer().ok_or(CopyError::PeerGone)?;
        let addr = locate(peer).ok_or(NOT_GRANTED)?;
        let error = match copy(moving.copy_target, addr) {
            Ok(copied) => return Ok(copied),
            Err(VmError::Gone) if moving.is_outdated() => continue,
            Err(VmError::Fault) => CopyError::Failed(fault),
            Err(VmError::Length) => CopyError::Failed(Status::Transport),
            Err(VmError::Gone | VmError::Refused(_)) => {
                end.stop_copying();
                CopyError::Refused
            }
        };
        return Err(error);
    }
}

/// Copies a slice of a message from the sender's memory. The message grants this access until the sender frees a region
/// of its segments.
fn from_message<T>(
    end: &End,
    message: &[RemoteSegment],
    slice: Slice,
    copy: impl Fn(i32, &[(u64, u64)]) -> Result<T, VmError>,
) -> Copied<T> {
    let from = places(message, slice);
    let locate = |peer: &Peer| message.iter().all(|place| peer.regions.exists(place.key)).then_some(0);
    reach(end, Status::LocalProtection, locate, |copy_target, _| copy(copy_target, &from))
}

/// Reads the peer's memory at `from` into `to`. If `last`, stores the last word separately.
fn read_from(pid: i32, from: &[(u64, u64)], mut to: List<Target<'_>>, last: bool) -> Result<(), VmError> {
    if !last {
        return vm::read_from(pid, from, &to);
    }
    let place = take_last_word(&mut to);
    let word = read_but_last(pid, from, to, place.len())?;
    word.store(place);
    Ok(())
}

/// Reads the peer's memory at `from`: the last `len` bytes, up to 8, into the returned word, the others into `to`.
fn read_but_last(pid: i32, from: &[(u64, u64)], to: List<Target<'_>>, len: usize) -> Result<LastWord, VmError> {
    let mut word = LastWord::default();
    {
        let mut to: List<Target<'_>> = to;
        let _ = to.try_push(word.target(len));
        vm::read_from(pid, from, &to)?;
    }
    Ok(word)
}

/// Returns the destination of `len` bytes of a message from `offset`, with its remote address, and the zone of its
/// region. Returns `None` if the bytes span segments, or the region is not registered or has no zone.
pub fn part_of(regions: &RegionTable, segments: &[Segment], offset: u64, len: u64) -> Option<(RemoteSegment, u32)> {
    let mut skip = offset;
    for segment in segments {
        if skip < segment.len {
            let region_ref = (len <= segment.len - skip).then(|| regions.acquire(segment.key as u32))??;
            let addr = region_ref.number_of(segment.addr + skip);
            return Some((RemoteSegment { addr, len, key: segment.key as u32 }, region_ref.zone()?));
        }
        skip -= segment.len;
    }
    None
}

/// Reads a slice of a message, while bytes before the slice are missing. If `slice.last`, returns the message's last
/// word, for [`end_ahead`].
pub fn fetch_ahead(end: &End, message: &[RemoteSegment], segments: &[Segment], slice: Slice) -> Copied<LastWord> {
    let region_refs = acquire_counted(end, segments)?;
    from_message(end, message, slice, |copy_target, from| {
        let mut to = targets(segments, &region_refs, slice);
        let last = if slice.last { take_last_word(&mut to).len() } else { 0 };
        read_but_last(copy_target, from, to, last)
    })
}

/// Stores the last word of [`fetch_ahead`] once all earlier bytes have arrived.
pub fn end_ahead(end: &End, segments: &[Segment], slice: Slice, word: LastWord) -> Copied {
    let region_refs = acquire_all(segments, |key| end.regions().acquire(key)).ok_or(NOT_REGISTERED)?;
    // The sender may have disconnected and reused its memory before the read.
    if end.peer_is_gone() {
        return Err(CopyError::PeerGone);
    }
    if slice.last {
        word.store(take_last_word(&mut targets(segments, &region_refs, slice)));
    }
    Ok(())
}

pub fn give(end: &End, segments: &[Segment], part: &Part) -> Copied {
    let region_refs = acquire_counted(end, segments)?;
    let RemoteSegment { addr, len, key } = part.target;
    let from = sources(segments, &region_refs, Slice { offset: part.offset, len, last: false });
    // The destination belongs to a region, not to a window of one connection, so only the zone matters.
    let theirs = AccessContext::new(part.zone, 0);
    reach(
        end,
        Status::RemoteAccess,
        |peer| peer.regions.locate(key, addr, len, Rights::LOCAL_WRITE, &theirs).ok(),
        |copy_target, addr| vm::write_to(copy_target, &from, &[(addr, len)]),
    )
}

pub fn fetch(end: &End, message: &[RemoteSegment], segments: &[Segment], slice: Slice) -> Copied {
    let region_refs = acquire_counted(end, segments)?;
    let fetched = from_message(end, message, slice, |copy_target, from| {
        read_from(copy_target, from, targets(segments, &region_refs, slice), slice.last)
    });
    if end.peer_is_gone() { Err(CopyError::PeerGone) } else { fetched }
}

/// Returns how many bytes at the end of a write the peer must store, because the kernel might split them; 0 if none.
pub fn tail_of_write(end: &End, remote: &RemoteSegment) -> u64 {
    const WORDS: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    match tail_len(address(end, remote).wrapping_add(remote.len), remote.len.min(8) as usize) {
        8 if WORDS => 0,
        1 => 0,
        tail => tail as u64,
    }
}

fn address(end: &End, remote: &RemoteSegment) -> u64 {
    end.peer_segment.peer().map_or(remote.addr, |peer| peer.regions.address(remote.key, remote.addr))
}

/// Writes a slice to a peer in this process.
#[inline(always)]
pub fn to_self(end: &End, remote: &RemoteSegment, segments: &[Segment], slice: Slice) -> Copied {
    let [segment] = segments else { return list_to_self(end, remote, segments, slice) };
    let Some(_moving) = end.begin_local() else { return Err(CopyError::PeerGone) };
    let Some(own) = end.regions().acquire(segment.key as u32) else { return Err(NOT_REGISTERED) };
    let Ok(granted) = end.regions().grant(remote, Rights::REMOTE_WRITE, &end.theirs) else { return Err(NOT_GRANTED) };
    let to = granted.target(slice.offset, slice.len);
    let from = source(&own, segment, slice.offset, slice.len);
    // Not `store`, because the compiler does not inline `store` here.
    if slice.last {
        copy_tail_last(to, from)
    } else {
        copy(to, from)
    };
    Ok(())
}

#[inline(never)]
fn list_to_self(end: &End, remote: &RemoteSegment, segments: &[Segment], slice: Slice) -> Copied {
    let _moving = end.begin_local().ok_or(CopyError::PeerGone)?;
    let region_refs = acquire_all(segments, |key| end.regions().acquire(key)).ok_or(NOT_REGISTERED)?;
    let granted = end.regions().grant(remote, Rights::REMOTE_WRITE, &end.theirs).map_err(|_| NOT_GRANTED)?;
    let to = granted.target(slice.offset, slice.len);
    store_lists(List::from_iter([to]), sources(segments, &region_refs, slice), slice.last);
    Ok(())
}

/// Reads a slice from a peer in this process.
pub fn from_self(end: &End, remote: &RemoteSegment, segments: &[Segment], slice: Slice) -> Copied {
    let _moving = end.begin_local().ok_or(CopyError::PeerGone)?;
    let granted = end.regions().grant(remote, Rights::REMOTE_READ, &end.theirs).map_err(|_| NOT_GRANTED)?;
    let bytes = granted.source(slice.offset, slice.len);
    let done = scatter(end.regions(), segments, slice.offset, bytes, slice.last);
    if done { Ok(()) } else { Err(NOT_REGISTERED) }
}

/// Writes a slice of the segments to the peer's memory. If the slice ends the write, [`tail_of_write`] must be 0.
pub fn to_peer(end: &End, remote: &RemoteSegment, segments: &[Segment], slice: Slice) -> Copied {
    let behind = address(end, remote).wrapping_add(slice.offset).wrapping_add(slice.len);
    let tail = if slice.last { tail_len(behind, slice.len as usize) } else { 0 };
    if let [segment] = segments {
        may_copy(end)?;
        let region_ref = end.regions().acquire_counted(segment.key as u32).ok_or(NOT_REGISTERED)?;
        return write_one(end, source(&region_ref, segment, slice.offset, slice.len), remote, slice, tail);
    }
    let region_refs = acquire_counted(end, segments)?;
    let mut from = sources(segments, &region_refs, slice);
    let word = gather_last(&mut from, tail);
    let mut from: List<Source<'_>> = from;
    if tail > 0 {
        let _ = from.try_push(word.source(tail));
    }
    write_to(end, &from, remote, slice, tail)
}

/// Writes `bytes`, which need no registered region, to the peer's memory, as a complete write.
pub fn bytes_to_peer(end: &End, bytes: Source<'_>, remote: &RemoteSegment) -> Copied {
    may_copy(end)?;
    let tail = tail_len(address(end, remote).wrapping_add(remote.len), bytes.len());
    write_one(end, bytes, remote, Slice { offset: 0, len: remote.len, last: true }, tail)
}

fn write_one(end: &End, from: Source<'_>, remote: &RemoteSegment, slice: Slice, tail: usize) -> Copied {
    let (head, last) = from.split(from.len().saturating_sub(tail));
    let mut word = LastWord::default();
    copy(word.target(tail), last);
    let from = [head, word.source(tail)];
    write_to(end, if tail == 0 { &from[..1] } else { &from[..] }, remote, slice, tail)
}

fn write_to(end: &End, from: &[Source<'_>], remote: &RemoteSegment, slice: Slice, tail: usize) -> Copied {
    reach(
        end,
        Status::RemoteAccess,
        |peer| locate(end, peer, remote, Rights::REMOTE_WRITE),
        |copy_target, addr| {
            // On weakly ordered CPUs, a separate remote range for the last word ensures that the word is stored last.
            let (addr, head) = (addr.wrapping_add(slice.offset), slice.len - tail as u64);
            let (one, two) = ([(addr, slice.len)], [(addr, head), (addr.wrapping_add(head), tail as u64)]);
            vm::write_to(copy_target, from, if tail == 0 || cfg!(target_arch = "x86_64") { &one[..] } else { &two[..] })
        },
    )
}

fn locate(end: &End, peer: &Peer, remote: &RemoteSegment, wanted: Rights) -> Option<u64> {
    peer.regions.locate(remote.key, remote.addr, remote.len, wanted, &end.theirs).ok()
}

pub fn from_peer(end: &End, remote: &RemoteSegment, segments: &[Segment], slice: Slice) -> Copied {
    let granted = |peer: &Peer| locate(end, peer, remote, Rights::REMOTE_READ);
    let from = |addr: u64| [(addr.wrapping_add(slice.offset), slice.len)];
    if let [segment] = segments {
        may_copy(end)?;
        let region_ref = end.regions().acquire_counted(segment.key as u32).ok_or(NOT_REGISTERED)?;
        let to = target(&region_ref, segment, slice.offset, slice.len);
        let len = to.len();
        let tail = if slice.last { tail_len(to.addr().wrapping_add(len as u64), len) } else { 0 };
        let (head, place) = to.split(len - tail);
        let mut word = LastWord::default();
        let to = [head, word.target(tail)];
        let to = if tail == 0 { &to[..1] } else { &to[..] };
        reach(end, Status::RemoteAccess, granted, |copy_target, addr| vm::read_from(copy_target, &from(addr), to))?;
        word.store(place);
        return Ok(());
    }
    let region_refs = acquire_counted(end, segments)?;
    reach(end, Status::RemoteAccess, granted, |copy_target, addr| {
        read_from(copy_target, &from(addr), targets(segments, &region_refs, slice), slice.last)
    })
}

/// Executes an atomic operation for the peer, and returns the previous value.
///
/// # Errors
/// [`Status::RemoteAccess`] without the right; [`Status::RemoteResponder`] if the bytes are not an aligned word.
pub fn change_for_peer(end: &End, remote: &RemoteSegment, change: Change) -> Result<u64, Status> {
    let granted = end.regions().grant(remote, Rights::REMOTE_ATOMIC, &end.own).map_err(|_| Status::RemoteAccess)?;
    user::change(granted.target(0, remote.len), change).ok_or(Status::RemoteResponder)
}

pub fn read_for_peer(end: &End, remote: &RemoteSegment, offset: u64, len: u64, sink: impl FnOnce(Source<'_>)) -> bool {
    let Ok(granted) = end.regions().grant(remote, Rights::REMOTE_READ, &end.own) else {
        return false;
    };
    sink(granted.source(offset, len));
    true
}
