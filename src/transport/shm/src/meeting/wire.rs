//! The messages between two processes on their socket.
//!
//! A message is one packet: a kind byte, then the fields in little-endian order. An invalid packet ends the link.

use dat_census::{AGAIN, ASK, Field, MAX_BYTES};
use dat_core::event::Status;

/// Version of the messages and of the layout of shared memory.
pub const VERSION: u32 = 14;
/// Size of a buffer for any packet.
pub const MAX_PACKET: usize = 1024;
/// Maximum private data of a request or its answer, in bytes.
pub const MAX_PRIVATE_DATA: usize = 512;
const _: () = assert!(MAX_PRIVATE_DATA == MAX_BYTES);

/// A known value in the sender's memory, with which the receiver tests whether it can read there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Address of `value`. If 0, the receiver must not copy from or to the sender's memory.
    pub addr: u64,
    pub value: u64,
}

impl Probe {
    /// The sender cannot see the receiver in /proc, so the sender could not detect that the receiver is stopped in a
    /// copy.
    pub const UNSEEN: Probe = Probe { addr: 0, value: 0 };
    /// `DAT_SHM_VM=0` in the sender forbids copies.
    pub const UNWANTED: Probe = Probe { addr: 0, value: 1 };
}

/// A connection attempt: the side of its active end, its place in the shared memory, and a number unique on that side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnId {
    pub active: u8,
    pub index: u32,
    pub attempt: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndInfo {
    pub zone: u32,
    pub port: u64,
    pub extended: bool,
    /// Number of the end's endpoint if the connection carries datagrams, otherwise 0.
    pub datagrams: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    Disconnected,
    /// The connection failed at the sender's end. With a status, the cause is the receiver's oldest request, which
    /// fails with this status.
    Broken(Option<Status>),
    /// The answer to the receiver's own [`Message::Close`].
    Answer,
}

pub const RING: u8 = 10;

/// The statuses that [`CloseReason::Broken`] may contain. Others, such as success, violate the protocol.
const STATUS: [Status; 3] = [Status::LocalProtection, Status::RemoteAccess, Status::RemoteResponder];

impl Field for CloseReason {
    fn put(&self, packet: &mut Vec<u8>) {
        packet.extend(match self {
            CloseReason::Disconnected => [0, 0],
            CloseReason::Broken(None) => [1, 0],
            CloseReason::Broken(Some(status)) => [2, *status as u8],
            CloseReason::Answer => [3, 0],
        });
    }

    fn take(packet: &mut &[u8]) -> Option<Self> {
        match (u8::take(packet)?, u8::take(packet)?) {
            (0, 0) => Some(CloseReason::Disconnected),
            (1, 0) => Some(CloseReason::Broken(None)),
            (2, number) => {
                let status = STATUS.into_iter().find(|status| *status as u8 == number)?;
                Some(CloseReason::Broken(Some(status)))
            }
            (3, 0) => Some(CloseReason::Answer),
            _ => None,
        }
    }
}

dat_census::structures! {
    Probe { addr value };
    ConnId { active index attempt } if |conn| conn.active < 2;
    EndInfo { zone port extended datagrams };
}

macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident = $kind:tt $({ $($field:ident: $type:ty),* })? $(($value:ident: $of:ty))?;)*) => {
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Message {
            $($(#[$doc])* $name $({ $($field: $type),* })? $(($of))?,)*
        }

        impl Message {
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
    /// First message of the process that connected, with the descriptors of the pair's shared memory and of the
    /// sender's published memory, region table and alarm.
    Hello = 1 { version: u32, name: String, probe: Probe };
    /// Answer to [`Message::Hello`], with the descriptors of the sender's published memory, region table and alarm.
    /// With `reads`, the sender can copy from and to the receiver's memory.
    Welcome = 2 { probe: Probe, reads: bool };
    /// Answer to [`Message::Hello`]: the receiver must use the link that the sender establishes.
    UseMine = 3;
    /// Sent instead of reading [`Message::Hello`] if there are too many pending peers, or instead of answering
    /// [`Message::Ask`] if that is impossible now. The receiver must reconnect.
    Again = AGAIN;
    /// Sent instead of a hello: asks for the receiver's open adapters. See [`dat_census`].
    Ask = ASK;
    Ring = RING;
    Reads = 4(reads: bool);
    Request = 5 { conn: ConnId, qualifier: u64, end: EndInfo, private_data: Vec<u8> };
    Accept = 6 { conn: ConnId, end: EndInfo, private_data: Vec<u8> };
    /// The sender rejects the request. With `consumer`, its program rejects the request, and supplies the private data.
    Reject = 7 { conn: ConnId, consumer: bool, private_data: Vec<u8> };
    Ready = 8 { conn: ConnId };
    /// The sender has disconnected. With `to_active`, the receiver's end is the active one.
    Close = 9 { conn: ConnId, to_active: bool, reason: CloseReason };
}

#[cfg(all(test, not(loom)))]
mod tests;
