//! USDT probes for tracers such as bpftrace, perf, SystemTap and gdb.
//!
//! A probe is one `nop` and an ELF note that locates its arguments, as in SystemTap's `<sys/sdt.h>`. Without a tracer,
//! a probe costs only the `nop`, because the code has the arguments anyway, except the length of a receive on an SRQ. A
//! semaphore per probe would cost two instructions. Functions of rare probes are not inlined, because a tracer needs
//! time for each place in the code that has a probe.
//!
//! All probes have the provider `dat` and signed 64-bit arguments. docs/tracing.md describes them, and
//! tests-c/probes/check.sh compares this description with the libraries.
//!
//! The argument for a kind of transfer is the number of the ordinary [`Transfer`]; a bind has the next higher number.
//! An atomic operation counts as a read, a write with immediate data as a write.

use crate::arena::Handle;
use crate::ep_state::EpState;
use crate::event::{Completion, Status, Transfer};
use crate::transport::Segment;

/// The argument for a bind, in addition to the ordinary kinds of [`Transfer`].
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

/// A watermark. Its number is the argument of the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatermarkKind {
    SrqLow,
    EpSoft,
    /// The hard high watermark, which ends the connection.
    EpHard,
}

/// A kind of stall. Its number is the argument of the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stall {
    /// The program's requests wait: the ring, the socket or the device is full, or earlier requests wait.
    Requests,
    /// A received message waits, because no receive is posted.
    Message,
    /// The program's receives wait, because the queue of the device is full.
    Receives,
}

/// Reports a posted request or receive.
#[inline(always)]
pub(crate) fn posted(object: Handle, transfer: Transfer, cookie: u64, bytes: u64) {
    at!(posted, object.0, ordinary(transfer), cookie, bytes);
}

/// Like [`posted`], for a receive on an SRQ. Reads the lengths of the segments from memory, so that the post need not
/// keep them in registers.
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
    at!(completed, ep.0, ordinary(transfer), cookie, len, status as isize);
}

#[inline(always)]
fn ordinary(transfer: Transfer) -> isize {
    transfer as isize & 3
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

/// Reports that a stall of an endpoint's connection began.
#[inline(never)]
pub fn stalled(ep: Handle, stall: Stall) {
    at!(stalled, ep.0, stall as isize);
}

/// Reports that a stall of an endpoint's connection ended.
#[inline(never)]
pub fn resumed(ep: Handle, stall: Stall) {
    at!(resumed, ep.0, stall as isize);
}
