//! Short writes and reads that either side can carry out.
//!
//! To copy by the kernel takes more than a microsecond, however few the bytes; a record in a ring that the peer looks at takes
//! a cache line. So a short write or read goes into the ring while the peer gets to such records in time, and to the kernel
//! for a while when it does not ([`Trust`]). Whether it is in time is a question of its position: if that does not move for
//! five microseconds while such a record waits, this side takes them back, in order ([`Claim`](crate::claim::Claim)), and copies
//! what they say. It looks at the time when it posts another one, when it polls, and otherwise the progress thread does
//! ([`guard`](crate::guard)). A record that changes the peer's memory and that this side cannot take back, such as an
//! atomic operation, holds up those behind it. If a copy fails, the record is left to the peer, which has the last word on
//! its memory.
//!
//! A record that was taken back stays in the ring until the peer passes it. It is complete as soon as the peer has consumed
//! all before it that is neither short nor [`NOTHING`](crate::record::kind::NOTHING).

use std::collections::VecDeque;
use std::ops::Range;

use arrayvec::ArrayVec;
use dat_core::error::Result;
use dat_core::transport::{Checked, MAX_SEGMENTS, Operation, RemoteSegment, Request, RequestId, Segment};
use dat_memory::user::Source;
use host::memory::Room;

use super::launch::places_of;
use super::{Done, Reading, StartOutcome, Tx, TxInFlight};
use crate::copy::{self, Outcome, Slice};
use crate::guard::Trust;
use crate::peer_segment::{Busy, End};
use crate::record::{self, Acknowledge, EAGER_MAX, Header, PLACE, TARGET, kind};
use crate::ring::SMALL;
use crate::rx::SHARED_MIN;
use crate::sleep::News;

/// Writes and reads of which one is tried with a peer that calls and does not poll the connection: at first, and the most.
const PROBE_MIN: u32 = 1;
const PROBE_MAX: u32 = 256;

/// The most that go to the kernel after some had to be taken back from a peer that polls. That costs five microseconds and the
/// kernel's copy, so a target that never looks costs two in a hundred of the time.
const WARY_MAX: u32 = 256;

/// The longest write that both sides may copy. A longer one would be taken back in one piece.
const LONG_MAX: u64 = 4 * 1024 * 1024;

/// What a record asks for.
#[derive(Clone, Copy)]
enum What {
    /// A write with its bytes.
    Write,
    /// This read.
    Read(RequestId),
    /// This write, whose bytes are in the memory of this process.
    LongWrite(RequestId),
}

/// A record that the peer is not known to have consumed.
#[derive(Clone, Copy)]
struct Short {
    /// Where it ends.
    end: u64,
    /// Where the last record ends before it that is not one of these.
    after: u64,
    /// Where the last record ends before it that changes the peer's memory and cannot be taken back.
    behind: u64,
    target: RemoteSegment,
    what: What,
    /// It was taken back, and is done.
    done: bool,
}

/// The short writes and reads in flight.
#[derive(Default)]
pub(super) struct Shorts {
    records: VecDeque<Short>,
    /// Where the last of them ends, or the empty record behind it, and what it is after.
    tail: u64,
    after: u64,
    /// End of the last record that changes the peer's memory and cannot be taken back.
    pub(super) behind: u64,
    /// All records that change the peer's memory and end here or before are done.
    done: u64,
    /// Where the last read ends that the peer has answered: it has handled all before.
    answered: u64,
    /// Where the peer was at the last look.
    seen: u64,
    /// This side takes back those that the peer does not get to; otherwise the peer has to get to one first.
    mine: bool,
    /// Some had to be taken back from a peer that polls since the last post.
    late: bool,
    trust: Trust,
    /// Writes and reads until one is tried with a peer that does not poll, and then until the next one.
    until_probe: u32,
    probe: u32,
}

impl Shorts {
    /// Makes room for this many more.
    pub(super) fn room(&mut self, requests: usize) -> Result<()> {
        Ok(self.records.room(requests)?)
    }

    /// Forgets them, because the connection is over.
    pub(super) fn close(&mut self) {
        self.records = VecDeque::new();
    }

    /// True if all records that change the peer's memory are done up to `position`.
    pub(super) fn are_done(&self, position: u64) -> bool {
        self.done >= position
    }

    /// The end of the records that are complete if the peer has consumed those up to `consumed`.
    #[inline]
    pub(super) fn reach(&self, consumed: u64) -> u64 {
        let consumed = consumed.max(self.answered);
        let mut reach = consumed;
        for short in &self.records {
            if !short.done || short.after > consumed {
                return reach;
            }
            reach = short.end.max(reach);
        }
        // With all done, so are the empty records behind them.
        if self.records.is_empty() { reach } else { reach.max(self.tail) }
    }

    /// Forgets those that the peer has consumed.
    fn pass(&mut self, consumed: u64) {
        while self.records.front().is_some_and(|short| short.end <= consumed) {
            self.records.pop_front();
        }
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.records.len() == self.records.capacity()
    }

    /// True if there are none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The peer has answered the read whose record ends at `end`.
    pub(super) fn on_answer(&mut self, end: u64) {
        self.answered = self.answered.max(end);
    }

    /// An empty record was put behind the one that ended at `tail`, and ends at `end`.
    pub(super) fn on_empty_record(&mut self, tail: u64, end: u64) {
        if self.tail == tail {
            self.tail = end;
        }
    }
}

impl Tx {
    /// True if there is room for another one. Those that were taken back have one until the peer passes them.
    #[inline]
    fn has_room_for_short(&mut self, end: &End) -> bool {
        if self.shorts.is_full() {
            if let Some(Ok(consumed)) = self.tx_ring.consumed() {
                self.shorts.pass(consumed);
                if self.shorts.is_empty() {
                    end.set_busy(Busy::Short, false);
                    end.owed.set_short(false);
                }
            }
        }
        !self.shorts.is_full()
    }

    /// Whether a short write or read is left to the peer.
    #[inline]
    pub(super) fn is_left_to_peer(&mut self, end: &End) -> bool {
        // A peer that sleeps does not look.
        if end.peer_sleeps() || !self.has_room_for_short(end) {
            return false;
        }
        let Shorts { trust, late, until_probe, probe, .. } = &mut self.shorts;
        if end.peer_polls() {
            *probe = PROBE_MIN;
            return trust.after(std::mem::take(late), WARY_MAX);
        }
        // One that calls, but does not poll the connection, begins to when it has found something several times.
        if *until_probe > 0 {
            *until_probe -= 1;
            return false;
        }
        *until_probe = *probe;
        *probe = (2 * *probe).clamp(PROBE_MIN, PROBE_MAX);
        true
    }

    /// The same, asked once for a request that may be attempted several times.
    pub(super) fn is_once_left_to_peer(&mut self, end: &End) -> bool {
        let left = self.part.left.unwrap_or_else(|| self.is_left_to_peer(end));
        self.part.left = Some(left);
        left && self.has_room_for_short(end)
    }

    /// Whether a short write or read goes into the ring: also one that has to come behind a record that is not done.
    pub(super) fn is_for_ring(&mut self, end: &End) -> bool {
        self.is_once_left_to_peer(end) || (self.has_room_for_short(end) && self.is_behind_write())
    }

    /// Puts a write into the ring that the peer is to carry out, if it is one, and left to it; gives where it ends.
    #[inline]
    pub(super) fn try_short_write(&mut self, end: &End, request: &Request<'_>) -> Option<u64> {
        let Operation::Write(remote) = request.operation else { return None };
        let remote = RemoteSegment { len: request.len, ..remote };
        if !(1..=EAGER_MAX).contains(&remote.len)
            || end.peer_segment.is_local()
            || !end.peer_segment.reads_peer.get()
            || copy::tail_of_write(end, &remote) > 0
            || !self.is_left_to_peer(end)
        {
            return None;
        }
        match self.short_write(end, &remote, request) {
            StartOutcome::TxInFlight(Done::At(position)) => Some(position),
            _ => None,
        }
    }

    /// Puts a write into the ring that either side can carry out.
    #[inline]
    pub(super) fn short_write(&mut self, end: &End, remote: &RemoteSegment, request: &Request<'_>) -> StartOutcome {
        let (len, acknowledge) = (remote.len, Acknowledge::of(request.signalled));
        let header = Header { kind: kind::SHORT_WRITE, solicited: false, acknowledge, aux: len };
        let before = self.tx_ring.tail();
        let launch = match self.put_small_write(end, header, remote, request) {
            Some(position) => StartOutcome::TxInFlight(Done::At(position)),
            None => self.put_part(end, header, &record::target(remote.addr, remote.key, len), request, [0, len]).into(),
        };
        if let StartOutcome::TxInFlight(Done::At(position)) = launch {
            end.tell_peer(News::Record);
            self.written = position;
            self.add_short(end, [before, position], remote, What::Write);
        }
        launch
    }

    /// Puts a write into the ring that is a small record; `None` if it takes more, or there is no room as far as is known.
    #[inline(always)]
    fn put_small_write(
        &mut self,
        end: &End,
        header: Header,
        remote: &RemoteSegment,
        request: &Request<'_>,
    ) -> Option<u64> {
        if remote.len as usize > SMALL - TARGET || request.segments.len() != 1 {
            return None;
        }
        let head = record::target_words(remote.addr, remote.key, remote.len);
        let mut position = None;
        let put = |bytes: Source<'_>| {
            if bytes.len() as u64 == remote.len {
                position = self.tx_ring.put_small(end, header, head, bytes);
            }
        };
        copy::gather(end.regions(), request.segments, 0, remote.len, put);
        self.note_wanted(end, position?);
        position
    }

    /// Puts a read into the ring that either side can carry out; `None` if there is no room.
    #[inline]
    pub(super) fn short_read(
        &mut self,
        end: &End,
        remote: &RemoteSegment,
        request: &Request<'_>,
    ) -> Option<StartOutcome> {
        let target = record::target(remote.addr, remote.key, remote.len);
        // The answer says as much as the peer's position.
        let acknowledge = Acknowledge::No;
        let header = Header { kind: kind::SHORT_READ, solicited: false, acknowledge, aux: remote.len };
        let before = self.tx_ring.tail();
        let StartOutcome::TxInFlight(Done::At(position)) = self.put_bytes(end, header, &target) else { return None };
        end.tell_peer(News::Record);
        self.expect_answer(end, Reading { id: request.id, len: remote.len, offset: 0, end: position });
        self.add_short(end, [before, position], remote, What::Read(request.id));
        Some(StartOutcome::TxInFlight(Done::Reading))
    }

    /// Announces a write to the peer, which reads its bytes by itself, so that both sides can copy. `None` if that is not to be,
    /// because the peer does not look, or it does not pay.
    pub(super) fn remote_write(
        &mut self,
        end: &End,
        remote: &RemoteSegment,
        request: &Request<'_>,
    ) -> Option<StartOutcome> {
        let (RemoteSegment { addr, len, key }, Operation::Write(_)) = (*remote, request.operation) else { return None };
        if !(SHARED_MIN..=LONG_MAX).contains(&len)
            || !end.peer_segment.peer_reads.get()
            || !copy::may_announce(end, remote)
        {
            return None;
        }
        let mut payload = ArrayVec::<u8, { TARGET + MAX_SEGMENTS * PLACE }>::new();
        payload.extend(record::target(addr, key, len));
        payload.extend(places_of(request.segments).into_iter().flatten());
        let acknowledge = Acknowledge::of(request.signalled);
        let header = Header { kind: kind::REMOTE_WRITE, solicited: false, acknowledge, aux: len };
        let before = self.tx_ring.tail();
        let StartOutcome::TxInFlight(Done::At(position)) = self.put_bytes(end, header, &payload) else { return None };
        end.tell_peer(News::Record);
        self.written = position;
        self.add_short(end, [before, position], remote, What::LongWrite(request.id));
        Some(StartOutcome::TxInFlight(Done::Announced(position)))
    }

    /// Keeps the last record in the ring, which ends at `position`; the one before it ends at `before`.
    #[inline]
    fn add_short(&mut self, end: &End, [before, position]: [u64; 2], target: &RemoteSegment, what: What) {
        let shorts = &mut self.shorts;
        if shorts.tail != before {
            shorts.after = before;
        }
        shorts.tail = position;
        if shorts.records.back().is_none_or(|last| last.done) {
            shorts.mine = true;
            shorts.seen = before;
            end.set_due();
            end.set_busy(Busy::Short, true);
            end.owed.set_short(true);
        }
        let (after, behind) = (shorts.after, shorts.behind);
        shorts.records.push_back(Short { end: position, after, behind, target: *target, what, done: false });
        if !end.control().guard.watch(&end.owed, position) {
            end.wake_peer_thread();
        }
        end.look_in_passing();
    }

    /// [`Tx::check_shorts`], and then [`Shorts::reach`].
    #[inline(never)]
    pub(super) fn reach(&mut self, end: &End, consumed: u64) -> u64 {
        self.check_shorts(end, consumed);
        self.shorts.reach(consumed)
    }

    /// Drops the records that the peer has consumed, and takes back those that it does not get to in time.
    pub(super) fn check_shorts(&mut self, end: &End, consumed: u64) {
        self.shorts.pass(consumed);
        if !self.shorts.records.is_empty() {
            if consumed != self.shorts.seen {
                (self.shorts.seen, self.shorts.mine) = (consumed, true);
                end.set_moved();
            } else if end.is_due() {
                self.shorts.mine = self.take_back(end, consumed);
            }
        }
        let open = self.shorts.records.iter().any(|short| !short.done);
        end.set_busy(Busy::Short, open);
        let mine = self.shorts.mine;
        // Otherwise the thread wakes the peer, which gives notice.
        end.owed.set_short(open && mine);
        if open && mine {
            end.look_in_passing();
        } else if open && !self.ask(end, Acknowledge::Needed) {
            end.repoll();
        }
    }

    /// Takes back the records that the peer, which has consumed those up to `consumed`, has not got to. False if it has to get to
    /// one first.
    #[cold]
    fn take_back(&mut self, end: &End, consumed: u64) -> bool {
        end.set_due();
        let late = self.shorts.late;
        for at in 0..self.shorts.records.len() {
            let short = self.shorts.records[at];
            if short.done {
                continue;
            }
            if short.behind > consumed {
                return false;
            }
            if !end.own_claim().take_back(short.end) {
                // The peer carries it out this moment, so it was only held up.
                self.shorts.late = late;
                return false;
            }
            self.shorts.late = end.peer_polls();
            let outcome = match short.what {
                What::Write => self.copy_write(end, &short),
                What::Read(id) => self.copy_kept(end, id, &short.target, copy::from_peer),
                What::LongWrite(id) => self.copy_kept(end, id, &short.target, |end, remote, segments, slice| {
                    copy::to_peer(end, segments, remote, slice)
                }),
            };
            if let Outcome::Done = outcome {
                end.own_claim().finish(short.end);
                self.shorts.records[at].done = true;
                self.shorts.done = short.end;
                end.tell_of_answers();
                if let What::LongWrite(_) = short.what {
                    // Others have their turn first.
                    end.set_overdue();
                    return true;
                }
                // A peer that gets on again was only held up for a moment.
                if at + 1 < self.shorts.records.len() && self.tx_ring.consumed() != Some(Ok(consumed)) {
                    self.shorts.late = late;
                    return true;
                }
                continue;
            }
            // What the peer is to refuse, or cannot be copied: it is the peer's, with all behind it.
            end.own_claim().give_back(short.end);
            self.shorts.records.truncate(at);
            self.shorts.tail = 0;
            self.shorts.behind = self.tx_ring.tail();
            end.tell_of_answers();
            return false;
        }
        true
    }

    /// Copies the bytes of a write from its record.
    fn copy_write(&self, end: &End, short: &Short) -> Outcome {
        let Some(bytes) = self.tx_ring.payload(short.end, TARGET + short.target.len as usize) else {
            return Outcome::PeerGone;
        };
        copy::bytes_to_peer(end, bytes.split(TARGET).1, &short.target)
    }

    /// Copies between the segments of a request and the peer's memory, and has the request done.
    fn copy_kept(
        &mut self,
        end: &End,
        id: RequestId,
        remote: &RemoteSegment,
        copy: impl FnOnce(&End, &RemoteSegment, &[Segment], Slice) -> Outcome,
    ) -> Outcome {
        let Some((own, place)) = self.kept_of(id) else { return Outcome::PeerGone };
        let segments: Checked = self.segments.range(own).copied().collect();
        let outcome = copy(end, remote, &segments, Slice { offset: 0, len: remote.len, last: true });
        if let Outcome::Done = outcome {
            if let Done::Announced(_) = std::mem::replace(&mut self.in_flight[place].done, Done::Now) {
                self.announced -= 1;
            }
            self.reading.retain(|reading| reading.id != id);
        }
        outcome
    }

    /// Where the segments of a request in flight are, and its place.
    pub(super) fn kept_of(&self, id: RequestId) -> Option<(Range<usize>, usize)> {
        self.kept_where(|in_flight| in_flight.id == id)
    }

    /// The same of the first request of which `is_it` holds.
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
