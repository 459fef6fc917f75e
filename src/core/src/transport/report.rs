//! What a transport reports. The sinks that it reports to stand beside the objects behind them.

use host::epoch::{EpochGuard, Memory};

use crate::addr::Address;
use crate::event::Status;
use crate::lmr_table::CheckedSegment;
use crate::transport::work::{RecvId, Segment};

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
    /// It has revoked the window of this key ([`Operation::SendInvalidate`](super::Operation::SendInvalidate)), which shows
    /// nothing from now on and can be bound again. Its region may be deregistered.
    Invalidated(u32),
    /// It is a datagram, which lies behind [`LEAD`](super::LEAD) bytes of the buffer, in which there is nothing for the program.
    Datagram,
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
    /// Set if it asks for the exchange of datagrams: the number of its endpoint.
    pub datagrams: Option<u32>,
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

/// A message that has arrived, for [`EndpointSink::deliver`](super::EndpointSink::deliver). Not a closure, because the
/// compiler decides where the body of one goes, and this must be in line.
pub trait Placement<'s> {
    /// The section in which the message is delivered, if there is one.
    fn section(&self) -> Option<&'s EpochGuard<Memory>>;

    /// Puts the message into this segment, which is long enough; false if its memory is no longer registered. `checked` is
    /// the same segment if its memory is, as far as can be said at once.
    fn place(self, segment: &Segment, checked: Option<&CheckedSegment<'_>>) -> bool;
}

/// The outcome of [`EndpointSink::deliver`](super::EndpointSink::deliver).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Delivery {
    /// The message is in the oldest receive, which is complete.
    Done,
    /// There is no receive, or it has not one segment, or the endpoint is not ready for it: see
    /// [`EndpointSink::recv_take`](super::EndpointSink::recv_take).
    Other,
    /// The oldest receive, which is this one, is shorter than the message.
    TooLong(RecvId),
    /// The memory of the oldest receive, which is this one, is no longer registered.
    NoMemory(RecvId),
}
