//! Records that change the peer's memory, for which its program may be waiting that looks at its memory and makes no call.
//!
//! While the peer's callers poll, it is left to them to carry such a record out: to wake its thread would take the
//! processor, and the locks, from a program that is about to poll. Should they not poll, the thread of this process does
//! something about it, so that it needs no call: if the peer does not get on for a moment, it takes the record back, if that
//! can be, and otherwise wakes the peer.
//! The thread ticks only while there are such records, and shortly after. A tick costs a program that has the same processor
//! some ten microseconds.
//!
//! A connection whose peer had to be woken is not trusted for a while: the next such records wake it at once, see
//! [`Trust`].

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

/// Time between two looks of the thread.
const TICK: Duration = Duration::from_micros(700);
/// The same where a peer is to be woken unless it gets on until then, since that costs it more than taking records back.
const GRACE: Duration = Duration::from_micros(250);
/// Time in which peers that poll get on, unless they copy: so long the thread waits for all of them at a look.
const MOMENT: Duration = Duration::from_micros(10);
/// Ticks without a new record after which a connection is no longer watched.
const LINGER: u32 = 8;
/// Records that wake the peer at once after it had to be woken: at first, and the most, to which they double. One that was
/// left to the peer in vain comes a tick late, or more.
const WARY_MIN: u32 = 16;
const WARY_MAX: u32 = 4096;
/// Records in time after which the first number counts again: a program that polls loses its processor now and then.
const TRUSTWORTHY: u32 = 512;

/// The last record of a connection that the thread is to watch.
struct Last {
    /// Where it ends.
    end: Position,
    /// The thread watches the connection, or finds it among the new ones.
    watched: Flag,
}

impl Last {
    fn new() -> Self {
        Last { end: Position::new(0), watched: Flag::new(false) }
    }

    /// There is another record; false if [`Last::begin`] is to be called.
    #[inline]
    fn set(&self, end: u64) -> bool {
        // SYNC owed: this store, the fence, the load below; in `is_over` the store that says that it is not watched, the heavy
        // fence before the load of the position. So the thread sees the record, or the caller adds the connection again.
        self.end.store(end, Ordering::Release);
        asymmetric::light();
        self.watched.load(Ordering::Relaxed)
    }

    /// The connection is to be watched; true if the caller is to add it to the new ones.
    fn begin(&self) -> bool {
        !self.watched.swap(true, Ordering::Relaxed)
    }

    /// The end of the last record.
    fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// The connection is no longer watched. [`asymmetric::heavy`] and then [`Last::is_over`] follow.
    fn forget(&self) {
        self.watched.store(false, Ordering::Relaxed);
    }

    /// False if the thread is to go on, because there is another record than the one that it has `seen` and nobody else has
    /// added the connection.
    fn is_over(&self, seen: u64) -> bool {
        // SYNC owed: see `set`.
        self.end() == seen || !self.begin()
    }
}

/// What is owed to the peer over a connection.
pub struct Owed {
    peer_segment: Arc<PeerSegment>,
    /// The ring of requests of this side.
    ring: Mapped,
    last: Last,
    /// The place of the connection, and the side of this process.
    index: u32,
    side: u8,
    /// There are short writes or reads, which this process takes back: see [`tx`](crate::tx).
    short: AtomicBool,
    /// The peer had to be woken.
    late: AtomicBool,
}

impl Owed {
    /// Nothing is owed yet over the connection with this ring of requests.
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

    /// Notes whether there are records that this process takes back: the thread then does that before it wakes the peer.
    #[inline]
    pub fn set_short(&self, short: bool) {
        if self.short.load(Ordering::Relaxed) != short {
            self.short.store(short, Ordering::Relaxed);
        }
    }

    /// True, once, if the peer had to be woken since the last call.
    #[inline]
    fn take_late(&self) -> bool {
        self.late.load(Ordering::Relaxed) && self.late.swap(false, Ordering::Relaxed)
    }
}

/// Whether a peer is trusted to carry records out by itself. Changes under the lock of the sending direction.
#[derive(Default)]
pub struct Trust {
    /// Records that still wake the peer at once.
    wary: u32,
    /// How many it is next time.
    term: u32,
    /// Records since it was trusted last that did not have to wake it.
    kept: u32,
}

impl Trust {
    /// Counts another record; true if it is left to the peer's callers.
    #[inline]
    pub fn next(&mut self, owed: &Owed) -> bool {
        self.after(owed.take_late(), WARY_MAX)
    }

    /// The same; `late` says that the peer had to be woken, or did not get to records in time. Then at most `most` records are
    /// not left to it.
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

/// What is owed by this process, as long as its thread has not seen it; `None` once that has ended.
pub struct Guard {
    new: Mutex<Option<Vec<Arc<Owed>>>>,
    /// Wakes the thread for this alone: the bell of the node would have it look after what has arrived as well.
    pub wakeup_fd: EventFd,
}

impl Guard {
    /// Nothing is owed.
    pub fn new() -> io::Result<Self> {
        Ok(Guard { new: Mutex::new(Some(Vec::new())), wakeup_fd: EventFd::new()? })
    }

    /// Has the thread watch a record that ends at `position`. False if that cannot be had.
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

/// A record that the thread watches.
struct WatchedRing {
    owed: Arc<Owed>,
    /// The last record that was seen.
    last: u64,
    /// Where the peer was at the last look, if that was not far enough.
    waits: Option<u64>,
    /// Where the peer was when it was woken last.
    woken: Option<u64>,
    /// Looks without a new record.
    quiet: u32,
}

impl WatchedRing {
    fn new(owed: Arc<Owed>) -> Self {
        WatchedRing { owed, last: 0, waits: None, woken: None, quiet: 0 }
    }

    /// Where the peer is.
    fn head(&self) -> u64 {
        self.owed.ring.head().load(Ordering::Relaxed)
    }

    /// True if the peer is carrying out what comes behind `head`, or gets on from there until `end`.
    fn gets_on(&self, head: u64, end: Instant) -> bool {
        while !self.owed.ring.shared().claim.0.is_taken_behind(head) && self.head() == head {
            if Instant::now() >= end {
                return false;
            }
            hint::spin_loop();
        }
        true
    }

    /// Looks whether the peer has got on, or does until `end`. Gives the time to the next look.
    fn look(&mut self, end: Instant) -> Duration {
        let last = self.owed.last.end();
        let head = self.head();
        self.quiet = if last == self.last { self.quiet + 1 } else { 0 };
        self.last = last;
        if head >= last {
            self.waits = None;
            return TICK;
        }
        let short = self.owed.short.load(Ordering::Relaxed);
        if self.waits.replace(head) != Some(head) {
            self.quiet = 0;
            if !short {
                return GRACE;
            }
            if self.gets_on(head, end) {
                return TICK;
            }
        }
        if short {
            // This process looks, and copies what the peer has not got to.
            self.owed.peer_segment.mark(self.owed.side, self.owed.index, News::Record);
            self.owed.peer_segment.ring_own_thread();
        } else if self.woken != Some(head) {
            // Once for each position, since records may have to wait for a receive.
            self.woken = Some(head);
            self.owed.late.store(true, Ordering::Relaxed);
            if let Some(peer) = self.owed.peer_segment.peer() {
                peer.wake_thread();
            }
        }
        TICK
    }
}

/// What is owed by this process, as its thread watches it.
pub struct Watched {
    entries: Vec<WatchedRing>,
    /// There was no memory for those that are new.
    rnr: bool,
    /// The next tick.
    next: Instant,
}

impl Watched {
    /// Nothing is owed.
    pub fn new() -> Self {
        Watched { entries: Vec::new(), rnr: false, next: Instant::now() }
    }

    /// The longest that the thread may sleep, if there is anything to watch.
    pub fn pause(&self) -> Option<Duration> {
        let ticks = self.rnr || !self.entries.is_empty();
        ticks.then(|| self.next.saturating_duration_since(Instant::now()))
    }

    /// Watches what is new as well: the bell has rung.
    pub fn begin(&mut self, guard: &Guard) {
        guard.wakeup_fd.clear();
        if let Some(list) = &mut *guard.new.lock() {
            self.rnr = self.entries.room(list.len()).is_err();
            if !self.rnr {
                self.entries.extend(list.drain(..).map(WatchedRing::new));
            }
        }
    }

    /// Looks at all that is owed, if it is time.
    pub fn look(&mut self, guard: &Guard) {
        if self.pause() != Some(Duration::ZERO) {
            return;
        }
        if self.rnr {
            self.begin(guard);
        }
        let now = Instant::now();
        let next = self.entries.iter_mut().map(|entry| entry.look(now + MOMENT)).min();
        self.next = now + next.unwrap_or(TICK);
        if self.entries.iter().any(|entry| entry.quiet >= LINGER) {
            self.forget();
        }
    }

    /// Stops watching what has been quiet for long.
    fn forget(&mut self) {
        let quiet = |entry: &WatchedRing| entry.quiet >= LINGER;
        for entry in self.entries.iter().filter(|entry| quiet(entry)) {
            entry.owed.last.forget();
        }
        asymmetric::heavy();
        self.entries.retain(|entry| !quiet(entry) || !entry.owed.last.is_over(entry.last));
    }

    /// Ends all watching, because the thread ends.
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
