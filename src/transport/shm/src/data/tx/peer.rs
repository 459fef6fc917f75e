//! Requests of the peer (reads, atomic operations, bytes of messages and writes) and their responses, in the transmit
//! direction.
//!
//! A refused request ends the connection after the responses to all earlier ones. So the requester knows that its
//! oldest outstanding request has failed.

use dat_core::Change;
use dat_core::event::Status;
use dat_core::transport::{Checked, RemoteSegment, RequestId};
use dat_software::records::Fatal;
use dat_software::user::Source;

use super::{Done, Reading, Tx};
use crate::budget::Budget;
use crate::copy;
use crate::peer_segment::{Busy, End};
use crate::responses::{PendingResponse, Wanted};

impl Tx {
    pub(super) fn expect_answer(&mut self, end: &End, reading: Reading) {
        self.reading.push_back(reading);
        end.set_busy(Busy::Reading, true);
    }

    /// Accepts a read of the peer. Returns `false` if the direction is closed or has no room for the response.
    pub fn on_read(&mut self, end: &End, target: RemoteSegment) -> bool {
        self.plain = false;
        let room = !self.closed && self.responses.has_room();
        if room {
            self.responses.owe(PendingResponse::Bytes { target, offset: 0 });
            // A failure is ignored, because the next poll finds and reports it again.
            let _ = self.responses.progress(end, &mut Budget::turn());
            if !self.responses.is_empty() {
                end.repoll();
            }
        }
        room
    }

    /// Executes an atomic operation of the peer, and queues the previous value as the response.
    ///
    /// # Errors
    /// The status if the operation was not executed.
    pub fn on_atomic(&mut self, end: &End, remote: &RemoteSegment, change: Change) -> Result<(), Status> {
        self.plain = false;
        // Room for the response is needed first, because the operation must not be repeated.
        if self.closed || !self.responses.has_room() {
            return Err(Status::RemoteResponder);
        }
        let before = copy::change_for_peer(end, remote, change)?;
        self.responses.owe(PendingResponse::Value(before));
        Ok(())
    }

    /// Refuses the peer's last request after the responses to earlier ones, or if `closing`, at the close. Returns
    /// `false` if there is nothing to wait for, so that the caller must fail the connection now.
    pub fn refuse(&mut self, fatal: Fatal, closing: bool) -> bool {
        let waits = !self.closed && (closing || !self.responses.is_empty());
        if waits {
            self.responses.add_refusal(fatal);
        }
        waits
    }

    /// Queues the bytes from `offset` of the message or write whose record ends at `position`. Returns `false` if the
    /// peer's request violates the protocol: none is in flight there, one is already queued, or it has no bytes from
    /// `offset`.
    pub fn on_fetch(&mut self, position: u64, offset: u64) -> bool {
        if self.closed {
            return true;
        }
        let Some((id, segments, len)) = self.announced_at(position) else { return false };
        self.plain = false;
        self.responses.add_message(Wanted { id, segments, len, offset })
    }

    /// Fails a message or write whose bytes the peer has requested. The failure is reported after all earlier requests
    /// have completed.
    pub(super) fn message_failed(&mut self, end: &End, id: RequestId, status: Status) {
        self.responses.on_done(id);
        if let Some((_, place)) = self.kept_of(id) {
            self.in_flight[place].done = Done::Failed(status);
            self.failed = true;
        }
        end.finish_soon();
    }

    fn announced_at(&self, position: u64) -> Option<(RequestId, Checked, u64)> {
        let (own, place) = self.kept_where(|in_flight| in_flight.done == Done::Announced(position))?;
        let segments: Checked = self.segments.range(own).copied().collect();
        let len = segments.iter().map(|segment| segment.len).sum();
        Some((self.in_flight[place].id, segments, len))
    }

    pub(super) fn help(&mut self, end: &End, budget: &mut Budget) {
        let offer = end.peers_offer();
        let Some((number, part)) = offer.look() else { return };
        let Some((_, segments, len)) = self.announced_at(part.position) else { return };
        // If the offer has false data about the peer's memory, only the peer is harmed.
        let there = part.offset <= len && part.target.len <= len - part.offset;
        if there && budget.whole(end, part.target.len) && offer.take(number) {
            let written = copy::give(end, &segments, &part).is_ok();
            if offer.finish(number, written) {
                end.tell_always();
            }
        }
    }

    /// Stores `bytes`, a response, in the segments of the oldest outstanding read or atomic operation.
    ///
    /// # Errors
    /// The failure with which the connection must end.
    pub fn on_read_data(&mut self, end: &End, bytes: Source<'_>) -> std::result::Result<(), Fatal> {
        let Some(reading) = self.reading.front() else { return Err(Fatal::default()) };
        let (id, len) = (reading.id, bytes.len() as u64);
        if len == 0 || len > reading.len - reading.offset {
            return Err(Fatal::of_request(id, Status::BadResponse));
        }
        let Some((own, place)) = self.kept_of(id) else { return Err(Fatal::default()) };
        let Some(reading) = self.reading.front_mut() else { return Err(Fatal::default()) };
        let last = reading.offset + len == reading.len;
        let segments: Checked = self.segments.range(own).copied().collect();
        if !copy::scatter(end.regions(), &segments, reading.offset, bytes, last) {
            return Err(Fatal::of_request(id, Status::LocalProtection));
        }
        reading.offset += len;
        if last {
            self.in_flight[place].done = Done::Now;
            self.revocable.on_answer(reading.end);
            self.reading.pop_front();
            end.finish_soon();
        }
        Ok(())
    }
}
