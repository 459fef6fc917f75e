//! The work that the core hands to a transport: requests, receives, bindings.

use arrayvec::ArrayVec;

use crate::lmr_table::CheckedSegment;
use crate::mem::Rights;

/// The most segments that a single work request can name.
pub const MAX_SEGMENTS: usize = 32;

/// A piece of registered local memory, checked by the core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First byte.
    pub addr: u64,
    /// Bytes.
    pub len: u64,
    /// The local key of the region ([`super::RegionKeys::local_key`]).
    pub key: u64,
    /// The number of regions that the adapter had deregistered when this one was found: while it is the same, none of those
    /// found is gone.
    pub since: u64,
}

/// The checked segments of a work request. Unused places are not touched.
pub type Checked = ArrayVec<Segment, MAX_SEGMENTS>;

/// A piece of the peer's memory; only the peer's side can check it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemoteSegment {
    /// First byte, as an address of the peer.
    pub addr: u64,
    /// Bytes.
    pub len: u64,
    /// The remote key of a region or a window of the peer.
    pub key: u32,
}

/// Number of a request of one endpoint; rises by one with each post.
pub type RequestId = u64;

/// How far a queue pair is: the transport gives one to each request that it is handed ([`super::Transport::post`]), and
/// names with another one all requests that are done ([`super::EndpointSink::requests_done`]). Marks never fall from
/// one request of a queue pair to the next, and otherwise mean what the transport likes: the number of the request, a
/// position in a ring, a count of tickets. So it needs no list of requests that end in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeqNo(pub u64);

impl SeqNo {
    /// The mark of a request that is not done before its connection has ended, and is flushed then: of one that was posted
    /// while the connection ended.
    pub const NEVER: SeqNo = SeqNo(u64::MAX);
}

/// The answer of a transport to a request that it was handed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handed {
    /// Its mark.
    pub mark: SeqNo,
    /// Whether it is done, and all before it are. Then no report on it follows, and the core completes it at once.
    pub done: bool,
}

impl Handed {
    /// The answer for a request that is reported later.
    pub const fn under_way(mark: SeqNo) -> Self {
        Handed { mark, done: false }
    }
}

/// The request with which a connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedRequest {
    /// The oldest one of those that are not done.
    Oldest,
    /// The one of this number; all earlier ones succeeded.
    Number(RequestId),
}

/// Number under which a receive was handed to a transport.
pub type RecvId = u64;

/// The operation of a request.
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
    /// Send as [`Operation::Send`] does, and revoke the peer's window of this key before its receive completes. Only with
    /// [`AdapterAttributes::invalidate`](super::AdapterAttributes::invalidate).
    SendInvalidate {
        /// As in [`Operation::Send`].
        solicited: bool,
        /// The remote key of the window.
        key: u32,
    },
    /// Write as [`Operation::Write`] does, maybe no byte, and then complete the peer's next receive with this value, without
    /// a byte in its buffer. Only with [`AdapterAttributes::immediate`](super::AdapterAttributes::immediate).
    WriteImmediate {
        /// Where to write.
        to: RemoteSegment,
        /// The value.
        value: u32,
        /// Whether the receive is to be announced to a solicited waiter.
        solicited: bool,
    },
    /// Change eight bytes of the peer's memory, which are aligned and for which the peer checks [`Rights::REMOTE_ATOMIC`];
    /// their old value goes into the only local segment, of eight bytes. Counts as a read. Only with
    /// [`AdapterAttributes::atomics`](super::AdapterAttributes::atomics).
    Atomic {
        /// First byte, as an address of the peer.
        addr: u64,
        /// The remote key of its region or window.
        key: u32,
        /// The change.
        change: Change,
    },
}

/// The change that an atomic operation makes to eight bytes of the peer's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// This is added, modulo 2⁶⁴.
    Add(u64),
    /// They are replaced, if they are as expected.
    Swap {
        /// The value that is replaced.
        expected: u64,
        /// What it is replaced by.
        new: u64,
    },
}

/// A request to post.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its number.
    pub id: RequestId,
    /// Its operation.
    pub operation: Operation,
    /// Local memory, in order.
    pub segments: &'a [Segment],
    /// Sum of the lengths of `segments`; for a read, the length of the remote segment; for an atomic operation 8.
    pub len: u64,
    /// Whether it must not start before all earlier reads are complete.
    pub fence: bool,
    /// Whether its completion may wake a sleeping poster.
    pub signalled: bool,
}

/// A send of one segment of at most [`INLINE_MAX`](super::Transport::AT_ONCE) bytes, to post.
#[derive(Clone, Copy, Debug)]
pub struct ShortSend<'a> {
    /// Local memory.
    pub segment: CheckedSegment<'a>,
    /// As in [`Operation::Send`].
    pub solicited: bool,
    /// As in [`Request`].
    pub fence: bool,
    /// As in [`Request`].
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
    /// The number by which peers name the first byte, as in [`Transport::register`](super::Transport::register).
    pub first: u64,
}
