//! The receiving direction of a connection.
//!
//! libfabric receives every record into a slot. A request stays there until it is handled, in order; each other record is
//! handled as it comes, and its slot is free again. A message waits for a receive, and all requests behind it wait with it.
//! An answer that libfabric has no room for waits likewise.
//!
//! One receive is posted at a time: for the next record, or for the bytes of a long part behind the record that announces it.
//! Those go to their place if nothing waits before them, else to a place of the connection's own.

use std::collections::VecDeque;
use std::sync::Arc;

use arrayvec::ArrayVec;
use dat_core::Rights;
use dat_core::error::Result;
use dat_core::event::Status;
use dat_core::transport::{FailedRequest, RecvDone, RemoteSegment, Special, Taken};
use dat_memory::copy;
use dat_memory::user::{Source, Target, change, copy as copy_bytes};
use host::memory;

use crate::bulk::{self, Body, Keys, Pieces};
use crate::conn::Conn;
use crate::link::{Link, PLACES, Slot};
use crate::record::{self, ANSWERS, BULK, BULKS, CREDITS, End, Header, PAYLOAD, RECEIVES, kind};

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

/// A record in its slot.
#[derive(Clone, Copy)]
struct Arrived {
    slot: usize,
    len: usize,
    bulk: Bulk,
}

/// The bytes of a long part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bulk {
    /// There are none.
    None,
    /// They are where they belong.
    Placed,
    /// They are in this place of the connection's own.
    Apart(usize),
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
    /// The record whose long part is being received.
    coming: Option<Arrived>,
    /// Slots and places that are free.
    slots: ArrayVec<usize, RECEIVES>,
    places: ArrayVec<usize, PLACES>,
    /// Long parts that are handled since the peer was told.
    bulks: usize,
    taken: Taken,
    message: Option<Partial>,
    /// The window that the message behind revokes.
    revokes: Option<u32>,
    write: Option<(RemoteSegment, u64)>,
    /// How much of the read at the head is answered.
    answered: u64,
    /// Slots for answers that libfabric has.
    sending: [bool; ANSWERS],
    /// Long parts that libfabric has.
    answering: usize,
}

/// The peer does not keep to the protocol.
#[cold]
fn broken() -> Progress {
    Progress { over: Some(Over::Failed(Fatal::default())), ..Progress::default() }
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
            coming: None,
            // The link has the first slot.
            slots: (1..RECEIVES).collect(),
            places: (0..PLACES).collect(),
            bulks: 0,
            taken: Taken::default(),
            message: None,
            revokes: None,
            write: None,
            answered: 0,
            sending: [false; ANSWERS],
            answering: 0,
        })
    }

    /// Gives it a connection.
    pub fn open(&mut self, link: Arc<Link>) {
        self.link = Some(link);
    }

    /// Takes the connection away, which is given.
    pub fn close(&mut self) -> Option<Arc<Link>> {
        self.requests.clear();
        self.coming = None;
        self.link.take()
    }

    /// The connection.
    pub fn link(&self) -> Option<&Arc<Link>> {
        self.link.as_ref()
    }

    /// Takes a record that libfabric has received.
    pub fn arrived(&mut self, conn: &Arc<Conn>, slot: usize, len: usize) -> Progress {
        let Some(link) = self.link.clone() else { return Progress::default() };
        let record = Arrived { slot, len, bulk: Bulk::None };
        let header = link.with_received(slot, len, |bytes| Header::decode(bytes).map(|(header, _)| header));
        let Some(header) = header.filter(|header| header.bulk == 0 || header.takes_bulk()) else { return broken() };
        // The peer has as many credits.
        if header.is_request() && self.requests.len() >= CREDITS {
            return broken();
        }
        if let Err(over) = conn.peer_says(header.handled) {
            return Progress { over: Some(over), ..Progress::default() };
        }
        if header.bulk > 0 { self.await_bulk(conn, &link, record, &header) } else { self.entered(conn, &link, record) }
    }

    /// Has libfabric receive the long part behind a record.
    fn await_bulk(&mut self, conn: &Arc<Conn>, link: &Arc<Link>, record: Arrived, header: &Header) -> Progress {
        let long = header.bulk as usize;
        let placed = if !header.is_request() {
            conn.await_answer(long)
        } else if self.requests.is_empty() {
            let payload = link.with_received(record.slot, record.len, |bytes| self.aim(conn, link, header, bytes));
            match payload {
                Ok(placed) => placed,
                Err(fatal) => return Progress { over: Some(Over::Failed(fatal)), ..Progress::default() },
            }
        } else {
            false
        };
        let bulk = if placed {
            Bulk::Placed
        } else {
            // The peer has as many of them.
            let Some(place) = self.places.pop() else { return broken() };
            // If libfabric refuses it, it tells of the end of the connection in another way, here and below.
            let _ = link.receive_apart(place, long);
            Bulk::Apart(place)
        };
        self.coming = Some(Arrived { bulk, ..record });
        Progress::default()
    }

    /// Takes the bytes of a long part that libfabric has received.
    pub fn bulk_arrived(&mut self, conn: &Arc<Conn>, len: usize) -> Progress {
        let Some(link) = self.link.clone() else { return Progress::default() };
        link.bulk_in();
        let Some(record) = self.coming.take() else { return broken() };
        let header =
            link.with_received(record.slot, record.len, |bytes| Header::decode(bytes).map(|(header, _)| header));
        if header.is_none_or(|header| header.bulk as usize != len) {
            return broken();
        }
        self.entered(conn, &link, record)
    }

    /// Handles a record that has come whole, if nothing waits before it.
    fn entered(&mut self, conn: &Arc<Conn>, link: &Arc<Link>, record: Arrived) -> Progress {
        let request = link.with_received(record.slot, record.len, |bytes| Some(Header::decode(bytes)?.0.is_request()));
        if request == Some(true) {
            self.receive_next(link);
            self.requests.push_back(record);
            return if self.requests.len() == 1 { self.go_on(conn) } else { Progress::default() };
        }
        let over = self.with(link, record, |_, header, body| match header.kind {
            kind::HANDLED if body.len() == 0 => None,
            kind::ANSWER => conn.answered(body).err(),
            kind::END => Some(End::decode(header.aux).map_or(Over::Failed(Fatal::default()), Over::Left)),
            _ => Some(Over::Failed(Fatal::default())),
        });
        let over = over.unwrap_or(Some(Over::Failed(Fatal::default())));
        self.free(link, record);
        if over.is_none() {
            self.receive_next(link);
        }
        Progress { over, ..Progress::default() }
    }

    /// Has libfabric receive the next record.
    fn receive_next(&mut self, link: &Link) {
        // There is a slot for each request of the peer, and one more.
        if let Some(slot) = self.slots.pop() {
            let _ = link.receive(slot);
        }
    }

    /// A record is handled.
    fn free(&mut self, link: &Link, record: Arrived) {
        let _ = self.slots.try_push(record.slot);
        if let Bulk::Apart(place) = record.bulk {
            link.give_back(place);
            let _ = self.places.try_push(place);
        }
    }

    /// Calls `f` with what a record says; `None` if it cannot be read.
    fn with<R>(
        &mut self,
        link: &Link,
        record: Arrived,
        f: impl FnOnce(&mut Self, &Header, Body<'_>) -> R,
    ) -> Option<R> {
        link.with_received(record.slot, record.len, |bytes| {
            let (header, payload) = Header::decode(bytes)?;
            Some(match record.bulk {
                Bulk::None => f(self, &header, Body::Short(payload)),
                Bulk::Placed => f(self, &header, Body::Placed(header.bulk.into(), payload)),
                Bulk::Apart(place) => {
                    link.with_apart(place, header.bulk as usize, |long| f(self, &header, Body::Apart(long, payload)))
                }
            })
        })
    }

    /// Has libfabric receive the long part of a request into its place, if it has one; false if not.
    fn aim(
        &mut self,
        conn: &Arc<Conn>,
        link: &Arc<Link>,
        header: &Header,
        bytes: &[u8],
    ) -> std::result::Result<bool, Fatal> {
        let Some((_, payload)) = Header::decode(bytes) else { return Err(Fatal::default()) };
        let (len, long) = (header.aux, u64::from(header.bulk));
        if conn.has_datagrams() && header.kind != kind::MESSAGE {
            return Err(Fatal::default());
        }
        match header.kind {
            kind::MESSAGE if self.write.is_none() => {
                if self.message.is_none() {
                    match self.take(conn, len) {
                        None => self.message = Some(Partial { len, offset: 0 }),
                        Some(Way::Fail(fatal)) => return Err(fatal),
                        Some(_) => return Ok(false),
                    }
                }
                let Some(partial) = &self.message else { return Ok(false) };
                let fits = partial.len == len && long <= len - partial.offset;
                Ok(fits && bulk::receive(link, self.taken.segments(), partial.offset, long))
            }
            kind::WRITE | kind::WRITE_PART => {
                let (to, offset) = match (header.kind, self.write) {
                    (kind::WRITE, None) => match record::read_target(payload) {
                        Some((to, _)) => (to, 0),
                        None => return Ok(false),
                    },
                    (kind::WRITE_PART, Some(write)) => write,
                    _ => return Ok(false),
                };
                if long > to.len - offset {
                    return Ok(false);
                }
                let wanted = Rights::REMOTE_WRITE;
                let Ok(granted) = link.regions().grant(to.key, to.addr, to.len, wanted, &link.own) else {
                    return Ok(false);
                };
                Ok(bulk::receive_to(link, &[granted.target(offset, long)], &[to.key]))
            }
            _ => Ok(false),
        }
    }

    /// libfabric has sent an answer.
    pub fn sent(&mut self, slot: usize) {
        if let Some(sending) = self.sending.get_mut(slot) {
            *sending = false;
        }
    }

    /// libfabric has sent the bytes of a long part of an answer.
    pub fn long_sent(&mut self) {
        self.answering = self.answering.saturating_sub(1);
    }

    /// Handles requests that have arrived.
    pub fn go_on(&mut self, conn: &Arc<Conn>) -> Progress {
        let Some(link) = self.link.clone() else { return Progress::default() };
        let mut busy = false;
        while let Some(&record) = self.requests.front() {
            let way = self.with(&link, record, |rx, header, body| rx.handle(conn, &link, header, body));
            match way.unwrap_or_else(|| fail(None, None)) {
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
            self.bulks += usize::from(record.bulk != Bulk::None);
            self.free(&link, record);
            link.note_handled();
        }
        let owed = link.owed();
        let tell = owed >= TELL || (owed > 0 && self.bulks >= BULKS / 2);
        let told = owed == 0 || (tell && link.acknowledge());
        if told {
            self.bulks = 0;
        }
        Progress { busy, owes: !told, over: None }
    }

    fn handle(&mut self, conn: &Arc<Conn>, link: &Arc<Link>, header: &Header, body: Body<'_>) -> Way {
        let payload = body.record();
        let whole = self.message.is_none() && self.write.is_none();
        if conn.has_datagrams() && header.kind != kind::MESSAGE {
            return fail(None, None);
        }
        match header.kind {
            kind::MESSAGE if self.write.is_none() => self.message(conn, link, header, body),
            kind::WRITE if whole && self.revokes.is_none() => match record::read_target(payload) {
                Some((to, _)) if to.len == header.aux => self.write(link, to, 0, body.behind(record::TARGET)),
                _ => fail(None, None),
            },
            kind::WRITE_PART => match self.write.take() {
                Some((to, offset)) if body.len() > 0 => self.write(link, to, offset, body),
                _ => fail(None, None),
            },
            kind::IMMEDIATE if whole && self.revokes.is_none() => self.immediate(conn, header, payload),
            kind::INVALIDATE if whole && self.revokes.is_none() => self.invalidate(link, header, payload),
            kind::READ if whole && self.revokes.is_none() => self.read(link, payload),
            kind::ATOMIC if whole && self.revokes.is_none() => atomic(link, payload),
            _ => fail(None, None),
        }
    }

    /// Takes a receive for a message of `len` bytes. If that is not possible, gives the way on.
    fn take(&mut self, conn: &Arc<Conn>, len: u64) -> Option<Way> {
        match conn.take(&mut self.taken, len) {
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

    fn message(&mut self, conn: &Arc<Conn>, link: &Link, header: &Header, body: Body<'_>) -> Way {
        let (len, part) = (header.aux, body.len());
        let offset = match &self.message {
            Some(partial) if partial.len == len => partial.offset,
            Some(_) => return fail(None, None),
            None => match self.take(conn, len) {
                Some(way) => return way,
                None => 0,
            },
        };
        // No part but the last one is empty, so that none can be for ever.
        let Some(rest) = len.checked_sub(offset).filter(|rest| part <= *rest) else { return fail(None, None) };
        let last = part == rest;
        if !last && part == 0 {
            return fail(None, None);
        }
        if last
            && let Some(key) = self.revokes
            && !link.device().invalidate(key, &link.own)
        {
            return fail(None, Some(Status::RemoteAccess));
        }
        if part > 0 && !body.scatter(link.regions(), self.taken.segments(), offset, last) {
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

    fn write(&mut self, link: &Link, to: RemoteSegment, offset: u64, body: Body<'_>) -> Way {
        let part = body.len();
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
        body.place(|before, bytes| {
            let end = last && before + bytes.len() as u64 == part;
            copy::store(granted.target(offset + before, bytes.len() as u64), Source::of(bytes), end);
            true
        });
        if !last {
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
    fn read(&mut self, link: &Arc<Link>, payload: &[u8]) -> Way {
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
            let rest = from.len - self.answered;
            if rest > PAYLOAD as u64 {
                match self.answer_long(link, &from, rest) {
                    Some(way) => return way,
                    None => continue,
                }
            }
            let part = rest as usize;
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
            // A slot that libfabric has stays its own, even if these bytes needed none.
            self.sending[slot] |= !link.is_injected(part);
            self.answered += part as u64;
            if self.answered == from.len {
                self.answered = 0;
                return Way::Handled;
            }
        }
    }

    /// Sends the next long part of the answer to a read of which `rest` bytes are left. If that is not possible, or was the
    /// last one, gives the way on.
    fn answer_long(&mut self, link: &Arc<Link>, from: &RemoteSegment, rest: u64) -> Option<Way> {
        let wanted = Rights::REMOTE_READ;
        let Ok(granted) = link.regions().grant(from.key, from.addr, from.len, wanted, &link.own) else {
            return Some(fail(None, Some(Status::RemoteAccess)));
        };
        if self.answering >= ANSWERS {
            return Some(Way::Wait);
        }
        let part = rest.min(BULK as u64);
        let tail = if part == rest { record::TAIL } else { 0 };
        let long = part - tail as u64;
        let mut payload = [0; record::TAIL];
        copy_bytes(Target::of(&mut payload[..tail]), granted.source(self.answered + long, tail as u64));
        let piece = Pieces::from_iter([granted.source(self.answered, long)]);
        let what = (kind::ANSWER, 0, from.len);
        match link.send_bulk(what, &payload[..tail], &piece, &Keys::from_iter([from.key])) {
            Ok(true) => {}
            Ok(false) => return Some(fail(None, Some(Status::RemoteAccess))),
            Err(error) if error.is_busy() => return Some(Way::Busy),
            Err(_) => return Some(Way::Wait),
        }
        self.answering += 1;
        self.answered += part;
        if part < rest {
            return None;
        }
        self.answered = 0;
        Some(Way::Handled)
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
