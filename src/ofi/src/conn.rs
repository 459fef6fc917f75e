//! One end of a connection: the queue pair of this transport.
//!
//! The two directions have separate locks: that of [`Rx`] is here, and [`Tx`](crate::tx::Tx) lies with the endpoint, behind
//! the lock on its requests. The order is `rx`, then `tx`. Whoever ends the connection takes both directions their
//! [`Link`] away, and so sees them idle; what libfabric still moves gets a moment, and then the link is cut.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use dat_core::error::Result;
use dat_core::probes::Stall;
use dat_core::transport::{
    ConnectionReport, EndpointSink, FailedRequest, Gauge, LARGEST_DATAGRAM, RecvDone, RecvId, SharedQueue, Special,
    Starving, Taken, Verdict,
};
use host::lock::Mutex;
use host::memory;

use crate::Ofi;
use crate::bulk::Body;
use crate::device::Device;
use crate::link::Link;
use crate::rx::{Fatal, Over, Progress, Rx};
use crate::tx::{Failed, Tx};

mod ending;

use ending::Ending;

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
#[repr(u8)]
pub enum Phase {
    /// There is no attempt at a connection.
    Idle,
    /// It is asked for.
    Connecting,
    /// It is accepted, and not yet known to stand.
    Accepting,
    /// Data can flow.
    Up,
    /// Over.
    Dead,
}

impl Phase {
    fn from_u8(value: u8) -> Self {
        match value {
            0 => Phase::Idle,
            1 => Phase::Connecting,
            2 => Phase::Accepting,
            3 => Phase::Up,
            _ => Phase::Dead,
        }
    }
}

/// What an end says of itself before it is connected.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The number of its protection zone.
    pub zone: u32,
    /// Whether its program takes extended operations.
    pub extended: bool,
    /// The number of its endpoint, if it carries datagrams; otherwise 0.
    pub datagrams: u32,
    /// Reads of the peer that are served at a time.
    pub reads_in: u8,
    /// Own reads outstanding at a time.
    pub reads_out: u8,
}

/// The receiving direction, and what came before the connection was announced.
struct Receiving {
    rx: Rx,
    early: Option<(usize, usize)>,
}

/// One end of a connection.
pub struct Conn {
    sink: EndpointSink<Ofi>,
    device: Arc<Device>,
    /// What names it among all of the adapter, for ever.
    number: u64,
    terms: Terms,
    /// The program of the other end takes extended operations.
    to_extended: AtomicBool,
    /// The number of the endpoint of the other end, if that is for datagrams; otherwise 0.
    to_datagrams: AtomicU32,
    phase: AtomicU8,
    /// The endpoint was told that the connection stands.
    announced: AtomicBool,
    /// The local port; 0 before there is one.
    port: AtomicU64,
    /// The queue of its receives, if that is a shared one.
    srq: Option<Arc<SharedQueue<Conn>>>,
    /// The queue of its receives, if it carries datagrams.
    datagrams: Option<Arc<SharedQueue<Conn>>>,
    /// A message waits for a receive of the endpoint's own queue.
    starved: AtomicBool,
    stalls: Gauge,
    in_line: AtomicBool,
    /// It stands among those that are to be looked at again.
    noted: AtomicBool,
    /// The program has ended it, and libfabric still moves bytes for it.
    ending: Mutex<Option<Ending>>,
    receiving: Mutex<Receiving>,
}

impl Starving for Conn {
    fn in_line(&self) -> &AtomicBool {
        &self.in_line
    }

    fn resume(self: &Arc<Self>) {
        self.resume_rx();
    }
}

/// What has to be done once no lock is held.
pub enum After {
    /// The connection is over.
    Over(Arc<Conn>, Over),
    /// The end that waits for the last request goes on.
    Drained(Arc<Conn>),
    /// The peer uses a connection that was accepted here.
    Used(Arc<Conn>),
}

impl After {
    /// Does it.
    pub fn run(self) {
        match self {
            After::Over(conn, Over::Failed(fatal)) => conn.fail(fatal),
            After::Over(conn, Over::Left(end)) => {
                conn.device.settle();
                conn.peer_left(end);
            }
            After::Drained(conn) => conn.sink.drained(),
            After::Used(conn) => {
                conn.established(Vec::new());
                conn.device.beginning.fetch_sub(1, Ordering::AcqRel);
            }
        }
    }

    /// Whether it is that a connection stands, which comes before the end of another one.
    pub fn is_beginning(&self) -> bool {
        matches!(self, After::Used(_))
    }
}

impl Conn {
    /// A queue pair that is not connected.
    pub fn new(
        device: &Arc<Device>,
        sink: EndpointSink<Ofi>,
        terms: Terms,
        srq: Option<Arc<SharedQueue<Conn>>>,
    ) -> Result<Arc<Self>> {
        let (datagrams, srq) = if terms.datagrams != 0 { (srq, None) } else { (None, srq) };
        if let Some(srq) = &srq {
            srq.expect()?;
        }
        Ok(memory::arc(Conn {
            sink,
            number: device.next_number(),
            device: device.clone(),
            terms,
            to_extended: AtomicBool::new(false),
            to_datagrams: AtomicU32::new(0),
            phase: AtomicU8::new(Phase::Idle as u8),
            announced: AtomicBool::new(false),
            port: AtomicU64::new(0),
            srq,
            datagrams,
            starved: AtomicBool::new(false),
            stalls: Gauge::default(),
            in_line: AtomicBool::new(false),
            noted: AtomicBool::new(false),
            ending: Mutex::default(),
            receiving: Mutex::new(Receiving { rx: Rx::new()?, early: None }),
        })?)
    }

    /// The adapter.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// What names it among all of the adapter.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// What it says of itself.
    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// The local port; 0 before there is one.
    pub fn port(&self) -> u64 {
        self.port.load(Ordering::Relaxed)
    }

    /// How far it has come.
    pub fn phase(&self) -> Phase {
        Phase::from_u8(self.phase.load(Ordering::Acquire))
    }

    /// Goes from one phase to another, if it is still in the first.
    pub fn shift(&self, from: Phase, to: Phase) -> bool {
        self.phase.compare_exchange(from as u8, to as u8, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Ties it to libfabric's endpoint.
    pub fn tie(self: &Arc<Self>, link: &Arc<Link>) {
        if let Some(mut tx) = self.sink.lock_tx() {
            tx.open(link.clone());
        }
        self.receiving.lock().rx.open(link.clone());
        self.note_port(link);
        self.device.enter(self);
    }

    /// Notes the local port, which is known once libfabric connects.
    pub fn note_port(&self, link: &Link) {
        if let Some(local) = link.ep().local() {
            self.port.store(local.port().into(), Ordering::Relaxed);
        }
    }

    /// Notes what the other end says of itself. Called before the endpoint learns that the connection is established.
    pub fn note_peer(&self, extended: bool, datagrams: u32, reads_in: u8) {
        self.to_extended.store(extended, Ordering::Relaxed);
        self.to_datagrams.store(datagrams, Ordering::Relaxed);
        if let Some(mut tx) = self.sink.lock_tx() {
            tx.limit_reads(reads_in);
        }
    }

    /// Whether the program of the other end takes extended operations.
    pub fn takes_extended(&self) -> bool {
        self.to_extended.load(Ordering::Relaxed)
    }

    /// The number of the other end's endpoint, if that is for datagrams.
    pub fn datagrams_of_peer(&self) -> Option<u32> {
        Some(self.to_datagrams.load(Ordering::Relaxed)).filter(|number| *number != 0)
    }

    /// Has the kernel tell what comes for the connection, which stands, and end it when the host of the peer is gone; false if
    /// nothing can be heard of it. (While it is made, the time that the program has given counts.)
    pub fn watch(&self) -> bool {
        self.receiving.lock().rx.link().is_none_or(|link| link.ep().watch())
    }

    /// Whether the host of the peer is gone without a word, for a connection that has ended.
    pub fn is_silent(&self) -> bool {
        self.receiving.lock().rx.link().is_some_and(|link| link.ep().is_silent())
    }

    /// Tells the acceptor that the connection stands.
    pub fn greet(&self) {
        let link = self.receiving.lock().rx.link().cloned();
        if let Some(link) = link {
            link.greet();
        }
    }

    /// The connection stands, with these private data of the acceptor: reports that, and what has come since. Called
    /// without a lock.
    pub fn established(self: &Arc<Self>, private_data: Vec<u8>) {
        let phase = self.phase();
        // Two threads may find the first records of the peer.
        if !matches!(phase, Phase::Connecting | Phase::Accepting) || self.announced.swap(true, Ordering::AcqRel) {
            return;
        }
        self.sink.connection(ConnectionReport::Established(private_data));
        // From now on another thread may report the end.
        if self.shift(phase, Phase::Up) && phase == Phase::Accepting {
            self.device.unsettled.fetch_sub(1, Ordering::AcqRel);
        }
        let mut after = Vec::new();
        self.catch_up(&mut after);
        after.into_iter().for_each(|after| self.device.later(after));
    }

    /// Takes a record that libfabric has received; false if the connection is over.
    pub fn received(self: &Arc<Self>, slot: usize, len: usize, after: &mut Vec<After>) -> bool {
        let mut receiving = self.receiving.lock();
        if receiving.rx.link().is_none() {
            return false;
        }
        let up = self.phase() == Phase::Up;
        if up && receiving.early.is_none() {
            let progress = receiving.rx.arrived(self, slot, len);
            drop(receiving);
            self.conclude(progress, after);
            return true;
        }
        // What came first is handled first, and no other is received before.
        receiving.early = Some((slot, len));
        drop(receiving);
        match self.phase() {
            Phase::Accepting => {
                self.device.beginning.fetch_add(1, Ordering::AcqRel);
                after.push(After::Used(self.clone()));
            }
            _ if up => self.catch_up(after),
            _ => {}
        }
        true
    }

    /// Handles records that came before the connection was announced.
    fn catch_up(self: &Arc<Self>, after: &mut Vec<After>) {
        let mut receiving = self.receiving.lock();
        let Some((slot, len)) = receiving.early.take() else { return };
        let progress = receiving.rx.arrived(self, slot, len);
        drop(receiving);
        self.conclude(progress, after);
    }

    /// Takes the bytes of a long part that libfabric has received; false if the connection is over.
    pub fn bulk_arrived(self: &Arc<Self>, len: usize, after: &mut Vec<After>) -> bool {
        let mut receiving = self.receiving.lock();
        if receiving.rx.link().is_none() {
            return false;
        }
        let progress = receiving.rx.bulk_arrived(self, len);
        drop(receiving);
        self.conclude(progress, after);
        true
    }

    /// libfabric has sent the bytes of a long part; false if the connection is over.
    pub fn bulk_sent(self: &Arc<Self>, after: &mut Vec<After>) -> bool {
        let mut receiving = self.receiving.lock();
        let Some(link) = receiving.rx.link() else { return false };
        if link.bulk_out() {
            receiving.rx.long_sent();
            let progress = receiving.rx.go_on(self);
            drop(receiving);
            self.conclude(progress, after);
        }
        true
    }

    /// libfabric has sent an answer from this slot.
    pub fn sent(self: &Arc<Self>, slot: usize, after: &mut Vec<After>) {
        let progress = {
            let mut receiving = self.receiving.lock();
            receiving.rx.sent(slot);
            receiving.rx.go_on(self)
        };
        self.conclude(progress, after);
    }

    /// Acts on what became of requests of the peer.
    fn conclude(self: &Arc<Self>, progress: Progress, after: &mut Vec<After>) {
        if progress.busy || progress.owes {
            self.look_again();
        }
        if let Some(over) = progress.over {
            after.push(After::Over(self.clone(), over));
        }
    }

    /// Has the connection looked at again by the next poll that finds nothing else.
    fn look_again(self: &Arc<Self>) {
        if !self.noted.swap(true, Ordering::AcqRel) {
            self.device.note(self);
        }
    }

    /// Does what [`Conn::look_again`] does for a thread that does not poll, nor may another one.
    pub fn look_soon(self: &Arc<Self>) {
        self.look_again();
        self.device.wake_if_parked();
    }

    /// Does what was left for later: tells the peer what is handled, and tries again what libfabric had no room for.
    pub fn flush(self: &Arc<Self>, after: &mut Vec<After>) {
        self.noted.store(false, Ordering::Release);
        if self.phase() != Phase::Up {
            return;
        }
        let (progress, link) = {
            let mut receiving = self.receiving.lock();
            (receiving.rx.go_on(self), receiving.rx.link().cloned())
        };
        if let Some(over) = progress.over {
            after.push(After::Over(self.clone(), over));
            return;
        }
        if !link.is_none_or(|link| link.acknowledge()) {
            self.look_again();
        }
        self.pump(after);
    }

    /// Lets requests go out that wait, and reports those that are done.
    fn pump(self: &Arc<Self>, after: &mut Vec<After>) {
        let Some(mut tx) = self.sink.lock_tx() else { return };
        let drained = tx.done().is_some_and(|done| tx.request_done(done));
        self.pump_locked(&mut tx);
        drop(tx);
        if drained {
            after.push(After::Drained(self.clone()));
        }
    }

    /// Lets requests go out that wait. Called with the sending direction locked.
    pub fn pump_locked(self: &Arc<Self>, tx: &mut Tx) {
        match tx.pump() {
            Ok(false) => {}
            Ok(true) => self.look_soon(),
            Err(failed) => self.device.later(After::Over(self.clone(), request_failed(failed))),
        }
    }

    /// Notes how many requests the peer has handled, as one of its records says.
    ///
    /// # Errors
    /// The connection cannot go on.
    pub fn peer_says(self: &Arc<Self>, handled: u64) -> std::result::Result<(), Over> {
        self.heard(|tx| Ok(tx.on_handled(handled)))
    }

    /// Takes the next bytes of the answer to the oldest question.
    ///
    /// # Errors
    /// The connection cannot go on.
    pub fn answered(self: &Arc<Self>, answer: Body<'_>) -> std::result::Result<(), Over> {
        self.heard(|tx| tx.on_answer(answer))
    }

    /// Has libfabric receive `len` bytes of the answer to the oldest question into their place; false if that cannot be.
    pub fn await_answer(&self, len: usize) -> bool {
        self.sink.lock_tx().is_some_and(|tx| tx.await_answer(len))
    }

    /// Notes what the peer has said; false is nothing that it could say.
    fn heard(
        self: &Arc<Self>,
        what: impl FnOnce(&mut Tx) -> std::result::Result<bool, Failed>,
    ) -> std::result::Result<(), Over> {
        let Some(mut tx) = self.sink.lock_tx() else { return Ok(()) };
        let heard = what(&mut tx);
        let drained = tx.done().is_some_and(|done| tx.request_done(done));
        if drained {
            self.device.later(After::Drained(self.clone()));
        }
        match heard {
            Ok(true) => {
                self.pump_locked(&mut tx);
                Ok(())
            }
            Ok(false) => Err(Over::Failed(Fatal::default())),
            Err(failed) => Err(request_failed(failed)),
        }
    }

    /// Takes the next receive for a message of `len` bytes that is arriving; false if there is none, and then the connection is
    /// looked at again once there is.
    ///
    /// # Errors
    /// The connection cannot go on.
    pub fn take(self: &Arc<Self>, taken: &mut Taken, len: u64) -> std::result::Result<bool, Fatal> {
        let note_taken = |id| match self.sink.recv_taken(id) {
            Verdict::Continue => Ok(true),
            Verdict::Break => Err(Fatal::default()),
        };
        if let Some(queue) = &self.datagrams {
            if len > LARGEST_DATAGRAM as u64 {
                return Err(Fatal::default());
            }
            if queue.take_datagram(taken, len) {
                return note_taken(taken.id);
            }
            self.sink.datagram_lost();
            return Ok(true);
        }
        if let Some(srq) = &self.srq {
            let found = srq.take(self, taken);
            self.note_stall(!found);
            return if found { note_taken(taken.id) } else { Ok(false) };
        }
        let mut found = self.sink.recv_take(taken);
        if !found {
            // A thread that posts next either finds this set, or posted before the second look: both happen under the lock
            // of the endpoint's receives.
            self.starved.store(true, Ordering::SeqCst);
            found = self.sink.recv_take(taken);
            if found {
                self.starved.store(false, Ordering::SeqCst);
            }
        }
        self.note_stall(!found);
        Ok(found)
    }

    /// Notes whether a message waits for a receive. Called with the receiving direction locked.
    fn note_stall(&self, waits: bool) {
        self.stalls.set(self.sink.ep(), Stall::Message, waits);
    }

    /// How often a message had to wait for a receive.
    pub fn stalls(&self) -> u64 {
        self.stalls.stalls()
    }

    /// Whether it carries datagrams.
    pub fn has_datagrams(&self) -> bool {
        self.datagrams.is_some()
    }

    /// Reports a receive that is complete.
    pub fn complete(&self, done: RecvDone) {
        if self.datagrams.is_some() {
            // One that is lost has no receive.
            if done.id != RecvId::MAX {
                self.sink.recv_special(done, Special::Datagram);
            }
        } else {
            self.sink.recv_done(done);
        }
    }

    /// Reports a receive that is complete, and that brought more than bytes.
    pub fn complete_special(&self, done: RecvDone, what: Special) {
        self.sink.recv_special(done, what);
    }

    /// True if a message waits for a receive of the endpoint's own queue.
    pub fn awaits_recv(&self) -> bool {
        self.starved.load(Ordering::SeqCst)
    }

    /// Continues a message that waited for a receive of the own queue. Called without a lock.
    pub fn recv_kick(self: &Arc<Self>) {
        if self.starved.load(Ordering::SeqCst) && self.starved.swap(false, Ordering::SeqCst) {
            self.resume_rx();
        }
    }

    fn resume_rx(self: &Arc<Self>) {
        let mut after = Vec::new();
        let (progress, link) = {
            let mut receiving = self.receiving.lock();
            self.note_stall(false);
            (receiving.rx.go_on(self), receiving.rx.link().cloned())
        };
        // It may be that no thread polls.
        let owes = progress.owes && !link.is_none_or(|link| link.acknowledge());
        self.conclude(Progress { owes, ..progress }, &mut after);
        after.into_iter().for_each(After::run);
    }
}

/// A connection that ends because a request of this end cannot be carried out.
fn request_failed((id, status): Failed) -> Over {
    Over::Failed(Fatal { request: Some((FailedRequest::Number(id), status)), ..Fatal::default() })
}
