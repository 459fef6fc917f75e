//! Moving bytes between registered memory, the ring, and the peer's memory.
//!
//! Every access to the program's memory is made under a pin of its region, so that a region is no longer touched once
//! the free of it has returned. The last bytes of a transfer become visible last: a thread that polls them finds all
//! others.

use std::sync::atomic::Ordering;

use arrayvec::ArrayVec;
use dat_core::Rights;
use dat_core::event::Status;
use dat_core::transport::{MAX_SEGMENTS, RemoteSegment, Segment};

use crate::os::user::{Source, Target, copy, copy_tail_last};
use crate::os::vm::{self, VmError};
use crate::pair::{End, Pair};
use crate::regions::{Pin, RegionTable};

/// The outcome of an attempt to move bytes to or from the peer's memory.
pub enum Outcome {
    /// The bytes are there.
    Done,
    /// They will never be.
    Failed(Status),
    /// This process cannot reach the peer's memory; the peer has to do it.
    Refused,
    /// The peer has let go of the connection, or is gone.
    PeerGone,
}

/// A list with an element for each segment of a request at most.
type List<T> = ArrayVec<T, MAX_SEGMENTS>;

/// Pins the regions of all segments in `pins`, which is empty; false if one of them is gone.
#[inline]
fn pin_all<'a>(regions: &'a RegionTable, segments: &[Segment], pins: &mut List<Pin<'a>>) -> bool {
    segments.iter().all(|segment| regions.pin(segment.key).is_some_and(|pin| pins.try_push(pin).is_ok()))
}

/// The bytes of a segment from `skip` on, at most `most`; none if the region is not what the core checked it to be.
#[inline]
fn source<'a>(pin: &'a Pin<'_>, segment: &Segment, skip: u64, most: u64) -> Source<'a> {
    let len = (segment.len - skip).min(most);
    pin.source(segment.addr + skip, len, Rights::NONE).unwrap_or(Source::EMPTY)
}

/// As [`source`], to be written.
#[inline]
fn target<'a>(pin: &'a Pin<'_>, segment: &Segment, skip: u64, most: u64, right: Rights) -> Target<'a> {
    let len = (segment.len - skip).min(most);
    pin.target(segment.addr + skip, len, right).unwrap_or(Target::EMPTY)
}

/// Copies `from` to `to`; with `last` it ends a transfer.
#[inline]
fn store(to: Target<'_>, from: Source<'_>, last: bool) {
    if last {
        copy_tail_last(to, from);
    } else {
        copy(to, from);
    }
}

/// Pins the region that a peer's key names, if it grants `wanted` on the range within `zone`.
fn open<'a>(regions: &'a RegionTable, remote: &RemoteSegment, wanted: Rights, zone: u32) -> Option<Pin<'a>> {
    let pin = regions.pin(remote.key)?;
    let fits = pin.zone() == zone && pin.check(remote.addr, remote.len, wanted).is_ok();
    fits.then_some(pin)
}

/// A peer's range in the terms of this process.
fn whole(remote: &RemoteSegment) -> Segment {
    Segment { addr: remote.addr, len: remote.len, key: remote.key }
}

/// True if a peer may read that range of this process's memory.
pub fn may_read(regions: &RegionTable, remote: &RemoteSegment, zone: u32) -> bool {
    open(regions, remote, Rights::REMOTE_READ, zone).is_some()
}

/// Calls `f` with the pieces of `segments` that make up the bytes `offset .. offset + len`: the segment and its pin,
/// the bytes to skip in it, the bytes to take.
#[inline]
fn pieces<'a, 'p>(
    segments: &'a [Segment],
    pins: &'a [Pin<'p>],
    offset: u64,
    len: u64,
    mut f: impl FnMut(&'a Segment, &'a Pin<'p>, u64, u64),
) {
    let mut skip = offset;
    let mut left = len;
    for (segment, pin) in segments.iter().zip(pins) {
        if left == 0 {
            return;
        }
        if skip >= segment.len {
            skip -= segment.len;
            continue;
        }
        let take = (segment.len - skip).min(left);
        f(segment, pin, skip, take);
        left -= take;
        skip = 0;
    }
}

/// Gives the bytes `offset .. offset + len` of the segments to `sink`, in order; false if a region is gone.
#[inline]
pub fn gather(
    regions: &RegionTable,
    segments: &[Segment],
    offset: u64,
    len: u64,
    mut sink: impl FnMut(Source<'_>),
) -> bool {
    let mut pins = List::new();
    if !pin_all(regions, segments, &mut pins) {
        return false;
    }
    pieces(segments, &pins, offset, len, |segment, pin, skip, take| sink(source(pin, segment, skip, take)));
    true
}

/// Puts `bytes` into the segments from byte `offset` on; with `last` they end the transfer. False if a region is
/// gone.
#[inline]
pub fn scatter(regions: &RegionTable, segments: &[Segment], offset: u64, bytes: Source<'_>, last: bool) -> bool {
    let mut pins = List::new();
    if !pin_all(regions, segments, &mut pins) {
        return false;
    }
    let mut rest = bytes;
    pieces(segments, &pins, offset, bytes.len() as u64, |segment, pin, skip, take| {
        let (now, later) = rest.split(take as usize);
        store(target(pin, segment, skip, take, Rights::LOCAL_WRITE), now, last && later.is_empty());
        rest = later;
    });
    true
}

/// The first `len` bytes of the segments as a list of targets.
fn targets<'a>(segments: &'a [Segment], pins: &'a [Pin<'_>], len: u64) -> List<Target<'a>> {
    let mut list = List::new();
    // There is room for as many as there are segments.
    pieces(segments, pins, 0, len, |segment, pin, skip, take| {
        let _ = list.try_push(target(pin, segment, skip, take, Rights::LOCAL_WRITE));
    });
    list
}

/// Reads a message of `len` bytes from the sender's memory at `places`. The error is `None` if the sender is gone,
/// which its socket is about to tell.
pub fn fetch(end: &End, places: &[(u64, u64)], segments: &[Segment], len: u64) -> Result<(), Option<Status>> {
    let mut pins = List::new();
    if !pin_all(end.regions(), segments, &mut pins) {
        return Err(Some(Status::LocalProtection));
    }
    let targets = targets(segments, &pins, len);
    let copied = loop {
        let Some(moving) = end.begin_moving() else { return Err(None) };
        match vm::read_from(moving.door(), places, &targets) {
            Err(VmError::Gone) if moving.is_outdated() => {}
            copied => break copied,
        }
    };
    copied.map_err(|error| match error {
        VmError::Fault => Some(Status::LocalProtection),
        VmError::Gone => None,
        _ => Some(Status::Transport),
    })
}

/// Writes the segments to the peer's memory.
pub fn to_peer(end: &End, segments: &[Segment], remote: &RemoteSegment) -> Outcome {
    let zone = end.peer_zone.load(Ordering::Relaxed);
    let mut pins = List::new();
    if !pin_all(end.regions(), segments, &mut pins) {
        return Outcome::Failed(Status::LocalProtection);
    }
    let sources = segments.iter().zip(&pins).map(|(segment, pin)| source(pin, segment, 0, segment.len));
    if !end.pair.is_local() && !end.pair.reads_peer() {
        return Outcome::Refused;
    }
    let Some(moving) = end.begin_moving() else { return Outcome::PeerGone };
    if end.pair.is_local() {
        let Some(pin) = open(end.regions(), remote, Rights::REMOTE_WRITE, zone) else {
            return Outcome::Failed(Status::RemoteAccess);
        };
        let mut skip = 0;
        for source in sources {
            let len = source.len() as u64;
            let to = target(&pin, &whole(remote), skip, len, Rights::REMOTE_WRITE);
            skip += len;
            store(to, source, skip == remote.len);
        }
        return Outcome::Done;
    }
    let Some(peer) = end.pair.peer() else { return Outcome::PeerGone };
    if peer.regions.check(remote.key, remote.addr, remote.len, Rights::REMOTE_WRITE, zone).is_err() {
        return Outcome::Failed(Status::RemoteAccess);
    }
    let list: List<Source<'_>> = sources.collect();
    match vm::write_to(moving.door(), &list, &[(remote.addr, remote.len)]) {
        Err(VmError::Gone) if moving.is_outdated() => {
            drop(moving);
            to_peer(end, segments, remote)
        }
        copied => outcome(&end.pair, copied),
    }
}

/// Reads the peer's memory into the segments.
pub fn from_peer(end: &End, remote: &RemoteSegment, segments: &[Segment]) -> Outcome {
    let zone = end.peer_zone.load(Ordering::Relaxed);
    if !end.pair.is_local() && !end.pair.reads_peer() {
        return Outcome::Refused;
    }
    let Some(moving) = end.begin_moving() else { return Outcome::PeerGone };
    if end.pair.is_local() {
        let Some(from) = open(end.regions(), remote, Rights::REMOTE_READ, zone) else {
            return Outcome::Failed(Status::RemoteAccess);
        };
        let done = scatter(end.regions(), segments, 0, source(&from, &whole(remote), 0, remote.len), true);
        return if done { Outcome::Done } else { Outcome::Failed(Status::LocalProtection) };
    }
    let Some(peer) = end.pair.peer() else { return Outcome::PeerGone };
    if peer.regions.check(remote.key, remote.addr, remote.len, Rights::REMOTE_READ, zone).is_err() {
        return Outcome::Failed(Status::RemoteAccess);
    }
    let mut pins = List::new();
    if !pin_all(end.regions(), segments, &mut pins) {
        return Outcome::Failed(Status::LocalProtection);
    }
    let targets = targets(segments, &pins, remote.len);
    match vm::read_from(moving.door(), &[(remote.addr, remote.len)], &targets) {
        Err(VmError::Gone) if moving.is_outdated() => {
            drop(moving);
            from_peer(end, remote, segments)
        }
        copied => outcome(&end.pair, copied),
    }
}

fn outcome(pair: &Pair, result: Result<(), VmError>) -> Outcome {
    match result {
        Ok(()) => Outcome::Done,
        Err(VmError::Fault) => Outcome::Failed(Status::RemoteAccess),
        Err(VmError::Denied | VmError::Unsupported) => Outcome::Refused,
        // The peer's memory cannot be reached any more. Its socket will tell if it is gone; if it has only lost its
        // first thread, it is asked to move the bytes itself.
        Err(VmError::Gone) => {
            pair.set_reads_peer(false);
            Outcome::Refused
        }
        Err(_) => Outcome::Failed(Status::Transport),
    }
}

/// Puts bytes that the peer sent into registered memory of this process, as an RDMA write that the peer could not
/// carry out itself.
pub fn write_for_peer(end: &End, remote: &RemoteSegment, offset: u64, bytes: Source<'_>) -> bool {
    let Some(pin) = open(end.regions(), remote, Rights::REMOTE_WRITE, end.zone) else {
        return false;
    };
    let len = bytes.len() as u64;
    if offset > remote.len || len > remote.len - offset {
        return false;
    }
    let to = target(&pin, &whole(remote), offset, len, Rights::REMOTE_WRITE);
    store(to, bytes, offset + len == remote.len);
    true
}

/// Gives registered memory of this process to `sink`, for an RDMA read that the peer could not carry out itself.
pub fn read_for_peer(end: &End, remote: &RemoteSegment, offset: u64, len: u64, sink: impl FnOnce(Source<'_>)) -> bool {
    let Some(pin) = open(end.regions(), remote, Rights::REMOTE_READ, end.zone) else {
        return false;
    };
    sink(source(&pin, &whole(remote), offset, len));
    true
}
