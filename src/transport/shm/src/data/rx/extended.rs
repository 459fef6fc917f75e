//! Reads and atomic operations of the peer, immediate values of its writes, and windows that its messages invalidate.
//!
//! An atomic operation is one CPU instruction, so it is atomic for the target's threads too. It is executed exactly
//! once: the response gets its room before the execution, and consuming the record cannot fail. Until the record is
//! consumed, later copies of the initiator from and to the target's memory wait, even within one process. A write's
//! immediate value is a record after the write's bytes, and consumes a receive.
//!
//! A message that invalidates a window starts with a record that names the window and takes the receive. After the
//! complete message has arrived, the window's row is closed, and not reused before the next bind or free. The message
//! completes when the transfers in progress have ended: the peer's for a window of one connection, all peers' for a
//! window of a zone. Each turn of the connection only checks whether they have ended, so other connections progress.

use std::iter;
use std::sync::Arc;

use dat_core::Rights;
use dat_core::event::Status;
use dat_software::records::{Executed, Fatal, Halt, Wire, violation};
use dat_software::regions::{AccessContext, RegionTable};

use super::{Arriving, Revocation, Turn, read, read_target};
use crate::budget::Budget;
use crate::conn::Conn;
use crate::pending::Pending;
use crate::record::{self, WORD, kind};
use crate::ring::{Consumer, RecordView};
use crate::{Shm, claim, copy};

impl Arriving {
    pub(super) fn claim(
        &mut self,
        turn: &Turn<'_>,
        ring: &Consumer,
        view: &RecordView,
        budget: &mut Budget,
    ) -> Executed {
        match (turn.end.peers_claim().take(view.end()), view.kind) {
            (claim::Turn::Own, kind::SHORT_READ) => self.read(turn, ring, view),
            (claim::Turn::Own, kind::REMOTE_WRITE) => self.remote_write(turn, ring, view, budget),
            (claim::Turn::Own, _) => self.short_write(turn, ring, view),
            (claim::Turn::Done, _) => Ok(()),
            (claim::Turn::Awaited, _) => Err(Halt::Wait),
            (claim::Turn::Corrupt, _) => Err(violation()),
        }
    }

    /// Executes a revocable write, whose bytes are all in the record.
    fn short_write(&self, turn: &Turn<'_>, ring: &Consumer, view: &RecordView) -> Executed {
        let target = read_target(ring, view, 0)?;
        let bytes = ring.source(view).split(record::TARGET).1;
        if target.len != view.aux || target.len != bytes.len() as u64 || target.len == 0 || !self.incoming.is_idle() {
            return Err(violation());
        }
        let granted = turn.end.regions().grant(&target, Rights::REMOTE_WRITE, &turn.end.own);
        let granted = granted.map_err(|_| Fatal::of_peer(Status::RemoteAccess))?;
        copy::store(granted.target(0, target.len), bytes, true);
        Ok(())
    }

    pub(super) fn read(&mut self, turn: &Turn<'_>, ring: &Consumer, view: &RecordView) -> Executed {
        let target = read_target(ring, view, 0)?;
        if view.len as usize != record::TARGET {
            return Err(violation());
        }
        if !copy::may_read(turn.end, &target) {
            return Err(Fatal::of_peer(Status::RemoteAccess).into());
        }
        if turn.with_tx(|tx| tx.on_read(turn.end, target))? {
            Ok(())
        } else {
            Err(Fatal::of_peer(Status::RemoteResponder).into())
        }
    }

    /// Executes an atomic operation once: afterwards the record is consumed, or the connection fails.
    pub(super) fn atomic(&mut self, turn: &Turn<'_>, ring: &Consumer, view: &RecordView) -> Executed {
        let bytes = read::<{ record::ATOMIC }>(ring, view, 0)?;
        if view.len as usize != bytes.len() || view.aux != WORD {
            return Err(violation());
        }
        let (target, change) = record::read_atomic(&bytes).ok_or_else(violation)?;
        turn.with_tx(|tx| tx.on_atomic(turn.end, &target, change))?.map_err(Fatal::of_peer)?;
        turn.end.repoll();
        Ok(())
    }
}

impl Wire for Turn<'_> {
    type Transport = Shm;
    type Revocation = Revocation;

    #[inline]
    fn qp(&self) -> &Arc<Conn> {
        self.conn
    }

    #[inline]
    fn regions(&self) -> &RegionTable {
        self.end.regions()
    }

    #[inline]
    fn own(&self) -> &AccessContext {
        &self.end.own
    }

    /// Closes the window, then returns [`Halt::Again`] in each turn while transfers may still use it.
    #[cold]
    fn revoke(&self, key: u32, revocation: &mut Revocation) -> Executed {
        let end = self.end;
        if !revocation.closed {
            let users = end.regions().invalidate(key, &end.own).ok_or(Fatal::of_peer(Status::RemoteAccess))?;
            revocation.closed = true;
            revocation.pending = match users.zone() {
                Some(_) => self.conn.transfers(),
                // Only the peer of this connection had access.
                None => Pending::new(end.control(), iter::once(&end.peer_segment)),
            };
        }
        if revocation.pending.as_mut().is_some_and(|pending| !pending.is_over(end.control())) {
            return Err(Halt::Again);
        }
        revocation.pending = None;
        Ok(())
    }
}
