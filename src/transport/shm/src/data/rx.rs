//! The receiving direction of a connection.
//!
//! The records of a ring are handled in order. A message without a receive stays in the ring, as do all later records.
//!
//! [`Rx::take_small`] is the fast path for small messages to receives of one segment; [`Rx::progress`] handles
//! everything. Both validate positions, lengths, kinds and keys; a peer that violates the protocol loses its
//! connection. A message whose sender disconnects while this side reads its bytes is not delivered.

use std::slice;
use std::sync::Arc;

use arrayvec::ArrayVec;
use dat_core::transport::datagrams::MAX_DATAGRAM;
use dat_core::transport::{MAX_SEGMENTS, Placement, RecvDone, RemoteSegment, Segment};
use dat_core::{CheckedSegment, Writable};
use dat_software::datagrams::DatagramReceiver;
use dat_software::records::{Executed, Fatal, Halt, Incoming, violation};
use dat_software::regions::{RegionTable, checked_target};
use dat_software::user::{LastWord, Target, copy_tail_last};
use host::cold_path;
use host::epoch::{EpochGuard, Memory};

use crate::Shm;
use crate::budget::Budget;
use crate::conn::Conn;
use crate::copy::{self, Slice};
use crate::peer_segment::End;
use crate::pending::Pending;
use crate::record::{self, kind};
use crate::ring::{Consumer, Corrupt, Next, RecordView, Small};
use crate::route::SHARED_MIN;
use crate::tx::Tx;

mod extended;
mod message;
mod response;

/// Number of slots released together while more records follow, because the peer may be polling the position's cache
/// line. A record of a transfer of at least [`SHARED_MIN`] bytes is released immediately, because the next record can
/// take long.
const RELEASE: u64 = 16;

/// Maximum number of records of a ring that a turn handles.
const BATCH: usize = 64;

/// The part that this side offers to the sender is a multiple of this many bytes.
const PAGE: u64 = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    Batch,
    /// As [`Advance::Batch`], but reads no memory of the peer, which has disconnected and may reuse that memory.
    Drain,
}

#[derive(Clone, Copy, Default)]
pub struct RxReport {
    /// The combined flags of all handled records: see [`Acknowledge`](crate::record::Acknowledge).
    pub flags: u8,
    pub more: bool,
    pub responses: bool,
    /// The peer's position, from the last handled record; `None` if none was handled.
    pub credit: Option<u64>,
}

impl RxReport {
    #[inline]
    fn add(&mut self, flags: u8, credit: u64) {
        self.flags |= flags;
        self.credit = Some(credit);
    }
}

/// The reason why [`Rx::take_small`] stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Nothing,
    More,
    Other,
    /// The connection fails, because the receive ([`Rx::failed`]) is too short or its memory is not registered.
    Failed,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pause {
    /// The ring is empty, or a later poll continues, after other connections.
    Empty,
    Waits,
    Closed,
}

#[derive(Default)]
pub struct Rx {
    /// `None` while closed, and after a failure, when only responses to reads and atomic operations are still handled.
    requests: Option<Consumer>,
    responses: Option<Consumer>,
    arriving: Arriving,
    shut: bool,
}

#[derive(Default)]
struct Arriving {
    incoming: Incoming<Revocation>,
    fetching: Option<Fetching>,
    /// Number of the last offer to the sender: see [`offer`](crate::offer).
    offered: u64,
    failed: Option<RecvDone>,
}

#[derive(Default)]
struct Revocation {
    /// Set once the window is invalidated.
    closed: bool,
    /// Transfers of peers that were in flight at the invalidation, and may still use the window.
    pending: Option<Pending>,
}

/// A message or RDMA write whose bytes this side reads from the sender's memory, or requests from the sender.
struct Fetching {
    /// Destination of an RDMA write; `None` for a message.
    into: Option<Segment>,
    places: ArrayVec<RemoteSegment, MAX_SEGMENTS>,
    len: u64,
    offset: u64,
    asked: bool,
    /// End of the bytes that the sender may write by this side's current offer. They start at `offset`.
    offered: Option<u64>,
    /// The slice after the offered bytes, if already read, with the message's last word if the slice ends there.
    ahead: Option<(Slice, LastWord)>,
}

fn destination<'a>(into: &'a Option<Segment>, incoming: &'a Incoming<Revocation>) -> &'a [Segment] {
    into.as_ref().map_or(incoming.segments(), slice::from_ref)
}

struct Turn<'a> {
    end: &'a End,
    conn: &'a Arc<Conn>,
    advance: Advance,
}

impl Rx {
    pub fn open(&mut self, [requests, responses]: [Consumer; 2]) {
        (self.requests, self.responses) = (Some(requests), Some(responses));
    }

    pub fn close(&mut self, end: Option<&End>) {
        (self.requests, self.responses) = (None, None);
        self.arriving.incoming = Incoming::default();
        // The flag is set only once, because the end's place may later belong to another connection.
        if let (Some(end), false) = (end, self.shut) {
            end.close();
            self.shut = true;
        }
    }

    pub fn begin_polling(&self, end: &End) -> bool {
        let open = self.requests.is_some();
        if open {
            end.set_polled(true);
        }
        open
    }

    /// Handles up to [`BATCH`] small messages for receives of one segment. Returns the message if no record follows it.
    ///
    /// # Errors
    /// In all other cases: the reason to stop, and a report on the handled messages.
    #[inline(always)]
    pub fn take_small(&mut self, end: &End, conn: &Conn) -> Result<Small, (Stop, RxReport)> {
        let Some(ring) = &mut self.requests else { return Err((Stop::Other, RxReport::default())) };
        if self.arriving.fetching.is_some() || self.arriving.incoming.has_message() {
            return Err((Stop::Other, RxReport::default()));
        }
        let entered = EpochGuard::enter();
        let section = entered.as_ref();
        let stopped = match small_message(ring, end, conn, section, &mut self.arriving.failed) {
            Ok(small) if !ring.has_record() => {
                end.set_taken(false, ring.release());
                return Ok(small);
            }
            Ok(small) => small_messages(ring, end, conn, section, &mut self.arriving.failed, small),
            Err(stop) => (stop, RxReport::default()),
        };
        if stopped.0 == Stop::Failed {
            self.refuse(end);
        }
        Err(stopped)
    }

    /// Returns the receive that failed with [`Stop::Failed`]: it is too short, or its memory is not registered.
    pub fn failed(&self) -> Option<RecvDone> {
        self.arriving.failed
    }

    /// Stops handling requests of the peer, after a failure.
    #[cold]
    fn refuse(&mut self, end: &End) {
        self.requests = None;
        end.set_stuck(true);
    }

    /// Handles records of both rings. An error has the combined flags of the records that were handled before it.
    #[inline]
    pub fn progress(&mut self, end: &End, conn: &Arc<Conn>, advance: Advance) -> Result<RxReport, (Fatal, u8)> {
        let mut report = RxReport::default();
        if let Err(fatal) = self.turn(&Turn { end, conn, advance }, &mut report) {
            self.refuse(end);
            return Err((fatal, report.flags));
        }
        Ok(report)
    }

    fn turn(&mut self, turn: &Turn<'_>, report: &mut RxReport) -> Result<(), Fatal> {
        let Some(responses) = &mut self.responses else { return Ok(()) };
        if !turn.conn.base.is_up() {
            return Ok(());
        }
        let arriving = &mut self.arriving;
        let refused = self.requests.is_none();
        // Responses first: they must not wait for messages without receives.
        let mut closed = false;
        if responses.has_record() {
            let mut budget = Budget::turn();
            let pause = turn.empty(responses, true, report, |ring, view| {
                if refused && view.kind != kind::READ_DATA {
                    Ok(())
                } else {
                    arriving.answer(turn, ring, view, &mut budget)
                }
            })?;
            closed = pause == Pause::Closed;
            report.responses = report.more;
        }
        let Some(requests) = &mut self.requests else { return Ok(()) };
        let mut budget = Budget::turn();
        let pause = turn.empty(requests, false, report, |ring, view| arriving.handle(turn, ring, view, &mut budget))?;
        // A waiting record needs no polls: the event for which it waits resumes it.
        turn.end.set_stuck(pause != Pause::Empty);
        if closed || pause == Pause::Closed {
            (self.requests, self.responses) = (None, None);
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
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
    fn place(self, segment: &Segment, checked: Option<&CheckedSegment<'_, Writable>>) -> bool {
        let bytes = self.ring.small_source(self.small);
        if let Some(checked) = checked {
            copy_tail_last(checked_target(checked, bytes.len()), bytes);
            return true;
        }
        cold_path();
        copy::scatter_one(self.regions, segment, bytes)
    }
}

/// Handles the next record if it is a small message for a receive of one segment.
#[inline(always)]
fn small_message(
    ring: &mut Consumer,
    end: &End,
    conn: &Conn,
    section: Option<&EpochGuard<Memory>>,
    failed: &mut Option<RecvDone>,
) -> Result<Small, Stop> {
    let small = match ring.next(kind::MESSAGE) {
        Next::Small(small) => small,
        Next::Nothing => return Err(Stop::Nothing),
        Next::Other => return Err(Stop::Other),
    };
    if !conn.base.is_up() {
        return Err(Stop::Nothing);
    }
    let solicited = small.flags() & record::SOLICITED != 0;
    conn.deliver(small.len() as u64, solicited, failed, Arrived { section, regions: end.regions(), ring, small })?;
    ring.skip_small(small);
    Ok(small)
}

/// Handles further messages after `small`, up to [`BATCH`] in total. Returns the reason to stop and a report on all of
/// them.
#[cold]
#[inline(never)]
fn small_messages(
    ring: &mut Consumer,
    end: &End,
    conn: &Conn,
    section: Option<&EpochGuard<Memory>>,
    failed: &mut Option<RecvDone>,
    small: Small,
) -> (Stop, RxReport) {
    let mut report = RxReport::default();
    report.add(small.flags(), small.credit());
    let mut stop = None;
    for _ in 1..BATCH {
        match small_message(ring, end, conn, section, failed) {
            Ok(small) => report.add(small.flags(), small.credit()),
            Err(found) => {
                stop = Some(found);
                break;
            }
        }
    }
    end.set_taken(false, ring.release());
    (stop.unwrap_or(if ring.has_record() { Stop::More } else { Stop::Nothing }), report)
}

impl Turn<'_> {
    /// Handles up to [`BATCH`] records of a ring with `handle`. Returns why it stopped.
    #[inline(always)]
    fn empty(
        &self,
        ring: &mut Consumer,
        responses: bool,
        report: &mut RxReport,
        mut handle: impl FnMut(&Consumer, &RecordView) -> Executed,
    ) -> Result<Pause, Fatal> {
        let mut left = BATCH;
        let pause = loop {
            let view = match ring.peek() {
                Ok(Some(view)) => view,
                Ok(None) => break Ok(Pause::Empty),
                Err(Corrupt) => break Err(Fatal::default()),
            };
            if left == 0 {
                report.more = true;
                break Ok(Pause::Empty);
            }
            if !self.conn.base.is_up() {
                break Ok(Pause::Empty);
            }
            match handle(ring, &view) {
                Ok(()) => {}
                Err(Halt::Wait) => break Ok(Pause::Waits),
                Err(Halt::Again) => {
                    report.more = true;
                    break Ok(Pause::Empty);
                }
                Err(Halt::Ended) => break Ok(Pause::Closed),
                Err(Halt::Fail(fatal)) => break Err(fatal),
            }
            report.add(view.flags, view.credit);
            ring.skip(&view);
            if ring.unreleased() >= RELEASE || view.aux >= SHARED_MIN {
                self.end.set_taken(responses, ring.release());
            }
            left -= 1;
        };
        if ring.unreleased() > 0 {
            self.end.set_taken(responses, ring.release());
        }
        pause
    }

    /// Calls `what` with the sending direction locked. Fails with [`Halt::Ended`] if the connection has ended.
    fn with_tx<R>(&self, what: impl FnOnce(&mut Tx) -> R) -> Result<R, Halt> {
        self.conn.base.sink.lock_tx().map(|mut tx| what(&mut tx)).ok_or(Halt::Ended)
    }
}

impl Arriving {
    #[inline]
    fn handle(&mut self, turn: &Turn<'_>, ring: &Consumer, view: &RecordView, budget: &mut Budget) -> Executed {
        // Checked first, so that a fetch continues even if the peer has changed its record.
        if self.fetching.is_some() {
            return self.fetch(turn, view, budget);
        }
        if let Some(receiver) = turn.conn.base.receiver.datagrams() {
            cold_path();
            return datagram(receiver, turn, ring, view);
        }
        if matches!(view.kind, kind::MESSAGE_PIECE | kind::WRITE_PIECE)
            && !budget.record(turn.end, view.aux, view.len.into())
        {
            return Err(Halt::Again);
        }
        match view.kind {
            kind::MESSAGE if view.aux != u64::from(view.len) => Err(violation()),
            kind::MESSAGE | kind::MESSAGE_PIECE => self.message(turn, ring, view),
            kind::REMOTE_MESSAGE | kind::REMOTE_WRITE if turn.advance == Advance::Drain => Err(Halt::Wait),
            kind::REMOTE_MESSAGE => self.remote_message(turn, ring, view, budget),
            kind::WRITE_PIECE => self.write_piece(turn, ring, view),
            kind::READ => self.read(turn, ring, view),
            kind::SHORT_WRITE | kind::SHORT_READ | kind::REMOTE_WRITE => self.claim(turn, ring, view, budget),
            kind::NOTHING => Ok(()),
            kind::IMMEDIATE => self.incoming.immediate(turn, read_number(ring, view)?, view.aux, is_solicited(view)),
            kind::ATOMIC => self.atomic(turn, ring, view),
            kind::INVALIDATE => self.incoming.invalidate(turn, read_number(ring, view)?, view.aux),
            _ => Err(violation()),
        }
    }
}

fn datagram(receiver: &DatagramReceiver<Shm>, turn: &Turn<'_>, ring: &Consumer, view: &RecordView) -> Executed {
    let len = view.aux;
    match view.kind {
        kind::MESSAGE if len == u64::from(view.len) && len <= MAX_DATAGRAM as u64 => {
            let bytes = ring.source(view);
            receiver.arrived(turn.end.regions(), bytes, is_solicited(view));
            Ok(())
        }
        kind::IMMEDIATE if !receiver.notice_arrived() => Ok(()),
        kind::NOTHING => Ok(()),
        // A notice that ends the connection, because both sides have freed their address handles, or an invalid record.
        _ => Err(violation()),
    }
}

fn is_solicited(view: &RecordView) -> bool {
    view.flags & record::SOLICITED != 0
}

/// Returns `N` bytes of a record's payload, from byte `at`. A shorter payload violates the protocol.
fn read<const N: usize>(ring: &Consumer, view: &RecordView, at: usize) -> Result<[u8; N], Halt> {
    let mut bytes = [0; N];
    let len = ring.copy_out(view, at, Target::of(&mut bytes));
    if len == N { Ok(bytes) } else { Err(violation()) }
}

fn read_number(ring: &Consumer, view: &RecordView) -> Result<u32, Halt> {
    let bytes = read::<{ record::NUMBER }>(ring, view, 0)?;
    record::read_number(&bytes).filter(|_| view.len as usize == bytes.len()).ok_or_else(violation)
}

fn read_target(ring: &Consumer, view: &RecordView, at: usize) -> Result<RemoteSegment, Halt> {
    record::read_target(&read::<{ record::TARGET }>(ring, view, at)?).ok_or_else(violation)
}
