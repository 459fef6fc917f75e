//! Writes with immediate data, sends that invalidate a window of the peer, and atomic operations.

use dat_core::Change;
use dat_core::transport::{RemoteSegment, Request};
use dat_software::user::Source;

use super::{Done, Reading, StartOutcome, Tx, WaitReason};
use crate::budget::Budget;
use crate::peer_segment::End;
use crate::record::{self, Acknowledge, Header, WORD, kind};
use crate::sleep::Notice;

impl Tx {
    /// Writes the bytes, then puts the immediate value into the ring: a peer that has the value sees the bytes.
    pub(super) fn write_immediate(
        &mut self,
        end: &End,
        remote: &RemoteSegment,
        (value, solicited): (u32, bool),
        request: &Request<'_>,
        budget: &mut Budget,
    ) -> StartOutcome {
        if !self.part.half && remote.len > 0 {
            match self.write(end, remote, request, budget) {
                StartOutcome::Started(Done::Now | Done::At(_)) => self.part.half = true,
                other => return other,
            }
        }
        let acknowledge = Acknowledge::of(request.signalled);
        let header = Header { kind: kind::IMMEDIATE, solicited, acknowledge, aux: remote.len };
        let launch = self.put_bytes(end, header, &value.to_le_bytes());
        if let StartOutcome::Started(_) = launch {
            end.notify_peer(Notice::Record);
        }
        launch
    }

    /// Puts the window's key, then the message, into the ring. Even a short message is a [`kind::MESSAGE_PIECE`] here.
    pub(super) fn send_invalidate(
        &mut self,
        end: &End,
        solicited: bool,
        key: u32,
        request: &Request<'_>,
        budget: &mut Budget,
    ) -> StartOutcome {
        if !self.part.half {
            let header =
                Header { kind: kind::INVALIDATE, solicited: false, acknowledge: Acknowledge::No, aux: request.len };
            match self.put_bytes(end, header, &key.to_le_bytes()) {
                StartOutcome::Started(Done::At(_)) => self.part.half = true,
                other => return other,
            }
        }
        let acknowledge = Acknowledge::of(request.signalled);
        let header = Header { kind: kind::MESSAGE_PIECE, solicited, acknowledge, aux: request.len };
        self.message(end, header, request, budget)
    }

    /// Puts an atomic operation into the ring, even within a process, to keep the order with earlier messages.
    pub(super) fn atomic(
        &mut self,
        end: &End,
        addr: u64,
        key: u32,
        change: Change,
        request: &Request<'_>,
    ) -> StartOutcome {
        if self.reading.len() >= self.reads_out {
            return StartOutcome::Waits(WaitReason::Answer);
        }
        let header = Header { kind: kind::ATOMIC, solicited: false, acknowledge: Acknowledge::Completion, aux: WORD };
        let launch = self.put_bytes(end, header, &record::atomic(addr, key, change));
        if let StartOutcome::Started(Done::At(position)) = launch {
            (self.written, self.revocable.behind) = (position, position);
            end.notify_peer(Notice::Record);
            // As after a write, the peer's program may only be reading the word, without a call.
            if !end.peer_segment.is_local() {
                end.watch_peer(position);
            }
            self.expect_answer(end, Reading { id: request.id, len: WORD, offset: 0, end: position });
            return StartOutcome::Started(Done::Reading);
        }
        launch
    }

    pub(super) fn put_bytes(&mut self, end: &End, header: Header, bytes: &[u8]) -> StartOutcome {
        self.put(end, header, bytes.len(), |room| room.write(Source::of(bytes)) == bytes.len()).into()
    }
}
