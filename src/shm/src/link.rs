//! A pair of processes: the memory that they share and one socket, however many connections they have.
//!
//! The socket carries messages about connections. The link of a process with itself has none: its messages go to the
//! node's thread at once.
//!
//! A link is made when the first connection between two processes is asked for; if both ask at once, the process with
//! the lesser name makes it. A request and its acceptance tell the peer the protection zone, the port and whether the
//! program takes extended operations. The end of the socket is the end of the peer, and ends all connections of the
//! link. A peer costs two descriptors: the socket and the memory of the pair.
//!
//! # Progress
//! A thread that dequeues or waits handles the data that have arrived for any connection of the process, in a *round*,
//! under the lock on [`Progress`]. It attempts that lock; if another thread holds it, it waits until that thread has
//! ended a round, but for [`PATIENCE`] at most. The node's thread makes rounds when no thread calls in (`watch`).

use std::collections::{HashMap, VecDeque};
use std::hint::cold_path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use dat_core::transport::Transport;
use host::lock::{Mutex, MutexGuard, RwLock};
use host::memory::{self, NoMemory, Room};
use host::pause::Pause;

use crate::conn::{Conn, Ending, Keeper};
use crate::home::Home;
use crate::hot::Hot;
use crate::os::directory::SocketName;
use crate::os::socket::{Sent, Socket};
use crate::pair::{End, MAX_CONNS, Pair};
use crate::pending::Pending;
use crate::regions::Party;
use crate::tx::Tx;
use crate::wire::{CloseReason, ConnId, Message};

/// The longest that a caller waits for another thread that handles arrived data.
const PATIENCE: Duration = Duration::from_millis(5);

/// The most bytes of messages that wait for a peer to read. One that keeps to the rules needs less, even if it is
/// stopped: a place is used again only when the peer has answered, so there are a few messages for each place.
const OUTBOX: usize = 4 << 20;
/// Bytes that a message takes apart from its own.
const PACKET: usize = 64;

/// The tasks that a link has for the node's thread.
pub trait Errands<T: Transport<Tx = Tx>>: Send + Sync {
    /// Handles a message of this process to itself.
    fn deliver(&self, link: &Arc<Link<T>>, message: Message);

    /// Has the rest of the link's messages sent when its socket has room.
    fn want_room(&self, link: &Arc<Link<T>>);

    /// Ends the link, whose peer does not read its messages.
    fn abandon(&self, link: &Arc<Link<T>>);

    /// Lets go of connections that are over and that callers polled.
    fn forget_dead(&self);

    /// Has a connection's end told of when the transfers of the peer are over.
    fn finish(&self, ending: Ending<T>);

    /// The transfers that all peers have under way.
    fn transfers(&self) -> Option<Pending>;
}

/// A connection request of the peer that has no answer yet.
#[derive(Default)]
pub struct Unanswered {
    /// The peer has given up.
    pub stale: AtomicBool,
}

/// The ends of connections of one side, by their place.
type Ends<T> = Vec<Option<(ConnId, Arc<Conn<T>>)>>;

/// A pair of processes.
pub struct Link<T: Transport<Tx = Tx>> {
    errands: Weak<dyn Errands<T>>,
    pair: Arc<Pair>,
    /// Name of the peer's socket.
    pub name: SocketName,
    socket: Option<Arc<Socket>>,
    outbox: Mutex<Outbox>,
    conns: [RwLock<Ends<T>>; 2],
    places: Mutex<Places>,
    unanswered: Mutex<HashMap<ConnId, Arc<Unanswered>>>,
    /// The highest attempt of the peer.
    last_attempt: AtomicU64,
}

/// Messages that the socket did not take yet.
#[derive(Default)]
struct Outbox {
    packets: VecDeque<Vec<u8>>,
    /// Bytes that they take.
    size: usize,
    /// The link is about to end, and no message leaves any more.
    closed: bool,
}

impl Outbox {
    fn push(&mut self, packet: Vec<u8>) {
        self.size += packet.len() + PACKET;
        self.packets.push_back(packet);
    }

    fn pop(&mut self) {
        self.size -= self.packets.pop_front().map_or(0, |packet| packet.len() + PACKET);
    }

    fn close(&mut self) {
        *self = Outbox { closed: true, ..Outbox::default() };
    }
}

/// The places of the shared memory that are in use, as the side that gives them out sees it.
#[derive(Default)]
struct Places {
    free: VecDeque<u32>,
    used: u32,
    attempts: u64,
    ends: HashMap<ConnId, LetGo>,
}

/// The ends that have let go of a connection.
#[derive(Default)]
struct LetGo {
    active: bool,
    passive: bool,
}

impl<T: Transport<Tx = Tx>> Link<T> {
    /// A link over `socket`; without one, of this process with itself.
    pub fn new(
        errands: Weak<dyn Errands<T>>,
        pair: Arc<Pair>,
        name: SocketName,
        socket: Option<Arc<Socket>>,
    ) -> Result<Arc<Self>, NoMemory> {
        memory::arc(Link {
            errands,
            pair,
            name,
            socket,
            outbox: Mutex::default(),
            conns: Default::default(),
            places: Mutex::default(),
            unanswered: Mutex::default(),
            last_attempt: AtomicU64::new(0),
        })
    }

    /// The memory that the processes share.
    pub fn pair(&self) -> &Arc<Pair> {
        &self.pair
    }

    /// The socket to the peer.
    pub fn socket(&self) -> Option<&Arc<Socket>> {
        self.socket.as_ref()
    }

    fn conn(&self, side: u8, index: u32) -> Option<Arc<Conn<T>>> {
        let conns = self.conns[usize::from(side)].read();
        conns.get(index as usize)?.as_ref().map(|(_, conn)| conn.clone())
    }

    /// The end of a connection that this process has on `side`.
    pub fn find(&self, side: u8, id: ConnId) -> Option<Arc<Conn<T>>> {
        let conns = self.conns[usize::from(side)].read();
        let (known, conn) = conns.get(id.index as usize)?.as_ref()?;
        (*known == id).then(|| conn.clone())
    }

    /// Gives a connection its place, as the end on `side`; false if there is no memory for its rings, it has a place
    /// already, or this one is taken.
    pub fn attach(self: &Arc<Self>, side: u8, id: ConnId, conn: &Arc<Conn<T>>, theirs: Party) -> bool {
        let own = Party::new(conn.info().zone, conn.port());
        let Some(end) = End::new(self.pair.clone(), id.index, side, own, theirs) else { return false };
        let index = id.index as usize;
        let mut conns = self.conns[usize::from(side)].write();
        let more = (index + 1).saturating_sub(conns.len());
        if conns.room(more).is_err() {
            return false;
        }
        drop(conns);
        if !conn.tie(self.clone(), id, end) {
            return false;
        }
        let mut conns = self.conns[usize::from(side)].write();
        if conns.len() <= index {
            conns.resize_with(index + 1, || None);
        }
        if conns[index].is_some() {
            return false;
        }
        conns[index] = Some((id, conn.clone()));
        self.pair.look_at(side, id.index);
        true
    }

    /// All ends of connections that this process has.
    pub fn all(&self) -> Vec<Arc<Conn<T>>> {
        let of =
            |conns: &RwLock<Ends<T>>| conns.read().iter().flatten().map(|(_, conn)| conn.clone()).collect::<Vec<_>>();
        self.conns.iter().flat_map(of).collect()
    }

    /// Finds a place for a connection that begins here.
    pub fn allocate(&self) -> Option<ConnId> {
        let active = self.pair.active_side();
        let mut places = self.places.lock();
        // One place more may be given back some time.
        let free = places.used as usize + 1 - places.free.len();
        places.ends.room(1).ok()?;
        places.free.room(free).ok()?;
        let (step, first) = if self.pair.is_local() { (1, 0) } else { (2, u32::from(active)) };
        let fresh = first + places.used * step;
        // A place rests before it is used again, as long as there are others, and memory for them.
        let used = places.free.len() > 64 || fresh >= MAX_CONNS || !self.pair.has_room(fresh);
        let index = if used {
            places.free.pop_front()?
        } else {
            places.used += 1;
            fresh
        };
        places.attempts += 1;
        let id = ConnId { active, index, attempt: places.attempts };
        places.ends.insert(id, LetGo::default());
        drop(places);
        // Memory that was not used yet is as it should be, and takes no room before it is touched.
        if used {
            self.pair.reset(index);
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

    /// Takes the active end of an attempt that the peer has not heard of from its place, which is free again.
    pub fn withdraw(&self, id: ConnId) {
        self.detach(id, id.active);
        self.note_let_go(id, true);
        self.note_let_go(id, false);
    }

    /// Refuses a request of the peer; with `consumer` set, for the program, whose private data the peer is told.
    pub fn reject(self: &Arc<Self>, id: ConnId, consumer: bool, private_data: Vec<u8>) {
        self.note_let_go(id, false);
        self.send(Message::Reject { conn: id, consumer, private_data });
    }

    /// Notes a request of the peer; `None` if the peer breaks the rules: it gives out places of its own parity, each
    /// to one connection at a time, and numbers its attempts upwards.
    pub fn expect_answer(&self, id: ConnId) -> Option<Arc<Unanswered>> {
        if !self.pair.is_local() {
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

    /// Takes note that a request of the peer has its answer.
    pub fn answered(&self, id: ConnId) {
        self.unanswered.lock().remove(&id);
    }

    /// Takes note that the peer has given up on its request, if that has no answer yet.
    pub fn give_up(&self, id: ConnId) {
        if let Some(request) = self.unanswered.lock().get(&id) {
            request.stale.store(true, Ordering::Release);
        }
    }

    /// Takes note that the peer is gone, and has given up on all its requests.
    pub fn give_up_all(&self) {
        for request in self.unanswered.lock().values() {
            request.stale.store(true, Ordering::Release);
        }
    }

    /// Sends a message; it leaves in order, at the latest when the socket takes it.
    pub fn send(self: &Arc<Self>, message: Message) {
        let Some(errands) = self.errands.upgrade() else { return };
        let Some(socket) = &self.socket else {
            errands.deliver(self, message);
            return;
        };
        let mut outbox = self.outbox.lock();
        if outbox.closed {
            return;
        }
        outbox.push(message.encode());
        if outbox.packets.len() == 1 && !flush(socket, &mut outbox) {
            drop(outbox);
            errands.want_room(self);
        } else if outbox.size > OUTBOX {
            outbox.close();
            drop(outbox);
            errands.abandon(self);
        }
    }

    /// Sends the messages that the socket did not take before; true if none is left.
    pub fn flush(&self) -> bool {
        match &self.socket {
            Some(socket) => flush(socket, &mut self.outbox.lock()),
            None => true,
        }
    }
}

impl<T: Transport<Tx = Tx>> Keeper<T> for Link<T> {
    fn detach(&self, id: ConnId, side: u8) {
        let mut conns = self.conns[usize::from(side)].write();
        let place = conns.get_mut(id.index as usize);
        let taken = place.and_then(|place| place.take_if(|(known, _)| *known == id));
        drop(conns);
        if let Some((_, conn)) = taken
            && conn.is_hot()
            && let Some(errands) = self.errands.upgrade()
        {
            drop(conn);
            errands.forget_dead();
        }
    }

    fn let_go(self: Arc<Self>, id: ConnId, side: u8, reason: CloseReason) {
        let active_end = side == id.active;
        self.note_let_go(id, active_end);
        self.send(Message::Close { conn: id, to_active: !active_end, reason });
    }

    fn finish(&self, ending: Ending<T>) {
        if let Some(errands) = self.errands.upgrade() {
            errands.finish(ending);
        }
    }

    fn tell_refusal(self: Arc<Self>) {
        self.send(Message::Reads(false));
    }

    fn transfers(&self) -> Option<Pending> {
        self.errands.upgrade().and_then(|errands| errands.transfers())
    }
}

fn flush(socket: &Socket, outbox: &mut Outbox) -> bool {
    while let Some(packet) = outbox.packets.front() {
        match socket.send(packet, &[]) {
            Ok(Sent::Done) => outbox.pop(),
            Ok(Sent::WouldBlock) => return false,
            // The peer is gone; the node's thread is told by the socket.
            Ok(Sent::Closed) | Err(_) => {
                outbox.close();
                return true;
            }
        }
    }
    true
}

/// The links of a process, and the progress of all their connections.
pub struct Links<T: Transport<Tx = Tx>> {
    /// The memory that the process publishes.
    pub home: Arc<Home>,
    all: RwLock<Vec<Arc<Link<T>>>>,
    progress: CachePadded<Progress<T>>,
}

impl<T: Transport<Tx = Tx>> Links<T> {
    /// No links yet, of a process that publishes `home`.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn new(home: Home) -> Result<Self, NoMemory> {
        Ok(Links {
            home: memory::arc(home)?,
            all: RwLock::default(),
            progress: CachePadded::new(Progress {
                polled: Mutex::default(),
                any_hot: AtomicBool::new(false),
                any_dead: AtomicBool::new(false),
                rounds: AtomicU64::new(0),
            }),
        })
    }

    /// Adds a link; its connections are looked after from now on.
    pub fn add(&self, link: &Arc<Link<T>>) {
        self.all.write().push(link.clone());
        self.progress.polled.lock().links.push(link.clone());
    }

    /// Takes a link off.
    pub fn remove(&self, link: &Arc<Link<T>>) {
        self.all.write().retain(|known| !Arc::ptr_eq(known, link));
        self.progress.polled.lock().links.retain(|known| !Arc::ptr_eq(known, link));
    }

    /// Handles what has arrived, unless another thread does for longer than a moment.
    #[inline]
    pub fn poll(&self) {
        self.home.note_poll();
        if let Some(mut polled) = self.progress.polled.try_lock() {
            self.round(&mut polled, true);
            drop(polled);
            // A connection that ended meanwhile was left to this thread, which may not poll again.
            if self.progress.any_dead.load(Ordering::Relaxed) {
                self.forget_dead();
            }
            return;
        }
        self.poll_with_others();
    }

    /// Handles what has arrived while another thread does so.
    #[cold]
    #[inline(never)]
    fn poll_with_others(&self) {
        if let Some(mut polled) = self.await_rounds(1, Some(PATIENCE)) {
            // Another thread may have put a message into the program's memory and be about to queue its completion,
            // which the caller, having seen the message, now expects. That thread has ended its round or this one has.
            self.round_once(&mut polled);
        }
    }

    /// As [`Links::poll`], for the node's own thread, which is no caller; true if anything had arrived, `None` if another
    /// thread is at it.
    pub fn look(&self) -> Option<bool> {
        self.progress.polled.try_lock().map(|mut polled| self.round_once(&mut polled))
    }

    /// As [`Links::look`], for waits that sleep: leaves what has arrived to another thread only if that is long at it.
    pub fn serve(&self) {
        if let Some(mut polled) = self.await_rounds(2, Some(PATIENCE)) {
            self.round_once(&mut polled);
        }
    }

    /// Handles what has arrived, after any other thread that does.
    pub fn settle(&self) {
        // Of two rounds that end from now on, the second begins after all that has arrived by now.
        if let Some(mut polled) = self.await_rounds(2, None) {
            self.round_once(&mut polled);
        }
    }

    /// Handles what has arrived, for another thread than a caller's.
    #[inline(never)]
    fn round_once(&self, polled: &mut Polled<T>) -> bool {
        if self.progress.any_dead.load(Ordering::Acquire) {
            self.bury(&mut polled.hot);
        }
        self.round(polled, false)
    }

    /// Handles what has arrived; `caller` says whether a caller polls, who will poll again.
    #[inline(always)]
    fn round(&self, polled: &mut Polled<T>, caller: bool) -> bool {
        self.home.rounds.begin(polled.hot.records());
        let mut any = polled.hot.poll(&self.home, caller);
        if polled.links.iter().any(|link| link.pair.may_be_ready()) {
            cold_path();
            any |= self.go_on(polled, caller);
        }
        let rounds = self.progress.rounds.load(Ordering::Relaxed);
        // SYNC round: a thread that finds the round ended finds what the round has queued. There is one round at a
        // time.
        self.progress.rounds.store(rounds.wrapping_add(1), Ordering::Release);
        any
    }

    /// Lets the connections go on that have their ready bits set; true if there are any.
    #[inline(never)]
    fn go_on(&self, polled: &mut Polled<T>, caller: bool) -> bool {
        let Polled { links, hot } = polled;
        let mut any = false;
        for link in links.iter().filter(|link| link.pair.may_be_ready()) {
            any |= link.pair.take_ready(|side, index| {
                if let Some(conn) = link.conn(side, index) {
                    conn.progress();
                    if caller && !conn.is_hot() {
                        hot.on_ready(&conn, &self.home, || self.may_heat());
                    }
                }
            });
        }
        any
    }

    /// Waits until it is the caller's turn, or other threads have ended `count` rounds, or `limit` is over. A thread that
    /// makes one round after another may never let go of the lock for long enough to wait for the lock alone.
    #[cold]
    fn await_rounds(&self, count: u64, limit: Option<Duration>) -> Option<MutexGuard<'_, Polled<T>>> {
        let before = self.progress.rounds.load(Ordering::Acquire);
        let start = Instant::now();
        let mut pause = Pause::new();
        loop {
            if let Some(polled) = self.progress.polled.try_lock() {
                return Some(polled);
            }
            // SYNC round: what the rounds have queued can be seen.
            if self.progress.rounds.load(Ordering::Acquire).wrapping_sub(before) >= count {
                return None;
            }
            if !pause.is_short() && limit.is_some_and(|limit| start.elapsed() > limit) {
                return None;
            }
            pause.pass();
        }
    }

    /// True if connections may be polled from now on, because peers do not ring for a sleeper.
    #[cold]
    fn may_heat(&self) -> bool {
        if !self.home.is_awake() {
            return false;
        }
        // SYNC hot: a thread that is about to sleep changes the word, makes a fence and then loads this. It finds this
        // set, or the second look below finds the word.
        self.progress.any_hot.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        self.home.is_awake()
    }

    /// Ends the polling of connections, because somebody is about to sleep, and the word for peers says so already.
    #[inline]
    fn cool(&self) {
        // SYNC hot: the word was changed before, with a fence.
        if self.progress.any_hot.load(Ordering::SeqCst) {
            let mut polled = self.progress.polled.lock();
            self.progress.any_hot.store(false, Ordering::SeqCst);
            if !polled.hot.is_empty() {
                polled.hot.cool_all(&self.home);
            }
        }
    }

    /// Lets go of connections that are over. If a thread makes progress, the next round does that.
    pub fn forget_dead(&self) {
        // SYNC buried: a swap, so that the thread that clears the flag sees the ends of all that have set it.
        self.progress.any_dead.swap(true, Ordering::Release);
        if let Some(mut polled) = self.progress.polled.try_lock() {
            self.bury(&mut polled.hot);
        }
    }

    #[cold]
    fn bury(&self, hot: &mut Hot<T>) {
        // SYNC buried: the ends before are visible from here. Connections that end later set the flag again.
        self.progress.any_dead.swap(false, Ordering::Acquire);
        hot.forget_dead();
    }

    /// True if anything is left to be handled once nobody polls.
    fn any_news(&self) -> bool {
        self.cool();
        self.any_ready()
    }

    fn any_ready(&self) -> bool {
        self.all.read().iter().any(|link| link.pair.any_ready())
    }

    /// Prepares a waiter for sleep: see [`Home::arm`].
    pub fn arm(&self, requests: bool) -> Option<u32> {
        self.home.arm(requests, || self.any_news(), || self.look().is_some())
    }

    /// Ends what [`Links::arm`] began: see [`Home::disarm`].
    pub fn disarm(&self, sleep: Option<u32>, requests: bool) {
        self.home.disarm(sleep, requests, || self.any_news());
    }

    /// Notes whether an agent is to be told although no thread calls in: see [`Home::expect_agent`].
    pub fn expect_agent(&self, on: bool) {
        self.home.expect_agent(on, || self.any_news());
    }

    /// The thread is going to sleep for as long as nobody rings; false if there is news, so that it must not.
    pub fn thread_asleep(&self) -> bool {
        self.home.thread_asleep(|| self.any_news())
    }

    /// The transfers that peers have under way, to memory that was closed to them before, and to other.
    pub fn transfers(&self) -> Option<Pending> {
        Pending::new(&self.home, self.all.read().iter().map(|link| &link.pair))
    }

    /// Waits until no peer uses memory any more that was closed to peers before the call. To be called with no lock
    /// that another connection needs.
    pub fn await_peers(&self) {
        if let Some(pending) = self.transfers() {
            pending.wait(&self.home);
        }
    }
}

/// The links again, and the connections that are polled, for the thread that makes progress.
struct Polled<T: Transport<Tx = Tx>> {
    links: Vec<Arc<Link<T>>>,
    hot: Hot<T>,
}

impl<T: Transport<Tx = Tx>> Default for Polled<T> {
    fn default() -> Self {
        Polled { links: Vec::new(), hot: Hot::default() }
    }
}

/// What the progress of a process needs.
struct Progress<T: Transport<Tx = Tx>> {
    polled: Mutex<Polled<T>>,
    /// Connections may be polled.
    any_hot: AtomicBool,
    /// Connections that are polled may be over.
    any_dead: AtomicBool,
    /// Rounds that have ended. The holder of the lock alone counts.
    rounds: AtomicU64,
}
