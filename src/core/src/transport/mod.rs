//! The contract between core and a transport.
//!
//! Calls of [`Transport`] are dispatched statically. A transport reports to core through sinks: [`EndpointSink`] for a
//! connection, [`ListenerSink`] for a service point, [`AdapterSink`] for the adapter. [`datagrams`] is the contract for
//! datagram endpoints. [`AdapterAttributes`] contain the features of an adapter; core calls no method of a missing
//! feature.
//!
//! # Locks
//! Core holds its own locks when it calls a transport. A transport therefore
//!
//! * may call the *data* methods of a sink ([`EndpointSink::deliver`], [`EndpointSink::deliver_shared`],
//!   [`EndpointSink::recv_take`], [`EndpointSink::recv_taken`], [`EndpointSink::recv_done`],
//!   [`EndpointSink::recv_special`], [`EndpointSink::recv_announced`], [`EndpointSink::requests_done`]) while it holds
//!   its completion locks, but must not take these locks in [`Transport::post_recv`], [`SharedReceives::post`],
//!   [`Transport::post`] or [`Windows::post_bind`];
//! * may lock the sending direction ([`EndpointSink::lock_tx`], [`EndpointSink::try_lock_tx`], the lock on the
//!   endpoint's requests) while it holds its completion locks. Until the unlock, it must not call another method of
//!   this sink, take a completion lock, or wait for a thread that holds one;
//! * must hold no lock when it calls any other method of a sink, and must not call it in [`Transport::connect`],
//!   [`Transport::accept`] and [`Transport::disconnect`], where core holds the endpoint's state lock.
//!
//! # Requirements that no signature expresses
//! * A request is complete when its bytes are at the destination: a send, when the message is in a receive buffer of
//!   the peer. A message without a receive waits indefinitely, and its connection stays up.
//! * The last bytes of a transfer become visible last, because programs poll them.
//! * Core only checks local memory. The transport restricts a peer to the range and rights of a region or window, over
//!   queue pairs of its zone. A request of the peer that violates this changes no memory, and its connection fails.
//! * Exactly one of [`EndpointSink::failed`], [`EndpointSink::connection`] with a result other than established, and
//!   [`Closing::Done`] reports the end of a queue pair. By then the transport has released all its buffers, and it
//!   reports nothing afterwards.
//! * Receives of a queue pair complete in posting order.
//! * If the argument for a completion queue is `None`, the call is for all completion queues of the adapter.
//!
//! # Errors
//! A method that returns an error has had no effect. Any method may return [`crate::Error::InsufficientResources`] if
//! memory or the device is exhausted, and [`crate::Error::Internal`] if core violates the contract. The documentation
//! of a method lists all other errors.
//!
//! # Receives
//! With [`Transport::TAKES_RECEIVES`], core stores the receives of endpoints and SRQs, and the transport requests the
//! oldest for each message. Otherwise the transport stores them, for example in a [`RecvQueue`]. In both cases, core
//! stores receives that the program posts before the queue pair exists. Core checks their memory again before it posts
//! them to the queue pair.

pub mod datagrams;
mod gauge;
mod limits;
mod objects;
mod recv_queue;
mod report;
mod retry;
mod work;

use std::convert::Infallible;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub use datagrams::Datagrams;
pub use gauge::{Flow, Gauge, Path};
pub use limits::{AdapterAttributes, Fabric, FabricKind, QpSizes};
pub use objects::{SharedReceives, Windows};
pub use recv_queue::{RecvQueue, Taken};
pub use report::{ConnectionReport, ConnectionRequestInfo, Delivery, Placement, RecvDone, Special, Verdict};
pub use retry::ConnectRetry;
pub use work::{
    BindTarget, Change, Checked, FailedRequest, Handed, MAX_SEGMENTS, Operation, Recv, RecvId, RemoteSegment, Request,
    RequestId, Segment, SeqNo, ShortSend,
};

use crate::addr::Address;
pub use crate::ep::{ConnectionOwner, EndpointSink, InternalConnection, Sending, TxGuard};
use crate::error::Result;
pub use crate::ia::AdapterSink;
use crate::mem::Rights;
pub use crate::snapshot::{AdapterSnapshot, EndpointSnapshot, Glanced, QueueKind, QueueSnapshot};
pub use crate::sp::ListenerSink;

/// The parameters of a new queue pair.
#[allow(missing_docs)]
pub struct QpInit<'a, T: Transport, S = EndpointSink<T>> {
    pub sink: S,
    pub zone: &'a T::Zone,
    /// Completion queue of requests, if there is a request EVD.
    pub request_cq: Option<&'a T::Cq>,
    /// Completion queue of receives, if there is a receive EVD.
    pub recv_cq: Option<&'a T::Cq>,
    /// Shared receive queue that supplies the buffers.
    pub srq: Option<&'a T::Srq>,
    /// `true` if only solicited receives end waits. A transport that does not know which receives are solicited reports
    /// them by [`EndpointSink::recv_announced`].
    pub solicited: bool,
    /// `true` if the peer may post writes with immediate data, atomic operations, and sends that revoke a window. The
    /// peer's [`Transport::takes_extended`] depends on it.
    pub extended: bool,
    pub sizes: QpSizes,
}

/// The destination and parameters of a connect.
#[derive(Clone, Copy, Debug)]
pub struct Connect<'a> {
    /// Address of the host.
    pub address: &'a Address,
    /// Connection qualifier of the service point.
    pub qualifier: u64,
    /// At most [`AdapterAttributes::max_private_data`] bytes.
    pub private_data: &'a [u8],
    /// Time limit for the establishment; `None` if the transport chooses the limit.
    pub timeout: Option<Duration>,
}

/// The reason for the rejection of a connection request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The program rejected it.
    Consumer,
    /// There is no service point, its queue has no room, or the program can no longer answer the request.
    Provider,
}

/// The connections that can use a window, in the order of the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The connection of the queue pair over which the window was bound. The end of the connection revokes the rights
    /// without a call of core, and the window can be bound again. Requires [`AdapterAttributes::endpoint_windows`].
    Endpoint,
    /// All connections of the window's zone.
    Zone,
}

/// A mode of [`Transport::disconnect`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disconnect {
    /// After the outstanding requests complete. Core then calls again with [`Disconnect::Now`], and ignores the result
    /// of this first call. The transport reports the last completion even if it is unsignalled.
    AfterRequests,
    /// Immediately.
    Now,
    /// Immediately, and the peer sees a failure.
    Broken,
}

/// The progress of [`Transport::disconnect`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The transport has released all buffers and reports nothing more.
    Done,
    /// The transport reports [`ConnectionReport::Disconnected`] when it has released all buffers.
    Later,
    /// Like [`Closing::Later`], but until then the peer may write the program's memory, so a call of the program must
    /// call [`Transport::await_end`] before it returns.
    Exposed,
}

/// The behaviour of [`Transport::poll`] when another thread is already polling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// The call may return without a poll: that thread polls, or a later call, which comes soon.
    IfFree,
    /// The call waits for that thread. When it returns, all earlier completions have been reported.
    Complete,
}

/// A word on which threads sleep until it changes.
pub trait Alarm: Send + Sync {
    /// Returns the word. Its address is fixed.
    fn word(&self) -> &AtomicU32;

    /// Changes the word and wakes its sleepers, without blocking.
    fn wake(&self);
}

impl Alarm for Infallible {
    fn word(&self) -> &AtomicU32 {
        match *self {}
    }

    fn wake(&self) {
        match *self {}
    }
}

/// The wakeup of a sleeping thread by new work.
pub enum Wakeup<'a, A> {
    /// Another thread polls. It reports the work, and core then wakes the sleeping thread.
    Reported,
    /// The descriptor becomes readable.
    Descriptor(RawFd),
    /// The word changes, and its sleepers wake. The value was loaded before the transport polled.
    ///
    /// Another process may restore the old value, so the sleep needs a time limit. The next [`Transport::arm`] finds
    /// the missed work.
    Word(&'a Arc<A>, u32),
}

impl<A: Alarm> Wakeup<'_, A> {
    /// Returns whether the transport polled when it armed the wakeup, and the word has not changed since.
    pub fn has_looked(&self) -> bool {
        match self {
            Wakeup::Word(alarm, value) => alarm.word().load(Ordering::Acquire) == *value,
            Wakeup::Reported | Wakeup::Descriptor(_) => false,
        }
    }
}

/// An armed wakeup: see [`Transport::arm`]. The drop disarms it.
pub trait Armed {
    /// The type of the word in [`Wakeup::Word`]; [`Infallible`] if the transport never returns this variant.
    type Alarm: Alarm + 'static;

    /// Returns how new work wakes the thread.
    fn wakeup(&self) -> Wakeup<'_, Self::Alarm>;

    /// Called just before the sleep, without a lock.
    fn before_sleep(&self) {}
}

/// A registered memory region, deregistered on drop.
pub trait RegisteredRegion: Send + Sync {
    /// Returns the region's key in local segments, in the transport's format.
    fn local_key(&self) -> u64;
    /// Returns the key of the region for peers; 0 without remote rights.
    fn remote_key(&self) -> u32;

    /// Waits until no peer accesses the region, which has no bound window. Core drops the region next. Returns `false`
    /// if a peer can still access it, because earlier requests delay the bind or unbind that removes it from a window.
    /// Core then keeps the region. Called without a lock.
    fn await_peers(&self) -> bool;
}

/// The identity of a protection zone.
pub trait ZoneId {
    /// Returns a number that is unique in the process.
    fn id(&self) -> u32;
}

/// A transport: one value per open interface adapter.
///
/// Calls that post, poll or query contain no cancellation point: their system calls bypass libc, or they disable
/// cancellation ([`host::cancel`]), also when they drop the last reference to a descriptor
/// ([`host::cancel::Shielded`]).
pub trait Transport: Send + Sync + Sized + 'static {
    /// A memory window.
    type Window: Windows<Self>;

    /// A shared receive queue.
    type Srq: SharedReceives<Self>;

    /// A queue pair for datagrams.
    type DatagramQp: Datagrams<Self>;

    /// A protection zone.
    type Zone: ZoneId + Send + Sync;

    /// A registered memory region.
    type Region: RegisteredRegion;

    /// A completion queue.
    type Cq: Send + Sync;

    /// The guard of an armed wakeup.
    type Armed: Armed;

    /// A queue pair.
    type Qp: Send + Sync;

    /// The sending direction of a queue pair. The lock on the endpoint's requests protects it, so that a post takes
    /// only one lock. The default value while there is no queue pair.
    type Tx: Default + Send;

    /// A listening service point. A drop stops it.
    type Listener: Send + Sync;

    /// A connection request that is neither accepted nor rejected. A drop rejects it.
    type Incoming: Send + Sync;

    /// Maximum bytes of a send for [`Transport::post_inline`]; 0 if core must not call it.
    const INLINE_MAX: u64;

    /// `true` if core stores the receives of queue pairs and SRQs, and the transport requests one for each message, by
    /// [`EndpointSink::deliver`] or [`EndpointSink::recv_take`]. A post to the transport then only reports that there
    /// is a new receive.
    const TAKES_RECEIVES: bool;

    /// `true` if the transport locks [`Transport::Tx`] itself ([`EndpointSink::lock_tx`]). A thread may then find the
    /// lock held, and leave its poll to the holder. If `false`, core does not check for such polls after an unlock.
    const KEEPS_TX: bool;

    /// `true` if arming one completion queue arms all of them.
    const ARMS_ALL: bool;

    /// Opens the adapter that a dat.conf entry with this `instance_data` describes. Also returns the adapter's limits
    /// and attributes.
    ///
    /// # Errors
    /// [`crate::Error::InsufficientResources`] with [`crate::error::Resource::Device`] if the device does not exist.
    fn open(name: &str, instance_data: &str) -> Result<(Arc<Self>, AdapterAttributes)>;

    /// Sets the sink for reports on the adapter. Called once, before any object is created.
    fn report_to(&self, sink: AdapterSink<Self>);

    /// Begins (`on`) or ends a period in which the transport must report events even if the program makes no call:
    /// while a CNO has an agent or a descriptor. Periods may overlap; each has its own begin and end.
    fn watch(&self, on: bool);

    /// Ends the threads, and releases sockets, files and devices. Called once, after the objects are destroyed, except
    /// EVDs that other adapters use. A drop would be too late, because concurrent calls can keep the adapter alive.
    fn close(&self);

    /// Releases what a forked child must not share with its parent. Called before other code of the child; takes no
    /// lock that a thread of the parent may have held.
    fn after_fork_in_child();

    /// Creates a protection zone.
    fn zone_create(&self) -> Result<Self::Zone>;

    /// Registers `len` bytes at `addr`. `first` is the peers' address of the first byte: `addr`, or 0 with
    /// [`AdapterAttributes::zero_based`]. Local [`Segment`]s of the region contain real addresses, from `addr` on. If
    /// the adapter has no atomic operations, [`Rights::REMOTE_ATOMIC`] has no effect, here and in a bind.
    ///
    /// # Errors
    /// [`crate::error::Arg::Region`] if the memory is not mapped with these rights.
    fn register(&self, zone: &Self::Zone, addr: u64, len: u64, rights: Rights, first: u64) -> Result<Self::Region>;

    /// Creates a completion queue for at least `depth` completions.
    fn cq_create(&self, depth: usize) -> Result<Self::Cq>;

    /// Polls, and reports completions to their sinks. A poll without completions makes no system call, unless it waits
    /// for another thread, or the transport can receive only by system calls.
    fn poll(&self, cq: Option<&Self::Cq>, how: Poll);

    /// Arms the wakeup of the calling thread by new work. The caller must poll again before it sleeps, unless
    /// [`Wakeup::has_looked`]. If `requests` is `false`, requests that succeed need not wake the thread.
    fn arm(&self, cq: Option<&Self::Cq>, requests: bool) -> Self::Armed;

    /// Creates an unconnected queue pair and its sending direction.
    fn qp_create(&self, init: QpInit<'_, Self>) -> Result<(Arc<Self::Qp>, Self::Tx)>;

    /// Posts a receive in any state of the queue pair. There is always room, because core counts receives. Returns
    /// whether core must call [`Transport::kick`], because a message may wait for the receive. With
    /// [`Transport::TAKES_RECEIVES`], the transport can take the receive once core has unlocked the receives.
    fn post_recv(&self, qp: &Self::Qp, recv: &Recv<'_>) -> Result<bool>;

    /// Resumes messages that wait for a receive. Called without a lock, after a post that returned `true`.
    fn kick(&self, qp: &Arc<Self::Qp>);

    /// Posts a send if its bytes can be copied immediately, and returns its position. The memory stays registered
    /// during the call. After `None`, which has no effect, core calls [`Transport::post`].
    fn post_inline(&self, qp: &Arc<Self::Qp>, tx: &mut Self::Tx, send: ShortSend<'_>) -> Option<SeqNo>;

    /// Posts a request on a connected queue pair. Returns its position, which is not below an earlier one. Requests
    /// complete in order: [`EndpointSink::requests_done`] covers all positions up to the reported one. A request that
    /// the result marks as done needs no report, but may have one.
    fn post(&self, qp: &Arc<Self::Qp>, tx: &mut Self::Tx, request: &Request<'_>) -> Result<Handed>;

    /// Returns whether the peer accepts extended operations ([`QpInit::extended`]): writes with immediate data, atomic
    /// operations, and sends that revoke a window. Returns `true` also if that is unknown. After `false`, their posts
    /// fail with [`Error::ModelNotSupported`](crate::Error::ModelNotSupported). Called with the endpoint's requests
    /// locked.
    fn takes_extended(qp: &Self::Qp) -> bool;

    /// Polls for request completions of `qp` only. Called when the maximum number of requests is outstanding, and
    /// before core ends the connection or reports its state.
    fn reap(&self, qp: &Arc<Self::Qp>);

    /// Schedules a poll of `qp`, after [`EndpointSink::try_lock_tx`] found the lock held. Called without that lock,
    /// which the thread that polls needs. The connection might have ended. Must take no lock.
    fn repoll(&self, qp: &Self::Qp);

    /// Returns the stall and wakeup counters of the connection. Called with the endpoint's requests locked.
    fn flow(&self, qp: &Self::Qp, tx: &Self::Tx) -> Flow;

    /// Returns the path of the connection's data. Called with the endpoint's requests locked.
    fn path(&self, qp: &Self::Qp, tx: &Self::Tx) -> Path;

    /// Listens on `qualifier`, or on one that the transport chooses, and passes requests to `sink`. Also returns the
    /// qualifier.
    ///
    /// # Errors
    /// [`Error::of_listen`](crate::Error::of_listen).
    fn listen(&self, qualifier: Option<u64>, sink: ListenerSink<Self>) -> Result<(Self::Listener, u64)>;

    /// Checks whether the transport can connect to a host.
    ///
    /// # Errors
    /// [`crate::Error::InvalidAddress`].
    fn check_address(&self, address: &Address) -> Result<()>;

    /// Starts to connect. The transport reports the outcome to the sink of `qp`, outside this call.
    fn connect(&self, qp: &Arc<Self::Qp>, connect: &Connect<'_>) -> Result<()>;

    /// Accepts the request `incoming` with `qp`. The transport reports the outcome later. `private_data` has at most
    /// [`AdapterAttributes::max_private_data`] bytes. After an error, `incoming` still contains the request.
    fn accept(&self, incoming: &mut Option<Self::Incoming>, qp: &Arc<Self::Qp>, private_data: &[u8]) -> Result<()>;

    /// Rejects a request. `private_data` has at most [`AdapterAttributes::max_reject_data`] bytes, and is empty except
    /// for [`Rejection::Consumer`].
    fn reject(&self, incoming: Self::Incoming, why: Rejection, private_data: &[u8]);

    /// Returns the port qualifier of the local end, from the start of a connect or an accept; 0 while it is unknown.
    fn local_qualifier(&self, qp: &Self::Qp) -> u64;

    /// Ends a connection or an attempt. After [`Closing::Done`] the transport calls no sink of `qp`.
    fn disconnect(&self, qp: &Arc<Self::Qp>, how: Disconnect) -> Closing;

    /// Waits after [`Closing::Later`] or [`Closing::Exposed`], without a lock, until [`Transport::disconnect`] would
    /// return [`Closing::Done`].
    fn await_end(&self, qp: &Arc<Self::Qp>);
}
