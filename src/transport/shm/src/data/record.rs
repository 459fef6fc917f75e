//! Records of a connection: their kinds, flags and contents.
//!
//! # Which records ask to be acknowledged
//! When a record is consumed that asks for it ([`Acknowledge`]), the consumer sends notice to a producer that does not poll.
//! Records of signalled requests ask, since their consumption completes a request; a process in which no sleeper waits for
//! completions of requests is not woken by that, so an answer wakes a waiter once and not once more for what was sent
//! before. Records that fill the ring to more than a quarter ask as well, and so does an empty record that is added because
//! requests, or the program, wait for the end of earlier ones; these always wake a sleeper.

use dat_core::Change;

/// Kinds of record; 0 is the ring's own.
pub mod kind {
    /// A whole message.
    pub const MESSAGE: u8 = 1;
    /// A piece of a message; `aux` is the length of the whole.
    pub const MESSAGE_PIECE: u8 = 2;
    /// A message that is to be read from the sender's memory. The payload says where it is, `aux` is its length.
    pub const REMOTE_MESSAGE: u8 = 3;
    /// A piece of an RDMA write; the first one begins with the target, `aux` is the length of the whole.
    pub const WRITE_PIECE: u8 = 4;
    /// Asks for an RDMA read of the target in the payload.
    pub const READ: u8 = 5;
    /// A piece of the data that the oldest read asked for.
    pub const READ_DATA: u8 = 6;
    /// Nothing. The producer only wants to know when it is consumed.
    pub const NOTHING: u8 = 7;
    /// Asks for the bytes of an announced message, because the receiver cannot read the sender's memory. The payload is
    /// a [`place`](super::place): the position at which the announcement ends, and the bytes that are there already.
    pub const FETCH: u8 = 8;
    /// A piece of the message that was asked for with [`FETCH`]; `aux` is the length of the whole.
    pub const MESSAGE_DATA: u8 = 9;
    /// The value that an RDMA write brings, behind all of its data: it takes a receive. The payload is the value, `aux`
    /// the length of the write.
    pub const IMMEDIATE: u8 = 10;
    /// An atomic operation on registered memory: see [`atomic`](super::atomic). Is answered as a read of eight bytes.
    pub const ATOMIC: u8 = 11;
    /// Begins a message that revokes a window of the receiver: the payload is the window's key, `aux` the length of the
    /// message, which follows as [`MESSAGE_PIECE`]s or as a [`REMOTE_MESSAGE`].
    pub const INVALIDATE: u8 = 12;
    /// A whole RDMA write, which begins with the target, and which the producer may take back: see
    /// [`claim`](crate::claim).
    pub const SHORT_WRITE: u8 = 13;
    /// As [`READ`], and the producer may take it back.
    pub const SHORT_READ: u8 = 14;
    /// An RDMA write whose bytes are to be read from the producer's memory, and which the producer may take back before
    /// that has begun. The payload is the target and then as for [`REMOTE_MESSAGE`], `aux` is the length.
    pub const REMOTE_WRITE: u8 = 15;
}

/// Flag of a record: [`Header::solicited`].
pub const SOLICITED: u8 = 1;
/// Flag of a record: [`Acknowledge::Completion`].
const COMPLETION: u8 = 2;
/// Flag of a record: [`Acknowledge::Needed`].
const NEEDED: u8 = 4;

/// The longest message that travels in the ring as one record; longer ones are read from the sender's memory, or
/// travel in pieces of this length.
pub const EAGER_MAX: u64 = 8 * 1024;
/// The most bytes of a message or of an RDMA operation.
pub const LARGEST: u64 = 1 << 31;
/// Bytes of a read that one record carries where the peer cannot read by itself.
pub const ANSWER_MAX: u64 = 4080;

/// Bytes of the largest word that appears in one piece at the end of a transfer. The last piece of a transfer is not
/// shorter, unless the transfer is.
pub const WORD: u64 = 8;

/// The bytes of the next piece, at most `most`, of a transfer of which `rest` bytes are left.
#[inline]
pub const fn piece(rest: u64, most: u64) -> u64 {
    if rest <= most {
        rest
    } else if rest - most < WORD {
        rest - WORD
    } else {
        most
    }
}

/// Whether the producer of a record wants notice when it is consumed; the value is the flag of the record.
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Acknowledge {
    /// It finds out when it looks.
    No = 0,
    /// The record completes a request: the producer gets notice unless it sleeps and nobody there waits for the completion of
    /// requests.
    Completion = COMPLETION,
    /// The producer gets notice in any case, because it cannot go on before.
    #[default]
    Needed = NEEDED,
}

impl Acknowledge {
    /// What is wanted for the record of a request.
    #[inline]
    pub fn of(signalled: bool) -> Acknowledge {
        if signalled { Acknowledge::Completion } else { Acknowledge::No }
    }

    /// The flag of a record.
    #[inline]
    pub fn flag(self) -> u8 {
        self as u8
    }

    /// What the producer of records with these flags wants.
    #[inline]
    pub fn wanted(flags: u8) -> Acknowledge {
        match flags & (COMPLETION | NEEDED) {
            0 => Acknowledge::No,
            COMPLETION => Acknowledge::Completion,
            _ => Acknowledge::Needed,
        }
    }
}

/// The part of a record before its payload.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// One of [`kind`].
    pub kind: u8,
    /// The message is announced to a solicited waiter.
    pub solicited: bool,
    /// Whether the producer wants notice when the record is consumed.
    pub acknowledge: Acknowledge,
    /// Depends on the kind; for most the length of the whole message or transfer.
    pub aux: u64,
}

/// Bytes of a [`place`].
pub const PLACE: usize = 16;
/// Bytes of a [`target`].
pub const TARGET: usize = 24;

/// The 8 bytes at `at`.
fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|k| bytes[at + k]))
}

/// The 4 bytes at `at`.
fn half(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|k| bytes[at + k]))
}

/// The place of a piece of a message in the sender's memory: address, length. Or two other numbers.
pub fn place(addr: u64, len: u64) -> [u8; PLACE] {
    let mut bytes = [0; PLACE];
    bytes[..8].copy_from_slice(&addr.to_le_bytes());
    bytes[8..].copy_from_slice(&len.to_le_bytes());
    bytes
}

/// Reads a [`place`].
pub fn read_place(bytes: &[u8; PLACE]) -> (u64, u64) {
    (word(bytes, 0), word(bytes, 8))
}

/// A range of the receiver's registered memory.
pub fn target(addr: u64, key: u32, len: u64) -> [u8; TARGET] {
    let mut bytes = [0; TARGET];
    for (bytes, word) in bytes.chunks_exact_mut(8).zip(target_words(addr, key, len)) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// The same as words.
#[inline]
pub fn target_words(addr: u64, key: u32, len: u64) -> [u64; TARGET / 8] {
    [addr, len, key.into()]
}

/// Reads a [`target`]: address, key, length.
pub fn read_target(bytes: &[u8; TARGET]) -> (u64, u32, u64) {
    (word(bytes, 0), half(bytes, 16), word(bytes, 8))
}

/// Bytes of a number: a value, or a key.
pub const NUMBER: usize = 4;
/// Bytes of an [`atomic`].
pub const ATOMIC: usize = 32;
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

/// Reads an [`atomic`]: address, key, what is done; `None` if there is no such operation.
pub fn read_atomic(bytes: &[u8; ATOMIC]) -> Option<(u64, u32, Change)> {
    let change = match (half(bytes, 28), word(bytes, 8), word(bytes, 16)) {
        (ADD, add, 0) => Change::Add(add),
        (SWAP, expected, new) => Change::Swap { expected, new },
        _ => return None,
    };
    Some((word(bytes, 0), half(bytes, 24), change))
}

#[cfg(test)]
mod tests;
