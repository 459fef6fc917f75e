//! Connects of this process, and the links that it establishes for them.

use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use dat_core::transport::{ConnectRetry, ConnectionReport};
use dat_software::qp::Phase;
use host::memory;
use rustix::io::Errno;

use super::{BUSY_MAX, BUSY_MIN, Due, Stage, Thread};
use crate::cm;
use crate::conn::Conn;
use crate::link::Link;
use crate::os::directory::SocketName;
use crate::peer_segment::PeerSegment;
use crate::wire::{CloseReason, MAX_PACKET, Message, VERSION};
use dat_census::socket::Socket;

pub struct PendingConnect {
    /// Weak, because the program may free the connection before the attempt ends.
    pub conn: Weak<Conn>,
    pub qualifier: u64,
    pub private_data: Vec<u8>,
    pub retry: ConnectRetry,
}

impl PendingConnect {
    pub(super) fn is_wanted(&self) -> bool {
        self.conn.upgrade().is_some_and(|conn| conn.base.phase() == Phase::Connecting)
    }

    pub(super) fn request(self, link: &Arc<Link>) {
        if let Some(conn) = self.conn.upgrade() {
            cm::request(link, &conn, self.qualifier, self.private_data);
        }
    }

    pub(super) fn refuse(self) {
        self.end(ConnectionReport::NonPeerRejected);
    }

    pub(super) fn end(self, report: ConnectionReport) {
        if let Some(conn) = self.conn.upgrade() {
            cm::end(&conn, CloseReason::Disconnected, report);
        }
    }
}

/// Connects that wait for the link to one process. Attempts continue as long as the program wants one of the connects.
pub(super) struct Call {
    pub(super) waiting: Vec<PendingConnect>,
    pub(super) pause: Duration,
}

pub(super) enum NoLink {
    Busy,
    /// Too many descriptors are in flight.
    Crowded,
    Refused(io::Error),
}

impl<E: Into<io::Error>> From<E> for NoLink {
    fn from(error: E) -> NoLink {
        NoLink::Refused(error.into())
    }
}

/// A message that waits until the system accepts more descriptors.
pub(super) enum Late {
    Hello(SocketName),
    Welcome(u64),
}

/// Returns whether the other process sent [`Message::Again`] before it closed the connection.
pub(super) fn is_put_off(socket: &Socket) -> bool {
    let mut packet = [0; MAX_PACKET];
    let last = socket.recv(&mut packet, &mut Vec::new());
    matches!(last, Ok(len) if Message::decode(&packet[..len]) == Some(Message::Again))
}

impl Thread {
    /// Finds or establishes the link to the process that listens at the qualifier, and then requests the connection.
    pub(super) fn connect(&mut self, waiting: PendingConnect) {
        let name = match self.reachable.directory.lookup(waiting.qualifier) {
            Ok(Some(name)) => name,
            Ok(None) => return self.connect_later(waiting),
            Err(error) => return waiting.end(ConnectionReport::of(&error)),
        };
        if name == self.reachable.name {
            if let Some(own) = self.context.own.get() {
                waiting.request(own);
            }
            return;
        }
        if let Some(call) = self.calls.get_mut(&name) {
            return call.waiting.push(waiting);
        }
        match self.names.get(&name).and_then(|token| self.peers.get_mut(token)) {
            Some(Stage::Up(link)) => {
                let link = link.clone();
                waiting.request(&link);
            }
            Some(Stage::Greeting(_, call)) => call.waiting.push(waiting),
            Some(Stage::Welcoming(_, queue)) => queue.push(waiting),
            Some(Stage::Greeted(_)) | None => self.call(name, Call { waiting: vec![waiting], pause: BUSY_MIN }),
        }
    }

    fn connect_later(&mut self, mut waiting: PendingConnect) {
        match waiting.retry.next_attempt(Instant::now()) {
            Some(due) => self.timers.set(due, Due::Retry(waiting)),
            None => waiting.refuse(),
        }
    }

    /// Connects to another process and sends a hello. If that process has no room, or too many descriptors are in
    /// flight, schedules another attempt.
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
            Err(NoLink::Refused(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
                call.waiting.into_iter().for_each(|waiting| self.connect_later(waiting));
            }
            Err(NoLink::Refused(error)) => {
                log::debug!(target: host::diagnostics::CM, "shm: cannot create a link: {error}");
                call.waiting.into_iter().for_each(|waiting| waiting.end(ConnectionReport::of(&error)));
            }
        }
    }

    pub(super) fn call_again(&mut self, name: SocketName) {
        if let Some(call) = self.calls.remove(&name) {
            self.call(name, call);
        }
    }

    pub(super) fn call_later(&mut self, name: SocketName, call: Call) {
        self.set_timer(call.pause, Due::Call(name.clone()));
        self.calls.insert(name, Call { pause: (call.pause * 2).min(BUSY_MAX), ..call });
    }

    pub(super) fn greet(&mut self, name: &SocketName) -> Result<(u64, Arc<Link>), NoLink> {
        let control = &self.context.links.control;
        // The segment is created before the connect, so that the hello follows the connect immediately.
        let peer_segment = PeerSegment::create(control, Some(0))?;
        let socket = match self.reachable.directory.connect(name) {
            Err(Errno::AGAIN) => return Err(NoLink::Busy),
            socket => memory::arc(socket?)?,
        };
        let pid = socket.peer()?;
        let hello = Message::Hello {
            version: VERSION,
            name: self.reachable.name.as_str().to_owned(),
            probe: self.context.probe(pid),
        };
        let [published, regions, alarm] = control.fds();
        match socket.send(&hello.encode(), &[peer_segment.file.fd(), published, regions, alarm]) {
            Ok(()) => {}
            Err(Errno::AGAIN) => return Err(NoLink::Crowded),
            // The other process closed this connection before the hello arrived, to make room for other pending peers.
            Err(Errno::PIPE) if is_put_off(&socket) => return Err(NoLink::Busy),
            Err(error) => return Err(error.into()),
        }
        let token = self.token();
        self.epoll.add(socket.as_fd(), token)?;
        let peer_segment = peer_segment.with(pid)?;
        let link = Link::new(Arc::downgrade(&self.context), peer_segment, name.clone(), Some(socket))?;
        Ok((token, link))
    }

    /// Puts a message whose descriptors the system does not accept now at the head of the queue, and sets the timer for
    /// the next attempt. Later messages queue after this one.
    pub(super) fn be_late(&mut self, message: Late) {
        self.late.push_front(message);
        self.set_timer(self.late_pause, Due::Late);
        self.late_pause = (self.late_pause * 2).min(BUSY_MAX);
    }

    pub(super) fn catch_up(&mut self) {
        let mut late = std::mem::take(&mut self.late);
        while let Some(message) = late.pop_front() {
            match message {
                Late::Hello(name) => self.call_again(name),
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
