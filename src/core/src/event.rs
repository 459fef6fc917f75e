//! Events, as they wait on an event dispatcher; the streams that they come in, and how they are
//! announced.

use std::sync::Arc;

use once_cell::sync::OnceCell;

use crate::addr::Address;
use crate::slab::Handle;

/// The end of a data transfer or a bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Done.
    Success,
    /// The connection ended before the work was done.
    Flushed,
    /// The message is longer than the receive buffer.
    LocalLength,
    /// The endpoint is inconsistent.
    LocalEndpoint,
    /// A local region has the wrong zone or too few rights, is out of bounds or is gone.
    LocalProtection,
    /// The peer sent an answer that belongs to no request.
    BadResponse,
    /// The peer's memory does not admit the operation.
    RemoteAccess,
    /// The peer could not carry the operation out.
    RemoteResponder,
    /// The link is gone.
    Transport,
    /// The peer has no receive posted.
    ReceiverNotReady,
    /// A part of a message is missing.
    PartialPacket,
    /// The bind or the use of a remote memory region failed.
    RmrOperation,
}

/// The kind of transfer that completed. A face may use the same numbers, and then needs no translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the operations of the specification
pub enum Transfer {
    Send,
    Write,
    Read,
    Recv,
}

/// The end of a data transfer, as in [`Event::Transfer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The endpoint, which may have been freed since.
    pub ep: Handle,
    /// The cookie that the poster gave.
    pub cookie: u64,
    /// Bytes; meaningful on success.
    pub len: u64,
    /// The status with which it ended.
    pub status: Status,
    /// The kind of transfer.
    pub transfer: Transfer,
}

/// The kinds of transfer that not every version of the interface has. They have an event of their own, [`Event::Extended`],
/// so that the usual ones carry no more than they need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extended {
    /// A write that brought the peer a value.
    WriteImmediate,
    /// An addition to the peer's memory.
    FetchAdd,
    /// A conditional exchange in the peer's memory.
    CompareSwap,
    /// A receive that the value behind a write of the peer has taken.
    RecvImmediate,
    /// A receive of a message that has revoked a remote memory region.
    RecvInvalidated,
    /// A datagram that was sent.
    SendDatagram,
    /// A receive of a datagram.
    RecvDatagram,
}

impl Extended {
    /// The number of kinds.
    pub(crate) const COUNT: usize = Extended::RecvDatagram as usize + 1;

    /// The usual kind of transfer that it is like.
    pub const fn transfer(self) -> Transfer {
        match self {
            Extended::WriteImmediate => Transfer::Write,
            Extended::FetchAdd | Extended::CompareSwap => Transfer::Read,
            Extended::RecvImmediate | Extended::RecvInvalidated | Extended::RecvDatagram => Transfer::Recv,
            Extended::SendDatagram => Transfer::Send,
        }
    }
}

impl From<Completion> for Event {
    fn from(Completion { ep, cookie, len, status, transfer }: Completion) -> Self {
        Event::Transfer { ep, cookie, status, len, transfer }
    }
}

/// The kinds of connection event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the events of the specification
pub enum ConnectionEvent {
    Established,
    PeerRejected,
    NonPeerRejected,
    AcceptCompletionError,
    Disconnected,
    Broken,
    TimedOut,
    Unreachable,
}

/// A peer of an endpoint for datagrams, as events tell of it.
#[derive(Debug)]
pub struct Peer {
    pub(crate) number: u64,
    pub(crate) endpoint: OnceCell<u32>,
    pub(crate) address: Address,
    pub(crate) private_data: OnceCell<Arc<[u8]>>,
}

impl Peer {
    /// Its number, which no other peer has.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The number of its endpoint, which is the same for all who know that.
    pub fn endpoint(&self) -> u32 {
        self.endpoint.get().copied().unwrap_or(0)
    }

    /// Its address.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The bytes that it has sent along: with its request, or its answer.
    pub fn private_data(&self) -> Option<&Arc<[u8]>> {
        self.private_data.get()
    }
}

/// The kinds of event about a peer of an endpoint for datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeerEvent {
    /// It has accepted, and can be sent to.
    Answered,
    /// It was accepted, and can be sent to.
    Accepted,
    /// It has rejected the request, or there is nobody to take it.
    Rejected,
    /// It was accepted, but cannot be reached.
    Failed,
}

impl ConnectionEvent {
    /// The number of kinds.
    pub(crate) const COUNT: usize = ConnectionEvent::Unreachable as usize + 1;
}

/// The reason of an asynchronous event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsyncReason {
    /// An event found no room on the dispatcher.
    EvdOverflow,
    /// A shared receive queue has fewer available buffers than its low watermark.
    SrqLowWatermark,
    /// An endpoint holds more receive buffers than its soft high watermark.
    EpSoftHighWatermark,
    /// The connection of an endpoint has ended that receives from a shared receive queue: it takes no more buffers
    /// from there. Raised only where programs want it ([`ApiCaps`](crate::ApiCaps)).
    EndpointLeftShared,
    /// The adapter cannot go on.
    IaCatastrophic,
}

impl AsyncReason {
    /// The number of reasons.
    pub(crate) const COUNT: usize = AsyncReason::IaCatastrophic as usize + 1;
}

/// One event.
#[derive(Clone, Debug)]
pub enum Event {
    /// A data transfer ended.
    Transfer {
        /// The endpoint, which may have been freed since.
        ep: Handle,
        /// The cookie that the poster gave.
        cookie: u64,
        /// The status with which it ended.
        status: Status,
        /// Bytes; meaningful on success.
        len: u64,
        /// The kind of transfer.
        transfer: Transfer,
    },
    /// A transfer ended that not every version of the interface has; a receive only with success.
    Extended {
        /// The endpoint, which may have been freed since.
        ep: Handle,
        /// The cookie that the poster gave.
        cookie: u64,
        /// The status with which it ended.
        status: Status,
        /// Bytes; meaningful on success.
        len: u64,
        /// The kind of transfer.
        operation: Extended,
        /// The value of [`Extended::RecvImmediate`], the remote key of [`Extended::RecvInvalidated`]; otherwise 0.
        extra: u32,
    },
    /// A bind ended.
    Bind {
        /// The remote memory region.
        rmr: Handle,
        /// The cookie that the poster gave.
        cookie: u64,
        /// The status with which it ended.
        status: Status,
    },
    /// Somebody wants to connect.
    ConnectionRequest {
        /// The service point.
        point: Handle,
        /// Whether the service point is a reserved one.
        reserved: bool,
        /// Whether the peer asks for the exchange of datagrams.
        datagrams: bool,
        /// The qualifier that the peer asked for.
        qualifier: u64,
        /// The request.
        cr: Handle,
    },
    /// A connection changed.
    Connection {
        /// The endpoint, which may have been freed since.
        ep: Handle,
        /// The kind of change.
        kind: ConnectionEvent,
        /// The peer's private data, if any. The dispatcher keeps the bytes in place until an event with others is taken
        /// from it, or it is freed.
        private_data: Option<Arc<[u8]>>,
    },
    /// A peer of an endpoint for datagrams has answered, or has been answered.
    Peer {
        /// The endpoint, which may have been freed since.
        ep: Handle,
        /// What became of the peer.
        kind: PeerEvent,
        /// The peer. The endpoint keeps what belongs to it until it is freed.
        peer: Arc<Peer>,
    },
    /// Something happened that no call waits for.
    Async {
        /// The object that the event is about.
        object: Handle,
        /// The reason.
        reason: AsyncReason,
    },
    /// A program posted the event.
    Software {
        /// The pointer that the program gave.
        pointer: usize,
    },
}

bitflags::bitflags! {
    /// A set of event streams.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Streams: u8 {
        /// Events that a program posts.
        const SOFTWARE = 1;
        /// Connection requests.
        const CONNECTION_REQUESTS = 2;
        /// Completions of data transfers.
        const TRANSFERS = 4;
        /// Connection events.
        const CONNECTIONS = 8;
        /// Completions of binds.
        const BINDS = 16;
        /// Asynchronous events.
        const ASYNC = 32;
        /// Events that fit none of these. There are none, but a dispatcher may admit them.
        const OTHER = 64;
    }
}

/// The way in which a stream feeds a dispatcher, for the rule on thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feed {
    /// Every completion is announced.
    Threshold,
    /// The poster decides which completion is announced.
    Unsignalled,
    /// The sender decides which completion is announced.
    Solicited,
}

/// Whether a completion is a notification event, which ends waits and triggers notification objects. `feed` is the
/// configuration of its stream, `quiet` the choice of the poster and `solicited` that of the sender. A failure always is one.
#[inline(always)]
pub(crate) fn notifies(feed: Feed, quiet: bool, solicited: bool, status: Status) -> bool {
    let wanted = if matches!(feed, Feed::Solicited) { solicited } else { !quiet };
    wanted || !matches!(status, Status::Success)
}

bitflags::bitflags! {
    /// Completion flags: a poster's choices for one completion, and the configuration of an endpoint's streams. A face
    /// may use the same bits, and then needs no translation; bits that are none of these are refused like flags in the
    /// wrong place.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct CompletionFlags: u32 {
        /// No event on success.
        const SUPPRESS = 0x01;
        /// The peer's receive is announced to a solicited waiter.
        const SOLICITED_WAIT = 0x02;
        /// The event is not announced.
        const UNSIGNALLED = 0x04;
        /// Start only when all earlier reads are complete.
        const BARRIER_FENCE = 0x08;
        /// Every completion is announced; used as an attribute.
        const EVD_THRESHOLD = 0x10;
    }
}

impl CompletionFlags {
    /// An event and an announcement for every completion.
    pub const DEFAULT: CompletionFlags = CompletionFlags::empty();
}

#[cfg(all(test, not(loom)))]
mod tests;
