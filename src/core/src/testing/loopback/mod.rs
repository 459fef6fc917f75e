//! A transport between the endpoints of one process, through its memory.
//!
//! It is meant to be seen to be right, not to be fast. All adapters that were opened with
//! the same instance share a [`Fabric`], whose state has one lock. Posting only adds to the
//! fabric's intake; whoever polls, and the fabric's thread, takes the work from there in
//! order and carries it out. What must be reported without a lock is reported by the thread
//! alone, in order.
//!
//! The child of a fork cannot use it.

mod cm;
mod data;
mod fabric;
mod memory;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::addr::Address;
use crate::ep::Change;
use crate::error::{Error, Result};
use crate::mem::Rights;
use crate::transport::{
    AdapterAttributes, Armed, BindTarget, Closing, Connect, Handed, ListenerSink, MAX_SEGMENTS, Mark, Operation, Poll,
    QpInit, Recv, RegionKeys, Rejection, RemoteSegment, Request, RequestId, Scope, Transport, ZoneId,
};
use cm::Incoming;
use fabric::{Bind, Fabric, Receive, Task, Transfer, Work};
use memory::Row;

/// An adapter of the in-memory transport; the instance is the name of its fabric.
pub struct Loopback {
    fabric: Arc<Fabric>,
    name: String,
    attributes: AdapterAttributes,
}

impl Drop for Loopback {
    fn drop(&mut self) {
        Fabric::leave(&self.name);
    }
}

static NEXT_ZONE: AtomicU32 = AtomicU32::new(1);

/// A protection zone: a number.
pub struct Zone(u32);

impl ZoneId for Zone {
    fn id(&self) -> u32 {
        self.0
    }
}

/// Registered memory: a row of the fabric's table, whose number is both keys.
pub struct Region {
    fabric: Arc<Fabric>,
    key: u32,
    zone: u32,
    remote: bool,
}

impl RegionKeys for Region {
    fn local_key(&self) -> u32 {
        self.key
    }

    fn remote_key(&self) -> u32 {
        if self.remote { self.key } else { 0 }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        self.fabric.memory.lock().remove(self.key);
    }
}

/// What remote rights are bound to: a row of the fabric's table while it is bound.
pub struct Window {
    fabric: Arc<Fabric>,
    number: u32,
    scope: Scope,
}

impl Drop for Window {
    fn drop(&mut self) {
        self.fabric.memory.lock().close_window(self.number);
    }
}

/// A shared receive queue.
pub struct SharedQueue {
    fabric: Arc<Fabric>,
    number: u64,
}

impl Drop for SharedQueue {
    fn drop(&mut self) {
        self.fabric.lock().srqs.remove(&self.number);
    }
}

/// One end of a connection.
pub struct Qp {
    number: u64,
    /// The peer takes extended operations.
    to_extended: Arc<AtomicBool>,
}

/// A service point that listens.
pub struct Listener {
    fabric: Arc<Fabric>,
    qualifier: u64,
}

impl Drop for Listener {
    fn drop(&mut self) {
        let stopped = self.fabric.lock().listeners.remove(&self.qualifier);
        // It keeps its service point, which is not to be dropped under the lock.
        drop(stopped);
    }
}

impl Transport for Loopback {
    type Zone = Zone;
    type Region = Region;
    type Window = Window;
    type Cq = ();
    type Srq = SharedQueue;
    type Qp = Qp;
    type Tx = ();
    type Listener = Listener;
    type Incoming = Incoming;

    fn open(_name: &str, instance: &str) -> Result<Arc<Self>> {
        let fabric = Fabric::join(instance)?;
        Ok(Arc::new(Loopback { fabric, name: instance.to_owned(), attributes: attributes() }))
    }

    fn attributes(&self) -> &AdapterAttributes {
        &self.attributes
    }

    fn zone_create(&self) -> Result<Zone> {
        Ok(Zone(NEXT_ZONE.fetch_add(1, Ordering::Relaxed)))
    }

    fn register(&self, zone: &Zone, addr: u64, len: u64, rights: Rights, first: u64) -> Result<Region> {
        let row = Row { addr, first, len, rights, zone: zone.0, region: None, only: None };
        let key = self.fabric.memory.lock().insert(row);
        let remote = rights.intersects(Rights::REMOTE);
        Ok(Region { fabric: self.fabric.clone(), key, zone: zone.0, remote })
    }

    fn window_create(&self, _zone: &Zone, scope: Scope) -> Result<Window> {
        let number = self.fabric.memory.lock().open_window();
        Ok(Window { fabric: self.fabric.clone(), number, scope })
    }

    fn cq_create(&self, _depth: usize) -> Result<()> {
        Ok(())
    }

    fn poll(&self, _cq: Option<&()>, how: Poll) {
        match how {
            Poll::IfFree => self.fabric.run_if_free(),
            Poll::Complete => self.fabric.run(),
        }
    }

    fn arm(&self, _cq: Option<&()>, _requests: bool) -> Armed {
        // The thread reports all that happens.
        Armed::Reported
    }

    fn disarm(&self, _cq: Option<&()>, _armed: Armed, _requests: bool) {}

    fn srq_create(&self, _zone: &Zone, depth: usize, _segments: usize) -> Result<SharedQueue> {
        let number = self.fabric.lock().add_srq(depth)?;
        Ok(SharedQueue { fabric: self.fabric.clone(), number })
    }

    fn srq_post(&self, srq: &SharedQueue, recv: &Recv<'_>) -> Result<bool> {
        self.fabric.hand_in(Work::SharedRecv(srq.number, Receive::new(recv)));
        Ok(true)
    }

    fn srq_kick(&self, _srq: &SharedQueue) {
        self.fabric.run_if_free();
    }

    fn srq_resize(&self, _srq: &SharedQueue, _depth: usize) -> Result<()> {
        Ok(())
    }

    fn srq_arm_limit(&self, _srq: &SharedQueue, _limit: usize) -> Result<()> {
        // Every buffer that is taken is reported at once.
        Ok(())
    }

    fn qp_create(&self, init: QpInit<'_, Self>) -> Result<(Arc<Qp>, ())> {
        let to_extended = Arc::default();
        let number = self.fabric.lock().add_end(&init, &to_extended)?;
        Ok((Arc::new(Qp { number, to_extended }), ()))
    }

    fn post_recv(&self, qp: &Qp, recv: &Recv<'_>) -> Result<bool> {
        self.fabric.hand_in(Work::Recv(qp.number, Receive::new(recv)));
        Ok(true)
    }

    fn recv_kick(&self, _qp: &Arc<Qp>) {
        self.fabric.run_if_free();
    }

    fn post(&self, qp: &Arc<Qp>, (): &mut (), request: &Request<'_>) -> Result<Handed> {
        // Requests are carried out one after the other, which is as much as a fence asks for.
        let task = match request.operation {
            Operation::Send { solicited } => Task::Send { solicited, invalidate: None },
            Operation::SendInvalidate { solicited, key } => Task::Send { solicited, invalidate: Some(key) },
            Operation::Write(to) => Task::Write(to),
            Operation::Read(from) => Task::Read(from),
            Operation::WriteImmediate { to, value, solicited } => Task::WriteImmediate { to, value, solicited },
            Operation::FetchAdd { addr, key, add } => {
                Task::Atomic(RemoteSegment { addr, len: request.len, key }, Change::Add(add))
            }
            Operation::CompareSwap { addr, key, expected, new } => {
                Task::Atomic(RemoteSegment { addr, len: request.len, key }, Change::Swap { expected, new })
            }
        };
        let segments = request.segments.try_into().map_err(|_| Error::Internal)?;
        self.fabric.hand_in(Work::Request(qp.number, Transfer { id: request.id, task, segments, len: request.len }));
        Ok(Handed::under_way(Mark(request.id)))
    }

    fn post_bind(
        &self,
        qp: &Arc<Qp>,
        (): &mut (),
        id: RequestId,
        window: &Window,
        target: Option<&BindTarget<'_, Region>>,
        _signalled: bool,
    ) -> Result<(u32, Mark)> {
        let key = if target.is_some() { self.fabric.memory.lock().reserve() } else { 0 };
        let row = target.map(|target| Row {
            addr: target.addr,
            first: target.first,
            len: target.len,
            rights: target.rights.intersection(Rights::REMOTE),
            zone: target.region.zone,
            region: Some(target.region.key),
            only: (window.scope == Scope::Endpoint).then_some(qp.number),
        });
        let task = Task::Bind(Bind { window: window.number, key, row });
        self.fabric.hand_in(Work::Request(qp.number, Transfer { id, task, segments: Default::default(), len: 0 }));
        Ok((key, Mark(id)))
    }

    fn reap(&self, _qp: &Arc<Qp>) {
        self.fabric.run();
    }

    fn listen(&self, qualifier: Option<u64>, sink: ListenerSink<Self>) -> Result<(Listener, u64)> {
        let qualifier = self.fabric.lock().listen(qualifier, sink)?;
        Ok((Listener { fabric: self.fabric.clone(), qualifier }, qualifier))
    }

    fn connect(&self, qp: &Arc<Qp>, connect: &Connect<'_>) -> Result<()> {
        self.fabric.connect(qp.number, connect);
        Ok(())
    }

    fn accept(&self, incoming: &mut Option<Incoming>, qp: &Arc<Qp>, private_data: &[u8]) -> Result<()> {
        let incoming = incoming.take().ok_or(Error::Internal)?;
        self.fabric.accept(&incoming, qp.number, private_data);
        Ok(())
    }

    fn reject(&self, incoming: Incoming, why: Rejection, private_data: &[u8]) {
        incoming.refuse(why, private_data);
    }

    fn takes_extended(&self, qp: &Qp) -> bool {
        qp.to_extended.load(Ordering::Relaxed)
    }

    fn local_qualifier(&self, qp: &Qp) -> u64 {
        qp.number
    }

    fn disconnect(&self, qp: &Arc<Qp>, broken: bool) -> Closing {
        self.fabric.disconnect(qp.number, broken)
    }

    fn await_end(&self, _qp: &Arc<Qp>) {
        // The report that is being told comes to its end by itself.
        std::thread::yield_now();
    }
}

fn attributes() -> AdapterAttributes {
    const LARGEST: u64 = 1 << 31;
    AdapterAttributes {
        vendor: "libdat".into(),
        provider: "loopback".into(),
        hardware_version: (1, 0),
        firmware_version: (1, 0),
        address: Address::loopback(),
        max_eps: 1024,
        max_dto_per_ep: 4096,
        max_rdma_read_per_ep_in: 16,
        max_rdma_read_per_ep_out: 16,
        max_rdma_read_in: 16 * 1024,
        max_rdma_read_out: 16 * 1024,
        max_evds: 4096,
        max_evd_qlen: 1 << 16,
        max_segments: MAX_SEGMENTS,
        max_segments_read: MAX_SEGMENTS,
        max_segments_write: MAX_SEGMENTS,
        max_lmrs: 4096,
        max_lmr_block: 1 << 46,
        max_lmr_address: u64::MAX >> 1,
        max_pzs: 1024,
        max_message: LARGEST,
        max_rdma: LARGEST,
        max_rmrs: 1024,
        max_rmr_address: u64::MAX >> 1,
        max_srqs: 64,
        max_eps_per_srq: 1024,
        max_recvs_per_srq: 4096,
        max_private_data: 64,
        max_reject_data: 48,
        optimal_alignment: 64,
        srq: true,
        srq_low_watermark: true,
        rmr: true,
        zero_based: true,
        immediate: true,
        atomics: true,
        invalidate: true,
        endpoint_windows: true,
        fabric: crate::transport::Fabric::memory("loopback".into()),
    }
}
