//! Moving bytes between registered memory, the ring, and the peer's memory.
//!
//! Every access to the program's memory is made under a pin of its region, or in a section in which that was checked, so
//! that a region is no longer touched once the free of it has returned. Copies to and from another process are made under
//! counted pins, so that only a free of the same region waits for them. The last word of a transfer becomes visible last
//! and in one piece: a thread that polls it never sees a part of it, and finds all other bytes once it has seen it.
//!
//! Transfers to and from the peer's memory are made in [`Slice`]s, each of which is checked anew.
//!
//! # The last word
//! It is the aligned 8, 4, 2 or 1 bytes at the end of the destination, no more than the transfer has; segments that lie
//! one behind the other count as one. In memory of this process the word is gathered apart, by the kernel too, and
//! stored behind all other bytes. In the peer's memory the kernel copies it as a piece of its own: one byte, or eight
//! on x86-64 and aarch64, which most processors move at once. Kernels from 6.4 on use the instruction for short strings
//! where the processor has a fast one (`fsrm`), which moves bytes in order: a program that looks just then may see the
//! first bytes of the word alone, but the last byte comes last. Words of other lengths the kernel may copy byte by
//! byte, so the peer stores them: a write of up to 8 KiB goes through the ring whole, and is not taken back, and the
//! last word of a longer one does. Until the peer has consumed it, later writes go through the ring as well, and long ones and reads wait. The
//! program there may spin without any call, so the [`guard`](crate::guard) wakes the peer's thread if nobody handles that
//! record.
//!
//! # When the kernel refuses
//! A filter of system calls or lost privileges may begin to refuse copies at any moment. The process notes that for the
//! peer, does not try again and tells it (`Message::Reads`), so later messages come in pieces. A transfer goes on the
//! other way from the byte where it is: a write as pieces through the ring, a read as a request for the rest. For an
//! announced message the receiver asks through the ring of answers, which never waits for receives, by the position of
//! the announcement and the bytes that it has; the sender, which keeps the segments until the announcement is consumed,
//! answers one such question at a time. Any error but a bad address counts as a refusal.

use dat_core::event::Status;
use dat_core::transport::{RemoteSegment, Segment};
use dat_core::{Change, Rights};
use dat_memory::copy::{List, acquire_all, gather_last, source, sources, store, store_lists, target, targets};
pub use dat_memory::copy::{Slice, gather, scatter, scatter_one};
use dat_memory::regions::{AccessContext, Granted};
use dat_memory::user::{self, LastWord, Source, Target, copy, tail_len, take_last_word};

use crate::control_region::Peer;
use crate::offer::Part;
use crate::os::vm::{self, VmError};
use crate::peer_segment::End;
use crate::regions::RegionTable;

/// The outcome of an attempt to move bytes to or from the peer's memory.
pub enum Outcome {
    /// The bytes are there.
    Done,
    /// They will never be.
    Failed(Status),
    /// This process cannot reach the peer's memory, so that another way is to be taken.
    Refused,
    /// The peer has disconnected, or is gone.
    PeerGone,
}

/// Pins the range of this process's memory that a peer names, if `wanted` is granted on it over the connection that has
/// the end `own`.
#[inline(always)]
fn open<'a>(
    regions: &'a RegionTable,
    remote: &RemoteSegment,
    wanted: Rights,
    own: &AccessContext,
) -> Option<Granted<'a>> {
    regions.grant(remote.key, remote.addr, remote.len, wanted, own).ok()
}

/// The range of this process's memory that a peer may write, as a segment of the program's that is written slice by slice.
/// `None` if the peer may not write it, or the program may not.
pub fn granted(end: &End, remote: &RemoteSegment) -> Option<Segment> {
    let granted = open(end.regions(), remote, Rights::REMOTE_WRITE | Rights::LOCAL_WRITE, &end.own)?;
    Some(Segment { addr: granted.addr(), len: remote.len, key: remote.key.into(), since: 0 })
}

/// True if the peer lets this side have it write that range of its memory slice by slice.
pub fn may_announce(end: &End, remote: &RemoteSegment) -> bool {
    let wanted = Rights::REMOTE_WRITE | Rights::LOCAL_WRITE;
    end.peer_segment.peer().is_some_and(|peer| locate(end, peer, remote, wanted).is_some())
}

/// True if a peer may read that range of this process's memory.
pub fn may_read(end: &End, remote: &RemoteSegment) -> bool {
    open(end.regions(), remote, Rights::REMOTE_READ, &end.own).is_some()
}

/// A slice of a list of places in the peer's memory.
fn places(places: &[(u64, u64)], slice: Slice) -> List<(u64, u64)> {
    let mut list = List::new();
    let (mut skip, mut left) = (slice.offset, slice.len);
    for &(addr, len) in places {
        let take = len.saturating_sub(skip).min(left);
        if take > 0 {
            let _ = list.try_push((addr.wrapping_add(skip), take));
        }
        skip = skip.saturating_sub(len);
        left -= take;
    }
    list
}

/// Copies once to or from the memory of another process: claim, check, copy, release. Begins again if the process has
/// changed the thread by which it is reached in between. `locate` checks, and gives the address in the memory of the
/// peer. `fault` is the status for an address that leads nowhere.
fn reach(
    end: &End,
    fault: Status,
    locate: impl Fn(&Peer) -> Option<u64>,
    mut copy: impl FnMut(i32, u64) -> Result<(), VmError>,
) -> Outcome {
    loop {
        let Some(moving) = end.begin_moving() else { return Outcome::PeerGone };
        let Some(peer) = end.peer_segment.peer() else { return Outcome::PeerGone };
        let Some(addr) = locate(peer) else { return Outcome::Failed(Status::RemoteAccess) };
        match copy(moving.copy_target(), addr) {
            Err(VmError::Gone) if moving.is_outdated() => {}
            result => return outcome(end, result, fault),
        }
    }
}

/// For a message, which the sender lets this side read wherever it says that its bytes are.
fn anywhere(_peer: &Peer) -> Option<u64> {
    Some(0)
}

/// The outcome of a copy, in which an address that leads nowhere has the status `fault`.
fn outcome(end: &End, result: Result<(), VmError>, fault: Status) -> Outcome {
    match result {
        Ok(()) => Outcome::Done,
        Err(VmError::Fault) => Outcome::Failed(fault),
        Err(VmError::Length) => Outcome::Failed(Status::Transport),
        // The peer's memory cannot be reached any more. Its socket will tell if it is gone; if not, the bytes go
        // another way from now on.
        Err(VmError::Denied | VmError::Unsupported | VmError::Gone | VmError::Other(_)) => {
            end.stop_copying();
            Outcome::Refused
        }
    }
}

/// Reads memory of the peer at `from` into `to`, of which the end is stored last if it ends a transfer.
fn read_from(pid: i32, from: &[(u64, u64)], mut to: List<Target<'_>>, last: bool) -> Result<(), VmError> {
    if !last {
        return vm::read_from(pid, from, &to);
    }
    let place = take_last_word(&mut to);
    let word = read_but_last(pid, from, to, place.len())?;
    word.store(place);
    Ok(())
}

/// Reads memory of the peer at `from` into `to`, and the `len` bytes behind that, up to 8, into a word.
fn read_but_last(pid: i32, from: &[(u64, u64)], to: List<Target<'_>>, len: usize) -> Result<LastWord, VmError> {
    let mut word = LastWord::default();
    {
        let mut to: List<Target<'_>> = to;
        // There is room for one more than there are segments.
        let _ = to.try_push(word.target(len));
        vm::read_from(pid, from, &to)?;
    }
    Ok(word)
}

/// Where a part of a message belongs that is to go to `segments`, if that is in one of them, and the protection zone of
/// its region.
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

/// Reads a slice of a message from the sender's memory, with bytes before it yet to come. So if the message ends with
/// it, its last word is not stored but left in `word`, for [`end_ahead`].
pub fn fetch_ahead(end: &End, from: &[(u64, u64)], segments: &[Segment], slice: Slice, word: &mut LastWord) -> Outcome {
    if !end.peer_segment.reads_peer.get() {
        return Outcome::Refused;
    }
    let Some(region_refs) = acquire_all(segments, |key| end.regions().acquire_counted(key)) else {
        return Outcome::Failed(Status::LocalProtection);
    };
    let (from, mut to) = (places(from, slice), targets(segments, &region_refs, slice));
    let last = if slice.last { take_last_word(&mut to).len() } else { 0 };
    let read = |copy_target, _| read_but_last(copy_target, &from, to.clone(), last).map(|read| *word = read);
    reach(end, Status::LocalProtection, anywhere, read)
}

/// All bytes are there before the slice that [`fetch_ahead`] has read: stores its last word.
pub fn end_ahead(end: &End, segments: &[Segment], slice: Slice, word: LastWord) -> Outcome {
    let Some(region_refs) = acquire_all(segments, |key| end.regions().acquire(key)) else {
        return Outcome::Failed(Status::LocalProtection);
    };
    // The sender may have disconnected meanwhile and used its memory for something else.
    if end.peer_is_gone() {
        return Outcome::PeerGone;
    }
    if slice.last {
        word.store(take_last_word(&mut targets(segments, &region_refs, slice)));
    }
    Outcome::Done
}

/// Writes a part of a message from `segments` to the memory of the receiver, who has offered that.
pub fn give(end: &End, segments: &[Segment], part: &Part) -> Outcome {
    if !end.peer_segment.reads_peer.get() {
        return Outcome::Refused;
    }
    let Some(region_refs) = acquire_all(segments, |key| end.regions().acquire_counted(key)) else {
        return Outcome::Failed(Status::LocalProtection);
    };
    let RemoteSegment { addr, len, key } = part.target;
    let from = sources(segments, &region_refs, Slice { offset: part.offset, len, last: false });
    // The zone alone counts, because the place belongs to a whole region.
    let theirs = AccessContext::new(part.zone, 0);
    reach(
        end,
        Status::RemoteAccess,
        |peer| peer.regions.locate(key, addr, len, Rights::LOCAL_WRITE, &theirs).ok(),
        |copy_target, addr| vm::write_to(copy_target, &from, &[(addr, len)]),
    )
}

/// Reads a slice of a message from the sender's memory at `from` into `segments`.
pub fn fetch(end: &End, from: &[(u64, u64)], segments: &[Segment], slice: Slice) -> Outcome {
    if !end.peer_segment.reads_peer.get() {
        return Outcome::Refused;
    }
    let Some(region_refs) = acquire_all(segments, |key| end.regions().acquire_counted(key)) else {
        return Outcome::Failed(Status::LocalProtection);
    };
    let (from, to) = (places(from, slice), targets(segments, &region_refs, slice));
    let read = |copy_target, _| read_from(copy_target, &from, to.clone(), slice.last);
    let fetched = reach(end, Status::LocalProtection, anywhere, read);
    // The sender may have disconnected meanwhile and used its memory for something else.
    if end.peer_is_gone() { Outcome::PeerGone } else { fetched }
}

/// The bytes at the end of a write to the peer's memory that must not be copied by the kernel, because it does not copy
/// them in one piece: the peer has to store them.
///
/// The kernel copies 8 bytes as one word on processors of which that is known. It may copy fewer byte by byte.
pub fn tail_of_write(end: &End, remote: &RemoteSegment) -> u64 {
    const WORDS: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    match tail_len(address(end, remote).wrapping_add(remote.len), remote.len.min(8) as usize) {
        8 if WORDS => 0,
        1 => 0,
        tail => tail as u64,
    }
}

/// Where a range begins in the memory of the peer, if it is granted.
fn address(end: &End, remote: &RemoteSegment) -> u64 {
    end.peer_segment.peer().map_or(remote.addr, |peer| peer.regions.address(remote.key, remote.addr))
}

/// Writes a slice of the segments to memory of a peer that is this process.
#[inline]
pub fn to_self(end: &End, segments: &[Segment], remote: &RemoteSegment, slice: Slice) -> Outcome {
    let [segment] = segments else { return list_to_self(end, segments, remote, slice) };
    let Some(_moving) = end.begin_moving() else { return Outcome::PeerGone };
    let Some(own) = end.regions().acquire(segment.key as u32) else { return Outcome::Failed(Status::LocalProtection) };
    let Some(granted) = open(end.regions(), remote, Rights::REMOTE_WRITE, &end.theirs) else {
        return Outcome::Failed(Status::RemoteAccess);
    };
    let to = granted.target(slice.offset, slice.len);
    store(to, source(&own, segment, slice.offset, slice.len), slice.last);
    Outcome::Done
}

/// Does what [`to_self`] does, for any number of segments.
#[inline(never)]
fn list_to_self(end: &End, segments: &[Segment], remote: &RemoteSegment, slice: Slice) -> Outcome {
    let Some(_moving) = end.begin_moving() else { return Outcome::PeerGone };
    let Some(region_refs) = acquire_all(segments, |key| end.regions().acquire(key)) else {
        return Outcome::Failed(Status::LocalProtection);
    };
    let Some(granted) = open(end.regions(), remote, Rights::REMOTE_WRITE, &end.theirs) else {
        return Outcome::Failed(Status::RemoteAccess);
    };
    let to = granted.target(slice.offset, slice.len);
    store_lists(List::from_iter([to]), sources(segments, &region_refs, slice), slice.last);
    Outcome::Done
}

/// Reads a slice of memory of a peer that is this process into the segments.
pub fn from_self(end: &End, remote: &RemoteSegment, segments: &[Segment], slice: Slice) -> Outcome {
    let Some(_moving) = end.begin_moving() else { return Outcome::PeerGone };
    let Some(granted) = open(end.regions(), remote, Rights::REMOTE_READ, &end.theirs) else {
        return Outcome::Failed(Status::RemoteAccess);
    };
    let bytes = granted.source(slice.offset, slice.len);
    let done = scatter(end.regions(), segments, slice.offset, bytes, slice.last);
    if done { Outcome::Done } else { Outcome::Failed(Status::LocalProtection) }
}

/// Writes a slice of the segments to the peer's memory. If that is the last of the write, the word at its end is one
/// that [`tail_of_write`] leaves to the kernel.
pub fn to_peer(end: &End, segments: &[Segment], remote: &RemoteSegment, slice: Slice) -> Outcome {
    if !end.peer_segment.reads_peer.get() {
        return Outcome::Refused;
    }
    let behind = address(end, remote).wrapping_add(slice.offset).wrapping_add(slice.len);
    let tail = if slice.last { tail_len(behind, slice.len as usize) } else { 0 };
    if let [segment] = segments {
        let Some(region_ref) = end.regions().acquire_counted(segment.key as u32) else {
            return Outcome::Failed(Status::LocalProtection);
        };
        return write_one(end, source(&region_ref, segment, slice.offset, slice.len), remote, slice, tail);
    }
    let Some(region_refs) = acquire_all(segments, |key| end.regions().acquire_counted(key)) else {
        return Outcome::Failed(Status::LocalProtection);
    };
    let mut from = sources(segments, &region_refs, slice);
    let word = gather_last(&mut from, tail);
    let mut from: List<Source<'_>> = from;
    if tail > 0 {
        // There is room for one more than there are segments.
        let _ = from.try_push(word.source(tail));
    }
    write_to(end, &from, remote, slice, tail)
}

/// Does what [`to_peer`] does with a whole write, whose `bytes` lie in memory of this library.
pub fn bytes_to_peer(end: &End, bytes: Source<'_>, remote: &RemoteSegment) -> Outcome {
    if !end.peer_segment.reads_peer.get() {
        return Outcome::Refused;
    }
    let tail = tail_len(address(end, remote).wrapping_add(remote.len), bytes.len());
    write_one(end, bytes, remote, Slice { offset: 0, len: remote.len, last: true }, tail)
}

/// As [`write_to`], from one piece.
fn write_one(end: &End, from: Source<'_>, remote: &RemoteSegment, slice: Slice, tail: usize) -> Outcome {
    let (head, last) = from.split(from.len().saturating_sub(tail));
    let mut word = LastWord::default();
    copy(word.target(tail), last);
    let from = [head, word.source(tail)];
    write_to(end, if tail == 0 { &from[..1] } else { &from[..] }, remote, slice, tail)
}

/// Writes `from` to a slice of the peer's memory; the last `tail` bytes are a word of their own.
fn write_to(end: &End, from: &[Source<'_>], remote: &RemoteSegment, slice: Slice, tail: usize) -> Outcome {
    reach(
        end,
        Status::RemoteAccess,
        |peer| locate(end, peer, remote, Rights::REMOTE_WRITE),
        |copy_target, addr| {
            // A place of its own in the peer's memory keeps the order of the stores where processors do not.
            let (addr, head) = (addr.wrapping_add(slice.offset), slice.len - tail as u64);
            let (one, two) = ([(addr, slice.len)], [(addr, head), (addr.wrapping_add(head), tail as u64)]);
            vm::write_to(copy_target, from, if tail == 0 || cfg!(target_arch = "x86_64") { &one[..] } else { &two[..] })
        },
    )
}

/// The address of a range in the memory of the peer, if `wanted` is granted on it.
fn locate(end: &End, peer: &Peer, remote: &RemoteSegment, wanted: Rights) -> Option<u64> {
    peer.regions.locate(remote.key, remote.addr, remote.len, wanted, &end.theirs).ok()
}

/// Reads a slice of the peer's memory into the segments.
pub fn from_peer(end: &End, remote: &RemoteSegment, segments: &[Segment], slice: Slice) -> Outcome {
    if !end.peer_segment.reads_peer.get() {
        return Outcome::Refused;
    }
    let granted = |peer: &Peer| locate(end, peer, remote, Rights::REMOTE_READ);
    let from = |addr: u64| [(addr.wrapping_add(slice.offset), slice.len)];
    if let [segment] = segments {
        let Some(region_ref) = end.regions().acquire_counted(segment.key as u32) else {
            return Outcome::Failed(Status::LocalProtection);
        };
        let to = target(&region_ref, segment, slice.offset, slice.len, Rights::LOCAL_WRITE);
        let last = to.addr().wrapping_add(to.len() as u64);
        let tail = if slice.last { tail_len(last, to.len()) } else { 0 };
        let (head, place) = to.split(to.len() - tail);
        let mut word = LastWord::default();
        let to = [head, word.target(tail)];
        let to = if tail == 0 { &to[..1] } else { &to[..] };
        let read =
            reach(end, Status::RemoteAccess, granted, |copy_target, addr| vm::read_from(copy_target, &from(addr), to));
        if let Outcome::Done = read {
            word.store(place);
        }
        return read;
    }
    let Some(region_refs) = acquire_all(segments, |key| end.regions().acquire_counted(key)) else {
        return Outcome::Failed(Status::LocalProtection);
    };
    let to = targets(segments, &region_refs, slice);
    reach(end, Status::RemoteAccess, granted, |copy_target, addr| {
        read_from(copy_target, &from(addr), to.clone(), slice.last)
    })
}

/// Puts bytes that the peer sent into registered memory of this process, as an RDMA write that the peer could not
/// carry out itself.
pub fn write_for_peer(end: &End, remote: &RemoteSegment, offset: u64, bytes: Source<'_>) -> bool {
    let Some(granted) = open(end.regions(), remote, Rights::REMOTE_WRITE, &end.own) else {
        return false;
    };
    let len = bytes.len() as u64;
    if offset > remote.len || len > remote.len - offset {
        return false;
    }
    store(granted.target(offset, len), bytes, offset + len == remote.len);
    true
}

/// Carries an atomic operation of the peer out on eight bytes of registered memory of this process; gives what was there
/// before.
///
/// # Errors
/// [`Status::RemoteAccess`] if the peer may not do that, [`Status::RemoteResponder`] if the bytes are no word.
pub fn change_for_peer(end: &End, remote: &RemoteSegment, change: Change) -> Result<u64, Status> {
    let granted = open(end.regions(), remote, Rights::REMOTE_ATOMIC, &end.own).ok_or(Status::RemoteAccess)?;
    user::change(granted.target(0, remote.len), change).ok_or(Status::RemoteResponder)
}

/// Gives registered memory of this process to `sink`, for an RDMA read that the peer could not carry out itself.
pub fn read_for_peer(end: &End, remote: &RemoteSegment, offset: u64, len: u64, sink: impl FnOnce(Source<'_>)) -> bool {
    let Some(granted) = open(end.regions(), remote, Rights::REMOTE_READ, &end.own) else {
        return false;
    };
    sink(granted.source(offset, len));
    true
}
