//! What client and server exchange: private data, the heads of messages, and the bytes of transfers. Numbers are in
//! network byte order.

use crate::dat::{Pattern, Remote};

/// Begins the private data of dat-ping.
const MAGIC: [u8; 8] = *b"dat-ping";
/// Of this protocol.
const VERSION: u8 = 1;

/// Private data of a request to connect, and of its acceptance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Whether this side takes the messages of the second connection from a shared receive queue.
    pub shared: bool,
    /// Set if this side polls for messages.
    pub polls: bool,
    /// Which of the two connections of a client this is: 0 or 1.
    pub channel: u8,
    /// Bytes of each transfer.
    pub size: u32,
    /// Chosen by the client at random; says which connections belong together.
    pub session: u64,
    /// Memory of this side for RDMA: [`Area`]s of `size` bytes each.
    pub memory: Remote,
}

impl Hello {
    /// Its length in bytes.
    pub const LENGTH: usize = 36;

    /// As private data.
    pub fn to_bytes(self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&[VERSION, self.channel, u8::from(self.shared), u8::from(self.polls)]);
        bytes[12..16].copy_from_slice(&self.size.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.session.to_be_bytes());
        bytes[24..28].copy_from_slice(&self.memory.context.to_be_bytes());
        bytes[28..36].copy_from_slice(&self.memory.address.to_be_bytes());
        bytes
    }

    /// From private data, which may be longer; none if it is not from dat-ping, or from one of another version.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::LENGTH] = bytes.first_chunk()?;
        let size = u32::from_be_bytes(part(bytes, 12));
        let hello = Hello {
            channel: bytes[9],
            shared: bytes[10] != 0,
            polls: bytes[11] != 0,
            size,
            session: u64::from_be_bytes(part(bytes, 16)),
            memory: Remote {
                context: u32::from_be_bytes(part(bytes, 24)),
                address: u64::from_be_bytes(part(bytes, 28)),
                length: Area::ALL * u64::from(size),
            },
        };
        (bytes[..8] == MAGIC && bytes[8] == VERSION && hello.channel < 2).then_some(hello)
    }

    /// One area of the memory.
    pub fn area(&self, area: Area) -> Remote {
        let size = u64::from(self.size);
        Remote { address: self.memory.address.wrapping_add(area as u64 * size), length: size, ..self.memory }
    }
}

/// A part of the memory for RDMA, of as many bytes as a transfer.
#[derive(Clone, Copy, Debug)]
pub enum Area {
    /// The peer writes here, and here its bytes arrive that are read.
    Landing,
    /// The peer reads from here.
    Readable,
    /// Bytes that are about to be written to the peer.
    Source,
}

impl Area {
    /// How many there are.
    pub const ALL: u64 = 3;
}

/// A way to move bytes, of which each round tries all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Operation {
    /// A message there and one back.
    Send,
    /// An RDMA write there and one back, each with a message behind it.
    Write,
    /// An RDMA read, of which the peer's program knows nothing.
    Read,
    /// A message there and one back, received from shared receive queues.
    Srq,
}

impl Operation {
    /// In the order of a round.
    pub const ALL: [Self; 4] = [Self::Send, Self::Write, Self::Read, Self::Srq];

    /// Its name in lines and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Write => "write",
            Self::Read => "read",
            Self::Srq => "srq",
        }
    }
}

/// Who sends the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    Client,
    Server,
}

/// The head of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// What it is about.
    pub operation: Operation,
    pub round: u64,
    /// In an answer: the first byte that had arrived wrong.
    pub wrong: Option<u32>,
}

impl Head {
    /// Its length in bytes; those of the transfer follow.
    pub const LENGTH: usize = 16;

    /// As the first bytes of a message.
    pub fn to_bytes(self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[0] = self.operation as u8;
        bytes[1] = u8::from(self.wrong.is_some());
        bytes[4..8].copy_from_slice(&self.wrong.unwrap_or(0).to_be_bytes());
        bytes[8..].copy_from_slice(&self.round.to_be_bytes());
        bytes
    }

    /// From the first bytes of a message; none if it is not from dat-ping.
    pub fn from_bytes(bytes: [u8; Self::LENGTH]) -> Option<Self> {
        let operation = Operation::ALL.into_iter().find(|&operation| operation as u8 == bytes[0])?;
        let wrong = u32::from_be_bytes(part(&bytes, 4));
        let round = u64::from_be_bytes(part(&bytes, 8));
        Some(Head { operation, round, wrong: (bytes[1] != 0).then_some(wrong) })
    }
}

/// The bytes at a place.
fn part<const N: usize>(bytes: &[u8], place: usize) -> [u8; N] {
    *bytes[place..].first_chunk().expect("the places of fields are within their structure")
}

/// The bytes of a transfer of a round.
pub fn bytes(round: u64, operation: Operation, from: From) -> Pattern {
    Pattern { lane: 0, number: round.wrapping_mul(8) + operation as u64 * 2 + from as u64 }
}

#[cfg(test)]
mod tests;
