//! USDT probes: places in the libraries that tracers such as bpftrace, perf, SystemTap or gdb can watch.
//!
//! A probe is one `nop` and an ELF note with the locations of its arguments, in the format of SystemTap's
//! `<sys/sdt.h>`. A tracer replaces the `nop` by a breakpoint. A detached probe costs only this instruction, because
//! its arguments are values that the code has anyway. Only the bytes of a receive on an SRQ are summed up for it. There
//! are no semaphores, because a check of one takes two instructions.
//!
//! All probes have the provider `dat`, and all arguments are signed 64-bit numbers. docs/tracing.md describes the
//! probes, and tests-c/probes/check.sh compares it with the libraries.
//!
//! A rare probe is one place per library, because a tracer needs time for each place. Probes of inlined fast paths are
//! inlined.
//!
//! The argument for a transfer is a [`Transfer`], or for a bind the next higher number. An atomic operation counts as a
//! read, and a write with immediate data as a write.

use crate::ep_state::EpState;
use crate::event::{Completion, Status, Transfer};
use crate::slab::Handle;
use crate::transport::Segment;

/// The argument for a bind, in addition to [`Transfer`].
const BIND: isize = 4;

/// Defines a probe. Empty under Miri, which has no inline assembly.
macro_rules! at {
    ($name:ident, $($argument:expr),*) => {{
        #[cfg(not(miri))]
        probe::probe!(dat, $name, $($argument),*);
        #[cfg(miri)]
        let _ = ($($argument,)*);
    }};
}

/// The watermarks, with their numbers in the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatermarkKind {
    /// A shared receive queue has fewer available buffers than its low watermark.
    SrqLow,
    /// An endpoint holds more buffers than its soft high watermark.
    EpSoft,
    /// An endpoint holds more buffers than its hard high watermark, which ends the connection.
    EpHard,
}

/// What stalls, with its number in the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stall {
    /// Requests of the program: the ring or the device is full, or earlier requests stall.
    Requests,
    /// A received message: no receive is posted.
    Message,
    /// Receives of the program: the device is full.
    Receives,
}

/// A transfer was posted to an endpoint, or a receive to an endpoint or an SRQ.
#[inline(always)]
pub(crate) fn posted(object: Handle, transfer: Transfer, cookie: u64, bytes: u64) {
    at!(posted, object.0, transfer as isize, cookie, bytes);
}

/// Like [`posted`], for a receive on an SRQ, whose sum of lengths nothing else needs. The lengths are read back from
/// memory, so that the post keeps none of them in a register.
#[inline(always)]
pub(crate) fn recv_posted(object: Handle, cookie: u64, segments: &[Segment]) {
    // SAFETY: the pointer comes from a reference.
    let len = |segment: &Segment| unsafe { (&raw const segment.len).read_volatile() };
    posted(object, Transfer::Recv, cookie, segments.iter().map(len).sum());
}

/// A bind was posted to the endpoint `ep`.
#[inline(never)]
pub(crate) fn bind_posted(ep: Handle, cookie: u64) {
    at!(posted, ep.0, BIND, cookie, 0);
}

/// The completion of a transfer was queued on an EVD.
#[inline(always)]
pub(crate) fn completed(completion: &Completion) {
    let &Completion { ep, cookie, len, status, transfer } = completion;
    at!(completed, ep.0, transfer as isize, cookie, len, status as isize);
}

/// The completion of a bind was queued on an EVD. `rmr` is the remote memory region.
#[inline(never)]
pub(crate) fn bind_completed(rmr: Handle, cookie: u64, status: Status) {
    at!(completed, rmr.0, BIND, cookie, 0, status as isize);
}

/// An endpoint changed its state.
#[inline(never)]
pub(crate) fn connection(ep: Handle, from: EpState, to: EpState) {
    at!(connection, ep.0, from as isize, to as isize);
}

/// A watermark of an SRQ or an endpoint was crossed.
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
