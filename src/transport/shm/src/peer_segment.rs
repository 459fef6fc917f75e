//! The memory that two processes share for all their connections.
//!
//! For each side, there is a page of *ready* bits, one per connection, and a table of transfers in progress. Each
//! direction of a connection has a ring for requests and a ring for responses, because responses must not wait for
//! receives. Side 0 is the process that connected the link. In its segment with itself, a process has both sides.
//!
//! The memory is a sealed memfd: bits and tables, then the rings of up to [`MAX_CONNS`] connections, 32 KiB for
//! requests and 16 KiB for responses per direction. A side extends the file by eight connections on demand, and maps
//! them before use, so a system limit fails only one call or connection. A pair with one idle connection takes 24 KiB
//! of the memfd, and about 44 KiB per side in total (`tests-c/stress/everyone`).
//!
//! The words `known`, `wanted` and `state` of an [`End`] are hints, stored Relaxed under the connection's locks and
//! loaded Relaxed by polls. Before a thread acts on a hint, it loads the peer's position with Acquire. Before a thread
//! sleeps, it checks the words under the connection's locks.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dat_census::copies::{self, Obstacle};
use host::lock::Mutex;
use host::memory::{self, NoMemory, Room};
use once_cell::sync::OnceCell;

use crate::control_region::{ControlRegion, Peer};
use crate::os::memory::{Access, InShared, SharedFile, SharedMemory};
use crate::os::vm;
use crate::ready;
use crate::ring::{Consumer, Mapped, Producer, RingShared, SLOT};
use crate::sleep::Notice;
use crate::transfers::{Own, TABLE, Table};
use crate::wire::Probe;

mod end;
mod replies;

pub use self::end::{Busy, End};

pub const RING_SLOTS: usize = 512;
pub const ANSWER_SLOTS: usize = 256;
pub const MAX_CONNS: u32 = 4096;

const READY: usize = 4096;
/// Number of words of ready bits. The summary has a bit for each.
const WORDS: usize = MAX_CONNS as usize / 64;

const TABLES: usize = 2 * READY;

const RINGS: usize = 64 * 1024;
const ANSWERS: usize = size_of::<RingShared>() + RING_SLOTS * SLOT;
const DIRECTION: usize = ANSWERS + size_of::<RingShared>() + ANSWER_SLOTS * SLOT;
const CHUNK: usize = 8;
const CHUNK_SIZE: usize = (CHUNK * 2 * DIRECTION).next_multiple_of(RINGS);
const CHUNKS: usize = MAX_CONNS as usize / CHUNK;
pub const HEAD: usize = RINGS;

const _: () = assert!(TABLES + 2 * TABLE <= HEAD);

/// Index in [`RingShared::flags`]: set by a request ring's producer when it closes its end of the connection.
const CLOSED: usize = 0;
/// Index in [`RingShared::flags`]: set by a request ring's producer while it polls, and needs no notifications.
const POLLED: usize = 1;

/// The bits of ready connections: the summary, then the words. The first seven words share the summary's cache line, so
/// the notification of one of the first 448 connections transfers one line.
type Ready = [AtomicU64; 1 + WORDS];

const REACHED: u64 = 1 << 32;
const TRIED: u64 = 1 << 33;
/// Maximum number of checks of the peer's target thread, if the peer replaces the thread during each.
const ATTEMPTS: u32 = 64;

#[derive(Default)]
pub struct Hint(AtomicBool);

impl Hint {
    #[inline]
    pub fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub fn set(&self, is: bool) {
        self.0.store(is, Ordering::Relaxed);
    }
}

pub struct PeerSegment {
    pub control: Arc<ControlRegion>,
    pub file: SharedFile,
    ready: [InShared<Ready>; 2],
    transfers: [InShared<Table>; 2],
    chunks: Mutex<Vec<Option<Arc<SharedMemory>>>>,
    /// The side of this process; `None` if it has both sides.
    side: Option<u8>,
    /// The ready bits that polls check: of both sides, or twice of the only side of this process.
    looked_at: [InShared<Ready>; 2],
    pub pid: i32,
    peer: OnceCell<Peer>,
    /// Id of the peer's target thread at the last check, with [`REACHED`] if this process can copy through that thread,
    /// otherwise with [`TRIED`].
    copy_target: AtomicU64,
    own: [Own; 2],
    /// For each side, a bit per word of ready bits, set once this process has used one of the word's connections.
    used: [AtomicU64; 2],
    /// Set if the peer's fence at the end of its polling also acts in this process, which then needs none per message.
    fenced: Hint,
    /// Set while this process can access the peer's memory.
    pub reads_peer: Hint,
    /// Set while the peer can access this process's memory.
    pub peer_reads: Hint,
    /// Set if a filter of system calls refused the copy that failed last.
    filtered: Hint,
    /// Set after `reads_peer` has become false, until the peer is notified of that.
    untold: AtomicBool,
    dead: AtomicBool,
    /// Set while a thread of the peer is in a transfer slot, but was last seen stopped, gone, or asleep outside of a
    /// copy.
    pub suspect: Hint,
    violated: AtomicBool,
    complained: AtomicBool,
}

impl PeerSegment {
    pub fn create(control: &Arc<ControlRegion>, side: Option<u8>) -> io::Result<PeerSegment> {
        let name = if side.is_some() { "dat-shm-pair" } else { "dat-shm-self" };
        PeerSegment::new(control, SharedMemory::create(name, HEAD, Access::Grow)?, side)
    }

    pub fn open(control: &Arc<ControlRegion>, fd: OwnedFd, side: u8) -> io::Result<PeerSegment> {
        PeerSegment::new(control, SharedMemory::open(fd, HEAD..=usize::MAX, Access::Grow)?, Some(side))
    }

    pub fn with(mut self, pid: i32) -> Result<Arc<PeerSegment>, NoMemory> {
        self.pid = pid;
        memory::arc(self)
    }

    fn new(
        control: &Arc<ControlRegion>,
        (file, memory): (SharedFile, SharedMemory),
        side: Option<u8>,
    ) -> io::Result<PeerSegment> {
        let memory = memory::arc(memory)?;
        let ready = |side: u8| memory.place(usize::from(side) * READY);
        Ok(PeerSegment {
            control: control.clone(),
            ready: [ready(0)?, ready(1)?],
            looked_at: [ready(side.unwrap_or(0))?, ready(side.unwrap_or(1))?],
            transfers: [memory.place(TABLES)?, memory.place(TABLES + TABLE)?],
            file,
            chunks: Mutex::default(),
            side,
            pid: std::process::id() as i32,
            peer: OnceCell::new(),
            copy_target: AtomicU64::new(0),
            own: Default::default(),
            used: Default::default(),
            fenced: Hint(AtomicBool::new(side.is_none() && control.fences)),
            reads_peer: Hint::default(),
            peer_reads: Hint::default(),
            filtered: Hint::default(),
            untold: AtomicBool::new(false),
            dead: AtomicBool::new(false),
            suspect: Hint::default(),
            violated: AtomicBool::new(false),
            complained: AtomicBool::new(false),
        })
    }

    #[inline]
    pub fn is_local(&self) -> bool {
        self.side.is_none()
    }

    #[inline]
    fn has_side(&self, side: u8) -> bool {
        self.side.is_none_or(|own| own == side)
    }

    #[inline]
    pub fn sides(&self) -> impl Iterator<Item = u8> + use<> {
        self.side.unwrap_or(0)..=self.side.unwrap_or(1)
    }

    pub fn active_side(&self) -> u8 {
        self.side.unwrap_or(0)
    }

    #[inline]
    pub fn peer(&self) -> Option<&Peer> {
        self.peer.get()
    }

    pub fn set_peer(&self, peer: Peer) {
        self.fenced.set(self.control.fences && peer.fences_peers());
        let _ = self.peer.set(peer);
    }

    /// Returns the id of the peer's thread through which this process copies to and from the peer; 0 if it cannot.
    pub fn copy_target(&self) -> libc::pid_t {
        let Some(peer) = self.peer() else { return 0 };
        let known = self.copy_target.load(Ordering::Relaxed);
        let published = peer.copy_target();
        if known as u32 == published && known & REACHED != 0 { published as i32 } else { self.try_copy_target(peer) }
    }

    #[cold]
    fn try_copy_target(&self, peer: &Peer) -> libc::pid_t {
        // Bounded, because a hostile peer can change the word without end.
        for _ in 0..ATTEMPTS {
            let published = peer.copy_target();
            let number = published as i32;
            let known = self.copy_target.load(Ordering::Relaxed);
            let reached = if known == u64::from(published) | TRIED {
                false
            } else {
                // If there is no descriptor or memory for the check, the previous result remains.
                peer.probe.addr != 0
                    && self.control.is_thread(self.pid, number).unwrap_or(known & REACHED != 0)
                    && (vm::probe(number, peer.probe.addr, peer.probe.value) || self.note_refusal())
            };
            let found = if reached { REACHED } else { TRIED };
            // A failure does not count if the peer has replaced the thread during the check.
            if reached || peer.copy_target() == published {
                self.copy_target.store(u64::from(published) | found, Ordering::Relaxed);
                return if reached { number } else { 0 };
            }
        }
        0
    }

    /// Notes whether a filter of system calls refused the copy that has just failed. Returns `false`, the copy's
    /// result.
    fn note_refusal(&self) -> bool {
        self.filtered.set(!copies::can_read_itself());
        false
    }

    /// Returns why this process does not copy from and to the peer's memory; `None` if it does, or is itself the peer.
    /// `wanted` is `false` if this process forbids copies.
    pub fn obstacle(&self, wanted: bool) -> Option<Obstacle> {
        let peer = self.peer().filter(|_| !self.reads_peer.get())?;
        let is_visible = || self.control.is_thread(self.pid, peer.copy_target() as i32).unwrap_or(true);
        Some(match peer.probe {
            _ if !wanted => Obstacle::Variable,
            Probe::UNWANTED => Obstacle::PeerVariable,
            Probe { addr: 0, .. } => Obstacle::Namespace,
            _ if !is_visible() => Obstacle::Namespace,
            _ if self.filtered.get() => Obstacle::Filter,
            _ => copies::obstacle(wanted).unwrap_or(Obstacle::Permission),
        })
    }

    /// Returns whether the caller must notify the peer that this process cannot read its memory; `true` only once.
    #[inline]
    pub fn take_untold(&self) -> bool {
        self.untold.load(Ordering::Relaxed) && self.untold.swap(false, Ordering::Relaxed)
    }

    pub fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Acquire)
    }

    pub fn set_dead(&self) {
        self.dead.store(true, Ordering::Release);
    }

    #[inline]
    fn ready(&self, side: u8) -> (&AtomicU64, &[AtomicU64; WORDS]) {
        let [summary, words @ ..] = &*self.ready[usize::from(side & 1)];
        (summary, words)
    }

    pub fn set_ready(&self, side: u8, index: u32) {
        let (summary, words) = self.ready(side);
        ready::set(summary, words, index);
    }

    /// Sets the ready bit of a connection of `side`, and wakes that side if it sleeps until `notice`. Returns what
    /// [`ControlRegion::wake`] returns: whether this call woke a thread.
    pub fn mark(&self, side: u8, index: u32, notice: Notice) -> bool {
        self.set_ready(side, index);
        if self.has_side(side) { self.control.wake(notice) } else { self.peer().is_some_and(|peer| peer.wake(notice)) }
    }

    /// Enables ready bit `index` of `side`. The caller must then poll the connection once, before the index is reused.
    pub fn look_at(&self, side: u8, index: u32) {
        let word = index as usize / 64 % WORDS;
        if self.used[usize::from(side)].fetch_or(1 << word, Ordering::SeqCst) & 1 << word == 0 {
            // Discards bits from before the first use, which belong to no connection of this process.
            self.ready(side).1[word].store(0, Ordering::SeqCst);
        }
    }

    pub fn any_ready(&self) -> bool {
        self.sides().any(|side| self.ready(side).0.load(Ordering::SeqCst) != 0)
    }

    /// Returns, as a hint, whether a ready bit of a side of this process is set.
    #[inline]
    pub fn may_be_ready(&self) -> bool {
        let [first, last] = &self.looked_at;
        first[0].load(Ordering::Relaxed) | last[0].load(Ordering::Relaxed) != 0
    }

    /// Clears the ready bits of this process's sides in the words that it has used. Calls `each` (side, index) for each
    /// bit that was set.
    pub fn take_ready(&self, mut each: impl FnMut(u8, u32)) {
        for side in self.sides() {
            let (summary, words) = self.ready(side);
            // Words that this process has not used are skipped, so a peer that sets all bits slows down only its own
            // connections. A word is noted as used before its bits are set, so `used` is loaded after the summary.
            let used = || self.used[usize::from(side)].load(Ordering::SeqCst);
            ready::take(summary, words, used, |index| each(side, index));
        }
    }

    /// Returns the memory of the connection at `index` and its neighbours, which the first call maps. Returns `None` if
    /// the memory cannot be mapped, or if `index` is [`MAX_CONNS`] or more.
    pub fn chunk(&self, index: u32) -> Option<Arc<SharedMemory>> {
        let number = index as usize / CHUNK;
        if number >= CHUNKS {
            return None;
        }
        let mut chunks = self.chunks.lock();
        if let Some(Some(chunk)) = chunks.get(number) {
            return Some(chunk.clone());
        }
        let more = (number + 1).saturating_sub(chunks.len());
        chunks.room(more).ok()?;
        let map = self.file.window(RINGS + number * CHUNK_SIZE, CHUNK_SIZE);
        let chunk = map
            .inspect_err(
                |error| log::debug!(target: host::diagnostics::CM, "shm: cannot allocate connections: {error}"),
            )
            .ok()?;
        let chunk = memory::arc(chunk).ok()?;
        if more > 0 {
            chunks.resize(number + 1, None);
        }
        Some(chunks[number].insert(chunk).clone())
    }

    pub fn producers(&self, index: u32, side: u8) -> Option<[Producer; 2]> {
        Some(self.areas(index, side)?.map(Producer::new))
    }

    pub fn consumers(&self, index: u32, side: u8) -> Option<[Consumer; 2]> {
        Some(self.areas(index, 1 - side)?.map(Consumer::new))
    }

    fn areas(&self, index: u32, direction: u8) -> Option<[Mapped; 2]> {
        let chunk = self.chunk(index)?;
        let at = (index as usize % CHUNK * 2 + usize::from(direction)) * DIRECTION;
        let area = |at, slots| Mapped::new(chunk.clone(), at, at + size_of::<RingShared>(), slots).ok();
        Some([area(at, RING_SLOTS)?, area(at + ANSWERS, ANSWER_SLOTS)?])
    }

    pub fn reset(&self, index: u32) {
        for direction in 0..2 {
            for ring in self.areas(index, direction).into_iter().flatten() {
                ring.reset();
            }
        }
    }

    #[inline]
    pub fn transfers(&self, side: u8) -> &Table {
        &self.transfers[usize::from(side & 1)]
    }

    /// Returns whether [`PeerSegment::report_violation`] was called.
    pub fn has_violated(&self) -> bool {
        self.violated.load(Ordering::Acquire)
    }

    /// Logs `what` after the peer's process id, and ends the link. Only the first call has an effect.
    pub fn report_violation(&self, what: &str) {
        if !self.violated.swap(true, Ordering::AcqRel) {
            log::warn!("shm: process {}: {what}: its connections end", self.pid);
            self.control.end_links();
        }
    }

    pub fn complain(&self) {
        if !self.complained.swap(true, Ordering::Relaxed) {
            log::warn!("shm: process {}: sleeps during a copy: calls that free memory wait for it", self.pid);
        }
    }
}
