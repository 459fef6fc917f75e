//! Execution of the peer's messages, writes, immediate values and invalidations.
//!
//! A transport decodes records and passes them to [`Incoming`]: first a `begin` function, then the payload, in one or
//! several pieces. A record that halts before its payload can be repeated.

use std::sync::Arc;

use dat_core::Rights;
use dat_core::event::Status;
use dat_core::transport::{
    EndpointSink, FailedRequest, RecvDone, RemoteSegment, RequestId, Segment, Special, Taken, Transport,
};

use crate::copy;
use crate::qp::SoftwareTransport;
use crate::regions::{AccessContext, RegionTable};
use crate::user::Source;
use crate::wire::LARGEST;

/// The failure of a connection, handled without the lock under which it was found. The default is a protocol violation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fatal {
    /// The failing receive.
    pub recv: Option<RecvDone>,
    /// The failing request of this end.
    pub request: Option<(FailedRequest, Status)>,
    /// The status with which the peer's oldest request fails.
    pub peer: Option<Status>,
}

impl Fatal {
    /// Fails the peer's oldest request.
    #[cold]
    pub fn of_peer(status: Status) -> Fatal {
        Fatal { peer: Some(status), ..Fatal::default() }
    }

    /// Fails a request of this end.
    #[cold]
    pub fn of_request(id: RequestId, status: Status) -> Fatal {
        Fatal { request: Some((FailedRequest::Number(id), status)), ..Fatal::default() }
    }
}

/// The reason why a record is not complete.
#[derive(Debug)]
pub enum Halt {
    /// An event resumes the record, such as the post of a receive.
    Wait,
    /// The next poll of the connection resumes the record, after other connections have had their turn.
    Again,
    /// The connection has ended.
    Ended,
    /// The connection fails.
    Fail(Fatal),
}

impl From<Fatal> for Halt {
    #[cold]
    fn from(fatal: Fatal) -> Halt {
        Halt::Fail(fatal)
    }
}

/// The outcome of a record.
pub type Executed = Result<(), Halt>;

/// Returns a violation of the protocol.
#[cold]
pub fn violation() -> Halt {
    Fatal::default().into()
}

/// The connection that executes records.
pub trait Wire {
    /// Its transport.
    type Transport: SoftwareTransport;
    /// Progress of a revocation.
    type Revocation: Default;

    /// Returns the queue pair.
    fn qp(&self) -> &Arc<<Self::Transport as Transport>::Qp>;

    /// Returns the registered memory.
    fn regions(&self) -> &RegionTable;

    /// Returns the access context of this end.
    fn own(&self) -> &AccessContext;

    /// Returns the endpoint.
    fn sink(&self) -> &EndpointSink<Self::Transport> {
        &Self::Transport::base(self.qp()).sink
    }

    /// Revokes a window at the peer's request. Afterwards no transfer uses the window.
    fn revoke(&self, key: u32, revocation: &mut Self::Revocation) -> Executed;
}

#[derive(Clone, Copy)]
struct Partial {
    len: u64,
    offset: u64,
}

/// The peer's current message or write.
#[derive(Default)]
pub struct Incoming<R = ()> {
    taken: Taken,
    message: Option<Partial>,
    /// The window that the message invalidates.
    revokes: Option<(u32, R)>,
    write: Option<(RemoteSegment, u64)>,
}

impl<R: Default> Incoming<R> {
    /// Returns whether no message or write is partly received.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.message.is_none() && self.write.is_none()
    }

    /// Returns whether a message is partly received.
    #[inline]
    pub fn has_message(&self) -> bool {
        self.message.is_some()
    }

    /// Returns the target of the current write.
    pub fn target(&self) -> Option<RemoteSegment> {
        self.write.map(|(to, _)| to)
    }

    /// Returns the segments of the current message's receive.
    pub fn segments(&self) -> &[Segment] {
        self.taken.segments()
    }

    /// Returns the number of received bytes, and of all bytes; `None` without a message or write.
    pub fn position(&self) -> Option<(u64, u64)> {
        let message = self.message.map(|Partial { len, offset }| (offset, len));
        message.or(self.write.map(|(to, offset)| (offset, to.len)))
    }

    fn done(&self, status: Status, len: u64, solicited: bool) -> RecvDone {
        RecvDone { id: self.taken.id, status, len, solicited }
    }

    /// Returns the failure of the current message's receive.
    #[cold]
    pub fn recv_failed(&self, status: Status) -> Halt {
        let recv = Some(self.done(status, 0, false));
        Fatal { recv, request: None, peer: Some(Status::RemoteResponder) }.into()
    }

    fn take<W: Wire>(&mut self, wire: &W, len: u64) -> Executed {
        W::Transport::base(wire.qp()).take(wire.qp(), &mut self.taken)?;
        if len > self.taken.capacity { Err(self.recv_failed(Status::LocalLength)) } else { Ok(()) }
    }

    /// Begins a part of `part` bytes of a message of `len` bytes, whose first part takes a receive.
    pub fn begin_message(&mut self, wire: &impl Wire, len: u64, part: u64) -> Executed {
        if self.write.is_some() {
            return Err(violation());
        }
        if self.message.is_none() {
            self.take(wire, len)?;
            self.message = Some(Partial { len, offset: 0 });
        }
        self.check_part(len, part)
    }

    /// Begins a part of `part` bytes of a write of `len` bytes. The first part has the target.
    pub fn begin_write(&mut self, target: Option<RemoteSegment>, len: u64, part: u64) -> Executed {
        if target.is_some() != self.is_idle() || self.has_message() {
            return Err(violation());
        }
        self.write = self.write.or(target.map(|to| (to, 0)));
        self.check_part(len, part)
    }

    fn check_part(&self, len: u64, part: u64) -> Executed {
        let (offset, all) = self.position().unwrap_or_default();
        let rest = all - offset;
        if len != all || part > rest || (part == 0 && rest > 0) { Err(violation()) } else { Ok(()) }
    }

    /// Stores `bytes` at `offset` of the current message or write. `last` is set if they are its last bytes.
    pub fn store(&self, wire: &impl Wire, offset: u64, bytes: Source<'_>, last: bool) -> Executed {
        match &self.write {
            // An empty write needs no right.
            Some((to, _)) if to.len == 0 => Ok(()),
            Some((to, _)) => {
                // The peer needs the right to the whole range of the write, so a write beyond the region changes no
                // byte.
                let granted = wire.regions().grant(to, Rights::REMOTE_WRITE, wire.own());
                let granted = granted.map_err(|_| Fatal::of_peer(Status::RemoteAccess))?;
                copy::store(granted.target(offset, bytes.len() as u64), bytes, last);
                Ok(())
            }
            None if copy::scatter(wire.regions(), self.segments(), offset, bytes, last) => Ok(()),
            None => Err(self.recv_failed(Status::LocalProtection)),
        }
    }

    /// Advances the position of the current message or write by `bytes`.
    pub fn advance(&mut self, bytes: u64) {
        match (&mut self.message, &mut self.write) {
            (Some(Partial { offset, .. }), _) | (None, Some((_, offset))) => *offset += bytes,
            (None, None) => {}
        }
    }

    /// Stores the payload of a begun part. If it is the last part, completes the message or write.
    pub fn part(&mut self, wire: &impl Wire<Revocation = R>, bytes: Source<'_>, solicited: bool) -> Executed {
        let (offset, len) = self.position().unwrap_or_default();
        let last = offset + bytes.len() as u64 == len;
        if last {
            self.revoke(wire)?;
        }
        self.store(wire, offset, bytes, last)?;
        self.advance(bytes.len() as u64);
        if last {
            self.complete(wire, solicited);
        }
        Ok(())
    }

    /// Completes a message or write whose last bytes were stored.
    pub fn end(&mut self, wire: &impl Wire<Revocation = R>, solicited: bool) -> Executed {
        self.revoke(wire)?;
        self.complete(wire, solicited);
        Ok(())
    }

    /// Invalidates the window just before the message completes. After an earlier invalidation, the connection could
    /// end before the message completes, and core would get no report of the invalidation.
    fn revoke(&mut self, wire: &impl Wire<Revocation = R>) -> Executed {
        self.revokes.as_mut().map_or(Ok(()), |(key, revocation)| wire.revoke(*key, revocation))
    }

    fn complete(&mut self, wire: &impl Wire, solicited: bool) {
        self.write = None;
        let Some(Partial { len, .. }) = self.message.take() else { return };
        let done = self.done(Status::Success, len, solicited);
        match self.revokes.take() {
            Some((key, _)) => wire.sink().recv_special(done, Special::Invalidated(key)),
            None => wire.sink().recv_done(done),
        }
    }

    /// Executes the immediate data of a write of `len` bytes, which takes a receive.
    pub fn immediate(&mut self, wire: &impl Wire, value: u32, len: u64, solicited: bool) -> Executed {
        if !self.is_idle() || len > LARGEST {
            return Err(violation());
        }
        // The value needs no buffer space.
        self.take(wire, 0)?;
        let done = self.done(Status::Success, len, solicited);
        wire.sink().recv_special(done, Special::Immediate(value));
        Ok(())
    }

    /// Begins a message of `len` bytes that invalidates a window.
    pub fn invalidate(&mut self, wire: &impl Wire<Revocation = R>, key: u32, len: u64) -> Executed {
        if !self.is_idle() {
            return Err(violation());
        }
        self.take(wire, len)?;
        if wire.regions().may_invalidate(key, wire.own()).is_none() {
            return Err(Fatal::of_peer(Status::RemoteAccess).into());
        }
        (self.message, self.revokes) = (Some(Partial { len, offset: 0 }), Some((key, R::default())));
        Ok(())
    }
}
