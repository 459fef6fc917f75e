//! The data in a transport's reports. The sinks are in the modules of their objects.

use std::io;

use host::epoch::{EpochGuard, Memory};
use host::{limit, net};

use crate::addr::Address;
use crate::event::Status;
use crate::lmr_table::{CheckedSegment, Writable};
use crate::transport::work::{RecvId, Segment};

/// A completed receive.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct RecvDone {
    pub id: RecvId,
    pub status: Status,
    pub len: u64,
    /// `true` if the sender set the solicited flag, so that the receive ends a solicited wait.
    pub solicited: bool,
}

/// The data of a message in addition to its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// Immediate data of a write ([`Operation::WriteImmediate`](super::Operation::WriteImmediate)). The receive
    /// completes with the length of the write, but its buffer is unchanged.
    Immediate(u32),
    /// Key of a window that the message revoked ([`Operation::SendInvalidate`](super::Operation::SendInvalidate)). The
    /// window can be bound again, and its region deregistered.
    Invalidated(u32),
}

/// A connection request, as the transport reports it to a service point.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct ConnectionRequestInfo {
    pub qualifier: u64,
    pub remote_address: Address,
    pub remote_qualifier: u64,
    pub private_data: Vec<u8>,
    /// The number of the peer's endpoint (`DatagramSink::number`), if the peer requests an exchange of address handles.
    pub datagrams: Option<u32>,
}

/// A change of a connection or an attempt to connect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ConnectionReport {
    /// The connection is established. Contains the acceptor's private data for the active side.
    Established(Vec<u8>),
    /// The peer's program rejected the request. Contains its private data.
    PeerRejected(Vec<u8>),
    /// The request was rejected, but not by the peer's program.
    NonPeerRejected,
    TimedOut,
    Unreachable,
    /// The passive side accepted, but the connection was not established.
    AcceptFailed,
    /// The peer ended the connection or has exited, or a disconnect is complete ([`Closing::Later`](super::Closing)).
    Disconnected,
    Broken,
}

impl ConnectionReport {
    /// Returns the report of an attempt to connect that failed with `error`. Programs repeat a rejected attempt. So if
    /// a repetition would fail, too, the report is [`ConnectionReport::Unreachable`].
    pub fn of(error: &io::Error) -> Self {
        match net::is_unreachable(error) || limit::is_lack(error) || error.kind() == io::ErrorKind::PermissionDenied {
            true => ConnectionReport::Unreachable,
            false => ConnectionReport::NonPeerRejected,
        }
    }
}

/// Core's reply to the report of a taken buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[allow(missing_docs)]
pub enum Verdict {
    Continue,
    /// The hard high watermark was exceeded, or memory is exhausted: the transport must break the connection.
    Break,
}

/// An arrived message, for [`EndpointSink::deliver`](super::EndpointSink::deliver). A trait, because closures might not
/// be inlined.
pub trait Placement<'s>: Copy {
    /// Returns the epoch guard of the delivery, if there is one.
    fn section(&self) -> Option<&'s EpochGuard<Memory>>;

    /// Stores the message in `segment`, which is long enough. Returns `false` if its memory is no longer registered.
    /// `checked` contains `segment` if there is a guard, and no region was deregistered since the segment's check. With
    /// `None`, the transport must check the segment.
    fn place(self, segment: &Segment, checked: Option<&CheckedSegment<'_, Writable>>) -> bool;
}

/// The result of [`EndpointSink::deliver`](super::EndpointSink::deliver) and
/// [`EndpointSink::deliver_shared`](super::EndpointSink::deliver_shared). Only `Done` completes the receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Delivery {
    /// The oldest receive contains the message and is complete.
    Done,
    /// The fast path cannot be used: for example, there is no receive, the oldest does not have exactly one segment, or
    /// the endpoint is not connected. The transport must call
    /// [`EndpointSink::recv_take`](super::EndpointSink::recv_take).
    Other,
    /// The oldest receive, with this number, is too short.
    TooLong(RecvId),
    /// The memory of the oldest receive, with this number, is no longer registered.
    NoMemory(RecvId),
}

#[cfg(test)]
mod tests;
