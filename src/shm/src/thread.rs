//! The one thread of a node. It makes links, carries messages about connections, keeps their time, and looks after
//! arrived data when no other thread does.
//!
//! Processes of other users are refused by SO_PEERCRED. A hello is believed if the sender is the process that listens
//! at the name in it, compared as the kernel numbers both in this namespace, and it replaces no link. Of one peer, and
//! of new connections, 64 messages are handled a turn. A peer that does not read its socket loses its link at 4 MiB of
//! messages, more than a peer that keeps to the rules can owe; a process is complained of once. When a listener's queue
//! is full, connects wait on a timer, and no other connection waits with them. The system limits the descriptors of a
//! user that are under way in messages; a hello, or its answer, that meets this limit waits on a timer with all
//! messages behind it.
//!
//! The thread has the class and priority of the thread that opened the first adapter, and never runs code of the
//! program.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use dat_core::Note;
use dat_core::transport::{ConnectionReport, Transport};
use host::memory;
use host::poll::{self, Epoll, Events, Interest, Ready};
use host::thread;
use host::timers::Timers;

use crate::cm::{self, Incoming};
use crate::conn::{Conn, ConnPhase, Ending};
use crate::home::Peer;
use crate::link::Link;
use crate::node::{Command, Node};
use crate::os::directory::{Reachable, SocketName};
use crate::os::socket::{ConnectError, Recv, Sent, Socket};
use crate::pair::Pair;
use crate::pending::Pending;
use crate::strangers::Strangers;
use crate::tx::Tx;
use crate::watch::Watch;
use crate::wire::{CloseReason, MAX_PACKET, Message, Probe, VERSION};

/// Pauses between two attempts at what had no room, with another process or in the system: the first, and the longest, to
/// which they grow.
const BUSY_MIN: Duration = Duration::from_millis(1);
const BUSY_MAX: Duration = Duration::from_millis(32);
/// Time after which a process that was to make a link, and has not, is asked once more.
const ORPHANED: Duration = Duration::from_secs(1);
/// Time after which new links are taken again where there were no descriptors for them.
const RETRY: Duration = Duration::from_millis(20);
/// New connections, or messages of one peer, that are taken in one turn, so that nobody keeps the thread for himself.
const TURN: usize = 64;
/// Links that one other process may have with this one. It needs one, and for a moment another one if it closes all its
/// adapters and opens one anew.
const LINKS: usize = 4;
/// Processes of which more than the first complaint is not worth a warning.
const KNOWN: usize = 1024;
/// Time between two looks at transfers that keep an end from being told, and the time of a rare one.
const PENDING: Duration = Duration::from_millis(1);
const LONG_PENDING: Duration = Duration::from_millis(20);

const BELL: u64 = 0;
const LISTENER: u64 = 1;
const FIRST_PEER: u64 = 2;

/// Starts the thread.
pub fn start<T: Transport<Incoming = Incoming<T>, Tx = Tx>>(
    node: &Arc<Node<T>>,
    reachable: Arc<Reachable>,
) -> io::Result<thread::Thread> {
    let epoll = Epoll::new()?;
    epoll.add(node.links.home.bell.as_fd(), BELL, Interest::READ)?;
    epoll.add(reachable.listener.as_fd(), LISTENER, Interest::READ)?;
    let mut state = Thread {
        node: node.clone(),
        epoll,
        reachable,
        peers: HashMap::new(),
        strangers: Strangers::default(),
        names: HashMap::new(),
        calls: HashMap::new(),
        late: VecDeque::new(),
        late_pause: BUSY_MIN,
        known: HashSet::new(),
        orphans: HashMap::new(),
        timers: Timers::default(),
        next_token: FIRST_PEER,
        watch: Watch::new(),
        unfinished: Vec::new(),
    };
    thread::start(c"dat-shm", move || {
        state.run();
        state.hang_up();
    })
}

/// A connect whose link does not exist yet.
struct PendingConnect<T: Transport<Tx = Tx>> {
    /// Not kept alive: the program may have gone on without it.
    conn: Weak<Conn<T>>,
    qualifier: u64,
    private_data: Vec<u8>,
}

impl<T: Transport<Tx = Tx>> PendingConnect<T> {
    /// True if the program still waits for it.
    fn is_wanted(&self) -> bool {
        self.conn.upgrade().is_some_and(|conn| conn.phase() == ConnPhase::Pending)
    }

    /// Asks for the connection over its link.
    fn request(self, link: &Arc<Link<T>>) {
        if let Some(conn) = self.conn.upgrade() {
            cm::request(link, &conn, self.qualifier, self.private_data);
        }
    }

    /// Refuses the connect, because it gets no link.
    fn refuse(self) {
        if let Some(conn) = self.conn.upgrade() {
            cm::end(&conn, ConnectionReport::NonPeerRejected);
        }
    }
}

/// Connects that wait for a link which this process is making, and try again as long as the program wants one of them.
struct Call<T: Transport<Tx = Tx>> {
    waiting: Vec<PendingConnect<T>>,
    /// The time until the next attempt, if this one finds no room.
    pause: Duration,
}

impl<T: Transport<Tx = Tx>> Call<T> {
    fn new(waiting: Vec<PendingConnect<T>>) -> Self {
        Call { waiting, pause: BUSY_MIN }
    }
}

/// The reason why a link was not made.
enum NoLink {
    /// The other process has no room now.
    Busy,
    /// The system takes no more descriptors that are on their way to other processes.
    Crowded,
    /// There will be none.
    Refused(io::Error),
}

impl From<io::Error> for NoLink {
    fn from(error: io::Error) -> NoLink {
        NoLink::Refused(error)
    }
}

impl From<ConnectError> for NoLink {
    fn from(error: ConnectError) -> NoLink {
        match error {
            ConnectError::Busy => NoLink::Busy,
            ConnectError::Nobody => NoLink::Refused(io::ErrorKind::ConnectionRefused.into()),
            ConnectError::Io(error) => NoLink::Refused(error),
        }
    }
}

/// A message with descriptors that is to be sent when the system takes them.
enum Late {
    /// A hello.
    Hello(SocketName),
    /// The answer to one.
    Welcome(u64),
}

/// How far a link has come.
enum Stage<T: Transport<Tx = Tx>> {
    /// Accepted; the peer says hello next.
    Greeted(Socket),
    /// Connected; the peer answers the hello next.
    Greeting(Arc<Link<T>>, Call<T>),
    /// Its hello is to be answered, and these connects wait for that.
    Welcoming(Arc<Link<T>>, Vec<PendingConnect<T>>),
    /// Up.
    Up(Arc<Link<T>>),
}

/// An event that is due at some time.
enum Due<T: Transport<Tx = Tx>> {
    /// The program's patience with a connect is over.
    Connect(Weak<Conn<T>>),
    /// It is time to try again to connect to a process.
    Call(SocketName),
    /// The link that another process was to make has not come.
    Orphans(SocketName),
    /// The system may take descriptors again.
    Late,
    /// New links can be taken again.
    Accept,
}

/// An end that waits for transfers of the peer to be over.
enum Unfinished<T: Transport<Tx = Tx>> {
    /// The end of a connection.
    Conn(Ending<T>),
    /// The end of a link.
    Link(Arc<Link<T>>, Pending),
}

impl<T: Transport<Tx = Tx>> Unfinished<T> {
    fn pending(&mut self) -> &mut Pending {
        match self {
            Unfinished::Conn(ending) => ending.pending(),
            Unfinished::Link(_, pending) => pending,
        }
    }
}

struct Thread<T: Transport<Tx = Tx>> {
    node: Arc<Node<T>>,
    epoll: Epoll,
    reachable: Arc<Reachable>,
    peers: HashMap<u64, Stage<T>>,
    /// Those of the peers that have not said hello.
    strangers: Strangers,
    names: HashMap<SocketName, u64>,
    calls: HashMap<SocketName, Call<T>>,
    /// What waits for the system to take descriptors, and the time until that is tried next; none is sent meanwhile.
    late: VecDeque<Late>,
    late_pause: Duration,
    /// Processes of which this one has complained.
    known: HashSet<i32>,
    /// Connects that wait for a link which the other process is making. They are listed by its name.
    orphans: HashMap<SocketName, Vec<PendingConnect<T>>>,
    timers: Timers<Due<T>>,
    next_token: u64,
    watch: Watch,
    unfinished: Vec<Unfinished<T>>,
}

impl<T: Transport<Incoming = Incoming<T>, Tx = Tx>> Thread<T> {
    fn run(&mut self) {
        log::debug!("shm: the thread for connections begins");
        let mut events = Events::with_capacity(64);
        // What a thread needs for notes of regions is made now, and not when a message comes.
        drop(Note::new(ptr::from_ref(&events).addr()));
        while !self.node.is_stopped() {
            let timeout = self.timeout();
            if let Err(error) = self.epoll.wait(&mut events, timeout) {
                log::error!("shm: epoll: {error}");
                return;
            }
            for event in events.iter() {
                match event.token {
                    BELL => {
                        self.node.links.home.bell.clear();
                        self.watch.wake(&self.node.links);
                    }
                    LISTENER => self.accept(),
                    token => self.on_socket(token, &event),
                }
            }
            while let Some(command) = self.node.next_command() {
                self.obey(command);
            }
            if self.node.links.home.take_ends() {
                self.lose_outlaws();
            }
            self.finish();
            self.expire();
            self.watch.look(&self.node.links);
        }
    }

    /// The longest time to wait for events.
    fn timeout(&mut self) -> Option<Duration> {
        let timer = self.timers.next_due().map(|due| due.saturating_duration_since(Instant::now()));
        let age = self.unfinished.iter_mut().map(|unfinished| unfinished.pending().age()).min();
        let pending = age.map(|age| if age < LONG_PENDING * 10 { PENDING } else { LONG_PENDING });
        [timer, pending, self.watch.pause()].into_iter().flatten().min()
    }

    /// Looks at the ends that wait for transfers, and tells of those that need not any more.
    fn finish(&mut self) {
        let home = &self.node.links.home;
        let over = self.unfinished.extract_if(.., |unfinished| unfinished.pending().is_over(home));
        for unfinished in over.collect::<Vec<_>>() {
            match unfinished {
                Unfinished::Conn(ending) => ending.tell(),
                Unfinished::Link(link, _) => self.node.links.remove(&link),
            }
        }
    }

    fn obey(&mut self, command: Command<T>) {
        match command {
            Command::Connect { conn, address, qualifier, private_data, timeout } => {
                if let Some(timeout) = timeout {
                    self.set_timer(timeout, Due::Connect(Arc::downgrade(&conn)));
                }
                if address.is_local() {
                    self.connect(PendingConnect { conn: Arc::downgrade(&conn), qualifier, private_data });
                } else {
                    cm::end(&conn, ConnectionReport::Unreachable);
                }
            }
            Command::Deliver(link, message) => {
                cm::handle(&self.node, &link, message);
            }
            Command::WantRoom(link) => {
                if let (Some(socket), Some(&token)) = (link.socket(), self.names.get(&link.name)) {
                    let _ = self.epoll.modify(socket.as_fd(), token, Interest::READ | Interest::WRITE);
                }
            }
            Command::Fail(conn) => cm::fail_accept(&conn),
            Command::Abandon(link) => {
                let token = self.names.get(&link.name).copied();
                let is_it = |token: &u64| match self.peers.get(token) {
                    Some(Stage::Up(known)) => Arc::ptr_eq(known, &link),
                    _ => false,
                };
                if let Some(token) = token.filter(is_it) {
                    self.complain(link.pair().pid, &"it does not read its messages");
                    self.lose(token);
                }
            }
            Command::Finish(ending) => self.unfinished.push(Unfinished::Conn(ending)),
        }
    }

    /// Finds or makes the link to the process that listens, then asks for the connection.
    fn connect(&mut self, waiting: PendingConnect<T>) {
        let Ok(Some(name)) = self.node.directory.lookup(waiting.qualifier) else {
            waiting.refuse();
            return;
        };
        if name == self.node.name {
            if let Some(own) = self.node.own() {
                waiting.request(own);
            }
            return;
        }
        if let Some(orphans) = self.orphans.get_mut(&name) {
            orphans.push(waiting);
            return;
        }
        if let Some(call) = self.calls.get_mut(&name) {
            call.waiting.push(waiting);
            return;
        }
        match self.names.get(&name).and_then(|token| self.peers.get_mut(token)) {
            Some(Stage::Up(link)) => {
                let link = link.clone();
                waiting.request(&link);
            }
            Some(Stage::Greeting(_, call)) => call.waiting.push(waiting),
            Some(Stage::Welcoming(_, queue)) => queue.push(waiting),
            Some(Stage::Greeted(_)) | None => self.call(name, Call::new(vec![waiting])),
        }
    }

    /// Connects to another process and says hello. Where there is no room, it is tried again later.
    fn call(&mut self, name: SocketName, mut call: Call<T>) {
        call.waiting.retain(PendingConnect::is_wanted);
        if call.waiting.is_empty() {
            return;
        }
        if !self.late.is_empty() {
            self.calls.insert(name.clone(), call);
            self.late.push_back(Late::Hello(name));
            return;
        }
        match self.greet(&name) {
            Ok((token, link)) => {
                self.names.insert(name, token);
                self.peers.insert(token, Stage::Greeting(link, call));
            }
            Err(NoLink::Busy) => self.call_later(name, call),
            Err(NoLink::Crowded) => {
                self.calls.insert(name.clone(), call);
                self.be_late(Late::Hello(name));
            }
            Err(NoLink::Refused(error)) => {
                log::debug!(target: "link", "shm: no link: {error}");
                call.waiting.into_iter().for_each(PendingConnect::refuse);
            }
        }
    }

    fn call_later(&mut self, name: SocketName, call: Call<T>) {
        self.set_timer(call.pause, Due::Call(name.clone()));
        self.calls.insert(name, Call { pause: (call.pause * 2).min(BUSY_MAX), ..call });
    }

    /// Connects to a process and says hello.
    fn greet(&mut self, name: &SocketName) -> Result<(u64, Arc<Link<T>>), NoLink> {
        let home = &self.node.links.home;
        // Made first, so that the process is silent for as short a time as it can after it has connected.
        let pair = Pair::create(home, Some(0))?;
        let socket = memory::arc(self.node.directory.connect(name)?).map_err(io::Error::from)?;
        let peer = socket.peer_credentials()?;
        peer.same_user()?;
        let hello =
            Message::Hello { version: VERSION, name: self.node.name.to_string(), probe: self.node.probe(peer.pid) };
        let [published, regions, alarm] = home.fds();
        match socket.send(&hello.encode(), &[pair.fd(), published, regions, alarm])? {
            Sent::Done => {}
            Sent::WouldBlock => return Err(NoLink::Crowded),
            // It had to make room for others before it could say anything.
            Sent::Closed if is_put_off(&socket) => return Err(NoLink::Busy),
            Sent::Closed => return Err(io::Error::from(io::ErrorKind::ConnectionReset).into()),
        }
        let token = self.token();
        self.epoll.add(socket.as_fd(), token, Interest::READ)?;
        let pair = pair.with(peer.pid).map_err(io::Error::from)?;
        let link = Link::new(self.node.errands(), pair, name.clone(), Some(socket)).map_err(io::Error::from)?;
        Ok((token, link))
    }

    /// Takes note of a message whose descriptors the system does not take now. Others wait with it, for they would find the
    /// same.
    fn be_late(&mut self, message: Late) {
        self.late.push_front(message);
        self.set_timer(self.late_pause, Due::Late);
        self.late_pause = (self.late_pause * 2).min(BUSY_MAX);
    }

    /// Sends the messages that had to wait, as many as the system takes.
    fn catch_up(&mut self) {
        let mut late = std::mem::take(&mut self.late);
        while let Some(message) = late.pop_front() {
            match message {
                Late::Hello(name) => {
                    if let Some(call) = self.calls.remove(&name) {
                        self.call(name, call);
                    }
                }
                Late::Welcome(token) => self.welcome(token),
            }
            if !self.late.is_empty() {
                self.late.append(&mut late);
                return;
            }
            self.late_pause = BUSY_MIN;
        }
    }

    /// Stops listening to a socket.
    fn forget(&self, socket: &Socket) {
        if let Err(error) = self.epoll.delete(socket.as_fd()) {
            log::debug!("shm: a socket was not listened to: {error}");
        }
    }

    fn token(&mut self) -> u64 {
        self.next_token += 1;
        self.next_token
    }

    fn accept(&mut self) {
        for _ in 0..TURN {
            match self.reachable.listener.accept() {
                Ok(Some(socket)) => {
                    if let Err(error) = self.admit(socket) {
                        log::debug!(target: "link", "shm: a process is not admitted: {error}");
                    }
                }
                Ok(None) => return,
                Err(error) => {
                    // There are most likely no descriptors left.
                    if self.dismiss() {
                        continue;
                    }
                    log::debug!(target: "link", "shm: accept: {error}");
                    if self.epoll.delete(self.reachable.listener.as_fd()).is_ok() {
                        self.set_timer(RETRY, Due::Accept);
                    }
                    return;
                }
            }
        }
    }

    /// Lets a process that has connected say who it is.
    fn admit(&mut self, socket: Socket) -> io::Result<()> {
        let peer = socket.peer_credentials()?;
        peer.same_user()?;
        let token = self.token();
        self.epoll.add(socket.as_fd(), token, Interest::READ)?;
        self.peers.insert(token, Stage::Greeted(socket));
        // Most have said it by now, and some came only to see who listens.
        self.read(token);
        if let Some(Stage::Greeted(_)) = self.peers.get(&token) {
            while self.strangers.is_full() && self.dismiss() {}
            self.strangers.add(token, peer.pid);
        }
        Ok(())
    }

    /// Has one stranger make room for others, unless it has said hello meanwhile; false if there is none.
    fn dismiss(&mut self) -> bool {
        let Some((token, of_it)) = self.strangers.least_welcome() else { return false };
        self.read(token);
        if let Some(Stage::Greeted(socket)) = self.peers.get(&token) {
            // One that keeps to the rules was about to speak.
            let _ = socket.send(&Message::Again.encode(), &[]);
            if of_it > LINKS {
                self.complain(self.pid(token), &"it connects and says nothing");
            }
            self.lose(token);
        }
        true
    }

    /// The process of a peer; 0 if it is not visible from here.
    fn pid(&self, token: u64) -> i32 {
        match self.peers.get(&token) {
            Some(Stage::Greeted(socket)) => socket.peer_credentials().map_or(0, |peer| peer.pid),
            Some(Stage::Greeting(link, _) | Stage::Welcoming(link, _) | Stage::Up(link)) => link.pair().pid,
            None => 0,
        }
    }

    /// Tells of a peer that does not keep to the rules, once for each process.
    fn complain(&mut self, pid: i32, why: &dyn fmt::Display) {
        if self.known.len() < KNOWN && self.known.insert(pid) {
            log::warn!("shm: process {pid}: {why}");
        } else {
            log::debug!(target: "link", "shm: process {pid}: {why}");
        }
    }

    fn on_socket(&mut self, token: u64, event: &Ready) {
        if event.writable
            && let Some(Stage::Up(link)) = self.peers.get(&token)
            && link.flush()
            && let Some(socket) = link.socket()
        {
            let _ = self.epoll.modify(socket.as_fd(), token, Interest::READ);
        }
        if let Some(Stage::Up(_)) = self.peers.get(&token) {
            // Whatever a peer sends is a ring as well: a real one may have found no room behind it.
            self.watch.wake(&self.node.links);
        }
        self.read(token);
    }

    /// The socket of a peer.
    fn socket(&self, token: u64) -> Option<&Socket> {
        match self.peers.get(&token)? {
            Stage::Greeted(socket) => Some(socket),
            Stage::Greeting(link, _) | Stage::Welcoming(link, _) | Stage::Up(link) => {
                link.socket().map(|socket| &**socket)
            }
        }
    }

    /// Handles messages of a peer.
    fn read(&mut self, token: u64) {
        let mut packet = [0; MAX_PACKET];
        let mut fds = Vec::new();
        for _ in 0..TURN {
            fds.clear();
            let Some(socket) = self.socket(token) else { return };
            let message = match socket.recv(&mut packet, &mut fds) {
                Ok(Recv::Message(len)) => Message::decode(&packet[..len]).ok_or("a message that is none".to_owned()),
                Ok(Recv::WouldBlock) => return,
                Ok(Recv::Closed) => {
                    self.lose(token);
                    return;
                }
                Err(error) => Err(error.to_string()),
            };
            let pid = self.pid(token);
            if let Err(why) = message.and_then(|message| self.on_message(token, message, &mut fds)) {
                self.complain(pid, &why);
                self.lose(token);
                return;
            }
        }
    }

    /// Handles a message.
    ///
    /// # Errors
    /// The reason why the link is to end.
    fn on_message(&mut self, token: u64, message: Message, fds: &mut Vec<OwnedFd>) -> Result<(), String> {
        match (self.peers.get(&token), message) {
            (Some(Stage::Up(_)), Message::Ring) => {}
            (Some(Stage::Up(link)), Message::Reads(reads)) => link.pair().set_peer_reads(reads),
            (Some(Stage::Up(link)), message) => {
                let link = link.clone();
                if !cm::handle(&self.node, &link, message) {
                    return Err("a message that breaks the rules".to_owned());
                }
            }
            (Some(Stage::Greeted(_)), Message::Hello { version: VERSION, name, probe }) => {
                return self.on_hello(token, &name, probe, fds).map_err(|error| format!("its hello: {error}"));
            }
            (Some(Stage::Greeted(_)), Message::Hello { version, .. }) => {
                return Err(format!("its hello has version {version}, not {VERSION}"));
            }
            (Some(Stage::Greeting(..)), Message::Welcome { name: _, probe, reads }) => {
                return self.on_welcome(token, probe, reads, fds).map_err(|error| format!("its welcome: {error}"));
            }
            (Some(Stage::Greeting(..)), answer @ (Message::UseMine | Message::Again)) => {
                let Some(Stage::Greeting(link, call)) = self.peers.remove(&token) else { return Ok(()) };
                if let Some(socket) = link.socket() {
                    self.forget(socket);
                }
                let name = link.name.clone();
                self.names.remove(&name);
                if answer == Message::Again {
                    self.call_later(name, call);
                } else {
                    self.set_timer(ORPHANED, Due::Orphans(name.clone()));
                    self.orphans.entry(name).or_default().extend(call.waiting);
                }
            }
            _ => return Err("a message out of turn".to_owned()),
        }
        Ok(())
    }

    /// Handles a hello, the first message of a process that has connected.
    ///
    /// # Errors
    /// The reason why there is no link. A hello under the name of another process changes nothing.
    fn on_hello(&mut self, token: u64, name: &str, probe: Probe, fds: &mut Vec<OwnedFd>) -> io::Result<()> {
        let Some(Stage::Greeted(socket)) = self.peers.get(&token) else { return Ok(()) };
        let invalid = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why);
        let name = SocketName::parse(name).ok_or_else(|| invalid("a name of another form"))?;
        let pid = socket.peer_credentials()?.pid;
        if name == self.node.name || !self.is_of(&name, pid) {
            return Err(invalid("the name of another process"));
        }
        self.settle(&name);
        let known = self.names.get(&name).copied();
        if matches!(known.and_then(|token| self.peers.get(&token)), Some(Stage::Up(_) | Stage::Welcoming(..))) {
            return Err(invalid("it has a link already"));
        }
        let both = known.filter(|token| matches!(self.peers.get(token), Some(Stage::Greeting(..))));
        let of_it = |stage: &&Stage<T>| matches!(stage, Stage::Up(link) | Stage::Welcoming(link, _) if pid != 0 && link.pair().pid == pid);
        if self.peers.values().filter(of_it).count() >= LINKS {
            return Err(invalid("it has too many links"));
        }
        self.strangers.remove(token);
        let Some(Stage::Greeted(socket)) = self.peers.remove(&token) else { return Ok(()) };
        // Of two processes that connect to each other at once, the one with the lesser name makes the link.
        if both.is_some() && self.node.name.as_str() < name.as_str() {
            self.forget(&socket);
            let _ = socket.send(&Message::UseMine.encode(), &[])?;
            return Ok(());
        }
        let mut waiting = self.orphans.remove(&name).unwrap_or_default();
        let made = memory::arc(socket).map_err(io::Error::from).and_then(|socket| {
            let pair = self.open(&socket, pid, probe, fds).inspect_err(|_| self.forget(&socket))?;
            Ok(Link::new(self.node.errands(), pair, name.clone(), Some(socket))?)
        });
        let link = match made {
            Ok(link) => link,
            Err(error) => {
                waiting.into_iter().for_each(PendingConnect::refuse);
                return Err(error);
            }
        };
        if let Some(Stage::Greeting(own, call)) = both.and_then(|token| self.peers.remove(&token)) {
            if let Some(socket) = own.socket() {
                self.forget(socket);
            }
            waiting.extend(call.waiting);
        }
        waiting.extend(self.calls.remove(&name).map(|call| call.waiting).unwrap_or_default());
        self.names.insert(name, token);
        self.peers.insert(token, Stage::Welcoming(link, waiting));
        if self.late.is_empty() {
            self.welcome(token);
        } else {
            self.late.push_back(Late::Welcome(token));
        }
        Ok(())
    }

    /// True if the process `pid` listens at the socket `name`. Processes are compared as they are numbered here, so
    /// that namespaces do not matter.
    fn is_of(&self, name: &SocketName, pid: i32) -> bool {
        match self.node.directory.connect(name) {
            Ok(socket) => socket.peer_credentials().is_ok_and(|owner| owner.pid == pid && owner.same_user().is_ok()),
            // It cannot be asked now, and nobody else is reached at that name.
            Err(_) => name.pid() == Some(pid),
        }
    }

    /// Sees to the end of a link that the process `name` has closed, of which the news may come after those of a new
    /// one.
    fn settle(&mut self, name: &SocketName) {
        let Some(&token) = self.names.get(name) else { return };
        for _ in 0..TURN {
            let Some(socket) = self.socket(token) else { return };
            let state = poll::wait([Some(socket.as_fd())], Some(Duration::ZERO));
            if !state.is_ok_and(|[state]| state.failed) {
                return;
            }
            self.read(token);
        }
    }

    /// Opens the memory that a process wants to share.
    fn open(&self, socket: &Arc<Socket>, pid: i32, probe: Probe, fds: &mut Vec<OwnedFd>) -> io::Result<Arc<Pair>> {
        let [memory, published @ ..] = take_fds::<4>(fds)?;
        let pair = Pair::open(&self.node.links.home, memory, 1)?.with(pid)?;
        pair.set_peer(Peer::open(published, socket.clone())?, probe);
        pair.set_reads_peer(self.node.can_copy(&pair));
        Ok(pair)
    }

    /// Answers the hello of a process, whose link is up then.
    fn welcome(&mut self, token: u64) {
        let Some(Stage::Welcoming(link, _)) = self.peers.get(&token) else { return };
        let (home, pair) = (&self.node.links.home, link.pair());
        let (name, probe, reads) = (self.node.name.to_string(), self.node.probe(pair.pid), pair.reads_peer());
        let welcome = Message::Welcome { name, probe, reads }.encode();
        match link.socket().map_or(Ok(Sent::Closed), |socket| socket.send(&welcome, &home.fds())) {
            Ok(Sent::Done) => {}
            Ok(Sent::WouldBlock) => return self.be_late(Late::Welcome(token)),
            Ok(Sent::Closed) | Err(_) => return self.lose(token),
        }
        if let Some(Stage::Welcoming(link, waiting)) = self.peers.remove(&token) {
            self.be_up(token, link, waiting);
        }
    }

    fn on_welcome(&mut self, token: u64, probe: Probe, reads: bool, fds: &mut Vec<OwnedFd>) -> io::Result<()> {
        let Some(Stage::Greeting(link, _)) = self.peers.get(&token) else { return Ok(()) };
        let Some(socket) = link.socket() else { return Ok(()) };
        let peer = Peer::open(take_fds(fds)?, socket.clone())?;
        let Some(Stage::Greeting(link, call)) = self.peers.remove(&token) else { return Ok(()) };
        link.pair().set_peer(peer, probe);
        let own_reads = self.node.can_copy(link.pair());
        link.pair().set_reads_peer(own_reads);
        link.pair().set_peer_reads(reads);
        link.send(Message::Reads(own_reads));
        self.be_up(token, link, call.waiting);
        Ok(())
    }

    /// Takes a link into use, for which these connects have waited.
    fn be_up(&mut self, token: u64, link: Arc<Link<T>>, waiting: Vec<PendingConnect<T>>) {
        self.node.links.add(&link);
        self.peers.insert(token, Stage::Up(link.clone()));
        for one in waiting {
            one.request(&link);
        }
    }

    /// Ends a link whose peer is gone, or broke the protocol.
    fn lose(&mut self, token: u64) {
        self.strangers.remove(token);
        let (link, queue) = match self.peers.remove(&token) {
            Some(Stage::Up(link)) => (link, Vec::new()),
            Some(Stage::Greeting(link, Call { waiting, .. }) | Stage::Welcoming(link, waiting)) => (link, waiting),
            Some(Stage::Greeted(socket)) => {
                self.forget(&socket);
                return;
            }
            None => return,
        };
        if let Some(socket) = link.socket() {
            self.forget(socket);
            socket.end();
        }
        if self.names.get(&link.name) == Some(&token) {
            self.names.remove(&link.name);
        }
        link.pair().bury();
        link.give_up_all();
        for conn in link.all() {
            conn.on_peer_close(CloseReason::Disconnected);
        }
        // As long as the peer may use memory of this process, calls that free some find the link.
        match Pending::new(&self.node.links.home, std::iter::once(link.pair())) {
            None => self.node.links.remove(&link),
            Some(pending) => self.unfinished.push(Unfinished::Link(link, pending)),
        }
        queue.into_iter().for_each(PendingConnect::refuse);
    }

    /// Ends the links whose peers break the rules of transfers.
    fn lose_outlaws(&mut self) {
        let outlaw = |stage: &Stage<T>| matches!(stage, Stage::Up(link) if link.pair().is_outlaw());
        let tokens: Vec<u64> = self.peers.iter().filter(|(_, stage)| outlaw(stage)).map(|(&token, _)| token).collect();
        for token in tokens {
            self.lose(token);
        }
    }

    fn expire(&mut self) {
        let now = Instant::now();
        while let Some(due) = self.timers.take_due(now) {
            match due {
                Due::Connect(conn) => {
                    if let Some(conn) = conn.upgrade().filter(|conn| conn.phase() == ConnPhase::Pending) {
                        cm::end(&conn, ConnectionReport::TimedOut);
                    }
                }
                Due::Call(name) => {
                    if let Some(call) = self.calls.remove(&name) {
                        self.call(name, call);
                    }
                }
                Due::Orphans(name) => {
                    if let Some(orphans) = self.orphans.remove(&name) {
                        self.call(name, Call::new(orphans));
                    }
                }
                Due::Late => self.catch_up(),
                Due::Accept => {
                    let _ = self.epoll.add(self.reachable.listener.as_fd(), LISTENER, Interest::READ);
                }
            }
        }
    }

    fn set_timer(&mut self, after: Duration, what: Due<T>) {
        if let Some(due) = Instant::now().checked_add(after) {
            self.timers.set(due, what);
        }
    }

    /// Ends all links, because the last adapter of the process is closed.
    fn hang_up(&mut self) {
        for token in self.peers.keys().copied().collect::<Vec<_>>() {
            self.lose(token);
        }
    }
}

/// True if the process at the other end has closed the connection and wants to be called again.
fn is_put_off(socket: &Socket) -> bool {
    let mut packet = [0; MAX_PACKET];
    let last = socket.recv(&mut packet, &mut Vec::new());
    matches!(last, Ok(Recv::Message(len)) if Message::decode(&packet[..len]) == Some(Message::Again))
}

fn take_fds<const N: usize>(fds: &mut Vec<OwnedFd>) -> io::Result<[OwnedFd; N]> {
    std::mem::take(fds)
        .try_into()
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not as many descriptors as there should be"))
}
