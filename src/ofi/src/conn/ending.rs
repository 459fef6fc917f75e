//! The end of a connection, from this side or the other.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use dat_core::transport::{ConnectionReport, FailedRequest};

use super::{Conn, Phase};
use crate::bulk;
use crate::link::Link;
use crate::record::End;
use crate::rx::Fatal;

/// What is left of a connection that the program has ended.
pub struct Ending {
    link: Arc<Link>,
    /// What the peer is told.
    end: End,
    until: Instant,
}

impl Conn {
    /// Ends the connection at this end; false if that was done before. On return nothing touches memory of the program on
    /// behalf of the connection, unless [`Conn::is_ending`]. All successful requests are reported if `report` is set. `end` is
    /// what the peer is told. Called without a lock.
    pub fn kill(self: &Arc<Self>, end: Option<End>, report: bool) -> bool {
        let (first, link) = self.close(report);
        if let Some((link, told)) = link {
            let end = end.filter(|_| told);
            if end.is_some() && link.moves() {
                self.device.linger(self.number, link.clone());
                self.device.settle(self.number, &link);
            }
            self.leave(&link, end);
        }
        first
    }

    /// Does what [`Conn::kill`] does for a call of the program, which has locks; false if libfabric still moves bytes, and then
    /// the adapter's thread reports the end, unless [`Conn::await_end`] has seen it.
    pub fn disconnect(self: &Arc<Self>, end: End) -> bool {
        let (_, link) = self.close(false);
        if let Some((link, told)) = link {
            if !told || !link.moves() {
                self.leave(&link, told.then_some(end));
                return true;
            }
            self.device.linger(self.number, link.clone());
            *self.ending.lock() = Some(Ending { link, end, until: Instant::now() + bulk::PATIENCE });
            self.device.command(|work| work.endings.push(self.clone()));
        }
        if self.is_ending() {
            return false;
        }
        self.finish();
        true
    }

    /// Whether libfabric still moves bytes for a connection that the program has ended.
    fn is_ending(&self) -> bool {
        let ending = self.ending.lock();
        let left = ending.as_ref().filter(|ending| ending.link.moves() && Instant::now() < ending.until);
        left.is_some_and(|_| self.device.is_leaving(self.number))
    }

    /// Does what is left of the end of a connection; gives what the peer is told if this call has done it.
    fn finish(&self) -> Option<End> {
        let ending = self.ending.lock().take();
        ending.map(|Ending { link, end, .. }| {
            self.leave(&link, Some(end));
            end
        })
    }

    /// The adapter's thread does what is left; false if it is not yet time. Called without a lock.
    pub fn finish_later(&self) -> bool {
        if self.is_ending() {
            return false;
        }
        match self.finish() {
            Some(End::Disconnected) => self.sink.connection(ConnectionReport::Disconnected),
            Some(End::Broken(_)) => self.sink.connection(ConnectionReport::Broken),
            None => {}
        }
        true
    }

    /// Waits until libfabric moves nothing for it any more. Called without a lock.
    pub fn await_end(&self) {
        self.device.poll_while(bulk::PATIENCE, || self.is_ending());
        self.finish();
    }

    /// Sees to it that libfabric leaves the memory of the program alone, and tells the peer of the end.
    fn leave(&self, link: &Arc<Link>, end: Option<End>) {
        if link.moves() {
            link.cut();
        }
        self.device.forget(self.number);
        if end.is_some_and(|end| link.leave(end)) {
            self.device.linger(self.number, link.clone());
        }
    }

    /// Takes the link away from both directions; gives whether that was not done before, and the link if there is one, with
    /// whether the peer is to be told of the end.
    fn close(&self, report: bool) -> (bool, Option<(Arc<Link>, bool)>) {
        let before = Phase::from_u8(self.phase.fetch_max(Phase::Dead as u8, Ordering::AcqRel));
        let first = before < Phase::Dead;
        let link = {
            let mut receiving = self.receiving.lock();
            self.note_stall(false);
            let early = receiving.early.take();
            let link = receiving.rx.close();
            if let (Some((slot, _)), Some(link)) = (early, &link) {
                // The end of the peer may come behind it.
                let _ = link.receive(slot);
            }
            link
        };
        let mut drained = false;
        if let Some(mut tx) = self.sink.lock_tx() {
            let done = tx.close();
            drained = first && report && done.is_some_and(|last| tx.request_done(last));
        }
        if drained {
            self.sink.drained();
        }
        (first, link.map(|link| (link, before >= Phase::Accepting)))
    }

    /// Fails the connection from this end. Called without a lock.
    pub fn fail(self: &Arc<Self>, fatal: Fatal) {
        if self.kill(Some(End::Broken(fatal.peer)), true) {
            self.sink.failed(fatal.recv, fatal.request);
        }
    }

    /// The peer has left. Called without a lock.
    pub fn peer_left(self: &Arc<Self>, end: End) {
        let accepting = self.phase() == Phase::Accepting;
        if !self.kill(None, true) {
            return;
        }
        match end {
            _ if accepting => self.sink.connection(ConnectionReport::AcceptFailed),
            End::Disconnected => self.sink.connection(ConnectionReport::Disconnected),
            End::Broken(None) => self.sink.connection(ConnectionReport::Broken),
            End::Broken(Some(status)) => self.sink.failed(None, Some((FailedRequest::Oldest, status))),
        }
    }

    /// Ends an attempt at a connection, and reports why. Called without a lock.
    pub fn give_up(self: &Arc<Self>, report: ConnectionReport) {
        if self.phase() <= Phase::Connecting && self.kill(None, false) {
            self.sink.connection(report);
        }
    }
}
