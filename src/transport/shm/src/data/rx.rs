//! The receiving direction of a connection.
//!
//! Records are handled in order. A message without a receive stays in the ring, with everything behind it, until there
//! is a receive: it neither fails nor gets lost.
//!
//! Small messages for a receive of one segment take a function of their own ([`Rx::take_small`]); all else takes the
//! general way, which handles small ones as well. Nothing read from shared memory is trusted: positions, lengths, kinds
//! and keys are checked, and a peer that breaks the rules loses its connection. A message whose sender disconnected
//! while it was read is not delivered.

use std::slice;
use std::sync::Arc;

use arrayvec::ArrayVec;
use dat_core::CheckedSegment;
use dat_core::event::Status;
use dat_core::transport::{FailedRequest, MAX_SEGMENTS, Placement, RecvDone, RecvId, RemoteSegment, Segment, Taken};
use dat_memory::regions::checked_target;
use dat_memory::user::{LastWord, Target, copy_tail_last};
use host::cold_path;
use host::epoch::{EpochGuard, Memory};

use crate::budget::Budget;
use crate::conn::Conn;
use crate::copy::{self, Slice};
use crate::peer_segment::End;
use crate::pending::Pending;
use crate::record::{self, kind};
use crate::regions::RegionTable;
use crate::ring::{Consumer, Corrupt, Next, RecordView, Small};

mod extended;
mod message;
mod response;

/// Slots that are given back together, while there are more records: the peer may be looking at the line that says so.
const RELEASE: u64 = 16;

/// Records handled in one turn, so that one connection does not keep others waiting.
const BATCH: usize = 64;

/// The shortest slice of a message, or of a write, that is shared with the sender.
pub const SHARED_MIN: u64 = 32 * 1024;
/// What the sender's part is a multiple of.
const PAGE: u64 = 4096;

/// The failure of a connection, found under a lock and acted on without.
#[derive(Debug, Default)]
pub struct Fatal {
    /// The receive that failed.
    pub recv: Option<RecvDone>,
    /// The request that failed.
    pub request: Option<(FailedRequest, Status)>,
    /// The status with which the peer's oldest request fails.
    pub peer: Option<Status>,
}

/// How far a turn goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// Up to the batch.
    Batch,
    /// Up to the batch, but without data from the peer's memory: it has disconnected, and may use that for something else.
    Drain,
}

/// The results of a turn of the receiving direction.
#[derive(Clone, Copy, Default)]
pub struct RxReport {
    /// The flags of all records: see [`Acknowledge`](crate::record::Acknowledge).
    pub flags: u8,
    /// More records are left that can be handled.
    pub more: bool,
    /// Answers are among them.
    pub responses: bool,
    /// How far the peer is with the ring of this side, as the last record said.
    pub credit: Option<u64>,
}

/// Why [`Rx::take_small`] handles no more records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// There are none.
    Nothing,
    /// Others have their turn first.
    More,
    /// The next one is for [`Rx::progress`].
    Other,
    /// The receive that the next one took is too short: the connection fails. See [`Rx::failed`].
    TooLong,
    /// The receive that the next one took has no memory: the connection fails. See [`Rx::failed`].
    NoRegion,
    /// The connection cannot go on.
    Broken,
}

/// What the records said that [`Rx::take_small`] has handled.
#[derive(Clone, Copy, Default)]
pub struct AckInfo {
    /// The flags of all: see [`Acknowledge`](crate::record::Acknowledge).
    pub flags: u8,
    /// How far the peer is with the ring of this side, as the last record said; `None` if there was none.
    pub credit: Option<u64>,
}

impl AckInfo {
    /// What one record said.
    #[inline]
    pub fn of(small: Small) -> Self {
        AckInfo { flags: small.flags(), credit: Some(small.credit()) }
    }

    #[inline]
    fn add(&mut self, small: Small) {
        self.flags |= small.flags();
        self.credit = Some(small.credit());
    }
}

/// The way on after a record.
enum RecordOutcome {
    /// The record is consumed.
    Consumed,
    /// The record has to wait for something.
    Wait,
    /// The record goes on when other connections have had their turn.
    Again,
    /// No more records are handled, because the sender has disconnected.
    Stop,
    /// The connection cannot go on.
    Fail(Fatal),
}

/// Why a turn handles no more records of a ring.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pause {
    /// There are none, or others have their turn first.
    Empty,
    /// The next one has to wait.
    Waits,
    /// The sender has disconnected.
    Closed,
}

#[cold]
fn fail(recv: Option<RecvDone>, peer: Option<Status>) -> RecordOutcome {
    RecordOutcome::Fail(Fatal { recv, request: None, peer })
}

/// The receiving direction: its rings, of requests and of answers, while they are open.
#[derive(Default)]
pub struct Rx {
    rings: Option<[Consumer; 2]>,
    arriving: Arriving,
    /// The end was closed to the peer's transfers.
    shut: bool,
}

/// A message or a write that has arrived in part.
#[derive(Default)]
struct Arriving {
    /// The receive of the last message.
    taken: Taken,
    /// Set while its message is not complete.
    partial: Option<Partial>,
    /// Set while the announced message at the head of the ring is fetched.
    fetching: Option<Fetching>,
    /// The number of the last offer to the sender: see [`offer`](crate::offer).
    offered: u64,
    writing: Option<Writing>,
    failed: Option<RecvId>,
    /// Set while no record is handled, because the connection is about to fail.
    refused: bool,
    /// Set while a message is not complete that revokes a window.
    revocation: Option<Revocation>,
}

/// What a message that has arrived in part does to a window.
struct Revocation {
    key: u32,
    /// The window is closed. Only the end of the message is missing.
    closed: bool,
    /// Transfers of peers that may use the window, and are awaited.
    pending: Option<Pending>,
}

/// A message of which a part has arrived.
struct Partial {
    len: u64,
    offset: u64,
}

/// A message that is read from the sender's memory, or that the sender is asked for.
struct Fetching {
    /// Where an RDMA write goes; a message goes to its receive.
    into: Option<Segment>,
    places: ArrayVec<(u64, u64), MAX_SEGMENTS>,
    len: u64,
    offset: u64,
    /// The sender was asked for the bytes from `offset` on.
    asked: bool,
    /// Where the bytes end that are offered, from `offset` on.
    offered: Option<u64>,
    /// What was read ahead, and the last word of the message if it ends there, which comes last.
    ahead: Option<(Slice, LastWord)>,
}

/// Where the bytes go that are fetched: `into`, or else the receive that was `taken`.
fn destination<'a>(into: &'a Option<Segment>, taken: &'a Taken) -> &'a [Segment] {
    into.as_ref().map_or(taken.segments(), slice::from_ref)
}

/// An RDMA write of the peer of which a part has arrived.
struct Writing {
    target: RemoteSegment,
    offset: u64,
}

/// One turn of the receiving direction.
struct Turn<'a> {
    end: &'a End,
    conn: &'a Arc<Conn>,
    advance: Advance,
}

impl Rx {
    /// Opens the rings, of requests and of answers; records are handled once data may flow.
    pub fn open(&mut self, rings: [Consumer; 2]) {
        self.rings = Some(rings);
    }

    /// Handles no more records, and closes `end` to the peer's transfers.
    pub fn close(&mut self, end: Option<&End>) {
        self.rings = None;
        self.arriving.revocation = None;
        // The end is closed only once: when another thread closes the connection later, its place may belong to the next one.
        if let (Some(end), false) = (end, self.shut) {
            end.close();
            self.shut = true;
        }
    }

    /// Tells the peer that this process polls the connection; false if that is over.
    pub fn begin_polling(&self, end: &End) -> bool {
        let open = self.rings.is_some();
        // Never after the end, because the place may belong to another connection by then.
        if open {
            end.set_polled(true);
        }
        open
    }

    /// Handles small messages for which there are receives of one segment, up to the batch: what [`Rx::progress`]
    /// does for all that comes, but in few instructions. Gives the message if there is one alone.
    ///
    /// # Errors
    /// There was none, or more than one: why no more are handled, and what they said.
    #[inline(always)]
    pub fn take_small(&mut self, end: &End, conn: &Conn) -> Result<Small, (Stop, AckInfo)> {
        let Some([ring, _]) = &mut self.rings else { return Err((Stop::Nothing, AckInfo::default())) };
        if self.arriving.fetching.is_some() || self.arriving.partial.is_some() {
            return Err((Stop::Other, AckInfo::default()));
        }
        let entered = EpochGuard::enter();
        let section = entered.as_ref();
        match small_message(ring, end, conn, section, &mut self.arriving.failed) {
            Ok(small) if !ring.has_record() => {
                end.set_taken(false, ring.release());
                Ok(small)
            }
            Ok(small) => Err(small_messages(ring, end, conn, section, &mut self.arriving.failed, small)),
            Err(stop) => Err((stop, AckInfo::default())),
        }
    }

    /// The receive that could not have its message, at which [`Rx::take_small`] has stopped.
    pub fn failed(&self) -> Option<RecvId> {
        self.arriving.failed
    }

    /// Handles records.
    ///
    /// # Errors
    /// The connection cannot go on. Some records may have been handled nevertheless, of which the peer gets no notice.
    #[inline]
    pub fn progress(&mut self, end: &End, conn: &Arc<Conn>, advance: Advance) -> Result<RxReport, Fatal> {
        // Nobody else is to take what is behind a record that has failed, until the connection is closed.
        if self.arriving.failed.is_some() {
            return Ok(RxReport::default());
        }
        let result = self.turn(&Turn { end, conn, advance });
        if result.is_err() {
            self.rings = None;
        }
        result
    }

    fn turn(&mut self, turn: &Turn<'_>) -> Result<RxReport, Fatal> {
        let mut report = RxReport::default();
        let Some([requests, responses]) = &mut self.rings else { return Ok(report) };
        if !turn.conn.is_up() {
            return Ok(report);
        }
        let arriving = &mut self.arriving;
        // Answers come first, because they must not wait behind messages that find no receive.
        let mut closed = false;
        if responses.has_record() {
            let mut budget = Budget::turn();
            let pause =
                turn.empty(responses, true, &mut report, |ring, view| arriving.answer(turn, ring, view, &mut budget))?;
            closed = pause == Pause::Closed;
            report.responses = report.more;
        }
        let mut budget = Budget::turn();
        let pause =
            turn.empty(requests, false, &mut report, |ring, view| arriving.handle(turn, ring, view, &mut budget))?;
        // A record that waits is looked at again when it can go on, and not in each poll.
        turn.end.set_stuck(pause != Pause::Empty);
        if closed || pause == Pause::Closed {
            self.rings = None;
        }
        Ok(report)
    }
}

/// A small message.
struct Arrived<'a> {
    section: Option<&'a EpochGuard<Memory>>,
    regions: &'a RegionTable,
    ring: &'a Consumer,
    small: Small,
}

impl<'a> Placement<'a> for Arrived<'a> {
    #[inline(always)]
    fn section(&self) -> Option<&'a EpochGuard<Memory>> {
        self.section
    }

    #[inline(always)]
    fn place(self, segment: &Segment, checked: Option<&CheckedSegment<'_>>) -> bool {
        let bytes = self.ring.small_source(self.small);
        if let Some(checked) = checked {
            copy_tail_last(checked_target(checked, bytes.len()), bytes);
            return true;
        }
        cold_path();
        copy::scatter_one(self.regions, segment, bytes)
    }
}

/// Handles the next record, if it is a small message for which there is a receive of one segment.
#[inline(always)]
fn small_message(
    ring: &mut Consumer,
    end: &End,
    conn: &Conn,
    section: Option<&EpochGuard<Memory>>,
    failed: &mut Option<RecvId>,
) -> Result<Small, Stop> {
    let small = match ring.next(kind::MESSAGE) {
        Next::Small(small) => small,
        Next::Nothing => return Err(Stop::Nothing),
        Next::Other => return Err(Stop::Other),
    };
    if !conn.is_up() {
        return Err(Stop::Nothing);
    }
    let solicited = small.flags() & record::SOLICITED != 0;
    conn.deliver(small.len() as u64, solicited, failed, Arrived { section, regions: end.regions(), ring, small })?;
    ring.skip_small(small);
    Ok(small)
}

/// Handles more messages like `small`, up to the batch. Gives what all of them said, and why no more are handled.
#[cold]
#[inline(never)]
fn small_messages(
    ring: &mut Consumer,
    end: &End,
    conn: &Conn,
    section: Option<&EpochGuard<Memory>>,
    failed: &mut Option<RecvId>,
    small: Small,
) -> (Stop, AckInfo) {
    let mut told = AckInfo::of(small);
    let mut stop = None;
    for _ in 1..BATCH {
        match small_message(ring, end, conn, section, failed) {
            Ok(small) => told.add(small),
            Err(found) => {
                stop = Some(found);
                break;
            }
        }
    }
    end.set_taken(false, ring.release());
    (stop.unwrap_or(if ring.has_record() { Stop::More } else { Stop::Nothing }), told)
}

impl Turn<'_> {
    /// Handles the records of a ring, that of answers or that of requests, up to the batch.
    #[inline(always)]
    fn empty(
        &self,
        ring: &mut Consumer,
        responses: bool,
        report: &mut RxReport,
        mut handle: impl FnMut(&Consumer, &RecordView) -> RecordOutcome,
    ) -> Result<Pause, Fatal> {
        let mut left = BATCH;
        let mut fatal = None;
        let pause = loop {
            let view = match ring.peek() {
                Ok(Some(view)) => view,
                Ok(None) => break Pause::Empty,
                Err(Corrupt) => {
                    fatal = Some(Fatal::default());
                    break Pause::Empty;
                }
            };
            if left == 0 {
                report.more = true;
                break Pause::Empty;
            }
            if !self.conn.is_up() {
                break Pause::Empty;
            }
            match handle(ring, &view) {
                RecordOutcome::Consumed => {}
                RecordOutcome::Wait => break Pause::Waits,
                RecordOutcome::Again => {
                    report.more = true;
                    break Pause::Empty;
                }
                RecordOutcome::Stop => break Pause::Closed,
                RecordOutcome::Fail(found) => {
                    fatal = Some(found);
                    break Pause::Empty;
                }
            }
            report.flags |= view.flags;
            report.credit = Some(view.credit);
            ring.skip(&view);
            if ring.unreleased() >= RELEASE {
                self.end.set_taken(responses, ring.release());
            }
            left -= 1;
        };
        if ring.unreleased() > 0 {
            self.end.set_taken(responses, ring.release());
        }
        match fatal {
            None => Ok(pause),
            Some(fatal) => Err(fatal),
        }
    }
}

impl Arriving {
    /// Handles a record of the ring of requests.
    #[inline]
    fn handle(&mut self, turn: &Turn<'_>, ring: &Consumer, view: &RecordView, budget: &mut Budget) -> RecordOutcome {
        // What is under way with the record at the head stays so, whatever the peer makes of that.
        if self.fetching.is_some() {
            return self.fetch(turn, view, budget);
        }
        if self.refused {
            return RecordOutcome::Wait;
        }
        if turn.conn.has_datagrams() && !matches!(view.kind, kind::MESSAGE | kind::MESSAGE_PIECE | kind::NOTHING) {
            cold_path();
            return fail(None, None);
        }
        if matches!(view.kind, kind::MESSAGE_PIECE | kind::WRITE_PIECE)
            && !budget.record(turn.end, view.aux, view.len.into())
        {
            return RecordOutcome::Again;
        }
        match view.kind {
            kind::MESSAGE if self.partial.is_none() => self.whole_message(turn, ring, view),
            kind::MESSAGE_PIECE => self.message_piece(turn, ring, view),
            kind::REMOTE_MESSAGE | kind::REMOTE_WRITE if turn.advance == Advance::Drain => RecordOutcome::Wait,
            kind::REMOTE_MESSAGE => self.remote_message(turn, ring, view, budget),
            kind::WRITE_PIECE => self.write_piece(turn.end, ring, view),
            kind::READ => self.read(turn, ring, view),
            kind::SHORT_WRITE | kind::SHORT_READ | kind::REMOTE_WRITE => self.claim(turn, ring, view, budget),
            kind::NOTHING => RecordOutcome::Consumed,
            kind::IMMEDIATE => self.immediate(turn, ring, view),
            kind::ATOMIC => self.atomic(turn, ring, view),
            kind::INVALIDATE => self.invalidate(turn, ring, view),
            _ => fail(None, None),
        }
    }
}

/// The place at byte `at` of the payload of a record.
fn read_place(ring: &Consumer, view: &RecordView, at: usize) -> (u64, u64) {
    let mut bytes = [0; record::PLACE];
    ring.copy_out(view, at, Target::of(&mut bytes));
    record::read_place(&bytes)
}

/// The range of registered memory that the payload of a record begins with.
fn read_target(ring: &Consumer, view: &RecordView) -> RemoteSegment {
    let mut bytes = [0; record::TARGET];
    ring.copy_out(view, 0, Target::of(&mut bytes));
    let (addr, key, len) = record::read_target(&bytes);
    RemoteSegment { addr, len, key }
}
