//! The links of a process, and the progress of all their connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use host::cold_path;
use host::lock::{Mutex, RwLock};
use host::memory::{self, NoMemory};
use host::pause::Pause;

use super::Link;
use crate::control_region::ControlRegion;
use crate::hot::Hot;
use crate::pending::Pending;

/// The links of a process, and the progress of all their connections.
pub struct Links {
    /// The memory that the process publishes.
    pub control: Arc<ControlRegion>,
    all: RwLock<Vec<Arc<Link>>>,
    progress: CachePadded<Progress>,
}

impl Links {
    /// No links yet, of a process that publishes `control`.
    pub fn new(control: ControlRegion) -> Result<Self, NoMemory> {
        Ok(Links { control: memory::arc(control)?, all: RwLock::default(), progress: CachePadded::default() })
    }

    /// Adds a link; its connections are looked after from now on.
    pub fn add(&self, link: &Arc<Link>) {
        self.all.write().push(link.clone());
        self.progress.polled.lock().links.push(link.clone());
    }

    /// Takes a link off.
    pub fn remove(&self, link: &Arc<Link>) {
        self.all.write().retain(|known| !Arc::ptr_eq(known, link));
        self.progress.polled.lock().links.retain(|known| !Arc::ptr_eq(known, link));
    }

    /// Handles what has arrived, unless another thread does for longer than a moment.
    #[inline]
    pub fn poll(&self) {
        self.control.note_poll();
        if let Some(mut polled) = self.progress.polled.try_lock() {
            self.round(&mut polled, true);
            drop(polled);
            // Connections that ended meanwhile were left to this thread, which may not poll again.
            if self.progress.any_dead.load(Ordering::Relaxed) {
                self.forget_dead();
            }
            return;
        }
        // Another thread may have put a message into the program's memory and be about to queue its completion, which the
        // caller, having seen the message, now expects. That thread has ended its round then, or this one has.
        self.round_with_others(1, Some(PATIENCE));
    }

    /// As [`Links::poll`], for the node's own thread, which is no caller; true if anything had arrived, `None` if another
    /// thread is at it.
    pub fn look(&self) -> Option<bool> {
        self.progress.polled.try_lock().map(|mut polled| self.round_once(&mut polled))
    }

    /// As [`Links::look`], for waits that sleep: leaves what has arrived to another thread only if that takes long.
    pub fn serve(&self) {
        self.round_with_others(2, Some(PATIENCE));
    }

    /// Handles what has arrived, after any other thread that does.
    pub fn settle(&self) {
        // Of two rounds that end from now on, the second begins after all that has arrived by now.
        self.round_with_others(2, None);
    }

    /// Handles what has arrived, for another thread than a caller's.
    #[inline(never)]
    fn round_once(&self, polled: &mut Polled) -> bool {
        if self.progress.any_dead.load(Ordering::Acquire) {
            self.drop_dead(&mut polled.hot);
        }
        self.round(polled, false)
    }

    /// Handles what has arrived; `caller` says whether a caller polls, who will poll again.
    #[inline(always)]
    fn round(&self, polled: &mut Polled, caller: bool) -> bool {
        self.control.rounds.begin(polled.hot.records());
        let mut any = polled.hot.poll(&self.control);
        if polled.links.iter().any(|link| link.peer_segment.may_be_ready()) {
            cold_path();
            any |= self.go_on(polled, caller);
        }
        let rounds = self.progress.rounds.load(Ordering::Relaxed);
        // Release: a thread that finds the round ended finds what it has queued. There is one round at a time.
        self.progress.rounds.store(rounds.wrapping_add(1), Ordering::Release);
        any
    }

    /// Lets the connections go on that have their ready bits set; true if there are any.
    #[inline(never)]
    fn go_on(&self, polled: &mut Polled, caller: bool) -> bool {
        let Polled { links, hot } = polled;
        let mut any = false;
        for link in links.iter().filter(|link| link.peer_segment.may_be_ready()) {
            any |= link.peer_segment.take_ready(|side, index| {
                if let Some((_, conn)) = link.conn(side, index) {
                    conn.progress();
                    if caller && !conn.is_hot() {
                        hot.on_ready(&conn, &self.control, || self.may_heat());
                    }
                }
            });
        }
        any
    }

    /// Makes a round when it is the caller's turn, unless other threads end `count` rounds before, or `limit` is over. A
    /// thread that makes one round after another may never leave the lock free for long enough for a wait for the lock alone.
    #[cold]
    #[inline(never)]
    fn round_with_others(&self, count: u64, limit: Option<Duration>) {
        let before = self.progress.rounds.load(Ordering::Acquire);
        let start = Instant::now();
        let mut pause = Pause::new();
        loop {
            if let Some(mut polled) = self.progress.polled.try_lock() {
                self.round_once(&mut polled);
                return;
            }
            if self.progress.rounds.load(Ordering::Acquire).wrapping_sub(before) >= count {
                return;
            }
            if !pause.is_short() && limit.is_some_and(|limit| start.elapsed() > limit) {
                return;
            }
            pause.pass();
        }
    }

    /// True if connections may be polled from now on, because peers do not ring for a sleeper.
    #[cold]
    fn may_heat(&self) -> bool {
        if !self.control.is_awake() {
            return false;
        }
        // Polled connections are news for a thread that is about to sleep, whose look behind its fence is `cool`.
        self.progress.any_hot.store(true, Ordering::Relaxed);
        self.control.is_still_awake()
    }

    /// Ends the polling of connections, because somebody is about to sleep, and the word for peers says so already.
    #[inline]
    fn cool(&self) {
        if self.progress.any_hot.load(Ordering::Relaxed) {
            let mut polled = self.progress.polled.lock();
            self.progress.any_hot.store(false, Ordering::Relaxed);
            if !polled.hot.is_empty() {
                polled.hot.cool_all(&self.control);
            }
        }
    }

    /// Drops the connections that are over. If a thread makes progress, the next round does that.
    pub fn forget_dead(&self) {
        // A swap, so that the thread that clears the flag sees the ends of all that have set it.
        self.progress.any_dead.swap(true, Ordering::Release);
        if let Some(mut polled) = self.progress.polled.try_lock() {
            self.drop_dead(&mut polled.hot);
        }
    }

    #[cold]
    fn drop_dead(&self, hot: &mut Hot) {
        // The ends before are visible from here. Connections that end later set the flag again.
        self.progress.any_dead.swap(false, Ordering::Acquire);
        hot.forget_dead();
    }

    /// True if anything is left to be handled once nobody polls.
    fn any_news(&self) -> bool {
        self.cool();
        self.all.read().iter().any(|link| link.peer_segment.any_ready())
    }

    /// Prepares a waiter for sleep: see [`ControlRegion::arm`].
    pub fn arm(&self, requests: bool) -> Option<u32> {
        self.control.arm(requests, || self.any_news(), || self.look().is_some())
    }

    /// Ends what [`Links::arm`] began: see [`ControlRegion::disarm`].
    pub fn disarm(&self, sleep: Option<u32>, requests: bool) {
        self.control.disarm(sleep, requests, || self.any_news());
    }

    /// Notes whether an agent waits for news although no thread calls in: see [`ControlRegion::expect_agent`].
    pub fn expect_agent(&self, on: bool) {
        self.control.expect_agent(on, || self.any_news());
    }

    /// The thread is going to sleep for as long as nobody rings; false if there is news, so that it must not.
    pub fn thread_asleep(&self) -> bool {
        self.control.thread_asleep(|| self.any_news())
    }

    /// The transfers that peers have under way, to memory that was closed to them before, and to other.
    pub fn transfers(&self) -> Option<Pending> {
        Pending::new(&self.control, self.all.read().iter().map(|link| &link.peer_segment))
    }

    /// Waits until no peer uses memory that was closed to peers before the call. Called with no lock that another
    /// connection needs.
    pub fn await_peers(&self) {
        if let Some(pending) = self.transfers() {
            pending.wait(&self.control);
        }
    }
}

/// The links again, and the connections that are polled, for the thread that makes progress.
#[derive(Default)]
struct Polled {
    links: Vec<Arc<Link>>,
    hot: Hot,
}

/// What the progress of a process needs.
#[derive(Default)]
struct Progress {
    polled: Mutex<Polled>,
    /// Connections may be polled.
    any_hot: AtomicBool,
    /// Connections that are polled may be over.
    any_dead: AtomicBool,
    /// Rounds that have ended. The holder of the lock alone counts.
    rounds: AtomicU64,
}

/// The longest that a caller waits for another thread that handles arrived data.
const PATIENCE: Duration = Duration::from_millis(5);
