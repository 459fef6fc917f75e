//! The memory that two processes share, however many connections they have.
//!
//! It has a page of *ready* bits for each side, one bit for each connection, a table of the transfers that each side
//! has under way, and two rings for each direction of each connection: one for requests, and one for the data that
//! reads ask for, which must not wait behind messages that wait for receives. Side 0 is the process that connected the
//! link, side 1 the one that accepted it. A process also shares memory with itself, and has both sides of that.
//!
//! The memory is a sealed memfd. It begins with the bits and the tables; behind them come the rings, 32 KiB for
//! requests and 16 KiB for answers in each direction of up to [`MAX_CONNS`] connections. Either side makes the file
//! longer, by eight connections, when it first needs a place, and nobody can make it shorter. A side asks for the room
//! before it uses it, so a limit of the system refuses one call or one connection and nothing else. A pair with one
//! idle connection takes 24 KiB of the memfd, and with what the process publishes and keeps some 44 KiB on each side;
//! `tests-c/stress/everyone` measures that.
//!
//! The words `known`, `wanted` and `state` of an end are hints: written Relaxed under the lock on sending, read Relaxed
//! by threads that poll. Before anything is done the position is loaded with Acquire, and before a thread sleeps the words
//! are looked at under the locks of the connection.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use host::lock::Mutex;
use host::memory::{self, NoMemory, Room};
use once_cell::sync::OnceCell;

use crate::control_region::{ControlRegion, Peer};
use crate::os::memory::{Access, InShared, SharedFile, SharedMemory};
use crate::os::vm;
use crate::ready;
use crate::ring::{Consumer, Mapped, Producer, RingShared, SLOT};
use crate::sleep::News;
use crate::transfers::{Own, TABLE, Table};

mod end;

pub use self::end::{Busy, End, Open};

/// Slots of a ring for requests.
pub const RING_SLOTS: usize = 512;
/// Slots of a ring for the data that reads of the peer ask for.
pub const ANSWER_SLOTS: usize = 256;
/// Connections that a pair of processes can have at a time.
pub const MAX_CONNS: u32 = 4096;

/// Bytes for the ready bits of one side.
const READY: usize = 4096;
/// Words of ready bits. The summary has a bit for each of them.
const WORDS: usize = MAX_CONNS as usize / 64;
/// Words before those, in a cache line of their own; the first is the summary.
const SUMMARY: usize = 8;

/// Where the tables of transfers are, that of side 0 first.
const TABLES: usize = 2 * READY;

const RINGS: usize = 64 * 1024;
const ANSWERS: usize = size_of::<RingShared>() + RING_SLOTS * SLOT;
const DIRECTION: usize = ANSWERS + size_of::<RingShared>() + ANSWER_SLOTS * SLOT;
/// Connections whose rings are mapped together, when the first of them comes up.
const CHUNK: usize = 8;
const CHUNK_SIZE: usize = (CHUNK * 2 * DIRECTION).next_multiple_of(RINGS);
const CHUNKS: usize = MAX_CONNS as usize / CHUNK;
/// Bytes of the memory before any connection is made. It grows by the chunk.
const HEAD: usize = RINGS;

const _: () = assert!(TABLES + 2 * TABLE <= HEAD);

/// Word of a ring's producer: it has disconnected.
const CLOSED: usize = 0;
/// Word of a ring's producer: it polls the connection, so that nobody needs to tell it of anything.
const POLLED: usize = 1;

/// The ready bits of one side: their summary in a cache line of its own, and the bits.
type Ready = [AtomicU64; SUMMARY + WORDS];

/// The peer's memory was reached through the door.
const REACHED: u64 = 1 << 32;
/// It was not.
const TRIED: u64 = 1 << 33;

/// Something that is so at the moment, and orders nothing else.
#[derive(Default)]
pub struct Hint(AtomicBool);

impl Hint {
    /// Whether it is so.
    #[inline]
    pub fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Notes whether it is so.
    pub fn set(&self, is: bool) {
        self.0.store(is, Ordering::Relaxed);
    }
}

/// The shared memory of this process and another one, or itself.
pub struct PeerSegment {
    control: Arc<ControlRegion>,
    /// What the peer opens as its [`PeerSegment`].
    pub file: SharedFile,
    #[cfg(feature = "fuzzing")]
    memory: Arc<SharedMemory>,
    ready: [InShared<Ready>; 2],
    transfers: [InShared<Table>; 2],
    /// The parts with rings, as far as they are mapped.
    chunks: Mutex<Vec<Option<Arc<SharedMemory>>>>,
    /// Side of this process; `None` if it has both.
    side: Option<u8>,
    /// The ready bits of the first and of the last side of this process.
    looked_at: [InShared<Ready>; 2],
    /// The peer's process.
    pub pid: i32,
    peer: OnceCell<Peer>,
    /// The number of the peer's door as last seen, and one of [`TRIED`] and [`REACHED`].
    copy_target: AtomicU64,
    /// The transfers of this process.
    own: [Own; 2],
    /// For each side the words of ready bits that belong to places which connections of this process have had.
    used: [AtomicU64; 2],
    /// A fence that the peer makes when it ends its polling is one for this process as well.
    fenced: Hint,
    /// This process can read and write the peer's memory, and the peer that of this process.
    pub reads_peer: Hint,
    pub peer_reads: Hint,
    /// The peer does not know yet that `reads_peer` has become false.
    untold: AtomicBool,
    dead: AtomicBool,
    /// The peer was found to be stopped in a transfer, and was not found to have gone on.
    pub suspect: Hint,
    violated: AtomicBool,
    complained: AtomicBool,
}

impl PeerSegment {
    /// Makes memory that this process shares with another one, in which it has `side`, or with itself, so that it has both
    /// sides. [`PeerSegment::with`] says which process that is.
    pub fn create(control: &Arc<ControlRegion>, side: Option<u8>) -> io::Result<PeerSegment> {
        let name = if side.is_some() { "dat-shm-pair" } else { "dat-shm-self" };
        PeerSegment::new(control, SharedMemory::create(name, HEAD, Access::Grow)?, side)
    }

    /// Opens the memory that a process has made; this process has the other side.
    pub fn open(control: &Arc<ControlRegion>, fd: OwnedFd, side: u8) -> io::Result<PeerSegment> {
        PeerSegment::new(control, SharedMemory::open(fd, HEAD..=usize::MAX, Access::Grow)?, Some(side))
    }

    /// The same, shared with the process `pid`.
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
            #[cfg(feature = "fuzzing")]
            memory,
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
            untold: AtomicBool::new(false),
            dead: AtomicBool::new(false),
            suspect: Hint::default(),
            violated: AtomicBool::new(false),
            complained: AtomicBool::new(false),
        })
    }

    /// True if both sides are in this process.
    #[inline]
    pub fn is_local(&self) -> bool {
        self.side.is_none()
    }

    /// True if this process has that side.
    #[inline]
    fn has_side(&self, side: u8) -> bool {
        self.side.is_none_or(|own| own == side)
    }

    /// The sides that this process has.
    #[inline]
    pub fn sides(&self) -> impl Iterator<Item = u8> + use<> {
        self.side.unwrap_or(0)..=self.side.unwrap_or(1)
    }

    /// Side of the ends that begin connections here.
    pub fn active_side(&self) -> u8 {
        self.side.unwrap_or(0)
    }

    /// Side of the ends that accept connections there.
    pub fn passive_side(&self) -> u8 {
        1 - self.active_side()
    }

    /// The memory that the peer has published, once it has said hello.
    #[inline]
    pub fn peer(&self) -> Option<&Peer> {
        self.peer.get()
    }

    /// Takes the memory that the peer has published, unless there is some already.
    pub fn set_peer(&self, peer: Peer) {
        self.fenced.set(self.control.fences && peer.fences_peers());
        let _ = self.peer.set(peer);
    }

    /// The number of the thread through which this process reaches the peer's memory; 0 if it does not.
    pub fn copy_target(&self) -> libc::pid_t {
        let Some(peer) = self.peer() else { return 0 };
        let known = self.copy_target.load(Ordering::Relaxed);
        let published = peer.copy_target();
        if known as u32 == published && known & REACHED != 0 { published as i32 } else { self.try_door(peer) }
    }

    /// Looks whether the peer's memory is reached through the thread whose number it has published.
    #[cold]
    fn try_door(&self, peer: &Peer) -> libc::pid_t {
        loop {
            let published = peer.copy_target();
            let number = published as i32;
            let known = self.copy_target.load(Ordering::Relaxed);
            let reached = if known == u64::from(published) | TRIED {
                false
            } else {
                // Where that cannot be found out, it is as it was with the door before.
                self.control.is_thread(self.pid, number).unwrap_or(known & REACHED != 0)
                    && vm::probe(number, peer.probe.addr, peer.probe.value)
            };
            let found = if reached { REACHED } else { TRIED };
            // A door that was changed meanwhile was not found for that reason.
            if reached || peer.copy_target() == published {
                self.copy_target.store(u64::from(published) | found, Ordering::Relaxed);
                return if reached { number } else { 0 };
            }
        }
    }

    /// True, once, if the peer does not know yet that this process can no longer read its memory.
    #[inline]
    pub fn take_untold(&self) -> bool {
        self.untold.load(Ordering::Relaxed) && self.untold.swap(false, Ordering::Relaxed)
    }

    /// True if the peer is gone.
    pub fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Acquire)
    }

    /// Notes that the peer is gone.
    pub fn set_dead(&self) {
        self.dead.store(true, Ordering::Release);
    }

    /// Stores a word where both processes have ready bits and transfers, as either of them could at any time.
    #[cfg(feature = "fuzzing")]
    pub fn scribble(&self, word: usize, value: u64) {
        if let Ok(word) = self.memory.at::<AtomicU64>(word % (HEAD / 8) * 8) {
            word.store(value, Ordering::SeqCst);
        }
    }

    // ---- Ready bits ----

    /// The summary of a side's ready bits, and the bits.
    #[inline]
    fn ready(&self, side: u8) -> (&AtomicU64, &[AtomicU64; WORDS]) {
        let [summary, _, _, _, _, _, _, _, words @ ..] = &*self.ready[usize::from(side & 1)];
        (summary, words)
    }

    /// Marks a connection of `side` ready.
    pub fn set_ready(&self, side: u8, index: u32) {
        let (summary, words) = self.ready(side);
        ready::set(summary, words, index);
    }

    /// Marks a connection of `side` ready and wakes that side if it sleeps until there is such news; returns whether it woke
    /// it.
    pub fn mark(&self, side: u8, index: u32, news: News) -> bool {
        self.set_ready(side, index);
        if self.has_side(side) { self.control.wake(news) } else { self.peer().is_some_and(|peer| peer.wake(news)) }
    }

    /// Has the thread of this process look at what is ready, although callers may have polled lately.
    pub fn ring_own_thread(&self) {
        self.control.wakeup_fd.wake();
    }

    /// Has the ready bit at `index` looked at from now on. The connection there is to be looked at once after this; no
    /// other one of that side gets its place meanwhile.
    pub fn look_at(&self, side: u8, index: u32) {
        let word = index as usize / 64 % WORDS;
        if self.used[usize::from(side)].fetch_or(1 << word, Ordering::SeqCst) & 1 << word == 0 {
            // Bits that are set already would keep the summary from being set.
            self.ready(side).1[word].store(0, Ordering::SeqCst);
        }
    }

    /// True if any connection of this process has something to do.
    pub fn any_ready(&self) -> bool {
        self.sides().any(|side| self.ready(side).0.load(Ordering::SeqCst) != 0)
    }

    /// True if any connection of this process may have something to do. Costs no more than two loads.
    #[inline]
    pub fn may_be_ready(&self) -> bool {
        let [first, last] = &self.looked_at;
        first[0].load(Ordering::Relaxed) | last[0].load(Ordering::Relaxed) != 0
    }

    /// Calls `each` with the side and the place of every connection of this process that has something to do, and
    /// takes its bit; false if there is none.
    pub fn take_ready(&self, mut each: impl FnMut(u8, u32)) -> bool {
        let mut any = false;
        for side in self.sides() {
            let (summary, words) = self.ready(side);
            // A peer that sets all bits costs no more than its connections. The words in use are read after their bits
            // were taken: a bit is set only after its word came into use.
            let used = || self.used[usize::from(side)].load(Ordering::SeqCst);
            any |= ready::take(summary, words, used, |index| each(side, index));
        }
        any
    }

    // ---- Rings ----

    /// True if the rings of a connection are there, or could be made.
    pub fn has_room(&self, index: u32) -> bool {
        self.chunk(index).is_some()
    }

    /// The part of the memory where the rings of a connection are, made and mapped on first use.
    fn chunk(&self, index: u32) -> Option<Arc<SharedMemory>> {
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
            .inspect_err(|error| log::debug!(target: host::diagnostics::CM, "shm: no memory for connections: {error}"))
            .ok()?;
        let chunk = memory::arc(chunk).ok()?;
        if more > 0 {
            chunks.resize(number + 1, None);
        }
        Some(chunks[number].insert(chunk).clone())
    }

    /// The rings that `side` of a connection fills: for requests, and for answers.
    pub fn producers(&self, index: u32, side: u8) -> Option<[Producer; 2]> {
        Some(self.areas(index, side)?.map(Producer::new))
    }

    /// The rings that `side` of a connection empties: of requests, and of answers.
    pub fn consumers(&self, index: u32, side: u8) -> Option<[Consumer; 2]> {
        Some(self.areas(index, 1 - side)?.map(Consumer::new))
    }

    fn areas(&self, index: u32, direction: u8) -> Option<[Mapped; 2]> {
        let chunk = self.chunk(index)?;
        let at = ring_at(index, direction);
        let area = |at, slots| Mapped::new(chunk.clone(), at, at + size_of::<RingShared>(), slots).ok();
        Some([area(at, RING_SLOTS)?, area(at + ANSWERS, ANSWER_SLOTS)?])
    }

    /// Makes the rings new for another connection.
    pub fn reset(&self, index: u32) {
        for direction in 0..2 {
            for ring in self.areas(index, direction).into_iter().flatten() {
                ring.reset();
            }
        }
    }

    // ---- Transfers that go past the rings ----

    /// The transfers of `side`.
    #[inline]
    pub fn transfers(&self, side: u8) -> &Table {
        &self.transfers[usize::from(side & 1)]
    }

    // ---- A peer that does not end its transfers ----

    /// True if the peer broke the rules of transfers. Its link ends, and nobody waits for it.
    pub fn has_violated(&self) -> bool {
        self.violated.load(Ordering::Acquire)
    }

    /// Has the link end, because the peer breaks the rules of transfers; `what` says how, after "process 7".
    pub fn report_violation(&self, what: &str) {
        if !self.violated.swap(true, Ordering::AcqRel) {
            log::warn!("shm: process {} {what}; its connections end", self.pid);
            self.control.end_links();
        }
    }

    /// Says once that the peer sleeps in the middle of a copy, and is waited for.
    pub fn complain(&self) {
        if !self.complained.swap(true, Ordering::Relaxed) {
            log::warn!("shm: process {} sleeps in the middle of a copy; calls that free memory wait for it", self.pid);
        }
    }
}

/// Where the rings of one direction of a connection are in their chunk.
fn ring_at(index: u32, direction: u8) -> usize {
    (index as usize % CHUNK * 2 + usize::from(direction)) * DIRECTION
}
