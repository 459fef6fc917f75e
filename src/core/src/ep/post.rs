//! Posting requests.

use std::hint::cold_path;
use std::sync::Arc;

use crate::ep::endpoint::{Endpoint, refused};
use crate::ep::requests::{Gate, InFlight, Requests, Work};
use crate::ep::sending::Locked;
use crate::error::{Access, Arg, Error, Resource, Result, Role};
use crate::event::{CompletionFlags, Status, Transfer};
use crate::lmr::Lmr;
use crate::lmr_table::{LocalSegment, SegmentList};
use crate::mem::Rights;
use crate::rmr::{Binding, Rmr};
use crate::slab::{Object, Section};
use crate::transport::{
    BindTarget, Checked, Handed, Mark, Operation, RemoteSegment, Request, RequestId, Segment, ShortSend, Transport,
};
use crate::users::Use;

impl<T: Transport> Endpoint<T> {
    /// Posts a send.
    ///
    /// # Errors
    /// [`crate::error::Refusal::Endpoint`] unless connected or disconnected,
    /// [`Arg::SegmentCount`], [`Arg::Flags`], [`Error::LengthError`] above the largest
    /// message, the errors of [`crate::lmr_table::LmrTable::check`],
    /// [`Error::InsufficientResources`] if the request queue is full.
    #[inline(always)]
    pub fn post_send<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
    ) -> Result<()> {
        self.post(segments, cookie, completion, Transfer::Send, &NOWHERE)
    }

    /// Posts an RDMA write.
    ///
    /// # Errors
    /// Those of [`Endpoint::post_send`]; [`Error::LengthError`] also if the remote segment is shorter than the local
    /// ones together.
    #[inline(always)]
    pub fn post_write<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        remote: RemoteSegment,
        completion: CompletionFlags,
    ) -> Result<()> {
        self.post(segments, cookie, completion, Transfer::Write, &remote)
    }

    /// Posts an RDMA read.
    ///
    /// # Errors
    /// Those of [`Endpoint::post_send`]; [`Error::LengthError`] also if the local segments together are shorter than
    /// the remote one.
    #[inline(always)]
    pub fn post_read<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        remote: RemoteSegment,
        completion: CompletionFlags,
    ) -> Result<()> {
        self.post(segments, cookie, completion, Transfer::Read, &remote)
    }

    /// Posts a transfer; `remote` has no meaning for a send.
    #[inline(always)]
    fn post<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
        transfer: Transfer,
        remote: &RemoteSegment,
    ) -> Result<()> {
        // A request of one segment on a connection, with room for it.
        let mut requests = self.requests();
        let (most, right) = requests.needs(transfer);
        let send = matches!(transfer, Transfer::Send);
        if segments.is_single()
            && (completion.is_empty() || requests.has_flags(completion, send))
            && most >= 1
            && let Requests {
                gate: Gate::Open,
                qp: Some(qp),
                tx,
                zone: Some(zone),
                flight,
                evd,
                max_message,
                max_rdma,
                ..
            } = &mut *requests
            && let Some((id, place)) = flight.next()
        {
            let segment = segments.segment(0);
            if send && segment.len <= T::AT_ONCE {
                // The section begins before the segment is checked.
                if let Some(section) = Section::enter()
                    && let Some(segment) = self.ia.lmrs.check_single(&segment, *zone, right)
                    && segment.len <= *max_message
                    && let Some(mark) = self.ia.transport.post_at_once(
                        qp,
                        tx,
                        ShortSend {
                            segment,
                            live: section.keeps(),
                            solicited: completion.contains(CompletionFlags::SOLICITED_WAIT),
                            fence: completion.contains(CompletionFlags::BARRIER_FENCE),
                            signalled: !completion.contains(CompletionFlags::SUPPRESS),
                        },
                    )
                {
                    drop(section);
                    let work = Work::Transfer(Transfer::Send, segment.len);
                    place.fill(InFlight { mark, cookie, flags: completion, work });
                    drop(requests);
                    return Ok(());
                }
            } else if let Some(segment) = self.ia.lmrs.check_single(&segment, *zone, right)
                && let Ok(len) = length(transfer, segment.len, remote.len, *max_message, *max_rdma)
            {
                let handed = match self.hand_request(qp, tx, id, &[segment], completion, transfer, remote, len) {
                    Ok(handed) => handed,
                    Err(error) => return Err(refused(requests, error)),
                };
                let work = Work::Transfer(transfer, len);
                let request = InFlight { mark: handed.mark, cookie, flags: completion, work };
                let ep = self.header.handle();
                // One that is done, with none before it, is never in flight.
                if !(handed.done && place.is_first() && evd.as_ref().is_some_and(|evd| request.succeed(evd, ep))) {
                    place.fill(request);
                    if handed.done {
                        requests.complete_posted(ep, handed.mark);
                    }
                }
                drop(requests);
                return Ok(());
            }
        }
        cold_path();
        self.post_otherwise(requests, segments, cookie, completion, transfer, remote)
    }

    /// Posts a request that [`Endpoint::post`] cannot post in the quickest way.
    #[inline(never)]
    fn post_otherwise<S: SegmentList + ?Sized>(
        &self,
        mut requests: Locked<'_, T>,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
        transfer: Transfer,
        remote: &RemoteSegment,
    ) -> Result<()> {
        segments.check()?;
        let send = matches!(transfer, Transfer::Send);
        let (most, right) = requests.needs(transfer);
        let zone = match requests.zone {
            Some(zone) if requests.admits(completion, send) && segments.count() <= most => zone,
            _ => return Err(requests.refusal(completion, send, segments.count() > most)),
        };
        let mut checked = Checked::new();
        let total = self.ia.lmrs.check_all(segments, zone, right, &mut checked)?;
        let len = length(transfer, total, remote.len, requests.max_message, requests.max_rdma)?;
        let work = Work::Transfer(transfer, len);
        if !self.make_room(&mut requests)? {
            self.flush(&requests, cookie, completion, work);
            return Ok(());
        }
        let Requests { qp: Some(qp), tx, flight, .. } = &mut *requests else { return Err(requests.state.into()) };
        let Some((id, place)) = flight.next() else { return Err(full()) };
        let handed = self.hand_request(qp, tx, id, &checked, completion, transfer, remote, len)?;
        place.fill(InFlight { mark: handed.mark, cookie, flags: completion, work });
        if handed.done {
            requests.complete_posted(self.header.handle(), handed.mark);
        }
        Ok(())
    }

    /// Hands a request of `len` bytes, whose segments were checked, to the transport.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)] // a structure of them would lie in memory
    fn hand_request(
        &self,
        qp: &Arc<T::Qp>,
        tx: &mut T::Tx,
        id: RequestId,
        segments: &[Segment],
        completion: CompletionFlags,
        transfer: Transfer,
        remote: &RemoteSegment,
        len: u64,
    ) -> Result<Handed> {
        let operation = match transfer {
            Transfer::Write => Operation::Write(*remote),
            Transfer::Read => Operation::Read(*remote),
            Transfer::Send | Transfer::Recv => {
                Operation::Send { solicited: completion.contains(CompletionFlags::SOLICITED_WAIT) }
            }
        };
        let request = Request {
            id,
            operation,
            segments,
            len,
            fence: completion.contains(CompletionFlags::BARRIER_FENCE),
            signalled: !completion.contains(CompletionFlags::SUPPRESS),
        };
        self.ia.transport.post(qp, tx, &request)
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
    fn make_room(&self, requests: &mut Locked<'_, T>) -> Result<bool> {
        if requests.gate == Gate::Flush {
            return Ok(false);
        }
        if requests.flight.is_full()
            && let Some(qp) = requests.qp.clone()
        {
            let ia = &self.ia;
            requests.unlocked(|| ia.transport.reap(&qp));
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
        let mut requests = self.requests();
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
        let Requests { qp: Some(qp), tx, flight, .. } = &mut *requests else { return Err(requests.state.into()) };
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
        let (key, mark) = self.ia.transport().post_bind(qp, tx, id, &window, bind.as_ref(), signalled)?;
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
        let qp = self.requests().qp.clone();
        if let Some(qp) = qp {
            self.ia.transport.reap(&qp);
        }
    }
}

/// No memory of a peer.
const NOWHERE: RemoteSegment = RemoteSegment { addr: 0, len: 0, key: 0 };

/// The length of a transfer whose local segments have `total` bytes, and the remote one `remote`.
///
/// # Errors
/// [`Error::LengthError`].
#[inline(always)]
fn length(transfer: Transfer, total: u64, remote: u64, max_message: u64, max_rdma: u64) -> Result<u64> {
    let (fits, len) = match transfer {
        Transfer::Write => (total <= remote && total <= max_rdma, total),
        Transfer::Read => (total >= remote && remote <= max_rdma, remote),
        Transfer::Send | Transfer::Recv => (total <= max_message, total),
    };
    if fits { Ok(len) } else { Err(Error::LengthError) }
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
