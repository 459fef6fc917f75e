//! The sending direction of a connection.
//!
//! Requests are carried out in posting order. A request that fits goes into the ring, or straight into the peer's
//! memory, inside the post; other requests wait in a queue and continue when the peer has made room. A request is
//! complete when the peer has consumed its records, that is, has put the message into its place.

use std::collections::VecDeque;

use arrayvec::ArrayVec;
use dat_core::error::{Error, Resource, Result};
use dat_core::event::Status;
use dat_core::transport::{Checked, MAX_SEGMENTS, Operation, QpSizes, RemoteSegment, Request, RequestId, Segment};

use crate::copy::{self, Outcome};
use crate::os::user::Source;
use crate::pair::{ANSWER_SLOTS, End, RING_SLOTS};
use crate::record::{self, ANSWER_MAX, EAGER_MAX, Header, kind};
use crate::ring::{Area, Corrupt, Producer, Reservation, slots_for};

// What `Outlet::put` relies on.
const _: () = assert!(slots_for(EAGER_MAX as usize + record::TARGET) <= RING_SLOTS as u64 / 4 + 1);
const _: () = assert!(slots_for(ANSWER_MAX as usize) <= ANSWER_SLOTS as u64 / 4);

/// Reads of the peer that this side takes at a time.
const MAX_ANSWERS: usize = 256;

/// The event that ends the flight of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    /// The peer has consumed the ring up to here.
    At(u64),
    /// Nothing more is needed, once all earlier ones are done.
    Now,
    /// The peer has sent the rest of its bytes.
    Reading,
    /// The request has failed.
    Failed(Status),
    /// The end of the connection, which is near because the peer has let go.
    Never,
}

/// A request that is carried out as far as this side can.
struct Flying {
    id: RequestId,
    done: Done,
}

/// A request that waits for room in the ring, without its segments.
#[derive(Clone, Copy)]
struct Queued {
    request: Request<'static>,
    /// The number of its segments.
    count: usize,
}

/// An own read that the peer carries out.
struct Reading {
    id: RequestId,
    len: u64,
    /// Bytes that have arrived.
    offset: u64,
    segments: Checked,
}

/// A read of the peer that this side carries out, because the peer cannot read its memory.
struct Answer {
    target: RemoteSegment,
    /// Bytes that are in the ring already.
    offset: u64,
}

/// The outcome of launching a request.
enum Launch {
    /// It is carried out as far as this side can.
    Flying(Done),
    /// It has to wait.
    NoRoom,
}

/// The results of a look at the sending direction.
#[derive(Default)]
pub struct TxReport {
    /// Requests up to this one succeeded.
    pub done: Option<RequestId>,
    /// This one failed.
    pub failed: Option<(RequestId, Status)>,
    /// A read of the peer failed.
    pub answer: Option<Status>,
}

/// The sending direction.
#[derive(Default)]
pub struct Tx {
    outlet: Outlet,
    flying: VecDeque<Flying>,
    queued: VecDeque<Queued>,
    /// The segments of the queued requests.
    segments: VecDeque<Segment>,
    reading: VecDeque<Box<Reading>>,
    /// Own reads that the peer carries out at a time.
    reads_out: usize,
    /// The ring that answers go into, and the reads that are not answered yet.
    answer_outlet: Outlet,
    answers: VecDeque<Answer>,
    /// Bytes of the oldest queued request that are in the ring already.
    offset: u64,
    /// The last request that is known to have succeeded.
    done: Option<RequestId>,
    /// A request has failed; no later one is carried out.
    failed: bool,
    /// The program waits for the last request: see [`Tx::drain`].
    draining: bool,
    closed: bool,
}

impl Tx {
    /// A direction with room for as many requests as the queue pair admits.
    ///
    /// # Errors
    /// [`Resource::Memory`].
    pub fn new(sizes: &QpSizes) -> Result<Self> {
        let mut tx = Tx { reads_out: usize::from(sizes.reads_out).max(1), ..Tx::default() };
        let memory = |_| Error::InsufficientResources(Resource::Memory);
        tx.flying.try_reserve_exact(sizes.requests).map_err(memory)?;
        tx.queued.try_reserve_exact(sizes.requests).map_err(memory)?;
        tx.segments.try_reserve_exact(sizes.requests.saturating_mul(sizes.request_segments)).map_err(memory)?;
        Ok(tx)
    }

    /// Opens the rings, for requests and for answers.
    pub fn open(&mut self, [requests, answers]: [Producer; 2]) {
        self.outlet.producer = Some(requests);
        self.answer_outlet.producer = Some(answers);
    }

    /// Carries a request out, or queues it.
    #[inline]
    pub fn post(&mut self, end: &End, request: &Request<'_>) {
        // A post that races with the end of the connection is flushed by the core.
        if self.closed {
            return;
        }
        let waits = !self.queued.is_empty() || (request.fence && !self.reading.is_empty());
        if !waits && let Launch::Flying(done) = self.launch(end, request) {
            self.fly(end, request.id, done, request.signalled);
            return;
        }
        let Request { id, operation, segments, len, fence, signalled } = *request;
        let request = Request { id, operation, segments: &[], len, fence, signalled };
        self.queued.push_back(Queued { request, count: segments.len() });
        self.segments.extend(segments);
    }

    /// Adds a request that is carried out already.
    pub fn post_done(&mut self, end: &End, id: RequestId, signalled: bool) {
        if self.closed {
            return;
        }
        if self.queued.is_empty() {
            self.fly(end, id, Done::Now, signalled);
        } else {
            // It waits for its turn as a write of no byte.
            let operation = Operation::Write(RemoteSegment::default());
            let request = Request { id, operation, segments: &[], len: 0, fence: false, signalled };
            self.queued.push_back(Queued { request, count: 0 });
        }
    }

    /// Takes note of a request that is carried out as far as this side can. If the peer has no reason to tell of its
    /// end, this side has to find out by itself.
    #[inline]
    fn fly(&mut self, end: &End, id: RequestId, done: Done, signalled: bool) {
        self.flying.push_back(Flying { id, done });
        match done {
            Done::Now if signalled || self.draining => {}
            Done::Failed(_) => self.failed = true,
            _ => return,
        }
        end.look_again();
        self.ask(end);
    }

    /// Asks the peer to tell when it has consumed the records in the ring.
    fn ask(&mut self, end: &End) {
        if self.outlet.ask() {
            end.tell_peer();
        }
    }

    /// From now on the program waits for the last request, so the peer has to tell about it.
    pub fn drain(&mut self, end: &End) {
        self.draining = true;
        self.ask(end);
        end.look_again();
    }

    /// Takes note of the records that the peer has consumed, and goes on with the requests that wait.
    pub fn progress(&mut self, end: &End) -> TxReport {
        let mut report = TxReport::default();
        if self.closed {
            return report;
        }
        self.harvest(&mut report);
        if report.failed.is_none() {
            if !self.answers.is_empty() {
                report.answer = self.answer(end);
            }
            if !self.queued.is_empty() {
                self.pump(end, &mut report);
            }
            if self.draining && self.queued.is_empty() {
                self.ask(end);
            }
        }
        report
    }

    /// Takes off the requests that are complete.
    fn harvest(&mut self, report: &mut TxReport) {
        let Some(first) = self.flying.front() else { return };
        let Some(producer) = &mut self.outlet.producer else { return };
        let Ok(consumed) = producer.consumed() else {
            report.failed = Some((first.id, Status::Transport));
            return;
        };
        while let Some(flying) = self.flying.front() {
            match flying.done {
                Done::At(position) if position <= consumed => {}
                Done::Now => {}
                Done::Failed(status) => {
                    report.failed = Some((flying.id, status));
                    return;
                }
                Done::At(_) | Done::Reading | Done::Never => return,
            }
            report.done = Some(flying.id);
            // Kept, in case the connection ends before this is reported.
            self.done = report.done;
            self.flying.pop_front();
        }
    }

    /// Goes on with requests that wait.
    fn pump(&mut self, end: &End, report: &mut TxReport) {
        let mut went = false;
        while let Some(&Queued { request, count }) = self.queued.front() {
            let reads = self.reading.len();
            let waits = match request.operation {
                Operation::Read(_) => reads >= self.reads_out || (request.fence && reads > 0),
                _ => request.fence && reads > 0,
            };
            if waits {
                break;
            }
            let segments: Checked = self.segments.iter().take(count.min(MAX_SEGMENTS)).copied().collect();
            let Launch::Flying(done) = self.launch(end, &Request { segments: &segments, ..request }) else { break };
            self.queued.pop_front();
            self.segments.drain(..count);
            self.fly(end, request.id, done, request.signalled);
            went = true;
        }
        if went {
            self.harvest(report);
        }
    }

    /// Carries a request out as far as this side can now.
    #[inline]
    fn launch(&mut self, end: &End, request: &Request<'_>) -> Launch {
        if self.failed {
            return Launch::NoRoom;
        }
        let (len, signalled) = (request.len, request.signalled);
        match request.operation {
            Operation::Send { solicited } => {
                let header = Header { kind: kind::MESSAGE, solicited, acknowledge: signalled, aux: len };
                if len <= EAGER_MAX {
                    self.pieces(end, header, &[], request)
                } else if end.pair.is_local() || !end.pair.peer_reads() {
                    self.pieces(end, Header { kind: kind::MESSAGE_PIECE, ..header }, &[], request)
                } else {
                    self.announce(end, Header { kind: kind::REMOTE_MESSAGE, ..header }, request.segments)
                }
            }
            Operation::Write(_) | Operation::Read(_) if len == 0 => Launch::Flying(Done::Now),
            Operation::Write(remote) => self.write(end, &RemoteSegment { len, ..remote }, request),
            Operation::Read(remote) => self.read(end, &remote, request),
        }
    }

    /// Tells the peer where a long message is, which it reads by itself.
    fn announce(&mut self, end: &End, header: Header, segments: &[Segment]) -> Launch {
        let places: ArrayVec<_, MAX_SEGMENTS> =
            segments.iter().map(|segment| record::place(segment.addr, segment.len)).collect();
        let places = places.as_flattened();
        match self.outlet.put(header, places.len(), |room| room.write(Source::of(places)) == places.len()) {
            Put::At(position) => {
                end.tell_peer();
                Launch::Flying(Done::At(position))
            }
            Put::NoRoom => Launch::NoRoom,
            Put::Failed(status) => Launch::Flying(Done::Failed(status)),
        }
    }

    fn write(&mut self, end: &End, remote: &RemoteSegment, request: &Request<'_>) -> Launch {
        // A write that began in the ring goes on there.
        let outcome = if self.offset > 0 { Outcome::Refused } else { copy::to_peer(end, request.segments, remote) };
        match outcome {
            Outcome::Done => Launch::Flying(Done::Now),
            Outcome::Failed(status) => Launch::Flying(Done::Failed(status)),
            Outcome::PeerGone => Launch::Flying(Done::Never),
            Outcome::Refused => {
                let target = record::target(remote.addr, remote.key, remote.len);
                let acknowledge = request.signalled;
                let header = Header { kind: kind::WRITE_PIECE, solicited: false, acknowledge, aux: remote.len };
                self.pieces(end, header, &target, request)
            }
        }
    }

    fn read(&mut self, end: &End, remote: &RemoteSegment, request: &Request<'_>) -> Launch {
        match copy::from_peer(end, remote, request.segments) {
            Outcome::Done => return Launch::Flying(Done::Now),
            Outcome::Failed(status) => return Launch::Flying(Done::Failed(status)),
            Outcome::PeerGone => return Launch::Flying(Done::Never),
            Outcome::Refused => {}
        }
        if self.reading.len() >= self.reads_out {
            return Launch::NoRoom;
        }
        let (id, len) = (request.id, request.len);
        let target = record::target(remote.addr, remote.key, len);
        let header = Header { kind: kind::READ, solicited: false, acknowledge: true, aux: len };
        match self.outlet.put(header, target.len(), |room| room.write(Source::of(&target)) == target.len()) {
            Put::NoRoom => Launch::NoRoom,
            Put::Failed(status) => Launch::Flying(Done::Failed(status)),
            Put::At(_) => {
                end.tell_peer();
                let segments = request.segments.iter().take(MAX_SEGMENTS).copied().collect();
                self.reading.push_back(Box::new(Reading { id, len, offset: 0, segments }));
                Launch::Flying(Done::Reading)
            }
        }
    }

    /// Puts `head` and then the bytes of the request into the ring, in as many records as it takes. Bytes that find
    /// no room go on at the next call.
    #[inline]
    fn pieces(&mut self, end: &End, header: Header, head: &[u8], request: &Request<'_>) -> Launch {
        let mut went = false;
        let launch = loop {
            let offset = self.offset;
            let head = if offset == 0 { head } else { &[] };
            let take = (request.len - offset).min(EAGER_MAX);
            let put = self.outlet.put(header, head.len() + take as usize, |room| {
                room.write(Source::of(head));
                let mut wrote = 0;
                let there =
                    copy::gather(end.regions(), request.segments, offset, take, |bytes| wrote += room.write(bytes));
                there && wrote as u64 == take
            });
            match put {
                Put::NoRoom => break Launch::NoRoom,
                Put::Failed(status) => {
                    self.offset = 0;
                    break Launch::Flying(Done::Failed(status));
                }
                Put::At(position) => {
                    went = true;
                    self.offset = offset + take;
                    if self.offset == request.len {
                        self.offset = 0;
                        break Launch::Flying(Done::At(position));
                    }
                }
            }
        };
        if went {
            end.tell_peer();
        }
        launch
    }

    /// Takes a read of the peer that this side has to carry out; false if there are more than it may have.
    pub fn on_read(&mut self, target: RemoteSegment) -> bool {
        let room = !self.closed && self.answers.len() < MAX_ANSWERS;
        if room {
            self.answers.push_back(Answer { target, offset: 0 });
        }
        room
    }

    /// Carries out reads of the peer, as far as there is room; gives the status with which one failed.
    fn answer(&mut self, end: &End) -> Option<Status> {
        let mut went = false;
        let failed = loop {
            let Some(answer) = self.answers.front_mut() else { break None };
            let (target, offset) = (answer.target, answer.offset);
            let take = (target.len - offset).min(ANSWER_MAX);
            let header = Header { kind: kind::READ_DATA, solicited: false, acknowledge: false, aux: target.len };
            let put = self.answer_outlet.put(header, take as usize, |room| {
                copy::read_for_peer(end, &target, offset, take, |bytes| {
                    room.write(bytes);
                })
            });
            match put {
                Put::NoRoom => break None,
                Put::Failed(status) => break Some(status),
                Put::At(_) => {
                    went = true;
                    answer.offset += take;
                    if answer.offset == target.len {
                        self.answers.pop_front();
                    }
                }
            }
        };
        if went {
            end.tell_peer();
        }
        failed
    }

    /// Takes bytes of the oldest read of this side; true if it is complete.
    ///
    /// # Errors
    /// The request that failed, if it is known: the connection cannot go on.
    pub fn on_read_data(
        &mut self,
        end: &End,
        bytes: Source<'_>,
    ) -> std::result::Result<bool, Option<(RequestId, Status)>> {
        let Some(reading) = self.reading.front_mut() else { return Err(None) };
        let len = bytes.len() as u64;
        if len == 0 || len > reading.len - reading.offset {
            return Err(Some((reading.id, Status::BadResponse)));
        }
        let last = reading.offset + len == reading.len;
        if !copy::scatter(end.regions(), &reading.segments, reading.offset, bytes, last) {
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
    pub fn oldest(&self) -> Option<RequestId> {
        self.flying.front().map(|flying| flying.id).or_else(|| self.queued.front().map(|queued| queued.request.id))
    }

    /// Ends the direction: gives the last request that has succeeded, reported or not.
    pub fn close(&mut self) -> Option<RequestId> {
        if !self.closed {
            self.harvest(&mut TxReport::default());
            self.closed = true;
            self.outlet.producer = None;
            self.answer_outlet.producer = None;
            self.flying = VecDeque::new();
            self.queued = VecDeque::new();
            self.segments = VecDeque::new();
            self.answers.clear();
            self.reading.clear();
        }
        self.done
    }
}

/// The outcome of putting a record into the ring.
enum Put {
    /// It is in the ring and ends there.
    At(u64),
    /// It has to wait until the peer has made room.
    NoRoom,
    /// It cannot be put there, ever.
    Failed(Status),
}

/// A ring as the side that fills it uses it: one record at a time, shown to the peer at once.
#[derive(Default)]
struct Outlet {
    /// `None` before the ring is opened, and after it is closed.
    producer: Option<Producer>,
    /// End of the last record, if neither it nor a later one asks for an acknowledgement.
    unasked: Option<u64>,
}

impl Outlet {
    /// Puts one record into the ring: `fill` writes a payload of up to `len` bytes, or returns false if it cannot.
    #[inline]
    fn put(&mut self, header: Header, len: usize, fill: impl FnOnce(&mut Reservation<'_>) -> bool) -> Put {
        let Some(producer) = &mut self.producer else { return Put::NoRoom };
        // A producer that finds no room waits for the peer's word, and has it only if a record in the ring asks for
        // it. There is no room only if about half of the ring is in use: a record takes a quarter at most, and so
        // does the pad before it. So it is enough that each record asks that fills the ring to more than a quarter.
        let pressed = producer.used() + slots_for(len) > producer.area().slots() / 4;
        let mut room = match producer.reserve(len) {
            Ok(Some(room)) => room,
            Ok(None) => return Put::NoRoom,
            Err(Corrupt) => return Put::Failed(Status::Transport),
        };
        if !fill(&mut room) {
            return Put::Failed(Status::LocalProtection);
        }
        let asks = header.acknowledge || pressed;
        let flags = (u8::from(header.solicited) * record::SOLICITED) | (u8::from(asks) * record::ACKNOWLEDGE);
        let end = room.finish(header.kind, flags, header.aux);
        producer.commit();
        self.unasked = (!asks).then_some(end);
        Put::At(end)
    }

    /// Asks the peer to tell when it has consumed all records, unless one of them does so already; true if there is
    /// a new record for the peer to see.
    fn ask(&mut self) -> bool {
        let Some(end) = self.unasked else { return false };
        if self.producer.as_mut().is_none_or(|producer| producer.consumed().is_ok_and(|head| head >= end)) {
            self.unasked = None;
            return false;
        }
        // Without room, the last record asks: see `put`.
        let header = Header { kind: kind::NOTHING, solicited: false, acknowledge: true, aux: 0 };
        matches!(self.put(header, 0, |_| true), Put::At(_))
    }
}
