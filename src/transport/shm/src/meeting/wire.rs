//! The messages that two processes exchange over their socket.
//!
//! Each is one packet: a kind byte, then the fields in little-endian order. Packets are decoded without trust in the
//! peer; one that does not decode ends the link.

use dat_core::counters::{ConnSummary, Tally};
use dat_core::event::Status;
use dat_core::transport::Flow;

/// Version of the messages and of the layout of shared memory.
pub const VERSION: u32 = 9;
/// The most private data that a request, or the answer to one, carries.
pub const MAX_PRIVATE_DATA: usize = 512;
/// Room for any packet.
pub const MAX_PACKET: usize = 1024;

/// A place in the sender's memory where the receiver finds a known value, to learn
/// whether it can read there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Its address.
    pub addr: u64,
    /// The value there.
    pub value: u64,
}

/// Names one attempt at a connection: the end that began it, its place in the shared memory, and a number that is not
/// used again on the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnId {
    /// Side of the active end.
    pub active: u8,
    /// Place in the shared memory.
    pub index: u32,
    /// Number of the attempt.
    pub attempt: u64,
}

/// What an end of a connection says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndInfo {
    /// Protection zone of its endpoint.
    pub zone: u32,
    /// Its port qualifier.
    pub port: u64,
    /// Its program takes extended operations.
    pub extended: bool,
    /// The number of its endpoint, if it carries datagrams; otherwise 0.
    pub datagrams: u32,
}

/// The reason why an end disconnects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The program ended it.
    Disconnected,
    /// The connection failed at this end; with a status, the peer's oldest request is the cause.
    Broken(Option<Status>),
    /// The peer ended it, and this is the answer.
    Answer,
}

/// What a process tells of an adapter that it has open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenAdapter {
    /// How many adapters are told behind this one.
    pub left: u32,
    /// The name under which it was opened.
    pub name: String,
    /// Major version of the interface.
    pub major: u8,
    /// Minor version of the interface.
    pub minor: u8,
    /// Seconds since it was opened.
    pub age: u64,
    /// Endpoints that are connected.
    pub connections: u64,
    /// Sends.
    pub sends: Tally,
    /// RDMA writes that it began.
    pub writes: Tally,
    /// RDMA reads that it began.
    pub reads: Tally,
    /// Receives.
    pub receives: Tally,
    /// How often something had to wait.
    pub flow: Flow,
    /// What happened to its connections.
    pub fates: ConnSummary,
}

/// The packet of [`Message::Ring`].
pub const RING: u8 = 10;

const STATUS: [Status; 12] = [
    Status::Success,
    Status::Flushed,
    Status::LocalLength,
    Status::LocalEndpoint,
    Status::LocalProtection,
    Status::BadResponse,
    Status::RemoteAccess,
    Status::RemoteResponder,
    Status::Transport,
    Status::ReceiverNotReady,
    Status::PartialPacket,
    Status::RmrOperation,
];

/// A field of a packet.
trait Field: Sized {
    /// Appends it to a packet.
    fn put(&self, packet: &mut Vec<u8>);
    /// Takes it off the beginning of a packet; `None` if it is not there.
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
        let (bytes, rest) = packet.split_at_checked(len).filter(|_| len <= MAX_PRIVATE_DATA)?;
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

impl Field for CloseReason {
    fn put(&self, packet: &mut Vec<u8>) {
        packet.extend(match self {
            CloseReason::Disconnected => [0, 0],
            CloseReason::Broken(None) => [1, 0],
            CloseReason::Broken(Some(status)) => {
                [2, STATUS.iter().position(|known| known == status).unwrap_or(1) as u8]
            }
            CloseReason::Answer => [3, 0],
        });
    }

    fn take(packet: &mut &[u8]) -> Option<Self> {
        match (u8::take(packet)?, u8::take(packet)?) {
            (0, 0) => Some(CloseReason::Disconnected),
            (1, 0) => Some(CloseReason::Broken(None)),
            (2, status) => Some(CloseReason::Broken(Some(*STATUS.get(usize::from(status))?))),
            (3, 0) => Some(CloseReason::Answer),
            _ => None,
        }
    }
}

/// Structures whose fields follow one another, and what has to be so of them.
macro_rules! structures {
    ($($type:ident { $($field:ident),* } $(if $check:expr)?;)*) => {
        $(impl Field for $type {
            fn put(&self, packet: &mut Vec<u8>) {
                $(self.$field.put(packet);)*
            }

            fn take(packet: &mut &[u8]) -> Option<Self> {
                Some($type { $($field: Field::take(packet)?),* })$(.filter($check))?
            }
        })*
    };
}

structures! {
    Probe { addr, value };
    ConnId { active, index, attempt } if |conn| conn.active < 2;
    EndInfo { zone, port, extended, datagrams };
    Tally { operations, bytes };
    ConnSummary { established, failures, async_events };
    Flow { request_stalls, message_stalls, peer_wakeups };
    OpenAdapter { left, name, major, minor, age, connections, sends, writes, reads, receives, flow, fates };
}

/// The messages, each behind the kind byte of its packet.
macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident = $kind:tt $({ $($field:ident: $type:ty),* })? $(($value:ident: $of:ty))?;)*) => {
        /// A message.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Message {
            $($(#[$doc])* $name $({ $($field: $type),* })? $(($of))?,)*
        }

        impl Message {
            /// Writes the packet.
            pub fn encode(&self) -> Vec<u8> {
                #[expect(clippy::disallowed_methods, reason = "a packet is sent or queued at once")]
                let mut packet = Vec::with_capacity(64);
                match self {
                    $(Message::$name $({ $($field),* })? $(($value))? => {
                        packet.push($kind);
                        $($($field.put(&mut packet);)*)?
                        $($value.put(&mut packet);)?
                    })*
                }
                packet
            }

            /// Reads a packet; `None` if it is not one.
            pub fn decode(mut packet: &[u8]) -> Option<Message> {
                let message = match u8::take(&mut packet)? {
                    $($kind => {
                        $($(let $field = Field::take(&mut packet)?;)*)?
                        $(let $value = Field::take(&mut packet)?;)?
                        Message::$name $({ $($field),* })? $(($value))?
                    })*
                    _ => return None,
                };
                packet.is_empty().then_some(message)
            }
        }
    };
}

messages! {
    /// First message of the process that connected; with the shared memory of the pair, its published
    /// memory, and its alarm.
    Hello = 1 { version: u32, name: String, probe: Probe };
    /// Answer to [`Message::Hello`]; with published memory and alarm.
    Welcome = 2 { name: String, probe: Probe, reads: bool };
    /// Answer to [`Message::Hello`] of a process to which this one is connecting.
    UseMine = 3;
    /// In the place of an answer to [`Message::Hello`], which the sender has not read: it has no room for one more
    /// process that has said nothing yet; or of one to [`Message::Ask`], which it cannot give now. The receiver is to connect once more, a little later.
    Again = 11;
    /// In the place of a hello: the sender asks what the receiver has open, and nothing else. See [`crate::census`].
    Ask = 12;
    /// Answer to [`Message::Ask`], for each adapter.
    Open = 13(adapter: OpenAdapter);
    /// Wakes the thread that reads it, and says nothing else.
    Ring = RING;
    /// True if the sender can read the receiver's memory.
    Reads = 4(reads: bool);
    /// A connection request.
    Request = 5 { conn: ConnId, qualifier: u64, end: EndInfo, private_data: Vec<u8> };
    /// The request was accepted.
    Accept = 6 { conn: ConnId, end: EndInfo, private_data: Vec<u8> };
    /// The request was refused; with `consumer` set, by the program, which alone says anything.
    Reject = 7 { conn: ConnId, consumer: bool, private_data: Vec<u8> };
    /// The active end has seen the acceptance.
    Ready = 8 { conn: ConnId };
    /// The sender has disconnected; with `to_active` set, this is for the active end.
    Close = 9 { conn: ConnId, to_active: bool, reason: CloseReason };
}

#[cfg(test)]
mod tests;
