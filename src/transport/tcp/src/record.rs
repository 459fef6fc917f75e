//! The records that the two ends of a connection exchange, one after the other in the byte stream of a socket.
//!
//! ```text
//! ┌────────────────────────────────┬──────────────────────┬─────────────┐
//! │ header, 32 bytes               │ head, by kind        │ payload     │
//! │ kind flags len handled window  │ target, key, value   │             │
//! │ aux                            │ or operands          │             │
//! └────────────────────────────────┴──────────────────────┴─────────────┘
//!                                   <──────────── len ─────────────────>
//! ```
//!
//! A *request* is a part of a message or of a write, or asks for a response. The peer handles requests in order, each once it
//! can, and reports how many bytes of requests it has handled ([`Header::handled`]). A sender has at most
//! [`Header::window`] bytes of requests outstanding, so that the peer can keep those that wait for a receive. All other records
//! are handled as soon as they arrive, so they never wait for a receive.
//!
//! Numbers are little-endian. Each value is checked before it is used.

use dat_core::Change;
use dat_core::event::Status;
use dat_core::transport::RemoteSegment;

/// Bytes of a header.
pub const HEADER: usize = 32;
/// Maximum bytes of a head.
pub const MAX_HEAD: usize = ATOMIC;
/// Maximum payload of a record, which delays the reports that follow it.
pub const MAX_PAYLOAD: u64 = 1 << 20;
/// Bytes of requests that a peer can have outstanding at first.
pub const MIN_WINDOW: u32 = 128 << 10;
/// The same at most: 50 ms at 1 Gbit/s are 6 MiB.
pub const MAX_WINDOW: u32 = 16 << 20;
/// Maximum bytes of a transfer.
pub const LARGEST: u64 = 1 << 31;
/// Bytes that an atomic operation changes.
pub const WORD: u64 = 8;

/// Kinds of records.
pub mod kind {
    /// A part of a message of `aux` bytes.
    pub const MESSAGE: u8 = 1;
    /// The first part of a write of `aux` bytes, after its target.
    pub const WRITE: u8 = 2;
    /// A further part of a write.
    pub const WRITE_PART: u8 = 3;
    /// The immediate data of a write of `aux` bytes.
    pub const IMMEDIATE: u8 = 4;
    /// The next message, of `aux` bytes, invalidates the window with this key.
    pub const INVALIDATE: u8 = 5;
    /// Requests the bytes of a target.
    pub const READ: u8 = 6;
    /// Requests an atomic operation on eight bytes.
    pub const ATOMIC: u8 = 7;
    /// The last of the requests.
    pub const LAST_REQUEST: u8 = ATOMIC;
    /// Only reports what was handled.
    pub const HANDLED: u8 = 16;
    /// The next bytes of the response to the oldest read or atomic operation.
    pub const RESPONSE: u8 = 17;
    /// The connection ends; `aux` is an encoded [`End`](super::End).
    pub const END: u8 = 18;
}

/// Flag: the receive of this message is a solicited event.
pub const SOLICITED: u8 = 1;
/// Flag: the sender had to wait because the window was too small.
pub const WAITED: u8 = 2;

/// The first part of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// One of [`kind`].
    pub kind: u8,
    /// [`SOLICITED`] and [`WAITED`].
    pub flags: u8,
    /// Bytes of head and payload.
    pub len: u32,
    /// Bytes of requests of the receiver that the sender of this record has handled so far.
    pub handled: u64,
    /// Bytes of requests that the receiver can have outstanding.
    pub window: u32,
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
    /// Returns the header as bytes.
    #[inline]
    pub fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[0] = self.kind;
        bytes[1] = self.flags;
        bytes[4..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.handled.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.window.to_le_bytes());
        bytes[24..].copy_from_slice(&self.aux.to_le_bytes());
        bytes
    }

    /// Reads a header. Returns `None` if no version of this protocol writes these bytes.
    #[inline]
    pub fn decode(bytes: &[u8; HEADER]) -> Option<Header> {
        let header = Header {
            kind: bytes[0],
            flags: bytes[1],
            len: half(bytes, 4),
            handled: word(bytes, 8),
            window: half(bytes, 16),
            aux: word(bytes, 24),
        };
        let zero = bytes[2..4] == [0; 2] && bytes[20..24] == [0; 4] && header.flags & !(SOLICITED | WAITED) == 0;
        let head = header.head()? as u32;
        let payload = header.len.checked_sub(head)?;
        let fits = if header.has_payload() { u64::from(payload) <= MAX_PAYLOAD } else { payload == 0 };
        let window = (MIN_WINDOW..=MAX_WINDOW).contains(&header.window);
        (zero && fits && window).then_some(header)
    }

    /// Returns the bytes of the head of this kind of record. Returns `None` if there is no such kind.
    #[inline]
    pub fn head(&self) -> Option<usize> {
        match self.kind {
            kind::MESSAGE | kind::WRITE_PART | kind::HANDLED | kind::RESPONSE | kind::END => Some(0),
            kind::IMMEDIATE | kind::INVALIDATE => Some(size_of::<u32>()),
            kind::WRITE | kind::READ => Some(TARGET),
            kind::ATOMIC => Some(ATOMIC),
            _ => None,
        }
    }

    /// Returns whether a payload can follow the head.
    fn has_payload(&self) -> bool {
        matches!(self.kind, kind::MESSAGE | kind::WRITE | kind::WRITE_PART | kind::RESPONSE)
    }

    /// Returns whether the record is a request.
    #[inline]
    pub fn is_request(&self) -> bool {
        self.kind <= kind::LAST_REQUEST
    }
}

/// Bytes of a [`target`].
pub const TARGET: usize = 24;
/// Bytes of an [`atomic`].
pub const ATOMIC: usize = 32;

/// Encodes a range of the receiver's registered memory.
pub fn target(remote: &RemoteSegment) -> [u8; TARGET] {
    let mut bytes = [0; TARGET];
    for (place, word) in bytes.chunks_exact_mut(8).zip([remote.addr, remote.len, remote.key.into()]) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// Reads a [`target`]. Returns `None` if it is too long for a transfer.
pub fn read_target(head: &[u8]) -> Option<RemoteSegment> {
    let head = head.first_chunk::<TARGET>()?;
    let (addr, len, key) = (word(head, 0), word(head, 8), half(head, 16));
    (len <= LARGEST).then_some(RemoteSegment { addr, len, key })
}

/// Reads a number that is a whole head.
pub fn read_number(head: &[u8]) -> Option<u32> {
    head.try_into().ok().map(u32::from_le_bytes)
}

/// The operations of an [`atomic`].
const ADD: u32 = 0;
const SWAP: u32 = 1;

/// Encodes an atomic operation on eight bytes of the receiver's registered memory: address, two operands, key, operation.
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

/// Reads an [`atomic`]: its target and the operation. Returns `None` if there is no such operation.
pub fn read_atomic(head: &[u8]) -> Option<(RemoteSegment, Change)> {
    let head: &[u8; ATOMIC] = head.try_into().ok()?;
    let change = match (half(head, 28), word(head, 8), word(head, 16)) {
        (ADD, add, 0) => Change::Add(add),
        (SWAP, expected, new) => Change::Swap { expected, new },
        _ => return None,
    };
    Some((RemoteSegment { addr: word(head, 0), len: WORD, key: half(head, 24) }, change))
}

/// The reason why an end leaves the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its program disconnects.
    Disconnected,
    /// The connection failed. A status is that of the oldest request of the receiver which was not handled.
    Broken(Option<Status>),
}

/// The statuses with which a request of the peer can end. A record contains the index.
const STATUS: [Status; 3] = [Status::RemoteAccess, Status::RemoteResponder, Status::Transport];

impl End {
    /// Encodes the reason.
    pub fn encode(self) -> u64 {
        match self {
            End::Disconnected => 0,
            End::Broken(None) => 1,
            End::Broken(Some(status)) => STATUS.iter().position(|known| *known == status).map_or(1, |at| at as u64 + 2),
        }
    }

    /// Decodes a reason. Returns `None` if the number stands for none.
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
