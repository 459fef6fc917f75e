use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering, compiler_fence, fence};

use dat_software::regions::{AccessContext, RegionTable};
use host::memory;

use super::replies::Replies;
use super::{CLOSED, POLLED, PeerSegment};
use crate::claim::Claim;
use crate::control_region::{ControlRegion, Peer};
use crate::guard::PendingRecords;
use crate::offer::Offer;
use crate::ring::{self, Area, Mapped, POSITION, RingCursor};
use crate::sleep::Notice;
use crate::transfers::{self, Entered, EnteredLocal};

pub struct End {
    pub peer_segment: Arc<PeerSegment>,
    pub index: u32,
    pub side: u8,
    pub own: AccessContext,
    pub theirs: AccessContext,
    /// The request rings: the ring of which this side is the producer, then the peer's.
    rings: [Mapped; 2],
    responses: Mapped,
    /// Positions of this side in the peer's rings of requests and responses, as [`RingCursor`]s. A cursor is shut while
    /// the record there waits for an event other than a poll.
    taken: [AtomicU64; 2],
    state: AtomicU32,
    /// End of the last record in the own request ring that requests a notification of its consumption.
    wanted: AtomicI64,
    /// Position up to which the peer is known to have consumed the own request ring. It is [`FINISHED`], less than any
    /// wanted position, after requests have completed without a notification.
    known: AtomicI64,
    replies: Replies,
    /// A private copy of the shared flag [`POLLED`] of this side, because the peer could change the flag.
    polled: AtomicBool,
    wakeups: AtomicU64,
    /// Records that must be executed even while the peer's program makes no call: see [`guard`](crate::guard).
    pub pending_records: Arc<PendingRecords>,
}

const FINISHED: i64 = -1;

/// Reasons to poll an end without a new record or a new position of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Busy {
    /// Queued requests or responses wait, for example for room in a ring, or for their turn to copy.
    Waiting = 2,
    /// A request to the sender for the bytes of a message or write waits for room in the response ring.
    Asking = 4,
    /// Rendezvous messages or writes are in flight; the peer may offer this side parts of them to copy.
    Announced = 8,
    /// Revocable writes or reads are in flight. Polls revoke them when [`PendingRecords::is_due`].
    Revocable = 16,
    /// Reads or atomic operations are in flight. While this side polls, the peer does not notify it of their responses.
    Reading = 32,
}

impl End {
    /// Creates the end on `side` of the connection at `index`. Returns `None` without memory for it or its rings.
    pub fn new(
        peer_segment: Arc<PeerSegment>,
        index: u32,
        side: u8,
        own: AccessContext,
        theirs: AccessContext,
    ) -> Option<End> {
        let [requests, _] = peer_segment.areas(index, side)?;
        let [peer, responses] = peer_segment.areas(index, 1 - side)?;
        let pending_records =
            memory::arc(PendingRecords::new(peer_segment.clone(), index, side, requests.clone())).ok()?;
        Some(End {
            peer_segment,
            index,
            side,
            own,
            theirs,
            rings: [requests, peer],
            responses,
            taken: [const { AtomicU64::new(RingCursor::FIRST.0) }; 2],
            state: AtomicU32::new(0),
            wanted: AtomicI64::new(0),
            known: AtomicI64::new(0),
            replies: Replies::default(),
            polled: AtomicBool::new(false),
            wakeups: AtomicU64::new(0),
            pending_records,
        })
    }

    #[inline]
    pub fn taken(&self) -> u64 {
        // SYNC ring-head: the caller stores the position in a record's first word with Release; the peer loads that
        // word with Acquire.
        RingCursor(self.taken[0].load(Ordering::Acquire)).position()
    }

    #[inline]
    pub fn set_taken(&self, responses: bool, spot: RingCursor) {
        // SYNC ring-head: slots are read before this store.
        self.taken[usize::from(responses)].store(spot.0, Ordering::Release);
    }

    /// If `stuck`, hides the requests from polls, because the oldest cannot be handled now. It is refused, or waits for
    /// a receive, requested bytes or a copy by the peer, which resumes the consumer. Called under the receive lock.
    #[inline]
    pub fn set_stuck(&self, stuck: bool) {
        let spot = RingCursor(self.taken[0].load(Ordering::Relaxed));
        self.set_taken(false, spot.shut(stuck));
    }

    /// Notes that this side's record that ends at `position` requests a notification. Called under the transmit lock.
    #[inline]
    pub fn want(&self, position: u64) {
        self.wanted.store(position as i64, Ordering::Relaxed);
        self.replies.on_request(self.taken[0].load(Ordering::Relaxed), || self.control().polls());
    }

    /// Notes the peer's position in the own request ring, under the transmit lock, before completions are reported.
    #[inline]
    pub fn set_known(&self, position: u64) {
        self.known.store(position as i64, Ordering::Relaxed);
    }

    #[inline]
    pub fn is_told(&self, position: u64) -> bool {
        self.wanted.load(Ordering::Relaxed) <= position as i64
    }

    #[inline]
    pub fn is_news(&self, credit: u64) -> bool {
        credit != self.known.load(Ordering::Relaxed) as u64 & POSITION
    }

    /// Sets or clears the reason `why` to poll this end. Called under the transmit lock.
    #[inline]
    pub fn set_busy(&self, why: Busy, busy: bool) {
        let state = self.state.load(Ordering::Relaxed);
        if (state & why as u32 != 0) != busy {
            self.state.store(state ^ why as u32, Ordering::Relaxed);
        }
    }

    /// Returns whether this end has work other than new requests or a new position of the peer.
    #[inline]
    pub fn is_busy(&self) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        if state == 0 {
            return false;
        }
        state & (Busy::Waiting as u32 | Busy::Asking as u32) != 0
            || (state & Busy::Announced as u32 != 0 && self.peers_offer().is_open())
            || self.is_answered()
            || (state & Busy::Revocable as u32 != 0 && self.pending_records.is_due())
    }

    #[inline]
    pub fn is_answered(&self) -> bool {
        self.state.load(Ordering::Relaxed) & Busy::Reading as u32 != 0 && self.has_answers()
    }

    pub fn own_claim(&self) -> &Claim {
        &self.rings[0].shared().claim.0
    }

    pub fn peers_claim(&self) -> &Claim {
        &self.rings[1].shared().claim.0
    }

    /// Returns whether a notification of the peer is outstanding, as far as known, or a [`Busy`] reason is set.
    #[inline]
    pub fn needs_poll(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) > self.known.load(Ordering::Relaxed)
            || self.state.load(Ordering::Relaxed) != 0
    }

    /// Returns whether the peer's position has changed while a notification is wanted, or [`End::finish_soon`] was
    /// called. If `may_wait`, does not load the position while polls wait for a reply.
    #[inline]
    pub fn has_moved(&self, may_wait: bool) -> bool {
        let known = self.known.load(Ordering::Relaxed);
        self.wanted.load(Ordering::Relaxed) > known
            && (known == FINISHED
                || !(may_wait && self.replies.waits(|| self.control().polls()))
                    && self.rings[0].head().load(Ordering::Relaxed) as i64 != known)
    }

    #[inline]
    pub fn peers_offer(&self) -> &Offer {
        &self.rings[0].shared().offer.0
    }

    /// Returns the [`Offer`] in which this side can offer a part to the sender, if the peer polls and both can copy.
    pub fn own_offer(&self) -> Option<&Offer> {
        (self.peer_segment.reads_peer.get() && self.peer_segment.peer_reads.get() && self.peer_polls())
            .then(|| self.offered())
    }

    pub fn offered(&self) -> &Offer {
        &self.rings[1].shared().offer.0
    }

    /// Schedules a poll for requests that complete without a new record or position. Called under the transmit lock.
    #[inline]
    pub fn finish_soon(&self) {
        self.known.store(FINISHED, Ordering::Relaxed);
        // SYNC polled: the store precedes the check in `go_on`, as in `notify_peer`, with this process as the peer.
        self.fence_for_polling();
        self.go_on();
    }

    #[inline]
    pub fn has_requests(&self) -> bool {
        ring::is_there(&self.rings[1], RingCursor(self.taken[0].load(Ordering::Relaxed)))
    }

    #[inline]
    fn has_answers(&self) -> bool {
        ring::is_there(&self.responses, RingCursor(self.taken[1].load(Ordering::Relaxed)))
    }

    pub fn has_events(&self) -> bool {
        // Revocable records keep a thread awake that is about to sleep, so that it can revoke them in time.
        self.has_moved(false)
            || self.has_requests()
            || self.has_answers()
            || self.is_busy()
            || self.pending_records.has_revocable()
    }

    /// Publishes whether this process polls the connection and needs no notification. A thread that ends the polling
    /// must then call [`ControlRegion::fence_peers`](crate::control_region::ControlRegion::fence_peers) and poll once
    /// more.
    pub fn set_polled(&self, polled: bool) {
        self.polled.store(polled, Ordering::Relaxed);
        self.rings[0].shared().flags.0[POLLED].store(u32::from(polled), Ordering::SeqCst);
    }

    #[inline]
    pub fn peer_polls(&self) -> bool {
        self.rings[1].shared().flags.0[POLLED].load(Ordering::SeqCst) != 0
    }

    pub fn close(&self) {
        // SYNC moving: a peer's thread that enters a slot later finds this flag. `Pending` finds earlier transfers
        // after its fence, and waits for them.
        self.rings[0].shared().flags.0[CLOSED].store(1, Ordering::SeqCst);
    }

    #[inline]
    pub fn regions(&self) -> &RegionTable {
        &self.peer_segment.control.regions
    }

    pub fn control(&self) -> &ControlRegion {
        &self.peer_segment.control
    }

    #[inline(always)]
    pub fn notify_peer(&self, notice: Notice) {
        // SYNC polled: the record, position or response is stored before. Either this side sees that the peer does not
        // poll, or the side that stops polling sees the data.
        self.fence_for_polling();
        if !self.peer_polls() && self.peer_segment.mark(1 - self.side, self.index, notice) {
            self.count_wakeup();
        }
    }

    /// Orders the caller's store before its check whether the other side polls. If possible, the side that ends the
    /// polling executes the fence for both.
    #[inline]
    fn fence_for_polling(&self) {
        if self.peer_segment.fenced.get() {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }

    /// Does what [`End::notify_peer`] does, even if the peer polls: such polls find this work only by the ready bit.
    pub fn tell_always(&self) {
        if self.peer_segment.mark(1 - self.side, self.index, Notice::Record) {
            self.count_wakeup();
        }
    }

    #[cold]
    fn count_wakeup(&self) {
        self.wakeups.fetch_add(1, Ordering::Relaxed);
    }

    pub fn wakeups(&self) -> u64 {
        self.wakeups.load(Ordering::Relaxed)
    }

    #[inline]
    pub fn repoll(&self) {
        let _ = self.peer_segment.mark(self.side, self.index, Notice::Record);
    }

    /// Schedules a poll in the next round, without waking a thread, unless this process polls the connection anyway.
    pub fn look_in_passing(&self) {
        if !self.polled.load(Ordering::Relaxed) {
            self.peer_segment.set_ready(self.side, self.index);
        }
    }

    /// Schedules a poll, unless this process polls the connection and thus finds the work.
    #[inline]
    pub fn go_on(&self) {
        // SYNC polled: the thread that ends the polling polls once more under the connection's locks. The caller holds
        // one of these locks, or held it when the work arose.
        if !self.polled.load(Ordering::Relaxed) {
            self.repoll();
        }
    }

    /// Stops direct copies from and to the peer, after the kernel has refused one. The next poll notifies the peer.
    pub fn stop_copying(&self) {
        if self.peer_segment.reads_peer.0.swap(false, Ordering::Relaxed) {
            self.peer_segment.note_refusal();
            self.peer_segment.untold.store(true, Ordering::Relaxed);
        }
        self.repoll();
    }

    pub fn peer_sleeps(&self) -> bool {
        self.peer_segment.peer().is_some_and(Peer::sleeps)
    }

    /// Ensures that the revocable record that ends at `position` is executed even if the peer's program only reads
    /// memory, without calls: see [`guard`](crate::guard).
    #[inline]
    pub fn watch(&self, position: u64) {
        if !self.control().guard.watch(&self.pending_records, position) {
            if let Some(peer) = self.peer_segment.peer() {
                peer.wake_thread();
            }
        }
    }

    /// Does what [`End::watch`] does, for a record that cannot be revoked.
    pub fn watch_peer(&self, position: u64) {
        self.watch(position);
        self.control().guard.set_needs_peer();
    }

    #[inline]
    pub fn peer_is_gone(&self) -> bool {
        self.peer_segment.is_dead() || self.rings[1].shared().flags.0[CLOSED].load(Ordering::SeqCst) != 0
    }

    /// Starts a transfer to or from the memory of another process; the caller must then check the rights. Returns
    /// `None` if the peer has disconnected.
    #[inline]
    pub fn begin_moving(&self) -> Option<Moving<'_>> {
        let table = self.peer_segment.transfers(self.side);
        let entered = self.peer_segment.own[usize::from(self.side & 1)].enter(table, transfers::own_tid());
        // SYNC target: the thread id is loaded before the peer's flag and row are checked. If the peer replaces the
        // thread, only a copy through the old thread can miss the revocation. That copy fails once the old thread has
        // exited.
        let copy_target = self.peer_segment.copy_target();
        fence(Ordering::Acquire);
        // SYNC moving: the slot is entered before this check.
        if self.peer_is_gone() {
            None
        } else {
            Some(Moving { copy_target, peer_segment: &self.peer_segment, _entered: entered })
        }
    }

    /// Starts a transfer within this process. Returns `None` if the peer has disconnected.
    #[inline(always)]
    pub fn begin_local(&self) -> Option<EnteredLocal<'_>> {
        let entered = transfers::enter_local(self.peer_segment.transfers(self.side));
        // SYNC moving: the slot is entered before this check.
        (!self.peer_is_gone()).then_some(entered)
    }
}

pub struct Moving<'a> {
    /// Id of the peer's thread through which this transfer copies.
    pub copy_target: libc::pid_t,
    peer_segment: &'a PeerSegment,
    _entered: Entered<'a>,
}

impl Moving<'_> {
    /// Returns whether the peer has replaced its target thread. Called after a copy that found no thread. If `true`,
    /// the copy must restart with [`End::begin_moving`]; otherwise the peer's memory is unreachable.
    pub fn is_outdated(&self) -> bool {
        fence(Ordering::SeqCst);
        self.peer_segment.copy_target() != self.copy_target
    }
}
