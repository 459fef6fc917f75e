//! Posting requests, and their completions.

use crate::ep::flight::{Entry, Kind};
use crate::ep::{Endpoint, Gate, Requests, flags, not_ready};
use crate::error::{Access, Arg, Error, Resource, Result};
use crate::evd::Feed;
use crate::event::{Event, Status, Transfer};
use crate::lmr::{Lmr, LocalSegment};
use crate::mem::Rights;
use crate::rmr::{Binding, Rmr};
use crate::slab::{Handle, Object};
use crate::transport::{BindTarget, Checked, Operation, RemoteSegment, Request, RequestId, Transport};
use crate::users::Use;

impl<T: Transport> Endpoint<T> {
    /// Posts a send (uDAPL 1.2, dat_ep_post_send).
    ///
    /// # Errors
    /// [`crate::error::Refusal::Endpoint`] unless connected or disconnected,
    /// [`Arg::SegmentCount`], [`Arg::Flags`], [`Error::LengthError`] above the largest
    /// message, the errors of [`crate::lmr::LmrTable::check`],
    /// [`Error::InsufficientResources`] if the request queue is full.
    pub fn post_send(&self, segments: &[LocalSegment], cookie: u64, completion: u32) -> Result<()> {
        let solicited = completion & flags::SOLICITED_WAIT != 0;
        self.post(segments, cookie, completion, Operation::Send { solicited })
    }

    /// Posts an RDMA write (uDAPL 1.2, dat_ep_post_rdma_write).
    ///
    /// # Errors
    /// As [`Endpoint::post_send`]; [`Error::LengthError`] also if the remote segment is
    /// shorter than the local ones together.
    pub fn post_write(
        &self,
        segments: &[LocalSegment],
        cookie: u64,
        remote: RemoteSegment,
        completion: u32,
    ) -> Result<()> {
        self.post(segments, cookie, completion, Operation::Write(remote))
    }

    /// Posts an RDMA read (uDAPL 1.2, dat_ep_post_rdma_read).
    ///
    /// # Errors
    /// As [`Endpoint::post_send`]; [`Error::LengthError`] also if the local segments
    /// together are shorter than the remote one.
    pub fn post_read(
        &self,
        segments: &[LocalSegment],
        cookie: u64,
        remote: RemoteSegment,
        completion: u32,
    ) -> Result<()> {
        self.post(segments, cookie, completion, Operation::Read(remote))
    }

    #[inline]
    fn post(&self, segments: &[LocalSegment], cookie: u64, completion: u32, operation: Operation) -> Result<()> {
        let mut requests = self.requests.lock();
        requests.admit()?;
        requests.check_flags(completion, matches!(operation, Operation::Send { .. }))?;
        let (max_segments, transfer, right) = match operation {
            Operation::Send { .. } => (requests.max_segments, Transfer::Send, Rights::LOCAL_READ),
            Operation::Write(_) => (requests.max_write_segments, Transfer::Write, Rights::LOCAL_READ),
            Operation::Read(_) => (requests.max_read_segments, Transfer::Read, Rights::LOCAL_WRITE),
        };
        if segments.len() > max_segments {
            return Err(Error::InvalidParameter(Arg::SegmentCount));
        }
        let zone = requests.zone.ok_or_else(not_ready)?;
        let mut checked = Checked::new();
        let mut total = 0_u64;
        for segment in segments.iter().filter(|segment| segment.len > 0) {
            let piece = self.ia.lmrs().check(segment, zone, right)?;
            checked.try_push(piece).map_err(|_| Error::InvalidParameter(Arg::SegmentCount))?;
            total = total.checked_add(segment.len).ok_or(Error::LengthError)?;
        }
        let len = match operation {
            Operation::Send { .. } if total > requests.max_message => return Err(Error::LengthError),
            Operation::Write(remote) if total > remote.len => return Err(Error::LengthError),
            Operation::Read(remote) if total < remote.len => return Err(Error::LengthError),
            Operation::Read(remote) => remote.len,
            _ => total,
        };
        if !matches!(operation, Operation::Send { .. }) && len > requests.max_rdma {
            return Err(Error::LengthError);
        }
        let entry = Entry { cookie, flags: completion, len, kind: Kind::Transfer(transfer) };
        if requests.gate == Gate::Flush {
            requests.complete(self.header.handle(), &entry, Status::Flushed);
            return Ok(());
        }
        let id = self.make_room(&mut requests)?;
        if requests.gate == Gate::Flush {
            // The connection ended while room was looked for.
            requests.complete(self.header.handle(), &entry, Status::Flushed);
            return Ok(());
        }
        let Some(qp) = &requests.qp else { return Err(requests.state.refusal()) };
        let request = Request {
            id,
            operation,
            segments: &checked,
            len,
            fence: completion & flags::BARRIER_FENCE != 0,
            signalled: completion & flags::SUPPRESS == 0,
        };
        let qp = qp.clone();
        requests.flight.push(entry);
        self.ia.transport().post(&qp, &request).inspect_err(|_| requests.flight.unpush())
    }

    /// The number of the next request. If the queue is full, looks for completions first.
    #[inline]
    fn make_room(&self, requests: &mut parking_lot::MutexGuard<'_, Requests<T>>) -> Result<RequestId> {
        match requests.flight.next() {
            Some(id) => Ok(id),
            None => self.reap_for_room(requests),
        }
    }

    #[cold]
    fn reap_for_room(&self, requests: &mut parking_lot::MutexGuard<'_, Requests<T>>) -> Result<RequestId> {
        if let Some(qp) = requests.qp.clone() {
            let ia = &self.ia;
            parking_lot::MutexGuard::unlocked(requests, || ia.transport().reap(&qp));
            requests.admit()?;
        }
        requests.flight.next().ok_or(Error::InsufficientResources(Resource::Memory))
    }

    /// Posts the binding of `rmr` to a part of `lmr`, or its unbinding for a segment of
    /// length 0 (uDAPL 1.2, dat_rmr_bind). Gives the context for peers.
    ///
    /// # Errors
    /// [`crate::error::Refusal::Endpoint`], [`Arg::Flags`], [`Arg::Segments`] for a range
    /// outside the region, [`Error::ProtectionViolation`] unless region, window and
    /// endpoint share a zone, [`Error::PrivilegesViolation`] for a remote right without
    /// the local one, [`Error::InsufficientResources`].
    pub fn post_bind(
        &self,
        rmr: &Rmr<T>,
        lmr: Option<&std::sync::Arc<Lmr<T>>>,
        segment: LocalSegment,
        rights: Rights,
        cookie: u64,
        completion: u32,
    ) -> Result<u32> {
        let mut requests = self.requests.lock();
        requests.admit()?;
        requests.check_flags(completion, false)?;
        let zone = requests.zone.ok_or_else(not_ready)?;
        if rmr.zone() != zone {
            return Err(Error::ProtectionViolation(Access::RemoteRead));
        }
        let target = lmr.filter(|_| segment.len > 0);
        if let Some(lmr) = target {
            check_bind(lmr, &segment, zone, rights)?;
        } else if segment.len > 0 {
            return Err(Error::InvalidParameter(Arg::Segments));
        }
        let entry = Entry { cookie, flags: completion, len: 0, kind: Kind::Bind(rmr.header().handle()) };
        if requests.gate == Gate::Flush {
            requests.complete(self.header.handle(), &entry, Status::Flushed);
            return Ok(0);
        }
        let id = self.make_room(&mut requests)?;
        if requests.gate == Gate::Flush {
            requests.complete(self.header.handle(), &entry, Status::Flushed);
            return Ok(0);
        }
        let qp = requests.qp.clone().ok_or_else(|| requests.state.refusal())?;
        // The region is used before it is looked at, so that it is not freed in between; and
        // the binding is held until it says what the window shows.
        let bound = target.map(|lmr| Use::of(lmr).ok_or(Error::InvalidParameter(Arg::Segments))).transpose()?;
        let region = target.map(|lmr| lmr.region().ok_or(Error::InvalidParameter(Arg::Segments))).transpose()?;
        let mut binding = rmr.binding();
        let window = rmr.window().ok_or(Error::InvalidHandle(crate::error::Role::Rmr))?;
        let bind = region.as_ref().map(|region| BindTarget {
            region: &**region,
            addr: segment.addr,
            len: segment.len,
            rights,
        });
        let signalled = completion & flags::SUPPRESS == 0;
        requests.flight.push(entry);
        let key = self
            .ia
            .transport()
            .post_bind(&qp, id, &window, bind.as_ref(), signalled)
            .inspect_err(|_| requests.flight.unpush())?;
        *binding = bound.map(|lmr| Binding { lmr, segment, rights, key });
        Ok(key)
    }

    /// All requests up to `last` succeeded. Whether that was what a graceful disconnect
    /// waits for.
    pub(crate) fn on_requests_done(&self, life: u64, last: RequestId) -> bool {
        let mut requests = self.requests.lock();
        if requests.life != life {
            return false;
        }
        while let Some(entry) = requests.flight.pop_through(last) {
            requests.complete(self.header.handle(), &entry, Status::Success);
        }
        requests.draining && requests.flight.is_empty()
    }

    /// Looks for completions of requests in the transport.
    pub(crate) fn settle_requests(&self) {
        let qp = self.requests.lock().qp.clone();
        if let Some(qp) = qp {
            self.ia.transport().reap(&qp);
        }
    }
}

fn check_bind<T: Transport>(lmr: &Lmr<T>, segment: &LocalSegment, zone: u32, rights: Rights) -> Result<()> {
    let offset = segment.addr.checked_sub(lmr.addr());
    if !offset.is_some_and(|offset| offset <= lmr.len() && segment.len <= lmr.len() - offset) {
        return Err(Error::InvalidParameter(Arg::Segments));
    }
    if lmr.pz().is_none_or(|pz| pz.id() != zone) {
        return Err(Error::ProtectionViolation(Access::RemoteRead));
    }
    if rights.contains(Rights::REMOTE_READ) && !lmr.rights().contains(Rights::LOCAL_READ) {
        return Err(Error::PrivilegesViolation(Access::RemoteRead));
    }
    if rights.contains(Rights::REMOTE_WRITE) && !lmr.rights().contains(Rights::LOCAL_WRITE) {
        return Err(Error::PrivilegesViolation(Access::RemoteWrite));
    }
    Ok(())
}

impl<T: Transport> Requests<T> {
    /// Whether the state admits requests.
    #[inline]
    fn admit(&self) -> Result<()> {
        match self.gate {
            Gate::Open | Gate::Flush => Ok(()),
            Gate::Closed => Err(self.state.refusal()),
        }
    }

    #[inline]
    fn check_flags(&self, completion: u32, send: bool) -> Result<()> {
        let mut valid = flags::SUPPRESS | flags::BARRIER_FENCE;
        if send {
            valid |= flags::SOLICITED_WAIT;
        }
        if self.feed == Feed::Unsignalled {
            valid |= flags::UNSIGNALLED;
        }
        if completion & !valid != 0 {
            return Err(Error::InvalidParameter(Arg::Flags));
        }
        Ok(())
    }

    /// Queues the completion of a request, unless it succeeded and was to be silent then.
    pub(super) fn complete(&self, ep: Handle, entry: &Entry, status: Status) {
        if status == Status::Success && entry.flags & flags::SUPPRESS != 0 {
            return;
        }
        let Some(evd) = &self.evd else { return };
        let cookie = entry.cookie;
        let event = match entry.kind {
            Kind::Transfer(transfer) => Event::Transfer { ep, cookie, status, len: entry.len, transfer },
            Kind::Bind(rmr) => Event::Bind { rmr, cookie, status },
        };
        let announce = status != Status::Success || entry.flags & flags::UNSIGNALLED == 0;
        evd.push(event, announce, None);
    }

    /// Queues the completions of all requests in flight: success up to the one that
    /// failed, then its status, then flushed ones.
    pub(super) fn drain(&mut self, ep: Handle, failed: Option<(RequestId, Status)>) {
        if let Some((id, status)) = failed {
            while let Some(entry) = id.checked_sub(1).and_then(|last| self.flight.pop_through(last)) {
                self.complete(ep, &entry, Status::Success);
            }
            if let Some(entry) = self.flight.pop_through(id) {
                self.complete(ep, &entry, status);
            }
        }
    }

    /// Queues flushed completions for all requests in flight.
    pub(super) fn flush(&mut self, ep: Handle) {
        while let Some(entry) = self.flight.pop() {
            self.complete(ep, &entry, Status::Flushed);
        }
    }
}
