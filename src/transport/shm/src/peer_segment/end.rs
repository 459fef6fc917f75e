//! One end of a connection in the memory of its pair.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering, compiler_fence, fence};
use std::time::{Duration, Instant};

use dat_memory::regions::AccessContext;
use host::memory;

use super::{CLOSED, POLLED, PeerSegment};
use crate::budget::Rounds;
use crate::claim::Claim;
use crate::control_region::{ControlRegion, Peer};
use crate::guard::Owed;
use crate::offer::Offer;
use crate::regions::RegionTable;
use crate::ring::{self, Area, Mapped, POSITION, RingCursor};
use crate::sleep::News;
use crate::transfers::{self, Entered};

/// One end of a connection in the memory of its pair. Its two directions know no more of the rest of the process.
pub struct End {
    /// The memory.
    pub peer_segment: Arc<PeerSegment>,
    /// The connection's place in it.
    pub index: u32,
    /// Side of this end: 0 or 1.
    pub side: u8,
    /// This end, as the rows of this process know it.
    pub own: AccessContext,
    /// The other end, as the rows of its process know it.
    pub theirs: AccessContext,
    /// The rings of requests of this side and of the other one.
    rings: [Mapped; 2],
    /// The ring of answers of the other side.
    responses: Mapped,
    /// How far this side has emptied the rings of the other one: of requests, and of answers. A [`RingCursor`], which is shut while
    /// the record there waits for something else than to be looked at.
    taken: [AtomicU64; 2],
    /// Bits that say what is to be known of this side beside records and positions: [`Busy`].
    state: AtomicU32,
    /// Position in the ring of requests of this side at which somebody wants to know that the peer has got there, and
    /// the position of which it is known. That is [`FINISHED`], which is less than any that is wanted, once requests are
    /// done that the peer tells nothing of.
    wanted: AtomicI64,
    known: AtomicI64,
    /// When short writes and reads are to be taken back, in nanoseconds since [`End::began`]; 0 while that is not known.
    due: AtomicU64,
    began: Instant,
    /// This process polls the connection. The flag that the peer sees says the same, but the peer could change that.
    polled: AtomicBool,
    /// How often it has woken the peer.
    wakeups: AtomicU64,
    /// The record for which the program of the peer may be waiting.
    pub owed: Arc<Owed>,
}

/// Time for which the peer's position may stand still before short writes and reads are taken back.
const MOMENT: Duration = Duration::from_micros(5);

/// In the place of the position at which a peer is known to be.
const FINISHED: i64 = -1;

/// What is to be found out about an end that no record of the peer shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// Nothing.
    Nothing,
    /// Nothing, but this side is busy, or may be.
    Busy,
    /// How far the peer has got: this has been known so far, and is not enough.
    Position(i64),
    /// Requests are done of which the peer gives no notice.
    Finished,
}

/// What an end has to do that no record and no position of the peer shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Busy {
    /// Requests or answers wait for room, or for their turn.
    Waiting = 2,
    /// The peer is to be asked for the bytes of a message, and there is no room yet.
    Asking = 4,
    /// Messages are announced, of which the peer may offer parts.
    Announced = 8,
    /// Records are in the ring that this side takes back if the peer does not get to them: see [`End::set_due`].
    Short = 16,
    /// Reads and atomic operations are under way, to which the peer answers.
    Reading = 32,
}

impl End {
    /// The end on `side` of the connection at `index`; `None` if there is no memory for its rings.
    pub fn new(
        peer_segment: Arc<PeerSegment>,
        index: u32,
        side: u8,
        own: AccessContext,
        theirs: AccessContext,
    ) -> Option<End> {
        let [requests, _] = peer_segment.areas(index, side)?;
        let [peer, responses] = peer_segment.areas(index, 1 - side)?;
        let owed = memory::arc(Owed::new(peer_segment.clone(), index, side, requests.clone())).ok()?;
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
            due: AtomicU64::new(0),
            began: Instant::now(),
            polled: AtomicBool::new(false),
            wakeups: AtomicU64::new(0),
            owed,
        })
    }

    // ---- What there is to do ----

    /// How far this side has emptied the peer's ring of requests, as records tell the peer.
    #[inline]
    pub fn taken(&self) -> u64 {
        // SYNC ring-head: the caller puts the position into a record, whose first word is a Release, and the peer gets it
        // with its Acquire of that word.
        RingCursor(self.taken[0].load(Ordering::Acquire)).position()
    }

    /// Notes how far this side has emptied a ring of the peer: that of requests, or, with `responses`, of answers.
    #[inline]
    pub fn set_taken(&self, responses: bool, spot: RingCursor) {
        // SYNC ring-head: the reads of the slots are over before this store.
        self.taken[usize::from(responses)].store(spot.0, Ordering::Release);
    }

    /// Notes whether the record at the head of the peer's ring of requests waits for something that has a notice of its own:
    /// a receive, or bytes that the peer was asked for. Called by the thread that empties the ring.
    #[inline]
    pub fn set_stuck(&self, stuck: bool) {
        let spot = RingCursor(self.taken[0].load(Ordering::Relaxed));
        self.set_taken(false, spot.shut(stuck));
    }

    /// Notes that the peer's progress up to `position` is to be found out.
    #[inline]
    pub fn want(&self, position: u64) {
        self.wanted.store(position as i64, Ordering::Relaxed);
    }

    /// Notes how far the peer is known to have got. All requests that are done are about to be reported. Called with the lock
    /// of the sending direction, as [`End::finish_soon`] is.
    #[inline]
    pub fn set_known(&self, position: u64) {
        self.known.store(position as i64, Ordering::Relaxed);
    }

    /// True if nothing is left to find out about a peer that has got to `position`.
    #[inline]
    pub fn is_told(&self, position: u64) -> bool {
        self.wanted.load(Ordering::Relaxed) <= position as i64
    }

    /// True if a record of the peer that tells `credit` tells more than is known.
    #[inline]
    pub fn is_news(&self, credit: u64) -> bool {
        credit != self.known.load(Ordering::Relaxed) as u64 & POSITION
    }

    /// Notes whether this side is to be looked at for this reason even if nothing tells of news.
    #[inline]
    pub fn set_busy(&self, why: Busy, busy: bool) {
        if (self.state.load(Ordering::Relaxed) & why as u32 != 0) != busy {
            self.state.fetch_xor(why as u32, Ordering::Relaxed);
        }
    }

    /// True if this side is to be looked at even if nothing tells of news.
    #[inline]
    pub fn is_busy(&self) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        state & (Busy::Waiting as u32 | Busy::Asking as u32) != 0
            || (state & Busy::Announced as u32 != 0 && self.peers_offer().is_open())
            || self.is_answered()
            || (state & Busy::Short as u32 != 0 && self.is_due())
    }

    /// True if there are answers to reads and atomic operations of this side.
    #[inline]
    pub fn is_answered(&self) -> bool {
        self.state.load(Ordering::Relaxed) & Busy::Reading as u32 != 0 && self.has_answers()
    }

    /// Has short writes and reads taken back if the peer's position does not move for [`MOMENT`] from now on.
    pub fn set_due(&self) {
        self.due.store((self.began.elapsed() + MOMENT).as_nanos() as u64, Ordering::Relaxed);
    }

    /// That time is over: more is to be taken back at once.
    pub fn set_overdue(&self) {
        self.due.store(1, Ordering::Relaxed);
    }

    /// The peer's position has moved: the time begins with the next look.
    #[inline]
    pub fn set_moved(&self) {
        self.due.store(0, Ordering::Relaxed);
    }

    /// True if that time is over.
    pub fn is_due(&self) -> bool {
        let due = self.due.load(Ordering::Relaxed);
        if due == 0 {
            self.set_due();
        }
        due != 0 && self.began.elapsed().as_nanos() as u64 >= due
    }

    /// Which side carries out short writes and reads of this side.
    pub fn own_claim(&self) -> &Claim {
        &self.rings[0].shared().claim.0
    }

    /// Which side carries out those of the peer.
    pub fn peers_claim(&self) -> &Claim {
        &self.rings[1].shared().claim.0
    }

    /// What is to be found out.
    #[inline]
    pub fn open(&self) -> Open {
        let known = self.known.load(Ordering::Relaxed);
        if self.wanted.load(Ordering::Relaxed) <= known {
            if self.state.load(Ordering::Relaxed) == 0 { Open::Nothing } else { Open::Busy }
        } else if known == FINISHED {
            Open::Finished
        } else {
            Open::Position(known)
        }
    }

    /// What the peer offers to be written of a message of this side.
    #[inline]
    pub fn peers_offer(&self) -> &Offer {
        &self.rings[0].shared().offer.0
    }

    /// What this side offers the peer, which polls the connection, to write; `None` if it does not, or cannot write.
    pub fn own_offer(&self) -> Option<&Offer> {
        (self.peer_segment.reads_peer.get() && self.peer_segment.peer_reads.get() && self.peer_polls())
            .then(|| self.offered())
    }

    /// What this side has offered the peer.
    pub fn offered(&self) -> &Offer {
        &self.rings[1].shared().offer.0
    }

    /// Has this process look at this end soon because requests are done. Called with the lock of the sending direction.
    #[inline]
    pub fn finish_soon(&self) {
        self.known.store(FINISHED, Ordering::Relaxed);
        // SYNC polled: as in `tell_peer`, with this process as the peer.
        self.fence_for_polling();
        if !self.polled.load(Ordering::Relaxed) {
            self.repoll();
        }
    }

    /// True if a record of the ring of requests has arrived that can be handled.
    #[inline]
    pub fn has_requests(&self) -> bool {
        ring::is_there(&self.rings[1], RingCursor(self.taken[0].load(Ordering::Relaxed)))
    }

    /// True if a record has arrived that can be handled.
    fn has_arrived(&self) -> bool {
        self.has_requests() || self.has_answers()
    }

    /// True if a record of the ring of answers has arrived.
    #[inline]
    fn has_answers(&self) -> bool {
        ring::is_there(&self.responses, RingCursor(self.taken[1].load(Ordering::Relaxed)))
    }

    /// True if the peer has got further than `known`. Reads a line that the peer writes.
    #[inline]
    pub fn is_past(&self, known: i64) -> bool {
        self.rings[0].head().load(Ordering::Relaxed) as i64 != known
    }

    /// True if this side has anything to do.
    pub fn has_news(&self) -> bool {
        let told = match self.open() {
            Open::Nothing | Open::Busy => false,
            Open::Position(known) => self.is_past(known),
            Open::Finished => true,
        };
        told || self.has_arrived() || self.is_busy()
    }

    // ---- Polling ----

    /// Tells the peer whether this process polls the connection and so needs no notice. A thread that ends the polling
    /// calls [`ControlRegion::fence_peers`](crate::home::Home::fence_peers) and looks once more.
    pub fn set_polled(&self, polled: bool) {
        self.polled.store(polled, Ordering::Relaxed);
        self.rings[0].shared().flags.0[POLLED].store(u32::from(polled), Ordering::SeqCst);
    }

    /// True if the peer polls the connection.
    #[inline]
    pub fn peer_polls(&self) -> bool {
        self.rings[1].shared().flags.0[POLLED].load(Ordering::SeqCst) != 0
    }

    /// Closes this end to the peer's transfers.
    pub fn close(&self) {
        // SYNC moving: a peer that enters a slot after this finds it; one that entered before is found by `Pending`,
        // behind its fence, and waited for.
        self.rings[0].shared().flags.0[CLOSED].store(1, Ordering::SeqCst);
    }

    /// The registered memory of this process.
    #[inline]
    pub fn regions(&self) -> &RegionTable {
        &self.peer_segment.control.regions
    }

    /// The memory that this process publishes.
    pub fn control(&self) -> &ControlRegion {
        &self.peer_segment.control
    }

    /// Gives the peer notice that there is something for its end, unless it polls.
    #[inline(always)]
    pub fn tell_peer(&self, news: News) {
        // SYNC polled: the record, the position or the answer was stored before this look. Either this side finds that
        // nobody polls, or the side that stops polling finds what was stored.
        self.fence_for_polling();
        if !self.peer_polls() && self.peer_segment.mark(1 - self.side, self.index, news) {
            self.count_wakeup();
        }
    }

    /// The fence between a store and the look whether somebody polls. Who ends that makes one for both sides where the
    /// system has such.
    #[inline]
    fn fence_for_polling(&self) {
        if self.peer_segment.fenced.get() {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }

    /// Tells the peer that there is something for its end at which one that polls does not look.
    pub fn tell_of_answers(&self) {
        if self.peer_segment.mark(1 - self.side, self.index, News::Record) {
            self.count_wakeup();
        }
    }

    /// Counts that the peer was woken, which both directions of the connection do. Beside the system call that has done it, a
    /// locked instruction is nothing.
    #[cold]
    fn count_wakeup(&self) {
        self.wakeups.fetch_add(1, Ordering::Relaxed);
    }

    /// How often this end has woken the peer.
    pub fn wakeups(&self) -> u64 {
        self.wakeups.load(Ordering::Relaxed)
    }

    /// Has this process look at this end soon.
    #[inline]
    pub fn repoll(&self) {
        let _ = self.peer_segment.mark(self.side, self.index, News::Record);
    }

    /// Has the next round of this process look at this end, without waking anybody, unless it looks anyway.
    pub fn look_in_passing(&self) {
        if !self.polled.load(Ordering::Relaxed) {
            self.peer_segment.set_ready(self.side, self.index);
        }
    }

    /// Has this process look at this end in the next round, because it has not done all that it can. Called when that is to
    /// be found, records in the ring of requests or what makes it busy; threads that poll look at both.
    pub fn go_on(&self) {
        // SYNC polled: the thread that ends the polling looks under the locks of the connection, one of which the
        // caller has, or had when the work came about.
        if !self.polled.load(Ordering::Relaxed) {
            self.repoll();
        }
    }

    /// The kernel has refused to copy to or from the peer's memory: this process does not try again.
    pub fn stop_copying(&self) {
        if self.peer_segment.reads_peer.0.swap(false, Ordering::Relaxed) {
            self.peer_segment.untold.store(true, Ordering::Relaxed);
        }
        self.repoll();
    }

    /// The rounds of progress of this process.
    pub fn rounds(&self) -> &Rounds {
        &self.peer_segment.control.rounds
    }

    /// True if the peer is asleep, so that [`End::tell_peer`] wakes it.
    pub fn peer_sleeps(&self) -> bool {
        self.peer_segment.peer().is_some_and(Peer::sleeps)
    }

    /// Wakes the thread of the peer that looks after arrived data, asleep or not; so it does not count as a wake-up.
    pub fn wake_peer_thread(&self) {
        if let Some(peer) = self.peer_segment.peer() {
            peer.wake_thread();
        }
    }

    /// True if the peer has disconnected, or is gone.
    #[inline]
    pub fn peer_is_gone(&self) -> bool {
        self.peer_segment.is_dead() || self.rings[1].shared().flags.0[CLOSED].load(Ordering::SeqCst) != 0
    }

    /// Begins to move bytes to or from the peer's memory; `None` if the peer has disconnected. Whether the peer's memory may
    /// be used is to be checked after this.
    #[inline]
    pub fn begin_moving(&self) -> Option<Moving<'_>> {
        let local = self.peer_segment.is_local();
        let tid = if local { 1 } else { transfers::own_tid() };
        let entered =
            self.peer_segment.own[usize::from(self.side & 1)].enter(self.peer_segment.transfers(self.side), tid);
        // SYNC door: the number is read before flag and row are looked at. So a number from before a change of the door
        // goes with looks from before it, and one from after it with looks that find what was closed.
        let copy_target = if local { 0 } else { self.peer_segment.copy_target() };
        fence(Ordering::Acquire);
        // SYNC moving: the slot was entered before this look.
        if self.peer_is_gone() {
            None
        } else {
            Some(Moving { copy_target, peer_segment: &self.peer_segment, _entered: entered })
        }
    }
}

/// A transfer to or from the peer's memory that is under way.
pub struct Moving<'a> {
    copy_target: libc::pid_t,
    peer_segment: &'a PeerSegment,
    _entered: Entered<'a>,
}

impl Moving<'_> {
    /// The number of the thread that stands for the peer in copies between processes; 0 if the peer's memory is not
    /// reached that way.
    #[inline]
    pub fn copy_target(&self) -> libc::pid_t {
        self.copy_target
    }

    /// True if the peer has changed its door since: a copy that found nobody there is to begin again, with another
    /// [`End::begin_moving`]. If it is false, the peer's memory can no longer be reached.
    pub fn is_outdated(&self) -> bool {
        fence(Ordering::SeqCst);
        self.peer_segment.copy_target() != self.copy_target
    }
}
