//! The transmit direction of a connection.
//!
//! Requests start in posting order: during the post if they fit, through the ring or by a copy from or to the peer's
//! memory. Others are queued until the peer has made room, or until their turn to copy. A request completes when its
//! bytes are copied and the peer has consumed all records up to it.
//!
//! # Marks
//! A request's mark ([`SeqNo`]) is the ring position after its record, plus the number of earlier entries. An entry
//! ([`TxInFlight`]) belongs to a request that is more than a record or was queued. Its mark is between the marks of the
//! adjacent records.
//!
//! # Resuming a queued request
//! Only the oldest queued request continues, in [`Tx::pump`], at a poll of the connection, which each [`WaitReason`]
//! ensures:
//!
//! | reason | what ensures the poll |
//! |---|---|
//! | turn to copy | [`Budget`] has set the ready bit of this end; or the end is polled ([`Busy::Waiting`]) |
//! | response | the peer sets the ready bit; or the end is polled ([`Busy::Reading`]) |
//! | peer's position: room in the ring, or the end of a record that changes the peer's memory | the ring's last record requests a notification, so the peer sets the ready bit after it; or the end is polled ([`Busy::Waiting`]). If the peer was faster, the queue continues immediately: see [`TxRing::ask`] |
//! | end of the connection | not needed |
//!
//! If a poll finds the transmit lock held, the holder polls again after unlocking (SYNC again). An end that leaves the
//! polled set is polled once more under that lock (SYNC polled).
//!
//! # Fast path
//! Small sends of one segment use [`Tx::post_inline`]. While only records are in flight, a poll computes the mark by
//! one addition ([`Tx::progress_plain`]). A transfer that completes during the post needs no entry if nothing is in
//! flight (`Handed::done`); otherwise, [`End::finish_soon`] schedules a poll.
//!
//! The peer's program may wait without calls for a record that changes its memory. Most such records can be revoked
//! (`revocable`); for others, the progress thread wakes the peer: see [`guard`](crate::guard).

use std::collections::VecDeque;
use std::mem;

use dat_core::Handle;
use dat_core::error::Result;
use dat_core::event::Status;
use dat_core::probes::Stall;
use dat_core::transport::{
    Checked, FailedRequest, Gauge, Handed, MAX_SEGMENTS, Operation, QpSizes, Request, RequestId, Segment, SeqNo,
    ShortSend,
};
use dat_software::records::Fatal;
use dat_software::regions::checked_source;
use host::memory::Room;

use crate::budget::Budget;
use crate::peer_segment::{Busy, End};
use crate::record::{Acknowledge, EAGER_MAX, Header, kind};
use crate::responses::Responses;
use crate::ring::{Corrupt, Producer, Reservation};
use crate::route::Route;
use crate::sleep::Notice;
use crate::tx_ring::{Asked, Put, TxRing};

mod extended;
mod launch;
mod peer;
mod revocable;
use self::revocable::RevocableRecords;

/// The condition that completes a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    /// The peer has consumed the ring up to this position.
    At(u64),
    /// As [`Done::At`], for a message or write whose bytes the peer reads from this process's memory.
    Announced(u64),
    Now,
    /// The peer has sent the complete response.
    Reading,
    Failed(Status),
    /// Only the end of the connection: the peer has already disconnected.
    Never,
}

#[derive(Clone, Copy)]
struct TxInFlight {
    id: RequestId,
    mark: u64,
    after: u64,
    done: Done,
    /// Number of the request's segments in [`Tx::segments`], if the peer's requests or responses need them.
    kept: usize,
}

#[derive(Clone, Copy)]
struct Queued {
    request: Request<'static>,
    mark: u64,
    count: usize,
}

#[derive(Clone, Copy, Default)]
struct Part {
    done: u64,
    half: bool,
    /// Path of the remaining bytes; `None` before the first attempt.
    route: Option<Route>,
    /// Number of bytes that were copied before the rest took [`Route::Pieces`].
    start: u64,
}

struct Reading {
    id: RequestId,
    len: u64,
    offset: u64,
    end: u64,
}

enum StartOutcome {
    /// No further attempt is needed: the request completes on this condition.
    Started(Done),
    Waits(WaitReason),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitReason {
    Turn,
    Answer,
    /// The peer has not consumed earlier records.
    Peer,
    End,
}

#[derive(Default)]
pub struct TxReport {
    pub done: Option<SeqNo>,
    pub fatal: Option<Fatal>,
}

impl TxReport {
    fn fail(&mut self, request: FailedRequest, status: Status) {
        self.fatal = Some(Fatal { request: Some((request, status)), ..Fatal::default() });
    }

    fn corrupt(&mut self) {
        self.fail(FailedRequest::Oldest, Status::Transport);
    }
}

#[derive(Default)]
pub struct Tx {
    tx_ring: TxRing,
    in_flight: VecDeque<TxInFlight>,
    /// Total number of requests that are more than a record or were queued.
    entries: u64,
    /// Number of these requests that have completed.
    passed: u64,
    queued: VecDeque<Queued>,
    /// Kept segments of requests in flight, then segments of queued requests.
    segments: VecDeque<Segment>,
    kept: usize,
    announced: usize,
    reading: VecDeque<Reading>,
    reads_out: usize,
    pub responses: Responses,
    part: Part,
    /// Position after the last record that changes the peer's memory; 0 once that record is known to be executed.
    written: u64,
    revocable: RevocableRecords,
    /// Set if only records are in flight, no response is pending, and the connection does not drain: see
    /// [`Tx::progress_plain`]. After these conditions arise, it may be set only by a later poll.
    plain: bool,
    ep: Handle,
    stalls: Gauge,
    /// Set once a request has failed; later ones do not start.
    failed: bool,
    /// Set while the program waits for the last request: see [`Tx::drain`].
    draining: bool,
    /// Set for datagrams. Completions then wake this process even if no wait needs them: queued datagrams need them.
    carries_datagrams: bool,
    closed: bool,
    ended: Option<SeqNo>,
}

impl Tx {
    pub fn new(ep: Handle, sizes: &QpSizes, carries_datagrams: bool) -> Result<Self> {
        let reads_out = usize::from(sizes.reads_out).max(1);
        let mut tx = Tx { ep, reads_out, carries_datagrams, plain: true, ..Tx::default() };
        tx.in_flight.room(sizes.requests)?;
        tx.queued.room(sizes.requests)?;
        tx.segments.room(sizes.requests.saturating_mul(sizes.request_segments))?;
        tx.reading.room(tx.reads_out)?;
        tx.revocable.records.room(sizes.requests)?;
        Ok(tx)
    }

    pub fn open(&mut self, [requests, responses]: [Producer; 2]) {
        self.tx_ring.open(requests);
        self.responses.open(responses);
    }

    /// Puts a short message into the ring and returns its mark; `None` if the message must wait or no room is known.
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
        end.notify_peer(Notice::Record);
        Some(SeqNo(position + self.entries))
    }

    /// Executes or queues a request. Returns its mark, and whether it is complete.
    pub fn post(&mut self, end: &End, request: &Request<'_>) -> Handed {
        if self.is_free(request.fence) && request.len <= EAGER_MAX {
            let handed = match request.operation {
                Operation::Send { solicited } => self.try_message(end, solicited, request),
                Operation::Write(remote) => self.try_revocable_write(end, &remote, request),
                _ => None,
            };
            if let Some(handed) = handed {
                return handed;
            }
        }
        self.post_other(end, request)
    }

    #[inline(always)]
    fn try_message(&mut self, end: &End, solicited: bool, request: &Request<'_>) -> Option<Handed> {
        let position = self.put_message(end, solicited, request)?;
        end.notify_peer(Notice::Record);
        Some(Handed::under_way(SeqNo(position + self.entries)))
    }

    /// Returns whether a request can start now. A request with a `fence` cannot start while reads are outstanding.
    #[inline]
    fn is_free(&self, fence: bool) -> bool {
        // `plain` is the common case and implies the rest.
        self.plain || (self.queued.is_empty() && !self.failed && (!fence || self.reading.is_empty()))
    }

    #[inline(always)]
    fn acknowledge(&self, signalled: bool) -> Acknowledge {
        if signalled && self.carries_datagrams { Acknowledge::Needed } else { Acknowledge::of(signalled) }
    }

    fn put_message(&mut self, end: &End, solicited: bool, request: &Request<'_>) -> Option<u64> {
        let acknowledge = self.acknowledge(request.signalled);
        let header = Header { kind: kind::MESSAGE, solicited, acknowledge, aux: request.len };
        let put = self.put_part(end, header, &[], request, [0, request.len]);
        if let Put::At(position) = put { Some(position) } else { None }
    }

    /// Executes or queues a request that needs more than a record or found no room.
    #[inline(never)]
    fn post_other(&mut self, end: &End, request: &Request<'_>) -> Handed {
        let after = self.tx_ring.tail();
        // The connection has ended during the post. The closing thread reports earlier requests; core flushes this one.
        if self.closed {
            return Handed::under_way(SeqNo::NEVER);
        }
        if self.is_free(request.fence) {
            if let StartOutcome::Started(done) = self.launch(end, request, &mut Budget::post()) {
                if done == Done::Now && self.entries == self.passed && self.known() == Some(after) {
                    self.part = Part::default();
                    self.passed += 1;
                    let mark = self.next_mark();
                    // While the connection drains, only the report of a poll can end the connection.
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

    #[inline]
    fn known(&self) -> Option<u64> {
        self.tx_ring.known().map(|known| self.revocable.reach(known))
    }

    fn note_stall(&self) {
        self.stalls.set(self.ep, Stall::Requests, !self.queued.is_empty());
    }

    pub fn stalls(&self) -> u64 {
        self.stalls.stalls()
    }

    /// Returns whether a request waits for room or for earlier requests.
    pub fn waits(&self) -> bool {
        self.stalls.waits()
    }

    fn next_mark(&mut self) -> u64 {
        self.entries += 1;
        self.tx_ring.tail() + self.entries
    }

    /// Posts an empty write that represents a bind, which completes after all earlier requests.
    pub fn post_done(&mut self, end: &End, request: &Request<'_>) -> SeqNo {
        let Handed { mark, done } = self.post_other(end, request);
        if done && request.signalled {
            end.finish_soon();
        }
        mark
    }

    /// Adds the entry of a started request. If the request is announced, polls then check for offers of the peer. If it
    /// has failed, or is copied already and its completion must be reported, schedules a poll, and requests a
    /// notification for when the peer has consumed the earlier records.
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
        // A failure ends the connection, so it always needs a notification.
        let needed = self.draining || self.failed || self.carries_datagrams;
        let _ = self.ask(end, if needed { Acknowledge::Needed } else { Acknowledge::Completion });
    }

    /// Ensures a notification when the peer has consumed all records. Returns `false` if the peer already has, or has
    /// violated the protocol.
    fn ask(&mut self, end: &End, acknowledge: Acknowledge) -> bool {
        let tail = self.tx_ring.tail();
        match self.tx_ring.ask(end.taken(), acknowledge) {
            Asked::Before => true,
            Asked::Now(position) => {
                self.revocable.on_empty_record(tail, position);
                end.want(position);
                end.notify_peer(Notice::Record);
                true
            }
            Asked::Consumed => false,
        }
    }

    #[inline]
    fn put(&mut self, end: &End, header: Header, len: usize, fill: impl FnOnce(&mut Reservation<'_>) -> bool) -> Put {
        let put = self.tx_ring.put(end.taken(), header, len, fill);
        if let Put::At(position) = put {
            self.note_wanted(end, position);
        }
        put
    }

    #[inline]
    fn note_wanted(&self, end: &End, position: u64) {
        if self.tx_ring.is_asked() {
            end.want(position);
        }
    }

    pub fn drain(&mut self, end: &End) {
        self.draining = true;
        self.plain = false;
        let _ = self.ask(end, Acknowledge::Needed);
        end.repoll();
    }

    /// Does what [`Tx::progress`] does while only records are in flight. Returns the mark up to which requests have
    /// succeeded; `None` if there is other work.
    #[inline]
    pub fn progress_plain(&mut self, end: &End, credit: Option<u64>) -> Option<SeqNo> {
        if !self.plain {
            return None;
        }
        let consumed = self.tx_ring.position(credit, |known| end.is_told(known))?.ok()?;
        let consumed = if self.revocable.is_empty() { consumed } else { self.reach(end, consumed) };
        end.set_known(consumed);
        Some(SeqNo(consumed + self.passed))
    }

    /// Completes requests up to the peer's position, from `credit` or, if that is not enough, from the ring. Then
    /// continues responses and queued requests.
    pub fn progress(&mut self, end: &End, credit: Option<u64>) -> TxReport {
        let mut report = TxReport::default();
        if self.closed {
            return report;
        }
        let reached = self.tx_ring.position(credit, |known| end.is_told(known));
        if let Some(Ok(consumed)) = reached {
            if !self.revocable.is_empty() {
                self.check_revocable(end, consumed);
            }
        }
        self.harvest(end, reached, &mut report);
        if report.fatal.is_none() {
            if !self.responses.is_empty() {
                match self.responses.progress(end, &mut Budget::turn()) {
                    Some(Fatal { request: Some((FailedRequest::Number(id), status)), .. }) => {
                        self.message_failed(end, id, status);
                    }
                    fatal => report.fatal = fatal,
                }
            }
            let mut budget = Budget::turn();
            if self.announced > 0 && end.peers_offer().is_open() {
                self.help(end, &mut budget);
            }
            if !self.queued.is_empty() {
                self.pump(end, &mut report, &mut budget);
            }
            // If the peer has consumed all records by now, no notification follows, so another poll is needed.
            if self.draining && self.queued.is_empty() && !self.ask(end, Acknowledge::Needed) {
                end.repoll();
            }
        }
        self.note_busy(end);
        report
    }

    /// Sets the flags that make polls check this side, because a polling side is not notified of room in the rings.
    #[inline]
    fn note_busy(&mut self, end: &End) {
        end.set_busy(Busy::Waiting, !self.queued.is_empty() || !self.responses.is_empty());
        end.set_busy(Busy::Announced, self.announced > 0);
        end.set_busy(Busy::Reading, !self.reading.is_empty());
        self.plain = self.entries == self.passed && !self.draining && self.responses.is_empty();
    }

    /// Completes requests that the peer's position `reached`: removes their entries, and sets `report.done`.
    #[inline(always)]
    fn harvest(&mut self, end: &End, reached: Option<std::result::Result<u64, Corrupt>>, report: &mut TxReport) {
        let consumed = match reached {
            None => return,
            Some(Ok(consumed)) => self.revocable.reach(consumed),
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
        report.done = Some(SeqNo((consumed + self.passed).min(most)));
    }

    fn pump(&mut self, end: &End, report: &mut TxReport, budget: &mut Budget) {
        let mut went = false;
        while let Some(&Queued { request, mark, count }) = self.queued.front() {
            let reads = self.reading.len();
            let is_answered = matches!(request.operation, Operation::Read(_) | Operation::Atomic { .. });
            if (request.fence && reads > 0) || (is_answered && reads >= self.reads_out) {
                break;
            }
            let own = self.kept..self.kept + count;
            let segments: Checked = self.segments.range(own.clone()).take(MAX_SEGMENTS).copied().collect();
            let request = Request { segments: &segments, ..request };
            let after = self.tx_ring.tail();
            let StartOutcome::Started(done) = self.launch(end, &request, budget) else { break };
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
            let reached = self.tx_ring.consumed();
            self.harvest(end, reached, report);
        }
    }

    /// Closes the direction. Returns the mark up to which requests have succeeded.
    pub fn close(&mut self, end: Option<&End>) -> Option<SeqNo> {
        if !self.closed {
            let mut report = TxReport::default();
            if let Some(end) = end {
                let reached = self.tx_ring.consumed();
                self.harvest(end, reached, &mut report);
                end.pending_records.set_revocable(false);
                end.pending_records.set_begun(false);
            }
            self.queued.clear();
            self.note_stall();
            let (ep, stalls) = (self.ep, mem::take(&mut self.stalls));
            *self = Tx { ep, stalls, closed: true, ended: report.done, ..Tx::default() };
        }
        self.ended
    }
}
