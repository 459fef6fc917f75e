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

/// What is left of a connection that has ended on this side while libfabric moved bytes for it.
pub struct Ending {
    link: Arc<Link>,
    /// What the peer is told.
    end: End,
    until: Instant,
    /// Why it has ended, if not because of the program.
    fatal: Option<Fatal>,
}

/// What was done of the end of a connection.
struct Closed {
    /// It had not ended before.
    first: bool,
    /// What libfabric moves no bytes for, and what the peer is told.
    link: Option<(Arc<Link>, Option<End>)>,
    /// libfabric still moves bytes.
    moves: bool,
}

impl Conn {
    /// Ends the connection for a call of the program, which has locks; false if libfabric still moves bytes, and then the
    /// adapter's thread reports the end, unless [`Conn::await_end`] has seen it.
    pub fn disconnect(self: &Arc<Self>, end: End) -> bool {
        let Closed { link, moves, .. } = self.close(false, Some(end), None);
        if moves {
            self.device.command(|work| work.endings.push(self.clone()));
        }
        if let Some((link, end)) = link {
            self.leave(&link, end);
        }
        if self.is_ending() {
            return false;
        }
        self.finish();
        true
    }

    /// Whether libfabric still moves bytes for a connection that has ended on this side.
    fn is_ending(&self) -> bool {
        self.ending.lock().as_ref().is_some_and(|ending| self.goes_on(ending))
    }

    fn goes_on(&self, ending: &Ending) -> bool {
        ending.link.moves() && Instant::now() < ending.until && self.device.is_leaving(self.number)
    }

    /// Does what is left of the end of a connection, if it is time; gives it if this call has done it. When it returns libfabric
    /// moves no bytes any more, whoever did it.
    fn finish(&self) -> Option<Ending> {
        let mut place = self.ending.lock();
        if place.as_ref().is_some_and(|ending| self.goes_on(ending)) {
            return None;
        }
        let ending = place.take()?;
        // Another thread that asks meanwhile waits for the lock.
        if ending.link.moves() {
            ending.link.cut();
        }
        drop(place);
        // Nobody hears of the end once the peer has left.
        self.leave(&ending.link, Some(ending.end).filter(|_| self.device.is_leaving(self.number)));
        Some(ending)
    }

    /// The adapter's thread does what is left; false if it is not yet time. Called without a lock.
    pub fn finish_later(&self) -> bool {
        match self.finish() {
            Some(Ending { fatal: Some(fatal), .. }) => self.sink.failed(fatal.recv, fatal.request),
            Some(Ending { end: End::Disconnected, .. }) => self.sink.connection(ConnectionReport::Disconnected),
            Some(Ending { end: End::Broken(_), .. }) => self.sink.connection(ConnectionReport::Broken),
            None => return !self.is_ending(),
        }
        true
    }

    /// Waits until libfabric moves nothing for it any more. Called without a lock.
    pub fn await_end(&self) {
        self.device.poll_while(bulk::PATIENCE, || self.is_ending());
        self.finish();
    }

    /// Ends the connection when the adapter is closed, which has waited before.
    pub fn leave_now(&self, end: End) {
        if let Some((link, end)) = self.close(false, Some(end), None).link {
            self.leave(&link, end);
        }
        if let Some(ending) = self.ending.lock().as_mut() {
            ending.until = Instant::now();
        }
        self.finish();
    }

    /// Tells the peer of the end of a connection for which libfabric moves nothing.
    fn leave(&self, link: &Arc<Link>, end: Option<End>) {
        self.device.forget(self.number);
        if !link.is_cut() && end.is_some_and(|end| link.leave(end)) {
            self.device.linger(self.number, link.clone());
        } else {
            self.device.let_go(self.number);
        }
    }

    /// Takes the link away from both directions. When it returns nothing touches memory of the program on behalf of the
    /// connection, unless libfabric `moves` bytes that may still arrive before the peer is told of the `end`. All successful
    /// requests are reported if `report` is set.
    fn close(&self, report: bool, end: Option<End>, fatal: Option<Fatal>) -> Closed {
        let before = Phase::from_u8(self.phase.fetch_max(Phase::Dead as u8, Ordering::AcqRel));
        if before == Phase::Accepting {
            self.device.unsettled.fetch_sub(1, Ordering::AcqRel);
        }
        let mut closed = Closed { first: before < Phase::Dead, link: None, moves: false };
        let mut drained = false;
        {
            let mut receiving = self.receiving.lock();
            self.note_stall(false);
            let early = receiving.early.take();
            let link = receiving.rx.close();
            if let Some(mut tx) = self.sink.lock_tx() {
                let done = tx.close();
                drained = closed.first && report && done.is_some_and(|last| tx.request_done(last));
            }
            if let Some(link) = link {
                if let Some((slot, _)) = early {
                    // The end of the peer may come behind it.
                    let _ = link.receive(slot);
                }
                // Another thread that ends the connection comes behind this lock, and is to know what goes on.
                match end.filter(|_| before >= Phase::Accepting) {
                    Some(end) if link.moves() => {
                        self.device.linger(self.number, link.clone());
                        let until = Instant::now() + bulk::PATIENCE;
                        *self.ending.lock() = Some(Ending { link, end, until, fatal });
                        closed.moves = true;
                    }
                    end => {
                        if link.moves() {
                            link.cut();
                        }
                        closed.link = Some((link, end));
                    }
                }
            }
        }
        if drained {
            self.sink.drained();
        }
        closed
    }

    /// Fails the connection from this end. Called without a lock.
    pub fn fail(self: &Arc<Self>, fatal: Fatal) {
        let Closed { first, link, moves } = self.close(true, Some(End::Broken(fatal.peer)), Some(fatal));
        if moves {
            return self.device.command(|work| work.endings.push(self.clone()));
        }
        if let Some((link, end)) = link {
            self.leave(&link, end);
        }
        if first {
            self.sink.failed(fatal.recv, fatal.request);
        }
    }

    /// Ends the connection at once, of which the peer need not be told; false if it had ended before.
    fn kill(&self, report: bool) -> bool {
        let Closed { first, link, .. } = self.close(report, None, None);
        if let Some((link, _)) = link {
            self.leave(&link, None);
        }
        first
    }

    /// The peer has left. Called without a lock.
    pub fn peer_left(self: &Arc<Self>, end: End) {
        let accepting = self.phase() == Phase::Accepting;
        if !self.kill(true) {
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
        if self.phase() <= Phase::Connecting && self.kill(false) {
            self.sink.connection(report);
        }
    }
}
