//! Posting requests.

use std::sync::Arc;

use host::lock::MutexGuard;

use crate::ep::endpoint::Endpoint;
use crate::ep::requests::{Gate, InFlight, Requests, Work};
use crate::error::{Access, Arg, Error, Resource, Result, Role};
use crate::event::{CompletionFlags, Status, Transfer};
use crate::lmr::Lmr;
use crate::lmr_table::{LocalSegment, SegmentList};
use crate::mem::Rights;
use crate::rmr::{Binding, Rmr};
use crate::slab::Object;
use crate::transport::{BindTarget, Checked, Mark, Operation, RemoteSegment, Request, Segment, Transport};
use crate::users::Use;

impl<T: Transport> Endpoint<T> {
    /// Posts a send.
    ///
    /// # Errors
    /// [`crate::error::Refusal::Endpoint`] unless connected or disconnected,
    /// [`Arg::SegmentCount`], [`Arg::Flags`], [`Error::LengthError`] above the largest
    /// message, the errors of [`crate::lmr_table::LmrTable::check`],
    /// [`Error::InsufficientResources`] if the request queue is full.
    #[inline]
    pub fn post_send<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
    ) -> Result<()> {
        let solicited = completion.contains(CompletionFlags::SOLICITED_WAIT);
        self.post(segments, cookie, completion, Operation::Send { solicited })
    }

    /// Posts an RDMA write.
    ///
    /// # Errors
    /// Those of [`Endpoint::post_send`]; [`Error::LengthError`] also if the remote segment is shorter than the local
    /// ones together.
    #[inline]
    pub fn post_write<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        remote: RemoteSegment,
        completion: CompletionFlags,
    ) -> Result<()> {
        self.post(segments, cookie, completion, Operation::Write(remote))
    }

    /// Posts an RDMA read.
    ///
    /// # Errors
    /// Those of [`Endpoint::post_send`]; [`Error::LengthError`] also if the local segments together are shorter than
    /// the remote one.
    #[inline]
    pub fn post_read<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        remote: RemoteSegment,
        completion: CompletionFlags,
    ) -> Result<()> {
        self.post(segments, cookie, completion, Operation::Read(remote))
    }

    #[inline(always)]
    fn post<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
        operation: Operation,
    ) -> Result<()> {
        let requests = self.requests.lock();
        let send = matches!(operation, Operation::Send { .. });
        let (max_segments, right) = match operation {
            Operation::Send { .. } => (requests.max_segments, Rights::LOCAL_READ),
            Operation::Write(_) => (requests.max_write_segments, Rights::LOCAL_READ),
            Operation::Read(_) => (requests.max_read_segments, Rights::LOCAL_WRITE),
        };
        let zone = match requests.zone {
            Some(zone) if requests.admits(completion, send) && segments.count() <= max_segments => zone,
            _ => return Err(requests.refusal(completion, send, segments.count() > max_segments)),
        };
        if segments.count() == 1 {
            let segment = segments.segment(0);
            if segment.len > 0 {
                let piece = self.ia.lmrs.check(&segment, zone, right)?;
                return self.start(requests, &[piece], piece.len, cookie, completion, operation);
            }
        }
        let mut checked = Checked::new();
        let total = self.ia.lmrs.check_all(segments, zone, right, &mut checked)?;
        self.start_several(requests, &checked, total, cookie, completion, operation)
    }

    /// Does what [`Endpoint::start`] does, for a request that has not one segment.
    #[inline(never)]
    fn start_several(
        &self,
        requests: MutexGuard<'_, Requests<T>>,
        segments: &[Segment],
        total: u64,
        cookie: u64,
        completion: CompletionFlags,
        operation: Operation,
    ) -> Result<()> {
        self.start(requests, segments, total, cookie, completion, operation)
    }

    /// Starts a request whose segments were checked; `total` is the sum of their lengths.
    #[inline(always)]
    fn start(
        &self,
        mut requests: MutexGuard<'_, Requests<T>>,
        segments: &[Segment],
        total: u64,
        cookie: u64,
        completion: CompletionFlags,
        operation: Operation,
    ) -> Result<()> {
        let (transfer, len) = match operation {
            Operation::Send { .. } if total > requests.max_message => return Err(Error::LengthError),
            Operation::Send { .. } => (Transfer::Send, total),
            Operation::Write(remote) if total > remote.len => return Err(Error::LengthError),
            Operation::Write(_) => (Transfer::Write, total),
            Operation::Read(remote) if total < remote.len => return Err(Error::LengthError),
            Operation::Read(remote) => (Transfer::Read, remote.len),
        };
        if !matches!(operation, Operation::Send { .. }) && len > requests.max_rdma {
            return Err(Error::LengthError);
        }
        let work = Work::Transfer(transfer, len);
        if (requests.gate != Gate::Open || requests.flight.is_full()) && !self.make_room(&mut requests)? {
            self.flush(&requests, cookie, completion, work);
            return Ok(());
        }
        let Requests { qp: Some(qp), flight, .. } = &mut *requests else { return Err(requests.state.into()) };
        let Some((id, place)) = flight.next() else { return Err(full()) };
        let request = Request {
            id,
            operation,
            segments,
            len,
            fence: completion.contains(CompletionFlags::BARRIER_FENCE),
            signalled: !completion.contains(CompletionFlags::SUPPRESS),
        };
        let mark = self.ia.transport.post(qp, &request)?;
        place.fill(InFlight { mark, cookie, flags: completion, work });
        Ok(())
    }

    /// Completes a request that is flushed at once.
    #[cold]
    fn flush(&self, requests: &Requests<T>, cookie: u64, flags: CompletionFlags, work: Work) {
        let request = InFlight { mark: Mark::default(), cookie, flags, work };
        requests.complete(self.header.handle(), &request, Status::Flushed);
    }

    /// Makes sure that there is room for a request: if the queue is full, looks for completions first. False if the request
    /// is to be flushed, because the connection has ended, maybe meanwhile.
    #[cold]
    #[inline(never)]
    fn make_room(&self, requests: &mut MutexGuard<'_, Requests<T>>) -> Result<bool> {
        if requests.gate == Gate::Flush {
            return Ok(false);
        }
        if requests.flight.is_full()
            && let Some(qp) = requests.qp.clone()
        {
            let ia = &self.ia;
            MutexGuard::unlocked(requests, || ia.transport.reap(&qp));
            requests.admit()?;
        }
        if requests.flight.is_full() { Err(full()) } else { Ok(requests.gate != Gate::Flush) }
    }

    /// Posts the binding of `rmr` to a part of `lmr`, or its unbinding for a segment of length 0. Returns the context
    /// for peers.
    ///
    /// # Errors
    /// [`crate::error::Refusal::Endpoint`], [`Arg::Flags`], [`Arg::Segments`] for a range
    /// outside the region, [`Error::ProtectionViolation`] unless region, window and
    /// endpoint share a zone, [`Error::PrivilegesViolation`] for a remote right without
    /// the local one, [`Error::InsufficientResources`].
    pub fn post_bind(
        &self,
        rmr: &Rmr<T>,
        lmr: Option<&Arc<Lmr<T>>>,
        segment: LocalSegment,
        rights: Rights,
        cookie: u64,
        completion: CompletionFlags,
    ) -> Result<u32> {
        let mut requests = self.requests.lock();
        let zone = match requests.zone {
            Some(zone) if requests.admits(completion, false) => zone,
            _ => return Err(requests.refusal(completion, false, false)),
        };
        if rmr.zone() != zone {
            return Err(Error::ProtectionViolation(Access::RemoteRead));
        }
        let target = lmr.filter(|_| segment.len > 0);
        if let Some(lmr) = target {
            check_bind(lmr, &segment, zone, rights)?;
        } else if segment.len > 0 {
            return Err(Error::InvalidParameter(Arg::Segments));
        }
        let work = Work::Bind(rmr.header().handle());
        if !self.make_room(&mut requests)? {
            self.flush(&requests, cookie, completion, work);
            return Ok(0);
        }
        let Requests { qp: Some(qp), flight, .. } = &mut *requests else { return Err(requests.state.into()) };
        let Some((id, place)) = flight.next() else { return Err(full()) };
        // The region is marked as used before it is looked at, so that it is not freed in between. The binding stays
        // locked until it holds what the window shows.
        let bound = target.map(|lmr| Use::of(lmr).ok_or(Error::InvalidParameter(Arg::Segments))).transpose()?;
        let region = target.map(|lmr| lmr.region().ok_or(Error::InvalidParameter(Arg::Segments))).transpose()?;
        let mut binding = rmr.binding();
        let window = rmr.window().ok_or(Error::InvalidHandle(Role::Rmr))?;
        let bind = region.as_ref().map(|region| BindTarget {
            region: &**region,
            addr: segment.addr,
            len: segment.len,
            rights,
        });
        let signalled = !completion.contains(CompletionFlags::SUPPRESS);
        let (key, mark) = self.ia.transport().post_bind(qp, id, &window, bind.as_ref(), signalled)?;
        place.fill(InFlight { mark, cookie, flags: completion, work });
        let before = std::mem::replace(&mut *binding, bound.map(|lmr| Binding { lmr, segment, rights, key }));
        drop(binding);
        drop(requests);
        self.ia.transport.await_unbound(&window);
        // Until then the region that the window showed before cannot be freed.
        drop(before);
        Ok(key)
    }

    /// Looks for completions of requests in the transport.
    pub(crate) fn settle_requests(&self) {
        let qp = self.requests.lock().qp.clone();
        if let Some(qp) = qp {
            self.ia.transport.reap(&qp);
        }
    }
}

/// The refusal of a request for which the queue has no room.
fn full() -> Error {
    Error::InsufficientResources(Resource::Memory)
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
