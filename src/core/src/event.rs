//! Events, their streams, and the rule for notification events.

use std::sync::Arc;

use crate::addr::Address;
use crate::arena::Handle;

/// The result of a data transfer or a bind, with the number of the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the specification's names
pub enum Status {
    Success,
    /// The connection ended before the work completed.
    Flushed,
    /// The message is longer than the receive buffer.
    LocalLength,
    LocalEndpoint,
    /// A local region has the wrong zone, lacks a right, is out of bounds or was deregistered.
    LocalProtection,
    /// The peer sent a response that matches no request.
    BadResponse,
    /// The peer's memory does not grant the operation.
    RemoteAccess,
    /// The peer failed to execute the operation.
    RemoteResponder,
    Transport,
    /// The peer has no receive posted.
    ReceiverNotReady,
    /// Part of a message is missing.
    PartialPacket,
    /// The bind or the use of a remote memory region failed.
    RmrOperation,
}

/// A kind of transfer. The first four have the numbers of the C interface; only some API versions have the others,
/// whose two lowest bits contain the number of the corresponding ordinary kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the operations of the specification
pub enum Transfer {
    Send = 0,
    Write = 1,
    Read = 2,
    Recv = 3,
    WriteImmediate = 5,
    FetchAdd = 6,
    /// A receive that a write with immediate data completed.
    RecvImmediate = 7,
    SendDatagram = 8,
    CompareSwap = 10,
    /// A receive whose message revoked a remote memory region.
    RecvInvalidated = 11,
    RecvDatagram = 15,
}

impl Transfer {
    pub(crate) const COUNT: usize = Transfer::RecvDatagram as usize + 1;
}

/// The completion of a data transfer: see [`Event::Transfer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The endpoint, which may have been freed since.
    pub ep: Handle,
    /// Cookie of the poster.
    pub cookie: u64,
    /// Length in bytes; valid on success.
    pub len: u64,
    /// Result of the transfer.
    pub status: Status,
    /// Kind of transfer.
    pub transfer: Transfer,
}

/// A kind of connection event, in the order of the C interface.
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

/// A peer of a datagram endpoint, as events describe it.
#[derive(Debug)]
pub struct Peer {
    /// Address handle; NULL if no datagram can be sent to the peer.
    pub handle: Handle,
    /// Number of the peer's endpoint, the same for all peers of that endpoint.
    pub number: u32,
    /// Address of the peer.
    pub address: Address,
    /// Private data of the request or reply.
    pub private_data: Option<Arc<[u8]>>,
}

/// A kind of event about a peer of a datagram endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeerEvent {
    /// The peer has accepted the request of this side; datagrams can be sent to the peer.
    Answered,
    /// This side has accepted the peer's request; datagrams can be sent to the peer.
    Accepted,
    /// The peer has rejected the request, or has no service point for it.
    Rejected,
    /// This side has accepted the peer's request, but cannot reach the peer.
    Failed,
}

impl ConnectionEvent {
    pub(crate) const COUNT: usize = ConnectionEvent::Unreachable as usize + 1;
}

/// The reason for an asynchronous event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // names of the specification
pub enum AsyncReason {
    /// An event was lost because its EVD was full.
    EvdOverflow,
    /// A shared receive queue has fewer available buffers than its low watermark.
    SrqLowWatermark,
    /// An endpoint holds more receive buffers than its soft high watermark.
    EpSoftHighWatermark,
    /// The connection of an endpoint with an SRQ ended, so the endpoint takes no more buffers. Only raised with
    /// [`ApiCaps::tell_end_of_shared`](crate::ApiCaps::tell_end_of_shared).
    EndpointLeftShared,
    IaCatastrophic,
}

impl AsyncReason {
    pub(crate) const COUNT: usize = AsyncReason::IaCatastrophic as usize + 1;

    pub(crate) fn is_watermark(self) -> bool {
        matches!(self, AsyncReason::SrqLowWatermark | AsyncReason::EpSoftHighWatermark)
    }
}

/// An event.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // names of the specification
pub enum Event {
    Transfer {
        ep: Handle,
        cookie: u64,
        status: Status,
        len: u64,
        /// [`Transfer::Recv`] if a receive failed.
        transfer: Transfer,
        /// The immediate data of [`Transfer::RecvImmediate`], or the key of [`Transfer::RecvInvalidated`]; else 0.
        extra: u32,
    },
    Bind {
        rmr: Handle,
        cookie: u64,
        status: Status,
    },
    ConnectionRequest {
        point: Handle,
        /// `true` for a reserved service point.
        reserved: bool,
        /// `true` if the peer requests an exchange of datagrams.
        datagrams: bool,
        qualifier: u64,
        cr: Handle,
    },
    /// The state of a connection changed.
    Connection {
        ep: Handle,
        kind: ConnectionEvent,
        /// Private data of the peer. Valid until the EVD's next event with private data is taken, or the EVD is freed.
        private_data: Option<Arc<[u8]>>,
    },
    /// An exchange of a datagram endpoint with a peer has succeeded or failed.
    Peer {
        ep: Handle,
        kind: PeerEvent,
        /// The peer. Its private data stays valid until the exchange is freed.
        peer: Arc<Peer>,
    },
    Async {
        object: Handle,
        reason: AsyncReason,
    },
    Software {
        /// The program's pointer, which core does not access.
        pointer: usize,
    },
}

bitflags::bitflags! {
    /// A set of event streams, with the bits of the C interface.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Streams: u32 {
        /// Software events.
        const SOFTWARE = 0x001;
        /// Connection requests.
        const CONNECTION_REQUESTS = 0x010;
        /// DTO completions.
        const TRANSFERS = 0x020;
        /// Connection events.
        const CONNECTIONS = 0x040;
        /// Bind completions.
        const BINDS = 0x080;
        /// Asynchronous events.
        const ASYNC = 0x100;
        /// A stream without events, which an EVD may accept.
        const OTHER = 0x200;
    }
}

/// Determines which completions of a stream are notification events. Only [`Feed::Threshold`] allows waits with a
/// threshold above 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feed {
    /// Every completion is a notification event.
    Threshold,
    /// The poster selects the notification events.
    Unsignalled,
    /// The sender selects the notification events.
    Solicited,
}

/// Returns whether a completion is a notification event, which ends waits and triggers CNOs. Every failure is a
/// notification event. The poster of the transfer sets `quiet`, the sender of the message sets `solicited`.
#[inline(always)]
pub(crate) fn notifies(feed: Feed, quiet: bool, solicited: bool, status: Status) -> bool {
    let wanted = if matches!(feed, Feed::Solicited) { solicited } else { !quiet };
    wanted || !matches!(status, Status::Success)
}

bitflags::bitflags! {
    /// Completion flags of a post or of a stream. Any other bit causes the same error as a flag that the call does not
    /// allow.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct CompletionFlags: u32 {
        /// A success queues no event.
        const SUPPRESS = 0x01;
        /// The completion of the peer's receive is a notification event in a solicited stream.
        const SOLICITED_WAIT = 0x02;
        /// The completion is not a notification event.
        const UNSIGNALLED = 0x04;
        /// The request starts only after all earlier reads.
        const BARRIER_FENCE = 0x08;
        /// Every completion is a notification event; attribute of a stream.
        const EVD_THRESHOLD = 0x10;
    }
}

impl CompletionFlags {
    /// An event, and a notification, for every completion.
    pub const DEFAULT: CompletionFlags = CompletionFlags::empty();
}

#[cfg(all(test, not(loom)))]
mod tests;
