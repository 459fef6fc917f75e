//! The records that the two ends of a connection exchange, each a message of libfabric.
//!
//! A *request* is for the peer's next turn: a part of a message, of a write, or a question. The peer handles requests in
//! order, each once it can, and tells how many it has handled ([`Header::handled`]). A sender has at most [`CREDITS`]
//! requests that are not handled, so that the peer can keep all of them. Every other record is handled as soon as it comes,
//! and so never waits behind a message that finds no receive.
//!
//! Numbers are little-endian. Nothing that a record says is believed before it is checked.

use dat_core::Change;
use dat_core::event::Status;
use dat_core::transport::RemoteSegment;

/// Requests of a sender that the peer has not handled.
pub const CREDITS: usize = 32;
/// Answers of this end that libfabric has not sent yet.
pub const ANSWERS: usize = 4;
/// Slots to receive into: one for each request that waits, and one for the next record.
pub const RECEIVES: usize = CREDITS + 1;
/// Bytes before the payload.
pub const HEADER: usize = 24;
/// The most bytes of a payload. What is longer goes as a message of its own, which costs less than the copies from there on.
pub const PAYLOAD: usize = 32 << 10;
/// The most bytes of a record, of which some are before such bytes.
pub const SLOT: usize = PAYLOAD + 64;
/// The most bytes that follow a record as a message of their own. Over the loopback interface messages of this size are as fast
/// as of half of it, and faster than of twice as many bytes, whose copies no cache holds.
pub const BULK: usize = 512 << 10;
/// Requests with such bytes that the peer has not handled.
pub const BULKS: usize = 8;
/// The bytes of a transfer that stay in its last record, so that they are written last.
pub const TAIL: usize = 8;
/// The most bytes of a transfer.
pub const LARGEST: u64 = 1 << 31;
/// Bytes that an atomic operation changes.
pub const WORD: u64 = 8;

/// Kinds of records.
pub mod kind {
    /// A part of a message, of as many bytes as `aux` says.
    pub const MESSAGE: u8 = 1;
    /// The first part of a write, behind its target.
    pub const WRITE: u8 = 2;
    /// Another part of a write.
    pub const WRITE_PART: u8 = 3;
    /// The value that a write of `aux` bytes has brought.
    pub const IMMEDIATE: u8 = 4;
    /// The message of `aux` bytes behind it revokes the window of this key.
    pub const INVALIDATE: u8 = 5;
    /// Asks for the bytes of a target.
    pub const READ: u8 = 6;
    /// Asks for a change of eight bytes.
    pub const ATOMIC: u8 = 7;
    /// The last of the requests.
    pub const LAST_REQUEST: u8 = ATOMIC;
    /// Says only how many requests are handled.
    pub const HANDLED: u8 = 16;
    /// Bytes that were asked for: the next ones of the oldest question.
    pub const ANSWER: u8 = 17;
    /// The connection ends; `aux` says why, see [`End`](super::End).
    pub const END: u8 = 18;
}

/// Set in the flags of a message that is announced to a solicited waiter.
pub const SOLICITED: u8 = 1;

/// The part of a record before its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// One of [`kind`].
    pub kind: u8,
    /// [`SOLICITED`] or 0.
    pub flags: u8,
    /// Bytes that follow as a message of their own. They come before those of the record itself.
    pub bulk: u32,
    /// How many requests of the receiver the sender of this record has handled so far.
    pub handled: u64,
    /// Depends on the kind.
    pub aux: u64,
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|k| bytes[at + k]))
}

fn half(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|k| bytes[at + k]))
}

impl Header {
    /// The header as bytes.
    #[inline]
    pub fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[0] = self.kind;
        bytes[1] = self.flags;
        bytes[4..8].copy_from_slice(&self.bulk.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.handled.to_le_bytes());
        bytes[16..].copy_from_slice(&self.aux.to_le_bytes());
        bytes
    }

    /// Reads a record: its header and its payload. `None` if it is too short, or not as any version makes it.
    #[inline]
    pub fn decode(record: &[u8]) -> Option<(Header, &[u8])> {
        let (bytes, payload) = record.split_at_checked(HEADER)?;
        let bulk = half(bytes, 4);
        let known = bytes[2..4] == [0; 2] && bytes[1] & !SOLICITED == 0 && bulk as usize <= BULK;
        known.then(|| {
            let (handled, aux) = (word(bytes, 8), word(bytes, 16));
            (Header { kind: bytes[0], flags: bytes[1], bulk, handled, aux }, payload)
        })
    }

    /// Whether bytes may follow a record of this kind.
    #[inline]
    pub fn takes_bulk(&self) -> bool {
        matches!(self.kind, kind::MESSAGE | kind::WRITE | kind::WRITE_PART | kind::ANSWER)
    }

    /// Whether the record is a request.
    #[inline]
    pub fn is_request(&self) -> bool {
        self.kind <= kind::LAST_REQUEST
    }
}

/// Bytes of a [`target`].
pub const TARGET: usize = 24;
/// Bytes of an [`atomic`].
pub const ATOMIC: usize = 32;

/// A range of the receiver's registered memory.
pub fn target(remote: &RemoteSegment) -> [u8; TARGET] {
    let mut bytes = [0; TARGET];
    for (place, word) in bytes.chunks_exact_mut(8).zip([remote.addr, remote.len, remote.key.into()]) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// Reads a [`target`] and what is behind it; `None` if there is none.
pub fn read_target(payload: &[u8]) -> Option<(RemoteSegment, &[u8])> {
    let (bytes, rest) = payload.split_at_checked(TARGET)?;
    let (addr, len, key) = (word(bytes, 0), word(bytes, 8), half(bytes, 16));
    (len <= LARGEST).then_some((RemoteSegment { addr, len, key }, rest))
}

/// Reads a number that is a whole payload.
pub fn read_number(payload: &[u8]) -> Option<u32> {
    payload.try_into().ok().map(u32::from_le_bytes)
}

/// What an [`atomic`] does.
const ADD: u32 = 0;
const SWAP: u32 = 1;

/// An atomic operation on eight bytes of the receiver's registered memory: address, two operands, key, what is done.
pub fn atomic(addr: u64, key: u32, change: Change) -> [u8; ATOMIC] {
    let (what, first, second) = match change {
        Change::Add(add) => (ADD, add, 0),
        Change::Swap { expected, new } => (SWAP, expected, new),
    };
    let mut bytes = [0; ATOMIC];
    for (place, word) in bytes.chunks_exact_mut(8).zip([addr, first, second]) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes[24..28].copy_from_slice(&key.to_le_bytes());
    bytes[28..].copy_from_slice(&what.to_le_bytes());
    bytes
}

/// Reads an [`atomic`] that is a whole payload: its target, what is done; `None` if there is no such operation.
pub fn read_atomic(payload: &[u8]) -> Option<(RemoteSegment, Change)> {
    let bytes: &[u8; ATOMIC] = payload.try_into().ok()?;
    let change = match (half(bytes, 28), word(bytes, 8), word(bytes, 16)) {
        (ADD, add, 0) => Change::Add(add),
        (SWAP, expected, new) => Change::Swap { expected, new },
        _ => return None,
    };
    Some((RemoteSegment { addr: word(bytes, 0), len: WORD, key: half(bytes, 24) }, change))
}

/// Why an end leaves the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its program disconnects.
    Disconnected,
    /// The connection failed, with the oldest request of the receiver that is not handled if there is a status.
    Broken(Option<Status>),
}

/// The statuses that a peer's request can end with, by number from 0.
const STATUS: [Status; 3] = [Status::RemoteAccess, Status::RemoteResponder, Status::Transport];

impl End {
    /// The end as a number.
    pub fn encode(self) -> u64 {
        match self {
            End::Disconnected => 0,
            End::Broken(None) => 1,
            End::Broken(Some(status)) => STATUS.iter().position(|known| *known == status).map_or(1, |at| at as u64 + 2),
        }
    }

    /// Reads the end; `None` if there is none of this number.
    pub fn decode(number: u64) -> Option<End> {
        match number {
            0 => Some(End::Disconnected),
            1 => Some(End::Broken(None)),
            _ => Some(End::Broken(Some(*STATUS.get(usize::try_from(number - 2).ok()?)?))),
        }
    }
}

#[cfg(test)]
mod tests;
