//! Records, the wire format of a connection.
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
//! A *request* is a part of a message or write, or needs a response. The receiver handles requests in order, and reports the
//! number of handled bytes. At most [`Header::window`] bytes are outstanding, because the receiver must store requests that
//! wait for a receive. It handles all other records as they arrive.
//!
//! Numbers are little-endian. Each value is checked before use.

use dat_core::Change;
use dat_core::event::Status;
use dat_core::transport::RemoteSegment;

/// Bytes of a header.
pub const HEADER: usize = 32;
pub const MAX_HEAD: usize = ATOMIC;
/// Maximum payload of a record, because longer ones would delay later reports.
pub const MAX_PAYLOAD: u64 = 1 << 20;
/// Initial window.
pub const MIN_WINDOW: u32 = 128 << 10;
/// Maximum window. For comparison: 50 ms at 1 Gbit/s are 6 MiB.
pub const MAX_WINDOW: u32 = 16 << 20;
/// Maximum bytes of a transfer.
pub const LARGEST: u64 = 1 << 31;
/// Bytes that an atomic operation changes.
pub const WORD: u64 = 8;

/// Kinds of records.
pub mod kind {
    /// A part of a message of `aux` bytes.
    pub const MESSAGE: u8 = 1;
    /// The target and first part of a write of `aux` bytes.
    pub const WRITE: u8 = 2;
    /// A further part of a write.
    pub const WRITE_PART: u8 = 3;
    /// The immediate data of a write of `aux` bytes.
    pub const IMMEDIATE: u8 = 4;
    /// The key of a window, which the next message, of `aux` bytes, invalidates.
    pub const INVALIDATE: u8 = 5;
    /// Requests the bytes of a target.
    pub const READ: u8 = 6;
    /// Requests an atomic operation on eight bytes.
    pub const ATOMIC: u8 = 7;
    /// The highest number of a request.
    pub const LAST_REQUEST: u8 = ATOMIC;
    /// Only reports how many bytes the sender of this record has handled.
    pub const HANDLED: u8 = 16;
    /// Bytes of the response to the oldest read or atomic operation.
    pub const RESPONSE: u8 = 17;
    /// End of the connection; `aux` is an encoded [`End`](super::End).
    pub const END: u8 = 18;
}

/// Flag: the receive of this message is a solicited event.
pub const SOLICITED: u8 = 1;
/// Flag: the sender had to wait for the window.
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
    /// Bytes of the receiver's requests that the sender has handled.
    pub handled: u64,
    /// Bytes of requests that the receiver may have outstanding.
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
    /// Encodes the header.
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

    /// Decodes and checks a header.
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

    /// Returns the length of the head; `None` for an unknown kind.
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

    fn has_payload(&self) -> bool {
        matches!(self.kind, kind::MESSAGE | kind::WRITE | kind::WRITE_PART | kind::RESPONSE)
    }

    /// Returns whether the record is a request.
    #[inline]
    pub fn is_request(&self) -> bool {
        self.kind <= kind::LAST_REQUEST
    }
}

pub const TARGET: usize = 24;
pub const ATOMIC: usize = 32;

/// Encodes a range of the receiver's registered memory.
pub fn target(remote: &RemoteSegment) -> [u8; TARGET] {
    let mut bytes = [0; TARGET];
    for (place, word) in bytes.chunks_exact_mut(8).zip([remote.addr, remote.len, remote.key.into()]) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// Decodes a [`target`]; `None` if it is too long for a transfer.
pub fn read_target(head: &[u8]) -> Option<RemoteSegment> {
    let head = head.first_chunk::<TARGET>()?;
    let (addr, len, key) = (word(head, 0), word(head, 8), half(head, 16));
    (len <= LARGEST).then_some(RemoteSegment { addr, len, key })
}

pub fn read_number(head: &[u8]) -> Option<u32> {
    head.try_into().ok().map(u32::from_le_bytes)
}

const ADD: u32 = 0;
const SWAP: u32 = 1;

/// Encodes an atomic operation on the receiver's memory: address, two operands, key, operation.
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

/// Decodes an [`atomic`]; `None` for an unknown operation.
pub fn read_atomic(head: &[u8]) -> Option<(RemoteSegment, Change)> {
    let head: &[u8; ATOMIC] = head.try_into().ok()?;
    let change = match (half(head, 28), word(head, 8), word(head, 16)) {
        (ADD, add, 0) => Change::Add(add),
        (SWAP, expected, new) => Change::Swap { expected, new },
        _ => return None,
    };
    Some((RemoteSegment { addr: word(head, 0), len: WORD, key: half(head, 24) }, change))
}

/// The reason for the end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The program disconnects.
    Disconnected,
    /// A failure, with the status of the receiver's oldest unhandled request, if known.
    Broken(Option<Status>),
}

/// Statuses of a peer's request, by their number in a record minus 2.
const STATUS: [Status; 3] = [Status::RemoteAccess, Status::RemoteResponder, Status::Transport];

impl End {
    pub fn encode(self) -> u64 {
        match self {
            End::Disconnected => 0,
            End::Broken(None) => 1,
            End::Broken(Some(status)) => STATUS.iter().position(|known| *known == status).map_or(1, |at| at as u64 + 2),
        }
    }

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
