//! Arriving messages and RDMA writes: in one record, in pieces, or in the sender's memory.

use arrayvec::ArrayVec;
use dat_core::event::Status;
use dat_core::transport::{MAX_SEGMENTS, RecvDone, Segment};
use dat_memory::user::LastWord;

use super::{
    Advance, Arriving, Fetching, PAGE, Partial, RecordOutcome, SHARED_MIN, Turn, Writing, destination, fail,
    read_place, read_target,
};
use crate::budget::Budget;
use crate::copy::{self, Outcome, Slice};
use crate::offer::{Answer, Part};
use crate::peer_segment::{Busy, End};
use crate::record::{self, EAGER_MAX};
use crate::ring::{Consumer, RecordView};

/// Offers the sender half of the next bytes, up to twice `slice`, of a message of `len` bytes. Returns this side's
/// slice, which follows the sender's; `None` if this side should copy everything.
fn offer(end: &End, number: u64, position: u64, segments: &[Segment], slice: Slice, len: u64) -> Option<Slice> {
    if slice.len < SHARED_MIN {
        return None;
    }
    let offer = end.own_offer()?;
    let offset = slice.offset;
    let both = record::piece(len - offset, 2 * slice.len);
    let part = (both / 2).next_multiple_of(PAGE);
    let (target, zone) = copy::part_of(end.regions(), segments, offset, part)?;
    offer.make(number, &Part { position, offset, target, zone });
    Some(Slice { offset: offset + part, len: both - part, last: offset + both == len })
}

/// Returns the places of a message or write in the peer's memory, from byte `skip` of the payload; `None` if they do
/// not have the record's length.
fn read_places(ring: &Consumer, view: &RecordView, skip: usize) -> Option<ArrayVec<(u64, u64), MAX_SEGMENTS>> {
    let payload = (view.len as usize).checked_sub(skip)?;
    let count = payload / record::PLACE;
    if count > MAX_SEGMENTS || payload % record::PLACE != 0 {
        return None;
    }
    let places: ArrayVec<_, MAX_SEGMENTS> =
        (0..count).map(|at| read_place(ring, view, skip + at * record::PLACE)).collect();
    let sum = places.iter().try_fold(0_u64, |sum, (_, len)| sum.checked_add(*len));
    (sum == Some(view.aux)).then_some(places)
}

impl Arriving {
    /// Takes a receive for a message of `len` bytes. Returns an outcome if that fails.
    #[inline]
    pub(super) fn take(&mut self, turn: &Turn<'_>, len: u64) -> Option<RecordOutcome> {
        match turn.conn.take(&mut self.taken) {
            Ok(true) if len > self.taken.capacity => {
                Some(fail(Some(self.done(Status::LocalLength, 0, false)), Some(Status::RemoteResponder)))
            }
            Ok(true) => None,
            Ok(false) => Some(RecordOutcome::Wait),
            Err(fatal) => Some(RecordOutcome::Fail(fatal)),
        }
    }

    pub(super) fn done(&self, status: Status, len: u64, solicited: bool) -> RecvDone {
        RecvDone { id: self.taken.id, status, len, solicited }
    }

    #[inline]
    pub(super) fn whole_message(&mut self, turn: &Turn<'_>, ring: &Consumer, view: &RecordView) -> RecordOutcome {
        let len = view.aux;
        if len > EAGER_MAX || len != u64::from(view.len) {
            return fail(None, None);
        }
        if let Some(next) = self.take(turn, len) {
            return next;
        }
        let bytes = ring.source(view, 0, view.len as usize);
        if !copy::scatter(turn.end.regions(), self.taken.segments(), 0, bytes, true) {
            return self.fail_recv();
        }
        turn.conn.complete(self.done(Status::Success, len, view.flags & record::SOLICITED != 0));
        RecordOutcome::Consumed
    }

    #[cold]
    pub(super) fn fail_recv(&self) -> RecordOutcome {
        fail(Some(self.done(Status::LocalProtection, 0, false)), Some(Status::RemoteResponder))
    }

    pub(super) fn message_piece(&mut self, turn: &Turn<'_>, ring: &Consumer, view: &RecordView) -> RecordOutcome {
        let bytes = ring.source(view, 0, view.len as usize);
        let len = view.aux;
        if bytes.len() as u64 > EAGER_MAX {
            return fail(None, None);
        }
        let offset = match &self.partial {
            Some(partial) if partial.len == len => partial.offset,
            Some(_) => return fail(None, None),
            None => match self.take(turn, len) {
                Some(next) => return next,
                None => 0,
            },
        };
        let end = offset + bytes.len() as u64;
        if end > len || (bytes.is_empty() && len > 0) {
            return fail(None, None);
        }
        if end == len {
            if let Some(next) = self.revoke(turn) {
                return next;
            }
        }
        if !copy::scatter(turn.end.regions(), self.taken.segments(), offset, bytes, end == len) {
            return self.fail_recv();
        }
        if end == len {
            self.partial = None;
            self.complete(turn, len, view);
        } else {
            self.partial = Some(Partial { len, offset: end });
        }
        RecordOutcome::Consumed
    }

    pub(super) fn remote_message(
        &mut self,
        turn: &Turn<'_>,
        ring: &Consumer,
        view: &RecordView,
        budget: &mut Budget,
    ) -> RecordOutcome {
        let len = view.aux;
        let begun = self.partial.as_ref().is_some_and(|partial| partial.offset == 0 && partial.len == len);
        let places = read_places(ring, view, 0).filter(|_| self.partial.is_none() || begun);
        let Some(places) = places else { return fail(None, None) };
        // If the message has begun, its first record has taken the receive.
        if !begun {
            if let Some(next) = self.take(turn, len) {
                return next;
            }
        }
        self.partial = None;
        self.begin_fetching(None, places, len);
        self.fetch(turn, view, budget)
    }

    pub(super) fn remote_write(
        &mut self,
        turn: &Turn<'_>,
        ring: &Consumer,
        view: &RecordView,
        budget: &mut Budget,
    ) -> RecordOutcome {
        let len = view.aux;
        let Some(places) = read_places(ring, view, record::TARGET) else { return fail(None, None) };
        let target = read_target(ring, view);
        if target.len != len || self.partial.is_some() || self.writing.is_some() {
            return fail(None, None);
        }
        let Some(segment) = copy::granted(turn.end, &target) else { return fail(None, Some(Status::RemoteAccess)) };
        self.begin_fetching(Some(segment), places, len);
        self.fetch(turn, view, budget)
    }

    fn begin_fetching(&mut self, into: Option<Segment>, places: ArrayVec<(u64, u64), MAX_SEGMENTS>, len: u64) {
        self.fetching = Some(Fetching { into, places, len, offset: 0, asked: false, offered: None, ahead: None });
    }

    /// Continues to fetch a message: in slices, with or without the sender's help, or by requesting the bytes from the
    /// sender.
    #[cold]
    pub(super) fn fetch(&mut self, turn: &Turn<'_>, view: &RecordView, budget: &mut Budget) -> RecordOutcome {
        let Some(fetching) = &mut self.fetching else { return RecordOutcome::Wait };
        let (end, into, len) = (turn.end, fetching.into, fetching.len);
        let segments = destination(&into, &self.taken);
        while fetching.offset < len {
            if fetching.asked || turn.advance == Advance::Drain {
                return RecordOutcome::Wait;
            }
            if let Some(to) = fetching.offered {
                match end.offered().resolve(self.offered) {
                    Answer::Awaited => return RecordOutcome::Wait,
                    Answer::Written => fetching.offset = to,
                    Answer::Untaken => {}
                    Answer::Corrupt => return fail(None, None),
                }
                fetching.offered = None;
            }
            let offset = fetching.offset;
            let (now, outcome) = match fetching.ahead {
                Some((slice, word)) if slice.offset == offset => {
                    fetching.ahead = None;
                    (slice.len, copy::end_ahead(end, segments, slice, word))
                }
                ahead => {
                    let to = ahead.map_or(len, |(slice, _)| slice.offset);
                    let now = if end.peer_segment.reads_peer.get() {
                        budget.slice_of_message(end, to - offset)
                    } else {
                        Some(0)
                    };
                    let Some(now) = now else { return RecordOutcome::Again };
                    let slice = Slice { offset, len: now, last: offset + now == len };
                    if ahead.is_none() {
                        if let Some(slice) = offer(end, self.offered + 1, view.end(), segments, slice, len) {
                            self.offered += 1;
                            let mut word = LastWord::default();
                            let read = copy::fetch_ahead(end, &fetching.places, segments, slice, &mut word);
                            fetching.offered = Some(slice.offset);
                            match read {
                                Outcome::Done => fetching.ahead = Some((slice, word)),
                                // The next iteration resolves the offer, then fails or asks the sender.
                                Outcome::Refused => {}
                                failed => return self.fetch_failed(failed),
                            }
                            continue;
                        }
                    }
                    (now, copy::fetch(end, &fetching.places, segments, slice))
                }
            };
            match outcome {
                Outcome::Done => fetching.offset += now,
                Outcome::Refused => {
                    fetching.ahead = None;
                    // Without room for the request, this side asks again after a notification or a poll.
                    let asked = turn.conn.with_tx(|tx| tx.ask_for(end, view.end(), offset));
                    fetching.asked = asked.unwrap_or(false);
                    end.set_busy(Busy::Asking, !fetching.asked);
                    return RecordOutcome::Wait;
                }
                failed => return self.fetch_failed(failed),
            }
        }
        if into.is_none() {
            if let Some(next) = self.revoke(turn) {
                return next;
            }
            self.complete(turn, len, view);
        }
        self.fetching = None;
        RecordOutcome::Consumed
    }

    #[cold]
    pub(super) fn fetch_failed(&self, outcome: Outcome) -> RecordOutcome {
        let write = self.fetching.as_ref().is_some_and(|fetching| fetching.into.is_some());
        match outcome {
            Outcome::Failed(_) if write => fail(None, Some(Status::RemoteAccess)),
            Outcome::Failed(status) => fail(Some(self.done(status, 0, false)), Some(Status::RemoteResponder)),
            _ => RecordOutcome::Stop,
        }
    }

    pub(super) fn write_piece(&mut self, end: &End, ring: &Consumer, view: &RecordView) -> RecordOutcome {
        let payload = ring.source(view, 0, view.len as usize);
        let (writing, bytes) = match self.writing.take() {
            Some(writing) => (writing, payload),
            None if payload.len() < record::TARGET => return fail(None, None),
            None => (Writing { target: read_target(ring, view), offset: 0 }, payload.split(record::TARGET).1),
        };
        if writing.target.len != view.aux || bytes.is_empty() {
            return fail(None, None);
        }
        if !copy::write_for_peer(end, &writing.target, writing.offset, bytes) {
            return fail(None, Some(Status::RemoteAccess));
        }
        let offset = writing.offset + bytes.len() as u64;
        if offset < writing.target.len {
            self.writing = Some(Writing { offset, ..writing });
        }
        RecordOutcome::Consumed
    }
}
