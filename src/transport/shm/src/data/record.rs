//! Records of a connection: kinds, flags and contents.
//!
//! # Acknowledgements
//! A record can request that its consumer notifies the producer of the consumption, unless the producer polls
//! ([`Acknowledge`]).
//! * Records of signalled requests request it with [`Acknowledge::Completion`].
//! * Records that fill the ring beyond a quarter request it with [`Acknowledge::Needed`], which wakes any sleeping
//!   process. So does an empty record, put before queued requests or the program wait for the peer.

pub use dat_software::wire::{
    ATOMIC, NUMBER, TARGET, WORD, atomic, read_atomic, read_number, read_target, target, target_words,
};

/// Kinds of records; 0 is the ring's pad.
pub mod kind {
    pub const MESSAGE: u8 = 1;
    /// A part of a message of several records. `aux` is the length of the complete message.
    pub const MESSAGE_PIECE: u8 = 2;
    /// A rendezvous message: for each segment, a [`target`](super::target) in the sender's memory, which the receiver
    /// reads. `aux` is the message's length.
    pub const REMOTE_MESSAGE: u8 = 3;
    /// Bytes of an RDMA write in one or several records, the first of which starts with the [`target`](super::target).
    /// `aux` is the number of bytes in all these records.
    pub const WRITE_PIECE: u8 = 4;
    pub const READ: u8 = 5;
    pub const READ_DATA: u8 = 6;
    /// An empty record, to request a notification.
    pub const NOTHING: u8 = 7;
    /// A request for the bytes of a [`REMOTE_MESSAGE`] or [`REMOTE_WRITE`], which the receiver cannot read. The payload
    /// is two numbers: the position after that record, and the number of bytes that the receiver already has.
    pub const FETCH: u8 = 8;
    /// Bytes that a [`FETCH`] has requested. `aux` is the length of the complete message or write.
    pub const MESSAGE_DATA: u8 = 9;
    /// The immediate value of an RDMA write, sent after the write's bytes; consumes a receive. `aux` is the write's
    /// length.
    pub const IMMEDIATE: u8 = 10;
    /// An atomic operation ([`atomic`](super::atomic)), with a response like a read of eight bytes.
    pub const ATOMIC: u8 = 11;
    /// The start of a message that invalidates a window. The payload is the window's key; `aux` is the length of the
    /// message, which follows as [`MESSAGE_PIECE`]s or a [`REMOTE_MESSAGE`].
    pub const INVALIDATE: u8 = 12;
    /// A complete RDMA write: its [`target`](super::target), then its bytes. The producer can revoke the record: see
    /// [`claim`](crate::claim).
    pub const SHORT_WRITE: u8 = 13;
    /// A [`READ`] that the producer can revoke.
    pub const SHORT_READ: u8 = 14;
    /// A revocable RDMA write whose bytes the receiver reads from the initiator's memory. The payload is the write's
    /// [`target`](super::target), then the initiator's segments as in a [`REMOTE_MESSAGE`]. `aux` is the write's
    /// length.
    pub const REMOTE_WRITE: u8 = 15;
}

pub const SOLICITED: u8 = 1;
const COMPLETION: u8 = 2;
const NEEDED: u8 = 4;

/// Maximum size of a message in one record, and of a piece, in bytes.
pub const EAGER_MAX: u64 = 8 * 1024;
/// Maximum payload of a record in the response ring, in bytes.
pub const ANSWER_MAX: u64 = 4080;

/// Returns the size of the next piece, at most `most`, of a transfer with `rest` bytes left. If there are several
/// pieces, the last has at least [`WORD`] bytes.
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

#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Acknowledge {
    No = 0,
    /// Wakes only a process that sleeps for completions of requests.
    Completion = COMPLETION,
    #[default]
    Needed = NEEDED,
}

impl Acknowledge {
    #[inline]
    pub fn of(signalled: bool) -> Acknowledge {
        if signalled { Acknowledge::Completion } else { Acknowledge::No }
    }

    #[inline]
    pub fn wanted(flags: u8) -> Acknowledge {
        match flags & (COMPLETION | NEEDED) {
            0 => Acknowledge::No,
            COMPLETION => Acknowledge::Completion,
            _ => Acknowledge::Needed,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Header {
    pub kind: u8,
    pub solicited: bool,
    pub acknowledge: Acknowledge,
    /// The length of the complete message or transfer, unless [`kind`] describes it otherwise.
    pub aux: u64,
}

#[cfg(test)]
mod tests;
