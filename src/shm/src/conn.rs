//! One end of a connection: the queue pair of this transport.
//!
//! The two directions are apart: [`Tx`](crate::tx::Tx) behind one lock, [`Rx`](crate::rx::Rx)
//! behind another. Order: `rx`, then `tx`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering, fence};

use dat_core::error::Result;
use dat_core::event::Status;
use dat_core::transport::{
    ConnectionReport, EndpointSink, QpInit, Recv, RecvDone, RecvQueue, Request, RequestId, Taken, ZoneId,
};
use once_cell::sync::OnceCell;
use parking_lot::{Mutex, MutexGuard};

use crate::Shm;
use crate::link::Link;
use crate::node::Node;
use crate::rx::{Advance, Rx};
use crate::srq::SharedQueue;
use crate::tx::Tx;
use crate::wire::{CloseReason, ConnId, Message};

/// Turns that what has arrived gets when the peer has let go.
const DRAIN_TURNS: u32 = 64;

/// How far a connection got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ConnPhase {
    /// Not yet tied to a link.
    Idle,
    /// A connect or an accept is under way.
    Pending,
    /// Data can flow.
    Up,
    /// Over.
    Dead,
}

impl ConnPhase {
    fn from_u8(value: u8) -> Self {
        match value {
            0 => ConnPhase::Idle,
            1 => ConnPhase::Pending,
            2 => ConnPhase::Up,
            _ => ConnPhase::Dead,
        }
    }
}

/// What ties a connection to a link.
pub struct Wired {
    /// The link.
    pub link: Arc<Link>,
    /// Which connection of the link.
    pub id: ConnId,
    /// Which of its ends this is: 0 or 1.
    pub side: u8,
    /// Protection zone of the peer's endpoint.
    pub peer_zone: AtomicU32,
}

impl Wired {
    fn to_active(&self) -> bool {
        self.side != self.id.active
    }
}

/// One end of a connection.
pub struct Conn {
    pub(crate) node: Arc<Node>,
    pub(crate) sink: EndpointSink<Shm>,
    pub(crate) zone: u32,
    port: u64,
    srq: Option<Arc<SharedQueue>>,
    own: Mutex<RecvQueue>,
    /// A message waits for a receive of `own`.
    starved: AtomicBool,
    /// A thread that found `tx` taken left its turn to the holder.
    again: AtomicBool,
    /// Waits in line at the shared queue; changed under that queue's lock.
    pub(crate) queued: AtomicBool,
    phase: AtomicU8,
    wired: OnceCell<Wired>,
    pub(crate) tx: Mutex<Tx>,
    pub(crate) rx: Mutex<Rx>,
}

/// What went wrong with a connection, found under a lock and acted on without.
#[derive(Debug, Default)]
pub struct Fatal {
    /// The receive that failed.
    pub recv: Option<RecvDone>,
    /// The request that failed.
    pub request: Option<(RequestId, Status)>,
    /// What the peer's oldest request failed with.
    pub peer: Option<Status>,
}

impl Conn {
    /// A queue pair that is not connected.
    pub fn new(node: &Arc<Node>, init: &QpInit<'_, Shm>) -> Result<Arc<Self>> {
        let own = match init.srq {
            Some(_) => RecvQueue::default(),
            None => RecvQueue::new(init.sizes.recvs, init.sizes.recv_segments)?,
        };
        Ok(Arc::new(Conn {
            node: node.clone(),
            sink: init.sink.clone(),
            zone: init.zone.id(),
            port: node.next_port(),
            srq: init.srq.cloned(),
            own: Mutex::new(own),
            starved: AtomicBool::new(false),
            again: AtomicBool::new(false),
            queued: AtomicBool::new(false),
            phase: AtomicU8::new(ConnPhase::Idle as u8),
            wired: OnceCell::new(),
            tx: Mutex::new(Tx::new(&init.sizes)?),
            rx: Mutex::new(Rx::default()),
        }))
    }

    /// Port qualifier of this end.
    pub fn port(&self) -> u64 {
        self.port
    }

    /// How far it got.
    pub fn phase(&self) -> ConnPhase {
        ConnPhase::from_u8(self.phase.load(Ordering::Acquire))
    }

    /// Goes from one phase to another, if it is still in the first.
    pub fn shift(&self, from: ConnPhase, to: ConnPhase) -> bool {
        self.phase.compare_exchange(from as u8, to as u8, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The link and the place on it, once there is one.
    pub fn wired(&self) -> Option<&Wired> {
        self.wired.get()
    }

    /// Ties the connection to its place on a link and opens its rings; false if there is no
    /// memory for them, or it was tied before.
    pub fn wire(self: &Arc<Self>, link: &Arc<Link>, id: ConnId, side: u8, peer_zone: u32) -> bool {
        let (Some(producers), Some(consumers)) = (link.producers(id.index, side), link.consumers(id.index, side))
        else {
            return false;
        };
        let wired = Wired { link: link.clone(), id, side, peer_zone: AtomicU32::new(peer_zone) };
        if self.wired.set(wired).is_err() {
            return false;
        }
        self.tx.lock().open(producers);
        self.rx.lock().open(consumers);
        link.attach(side, id, self)
    }

    /// Adds a receive to the connection's own queue.
    pub fn post_recv(&self, recv: &Recv<'_>) {
        self.own.lock().push(recv);
    }

    /// Lets a message go on that waited for a receive of the own queue.
    pub fn recv_kick(self: &Arc<Self>) {
        if self.starved.load(Ordering::SeqCst) && self.starved.swap(false, Ordering::SeqCst) {
            self.resume();
        }
    }

    /// Takes the next receive for a message that is arriving.
    pub(crate) fn take_recv(self: &Arc<Self>, taken: &mut Taken) -> bool {
        if let Some(srq) = &self.srq {
            return srq.take(self, taken);
        }
        if self.own.lock().pop(taken) {
            return true;
        }
        // Whoever posts next either finds this set, or posted before the second look.
        self.starved.store(true, Ordering::SeqCst);
        let found = self.own.lock().pop(taken);
        if found {
            self.starved.store(false, Ordering::SeqCst);
        }
        found
    }

    /// Whether receives come from a shared queue.
    pub(crate) fn has_srq(&self) -> bool {
        self.srq.is_some()
    }

    /// Starts a request, or queues it behind those that wait for room.
    pub fn post(self: &Arc<Self>, request: &Request<'_>) {
        let mut tx = self.tx.lock();
        if let Some(wired) = self.wired() {
            tx.post(self, wired, request);
        }
        self.leave_tx(tx);
    }

    /// Adds a request that is carried out already, in the order of the others.
    pub fn post_done(&self, id: RequestId, signalled: bool) {
        let mut tx = self.tx.lock();
        if let Some(wired) = self.wired() {
            tx.post_done(wired, id, signalled);
        }
        self.leave_tx(tx);
    }

    /// Lets arrived messages go on after they found no receive.
    pub fn resume(self: &Arc<Self>) {
        if self.progress_rx(Advance::Batch) {
            self.look_again();
        }
    }

    /// Has somebody look at this connection soon.
    fn look_again(&self) {
        if let Some(wired) = self.wired() {
            wired.link.mark(wired.side, wired.id.index);
        }
    }

    /// Does all that can be done: arrived records, acknowledged requests, requests that
    /// waited for room. Called with no lock of the connection held.
    pub fn progress(self: &Arc<Self>) {
        if self.progress_rx(Advance::Batch) {
            // More is there than one turn takes; others get theirs first.
            self.look_again();
        }
        self.try_progress_tx();
    }

    /// Handles arrived records; true if more are left.
    fn progress_rx(self: &Arc<Self>, advance: Advance) -> bool {
        let Some(wired) = self.wired() else { return false };
        let turn = self.rx.lock().progress(self, wired, advance);
        if turn.acknowledge {
            wired.link.mark(1 - wired.side, wired.id.index);
        }
        if let Some(fatal) = turn.fatal {
            self.fail(fatal);
            return false;
        }
        turn.more
    }

    /// As [`Conn::progress_tx`], but leaves it to a thread that is in the middle of a post,
    /// which may be a long one.
    fn try_progress_tx(self: &Arc<Self>) {
        if let Some(tx) = self.tx.try_lock() {
            return self.advance_tx(tx);
        }
        self.again.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        // SYNC again: either this finds the lock free, or its holder finds the flag.
        if let Some(tx) = self.tx.try_lock() {
            self.advance_tx(tx);
        }
    }

    /// Reports acknowledged requests and goes on with those that wait.
    pub fn progress_tx(self: &Arc<Self>) {
        self.advance_tx(self.tx.lock());
    }

    fn advance_tx(self: &Arc<Self>, mut tx: MutexGuard<'_, Tx>) {
        let Some(wired) = self.wired() else { return };
        let turn = tx.progress(self, wired);
        self.leave_tx(tx);
        if turn.done.is_some_and(|last| self.sink.requests_done(last)) {
            self.sink.drained();
        }
        if let Some(failed) = turn.failed {
            self.fail(Fatal { request: Some(failed), ..Fatal::default() });
        } else if turn.answer.is_some() {
            // The region went while the peer read it.
            self.fail(Fatal { peer: Some(Status::RemoteAccess), ..Fatal::default() });
        }
    }

    /// Gives the sending direction free, and sees to what others left to its holder.
    fn leave_tx(&self, tx: MutexGuard<'_, Tx>) {
        drop(tx);
        // SYNC again: pairs with the store in try_progress_tx.
        fence(Ordering::SeqCst);
        if self.again.load(Ordering::Relaxed) && self.again.swap(false, Ordering::SeqCst) {
            self.look_again();
        }
    }

    /// The program waits for the last request.
    pub fn drain(&self) {
        let mut tx = self.tx.lock();
        if let Some(wired) = self.wired() {
            tx.drain(wired);
        }
        self.leave_tx(tx);
    }

    /// Fails the connection from this end.
    pub fn fail(self: &Arc<Self>, fatal: Fatal) {
        if !self.kill(true) {
            return;
        }
        self.send_close(CloseReason::Broken(fatal.peer));
        self.sink.failed(fatal.recv, fatal.request);
    }

    /// Ends the connection at this end; false if that was done before. On return neither
    /// this process nor the peer touches memory on behalf of the connection, whoever
    /// ended it, and all successful requests are reported if `report` is set.
    pub fn kill(self: &Arc<Self>, report: bool) -> bool {
        let first = self.phase.swap(ConnPhase::Dead as u8, Ordering::AcqRel) != ConnPhase::Dead as u8;
        self.rx.lock().close();
        let done = self.tx.lock().close();
        if let Some(wired) = self.wired() {
            wired.link.close_ring(wired.id.index, wired.side);
            wired.link.await_peer_idle(wired.id.index, wired.side);
            wired.link.detach(wired.side, wired.id);
        }
        if done.is_some_and(|last| first && report && self.sink.requests_done(last)) {
            self.sink.drained();
        }
        first
    }

    /// Tells the peer that this end has let go.
    pub fn send_close(&self, reason: CloseReason) {
        if let Some(wired) = self.wired() {
            let to_active = wired.to_active();
            wired.link.let_go(wired.id, wired.side, Message::Close { conn: wired.id, to_active, reason });
        }
    }

    /// The peer has let go, or is gone: what arrived before is delivered, then it is over.
    pub fn on_peer_close(self: &Arc<Self>, reason: CloseReason) {
        if self.phase() == ConnPhase::Up {
            // A peer that has let go adds nothing, so this ends; one that does not keep to
            // the rules is not listened to for ever.
            for _ in 0..DRAIN_TURNS {
                if !self.progress_rx(Advance::Drain) {
                    break;
                }
            }
            self.progress_tx();
        }
        let oldest = self.tx.lock().oldest();
        if !self.kill(true) {
            return;
        }
        self.send_close(CloseReason::Answer);
        match reason {
            CloseReason::Broken(Some(status)) => self.sink.failed(None, oldest.map(|id| (id, status))),
            CloseReason::Broken(None) => self.sink.connection(ConnectionReport::Broken),
            CloseReason::Disconnected | CloseReason::Answer => self.sink.connection(ConnectionReport::Disconnected),
        }
    }
}
