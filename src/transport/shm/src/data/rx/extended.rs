//! Records that ask this side for something on the way of others: reads and atomic operations of the peer, values that
//! its writes bring, windows that its messages revoke.
//!
//! An atomic operation is one instruction of the target's processor, so it is atomic for the target's own threads too.
//! It is never carried out twice: room for the answer is made first, and nothing can fail between the operation and the
//! consumption of the record. Until the record is consumed, copies posted later to or from the target's memory wait, in
//! a process that is its own peer as well. The value of a write is a record behind the bytes of the write, wherever
//! these went, and takes a receive as an empty message does.
//!
//! A message that revokes a window begins with a record that names it and takes the receive. When the whole message has
//! come, and not before, the row of the window is closed. The message is complete when the transfers are over that were
//! under way then: those of this peer for a window of one connection, those of all peers for one of a zone. They are
//! waited for in turns, so that other connections go on. The row stays the window's until it is bound anew or freed, so
//! no other region gets its key meanwhile.

use std::iter;

use dat_core::event::Status;
use dat_core::transport::{RemoteSegment, Special};
use dat_memory::user::Target;

use super::{Arriving, Partial, RecordOutcome, Revocation, Turn, fail, read_target};
use crate::budget::Budget;
use crate::pending::Pending;
use crate::record::{self, LARGEST, WORD, kind};
use crate::ring::{Consumer, RecordView};
use crate::{claim, copy};

impl Arriving {
    /// Reports the receive of a message that has arrived in part before, with the window that it has revoked, if any.
    pub(super) fn complete(&mut self, turn: &Turn<'_>, len: u64, view: &RecordView) {
        let done = self.done(Status::Success, len, view.flags & record::SOLICITED != 0);
        match self.revocation.take() {
            None => turn.conn.complete(done),
            Some(Revocation { key, .. }) => turn.conn.complete_special(done, Special::Invalidated(key)),
        }
    }

    /// Carries a write or a read of the peer out, unless that has taken it back.
    pub(super) fn claim(
        &mut self,
        turn: &Turn<'_>,
        ring: &Consumer,
        view: &RecordView,
        budget: &mut Budget,
    ) -> RecordOutcome {
        match (turn.end.peers_claim().take(view.end()), view.kind) {
            (claim::Turn::Own, kind::SHORT_READ) => self.read(turn, ring, view),
            (claim::Turn::Own, kind::REMOTE_WRITE) => self.remote_write(turn, ring, view, budget),
            (claim::Turn::Own, _) => match self.write_piece(turn.end, ring, view) {
                RecordOutcome::Consumed if self.writing.is_some() => fail(None, None),
                way => way,
            },
            (claim::Turn::Done, _) => RecordOutcome::Consumed,
            (claim::Turn::Awaited, _) => RecordOutcome::Wait,
            (claim::Turn::Corrupt, _) => fail(None, None),
        }
    }

    /// Takes a read of the peer that this side has to carry out.
    pub(super) fn read(&mut self, turn: &Turn<'_>, ring: &Consumer, view: &RecordView) -> RecordOutcome {
        if view.len as usize != record::TARGET {
            return fail(None, None);
        }
        let target = read_target(ring, view);
        if !copy::may_read(turn.end, &target) {
            return self.refuse(turn, Status::RemoteAccess);
        }
        match turn.conn.with_tx(|tx| tx.on_read(turn.end, target)) {
            None => return RecordOutcome::Stop,
            Some(true) => {}
            Some(false) => return self.refuse(turn, Status::RemoteResponder),
        }
        RecordOutcome::Consumed
    }

    /// Carries an atomic operation of the peer out, once: the record is consumed, or the connection fails.
    pub(super) fn atomic(&mut self, turn: &Turn<'_>, ring: &Consumer, view: &RecordView) -> RecordOutcome {
        let mut bytes = [0; record::ATOMIC];
        if view.len as usize != bytes.len() || view.aux != WORD {
            return fail(None, None);
        }
        ring.copy_out(view, 0, Target::of(&mut bytes));
        let Some((addr, key, change)) = record::read_atomic(&bytes) else { return fail(None, None) };
        let target = RemoteSegment { addr, len: WORD, key };
        match turn.conn.with_tx(|tx| tx.on_atomic(turn.end, &target, change)) {
            None => return RecordOutcome::Stop,
            Some(Ok(())) => {}
            Some(Err(status)) => return self.refuse(turn, status),
        }
        turn.end.repoll();
        RecordOutcome::Consumed
    }

    /// Refuses a read or an atomic operation. What the peer asked for before is answered first, so that it knows which of
    /// its requests fails; nothing behind that one is handled.
    #[cold]
    fn refuse(&mut self, turn: &Turn<'_>, status: Status) -> RecordOutcome {
        self.refused = true;
        if turn.conn.with_tx(|tx| tx.refuse(status)).is_none() {
            return RecordOutcome::Stop;
        }
        turn.end.repoll();
        RecordOutcome::Wait
    }

    /// Completes a receive with the value that a write of the peer has brought, whose bytes are in their place.
    pub(super) fn immediate(&mut self, turn: &Turn<'_>, ring: &Consumer, view: &RecordView) -> RecordOutcome {
        let whole = self.partial.is_none() && self.writing.is_none();
        if !whole || view.len as usize != record::NUMBER || view.aux > LARGEST {
            return fail(None, None);
        }
        // Its buffer stays as it is, so that it is never too short.
        if let Some(next) = self.take(turn, 0) {
            return next;
        }
        let done = self.done(Status::Success, view.aux, view.flags & record::SOLICITED != 0);
        turn.conn.complete_special(done, Special::Immediate(read_number(ring, view)));
        RecordOutcome::Consumed
    }

    /// Begins a message that revokes a window, once there is a receive for it.
    pub(super) fn invalidate(&mut self, turn: &Turn<'_>, ring: &Consumer, view: &RecordView) -> RecordOutcome {
        if view.len as usize != record::NUMBER || self.partial.is_some() {
            return fail(None, None);
        }
        let len = view.aux;
        if let Some(next) = self.take(turn, len) {
            return next;
        }
        let (end, key) = (turn.end, read_number(ring, view));
        if end.regions().may_invalidate(key, &end.own).is_none() {
            return fail(None, Some(Status::RemoteAccess));
        }
        self.partial = Some(Partial { len, offset: 0 });
        self.revocation = Some(Revocation { key, closed: false, pending: None });
        RecordOutcome::Consumed
    }

    /// Revokes the window, if the message that is about to be complete does that: not before, since the end of the
    /// connection would leave a revoked window that was not reported. Gives the way on while transfers are under way that may
    /// use the window, so that none of them touches its memory once the message has arrived.
    #[inline]
    pub(super) fn revoke(&mut self, turn: &Turn<'_>) -> Option<RecordOutcome> {
        self.revocation.as_mut().and_then(|revocation| revocation.go_on(turn))
    }
}

impl Revocation {
    #[cold]
    fn go_on(&mut self, turn: &Turn<'_>) -> Option<RecordOutcome> {
        let end = turn.end;
        if !self.closed {
            let Some(users) = end.regions().invalidate(self.key, &end.own) else {
                return Some(fail(None, Some(Status::RemoteAccess)));
            };
            self.closed = true;
            self.pending = match users.zone() {
                Some(_) => turn.conn.transfers(),
                // Nobody but this peer had it open.
                None => Pending::new(end.control(), iter::once(&end.peer_segment)),
            };
        }
        if self.pending.as_mut().is_some_and(|pending| !pending.is_over(end.control())) {
            return Some(RecordOutcome::Again);
        }
        self.pending = None;
        None
    }
}

/// The number that is the payload of a record.
fn read_number(ring: &Consumer, view: &RecordView) -> u32 {
    let mut bytes = [0; record::NUMBER];
    ring.copy_out(view, 0, Target::of(&mut bytes));
    u32::from_le_bytes(bytes)
}
