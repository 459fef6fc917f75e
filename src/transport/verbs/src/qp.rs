//! Connected queue pairs and their outstanding work. [`crate::ending`] contains their end.
//!
//! [`Qp::complete`] passes completions to core, under the lock of a completion queue. [`Qp::report`] then reports to
//! core what must be reported without a lock.
//!
//! A queue pair takes up to [`MAX_INLINE`] bytes of inline data per request, or none if the device would otherwise
//! shorten the queue. Sends and writes that fit are posted inline, unless their own fence, or an earlier request's,
//! makes them wait for reads.

use std::net::SocketAddr;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use dat_core::error::{Resource, Result};
use dat_core::event::Status;
use dat_core::probes::Stall;
use dat_core::transport::{
    Checked, ConnectionReport, EndpointSink, FailedRequest, MAX_SEGMENTS, Operation, QpInit, Recv, RecvDone, Request,
    Segment, SeqNo, Special, Verdict,
};
use host::diagnostics::COMPLETION;
use host::lock::{Condvar, Mutex, MutexGuard};
use host::memory;
use rdma_sys::{
    ibv_qp_attr_mask, ibv_qp_cap, ibv_qp_state, ibv_qp_type, ibv_wc, ibv_wc_flags, ibv_wc_opcode, ibv_wc_status,
};

use crate::Verbs;
use crate::cq::{CompletionQueue, Reservation};
use crate::device::Device;
use crate::srq::Attachment;
use crate::status::{self, exhausted, refused};
use crate::sys::cm::CmId;
use crate::sys::qp::{RawQp, Start};
use crate::window::Type2Windows;
use crate::work_queue::{WorkQueue, post};

/// Work request identifiers: core's numbers, with a bit that marks receives.
pub mod wr {
    const RECV: u64 = 1 << 63;

    pub fn recv(id: u64) -> u64 {
        id | RECV
    }

    pub fn send(id: u64) -> u64 {
        id & !RECV
    }

    /// Splits an identifier: returns whether it identifies a receive, and core's number.
    pub fn split(id: u64) -> (bool, u64) {
        (id & RECV != 0, id & !RECV)
    }
}

/// Flags of a completion with an immediate value or an invalidated key.
const SPECIAL: u32 = ibv_wc_flags::IBV_WC_WITH_IMM.0 | WITH_INV | WITH_INV_OF_SOFT_ROCE;
const WITH_INV: u32 = ibv_wc_flags::IBV_WC_WITH_INV.0;
/// The kernel's value of [`WITH_INV`], which Soft-RoCE reports instead of libibverbs' value (Linux 6.1, 6.12, 7.3).
/// Other devices use the bit for checksums, but not on connected queue pairs.
const WITH_INV_OF_SOFT_ROCE: u32 = ibv_wc_flags::IBV_WC_IP_CSUM_OK.0;
const _: () = assert!(ibv_wc_status::IBV_WC_SUCCESS == 0);

fn is_good(completion: &ibv_wc) -> bool {
    completion.status == ibv_wc_status::IBV_WC_SUCCESS
}

/// Creates the report of a successful receive. A completion lacks the sender's solicited flag, so the completion queue
/// reports solicited messages separately.
#[inline(always)]
fn good_recv(completion: &ibv_wc, id: u64) -> RecvDone {
    RecvDone { id, status: Status::Success, len: completion.byte_len.into(), solicited: false }
}

/// Returns whether one report covers both completions: both are successful requests of one queue pair.
#[inline]
pub fn belong_together(one: &ibv_wc, next: &ibv_wc) -> bool {
    let sent = |completion: &ibv_wc| is_good(completion) && !wr::split(completion.wr_id).0;
    one.qp_num == next.qp_num && sent(one) && sent(next)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QpPhase {
    #[default]
    Idle,
    Connecting,
    Accepting,
    Connected,
    /// In the error state, with outstanding work.
    Draining,
    Dead,
}

#[derive(Default)]
pub struct QpState {
    pub phase: QpPhase,
    pub cm: Option<Arc<CmId>>,
    /// Private data of the connection request, until it is sent.
    pub private_data: Vec<u8>,
    /// Local address, remote address and deadline of a connection attempt.
    pub way: Option<(SocketAddr, SocketAddr, Instant)>,
    pub cause: Option<ConnectionReport>,
    pub failed_recv: Option<RecvDone>,
    pub failed_request: Option<(FailedRequest, Status)>,
    pub disconnected: bool,
    /// Time at which the device reported that the peer violated its access rights.
    pub violated: Option<Instant>,
    /// Time of the peer's disconnect message.
    pub left: Option<Instant>,
    pub since: Option<Instant>,
    /// Set once a thread has begun [`Qp::finish`].
    pub finishing: bool,
    /// Number of completions at the last [`Qp::drained`], and the time since which it is unchanged.
    pub quiet: Option<(u64, Instant)>,
}

pub struct Qp {
    pub(crate) raw: RawQp,
    pub(crate) device: Arc<Device>,
    pub(crate) sink: EndpointSink<Verbs>,
    /// Reserved completion queue entries for requests, and for receives.
    pub(crate) entries: [Reservation; 2],
    pub(crate) srq: Option<Attachment>,
    /// Maximum numbers of concurrent reads by the peer, and by this end. At least 1 if the device permits it, so that a
    /// read succeeds even if the program intends none.
    pub(crate) reads: (u8, u8),
    pub(crate) sends: Mutex<WorkQueue>,
    pub(crate) recvs: Mutex<WorkQueue>,
    pub(crate) singles: Mutex<Type2Windows>,
    /// Number of calls of [`Qp::complete`]. Concurrent calls may lose an increment.
    pub(crate) completions: AtomicU64,
    failed: AtomicBool,
    /// Set if the last request has completed, until [`Qp::report`] reports it.
    drained: AtomicBool,
    /// Set once the device has reported that this queue pair takes no more buffers of its SRQ.
    pub(crate) last_reached: AtomicBool,
    pub(crate) state: Mutex<QpState>,
    /// Notified when the phase becomes [`QpPhase::Dead`].
    pub(crate) ended: Condvar,
}

const MIN_DEPTH: usize = 16;
/// Maximum length of a device queue if the program sets none, except for receives on iWARP, which cannot wait. Further
/// work waits in the backlog. Without a set length, the C library uses 16 entries, and rejects further work.
///
/// Longer queues take longer to create. Devices round the length up and may leave an entry empty, and Soft-RoCE zeroes
/// the memory (Linux 6.1, 6.12, 7.3). With 63, creating 64 connections takes 1.12 times as long as with the C library;
/// with 126, 1.15; with 255, 1.24 (tests-c/verbs/setup.sh).
const MAX_DEFAULT_DEPTH: usize = 63;
/// Maximum inline data in bytes. More would enlarge all entries of the queue.
pub const MAX_INLINE: u32 = 128;
/// A list of one empty segment, for devices that reject an empty list.
pub const NO_BYTE: &[Segment] = &[Segment { addr: 0, len: 0, key: 0, since: 0 }];

impl Qp {
    /// Creates a queue pair in INIT, where receives can be posted.
    pub fn new(device: &Arc<Device>, init: QpInit<'_, Verbs>) -> Result<Arc<Self>> {
        let sizes = init.sizes;
        let srq = init.srq.map(|srq| srq.attach());
        let [request_cq, recv_cq] = CompletionQueue::for_work(device, init.request_cq, init.recv_cq)?;
        // A device queue is at most as long as a completion queue, because each work request needs an entry there.
        let most = if sizes.usual { MAX_DEFAULT_DEPTH.min(device.limits.cqe) } else { device.limits.cqe };
        let sends = (sizes.requests + 1).min(most);
        let strict = !device.limits.repeats();
        let most = if strict { usize::MAX } else { most };
        let recvs = if srq.is_some() { 0 } else { (sizes.recvs + 1).min(most) };
        let requests = request_cq.reserve(device, sends, None, false)?;
        let receives = match &srq {
            Some(srq) => srq.queue.reserve(&recv_cq, recvs, init.solicited)?,
            None => recv_cq.reserve(device, recvs, None, init.solicited)?,
        };
        let make = |sends: usize, recvs: usize| {
            let cap = ibv_qp_cap {
                max_send_wr: small(sends),
                max_recv_wr: small(recvs),
                max_send_sge: small(sizes.request_segments.max(1)),
                max_recv_sge: if srq.is_some() { 0 } else { small(sizes.recv_segments.max(1)) },
                // iWARP devices have room for less.
                max_inline_data: if device.limits.iwarp { MAX_INLINE / 2 } else { MAX_INLINE },
            };
            let queue = srq.as_ref().map(|srq| &srq.queue.raw);
            let make =
                |cap| RawQp::new(ibv_qp_type::IBV_QPT_RC, &init.zone.pd, [&requests.raw, &receives.raw], queue, cap);
            // A long queue matters more than inline data, so a failure is retried without inline data.
            make(cap).or_else(|_| make(ibv_qp_cap { max_inline_data: 0, ..cap }))
        };
        let least = if strict { recvs } else { MIN_DEPTH };
        let made = as_long_as_possible(sends, recvs, least, make);
        let (raw, sends, recvs) = made.map_err(exhausted(Resource::Endpoint))?;
        initialise(device, &raw).map_err(exhausted(Resource::Endpoint))?;
        let ep = init.sink.ep();
        let mut queue = WorkQueue::new(ep, Stall::Requests, sends);
        if device.limits.quirks.completes_reads_late {
            queue.expect_late_reads()?;
        }
        let qp = memory::arc(Qp {
            raw,
            device: device.clone(),
            sink: init.sink,
            entries: [requests, receives],
            srq,
            reads: (
                sizes.reads_in.max(1).min(device.limits.reads_in),
                sizes.reads_out.max(1).min(device.limits.reads_out),
            ),
            sends: Mutex::new(queue),
            recvs: Mutex::new(WorkQueue::new(ep, Stall::Receives, recvs)),
            singles: Mutex::default(),
            completions: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            drained: AtomicBool::new(false),
            last_reached: AtomicBool::new(false),
            state: Mutex::default(),
            ended: Condvar::new(),
        })?;
        let joined = qp.entries.iter().try_for_each(|entries| entries.cq.join(&qp));
        joined.and_then(|()| device.add_qp(&qp)).inspect_err(|_| qp.leave())?;
        Ok(qp)
    }

    pub fn number(&self) -> u32 {
        self.raw.number()
    }

    pub fn phase(&self) -> QpPhase {
        self.state.lock().phase
    }

    #[inline(always)]
    pub fn post_recv(&self, recv: &Recv<'_>) -> Result<()> {
        self.hand_over(&self.recvs, recv.id, None, recv.segments, Start::InTurn)
    }

    #[inline(always)]
    pub fn post(self: &Arc<Self>, request: &Request<'_>) -> Result<()> {
        match request.operation {
            Operation::Send { .. } | Operation::Write(_) if !request.fence => {
                self.hand_over(&self.sends, request.id, Some(&request.operation), request.segments, Start::InTurn)
            }
            _ => self.post_rare(request),
        }
    }

    /// Posts a request off the fast path. Shortens the segments of a read or atomic operation to its length, because
    /// the device would fill whole segments.
    ///
    /// On Soft-RoCE, an empty read becomes an empty write: if an empty read is repeated, the peer's device checks its
    /// target and ends the connection. Only Linux 6.1 does so, but the peer's kernel is unknown. An iWARP read must
    /// have a segment. iWARP has no fence for reads, and soft-iWARP rejects a read with the fence flag (Linux 6.1,
    /// 6.12, 7.3). So there a fenced read waits in the backlog until all earlier requests have completed.
    #[inline(never)]
    fn post_rare(self: &Arc<Self>, request: &Request<'_>) -> Result<()> {
        let limits = &self.device.limits;
        let mut cut = Checked::new();
        let (operation, segments) = match request.operation {
            Operation::Send { .. } | Operation::Write(_) => (request.operation, request.segments),
            Operation::Read(from) if limits.quirks.checks_empty_reads && request.len == 0 => {
                (Operation::Write(from), &[][..])
            }
            _ => (request.operation, shorten(request.segments, request.len, &mut cut)),
        };
        let iwarp_read = limits.iwarp && matches!(operation, Operation::Read(_));
        let segments = if iwarp_read && segments.is_empty() { NO_BYTE } else { segments };
        let start = match request.fence {
            false => Start::InTurn,
            true if iwarp_read => Start::Alone,
            true => Start::Fenced,
        };
        self.hand_over(&self.sends, request.id, Some(&operation), segments, start)?;
        if request.fence {
            self.note_fence();
        }
        Ok(())
    }

    /// Records that the last posted request is fenced. On Soft-RoCE, which may forget such a request, the progress
    /// thread then calls [`Qp::pass_fence`] periodically.
    pub fn note_fence(self: &Arc<Self>) {
        if self.sends.lock().note_fence(self) && self.device.limits.quirks.forgets_fenced {
            self.device.work.lock().fenced.push_back(Arc::downgrade(self));
        }
    }

    #[inline(always)]
    fn hand_over(
        &self,
        queue: &Mutex<WorkQueue>,
        id: u64,
        operation: Option<&Operation>,
        segments: &[Segment],
        start: Start,
    ) -> Result<()> {
        let mut queue = queue.lock();
        if !queue.is_open() {
            // Core flushes this work when the connection ends.
            return Ok(());
        }
        if queue.is_full() || (start == Start::Alone && !queue.is_back()) {
            return queue.wait(id, operation.copied(), segments, start);
        }
        match post(&self.raw, id, operation, segments, start) {
            Ok(()) => queue.posted(id, operation),
            Err(error) => return Err(refused(queue, error)),
        }
        Ok(())
    }

    /// Passes one completion to core, or several for which [`belong_together`] holds. Returns whether to call
    /// [`Qp::report`]. Called under the completion queue's lock.
    #[inline]
    pub fn complete(self: &Arc<Self>, completions: &[ibv_wc]) -> bool {
        let Some(last) = completions.last() else { return false };
        let (is_recv, id) = wr::split(last.wr_id);
        // A concurrent poll of the other completion queue may lose this increment. The value only has to change.
        self.completions.store(self.completions.load(Ordering::Relaxed) + 1, Ordering::Release);
        if is_recv { self.complete_recv(last, id) } else { self.complete_sends(completions, last, id) }
    }

    #[inline]
    fn complete_recv(self: &Arc<Self>, completion: &ibv_wc, id: u64) -> bool {
        let mut hard = false;
        match &self.srq {
            Some(srq) => {
                srq.queue.consumed();
                hard = self.sink.recv_taken(id) == Verdict::Break;
            }
            None => {
                let mut queue = self.recvs.lock();
                if queue.done(1) {
                    self.resume(queue, slice::from_ref(completion));
                }
            }
        }
        if hard {
            self.failed.store(true, Ordering::Release);
        }
        if completion.status | completion.wc_flags & SPECIAL != 0 {
            return self.complete_unusual(completion, id) || hard;
        }
        self.sink.recv_done(good_recv(completion, id));
        hard
    }

    /// Passes a receive to core that failed, or that has an immediate value or an invalidated key. Returns whether to
    /// call [`Qp::report`]. Ignores the immediate value of a send, which libdat never sends.
    #[cold]
    #[inline(never)]
    fn complete_unusual(&self, completion: &ibv_wc, id: u64) -> bool {
        if !is_good(completion) {
            return self.note_failed_recv(completion, id);
        }
        let done = good_recv(completion, id);
        let with_inv = if self.device.limits.quirks.marks_invalidated_by_kernel_flag {
            WITH_INV_OF_SOFT_ROCE | WITH_INV
        } else {
            WITH_INV
        };
        if completion.wc_flags & with_inv != 0 {
            // SAFETY: with this flag, the completion contains the key.
            let key = unsafe { completion.imm_data_invalidated_rkey_union.invalidated_rkey };
            let known = self.singles.lock().note_revoked(key);
            self.sink.recv_special(done, Special::Invalidated(key));
            return known;
        }
        if completion.opcode == ibv_wc_opcode::IBV_WC_RECV_RDMA_WITH_IMM {
            // SAFETY: with this opcode, the completion contains the value.
            let value = unsafe { completion.imm_data_invalidated_rkey_union.imm_data };
            self.sink.recv_special(done, Special::Immediate(value));
        } else {
            self.sink.recv_done(done);
        }
        false
    }

    /// Records a failed receive. Returns whether the connection has failed.
    fn note_failed_recv(&self, completion: &ibv_wc, id: u64) -> bool {
        let status = status::of_receive(completion.status, self.device.limits.quirks.misnames_failed_receives);
        // A flushed receive is not reported, because core flushes receives itself, in order. A failure is reported by
        // `Qp::finish`, after all work has completed.
        if status != Status::Flushed {
            log::debug!(target: COMPLETION, "queue pair {}: receive {id}: {}", self.number(), status::text(completion.status));
            let done = RecvDone { id, status, len: 0, solicited: false };
            self.state.lock().failed_recv.get_or_insert(done);
        }
        self.note_failure(completion)
    }

    /// Records a failure, unless the status only shows an end that rdma_cm reports. Returns whether it recorded one.
    fn note_failure(&self, completion: &ibv_wc) -> bool {
        let failed = !self.device.limits.is_end(completion.status);
        if failed {
            self.failed.store(true, Ordering::Release);
        }
        failed
    }

    #[inline]
    fn complete_sends(self: &Arc<Self>, completions: &[ibv_wc], last: &ibv_wc, id: u64) -> bool {
        let watched = self.sends.lock().done(completions.len());
        if watched {
            return self.complete_watched_sends(completions);
        }
        if !is_good(last) {
            return self.note_failed_send(last, id);
        }
        let drained = self.sink.requests_done(SeqNo(id));
        if drained {
            self.drained.store(true, Ordering::Release);
        }
        drained
    }

    /// Completes requests of a queue that [`WorkQueue::resume`] must handle.
    #[cold]
    #[inline(never)]
    fn complete_watched_sends(self: &Arc<Self>, completions: &[ibv_wc]) -> bool {
        let Some(last) = completions.last() else { return false };
        let (finished, bound) = self.resume(self.sends.lock(), completions);
        if !is_good(last) {
            return self.note_failed_send(last, wr::split(last.wr_id).1) || bound;
        }
        finished.is_some_and(|finished| self.requests_done(finished)) || bound
    }

    /// Reports to core that all requests up to number `finished` have finished. Returns whether to call [`Qp::report`].
    #[cold]
    #[inline(never)]
    pub(crate) fn requests_done(&self, finished: u64) -> bool {
        let drained = self.sink.requests_done(SeqNo(finished));
        if drained {
            self.drained.store(true, Ordering::Release);
        }
        drained
    }

    /// Records a failed request. Returns whether the connection has failed. If the status only shows the end of the
    /// connection, core flushes the request.
    #[cold]
    fn note_failed_send(&self, completion: &ibv_wc, id: u64) -> bool {
        let status = status::of_completion(completion.status);
        if status != Status::Flushed {
            let text = status::text(completion.status);
            let vendor = completion.vendor_err;
            log::debug!(target: COMPLETION, "queue pair {}: request {id}: {text} (vendor {vendor:#x})", self.number());
            if !self.device.limits.is_end(completion.status) {
                let first = self.sends.lock().oldest(id);
                self.state.lock().failed_request.get_or_insert((FailedRequest::Number(first), status));
            }
        }
        self.note_failure(completion)
    }

    /// Calls [`WorkQueue::resume`]. Returns the number of the last request up to which all have finished, if any. Also
    /// returns whether the objects of a completed bind wait to be freed.
    #[cold]
    #[inline(never)]
    fn resume(self: &Arc<Self>, mut queue: MutexGuard<'_, WorkQueue>, completions: &[ibv_wc]) -> (Option<u64>, bool) {
        // Failed work is left out: core completes it when the connection ends.
        let good = completions.iter().filter(|completion| is_good(completion));
        let (finished, refused) = queue.resume(good.map(|completion| wr::split(completion.wr_id).1), &self.raw);
        let bound = queue.has_completed_bind();
        drop(queue);
        if refused {
            // The progress thread retries, because no further completion might come.
            self.device.command(|work| work.refused.push_back(self.clone()));
        }
        (finished, bound)
    }

    /// Retries work that the device has rejected. Returns whether to retry again: `false` if no work is rejected now,
    /// or the connection ends.
    pub fn try_again(self: &Arc<Self>) -> bool {
        let mut again = false;
        for queue in [&self.sends, &self.recvs] {
            let (refused, hopeless) = queue.lock().try_again(&self.raw);
            if hopeless {
                log::error!("queue pair {}: the device rejects all requests: its connection ends", self.number());
                self.begin_end(ConnectionReport::Broken);
                return false;
            }
            again |= refused;
        }
        again
    }

    /// Notifies the device to check its fenced requests again. Returns whether a fenced request is outstanding, so that
    /// the progress thread must repeat the call.
    pub fn pass_fence(&self) -> bool {
        self.reap();
        let waits = self.sends.lock().fence_waits();
        if waits {
            // After a failure, the next call notifies the device again.
            let _ = self.raw.ring();
        }
        waits
    }

    /// Frees windows that the peer has invalidated, and objects of completed binds. Continues a graceful disconnect
    /// after the last request, and begins the end after a failure. Called without a lock.
    pub fn report(self: &Arc<Self>) {
        if self.has_unused() {
            return self.apart(Self::free_and_report);
        }
        self.report_ends();
    }

    fn free_and_report(self: &Arc<Self>) {
        self.finish_binds();
        self.free_revoked();
        self.report_ends();
    }

    fn report_ends(self: &Arc<Self>) {
        if self.drained.swap(false, Ordering::AcqRel) {
            self.sink.drained();
        }
        if self.failed.load(Ordering::Acquire) {
            self.begin_end(ConnectionReport::Broken);
        }
    }

    pub fn reap(&self) {
        self.entries[0].cq.drain();
    }

    pub fn drain(&self) {
        self.entries.iter().for_each(|entries| entries.cq.drain());
    }
}

pub fn small(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Creates a queue pair with `make`, and returns it with its numbers of entries. While the device rejects the numbers,
/// halves them, down to [`MIN_DEPTH`] sends and `least` receives. The device's maximum depends on the number of
/// segments and cannot be queried.
pub fn as_long_as_possible<R>(
    mut sends: usize,
    mut recvs: usize,
    least: usize,
    make: impl Fn(usize, usize) -> std::io::Result<R>,
) -> std::io::Result<(R, usize, usize)> {
    loop {
        match make(sends, recvs) {
            Ok(made) => return Ok((made, sends, recvs)),
            Err(error) if sends <= MIN_DEPTH && recvs <= least => return Err(error),
            Err(_) => {
                let shorter = |n: usize, least: usize| if n > least { (n / 2).max(least) } else { n };
                (sends, recvs) = (shorter(sends, MIN_DEPTH), shorter(recvs, least));
            }
        }
    }
}

/// Returns segments for the first `len` bytes: `segments` if it has that length, otherwise `cut`, which this fills.
fn shorten<'a>(segments: &'a [Segment], len: u64, cut: &'a mut Checked) -> &'a [Segment] {
    if segments.iter().map(|segment| segment.len).sum::<u64>() == len {
        return segments;
    }
    let mut left = len;
    for segment in segments.iter().take(MAX_SEGMENTS) {
        if left == 0 {
            break;
        }
        let len = segment.len.min(left);
        cut.push(Segment { len, ..*segment });
        left -= len;
    }
    cut
}

fn initialise(device: &Device, raw: &RawQp) -> std::io::Result<()> {
    let mask =
        ibv_qp_attr_mask::IBV_QP_PKEY_INDEX | ibv_qp_attr_mask::IBV_QP_PORT | ibv_qp_attr_mask::IBV_QP_ACCESS_FLAGS;
    raw.change(ibv_qp_state::IBV_QPS_INIT, mask, |attr| {
        (attr.port_num, attr.qp_access_flags) = (device.place.port, device.limits.access());
    })
}

#[cfg(test)]
mod tests;
