//! The published memory of a process (the word for wakeups, the table of registered memory), and the objects that wake
//! its threads ([`sleep`](crate::sleep)).
//!
//! The word, the table and the alarm have a fixed size, so peers map them once. The table has as many rows as the file
//! size limit allows, but only used rows take memory.
//!
//! Threads of this process wake the progress thread by an eventfd. A peer wakes that thread by `Message::Ring` on the
//! link's socket. Any unread packet wakes it too, so a full socket loses no wakeup. A malicious peer can block only the
//! wakeups of its own link.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};

use crossbeam_utils::CachePadded;
use dat_core::transport;
use dat_software::regions::RegionTable;
use host::event_fd::EventFd;
use host::lock::Mutex;
use host::{asymmetric, memory};
use once_cell::sync::OnceCell;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::alarm::{Alarm, AlarmWord};
use crate::budget::Rounds;
use crate::copy_target::CopyTargetThread;
use crate::guard::Guard;
use crate::os::barrier;
use crate::os::memory::{Access, InShared, SharedFile, SharedMemory, View};
use crate::os::task;
use crate::regions::{self, PeerRegions};
use crate::sleep::{AWAKE, Notice, Sleepers, THREAD, is_late, load_behind, tell, watcher};
use crate::wire::{Probe, RING};
use dat_census::socket::Socket;

/// Size of the memory with the published word, in bytes.
const HOME_SIZE: usize = 4096;

/// Offset of the published word ([`sleep`](crate::sleep)).
const WORD: usize = 0;
/// Offset of the target thread's id, in another cache line than the published word.
const TARGET_THREAD: usize = 64;
/// Offset of the published copy of [`ControlRegion::fences`], 0 or 1.
const FENCES: usize = 128;

/// Number of polls while [`THREAD`] is published, without a wait in between, after which a caller asks the progress
/// thread to publish [`AWAKE`].
const POLLS_BEFORE_AWAKE: u32 = 64;

#[derive(Default)]
struct Callers {
    polls: AtomicU32,
    loops: AtomicU32,
    asked: AtomicBool,
}

pub struct ControlRegion {
    file: SharedFile,
    word: InShared<AtomicU32>,
    pub copy_target: CopyTargetThread,
    pub regions: RegionTable,
    regions_file: SharedFile,
    pub rounds: Rounds,
    pub wakeup_fd: EventFd,
    pub guard: Guard,
    pub alarm: Arc<Alarm>,
    /// The published word changes only under this lock.
    pub sleepers: CachePadded<Mutex<Sleepers>>,
    callers: CachePadded<Callers>,
    /// A random value that peers read to test whether they can access this process's memory.
    probe: Box<u64>,
    own_proc: OnceCell<bool>,
    ends: AtomicBool,
    /// Set if this process is registered with membarrier(2). Its threads then take part in the fences of peers, and
    /// [`ControlRegion::fence_peers`] executes such fences in the peers.
    pub fences: bool,
}

impl ControlRegion {
    pub fn new() -> io::Result<ControlRegion> {
        let (file, published) = SharedMemory::create("dat-shm-home", HOME_SIZE, Access::ReadOnly)?;
        let published = memory::arc(published)?;
        let fences = barrier::register();
        asymmetric::available();
        published.at::<AtomicU32>(FENCES)?.store(fences.into(), Ordering::Relaxed);
        let word = published.place::<AtomicU32>(WORD)?;
        let mut probe = [0; 8];
        getrandom(&mut probe, GetRandomFlags::empty())?;
        let (regions_file, regions) = regions::publish()?;
        let control = ControlRegion {
            copy_target: CopyTargetThread::new(published.place(TARGET_THREAD)?),
            word,
            file,
            regions,
            regions_file,
            wakeup_fd: EventFd::new()?,
            guard: Guard::new()?,
            alarm: memory::arc(Alarm::new()?)?,
            rounds: Rounds::default(),
            sleepers: CachePadded::default(),
            callers: CachePadded::default(),
            probe: memory::boxed(u64::from_ne_bytes(probe))?,
            own_proc: OnceCell::new(),
            ends: AtomicBool::new(false),
            fences,
        };
        control.thread_asleep(|| false);
        Ok(control)
    }

    /// Executes a full fence after the end of polling, in this process and in the peers that rely on this fence.
    #[cold]
    pub fn fence_peers(&self) {
        // SYNC polled: the caller has cleared the flag of polling before this call, and afterwards checks the rings and
        // positions under the connection's locks. Pairs with the fence in `End::notify_peer`.
        fence(Ordering::SeqCst);
        if self.fences {
            barrier::everywhere();
        }
    }

    #[inline]
    pub fn is_awake(&self) -> bool {
        watcher(self.word.load(Ordering::Relaxed)) == AWAKE
    }

    /// Returns [`ControlRegion::is_awake`] after a fence: a thread that falls asleep after the check sees the caller's
    /// earlier stores.
    pub fn is_still_awake(&self) -> bool {
        watcher(load_behind::<AtomicU32>(|| self.word.load(Ordering::Acquire))) == AWAKE
    }

    pub fn fds(&self) -> [BorrowedFd<'_>; 3] {
        [&self.file, &self.regions_file, &self.alarm.file].map(SharedFile::fd)
    }

    /// Returns the address and value with which process `pid` tests its access to this process's memory;
    /// [`Probe::UNSEEN`] if this process cannot see process `pid` in /proc, or if /proc is of another pid namespace.
    pub fn probe(&self, pid: i32) -> Probe {
        if task::is_visible(pid) && self.is_own_proc().unwrap_or(false) {
            Probe { addr: (&raw const *self.probe).expose_provenance() as u64, value: *self.probe }
        } else {
            Probe::UNSEEN
        }
    }

    /// Returns the result of [`task::is_own_proc`], cached after the first call that does not fail.
    fn is_own_proc(&self) -> io::Result<bool> {
        self.own_proc.get_or_try_init(task::is_own_proc).copied()
    }

    /// Returns whether `tid` is a thread of process `pid`, in both processes' pid namespaces. Fails for lack of a
    /// descriptor or memory.
    pub fn is_thread(&self, pid: i32, tid: i32) -> io::Result<bool> {
        Ok(task::is_thread(pid, tid)? && self.is_own_proc()?)
    }

    pub fn end_links(&self) {
        self.ends.store(true, Ordering::Release);
        self.wakeup_fd.wake();
    }

    pub fn take_ends(&self) -> bool {
        self.ends.swap(false, Ordering::AcqRel)
    }

    /// Wakes the thread of this process that waits for data of the kind `notice`, which the caller has published.
    /// Returns whether this call woke a thread, as [`tell`] does.
    #[inline]
    pub fn wake(&self, notice: Notice) -> bool {
        let alarm = |sleep| self.alarm.word.ring_for(sleep);
        tell::<AtomicU32>(notice, || self.word.load(Ordering::Acquire), alarm, || self.wakeup_fd.wake())
    }

    #[inline]
    pub fn note_poll(&self) {
        // The counter is a hint, so a lost increment does no harm.
        let polls = self.callers.polls.load(Ordering::Relaxed);
        self.callers.polls.store(polls.wrapping_add(1), Ordering::Relaxed);
        if watcher(self.word.load(Ordering::Relaxed)) == THREAD {
            let loops = self.callers.loops.load(Ordering::Relaxed) + 1;
            self.callers.loops.store(loops, Ordering::Relaxed);
            if loops > POLLS_BEFORE_AWAKE {
                self.ask_to_be_spared();
            }
        }
    }

    /// Asks the progress thread to publish [`AWAKE`], so that peers wake no thread while the caller keeps polling.
    #[cold]
    #[inline(never)]
    fn ask_to_be_spared(&self) {
        self.callers.loops.store(0, Ordering::Relaxed);
        self.callers.asked.store(true, Ordering::Release);
        self.wakeup_fd.wake();
    }

    #[inline]
    pub fn polls(&self) -> u32 {
        self.callers.polls.load(Ordering::Relaxed)
    }

    pub fn take_asked(&self) -> bool {
        self.callers.asked.swap(false, Ordering::AcqRel)
    }

    /// Adds a wait that will sleep. Returns the number of its sleep, or `None`, as [`Sleepers::add`] does. `any_news`
    /// returns whether there is data. `look` handles the data, or returns `false` if another thread polls.
    pub fn arm(&self, requests: bool, any_news: impl FnOnce() -> bool, look: impl FnOnce() -> bool) -> Option<u32> {
        self.callers.loops.store(0, Ordering::Relaxed);
        self.callers.asked.store(false, Ordering::Relaxed);
        let sleep = self.sleepers.lock().add(&*self.word, transport::Alarm::word(&*self.alarm), requests);
        if is_late::<AtomicU32>(any_news) {
            match sleep {
                Some(_) => self.alarm.silence(),
                None if look() => {}
                // Another thread polls, and may have missed the data. If it is a caller, it might not poll again, so
                // the progress thread must.
                None => self.wakeup_fd.wake(),
            }
        }
        sleep
    }

    pub fn disarm(&self, sleep: Option<u32>, requests: bool, any_news: impl FnOnce() -> bool) {
        let led = self.sleepers.lock().remove(&*self.word, sleep, requests);
        if led && is_late::<AtomicU32>(any_news) {
            self.wakeup_fd.wake();
        }
    }

    pub fn expect_agent(&self, on: bool, any_news: impl FnOnce() -> bool) {
        {
            let mut sleepers = self.sleepers.lock();
            if !on {
                sleepers.remove_agent();
                return;
            }
            sleepers.add_agent(&*self.word);
        }
        if is_late::<AtomicU32>(any_news) {
            self.wake(Notice::Completion);
        }
    }

    pub fn rung_leader(&self) -> Option<u32> {
        self.sleepers.lock().rung(transport::Alarm::word(&*self.alarm))
    }

    pub fn thread_takes_over(&self) {
        self.sleepers.lock().thread_takes_over(&*self.word);
    }

    pub fn thread_awake(&self) {
        self.sleepers.lock().thread_awake(&*self.word);
    }

    /// Publishes that the progress thread sleeps, unless a leader watches. Returns `false` if the thread must not
    /// sleep, because there is data.
    pub fn thread_asleep(&self, any_news: impl FnOnce() -> bool) -> bool {
        let watches = self.sleepers.lock().thread_asleep(&*self.word);
        !(watches && is_late::<AtomicU32>(any_news))
    }
}

pub struct Peer {
    published: SharedMemory,
    pub regions: PeerRegions,
    alarm: AlarmWord,
    socket: Arc<Socket>,
    pub probe: Probe,
}

impl Peer {
    /// Maps the files of a peer's [`ControlRegion::fds`], and closes the descriptors. Fails with `InvalidData` for an
    /// invalid file, or with a system error.
    pub fn open([published, regions, alarm]: [OwnedFd; 3], socket: Arc<Socket>, probe: Probe) -> io::Result<Peer> {
        Ok(Peer {
            published: SharedMemory::open(published, HOME_SIZE..=HOME_SIZE, Access::ReadOnly)?.1,
            regions: PeerRegions::open(regions)?,
            alarm: AlarmWord::open(alarm)?,
            socket,
            probe,
        })
    }

    /// Does for the peer what [`ControlRegion::wake`] does for this process.
    #[inline]
    pub fn wake(&self, notice: Notice) -> bool {
        let alarm = |sleep| self.alarm.ring_for(sleep);
        tell::<AtomicU32>(notice, || self.word(), alarm, || self.wake_thread())
    }

    pub fn fences_peers(&self) -> bool {
        self.published.view::<View<AtomicU32>>(FENCES).is_ok_and(|word| word.load() == 1)
    }

    #[inline]
    fn word(&self) -> u32 {
        self.published.view::<View<AtomicU32>>(WORD).map_or(AWAKE, View::load)
    }

    /// Returns `false` if the peer has published [`AWAKE`]: its callers poll, and [`Peer::wake`] wakes no thread.
    pub fn sleeps(&self) -> bool {
        watcher(self.word()) != AWAKE
    }

    /// Wakes the peer's progress thread, even if callers of the peer poll. If the socket is full, its unread packets
    /// wake the thread.
    pub fn wake_thread(&self) {
        self.socket.send_byte(RING);
    }

    #[inline]
    pub fn copy_target(&self) -> u32 {
        self.published.view::<View<AtomicU32>>(TARGET_THREAD).map_or(0, View::load)
    }
}

#[cfg(test)]
mod tests;
