//! The transport: an open interface adapter over this process's node.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dat_core::Rights;
use dat_core::addr::Address;
use dat_core::error::{Arg, Error, Resource, Result};
use dat_core::transport::{
    AdapterAttributes, AdapterSink, Armed, Awaited, BindTarget, Closing, Connect, ConnectionReport, Fabric, Flow,
    Handed, Hooks, ListenerSink, MAX_SEGMENTS, Mark, Parts, Poll, QpInit, Recv, RegionKeys, Rejection, Request,
    RequestId, Scope, Segment, ShortSend, Shown, Transport, ZoneId,
};
use dat_memory::pages;
use dat_memory::regions::{NewRow, ROWS, Users, WRITES};
use host::lock::Mutex;
use host::{fork, memory, zone};

use crate::cm::Incoming;
use crate::conn::{Conn, ConnPhase};
use crate::node::{Command, Listener, Node};
use crate::nodes::Nodes;
use crate::pair::End;
use crate::record::LARGEST;
use crate::ring::SMALL;
use crate::srq::SharedQueue;
use crate::thread::PendingConnect;
use crate::transfers;
use crate::tx::Tx;
use crate::wire::{self, EndInfo};

/// An open interface adapter.
pub struct Shm {
    node: Arc<Node>,
    attributes: AdapterAttributes,
    closed: AtomicBool,
}

static NODES: Nodes = Nodes::new();

/// A protection zone: a number by which regions and connections are compared. Between processes only the one that made
/// it compares it.
pub struct Zone(u32);

impl ZoneId for Zone {
    fn id(&self) -> u32 {
        self.0
    }
}

/// Registered memory.
pub struct Region {
    node: Arc<Node>,
    key: u32,
    zone: u32,
    remote: bool,
    /// Whether a window was ever bound into it.
    shown: AtomicBool,
}

impl RegionKeys for Region {
    fn local_key(&self) -> u64 {
        self.key.into()
    }

    fn remote_key(&self) -> u32 {
        if self.remote { self.key } else { 0 }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        self.node.links.home.regions.remove(self.key);
        // A window of it may have been revoked by one peer while another one used it.
        if self.remote || self.shown.load(Ordering::Relaxed) {
            self.node.links.await_peers();
        }
    }
}

/// A window, to which remote rights can be bound: a row of the table of regions, while bound.
pub struct Window {
    node: Arc<Node>,
    scope: Scope,
    key: Mutex<Option<u32>>,
    /// It has shown something else before.
    used: AtomicBool,
}

impl Window {
    /// Shows another row, or none, from now on; see [`Window::await_peers`].
    fn replace(&self, key: Option<u32>) {
        let old = std::mem::replace(&mut *self.key.lock(), key);
        if let Some(old) = old {
            self.node.links.home.regions.remove(old);
            self.used.store(true, Ordering::Relaxed);
        }
    }

    /// Waits until no peer uses what it has shown before.
    fn await_peers(&self) {
        if self.used.load(Ordering::Relaxed) {
            self.node.links.await_peers();
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.replace(None);
        self.await_peers();
    }
}

/// A completion queue. Completions of all connections are found at once, so that there is nothing to keep.
pub struct Cq;

fn attributes() -> AdapterAttributes {
    AdapterAttributes {
        vendor: "libdat".into(),
        provider: "shm".into(),
        hardware_version: (1, 0),
        firmware_version: (1, 0),
        address: Address::loopback(),
        max_eps: 16384,
        max_dto_per_ep: 65536,
        max_rdma_read_per_ep_in: 128,
        max_rdma_read_per_ep_out: 128,
        max_rdma_read_in: 128 * 16384,
        max_rdma_read_out: 128 * 16384,
        max_evds: 65536,
        max_evd_qlen: 1 << 20,
        max_segments: MAX_SEGMENTS,
        max_segments_read: MAX_SEGMENTS,
        max_segments_write: MAX_SEGMENTS,
        max_lmrs: ROWS - 1024,
        max_lmr_block: 1 << 46,
        max_lmr_address: u64::MAX >> 1,
        max_pzs: 65536,
        max_message: LARGEST,
        max_rdma: LARGEST,
        max_rmrs: ROWS / 2,
        max_rmr_address: u64::MAX >> 1,
        max_srqs: 4096,
        max_eps_per_srq: 16384,
        max_recvs_per_srq: 65536,
        max_private_data: wire::MAX_PRIVATE_DATA,
        max_reject_data: wire::MAX_PRIVATE_DATA,
        optimal_alignment: 64,
        srq: true,
        srq_low_watermark: true,
        rmr: true,
        zero_based: true,
        immediate: true,
        atomics: true,
        invalidate: true,
        endpoint_windows: true,
        datagrams: true,
        fabric: Fabric::memory("shm".into()),
    }
}

impl Drop for Shm {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shm {
    /// The error of a region or window that finds no row.
    #[cold]
    fn no_region(&self) -> Error {
        let full = self.node.links.home.regions.is_full();
        Error::InsufficientResources(if full { Resource::Region } else { Resource::Memory })
    }
}

impl Parts for Shm {
    type Zone = Zone;
    type Region = Region;
    type Window = Window;
    type Cq = Cq;
    type Srq = Arc<SharedQueue>;
    type Qp = Conn;
    type Tx = Tx;
    type Listener = Listener;
    type Incoming = Incoming;
}

impl Hooks for Shm {
    fn close(&self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            NODES.release(&self.node);
        }
    }

    fn watch(&self, on: bool) {
        self.node.links.expect_agent(on);
    }

    fn kick(&self, posted: Awaited<'_, Self>) {
        match posted {
            Awaited::Qp(qp) => qp.recv_kick(),
            Awaited::Srq(srq) => srq.kick(),
        }
    }

    #[inline(always)]
    fn post_at_once(&self, qp: &Arc<Conn>, tx: &mut Tx, send: ShortSend<'_>) -> Option<Mark> {
        tx.post_at_once(qp.end()?, &send)
    }

    fn await_peers(&self, shown: Shown<'_, Self>) -> bool {
        match shown {
            Shown::Before(window) => window.await_peers(),
            Shown::Window(window) => {
                window.replace(None);
                window.await_peers();
            }
            // They were waited for when its windows were closed.
            Shown::Region(_) => {}
        }
        true
    }

    fn drain(&self, qp: &Arc<Conn>) {
        qp.drain();
    }

    fn look_again(&self, qp: &Conn) {
        if let Some(end) = qp.end() {
            end.look_again();
        }
    }

    fn takes_extended(&self, qp: &Conn) -> bool {
        qp.takes_extended()
    }

    fn flow(&self, qp: &Conn, tx: &Tx) -> Flow {
        let peer_wakeups = qp.end().map_or(0, End::wakeups);
        Flow { request_stalls: tx.stalls(), message_stalls: qp.stalls(), peer_wakeups }
    }

    fn datagrams_of_peer(&self, qp: &Conn) -> Option<u32> {
        qp.datagrams_of_peer()
    }

    fn gather(&self, segments: &[Segment], to: &mut [u8]) -> bool {
        dat_memory::copy::gather_into(&self.node.links.home.regions, segments, to)
    }

    fn await_end(&self, qp: &Arc<Conn>) {
        qp.await_still();
    }

    fn after_fork_in_child() {
        NODES.forget();
        transfers::after_fork_in_child();
        // SAFETY: the core calls this in the child of a fork, in which it has abandoned all objects.
        unsafe { fork::close_in_child() };
    }
}

impl Transport for Shm {
    // All system calls on the way go past libc, but for copies between processes, which are no cancellation points either.
    const CANCELLATION_POINTS: bool = false;

    const AT_ONCE: u64 = SMALL as u64;

    const TAKES_RECEIVES: bool = true;

    const KEEPS_TX: bool = true;

    const ARMS_ALL: bool = true;

    fn open(_name: &str, instance: &str) -> Result<Arc<Self>> {
        let node = NODES.get(instance)?;
        let shm = memory::arc(Shm { node, attributes: attributes(), closed: AtomicBool::new(false) })?;
        Ok(shm)
    }

    fn attributes(&self) -> &AdapterAttributes {
        &self.attributes
    }

    fn report_to(&self, sink: AdapterSink<Self>) {
        self.node.census.add(sink);
    }

    fn zone_create(&self) -> Result<Zone> {
        Ok(Zone(zone::next_number()))
    }

    fn register(&self, zone: &Zone, addr: u64, len: u64, rights: Rights, first: u64) -> Result<Region> {
        let write = rights.intersects(WRITES);
        if !pages::is_mapped(addr, len) || !pages::is_accessible(addr, len, write) {
            return Err(Error::InvalidParameter(Arg::Region));
        }
        // SAFETY: registering is the program's promise that the memory is there, and to be
        // used as the rights say, until it deregisters it.
        let key = unsafe {
            let users = Users::of_zone(zone.0);
            self.node.links.home.regions.insert(&NewRow { addr, len, first, rights, users, window: false })
        };
        let key = key.ok_or_else(|| self.no_region())?;
        let remote = rights.intersects(Rights::REMOTE);
        Ok(Region { node: self.node.clone(), key, zone: zone.0, remote, shown: AtomicBool::new(false) })
    }

    fn window_create(&self, _zone: &Zone, scope: Scope) -> Result<Window> {
        Ok(Window { node: self.node.clone(), scope, key: Mutex::new(None), used: AtomicBool::new(false) })
    }

    fn cq_create(&self, _depth: usize) -> Result<Cq> {
        Ok(Cq)
    }

    #[inline]
    fn poll(&self, _cq: Option<&Cq>, how: Poll) {
        match how {
            Poll::IfFree => self.node.links.poll(),
            Poll::Complete => self.node.links.settle(),
        };
    }

    fn arm(&self, _cq: Option<&Cq>, requests: bool) -> Armed {
        match self.node.links.arm(requests) {
            Some(sleep) => Armed::Word(self.node.links.home.alarm.clone(), sleep),
            // The node's thread reports what arrives.
            None => Armed::Reported,
        }
    }

    fn disarm(&self, _cq: Option<&Cq>, armed: Armed, requests: bool) {
        let sleep = match armed {
            Armed::Word(_, sleep) => Some(sleep),
            Armed::Reported | Armed::Descriptor(_) => None,
        };
        self.node.links.disarm(sleep, requests);
    }

    fn srq_create(&self, _zone: &Zone, depth: usize, segments: usize) -> Result<Arc<SharedQueue>> {
        SharedQueue::new(depth, segments)
    }

    #[inline(always)]
    fn srq_post(&self, srq: &Arc<SharedQueue>, recv: &Recv<'_>) -> Result<bool> {
        Ok(srq.post(recv))
    }

    fn srq_resize(&self, srq: &Arc<SharedQueue>, depth: usize) -> Result<()> {
        srq.resize(depth)
    }

    fn srq_arm_limit(&self, _srq: &Arc<SharedQueue>, _limit: usize) -> Result<()> {
        // Every buffer that is taken is reported at once.
        Ok(())
    }

    fn qp_create(&self, init: QpInit<'_, Self>) -> Result<(Arc<Conn>, Tx)> {
        let tx = Tx::new(init.sink.ep(), &init.sizes)?;
        let QpInit { sink, zone, srq, extended, datagrams, .. } = init;
        let info =
            EndInfo { zone: zone.id(), port: self.node.next_port(), extended, datagrams: datagrams.unwrap_or(0) };
        Ok((Conn::new(sink, info, srq.cloned())?, tx))
    }

    #[inline]
    fn post_recv(&self, qp: &Conn, _recv: &Recv<'_>) -> Result<bool> {
        Ok(qp.awaits_recv())
    }

    #[inline(never)]
    fn post(&self, qp: &Arc<Conn>, tx: &mut Tx, request: &Request<'_>) -> Result<Handed> {
        Ok(qp.end().map_or(Handed::under_way(Mark::NEVER), |end| tx.post(end, request)))
    }

    fn post_bind(
        &self,
        qp: &Arc<Conn>,
        tx: &mut Tx,
        id: RequestId,
        window: &Window,
        target: Option<&BindTarget<'_, Region>>,
        signalled: bool,
    ) -> Result<(u32, Mark)> {
        let key = match target {
            Some(target) => {
                let BindTarget { region, addr, len, rights, first } = *target;
                region.shown.store(true, Ordering::Relaxed);
                let rights = rights.intersection(Rights::REMOTE);
                let users = match window.scope {
                    Scope::Zone => Users::of_zone(region.zone),
                    Scope::Endpoint => Users::of_connection(qp.info().port),
                };
                // SAFETY: a part of a region that is registered, and stays so while the
                // window is bound into it (the core refuses to free it).
                let key = unsafe {
                    self.node.links.home.regions.insert(&NewRow { addr, len, first, rights, users, window: true })
                };
                Some(key.ok_or_else(|| self.no_region())?)
            }
            None => None,
        };
        window.replace(key);
        let mark = qp.end().map_or(Mark::NEVER, |end| tx.post_done(end, id, signalled));
        Ok((key.unwrap_or(0), mark))
    }

    fn reap(&self, qp: &Arc<Conn>) {
        qp.progress_tx();
    }

    fn listen(&self, qualifier: Option<u64>, sink: ListenerSink<Self>) -> Result<(Listener, u64)> {
        self.node.listen(qualifier, sink)
    }

    fn connect(&self, qp: &Arc<Conn>, connect: &Connect<'_>) -> Result<()> {
        let waiting = PendingConnect {
            conn: Arc::downgrade(qp),
            qualifier: connect.qualifier,
            private_data: memory::copied(connect.private_data)?.into_vec(),
        };
        self.node.room_for_command()?;
        qp.shift(ConnPhase::Idle, ConnPhase::Pending);
        self.node.command(Command::Connect(waiting, connect.address.clone(), connect.timeout));
        Ok(())
    }

    fn accept(&self, incoming: &mut Option<Incoming>, qp: &Arc<Conn>, private_data: &[u8]) -> Result<()> {
        let incoming = incoming.take().ok_or(Error::Internal)?;
        incoming.accept(&self.node, qp, private_data);
        Ok(())
    }

    fn reject(&self, incoming: Incoming, why: Rejection, private_data: &[u8]) {
        incoming.refuse(why, private_data);
    }

    fn local_qualifier(&self, qp: &Conn) -> u64 {
        qp.info().port
    }

    fn disconnect(&self, qp: &Arc<Conn>, broken: bool) -> Closing {
        let (reason, report) = match broken {
            true => (wire::CloseReason::Broken(None), ConnectionReport::Broken),
            false => (wire::CloseReason::Disconnected, ConnectionReport::Disconnected),
        };
        if qp.leave(reason, report) { Closing::Done } else { Closing::Exposed }
    }
}
