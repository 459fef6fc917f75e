//! The packets of a question and its response: a kind byte, then fields in little-endian order.

use crate::copies::Obstacle;

/// Kind of a question, which has no fields.
pub const ASK: u8 = 12;
/// Kind of a response with an [`OpenAdapter`].
pub const OPEN: u8 = 13;
/// Kind of a response without fields: the process cannot respond now.
pub const AGAIN: u8 = 11;
/// Maximum length of a field of bytes or text, in bytes.
pub const MAX_BYTES: usize = 512;

/// One or several consecutive fields of a packet.
pub trait Field: Sized {
    /// Appends the field to a packet.
    fn put(&self, packet: &mut Vec<u8>);
    /// Removes the field from the start of a packet. Returns `None` if it is missing or invalid.
    fn take(packet: &mut &[u8]) -> Option<Self>;
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl Field for $number {
            fn put(&self, packet: &mut Vec<u8>) {
                packet.extend_from_slice(&self.to_le_bytes());
            }

            fn take(packet: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = packet.split_first_chunk()?;
                *packet = rest;
                Some(Self::from_le_bytes(*bytes))
            }
        })*
    };
}

numbers!(u8 u32 u64);

impl Field for bool {
    fn put(&self, packet: &mut Vec<u8>) {
        packet.push((*self).into());
    }

    fn take(packet: &mut &[u8]) -> Option<Self> {
        let byte = u8::take(packet)?;
        (byte < 2).then_some(byte == 1)
    }
}

impl Field for Vec<u8> {
    fn put(&self, packet: &mut Vec<u8>) {
        (self.len() as u32).put(packet);
        packet.extend_from_slice(self);
    }

    fn take(packet: &mut &[u8]) -> Option<Self> {
        let len = u32::take(packet)? as usize;
        let (bytes, rest) = packet.split_at_checked(len).filter(|_| len <= MAX_BYTES)?;
        *packet = rest;
        Some(bytes.to_vec())
    }
}

impl Field for String {
    fn put(&self, packet: &mut Vec<u8>) {
        self.as_bytes().to_vec().put(packet);
    }

    fn take(packet: &mut &[u8]) -> Option<Self> {
        String::from_utf8(Vec::take(packet)?).ok()
    }
}

/// Implements [`Field`] for structures; `take` applies the check.
#[macro_export]
macro_rules! structures {
    ($($type:ident { $($field:ident)* } $(if $check:expr)?;)*) => {
        $(impl $crate::Field for $type {
            fn put(&self, packet: &mut Vec<u8>) {
                $(self.$field.put(packet);)*
            }

            fn take(packet: &mut &[u8]) -> Option<Self> {
                Some($type { $($field: $crate::Field::take(packet)?),* })$(.filter($check))?
            }
        })*
    };
}

structures! {
    OpenAdapter {
        left name major minor age connections sends send_bytes rdma_writes rdma_write_bytes rdma_reads rdma_read_bytes
        receives receive_bytes request_stalls receive_stalls peer_wakeups established failures async_events events_lost
        peers direct_peers obstacle
    };
}

/// An open adapter of a process, with its counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenAdapter {
    /// Number of adapters in the following packets.
    pub left: u32,
    /// The name under which it was opened.
    pub name: String,
    /// Major version of the interface.
    pub major: u8,
    /// Minor version of the interface.
    pub minor: u8,
    /// Seconds since it was opened.
    pub age: u64,
    /// Connected endpoints.
    pub connections: u64,
    /// Started sends.
    pub sends: u64,
    /// Bytes of these sends.
    pub send_bytes: u64,
    /// Started RDMA writes.
    pub rdma_writes: u64,
    /// Bytes of these writes.
    pub rdma_write_bytes: u64,
    /// Started RDMA reads.
    pub rdma_reads: u64,
    /// Bytes of these reads.
    pub rdma_read_bytes: u64,
    /// Received messages.
    pub receives: u64,
    /// Bytes of these messages.
    pub receive_bytes: u64,
    /// Number of requests that found no room.
    pub request_stalls: u64,
    /// Number of messages that found no receive.
    pub receive_stalls: u64,
    /// Number of wakeups of a sleeping peer.
    pub peer_wakeups: u64,
    /// Connections since it was opened.
    pub established: u64,
    /// Connections and attempts that ended without a disconnect.
    pub failures: u64,
    /// Asynchronous events.
    pub async_events: u64,
    /// Events and connection requests for which an event dispatcher had no room.
    pub events_lost: u64,
    /// Other processes to which the process has a link.
    pub peers: u64,
    /// Peers from and to whose memory the process copies directly.
    pub direct_peers: u64,
    /// Why the process does not copy directly, if that applies to all or to some peers.
    pub obstacle: Option<Obstacle>,
}
