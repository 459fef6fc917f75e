//! Probes: places in the libraries where a tracer such as bpftrace, perf, SystemTap or gdb can watch.
//!
//! Each is one `nop`, beside a note in the library that says where the arguments are, which is the form of SystemTap's
//! `<sys/sdt.h>` (USDT). A tracer puts a breakpoint in its place. So a probe costs that instruction while no tracer
//! watches, and its arguments are only values that are at hand there; only the bytes of a receive on a shared receive queue
//! are added up for it. All probes have the provider `dat`; all arguments are signed numbers of 64 bits. docs/tracing.md describes them for
//! users, and tests-c/probes/check.sh compares it with the libraries.
//!
//! What happens seldom is one place in each library, since a tracer takes a while for each.
//!
//! Transfers have the numbers of [`Transfer`], and a bind the one behind them. An atomic operation counts as a read, a write
//! that brings a value as a write.
//!
//! There are no semaphores, since asking one takes two instructions. Where the fast paths are in line, so are their
//! probes.

use crate::ep_state::EpState;
use crate::event::{Completion, Status, Transfer};
use crate::slab::Handle;
use crate::transport::Segment;

/// The number of a bind, beside those of [`Transfer`].
const BIND: isize = 4;

/// A place for tracers; nothing under an interpreter, which knows no assembly.
macro_rules! at {
    ($name:ident, $($argument:expr),*) => {{
        #[cfg(not(miri))]
        probe::probe!(dat, $name, $($argument),*);
        #[cfg(miri)]
        let _ = ($($argument,)*);
    }};
}

/// The watermarks, as the probe numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatermarkKind {
    /// A shared receive queue has fewer buffers than its low watermark.
    SrqLow,
    /// An endpoint has more buffers than its soft high watermark.
    EpSoft,
    /// An endpoint has more buffers than its hard high watermark: the connection breaks.
    EpHard,
}

/// What waits, as the probes of stalls number it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stall {
    /// Requests of the program: for room in the ring or on the device, or for requests before them.
    Requests,
    /// A message that has arrived, for a receive.
    Message,
    /// Receives of the program: for room on the device.
    Receives,
}

/// A transfer was posted to the endpoint `ep`, or a receive to the endpoint or shared receive queue.
#[inline(always)]
pub(crate) fn posted(object: Handle, transfer: Transfer, cookie: u64, bytes: u64) {
    at!(posted, object.0, transfer as isize, cookie, bytes);
}

/// As [`posted`], for a receive on a shared receive queue, where nothing else needs the sum of the lengths. They are read
/// back from memory, so that none has to be kept in a register while the receive is posted.
#[inline(always)]
pub(crate) fn recv_posted(object: Handle, cookie: u64, segments: &[Segment]) {
    // SAFETY: a reference is read.
    let len = |segment: &Segment| unsafe { (&raw const segment.len).read_volatile() };
    posted(object, Transfer::Recv, cookie, segments.iter().map(len).sum());
}

/// A bind was posted to the endpoint `ep`.
#[inline(never)]
pub(crate) fn bind_posted(ep: Handle, cookie: u64) {
    at!(posted, ep.0, BIND, cookie, 0);
}

/// The completion of a transfer was queued on a dispatcher.
#[inline(always)]
pub(crate) fn completed(completion: &Completion) {
    let &Completion { ep, cookie, len, status, transfer } = completion;
    at!(completed, ep.0, transfer as isize, cookie, len, status as isize);
}

/// The completion of a bind was queued on a dispatcher; `rmr` is the remote memory region.
#[inline(never)]
pub(crate) fn bind_completed(rmr: Handle, cookie: u64, status: Status) {
    at!(completed, rmr.0, BIND, cookie, 0, status as isize);
}

/// An endpoint went from one state to another.
#[inline(never)]
pub(crate) fn connection(ep: Handle, from: EpState, to: EpState) {
    at!(connection, ep.0, from as isize, to as isize);
}

/// A watermark of a shared receive queue or of an endpoint was passed.
#[inline(never)]
pub(crate) fn watermark(object: Handle, mark: WatermarkKind) {
    at!(watermark, object.0, mark as isize);
}

/// Something of the connection of an endpoint waits that did not before.
#[inline(never)]
pub fn stalled(ep: Handle, stall: Stall) {
    at!(stalled, ep.0, stall as isize);
}

/// It waits no more.
#[inline(never)]
pub fn resumed(ep: Handle, stall: Stall) {
    at!(resumed, ep.0, stall as isize);
}
