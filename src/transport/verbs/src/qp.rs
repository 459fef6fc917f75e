//! One end of a connection: a queue pair and the work that is under way on it.
//!
//! [`Qp::complete`] takes in completions under the lock of a completion queue and passes them on to the core there;
//! [`Qp::report`] does afterwards the reports that need to be made without a lock. [`crate::ending`] has the end.
//!
//! A queue pair is asked to take up to 128 bytes of a request into its own memory (IBV_SEND_INLINE), so that the device
//! need not fetch them; where it can take none at the wanted length, length goes before. Sends and writes that fit are
//! copied while they are posted.

use std::net::SocketAddr;
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
    ibv_qp_attr, ibv_qp_attr_mask, ibv_qp_cap, ibv_qp_state, ibv_qp_type, ibv_wc, ibv_wc_flags, ibv_wc_opcode,
    ibv_wc_status,
};

use crate::adapter::Verbs;
use crate::cq::{CompletionQueue, Reservation};
use crate::device::Device;
use crate::srq::Attachment;
use crate::status::{self, exhausted, refused};
use crate::sys::cm::CmId;
use crate::sys::qp::RawQp;
use crate::window::Type2Windows;
use crate::work_queue::{WorkQueue, post};

/// Work request identifiers: the core's numbers, with a bit that marks receives.
pub mod wr {
    const RECV: u64 = 1 << 63;

    pub fn recv(id: u64) -> u64 {
        id | RECV
    }

    pub fn send(id: u64) -> u64 {
        id & !RECV
    }

    /// Splits an identifier: true for a receive, and the core's number.
    pub fn split(id: u64) -> (bool, u64) {
        (id & RECV != 0, id & !RECV)
    }
}

/// Flags of the completions of receives that brought more than their bytes.
const SPECIAL: u32 = ibv_wc_flags::IBV_WC_WITH_IMM.0 | WITH_INV | WITH_INV_OF_SOFT_ROCE;
/// The flag of those whose message revoked a window.
const WITH_INV: u32 = ibv_wc_flags::IBV_WC_WITH_INV.0;
/// The same of Soft-RoCE, which gives the kernel's number. Elsewhere it says something about checksums, though not of queue
/// pairs of this kind.
const WITH_INV_OF_SOFT_ROCE: u32 = ibv_wc_flags::IBV_WC_IP_CSUM_OK.0;
const _: () = assert!(ibv_wc_status::IBV_WC_SUCCESS == 0);

fn is_good(completion: &ibv_wc) -> bool {
    completion.status == ibv_wc_status::IBV_WC_SUCCESS
}

/// A receive that succeeded. Completions do not carry the sender's flag: the completion queue finds out (`announce`).
#[inline(always)]
fn good_recv(completion: &ibv_wc, id: u64) -> RecvDone {
    RecvDone { id, status: Status::Success, len: completion.byte_len.into(), solicited: false }
}

/// True if one report covers both completions, of which `next` follows `one`: the success of a request means that of
/// those before it.
#[inline]
pub fn belong_together(one: &ibv_wc, next: &ibv_wc) -> bool {
    let sent = |completion: &ibv_wc| is_good(completion) && !wr::split(completion.wr_id).0;
    one.qp_num == next.qp_num && sent(one) && sent(next)
}

/// How far a connection has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QpPhase {
    /// Nothing was tried yet.
    #[default]
    Idle,
    /// The active end waits for an answer.
    Connecting,
    /// The passive end has accepted.
    Accepting,
    Connected,
    /// Going down: work is coming back.
    Draining,
    Dead,
}

/// The part of a queue pair that changes with its phase.
#[derive(Default)]
pub struct QpState {
    pub phase: QpPhase,
    pub cm: Option<Arc<CmId>>,
    /// The private data of the request, until it is sent.
    pub private_data: Vec<u8>,
    /// The route that the kernel resolves: from where, to where, and until when.
    pub way: Option<(SocketAddr, SocketAddr, Instant)>,
    /// The reason why it goes down.
    pub cause: Option<ConnectionReport>,
    /// The first receive that failed.
    pub failed_recv: Option<RecvDone>,
    /// The first request that failed.
    pub failed_request: Option<(FailedRequest, Status)>,
    /// The peer was sent a message that ends the connection.
    pub disconnected: bool,
    /// The moment when draining began.
    pub since: Option<Instant>,
    /// A thread finishes the end.
    pub finishing: bool,
    /// The number of completions, and the time since when it is the same.
    pub quiet: Option<(u64, Instant)>,
}

/// One end of a connection.
pub struct Qp {
    pub(crate) raw: RawQp,
    pub(crate) device: Arc<Device>,
    pub(crate) sink: EndpointSink<Verbs>,
    /// Its entries in completion queues, for requests and for receives.
    pub(crate) entries: [Reservation; 2],
    pub(crate) srq: Option<Attachment>,
    /// The most reads at a time: of the peer, which the device serves, and own ones.
    pub(crate) reads: (u8, u8),
    pub(crate) sends: Mutex<WorkQueue>,
    pub(crate) recvs: Mutex<WorkQueue>,
    /// The windows that serve it alone.
    pub(crate) singles: Mutex<Type2Windows>,
    /// Completions so far, of any kind.
    pub(crate) completions: AtomicU64,
    /// A request or a receive failed or was flushed.
    failed: AtomicBool,
    /// The last request is done, which [`Qp::report`] reports to the core without a lock.
    drained: AtomicBool,
    /// The device has given back the last buffer of a shared queue.
    pub(crate) last_reached: AtomicBool,
    pub(crate) state: Mutex<QpState>,
    /// The phase became [`QpPhase::Dead`].
    pub(crate) ended: Condvar,
}

/// The shortest queue to ask a device for.
const FEW: usize = 16;
/// The longest queue of an endpoint whose program names no length; the C library makes 16 places then and takes no more work.
/// Devices round up and may leave a place empty, and Soft-RoCE zeroes memory for each: setting up 64 connections takes 1.12
/// times as long as over the C library with this, 1.15 with twice as many, 1.24 with 255 (tests-c/verbs/setup.sh).
/// Receives that the device lacks wait in the library, but not on iWARP.
const USUAL: usize = 63;
/// Bytes of a request that the processor copies into the queue, where the device can do that. More of them make every
/// entry of the queue larger.
pub const INLINE: u32 = 128;
/// A segment without a byte, for what must have a segment.
pub const NO_BYTE: &[Segment] = &[Segment { addr: 0, len: 0, key: 0, since: 0 }];

impl Qp {
    /// Makes a queue pair that takes receives already.
    pub fn new(device: &Arc<Device>, init: QpInit<'_, Verbs>) -> Result<Arc<Self>> {
        let sizes = init.sizes;
        let srq = init.srq.map(|srq| srq.attach(&init.zone.pd)).transpose()?;
        let [request_cq, recv_cq] = CompletionQueue::for_work(device, init.request_cq, init.recv_cq)?;
        // The device gets no more work than one of its completion queues takes.
        let most = if sizes.usual { USUAL.min(device.limits.cqe) } else { device.limits.cqe };
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
                max_inline_data: device.limits.inline_data(),
            };
            let queue = srq.as_ref().map(|srq| &srq.queue.raw);
            let make =
                |cap| RawQp::new(ibv_qp_type::IBV_QPT_RC, &init.zone.pd, [&requests.raw, &receives.raw], queue, cap);
            // A long queue matters more.
            make(cap).or_else(|_| make(ibv_qp_cap { max_inline_data: 0, ..cap }))
        };
        let least = if strict { recvs } else { FEW };
        let made = as_long_as_possible(sends, recvs, least, make);
        let (raw, sends, recvs) = made.map_err(exhausted(Resource::Endpoint))?;
        initialise(device, &raw).map_err(exhausted(Resource::Endpoint))?;
        let ep = init.sink.ep();
        let qp = memory::arc(Qp {
            raw,
            device: device.clone(),
            sink: init.sink,
            entries: [requests, receives],
            srq,
            reads: (sizes.reads_in.min(device.limits.reads_in), sizes.reads_out.min(device.limits.reads_out)),
            sends: Mutex::new(WorkQueue::new(ep, Stall::Requests, sends)),
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

    /// The number under which the device knows it.
    pub fn number(&self) -> u32 {
        self.raw.number()
    }

    pub fn phase(&self) -> QpPhase {
        self.state.lock().phase
    }

    /// Hands over a receive.
    #[inline(always)]
    pub fn post_recv(&self, recv: &Recv<'_>) -> Result<()> {
        self.hand_over(&self.recvs, recv.id, None, recv.segments, false)
    }

    /// Hands over a request.
    #[inline(always)]
    pub fn post(self: &Arc<Self>, request: &Request<'_>) -> Result<()> {
        match request.operation {
            Operation::Send { .. } | Operation::Write(_) if !request.fence => {
                self.hand_over(&self.sends, request.id, Some(&request.operation), request.segments, false)
            }
            _ => self.post_rare(request),
        }
    }

    /// Hands over a request of a rarer kind. The device fills all segments that a read or an atomic operation names, which
    /// may have room for more than it brings.
    ///
    /// A read of iWARP has exactly one segment. It has no fence, which soft-iWARP refuses: reads are answered in order.
    #[inline(never)]
    fn post_rare(self: &Arc<Self>, request: &Request<'_>) -> Result<()> {
        let mut cut = Checked::new();
        let segments = match request.operation {
            Operation::Send { .. } | Operation::Write(_) => request.segments,
            _ => shorten(request.segments, request.len, &mut cut),
        };
        let iwarp_read = self.device.limits.iwarp && matches!(request.operation, Operation::Read(_));
        let segments = if iwarp_read && segments.is_empty() { NO_BYTE } else { segments };
        let fence = request.fence && !iwarp_read;
        self.hand_over(&self.sends, request.id, Some(&request.operation), segments, fence)?;
        if fence && self.device.limits.soft_roce && self.sends.lock().note_fence() {
            // The program need not call in until the request is done, so this is left to the thread.
            self.device.work.lock().fenced.push_back(Arc::downgrade(self));
        }
        Ok(())
    }

    /// Hands over work of one direction; a receive if there is no operation.
    #[inline(always)]
    fn hand_over(
        &self,
        queue: &Mutex<WorkQueue>,
        id: u64,
        operation: Option<&Operation>,
        segments: &[Segment],
        fence: bool,
    ) -> Result<()> {
        let mut queue = queue.lock();
        if !queue.is_open() {
            // The end of the connection completes it.
            return Ok(());
        }
        if queue.is_full() {
            return queue.wait(id, operation.copied(), segments, fence);
        }
        match post(&self.raw, id, operation, segments, fence) {
            Ok(()) => queue.posted(),
            Err(error) => return Err(refused(queue, error)),
        }
        Ok(())
    }

    /// Passes completions on to the core, several only if [`belong_together`] says so; true if [`Qp::report`] has
    /// something to do. Called with the lock of the completion queue held, so that completions are reported in order.
    #[inline]
    pub fn complete(self: &Arc<Self>, completions: &[ibv_wc]) -> bool {
        let Some(last) = completions.last() else { return false };
        let (is_recv, id) = wr::split(last.wr_id);
        // It only has to change. Threads that fetch from both queues at once may count less.
        self.completions.store(self.completions.load(Ordering::Relaxed) + 1, Ordering::Release);
        if is_recv { self.complete_recv(last, id) } else { self.complete_sends(completions.len(), last, id) }
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
                    self.go_on(queue, id);
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

    /// Passes a receive on that failed, or that brought more than its bytes; true if [`Qp::report`] has something to do. A
    /// value with a message, which no program of this library sends, is left out.
    #[cold]
    #[inline(never)]
    fn complete_unusual(&self, completion: &ibv_wc, id: u64) -> bool {
        if !is_good(completion) {
            return self.note_failed_recv(completion, id);
        }
        let done = good_recv(completion, id);
        let with_inv = if self.device.limits.soft_roce { WITH_INV_OF_SOFT_ROCE | WITH_INV } else { WITH_INV };
        if completion.wc_flags & with_inv != 0 {
            // SAFETY: the completion of a message that has revoked a window has the key there.
            let key = unsafe { completion.imm_data_invalidated_rkey_union.invalidated_rkey };
            let known = self.singles.lock().note_revoked(key);
            self.sink.recv_special(done, Special::Invalidated(key));
            return known;
        }
        if completion.opcode == ibv_wc_opcode::IBV_WC_RECV_RDMA_WITH_IMM {
            // SAFETY: the completion of a write with a value has the value there.
            let value = unsafe { completion.imm_data_invalidated_rkey_union.imm_data };
            self.sink.recv_special(done, Special::Immediate(value));
        } else {
            self.sink.recv_done(done);
        }
        false
    }

    /// Returns whether the connection has failed.
    fn note_failed_recv(&self, completion: &ibv_wc, id: u64) -> bool {
        let status = status::of_receive(completion.status, self.device.limits.soft_roce);
        // The core flushes by itself, in the order in which receives were posted. Failures wait until all work is back.
        if status != Status::Flushed {
            log::debug!(target: COMPLETION, "receive {id} of queue pair {}: {}", self.number(), status::text(completion.status));
            let done = RecvDone { id, status, len: 0, solicited: false };
            self.state.lock().failed_recv.get_or_insert(done);
        }
        self.note_failure(completion)
    }

    /// Returns whether the connection has failed. If it has ended, the connection manager reports it.
    fn note_failure(&self, completion: &ibv_wc) -> bool {
        let failed = !self.device.limits.is_end(completion.status);
        if failed {
            self.failed.store(true, Ordering::Release);
        }
        failed
    }

    #[inline]
    fn complete_sends(self: &Arc<Self>, count: usize, last: &ibv_wc, id: u64) -> bool {
        let mut queue = self.sends.lock();
        if queue.done(count) {
            self.go_on(queue, id);
        } else {
            drop(queue);
        }
        if is_good(last) {
            let drained = self.sink.requests_done(SeqNo(id));
            if drained {
                self.drained.store(true, Ordering::Release);
            }
            return drained;
        }
        self.note_failed_send(last, id)
    }

    /// Does what [`Qp::note_failed_recv`] does, for a request.
    #[cold]
    fn note_failed_send(&self, completion: &ibv_wc, id: u64) -> bool {
        let status = status::of_completion(completion.status);
        if status != Status::Flushed {
            let text = status::text(completion.status);
            let vendor = completion.vendor_err;
            log::debug!(target: COMPLETION, "request {id} of queue pair {}: {text} (vendor {vendor:#x})", self.number());
            self.state.lock().failed_request.get_or_insert((FailedRequest::Number(id), status));
        }
        self.note_failure(completion)
    }

    /// Goes on in one direction after work that is done, the last of which has the number `last`.
    #[cold]
    #[inline(never)]
    fn go_on(self: &Arc<Self>, mut queue: MutexGuard<'_, WorkQueue>, last: u64) {
        let refused = queue.go_on(last, &self.raw);
        drop(queue);
        if refused {
            // The thread tries again: no completion may come that would do it.
            self.device.command(|work| work.refused.push_back(self.clone()));
        }
    }

    /// Hands over work that the device refused before. False once there is nothing more to try: the work was taken, or
    /// the connection ends.
    pub fn try_again(self: &Arc<Self>) -> bool {
        let mut again = false;
        for queue in [&self.sends, &self.recvs] {
            let (refused, hopeless) = queue.lock().try_again(&self.raw);
            if hopeless {
                log::error!("queue pair {} takes no more work: its connection ends", self.number());
                self.begin_end(ConnectionReport::Broken);
                return false;
            }
            again |= refused;
        }
        again
    }

    /// Has the device look again at a request that waits for those before it; false once there is none.
    pub fn pass_fence(&self) -> bool {
        self.reap();
        let waits = self.sends.lock().fence_waits();
        if waits {
            // One that the device does not hear is followed by another.
            let _ = self.raw.ring();
        }
        waits
    }

    /// Goes on with an end that waited for the last request, frees windows that the peer has revoked, and begins the end
    /// after a failure. Called without a lock.
    pub fn report(self: &Arc<Self>) {
        self.free_revoked();
        if self.drained.swap(false, Ordering::AcqRel) {
            self.sink.drained();
        }
        if self.failed.load(Ordering::Acquire) {
            self.begin_end(ConnectionReport::Broken);
        }
    }

    /// Reports all requests that are complete.
    pub fn reap(&self) {
        self.entries[0].cq.drain();
    }

    /// Reports all work that is complete.
    pub fn drain(&self) {
        self.entries.iter().for_each(|entries| entries.cq.drain());
    }
}

pub fn small(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Makes a queue pair with as many of `sends` and `recvs` as the device can, and with `least` receives if there are more.
/// How many these are depends on the number of segments, in a way that cannot be queried. Work beyond them waits in a
/// backlog.
pub fn as_long_as_possible<R>(
    mut sends: usize,
    mut recvs: usize,
    least: usize,
    make: impl Fn(usize, usize) -> std::io::Result<R>,
) -> std::io::Result<(R, usize, usize)> {
    loop {
        match make(sends, recvs) {
            Ok(made) => return Ok((made, sends, recvs)),
            Err(error) if sends <= FEW && recvs <= least => return Err(error),
            Err(_) => {
                let shorter = |n: usize, least: usize| if n > least { (n / 2).max(least) } else { n };
                (sends, recvs) = (shorter(sends, FEW), shorter(recvs, least));
            }
        }
    }
}

/// The first segments that together are `len` long. `cut`, which is empty, holds them if the last has to be shorter.
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

/// Brings a new queue pair into the state in which it takes receives.
fn initialise(device: &Device, raw: &RawQp) -> std::io::Result<()> {
    // SAFETY: the structure is plain data, for which zero is a valid value.
    let mut attr: ibv_qp_attr = unsafe { std::mem::zeroed() };
    attr.qp_state = ibv_qp_state::IBV_QPS_INIT;
    attr.port_num = device.place.port;
    attr.qp_access_flags = device.limits.access();
    let mask = ibv_qp_attr_mask::IBV_QP_STATE
        | ibv_qp_attr_mask::IBV_QP_PKEY_INDEX
        | ibv_qp_attr_mask::IBV_QP_PORT
        | ibv_qp_attr_mask::IBV_QP_ACCESS_FLAGS;
    raw.modify(&mut attr, mask.0 as i32)
}

#[cfg(test)]
mod tests;
