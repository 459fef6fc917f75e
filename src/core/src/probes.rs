//! USDT probes for tracers such as bpftrace, perf, SystemTap and gdb.
//!
//! A probe is one `nop` and an ELF note that locates its arguments, as in SystemTap's `<sys/sdt.h>`. A detached probe
//! costs only the `nop`: the code has the arguments anyway, except the bytes of an SRQ's receive. Semaphores would cost
//! two instructions. A rare probe is one place per library, because a tracer needs time for each.
//!
//! All probes have the provider `dat` and signed 64-bit arguments. docs/tracing.md describes them, and
//! tests-c/probes/check.sh compares it with the libraries.
//!
//! A transfer is its [`Transfer`] number, and a bind the next higher one. An atomic operation counts as a read, a write
//! with immediate data as a write.

use crate::ep_state::EpState;
use crate::event::{Completion, Status, Transfer};
use crate::slab::Handle;
use crate::transport::Segment;

/// The argument for a bind, in addition to [`Transfer`].
const BIND: isize = 4;

/// Defines a probe, except under Miri, which has no inline assembly.
macro_rules! at {
    ($name:ident, $($argument:expr),*) => {{
        #[cfg(not(miri))]
        probe::probe!(dat, $name, $($argument),*);
        #[cfg(miri)]
        let _ = ($($argument,)*);
    }};
}

/// With the numbers in the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatermarkKind {
    SrqLow,
    EpSoft,
    /// The hard high watermark, which ends the connection.
    EpHard,
}

/// What stalls, with its number in the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stall {
    /// The program's requests: the ring or the device is full, or earlier requests stall.
    Requests,
    /// A received message: no receive is posted.
    Message,
    /// Receives of the program: the device is full.
    Receives,
}

/// A transfer was posted, or a receive.
#[inline(always)]
pub(crate) fn posted(object: Handle, transfer: Transfer, cookie: u64, bytes: u64) {
    at!(posted, object.0, transfer as isize, cookie, bytes);
}

/// Like [`posted`], for a receive on an SRQ. Reads the lengths from memory, so that the post keeps none in a register.
#[inline(always)]
pub(crate) fn recv_posted(object: Handle, cookie: u64, segments: &[Segment]) {
    // SAFETY: the pointer comes from a reference.
    let len = |segment: &Segment| unsafe { (&raw const segment.len).read_volatile() };
    posted(object, Transfer::Recv, cookie, segments.iter().map(len).sum());
}

#[inline(never)]
pub(crate) fn bind_posted(ep: Handle, cookie: u64) {
    at!(posted, ep.0, BIND, cookie, 0);
}

#[inline(always)]
pub(crate) fn completed(completion: &Completion) {
    let &Completion { ep, cookie, len, status, transfer } = completion;
    at!(completed, ep.0, transfer as isize, cookie, len, status as isize);
}

#[inline(never)]
pub(crate) fn bind_completed(rmr: Handle, cookie: u64, status: Status) {
    at!(completed, rmr.0, BIND, cookie, 0, status as isize);
}

#[inline(never)]
pub(crate) fn connection(ep: Handle, from: EpState, to: EpState) {
    at!(connection, ep.0, from as isize, to as isize);
}

#[inline(never)]
pub(crate) fn watermark(object: Handle, mark: WatermarkKind) {
    at!(watermark, object.0, mark as isize);
}

/// A stall of an endpoint's connection began.
#[inline(never)]
pub fn stalled(ep: Handle, stall: Stall) {
    at!(stalled, ep.0, stall as isize);
}

/// The stall ended.
#[inline(never)]
pub fn resumed(ep: Handle, stall: Stall) {
    at!(resumed, ep.0, stall as isize);
}
