//! A transport with the required functions only: it names [`Unsupported`] for each capability.
//!
//! All adapters are in this process. One lock protects them. One thread establishes connections and reports their
//! changes. A poll executes the requests in order; a message waits in its connection until there is a receive.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock, Weak};
use std::thread;
use std::time::{Duration, Instant};

use dat_core::Rights;
use dat_core::addr::Address;
use dat_core::error::{Error, Result};
use dat_core::event::Status;
use dat_core::transport::{
    AdapterAttributes, AdapterSink, Armed, Checked, Closing, Connect, ConnectRetry, ConnectionReport,
    ConnectionRequestInfo, Disconnect, EndpointSink, Fabric, FailedRequest, Flow, Handed, ListenerSink, Operation,
    Path, Poll, QpInit, Recv, RecvDone, Rejection, RemoteSegment, Request, RequestId, SeqNo, ShortSend, Taken,
    Transport, Unsupported, Wakeup, ZoneId,
};
use dat_software::copy::{self, Slice};
use dat_software::objects::{self, Owner, Region, Zone};
use dat_software::regions::{AccessContext, ROWS, RegionTable};
use host::lock::Mutex;

pub struct Plain(Arc<World>);

/// State that all adapters share.
pub struct World {
    regions: RegionTable,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    listeners: Vec<(u64, ListenerSink<Plain>)>,
    attempts: Vec<Attempt>,
    conns: Vec<Weak<Conn>>,
    reports: VecDeque<(Arc<Conn>, Report)>,
    last_number: u64,
}

enum Report {
    Connection(ConnectionReport),
    Drained,
    Failed(Option<RecvDone>, Option<(FailedRequest, Status)>),
}

struct Attempt {
    conn: Arc<Conn>,
    qualifier: u64,
    private_data: Vec<u8>,
    retry: ConnectRetry,
    /// Time of the next attempt; `None` once the service point has the request.
    due: Option<Instant>,
    deadline: Option<Instant>,
}

pub struct Conn {
    sink: EndpointSink<Plain>,
    zone: u32,
    number: u64,
    /// Changes only under the lock of [`World::state`].
    phase: Mutex<Phase>,
}

#[derive(Clone)]
enum Phase {
    Idle,
    Waiting,
    Up(Weak<Conn>),
    Ended,
}

/// The posted requests, oldest first.
#[derive(Default)]
pub struct Tx(VecDeque<Posted>);

#[derive(Clone)]
struct Posted {
    id: RequestId,
    operation: Operation<Unsupported>,
    segments: Checked,
    len: u64,
}

enum Outcome {
    Done,
    Waits,
    Fails(Status, Option<RecvDone>),
}

pub struct Listener(u64);

pub struct Incoming(Arc<Conn>);

/// An armed wait, which the thread wakes.
pub struct Wait;

impl Armed for Wait {
    type Alarm = Unsupported;

    fn wakeup(&self) -> Wakeup<'_, Unsupported> {
        Wakeup::Reported
    }
}

impl Owner for World {
    type Mirror = ();

    fn regions(&self) -> &RegionTable {
        &self.regions
    }
}

fn world() -> &'static Arc<World> {
    static WORLD: OnceLock<Arc<World>> = OnceLock::new();
    WORLD.get_or_init(|| {
        thread::spawn(|| {
            loop {
                let world = world();
                world.execute(&mut world.state.lock());
                world.establish();
                while let Some((conn, report)) = { world.state.lock().reports.pop_front() } {
                    match report {
                        Report::Connection(report) => conn.sink.connection(report),
                        Report::Drained => conn.sink.drained(),
                        Report::Failed(recv, request) => conn.sink.failed(recv, request),
                    }
                }
                thread::sleep(Duration::from_micros(100));
            }
        });
        Arc::new(World { regions: RegionTable::new((), ROWS as u32), state: Mutex::default() })
    })
}

impl State {
    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        0x8000 + self.last_number
    }

    fn report(&mut self, conn: Arc<Conn>, report: ConnectionReport) {
        self.reports.push_back((conn, Report::Connection(report)));
    }

    /// Ends an attempt, unless it has ended.
    fn end_attempt(&mut self, conn: &Arc<Conn>, report: ConnectionReport) {
        if matches!(*conn.phase.lock(), Phase::Waiting) {
            *conn.phase.lock() = Phase::Ended;
            self.forget_attempt(conn);
            self.report(conn.clone(), report);
        }
    }

    fn forget_attempt(&mut self, conn: &Arc<Conn>) {
        self.attempts.retain(|attempt| !Arc::ptr_eq(&attempt.conn, conn));
    }
}

impl World {
    /// Executes each connection's requests up to one that must wait for a receive.
    fn execute(&self, state: &mut State) {
        for at in 0..state.conns.len() {
            if let Some(conn) = state.conns[at].upgrade() {
                self.advance(state, &conn);
            }
        }
        state.conns.retain(|conn| conn.strong_count() > 0);
    }

    fn advance(&self, state: &mut State, conn: &Arc<Conn>) {
        let Phase::Up(peer) = conn.phase.lock().clone() else { return };
        let Some(peer) = peer.upgrade() else { return };
        loop {
            let Some(posted) = conn.sink.lock_tx().and_then(|tx| tx.0.front().cloned()) else { return };
            match self.attempt(&peer, &posted) {
                Outcome::Waits => return,
                Outcome::Done => {
                    let Some(mut tx) = conn.sink.lock_tx() else { return };
                    tx.0.pop_front();
                    let drained = tx.request_done(SeqNo(posted.id));
                    drop(tx);
                    if drained {
                        state.reports.push_back((conn.clone(), Report::Drained));
                    }
                }
                Outcome::Fails(status, recv) => {
                    (*conn.phase.lock(), *peer.phase.lock()) = (Phase::Ended, Phase::Ended);
                    let request = Some((FailedRequest::Number(posted.id), status));
                    state.reports.push_back((conn.clone(), Report::Failed(None, request)));
                    state.reports.push_back((peer, Report::Failed(recv, None)));
                    return;
                }
            }
        }
    }

    /// Executes a request at `peer`. Operations with a permit cannot occur: [`Unsupported`] has no values.
    fn attempt(&self, peer: &Conn, posted: &Posted) -> Outcome {
        let operation = posted.operation;
        match operation {
            Operation::Send { solicited } => self.send(peer, posted, solicited),
            Operation::Write(_) | Operation::Read(_) if posted.len == 0 => Outcome::Done,
            Operation::Write(to) => self.transfer(peer, posted, &to, Rights::REMOTE_WRITE),
            Operation::Read(from) => self.transfer(peer, posted, &from, Rights::REMOTE_READ),
        }
    }

    fn send(&self, peer: &Conn, posted: &Posted, solicited: bool) -> Outcome {
        let mut taken = Taken::default();
        if peer.sink.recv_take(&mut taken).is_none() {
            return Outcome::Waits;
        }
        let done = |status, len| RecvDone { id: taken.id, status, len, solicited };
        if posted.len > taken.capacity {
            return Outcome::Fails(Status::RemoteResponder, Some(done(Status::LocalLength, 0)));
        }
        let slice = Slice { offset: 0, len: posted.len, last: true };
        let Some(from) = copy::acquire_all(&posted.segments, |key| self.regions.acquire_counted(key)) else {
            return Outcome::Fails(Status::LocalProtection, None);
        };
        let Some(to) = copy::acquire_all(taken.segments(), |key| self.regions.acquire_counted(key)) else {
            return Outcome::Fails(Status::RemoteResponder, Some(done(Status::LocalProtection, 0)));
        };
        if posted.len > 0 {
            copy::store_lists(
                copy::targets(taken.segments(), &to, slice),
                copy::sources(&posted.segments, &from, slice),
                true,
            );
        }
        drop((from, to));
        peer.sink.recv_done(done(Status::Success, posted.len));
        Outcome::Done
    }

    fn transfer(&self, peer: &Conn, posted: &Posted, remote: &RemoteSegment, right: Rights) -> Outcome {
        let end = AccessContext::new(peer.zone, peer.number);
        let Ok(granted) = self.regions.grant(&RemoteSegment { len: posted.len, ..*remote }, right, &end) else {
            return Outcome::Fails(Status::RemoteAccess, None);
        };
        let Some(refs) = copy::acquire_all(&posted.segments, |key| self.regions.acquire_counted(key)) else {
            return Outcome::Fails(Status::LocalProtection, None);
        };
        let slice = Slice { offset: 0, len: posted.len, last: true };
        if right == Rights::REMOTE_WRITE {
            let to = copy::List::from_iter([granted.target(0, posted.len)]);
            copy::store_lists(to, copy::sources(&posted.segments, &refs, slice), true);
        } else {
            let from = copy::List::from_iter([granted.source(0, posted.len)]);
            copy::store_lists(copy::targets(&posted.segments, &refs, slice), from, true);
        }
        Outcome::Done
    }

    /// Passes due connection requests to service points.
    fn establish(&self) {
        let now = Instant::now();
        let mut due = Vec::new();
        {
            let state = &mut *self.state.lock();
            let mut ended = Vec::new();
            for attempt in &mut state.attempts {
                if attempt.deadline.is_some_and(|deadline| deadline <= now) {
                    ended.push((attempt.conn.clone(), ConnectionReport::TimedOut));
                } else if attempt.due.is_some_and(|due| due <= now) {
                    let listener = state.listeners.iter().find(|(qualifier, _)| *qualifier == attempt.qualifier);
                    if let Some((qualifier, sink)) = listener {
                        attempt.due = None;
                        due.push((sink.clone(), *qualifier, attempt.conn.clone(), attempt.private_data.clone()));
                    } else {
                        attempt.due = attempt.retry.next_attempt(now);
                        if attempt.due.is_none() {
                            ended.push((attempt.conn.clone(), ConnectionReport::NonPeerRejected));
                        }
                    }
                }
            }
            ended.into_iter().for_each(|(conn, report)| state.end_attempt(&conn, report));
        }
        for (sink, qualifier, conn, private_data) in due {
            let info = ConnectionRequestInfo {
                qualifier,
                remote_address: Address::loopback(),
                remote_qualifier: conn.number,
                private_data,
                datagrams: None,
            };
            // A request that is not accepted is dropped, which rejects it.
            let _ = sink.request(Incoming(conn), info);
        }
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        world().state.lock().end_attempt(&self.0, ConnectionReport::NonPeerRejected);
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut state = world().state.lock();
        let at = state.listeners.iter().position(|(qualifier, _)| *qualifier == self.0);
        let sink = at.map(|at| state.listeners.swap_remove(at));
        drop(state);
        drop(sink);
    }
}

impl Transport for Plain {
    type Extended = Unsupported;
    type Window = Unsupported;
    type Srq = Unsupported;
    type DatagramQp = Unsupported;
    type Zone = Zone;
    type Region = Region<World>;
    type Cq = ();
    type Armed = Wait;
    type Qp = Conn;
    type Tx = Tx;
    type Listener = Listener;
    type Incoming = Incoming;

    const INLINE_MAX: u64 = 0;
    const TAKES_RECEIVES: bool = true;
    const KEEPS_TX: bool = true;
    const ARMS_ALL: bool = true;

    fn open(_name: &str, _instance: &str) -> Result<(Arc<Self>, AdapterAttributes)> {
        let fabric = Fabric::memory("plain".into());
        let attributes = objects::attributes("plain", Address::loopback(), fabric, 1 << 30, 256);
        Ok((Arc::new(Plain(world().clone())), attributes))
    }

    fn report_to(&self, _sink: AdapterSink<Self>) {}

    fn watch(&self, _on: bool) {}

    fn close(&self) {}

    fn after_fork_in_child() {}

    fn zone_create(&self) -> Result<Zone> {
        Ok(Zone::new())
    }

    fn register(&self, zone: &Zone, addr: u64, len: u64, rights: Rights, first: u64) -> Result<Region<World>> {
        Region::register(&self.0, zone, addr, len, rights, first)
    }

    fn cq_create(&self, _depth: usize) -> Result<()> {
        Ok(())
    }

    fn poll(&self, _cq: Option<&()>, how: Poll) {
        let state = match how {
            Poll::IfFree => self.0.state.try_lock(),
            Poll::Complete => Some(self.0.state.lock()),
        };
        if let Some(mut state) = state {
            self.0.execute(&mut state);
        }
    }

    fn arm(&self, _cq: Option<&()>, _requests: bool) -> Wait {
        Wait
    }

    fn qp_create(&self, init: QpInit<'_, Self>) -> Result<(Arc<Conn>, Tx)> {
        let number = host::zone::next_number().into();
        let conn = Conn { sink: init.sink, zone: init.zone.id(), number, phase: Mutex::new(Phase::Idle) };
        Ok((Arc::new(conn), Tx(VecDeque::with_capacity(init.sizes.requests))))
    }

    fn post_recv(&self, _qp: &Conn, _recv: &Recv<'_>) -> Result<bool> {
        Ok(false)
    }

    fn kick(&self, _qp: &Arc<Conn>) {}

    fn post_inline(&self, _qp: &Arc<Conn>, _tx: &mut Tx, _send: ShortSend<'_>) -> Option<SeqNo> {
        None
    }

    fn post(&self, _qp: &Arc<Conn>, tx: &mut Tx, request: &Request<'_, Unsupported>) -> Result<Handed> {
        let &Request { id, operation, segments, len, .. } = request;
        tx.0.push_back(Posted { id, operation, segments: segments.iter().copied().collect(), len });
        Ok(Handed::under_way(SeqNo(id)))
    }

    fn reap(&self, _qp: &Arc<Conn>) {
        self.poll(None, Poll::Complete);
    }

    fn repoll(&self, _qp: &Conn) {}

    fn flow(&self, _qp: &Conn, _tx: &Tx) -> Flow {
        Flow::default()
    }

    fn path(&self, _qp: &Conn, _tx: &Tx) -> Path {
        Path::default()
    }

    fn listen(&self, qualifier: Option<u64>, sink: ListenerSink<Self>) -> Result<(Listener, u64)> {
        let mut state = self.0.state.lock();
        let qualifier = qualifier.unwrap_or_else(|| state.next_number());
        if state.listeners.iter().any(|(used, _)| *used == qualifier) {
            return Err(Error::QualifierInUse);
        }
        state.listeners.push((qualifier, sink));
        Ok((Listener(qualifier), qualifier))
    }

    fn check_address(&self, _address: &Address) -> Result<()> {
        Ok(())
    }

    fn connect(&self, qp: &Arc<Conn>, connect: &Connect<'_>) -> Result<()> {
        let now = Instant::now();
        let state = &mut *self.0.state.lock();
        *qp.phase.lock() = Phase::Waiting;
        state.attempts.push(Attempt {
            conn: qp.clone(),
            qualifier: connect.qualifier,
            private_data: connect.private_data.to_vec(),
            retry: ConnectRetry::new(now),
            due: Some(now),
            deadline: connect.timeout.map(|timeout| now + timeout),
        });
        if !connect.address.is_local() {
            state.end_attempt(qp, ConnectionReport::Unreachable);
        }
        Ok(())
    }

    fn accept(&self, incoming: &mut Option<Incoming>, qp: &Arc<Conn>, private_data: &[u8]) -> Result<()> {
        let incoming = incoming.take().ok_or(Error::Internal)?;
        let active = &incoming.0;
        {
            let state = &mut *self.0.state.lock();
            if matches!(*active.phase.lock(), Phase::Waiting) {
                *active.phase.lock() = Phase::Up(Arc::downgrade(qp));
                *qp.phase.lock() = Phase::Up(Arc::downgrade(active));
                state.forget_attempt(active);
                state.conns.extend([Arc::downgrade(active), Arc::downgrade(qp)]);
                state.report(active.clone(), ConnectionReport::Established(private_data.to_vec()));
                state.report(qp.clone(), ConnectionReport::Established(Vec::new()));
            } else {
                *qp.phase.lock() = Phase::Ended;
                state.report(qp.clone(), ConnectionReport::AcceptFailed);
            }
        }
        Ok(())
    }

    fn reject(&self, incoming: Incoming, why: Rejection, private_data: &[u8]) {
        let report = match why {
            Rejection::Consumer => ConnectionReport::PeerRejected(private_data.to_vec()),
            Rejection::Provider => ConnectionReport::NonPeerRejected,
        };
        self.0.state.lock().end_attempt(&incoming.0, report);
    }

    fn local_qualifier(&self, qp: &Conn) -> u64 {
        qp.number
    }

    fn disconnect(&self, qp: &Arc<Conn>, how: Disconnect) -> Closing {
        let report = match how {
            Disconnect::AfterRequests => return Closing::Later,
            Disconnect::Now => ConnectionReport::Disconnected,
            Disconnect::Broken => ConnectionReport::Broken,
        };
        let state = &mut *self.0.state.lock();
        let phase = std::mem::replace(&mut *qp.phase.lock(), Phase::Ended);
        state.forget_attempt(qp);
        if let Phase::Up(peer) = phase {
            if let Some(peer) = peer.upgrade() {
                *peer.phase.lock() = Phase::Ended;
                state.report(peer, report);
            }
        }
        Closing::Done
    }

    fn await_end(&self, _qp: &Arc<Conn>) {}
}
