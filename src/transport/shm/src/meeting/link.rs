//! A link: a pair of processes that share memory and one socket, for any number of connections.
//!
//! The socket carries messages about connections. The link of a process with itself has no socket: its messages go
//! directly to the progress thread.
//!
//! The process that first connects to the other establishes their link; if both connect concurrently, the process with
//! the lesser name does. A request and an accept contain an [`EndInfo`](crate::wire::EndInfo). When the peer's end of
//! the socket closes, for example at its exit, all connections of the link end. A link costs two descriptors: socket
//! and shared memory.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use dat_software::regions::AccessContext;
use host::lock::{Mutex, RwLock};
use host::memory::{self, NoMemory, Room};
use rustix::io::Errno;

use crate::conn::Conn;
use crate::os::directory::SocketName;
use crate::peer_segment::{End, MAX_CONNS, PeerSegment};
use crate::process_context::{Command, ProcessContext};
use crate::wire::{CloseReason, ConnId, Message};
use dat_census::socket::Socket;

mod links;

pub use self::links::Links;

/// Maximum number of messages that wait until a peer reads. Even a stopped peer that follows the protocol has fewer: a
/// connection's place in the shared memory is reused only after the peer's response, so each place has at most 3
/// messages.
const OUTBOX: usize = 4 * MAX_CONNS as usize;

type Ends = Vec<Option<(ConnId, Arc<Conn>)>>;

pub struct Link {
    context: Weak<ProcessContext>,
    pub peer_segment: Arc<PeerSegment>,
    pub name: SocketName,
    /// `None` if the peer is this process.
    pub socket: Option<Arc<Socket>>,
    outbox: Mutex<Outbox>,
    conns: [RwLock<Ends>; 2],
    places: Mutex<Places>,
    /// Unanswered connection requests of the peer, each with `true` once the peer has cancelled it.
    unanswered: Mutex<HashMap<ConnId, bool>>,
    last_attempt: AtomicU64,
}

#[derive(Default)]
struct Outbox {
    packets: VecDeque<Vec<u8>>,
    /// Set when the link is about to end.
    closed: bool,
}

impl Outbox {
    fn close(&mut self) {
        *self = Outbox { closed: true, ..Outbox::default() };
    }
}

#[derive(Default)]
struct Places {
    free: VecDeque<u32>,
    used: u32,
    attempts: u64,
    /// For each connection that has a place, whether its passive and its active end have released the place.
    ends: HashMap<ConnId, [bool; 2]>,
}

impl Link {
    /// Creates a link over `socket`; without a socket, a link of this process with itself.
    pub fn new(
        context: Weak<ProcessContext>,
        peer_segment: Arc<PeerSegment>,
        name: SocketName,
        socket: Option<Arc<Socket>>,
    ) -> Result<Arc<Self>, NoMemory> {
        memory::arc(Link {
            context,
            peer_segment,
            name,
            socket,
            outbox: Mutex::default(),
            conns: Default::default(),
            places: Mutex::default(),
            unanswered: Mutex::default(),
            last_attempt: AtomicU64::new(0),
        })
    }

    pub fn context(&self) -> Option<Arc<ProcessContext>> {
        self.context.upgrade()
    }

    fn conn(&self, side: u8, index: u32) -> Option<(ConnId, Arc<Conn>)> {
        self.conns[usize::from(side)].read().get(index as usize)?.clone()
    }

    pub fn find(&self, side: u8, id: ConnId) -> Option<Arc<Conn>> {
        self.conn(side, id.index).filter(|(known, _)| *known == id).map(|(_, conn)| conn)
    }

    /// Attaches a connection to its place `id.index` in the shared memory, as the end on `side`. Returns `false`
    /// without memory for its rings, or if the connection is already attached or the place is taken.
    pub fn attach(self: &Arc<Self>, side: u8, id: ConnId, conn: &Arc<Conn>, theirs: AccessContext) -> bool {
        let own = AccessContext::new(conn.info.zone, conn.info.port);
        let Some(end) = End::new(self.peer_segment.clone(), id.index, side, own, theirs) else { return false };
        let index = id.index as usize;
        let mut conns = self.conns[usize::from(side)].write();
        let more = (index + 1).saturating_sub(conns.len());
        if conns.room(more).is_err() {
            return false;
        }
        drop(conns);
        if !conn.attachment(self.clone(), id, end) {
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
        self.peer_segment.look_at(side, id.index);
        true
    }

    pub fn all(&self) -> Vec<Arc<Conn>> {
        let of = |conns: &RwLock<Ends>| conns.read().iter().flatten().map(|(_, conn)| conn.clone()).collect::<Vec<_>>();
        self.conns.iter().flat_map(of).collect()
    }

    pub fn allocate(&self) -> Option<ConnId> {
        let active = self.peer_segment.active_side();
        let mut places = self.places.lock();
        let free = places.used as usize + 1 - places.free.len();
        places.ends.room(1).ok()?;
        places.free.room(free).ok()?;
        let (step, first) = if self.peer_segment.is_local() { (1, 0) } else { (2, u32::from(active)) };
        let fresh = first + places.used * step;
        // A place is reused only if more than 64 are free, or if no unused place is available.
        let used = places.free.len() > 64 || fresh >= MAX_CONNS || self.peer_segment.chunk(fresh).is_none();
        let index = if used {
            places.free.pop_front()?
        } else {
            places.used += 1;
            fresh
        };
        places.attempts += 1;
        let id = ConnId { active, index, attempt: places.attempts };
        places.ends.insert(id, [false; 2]);
        drop(places);
        // A place that was never used is still zero, and a reset would allocate its pages.
        if used {
            self.peer_segment.reset(index);
        }
        Some(id)
    }

    pub fn note_release(&self, id: ConnId, active_end: bool) {
        let mut places = self.places.lock();
        let Some(ends) = places.ends.get_mut(&id) else { return };
        ends[usize::from(active_end)] = true;
        if *ends == [true; 2] {
            places.ends.remove(&id);
            places.free.push_back(id.index);
        }
    }

    /// Frees the place of an attempt that the peer does not know.
    pub fn withdraw(&self, id: ConnId) {
        self.detach(id, id.active);
        self.note_release(id, true);
        self.note_release(id, false);
    }

    /// Adds a request of the peer to the unanswered requests. Returns `false` if the request violates the protocol: a
    /// peer on side 1 must use places with odd indices, on side 0 even ones, each for one connection, with increasing
    /// attempt numbers.
    pub fn expect_answer(&self, id: ConnId) -> bool {
        if !self.peer_segment.is_local() {
            let passive = usize::from(1 - id.active);
            let taken = self.conns[passive].read().get(id.index as usize).is_some_and(Option::is_some);
            let risen = self.last_attempt.fetch_max(id.attempt, Ordering::Relaxed) < id.attempt;
            if id.index % 2 != u32::from(id.active) || taken || !risen {
                return false;
            }
        }
        let mut unanswered = self.unanswered.lock();
        let free = !unanswered.keys().any(|known| known.index == id.index && known.active == id.active);
        if free {
            unanswered.insert(id, false);
        }
        free
    }

    /// Removes an unanswered request. Returns `false` if the peer has cancelled the request, or there is none.
    pub fn answered(&self, id: ConnId) -> bool {
        self.unanswered.lock().remove(&id) == Some(false)
    }

    pub fn give_up(&self, id: ConnId) {
        if let Some(given_up) = self.unanswered.lock().get_mut(&id) {
            *given_up = true;
        }
    }

    /// Sends a message, or queues it after earlier messages while the socket is full. If over [`OUTBOX`] messages wait,
    /// ends the link.
    pub fn send(self: &Arc<Self>, message: Message) {
        let Some(context) = self.context() else { return };
        let Some(socket) = &self.socket else {
            context.command(Command::Deliver(self.clone(), message));
            return;
        };
        let mut outbox = self.outbox.lock();
        if outbox.closed {
            return;
        }
        outbox.packets.push_back(message.encode());
        if outbox.packets.len() == 1 && !flush(socket, &mut outbox) {
            drop(outbox);
            context.command(Command::WantRoom(self.clone()));
        } else if outbox.packets.len() > OUTBOX {
            outbox.close();
            drop(outbox);
            context.command(Command::Abandon(self.clone()));
        }
    }

    /// Sends queued messages. Returns whether the queue is then empty.
    pub fn flush(&self) -> bool {
        match &self.socket {
            Some(socket) => flush(socket, &mut self.outbox.lock()),
            None => true,
        }
    }

    pub fn detach(&self, id: ConnId, side: u8) {
        let mut conns = self.conns[usize::from(side)].write();
        let place = conns.get_mut(id.index as usize);
        let taken = place.and_then(|place| place.take_if(|(known, _)| *known == id));
        drop(conns);
        if let Some((_, conn)) = taken {
            if conn.is_hot() {
                if let Some(context) = self.context() {
                    drop(conn);
                    context.links.forget_dead();
                }
            }
        }
    }

    /// Releases the place of the end on `side`, and notifies the peer of the disconnect.
    pub fn release(self: Arc<Self>, id: ConnId, side: u8, reason: CloseReason) {
        let active_end = side == id.active;
        self.note_release(id, active_end);
        self.send(Message::Close { conn: id, to_active: !active_end, reason });
    }
}

fn flush(socket: &Socket, outbox: &mut Outbox) -> bool {
    while let Some(packet) = outbox.packets.front() {
        match socket.send(packet, &[]) {
            Ok(()) => drop(outbox.packets.pop_front()),
            Err(Errno::AGAIN) => return false,
            // The peer has closed the socket: the progress thread reads the end of file and ends the link.
            Err(_) => {
                outbox.close();
                return true;
            }
        }
    }
    true
}
