//! Watches records that change the peer's memory, which the peer's program may read without a call.
//!
//! While the peer's callers poll, they process such records; the peer's progress thread, if woken, would take the CPU
//! and the locks from them. If the peer makes no progress for a short time, this process *revokes* the record if
//! possible: a poll takes the record back and copies its bytes itself. This process's progress thread schedules that
//! poll. If the record cannot be revoked, the thread wakes the peer, once per position of the peer. The thread checks
//! only while there are such records and shortly afterwards.
//!
//! A check takes the CPU from a program on the same CPU for more than ten microseconds. So callers that poll revoke
//! records themselves, and postpone the check when the peer has executed records. If the program posts a record and
//! makes no further call, the check is not postponed: the record waits for about one interval of checks.

use std::hint;
use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

#[cfg(all(test, loom))]
use loom::sync::atomic::{AtomicBool as Flag, AtomicU64 as Position};
#[cfg(not(all(test, loom)))]
use std::sync::atomic::{AtomicBool as Flag, AtomicU64 as Position};

use host::asymmetric;
use host::lock::Mutex;
use host::memory::Room;

use crate::os::timer::{Timer, now};
use crate::peer_segment::PeerSegment;
use crate::ring::{Area, Mapped};
use crate::sleep::Notice;

/// Time without progress of the peer after which polls of this process revoke records.
const REVOKE_TIMEOUT: Duration = Duration::from_micros(5);
/// Number of polls without progress of the peer before the timeout starts. A polling peer usually makes progress during
/// these polls, which do not read the clock.
const POLLS_BEFORE_CLOCK: u64 = 16;
const CHECK_INTERVAL: Duration = Duration::from_micros(700);
/// Time without progress of the peer after which the progress thread wakes the peer, if it cannot revoke the record. A
/// wakeup costs the peer more than a revocation, so this exceeds [`REVOKE_TIMEOUT`].
const WAKE_AFTER: Duration = Duration::from_micros(250);
/// Maximum time that one check waits for progress of the peers. A peer that polls makes progress in this time, unless
/// it is copying.
const PROGRESS_TIMEOUT: Duration = Duration::from_micros(10);
/// Polls only postpone a check that is due within this time.
const POSTPONE_BEFORE: Duration = Duration::from_micros(200);
/// Number of executed records after which a poll reads the clock, to postpone the check. A long write counts as this
/// many records.
pub const POSTPONE_AFTER: u32 = 64;
/// Maximum sleep of the progress thread while it watches, in case the timer does not wake it for the next check.
const NO_TIMER_INTERVAL: Duration = Duration::from_millis(8);
/// Number of checks without new records after which a connection is no longer watched.
const MAX_QUIET_CHECKS: u32 = 8;

#[derive(Default)]
struct Last {
    end: Position,
    /// Set while the progress thread watches the connection, or is about to.
    watched: Flag,
}

impl Last {
    /// Stores `end`, the end position of the newest record. Returns `false` if the connection is not watched: the
    /// caller must then call [`Last::begin`].
    #[inline]
    fn set(&self, end: u64) -> bool {
        // SYNC watched: this thread stores the position, and after a fence loads `watched`. The progress thread clears
        // `watched`, and after a heavy fence loads the position in `is_over`. So the progress thread sees the record,
        // or this thread sees the cleared flag, and adds the connection again.
        self.end.store(end, Ordering::Release);
        asymmetric::light();
        self.watched.load(Ordering::Relaxed)
    }

    /// Marks the connection as watched. Returns whether it was not watched before: the caller must then add it to the
    /// list.
    fn begin(&self) -> bool {
        !self.watched.swap(true, Ordering::Relaxed)
    }

    fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// Marks the connection as not watched. The caller must then call [`asymmetric::heavy`] and [`Last::is_over`].
    fn forget(&self) {
        self.watched.store(false, Ordering::Relaxed);
    }

    /// Returns whether the watch can end: there is no record after `seen`, or another thread has begun a new watch.
    /// Otherwise marks the connection as watched again.
    fn is_over(&self, seen: u64) -> bool {
        // SYNC watched: the heavy fence after the clearing of `watched` pairs with the light fence in `set`.
        self.end() == seen || !self.begin()
    }
}

pub struct PendingRecords {
    peer_segment: Arc<PeerSegment>,
    ring: Mapped,
    last: Last,
    index: u32,
    side: u8,
    /// Set while there are records that this process revokes instead of waking the peer: see [`tx`](crate::tx).
    revocable: AtomicBool,
    /// Set while revocable records wait, but cannot be revoked until the peer has consumed a record.
    begun: AtomicBool,
    /// Time at which revocable records are revoked, in nanoseconds since [`PendingRecords::began`]. Before the timeout
    /// starts, the number of polls, below [`POLLS_BEFORE_CLOCK`]. The progress thread expires the timeout without a
    /// lock, so it can expire the timeout of a later record, which is then revoked early.
    due: AtomicU64,
    began: Instant,
}

impl PendingRecords {
    pub fn new(peer_segment: Arc<PeerSegment>, index: u32, side: u8, ring: Mapped) -> Self {
        PendingRecords {
            peer_segment,
            ring,
            last: Last::default(),
            index,
            side,
            revocable: AtomicBool::new(false),
            begun: AtomicBool::new(false),
            due: AtomicU64::new(0),
            began: Instant::now(),
        }
    }

    #[inline]
    pub fn has_revocable(&self) -> bool {
        self.revocable.load(Ordering::Relaxed)
    }

    #[inline]
    pub fn set_revocable(&self, revocable: bool) {
        if self.has_revocable() != revocable {
            self.revocable.store(revocable, Ordering::Relaxed);
        }
    }

    /// Stores whether revocable records wait that cannot be revoked until the peer has consumed a record: the peer has
    /// begun to execute one, or they must follow a record that cannot be revoked. Called under the transmit lock.
    #[inline]
    pub fn set_begun(&self, begun: bool) {
        if self.begun.load(Ordering::Relaxed) != begun {
            self.begun.store(begun, Ordering::Relaxed);
            let change = if begun { 1 } else { u32::MAX };
            self.peer_segment.control.guard.begun.fetch_add(change, Ordering::Relaxed);
        }
    }

    /// Starts the timeout: revocable records are revoked after [`REVOKE_TIMEOUT`].
    pub fn set_due(&self) {
        self.due.store((self.began.elapsed() + REVOKE_TIMEOUT).as_nanos() as u64, Ordering::Relaxed);
    }

    /// Expires the timeout, to revoke records at the next poll: sets the least value that is a time, not a number of
    /// polls.
    pub fn set_overdue(&self) {
        self.due.store(POLLS_BEFORE_CLOCK, Ordering::Relaxed);
    }

    /// Clears the timeout, at the first record or the peer's progress. [`PendingRecords::is_due`] starts it again.
    #[inline]
    pub fn clear_due(&self) {
        self.due.store(0, Ordering::Relaxed);
    }

    /// Returns whether the timeout has expired. Starts a cleared timeout after [`POLLS_BEFORE_CLOCK`] calls.
    #[inline(never)]
    pub fn is_due(&self) -> bool {
        let due = self.due.load(Ordering::Relaxed);
        if due < POLLS_BEFORE_CLOCK {
            if due + 1 < POLLS_BEFORE_CLOCK {
                self.due.store(due + 1, Ordering::Relaxed);
            } else {
                self.set_due();
            }
            return false;
        }
        self.began.elapsed().as_nanos() as u64 >= due
    }
}

/// New connections for the progress thread to watch, and the time of its next check.
pub struct Guard {
    /// `None` after the progress thread has ended.
    new: Mutex<Option<Vec<Arc<PendingRecords>>>>,
    /// Wakes the progress thread for new connections and for the next check.
    pub timer: Timer,
    /// Time of the next check, in nanoseconds of [`now`]. Stored before the timer is set to it.
    next: AtomicU64,
    /// Set while there may be records that this process cannot revoke. Polls then do not postpone the check.
    needs_peer: AtomicBool,
    /// Number of connections with [`PendingRecords::begun`]. While it is not 0, polls do not postpone the check.
    begun: AtomicU32,
    /// Number of executed records since a poll has last read the clock.
    executed: AtomicU32,
}

impl Guard {
    pub fn new() -> io::Result<Self> {
        Ok(Guard {
            new: Mutex::new(Some(Vec::new())),
            timer: Timer::new()?,
            next: AtomicU64::new(0),
            needs_peer: AtomicBool::new(false),
            begun: AtomicU32::new(0),
            executed: AtomicU32::new(0),
        })
    }

    /// Watches the record that ends at `position`. Returns `false`, without watching, if there is no memory, if the
    /// timer cannot be set, or after the progress thread's end.
    #[inline]
    pub fn watch(&self, pending_records: &Arc<PendingRecords>, position: u64) -> bool {
        pending_records.last.set(position) || self.add(pending_records)
    }

    #[cold]
    #[inline(never)]
    fn add(&self, pending_records: &Arc<PendingRecords>) -> bool {
        let mut new = self.new.lock();
        let Some(list) = &mut *new else { return false };
        // Time 1 has passed, so the timer wakes the progress thread immediately; time 0 would disarm the timer. The
        // thread takes the list under this lock, so after the push.
        if list.room(1).is_err() || !self.timer.set(1) {
            return false;
        }
        if pending_records.last.begin() {
            list.push(pending_records.clone());
        }
        true
    }

    /// Prevents polls from postponing the check, because this process cannot revoke a watched record.
    pub fn set_needs_peer(&self) {
        // SeqCst: if the progress thread clears the flag after this swap, its following checks see the record.
        self.needs_peer.swap(true, Ordering::SeqCst);
    }

    /// Counts `count` records that a poll has found executed. After [`POSTPONE_AFTER`] records, postpones the check.
    #[inline]
    pub fn note_executed(&self, count: u32) {
        // A lost update only delays the postponement.
        let executed = self.executed.load(Ordering::Relaxed).saturating_add(count);
        self.executed.store(executed, Ordering::Relaxed);
        if executed >= POSTPONE_AFTER {
            self.postpone();
        }
    }

    #[cold]
    #[inline(never)]
    fn postpone(&self) {
        self.executed.store(0, Ordering::Relaxed);
        let (now, next) = (now(), self.next.load(Ordering::Relaxed));
        // If the time of the check has passed, the progress thread is about to check, so a new time has no use.
        let is_soon = (now..now + POSTPONE_BEFORE.as_nanos() as u64).contains(&next);
        let needs_peer = self.needs_peer.load(Ordering::Relaxed) || self.begun.load(Ordering::Relaxed) != 0;
        if is_soon && !needs_peer {
            let _ = self.check_at(now + CHECK_INTERVAL.as_nanos() as u64);
        }
    }

    fn check_at(&self, next: u64) -> bool {
        self.next.store(next, Ordering::Relaxed);
        self.timer.set(next)
    }
}

struct WatchedRing {
    pending_records: Arc<PendingRecords>,
    last: u64,
    /// The peer's position at the last check; `None` if the peer had consumed all records.
    waits: Option<u64>,
    woken: Option<u64>,
    quiet: u32,
}

impl WatchedRing {
    fn new(pending_records: Arc<PendingRecords>) -> Self {
        WatchedRing { pending_records, last: 0, waits: None, woken: None, quiet: 0 }
    }

    fn head(&self) -> u64 {
        self.pending_records.ring.head().load(Ordering::Relaxed)
    }

    /// Returns whether the peer executes a record after the position `head`, or advances from `head`. Waits for this
    /// until the time `end`.
    fn gets_on(&self, head: u64, end: Instant) -> bool {
        while !self.pending_records.ring.shared().claim.0.is_taken_behind(head) && self.head() == head {
            if Instant::now() >= end {
                return false;
            }
            hint::spin_loop();
        }
        true
    }

    /// Checks whether the peer makes progress, at most until the time `end`. If not, schedules a revocation or wakes
    /// the peer. Returns the interval until the next check.
    fn look(&mut self, end: Instant) -> Duration {
        let last = self.pending_records.last.end();
        let head = self.head();
        self.quiet = if last == self.last { self.quiet + 1 } else { 0 };
        self.last = last;
        if head >= last {
            self.waits = None;
            return CHECK_INTERVAL;
        }
        let revocable = self.pending_records.has_revocable();
        if self.waits.replace(head) != Some(head) {
            self.quiet = 0;
            if !revocable {
                return WAKE_AFTER;
            }
            if self.gets_on(head, end) {
                return CHECK_INTERVAL;
            }
        }
        if revocable {
            // Schedules a poll of this process, which revokes the records and copies their bytes.
            self.pending_records.set_overdue();
            self.pending_records.peer_segment.mark(
                self.pending_records.side,
                self.pending_records.index,
                Notice::Record,
            );
            self.pending_records.peer_segment.control.wakeup_fd.wake();
        } else if self.woken != Some(head) {
            // Wakes the peer only once per position: if the record waits for a receive, further wakeups are useless.
            self.woken = Some(head);
            if let Some(peer) = self.pending_records.peer_segment.peer() {
                peer.wake_thread();
            }
        }
        CHECK_INTERVAL
    }
}

#[derive(Default)]
pub struct Watched {
    entries: Vec<WatchedRing>,
    out_of_memory: bool,
    /// Set if the timer has expired since the last [`Watched::look`].
    fired: bool,
    /// Set if the timer could not be set, because the program has forbidden the system call.
    no_timer: bool,
}

impl Watched {
    pub fn pause(&self, guard: &Guard) -> Option<Duration> {
        if !self.out_of_memory && self.entries.is_empty() {
            return None;
        }
        let next = guard.next.load(Ordering::Relaxed).saturating_sub(now());
        Some(if self.no_timer { Duration::from_nanos(next) } else { NO_TIMER_INTERVAL })
    }

    /// Takes the new connections, after the timer has expired.
    pub fn begin(&mut self, guard: &Guard) {
        self.fired = true;
        guard.timer.clear();
        if let Some(list) = &mut *guard.new.lock() {
            self.out_of_memory = self.entries.room(list.len()).is_err();
            if !self.out_of_memory {
                self.entries.extend(list.drain(..).map(WatchedRing::new));
            }
        }
    }

    pub fn look(&mut self, guard: &Guard) {
        let fired = mem::take(&mut self.fired);
        if !self.out_of_memory && self.entries.is_empty() {
            return;
        }
        let (now, next) = (now(), guard.next.load(Ordering::Relaxed));
        if now < next {
            // A caller has postponed the check, or has set the timer to an earlier time to add a connection.
            if fired {
                self.no_timer = !guard.timer.set(next);
            }
            return;
        }
        if self.out_of_memory {
            self.begin(guard);
        }
        // SeqCst: if a caller sets the flag before this swap, the following checks see the record.
        guard.needs_peer.swap(false, Ordering::SeqCst);
        let end = Instant::now() + PROGRESS_TIMEOUT;
        let pause = self.entries.iter_mut().map(|entry| entry.look(end)).min().unwrap_or(CHECK_INTERVAL);
        if self.entries.iter().any(|entry| entry.waits.is_some() && !entry.pending_records.has_revocable()) {
            guard.set_needs_peer();
        }
        self.no_timer = !guard.check_at(now + pause.as_nanos() as u64);
        if self.entries.iter().any(|entry| entry.quiet >= MAX_QUIET_CHECKS) {
            self.forget();
        }
    }

    fn forget(&mut self) {
        let quiet = |entry: &WatchedRing| entry.quiet >= MAX_QUIET_CHECKS;
        for entry in self.entries.iter().filter(|entry| quiet(entry)) {
            entry.pending_records.last.forget();
        }
        asymmetric::heavy();
        self.entries.retain(|entry| !quiet(entry) || !entry.pending_records.last.is_over(entry.last));
    }

    pub fn end(&mut self, guard: &Guard) {
        self.entries = Vec::new();
        let left = guard.new.lock().take();
        drop(left);
    }
}

#[cfg(all(test, loom))]
mod model;
