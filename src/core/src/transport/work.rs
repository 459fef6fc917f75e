//! The work that core passes to a transport: requests, receives, binds.

use arrayvec::ArrayVec;

use crate::lmr_table::CheckedSegment;
use crate::mem::Rights;

/// Maximum segments of a work request.
pub const MAX_SEGMENTS: usize = 32;

/// A checked range of registered local memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Address of the first byte.
    pub addr: u64,
    /// Length in bytes.
    pub len: u64,
    /// Local key of the region ([`super::RegisteredRegion::local_key`]).
    pub key: u64,
    /// The adapter's number of deregistrations before the check. While it is unchanged, the region is registered.
    pub since: u64,
}

/// The checked segments of a work request.
pub type Checked = ArrayVec<Segment, MAX_SEGMENTS>;

/// A range of the peer's memory. Only the peer can check it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemoteSegment {
    /// Address of the first byte in the peer's address space.
    pub addr: u64,
    /// Length in bytes.
    pub len: u64,
    /// Remote key of the peer's region or window.
    pub key: u32,
}

impl RemoteSegment {
    /// The value for sends, which have no remote segment. A post needs no instructions to store this constant.
    pub const NONE: RemoteSegment = RemoteSegment { addr: 0, len: 0, key: 0 };
}

/// Number of a request of one endpoint, increased by one per post.
pub type RequestId = u64;

/// A position among a queue pair's requests. The transport assigns a position to each request
/// ([`super::Transport::post`]); later requests have no lower position. The transport reports completion up to a
/// position ([`super::EndpointSink::requests_done`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeqNo(pub u64);

impl SeqNo {
    /// Position of a request that was posted while its connection was ending. No report reaches this position.
    pub const NEVER: SeqNo = SeqNo(u64::MAX);
}

/// The result of the post of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handed {
    /// Position of the request.
    pub mark: SeqNo,
    /// `true` if this and all earlier requests have completed. No report needs to follow.
    pub done: bool,
}

impl Handed {
    /// Returns the result for a request that completes later.
    pub const fn under_way(mark: SeqNo) -> Self {
        Handed { mark, done: false }
    }
}

/// The request that failed with its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedRequest {
    /// The oldest outstanding request.
    Oldest,
    /// The request with this number. All earlier requests have succeeded.
    Number(RequestId),
}

/// Number of a receive that was passed to a transport.
pub type RecvId = u64;

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operation {
    /// Send to the peer's next receive.
    Send {
        /// `true` if the peer's receive ends a solicited wait.
        solicited: bool,
    },
    Write(RemoteSegment),
    Read(RemoteSegment),
    /// Like [`Operation::Send`], but also revokes a window of the peer before the receive completes. Requires
    /// [`AdapterAttributes::invalidate`](super::AdapterAttributes::invalidate).
    SendInvalidate {
        solicited: bool,
        key: u32,
    },
    /// Like [`Operation::Write`], possibly without bytes. After the write, the peer's next receive completes with this
    /// value. Requires [`AdapterAttributes::immediate`](super::AdapterAttributes::immediate).
    WriteImmediate {
        to: RemoteSegment,
        value: u32,
        solicited: bool,
    },
    /// Changes 8 aligned bytes of the peer's memory, with [`Rights::REMOTE_ATOMIC`], and stores the old value in the
    /// only local segment. Counts as a read. Requires
    /// [`AdapterAttributes::atomics`](super::AdapterAttributes::atomics).
    Atomic {
        addr: u64,
        key: u32,
        change: Change,
    },
}

/// The change of an atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Change {
    /// Adds this value, modulo 2⁶⁴.
    Add(u64),
    /// Replaces the value if it is the expected one.
    Swap { expected: u64, new: u64 },
}

/// A request to post.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Request<'a> {
    pub id: RequestId,
    pub operation: Operation,
    /// Local memory, in order.
    pub segments: &'a [Segment],
    /// Total length of the segments in bytes; for a read, of the remote segment; for an atomic operation, 8.
    pub len: u64,
    /// `true` if the request must wait for all earlier reads.
    pub fence: bool,
    /// `false` if the program suppressed the completion, so that a success need not wake a waiting thread.
    pub signalled: bool,
}

impl Request<'_> {
    /// Returns whether this is an [`Operation::Send`] that ends a solicited wait of the peer.
    pub fn is_solicited(&self) -> bool {
        matches!(self.operation, Operation::Send { solicited: true })
    }
}

/// A send of one segment of at most [`INLINE_MAX`](super::Transport::INLINE_MAX) bytes, for the fast path.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // the fields of [`Request`]
pub struct ShortSend<'a> {
    pub segment: CheckedSegment<'a>,
    pub solicited: bool,
    pub fence: bool,
    pub signalled: bool,
}

/// A receive to post.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Recv<'a> {
    pub id: RecvId,
    /// Local memory, in order.
    pub segments: &'a [Segment],
}

/// Range and rights of a window for a bind.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct BindTarget<'a, R> {
    pub region: &'a R,
    pub addr: u64,
    pub len: u64,
    pub rights: Rights,
    /// The peers' address of the first byte, as in [`Transport::register`](super::Transport::register).
    pub first: u64,
}
