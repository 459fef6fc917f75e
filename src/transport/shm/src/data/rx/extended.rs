//! Reads and atomic operations of the peer, immediate values of its writes, and windows that its messages invalidate.
//!
//! An atomic operation is one CPU instruction, so it is atomic for the target's threads too. It is executed exactly
//! once: the response gets its room first, and consuming the record cannot fail. Until the record is consumed, later
//! copies to or from the target's memory wait, even within one process. A write's immediate value is a record after the
//! write's bytes, and consumes a receive.
//!
//! A message that invalidates a window starts with a record that names the window and takes the receive. After the
//! complete message has arrived, the window's row is closed, and not reused before the next bind or free. The message
//! completes when transfers in progress have ended: the peer's for a window of one connection, all peers' for a window
//! of a zone. Each turn checks for that, so other connections progress.

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
    /// Completes the receive of a message, with the window that the message invalidated, if any.
    pub(super) fn complete(&mut self, turn: &Turn<'_>, len: u64, view: &RecordView) {
        let done = self.done(Status::Success, len, view.flags & record::SOLICITED != 0);
        match self.revocation.take() {
            None => turn.conn.complete(done),
            Some(Revocation { key, .. }) => turn.conn.complete_special(done, Special::Invalidated(key)),
        }
    }

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

    /// Refuses a read or atomic operation after the responses to earlier ones. Later records are not processed.
    #[cold]
    fn refuse(&mut self, turn: &Turn<'_>, status: Status) -> RecordOutcome {
        self.refused = true;
        if turn.conn.with_tx(|tx| tx.refuse(status)).is_none() {
            return RecordOutcome::Stop;
        }
        turn.end.repoll();
        RecordOutcome::Wait
    }

    pub(super) fn immediate(&mut self, turn: &Turn<'_>, ring: &Consumer, view: &RecordView) -> RecordOutcome {
        let whole = self.partial.is_none() && self.writing.is_none();
        if !whole || view.len as usize != record::NUMBER || view.aux > LARGEST {
            return fail(None, None);
        }
        // An immediate value needs no buffer space.
        if let Some(next) = self.take(turn, 0) {
            return next;
        }
        let done = self.done(Status::Success, view.aux, view.flags & record::SOLICITED != 0);
        turn.conn.complete_special(done, Special::Immediate(read_number(ring, view)));
        RecordOutcome::Consumed
    }

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

    /// Invalidates the window once all bytes have arrived; earlier, the end of the connection could leave the
    /// invalidation unreported. Returns an outcome if that fails, or while transfers may use the window.
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
                // Only this peer had access.
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

fn read_number(ring: &Consumer, view: &RecordView) -> u32 {
    let mut bytes = [0; record::NUMBER];
    ring.copy_out(view, 0, Target::of(&mut bytes));
    u32::from_le_bytes(bytes)
}
