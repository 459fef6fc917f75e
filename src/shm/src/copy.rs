//! Moving bytes between registered memory, the ring, and the peer's memory.
//!
//! Every access to the program's memory is made under a pin of its region, so that a
//! region that is being freed is not touched any more once the free has returned. The
//! bytes of one transfer become visible in order as far as their end is concerned: who
//! polls the last of them finds all others.

use std::sync::Arc;

use dat_core::Rights;
use dat_core::event::Status;
use dat_core::transport::{MAX_SEGMENTS, RemoteSegment, Segment};

use crate::conn::{Conn, Wired};
use crate::node::Node;
use crate::os::user::{Source, Target, copy, copy_tail_last};
use crate::os::vm::{self, VmError};
use crate::regions::Pin;

/// What came of an attempt to move bytes to or from the peer's memory.
pub enum Outcome {
    /// Done.
    Done,
    /// Not done, for good.
    Failed(Status),
    /// This process cannot reach the peer's memory; the peer has to do it.
    Refused,
    /// The peer has let go of the connection, or is gone.
    PeerGone,
}

type Pins<'a> = [Option<Pin<'a>>; MAX_SEGMENTS];

/// Pins the regions of all segments; `None` if one of them is gone.
fn pin_all<'a>(node: &'a Node, segments: &[Segment]) -> Option<Pins<'a>> {
    let mut pins: Pins<'a> = [const { None }; MAX_SEGMENTS];
    for (place, segment) in pins.iter_mut().zip(segments) {
        *place = Some(node.regions().pin(segment.key)?);
    }
    Some(pins)
}

/// The bytes of a segment from `skip` on, at most `most`; none if the region is not what
/// the core checked it to be.
fn source<'a>(pin: &'a Option<Pin<'_>>, segment: &Segment, skip: u64, most: u64) -> Source<'a> {
    let len = (segment.len - skip).min(most);
    pin.as_ref().and_then(|pin| pin.source(segment.addr + skip, len, Rights::NONE).ok()).unwrap_or(Source::EMPTY)
}

/// As [`source`], to be written.
fn target<'a>(pin: &'a Option<Pin<'_>>, segment: &Segment, skip: u64, most: u64, right: Rights) -> Target<'a> {
    let len = (segment.len - skip).min(most);
    pin.as_ref().and_then(|pin| pin.target(segment.addr + skip, len, right).ok()).unwrap_or(Target::EMPTY)
}

/// Pins what a peer's key names, if it grants `wanted` on the range within `zone`.
fn open<'a>(node: &'a Node, remote: &RemoteSegment, wanted: Rights, zone: u32) -> Option<Pin<'a>> {
    let pin = node.regions().pin(remote.key)?;
    let fits = pin.zone() == zone && pin.check(remote.addr, remote.len, wanted).is_ok();
    fits.then_some(pin)
}

/// Whether a peer may read that range of this process's memory.
pub fn may_read(node: &Node, remote: &RemoteSegment, zone: u32) -> bool {
    open(node, remote, Rights::REMOTE_READ, zone).is_some()
}

/// Calls `f` with the pieces of `segments` that make up the bytes `offset .. offset + len`:
/// number of the segment, bytes to skip in it, bytes to take.
fn pieces(segments: &[Segment], offset: u64, len: u64, mut f: impl FnMut(usize, u64, u64)) {
    let mut skip = offset;
    let mut left = len;
    for (at, segment) in segments.iter().enumerate() {
        if left == 0 {
            return;
        }
        if skip >= segment.len {
            skip -= segment.len;
            continue;
        }
        let take = (segment.len - skip).min(left);
        f(at, skip, take);
        left -= take;
        skip = 0;
    }
}

/// Gives the bytes `offset .. offset + len` of the segments to `sink`, in order; false
/// if a region is gone.
pub fn gather(node: &Node, segments: &[Segment], offset: u64, len: u64, mut sink: impl FnMut(Source<'_>)) -> bool {
    let Some(pins) = pin_all(node, segments) else { return false };
    pieces(segments, offset, len, |at, skip, take| sink(source(&pins[at], &segments[at], skip, take)));
    true
}

/// Puts `bytes` into the segments from byte `offset` on; with `last` they end the
/// transfer. False if a region is gone.
pub fn scatter(node: &Node, segments: &[Segment], offset: u64, bytes: Source<'_>, last: bool) -> bool {
    let Some(pins) = pin_all(node, segments) else { return false };
    let mut rest = bytes;
    pieces(segments, offset, bytes.len() as u64, |at, skip, take| {
        let (now, later) = rest.split(take as usize);
        let to = target(&pins[at], &segments[at], skip, take, Rights::LOCAL_WRITE);
        if last && later.is_empty() {
            copy_tail_last(to, now)
        } else {
            copy(to, now)
        };
        rest = later;
    });
    true
}

/// Reads a message of `len` bytes from the sender's memory at `places`. The error is
/// `None` if the sender is gone, which its socket is about to tell.
pub fn fetch(
    node: &Node,
    pid: i32,
    places: &[(u64, u64)],
    segments: &[Segment],
    len: u64,
) -> Result<(), Option<Status>> {
    let pins = pin_all(node, segments).ok_or(Some(Status::LocalProtection))?;
    let mut targets = [Target::EMPTY; MAX_SEGMENTS];
    let mut count = 0;
    pieces(segments, 0, len, |at, skip, take| {
        targets[count] = target(&pins[at], &segments[at], skip, take, Rights::LOCAL_WRITE);
        count += 1;
    });
    vm::read_from(pid, places, &targets[..count]).map_err(|error| match error {
        VmError::Fault => Some(Status::LocalProtection),
        VmError::Gone => None,
        _ => Some(Status::Transport),
    })
}

/// Writes the segments to the peer's memory.
pub fn to_peer(conn: &Arc<Conn>, wired: &Wired, segments: &[Segment], remote: &RemoteSegment) -> Outcome {
    let node = &*conn.node;
    let zone = wired.peer_zone.load(std::sync::atomic::Ordering::Relaxed);
    let Some(pins) = pin_all(node, segments) else { return Outcome::Failed(Status::LocalProtection) };
    let sources = || segments.iter().zip(&pins).map(|(segment, pin)| source(pin, segment, 0, segment.len));
    if !wired.link.is_local() && !wired.link.reads_peer() {
        return Outcome::Refused;
    }
    let Some(_moving) = wired.link.begin_moving(wired.id.index, wired.side) else { return Outcome::PeerGone };
    if wired.link.is_local() {
        let Some(pin) = open(node, remote, Rights::REMOTE_WRITE, zone) else {
            return Outcome::Failed(Status::RemoteAccess);
        };
        let pin = Some(pin);
        let mut skip = 0;
        let whole = Segment { addr: remote.addr, len: remote.len, key: remote.key };
        for source in sources() {
            let len = source.len() as u64;
            let to = target(&pin, &whole, skip, len, Rights::REMOTE_WRITE);
            if skip + len == remote.len {
                copy_tail_last(to, source)
            } else {
                copy(to, source)
            };
            skip += len;
        }
        return Outcome::Done;
    }
    let Some(peer) = wired.link.peer() else { return Outcome::PeerGone };
    if peer.regions.check(remote.key, remote.addr, remote.len, Rights::REMOTE_WRITE, zone).is_err() {
        return Outcome::Failed(Status::RemoteAccess);
    }
    let mut list = [Source::EMPTY; MAX_SEGMENTS];
    for (place, source) in list.iter_mut().zip(sources()) {
        *place = source;
    }
    outcome(wired, vm::write_to(wired.link.pid, &list[..segments.len()], &[(remote.addr, remote.len)]))
}

/// Reads the peer's memory into the segments.
pub fn from_peer(conn: &Arc<Conn>, wired: &Wired, remote: &RemoteSegment, segments: &[Segment]) -> Outcome {
    let node = &*conn.node;
    let zone = wired.peer_zone.load(std::sync::atomic::Ordering::Relaxed);
    if !wired.link.is_local() && !wired.link.reads_peer() {
        return Outcome::Refused;
    }
    let Some(_moving) = wired.link.begin_moving(wired.id.index, wired.side) else { return Outcome::PeerGone };
    if wired.link.is_local() {
        let Some(pin) = open(node, remote, Rights::REMOTE_READ, zone) else {
            return Outcome::Failed(Status::RemoteAccess);
        };
        let whole = Segment { addr: remote.addr, len: remote.len, key: remote.key };
        let from = Some(pin);
        let done = scatter(node, segments, 0, source(&from, &whole, 0, remote.len), true);
        return if done { Outcome::Done } else { Outcome::Failed(Status::LocalProtection) };
    }
    let Some(peer) = wired.link.peer() else { return Outcome::PeerGone };
    if peer.regions.check(remote.key, remote.addr, remote.len, Rights::REMOTE_READ, zone).is_err() {
        return Outcome::Failed(Status::RemoteAccess);
    }
    let Some(pins) = pin_all(node, segments) else { return Outcome::Failed(Status::LocalProtection) };
    let mut targets = [Target::EMPTY; MAX_SEGMENTS];
    let mut count = 0;
    pieces(segments, 0, remote.len, |at, skip, take| {
        targets[count] = target(&pins[at], &segments[at], skip, take, Rights::LOCAL_WRITE);
        count += 1;
    });
    outcome(wired, vm::read_from(wired.link.pid, &[(remote.addr, remote.len)], &targets[..count]))
}

fn outcome(wired: &Wired, result: Result<(), VmError>) -> Outcome {
    match result {
        Ok(()) => Outcome::Done,
        Err(VmError::Fault) => Outcome::Failed(Status::RemoteAccess),
        Err(VmError::Denied | VmError::Unsupported) => Outcome::Refused,
        // Its memory cannot be had any more: its socket tells whether it is gone, or has
        // only lost its first thread. Until then it is asked to do it itself.
        Err(VmError::Gone) => {
            wired.link.set_reads_peer(false);
            Outcome::Refused
        }
        Err(_) => Outcome::Failed(Status::Transport),
    }
}

/// Puts bytes that the peer sent into registered memory of this process, as an RDMA
/// write that the peer could not carry out itself.
pub fn write_for_peer(node: &Node, zone: u32, whole: &RemoteSegment, offset: u64, bytes: Source<'_>) -> bool {
    let Some(pin) = open(node, whole, Rights::REMOTE_WRITE, zone) else {
        return false;
    };
    let pin = Some(pin);
    let segment = Segment { addr: whole.addr, len: whole.len, key: whole.key };
    let len = bytes.len() as u64;
    if offset > whole.len || len > whole.len - offset {
        return false;
    }
    let to = target(&pin, &segment, offset, len, Rights::REMOTE_WRITE);
    if offset + len == whole.len {
        copy_tail_last(to, bytes)
    } else {
        copy(to, bytes)
    };
    true
}

/// Gives registered memory of this process to `sink`, for an RDMA read that the peer
/// could not carry out itself.
pub fn read_for_peer(
    node: &Node,
    zone: u32,
    whole: &RemoteSegment,
    offset: u64,
    len: u64,
    sink: impl FnOnce(Source<'_>),
) -> bool {
    let Some(pin) = open(node, whole, Rights::REMOTE_READ, zone) else {
        return false;
    };
    let pin = Some(pin);
    let segment = Segment { addr: whole.addr, len: whole.len, key: whole.key };
    sink(source(&pin, &segment, offset, len));
    true
}
