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
//! by whoever polls. Before anything is done the position is loaded with Acquire, and before a thread sleeps the words
//! are looked at under the locks of the connection.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering, compiler_fence, fence};

use host::lock::Mutex;
use host::memory::{self, NoMemory, Room};
use once_cell::sync::OnceCell;

use crate::budget::Rounds;
use crate::home::{Home, Peer};
use crate::offer::Offer;
use crate::os::memory::{Place, SharedFile, SharedMemory};
use crate::os::vm;
use crate::ready;
use crate::regions::{Party, RegionTable};
use crate::ring::{self, Area, Consumer, Mapped, POSITION, Producer, RingShared, SLOT, Spot};
use crate::sleep::News;
use crate::transfers::{self, Entered, Own, TABLE, Table};
use crate::wire::Probe;

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

/// Word of a ring's producer: it has let go of the connection.
const CLOSED: usize = 0;
/// Word of a ring's producer: it polls the connection, so that nobody needs to tell it of anything.
const POLLED: usize = 1;

/// The ready bits of one side: their summary in a cache line of its own, and the bits.
type Ready = [AtomicU64; SUMMARY + WORDS];

/// The peer's memory was reached through the door.
const REACHED: u64 = 1 << 32;
/// It was not.
const TRIED: u64 = 1 << 33;

/// The shared memory of this process and another one, or itself.
pub struct Pair {
    home: Arc<Home>,
    file: SharedFile,
    #[cfg(feature = "fuzzing")]
    memory: Arc<SharedMemory>,
    ready: [Place<Ready>; 2],
    transfers: [Place<Table>; 2],
    /// The parts with rings, as far as they are mapped.
    chunks: Mutex<Vec<Option<Arc<SharedMemory>>>>,
    /// Side of this process; `None` if it has both.
    side: Option<u8>,
    /// The sides of this process, from the first to the last one, and the ready bits of both.
    first: u8,
    last: u8,
    looked_at: [Place<Ready>; 2],
    /// The peer's process.
    pub pid: i32,
    peer: OnceCell<Peer>,
    /// A value in the peer's memory, to find out if this process reaches that.
    probe: OnceCell<Probe>,
    /// The number of the peer's door as last seen, and one of [`TRIED`] and [`REACHED`].
    door: AtomicU64,
    /// The transfers of this process.
    own: [Own; 2],
    /// For each side the words of ready bits that belong to places which connections of this process have had.
    used: [AtomicU64; 2],
    /// A fence that the peer makes when it ends its polling is one for this process as well.
    fenced: AtomicBool,
    reads_peer: AtomicBool,
    /// The peer does not know yet that `reads_peer` has become false.
    untold: AtomicBool,
    peer_reads: AtomicBool,
    dead: AtomicBool,
    suspect: AtomicBool,
    outlaw: AtomicBool,
    complained: AtomicBool,
}

impl Pair {
    /// Makes memory that this process shares with another one, in which it has `side`, or with itself, so that it has both
    /// sides. [`Pair::with`] says which process that is.
    ///
    /// # Errors
    /// The error of the system call.
    pub fn create(home: &Arc<Home>, side: Option<u8>) -> io::Result<Pair> {
        let name = if side.is_some() { "dat-shm-pair" } else { "dat-shm-self" };
        Pair::new(home, SharedMemory::create_growing(name, HEAD)?, side)
    }

    /// Opens the memory that a process has made; this process has the other side.
    ///
    /// # Errors
    /// As for [`SharedMemory::open`].
    pub fn open(home: &Arc<Home>, fd: OwnedFd, side: u8) -> io::Result<Pair> {
        Pair::new(home, SharedMemory::open_growing(fd, HEAD)?, Some(side))
    }

    /// The same, shared with the process `pid`.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn with(mut self, pid: i32) -> Result<Arc<Pair>, NoMemory> {
        self.pid = pid;
        memory::arc(self)
    }

    fn new(home: &Arc<Home>, (file, memory): (SharedFile, SharedMemory), side: Option<u8>) -> io::Result<Pair> {
        let memory = memory::arc(memory)?;
        let ready = |side: u8| memory.place(usize::from(side) * READY);
        let (first, last) = (side.unwrap_or(0), side.unwrap_or(1));
        Ok(Pair {
            home: home.clone(),
            ready: [ready(0)?, ready(1)?],
            looked_at: [ready(first)?, ready(last)?],
            transfers: [memory.place(TABLES)?, memory.place(TABLES + TABLE)?],
            file,
            #[cfg(feature = "fuzzing")]
            memory,
            chunks: Mutex::default(),
            side,
            first,
            last,
            pid: std::process::id() as i32,
            peer: OnceCell::new(),
            probe: OnceCell::new(),
            door: AtomicU64::new(0),
            own: Default::default(),
            used: Default::default(),
            fenced: AtomicBool::new(side.is_none() && home.fences_peers()),
            reads_peer: AtomicBool::new(false),
            untold: AtomicBool::new(false),
            peer_reads: AtomicBool::new(false),
            dead: AtomicBool::new(false),
            suspect: AtomicBool::new(false),
            outlaw: AtomicBool::new(false),
            complained: AtomicBool::new(false),
        })
    }

    /// The descriptor that the peer opens as its [`Pair`].
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.fd()
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
        self.first..=self.last
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

    /// Takes the memory that the peer has published, and its probe; false if there is some already.
    pub fn set_peer(&self, peer: Peer, probe: Probe) -> bool {
        self.fenced.store(self.home.fences_peers() && peer.fences_peers(), Ordering::Relaxed);
        self.peer.set(peer).is_ok() && self.probe.set(probe).is_ok()
    }

    /// True if a fence that the peer makes when it ends its polling is one for this process as well.
    #[inline]
    fn is_fenced(&self) -> bool {
        self.fenced.load(Ordering::Relaxed)
    }

    /// The number of the thread through which this process reaches the peer's memory; 0 if it does not.
    pub fn door(&self) -> libc::pid_t {
        let Some(peer) = self.peer() else { return 0 };
        let known = self.door.load(Ordering::Relaxed);
        let published = peer.door();
        if known as u32 == published && known & REACHED != 0 { published.cast_signed() } else { self.try_door(peer) }
    }

    /// Looks whether the peer's memory is reached through the thread whose number it has published.
    #[cold]
    fn try_door(&self, peer: &Peer) -> libc::pid_t {
        loop {
            let published = peer.door();
            let number = published.cast_signed();
            let known = self.door.load(Ordering::Relaxed);
            let reached = if known == u64::from(published) | TRIED {
                false
            } else {
                let probe = self.probe.get();
                // Where that cannot be found out, it is as it was with the door before.
                self.home.is_thread(self.pid, number).unwrap_or(known & REACHED != 0)
                    && probe.is_some_and(|probe| vm::probe(number, probe.addr, probe.value))
            };
            let found = if reached { REACHED } else { TRIED };
            // A door that was changed meanwhile was not found for that reason.
            if reached || peer.door() == published {
                self.door.store(u64::from(published) | found, Ordering::Relaxed);
                return if reached { number } else { 0 };
            }
        }
    }

    /// True if the peer can read the memory of this process.
    pub fn peer_reads(&self) -> bool {
        self.peer_reads.load(Ordering::Relaxed)
    }

    /// Notes whether the peer can read the memory of this process.
    pub fn set_peer_reads(&self, reads: bool) {
        self.peer_reads.store(reads, Ordering::Relaxed);
    }

    /// True if this process can read and write the peer's memory.
    pub fn reads_peer(&self) -> bool {
        self.reads_peer.load(Ordering::Relaxed)
    }

    /// Notes whether this process can read and write the peer's memory.
    pub fn set_reads_peer(&self, reads: bool) {
        self.reads_peer.store(reads, Ordering::Relaxed);
    }

    /// True, once, if the peer is to be told that this process cannot read its memory any more.
    #[inline]
    pub fn take_untold(&self) -> bool {
        self.untold.load(Ordering::Relaxed) && self.untold.swap(false, Ordering::Relaxed)
    }

    /// True if the peer is gone.
    pub fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Acquire)
    }

    /// Notes that the peer is gone.
    pub fn bury(&self) {
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

    /// Tells `side` that there is something for a connection of it, and wakes it if it sleeps until there is such news. True
    /// if it did wake.
    pub fn mark(&self, side: u8, index: u32, news: News) -> bool {
        let (summary, words) = self.ready(side);
        ready::set(summary, words, index);
        if self.has_side(side) { self.home.wake(news) } else { self.peer().is_some_and(|peer| peer.wake(news)) }
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
            // were taken: whoever set a bit did so after the word came into use.
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
        let chunk = map.inspect_err(|error| log::debug!("shm: no memory for connections: {error}")).ok()?;
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

    /// True if the peer was found to be stopped in a transfer, and was not found to have gone on.
    pub fn is_suspect(&self) -> bool {
        self.suspect.load(Ordering::Relaxed)
    }

    /// Notes whether the peer is stopped in a transfer.
    pub fn set_suspect(&self, suspect: bool) {
        self.suspect.store(suspect, Ordering::Relaxed);
    }

    /// True if the peer broke the rules of transfers. Its link ends, and nobody waits for it.
    pub fn is_outlaw(&self) -> bool {
        self.outlaw.load(Ordering::Acquire)
    }

    /// Has the link end, because the peer breaks the rules of transfers; `what` says how, after "process 7".
    pub fn accuse(&self, what: &str) {
        if !self.outlaw.swap(true, Ordering::AcqRel) {
            log::warn!("shm: process {} {what}; its connections end", self.pid);
            self.home.end_links();
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

/// One end of a connection in the memory of its pair. Its two directions know no more of the rest of the process.
pub struct End {
    /// The memory.
    pub pair: Arc<Pair>,
    /// The connection's place in it.
    pub index: u32,
    /// Side of this end: 0 or 1.
    pub side: u8,
    /// This end, as the rows of this process know it.
    pub own: Party,
    /// The other end, as the rows of its process know it.
    pub theirs: Party,
    /// The rings of requests of this side and of the other one.
    rings: [Mapped; 2],
    /// The ring of answers of the other side.
    answers: Mapped,
    /// How far this side has emptied the rings of the other one: of requests, and of answers. A [`Spot`], which is shut while
    /// the record there waits for something else than to be looked at.
    taken: [AtomicU64; 2],
    /// Bits that say what is to be known of this side beside records and positions: [`Busy`].
    state: AtomicU32,
    /// Position in the ring of requests of this side at which somebody wants to know that the peer has got there, and
    /// the position of which it is known. That is [`FINISHED`], which is less than any that is wanted, once requests are
    /// done that the peer tells nothing of.
    wanted: AtomicI64,
    known: AtomicI64,
    /// This process polls the connection. The peer is told the same, but could change that.
    polled: AtomicBool,
    /// How often it has woken the peer.
    wakeups: AtomicU64,
}

/// In the place of the position at which a peer is known to be.
const FINISHED: i64 = -1;

/// What is to be found out about an end that no record of the peer tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// Nothing.
    Nothing,
    /// Nothing, but this side is busy, or may be.
    Busy,
    /// How far the peer has got: this has been known so far, and is not enough.
    Position(i64),
    /// Requests are done that the peer tells nothing of.
    Finished,
}

/// What an end has to do that no record and no position of the peer tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Busy {
    /// Requests or answers wait for room, or for their turn.
    Waiting = 2,
    /// The peer is to be asked for the bytes of a message, and there is no room yet.
    Asking = 4,
    /// Messages are announced, of which the peer may offer parts.
    Announced = 8,
}

impl End {
    /// The end on `side` of the connection at `index`; `None` if there is no memory for its rings.
    pub fn new(pair: Arc<Pair>, index: u32, side: u8, own: Party, theirs: Party) -> Option<End> {
        let [requests, _] = pair.areas(index, side)?;
        let [peer, answers] = pair.areas(index, 1 - side)?;
        Some(End {
            pair,
            index,
            side,
            own,
            theirs,
            rings: [requests, peer],
            answers,
            taken: [const { AtomicU64::new(Spot::FIRST.word()) }; 2],
            state: AtomicU32::new(0),
            wanted: AtomicI64::new(0),
            known: AtomicI64::new(0),
            polled: AtomicBool::new(false),
            wakeups: AtomicU64::new(0),
        })
    }

    // ---- What there is to do ----

    /// How far this side has emptied the peer's ring of requests, as records tell the peer.
    #[inline]
    pub fn taken(&self) -> u64 {
        // SYNC taken: the caller puts the position into a record, whose first word is a Release, and the peer gets it
        // with its Acquire of that word: ring-head, over two threads.
        Spot::of(self.taken[0].load(Ordering::Acquire)).position()
    }

    /// Notes how far this side has emptied a ring of the peer: that of requests, or, with `answers`, of answers.
    #[inline]
    pub fn set_taken(&self, answers: bool, spot: Spot) {
        // SYNC taken: the reads of the slots are over before this store.
        self.taken[usize::from(answers)].store(spot.word(), Ordering::Release);
    }

    /// Notes whether the record at the head of the peer's ring of requests waits for something that is told otherwise:
    /// a receive, or bytes that the peer was asked for. Called by the thread that empties the ring.
    #[inline]
    pub fn set_stuck(&self, stuck: bool) {
        let spot = Spot::of(self.taken[0].load(Ordering::Relaxed));
        self.set_taken(false, spot.shut(stuck));
    }

    #[inline]
    fn set_state(&self, bit: u32, set: bool) {
        if (self.state.load(Ordering::Relaxed) & bit != 0) != set {
            self.state.fetch_xor(bit, Ordering::Relaxed);
        }
    }

    /// Notes that the peer's progress up to `position` is to be found out.
    #[inline]
    pub fn want(&self, position: u64) {
        self.wanted.store(position.cast_signed(), Ordering::Relaxed);
    }

    /// Notes how far the peer is known to have got. All requests that are done are about to be reported. Called with the lock
    /// of the sending direction, as [`End::finish_soon`] is.
    #[inline]
    pub fn set_known(&self, position: u64) {
        self.known.store(position.cast_signed(), Ordering::Relaxed);
    }

    /// True if nothing is left to find out about a peer that has got to `position`.
    #[inline]
    pub fn is_told(&self, position: u64) -> bool {
        self.wanted.load(Ordering::Relaxed) <= position.cast_signed()
    }

    /// True if a record of the peer that tells `credit` tells more than is known.
    #[inline]
    pub fn is_news(&self, credit: u64) -> bool {
        credit != self.known.load(Ordering::Relaxed).cast_unsigned() & POSITION
    }

    /// Notes whether this side is to be looked at for this reason even if nothing tells of news.
    #[inline]
    pub fn set_busy(&self, why: Busy, busy: bool) {
        self.set_state(why as u32, busy);
    }

    /// True if this side is to be looked at even if nothing tells of news.
    #[inline]
    pub fn is_busy(&self) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        state & (Busy::Waiting as u32 | Busy::Asking as u32) != 0
            || (state & Busy::Announced as u32 != 0 && self.peers_offer().is_open())
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
        (self.pair.reads_peer() && self.pair.peer_reads() && self.peer_polls()).then(|| self.offered())
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
            self.look_again();
        }
    }

    /// True if a record of the ring of requests has arrived that can be handled.
    #[inline]
    pub fn has_requests(&self) -> bool {
        ring::is_there(&self.rings[1], Spot::of(self.taken[0].load(Ordering::Relaxed)))
    }

    /// True if a record has arrived that can be handled.
    fn has_arrived(&self) -> bool {
        self.has_requests() || ring::is_there(&self.answers, Spot::of(self.taken[1].load(Ordering::Relaxed)))
    }

    /// True if the peer has got further than `known`. Reads a line that the peer writes.
    #[inline]
    pub fn is_past(&self, known: i64) -> bool {
        self.rings[0].head().load(Ordering::Relaxed).cast_signed() != known
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

    /// Tells the peer whether this process polls the connection, in which case it is told of nothing. Whoever ends the
    /// polling calls [`Home::fence_peers`](crate::home::Home::fence_peers) and looks once more.
    pub fn set_polled(&self, polled: bool) {
        self.polled.store(polled, Ordering::Relaxed);
        self.rings[0].shared().flags.0[POLLED].store(u32::from(polled), Ordering::SeqCst);
    }

    /// True if the peer polls the connection.
    #[inline]
    fn peer_polls(&self) -> bool {
        self.rings[1].shared().flags.0[POLLED].load(Ordering::SeqCst) != 0
    }

    /// Closes this end to the peer's transfers.
    pub fn close(&self) {
        // SYNC closed: a peer that enters a slot after this finds it; one that entered before is found by `Pending`,
        // behind a fence of its own, and waited for.
        self.rings[0].shared().flags.0[CLOSED].store(1, Ordering::SeqCst);
    }

    /// The registered memory of this process.
    #[inline]
    pub fn regions(&self) -> &RegionTable {
        &self.pair.home.regions
    }

    /// The memory that this process publishes.
    pub fn home(&self) -> &Home {
        &self.pair.home
    }

    /// Tells the peer that there is something for its end, unless it polls.
    #[inline(always)]
    pub fn tell_peer(&self, news: News) {
        // SYNC polled: the record, the position or the answer was stored before this look. Either this side finds that
        // nobody polls, or the side that stops polling finds what was stored.
        self.fence_for_polling();
        if !self.peer_polls() && self.pair.mark(1 - self.side, self.index, news) {
            self.count_wakeup();
        }
    }

    /// The fence between a store and the look whether somebody polls. Who ends that makes one for both sides where the
    /// system has such.
    #[inline]
    fn fence_for_polling(&self) {
        if self.pair.is_fenced() {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }

    /// Tells the peer that there are answers for its end, at which one that polls does not look.
    pub fn tell_of_answers(&self) {
        if self.pair.mark(1 - self.side, self.index, News::Record) {
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
    pub fn look_again(&self) {
        let _ = self.pair.mark(self.side, self.index, News::Record);
    }

    /// Has this process look at this end in the next round, because it has not done all that it can. Called when that is to
    /// be found, records in the ring of requests or what makes it busy; both is looked at by whoever polls.
    pub fn go_on(&self) {
        // SYNC polled: the thread that ends the polling looks under the locks of the connection, one of which the
        // caller has, or had when the work came about.
        if !self.polled.load(Ordering::Relaxed) {
            self.look_again();
        }
    }

    /// The kernel has refused to copy to or from the peer's memory: this process does not try again.
    pub fn stop_copying(&self) {
        if self.pair.reads_peer.swap(false, Ordering::Relaxed) {
            self.pair.untold.store(true, Ordering::Relaxed);
        }
        self.look_again();
    }

    /// The rounds of progress of this process.
    pub fn rounds(&self) -> &Rounds {
        &self.pair.home.rounds
    }

    /// True if the peer is asleep, so that [`End::tell_peer`] wakes it.
    pub fn peer_sleeps(&self) -> bool {
        self.pair.peer().is_some_and(Peer::sleeps)
    }

    /// Wakes the thread of the peer that looks after arrived data, asleep or not; so it does not count as a wake-up.
    pub fn wake_peer_thread(&self) {
        if let Some(peer) = self.pair.peer() {
            peer.wake_thread();
        }
    }

    /// True if the peer has let go, or is gone.
    #[inline]
    pub fn peer_is_gone(&self) -> bool {
        self.pair.is_dead() || self.rings[1].shared().flags.0[CLOSED].load(Ordering::SeqCst) != 0
    }

    /// Begins to move bytes to or from the peer's memory; `None` if the peer has let go. Whether the peer's memory may
    /// be used is to be checked after this.
    #[inline]
    pub fn begin_moving(&self) -> Option<Moving<'_>> {
        let local = self.pair.is_local();
        let tid = if local { 1 } else { transfers::own_tid() };
        let entered = self.pair.own[usize::from(self.side & 1)].enter(self.pair.transfers(self.side), tid);
        // SYNC door: the number is read before flag and row are looked at. So a number from before a change of the door
        // goes with looks from before it, and one from after it with looks that find what was closed.
        let door = if local { 0 } else { self.pair.door() };
        fence(Ordering::Acquire);
        // SYNC closed: the slot was entered before this look.
        if self.peer_is_gone() { None } else { Some(Moving { door, pair: &self.pair, _entered: entered }) }
    }
}

/// A transfer to or from the peer's memory that is under way.
pub struct Moving<'a> {
    door: libc::pid_t,
    pair: &'a Pair,
    _entered: Entered<'a>,
}

impl Moving<'_> {
    /// The number of the thread that stands for the peer in copies between processes; 0 if the peer's memory is not
    /// reached that way.
    #[inline]
    pub fn door(&self) -> libc::pid_t {
        self.door
    }

    /// True if the peer has changed its door since: a copy that found nobody there is to begin again, with another
    /// [`End::begin_moving`]. If it is false, the peer's memory is not reached any more.
    pub fn is_outdated(&self) -> bool {
        fence(Ordering::SeqCst);
        self.pair.door() != self.door
    }
}
