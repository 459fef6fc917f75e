//! The peer's requests, handled in order.
//!
//! Their bytes arrive in arbitrary pieces. The first record of a message takes a receive; the first record of a write
//! checks its rights. Payloads are stored as they arrive.

use std::sync::Arc;

use arrayvec::ArrayVec;
use dat_core::Rights;
use dat_core::event::Status;
use dat_core::transport::datagrams::MAX_DATAGRAM;
use dat_core::transport::{RecvDone, RemoteSegment, Special, Taken};
use dat_memory::copy;
use dat_memory::datagrams::DatagramReceiver;
use dat_memory::user::{Source, change};
use host::memory::Room;

use crate::Tcp;
use crate::conn::Conn;
use crate::record::{self, HEADER, Header, MAX_HEAD, MAX_PAYLOAD, kind};
use crate::rx::{Fatal, Piece, Place, TAIL, Tail, gather, store_piece};
use crate::stream::{Body, NotSent, Stream};

/// Maximum bytes of responses per turn, with headers.
const TURN: u64 = 2 << 20;
/// Fixed cost of a response in this limit.
const RESPONSE: u64 = 16 << 10;

enum RecordOutcome {
    Continue,
    /// The request waits for a receive, or for room to respond.
    Wait,
}

#[derive(Clone, Copy)]
struct Partial {
    len: u64,
    offset: u64,
}

#[derive(Default)]
pub struct Requests {
    /// The header and head of the current record.
    start: ArrayVec<u8, { HEADER + MAX_HEAD }>,
    header: Option<Header>,
    /// Set while the payload can be stored.
    begun: bool,
    /// Missing bytes of the payload.
    left: u64,
    waits: bool,
    taken: Taken,
    message: Option<Partial>,
    /// The window that the next message invalidates.
    invalidates: Option<u32>,
    write: Option<(RemoteSegment, u64)>,
    /// Bytes of the current read that were sent.
    responded: u64,
    /// Bytes of responses that can be sent in this turn.
    turn: u64,
    tail: Tail,
    /// Bytes of a partly received datagram.
    datagram: Vec<u8>,
}

#[cold]
fn fatal(recv: Option<RecvDone>, peer: Option<Status>) -> Fatal {
    Fatal { recv, request: None, peer }
}

#[cold]
fn violation() -> Fatal {
    Fatal::default()
}

impl Requests {
    pub fn waits(&self) -> bool {
        self.waits
    }

    pub fn begin_turn(&mut self) {
        self.turn = TURN;
    }

    /// Handles bytes of requests. Returns their number, which is smaller if a request waits. After an error, the
    /// connection fails.
    pub fn feed(&mut self, conn: &Arc<Conn>, stream: &Arc<Stream>, bytes: &[u8]) -> Result<usize, Fatal> {
        let mut rest = bytes;
        self.waits = false;
        loop {
            if !self.begun {
                if !self.gather(&mut rest) {
                    break;
                }
                if let Some(receiver) = conn.datagrams() {
                    if !self.datagram(receiver, stream, &mut rest)? {
                        break;
                    }
                    continue;
                }
                if let RecordOutcome::Wait = self.begin(conn, stream)? {
                    self.waits = true;
                    break;
                }
                self.begun = true;
            }
            let (payload, after) = rest.split_at(self.left.min(rest.len() as u64) as usize);
            if !payload.is_empty() {
                self.store(stream, payload)?;
                rest = after;
            }
            if self.left > 0 {
                break;
            }
            self.end(conn, stream)?;
            if rest.is_empty() {
                break;
            }
        }
        Ok(bytes.len() - rest.len())
    }

    /// Gathers the header and the head of the next record. Returns whether they are complete.
    fn gather(&mut self, rest: &mut &[u8]) -> bool {
        loop {
            let wanted = match &self.header {
                Some(header) => HEADER + header.head().unwrap_or(0),
                None => HEADER,
            };
            *rest = gather(&mut self.start, wanted, rest);
            if self.start.len() < wanted {
                return false;
            }
            if self.header.is_some() {
                return true;
            }
            // The receiving direction has checked the header.
            let header = self.start[..].first_chunk().and_then(Header::decode).unwrap_or_default();
            self.left = u64::from(header.len) - header.head().unwrap_or(0) as u64;
            self.header = Some(header);
        }
    }

    fn begin(&mut self, conn: &Arc<Conn>, stream: &Arc<Stream>) -> Result<RecordOutcome, Fatal> {
        let Some(header) = self.header else { return Ok(RecordOutcome::Wait) };
        let head = ArrayVec::<u8, MAX_HEAD>::try_from(&self.start[HEADER..]).unwrap_or_default();
        let head = &head[..];
        let whole = self.message.is_none() && self.write.is_none();
        if header.aux > record::LARGEST {
            return Err(violation());
        }
        match header.kind {
            kind::MESSAGE if self.write.is_none() => self.begin_message(conn, header.aux),
            kind::WRITE if whole && self.invalidates.is_none() => {
                let to = record::read_target(head).filter(|to| to.len == header.aux).ok_or_else(violation)?;
                self.begin_write(stream, to, 0)
            }
            kind::WRITE_PART if self.left > 0 => {
                let (to, offset) = self.write.ok_or_else(violation)?;
                self.begin_write(stream, to, offset)
            }
            kind::IMMEDIATE if whole && self.invalidates.is_none() => self.immediate(conn, &header, head),
            kind::INVALIDATE if whole && self.invalidates.is_none() => {
                let key = record::read_number(head).ok_or_else(violation)?;
                if stream.regions().may_invalidate(key, &stream.own).is_none() {
                    return Err(fatal(None, Some(Status::RemoteAccess)));
                }
                self.invalidates = Some(key);
                Ok(RecordOutcome::Continue)
            }
            kind::READ if whole && self.invalidates.is_none() => self.read(conn, stream, head),
            kind::ATOMIC if whole && self.invalidates.is_none() => atomic(stream, head),
            _ => Err(violation()),
        }
    }

    // ---- Datagrams ----

    /// Handles a record of a datagram connection, whose header and head have arrived. Returns whether all of it has.
    /// Only a complete datagram takes a receive, so that no peer can block one.
    fn datagram(&mut self, receiver: &DatagramReceiver<Tcp>, stream: &Stream, rest: &mut &[u8]) -> Result<bool, Fatal> {
        let Some(header) = self.header else { return Ok(false) };
        let len = self.left as usize;
        match header.kind {
            kind::MESSAGE if header.aux == self.left && len <= MAX_DATAGRAM => {}
            kind::IMMEDIATE if !receiver.notice_arrived() => {}
            // A regular end, or a violation.
            _ => return Err(violation()),
        }
        let gathered = self.datagram.len();
        let (bytes, after) = rest.split_at((len - gathered).min(rest.len()));
        *rest = after;
        let whole = gathered + bytes.len() == len;
        if gathered > 0 || !whole {
            self.datagram.room(len - gathered).map_err(|_| violation())?;
            self.datagram.extend_from_slice(bytes);
        }
        if whole && header.kind == kind::MESSAGE {
            let bytes = if gathered > 0 { &self.datagram } else { bytes };
            receiver.arrived(header.aux, header.flags & record::SOLICITED != 0, |segments| {
                copy::scatter(stream.regions(), segments, 0, Source::of(bytes), true)
            });
        }
        if whole {
            self.datagram = Vec::new();
            self.header = None;
            self.start.clear();
            stream.note_handled(HEADER as u64 + u64::from(header.len));
        }
        Ok(whole)
    }

    // ---- Messages ----

    fn done(&self, status: Status, len: u64, solicited: bool) -> RecvDone {
        RecvDone { id: self.taken.id, status, len, solicited }
    }

    fn take(&mut self, conn: &Arc<Conn>, len: u64) -> Result<RecordOutcome, Fatal> {
        if !conn.take(&mut self.taken)? {
            return Ok(RecordOutcome::Wait);
        }
        if len > self.taken.capacity {
            let recv = self.done(Status::LocalLength, 0, false);
            return Err(fatal(Some(recv), Some(Status::RemoteResponder)));
        }
        Ok(RecordOutcome::Continue)
    }

    fn begin_message(&mut self, conn: &Arc<Conn>, len: u64) -> Result<RecordOutcome, Fatal> {
        let partial = match self.message {
            Some(partial) => partial,
            None => {
                if let RecordOutcome::Wait = self.take(conn, len)? {
                    return Ok(RecordOutcome::Wait);
                }
                Partial { len, offset: 0 }
            }
        };
        self.message = Some(partial);
        let rest = partial.len - partial.offset;
        if partial.len != len || self.left > rest || (self.left == 0 && rest > 0) {
            return Err(violation());
        }
        Ok(RecordOutcome::Continue)
    }

    fn immediate(&mut self, conn: &Arc<Conn>, header: &Header, head: &[u8]) -> Result<RecordOutcome, Fatal> {
        let value = record::read_number(head).ok_or_else(violation)?;
        // The buffer keeps its length, so it is never too short.
        if let RecordOutcome::Wait = self.take(conn, 0)? {
            return Ok(RecordOutcome::Wait);
        }
        let done = self.done(Status::Success, header.aux, header.flags & record::SOLICITED != 0);
        conn.complete_special(done, Special::Immediate(value));
        Ok(RecordOutcome::Continue)
    }

    // ---- Writes ----

    /// Begins a part of a write. First checks the rights to the whole range, so that a violation changes nothing.
    fn begin_write(&mut self, stream: &Stream, to: RemoteSegment, offset: u64) -> Result<RecordOutcome, Fatal> {
        let rest = to.len - offset;
        if self.left > rest || (self.left == 0 && rest > 0) {
            return Err(violation());
        }
        if to.len > 0 {
            let granted = stream.regions().grant(to.key, to.addr, to.len, Rights::REMOTE_WRITE, &stream.own);
            drop(granted.map_err(|_| fatal(None, Some(Status::RemoteAccess)))?);
        }
        self.write = Some((to, offset));
        Ok(RecordOutcome::Continue)
    }

    // ---- Payloads ----

    fn store(&mut self, stream: &Stream, bytes: &[u8]) -> Result<(), Fatal> {
        let len = bytes.len() as u64;
        let regions = stream.regions();
        if let Some(partial) = &mut self.message {
            let piece = Piece { offset: partial.offset, len: partial.len };
            let segments = self.taken.segments();
            let stored = store_piece(&mut self.tail, piece, bytes, |offset, bytes, last| {
                copy::scatter(regions, segments, offset, bytes, last)
            });
            partial.offset += len;
            if !stored {
                let recv = self.done(Status::LocalProtection, 0, false);
                return Err(fatal(Some(recv), Some(Status::RemoteResponder)));
            }
        } else if let Some((to, offset)) = &mut self.write {
            let granted = regions.grant(to.key, to.addr, to.len, Rights::REMOTE_WRITE, &stream.own);
            let granted = granted.map_err(|_| fatal(None, Some(Status::RemoteAccess)))?;
            let piece = Piece { offset: *offset, len: to.len };
            store_piece(&mut self.tail, piece, bytes, |offset, bytes, last| {
                copy::store(granted.target(offset, bytes.len() as u64), bytes, last);
                true
            });
            *offset += len;
        }
        self.left -= len;
        Ok(())
    }

    /// Returns where to receive the rest of the payload, and the number of bytes.
    pub fn direct(&self) -> Option<(Place, u64)> {
        if !self.begun {
            return None;
        }
        let (place, rest) = match (&self.message, self.write) {
            (Some(Partial { len, offset }), _) => {
                (Place::Local(self.taken.segments().iter().copied().collect(), *offset), len - offset)
            }
            (None, Some((to, offset))) => (Place::Granted(to, offset), to.len - offset),
            _ => return None,
        };
        // The last bytes of a transfer are stored separately.
        let len = if rest == self.left { rest - TAIL } else { self.left };
        Some((place, len))
    }

    pub fn advance(&mut self, bytes: u64) {
        self.left -= bytes;
        if let Some(partial) = &mut self.message {
            partial.offset += bytes;
        } else if let Some((_, offset)) = &mut self.write {
            *offset += bytes;
        }
    }

    fn end(&mut self, conn: &Arc<Conn>, stream: &Stream) -> Result<(), Fatal> {
        let Some(header) = self.header.take() else { return Ok(()) };
        self.start.clear();
        self.begun = false;
        stream.note_handled(HEADER as u64 + u64::from(header.len));
        match (self.message, self.write) {
            (Some(partial), _) if header.kind == kind::MESSAGE && partial.offset == partial.len => {
                self.message = None;
                let done = self.done(Status::Success, partial.len, header.flags & record::SOLICITED != 0);
                match self.invalidates.take() {
                    Some(key) if stream.device().invalidate(key, &stream.own) => {
                        conn.complete_special(done, Special::Invalidated(key));
                    }
                    Some(_) => {
                        return Err(fatal(Some(self.done(Status::Flushed, 0, false)), Some(Status::RemoteAccess)));
                    }
                    None => conn.complete(done),
                }
            }
            (_, Some((to, offset))) if offset == to.len => self.write = None,
            _ => {}
        }
        Ok(())
    }

    // ---- Responses ----

    /// Sends bytes that the peer reads, while there is room.
    fn read(&mut self, conn: &Arc<Conn>, stream: &Arc<Stream>, head: &[u8]) -> Result<RecordOutcome, Fatal> {
        let from = record::read_target(head).ok_or_else(violation)?;
        loop {
            if self.turn == 0 {
                conn.poll_soon();
                return Ok(RecordOutcome::Wait);
            }
            let part = (from.len - self.responded).min(MAX_PAYLOAD);
            let sent = stream.sender().and_then(|mut sender| {
                let header = sender.header(kind::RESPONSE, 0, part as usize, from.len);
                sender.send(&header.encode(), Body::Granted(from), self.responded, part)
            });
            match sent {
                Ok(()) => {}
                Err(NotSent::NoMemory) => return Err(fatal(None, Some(Status::RemoteAccess))),
                // A read of the socket reports the end of the connection.
                Err(NotSent::Busy | NotSent::Gone | NotSent::Lost(_)) => return Ok(RecordOutcome::Wait),
            }
            self.turn = self.turn.saturating_sub(part + RESPONSE);
            self.responded += part;
            if self.responded == from.len {
                self.responded = 0;
                return Ok(RecordOutcome::Continue);
            }
        }
    }
}

/// Executes an atomic operation, once there is room for the response.
fn atomic(stream: &Arc<Stream>, head: &[u8]) -> Result<RecordOutcome, Fatal> {
    let (target, what) = record::read_atomic(head).ok_or_else(violation)?;
    let granted = stream.regions().grant(target.key, target.addr, target.len, Rights::REMOTE_ATOMIC, &stream.own);
    let granted = granted.map_err(|_| fatal(None, Some(Status::RemoteAccess)))?;
    let mut refused = false;
    let sent = stream.sender().and_then(|mut sender| {
        let header = sender.header(kind::RESPONSE, 0, record::WORD as usize, record::WORD);
        sender.send_computed(header, || {
            let before = change(granted.target(0, record::WORD), what);
            refused = before.is_none();
            before.map(u64::to_le_bytes)
        })
    });
    match sent {
        _ if refused => Err(fatal(None, Some(Status::RemoteAccess))),
        Ok(()) => Ok(RecordOutcome::Continue),
        Err(_) => Ok(RecordOutcome::Wait),
    }
}
