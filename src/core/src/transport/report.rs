//! The reports of a transport, and the sinks that it reports to.
//!
//! A transport knows the sinks alone. The one implementation of [`Reports`] names the objects behind them, so that
//! nothing here refers to an object, and yet every report is dispatched statically.

use std::ops::DerefMut;
use std::sync::{Arc, Weak};

use crate::addr::Address;
use crate::event::Status;
use crate::slab::Handle;
use crate::transport::recv_queue::Taken;
use crate::transport::work::{FailedRequest, Mark, RecvId, Segment};

/// The end of a receive.
#[derive(Clone, Copy, Debug)]
pub struct RecvDone {
    /// Its number.
    pub id: RecvId,
    /// Success, or the kind of failure.
    pub status: Status,
    /// Bytes received.
    pub len: u64,
    /// Whether the sender asked for the solicited waiter.
    pub solicited: bool,
}

/// What a message brought beside its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// It is the value behind a write ([`Operation::WriteImmediate`](super::Operation::WriteImmediate)), whose length is that of
    /// the receive; the buffer of the receive is as it was.
    Immediate(u32),
    /// It has revoked the window of this key ([`Operation::SendInvalidate`](super::Operation::SendInvalidate)), which shows nothing
    /// any more and can be bound again. Its region may be deregistered from now on.
    Invalidated(u32),
}

/// The peer that asked for a connection.
#[derive(Clone, Debug)]
pub struct ConnectionRequestInfo {
    /// The qualifier that the peer asked for.
    pub qualifier: u64,
    /// Address of the peer.
    pub remote_address: Address,
    /// Port qualifier of the peer.
    pub remote_qualifier: u64,
    /// The peer's private data.
    pub private_data: Vec<u8>,
}

/// A change of a connection or of an attempt at one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionReport {
    /// The connection is up; the active side gets the acceptor's private data.
    Established(Vec<u8>),
    /// The peer's program rejected the request, with these private data.
    PeerRejected(Vec<u8>),
    /// The request was refused, but not by the peer's program.
    NonPeerRejected,
    /// The time limit has passed.
    TimedOut,
    /// The address cannot be reached.
    Unreachable,
    /// The passive side accepted, but the connection did not come up.
    AcceptFailed,
    /// The peer ended the connection, or is gone.
    Disconnected,
    /// The connection failed.
    Broken,
}

/// The answer of the core to a buffer that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// The transfer goes on.
    Continue,
    /// The hard high watermark was passed: the connection must fail.
    Break,
}

/// A message that has arrived, for [`EndpointSink::deliver`]. No closure, because the compiler decides where the body of
/// one goes, and this is to be in line.
pub trait Place {
    /// Puts the message into this segment, which is long enough; false if its memory is not registered any more. With `live`
    /// it is, and stays so as long as a [`Section`](crate::Section) that began before the message was delivered.
    fn place(self, segment: &Segment, live: bool) -> bool;
}

/// The outcome of [`EndpointSink::deliver`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Delivery {
    /// The message is in the oldest receive, which is complete.
    Done,
    /// There is no receive, or it has not one segment, or the endpoint is not ready for it: see
    /// [`EndpointSink::recv_take`].
    Other,
    /// The oldest receive, which is this one, is shorter than the message.
    TooLong(RecvId),
    /// The memory of the oldest receive, which is this one, is not registered any more.
    NoMemory(RecvId),
}

/// What a transport keeps of the sending direction of a queue pair ([`super::Transport::Tx`]), locked.
pub trait LockedTx: DerefMut {
    /// Reports what [`EndpointSink::requests_done`] does.
    #[must_use]
    fn requests_done(&mut self, reached: Mark) -> bool;

    /// Does what [`LockedTx::requests_done`] does, but in line, and quickest for one request.
    #[must_use]
    fn request_done(&mut self, reached: Mark) -> bool;
}

/// The objects that stand behind the sinks of a transport.
pub trait Reports: Sized {
    /// A connection request not yet answered.
    type Incoming;
    /// The object behind an [`EndpointSink`].
    type Endpoint: EndpointReports + Send + Sync + 'static;
    /// The object behind a [`ListenerSink`].
    type Point: PointReports<Self::Incoming> + Send + Sync + 'static;
    /// The object behind an [`AdapterSink`].
    type Adapter: AdapterReports + Send + Sync + 'static;
}

/// The reports on one connection, each with the life of the endpoint that it belongs to. The methods of
/// [`EndpointSink`] say what the reports mean and when they are made.
#[allow(missing_docs)]
pub trait EndpointReports {
    type Tx<'a>: LockedTx
    where
        Self: 'a;
    fn deliver(&self, life: u64, len: u64, solicited: bool, place: impl Place) -> Delivery;
    fn ep(&self) -> Handle;
    fn is_live(&self, segment: &Segment) -> bool;
    fn recv_take(&self, life: u64, taken: &mut Taken) -> bool;
    fn recv_taken(&self, life: u64, id: RecvId) -> Verdict;
    fn recv_arrived(&self, life: u64, done: RecvDone) -> Verdict;
    fn recvs_done(&self, life: u64, done: &[RecvDone]);
    fn recv_special(&self, life: u64, done: RecvDone, what: Special);
    fn recv_announced(&self, life: u64);
    fn requests_done(&self, life: u64, reached: Mark) -> bool;
    fn lock_tx(&self, life: u64) -> Option<Self::Tx<'_>>;
    fn try_lock_tx(&self, life: u64) -> Option<Self::Tx<'_>>;
    fn drained(&self, life: u64);
    fn failed(&self, life: u64, recv: Option<RecvDone>, request: Option<(FailedRequest, Status)>);
    fn connection(&self, life: u64, report: ConnectionReport);
}

/// The reports of a listener.
pub trait PointReports<I> {
    /// See [`ListenerSink::request`].
    fn request(&self, incoming: I, info: ConnectionRequestInfo) -> Result<(), I>;
}

/// The reports on an adapter as a whole.
pub trait AdapterReports {
    /// See [`AdapterSink::catastrophe`].
    fn catastrophe(&self);
}

/// The sink of one queue pair. It names one life of an endpoint: reports that arrive after the endpoint was reset are
/// dropped.
pub struct EndpointSink<R: Reports> {
    endpoint: Arc<R::Endpoint>,
    life: u64,
}

impl<R: Reports> Clone for EndpointSink<R> {
    fn clone(&self) -> Self {
        EndpointSink { endpoint: self.endpoint.clone(), life: self.life }
    }
}

impl<R: Reports> EndpointSink<R> {
    pub(crate) fn new(endpoint: Arc<R::Endpoint>, life: u64) -> Self {
        EndpointSink { endpoint, life }
    }

    /// The handle of the endpoint.
    pub fn ep(&self) -> Handle {
        self.endpoint.ep()
    }

    /// Completes the oldest receive of the endpoint's own queue with a message of `len` bytes, if it has one segment: `place`
    /// puts the message there. Short messages only, because the endpoint's receives are locked meanwhile. For transports with [`Transport::TAKES_RECEIVES`](super::Transport::TAKES_RECEIVES).
    #[inline(always)]
    pub fn deliver(&self, len: u64, solicited: bool, place: impl Place) -> Delivery {
        self.endpoint.deliver(self.life, len, solicited, place)
    }

    /// Whether the memory of a segment that the core has checked is registered still, as far as can be said at once; it then
    /// stays so as long as a [`Section`](crate::Section) that the caller is in.
    #[inline(always)]
    pub fn is_live(&self, segment: &Segment) -> bool {
        self.endpoint.is_live(segment)
    }

    /// Takes the oldest receive of the endpoint's own queue that was not taken before; false if there is none. It stays
    /// outstanding until [`EndpointSink::recv_done`]. For transports with
    /// [`Transport::TAKES_RECEIVES`](super::Transport::TAKES_RECEIVES).
    pub fn recv_take(&self, taken: &mut Taken) -> bool {
        self.endpoint.recv_take(self.life, taken)
    }

    /// Reports that the endpoint took a buffer of a shared queue for a message that is arriving. Transports that see only completions
    /// need not call it.
    #[inline]
    pub fn recv_taken(&self, id: RecvId) -> Verdict {
        self.endpoint.recv_taken(self.life, id)
    }

    /// Reports that the endpoint took a buffer of the shared queue for a message that has arrived as a whole, and that it is complete:
    /// [`EndpointSink::recv_taken`] and [`EndpointSink::recv_done`] in one. It is not complete if the answer is
    /// [`Verdict::Break`].
    #[inline]
    pub fn recv_arrived(&self, done: RecvDone) -> Verdict {
        self.endpoint.recv_arrived(self.life, done)
    }

    /// Reports that a receive is complete.
    #[inline]
    pub fn recv_done(&self, done: RecvDone) {
        self.endpoint.recvs_done(self.life, &[done]);
    }

    /// Reports that receives are complete, in this order.
    #[inline]
    pub fn recvs_done(&self, done: &[RecvDone]) {
        self.endpoint.recvs_done(self.life, done);
    }

    /// Reports that a receive is complete, in order with [`EndpointSink::recvs_done`], which brought more than its bytes.
    pub fn recv_special(&self, done: RecvDone, what: Special) {
        self.endpoint.recv_special(self.life, done, what);
    }

    /// Reports that one of the receives reported so far was announced by its sender ([`super::QpInit::solicited`]).
    pub fn recv_announced(&self) {
        self.endpoint.recv_announced(self.life);
    }

    /// Reports that all requests whose mark is at most `reached` succeeded. Returns true if the end of the connection
    /// waits for them; then [`EndpointSink::drained`] is to be called, without a lock.
    #[inline]
    #[must_use]
    pub fn requests_done(&self, reached: Mark) -> bool {
        self.endpoint.requests_done(self.life, reached)
    }

    /// Locks what the transport keeps of the sending direction; `None` once the core has taken note of the end of the
    /// connection, or of the attempt at one. For transports with [`Transport::KEEPS_TX`](super::Transport::KEEPS_TX).
    #[inline(always)]
    pub fn lock_tx(&self) -> Option<<R::Endpoint as EndpointReports>::Tx<'_>> {
        self.endpoint.lock_tx(self.life)
    }

    /// Does what [`EndpointSink::lock_tx`] does, but does not wait for another thread that has it locked, or has locked
    /// the requests of the endpoint for a call of the program. Then the answer is `None`, and after that thread has done
    /// [`Transport::look_again`](super::Transport::look_again) is called.
    #[inline(always)]
    pub fn try_lock_tx(&self) -> Option<<R::Endpoint as EndpointReports>::Tx<'_>> {
        self.endpoint.try_lock_tx(self.life)
    }

    /// Continues the end of the connection, which waited for the last request.
    pub fn drained(&self) {
        self.endpoint.drained(self.life);
    }

    /// Reports that the connection failed. The named receive or request was the first to fail, and all that is still
    /// outstanding is flushed. The transport has let go of all buffers.
    pub fn failed(&self, recv: Option<RecvDone>, request: Option<(FailedRequest, Status)>) {
        self.endpoint.failed(self.life, recv, request);
    }

    /// Reports a change of the connection, or of the attempt at one. Except for [`ConnectionReport::Established`], the
    /// transport has let go of all buffers.
    pub fn connection(&self, report: ConnectionReport) {
        self.endpoint.connection(self.life, report);
    }
}

/// The sink of a listener.
pub struct ListenerSink<R: Reports> {
    point: Arc<R::Point>,
}

impl<R: Reports> Clone for ListenerSink<R> {
    fn clone(&self) -> Self {
        ListenerSink { point: self.point.clone() }
    }
}

impl<R: Reports> ListenerSink<R> {
    pub(crate) fn new(point: Arc<R::Point>) -> Self {
        ListenerSink { point }
    }

    /// Reports that a request arrived.
    ///
    /// # Errors
    /// Returns the request if nobody can take it.
    pub fn request(&self, incoming: R::Incoming, info: ConnectionRequestInfo) -> Result<(), R::Incoming> {
        self.point.request(incoming, info)
    }
}

/// The sink for reports on the adapter as a whole.
pub struct AdapterSink<R: Reports> {
    adapter: Weak<R::Adapter>,
}

impl<R: Reports> AdapterSink<R> {
    pub(crate) fn new(adapter: Weak<R::Adapter>) -> Self {
        AdapterSink { adapter }
    }

    /// Reports that the adapter cannot go on: its connections end, and nothing else will work.
    pub fn catastrophe(&self) {
        if let Some(adapter) = self.adapter.upgrade() {
            adapter.catastrophe();
        }
    }
}
