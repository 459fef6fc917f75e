//! The messages of client and server: private data, heads, and the bytes of transfers. Numbers have network byte order.

use anyhow::Result;
use dat::Remote;

use crate::channel::{Channel, Message};
use crate::pattern::Pattern;

const MAGIC: [u8; 8] = *b"dat-ping";
const VERSION: u8 = 1;

/// Private data of a connection request and its acceptance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Set if this side supports the second connection, which receives from a shared receive queue.
    pub shared: bool,
    /// Set if the client requests that both sides poll. The server returns the client's value.
    pub polls: bool,
    /// Number of the client's connection: 0 or 1.
    pub channel: u8,
    /// Bytes of a transfer.
    pub size: u32,
    /// A random number, the same on both connections of a client.
    pub session: u64,
    /// Memory of this side for RDMA, with all [`Area`]s.
    pub memory: Remote,
}

impl Hello {
    /// Returns the private data.
    pub fn to_bytes(self) -> Vec<u8> {
        let Remote { context, address, .. } = self.memory;
        let head = [VERSION, self.channel, self.shared.into(), self.polls.into()];
        let (size, session) = (self.size.to_be_bytes(), self.session.to_be_bytes());
        [&MAGIC[..], &head, &size, &session, &context.to_be_bytes(), &address.to_be_bytes()].concat()
    }

    /// Converts private data, to which the transport may have appended bytes. Returns `None` if another program or
    /// version of dat-ping sent it.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let magic = take(&mut bytes)?;
        let [version, channel, shared, polls] = take(&mut bytes)?;
        let size = u32::from_be_bytes(take(&mut bytes)?);
        let session = u64::from_be_bytes(take(&mut bytes)?);
        let context = u32::from_be_bytes(take(&mut bytes)?);
        let address = u64::from_be_bytes(take(&mut bytes)?);
        let memory = Remote { context, address, length: Area::ALL * u64::from(size) };
        let hello = Hello { channel, shared: shared != 0, polls: polls != 0, size, session, memory };
        (magic == MAGIC && version == VERSION && channel < 2).then_some(hello)
    }

    /// Returns a part of the memory.
    pub fn area(&self, area: Area) -> Remote {
        let size = u64::from(self.size);
        Remote { address: self.memory.address.wrapping_add(area as u64 * size), length: size, ..self.memory }
    }
}

/// A part of a side's memory for RDMA, as large as a transfer.
#[derive(Clone, Copy, Debug)]
pub enum Area {
    /// Target of the peer's writes, and of this side's reads.
    Landing,
    /// Source of the peer's reads.
    Readable,
    /// Source of this side's writes.
    Source,
}

impl Area {
    /// Number of areas.
    pub const ALL: u64 = 3;
}

/// An operation of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Operation {
    /// A message and its response.
    Send,
    /// An RDMA write in each direction, each followed by a message.
    Write,
    /// An RDMA read, in which the server's program takes no part.
    Read,
    /// A message and its response, from shared receive queues.
    Srq,
}

impl Operation {
    /// All operations, in the order of a round.
    pub const ALL: [Self; 4] = [Self::Send, Self::Write, Self::Read, Self::Srq];

    /// Returns the name in the output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Write => "write",
            Self::Read => "read",
            Self::Srq => "srq",
        }
    }
}

/// The side that sends a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// The first bytes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The operation that the message belongs to.
    pub operation: Operation,
    /// Number of the round, from 1.
    pub round: u64,
    /// In a response: index of the first wrong byte that the server received. `None` if all were right, and in
    /// requests.
    pub wrong: Option<u32>,
}

impl Head {
    /// Length in bytes. The bytes of the transfer follow the head.
    pub const LENGTH: usize = 16;

    /// Returns the bytes of the head.
    pub fn to_bytes(self) -> Vec<u8> {
        let kind = [self.operation as u8, self.wrong.is_some().into(), 0, 0];
        [&kind[..], &self.wrong.unwrap_or(0).to_be_bytes(), &self.round.to_be_bytes()].concat()
    }

    /// Reads the head of a received message. Returns `None` if dat-ping did not send it.
    pub fn of(channel: &Channel, message: Message) -> Option<Self> {
        let mut bytes = [0; Self::LENGTH];
        if message.length < Self::LENGTH as u64 {
            return None;
        }
        let (region, place) = channel.received(message);
        region.read(place, &mut bytes);
        Self::from_bytes(&bytes)
    }

    /// Sends a message with this head. `transfer` is the pattern and the number of the bytes after the head.
    pub fn send(self, channel: &mut Channel, transfer: Option<(Pattern, usize)>) -> Result<()> {
        channel.send(|region, place| {
            region.write(place, &self.to_bytes());
            let (place, size) = (place + Self::LENGTH, transfer.map_or(0, |(_, size)| size));
            if let Some((pattern, size)) = transfer {
                pattern.write(region, place, size);
            }
            Self::LENGTH + size
        })
    }

    fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let [kind, is_wrong, _, _] = take(&mut bytes)?;
        let operation = Operation::ALL.into_iter().find(|&operation| operation as u8 == kind)?;
        let wrong = u32::from_be_bytes(take(&mut bytes)?);
        let round = u64::from_be_bytes(take(&mut bytes)?);
        Some(Head { operation, round, wrong: (is_wrong != 0).then_some(wrong) })
    }
}

/// Removes the first `N` bytes of a slice and returns them, or `None` if there are fewer.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

/// Returns the index of the first wrong or missing byte after the head of a message, or `None` if all are right.
pub fn first_wrong(channel: &Channel, message: Message, wanted: Pattern, size: usize) -> Option<u32> {
    let length = message.length - Head::LENGTH as u64;
    if length != size as u64 {
        return Some(length.min(size as u64) as u32);
    }
    let (region, place) = channel.received(message);
    wanted.first_difference(region, place + Head::LENGTH, size).map(|place| place as u32)
}

/// Returns the bytes of a transfer.
pub fn bytes(round: u64, operation: Operation, from: From) -> Pattern {
    Pattern { lane: 0, number: round.wrapping_mul(8) + operation as u64 * 2 + from as u64 }
}

#[cfg(test)]
mod tests;
