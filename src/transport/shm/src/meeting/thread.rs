//! The progress thread of a process. It establishes links, handles connection messages and their timeouts, and polls
//! for data when no other thread does.
//!
//! * Processes of other users (SO_PEERCRED) are rejected. A hello is accepted if the kernel's process ID of its sender
//!   is the ID of the listener at the name in the hello, or the ID in the name if nothing listens there. A hello never
//!   replaces a link.
//! * A peer that does not read its socket loses its link. The first violation of each peer process is a warning.
//! * If a listener's queue is full, a timer retries the connects to it. Other connections do not wait.
//! * The kernel limits a user's descriptors in flight. A timer retries a hello or welcome that exceeds the limit. Later
//!   hellos and welcomes wait until the first has been sent.
//!
//! The thread has the scheduling class and priority of the thread that opened the first adapter, and never runs code of
//! the program.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use dat_core::transport::ConnectionReport;
use dat_software::qp::Phase;
use host::epoch::{EpochGuard, Memory};
use host::memory;
use host::poll::{Epoll, Events, Ready};
use host::thread;
use host::timers::Timers;
use rustix::io::Errno;

use crate::cm;
use crate::conn::{Conn, Ending};
use crate::guard::Watched;
use crate::link::Link;
use crate::os::directory::{Reachable, SocketName};
use crate::pending::Pending;
use crate::pending_peers::PendingPeers;
use crate::process_context::{Command, ProcessContext};
use crate::watch::Watch;
use crate::wire::{CloseReason, MAX_PACKET, Message, VERSION};
use dat_census::socket::Socket;

mod calls;
mod greeting;

pub use self::calls::PendingConnect;
use self::calls::{Call, Late};

/// Minimum of the pause between attempts while the peer's queue is full, the peer answers [`Message::Again`], or too
/// many descriptors are in flight. The pause doubles up to [`BUSY_MAX`].
const BUSY_MIN: Duration = Duration::from_millis(1);
const BUSY_MAX: Duration = Duration::from_millis(32);
/// Time from [`Message::UseMine`] until this process connects again, if the sender has not established the link.
const ORPHANED: Duration = Duration::from_secs(1);
/// Time after which links are accepted again after a lack of descriptors.
const RETRY: Duration = Duration::from_millis(20);
/// Maximum number of sockets that the thread accepts, or of messages of one peer that it reads, for one event.
const TURN: usize = 64;
/// Maximum number of links with another process. A process needs one, or briefly two if it closes all its adapters and
/// opens one.
const LINKS: usize = 4;
/// Maximum number of processes about which a warning is logged.
const COMPLAINED: usize = 1024;
/// Interval at which the thread checks peers' transfers that delay the report of an end, for the first 200 ms.
const PENDING: Duration = Duration::from_millis(1);
/// The same interval after the first 200 ms.
const LONG_PENDING: Duration = Duration::from_millis(20);

const WAKEUP: u64 = 0;
const LISTENER: u64 = 1;
const GUARD: u64 = 2;
const FIRST_PEER: u64 = 3;

pub fn start(context: &Arc<ProcessContext>, reachable: Arc<Reachable>) -> io::Result<thread::Thread> {
    let epoll = Epoll::new()?;
    epoll.add(context.links.control.wakeup_fd.as_fd(), WAKEUP)?;
    epoll.add(context.links.control.guard.timer.as_fd(), GUARD)?;
    epoll.add(reachable.listener.as_fd(), LISTENER)?;
    let mut state = Thread {
        context: context.clone(),
        epoll,
        reachable,
        peers: HashMap::new(),
        pending_peers: PendingPeers::default(),
        names: HashMap::new(),
        calls: HashMap::new(),
        late: VecDeque::new(),
        late_pause: BUSY_MIN,
        complained: HashSet::new(),
        timers: Timers::default(),
        next_token: FIRST_PEER,
        watch: Watch::new(),
        watched: Watched::default(),
        unfinished: Vec::new(),
    };
    thread::start(c"dat-shm", move || {
        state.run();
        state.watched.end(&state.context.links.control.guard);
        // The process has closed its last adapter, or epoll has failed.
        for token in state.peers.keys().copied().collect::<Vec<_>>() {
            state.lose(token);
        }
    })
}

enum Stage {
    Greeted(Arc<Socket>),
    /// This process has connected and sent its hello, and waits for the answer.
    Greeting(Arc<Link>, Call),
    /// The welcome for the peer has not been sent. These connects of this process wait until it is.
    Welcoming(Arc<Link>, Vec<PendingConnect>),
    Up(Arc<Link>),
}

/// Why a link ends, and the report for the connects that wait for the link.
struct Fault {
    why: String,
    report: ConnectionReport,
}

impl Fault {
    fn of(what: &str, error: &io::Error) -> Fault {
        Fault { why: format!("{what}: {error}"), report: ConnectionReport::of(error) }
    }
}

impl From<String> for Fault {
    fn from(why: String) -> Fault {
        Fault { why, report: ConnectionReport::NonPeerRejected }
    }
}

enum Due {
    Connect(Weak<Conn>),
    /// Retries a connect for which no process listened.
    Retry(PendingConnect),
    /// Connects again to a process that had no room, or that may not have established the expected link.
    Call(SocketName),
    Late,
    Accept,
}

enum Unfinished {
    Conn(Ending),
    Link(Arc<Link>, Pending),
}

impl Unfinished {
    fn pending(&mut self) -> &mut Pending {
        match self {
            Unfinished::Conn(ending) => &mut ending.pending,
            Unfinished::Link(_, pending) => pending,
        }
    }
}

struct Thread {
    context: Arc<ProcessContext>,
    epoll: Epoll,
    reachable: Arc<Reachable>,
    peers: HashMap<u64, Stage>,
    pending_peers: PendingPeers,
    names: HashMap<SocketName, u64>,
    /// For each process, the connects that wait for the next attempt, or for the link that the other process
    /// establishes.
    calls: HashMap<SocketName, Call>,
    /// Messages that wait until the system accepts more descriptors.
    late: VecDeque<Late>,
    /// Pause before the next attempt to send the messages in `late`.
    late_pause: Duration,
    complained: HashSet<i32>,
    timers: Timers<Due>,
    next_token: u64,
    watch: Watch,
    watched: Watched,
    unfinished: Vec<Unfinished>,
}

impl Thread {
    fn run(&mut self) {
        log::debug!(target: host::diagnostics::THREAD, "shm: the thread for connections begins");
        let mut events = Events::with_capacity(64);
        // Allocates this thread's epoch state now. When a message arrives, memory may be lacking.
        drop(EpochGuard::<Memory>::enter());
        while !self.context.is_stopped() {
            let timeout = self.timeout();
            if let Err(error) = self.epoll.wait(&mut events, timeout) {
                log::error!("shm: cannot wait for connections: {error}");
                return;
            }
            for event in events.iter() {
                match event.token {
                    WAKEUP => {
                        self.context.links.control.wakeup_fd.clear();
                        self.watch.wake(&self.context.links);
                    }
                    GUARD => self.watched.begin(&self.context.links.control.guard),
                    LISTENER => self.accept(),
                    token => self.on_socket(token, &event),
                }
            }
            while let Some(command) = self.context.next_command() {
                self.obey(command);
            }
            if self.context.links.control.take_ends() {
                self.lose_violators();
            }
            self.finish();
            self.expire();
            self.watch.look(&self.context.links);
            self.watched.look(&self.context.links.control.guard);
        }
    }

    fn timeout(&mut self) -> Option<Duration> {
        let timer = self.timers.next_due().map(|due| due.saturating_duration_since(Instant::now()));
        let age = self.unfinished.iter_mut().map(|unfinished| unfinished.pending().age()).min();
        let pending = age.map(|age| if age < LONG_PENDING * 10 { PENDING } else { LONG_PENDING });
        [timer, pending, self.watch.pause(), self.watched.pause(&self.context.links.control.guard)]
            .into_iter()
            .flatten()
            .min()
    }

    fn finish(&mut self) {
        let control = &self.context.links.control;
        let mut at = 0;
        while let Some(unfinished) = self.unfinished.get_mut(at) {
            if !unfinished.pending().is_over(control) {
                at += 1;
                continue;
            }
            match self.unfinished.remove(at) {
                Unfinished::Conn(ending) => ending.tell(),
                Unfinished::Link(link, _) => self.context.links.remove(&link),
            }
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Connect(waiting, address, timeout) => {
                if let Some(when) = timeout.and_then(|timeout| Instant::now().checked_add(timeout)) {
                    let keep = |due: &Due| !matches!(due, Due::Connect(conn) if conn.strong_count() == 0);
                    self.timers.set_pruned(when, Due::Connect(waiting.conn.clone()), keep);
                }
                if address.is_local() {
                    self.connect(waiting);
                } else {
                    waiting.end(ConnectionReport::Unreachable);
                }
            }
            Command::Deliver(link, message) => {
                cm::handle(&self.context, &link, message);
            }
            Command::WantRoom(link) => {
                if let (Some(socket), Some(&token)) = (&link.socket, self.names.get(&link.name)) {
                    let _ = self.epoll.modify(socket.as_fd(), token, true);
                }
            }
            Command::Fail(conn) => cm::end(&conn, CloseReason::Answer, ConnectionReport::AcceptFailed),
            Command::Abandon(link) => {
                if let Some(&token) = self.names.get(&link.name) {
                    if matches!(self.peers.get(&token), Some(Stage::Up(known)) if Arc::ptr_eq(known, &link)) {
                        self.complain(link.peer_segment.pid, &"it does not read its messages");
                        self.lose(token);
                    }
                }
            }
            Command::Finish(ending) => self.unfinished.push(Unfinished::Conn(ending)),
        }
    }

    fn forget(&self, socket: Option<&Socket>) {
        if let Some(Err(error)) = socket.map(|socket| self.epoll.delete(socket.as_fd())) {
            log::debug!(target: host::diagnostics::THREAD, "shm: cannot remove a socket from epoll: {error}");
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
                        log::debug!(target: host::diagnostics::CM, "shm: process rejected: {error}");
                    }
                }
                Ok(None) => return,
                Err(error) => {
                    if self.dismiss() {
                        continue;
                    }
                    log::debug!(target: host::diagnostics::CM, "shm: cannot accept: {error}");
                    if self.epoll.delete(self.reachable.listener.as_fd()).is_ok() {
                        self.set_timer(RETRY, Due::Accept);
                    }
                    return;
                }
            }
        }
    }

    fn admit(&mut self, socket: Socket) -> io::Result<()> {
        let pid = socket.peer()?;
        let (token, socket) = (self.token(), memory::arc(socket)?);
        self.epoll.add(socket.as_fd(), token)?;
        self.peers.insert(token, Stage::Greeted(socket));
        // Reads first: most hellos have arrived already, and some processes only test whether this process listens.
        // Such peers are never pending.
        self.read(token);
        if let Some(Stage::Greeted(_)) = self.peers.get(&token) {
            while self.pending_peers.is_full() && self.dismiss() {}
            self.pending_peers.add(token, pid);
        }
        Ok(())
    }

    /// Reads the hello of a pending peer, or closes its socket if no hello has arrived, to make room. Returns `false`
    /// if no peer is pending.
    fn dismiss(&mut self) -> bool {
        let Some((token, of_it)) = self.pending_peers.least_welcome() else { return false };
        self.read(token);
        if let Some(Stage::Greeted(socket)) = self.peers.get(&token) {
            // A peer that follows the protocol was about to send its hello, and connects again after this message.
            let _ = socket.send(&Message::Again.encode(), &[]);
            let pid = socket.peer().unwrap_or(0);
            if of_it > LINKS {
                self.complain(pid, &"it connects and says nothing");
            }
            self.lose(token);
        }
        true
    }

    fn complain(&mut self, pid: i32, why: &dyn fmt::Display) {
        if self.complained.len() < COMPLAINED && self.complained.insert(pid) {
            log::warn!("shm: process {pid}: {why}");
        } else {
            log::debug!(target: host::diagnostics::CM, "shm: process {pid}: {why}");
        }
    }

    fn on_socket(&mut self, token: u64, event: &Ready) {
        if event.writable {
            if let Some(Stage::Up(link)) = self.peers.get(&token) {
                if link.flush() {
                    if let Some(socket) = &link.socket {
                        let _ = self.epoll.modify(socket.as_fd(), token, false);
                    }
                }
            }
        }
        self.read(token);
    }

    fn is_up(&self, token: u64) -> bool {
        matches!(self.peers.get(&token), Some(Stage::Up(_)))
    }

    fn socket(&self, token: u64) -> Option<Arc<Socket>> {
        match self.peers.get(&token)? {
            Stage::Greeted(socket) => Some(socket.clone()),
            Stage::Greeting(link, _) | Stage::Welcoming(link, _) | Stage::Up(link) => link.socket.clone(),
        }
    }

    /// Handles the peer's messages, and then checks for data if the link is up, also if one of these messages has
    /// brought it up. Any message counts as a wakeup, because the peer's wakeup message may have found the socket full.
    fn read(&mut self, token: u64) {
        let was_up = self.is_up(token);
        self.read_messages(token);
        if was_up || self.is_up(token) {
            self.watch.wake(&self.context.links);
        }
    }

    fn read_messages(&mut self, token: u64) {
        let mut packet = [0; MAX_PACKET];
        let mut fds = Vec::new();
        for _ in 0..TURN {
            fds.clear();
            let Some(socket) = self.socket(token) else { return };
            let message = match socket.recv(&mut packet, &mut fds) {
                Ok(0) => return self.lose(token),
                Ok(len) => Message::decode(&packet[..len]).ok_or("a message that is none".to_owned().into()),
                Err(Errno::AGAIN) => return,
                Err(error) => Err(Fault::of("its message", &error.into())),
            };
            if let Err(fault) = message.and_then(|message| self.on_message(token, message, &mut fds)) {
                self.complain(socket.peer().unwrap_or(0), &fault.why);
                return self.lose_for(token, &fault.report);
            }
        }
    }

    /// Handles a message.
    ///
    /// # Errors
    /// The reason why the link must end.
    fn on_message(&mut self, token: u64, message: Message, fds: &mut Vec<OwnedFd>) -> Result<(), Fault> {
        match (self.peers.get(&token), message) {
            (Some(Stage::Up(_)), Message::Ring) => {}
            (Some(Stage::Up(link)), Message::Reads(reads)) => link.peer_segment.peer_reads.set(reads),
            (Some(Stage::Up(link)), message) => {
                let link = link.clone();
                if !cm::handle(&self.context, &link, message) {
                    return Err("a message that breaks the rules".to_owned().into());
                }
            }
            (Some(Stage::Greeted(_)), Message::Hello { version: VERSION, name, probe }) => {
                return self.on_hello(token, &name, probe, fds).map_err(|error| Fault::of("its hello", &error));
            }
            (Some(Stage::Greeted(_)), Message::Hello { version, .. }) => {
                return Err(format!("its hello has version {version}, not {VERSION}").into());
            }
            (Some(Stage::Greeted(socket)), Message::Ask) => {
                self.context.census.respond(socket, || self.context.links.copies(self.context.vm));
                self.lose(token);
            }
            (Some(Stage::Greeting(..)), Message::Welcome { probe, reads }) => {
                return self.on_welcome(token, probe, reads, fds).map_err(|error| Fault::of("its welcome", &error));
            }
            (Some(Stage::Greeting(..)), answer @ (Message::UseMine | Message::Again)) => {
                let Some(Stage::Greeting(link, mut call)) = self.peers.remove(&token) else { return Ok(()) };
                self.forget(link.socket.as_deref());
                self.names.remove(&link.name);
                if answer == Message::UseMine {
                    call.pause = ORPHANED;
                }
                self.call_later(link.name.clone(), call);
            }
            _ => return Err("a message out of turn".to_owned().into()),
        }
        Ok(())
    }

    fn lose(&mut self, token: u64) {
        self.lose_for(token, &ConnectionReport::NonPeerRejected);
    }

    /// Ends a link. The connects that wait for the link end with `report`.
    fn lose_for(&mut self, token: u64, report: &ConnectionReport) {
        self.pending_peers.remove(token);
        let (link, queue) = match self.peers.remove(&token) {
            Some(Stage::Up(link)) => (link, Vec::new()),
            Some(Stage::Greeting(link, Call { waiting, .. }) | Stage::Welcoming(link, waiting)) => (link, waiting),
            Some(Stage::Greeted(socket)) => return self.forget(Some(&socket)),
            None => return,
        };
        self.forget(link.socket.as_deref());
        link.socket.iter().for_each(|socket| socket.end());
        if self.names.get(&link.name) == Some(&token) {
            self.names.remove(&link.name);
        }
        link.peer_segment.set_dead();
        for conn in link.all() {
            conn.on_peer_close(CloseReason::Disconnected);
        }
        // While the peer may access this process's memory, calls that free memory must find the link.
        match Pending::new(&self.context.links.control, std::iter::once(&link.peer_segment)) {
            None => self.context.links.remove(&link),
            Some(pending) => self.unfinished.push(Unfinished::Link(link, pending)),
        }
        queue.into_iter().for_each(|waiting| waiting.end(report.clone()));
    }

    fn lose_violators(&mut self) {
        let violates = |stage: &Stage| matches!(stage, Stage::Up(link) if link.peer_segment.has_violated());
        let tokens: Vec<u64> =
            self.peers.iter().filter(|(_, stage)| violates(stage)).map(|(&token, _)| token).collect();
        for token in tokens {
            self.lose(token);
        }
    }

    fn expire(&mut self) {
        let now = Instant::now();
        while let Some(due) = self.timers.take_due(now) {
            match due {
                Due::Connect(conn) => {
                    if let Some(conn) = conn.upgrade().filter(|conn| conn.base.phase() == Phase::Connecting) {
                        cm::end(&conn, CloseReason::Disconnected, ConnectionReport::TimedOut);
                    }
                }
                Due::Retry(waiting) if waiting.is_wanted() => self.connect(waiting),
                Due::Retry(_) => {}
                Due::Call(name) => self.call_again(name),
                Due::Late => self.catch_up(),
                Due::Accept => {
                    if self.epoll.add(self.reachable.listener.as_fd(), LISTENER).is_err() {
                        self.set_timer(RETRY, Due::Accept);
                    }
                }
            }
        }
    }

    fn set_timer(&mut self, after: Duration, what: Due) {
        if let Some(due) = Instant::now().checked_add(after) {
            self.timers.set(due, what);
        }
    }
}
