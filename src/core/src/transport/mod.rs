//! The contract with a transport: what it must do, and what it may report to the core.
//!
//! The core is generic over [`Transport`], so every call on the fast path is dispatched statically.
//! A transport talks back through the sinks it was given: [`EndpointSink`] for one connection,
//! [`ListenerSink`] for one service point, [`AdapterSink`] for the adapter as a whole.
//!
//! # Locks
//! The core calls a transport with locks of its own held; therefore a transport
//!
//! * may call the *data* methods of a sink ([`EndpointSink::deliver`], [`EndpointSink::recv_take`],
//!   [`EndpointSink::recv_taken`], [`EndpointSink::recv_arrived`], [`EndpointSink::recv_done`],
//!   [`EndpointSink::recv_special`], [`EndpointSink::recv_announced`], [`EndpointSink::recheck`],
//!   [`EndpointSink::requests_done`]) with the locks held under which it finds completions, but must not take those locks
//!   inside [`Transport::post_recv`], [`Transport::srq_post`], [`Transport::post`] or [`Transport::post_bind`];
//! * may lock the sending direction ([`EndpointSink::lock_tx`], [`EndpointSink::try_lock_tx`]) with the same locks held,
//!   which is to lock the endpoint's requests: until it unlocks them, it calls no other method of this sink, takes none of
//!   the locks under which it reports, and waits for no thread that has one;
//! * must hold no lock at all when it calls any other method of a sink, and calls none inside [`Transport::connect`],
//!   [`Transport::accept`], [`Transport::drain`] and [`Transport::disconnect`]: the core holds the lock on the endpoint's
//!   state there, which such a method takes.
//!
//! # Promises that no signature shows
//! * A request is done when its bytes are where they go: a send when the message is in a receive
//!   buffer of the peer. A message for which there is no receive waits without end, and its
//!   connection stands.
//! * The last bytes of a transfer become visible last, because programs poll them.
//! * The core checks the memory of its own side alone. The transport sees to it that a peer reaches a region or a window
//!   only within its range, with its rights, and over a queue pair of its zone; a request that the peer's memory does not
//!   admit changes nothing there, and the connection fails.
//! * A queue pair ends once. Its end is reported by exactly one of [`EndpointSink::failed`], an
//!   [`EndpointSink::connection`] other than established, and [`Closing::Done`]; by then the transport
//!   has released all its buffers, and reports nothing more of it.
//! * Receives of a queue pair complete in the order in which they were posted.
//! * `None` for a completion queue in [`Transport::poll`], [`Transport::arm`] and [`Transport::disarm`] means
//!   all of the adapter's.
//!
//! # Errors
//! A method answers an error only if it has had no effect. It answers
//! [`crate::Error::InsufficientResources`] when memory or the device is exhausted,
//! [`crate::Error::Internal`] where the core broke its part of the contract, and otherwise only what its own
//! documentation lists.
//!
//! # Receives
//! A transport that takes receives one by one ([`Transport::TAKES_RECEIVES`]) keeps no list of those of an endpoint: it
//! asks the sink to deliver a message to the oldest one, or to give it that one. `recv_queue` is the list of a
//! transport that keeps receives, those of shared queues (`shared_queue`) and those that verbs holds back. Receives that wait for
//! their endpoint's queue pair are in a list of the core, because they are not checked yet and may leave from its
//! middle.
//!
//! docs/dev/architecture.md compares the transports.

mod gauge;
mod limits;
mod recv_queue;
mod report;
mod retry;
mod shared_queue;
mod work;

use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub use gauge::{Flow, Gauge};
pub use limits::{AdapterAttributes, Fabric, FabricKind, QpSizes};
pub use recv_queue::{RecvQueue, Taken};
pub use report::{ConnectionReport, ConnectionRequestInfo, Delivery, Placement, RecvDone, Special, Verdict};
pub use retry::ConnectRetry;
pub use shared_queue::{LARGEST_DATAGRAM, LEAD, RnrWaiter, SharedQueue};
pub use work::{
    BindTarget, Change, Checked, FailedRequest, Handed, MAX_SEGMENTS, Operation, Recv, RecvId, RemoteSegment, Request,
    RequestId, Segment, SeqNo, ShortSend,
};

use crate::addr::Address;
pub use crate::ep::{AdapterSnapshot, EndpointSink, Glanced, TxGuard};
use crate::error::Result;
pub use crate::ia::AdapterSink;
use crate::mem::Rights;
pub use crate::sp::ListenerSink;

/// The parts that a queue pair is made of.
pub struct QpInit<'a, T: Transport> {
    /// The sink that it reports to.
    pub sink: EndpointSink<T>,
    /// Its protection zone.
    pub zone: &'a T::Zone,
    /// The queue in which its requests complete; `None` if it has no dispatcher for them.
    pub request_cq: Option<&'a T::Cq>,
    /// The queue in which its receives complete; `None` if it has no dispatcher for them.
    pub recv_cq: Option<&'a T::Cq>,
    /// The shared receive queue that it takes buffers from.
    pub srq: Option<&'a T::Srq>,
    /// Whether only receives that the sender announces end waits. A transport that cannot recognise these
    /// receives reports all of them as not announced, and calls [`EndpointSink::recv_announced`] when one was
    /// announced.
    pub solicited: bool,
    /// Whether the program takes extended operations of its peer: writes that bring a value, atomic operations, sends that
    /// revoke a window. The peer's [`Hooks::takes_extended`] returns it.
    pub extended: bool,
    /// Set if it carries datagrams: the number of the endpoint that it is a part of, which is not 0. The peer learns it, by
    /// [`ConnectionRequestInfo::datagrams`] or [`Hooks::datagrams_of_peer`]. The messages that come take receives of `srq`, and
    /// are lost if they find none: [`SharedQueue::take_datagram`]. Only with [`AdapterAttributes::datagrams`].
    pub datagrams: Option<u32>,
    /// Queue sizes.
    pub sizes: QpSizes,
}

/// The peer to connect to, and the terms.
#[derive(Clone, Copy, Debug)]
pub struct Connect<'a> {
    /// The host.
    pub address: &'a Address,
    /// The service point.
    pub qualifier: u64,
    /// Bytes for the peer's connection request, no more than [`AdapterAttributes::check_private_data`] admits.
    pub private_data: &'a [u8],
    /// Time for the whole establishment; `None` if the program sets no limit, which leaves it to the transport.
    pub timeout: Option<Duration>,
}

/// The reason why a connection request is turned down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The program rejected it.
    Consumer,
    /// It could not be taken: there was no service point, or no room in the queue.
    Provider,
}

/// The connections on which a window grants its rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of its zone.
    Zone,
    /// That of the queue pair with which it was bound. Once that has ended it shows nothing, without a call of the core, and
    /// can be bound again. Only with [`AdapterAttributes::endpoint_windows`].
    Endpoint,
}

/// The progress that [`Transport::disconnect`] made before it returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The transport has released all buffers and reports nothing more.
    Done,
    /// The transport reports [`ConnectionReport::Disconnected`] when it has released them.
    Later,
    /// As [`Closing::Later`]; and the peer may write the program's memory until then, so that a call of the program
    /// calls [`Hooks::await_end`] before it returns.
    Exposed,
}

/// The behaviour of [`Transport::poll`] when another thread is already polling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// The call may leave the work to that thread, and some of it to a later call: the caller polls again soon.
    IfFree,
    /// The call waits for that thread, so that on return all that happened before the call has been reported.
    Complete,
}

/// A word of memory on which a thread sleeps until others change it, which may be other processes.
pub trait Alarm: Send + Sync {
    /// The word, in memory that stays where it is as long as the alarm lives.
    fn word(&self) -> &AtomicU32;

    /// Changes the word and wakes the threads that sleep on it. Never blocks.
    fn wake(&self);
}

/// The way in which a thread that sleeps hears of new work: see [`Transport::arm`].
pub enum Armed {
    /// Another thread polls for it and reports it.
    Reported,
    /// The descriptor becomes readable.
    Descriptor(RawFd),
    /// The word is changed and the threads that sleep on it are woken. It had this value before the transport polled, and
    /// has another one if there is work.
    ///
    /// Other processes may be able to change the word back. So a sleep on it must have a limit: what it misses is found
    /// when the transport is armed again.
    Word(Arc<dyn Alarm>, u32),
}

impl Armed {
    /// True if the transport has polled since it was armed, and found nothing.
    pub fn has_looked(&self) -> bool {
        match self {
            Armed::Word(alarm, value) => alarm.word().load(Ordering::Acquire) == *value,
            Armed::Reported | Armed::Descriptor(_) => false,
        }
    }
}

/// Keys of a registered region.
pub trait RegionKeys {
    /// Names the region in local segments; as wide as a transport may need.
    fn local_key(&self) -> u64;
    /// Names the region to peers; 0 if no remote right was granted.
    fn remote_key(&self) -> u32;
}

/// Identity of a protection zone.
pub trait ZoneId {
    /// Unique in the process.
    fn id(&self) -> u32;
}

/// What a transport is made of.
pub trait Parts: Send + Sync + Sized + 'static {
    /// A protection zone.
    type Zone: ZoneId + Send + Sync;

    /// Registered memory; dropped to deregister.
    type Region: RegionKeys + Send + Sync;

    /// A window that remote rights can be bound to.
    type Window: Send + Sync;

    /// A queue in which completions of data transfers are found.
    type Cq: Send + Sync;

    /// A shared receive queue.
    type Srq: Send + Sync;

    /// One end of a connection.
    type Qp: Send + Sync;

    /// What the transport keeps of the sending direction of a queue pair. It lies behind the core's lock on the requests
    /// of the endpoint, so that a post takes one lock, and so do reports of requests. Without a queue pair it is the
    /// default.
    type Tx: Default + Send;

    /// A service point that listens; dropped to stop.
    type Listener: Send + Sync;

    /// A connection request not yet answered; dropped to refuse.
    type Incoming: Send + Sync;
}

/// A receive that was posted, for which a message may wait: see [`Hooks::kick`].
pub enum Awaited<'a, T: Parts> {
    /// One of this queue pair.
    Qp(&'a Arc<T::Qp>),
    /// One of this shared receive queue, for endpoints that ran out of buffers.
    Srq(&'a T::Srq),
}

/// What peers may still use: see [`Hooks::await_peers`].
pub enum Shown<'a, T: Parts> {
    /// What this window showed before the call of [`Transport::post_bind`] that has just been made.
    Before(&'a T::Window),
    /// What this window shows, which is dropped next, though another thread may still have it. It shows nothing by now.
    Window(&'a T::Window),
    /// This region, which is dropped next and to which no window is bound by now.
    Region(&'a T::Region),
}

/// What not every transport needs to do: each method does nothing by default, or answers for a transport without it.
pub trait Hooks: Parts {
    /// Ends what the adapter does for itself, because the program closes it: on return it has left no trace outside of
    /// the process. Called once, after all that was made from it is destroyed. The value may live on for a moment, in
    /// calls of other threads.
    fn close(&self) {}

    /// With `on`, the transport must report events although no thread of the program calls in, because an agent or a
    /// descriptor waits for them; without `on`, that need has ended. The calls come in pairs.
    fn watch(&self, _on: bool) {}

    /// Called without any lock after a post that said so: lets messages continue that waited for a buffer.
    fn kick(&self, _posted: Awaited<'_, Self>) {}

    /// Posts a send of one segment with at most [`Transport::INLINE_MAX`] bytes, if nothing keeps it from being carried out at
    /// once and it needs no more than a copy of them. The memory stays registered meanwhile. With `None` nothing has
    /// happened, and the core calls [`Transport::post`].
    #[inline(always)]
    fn post_inline(&self, _qp: &Arc<Self::Qp>, _tx: &mut Self::Tx, _send: ShortSend<'_>) -> Option<SeqNo> {
        None
    }

    /// Called without a lock: returns when no peer uses what is shown. False if one still can, because a bind that closes a
    /// window is held up by the requests before it; only the answer for a region counts, which then stays.
    fn await_peers(&self, _shown: Shown<'_, Self>) -> bool {
        true
    }

    /// Notes that the end of the connection waits for the outstanding requests: the completion of the last one must be
    /// reported, whether it is signalled or not.
    fn drain(&self, _qp: &Arc<Self::Qp>) {}

    /// Called with the requests of the endpoint locked, after [`EndpointSink::try_lock_tx`] has failed at the lock: has
    /// `qp` polled again. Takes no lock.
    fn repoll(&self, _qp: &Self::Qp) {}

    /// Checks whether the transport can connect to the address of a host.
    ///
    /// # Errors
    /// [`crate::Error::InvalidAddress`].
    fn check_address(&self, _address: &Address) -> Result<()> {
        Ok(())
    }

    /// Whether the peer of a connection takes extended operations ([`QpInit::extended`]). Called with the requests of the
    /// endpoint locked, before one is posted. A transport that cannot know says yes.
    fn takes_extended(&self, _qp: &Self::Qp) -> bool {
        true
    }

    /// What the transport has counted of the connection so far. Called with the requests of the endpoint locked, as
    /// [`Transport::post`] is.
    fn flow(&self, _qp: &Self::Qp, _tx: &Self::Tx) -> Flow {
        Flow::default()
    }

    /// The number that the peer has for [`QpInit::datagrams`], once the connection is established.
    fn datagrams_of_peer(&self, _qp: &Self::Qp) -> Option<u32> {
        None
    }

    /// The program can name the peer of this lane no more. Where it is not told that the peer is gone, the transport may end the
    /// lane, as long as datagrams of all peers still arrive. Called without a lock. Only with
    /// [`AdapterAttributes::datagrams`].
    fn forget_peer(&self, _qp: &Arc<Self::Qp>) {}

    /// Copies the bytes of checked segments, one behind the other, to the beginning of `to`; false if a region is gone. Only
    /// with [`AdapterAttributes::datagrams`].
    fn gather(&self, _segments: &[Segment], _to: &mut [u8]) -> bool {
        false
    }

    /// What the device has counted under the name that the kernel has for it; 0 for a name that it does not know.
    fn device_counter(&self, _name: &str) -> u64 {
        0
    }

    /// Called after a [`Closing::Later`] or [`Closing::Exposed`], without a lock: returns when the transport has
    /// released all buffers and [`Transport::disconnect`] would answer [`Closing::Done`].
    fn await_end(&self, _qp: &Arc<Self::Qp>) {}

    /// Called in the child of a fork, before anything else happens there: releases what must not be shared with the
    /// parent. Takes no lock that another thread of the parent may have held.
    fn after_fork_in_child() {}
}

/// A transport: one value for each open interface adapter.
///
/// Calls that post, poll or query reach no cancellation point: system calls go past libc, or forbid cancellation
/// ([`host::cancel`]), and so does what drops the last reference to a descriptor ([`host::cancel::Shielded`]).
pub trait Transport: Hooks {
    /// The most bytes of a send for which [`Hooks::post_inline`] is called.
    const INLINE_MAX: u64 = 0;

    /// Whether the transport asks for the receive of each message, by [`EndpointSink::deliver`] and
    /// [`EndpointSink::recv_take`], and keeps none of a queue pair itself. [`Transport::post_recv`] then only says that
    /// there is one more.
    const TAKES_RECEIVES: bool = false;

    /// Whether the transport locks [`Parts::Tx`] by itself ([`EndpointSink::lock_tx`]). If not, no thread leaves a poll
    /// to the one that has it locked.
    const KEEPS_TX: bool = false;

    /// The datagrams that can wait for one peer, however few requests the endpoint can have: they are no requests any more. Each
    /// takes as many bytes of registered memory as the longest one, of which only what is in use is touched. Intel MPI sends
    /// more than 256 at once for a message of 1 MiB: with so many places, four processes on two busy processors lost thousands
    /// over TCP, and took 20 s in place of 1; with 1024 none.
    const LANE: usize = 1024;

    /// Whether a thread that has armed one completion queue hears of new work in all of them, so that it arms no other one.
    const ARMS_ALL: bool = false;

    /// Opens the adapter that an entry of the configuration describes by `instance_data`.
    ///
    /// # Errors
    /// [`crate::Error::InsufficientResources`] with [`crate::error::Resource::Device`] if there is
    /// no such device.
    fn open(name: &str, instance_data: &str) -> Result<Arc<Self>>;

    /// Limits and abilities.
    fn attributes(&self) -> &AdapterAttributes;

    /// Sets the sink for reports on the adapter as a whole, which also tells of it. Called once, before anything is made.
    fn report_to(&self, _sink: AdapterSink<Self>) {}

    /// Makes a protection zone.
    fn zone_create(&self) -> Result<Self::Zone>;

    /// Registers `len` bytes at `addr`; `rights` includes the remote ones. `first` is the number by which peers name the
    /// byte at `addr`: `addr` itself, or 0 with [`AdapterAttributes::zero_based`]. Local segments name it by `addr` in
    /// either case. Where there are no atomic operations, the right to them grants nothing, here and in a bind, and is no
    /// error.
    ///
    /// # Errors
    /// [`crate::error::Arg::Region`] if the memory is not mapped, or not with these rights;
    /// [`crate::Error::ModelNotSupported`] for such numbers that the transport does not offer.
    fn register(&self, zone: &Self::Zone, addr: u64, len: u64, rights: Rights, first: u64) -> Result<Self::Region>;

    /// Makes an unbound window. Only with [`AdapterAttributes::rmr`].
    ///
    /// # Errors
    /// [`crate::Error::ModelNotSupported`] for a scope that the transport does not offer.
    fn window_create(&self, zone: &Self::Zone, scope: Scope) -> Result<Self::Window>;

    /// Makes a completion queue for at least `depth` completions.
    fn cq_create(&self, depth: usize) -> Result<Self::Cq>;

    /// Polls for completions and reports them to their sinks: those of `cq`, or of all completion queues. `how` says what to
    /// do while another thread does the same. Without such a thread, a poll that finds nothing makes no system call.
    fn poll(&self, cq: Option<&Self::Cq>, how: Poll);

    /// Prepares for sleep: from now on new work ends the sleep in the way that is returned. The caller polls once more
    /// before it sleeps, unless [`Armed::has_looked`]. Without `requests`, it sleeps whatever requests succeed.
    fn arm(&self, cq: Option<&Self::Cq>, requests: bool) -> Armed;

    /// Undoes [`Transport::arm`]; `armed` is what it returned, and `requests` what it was called with.
    fn disarm(&self, cq: Option<&Self::Cq>, armed: Armed, requests: bool);

    /// Makes a shared receive queue for at least `depth` receives of `segments` each. Only with [`AdapterAttributes::srq`].
    fn srq_create(&self, zone: &Self::Zone, depth: usize, segments: usize) -> Result<Self::Srq>;

    /// Hands over a receive. Never fails for lack of room, because the core counts. Returns whether a message may wait
    /// for it, so that [`Hooks::kick`] is to be called.
    fn srq_post(&self, srq: &Self::Srq, recv: &Recv<'_>) -> Result<bool>;

    /// Makes room for `depth` receives. Loses none.
    fn srq_resize(&self, srq: &Self::Srq, depth: usize) -> Result<()>;

    /// Asks for a report of the receives that were taken, by [`EndpointSink::recv_taken`],
    /// [`EndpointSink::recv_arrived`] or [`EndpointSink::recv_done`], when fewer than `limit` are left, even if no thread
    /// polls and even if fewer are left already. 0 asks for none. The core calls this without holding any lock that a
    /// report takes.
    fn srq_arm_limit(&self, srq: &Self::Srq, limit: usize) -> Result<()>;

    /// Makes a queue pair, unconnected, and its sending direction.
    fn qp_create(&self, init: QpInit<'_, Self>) -> Result<(Arc<Self::Qp>, Self::Tx)>;

    /// Hands over a receive, in any state of the queue pair. Returns whether a message may wait for it, so that
    /// [`Hooks::kick`] is to be called. With [`Transport::TAKES_RECEIVES`], the receive can be taken once the core
    /// has freed its lock.
    fn post_recv(&self, qp: &Self::Qp, recv: &Recv<'_>) -> Result<bool>;

    /// Hands over a request of a connected queue pair, and returns its mark, which is not below that of an earlier
    /// request. Requests complete in order: [`EndpointSink::requests_done`] reports all whose mark was reached, unless the
    /// answer says that this one is done. One that is found to be done right after the call may be reported in either way.
    fn post(&self, qp: &Arc<Self::Qp>, tx: &mut Self::Tx, request: &Request<'_>) -> Result<Handed>;

    /// Binds `window`, or unbinds it if there is no target, as a request in order with the others. Returns the new
    /// remote key, which is known at once, and the mark of the request, as [`Transport::post`] does.
    fn post_bind(
        &self,
        qp: &Arc<Self::Qp>,
        tx: &mut Self::Tx,
        id: RequestId,
        window: &Self::Window,
        target: Option<&BindTarget<'_, Self::Region>>,
        signalled: bool,
    ) -> Result<(u32, SeqNo)>;

    /// Polls for completions of the requests of `qp` alone; called when its queue is full.
    fn reap(&self, qp: &Arc<Self::Qp>);

    /// Listens on `qualifier`, or on one that the transport chooses; requests go to `sink`.
    ///
    /// # Errors
    /// [`crate::Error::QualifierInUse`], [`crate::Error::QualifierUnavailable`].
    fn listen(&self, qualifier: Option<u64>, sink: ListenerSink<Self>) -> Result<(Self::Listener, u64)>;

    /// Starts to connect; the outcome is reported later, never inside the call.
    fn connect(&self, qp: &Arc<Self::Qp>, connect: &Connect<'_>) -> Result<()>;

    /// Accepts a request with `qp`; the outcome is reported later. `private_data` is for the
    /// peer, at most [`AdapterAttributes::max_private_data`] bytes. On failure the request
    /// can be answered again.
    fn accept(&self, incoming: &mut Option<Self::Incoming>, qp: &Arc<Self::Qp>, private_data: &[u8]) -> Result<()>;

    /// Refuses a request. `private_data` is for the peer, at most [`AdapterAttributes::max_reject_data`] bytes, and none
    /// unless its program rejects it ([`Rejection::Consumer`]).
    fn reject(&self, incoming: Self::Incoming, why: Rejection, private_data: &[u8]);

    /// Port qualifier of the local end.
    fn local_qualifier(&self, qp: &Self::Qp) -> u64;

    /// Ends a connection or an attempt at once. With `broken` the peer learns that it failed. After [`Closing::Done`]
    /// no sink of `qp` is called.
    fn disconnect(&self, qp: &Arc<Self::Qp>, broken: bool) -> Closing;
}
