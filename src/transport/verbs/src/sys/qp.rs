//! Queue pairs and shared receive queues.
//!
//! Soft-RoCE (rdma-core 44 to 56) writes a request into a queue in memory, then notifies the kernel. If only that
//! system call fails, the request is posted, and no bad request is returned. The notification is then repeated; if that
//! fails, the queue pair enters the error state, which flushes its work.

use std::ffi::c_int;
use std::io;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use arrayvec::ArrayVec;
use dat_core::transport::{Change, MAX_SEGMENTS, Operation, RemoteSegment, Segment};
use host::cancel::uncancelled;
use host::memory;
use rdma_sys::*;

use super::cq::RawCq;
use super::layout::headers::{
    __IncompleteArrayField, ib_uverbs_cmd_hdr, ib_uverbs_post_send, ib_uverbs_write_cmds_IB_USER_VERBS_CMD_POST_SEND,
};
use super::memory::{Mr, Mw, Pd};
use super::{Owned, code, meaning, repeat, zeroed};

/// Zone, completion queues for requests and receives, SRQ.
type Parents = (Arc<Pd>, [Arc<RawCq>; 2], Option<Arc<RawSrq>>);

pub struct RawQp {
    raw: Owned<ibv_qp, Parents>,
    inline: u64,
}

/// A range of a registration: first address, length, and access flags.
pub type Range<'a> = (&'a Mr, u64, u64, u32);

fn bind_info((mr, addr, length, access): Range<'_>) -> ibv_mw_bind_info {
    ibv_mw_bind_info { mr: mr.as_ptr(), addr, length, mw_access_flags: access }
}

/// Maximum length of a segment that all devices accept, and of a message. So a receive whose segment is shortened to
/// this length still fits every message.
pub const MAX_MESSAGE: u64 = 0x7fff_ffff;

#[inline(always)]
fn element(segment: &Segment) -> ibv_sge {
    ibv_sge { addr: segment.addr, length: segment.len.min(MAX_MESSAGE) as u32, lkey: segment.key as u32 }
}

/// Converts up to [`MAX_SEGMENTS`] segments. Does not initialise unused entries.
#[inline(always)]
pub(super) fn elements(segments: &[Segment]) -> ArrayVec<ibv_sge, MAX_SEGMENTS> {
    segments.iter().take(MAX_SEGMENTS).map(element).collect()
}

#[inline(always)]
fn total(elements: &[ibv_sge]) -> u64 {
    elements.iter().map(|element| u64::from(element.length)).sum()
}

#[inline(always)]
pub(super) fn solicited_if(solicited: bool) -> u32 {
    if solicited { ibv_send_flags::IBV_SEND_SOLICITED.0 } else { 0 }
}

/// The earlier requests that must have completed before a request starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// None.
    InTurn,
    /// The requests for which an earlier fenced request waits.
    Behind,
    /// All earlier reads and atomic operations. The device waits for them.
    Fenced,
    /// All earlier requests. The request waits for them in the backlog.
    Alone,
}

/// Returns the flags that each request has: it gets a completion, and with `fence` waits for earlier reads.
#[inline(always)]
fn signalled(fence: bool) -> u32 {
    ibv_send_flags::IBV_SEND_SIGNALED.0 | if fence { ibv_send_flags::IBV_SEND_FENCE.0 } else { 0 }
}

/// The kernel's command IB_USER_VERBS_CMD_POST_SEND without a request. On devices such as Soft-RoCE, it makes the
/// kernel read the queue.
#[repr(C)]
pub(super) struct PostSend {
    header: ib_uverbs_cmd_hdr,
    pub(super) arguments: ib_uverbs_post_send,
}

impl RawQp {
    /// Creates a queue pair in the state RESET. `cqs` are the completion queues for requests and for receives.
    pub fn new(
        kind: ibv_qp_type::Type,
        pd: &Arc<Pd>,
        cqs: [&Arc<RawCq>; 2],
        srq: Option<&Arc<RawSrq>>,
        cap: ibv_qp_cap,
    ) -> io::Result<Self> {
        let mut init: ibv_qp_init_attr = zeroed();
        [init.send_cq, init.recv_cq] = cqs.map(|cq| cq.as_ptr());
        init.srq = srq.map_or(ptr::null_mut(), |srq| srq.as_ptr());
        init.cap = cap;
        init.qp_type = kind;
        let parents = (pd.clone(), cqs.map(Arc::clone), srq.cloned());
        // SAFETY: live objects of one device; the structure is read and written.
        let raw = Owned::made(parents, |(pd, ..)| unsafe { ibv_create_qp(pd.as_ptr(), &raw mut init) })?;
        Ok(RawQp { raw, inline: cap.max_inline_data.min(init.cap.max_inline_data).into() })
    }

    pub fn number(&self) -> u32 {
        self.raw.qp_num
    }

    pub fn modify(&self, attr: &mut ibv_qp_attr, mask: c_int) -> io::Result<()> {
        // SAFETY: a live queue pair; the structure is read.
        code(|| unsafe { ibv_modify_qp(self.raw.as_ptr(), attr, mask) })
    }

    /// Changes to a state. `set` writes the further attributes, which `mask` selects.
    pub fn change(
        &self,
        state: ibv_qp_state::Type,
        mask: ibv_qp_attr_mask,
        set: impl FnOnce(&mut ibv_qp_attr),
    ) -> io::Result<()> {
        let mut attr: ibv_qp_attr = zeroed();
        attr.qp_state = state;
        set(&mut attr);
        self.modify(&mut attr, (mask | ibv_qp_attr_mask::IBV_QP_STATE).0 as c_int)
    }

    /// Returns the state that the device reports.
    pub fn state(&self) -> io::Result<ibv_qp_state::Type> {
        let (mut attr, mut init): (ibv_qp_attr, ibv_qp_init_attr) = (zeroed(), zeroed());
        let mask = ibv_qp_attr_mask::IBV_QP_STATE.0 as c_int;
        // SAFETY: a live queue pair; the structures are written.
        code(|| unsafe { ibv_query_qp(self.raw.as_ptr(), &raw mut attr, mask, &raw mut init) })?;
        Ok(attr.qp_state)
    }

    /// Changes to a state without further attributes: RESET or ERROR. Logs a failure.
    pub fn go(&self, state: ibv_qp_state::Type) {
        if let Err(error) = self.change(state, ibv_qp_attr_mask(0), |_| {}) {
            log::warn!("queue pair {}: cannot modify to state {state}: {error}", self.number());
        }
    }

    #[inline(always)]
    pub fn post_send(&self, id: u64, operation: &Operation, segments: &[Segment], start: Start) -> io::Result<()> {
        match segments {
            [only] => self.post_elements(id, operation, &mut [element(only)], start),
            _ => with_elements(segments, |elements| self.post_elements(id, operation, elements, start)),
        }
    }

    #[inline(always)]
    fn post_elements(&self, id: u64, operation: &Operation, elements: &mut [ibv_sge], start: Start) -> io::Result<()> {
        let mut flags = signalled(start == Start::Fenced);
        // The device copies inline data during the post. A request that waits must not be inline, because earlier reads
        // may still write the data that it sends.
        let inline = if start == Start::InTurn && self.takes(elements) { ibv_send_flags::IBV_SEND_INLINE.0 } else { 0 };
        let mut wr: ibv_send_wr = zeroed();
        wr.wr_id = id;
        wr.sg_list = elements.as_mut_ptr();
        wr.num_sge = elements.len() as c_int;
        match *operation {
            Operation::Send { solicited: yes } => {
                wr.opcode = ibv_wr_opcode::IBV_WR_SEND;
                flags |= inline | solicited_if(yes);
            }
            Operation::Write(to) => {
                wr.opcode = ibv_wr_opcode::IBV_WR_RDMA_WRITE;
                wr.wr.rdma = rdma_t { remote_addr: to.addr, rkey: to.key };
                flags |= inline;
            }
            Operation::Read(from) => {
                wr.opcode = ibv_wr_opcode::IBV_WR_RDMA_READ;
                wr.wr.rdma = rdma_t { remote_addr: from.addr, rkey: from.key };
            }
            Operation::SendInvalidate { solicited: yes, key, .. } => {
                wr.opcode = ibv_wr_opcode::IBV_WR_SEND_WITH_INV;
                wr.imm_data_invalidated_rkey_union.invalidated_rkey = key;
                flags |= inline | solicited_if(yes);
            }
            Operation::WriteImmediate { to, value, solicited: yes, .. } => {
                wr.opcode = ibv_wr_opcode::IBV_WR_RDMA_WRITE_WITH_IMM;
                // The device sends the value's bytes as they are in memory.
                wr.imm_data_invalidated_rkey_union.imm_data = value;
                wr.wr.rdma = rdma_t { remote_addr: to.addr, rkey: to.key };
                flags |= inline | solicited_if(yes);
            }
            Operation::Atomic { addr, key, change, .. } => {
                let (opcode, compare_add, swap) = match change {
                    Change::Add(add) => (ibv_wr_opcode::IBV_WR_ATOMIC_FETCH_AND_ADD, add, 0),
                    Change::Swap { expected, new } => (ibv_wr_opcode::IBV_WR_ATOMIC_CMP_AND_SWP, expected, new),
                };
                wr.opcode = opcode;
                wr.wr.atomic = atomic_t { remote_addr: addr, compare_add, swap, rkey: key };
            }
        }
        wr.send_flags = flags;
        self.hand_over(&mut wr)
    }

    /// Returns whether the elements fit inline. `false` for 0 bytes, which need neither a copy nor a fetch.
    #[inline(always)]
    fn takes(&self, elements: &[ibv_sge]) -> bool {
        total(elements).wrapping_sub(1) < self.inline
    }

    #[inline(always)]
    pub(super) fn hand_over(&self, wr: &mut ibv_send_wr) -> io::Result<()> {
        let mut bad = ptr::null_mut();
        // SAFETY: the request and its list outlive the call, which copies them. The device checks the memory keys.
        let posted = uncancelled(|| unsafe { ibv_post_send(self.raw.as_ptr(), wr, &raw mut bad) });
        if posted == 0 { Ok(()) } else { self.not_posted(posted, bad.is_null()) }
    }

    /// Handles a failed post. `queued`: no bad request was returned, so only the notification of the kernel failed.
    #[cold]
    #[inline(never)]
    fn not_posted(&self, answer: c_int, queued: bool) -> io::Result<()> {
        let posted = meaning(answer);
        if queued {
            if let Err(error) = &posted {
                self.ring_again(error);
                return Ok(());
            }
        }
        posted
    }

    /// Repeats the notification of the kernel. If this fails, moves the queue pair to the error state.
    fn ring_again(&self, error: &io::Error) {
        log::debug!(
            target: host::diagnostics::EP,
            "queue pair {}: cannot notify the device of a request: {error}",
            self.number(),
        );
        if repeat([1, 5, 20].map(Duration::from_millis), |_| true, || self.ring()).is_err() {
            log::error!("queue pair {}: cannot post requests: {error}", self.number());
            self.go(ibv_qp_state::IBV_QPS_ERR);
        }
    }

    /// Notifies the kernel to read a queue in memory.
    pub fn ring(&self) -> io::Result<()> {
        let mut answer = 0_u32;
        // SAFETY: the queue pair is live and its context open; the fields never change.
        let (device, handle) = (unsafe { (*self.raw.context).cmd_fd }, self.raw.handle);
        let command = PostSend {
            header: ib_uverbs_cmd_hdr {
                command: ib_uverbs_write_cmds_IB_USER_VERBS_CMD_POST_SEND,
                in_words: (size_of::<PostSend>() / 4) as u16,
                out_words: 1,
            },
            arguments: ib_uverbs_post_send {
                response: &raw mut answer as u64,
                qp_handle: handle,
                wr_count: 0,
                sge_count: 0,
                wqe_size: size_of::<ibv_send_wr>() as u32,
                send_wr: __IncompleteArrayField::new(),
            },
        };
        // SAFETY: the command contains no request, so the kernel reads only the command, and writes at most `answer`.
        let written =
            uncancelled(|| unsafe { libc::write(device, (&raw const command).cast(), size_of::<PostSend>()) });
        if written < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Posts a write of 0 bytes. Its only effect is its completion, in order.
    pub fn post_nothing(&self, (id, fence): (u64, bool)) -> io::Result<()> {
        let start = if fence { Start::Fenced } else { Start::InTurn };
        self.post_send(id, &Operation::Write(RemoteSegment::default()), &[], start)
    }

    /// Binds a type 1 window to a range. This replaces the window's binding and key.
    pub fn post_bind(&self, (id, fence): (u64, bool), mw: &Mw, range: Range<'_>) -> io::Result<()> {
        let mut bind: ibv_mw_bind = zeroed();
        bind.wr_id = id;
        bind.send_flags = signalled(fence);
        bind.bind_info = bind_info(range);
        // SAFETY: live objects of one device; the structure is read.
        meaning(uncancelled(|| unsafe { ibv_bind_mw(self.raw.as_ptr(), mw.as_ptr(), &raw mut bind) }))
    }

    /// Binds a new type 2 window, under `key`.
    pub fn post_bind_single(&self, (id, fence): (u64, bool), mw: &Mw, key: u32, range: Range<'_>) -> io::Result<()> {
        let mut wr: ibv_send_wr = zeroed();
        wr.wr_id = id;
        wr.opcode = ibv_wr_opcode::IBV_WR_BIND_MW;
        wr.send_flags = signalled(fence);
        wr.bind_mw_tso_union.bind_mw = bind_mw_t { mw: mw.as_ptr(), rkey: key, bind_info: bind_info(range) };
        self.hand_over(&mut wr)
    }

    #[inline(always)]
    pub fn post_recv(&self, id: u64, segments: &[Segment]) -> io::Result<()> {
        // SAFETY: a live queue pair; the request and its list outlive the call, which copies them.
        post_receive(id, segments, |wr, bad| unsafe { ibv_post_recv(self.raw.as_ptr(), wr, bad) })
    }
}

#[inline(always)]
fn post_receive(
    id: u64,
    segments: &[Segment],
    post: impl FnOnce(*mut ibv_recv_wr, *mut *mut ibv_recv_wr) -> c_int,
) -> io::Result<()> {
    let post = |elements: &mut [ibv_sge]| {
        let (sg_list, num_sge) = (elements.as_mut_ptr(), elements.len() as c_int);
        let mut wr = ibv_recv_wr { wr_id: id, next: ptr::null_mut(), sg_list, num_sge };
        meaning(post(&raw mut wr, &mut ptr::null_mut()))
    };
    match segments {
        [only] => post(&mut [element(only)]),
        _ => with_elements(segments, post),
    }
}

/// Calls `post` with any number of elements. Out of line, because most requests have one segment.
#[cold]
#[inline(never)]
fn with_elements(segments: &[Segment], post: impl FnOnce(&mut [ibv_sge]) -> io::Result<()>) -> io::Result<()> {
    post(&mut elements(segments))
}

/// Upper limit of a driver's bytes per receive, rounding included.
const MAX_RECEIVE_SIZE: usize = 2 * (64 + MAX_SEGMENTS * size_of::<ibv_sge>());

pub type RawSrq = Owned<ibv_srq, Arc<Pd>>;

impl RawSrq {
    /// Creates a queue for at least `depth` receives. Returns the queue and its actual depth.
    pub fn new(pd: &Arc<Pd>, depth: u32, segments: u32) -> io::Result<(Arc<Self>, u32)> {
        let mut init = ibv_srq_init_attr {
            srq_context: ptr::null_mut(),
            attr: ibv_srq_attr { max_wr: depth, max_sge: segments, srq_limit: 0 },
        };
        // SAFETY: a live zone; the structure is read and written.
        let srq = Owned::made(pd.clone(), |pd| unsafe { ibv_create_srq(pd.as_ptr(), &raw mut init) })?;
        Ok((memory::arc(srq)?, init.attr.max_wr.max(depth)))
    }

    fn modify(&self, mut attr: ibv_srq_attr, mask: ibv_srq_attr_mask) -> io::Result<()> {
        // SAFETY: a live queue; the structure is read.
        code(|| unsafe { ibv_modify_srq(self.as_ptr(), &raw mut attr, mask.0 as c_int) })
    }

    pub fn resize(&self, depth: u32) -> io::Result<()> {
        memory::must_be_mappable((depth as usize).saturating_mul(MAX_RECEIVE_SIZE))?;
        let attr = ibv_srq_attr { max_wr: depth, max_sge: 0, srq_limit: 0 };
        self.modify(attr, ibv_srq_attr_mask::IBV_SRQ_MAX_WR)
    }

    /// Requests one event when fewer than `limit` receives remain.
    pub fn set_limit(&self, limit: u32) -> io::Result<()> {
        let attr = ibv_srq_attr { max_wr: 0, max_sge: 0, srq_limit: limit };
        self.modify(attr, ibv_srq_attr_mask::IBV_SRQ_LIMIT)
    }

    #[inline(always)]
    pub fn post(&self, id: u64, segments: &[Segment]) -> io::Result<()> {
        // SAFETY: a live queue; the request and its list outlive the call, which copies them.
        post_receive(id, segments, |wr, bad| unsafe { ibv_post_srq_recv(self.as_ptr(), wr, bad) })
    }
}

#[cfg(test)]
mod tests;
