//! The handshake of two processes: hello, welcome, and the established link.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use dat_core::transport::ConnectionReport;
use host::poll;
use rustix::io::Errno;

use super::calls::{Late, PendingConnect};
use super::{LINKS, Stage, TURN, Thread};
use crate::control_region::Peer;
use crate::link::Link;
use crate::os::directory::SocketName;
use crate::peer_segment::PeerSegment;
use crate::wire::{Message, Probe};

fn take_fds<const N: usize>(fds: &mut Vec<OwnedFd>) -> io::Result<[OwnedFd; N]> {
    std::mem::take(fds)
        .try_into()
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not as many descriptors as there should be"))
}

impl Thread {
    /// Handles a hello, the first message of a process that has connected.
    ///
    /// # Errors
    /// The reason why the hello establishes no link. A hello with the name of another process has no effect on that
    /// process's link.
    pub(super) fn on_hello(&mut self, token: u64, name: &str, probe: Probe, fds: &mut Vec<OwnedFd>) -> io::Result<()> {
        let Some(Stage::Greeted(socket)) = self.peers.get(&token) else { return Ok(()) };
        let socket = socket.clone();
        let invalid = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why);
        let name = SocketName::parse(name).ok_or_else(|| invalid("a name of another form"))?;
        let pid = socket.peer()?;
        if name == self.reachable.name || !self.is_of(&name, pid) {
            return Err(invalid("the name of another process"));
        }
        self.settle(&name);
        let known = self.names.get(&name).copied();
        if matches!(known.and_then(|token| self.peers.get(&token)), Some(Stage::Up(_) | Stage::Welcoming(..))) {
            return Err(invalid("it has a link already"));
        }
        let both = known.filter(|token| matches!(self.peers.get(token), Some(Stage::Greeting(..))));
        let of_it = |stage: &&Stage| matches!(stage, Stage::Up(link) | Stage::Welcoming(link, _) if pid != 0 && link.peer_segment.pid == pid);
        if self.peers.values().filter(of_it).count() >= LINKS {
            return Err(invalid("it has too many links"));
        }
        // If two processes connect to each other concurrently, the process with the lesser name establishes the link.
        if both.is_some() && self.reachable.name.as_str() < name.as_str() {
            self.pending_peers.remove(token);
            self.peers.remove(&token);
            self.forget(Some(&socket));
            let _ = socket.send(&Message::UseMine.encode(), &[]);
            return Ok(());
        }
        let [memory, published @ ..] = take_fds::<4>(fds)?;
        let peer_segment = PeerSegment::open(&self.context.links.control, memory, 1)?.with(pid)?;
        self.meet(&peer_segment, Peer::open(published, socket.clone(), probe)?);
        let link = Link::new(Arc::downgrade(&self.context), peer_segment, name.clone(), Some(socket))?;
        let mut waiting = self.calls.remove(&name).map(|call| call.waiting).unwrap_or_default();
        if let Some(Stage::Greeting(own, call)) = both.and_then(|token| self.peers.remove(&token)) {
            self.forget(own.socket.as_deref());
            waiting.extend(call.waiting);
        }
        self.pending_peers.remove(token);
        self.names.insert(name, token);
        self.peers.insert(token, Stage::Welcoming(link, waiting));
        if self.late.is_empty() {
            self.welcome(token);
        } else {
            self.late.push_back(Late::Welcome(token));
        }
        Ok(())
    }

    /// Returns whether the process with the ID `pid` in this process's pid namespace listens at the socket `name`.
    pub(super) fn is_of(&self, name: &SocketName, pid: i32) -> bool {
        match self.reachable.directory.connect(name) {
            Ok(socket) => socket.peer().is_ok_and(|owner| owner == pid),
            // The connect failed, for example because the queue is full, so the kernel does not report the listener's
            // id, and the id in the name decides.
            Err(_) => name.pid() == Some(pid),
        }
    }

    /// Ends the link to the process `name` if that process has closed the link, and this thread has not yet noticed.
    /// epoll may report the hello for a new link before the end of the old link.
    pub(super) fn settle(&mut self, name: &SocketName) {
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

    fn meet(&self, peer_segment: &PeerSegment, peer: Peer) {
        peer_segment.set_peer(peer);
        peer_segment.reads_peer.set(self.context.vm && peer_segment.copy_target() != 0);
    }

    pub(super) fn welcome(&mut self, token: u64) {
        let Some(Stage::Welcoming(link, _)) = self.peers.get(&token) else { return };
        let (control, peer_segment) = (&self.context.links.control, &link.peer_segment);
        let (probe, reads) = (self.context.probe(peer_segment.pid), peer_segment.reads_peer.get());
        let welcome = Message::Welcome { probe, reads }.encode();
        match link.socket.as_ref().map_or(Err(Errno::PIPE), |socket| socket.send(&welcome, &control.fds())) {
            Ok(()) => {}
            Err(Errno::AGAIN) => return self.be_late(Late::Welcome(token)),
            Err(error) => return self.lose_for(token, &ConnectionReport::of(&error.into())),
        }
        if let Some(Stage::Welcoming(link, waiting)) = self.peers.remove(&token) {
            self.be_up(token, link, waiting);
        }
    }

    pub(super) fn on_welcome(
        &mut self,
        token: u64,
        probe: Probe,
        reads: bool,
        fds: &mut Vec<OwnedFd>,
    ) -> io::Result<()> {
        let Some(Stage::Greeting(link, _)) = self.peers.get(&token) else { return Ok(()) };
        let Some(socket) = &link.socket else { return Ok(()) };
        let peer = Peer::open(take_fds(fds)?, socket.clone(), probe)?;
        let Some(Stage::Greeting(link, call)) = self.peers.remove(&token) else { return Ok(()) };
        self.meet(&link.peer_segment, peer);
        link.peer_segment.peer_reads.set(reads);
        link.send(Message::Reads(link.peer_segment.reads_peer.get()));
        self.be_up(token, link, call.waiting);
        Ok(())
    }

    pub(super) fn be_up(&mut self, token: u64, link: Arc<Link>, waiting: Vec<PendingConnect>) {
        self.context.links.add(&link);
        self.peers.insert(token, Stage::Up(link.clone()));
        for one in waiting {
            one.request(&link);
        }
    }
}
