//! What the peer asks the sending direction for: reads and atomic operations, the bytes of messages that it cannot
//! read; and what it answers.
//!
//! A read or an atomic operation that the target refuses ends the connection after everything that was asked for
//! earlier was answered: the requester takes its oldest request that is not done for the one that failed.

use dat_core::Change;
use dat_core::event::Status;
use dat_core::transport::{Checked, FailedRequest, RemoteSegment, RequestId};
use dat_memory::user::Source;

use super::{Done, Reading, Tx};
use crate::budget::Budget;
use crate::copy::{self, Outcome};
use crate::peer_segment::{Busy, End};
use crate::responses::{PendingResponse, Wanted};

impl Tx {
    /// The peer answers a request of this side from now on.
    pub(super) fn expect_answer(&mut self, end: &End, reading: Reading) {
        self.reading.push_back(reading);
        end.set_busy(Busy::Reading, true);
    }

    /// Takes a read of the peer that this side has to carry out, and answers as far as it can at once; false if there are
    /// more than it may have.
    pub fn on_read(&mut self, end: &End, target: RemoteSegment) -> bool {
        self.plain = false;
        let room = !self.closed && self.responses.has_room();
        if room {
            self.responses.owe(PendingResponse::Bytes { target, offset: 0 });
            // A failure is found again, and reported, by the next look.
            let _ = self.responses.progress(end, &mut Budget::turn());
            if !self.responses.is_empty() {
                end.repoll();
            }
        }
        room
    }

    /// Carries out an atomic operation of the peer, whose answer is what was there before.
    ///
    /// # Errors
    /// It was not carried out, for this reason.
    pub fn on_atomic(&mut self, end: &End, remote: &RemoteSegment, change: Change) -> Result<(), Status> {
        self.plain = false;
        // There has to be room for the answer first: the operation must not be carried out twice.
        if self.closed || !self.responses.has_room() {
            return Err(Status::RemoteResponder);
        }
        let before = copy::change_for_peer(end, remote, change)?;
        self.responses.owe(PendingResponse::Value(before));
        Ok(())
    }

    /// Refuses a read or an atomic operation of the peer, when all before it are answered: the connection fails then.
    pub fn refuse(&mut self, status: Status) {
        self.plain = false;
        if !self.closed {
            self.responses.add_refusal(status);
        }
    }

    /// The peer cannot read the message whose announcement ends at `position` and asks for its bytes from `offset` on;
    /// false if there is no such message in flight.
    pub fn on_fetch(&mut self, position: u64, offset: u64) -> bool {
        if self.closed {
            return true;
        }
        let Some((id, segments, len)) = self.announced_at(position) else { return false };
        self.plain = false;
        self.responses.add_message(Wanted { id, segments, len, offset })
    }

    /// The announced message in flight whose announcement ends at `position`: its request, its segments, its length.
    fn announced_at(&self, position: u64) -> Option<(RequestId, Checked, u64)> {
        let (own, place) = self.kept_where(|in_flight| in_flight.done == Done::Announced(position))?;
        let segments: Checked = self.segments.range(own).copied().collect();
        let len = segments.iter().map(|segment| segment.len).sum();
        Some((self.in_flight[place].id, segments, len))
    }

    /// Writes the part of an announced message that the peer offers.
    pub(super) fn help(&mut self, end: &End, budget: &mut Budget) {
        let offer = end.peers_offer();
        let Some((number, part)) = offer.look() else { return };
        let Some((_, segments, len)) = self.announced_at(part.position) else { return };
        // What the peer says about its own memory concerns the peer alone.
        let there = part.offset <= len && part.target.len <= len - part.offset;
        if there && budget.whole(end, part.target.len) && offer.take(number) {
            let written = matches!(copy::give(end, &segments, &part), Outcome::Done);
            if offer.finish(number, written) {
                end.tell_of_answers();
            }
        }
    }

    /// Asks the peer for the bytes of a message that it announced, from `offset` on; false if there is no room yet.
    pub fn ask_for(&mut self, end: &End, position: u64, offset: u64) -> bool {
        self.responses.ask_for(end, position, offset)
    }

    /// Takes bytes of the oldest read of this side.
    ///
    /// # Errors
    /// The request that failed, if it is known: the connection cannot go on.
    pub fn on_read_data(
        &mut self,
        end: &End,
        bytes: Source<'_>,
    ) -> std::result::Result<(), Option<(FailedRequest, Status)>> {
        let Some(reading) = self.reading.front() else { return Err(None) };
        let len = bytes.len() as u64;
        if len == 0 || len > reading.len - reading.offset {
            return Err(Some((FailedRequest::Number(reading.id), Status::BadResponse)));
        }
        let id = reading.id;
        let Some((own, place)) = self.kept_of(id) else { return Err(None) };
        let Some(reading) = self.reading.front_mut() else { return Err(None) };
        let last = reading.offset + len == reading.len;
        let segments: Checked = self.segments.range(own).copied().collect();
        if !copy::scatter(end.regions(), &segments, reading.offset, bytes, last) {
            return Err(Some((FailedRequest::Number(reading.id), Status::LocalProtection)));
        }
        reading.offset += len;
        if last {
            self.in_flight[place].done = Done::Now;
            self.shorts.on_answer(reading.end);
            self.reading.pop_front();
            end.finish_soon();
        }
        Ok(())
    }
}
