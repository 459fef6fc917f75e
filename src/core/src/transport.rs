//! What a transport must do, and what it may tell the core.
//!
//! The core is generic over [`Transport`], so every call on the fast path is
//! dispatched statically. A transport talks back through the sinks it was given:
//! [`EndpointSink`] for one connection, [`ListenerSink`] for one service point.
//!
//! # Locks
//! The core calls a transport with locks of its own held; therefore a transport
//!
//! * may call the *data* methods of a sink ([`EndpointSink::recv_taken`],
//!   [`EndpointSink::recv_done`], [`EndpointSink::recv_announced`],
//!   [`EndpointSink::requests_done`]) with the locks held under which it finds completions,
//!   but must not take those locks inside [`Transport::post_recv`],
//!   [`Transport::srq_post`], [`Transport::post`] or [`Transport::post_bind`];
//! * must hold no lock at all when it calls any other method of a sink.
//!
//! docs/architecture.md says how each method is done over shared memory and over verbs.

mod recv_queue;

use std::os::fd::RawFd;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::addr::Address;
use crate::ep::Endpoint;
use crate::error::Result;
use crate::event::{AsyncReason, Status};
use crate::ia::Ia;
use crate::mem::Rights;
use crate::slab::Object;
use crate::sp::ServicePoint;

pub use recv_queue::{RecvQueue, Taken};

/// The most segments that a single work request can name.
pub const MAX_SEGMENTS: usize = 32;

/// A piece of registered local memory, checked by the core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First byte.
    pub addr: u64,
    /// Bytes.
    pub len: u64,
    /// The local key of the region ([`RegionKeys::local_key`]).
    pub key: u32,
}

/// The segments of a work request, checked; what is not there is not touched either.
pub type Checked = arrayvec::ArrayVec<Segment, MAX_SEGMENTS>;

/// A piece of the peer's memory; only the peer's side can check it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemoteSegment {
    /// First byte, as the peer counts.
    pub addr: u64,
    /// Bytes.
    pub len: u64,
    /// The remote key of a region or a window of the peer.
    pub key: u32,
}

/// Number of a request of one endpoint; rises by one with each post.
pub type RequestId = u64;

/// Number under which a receive was handed to a transport.
pub type RecvId = u64;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Send to the peer's next receive buffer.
    Send {
        /// Whether the matching receive is to be announced to a solicited waiter.
        solicited: bool,
    },
    /// Write the local segments to the peer's memory.
    Write(RemoteSegment),
    /// Read the peer's memory into the local segments.
    Read(RemoteSegment),
}

/// A request to post.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its number.
    pub id: RequestId,
    /// What it does.
    pub operation: Operation,
    /// Local memory, in order.
    pub segments: &'a [Segment],
    /// Sum of the lengths of `segments`.
    pub len: u64,
    /// Not to start before all earlier reads are complete.
    pub fence: bool,
    /// Whether completion is worth waking a sleeping poster for.
    pub signalled: bool,
}

/// A receive to post.
#[derive(Clone, Copy, Debug)]
pub struct Recv<'a> {
    /// Its number.
    pub id: RecvId,
    /// Local memory, in order.
    pub segments: &'a [Segment],
}

/// How a receive ended.
#[derive(Clone, Copy, Debug)]
pub struct RecvDone {
    /// Which one.
    pub id: RecvId,
    /// Success, or what went wrong.
    pub status: Status,
    /// Bytes received.
    pub len: u64,
    /// Whether the sender asked for the solicited waiter.
    pub solicited: bool,
}

/// The range and rights of a window that is being bound.
#[derive(Clone, Copy, Debug)]
pub struct BindTarget<'a, R> {
    /// The region it opens.
    pub region: &'a R,
    /// First byte.
    pub addr: u64,
    /// Bytes.
    pub len: u64,
    /// Remote rights granted.
    pub rights: Rights,
}

/// Sizes of a queue pair that is about to be made.
#[derive(Clone, Copy, Debug)]
pub struct QpSizes {
    /// Receives outstanding at a time; 0 with a shared receive queue.
    pub recvs: usize,
    /// Requests outstanding at a time.
    pub requests: usize,
    /// Segments a receive.
    pub recv_segments: usize,
    /// Segments a request.
    pub request_segments: usize,
    /// Reads of the peer served at a time.
    pub reads_in: u8,
    /// Own reads outstanding at a time.
    pub reads_out: u8,
}

/// All that a queue pair is made of.
pub struct QpInit<'a, T: Transport> {
    /// Where it reports.
    pub sink: EndpointSink<T>,
    /// Its protection zone.
    pub zone: &'a T::Zone,
    /// Where its requests complete.
    pub request_cq: Option<&'a T::Cq>,
    /// Where its receives complete.
    pub recv_cq: Option<&'a T::Cq>,
    /// The shared receive queue it takes buffers from.
    pub srq: Option<&'a T::Srq>,
    /// Waiters are told only of receives that the sender announces. A transport that does
    /// not learn of each receive whether it is one of those reports them as not announced, and calls
    /// [`EndpointSink::recv_announced`] when one was.
    pub solicited: bool,
    /// Queue sizes.
    pub sizes: QpSizes,
}

/// Where and how to connect.
pub struct Connect<'a> {
    /// The host.
    pub address: &'a Address,
    /// The service point.
    pub qualifier: u64,
    /// Bytes for the peer's connection request.
    pub private_data: &'a [u8],
    /// Time for the whole establishment; `None` leaves it to the transport.
    pub timeout: Option<Duration>,
}

/// Who asked for a connection.
#[derive(Clone, Debug)]
pub struct RequestInfo {
    /// The qualifier that was addressed.
    pub qualifier: u64,
    /// Address of the peer.
    pub remote_address: Address,
    /// Port qualifier of the peer.
    pub remote_qualifier: u64,
    /// What the peer sent along.
    pub private_data: Vec<u8>,
}

/// Why a connection request is turned down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The program rejected it.
    Consumer,
    /// There was nobody to take it: no service point, no room in the queue.
    Provider,
}

/// What befell a connection or an attempt at one. Each attempt ends in exactly one
/// report that is not [`ConnectionReport::Established`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionReport {
    /// The connection is up; the active side gets the acceptor's private data.
    Established(Vec<u8>),
    /// The peer's program rejected the request.
    PeerRejected,
    /// The request was refused, but not by the peer's program.
    NonPeerRejected,
    /// The time given was not enough.
    TimedOut,
    /// The address leads nowhere.
    Unreachable,
    /// The passive side accepted, but the connection did not come up.
    AcceptFailed,
    /// The peer ended the connection, or is gone.
    Disconnected,
    /// The connection failed.
    Broken,
}

/// How far [`Transport::disconnect`] got before it returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The transport has let go of all buffers and reports nothing more.
    Done,
    /// A [`ConnectionReport::Disconnected`] follows when it has.
    Later,
}

/// The conduct of [`Transport::poll`] when another thread is polling already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// It may leave the work to that thread.
    IfFree,
    /// It waits for that thread, so that on return all that had happened before the call has
    /// been reported.
    Complete,
}

/// Keys of a registered region.
pub trait RegionKeys {
    /// Names the region in local segments.
    fn local_key(&self) -> u32;
    /// Names the region to peers; 0 if no remote right was granted.
    fn remote_key(&self) -> u32;
}

/// Identity of a protection zone.
pub trait ZoneId {
    /// Unique in the process.
    fn id(&self) -> u32;
}

/// Limits and abilities of an open adapter.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the names are those of the specification's attributes
pub struct AdapterAttributes {
    pub vendor: String,
    pub provider: String,
    pub hardware_version: (u32, u32),
    pub firmware_version: (u32, u32),
    pub address: Address,
    pub max_eps: usize,
    pub max_dto_per_ep: usize,
    pub max_rdma_read_per_ep_in: usize,
    pub max_rdma_read_per_ep_out: usize,
    pub max_rdma_read_in: usize,
    pub max_rdma_read_out: usize,
    pub max_evds: usize,
    pub max_evd_qlen: usize,
    pub max_segments: usize,
    pub max_segments_read: usize,
    pub max_segments_write: usize,
    pub max_lmrs: usize,
    pub max_lmr_block: u64,
    pub max_lmr_address: u64,
    pub max_pzs: usize,
    pub max_message: u64,
    pub max_rdma: u64,
    pub max_rmrs: usize,
    pub max_rmr_address: u64,
    pub max_srqs: usize,
    pub max_eps_per_srq: usize,
    pub max_recvs_per_srq: usize,
    pub max_private_data: usize,
    pub optimal_alignment: usize,
    pub srq: bool,
    pub srq_low_watermark: bool,
    pub rmr: bool,
}

/// A transport: one value for each open interface adapter.
pub trait Transport: Send + Sync + Sized + 'static {
    /// A protection zone.
    type Zone: ZoneId + Send + Sync;
    /// Registered memory; dropped to deregister.
    type Region: RegionKeys + Send + Sync;
    /// Something that remote rights can be bound to.
    type Window: Send + Sync;
    /// Where completions of data transfer are found.
    type Cq: Send + Sync;
    /// A shared receive queue.
    type Srq: Send + Sync;
    /// One end of a connection.
    type Qp: Send + Sync;
    /// A service point that listens; dropped to stop.
    type Listener: Send + Sync;
    /// A connection request not yet answered; dropped to refuse.
    type Incoming: Send + Sync;

    /// Opens the adapter that an entry of the configuration describes by `instance`.
    ///
    /// # Errors
    /// [`crate::Error::InsufficientResources`] with [`crate::error::Resource::Device`] if there is no such device.
    fn open(name: &str, instance: &str) -> Result<Arc<Self>>;

    /// Limits and abilities.
    fn attributes(&self) -> &AdapterAttributes;

    /// Names whom to tell of what befalls the adapter as a whole; called once, before
    /// anything is made.
    fn report_to(&self, _sink: AdapterSink<Self>) {}

    /// Makes a protection zone.
    fn zone_create(&self) -> Result<Self::Zone>;

    /// Registers `len` bytes at `addr`; `rights` includes the remote ones.
    fn register(&self, zone: &Self::Zone, addr: u64, len: u64, rights: Rights) -> Result<Self::Region>;

    /// Makes an unbound window.
    fn window_create(&self, zone: &Self::Zone) -> Result<Self::Window>;

    /// Makes a completion queue for at least `depth` completions.
    fn cq_create(&self, depth: usize) -> Result<Self::Cq>;

    /// Looks for completions, without a system call, and reports them to their sinks: those
    /// of `cq`, or of all completion queues. `how` says what to do about another thread that
    /// does the same.
    fn poll(&self, cq: Option<&Self::Cq>, how: Poll);

    /// Prepares for sleep: from now on new work makes the returned descriptor readable,
    /// or is reported by another thread. The caller polls once more before it sleeps.
    fn arm(&self, cq: Option<&Self::Cq>) -> Option<RawFd>;

    /// Ends what [`Transport::arm`] began; `armed` is what it returned.
    fn disarm(&self, cq: Option<&Self::Cq>, armed: Option<RawFd>);

    /// An agent of the program is to be called for events (or is not any more), without
    /// any thread of the program calling in.
    fn watch(&self, _on: bool) {}

    /// Makes a shared receive queue for at least `depth` receives of `segments` each.
    fn srq_create(&self, zone: &Self::Zone, depth: usize, segments: usize) -> Result<Self::Srq>;

    /// Hands over a receive. Never fails for want of room: the core counts.
    fn srq_post(&self, srq: &Self::Srq, recv: &Recv<'_>) -> Result<()>;

    /// Called after [`Transport::srq_post`] without any lock: lets endpoints that ran
    /// out of buffers go on.
    fn srq_kick(&self, srq: &Self::Srq);

    /// Makes room for `depth` receives; loses none.
    fn srq_resize(&self, srq: &Self::Srq, depth: usize) -> Result<()>;

    /// Asks to be told, through [`EndpointSink::recv_taken`] or otherwise, when fewer
    /// than `limit` receives are left, even if no thread polls. 0 ends it.
    fn srq_arm_limit(&self, srq: &Self::Srq, limit: usize) -> Result<()>;

    /// Makes a queue pair, unconnected.
    fn qp_create(&self, init: QpInit<'_, Self>) -> Result<Arc<Self::Qp>>;

    /// Hands over a receive, in any state of the queue pair.
    fn post_recv(&self, qp: &Self::Qp, recv: &Recv<'_>) -> Result<()>;

    /// Called after [`Transport::post_recv`] without any lock: lets a message that
    /// waited for a buffer go on.
    fn recv_kick(&self, qp: &Arc<Self::Qp>);

    /// Hands over a request of a connected queue pair. Requests complete in order:
    /// a report on one implies success of all earlier ones.
    fn post(&self, qp: &Arc<Self::Qp>, request: &Request<'_>) -> Result<()>;

    /// Binds `window`, or unbinds it with no target, as a request in the order of the
    /// others; the new remote key is known at once.
    fn post_bind(
        &self,
        qp: &Arc<Self::Qp>,
        id: RequestId,
        window: &Self::Window,
        target: Option<&BindTarget<'_, Self::Region>>,
        signalled: bool,
    ) -> Result<u32>;

    /// The end waits for the requests that are outstanding: from now on the completion of
    /// the last one is to be reported, whether it is signalled or not.
    fn drain(&self, _qp: &Arc<Self::Qp>) {}

    /// Looks for completions of the requests of `qp` alone; called when its queue is full.
    fn reap(&self, qp: &Arc<Self::Qp>);

    /// Listens on `qualifier`, or on one of the transport's choice; requests go to `sink`.
    ///
    /// # Errors
    /// [`crate::Error::QualifierInUse`], [`crate::Error::QualifierUnavailable`].
    fn listen(&self, qualifier: Option<u64>, sink: ListenerSink<Self>) -> Result<(Self::Listener, u64)>;

    /// Whether the transport can connect to the address of a host.
    ///
    /// # Errors
    /// [`crate::Error::InvalidAddress`].
    fn check_address(&self, _address: &Address) -> Result<()> {
        Ok(())
    }

    /// Starts to connect; the outcome is reported later, never inside the call.
    fn connect(&self, qp: &Arc<Self::Qp>, connect: &Connect<'_>) -> Result<()>;

    /// Accepts a request with `qp`; the outcome is reported later. On failure the
    /// request can be answered again.
    fn accept(&self, incoming: &mut Option<Self::Incoming>, qp: &Arc<Self::Qp>, private_data: &[u8]) -> Result<()>;

    /// Refuses a request.
    fn reject(&self, incoming: Self::Incoming, why: Rejection);

    /// Port qualifier of the local end.
    fn local_qualifier(&self, qp: &Self::Qp) -> u64;

    /// Ends a connection or an attempt at once. With `broken` the peer is told that it
    /// failed. After [`Closing::Done`] no sink of `qp` is called any more.
    fn disconnect(&self, qp: &Arc<Self::Qp>, broken: bool) -> Closing;

    /// Called after a [`Closing::Later`], without a lock: returns when the transport has
    /// let go of all buffers and [`Transport::disconnect`] would answer [`Closing::Done`].
    fn await_end(&self, _qp: &Arc<Self::Qp>) {}

    /// Called in the child of a fork, before anything else happens there: lets go of what
    /// must not be shared with the parent. Takes no lock that another thread of the
    /// parent may have held.
    fn after_fork_in_child() {}
}

/// Where one queue pair reports to. It names one life of an endpoint: reports that
/// come after the endpoint was reset are dropped.
pub struct EndpointSink<T: Transport> {
    pub(crate) ep: Arc<Endpoint<T>>,
    pub(crate) life: u64,
}

impl<T: Transport> Clone for EndpointSink<T> {
    fn clone(&self) -> Self {
        EndpointSink { ep: self.ep.clone(), life: self.life }
    }
}

/// What the core wants done after a buffer was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Go on.
    Continue,
    /// The hard high watermark was passed: fail the connection.
    Break,
}

impl<T: Transport> EndpointSink<T> {
    /// The endpoint took a buffer for a message that is arriving. Transports that see
    /// only completions need not call it.
    #[inline]
    pub fn recv_taken(&self, id: RecvId) -> Verdict {
        self.ep.on_recv_taken(self.life, id)
    }

    /// A receive is complete.
    #[inline]
    pub fn recv_done(&self, done: RecvDone) {
        self.ep.on_recv_done(self.life, done);
    }

    /// One of the receives reported so far was announced by its sender
    /// ([`QpInit::solicited`]).
    pub fn recv_announced(&self) {
        self.ep.on_recv_announced(self.life);
    }

    /// All requests up to and including `last` succeeded. True if the end of the connection
    /// waits for them; then [`EndpointSink::drained`] is to be called, without a lock.
    #[inline]
    #[must_use]
    pub fn requests_done(&self, last: RequestId) -> bool {
        self.ep.on_requests_done(self.life, last)
    }

    /// Goes on with the end of the connection that waited for the last request.
    pub fn drained(&self) {
        self.ep.finish_drain(self.life);
    }

    /// The connection failed: the named receive or request was the first to fail, and
    /// all that is still outstanding is flushed. The transport has let go of all buffers.
    pub fn failed(&self, recv: Option<RecvDone>, request: Option<(RequestId, Status)>) {
        self.ep.on_failed(self.life, recv, request);
    }

    /// The connection, or the attempt at one, changed. But for
    /// [`ConnectionReport::Established`] the transport has let go of all buffers.
    pub fn connection(&self, report: ConnectionReport) {
        self.ep.on_connection(self.life, report);
    }
}

/// Where a transport reports what befalls the adapter as a whole.
pub struct AdapterSink<T: Transport> {
    pub(crate) ia: Weak<Ia<T>>,
}

impl<T: Transport> AdapterSink<T> {
    /// The adapter cannot go on: its connections end, and nothing else will work.
    pub fn catastrophe(&self) {
        if let Some(ia) = self.ia.upgrade() {
            ia.raise(ia.header().handle(), AsyncReason::IaCatastrophic);
        }
    }
}

/// Where a listener reports to.
pub struct ListenerSink<T: Transport> {
    pub(crate) point: Arc<ServicePoint<T>>,
}

impl<T: Transport> Clone for ListenerSink<T> {
    fn clone(&self) -> Self {
        ListenerSink { point: self.point.clone() }
    }
}

impl<T: Transport> ListenerSink<T> {
    /// A request arrived. It is given back if nobody can take it.
    pub fn request(&self, incoming: T::Incoming, info: RequestInfo) -> std::result::Result<(), T::Incoming> {
        self.point.on_request(incoming, info)
    }
}
