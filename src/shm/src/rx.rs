//! The receiving direction of a connection.
//!
//! Records are handled in order. A message that finds no receive stays in the ring, with
//! all that comes behind it, until there is one: it neither fails nor gets lost.

use std::sync::Arc;

use dat_core::event::Status;
use dat_core::transport::{MAX_SEGMENTS, RecvDone, RemoteSegment, Taken, Verdict};

use crate::conn::{Conn, ConnPhase, Fatal, Wired};
use crate::copy;
use crate::os::user::Target;
use crate::record::{self, kind};
use crate::ring::{Consumer, Corrupt, RecordView};
use crate::tx::EAGER_MAX;

/// Records handled in one turn, so that one connection does not keep others waiting.
const BATCH: usize = 64;

/// How far a turn goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// Up to the batch.
    Batch,
    /// The peer has let go: what lies in its own memory is not to be trusted any more.
    Drain,
}

/// What came of a turn.
#[derive(Default)]
pub struct RxReport {
    /// The peer wants to know how far this side got.
    pub acknowledge: bool,
    /// More records are left that can be handled.
    pub more: bool,
    /// The connection cannot go on.
    pub fatal: Option<Fatal>,
}

/// A message of which a part has arrived.
struct Partial {
    len: u64,
    offset: u64,
}

/// An RDMA write of the peer of which a part has arrived.
struct Writing {
    target: RemoteSegment,
    offset: u64,
}

/// The receiving direction.
#[derive(Default)]
pub struct Rx {
    consumer: Option<Consumer>,
    answers: Option<Consumer>,
    open: bool,
    taken: Taken,
    /// `taken` holds a receive whose message is not complete.
    partial: Option<Partial>,
    writing: Option<Writing>,
}

/// What to do after a record.
enum Next {
    /// It is consumed.
    Consumed,
    /// It has to wait.
    Wait,
    /// The connection cannot go on.
    Fail(Fatal),
}

fn fail(recv: Option<RecvDone>, peer: Option<Status>) -> Next {
    Next::Fail(Fatal { recv, request: None, peer })
}

impl Rx {
    /// Opens the rings, of requests and of answers; records are handled once data may flow.
    pub fn open(&mut self, [consumer, answers]: [Consumer; 2]) {
        self.consumer = Some(consumer);
        self.answers = Some(answers);
        self.open = true;
    }

    /// Handles nothing any more.
    pub fn close(&mut self) {
        self.open = false;
        self.consumer = None;
        self.answers = None;
    }

    /// Handles records.
    pub fn progress(&mut self, conn: &Arc<Conn>, wired: &Wired, advance: Advance) -> RxReport {
        let mut turn = RxReport::default();
        if !self.open || conn.phase() != ConnPhase::Up {
            return turn;
        }
        // Answers first: they must not wait behind messages that find no receive.
        if let Some(mut answers) = self.answers.take() {
            self.empty(conn, &mut answers, &mut turn, |rx, ring, view| rx.answer(conn, wired, ring, view));
            self.answers = Some(answers);
        }
        if turn.fatal.is_none()
            && let Some(mut consumer) = self.consumer.take()
        {
            self.empty(conn, &mut consumer, &mut turn, |rx, ring, view| rx.handle(conn, wired, ring, view, advance));
            self.consumer = Some(consumer);
        }
        turn
    }

    /// Handles the records of a ring, up to the batch.
    fn empty(
        &mut self,
        conn: &Conn,
        ring: &mut Consumer,
        turn: &mut RxReport,
        mut handle: impl FnMut(&mut Self, &Consumer, &RecordView) -> Next,
    ) {
        for step in 0..=BATCH {
            let view = match ring.peek() {
                Ok(Some(view)) => view,
                Ok(None) => return,
                Err(Corrupt) => {
                    turn.fatal = Some(Fatal::default());
                    return;
                }
            };
            if step == BATCH {
                turn.more = true;
                return;
            }
            if conn.phase() != ConnPhase::Up {
                return;
            }
            match handle(self, ring, &view) {
                Next::Consumed => {
                    turn.acknowledge |= view.flags & record::ACKNOWLEDGE != 0;
                    ring.advance(&view);
                }
                Next::Wait => return,
                Next::Fail(fatal) => {
                    turn.fatal = Some(fatal);
                    return;
                }
            }
        }
    }

    fn handle(
        &mut self,
        conn: &Arc<Conn>,
        wired: &Wired,
        ring: &Consumer,
        view: &RecordView,
        advance: Advance,
    ) -> Next {
        match view.kind {
            kind::MESSAGE | kind::MESSAGE_PIECE => self.message(conn, ring, view),
            kind::REMOTE_MESSAGE if advance == Advance::Drain => Next::Wait,
            kind::REMOTE_MESSAGE => self.remote_message(conn, wired, ring, view),
            kind::WRITE_PIECE => self.write_piece(conn, ring, view),
            kind::READ => self.read(conn, wired, ring, view),
            kind::NOTHING => Next::Consumed,
            _ => fail(None, None),
        }
    }

    /// Takes what a read of this side asked for.
    fn answer(&mut self, conn: &Arc<Conn>, wired: &Wired, ring: &Consumer, view: &RecordView) -> Next {
        if view.kind != kind::READ_DATA {
            return fail(None, None);
        }
        let taken = conn.tx.lock().on_read_data(conn, ring.source(view, 0, view.len as usize));
        match taken {
            Ok(last) => {
                if last {
                    wired.link.mark(wired.side, wired.id.index);
                }
                Next::Consumed
            }
            Err(failed) => Next::Fail(Fatal { request: failed, ..Fatal::default() }),
        }
    }

    /// Takes a receive for a message of `len` bytes; `Ok(false)` if there is none.
    fn take(&mut self, conn: &Arc<Conn>, len: u64) -> Result<bool, Fatal> {
        if !conn.take_recv(&mut self.taken) {
            return Ok(false);
        }
        if conn.has_srq() && conn.sink.recv_taken(self.taken.id) == Verdict::Break {
            return Err(Fatal::default());
        }
        if len > self.taken.capacity {
            let recv = self.done(Status::LocalLength, 0, false);
            return Err(Fatal { recv: Some(recv), request: None, peer: Some(Status::RemoteResponder) });
        }
        Ok(true)
    }

    fn done(&self, status: Status, len: u64, solicited: bool) -> RecvDone {
        RecvDone { id: self.taken.id, status, len, solicited }
    }

    fn message(&mut self, conn: &Arc<Conn>, ring: &Consumer, view: &RecordView) -> Next {
        let bytes = ring.source(view, 0, view.len as usize);
        let len = view.aux;
        let whole = view.kind == kind::MESSAGE;
        if bytes.len() as u64 > EAGER_MAX || (whole && len != bytes.len() as u64) {
            return fail(None, None);
        }
        let offset = match &self.partial {
            Some(partial) if !whole && partial.len == len => partial.offset,
            Some(_) => return fail(None, None),
            None => match self.take(conn, len) {
                Ok(true) => 0,
                Ok(false) => return Next::Wait,
                Err(fatal) => return Next::Fail(fatal),
            },
        };
        let end = offset + bytes.len() as u64;
        if end > len || (bytes.is_empty() && len > 0) {
            return fail(None, None);
        }
        if !copy::scatter(&conn.node, self.taken.segments(), offset, bytes, end == len) {
            let recv = self.done(Status::LocalProtection, 0, false);
            return fail(Some(recv), Some(Status::RemoteResponder));
        }
        if end == len {
            self.partial = None;
            conn.sink.recv_done(self.done(Status::Success, len, view.flags & record::SOLICITED != 0));
        } else {
            self.partial = Some(Partial { len, offset: end });
        }
        Next::Consumed
    }

    fn remote_message(&mut self, conn: &Arc<Conn>, wired: &Wired, ring: &Consumer, view: &RecordView) -> Next {
        let mut places = [(0_u64, 0_u64); MAX_SEGMENTS];
        let payload = view.len as usize;
        let count = payload / record::PLACE;
        if count > MAX_SEGMENTS || !payload.is_multiple_of(record::PLACE) || self.partial.is_some() {
            return fail(None, None);
        }
        for (at, place) in places[..count].iter_mut().enumerate() {
            let mut bytes = [0; record::PLACE];
            ring.copy_out(view, at * record::PLACE, Target::of(&mut bytes));
            *place = record::read_place(&bytes);
        }
        let places = &places[..count];
        let sum = places.iter().try_fold(0_u64, |sum, (_, len)| sum.checked_add(*len));
        let len = view.aux;
        if sum != Some(len) {
            return fail(None, None);
        }
        match self.take(conn, len) {
            Ok(true) => {}
            Ok(false) => return Next::Wait,
            Err(fatal) => return Next::Fail(fatal),
        }
        let fetched = copy::fetch(&conn.node, wired.link.pid, places, self.taken.segments(), len);
        // The sender may have let go meanwhile and used its memory for something else.
        let gone = fetched == Err(None) || wired.link.is_dead();
        if gone || wired.link.peer_closed(wired.id.index, wired.side) {
            self.open = false;
            return Next::Wait;
        }
        match fetched {
            Ok(()) => {
                conn.sink.recv_done(self.done(Status::Success, len, view.flags & record::SOLICITED != 0));
                Next::Consumed
            }
            Err(status) => {
                let status = status.unwrap_or(Status::Transport);
                fail(Some(self.done(status, 0, false)), Some(Status::RemoteResponder))
            }
        }
    }

    fn write_piece(&mut self, conn: &Arc<Conn>, ring: &Consumer, view: &RecordView) -> Next {
        let payload = ring.source(view, 0, view.len as usize);
        let (writing, bytes) = match self.writing.take() {
            Some(writing) => (writing, payload),
            None => {
                let mut header = [0; record::TARGET];
                if payload.len() < record::TARGET {
                    return fail(None, None);
                }
                ring.copy_out(view, 0, Target::of(&mut header));
                let (addr, key, len) = record::read_target(&header);
                (Writing { target: RemoteSegment { addr, len, key }, offset: 0 }, payload.split(record::TARGET).1)
            }
        };
        if writing.target.len != view.aux || bytes.is_empty() {
            return fail(None, None);
        }
        if !copy::write_for_peer(&conn.node, conn.zone, &writing.target, writing.offset, bytes) {
            return fail(None, Some(Status::RemoteAccess));
        }
        let offset = writing.offset + bytes.len() as u64;
        if offset < writing.target.len {
            self.writing = Some(Writing { offset, ..writing });
        }
        Next::Consumed
    }

    fn read(&mut self, conn: &Arc<Conn>, wired: &Wired, ring: &Consumer, view: &RecordView) -> Next {
        let mut header = [0; record::TARGET];
        if view.len as usize != record::TARGET {
            return fail(None, None);
        }
        ring.copy_out(view, 0, Target::of(&mut header));
        let (addr, key, len) = record::read_target(&header);
        let target = RemoteSegment { addr, len, key };
        if !copy::may_read(&conn.node, &target, conn.zone) {
            return fail(None, Some(Status::RemoteAccess));
        }
        if conn.tx.lock().on_read(target) {
            wired.link.mark(wired.side, wired.id.index);
            Next::Consumed
        } else {
            fail(None, Some(Status::RemoteResponder))
        }
    }
}
