//! Connects of this process, and the links that it makes for them.

use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, Weak};
use std::time::Duration;

use dat_core::transport::ConnectionReport;
use host::memory;

use super::{BUSY_MAX, BUSY_MIN, Due, Stage, Thread};
use crate::cm;
use crate::conn::{Conn, ConnPhase};
use crate::link::Link;
use crate::os::directory::SocketName;
use crate::os::socket::{ConnectError, Recv, Sent, Socket};
use crate::pair::Pair;
use crate::wire::{MAX_PACKET, Message, VERSION};

/// A connect whose link does not exist yet.
pub(super) struct PendingConnect {
    /// Not kept alive: the program may have gone on without it.
    pub(super) conn: Weak<Conn>,
    pub(super) qualifier: u64,
    pub(super) private_data: Vec<u8>,
}

impl PendingConnect {
    /// True if the program still waits for it.
    pub(super) fn is_wanted(&self) -> bool {
        self.conn.upgrade().is_some_and(|conn| conn.phase() == ConnPhase::Pending)
    }

    /// Asks for the connection over its link.
    pub(super) fn request(self, link: &Arc<Link>) {
        if let Some(conn) = self.conn.upgrade() {
            cm::request(link, &conn, self.qualifier, self.private_data);
        }
    }

    /// Refuses the connect, because it gets no link.
    pub(super) fn refuse(self) {
        if let Some(conn) = self.conn.upgrade() {
            cm::end(&conn, ConnectionReport::NonPeerRejected);
        }
    }
}

/// Connects that wait for a link which this process is making, and try again as long as the program wants one of them.
pub(super) struct Call {
    pub(super) waiting: Vec<PendingConnect>,
    /// The time until the next attempt, if this one finds no room.
    pub(super) pause: Duration,
}

impl Call {
    pub(super) fn new(waiting: Vec<PendingConnect>) -> Self {
        Call { waiting, pause: BUSY_MIN }
    }
}

/// The reason why a link was not made.
pub(super) enum NoLink {
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
pub(super) enum Late {
    /// A hello.
    Hello(SocketName),
    /// The answer to one.
    Welcome(u64),
}

/// True if the process at the other end has closed the connection and wants to be called again.
pub(super) fn is_put_off(socket: &Socket) -> bool {
    let mut packet = [0; MAX_PACKET];
    let last = socket.recv(&mut packet, &mut Vec::new());
    matches!(last, Ok(Recv::Message(len)) if Message::decode(&packet[..len]) == Some(Message::Again))
}

impl Thread {
    /// Finds or makes the link to the process that listens, then asks for the connection.
    pub(super) fn connect(&mut self, waiting: PendingConnect) {
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
    pub(super) fn call(&mut self, name: SocketName, mut call: Call) {
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
                log::debug!(target: host::diagnostics::CM, "shm: no link: {error}");
                call.waiting.into_iter().for_each(PendingConnect::refuse);
            }
        }
    }

    pub(super) fn call_later(&mut self, name: SocketName, call: Call) {
        self.set_timer(call.pause, Due::Call(name.clone()));
        self.calls.insert(name, Call { pause: (call.pause * 2).min(BUSY_MAX), ..call });
    }

    /// Connects to a process and says hello.
    pub(super) fn greet(&mut self, name: &SocketName) -> Result<(u64, Arc<Link>), NoLink> {
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
        self.epoll.add(socket.as_fd(), token)?;
        let pair = pair.with(peer.pid).map_err(io::Error::from)?;
        let link = Link::new(Arc::downgrade(&self.node), pair, name.clone(), Some(socket)).map_err(io::Error::from)?;
        Ok((token, link))
    }

    /// Keeps a message whose descriptors the system does not take now. Others wait with it, for they would find the same.
    pub(super) fn be_late(&mut self, message: Late) {
        self.late.push_front(message);
        self.set_timer(self.late_pause, Due::Late);
        self.late_pause = (self.late_pause * 2).min(BUSY_MAX);
    }

    /// Sends the messages that had to wait, as many as the system takes.
    pub(super) fn catch_up(&mut self) {
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
}
