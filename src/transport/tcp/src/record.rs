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
//! A *request* is a record with a part of a message or write, or a record that needs a response. The receiver handles
//! requests in order, and reports the number of handled bytes. At most [`Header::window`] bytes of requests are sent
//! but not handled, because the receiver must store requests that wait for a receive. It handles all other records as
//! they arrive.
//!
//! Numbers are little-endian. Each value is checked before use.

use dat_core::event::Status;
use dat_software::wire::{ATOMIC, NUMBER, TARGET, half, word};

/// Bytes of a header.
pub const HEADER: usize = 32;
pub const MAX_HEAD: usize = ATOMIC;
/// Maximum payload of a record in bytes. A longer payload would delay the reports of handled bytes in later records.
pub const MAX_PAYLOAD: u64 = 1 << 20;
/// Initial and minimum window in bytes.
pub const MIN_WINDOW: u32 = 128 << 10;
/// Maximum window in bytes. For comparison: at 1 Gbit/s, 6 MiB are sent during a round trip of 50 ms.
pub const MAX_WINDOW: u32 = 16 << 20;

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
    /// The highest kind that is a request.
    pub const LAST_REQUEST: u8 = ATOMIC;
    /// Only reports how many bytes the sender of this record has handled.
    pub const HANDLED: u8 = 16;
    /// Bytes of the response to the oldest read or atomic operation. Its header acknowledges all earlier requests.
    pub const RESPONSE: u8 = 17;
    /// End of the connection; `aux` is an encoded [`End`](super::End).
    pub const END: u8 = 18;
}

/// Flag: the receive of this message or immediate value ends a solicited wait.
pub const SOLICITED: u8 = 1;
/// Flag: the window has delayed the sender, so the receiver should widen it.
pub const WAITED: u8 = 2;

/// The header, with which each record begins.
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
    /// Maximum bytes of the receiver's requests that may be sent but not handled.
    pub window: u32,
    /// A value whose meaning depends on the [`kind`].
    pub aux: u64,
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

    /// Decodes a header. Returns `None` if it contains an impossible value.
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
        let known = matches!(header.kind, kind::MESSAGE..=kind::LAST_REQUEST | kind::HANDLED..=kind::END);
        let payload = u64::from(header.len).checked_sub(header.head() as u64)?;
        let fits = payload <= if header.has_payload() { MAX_PAYLOAD } else { 0 };
        let window = (MIN_WINDOW..=MAX_WINDOW).contains(&header.window);
        (zero && known && fits && window).then_some(header)
    }

    /// Returns the length of the head.
    pub fn head(&self) -> usize {
        match self.kind {
            kind::IMMEDIATE | kind::INVALIDATE => NUMBER,
            kind::WRITE | kind::READ => TARGET,
            kind::ATOMIC => ATOMIC,
            _ => 0,
        }
    }

    /// Returns the length of the header and head.
    pub fn start(&self) -> usize {
        HEADER + self.head()
    }

    /// Returns the length of the payload.
    pub fn payload(&self) -> u64 {
        u64::from(self.len) - self.head() as u64
    }

    /// Returns whether records of this kind have a payload.
    pub fn has_payload(&self) -> bool {
        matches!(self.kind, kind::MESSAGE | kind::WRITE | kind::WRITE_PART | kind::RESPONSE)
    }

    /// Returns whether [`SOLICITED`] is set.
    pub fn is_solicited(&self) -> bool {
        self.flags & SOLICITED != 0
    }

    /// Returns whether the record is a request.
    pub fn is_request(&self) -> bool {
        self.kind <= kind::LAST_REQUEST
    }
}

/// The reason for the end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The sender's program has disconnected.
    Disconnected,
    /// A failure, with the status of the receiver's oldest unhandled request, if known.
    Broken(Option<Status>),
}

/// Reasons by their number in a record.
const ENDS: [End; 5] = [
    End::Disconnected,
    End::Broken(None),
    End::Broken(Some(Status::RemoteAccess)),
    End::Broken(Some(Status::RemoteResponder)),
    End::Broken(Some(Status::Transport)),
];

impl End {
    /// Returns the number of the reason. A status without a number is encoded as an unknown status.
    pub fn encode(self) -> u64 {
        ENDS.iter().position(|end| *end == self).unwrap_or(1) as u64
    }

    pub fn decode(number: u64) -> Option<End> {
        ENDS.get(usize::try_from(number).ok()?).copied()
    }
}

#[cfg(test)]
mod tests;
