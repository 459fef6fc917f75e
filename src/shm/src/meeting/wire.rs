//! The messages that two processes exchange over their socket.
//!
//! Each is one packet: a kind byte, then the fields in little-endian order. Packets are decoded without trust in the
//! peer; one that does not decode ends the link.

use dat_core::event::Status;

/// Version of the messages and of the layout of shared memory.
pub const VERSION: u32 = 8;
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

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// First message of the process that connected; with the shared memory of the pair, its published
    /// memory, and its alarm.
    Hello { version: u32, name: String, probe: Probe },
    /// Answer to [`Message::Hello`]; with published memory and alarm.
    Welcome { name: String, probe: Probe, reads: bool },
    /// Answer to [`Message::Hello`] of a process to which this one is connecting.
    UseMine,
    /// In the place of an answer to [`Message::Hello`], which the sender has not read: it has no room for one more
    /// process that has said nothing yet. The receiver is to connect once more, a little later.
    Again,
    /// Wakes the thread that reads it, and says nothing else.
    Ring,
    /// True if the sender can read the receiver's memory.
    Reads(bool),
    /// A connection request.
    Request { conn: ConnId, qualifier: u64, end: EndInfo, private_data: Vec<u8> },
    /// The request was accepted.
    Accept { conn: ConnId, end: EndInfo, private_data: Vec<u8> },
    /// The request was refused; with `consumer` set, by the program, which alone says anything.
    Reject { conn: ConnId, consumer: bool, private_data: Vec<u8> },
    /// The active end has seen the acceptance.
    Ready { conn: ConnId },
    /// The sender has disconnected; with `to_active` set, this is for the active end.
    Close { conn: ConnId, to_active: bool, reason: CloseReason },
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

struct Writer(Vec<u8>);

impl Writer {
    fn new(kind: u8) -> Self {
        #[expect(clippy::disallowed_methods, reason = "a packet is sent or queued at once")]
        let mut packet = Vec::with_capacity(64);
        packet.push(kind);
        Writer(packet)
    }

    fn u8(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    fn u32(mut self, value: u32) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn u64(mut self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn bytes(self, bytes: &[u8]) -> Self {
        let mut with_len = self.u32(bytes.len() as u32);
        with_len.0.extend_from_slice(bytes);
        with_len
    }

    fn conn(self, conn: &ConnId) -> Self {
        self.u8(conn.active).u32(conn.index).u64(conn.attempt)
    }

    fn end(self, end: &EndInfo) -> Self {
        self.u32(end.zone).u64(end.port).u8(end.extended.into())
    }

    fn probe(self, probe: &Probe) -> Self {
        self.u64(probe.addr).u64(probe.value)
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(len)?;
        self.0 = tail;
        Some(head)
    }

    fn u8(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    fn flag(&mut self) -> Option<bool> {
        match self.u8()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn bytes(&mut self, most: usize) -> Option<&'a [u8]> {
        let len = self.u32()? as usize;
        if len > most {
            return None;
        }
        self.take(len)
    }

    fn name(&mut self) -> Option<String> {
        String::from_utf8(self.bytes(64)?.to_vec()).ok()
    }

    fn conn(&mut self) -> Option<ConnId> {
        let conn = ConnId { active: self.u8()?, index: self.u32()?, attempt: self.u64()? };
        (conn.active < 2).then_some(conn)
    }

    fn end(&mut self) -> Option<EndInfo> {
        Some(EndInfo { zone: self.u32()?, port: self.u64()?, extended: self.flag()? })
    }

    fn probe(&mut self) -> Option<Probe> {
        Some(Probe { addr: self.u64()?, value: self.u64()? })
    }
}

impl Message {
    /// Writes the packet.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Message::Hello { version, name, probe } => Writer::new(1).u32(*version).bytes(name.as_bytes()).probe(probe),
            Message::Welcome { name, probe, reads } => {
                Writer::new(2).bytes(name.as_bytes()).probe(probe).u8((*reads).into())
            }
            Message::UseMine => Writer::new(3),
            Message::Reads(reads) => Writer::new(4).u8((*reads).into()),
            Message::Request { conn, qualifier, end, private_data } => {
                Writer::new(5).conn(conn).u64(*qualifier).end(end).bytes(private_data)
            }
            Message::Accept { conn, end, private_data } => Writer::new(6).conn(conn).end(end).bytes(private_data),
            Message::Reject { conn, consumer, private_data } => {
                Writer::new(7).conn(conn).u8((*consumer).into()).bytes(private_data)
            }
            Message::Ready { conn } => Writer::new(8).conn(conn),
            Message::Close { conn, to_active, reason } => {
                let (how, status) = match reason {
                    CloseReason::Disconnected => (0, 0),
                    CloseReason::Broken(None) => (1, 0),
                    CloseReason::Broken(Some(status)) => {
                        (2, STATUS.iter().position(|known| known == status).unwrap_or(1) as u8)
                    }
                    CloseReason::Answer => (3, 0),
                };
                Writer::new(9).conn(conn).u8((*to_active).into()).u8(how).u8(status)
            }
            Message::Ring => Writer::new(RING),
            Message::Again => Writer::new(11),
        }
        .0
    }

    /// Reads a packet; `None` if it is not one.
    pub fn decode(packet: &[u8]) -> Option<Message> {
        let mut reader = Reader(packet);
        let message = match reader.u8()? {
            1 => Message::Hello { version: reader.u32()?, name: reader.name()?, probe: reader.probe()? },
            2 => Message::Welcome { name: reader.name()?, probe: reader.probe()?, reads: reader.flag()? },
            3 => Message::UseMine,
            4 => Message::Reads(reader.flag()?),
            5 => Message::Request {
                conn: reader.conn()?,
                qualifier: reader.u64()?,
                end: reader.end()?,
                private_data: reader.bytes(MAX_PRIVATE_DATA)?.to_vec(),
            },
            6 => Message::Accept {
                conn: reader.conn()?,
                end: reader.end()?,
                private_data: reader.bytes(MAX_PRIVATE_DATA)?.to_vec(),
            },
            7 => Message::Reject {
                conn: reader.conn()?,
                consumer: reader.flag()?,
                private_data: reader.bytes(MAX_PRIVATE_DATA)?.to_vec(),
            },
            8 => Message::Ready { conn: reader.conn()? },
            9 => {
                let conn = reader.conn()?;
                let to_active = reader.flag()?;
                let reason = match (reader.u8()?, reader.u8()?) {
                    (0, 0) => CloseReason::Disconnected,
                    (1, 0) => CloseReason::Broken(None),
                    (2, status) => CloseReason::Broken(Some(*STATUS.get(usize::from(status))?)),
                    (3, 0) => CloseReason::Answer,
                    _ => return None,
                };
                Message::Close { conn, to_active, reason }
            }
            RING => Message::Ring,
            11 => Message::Again,
            _ => return None,
        };
        reader.0.is_empty().then_some(message)
    }
}

#[cfg(test)]
mod tests;
