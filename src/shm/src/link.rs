//! A pair of processes: one piece of shared memory and one socket, however many connections they have.
//!
//! The memory has a page of *ready* bits for each side, a bit a connection, and then
//! two rings for each direction of each connection: one for requests, and
//! one for what reads ask for, which must not wait behind messages that wait for receives. Side 0 is the process that connected
//! the link, side 1 the one that accepted it. The link of a process with itself has both
//! sides in one process and no socket.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use host::doorbell::Doorbell;
use once_cell::sync::OnceCell;
use parking_lot::{Mutex, RwLock};

use crate::conn::Conn;
use crate::node::{Bell, Node};
use crate::os::directory::SocketName;
use crate::os::memory::{SharedMemory, ViewU32};
use crate::os::socket::{Sent, Socket};
use crate::regions::PeerRegions;
use crate::ring::{Consumer, Mapped, Producer, RingShared, SLOT};
use crate::wire::{ConnId, Message};

/// Slots of a ring for requests.
pub const RING_SLOTS: usize = 512;
/// Slots of a ring for what reads of the peer ask for.
pub const ANSWER_SLOTS: usize = 256;
/// Connections that a pair of processes can have at a time.
pub const MAX_CONNS: u32 = 4096;
const WORDS: usize = MAX_CONNS as usize / 64;

const READY: usize = 4096;
const READY_WORDS: usize = 64;
const RINGS: usize = 64 * 1024;
const ANSWERS: usize = size_of::<RingShared>() + RING_SLOTS * SLOT;
const DIRECTION: usize = ANSWERS + size_of::<RingShared>() + ANSWER_SLOTS * SLOT;
/// Connections whose rings are mapped together, when the first of them comes up.
const CHUNK: usize = 64;
const CHUNK_SIZE: usize = (CHUNK * 2 * DIRECTION).next_multiple_of(RINGS);
const CHUNKS: usize = MAX_CONNS as usize / CHUNK;
/// Bytes of the shared memory; only what connections touch is backed by memory.
pub const PAIR_SIZE: usize = RINGS + CHUNKS * CHUNK_SIZE;
/// Bytes of it that are mapped from the beginning.
pub const PAIR_HEAD: usize = RINGS;

/// Word of a ring's producer: it has let go of the connection.
const CLOSED: usize = 0;
/// Word of a ring's producer: odd while it moves bytes to or from the peer's memory.
const MOVING: usize = 1;

/// The longest that letting go waits for a peer in the middle of a transfer.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a peer has published.
pub struct Peer {
    /// Its first word tells whom to wake.
    pub home: SharedMemory,
    /// Its registered memory.
    pub regions: PeerRegions,
    /// Wakes its threads.
    pub bells: [Doorbell; 2],
}

/// A connection request of the peer that has no answer yet.
#[derive(Default)]
pub struct Unanswered {
    /// The peer has given up.
    pub stale: AtomicBool,
}

/// The ends of connections of one side, by their place.
type Ends = Vec<Option<(ConnId, Arc<Conn>)>>;

/// A pair of processes.
pub struct Link {
    node: Weak<Node>,
    memory: SharedMemory,
    chunks: [OnceCell<Arc<SharedMemory>>; CHUNKS],
    /// Side of this process; `None` if both are.
    side: Option<u8>,
    /// Name of the peer's socket.
    pub name: SocketName,
    /// The peer's process.
    pub pid: i32,
    socket: Option<Socket>,
    outbox: Mutex<VecDeque<Vec<u8>>>,
    peer: OnceCell<Peer>,
    reads_peer: AtomicBool,
    peer_reads: AtomicBool,
    dead: AtomicBool,
    conns: [RwLock<Ends>; 2],
    places: Mutex<Places>,
    unanswered: Mutex<HashMap<ConnId, Arc<Unanswered>>>,
    /// The highest attempt of the peer.
    last_attempt: AtomicU64,
}

/// Which places of the shared memory are in use, as the side that gives them out sees it.
#[derive(Default)]
struct Places {
    free: VecDeque<u32>,
    used: u32,
    attempts: u64,
    ends: HashMap<ConnId, LetGo>,
}

/// Which ends have let go of a connection.
#[derive(Default)]
struct LetGo {
    active: bool,
    passive: bool,
}

impl Link {
    /// A link over `socket`; without one, of this process with itself.
    pub fn new(
        node: &Arc<Node>,
        memory: SharedMemory,
        name: SocketName,
        pid: i32,
        socket: Option<(Socket, u8)>,
    ) -> Arc<Self> {
        let side = socket.as_ref().map(|(_, side)| *side);
        Arc::new(Link {
            node: Arc::downgrade(node),
            memory,
            chunks: [const { OnceCell::new() }; CHUNKS],
            side,
            name,
            pid,
            socket: socket.map(|(socket, _)| socket),
            outbox: Mutex::default(),
            peer: OnceCell::new(),
            reads_peer: AtomicBool::new(false),
            peer_reads: AtomicBool::new(false),
            dead: AtomicBool::new(false),
            conns: Default::default(),
            places: Mutex::default(),
            unanswered: Mutex::default(),
            last_attempt: AtomicU64::new(0),
        })
    }

    /// Whether both sides are in this process.
    pub fn is_local(&self) -> bool {
        self.side.is_none()
    }

    /// Whether this process has that side.
    fn has_side(&self, side: u8) -> bool {
        self.side.is_none_or(|own| own == side)
    }

    /// Side of the end that begins connections here.
    pub fn active_side(&self) -> u8 {
        self.side.unwrap_or(0)
    }

    /// The other process's side, as seen from the active end.
    pub fn passive_side(&self) -> u8 {
        1 - self.active_side()
    }

    /// The shared memory.
    pub fn memory(&self) -> &SharedMemory {
        &self.memory
    }

    /// The socket to the peer.
    pub fn socket(&self) -> Option<&Socket> {
        self.socket.as_ref()
    }

    /// What the peer has published, once it has said hello.
    pub fn peer(&self) -> Option<&Peer> {
        self.peer.get()
    }

    /// Takes what the peer has published; false if it did so before.
    pub fn set_peer(&self, peer: Peer) -> bool {
        self.peer.set(peer).is_ok()
    }

    /// Whether the peer can read the memory of this process.
    pub fn peer_reads(&self) -> bool {
        self.peer_reads.load(Ordering::Relaxed)
    }

    /// Notes whether the peer can read the memory of this process.
    pub fn set_peer_reads(&self, reads: bool) {
        self.peer_reads.store(reads, Ordering::Relaxed);
    }

    /// Whether this process can read and write the peer's memory.
    pub fn reads_peer(&self) -> bool {
        self.reads_peer.load(Ordering::Relaxed)
    }

    /// Notes whether this process can read and write the peer's memory.
    pub fn set_reads_peer(&self, reads: bool) {
        self.reads_peer.store(reads, Ordering::Relaxed);
    }

    /// Whether the peer is gone.
    pub fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Acquire)
    }

    /// Notes that the peer is gone; true for the first.
    pub fn bury(&self) -> bool {
        !self.dead.swap(true, Ordering::AcqRel)
    }

    fn ready(&self, side: u8) -> (&AtomicU64, &[AtomicU64; WORDS]) {
        let base = usize::from(side) * READY;
        match (self.memory.at(base), self.memory.at(base + READY_WORDS)) {
            (Ok(summary), Ok(words)) => (summary, words),
            // The size of the memory was checked when it was mapped.
            _ => unreachable!("ready bits lie inside the memory"),
        }
    }

    /// The part of the memory where the rings of a connection are, mapped on first use.
    fn chunk(&self, index: u32) -> Option<&Arc<SharedMemory>> {
        let number = index as usize / CHUNK;
        let map = || self.memory.window(RINGS + number * CHUNK_SIZE, CHUNK_SIZE).map(Arc::new);
        let chunk = self.chunks.get(number)?.get_or_try_init(map);
        chunk.inspect_err(|error| log::error!("shm: no memory for connections: {error}")).ok()
    }

    fn shared(&self, index: u32, direction: u8) -> Option<&RingShared> {
        self.chunk(index)?.at(ring_at(index, direction)).ok()
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

    /// Tells `side` that there is something for a connection of it, and wakes it if it
    /// sleeps.
    pub fn mark(&self, side: u8, index: u32) {
        let (summary, words) = self.ready(side);
        let word = index as usize / 64 % WORDS;
        // SYNC ready: what was written before is seen by whoever takes the bit.
        if words[word].fetch_or(1 << (index % 64), Ordering::SeqCst) == 0 {
            summary.fetch_or(1 << word, Ordering::SeqCst);
        }
        if self.has_side(side) {
            if let Some(node) = self.node.upgrade() {
                node.wake_sleeper();
            }
        } else if let Some(peer) = self.peer() {
            // SYNC sleep: the bit is set before the look at the sleeper.
            fence(Ordering::SeqCst);
            let word = peer.home.view::<ViewU32>(0).map_or(0, ViewU32::load);
            if let Some(bell) = Bell::from_word(word) {
                peer.bells[bell as usize].ring();
            }
        }
    }

    /// Whether any connection of this process has something to do.
    pub fn any_ready(&self) -> bool {
        (0..2).any(|side| self.has_side(side) && self.ready(side).0.load(Ordering::SeqCst) != 0)
    }

    /// Lets all connections go on that have something to do; true if there were any.
    pub fn progress(&self) -> bool {
        let mut any = false;
        for side in (0..2).filter(|&side| self.has_side(side)) {
            let (summary, words) = self.ready(side);
            if summary.load(Ordering::Relaxed) == 0 {
                continue;
            }
            any = true;
            let mut set = summary.swap(0, Ordering::SeqCst);
            while set != 0 {
                let word = set.trailing_zeros();
                set &= set - 1;
                // SYNC ready: pairs with the bit set in mark.
                let mut bits = words[word as usize % WORDS].swap(0, Ordering::SeqCst);
                while bits != 0 {
                    let index = word * 64 + bits.trailing_zeros();
                    bits &= bits - 1;
                    if let Some(conn) = self.conn(side, index) {
                        conn.progress();
                    }
                }
            }
        }
        any
    }

    fn conn(&self, side: u8, index: u32) -> Option<Arc<Conn>> {
        let conns = self.conns[usize::from(side)].read();
        conns.get(index as usize)?.as_ref().map(|(_, conn)| conn.clone())
    }

    /// The end of a connection that this process has on `side`.
    pub fn find(&self, side: u8, id: ConnId) -> Option<Arc<Conn>> {
        let conns = self.conns[usize::from(side)].read();
        let (known, conn) = conns.get(id.index as usize)?.as_ref()?;
        (*known == id).then(|| conn.clone())
    }

    /// Puts an end of a connection in its place; false if that is taken.
    pub fn attach(&self, side: u8, id: ConnId, conn: &Arc<Conn>) -> bool {
        let mut conns = self.conns[usize::from(side)].write();
        let index = id.index as usize;
        if conns.len() <= index {
            conns.resize_with(index + 1, || None);
        }
        if conns[index].is_some() {
            return false;
        }
        conns[index] = Some((id, conn.clone()));
        true
    }

    /// Takes an end of a connection from its place.
    pub fn detach(&self, side: u8, id: ConnId) {
        let mut conns = self.conns[usize::from(side)].write();
        let place = conns.get_mut(id.index as usize);
        let taken = place.and_then(|place| place.take_if(|(known, _)| *known == id));
        drop(conns);
        drop(taken);
    }

    /// All ends of connections that this process has.
    pub fn all(&self) -> Vec<Arc<Conn>> {
        let of = |conns: &RwLock<Ends>| conns.read().iter().flatten().map(|(_, conn)| conn.clone()).collect::<Vec<_>>();
        self.conns.iter().flat_map(of).collect()
    }

    /// Finds a place for a connection that begins here.
    pub fn allocate(&self) -> Option<ConnId> {
        let active = self.active_side();
        let mut places = self.places.lock();
        let (step, first) = if self.is_local() { (1, 0) } else { (2, u32::from(active)) };
        let fresh = first + places.used * step;
        // A place rests before it is used again, as long as there are others.
        let index = if places.free.len() > 64 || fresh >= MAX_CONNS {
            places.free.pop_front()?
        } else {
            places.used += 1;
            fresh
        };
        places.attempts += 1;
        let id = ConnId { active, index, attempt: places.attempts };
        places.ends.insert(id, LetGo::default());
        drop(places);
        for at in [ring_at(index, 0), ring_at(index, 1)] {
            for ring in [at, at + ANSWERS] {
                if let Some(Ok(shared)) = self.chunk(index).map(|chunk| chunk.at::<RingShared>(ring)) {
                    shared.reset();
                }
            }
        }
        Some(id)
    }

    /// Notes that an end has let go; when both have, the place is free again.
    pub fn note_let_go(&self, id: ConnId, active_end: bool) {
        let mut places = self.places.lock();
        let Some(ends) = places.ends.get_mut(&id) else { return };
        if active_end {
            ends.active = true;
        } else {
            ends.passive = true;
        }
        if ends.active && ends.passive {
            places.ends.remove(&id);
            places.free.push_back(id.index);
        }
    }

    /// This process lets go of its end on `side`, and says so.
    pub fn let_go(self: &Arc<Self>, id: ConnId, side: u8, message: Message) {
        self.note_let_go(id, side == id.active);
        self.send(message);
    }

    /// Marks an end as closed for the peer's transfers.
    pub fn close_ring(&self, index: u32, side: u8) {
        if let Some(shared) = self.shared(index, side) {
            // SYNC closed: whoever begins to move bytes after this sees it.
            shared.tail.flags[CLOSED].store(1, Ordering::SeqCst);
        }
    }

    /// Whether the peer of the end on `side` has let go.
    pub fn peer_closed(&self, index: u32, side: u8) -> bool {
        self.shared(index, 1 - side).is_none_or(|shared| shared.tail.flags[CLOSED].load(Ordering::SeqCst) != 0)
    }

    /// Begins to move bytes to or from the peer's memory; `None` if the peer has let go.
    pub fn begin_moving(&self, index: u32, side: u8) -> Option<Moving<'_>> {
        let word = &self.shared(index, side)?.tail.flags[MOVING];
        let odd = word.load(Ordering::Relaxed) | 1;
        word.store(odd, Ordering::SeqCst);
        let moving = Moving { word, odd };
        // SYNC moving: either this sees that the peer has let go, or the peer sees the
        // odd word and waits.
        fence(Ordering::SeqCst);
        if self.is_dead() || self.peer_closed(index, side) { None } else { Some(moving) }
    }

    /// Waits until the peer of the end on `side` is not in the middle of a transfer that
    /// began before the call.
    pub fn await_peer_idle(&self, index: u32, side: u8) {
        let Some(shared) = self.shared(index, 1 - side) else { return };
        // SYNC moving: pairs with the store in begin_moving.
        fence(Ordering::SeqCst);
        let word = &shared.tail.flags[MOVING];
        let first = word.load(Ordering::SeqCst);
        if first & 1 == 0 {
            return;
        }
        let start = Instant::now();
        while word.load(Ordering::SeqCst) == first && !self.is_dead() {
            // A thread of this process always gets to the end.
            if !self.is_local() && start.elapsed() > PATIENCE {
                log::warn!("shm: process {} does not end a transfer", self.pid);
                return;
            }
            std::thread::yield_now();
        }
    }

    /// Waits until no transfer of the peer is under way that began before the call.
    pub fn await_all_idle(&self) {
        for side in (0..2).filter(|&side| self.has_side(side)) {
            let indices: Vec<u32> = {
                let conns = self.conns[usize::from(side)].read();
                conns.iter().flatten().map(|(id, _)| id.index).collect()
            };
            for index in indices {
                self.await_peer_idle(index, side);
            }
        }
    }

    /// Notes a request of the peer; `None` if the peer breaks the rules: it gives out
    /// places of its own parity, each to one connection at a time, and numbers its attempts
    /// upwards.
    pub fn expect_answer(&self, id: ConnId) -> Option<Arc<Unanswered>> {
        if self.side.is_some() {
            let passive = usize::from(1 - id.active);
            let taken = self.conns[passive].read().get(id.index as usize).is_some_and(Option::is_some);
            let risen = self.last_attempt.fetch_max(id.attempt, Ordering::Relaxed) < id.attempt;
            if id.index % 2 != u32::from(id.active) || taken || !risen {
                return None;
            }
        }
        let mut unanswered = self.unanswered.lock();
        if unanswered.keys().any(|known| known.index == id.index && known.active == id.active) {
            return None;
        }
        Some(unanswered.entry(id).or_default().clone())
    }

    /// The request has its answer.
    pub fn answered(&self, id: ConnId) {
        self.unanswered.lock().remove(&id);
    }

    /// The peer has given up on its request; false if that has an answer already.
    pub fn give_up(&self, id: ConnId) -> bool {
        match self.unanswered.lock().get(&id) {
            Some(request) => {
                request.stale.store(true, Ordering::Release);
                true
            }
            None => false,
        }
    }

    /// The peer is gone, and with it all its requests.
    pub fn give_up_all(&self) {
        for request in self.unanswered.lock().values() {
            request.stale.store(true, Ordering::Release);
        }
    }

    /// Sends a message; it leaves in order, at the latest when the socket takes it.
    pub fn send(self: &Arc<Self>, message: Message) {
        let Some(node) = self.node.upgrade() else { return };
        let Some(socket) = &self.socket else {
            node.deliver(self, message);
            return;
        };
        let mut outbox = self.outbox.lock();
        outbox.push_back(message.encode());
        if outbox.len() == 1 && !flush(socket, &mut outbox) {
            drop(outbox);
            node.want_room(self);
        }
    }

    /// Sends what the socket did not take before; true if nothing is left.
    pub fn flush(&self) -> bool {
        match &self.socket {
            Some(socket) => flush(socket, &mut self.outbox.lock()),
            None => true,
        }
    }
}

fn flush(socket: &Socket, outbox: &mut VecDeque<Vec<u8>>) -> bool {
    while let Some(packet) = outbox.front() {
        match socket.send(packet, &[]) {
            Ok(Sent::Done) => {
                outbox.pop_front();
            }
            Ok(Sent::WouldBlock) => return false,
            // The peer is gone; the node's thread is told by the socket.
            Ok(Sent::Closed) | Err(_) => {
                outbox.clear();
                return true;
            }
        }
    }
    true
}

/// Where the rings of one direction of a connection are in their chunk.
fn ring_at(index: u32, direction: u8) -> usize {
    (index as usize % CHUNK * 2 + usize::from(direction)) * DIRECTION
}

/// A transfer to or from the peer's memory that is under way.
pub struct Moving<'a> {
    word: &'a AtomicU32,
    odd: u32,
}

impl Drop for Moving<'_> {
    fn drop(&mut self) {
        self.word.store(self.odd.wrapping_add(1), Ordering::SeqCst);
    }
}
