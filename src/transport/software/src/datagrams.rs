//! Datagrams over connections, for transports without datagram queue pairs.
//!
//! A [`UdQp`] has a connection to each [`Peer`]. If the connection has room, the transport copies and sends a datagram
//! ([`SoftwareTransport::try_send`]). Otherwise the peer's [`Queue`] stores a copy; if the queue is full, the datagram
//! is lost. Up to 64 copies are posted as requests. The program's send always completes.
//!
//! After the last datagram to a freed peer, a side sends a notice: an immediate value without bytes. The side
//! disconnects once it also has the peer's notice.

use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use dat_core::error::{Arg, Error, Result};
use dat_core::transport::datagrams::{DatagramSink, Datagrams, Exchange};
use dat_core::transport::{
    Closing, Connect, ConnectionOwner, ConnectionReport, Disconnect, Handed, InternalConnection, Operation, Placement,
    Poll, QpInit, QpSizes, Recv, RemoteSegment, Request, Segment, Sending, SeqNo, ShortSend, Transport,
};
use host::lock::Mutex;
use host::memory::{self, Room};
use host::pause;

use crate::copy;
use crate::objects::Owner;
use crate::qp::SoftwareTransport;
use crate::regions::RegionTable;
use crate::user::Source;

mod queue;

use queue::Queue;

/// Maximum number of posted copies per connection.
const POSTED: usize = 64;
/// Maximum time that a close waits until the next queued datagram is sent. On a busy machine, a receiving peer may get
/// no CPU for over 100 ms.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
/// Maximum time that a close waits until all queued datagrams are sent.
const MAX_DRAIN: Duration = Duration::from_secs(10);

/// The destination of a connection's messages.
pub enum Receiver<T: SoftwareTransport> {
    /// The receives of the connection's endpoint.
    Own,
    /// The buffers of an SRQ, with the line of connections that wait for a buffer.
    Shared(T::Srq),
    /// A datagram endpoint.
    Datagrams(DatagramReceiver<T>),
}

/// The queue pair of a datagram endpoint.
pub struct UdQp<T: SoftwareTransport> {
    sink: DatagramSink<T>,
    /// The zone of the connections. The program registers no memory in it, so peers can access none.
    zone: T::Zone,
    /// Peers whose connections have not ended.
    peers: Mutex<Vec<Arc<Peer<T>>>>,
}

/// A peer of a queue pair, and the connection to it.
pub struct Peer<T: SoftwareTransport> {
    qp: Arc<UdQp<T>>,
    connection: InternalConnection<T>,
    /// Set while posted copies are incomplete. Changes while a thread holds [`Sending`], and at the connection's end.
    waits: AtomicBool,
    state: Mutex<State<T>>,
}

struct State<T: Transport> {
    queue: Queue<T>,
    /// `None` once core has got the outcome of the exchange.
    exchange: Option<Exchange<T>>,
    freed: bool,
    notice_sent: bool,
    notice_received: bool,
}

/// An address handle. The program can send to the peer until this is dropped.
pub struct PeerHandle<T: SoftwareTransport>(Arc<Peer<T>>);

/// The receiving side of a datagram connection.
pub struct DatagramReceiver<T: SoftwareTransport> {
    qp: Arc<UdQp<T>>,
    peer: Weak<Peer<T>>,
}

impl<T: SoftwareTransport> Receiver<T> {
    /// Creates the receiver of a connection.
    ///
    /// # Errors
    /// There is no memory.
    pub fn new(srq: Option<&T::Srq>) -> Result<Self> {
        let Some(srq) = srq else { return Ok(Receiver::Own) };
        srq.expect()?;
        Ok(Receiver::Shared(srq.clone()))
    }

    /// Returns the receiver of a datagram connection; `None` for other connections.
    #[inline]
    pub fn datagrams(&self) -> Option<&DatagramReceiver<T>> {
        if let Receiver::Datagrams(datagrams) = self { Some(datagrams) } else { None }
    }

    /// Returns the number of the datagram endpoint; 0 for other connections.
    pub fn number(&self) -> u32 {
        self.datagrams().map_or(0, |datagrams| datagrams.qp.sink.number())
    }
}

impl<T: SoftwareTransport> DatagramReceiver<T> {
    /// Stores a short datagram. Returns `false`, without effect, if only [`DatagramReceiver::arrived`] can store it.
    #[inline(never)] // Inlined, it would take registers from the path of messages.
    pub fn deliver<'s>(&self, len: u64, solicited: bool, place: impl Placement<'s>) -> bool {
        self.qp.sink.deliver_short(len, solicited, place)
    }

    /// Stores a datagram. Without a receive that is long enough, the datagram is lost.
    pub fn arrived(&self, regions: &RegionTable, bytes: Source<'_>, solicited: bool) {
        let place = |segments: &[Segment]| copy::scatter(regions, segments, 0, bytes, true);
        if !self.qp.sink.deliver(bytes.len() as u64, solicited, place) {
            self.qp.sink.lost(1);
        }
    }

    /// Handles the peer's notice that it sends no more datagrams. Returns whether the connection must end.
    #[must_use]
    pub fn notice_arrived(&self) -> bool {
        let Some(peer) = self.peer.upgrade() else { return false };
        let mut state = peer.state.lock();
        state.notice_received = true;
        state.freed && state.notice_sent
    }
}

impl<T: SoftwareTransport> UdQp<T> {
    /// Adds a peer and calls `start` to establish its connection.
    fn add_peer(
        self: &Arc<Self>,
        transport: &T,
        exchange: Exchange<T>,
        start: impl FnOnce(&Arc<T::Qp>) -> Result<()>,
    ) -> Result<()> {
        let connection = InternalConnection::new(&self.sink)?;
        let sizes = QpSizes { requests: POSTED, recv_segments: 1, request_segments: 1, ..QpSizes::default() };
        let init = QpInit {
            sink: connection.sink(),
            zone: &self.zone,
            request_cq: None,
            recv_cq: None,
            srq: None,
            solicited: false,
            extended: true,
            sizes,
        };
        let state = State {
            queue: Queue::default(),
            exchange: Some(exchange),
            freed: false,
            notice_sent: false,
            notice_received: false,
        };
        let (waits, state) = (AtomicBool::new(false), Mutex::new(state));
        let peer = memory::arc(Peer { qp: self.clone(), connection, waits, state })?;
        let receiver = DatagramReceiver { qp: self.clone(), peer: Arc::downgrade(&peer) };
        let (qp, tx) = transport.create(init, Receiver::Datagrams(receiver))?;
        let owner: Weak<Peer<T>> = Arc::downgrade(&peer);
        let mut peers = self.peers.lock();
        peers.room(1)?;
        // The connection and its queue pair now refer to each other. Only [`Peer::end`] breaks this cycle.
        peer.connection.open(owner, (qp.clone(), tx), POSTED)?;
        peers.push(peer.clone());
        drop(peers);
        start(&qp).inspect_err(|_| peer.end(None))
    }
}

impl<T: SoftwareTransport> Datagrams<T> for UdQp<T> {
    type Peer = PeerHandle<T>;

    fn create(transport: &T, init: QpInit<'_, T, DatagramSink<T>>) -> Result<Arc<Self>> {
        let zone = transport.zone_create()?;
        Ok(memory::arc(UdQp { sink: init.sink, zone, peers: Mutex::default() })?)
    }

    fn post_recv(&self, _recv: &Recv<'_>) -> Result<()> {
        Ok(())
    }

    fn resolve(self: &Arc<Self>, transport: &T, connect: &Connect<'_>, exchange: Exchange<T>) -> Result<()> {
        self.add_peer(transport, exchange, |qp| transport.connect(qp, connect))
    }

    fn answer(
        self: &Arc<Self>,
        transport: &T,
        incoming: &mut Option<T::Incoming>,
        private_data: &[u8],
        exchange: Exchange<T>,
    ) -> Result<()> {
        self.add_peer(transport, exchange, |qp| transport.accept(incoming, qp, private_data))
    }

    /// If datagrams wait, polls once, to receive datagrams: the peer may wait until this side receives.
    fn poll_if_queued(transport: &T, to: &PeerHandle<T>) {
        if to.0.waits.load(Ordering::Relaxed) {
            transport.poll(None, Poll::IfFree);
        }
    }

    #[inline(always)]
    fn send_short(to: &PeerHandle<T>, datagram: ShortSend<'_>) -> bool {
        let mut sending = to.0.connection.sending();
        let free = !to.0.waits.load(Ordering::Relaxed);
        let posted =
            sending.parts().filter(|_| free).and_then(|(transport, qp, tx)| transport.post_inline(qp, tx, datagram));
        posted.is_some()
    }

    fn send_to(self: &Arc<Self>, to: &PeerHandle<T>, datagram: &Request<'_>) -> Result<Handed> {
        let peer = &*to.0;
        let mut sending = peer.connection.sending();
        let waits = peer.waits.load(Ordering::Relaxed);
        let kept = match sending.parts() {
            None => false,
            Some((transport, qp, tx)) => {
                let sent = !waits && transport.try_send(qp, tx, datagram);
                sent || peer.wait(&mut sending, datagram)?
            }
        };
        if !kept {
            self.sink.lost(1);
        }
        // The send completes in each case.
        Ok(Handed { mark: SeqNo(datagram.id), done: true })
    }

    fn close(transport: &T, qps: &[Arc<Self>]) {
        let peers: Vec<_> = qps.iter().flat_map(|qp| qp.peers.lock().clone()).collect();
        let waiting = || peers.iter().map(|peer| peer.waiting(transport)).sum();
        // The polls also receive, because the peer may also be in a close, and wait until this side receives.
        pause::drain(DRAIN_TIMEOUT, MAX_DRAIN, waiting, || transport.poll(None, Poll::IfFree));
        peers.iter().for_each(Peer::disconnect);
        for peer in peers {
            while let Some(qp) = peer.connection.qp() {
                if transport.disconnect(&qp, Disconnect::Now) == Closing::Done {
                    peer.end(None);
                } else {
                    transport.await_end(&qp);
                }
            }
        }
    }
}

impl<T: SoftwareTransport> Drop for PeerHandle<T> {
    fn drop(&mut self) {
        let mut sending = self.0.connection.sending();
        let mut state = self.0.state.lock();
        state.freed = true;
        let ends = self.0.conclude(&mut sending, &mut state);
        drop((state, sending));
        if ends {
            self.0.disconnect();
        }
    }
}

impl<T: SoftwareTransport> Peer<T> {
    /// Queues a datagram. Returns `false` if the queue is full or there is no memory: the datagram is lost.
    ///
    /// # Errors
    /// [`Arg::Segments`] if a segment is not registered.
    fn wait(&self, sending: &mut Sending<'_, T>, datagram: &Request<'_>) -> Result<bool> {
        let transport = self.connection.transport();
        let mut state = self.state.lock();
        let (len, mut found) = (datagram.len as usize, true);
        let pushed = state.queue.push(transport, &self.qp.zone, (len, datagram.is_solicited()), |to| {
            found = copy::gather_into(transport.owner().regions(), datagram.segments, 0, to);
            found
        });
        if !found {
            return Err(Error::InvalidParameter(Arg::Segments));
        }
        let queued = pushed.unwrap_or(false);
        if queued {
            self.post_next(sending, &mut state);
        }
        Ok(queued)
    }

    fn post_next(&self, sending: &mut Sending<'_, T>, state: &mut State<T>) {
        state.queue.keep_posted(sending.outstanding());
        let mut lost = 0;
        while sending.outstanding() < POSTED {
            let Some((segment, solicited)) = state.queue.post() else { break };
            let segments = if segment.len > 0 { slice::from_ref(&segment) } else { &[] };
            lost += u64::from(sending.post(Operation::Send { solicited }, segments).is_err());
        }
        self.qp.sink.lost(lost);
        let waits = sending.outstanding() > 0;
        self.waits.store(waits, Ordering::Relaxed);
        if !waits {
            sending.rest();
        }
    }

    /// Returns whether the connection must end: the peer is freed, all datagrams to it are sent, and its notice has
    /// arrived. If only its notice is missing, posts this side's notice, once.
    fn conclude(&self, sending: &mut Sending<'_, T>, state: &mut State<T>) -> bool {
        if !state.freed || sending.outstanding() > 0 {
            return false;
        }
        if !state.notice_received && !std::mem::replace(&mut state.notice_sent, true) {
            let to = RemoteSegment::default();
            let _ = sending.post(Operation::WriteImmediate { to, value: 0, solicited: false }, &[]);
        }
        state.notice_received
    }

    fn waiting(&self, transport: &T) -> usize {
        if let Some(qp) = self.connection.qp().filter(|_| self.waits.load(Ordering::Relaxed)) {
            transport.reap(&qp);
        }
        self.state.lock().queue.len()
    }

    fn disconnect(self: &Arc<Self>) {
        if let Some(qp) = self.connection.qp() {
            if self.connection.transport().disconnect(&qp, Disconnect::Now) == Closing::Done {
                self.end(None);
            }
        }
    }

    /// Closes the connection of the peer and removes the peer. An exchange without outcome fails with `report`, if
    /// given. Called without locks.
    fn end(&self, report: Option<ConnectionReport>) {
        self.connection.close();
        let (queue, exchange) = {
            let mut state = self.state.lock();
            self.waits.store(false, Ordering::Relaxed);
            (std::mem::take(&mut state.queue), state.exchange.take())
        };
        self.qp.sink.lost(queue.len() as u64);
        self.qp.peers.lock().retain(|peer| !std::ptr::eq(&**peer, self));
        drop(queue);
        if let (Some(exchange), Some(report)) = (exchange, report) {
            exchange.failed(report);
        }
    }
}

impl<T: SoftwareTransport> ConnectionOwner for Peer<T> {
    fn connection(self: Arc<Self>, report: ConnectionReport) {
        let ConnectionReport::Established(private_data) = report else { return self.end(Some(report)) };
        let exchange = self.state.lock().exchange.take();
        if let (Some(exchange), Some(qp)) = (exchange, self.connection.qp()) {
            let number = T::base(&qp).peer_number();
            exchange.established(PeerHandle(self), number, private_data);
        }
    }

    fn drained(self: Arc<Self>) {
        let mut sending = self.connection.sending();
        let mut state = self.state.lock();
        self.post_next(&mut sending, &mut state);
        let ends = self.conclude(&mut sending, &mut state);
        let queue = if state.queue.len() == 0 { std::mem::take(&mut state.queue) } else { Queue::default() };
        drop((state, sending));
        // Dropped without locks, because deregistration waits for copies of other threads.
        drop(queue);
        if ends {
            self.disconnect();
        }
    }
}
