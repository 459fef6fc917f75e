//! The end of a connection, by either side.

use std::sync::atomic::Ordering;

use dat_core::transport::{ConnectionReport, FailedRequest};
use dat_memory::records::Fatal;

use super::{Conn, Phase};
use crate::record::End;

impl Conn {
    /// Ends the connection for the program. Afterwards, it calls no sink and uses no memory of the program.
    pub fn disconnect(&self, end: End) {
        self.close(false, Some(end));
    }

    /// Detaches the stream, and sends `end` to the peer. With `report`, reports all completed requests. Returns whether
    /// the connection had not ended before.
    fn close(&self, report: bool, end: Option<End>) -> bool {
        let before = Phase::from_u8(self.phase.fetch_max(Phase::Dead as u8, Ordering::AcqRel));
        if before == Phase::Accepting {
            self.device.unsettled.fetch_sub(1, Ordering::AcqRel);
        }
        let first = before < Phase::Dead;
        let mut drained = false;
        // Without a stream, no later call uses memory of the program.
        let left = {
            let mut receiving = self.receiving.lock();
            self.base.note_stall(false);
            let stream = receiving.close();
            if let Some(mut tx) = self.base.sink.lock_tx() {
                let done = tx.close();
                self.note_request_stall(&tx);
                drained = first && report && done.is_some_and(|last| tx.request_done(last));
            }
            stream.filter(|stream| stream.leave(end.filter(|_| before >= Phase::Accepting)))
        };
        self.device.forget(self.number);
        if let Some(stream) = left {
            self.device.linger(self.number, stream);
        }
        if drained {
            self.base.sink.drained();
        }
        first
    }

    /// Ends the connection after a local failure. Called without a lock.
    pub fn fail(&self, fatal: Fatal) {
        if self.close(true, Some(End::Broken(fatal.peer))) {
            self.base.sink.failed(fatal.recv, fatal.request);
        }
    }

    /// Ends the connection after the peer's end. Called without a lock.
    pub fn peer_left(&self, end: End) {
        let accepting = self.phase() == Phase::Accepting;
        if !self.close(true, None) {
            return;
        }
        match end {
            _ if accepting => self.base.sink.connection(ConnectionReport::AcceptFailed),
            End::Disconnected => self.base.sink.connection(ConnectionReport::Disconnected),
            End::Broken(None) => self.base.sink.connection(ConnectionReport::Broken),
            End::Broken(Some(status)) => self.base.sink.failed(None, Some((FailedRequest::Oldest, status))),
        }
    }

    /// Ends a connection attempt with a report. Called without a lock.
    pub fn give_up(&self, report: ConnectionReport) {
        if self.phase() <= Phase::Connecting && self.close(false, None) {
            self.base.sink.connection(report);
        }
    }
}
