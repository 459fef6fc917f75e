//! The receiving direction of a connection.
//!
//! libfabric receives every record into a slot. A request stays there until it is handled, in order; each other record is
//! handled as it comes, and its slot is free again. A message waits for a receive, and all requests behind it wait with it.
//! An answer that libfabric has no room for waits likewise.

use std::collections::VecDeque;
use std::sync::Arc;

use dat_core::Rights;
use dat_core::error::Result;
use dat_core::event::Status;
use dat_core::transport::{FailedRequest, RecvDone, RemoteSegment, Special, Taken};
use dat_memory::copy;
use dat_memory::user::{Source, Target, change, copy as copy_bytes, copy_tail_last};
use host::memory;

use crate::conn::Conn;
use crate::link::{Link, Slot};
use crate::record::{self, ANSWERS, CREDITS, End, Header, PAYLOAD, kind};

/// Handled requests of which the peer is told at once. It is told of fewer with the next record for it, or by the next poll
/// that finds nothing.
const TELL: u64 = CREDITS as u64 / 2;

/// Why a connection cannot go on. The peer learns the status with which its oldest request fails, if any.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fatal {
    /// The receive that fails.
    pub recv: Option<RecvDone>,
    /// The request of this end that fails.
    pub request: Option<(FailedRequest, Status)>,
    /// The status of the peer's request.
    pub peer: Option<Status>,
}

/// The way on after a request.
enum Way {
    /// It is handled.
    Handled,
    /// It waits for a receive, or for an answer before it to be sent.
    Wait,
    /// It waits for room in libfabric.
    Busy,
    Fail(Fatal),
}

#[cold]
fn fail(recv: Option<RecvDone>, peer: Option<Status>) -> Way {
    Way::Fail(Fatal { recv, request: None, peer })
}

/// A request in its slot.
#[derive(Clone, Copy)]
struct Arrived {
    slot: usize,
    len: usize,
}

/// A message or a write of which a part has arrived.
struct Partial {
    len: u64,
    offset: u64,
}

/// The receiving direction.
pub struct Rx {
    link: Option<Arc<Link>>,
    requests: VecDeque<Arrived>,
    taken: Taken,
    message: Option<Partial>,
    /// The window that the message behind revokes.
    revokes: Option<u32>,
    write: Option<(RemoteSegment, u64)>,
    /// How much of the read at the head is answered.
    answered: u64,
    /// Slots for answers that libfabric has.
    sending: [bool; ANSWERS],
}

/// What became of requests.
#[derive(Default)]
pub struct Progress {
    /// libfabric has no room, so that this is to be tried again soon.
    pub busy: bool,
    /// The peer is to be told soon what is handled.
    pub owes: bool,
    /// How the connection ends.
    pub over: Option<Over>,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug)]
pub enum Over {
    /// It cannot go on.
    Failed(Fatal),
    /// The peer has left.
    Left(End),
}

impl Rx {
    /// A receiving direction without a connection.
    pub fn new() -> Result<Rx> {
        Ok(Rx {
            link: None,
            requests: memory::vec(CREDITS)?.into(),
            taken: Taken::default(),
            message: None,
            revokes: None,
            write: None,
            answered: 0,
            sending: [false; ANSWERS],
        })
    }

    /// Gives it a connection.
    pub fn open(&mut self, link: Arc<Link>) {
        self.link = Some(link);
    }

    /// Takes the connection away, which is given.
    pub fn close(&mut self) -> Option<Arc<Link>> {
        self.requests.clear();
        self.link.take()
    }

    /// The connection.
    pub fn link(&self) -> Option<&Arc<Link>> {
        self.link.as_ref()
    }

    /// Takes a record that libfabric has received.
    pub fn arrived(&mut self, conn: &Arc<Conn>, slot: usize, len: usize) -> Progress {
        let Some(link) = self.link.clone() else { return Progress::default() };
        let read = link.with_received(slot, len, |bytes| match Header::decode(bytes) {
            Some((header, _)) if header.is_request() && header.kind != 0 => {
                conn.peer_says(header.handled, None).map(Some)
            }
            Some((header, payload)) => match header.kind {
                kind::HANDLED if payload.is_empty() => conn.peer_says(header.handled, None).map(|_| None),
                kind::ANSWER => conn.peer_says(header.handled, Some(payload)).map(|_| None),
                kind::END => {
                    let heard = conn.peer_says(header.handled, None);
                    heard.and_then(|_| Err(End::decode(header.aux).map_or(Over::Failed(Fatal::default()), Over::Left)))
                }
                _ => Err(Over::Failed(Fatal::default())),
            },
            None => Err(Over::Failed(Fatal::default())),
        });
        match read {
            Err(over) => Progress { over: Some(over), ..Progress::default() },
            // If libfabric refuses the slot, it tells of the end of the connection in another way.
            Ok(None) => {
                let _ = link.receive(slot);
                Progress::default()
            }
            // The peer has as many credits.
            Ok(Some(_)) if self.requests.len() >= CREDITS => {
                Progress { over: Some(Over::Failed(Fatal::default())), ..Progress::default() }
            }
            Ok(Some(_)) => {
                self.requests.push_back(Arrived { slot, len });
                if self.requests.len() == 1 { self.go_on(conn) } else { Progress::default() }
            }
        }
    }

    /// libfabric has sent an answer.
    pub fn sent(&mut self, slot: usize) {
        if let Some(sending) = self.sending.get_mut(slot) {
            *sending = false;
        }
    }

    /// Handles requests that have arrived.
    pub fn go_on(&mut self, conn: &Arc<Conn>) -> Progress {
        let Some(link) = self.link.clone() else { return Progress::default() };
        let mut busy = false;
        while let Some(&Arrived { slot, len }) = self.requests.front() {
            match link.with_received(slot, len, |bytes| self.handle(conn, &link, bytes)) {
                Way::Handled => {}
                Way::Wait => break,
                Way::Busy => {
                    busy = true;
                    break;
                }
                Way::Fail(fatal) => {
                    return Progress { over: Some(Over::Failed(fatal)), ..Progress::default() };
                }
            }
            self.requests.pop_front();
            link.note_handled();
            if link.receive(slot).is_err() {
                // libfabric tells of the end of the connection in another way.
                break;
            }
        }
        let owed = link.owed();
        let told = owed == 0 || (owed >= TELL && link.acknowledge());
        Progress { busy, owes: !told, over: None }
    }

    fn handle(&mut self, conn: &Arc<Conn>, link: &Link, bytes: &[u8]) -> Way {
        let Some((header, payload)) = Header::decode(bytes) else { return fail(None, None) };
        let whole = self.message.is_none() && self.write.is_none();
        match header.kind {
            kind::MESSAGE if self.write.is_none() => self.message(conn, link, &header, payload),
            kind::WRITE if whole && self.revokes.is_none() => match record::read_target(payload) {
                Some((to, rest)) if to.len == header.aux => self.write(link, to, 0, rest),
                _ => fail(None, None),
            },
            kind::WRITE_PART => match self.write.take() {
                Some((to, offset)) if !payload.is_empty() => self.write(link, to, offset, payload),
                _ => fail(None, None),
            },
            kind::IMMEDIATE if whole && self.revokes.is_none() => self.immediate(conn, &header, payload),
            kind::INVALIDATE if whole && self.revokes.is_none() => self.invalidate(link, &header, payload),
            kind::READ if whole && self.revokes.is_none() => self.read(link, payload),
            kind::ATOMIC if whole && self.revokes.is_none() => atomic(link, payload),
            _ => fail(None, None),
        }
    }

    /// Takes a receive for a message of `len` bytes. If that is not possible, gives the way on.
    fn take(&mut self, conn: &Arc<Conn>, len: u64) -> Option<Way> {
        match conn.take(&mut self.taken) {
            Ok(true) if len > self.taken.capacity => {
                Some(fail(Some(self.done(Status::LocalLength, 0, false)), Some(Status::RemoteResponder)))
            }
            Ok(true) => None,
            Ok(false) => Some(Way::Wait),
            Err(fatal) => Some(Way::Fail(fatal)),
        }
    }

    fn done(&self, status: Status, len: u64, solicited: bool) -> RecvDone {
        RecvDone { id: self.taken.id, status, len, solicited }
    }

    fn message(&mut self, conn: &Arc<Conn>, link: &Link, header: &Header, bytes: &[u8]) -> Way {
        let (len, part) = (header.aux, bytes.len() as u64);
        let offset = match &self.message {
            Some(partial) if partial.len == len => partial.offset,
            Some(_) => return fail(None, None),
            None => match self.take(conn, len) {
                Some(way) => return way,
                None => 0,
            },
        };
        // Every part but the last one is full, so that none can be empty for ever.
        let last = offset.checked_add(part) == Some(len);
        if !last && (bytes.len() != PAYLOAD || offset + part > len) {
            return fail(None, None);
        }
        if last
            && let Some(key) = self.revokes
            && link.regions().invalidate(key, &link.own).is_none()
        {
            return fail(None, Some(Status::RemoteAccess));
        }
        if part > 0 && !copy::scatter(link.regions(), self.taken.segments(), offset, Source::of(bytes), last) {
            return fail(Some(self.done(Status::LocalProtection, 0, false)), Some(Status::RemoteResponder));
        }
        if !last {
            self.message = Some(Partial { len, offset: offset + part });
            return Way::Handled;
        }
        self.message = None;
        let done = self.done(Status::Success, len, header.flags & record::SOLICITED != 0);
        match self.revokes.take() {
            None => conn.complete(done),
            Some(key) => conn.complete_special(done, Special::Invalidated(key)),
        }
        Way::Handled
    }

    fn write(&mut self, link: &Link, to: RemoteSegment, offset: u64, bytes: &[u8]) -> Way {
        let part = bytes.len() as u64;
        if part > to.len - offset || (part == 0 && to.len > 0) {
            return fail(None, None);
        }
        if to.len == 0 {
            // Nothing is asked of any memory.
            return Way::Handled;
        }
        let last = offset + part == to.len;
        // The whole range is asked for, so that a write that is not allowed changes nothing.
        let Ok(granted) = link.regions().grant(to.key, to.addr, to.len, Rights::REMOTE_WRITE, &link.own) else {
            return fail(None, Some(Status::RemoteAccess));
        };
        let place = granted.target(offset, part);
        if last {
            copy_tail_last(place, Source::of(bytes));
        } else {
            copy_bytes(place, Source::of(bytes));
            self.write = Some((to, offset + part));
        }
        Way::Handled
    }

    fn immediate(&mut self, conn: &Arc<Conn>, header: &Header, payload: &[u8]) -> Way {
        let Some(value) = record::read_number(payload).filter(|_| header.aux <= record::LARGEST) else {
            return fail(None, None);
        };
        // The buffer stays as it is, so that it is never too short.
        if let Some(way) = self.take(conn, 0) {
            return way;
        }
        let done = self.done(Status::Success, header.aux, header.flags & record::SOLICITED != 0);
        conn.complete_special(done, Special::Immediate(value));
        Way::Handled
    }

    /// Notes that the next message revokes a window.
    fn invalidate(&mut self, link: &Link, header: &Header, payload: &[u8]) -> Way {
        let Some(key) = record::read_number(payload).filter(|_| header.aux <= record::LARGEST) else {
            return fail(None, None);
        };
        if link.regions().may_invalidate(key, &link.own).is_none() {
            return fail(None, Some(Status::RemoteAccess));
        }
        self.revokes = Some(key);
        Way::Handled
    }

    /// Answers a read, as far as libfabric has room.
    fn read(&mut self, link: &Link, payload: &[u8]) -> Way {
        let Some((from, [])) = record::read_target(payload) else { return fail(None, None) };
        if from.len == 0 {
            // Nothing is asked of any memory.
            return match link.send(Slot::Answer(0), kind::ANSWER, 0, 0, 0, |_| true) {
                Err(error) if error.is_busy() => Way::Busy,
                Err(_) => Way::Wait,
                Ok(_) => Way::Handled,
            };
        }
        loop {
            let Ok(granted) = link.regions().grant(from.key, from.addr, from.len, Rights::REMOTE_READ, &link.own)
            else {
                return fail(None, Some(Status::RemoteAccess));
            };
            let part = (from.len - self.answered).min(PAYLOAD as u64) as usize;
            let slot = match self.sending.iter().position(|sending| !sending) {
                Some(slot) => slot,
                None if link.is_injected(part) => 0,
                None => return Way::Wait,
            };
            let fill = |to: Target<'_>| copy_bytes(to, granted.source(self.answered, part as u64)) == part;
            match link.send(Slot::Answer(slot), kind::ANSWER, 0, from.len, part, fill) {
                Ok(true) => {}
                Ok(false) => return fail(None, Some(Status::RemoteResponder)),
                Err(error) if error.is_busy() => return Way::Busy,
                // libfabric tells of the end of the connection in another way.
                Err(_) => return Way::Wait,
            }
            self.sending[slot] = !link.is_injected(part);
            self.answered += part as u64;
            if self.answered == from.len {
                self.answered = 0;
                return Way::Handled;
            }
        }
    }
}

/// Carries an atomic operation out, once: libfabric must have room for the answer.
fn atomic(link: &Link, payload: &[u8]) -> Way {
    let Some((target, what)) = record::read_atomic(payload) else { return fail(None, None) };
    let wanted = Rights::REMOTE_ATOMIC;
    let Ok(granted) = link.regions().grant(target.key, target.addr, target.len, wanted, &link.own) else {
        return fail(None, Some(Status::RemoteAccess));
    };
    let mut refused = false;
    let fill = |to: Target<'_>| match change(granted.target(0, record::WORD), what) {
        Some(before) => copy_bytes(to, Source::of(&before.to_le_bytes())) > 0,
        None => {
            refused = true;
            false
        }
    };
    // The answer is handed over right behind the operation. If libfabric has no room for it then, the connection fails.
    match link.send(Slot::Answer(0), kind::ANSWER, 0, record::WORD, record::WORD as usize, fill) {
        Ok(true) => Way::Handled,
        Ok(false) if refused => fail(None, Some(Status::RemoteAccess)),
        Ok(false) | Err(_) => fail(None, Some(Status::RemoteResponder)),
    }
}
