//! Events, as they wait on an event dispatcher.

use std::sync::Arc;

use crate::slab::Handle;

/// How a data transfer or a bind ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Done.
    Success,
    /// Not done: the connection ended first.
    Flushed,
    /// The message is longer than the receive buffer.
    LocalLength,
    /// The endpoint is inconsistent.
    LocalEndpoint,
    /// A local region: wrong zone, too few rights, out of bounds or gone.
    LocalProtection,
    /// The peer answered what nobody asked.
    BadResponse,
    /// The peer's memory is not open to the operation.
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

/// The kind of transfer that completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the operations of the specification
pub enum Transfer {
    Send,
    Recv,
    Write,
    Read,
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

/// What an asynchronous event tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsyncReason {
    /// An event found no room on the dispatcher.
    EvdOverflow,
    /// A shared receive queue has fewer available buffers than its low watermark.
    SrqLowWatermark,
    /// An endpoint holds more receive buffers than its soft high watermark.
    EpSoftHighWatermark,
    /// The adapter cannot go on.
    IaCatastrophic,
}

/// One event.
#[derive(Clone, Debug)]
pub enum Event {
    /// A data transfer ended.
    Transfer {
        /// The endpoint; may have been freed since.
        ep: Handle,
        /// What the poster gave.
        cookie: u64,
        /// How it ended.
        status: Status,
        /// Bytes; meaningful on success.
        len: u64,
        /// What it was.
        transfer: Transfer,
    },
    /// A bind ended.
    Bind {
        /// The remote memory region.
        rmr: Handle,
        /// What the poster gave.
        cookie: u64,
        /// How it ended.
        status: Status,
    },
    /// Somebody wants to connect.
    Request {
        /// The service point.
        point: Handle,
        /// Whether the service point is a reserved one.
        reserved: bool,
        /// The qualifier that was addressed.
        qualifier: u64,
        /// The request.
        cr: Handle,
    },
    /// A connection changed.
    Connection {
        /// The endpoint; may have been freed since.
        ep: Handle,
        /// What happened.
        kind: ConnectionEvent,
        /// What the peer sent along, if anything; the endpoint keeps it in place.
        private_data: Option<Arc<[u8]>>,
    },
    /// Something happened that no call is waiting for.
    Async {
        /// The object concerned.
        object: Handle,
        /// What happened.
        reason: AsyncReason,
    },
    /// A program posted this.
    Software {
        /// What it gave.
        pointer: usize,
    },
}
