//! The one thread of a node. It makes links, carries messages about connections, keeps their time, and looks after
//! arrived data when no other thread does.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dat_core::transport::{ConnectionReport, Transport};
use host::poll::{Epoll, Events, Interest, Ready};
use host::signal;
use host::timers::Timers;

use crate::cm::{self, Incoming};
use crate::conn::{Conn, ConnPhase};
use crate::home::{Bell, Peer};
use crate::link::Link;
use crate::node::{Command, Node};
use crate::os::directory::{Reachable, SocketName};
use crate::os::socket::{ConnectError, Recv, Sent, Socket};
use crate::pair::Pair;
use crate::watch::Watch;
use crate::wire::{CloseReason, MAX_PACKET, Message, Probe, VERSION};

/// Time for which a connect is tried again, and the pause in between, while the queue of new links of a process is full.
const BUSY: Duration = Duration::from_millis(128);
const BUSY_PAUSE: Duration = Duration::from_micros(500);
/// The longest that a process may take to answer a greeting.
const GREETING: Duration = Duration::from_secs(30);
/// Time after which new links are taken again where there were no descriptors for them.
const RETRY: Duration = Duration::from_millis(20);

const BELL: u64 = 0;
const LISTENER: u64 = 1;
const FIRST_PEER: u64 = 2;

/// Starts the thread.
pub fn start<T: Transport<Incoming = Incoming<T>>>(
    node: &Arc<Node<T>>,
    reachable: Arc<Reachable>,
) -> io::Result<JoinHandle<()>> {
    let epoll = Epoll::new()?;
    epoll.add(node.links.home.bell(Bell::Thread).as_fd(), BELL, Interest::READ)?;
    epoll.add(reachable.listener.as_fd(), LISTENER, Interest::READ)?;
    let mut state = Thread {
        node: node.clone(),
        epoll,
        reachable,
        peers: HashMap::new(),
        names: HashMap::new(),
        orphans: HashMap::new(),
        timers: Timers::default(),
        next_token: FIRST_PEER,
        watch: Watch::Asleep,
    };
    std::thread::Builder::new().name("dat-shm".into()).spawn(move || {
        signal::block_all();
        state.run();
        state.hang_up();
    })
}

/// A connect whose link does not exist yet.
struct PendingConnect<T: Transport> {
    /// Not kept alive: the program may have gone on without it.
    conn: Weak<Conn<T>>,
    qualifier: u64,
    private_data: Vec<u8>,
}

impl<T: Transport> PendingConnect<T> {
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

/// How far a link has come.
enum Stage<T: Transport> {
    /// Accepted; the peer says hello next.
    Greeted(Socket),
    /// Connected; the peer answers the hello next, and these connects wait for that.
    Greeting(Arc<Link<T>>, Vec<PendingConnect<T>>),
    /// Up.
    Up(Arc<Link<T>>),
}

/// An event that is due at some time.
enum Due<T: Transport> {
    /// The program's patience with a connect is over.
    Connect(Weak<Conn<T>>),
    /// A process has not answered a greeting, or not said hello.
    Greeting(u64),
    /// The link that another process was to make has not come.
    Orphans(SocketName),
    /// New links can be taken again.
    Accept,
}

struct Thread<T: Transport> {
    node: Arc<Node<T>>,
    epoll: Epoll,
    reachable: Arc<Reachable>,
    peers: HashMap<u64, Stage<T>>,
    names: HashMap<SocketName, u64>,
    /// Connects that wait for a link which the other process is making. They are listed by its name.
    orphans: HashMap<SocketName, Vec<PendingConnect<T>>>,
    timers: Timers<Due<T>>,
    next_token: u64,
    watch: Watch,
}

impl<T: Transport<Incoming = Incoming<T>>> Thread<T> {
    fn run(&mut self) {
        let mut events = Events::with_capacity(64);
        while !self.node.is_stopped() {
            let timeout = self.timeout();
            if let Err(error) = self.epoll.wait(&mut events, timeout) {
                log::error!("shm: epoll: {error}");
                return;
            }
            for event in events.iter() {
                match event.token {
                    BELL => {
                        self.node.links.home.bell(Bell::Thread).clear();
                        self.watch.wake(&self.node.links);
                    }
                    LISTENER => self.accept(),
                    token => self.on_socket(token, &event),
                }
            }
            while let Some(command) = self.node.next_command() {
                self.obey(command);
            }
            self.expire();
            self.watch.look(&self.node.links);
        }
    }

    /// The longest time to wait for events.
    fn timeout(&self) -> Option<Duration> {
        let timer = self.timers.next_due().map(|due| due.saturating_duration_since(Instant::now()));
        [timer, self.watch.pause()].into_iter().flatten().min()
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
        match self.names.get(&name).and_then(|token| self.peers.get_mut(token)) {
            Some(Stage::Up(link)) => {
                let link = link.clone();
                waiting.request(&link);
            }
            Some(Stage::Greeting(_, queue)) => queue.push(waiting),
            Some(Stage::Greeted(_)) | None => {
                if let Err((waiting, error)) = self.greet(name, waiting) {
                    log::debug!("shm: no link: {error}");
                    waiting.refuse();
                }
            }
        }
    }

    /// Connects to another process and says hello.
    fn greet(&mut self, name: SocketName, waiting: PendingConnect<T>) -> Result<(), (PendingConnect<T>, io::Error)> {
        match self.try_greet(&name) {
            Ok((token, link)) => {
                self.names.insert(name, token);
                self.peers.insert(token, Stage::Greeting(link, vec![waiting]));
                self.set_timer(GREETING, Due::Greeting(token));
                Ok(())
            }
            Err(error) => Err((waiting, error)),
        }
    }

    fn try_greet(&mut self, name: &SocketName) -> io::Result<(u64, Arc<Link<T>>)> {
        let start = Instant::now();
        let socket = loop {
            match self.node.directory.connect(name) {
                Ok(socket) => break socket,
                Err(ConnectError::Busy) if start.elapsed() < BUSY => std::thread::sleep(BUSY_PAUSE),
                Err(ConnectError::Busy) => return Err(io::ErrorKind::WouldBlock.into()),
                Err(ConnectError::Nobody) => return Err(io::ErrorKind::ConnectionRefused.into()),
                Err(ConnectError::Io(error)) => return Err(error),
            }
        };
        let peer = socket.peer_credentials()?;
        peer.same_user()?;
        let pair = Pair::create(&self.node.links.home, peer.pid, Some(0))?;
        let probe = self.node.links.home.probe();
        let hello = Message::Hello { version: VERSION, name: self.node.name.to_string(), probe };
        let ringers = self.node.links.home.ringers()?;
        let [home, regions, waiter, thread] = self.node.links.home.fds(&ringers);
        if socket.send(&hello.encode(), &[pair.fd(), home, regions, waiter, thread])? != Sent::Done {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let token = self.token();
        self.epoll.add(socket.as_fd(), token, Interest::READ)?;
        Ok((token, Link::new(self.node.errands(), pair, name.clone(), Some(socket))))
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
        loop {
            match self.reachable.listener.accept() {
                Ok(Some(socket)) => {
                    let token = self.token();
                    let welcome = socket.peer_credentials().and_then(|peer| peer.same_user());
                    if welcome.and_then(|()| self.epoll.add(socket.as_fd(), token, Interest::READ)).is_ok() {
                        self.peers.insert(token, Stage::Greeted(socket));
                        self.set_timer(GREETING, Due::Greeting(token));
                    }
                }
                Ok(None) => return,
                Err(error) => {
                    // There are most likely no descriptors left, so trying again at once would not help.
                    log::warn!("shm: accept: {error}");
                    if self.epoll.delete(self.reachable.listener.as_fd()).is_ok() {
                        self.set_timer(RETRY, Due::Accept);
                    }
                    return;
                }
            }
        }
    }

    fn on_socket(&mut self, token: u64, event: &Ready) {
        if event.writable
            && let Some(Stage::Up(link) | Stage::Greeting(link, _)) = self.peers.get(&token)
            && link.flush()
            && let Some(socket) = link.socket()
        {
            let _ = self.epoll.modify(socket.as_fd(), token, Interest::READ);
        }
        let mut packet = [0; MAX_PACKET];
        let mut fds = Vec::new();
        loop {
            fds.clear();
            let socket = match self.peers.get(&token) {
                Some(Stage::Greeted(socket)) => Some(socket),
                Some(Stage::Greeting(link, _) | Stage::Up(link)) => link.socket(),
                None => None,
            };
            let Some(socket) = socket else { return };
            let message = match socket.recv(&mut packet, &mut fds) {
                Ok(Recv::Message(len)) => Message::decode(&packet[..len]),
                Ok(Recv::WouldBlock) => return,
                Ok(Recv::Closed) => None,
                Err(error) => {
                    log::debug!("shm: a peer's socket: {error}");
                    None
                }
            };
            let fine = message.is_some_and(|message| self.on_message(token, message, &mut fds));
            if !fine {
                self.lose(token);
                return;
            }
        }
    }

    /// Handles a message; false if the link is to end.
    fn on_message(&mut self, token: u64, message: Message, fds: &mut Vec<OwnedFd>) -> bool {
        match (self.peers.get(&token), message) {
            (Some(Stage::Up(link)), Message::Reads(reads)) => link.pair().set_peer_reads(reads),
            (Some(Stage::Up(link)), message) => {
                let link = link.clone();
                return cm::handle(&self.node, &link, message);
            }
            (Some(Stage::Greeted(_)), Message::Hello { version: VERSION, name, probe }) => {
                let Some(Stage::Greeted(socket)) = self.peers.remove(&token) else { return false };
                return self.on_hello(token, socket, &name, probe, fds).unwrap_or_else(|error| {
                    log::warn!("shm: a peer's hello: {error}");
                    if let Some(orphans) = SocketName::parse(&name).and_then(|name| self.orphans.remove(&name)) {
                        orphans.into_iter().for_each(PendingConnect::refuse);
                    }
                    false
                });
            }
            (Some(Stage::Greeting(..)), Message::Welcome { name: _, probe, reads }) => {
                return self.on_welcome(token, probe, reads, fds).unwrap_or_else(|error| {
                    log::warn!("shm: a peer's welcome: {error}");
                    false
                });
            }
            (Some(Stage::Greeting(..)), Message::UseMine) => {
                let Some(Stage::Greeting(link, queue)) = self.peers.remove(&token) else { return false };
                if let Some(socket) = link.socket() {
                    self.forget(socket);
                }
                self.names.remove(&link.name);
                self.orphans.entry(link.name.clone()).or_default().extend(queue);
                self.set_timer(GREETING, Due::Orphans(link.name.clone()));
            }
            _ => return false,
        }
        true
    }

    fn on_hello(
        &mut self,
        token: u64,
        socket: Socket,
        name: &str,
        probe: Probe,
        fds: &mut Vec<OwnedFd>,
    ) -> io::Result<bool> {
        let nameless = || io::Error::new(io::ErrorKind::InvalidData, "a name of another form");
        let name = SocketName::parse(name).ok_or_else(nameless)?;
        let greeting = self.names.get(&name).copied();
        let both = greeting.filter(|token| matches!(self.peers.get(token), Some(Stage::Greeting(..))));
        // Of two processes that connect to each other at once, the one with the lesser name makes the link.
        if both.is_some() && self.node.name.as_str() < name.as_str() {
            self.forget(&socket);
            let _ = socket.send(&Message::UseMine.encode(), &[])?;
            return Ok(true);
        }
        let [memory, home, regions, waiter, thread] = take_fds(fds)?;
        let pid = socket.peer_credentials()?.pid;
        let pair = Pair::open(&self.node.links.home, memory, pid, 1)?;
        pair.set_peer(Peer::open([home, regions, waiter, thread])?, probe);
        let reads = self.node.can_copy(&pair);
        pair.set_reads_peer(reads);
        let probe = self.node.links.home.probe();
        let welcome = Message::Welcome { name: self.node.name.to_string(), probe, reads };
        let ringers = self.node.links.home.ringers()?;
        if socket.send(&welcome.encode(), &self.node.links.home.fds(&ringers))? != Sent::Done {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let link = Link::new(self.node.errands(), pair, name.clone(), Some(socket));
        self.node.links.add(&link);
        self.peers.insert(token, Stage::Up(link.clone()));
        let mut waiting = self.orphans.remove(&name).unwrap_or_default();
        if let Some(Stage::Greeting(own, queue)) = both.and_then(|token| self.peers.remove(&token)) {
            if let Some(socket) = own.socket() {
                self.forget(socket);
            }
            waiting.extend(queue);
        }
        self.names.insert(name, token);
        for one in waiting {
            one.request(&link);
        }
        Ok(true)
    }

    fn on_welcome(&mut self, token: u64, probe: Probe, reads: bool, fds: &mut Vec<OwnedFd>) -> io::Result<bool> {
        let peer = Peer::open(take_fds(fds)?)?;
        let Some(Stage::Greeting(link, queue)) = self.peers.remove(&token) else { return Ok(false) };
        link.pair().set_peer(peer, probe);
        let own_reads = self.node.can_copy(link.pair());
        link.pair().set_reads_peer(own_reads);
        link.pair().set_peer_reads(reads);
        link.send(Message::Reads(own_reads));
        self.node.links.add(&link);
        self.peers.insert(token, Stage::Up(link.clone()));
        for one in queue {
            one.request(&link);
        }
        Ok(true)
    }

    /// Ends a link whose peer is gone, or broke the protocol.
    fn lose(&mut self, token: u64) {
        let (link, queue) = match self.peers.remove(&token) {
            Some(Stage::Up(link)) => (link, Vec::new()),
            Some(Stage::Greeting(link, queue)) => (link, queue),
            Some(Stage::Greeted(socket)) => {
                self.forget(&socket);
                return;
            }
            None => return,
        };
        if let Some(socket) = link.socket() {
            self.forget(socket);
        }
        if self.names.get(&link.name) == Some(&token) {
            self.names.remove(&link.name);
        }
        link.pair().bury();
        link.give_up_all();
        for conn in link.all() {
            conn.on_peer_close(CloseReason::Disconnected);
        }
        self.node.links.remove(&link);
        queue.into_iter().for_each(PendingConnect::refuse);
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
                Due::Greeting(token) => {
                    if matches!(self.peers.get(&token), Some(Stage::Greeted(_) | Stage::Greeting(..))) {
                        self.lose(token);
                    }
                }
                Due::Orphans(name) => {
                    let orphans = self.orphans.remove(&name).unwrap_or_default();
                    orphans.into_iter().for_each(PendingConnect::refuse);
                }
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

fn take_fds<const N: usize>(fds: &mut Vec<OwnedFd>) -> io::Result<[OwnedFd; N]> {
    std::mem::take(fds)
        .try_into()
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not as many descriptors as there should be"))
}
