//! The sending direction of a connection.
//!
//! Requests are carried out in posting order. A request that fits goes into the ring, or straight into the peer's
//! memory, inside the post; other requests wait in a queue and continue when the peer has made room, or when it is
//! their turn to copy some more. A request is complete when the peer has consumed its records, that is, has put the
//! message into its place.
//!
//! # Marks
//! The mark of a request ([`SeqNo`]) is the position in the ring where its record ends, plus the number of requests so
//! far that are more than a record. Only those have an entry here ([`TxInFlight`]); each has a mark of its own between
//! those of the records before it and behind it.
//!
//! # Who continues a request that waits
//! Only the oldest request of the queue continues, in [`Tx::pump`], when a thread looks at the connection next. So while
//! the queue is not empty some thread is always about to look, for each reason to wait ([`WaitReason`]):
//!
//! | it waits for | who looks, and why none is missed |
//! |---|---|
//! | its turn to copy | the next round of progress: [`Budget`] has set the ready bit of this end, or it is polled, which [`Busy::Waiting`] makes look |
//! | an answer | the thread that takes the ready bit, which the peer sets for it; or one that polls, by [`Busy::Reading`] |
//! | the peer's position: room in the ring, or the end of a record that changes the peer's memory | the thread that takes the ready bit, which the peer sets when it has consumed the last record in the ring, because that asks for it; or one that polls, by [`Busy::Waiting`]. If the peer has got there before it could be asked, the request goes on at once: see [`TxRing::ask`] |
//! | the end of the connection | nobody has to |
//!
//! A look that finds the lock on this direction taken is made up for by its holder (SYNC again), and an end that is
//! polled no more is looked at once under that lock (SYNC polled).
//!
//! # The usual request
//! Small sends of one segment take a function of their own ([`Tx::post_inline`]), and while nothing but records is in
//! flight a look at this direction takes a subtraction ([`Tx::progress_plain`]). A transfer that is done inside the
//! post, with nothing in flight before it, has no entry: the post says so (`Handed::done`). With others before it, its end
//! is noted in the word that says how far the peer is known to be ([`End::finish_soon`]).
//!
//! A record that changes the peer's memory waits for the peer although it is in the ring: the program there may look at its
//! memory and make no call. Most such records are taken back if the peer does not get to them (`short`). For others the node's
//! thread wakes the peer: see [`guard`](crate::guard).

use std::collections::VecDeque;

use dat_core::Handle;
use dat_core::error::Result;
use dat_core::event::Status;
use dat_core::probes::Stall;
use dat_core::transport::{
    Checked, FailedRequest, Gauge, Handed, MAX_SEGMENTS, Operation, QpSizes, RemoteSegment, Request, RequestId,
    Segment, SeqNo, ShortSend,
};
use dat_memory::regions::checked_source;
use host::memory::Room;

use crate::budget::Budget;
use crate::peer_segment::{Busy, End};
use crate::record::{Acknowledge, EAGER_MAX, Header, kind};
use crate::responses::{Failed, Responses};
use crate::ring::{Corrupt, Producer, Reservation};
use crate::rx::Fatal;
use crate::sleep::News;
use crate::tx_ring::{Asked, Put, TxRing};

mod extended;
mod launch;
mod peer;
mod short;
use self::short::Shorts;

/// The event that ends the flight of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    /// The peer has consumed the ring up to here.
    At(u64),
    /// As [`Done::At`], for a message that was announced: the peer may ask for its bytes.
    Announced(u64),
    /// Nothing more is needed, once all earlier ones are done.
    Now,
    /// The peer has sent the rest of its bytes.
    Reading,
    /// The request has failed.
    Failed(Status),
    /// The end of the connection, which is near because the peer has disconnected.
    Never,
}

/// A request that is carried out as far as this side can, and that is not a mere record.
#[derive(Clone, Copy)]
struct TxInFlight {
    id: RequestId,
    mark: u64,
    /// The end of the records of earlier requests.
    after: u64,
    done: Done,
    /// The number of its segments that are kept, because the peer may ask for the bytes or send them.
    kept: usize,
}

/// A request that waits, without its segments.
#[derive(Clone, Copy)]
struct Queued {
    request: Request<'static>,
    mark: u64,
    /// The number of its segments.
    count: usize,
}

/// How far the request is that is being carried out.
#[derive(Clone, Copy, Default)]
struct Part {
    /// Bytes that are in the ring, or at their destination.
    done: u64,
    /// The rest goes through the ring.
    ring: bool,
    /// The first of two steps is done.
    half: bool,
    /// Bytes before those that go through the ring.
    start: u64,
    /// Whether it is left to the peer, once that was asked.
    left: Option<bool>,
}

/// An own read that the peer carries out.
struct Reading {
    id: RequestId,
    len: u64,
    /// Bytes that have arrived.
    offset: u64,
    /// Where its record ends.
    end: u64,
}

/// The outcome of launching a request.
enum StartOutcome {
    /// It is carried out as far as this side can.
    TxInFlight(Done),
    /// It has to wait.
    Waits(WaitReason),
}

/// What a request waits for: see the head of this module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitReason {
    /// Its turn to copy.
    Turn,
    /// An answer of the peer.
    Answer,
    /// The peer to consume the records in the ring.
    Peer,
    /// The end of the connection, which is near.
    End,
}

/// The results of a look at the sending direction.
#[derive(Default)]
pub struct TxReport {
    /// Requests up to this mark succeeded.
    pub done: Option<SeqNo>,
    /// The connection fails, for this reason.
    pub fatal: Option<Fatal>,
}

impl TxReport {
    fn fail(&mut self, request: FailedRequest, status: Status) {
        self.fatal = Some(Fatal { request: Some((request, status)), ..Fatal::default() });
    }

    /// The peer broke the rules of the ring.
    fn corrupt(&mut self) {
        self.fail(FailedRequest::Oldest, Status::Transport);
    }
}

/// The sending direction.
#[derive(Default)]
pub struct Tx {
    tx_ring: TxRing,
    in_flight: VecDeque<TxInFlight>,
    /// The number of requests so far that had, or have, or will have an entry in `in_flight`, and that of those that were
    /// taken off.
    entries: u64,
    passed: u64,
    queued: VecDeque<Queued>,
    /// The segments that are kept for requests in flight, and behind them those of the queued requests.
    segments: VecDeque<Segment>,
    /// The number of segments that are kept for requests in flight.
    kept: usize,
    /// The number of announced messages in flight.
    announced: usize,
    reading: VecDeque<Reading>,
    /// Own reads that the peer carries out at a time.
    reads_out: usize,
    responses: Responses,
    /// How far the oldest queued request is, or the one that is being posted.
    part: Part,
    /// End of the last record in the ring that changes the memory of the peer; 0 if it is known to be done.
    written: u64,
    shorts: Shorts,
    /// Mere records are all that is in flight, nothing is to be answered, and nobody waits for the last request: see
    /// [`Tx::progress_plain`]. It may be false for longer.
    plain: bool,
    /// The endpoint.
    ep: Handle,
    /// Whether requests wait.
    stalls: Gauge,
    /// A request has failed; no later one is carried out.
    failed: bool,
    /// The program waits for the last request: see [`Tx::drain`].
    draining: bool,
    closed: bool,
    /// The mark up to which requests had succeeded when it was closed.
    ended: Option<SeqNo>,
}

impl Tx {
    /// A direction with room for as many requests as the queue pair admits.
    pub fn new(ep: Handle, sizes: &QpSizes) -> Result<Self> {
        let mut tx = Tx { ep, reads_out: usize::from(sizes.reads_out).max(1), ..Tx::default() };
        tx.in_flight.room(sizes.requests)?;
        tx.queued.room(sizes.requests)?;
        tx.segments.room(sizes.requests.saturating_mul(sizes.request_segments))?;
        tx.reading.room(tx.reads_out)?;
        tx.shorts.room(sizes.requests)?;
        Ok(tx)
    }

    /// Opens the rings, for requests and for answers.
    pub fn open(&mut self, [requests, responses]: [Producer; 2]) {
        self.tx_ring.open(requests);
        self.responses.open(responses);
    }

    /// Puts a short message into the ring, if nothing waits and there is room as far as is known; gives its
    /// mark.
    #[inline(always)]
    pub fn post_inline(&mut self, end: &End, send: &ShortSend<'_>) -> Option<SeqNo> {
        if !self.is_free(send.fence) {
            return None;
        }
        let ShortSend { ref segment, solicited, signalled, .. } = *send;
        let acknowledge = Acknowledge::of(signalled);
        let header = Header { kind: kind::MESSAGE, solicited, acknowledge, aux: segment.len };
        let position = self.tx_ring.put_small(end, header, [], checked_source(segment))?;
        self.note_wanted(end, position);
        end.tell_peer(News::Record);
        Some(SeqNo(position + self.entries))
    }

    /// Carries a request out, or queues it; gives its mark, and whether it is done.
    pub fn post(&mut self, end: &End, request: &Request<'_>) -> Handed {
        if let Operation::Send { solicited } = request.operation {
            if request.len <= EAGER_MAX && self.is_free(request.fence) {
                if let Some(position) = self.put_message(end, solicited, request) {
                    end.tell_peer(News::Record);
                    return Handed::under_way(SeqNo(position + self.entries));
                }
            }
        }
        if self.is_free(request.fence) {
            if let Some(position) = self.try_short_write(end, request) {
                return Handed::under_way(SeqNo(position + self.entries));
            }
        }
        self.post_other(end, request)
    }

    /// True if nothing keeps a request, which waits for reads if it has a `fence`, from being carried out at once.
    #[inline]
    fn is_free(&self, fence: bool) -> bool {
        // What is asked first is the usual case, in which the rest is true.
        self.plain || (self.queued.is_empty() && !self.failed && (!fence || self.reading.is_empty()))
    }

    /// Puts a message that is one record into the ring.
    fn put_message(&mut self, end: &End, solicited: bool, request: &Request<'_>) -> Option<u64> {
        let acknowledge = Acknowledge::of(request.signalled);
        let header = Header { kind: kind::MESSAGE, solicited, acknowledge, aux: request.len };
        let put = self.put_part(end, header, &[], request, [0, request.len]);
        if let Put::At(position) = put { Some(position) } else { None }
    }

    /// Carries a request out that is not a record alone, or finds no room, or queues it.
    #[inline(never)]
    fn post_other(&mut self, end: &End, request: &Request<'_>) -> Handed {
        let after = self.tx_ring.tail();
        // A post that races with the end of the connection is flushed by the core: the thread that closes it is about to
        // report those that were done by then.
        if self.closed {
            return Handed::under_way(SeqNo::NEVER);
        }
        if self.is_free(request.fence) {
            if let StartOutcome::TxInFlight(done) = self.launch(end, request, &mut Budget::post()) {
                // Nothing is in flight before it, so it needs no entry.
                if done == Done::Now && self.entries == self.passed && self.known() == Some(after) {
                    self.part = Part::default();
                    self.passed += 1;
                    let mark = self.next_mark();
                    // Progress reports it to those who wait for the end of the connection.
                    if self.draining {
                        end.finish_soon();
                    }
                    return Handed { mark: SeqNo(mark), done: !self.draining };
                }
                let mut kept = 0;
                if let Done::Announced(_) | Done::Reading = done {
                    kept = request.segments.len();
                    self.kept += kept;
                    self.segments.extend(request.segments);
                }
                let mark = self.next_mark();
                self.fly(end, TxInFlight { id: request.id, mark, after, done, kept }, request.signalled);
                return Handed::under_way(SeqNo(mark));
            }
        }
        let mark = self.next_mark();
        let Request { id, operation, segments, len, fence, signalled } = *request;
        let request = Request { id, operation, segments: &[], len, fence, signalled };
        self.plain = false;
        self.queued.push_back(Queued { request, mark, count: segments.len() });
        self.note_stall();
        self.segments.extend(segments);
        end.set_busy(Busy::Waiting, true);
        Handed::under_way(SeqNo(mark))
    }

    /// How far the records are complete as far as this side knows; `None` while the ring is not open.
    #[inline]
    fn known(&self) -> Option<u64> {
        self.tx_ring.known().map(|known| self.shorts.reach(known))
    }

    /// Notes whether requests wait.
    fn note_stall(&self) {
        self.stalls.set(self.ep, Stall::Requests, !self.queued.is_empty());
    }

    /// How often requests began to wait.
    pub fn stalls(&self) -> u64 {
        self.stalls.stalls()
    }

    /// The mark of a request that has, or will have, an entry in `in_flight`.
    fn next_mark(&mut self) -> u64 {
        self.entries += 1;
        self.tx_ring.tail() + self.entries
    }

    /// Adds a request that is carried out already; gives its mark.
    pub fn post_done(&mut self, end: &End, id: RequestId, signalled: bool) -> SeqNo {
        if self.closed {
            return SeqNo::NEVER;
        }
        let after = self.tx_ring.tail();
        let mark = self.next_mark();
        if self.queued.is_empty() {
            self.fly(end, TxInFlight { id, mark, after, done: Done::Now, kept: 0 }, signalled);
        } else {
            // It waits for its turn as a write of no byte.
            let operation = Operation::Write(RemoteSegment::default());
            let request = Request { id, operation, segments: &[], len: 0, fence: false, signalled };
            self.queued.push_back(Queued { request, mark, count: 0 });
            self.note_stall();
            end.set_busy(Busy::Waiting, true);
        }
        SeqNo(mark)
    }

    /// Keeps a request that is carried out as far as this side can. If the peer has no reason to give notice of its end,
    /// this side has to find out by itself.
    #[inline]
    fn fly(&mut self, end: &End, in_flight: TxInFlight, signalled: bool) {
        let done = in_flight.done;
        self.part = Part::default();
        self.in_flight.push_back(in_flight);
        self.plain = false;
        match done {
            Done::Announced(_) => {
                self.announced += 1;
                return end.set_busy(Busy::Announced, true);
            }
            Done::Now if signalled || self.draining => {}
            Done::Failed(_) => self.failed = true,
            _ => return,
        }
        end.finish_soon();
        // A failure ends the connection, so the peer is asked in any case. What the peer has consumed by now is found by that look.
        let needed = self.draining || self.failed;
        let _ = self.ask(end, if needed { Acknowledge::Needed } else { Acknowledge::Completion });
    }

    /// Asks the peer for notice when it has consumed the records in the ring; false if it has consumed them already, and
    /// gives none.
    fn ask(&mut self, end: &End, acknowledge: Acknowledge) -> bool {
        let tail = self.tx_ring.tail();
        match self.tx_ring.ask(end.taken(), acknowledge) {
            Asked::Before => true,
            Asked::Now(position) => {
                self.shorts.on_empty_record(tail, position);
                end.want(position);
                end.tell_peer(News::Record);
                true
            }
            Asked::Consumed => false,
        }
    }

    /// Puts a record into the ring of requests: see [`TxRing::put`].
    #[inline]
    fn put(&mut self, end: &End, header: Header, len: usize, fill: impl FnOnce(&mut Reservation<'_>) -> bool) -> Put {
        let put = self.tx_ring.put(end.taken(), header, len, fill);
        if let Put::At(position) = put {
            self.note_wanted(end, position);
        }
        put
    }

    /// Notes a record that ends at `position`, for which the peer may have to give notice.
    #[inline]
    fn note_wanted(&self, end: &End, position: u64) {
        if self.tx_ring.is_asked() {
            end.want(position);
        }
    }

    /// From now on the program waits for the last request, so the peer has to give notice of it.
    pub fn drain(&mut self, end: &End) {
        self.draining = true;
        self.plain = false;
        let _ = self.ask(end, Acknowledge::Needed);
        end.repoll();
    }

    /// [`Tx::progress`] while mere records are all that is in flight: gives the mark up to which requests have succeeded, or
    /// `None` if there is more to do.
    #[inline]
    pub fn progress_plain(&mut self, end: &End, credit: Option<u64>) -> Option<SeqNo> {
        if !self.plain {
            return None;
        }
        let consumed = self.tx_ring.position(credit, |known| end.is_told(known))?;
        let consumed = if self.shorts.is_empty() { consumed } else { self.reach(end, consumed) };
        end.set_known(consumed);
        Some(SeqNo(consumed + self.passed))
    }

    /// Notes the records that the peer has consumed, as a record of the peer says (`credit`), or, if that is not enough, as
    /// it has published. Continues the requests that wait.
    pub fn progress(&mut self, end: &End, credit: Option<u64>) -> TxReport {
        let mut report = TxReport::default();
        if self.closed {
            return report;
        }
        let told = credit.is_some_and(|credit| {
            if self.tx_ring.credit(credit).is_err() {
                report.corrupt();
            }
            self.tx_ring.known().is_some_and(|known| end.is_told(known))
        });
        if !self.shorts.is_empty() {
            if let Some(Ok(consumed)) = self.tx_ring.consumed() {
                self.check_shorts(end, consumed);
            }
        }
        // A peer that breaks the rules is what the connection fails for, whatever else has failed.
        if report.fatal.is_none() {
            self.harvest(end, told, &mut report);
        }
        if report.fatal.is_none() {
            if !self.responses.is_empty() {
                match self.responses.progress(end, &mut Budget::turn()) {
                    Some(Failed::Read(status)) => report.fatal = Some(Fatal { peer: Some(status), ..Fatal::default() }),
                    Some(Failed::Message(id, status)) => report.fail(FailedRequest::Number(id), status),
                    None => {}
                }
            }
            let mut budget = Budget::turn();
            if self.announced > 0 && end.peers_offer().is_open() {
                self.help(end, &mut budget);
            }
            if !self.queued.is_empty() {
                self.pump(end, &mut report, &mut budget);
            }
            // What the peer has consumed since this look began is found by the next one.
            if self.draining && self.queued.is_empty() && !self.ask(end, Acknowledge::Needed) {
                end.repoll();
            }
        }
        self.note_busy(end);
        report
    }

    /// Has threads that poll look at this side as long as requests or answers wait for room, of which there is no notice.
    #[inline]
    fn note_busy(&mut self, end: &End) {
        end.set_busy(Busy::Waiting, !self.queued.is_empty() || !self.responses.is_empty());
        end.set_busy(Busy::Announced, self.announced > 0);
        end.set_busy(Busy::Reading, !self.reading.is_empty());
        self.plain = self.entries == self.passed && !self.draining && self.responses.is_empty();
    }

    /// Removes the requests that are complete. With `told`, all is known that is wanted.
    #[inline(always)]
    fn harvest(&mut self, end: &End, told: bool, report: &mut TxReport) {
        let known = if told { self.tx_ring.known().map(Ok) } else { self.tx_ring.consumed() };
        let consumed = match known {
            None => return,
            Some(Ok(consumed)) => self.shorts.reach(consumed),
            Some(Err(Corrupt)) => {
                report.corrupt();
                return;
            }
        };
        end.set_known(consumed);
        let mut most = self.queued.front().map_or(u64::MAX, |queued| queued.mark - 1);
        while let Some(&TxInFlight { id, mark, after, done, kept }) = self.in_flight.front() {
            let over = match done {
                Done::At(position) | Done::Announced(position) => position <= consumed,
                Done::Now | Done::Failed(_) => after <= consumed,
                Done::Reading | Done::Never => false,
            };
            if !over {
                most = mark - 1;
                break;
            }
            if let Done::Failed(status) = done {
                most = mark - 1;
                report.fail(FailedRequest::Number(id), status);
                break;
            }
            self.passed += 1;
            self.in_flight.pop_front();
            if let Done::Announced(_) = done {
                self.announced -= 1;
            }
            if kept > 0 {
                self.kept -= kept;
                self.segments.drain(..kept);
                self.responses.on_done(id);
            }
        }
        // Requests behind one that is not a mere record are not reported before that is done.
        report.done = Some(SeqNo((consumed + self.passed).min(most)));
    }

    /// Continues requests that wait.
    fn pump(&mut self, end: &End, report: &mut TxReport, budget: &mut Budget) {
        let mut went = false;
        while let Some(&Queued { request, mark, count }) = self.queued.front() {
            let reads = self.reading.len();
            let waits = match request.operation {
                Operation::Read(_) | Operation::Atomic { .. } => {
                    reads >= self.reads_out || (request.fence && reads > 0)
                }
                _ => request.fence && reads > 0,
            };
            if waits {
                break;
            }
            let own = self.kept..self.kept + count;
            let segments: Checked = self.segments.range(own.clone()).take(MAX_SEGMENTS).copied().collect();
            let request = Request { segments: &segments, ..request };
            let after = self.tx_ring.tail();
            let StartOutcome::TxInFlight(done) = self.launch(end, &request, budget) else { break };
            self.queued.pop_front();
            let kept = if let Done::Announced(_) | Done::Reading = done { count } else { 0 };
            self.kept += kept;
            if kept == 0 {
                self.segments.drain(own);
            }
            self.fly(end, TxInFlight { id: request.id, mark, after, done, kept }, request.signalled);
            went = true;
        }
        if went {
            self.note_stall();
            self.harvest(end, false, report);
        }
    }

    /// Ends the direction: gives the mark up to which requests have succeeded. Each caller gets it, since several threads may close
    /// a connection, of which one reports.
    pub fn close(&mut self, end: Option<&End>) -> Option<SeqNo> {
        if !self.closed {
            if let Some(end) = end {
                let mut report = TxReport::default();
                self.harvest(end, false, &mut report);
                self.ended = report.done;
            }
            self.closed = true;
            self.plain = false;
            self.tx_ring.close();
            self.responses.close();
            self.in_flight = VecDeque::new();
            self.queued = VecDeque::new();
            self.note_stall();
            self.segments = VecDeque::new();
            self.kept = 0;
            self.announced = 0;
            self.reading.clear();
            self.shorts.close();
        }
        self.ended
    }
}
