//! The memory that a process publishes to its peers: one word that says which thread to wake, and the table of its
//! registered memory. What wakes its threads is also here.
//!
//! # Who makes progress
//! Arrived data is handled by the threads that call in: a dequeue or a wait handles all data that arrived for any
//! connection of the process. When no thread calls in, one has to be woken, and the published word tells peers which
//! one: see [`sleep`](crate::sleep).
//!
//! # What peers see
//! The word, the table of regions and the alarm have a fixed size; each peer maps them once and closes the descriptor.
//! The table has all its rows from the beginning, as many as the limit for files allows, and takes memory for those in
//! use only.
//!
//! The progress thread is woken within the process by an eventfd that no other process has, and by a peer with
//! `Message::Ring` on the socket of the link. That message says nothing; since any packet wakes the watch, a ring that
//! finds the socket full is not lost. So a peer that makes its descriptors block, fills them or shuts them down harms
//! only its own link.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};

use crossbeam_utils::CachePadded;
use dat_core::transport;
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
use crate::os::socket::Socket;
use crate::os::task;
use crate::regions::{self, PeerRegions, RegionTable};
use crate::sleep::{AWAKE, News, Sleepers, THREAD, is_late, load_behind, tell, watcher};
use crate::wire::{Probe, RING};

/// Bytes of published memory apart from the table of regions.
const HOME_SIZE: usize = 4096;

/// Where the word is that tells which thread to wake, and in another cache line the number of the door.
const WORD: usize = 0;
const DOOR: usize = 64;
/// Where it says whether the process ends its polling with a fence for its peers: see [`ControlRegion::fence_peers`].
const FENCES: usize = 128;

/// Callers poll this often before peers stop ringing for the thread.
const POLLS_BEFORE_AWAKE: u32 = 64;

/// Counts of the calls of callers.
#[derive(Default)]
struct Callers {
    polls: AtomicU32,
    /// Polls in a row while peers ring for the thread.
    loops: AtomicU32,
    /// A caller has asked the thread to spare peers the bell.
    asked: AtomicBool,
}

/// What this process publishes.
pub struct ControlRegion {
    file: SharedFile,
    word: InShared<AtomicU32>,
    /// The thread through which peers reach the memory of this process.
    pub copy_target: CopyTargetThread,
    /// The registered memory of this process.
    pub regions: RegionTable,
    /// The rounds of progress, between whose turns copying is shared.
    pub rounds: Rounds,
    /// The bell of the progress thread, for this process.
    pub wakeup_fd: EventFd,
    /// Records that the progress thread is to watch.
    pub guard: Guard,
    /// The alarm of a wait that watches for itself.
    pub alarm: Arc<Alarm>,
    /// Who sleeps in this process. The published word changes under this lock alone.
    pub sleepers: CachePadded<Mutex<Sleepers>>,
    callers: CachePadded<Callers>,
    /// A random value that peers read to find out if they can.
    probe: Box<u64>,
    own_proc: OnceCell<bool>,
    /// Links are to be ended.
    ends: AtomicBool,
    /// This process makes fences for its peers, and they for it.
    pub fences: bool,
}

impl ControlRegion {
    /// Publishes an empty table of regions; peers are to wake the thread.
    pub fn new() -> io::Result<ControlRegion> {
        let (file, published) = SharedMemory::create("dat-shm-home", HOME_SIZE, Access::ReadOnly)?;
        let published = memory::arc(published)?;
        let fences = barrier::register();
        // The first call may take long.
        asymmetric::available();
        published.at::<AtomicU32>(FENCES)?.store(fences.into(), Ordering::Relaxed);
        let word = published.place::<AtomicU32>(WORD)?;
        let mut probe = [0; 8];
        getrandom(&mut probe, GetRandomFlags::empty())?;
        let control = ControlRegion {
            copy_target: CopyTargetThread::new(published.place(DOOR)?),
            word,
            file,
            regions: regions::publish()?,
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
        // The thread, once it runs, sleeps until it is rung.
        control.thread_asleep(|| false);
        Ok(control)
    }

    /// The second step of ending to poll: a fence for this process, and for peers that make none themselves because they
    /// rely on it.
    #[cold]
    pub fn fence_peers(&self) {
        // SYNC polled: that this side polls no more was stored before, and it looks at slots and positions behind this,
        // under the locks of the connection. Pairs with the fence in `End::tell_peer`.
        fence(Ordering::SeqCst);
        if self.fences {
            barrier::everywhere();
        }
    }

    /// True while callers poll, and nobody sleeps.
    #[inline]
    pub fn is_awake(&self) -> bool {
        watcher(self.word.load(Ordering::Relaxed)) == AWAKE
    }

    /// The same, behind all that this thread has stored: a thread that sleeps from now on finds that.
    pub fn is_still_awake(&self) -> bool {
        watcher(load_behind::<AtomicU32>(|| self.word.load(Ordering::Acquire))) == AWAKE
    }

    /// The descriptors that a peer opens as a [`Peer`], in its order.
    pub fn fds(&self) -> [BorrowedFd<'_>; 3] {
        [&self.file, &self.regions.mirror.file, &self.alarm.file].map(SharedFile::fd)
    }

    /// The value that the process `pid` reads to find out if it can. One that this process does not see is not to copy:
    /// nobody could tell whether it still does when it is stopped.
    pub fn probe(&self, pid: i32) -> Probe {
        if task::is_visible(pid) && self.is_own_proc().unwrap_or(false) {
            Probe { addr: (&raw const *self.probe).expose_provenance() as u64, value: *self.probe }
        } else {
            Probe { addr: 0, value: 0 }
        }
    }

    /// Whether /proc numbers processes as this process does. That is looked up once, since it is asked for every peer.
    ///
    /// # Errors
    /// It could not be found out.
    fn is_own_proc(&self) -> io::Result<bool> {
        self.own_proc.get_or_try_init(task::is_own_proc).copied()
    }

    /// True if `tid` is a thread of the process `pid`, and both that process and this one number it so.
    ///
    /// # Errors
    /// It could not be found out, for want of a descriptor or memory.
    pub fn is_thread(&self, pid: i32, tid: i32) -> io::Result<bool> {
        Ok(task::is_thread(pid, tid)? && self.is_own_proc()?)
    }

    /// Has the thread end the links whose peers break the rules.
    pub fn end_links(&self) {
        self.ends.store(true, Ordering::Release);
        self.wakeup_fd.wake();
    }

    /// True if there are links to be ended, once for each call of [`ControlRegion::end_links`] or several.
    pub fn take_ends(&self) -> bool {
        self.ends.swap(false, Ordering::AcqRel)
    }

    /// Wakes the thread that sleeps in this process, if one does until there is such news, and returns whether it did. The news
    /// were published before.
    #[inline]
    pub fn wake(&self, news: News) -> bool {
        let alarm = |sleep| self.alarm.word.ring_for(sleep);
        tell::<AtomicU32>(news, || self.word.load(Ordering::Acquire), alarm, || self.wakeup_fd.wake())
    }

    /// Counts a caller that polls.
    #[inline]
    pub fn note_poll(&self) {
        // The count only tells the thread that callers poll: a lost one does no harm.
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

    /// Callers poll in a loop: peers are to be spared the bell, but the thread is to look in from now on, in case they stop.
    #[cold]
    #[inline(never)]
    fn ask_to_be_spared(&self) {
        self.callers.loops.store(0, Ordering::Relaxed);
        self.callers.asked.store(true, Ordering::Release);
        self.wakeup_fd.wake();
    }

    /// The number of polls so far; it changes while callers poll.
    pub fn polls(&self) -> u32 {
        self.callers.polls.load(Ordering::Relaxed)
    }

    /// True if a caller has asked the thread to spare peers the bell, since the last call.
    pub fn take_asked(&self) -> bool {
        self.callers.asked.swap(false, Ordering::AcqRel)
    }

    /// Prepares a wait for sleep, with `requests` one for the completion of requests among others. If it is the only one, it
    /// becomes the leader, and sleeps while the alarm's word is what is returned. `any_news` is true if anything has arrived;
    /// `look` handles that, and returns false if another thread is at it.
    pub fn arm(&self, requests: bool, any_news: impl FnOnce() -> bool, look: impl FnOnce() -> bool) -> Option<u32> {
        self.callers.loops.store(0, Ordering::Relaxed);
        let sleep = self.sleepers.lock().add(&*self.word, transport::Alarm::word(&*self.alarm), requests);
        if is_late::<AtomicU32>(any_news) {
            match sleep {
                Some(_) => self.alarm.silence(),
                None if look() => {}
                // That thread may be one of the program's, and end without another look.
                None => self.wakeup_fd.wake(),
            }
        }
        sleep
    }

    /// Ends what [`ControlRegion::arm`] began, which returned `sleep`.
    pub fn disarm(&self, sleep: Option<u32>, requests: bool, any_news: impl FnOnce() -> bool) {
        let led = self.sleepers.lock().remove(&*self.word, sleep, requests);
        if led && is_late::<AtomicU32>(any_news) {
            self.wakeup_fd.wake();
        }
    }

    /// Notes whether an agent waits for news although no thread of the program calls in. The calls come in pairs.
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
            self.wake(News::Completion);
        }
    }

    /// The sleep of a wait that watches for itself, was rung, and has not looked since.
    pub fn rung_leader(&self) -> Option<u32> {
        self.sleepers.lock().rung(transport::Alarm::word(&*self.alarm))
    }

    /// The thread is awake, and looks in the place of a wait that watched for itself.
    pub fn thread_takes_over(&self) {
        self.sleepers.lock().thread_takes_over(&*self.word);
    }

    /// The thread is awake, so that nobody needs to ring for it, and looks.
    pub fn thread_awake(&self) {
        self.sleepers.lock().thread_awake(&*self.word);
    }

    /// The thread is going to sleep for as long as nobody rings; false if there is news, so that it must not.
    pub fn thread_asleep(&self, any_news: impl FnOnce() -> bool) -> bool {
        let watches = self.sleepers.lock().thread_asleep(&*self.word);
        !(watches && is_late::<AtomicU32>(any_news))
    }
}

/// What another process has published.
pub struct Peer {
    published: SharedMemory,
    /// The peer's registered memory.
    pub regions: PeerRegions,
    alarm: AlarmWord,
    /// The socket of the link, which is the bell of the peer's thread.
    socket: Arc<Socket>,
    /// A value in the peer's memory, to find out if this process reaches that.
    pub probe: Probe,
}

impl Peer {
    /// Opens the [`ControlRegion::fds`] that a peer sent over `socket`. Nothing of them stays open once they are mapped.
    ///
    /// # Errors
    /// `InvalidData` if they are not what a peer publishes; what the system says.
    pub fn open([published, regions, alarm]: [OwnedFd; 3], socket: Arc<Socket>, probe: Probe) -> io::Result<Peer> {
        Ok(Peer {
            published: SharedMemory::open(published, HOME_SIZE..=HOME_SIZE, Access::ReadOnly)?.1,
            regions: PeerRegions::open(regions)?,
            alarm: AlarmWord::open(alarm)?,
            socket,
            probe,
        })
    }

    /// Wakes the peer's thread that sleeps, if one does until there is such news, and returns whether it did. The news were
    /// published before.
    #[inline]
    pub fn wake(&self, news: News) -> bool {
        let alarm = |sleep| self.alarm.ring_for(sleep);
        tell::<AtomicU32>(news, || self.word(), alarm, || self.wake_thread())
    }

    /// True if the peer ends its polling with a fence for this process.
    pub fn fences_peers(&self) -> bool {
        self.published.view::<View<AtomicU32>>(FENCES).is_ok_and(|word| word.load() == 1)
    }

    #[inline]
    fn word(&self) -> u32 {
        self.published.view::<View<AtomicU32>>(WORD).map_or(AWAKE, View::load)
    }

    /// True if [`Peer::wake`] wakes a thread now for a record.
    pub fn sleeps(&self) -> bool {
        watcher(self.word()) != AWAKE
    }

    /// Wakes the peer's node thread, also if callers are said to poll.
    ///
    /// The ring is a message on the socket of the link. What has no room there finds enough unread to wake the thread, since
    /// whatever it reads from a peer is a ring to it.
    pub fn wake_thread(&self) {
        self.socket.send_byte(RING);
    }

    /// The number of the thread through which the peer's memory is reached, as the peer counts; 0 for none.
    #[inline]
    pub fn copy_target(&self) -> u32 {
        self.published.view::<View<AtomicU32>>(DOOR).map_or(0, View::load)
    }
}

#[cfg(test)]
mod tests;
