//! The queue pair of an endpoint for datagrams, which its lanes share.
//!
//! Requests complete in the order in which the device got them, so a list says whose each is. Those for which there is no
//! room wait in a backlog, each as one segment: the core has copied the datagram into memory of the lane.
//!
//! A receive completes on behalf of any lane of the endpoint, for all of them lead to the same queue and dispatcher of the core.
//!
//! A receive that is too short for its datagram, or any other local error, puts the queue pair into the error state. Once its
//! requests are back, which are lost, the thread of the adapter makes it ready again, with the same number. If the device refuses
//! that, all lanes end.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use arrayvec::ArrayVec;
use dat_core::Handle;
use dat_core::error::{Resource, Result};
use dat_core::event::Status;
use dat_core::transport::{EndpointSink, LEAD, QpInit, RecvDone, RequestId, Segment, SeqNo, Special};
use host::diagnostics::COMPLETION;
use host::lock::Mutex;
use host::memory::{self, Room};
use rdma_sys::{ibv_qp_cap, ibv_qp_type, ibv_wc, ibv_wc_status};

use super::{Lane, LanePhase};
use crate::adapter::Verbs;
use crate::cq::{CompletionQueue, Reservation};
use crate::device::Device;
use crate::qp::{INLINE, small, wr};
use crate::srq::Attachment;
use crate::status::{self, exhausted, refused};
use crate::sys::cq::BATCH;
use crate::sys::memory::Pd;
use crate::sys::qp::RawQp;

/// Requests of all lanes that the device has at a time.
const REQUESTS: usize = 64;

/// What makes lanes those of one queue pair: the handle of their endpoint, and by their addresses its zone, shared receive
/// queue and completion queue. Handles are used again.
pub type Key = (Handle, [usize; 3]);

/// The queue pair.
pub struct SharedQp {
    pub(crate) raw: RawQp,
    pub(crate) device: Arc<Device>,
    pub(super) pd: Arc<Pd>,
    pub(super) key: Key,
    pub(crate) entries: Reservation,
    pub(crate) srq: Attachment,
    /// All that are not dead, in no order.
    pub(super) lanes: Mutex<Vec<Arc<Lane>>>,
    pub(super) sends: Mutex<Sends>,
    /// Completions so far, of any kind.
    pub(super) completions: AtomicU64,
    /// The device has given back the last buffer of the shared receive queue.
    pub(crate) last_reached: AtomicBool,
    /// Since when it is ending, and the number of completions with the time since when it is the same.
    pub(super) stopping: Mutex<Option<(Instant, u64, Instant)>>,
    /// Held while it is reset, so that nothing makes it ready again once it ends.
    pub(super) resetting: Mutex<()>,
}

/// The requests of all lanes.
pub(super) struct Sends {
    /// The device takes requests.
    pub open: bool,
    /// The queue pair has failed, and since when it is to be made ready again.
    pub failed: Option<Instant>,
    /// What the device has, in its order.
    pub on_device: VecDeque<(Arc<Lane>, RequestId)>,
    /// What comes next.
    pub backlog: VecDeque<Waiting>,
}

/// A datagram for the device, or one that it has no room for yet.
pub(super) struct Waiting {
    pub lane: Arc<Lane>,
    pub id: RequestId,
    pub segment: Option<Segment>,
    pub solicited: bool,
}

impl SharedQp {
    /// Adds a lane, which `make` makes with the queue pair of its endpoint; the first one has that made.
    pub fn join(
        device: &Arc<Device>,
        init: QpInit<'_, Verbs>,
        make: impl FnOnce(Arc<Self>, EndpointSink<Verbs>) -> Result<Arc<Lane>>,
    ) -> Result<Arc<Lane>> {
        let srq = init.srq.ok_or(dat_core::error::Error::Internal)?;
        let cq = init.recv_cq.or(init.request_cq);
        let addresses =
            [Arc::as_ptr(&init.zone.pd).addr(), Arc::as_ptr(srq).addr(), cq.map_or(0, |cq| Arc::as_ptr(cq).addr())];
        // Lanes have the handle of their endpoint.
        let key = (init.sink.ep(), addresses);
        let mut all = device.datagrams.lock();
        let shared = match all.get(&key).and_then(std::sync::Weak::upgrade) {
            Some(shared) => shared,
            None => {
                all.retain(|_, shared| shared.strong_count() > 0);
                all.room(1)?;
                let attachment = srq.attach(&init.zone.pd)?;
                let shared = Self::new(device, key, &init, cq, attachment)?;
                all.insert(key, Arc::downgrade(&shared));
                shared
            }
        };
        let mut lanes = shared.lanes.lock();
        let room = lanes.room(1).map_err(Into::into);
        let lane = room.and_then(|()| make(shared.clone(), init.sink));
        let first = lanes.is_empty();
        if let Ok(lane) = &lane {
            lanes.push(lane.clone());
        }
        drop(lanes);
        if !first {
            return lane;
        }
        // Nothing arrives before there is a lane that can report it.
        let ready = || shared.raw.make_ready(device.place.port).map_err(exhausted(Resource::Endpoint));
        let lane = lane.and_then(|lane| ready().map(|()| lane));
        if lane.is_err() {
            all.remove(&key);
            shared.lanes.lock().clear();
            shared.dissolve();
        }
        lane
    }

    fn new(
        device: &Arc<Device>,
        key: Key,
        init: &QpInit<'_, Verbs>,
        cq: Option<&Arc<CompletionQueue>>,
        srq: Attachment,
    ) -> Result<Arc<Self>> {
        let cq = cq.map_or_else(|| CompletionQueue::new(device, 1), |cq| Ok(cq.clone()))?;
        let requests = REQUESTS.min(device.limits.cqe / 2).max(1);
        let buffers = (srq.queue.raw.address(), srq.queue.room());
        let entries = cq.reserve(device, requests, Some(buffers), init.solicited)?;
        let cap = ibv_qp_cap {
            max_send_wr: small(requests),
            max_recv_wr: 0,
            max_send_sge: 1,
            max_recv_sge: 0,
            max_inline_data: INLINE,
        };
        let make = |cap| {
            let cqs = [&entries.raw, &entries.raw];
            RawQp::new(ibv_qp_type::IBV_QPT_UD, &init.zone.pd, cqs, Some(&srq.queue.raw), cap)
        };
        let raw = make(cap).or_else(|_| make(ibv_qp_cap { max_inline_data: 0, ..cap }));
        let raw = raw.map_err(exhausted(Resource::Endpoint))?;
        let mut on_device = VecDeque::new();
        on_device.room(requests)?;
        let shared = memory::arc(SharedQp {
            raw,
            device: device.clone(),
            pd: init.zone.pd.clone(),
            key,
            entries,
            srq,
            lanes: Mutex::default(),
            sends: Mutex::new(Sends { open: true, failed: None, on_device, backlog: VecDeque::new() }),
            completions: AtomicU64::new(0),
            last_reached: AtomicBool::new(false),
            stopping: Mutex::default(),
            resetting: Mutex::default(),
        })?;
        cq.join_datagrams(&shared)?;
        log::debug!(target: host::diagnostics::EP, "queue pair {}: for datagrams", shared.number());
        Ok(shared)
    }

    /// The number under which the device and peers know it.
    pub fn number(&self) -> u32 {
        self.raw.number()
    }

    /// Reports all work that is complete.
    pub fn drain(&self) {
        self.entries.cq.drain();
    }

    /// Requests that the device has room for. One place stays free, because a completion comes a little before the device can use
    /// its place again.
    fn room(&self) -> usize {
        REQUESTS.min(self.device.limits.cqe / 2).saturating_sub(1).max(1)
    }

    /// Hands over a datagram.
    pub(super) fn post(&self, next: Waiting) -> Result<()> {
        let mut sends = self.sends.lock();
        if next.lane.phase() != LanePhase::Up {
            // The end of the lane completes it.
            return Ok(());
        }
        sends.backlog.room(1)?;
        if sends.backlog.is_empty() && sends.open && sends.on_device.len() < self.room() {
            match self.give(&mut sends, next) {
                Ok(()) => return Ok(()),
                // A completion takes it from the backlog.
                Err((next, _)) if !sends.on_device.is_empty() => sends.backlog.push_back(next),
                Err((_, error)) => return Err(refused(sends, error)),
            }
        } else {
            sends.backlog.push_back(next);
        }
        Ok(())
    }

    /// Gives the device a datagram, or gives it back.
    fn give(&self, sends: &mut Sends, next: Waiting) -> std::result::Result<(), (Waiting, std::io::Error)> {
        let Some((way, number)) = next.lane.to.get() else { return Ok(()) };
        match self.raw.post_datagram(next.segment.as_slice(), (way, *number), next.solicited) {
            Ok(()) => {
                next.lane.on_device.fetch_add(1, Ordering::AcqRel);
                sends.on_device.push_back((next.lane, next.id));
                Ok(())
            }
            Err(error) => Err((next, error)),
        }
    }

    /// Gives the device what waits, as far as there is room.
    pub(super) fn feed(&self, sends: &mut Sends) {
        while sends.open && sends.on_device.len() < self.room() {
            let Some(next) = sends.backlog.pop_front() else { return };
            if let Err((next, error)) = self.give(sends, next) {
                log::warn!("queue pair {}: datagrams go on waiting: {error}", self.number());
                sends.backlog.push_front(next);
                return;
            }
        }
    }

    /// Takes completions in, all of requests that succeeded or a single one. Called with the lock of the completion queue held.
    pub fn complete(self: &Arc<Self>, completions: &[ibv_wc]) {
        let Some(last) = completions.last() else { return };
        self.completions.fetch_add(1, Ordering::Release);
        let good = last.status == ibv_wc_status::IBV_WC_SUCCESS;
        match wr::split(last.wr_id) {
            (true, id) => self.complete_recv(last, id, good),
            (false, _) => self.complete_sends(completions.len(), good),
        }
        if !good {
            self.note_failure(last);
        }
    }

    /// The oldest `count` requests have ended.
    pub(super) fn complete_sends(self: &Arc<Self>, count: usize, good: bool) {
        // Those of one lane that follow each other are one report.
        let mut ended: ArrayVec<(Arc<Lane>, RequestId, usize), BATCH> = ArrayVec::new();
        {
            let mut sends = self.sends.lock();
            let count = count.min(BATCH).min(sends.on_device.len());
            for (lane, id) in sends.on_device.drain(..count) {
                match ended.last_mut() {
                    Some((known, last, more)) if Arc::ptr_eq(known, &lane) => (*last, *more) = (id, *more + 1),
                    _ => ended.push((lane, id, 1)),
                }
            }
            self.feed(&mut sends);
            if sends.open && sends.on_device.is_empty() && !sends.backlog.is_empty() {
                // No completion comes that would have it try again.
                drop(sends);
                self.fail();
            }
        }
        for (lane, last, count) in ended {
            // No end of a connection waits for requests.
            let _ = lane.sink.requests_done(SeqNo(last));
            if !good {
                (0..count).for_each(|_| lane.sink.datagram_lost());
            }
            lane.on_device.fetch_sub(count, Ordering::AcqRel);
        }
    }

    fn complete_recv(&self, completion: &ibv_wc, id: u64, good: bool) {
        self.srq.queue.consumed();
        let lanes = self.lanes.lock();
        // One that is announced already, since others keep what they receive until then.
        let lane = lanes.iter().find(|lane| lane.phase() == LanePhase::Up).or_else(|| lanes.first());
        let Some(lane) = lane else {
            log::error!("queue pair {}: a datagram for an endpoint without peers", self.number());
            return;
        };
        // A lane has no watermark that could be passed.
        let _ = lane.sink.recv_taken(id);
        if good {
            let len = u64::from(completion.byte_len).saturating_sub(LEAD);
            let done = RecvDone { id, status: Status::Success, len, solicited: false };
            lane.sink.recv_special(done, Special::Datagram);
        } else {
            let status = status::of_receive(completion.status, self.device.limits.soft_roce);
            lane.sink.recv_done(RecvDone { id, status, len: 0, solicited: false });
        }
    }

    /// One of the receives reported so far was announced by its sender.
    pub fn announce(&self) {
        if let Some(lane) = self.lanes.lock().first() {
            lane.sink.recv_announced();
        }
    }

    /// Notes that the queue pair must be made ready again.
    #[cold]
    fn note_failure(self: &Arc<Self>, completion: &ibv_wc) {
        log::debug!(target: COMPLETION, "queue pair {}: {}", self.number(), status::text(completion.status));
        self.fail();
    }

    /// The queue pair is in the error state, or will be: the thread makes it ready again.
    pub fn fail(self: &Arc<Self>) {
        let mut sends = self.sends.lock();
        sends.open = false;
        if sends.failed.is_none() {
            sends.failed = Some(Instant::now());
            drop(sends);
            self.device.command(|work| work.failed.push_back(self.clone()));
        }
    }
}
