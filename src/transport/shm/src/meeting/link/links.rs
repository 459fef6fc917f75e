use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use dat_census::{Copies, copies};
use host::cold_path;
use host::lock::{Mutex, RwLock};
use host::memory::{self, NoMemory};
use host::pause::Pause;

use super::Link;
use crate::control_region::ControlRegion;
use crate::hot::Hot;
use crate::peer_segment::PeerSegment;
use crate::pending::Pending;

pub struct Links {
    pub control: Arc<ControlRegion>,
    all: RwLock<Vec<Arc<Link>>>,
    progress: CachePadded<Progress>,
}

impl Links {
    pub fn new(control: ControlRegion) -> Result<Self, NoMemory> {
        Ok(Links { control: memory::arc(control)?, all: RwLock::default(), progress: CachePadded::default() })
    }

    pub fn add(&self, link: &Arc<Link>) {
        self.all.write().push(link.clone());
        self.progress.polled.lock().links.push(link.clone());
    }

    pub fn remove(&self, link: &Arc<Link>) {
        self.all.write().retain(|known| !Arc::ptr_eq(known, link));
        self.progress.polled.lock().links.retain(|known| !Arc::ptr_eq(known, link));
    }

    /// Returns the number of peers, the number of peers to which this process copies directly, and an obstacle to
    /// direct copies, if any. `wanted` is `false` if this process forbids direct copies.
    pub fn copies(&self, wanted: bool) -> Copies {
        let is_peer = |segment: &&Arc<PeerSegment>| !segment.is_local() && !segment.is_dead();
        // Cloned, because the obstacles are read from /proc, and no call should wait for the lock during these reads.
        let peers: Vec<_> = self.all.read().iter().map(|link| &link.peer_segment).filter(is_peer).cloned().collect();
        let obstacle = match peers.len() {
            0 => copies::obstacle(wanted),
            _ => peers.iter().find_map(|segment| segment.obstacle(wanted)),
        };
        let direct = peers.iter().filter(|segment| segment.reads_peer.get()).count();
        Copies { peers: peers.len() as u64, direct_peers: direct as u64, obstacle }
    }

    /// Processes arrived data. If another thread is doing that, waits up to [`POLL_TIMEOUT`] for the end of its round.
    #[inline]
    pub fn poll(&self) {
        self.control.note_poll();
        if let Some(mut polled) = self.progress.polled.try_lock() {
            self.round(&mut polled, true);
            drop(polled);
            // Other threads leave connections that ended during the round to this thread.
            if self.progress.any_dead.load(Ordering::Relaxed) {
                self.forget_dead();
            }
            return;
        }
        // Another thread polls. It may have stored a message's bytes, which the program can see, but not yet the
        // completion. So this call waits for the end of a round.
        self.round_with_others(1, Some(POLL_TIMEOUT));
    }

    /// Processes arrived data. Returns `false`, without waiting, if another thread polls.
    pub fn look(&self) -> bool {
        self.progress.polled.try_lock().map(|mut polled| self.round_once(&mut polled)).is_some()
    }

    /// Processes arrived data on behalf of sleeping waits. If another thread polls, waits up to [`POLL_TIMEOUT`] for
    /// two rounds, because the first may have missed the data.
    pub fn serve(&self) {
        self.round_with_others(2, Some(POLL_TIMEOUT));
    }

    /// Processes all data that has arrived before the call.
    pub fn settle(&self) {
        // If two rounds end after the call starts, the second round has started after it.
        self.round_with_others(2, None);
    }

    #[inline(never)]
    fn round_once(&self, polled: &mut Polled) {
        if self.progress.any_dead.load(Ordering::Acquire) {
            self.drop_dead(&mut polled.hot);
        }
        self.round(polled, false);
    }

    /// Executes a round: processes arrived data of all connections. `caller` is set if this thread will poll again.
    #[inline(always)]
    fn round(&self, polled: &mut Polled, caller: bool) {
        self.control.rounds.begin(polled.hot.records());
        polled.hot.poll(caller);
        if polled.links.iter().any(|link| link.peer_segment.may_be_ready()) {
            cold_path();
            self.go_on(polled, caller);
        }
        let rounds = self.progress.rounds.load(Ordering::Relaxed);
        // Release: a thread that sees the end of the round sees the completions. Only the lock's holder stores.
        self.progress.rounds.store(rounds.wrapping_add(1), Ordering::Release);
    }

    #[inline(never)]
    fn go_on(&self, polled: &mut Polled, caller: bool) {
        let Polled { links, hot } = polled;
        for link in links.iter().filter(|link| link.peer_segment.may_be_ready()) {
            link.peer_segment.take_ready(|side, index| {
                if let Some((_, conn)) = link.conn(side, index) {
                    conn.progress();
                    if caller && !conn.is_hot() {
                        hot.on_ready(&conn, &self.control, || self.may_heat());
                    }
                }
            });
        }
    }

    /// Executes a round, unless other threads first end `count` rounds or `limit` expires. Waiting for the lock is not
    /// enough: a thread that polls in a loop may hold it for long.
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

    /// Returns whether connections may enter the polled set: only while no thread sleeps.
    #[cold]
    fn may_heat(&self) -> bool {
        if !self.control.is_awake() {
            return false;
        }
        // A thread about to sleep stops the polling in `stop_polling`, after its fence.
        self.progress.any_hot.store(true, Ordering::Relaxed);
        self.control.is_still_awake()
    }

    /// Empties the polled set. Called after the published word shows a thread asleep: only connections outside the set
    /// get ready bits, with which peers wake that thread.
    #[inline]
    fn stop_polling(&self) {
        if self.progress.any_hot.load(Ordering::Relaxed) {
            let mut polled = self.progress.polled.lock();
            self.progress.any_hot.store(false, Ordering::Relaxed);
            if !polled.hot.is_empty() {
                polled.hot.cool_all(&self.control);
            }
        }
    }

    /// Removes closed connections from the polled set. If another thread polls, that thread or a later poll does so.
    pub fn forget_dead(&self) {
        // A swap orders the thread that clears the flag after all threads that set it.
        self.progress.any_dead.swap(true, Ordering::Release);
        if let Some(mut polled) = self.progress.polled.try_lock() {
            self.drop_dead(&mut polled.hot);
        }
    }

    #[cold]
    fn drop_dead(&self, hot: &mut Hot) {
        // Connections that ended earlier are visible after this swap. Those that end later set the flag again.
        self.progress.any_dead.swap(false, Ordering::Acquire);
        hot.forget_dead();
    }

    fn any_news(&self) -> bool {
        self.stop_polling();
        self.all.read().iter().any(|link| link.peer_segment.any_ready())
    }

    pub fn arm(&self, requests: bool) -> Option<u32> {
        self.control.arm(requests, || self.any_news(), || self.look())
    }

    pub fn disarm(&self, sleep: Option<u32>, requests: bool) {
        self.control.disarm(sleep, requests, || self.any_news());
    }

    pub fn expect_agent(&self, on: bool) {
        self.control.expect_agent(on, || self.any_news());
    }

    pub fn thread_asleep(&self) -> bool {
        self.control.thread_asleep(|| self.any_news())
    }

    pub fn transfers(&self) -> Option<Pending> {
        Pending::new(&self.control, self.all.read().iter().map(|link| &link.peer_segment))
    }

    /// Waits until no peer accesses memory for which this process has revoked the access. Called without locks that
    /// another connection needs.
    pub fn await_peers(&self) {
        if let Some(pending) = self.transfers() {
            pending.wait(&self.control);
        }
    }
}

#[derive(Default)]
struct Polled {
    links: Vec<Arc<Link>>,
    hot: Hot,
}

#[derive(Default)]
struct Progress {
    polled: Mutex<Polled>,
    any_hot: AtomicBool,
    any_dead: AtomicBool,
    rounds: AtomicU64,
}

const POLL_TIMEOUT: Duration = Duration::from_millis(5);
