//! Endpoints for datagrams, each with one UD queue pair.
//!
//! [`cm`] exchanges requests and replies with peers by rdma_cm's service for UD (SIDR), in the format of [`hello`].
//! [`answers`] repeats lost replies. The result is an address handle ([`UdPeer`]). No event reports a peer's end.
//!
//! The device, never the CPU, reads datagrams from the program's memory, so unmapped memory only fails the request. A
//! datagram completes when the device has sent it. A list contains all outstanding datagrams in order: first those on
//! the device, then those that wait for room. Without an SRQ of the program, an endpoint has an SRQ of its own, so that
//! a reset of the queue pair discards no receives.
//!
//! A receive that is too short, or any other local error, moves the queue pair to the error state. The flushed
//! datagrams wait until the progress thread has made the queue pair ready again, with the same number ([`ending`]). If
//! this is impossible, the datagrams fail, and the endpoint rejects further ones.
//!
//! # Locks
//! A thread locks a completion queue, or core's requests, before `UdQp::sends`. While it holds `sends`, it makes no
//! report. It locks the list of attempts before the table of identifiers' owners.

pub mod answers;
pub mod cm;
mod ending;
pub mod hello;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use dat_core::error::{Error, Resource, Result};
use dat_core::event::Status;
use dat_core::transport::datagrams::{DatagramSink, Datagrams, Exchange, LEAD};
use dat_core::transport::{
    Checked, Connect, Handed, QpInit, Recv, RecvDone, Request, RequestId, Segment, SeqNo, SharedReceives,
};
use host::diagnostics::COMPLETION;
use host::lock::Mutex;
use host::memory::{self, Room};
use host::pause::Pause;
use rdma_sys::{ibv_qp_cap, ibv_qp_type, ibv_wc, ibv_wc_status};

use crate::Verbs;
use crate::channels;
use crate::cm::Incoming;
use crate::cq::{CompletionQueue, Reservation};
use crate::device::Device;
use crate::qp::{as_long_as_possible, small, wr};
use crate::srq::{Attachment, SharedQueue};
use crate::status::{self, exhausted, refused};
use crate::sys::datagram::{AddressHandle, Way};
use crate::sys::memory::Pd;
use crate::sys::qp::RawQp;
use cm::Attempt;
use ending::Ending;

pub struct UdPeer {
    way: AddressHandle,
    number: u32,
}

impl UdPeer {
    fn new(pd: &Arc<Pd>, way: &Way, number: u32) -> Result<Arc<Self>> {
        let way = AddressHandle::new(pd, way).map_err(exhausted(Resource::Endpoint))?;
        Ok(memory::arc(UdPeer { way, number })?)
    }
}

pub struct UdQp {
    pub(crate) raw: RawQp,
    pub(crate) device: Arc<Device>,
    pd: Arc<Pd>,
    pub(crate) sink: DatagramSink<Verbs>,
    /// Reserved completion queue entries for requests, and for receives.
    pub(crate) entries: [Reservation; 2],
    pub(crate) srq: Attachment,
    sends: Mutex<Sends>,
    /// Exchanges that this end has requested, until their outcome is known.
    attempts: Mutex<Vec<Arc<Attempt>>>,
    /// Number of calls of [`UdQp::complete`].
    completions: AtomicU64,
    /// Set once the device has reported that this queue pair takes no more buffers of its SRQ.
    pub(crate) last_reached: AtomicBool,
    /// Locked during a reset, so that a recovery does not make an ending queue pair ready again.
    ending: Mutex<Ending>,
}

struct Sends {
    open: bool,
    /// Time of a failure, until the queue pair is ready again.
    failed: Option<Instant>,
    /// Outstanding datagrams, oldest first.
    outstanding: VecDeque<Outstanding>,
    /// Segments of the outstanding datagrams, in the same order.
    segments: VecDeque<Segment>,
    /// Number of segments that were removed from the front of `segments`.
    removed: u64,
    /// Number of datagrams on the device: the first of `outstanding`.
    on_device: usize,
    room: usize,
}

/// An outstanding datagram, which keeps its address handle alive.
struct Outstanding {
    id: RequestId,
    peer: Arc<UdPeer>,
    /// Position of the first segment, counted from the endpoint's first datagram, and number of segments.
    segments: (u64, usize),
    solicited: bool,
}

impl Sends {
    fn feed(&mut self, raw: &RawQp) -> std::io::Result<()> {
        while self.open && self.failed.is_none() && self.on_device < self.room {
            let Some(next) = self.outstanding.get(self.on_device) else { break };
            let first = (next.segments.0 - self.removed) as usize;
            let segments: Checked = self.segments.range(first..).take(next.segments.1).copied().collect();
            raw.post_datagram(wr::send(next.id), &segments, (&next.peer.way, next.peer.number), next.solicited)?;
            self.on_device += 1;
        }
        Ok(())
    }

    fn push(&mut self, to: &Arc<UdPeer>, datagram: &Request<'_>) -> Result<()> {
        let Request { id, segments, .. } = *datagram;
        self.outstanding.room(1)?;
        self.segments.room(segments.len())?;
        let place = (self.removed + self.segments.len() as u64, segments.len());
        let solicited = datagram.is_solicited();
        self.outstanding.push_back(Outstanding { id, peer: to.clone(), segments: place, solicited });
        self.segments.extend(segments);
        Ok(())
    }

    fn remove(&mut self, count: usize) {
        let segments: usize = self.outstanding.drain(..count).map(|removed| removed.segments.1).sum();
        self.segments.drain(..segments);
        self.removed += segments as u64;
    }

    fn pop(&mut self) {
        if let Some(last) = self.outstanding.pop_back() {
            self.segments.truncate(self.segments.len() - last.segments.1);
        }
    }
}

impl Datagrams<Verbs> for UdQp {
    type Peer = Arc<UdPeer>;

    fn create(verbs: &Verbs, init: QpInit<'_, Verbs, DatagramSink<Verbs>>) -> Result<Arc<Self>> {
        let (device, pd, sizes) = (&verbs.device, &init.zone.pd, init.sizes);
        device.check_device()?;
        let own = || Arc::<SharedQueue>::create(verbs, init.zone, sizes.recvs.max(1), sizes.recv_segments.max(1));
        let srq = init.srq.map_or_else(own, |srq| Ok(srq.clone()))?.attach();
        let [request_cq, recv_cq] = CompletionQueue::for_work(device, init.request_cq, init.recv_cq)?;
        // One entry stays unused: see `WorkQueue::new`.
        let requests = request_cq.reserve(device, (sizes.requests + 1).min(device.limits.cqe), None, false)?;
        let receives = srq.queue.reserve(&recv_cq, 0, init.solicited)?;
        let make = |sends: usize, _| {
            let cap = ibv_qp_cap {
                max_send_wr: small(sends),
                max_recv_wr: 0,
                max_send_sge: small(sizes.request_segments.max(1)),
                max_recv_sge: 0,
                max_inline_data: 0,
            };
            let queue = Some(&srq.queue.raw);
            RawQp::new(ibv_qp_type::IBV_QPT_UD, pd, [&requests.raw, &receives.raw], queue, cap)
        };
        let failed = exhausted(Resource::Endpoint);
        let (raw, places, _) = as_long_as_possible(requests.count, 0, 0, make).map_err(&failed)?;
        let (mut outstanding, room) = (VecDeque::new(), places.saturating_sub(1).max(1));
        outstanding.room(sizes.requests)?;
        let sends =
            Sends { open: true, failed: None, outstanding, segments: VecDeque::new(), removed: 0, on_device: 0, room };
        let qp = memory::arc(UdQp {
            raw,
            device: device.clone(),
            pd: pd.clone(),
            sink: init.sink,
            entries: [requests, receives],
            srq,
            sends: Mutex::new(sends),
            attempts: Mutex::default(),
            completions: AtomicU64::new(0),
            last_reached: AtomicBool::new(false),
            ending: Mutex::default(),
        })?;
        channels::add(&mut device.datagrams.lock(), &qp)?;
        let joined = qp.entries.iter().try_for_each(|entries| entries.cq.join_datagrams(&qp));
        let ready = joined.and_then(|()| qp.make_ready().map_err(&failed));
        ready.inspect_err(|_| qp.leave())?;
        log::debug!(target: host::diagnostics::EP, "queue pair {}: for datagrams", qp.number());
        Ok(qp)
    }

    fn post_recv(&self, recv: &Recv<'_>) -> Result<()> {
        SharedQueue::post(&self.srq.queue, recv)
    }

    fn resolve(self: &Arc<Self>, _verbs: &Verbs, connect: &Connect<'_>, exchange: Exchange<Verbs>) -> Result<()> {
        Attempt::start(self, connect, exchange)
    }

    fn answer(
        self: &Arc<Self>,
        _verbs: &Verbs,
        incoming: &mut Option<Incoming>,
        private_data: &[u8],
        exchange: Exchange<Verbs>,
    ) -> Result<()> {
        let Some(request) = incoming.as_mut() else { return Err(Error::Internal) };
        let (Some(id), Some(requester)) = (request.id.clone(), request.requester) else { return Err(Error::Internal) };
        let device = &self.device;
        device.check_device()?;
        let from = cm::own_index(device, &id.own_port().gid);
        let way = Way::new(device.place.port, from, &requester.port, device.limits.needs_grh);
        let peer = UdPeer::new(&self.pd, &way, requester.qp)?;
        let answer = self.hello(&id).write(private_data);
        let accepted = id.accept(&self.terms(&answer));
        match &accepted {
            Ok(()) => device.answers.note(&requester, Some(self.number()), &answer),
            Err(error) => log::debug!(target: host::diagnostics::CM, "connection request: cannot accept: {error}"),
        }
        if let Some(mut request) = incoming.take() {
            request.id = None;
        }
        device.command(|work| work.answered.push_back((exchange, accepted.ok().map(|()| peer))));
        Ok(())
    }

    fn send_to(self: &Arc<Self>, to: &Arc<UdPeer>, datagram: &Request<'_>) -> Result<Handed> {
        let mut sends = self.sends.lock();
        if !sends.open {
            return Err(Error::InsufficientResources(Resource::Endpoint));
        }
        sends.push(to, datagram)?;
        match sends.feed(&self.raw) {
            // If other datagrams are on the device, their completion retries the post.
            Err(error) if sends.on_device == 0 => {
                sends.pop();
                Err(refused(sends, error))
            }
            _ => Ok(Handed::under_way(SeqNo(datagram.id))),
        }
    }

    fn close(_verbs: &Verbs, qps: &[Arc<Self>]) {
        qps.iter().for_each(|qp| qp.stop());
        let mut pause = Pause::new();
        while !qps.iter().all(|qp| qp.is_still()) {
            pause.pass();
        }
        qps.iter().for_each(|qp| qp.halt());
    }
}

impl UdQp {
    pub fn number(&self) -> u32 {
        self.raw.number()
    }

    fn make_ready(&self) -> std::io::Result<()> {
        self.raw.make_ready(self.device.place.port, self.device.pkey_index())
    }

    pub fn drain(&self) {
        self.entries.iter().for_each(|entries| entries.cq.drain());
    }

    /// Handles one completion, or several of successful requests. Called under the completion queue's lock.
    pub fn complete(self: &Arc<Self>, completions: &[ibv_wc]) {
        let Some(last) = completions.last() else { return };
        self.completions.fetch_add(1, Ordering::Release);
        if last.status != ibv_wc_status::IBV_WC_SUCCESS {
            log::debug!(target: COMPLETION, "queue pair {}: {}", self.number(), status::text(last.status));
            // Before the reports, so that no thread posts more.
            self.fail();
        }
        match wr::split(last.wr_id) {
            (true, id) => self.complete_recv(last, id),
            (false, id) => self.complete_sends(completions.len(), last, id),
        }
    }

    fn complete_sends(self: &Arc<Self>, count: usize, last: &ibv_wc, id: RequestId) {
        let status = status::of_completion(last.status);
        let stuck = {
            let mut sends = self.sends.lock();
            let count = count.min(sends.on_device);
            sends.on_device -= count;
            if status == Status::Flushed {
                // The flushed datagrams stay in the list. They are posted again when the queue pair is ready again.
                return;
            }
            sends.remove(count);
            sends.feed(&self.raw).is_err() && sends.on_device == 0
        };
        match status {
            Status::Success => self.sink.sent(SeqNo(id)),
            status => self.sink.not_sent(status),
        }
        if stuck {
            self.fail();
        }
    }

    fn complete_recv(&self, completion: &ibv_wc, id: u64) {
        self.srq.queue.consumed();
        let status = status::of_receive(completion.status, self.device.limits.quirks.misnames_failed_receives);
        let len = if status == Status::Success { u64::from(completion.byte_len).saturating_sub(LEAD) } else { 0 };
        self.sink.received(RecvDone { id, status, len, solicited: false });
    }

    /// Records a failure, after which the progress thread makes the queue pair ready again.
    #[cold]
    pub fn fail(self: &Arc<Self>) {
        let now = Instant::now();
        if *self.sends.lock().failed.get_or_insert(now) == now {
            self.device.command(|work| work.failed.push_back(self.clone()));
        }
    }
}
