//! Short writes and reads in records that can be revoked, so that either side can execute them.
//!
//! A copy by the kernel takes more than a microsecond; a ring record that the peer polls takes a cache line. So short
//! writes and reads use the ring while the peer consumes them in time. If the peer's position does not move for five
//! microseconds while such a record waits, this side revokes the records in order ([`Claim`](crate::claim::Claim)), and
//! copies. Polls check the time, and the [`guard`](crate::guard) schedules polls. An atomic operation cannot be
//! revoked, so later records wait for the peer. A record whose copy fails is left to the peer.
//!
//! A revoked record stays in the ring until the peer passes it. Until then, writes and reads use the kernel, unless
//! they must follow a record. So a peer that polls rarely costs one revocation per poll. A revoked record is complete
//! when the peer has consumed all earlier records that are neither revocable nor
//! [`NOTHING`](crate::record::kind::NOTHING).

use std::collections::VecDeque;
use std::ops::Range;

use arrayvec::ArrayVec;
use dat_core::transport::{
    Checked, Handed, MAX_SEGMENTS, Operation, RemoteSegment, Request, RequestId, Segment, SeqNo,
};

use super::launch::places_of;
use super::{Done, Reading, StartOutcome, Tx, TxInFlight};
use crate::copy::{self, Copied, CopyError, Slice};
use crate::guard::POSTPONE_AFTER;
use crate::peer_segment::{Busy, End};
use crate::record::{self, Acknowledge, Header, TARGET, kind};
use crate::ring::SMALL;
use crate::sleep::Notice;

#[derive(Clone, Copy)]
enum What {
    Write,
    Read(RequestId),
    LongWrite(RequestId),
}

/// A revocable record that the peer may not have consumed.
#[derive(Clone, Copy)]
pub(super) struct Revocable {
    end: u64,
    /// End of the last earlier record that is not revocable. The peer must consume it before this record is complete.
    after: u64,
    /// End of the last earlier record that changes the peer's memory and cannot be revoked. The peer must consume it
    /// before this record is revoked.
    behind: u64,
    target: RemoteSegment,
    what: What,
    /// Set once the record is revoked and copied.
    done: bool,
}

#[derive(Default)]
pub(super) struct RevocableRecords {
    pub(super) records: VecDeque<Revocable>,
    /// End of the last revocable record, or of the empty record that follows it.
    tail: u64,
    /// [`Revocable::after`] of the last revocable record.
    after: u64,
    /// End of the last record that changes the peer's memory and cannot be revoked.
    pub(super) behind: u64,
    /// End of the last revoked and copied record: all earlier changes of the peer's memory are done.
    pub(super) done: u64,
    /// End of the last read whose response has arrived, which shows that the peer has consumed all earlier records.
    answered: u64,
    seen: u64,
    /// Set while this side may revoke records; otherwise the peer must first consume a record.
    mine: bool,
}

impl RevocableRecords {
    /// Returns the position up to which records are complete if the peer has consumed the ring up to `consumed`.
    #[inline]
    pub(super) fn reach(&self, consumed: u64) -> u64 {
        let consumed = consumed.max(self.answered);
        let mut reach = consumed;
        for record in &self.records {
            if !record.done || record.after > consumed {
                return reach;
            }
            reach = record.end.max(reach);
        }
        if self.records.is_empty() { reach } else { reach.max(self.tail) }
    }

    /// Removes the consumed records. Returns their number, where a long write counts as [`POSTPONE_AFTER`].
    fn pass(&mut self, consumed: u64) -> u32 {
        let mut count = 0;
        while let Some(record) = self.records.front().filter(|record| record.end <= consumed) {
            count += if let What::LongWrite(_) = record.what { POSTPONE_AFTER } else { 1 };
            self.records.pop_front();
        }
        count
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.records.len() == self.records.capacity()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub(super) fn on_answer(&mut self, end: u64) {
        self.answered = self.answered.max(end);
    }

    /// Notes an empty record from position `tail` to `end`, which does not delay the completion of revocable records.
    pub(super) fn on_empty_record(&mut self, tail: u64, end: u64) {
        if self.tail == tail {
            self.tail = end;
        }
    }
}

impl Tx {
    /// Returns whether one more revocable record has room. Revoked records count until the peer passes them.
    #[inline]
    pub(super) fn has_room_for_revocable(&mut self, end: &End) -> bool {
        if self.revocable.is_full() {
            if let Some(Ok(consumed)) = self.tx_ring.consumed() {
                self.revocable.pass(consumed);
                if self.revocable.is_empty() {
                    end.set_busy(Busy::Revocable, false);
                    end.pending_records.set_revocable(false);
                    end.pending_records.set_begun(false);
                }
            }
        }
        !self.revocable.is_full()
    }

    /// Returns whether the peer should execute a short write or read: the peer is awake and has passed all revoked
    /// records, and one more record has room.
    #[inline]
    pub(super) fn is_left_to_peer(&mut self, end: &End) -> bool {
        !end.peer_sleeps() && self.has_room_for_revocable(end) && self.tx_ring.has_consumed(self.revocable.done)
    }

    /// Executes a write that fits a record: within this process immediately, otherwise through the ring, if the peer
    /// should execute it. Returns `None` if the write must wait, fails, or needs another path.
    #[inline(always)]
    pub(super) fn try_revocable_write(
        &mut self,
        end: &End,
        remote: &RemoteSegment,
        request: &Request<'_>,
    ) -> Option<Handed> {
        let remote = &RemoteSegment { len: request.len, ..*remote };
        if end.peer_segment.is_local() {
            return self.try_write_to_self(end, remote, request);
        }
        if remote.len == 0
            || !end.peer_segment.reads_peer.get()
            || copy::tail_of_write(end, remote) > 0
            || !self.is_left_to_peer(end)
        {
            return None;
        }
        match self.short_write(end, remote, request) {
            StartOutcome::Started(Done::At(position)) => Some(Handed::under_way(SeqNo(position + self.entries))),
            _ => None,
        }
    }

    /// Executes a write within this process. Returns `None` if other requests are outstanding, or if the write fails.
    #[inline(always)]
    fn try_write_to_self(&mut self, end: &End, remote: &RemoteSegment, request: &Request<'_>) -> Option<Handed> {
        let is_first = self.plain && self.tx_ring.known() == Some(self.tx_ring.tail());
        let whole = Slice { offset: 0, len: remote.len, last: true };
        if !is_first || remote.len == 0 || copy::to_self(end, remote, request.segments, whole).is_err() {
            return None;
        }
        self.passed += 1;
        Some(Handed { mark: SeqNo(self.next_mark()), done: true })
    }

    #[inline]
    pub(super) fn short_write(&mut self, end: &End, remote: &RemoteSegment, request: &Request<'_>) -> StartOutcome {
        let (len, acknowledge) = (remote.len, Acknowledge::of(request.signalled));
        let header = Header { kind: kind::SHORT_WRITE, solicited: false, acknowledge, aux: len };
        let before = self.tx_ring.tail();
        let launch = match self.put_small_write(end, header, remote, request) {
            Some(position) => StartOutcome::Started(Done::At(position)),
            None => self.put_part(end, header, &record::target(remote), request, [0, len]).into(),
        };
        if let StartOutcome::Started(Done::At(position)) = launch {
            end.notify_peer(Notice::Record);
            self.written = position;
            self.add_revocable(end, [before, position], remote, What::Write);
        }
        launch
    }

    /// Puts a write into the ring as a small record; `None` if it does not fit or no room is known.
    #[inline(always)]
    fn put_small_write(
        &mut self,
        end: &End,
        header: Header,
        remote: &RemoteSegment,
        request: &Request<'_>,
    ) -> Option<u64> {
        let [segment] = request.segments else { return None };
        if remote.len as usize > SMALL - TARGET {
            return None;
        }
        let own = end.regions().acquire(segment.key as u32)?;
        let bytes = copy::source(&own, segment, 0, remote.len);
        if bytes.len() as u64 != remote.len {
            return None;
        }
        let position = self.tx_ring.put_small(end, header, record::target_words(remote), bytes)?;
        self.note_wanted(end, position);
        Some(position)
    }

    /// Puts a revocable read into the ring; `None` if there is no room.
    #[inline]
    pub(super) fn short_read(
        &mut self,
        end: &End,
        remote: &RemoteSegment,
        request: &Request<'_>,
    ) -> Option<StartOutcome> {
        let target = record::target(remote);
        // No acknowledgement is needed, because the response shows that the peer has consumed the record.
        let acknowledge = Acknowledge::No;
        let header = Header { kind: kind::SHORT_READ, solicited: false, acknowledge, aux: remote.len };
        let before = self.tx_ring.tail();
        let StartOutcome::Started(Done::At(position)) = self.put_bytes(end, header, &target) else { return None };
        end.notify_peer(Notice::Record);
        self.expect_answer(end, Reading { id: request.id, len: remote.len, offset: 0, end: position });
        self.add_revocable(end, [before, position], remote, What::Read(request.id));
        Some(StartOutcome::Started(Done::Reading))
    }

    /// Sends a write whose bytes the peer may read itself; `None` if the target forbids that or the ring has no room.
    pub(super) fn remote_write(
        &mut self,
        end: &End,
        remote: &RemoteSegment,
        request: &Request<'_>,
    ) -> Option<StartOutcome> {
        let (len, Operation::Write(_)) = (remote.len, request.operation) else { return None };
        if !copy::may_announce(end, remote) {
            return None;
        }
        let mut payload = ArrayVec::<u8, { (1 + MAX_SEGMENTS) * TARGET }>::new();
        payload.extend(record::target(remote));
        payload.extend(places_of(request.segments).into_iter().flatten());
        let acknowledge = Acknowledge::of(request.signalled);
        let header = Header { kind: kind::REMOTE_WRITE, solicited: false, acknowledge, aux: len };
        let before = self.tx_ring.tail();
        let StartOutcome::Started(Done::At(position)) = self.put_bytes(end, header, &payload) else { return None };
        end.notify_peer(Notice::Record);
        self.written = position;
        self.add_revocable(end, [before, position], remote, What::LongWrite(request.id));
        Some(StartOutcome::Started(Done::Announced(position)))
    }

    #[inline]
    fn add_revocable(&mut self, end: &End, [before, position]: [u64; 2], target: &RemoteSegment, what: What) {
        let revocable = &mut self.revocable;
        if revocable.tail != before {
            revocable.after = before;
        }
        revocable.tail = position;
        if revocable.records.back().is_none_or(|last| last.done) {
            revocable.mine = true;
            revocable.seen = before;
            end.pending_records.clear_due();
            end.set_busy(Busy::Revocable, true);
            end.pending_records.set_revocable(true);
        }
        let (after, behind) = (revocable.after, revocable.behind);
        revocable.records.push_back(Revocable { end: position, after, behind, target: *target, what, done: false });
        end.watch(position);
        end.look_in_passing();
    }

    #[inline(never)]
    pub(super) fn reach(&mut self, end: &End, consumed: u64) -> u64 {
        self.check_revocable(end, consumed);
        self.revocable.reach(consumed)
    }

    pub(super) fn check_revocable(&mut self, end: &End, consumed: u64) {
        let executed = self.revocable.pass(consumed);
        if !self.revocable.records.is_empty() {
            if consumed != self.revocable.seen {
                (self.revocable.seen, self.revocable.mine) = (consumed, true);
                end.pending_records.clear_due();
            } else if end.pending_records.is_due() {
                let reads = self.reading.len();
                self.revocable.mine = self.take_back(end, consumed);
                // A revoked read has no response to show that earlier records are consumed. So this side requests a
                // notification.
                if self.reading.len() < reads && !self.ask(end, Acknowledge::Completion) {
                    end.repoll();
                }
            }
        }
        let open = self.revocable.records.iter().any(|record| !record.done);
        end.set_busy(Busy::Revocable, open);
        let mine = self.revocable.mine;
        // If this side may not revoke, the progress thread instead wakes the peer, which then notifies this side.
        end.pending_records.set_revocable(open && mine);
        end.pending_records.set_begun(open && !mine);
        if executed > 0 {
            end.control().guard.note_executed(executed);
        }
        if open && mine {
            end.look_in_passing();
        } else if open && !self.ask(end, Acknowledge::Needed) {
            end.repoll();
        }
    }

    /// Revokes and copies the records after position `consumed`, or some of them. Returns `false` if the peer must
    /// consume a record before this side can continue.
    #[cold]
    fn take_back(&mut self, end: &End, consumed: u64) -> bool {
        end.pending_records.set_due();
        for at in 0..self.revocable.records.len() {
            let record = self.revocable.records[at];
            if record.done {
                continue;
            }
            if record.behind > consumed {
                return false;
            }
            if !end.own_claim().take_back(record.end) {
                // The peer has claimed this record, and is executing it.
                return false;
            }
            let outcome = match record.what {
                What::Write => self.copy_write(end, &record),
                What::Read(id) => self.copy_kept(end, id, &record.target, copy::from_peer),
                What::LongWrite(id) => self.copy_kept(end, id, &record.target, copy::to_peer),
            };
            if outcome.is_ok() {
                end.own_claim().finish(record.end);
                self.revocable.records[at].done = true;
                self.revocable.done = record.end;
                end.tell_always();
                if let What::LongWrite(_) = record.what {
                    // The next poll continues, so that other connections get their turn first.
                    end.pending_records.set_overdue();
                    return true;
                }
                if at + 1 < self.revocable.records.len() && self.tx_ring.consumed() != Some(Ok(consumed)) {
                    return true;
                }
                continue;
            }
            // The copy failed: leave this and all later records to the peer.
            end.own_claim().give_back(record.end);
            self.revocable.records.truncate(at);
            self.revocable.tail = 0;
            self.revocable.behind = self.tx_ring.tail();
            end.tell_always();
            return false;
        }
        true
    }

    fn copy_write(&self, end: &End, record: &Revocable) -> Copied {
        let payload = self.tx_ring.payload(record.end, TARGET + record.target.len as usize);
        let bytes = payload.ok_or(CopyError::PeerGone)?;
        copy::bytes_to_peer(end, bytes.split(TARGET).1, &record.target)
    }

    /// Copies the kept segments of request `id` to or from the peer's memory, and completes the request.
    fn copy_kept(
        &mut self,
        end: &End,
        id: RequestId,
        remote: &RemoteSegment,
        copy: impl FnOnce(&End, &RemoteSegment, &[Segment], Slice) -> Copied,
    ) -> Copied {
        let (own, place) = self.kept_of(id).ok_or(CopyError::PeerGone)?;
        let segments: Checked = self.segments.range(own).copied().collect();
        copy(end, remote, &segments, Slice { offset: 0, len: remote.len, last: true })?;
        if let Done::Announced(_) = std::mem::replace(&mut self.in_flight[place].done, Done::Now) {
            self.announced -= 1;
        }
        self.reading.retain(|reading| reading.id != id);
        Ok(())
    }

    /// Returns the range of a request's segments in [`Tx::segments`], and the index of its entry in [`Tx::in_flight`].
    pub(super) fn kept_of(&self, id: RequestId) -> Option<(Range<usize>, usize)> {
        self.kept_where(|in_flight| in_flight.id == id)
    }

    pub(super) fn kept_where(&self, is_it: impl Fn(&TxInFlight) -> bool) -> Option<(Range<usize>, usize)> {
        let mut first = 0;
        for (place, in_flight) in self.in_flight.iter().enumerate() {
            if is_it(in_flight) {
                return Some((first..first + in_flight.kept, place));
            }
            first += in_flight.kept;
        }
        None
    }
}
