//! The sending direction of a connection.
//!
//! Requests are carried out in posting order. What fits goes into the ring, or straight
//! into the peer's memory, inside the post; the rest waits in a queue and goes on when
//! the peer has made room. A request is complete when the peer has consumed its records,
//! that is, has put the message where it belongs.

use std::collections::VecDeque;
use std::sync::Arc;

use dat_core::error::{Error, Resource, Result};
use dat_core::event::Status;
use dat_core::transport::{MAX_SEGMENTS, Operation, QpSizes, RemoteSegment, Request, RequestId, Segment};

use crate::conn::{Conn, Wired};
use crate::copy;
use crate::link::{ANSWER_SLOTS, RING_SLOTS};
use crate::os::user::Source;
use crate::record::{self, kind};
use crate::ring::{Corrupt, Producer, Reservation, slots_for};

/// The longest message that travels in the ring as one record; longer ones are read from
/// the sender's memory, or travel in pieces of this length.
pub const EAGER_MAX: u64 = 8 * 1024;
/// Bytes of a read that one record carries where the peer cannot read by itself.
const ANSWER_MAX: u64 = 4080;

const _: () = assert!(slots_for(EAGER_MAX as usize + record::TARGET) <= RING_SLOTS as u64 / 4 + 1);
const _: () = assert!(slots_for(ANSWER_MAX as usize) <= ANSWER_SLOTS as u64 / 4);

/// What ends the flight of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    /// The peer has consumed the ring up to here.
    At(u64),
    /// Done, as soon as all earlier ones are.
    Now,
    /// Its bytes are still to come from the peer.
    Reading,
    /// It failed.
    Failed(Status),
    /// The peer has let go, so that the end of the connection is near.
    Never,
}

struct Flying {
    id: RequestId,
    done: Done,
}

/// A request that waits for room in the ring.
struct Queued {
    id: RequestId,
    operation: Operation,
    count: usize,
    len: u64,
    fence: bool,
    signalled: bool,
}

/// A read of the peer that this side carries out, where the peer cannot itself.
struct Answer {
    target: RemoteSegment,
    offset: u64,
}

/// The destination of an own read that the peer carries out.
struct Reading {
    id: RequestId,
    count: usize,
    len: u64,
    offset: u64,
    segments: [Segment; MAX_SEGMENTS],
}

/// The sending direction.
#[derive(Default)]
pub struct Tx {
    producer: Option<Producer>,
    answerer: Option<Producer>,
    flying: VecDeque<Flying>,
    waiting: VecDeque<Queued>,
    segments: VecDeque<Segment>,
    answers: VecDeque<Answer>,
    reading: VecDeque<Box<Reading>>,
    reads_out: usize,
    /// Bytes of the oldest waiting request that are in the ring already.
    offset: u64,
    /// End of the last record, if neither it nor a later one asks for an acknowledgement.
    unasked: Option<u64>,
    /// The program waits for the last request: see [`Tx::drain`].
    draining: bool,
    closed: bool,
    /// The last request that is known to have succeeded.
    done: Option<RequestId>,
}

/// What came of a turn.
#[derive(Default)]
pub struct TxReport {
    /// Requests up to this one succeeded.
    pub done: Option<RequestId>,
    /// This one failed.
    pub failed: Option<(RequestId, Status)>,
    /// A read of the peer failed.
    pub answer: Option<Status>,
}

/// Whether a request was carried out as far as this side can.
enum Launch {
    Flying(Done),
    NoRoom,
}

/// What came of a record.
enum Put {
    /// It ends there, and asks for an acknowledgement or not.
    At {
        end: u64,
        asks: bool,
    },
    NoRoom,
    Failed(Status),
}

/// Reads of the peer that this side takes at a time.
const MAX_ANSWERS: usize = 256;

impl Tx {
    /// Room for as many requests as the queue pair admits.
    pub fn new(sizes: &QpSizes) -> Result<Self> {
        let mut tx = Tx { reads_out: usize::from(sizes.reads_out).max(1), ..Tx::default() };
        let memory = |_| Error::InsufficientResources(Resource::Memory);
        tx.flying.try_reserve_exact(sizes.requests).map_err(memory)?;
        tx.waiting.try_reserve_exact(sizes.requests).map_err(memory)?;
        tx.segments.try_reserve_exact(sizes.requests.saturating_mul(sizes.request_segments)).map_err(memory)?;
        Ok(tx)
    }

    /// Opens the rings, for requests and for answers.
    pub fn open(&mut self, [producer, answerer]: [Producer; 2]) {
        self.producer = Some(producer);
        self.answerer = Some(answerer);
    }

    /// Carries a request out, or queues it.
    pub fn post(&mut self, conn: &Arc<Conn>, wired: &Wired, request: &Request<'_>) {
        // A post that races with the end of the connection is flushed by the core.
        if self.closed {
            return;
        }
        let waits = !self.waiting.is_empty() || (request.fence && !self.reading.is_empty());
        if !waits {
            let launch = self.launch(
                conn,
                wired,
                request.id,
                request.operation,
                request.segments,
                request.len,
                request.signalled,
            );
            if let Launch::Flying(done) = launch {
                self.fly(wired, request.id, done, request.signalled);
                return;
            }
        }
        self.waiting.push_back(Queued {
            id: request.id,
            operation: request.operation,
            count: request.segments.len(),
            len: request.len,
            fence: request.fence,
            signalled: request.signalled,
        });
        self.segments.extend(request.segments);
    }

    /// Takes note of a request that is carried out as far as this side can. What the peer
    /// has no reason to tell about, this side has to find out by itself.
    fn fly(&mut self, wired: &Wired, id: RequestId, done: Done, signalled: bool) {
        self.flying.push_back(Flying { id, done });
        match done {
            Done::Now if signalled || self.draining => {}
            Done::Failed(_) => {}
            _ => return,
        }
        wired.link.mark(wired.side, wired.id.index);
        self.ask(wired);
    }

    /// Asks the peer to tell when it has consumed what is in the ring, unless a record
    /// does so already.
    fn ask(&mut self, wired: &Wired) {
        let Some(end) = self.unasked else { return };
        let consumed = self.producer.as_mut().is_none_or(|producer| producer.consumed().is_ok_and(|head| head >= end));
        if consumed {
            self.unasked = None;
        } else if let Put::At { .. } = self.put((kind::NOTHING, record::ACKNOWLEDGE, 0), 0, |_| true) {
            // Without room, the last record asks: see `put`.
            wired.link.mark(1 - wired.side, wired.id.index);
        }
    }

    /// The program waits for the last request, so the peer has to tell about it.
    pub fn drain(&mut self, wired: &Wired) {
        self.draining = true;
        self.ask(wired);
        wired.link.mark(wired.side, wired.id.index);
    }

    /// Adds a request that is carried out already.
    pub fn post_done(&mut self, wired: &Wired, id: RequestId, signalled: bool) {
        if self.closed {
            return;
        }
        if self.waiting.is_empty() {
            self.fly(wired, id, Done::Now, signalled);
        } else {
            let operation = Operation::Write(RemoteSegment::default());
            self.waiting.push_back(Queued { id, operation, count: 0, len: 0, fence: false, signalled });
        }
    }

    /// Takes note of what the peer has consumed, and goes on with what waits.
    pub fn progress(&mut self, conn: &Arc<Conn>, wired: &Wired) -> TxReport {
        if self.closed {
            return TxReport::default();
        }
        let mut turn = self.harvest();
        if turn.failed.is_none() {
            if let Some(status) = self.answer(conn, wired) {
                turn.answer = Some(status);
            }
            if self.pump(conn, wired) {
                let later = self.harvest();
                turn.done = later.done.or(turn.done);
                turn.failed = later.failed;
            }
            if self.draining && self.waiting.is_empty() {
                self.ask(wired);
            }
        }
        turn
    }

    /// Takes requests off that are complete.
    fn harvest(&mut self) -> TxReport {
        let turn = self.take_off();
        // Kept, for whoever ends the connection before this is reported.
        self.done = turn.done.or(self.done);
        turn
    }

    fn take_off(&mut self) -> TxReport {
        let mut turn = TxReport::default();
        let Some(producer) = &mut self.producer else { return turn };
        let consumed = match producer.consumed() {
            Ok(consumed) => consumed,
            Err(_) => {
                turn.failed = self.flying.front().map(|flying| (flying.id, Status::Transport));
                return turn;
            }
        };
        while let Some(flying) = self.flying.front() {
            match flying.done {
                Done::At(position) if position <= consumed => {}
                Done::Now => {}
                Done::Failed(status) => {
                    turn.failed = Some((flying.id, status));
                    return turn;
                }
                Done::At(_) | Done::Reading | Done::Never => return turn,
            }
            turn.done = Some(flying.id);
            self.flying.pop_front();
        }
        turn
    }

    /// Goes on with requests that wait; true if any was carried out.
    fn pump(&mut self, conn: &Arc<Conn>, wired: &Wired) -> bool {
        let mut went = false;
        while let Some(head) = self.waiting.front() {
            let reads = self.reading.len();
            let held = match head.operation {
                Operation::Read(_) => reads >= self.reads_out || (head.fence && reads > 0),
                _ => head.fence && reads > 0,
            };
            if held || matches!(self.flying.back(), Some(Flying { done: Done::Failed(_), .. })) {
                return went;
            }
            let (id, operation, len, signalled) = (head.id, head.operation, head.len, head.signalled);
            let count = head.count;
            let mut segments = [Segment::default(); MAX_SEGMENTS];
            for (place, segment) in segments.iter_mut().zip(self.segments.iter().take(count)) {
                *place = *segment;
            }
            let Launch::Flying(done) = self.launch(conn, wired, id, operation, &segments[..count], len, signalled)
            else {
                return went;
            };
            self.waiting.pop_front();
            self.segments.drain(..count);
            self.fly(wired, id, done, signalled);
            went = true;
        }
        went
    }

    #[allow(clippy::too_many_arguments)]
    fn launch(
        &mut self,
        conn: &Arc<Conn>,
        wired: &Wired,
        id: RequestId,
        operation: Operation,
        segments: &[Segment],
        len: u64,
        signalled: bool,
    ) -> Launch {
        if matches!(self.flying.back(), Some(Flying { done: Done::Failed(_), .. })) {
            // Nothing runs behind a failed request.
            return Launch::NoRoom;
        }
        match operation {
            Operation::Send { solicited } => self.send(conn, wired, solicited, segments, len, signalled),
            Operation::Write(_) | Operation::Read(_) if len == 0 => Launch::Flying(Done::Now),
            Operation::Write(remote) => self.write(conn, wired, remote, segments, len, signalled),
            Operation::Read(remote) => self.read(conn, wired, id, remote, segments, len),
        }
    }

    fn send(
        &mut self,
        conn: &Arc<Conn>,
        wired: &Wired,
        solicited: bool,
        segments: &[Segment],
        len: u64,
        signalled: bool,
    ) -> Launch {
        let flags = record::flags(solicited, signalled);
        if len <= EAGER_MAX {
            return self.pieces(conn, wired, (kind::MESSAGE, flags, len), &[], segments, len);
        }
        if wired.link.is_local() || !wired.link.peer_reads() {
            return self.pieces(conn, wired, (kind::MESSAGE_PIECE, flags, len), &[], segments, len);
        }
        let mut places = [0; MAX_SEGMENTS * record::PLACE];
        for (bytes, segment) in places.chunks_exact_mut(record::PLACE).zip(segments) {
            bytes.copy_from_slice(&record::place(segment.addr, segment.len));
        }
        let places = &places[..segments.len() * record::PLACE];
        match self.put((kind::REMOTE_MESSAGE, flags, len), places.len(), |slot| {
            slot.write(Source::of(places)) == places.len()
        }) {
            Put::At { end, .. } => {
                wired.link.mark(1 - wired.side, wired.id.index);
                Launch::Flying(Done::At(end))
            }
            Put::NoRoom => Launch::NoRoom,
            Put::Failed(status) => Launch::Flying(Done::Failed(status)),
        }
    }

    fn write(
        &mut self,
        conn: &Arc<Conn>,
        wired: &Wired,
        remote: RemoteSegment,
        segments: &[Segment],
        len: u64,
        signalled: bool,
    ) -> Launch {
        let refused = self.offset > 0;
        let outcome = if refused {
            copy::Outcome::Refused
        } else {
            copy::to_peer(conn, wired, segments, &RemoteSegment { len, ..remote })
        };
        match outcome {
            copy::Outcome::Done => Launch::Flying(Done::Now),
            copy::Outcome::Failed(status) => Launch::Flying(Done::Failed(status)),
            copy::Outcome::PeerGone => Launch::Flying(Done::Never),
            copy::Outcome::Refused => {
                let target = record::target(remote.addr, remote.key, len);
                self.pieces(
                    conn,
                    wired,
                    (kind::WRITE_PIECE, record::flags(false, signalled), len),
                    &target,
                    segments,
                    len,
                )
            }
        }
    }

    fn read(
        &mut self,
        conn: &Arc<Conn>,
        wired: &Wired,
        id: RequestId,
        remote: RemoteSegment,
        segments: &[Segment],
        len: u64,
    ) -> Launch {
        match copy::from_peer(conn, wired, &remote, segments) {
            copy::Outcome::Done => return Launch::Flying(Done::Now),
            copy::Outcome::Failed(status) => return Launch::Flying(Done::Failed(status)),
            copy::Outcome::PeerGone => return Launch::Flying(Done::Never),
            copy::Outcome::Refused => {}
        }
        if self.reading.len() >= self.reads_out {
            return Launch::NoRoom;
        }
        let target = record::target(remote.addr, remote.key, len);
        let asked = self.put((kind::READ, record::flags(false, true), len), target.len(), |slot| {
            slot.write(Source::of(&target)) == target.len()
        });
        match asked {
            Put::NoRoom => Launch::NoRoom,
            Put::Failed(status) => Launch::Flying(Done::Failed(status)),
            Put::At { .. } => {
                wired.link.mark(1 - wired.side, wired.id.index);
                let mut into = [Segment::default(); MAX_SEGMENTS];
                into[..segments.len()].copy_from_slice(segments);
                self.reading.push_back(Box::new(Reading { id, count: segments.len(), len, offset: 0, segments: into }));
                Launch::Flying(Done::Reading)
            }
        }
    }

    /// Puts `head` and then the bytes of `segments` into the ring, in as many records as
    /// it takes. What finds no room goes on at the next call.
    fn pieces(
        &mut self,
        conn: &Arc<Conn>,
        wired: &Wired,
        record: (u8, u8, u64),
        head: &[u8],
        segments: &[Segment],
        len: u64,
    ) -> Launch {
        let mut went = false;
        let launch = loop {
            let offset = self.offset;
            let head = if offset == 0 { head } else { &[] };
            let take = (len - offset).min(EAGER_MAX);
            let put = self.put(record, head.len() + take as usize, |slot| {
                slot.write(Source::of(head));
                let mut wrote = 0;
                let there = copy::gather(&conn.node, segments, offset, take, |bytes| wrote += slot.write(bytes));
                there && wrote as u64 == take
            });
            match put {
                Put::NoRoom => break Launch::NoRoom,
                Put::Failed(status) => {
                    self.offset = 0;
                    break Launch::Flying(Done::Failed(status));
                }
                Put::At { end, .. } => {
                    went = true;
                    self.offset = offset + take;
                    if self.offset == len {
                        self.offset = 0;
                        break Launch::Flying(Done::At(end));
                    }
                }
            }
        };
        if went {
            wired.link.mark(1 - wired.side, wired.id.index);
        }
        launch
    }

    /// Puts one record into the ring of requests.
    fn put(&mut self, record: (u8, u8, u64), len: usize, fill: impl FnOnce(&mut Reservation<'_>) -> bool) -> Put {
        let put = put(&mut self.producer, RING_SLOTS, record, len, fill);
        if let Put::At { end, asks } = put {
            self.unasked = (!asks).then_some(end);
        }
        put
    }

    /// Takes a read of the peer that this side has to carry out; false if there are more
    /// than it may have.
    pub fn on_read(&mut self, target: RemoteSegment) -> bool {
        if self.closed || self.answers.len() >= MAX_ANSWERS {
            return false;
        }
        self.answers.push_back(Answer { target, offset: 0 });
        true
    }

    /// Carries out reads of the peer, as far as there is room.
    fn answer(&mut self, conn: &Arc<Conn>, wired: &Wired) -> Option<Status> {
        let mut went = false;
        let failed = loop {
            let Some(answer) = self.answers.front() else { break None };
            let (target, offset) = (answer.target, answer.offset);
            let take = (target.len - offset).min(ANSWER_MAX);
            let put = put(&mut self.answerer, ANSWER_SLOTS, (kind::READ_DATA, 0, target.len), take as usize, |slot| {
                copy::read_for_peer(&conn.node, conn.zone, &target, offset, take, |bytes| {
                    slot.write(bytes);
                })
            });
            match put {
                Put::NoRoom => break None,
                Put::Failed(status) => break Some(status),
                Put::At { .. } => {
                    went = true;
                    if offset + take == target.len {
                        self.answers.pop_front();
                    } else if let Some(answer) = self.answers.front_mut() {
                        answer.offset += take;
                    }
                }
            }
        };
        if went {
            wired.link.mark(1 - wired.side, wired.id.index);
        }
        failed
    }

    /// Takes bytes of the oldest read of this side; true if it is complete.
    pub fn on_read_data(
        &mut self,
        conn: &Arc<Conn>,
        bytes: Source<'_>,
    ) -> std::result::Result<bool, Option<(RequestId, Status)>> {
        let Some(reading) = self.reading.front_mut() else { return Err(None) };
        let len = bytes.len() as u64;
        if len == 0 || len > reading.len - reading.offset {
            return Err(Some((reading.id, Status::BadResponse)));
        }
        let last = reading.offset + len == reading.len;
        if !copy::scatter(&conn.node, &reading.segments[..reading.count], reading.offset, bytes, last) {
            return Err(Some((reading.id, Status::LocalProtection)));
        }
        reading.offset += len;
        if last {
            let id = reading.id;
            self.reading.pop_front();
            if let Some(flying) = self.flying.iter_mut().find(|flying| flying.id == id) {
                flying.done = Done::Now;
            }
        }
        Ok(last)
    }

    /// The oldest request that is not complete.
    pub fn oldest(&mut self) -> Option<RequestId> {
        self.flying.front().map(|flying| flying.id).or_else(|| self.waiting.front().map(|waiting| waiting.id))
    }

    /// Ends the direction: gives the last request that has succeeded, reported or not.
    pub fn close(&mut self) -> Option<RequestId> {
        if self.closed {
            return self.done;
        }
        self.harvest();
        self.closed = true;
        self.producer = None;
        self.answerer = None;
        self.flying = VecDeque::new();
        self.waiting = VecDeque::new();
        self.segments = VecDeque::new();
        self.answers.clear();
        self.reading.clear();
        self.done
    }
}

/// Puts one record into a ring of `slots` slots.
fn put(
    producer: &mut Option<Producer>,
    slots: usize,
    (kind, flags, aux): (u8, u8, u64),
    len: usize,
    fill: impl FnOnce(&mut Reservation<'_>) -> bool,
) -> Put {
    let Some(producer) = producer else { return Put::NoRoom };
    // A producer that finds no room waits for the peer's word, and has it only if a
    // record in the ring asks for it. There is no room only if about half of the ring is in
    // use: a record takes a quarter at most, and so does the pad before it. So it is
    // enough that each record asks that fills the ring to more than a quarter.
    let pressed = producer.used() + slots_for(len) > slots as u64 / 4;
    let mut slot = match producer.reserve(len) {
        Ok(Some(slot)) => slot,
        Ok(None) => return Put::NoRoom,
        Err(Corrupt) => return Put::Failed(Status::Transport),
    };
    if !fill(&mut slot) {
        return Put::Failed(Status::LocalProtection);
    }
    let flags = if pressed { flags | record::ACKNOWLEDGE } else { flags };
    let end = slot.finish(kind, flags, aux);
    producer.commit();
    Put::At { end, asks: flags & record::ACKNOWLEDGE != 0 }
}
