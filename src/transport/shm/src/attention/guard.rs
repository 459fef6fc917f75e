//! Watches records that change the peer's memory, which a program may only be reading.
//!
//! While the peer's callers poll, they process such records; waking its progress thread would take the CPU and the
//! locks from them. If the peer makes no progress for a short time, this process's progress thread revokes the record
//! if possible, and otherwise wakes the peer. It ticks only while there are such records and shortly afterwards; a tick
//! costs about ten microseconds.
//!
//! After a peer had to be woken, the next such records wake it immediately: see [`Trust`].

use std::hint;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[cfg(all(test, loom))]
use loom::sync::atomic::{AtomicBool as Flag, AtomicU64 as Position};
#[cfg(not(all(test, loom)))]
use std::sync::atomic::{AtomicBool as Flag, AtomicU64 as Position};

use host::asymmetric;
use host::event_fd::EventFd;
use host::lock::Mutex;
use host::memory::Room;

use crate::peer_segment::PeerSegment;
use crate::ring::{Area, Mapped};
use crate::sleep::News;

const CHECK_INTERVAL: Duration = Duration::from_micros(700);
/// Interval before the thread wakes a peer, which costs that more than a revocation.
const WAKE_AFTER: Duration = Duration::from_micros(250);
/// Maximum time of a check of all peers. Polling peers progress in this time unless they copy.
const PROGRESS_TIMEOUT: Duration = Duration::from_micros(10);
/// Number of checks without new records after which the watch ends.
const MAX_QUIET_CHECKS: u32 = 8;
/// Number of records that wake the peer immediately after it had to be woken, initially and after doublings. A record
/// that is wrongly left to it is at least one check late.
const WARY_MIN: u32 = 16;
const WARY_MAX: u32 = 4096;
/// Number of timely records that reset that number.
const TRUSTWORTHY: u32 = 512;

struct Last {
    end: Position,
    /// Set while the thread watches the connection, or is about to.
    watched: Flag,
}

impl Last {
    fn new() -> Self {
        Last { end: Position::new(0), watched: Flag::new(false) }
    }

    /// Returns `false` if the caller must call [`Last::begin`].
    #[inline]
    fn set(&self, end: u64) -> bool {
        // SYNC owed: the position is stored, then, after a fence, `watched` is loaded. `is_over` runs after `watched`
        // was cleared and a heavy fence, and loads the position. So the thread sees the record, or the caller adds the
        // connection again.
        self.end.store(end, Ordering::Release);
        asymmetric::light();
        self.watched.load(Ordering::Relaxed)
    }

    /// Returns whether the caller must add the connection to the list.
    fn begin(&self) -> bool {
        !self.watched.swap(true, Ordering::Relaxed)
    }

    fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// [`asymmetric::heavy`] and [`Last::is_over`] must follow.
    fn forget(&self) {
        self.watched.store(false, Ordering::Relaxed);
    }

    /// Returns whether the watch can end: there is no record after `seen`, or another thread has added the connection.
    fn is_over(&self, seen: u64) -> bool {
        // SYNC owed: the heavy fence after the clearing of `watched` pairs with the light fence in `set`.
        self.end() == seen || !self.begin()
    }
}

pub struct Owed {
    peer_segment: Arc<PeerSegment>,
    ring: Mapped,
    last: Last,
    index: u32,
    side: u8,
    /// Set while there are records that this process can revoke: see [`tx`](crate::tx).
    short: AtomicBool,
    late: AtomicBool,
}

impl Owed {
    pub fn new(peer_segment: Arc<PeerSegment>, index: u32, side: u8, ring: Mapped) -> Self {
        Owed {
            peer_segment,
            ring,
            last: Last::new(),
            index,
            side,
            short: AtomicBool::new(false),
            late: AtomicBool::new(false),
        }
    }

    /// Sets whether there are records to revoke before the peer is woken.
    #[inline]
    pub fn set_short(&self, short: bool) {
        if self.short.load(Ordering::Relaxed) != short {
            self.short.store(short, Ordering::Relaxed);
        }
    }

    /// Returns, once, whether the peer had to be woken.
    #[inline]
    fn take_late(&self) -> bool {
        self.late.load(Ordering::Relaxed) && self.late.swap(false, Ordering::Relaxed)
    }
}

/// Decides whether records are left to the peer. Changes under the transmit lock.
#[derive(Default)]
pub struct Trust {
    wary: u32,
    term: u32,
    kept: u32,
}

impl Trust {
    /// Counts a record. Returns whether it is left to the peer's callers.
    #[inline]
    pub fn next(&mut self, owed: &Owed) -> bool {
        self.after(owed.take_late(), WARY_MAX)
    }

    /// Does what [`Trust::next`] does. If `late`, up to `most` further records are not left to the peer.
    #[inline]
    pub fn after(&mut self, late: bool, most: u32) -> bool {
        if late {
            self.wary = self.term.clamp(WARY_MIN, most);
            self.term = self.wary * 2;
            self.kept = 0;
        }
        if self.wary > 0 {
            self.wary -= 1;
            return false;
        }
        self.kept += 1;
        if self.kept >= TRUSTWORTHY {
            (self.kept, self.term) = (0, WARY_MIN);
        }
        true
    }
}

/// Connections to watch. `None` after the thread has ended.
pub struct Guard {
    new: Mutex<Option<Vec<Arc<Owed>>>>,
    /// Wakes the thread only for new connections.
    pub wakeup_fd: EventFd,
}

impl Guard {
    pub fn new() -> io::Result<Self> {
        Ok(Guard { new: Mutex::new(Some(Vec::new())), wakeup_fd: EventFd::new()? })
    }

    /// Adds the record that ends at `position`. Returns `false` if it cannot.
    #[inline]
    pub fn watch(&self, owed: &Arc<Owed>, position: u64) -> bool {
        owed.last.set(position) || self.add(owed)
    }

    #[cold]
    #[inline(never)]
    fn add(&self, owed: &Arc<Owed>) -> bool {
        let mut new = self.new.lock();
        let Some(list) = &mut *new else { return false };
        if list.room(1).is_err() {
            return false;
        }
        if owed.last.begin() {
            list.push(owed.clone());
            drop(new);
            self.wakeup_fd.wake();
        }
        true
    }
}

struct WatchedRing {
    owed: Arc<Owed>,
    last: u64,
    /// The peer's position, if insufficient at the last check.
    waits: Option<u64>,
    woken: Option<u64>,
    quiet: u32,
}

impl WatchedRing {
    fn new(owed: Arc<Owed>) -> Self {
        WatchedRing { owed, last: 0, waits: None, woken: None, quiet: 0 }
    }

    fn head(&self) -> u64 {
        self.owed.ring.head().load(Ordering::Relaxed)
    }

    /// Returns whether the peer is executing a record after `head`, or moves before `end`.
    fn gets_on(&self, head: u64, end: Instant) -> bool {
        while !self.owed.ring.shared().claim.0.is_taken_behind(head) && self.head() == head {
            if Instant::now() >= end {
                return false;
            }
            hint::spin_loop();
        }
        true
    }

    /// Checks the peer until `end`. Returns the interval until the next check.
    fn look(&mut self, end: Instant) -> Duration {
        let last = self.owed.last.end();
        let head = self.head();
        self.quiet = if last == self.last { self.quiet + 1 } else { 0 };
        self.last = last;
        if head >= last {
            self.waits = None;
            return CHECK_INTERVAL;
        }
        let short = self.owed.short.load(Ordering::Relaxed);
        if self.waits.replace(head) != Some(head) {
            self.quiet = 0;
            if !short {
                return WAKE_AFTER;
            }
            if self.gets_on(head, end) {
                return CHECK_INTERVAL;
            }
        }
        if short {
            // This process polls, and revokes and copies late records.
            self.owed.peer_segment.mark(self.owed.side, self.owed.index, News::Record);
            self.owed.peer_segment.ring_own_thread();
        } else if self.woken != Some(head) {
            // Once per position, because records can wait for a receive.
            self.woken = Some(head);
            self.owed.late.store(true, Ordering::Relaxed);
            if let Some(peer) = self.owed.peer_segment.peer() {
                peer.wake_thread();
            }
        }
        CHECK_INTERVAL
    }
}

pub struct Watched {
    entries: Vec<WatchedRing>,
    out_of_memory: bool,
    next: Instant,
}

impl Watched {
    pub fn new() -> Self {
        Watched { entries: Vec::new(), out_of_memory: false, next: Instant::now() }
    }

    pub fn pause(&self) -> Option<Duration> {
        let ticks = self.out_of_memory || !self.entries.is_empty();
        ticks.then(|| self.next.saturating_duration_since(Instant::now()))
    }

    pub fn begin(&mut self, guard: &Guard) {
        guard.wakeup_fd.clear();
        if let Some(list) = &mut *guard.new.lock() {
            self.out_of_memory = self.entries.room(list.len()).is_err();
            if !self.out_of_memory {
                self.entries.extend(list.drain(..).map(WatchedRing::new));
            }
        }
    }

    pub fn look(&mut self, guard: &Guard) {
        if self.pause() != Some(Duration::ZERO) {
            return;
        }
        if self.out_of_memory {
            self.begin(guard);
        }
        let now = Instant::now();
        let next = self.entries.iter_mut().map(|entry| entry.look(now + PROGRESS_TIMEOUT)).min();
        self.next = now + next.unwrap_or(CHECK_INTERVAL);
        if self.entries.iter().any(|entry| entry.quiet >= MAX_QUIET_CHECKS) {
            self.forget();
        }
    }

    fn forget(&mut self) {
        let quiet = |entry: &WatchedRing| entry.quiet >= MAX_QUIET_CHECKS;
        for entry in self.entries.iter().filter(|entry| quiet(entry)) {
            entry.owed.last.forget();
        }
        asymmetric::heavy();
        self.entries.retain(|entry| !quiet(entry) || !entry.owed.last.is_over(entry.last));
    }

    pub fn end(&mut self, guard: &Guard) {
        self.entries = Vec::new();
        let left = guard.new.lock().take();
        drop(left);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod model;
