//! Messages about connections, which the progress thread processes without locks.

use std::sync::{Arc, Weak};

use dat_core::addr::Address;
use dat_core::transport::{ConnectionReport, ConnectionRequestInfo};
use dat_software::qp::Phase;
use dat_software::regions::AccessContext;
use host::memory;

use crate::conn::{Conn, Report};
use crate::link::Link;
use crate::peer_segment::MAX_CONNS;
use crate::process_context::{Command, ProcessContext};
use crate::wire::{CloseReason, ConnId, EndInfo, Message};

/// A connection request without a response; dropping it refuses the request.
pub struct Incoming {
    /// Weak, so that an unanswered request does not keep an ended peer's descriptors open.
    link: Weak<Link>,
    id: ConnId,
    theirs: EndInfo,
    answered: bool,
}

impl Incoming {
    /// Rejects the request, unless it has been answered. `consumer` is set if the program rejects it, with up to
    /// [`MAX_PRIVATE_DATA`](crate::wire::MAX_PRIVATE_DATA) bytes of `private_data`.
    pub fn reject(&mut self, consumer: bool, private_data: &[u8]) {
        if !std::mem::replace(&mut self.answered, true) {
            if let Some(link) = self.link.upgrade() {
                link.answered(self.id);
                link.note_release(self.id, false);
                link.send(Message::Reject { conn: self.id, consumer, private_data: private_data.to_vec() });
            }
        }
    }

    pub fn accept(mut self, context: &ProcessContext, conn: &Arc<Conn>, private_data: &[u8]) {
        self.answered = true;
        let side = 1 - self.id.active;
        conn.base.shift(Phase::Idle, Phase::Accepting);
        let Some(link) = self.link.upgrade() else {
            context.command(Command::Fail(conn.clone()));
            return;
        };
        conn.base.note_peer(self.theirs.extended, self.theirs.datagrams);
        if !link.attach(side, self.id, conn, AccessContext::new(self.theirs.zone, self.theirs.port)) {
            self.answered = false;
            self.reject(false, &[]);
            context.command(Command::Fail(conn.clone()));
            return;
        }
        let wanted = link.answered(self.id);
        let private_data = private_data.to_vec();
        link.send(Message::Accept { conn: self.id, end: conn.info, private_data });
        if !wanted || link.peer_segment.is_dead() {
            context.command(Command::Fail(conn.clone()));
        }
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        self.reject(false, &[]);
    }
}

pub fn request(link: &Arc<Link>, conn: &Arc<Conn>, qualifier: u64, private_data: Vec<u8>) {
    if conn.base.phase() != Phase::Connecting {
        return;
    }
    let Some(id) = link.allocate() else {
        log::warn!("shm: cannot connect: {MAX_CONNS} connections between the two processes exist, or out of memory");
        end(conn, CloseReason::Disconnected, ConnectionReport::Unreachable);
        return;
    };
    let attached = link.attach(id.active, id, conn, AccessContext::new(0, 0));
    if !attached || conn.base.phase() >= Phase::Dead {
        link.withdraw(id);
        end(conn, CloseReason::Disconnected, ConnectionReport::Unreachable);
        return;
    }
    link.send(Message::Request { conn: id, qualifier, end: conn.info, private_data });
}

/// Ends a connection attempt, unless it has ended. The peer gets `reason`, the endpoint `report`.
pub fn end(conn: &Arc<Conn>, reason: CloseReason, report: ConnectionReport) {
    if conn.kill(false) {
        conn.finish(reason, Report::Ended(report));
    }
}

fn establish(conn: &Arc<Conn>, from: Phase, private_data: Vec<u8>) {
    conn.base.sink.connection(ConnectionReport::Established(private_data));
    if conn.base.shift(from, Phase::Up) {
        conn.progress();
    }
}

/// Handles a message. Returns `false` if the message violates the protocol.
pub fn handle(context: &ProcessContext, link: &Arc<Link>, message: Message) -> bool {
    match message {
        Message::Request { conn, qualifier, end, private_data } => {
            let is_own = !link.peer_segment.is_local() && conn.active == link.peer_segment.active_side();
            if conn.index >= MAX_CONNS || is_own || !link.expect_answer(conn) {
                return false;
            }
            let incoming = Incoming { link: Arc::downgrade(link), id: conn, theirs: end, answered: false };
            // Without memory, or without a service point at the qualifier, the drop of `incoming` rejects the request.
            let (Some(point), Ok(_admitted)) = (context.point(qualifier), memory::admit()) else { return true };
            let info = ConnectionRequestInfo {
                qualifier,
                remote_address: Address::loopback(),
                remote_qualifier: end.port,
                private_data,
                datagrams: Some(end.datagrams).filter(|number| *number != 0),
            };
            let _ = point.request(incoming, info);
        }
        Message::Accept { conn: id, end, private_data } => match link.find(id.active, id) {
            Some(conn) => {
                conn.set_peer(&end);
                // Sent before the report, after which the program can close the connection: the peer must get `Ready`
                // before `Close`.
                link.send(Message::Ready { conn: id });
                establish(&conn, Phase::Connecting, private_data);
            }
            None => link.send(Message::Close { conn: id, to_active: false, reason: CloseReason::Disconnected }),
        },
        Message::Reject { conn: id, consumer, private_data } => {
            let conn = link.find(id.active, id);
            if conn.as_ref().is_some_and(|conn| conn.base.phase() == Phase::Up) {
                return false;
            }
            link.note_release(id, false);
            if let Some(conn) = conn {
                if conn.kill(false) {
                    // The peer has no end of this connection, and thus no transfer for which the report must wait.
                    link.note_release(id, true);
                    let report = match consumer {
                        true => ConnectionReport::PeerRejected(private_data),
                        false => ConnectionReport::NonPeerRejected,
                    };
                    conn.base.sink.connection(report);
                }
            }
        }
        Message::Ready { conn: id } => {
            if let Some(conn) = link.find(1 - id.active, id) {
                // In any other phase, the connection is already established or closed.
                if conn.base.phase() == Phase::Accepting {
                    establish(&conn, Phase::Accepting, Vec::new());
                }
            }
        }
        Message::Close { conn: id, to_active, reason } => {
            if to_active {
                link.note_release(id, false);
            }
            let side = if to_active { id.active } else { 1 - id.active };
            match link.find(side, id) {
                Some(conn) => conn.on_peer_close(reason),
                None if !to_active => link.give_up(id),
                None => {}
            }
        }
        Message::Hello { .. }
        | Message::Welcome { .. }
        | Message::UseMine
        | Message::Again
        | Message::Ask
        | Message::Ring
        | Message::Reads(_) => return false,
    }
    true
}
