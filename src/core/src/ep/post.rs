//! Posting requests.
//!
//! The usual post has one segment, on a connection, with room in the queue: its state is compared and its segment
//! checked in one place. Everything else goes through a function beside it, with a list of checked segments.

use std::hint::cold_path;
use std::sync::Arc;

use host::epoch::Section;

use crate::ep::endpoint::{Endpoint, refused};
use crate::ep::requests::{Gate, InFlight, Requests, Work, length};
use crate::ep::sending::Locked;
use crate::error::{Error, Resource, Result};
use crate::event::{CompletionFlags, Status, Transfer};
use crate::lmr_table::SegmentList;
use crate::probes;
use crate::transport::{
    Checked, Handed, Mark, Operation, RemoteSegment, Request, RequestId, Segment, ShortSend, Transport,
};

impl<T: Transport> Endpoint<T> {
    /// Posts a send.
    ///
    /// # Errors
    /// [`crate::error::Refusal::Endpoint`] unless connected or disconnected,
    /// [`crate::error::Arg::SegmentCount`], [`crate::error::Arg::Flags`], [`Error::LengthError`] above the largest
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
                    && let Some(segment) = self.ia.lmrs.check_in(&section, &segment, *zone, right)
                    && segment.len <= *max_message
                    && let Some(mark) = self.ia.transport.post_at_once(
                        qp,
                        tx,
                        ShortSend {
                            segment,
                            solicited: completion.contains(CompletionFlags::SOLICITED_WAIT),
                            fence: completion.contains(CompletionFlags::BARRIER_FENCE),
                            signalled: !completion.contains(CompletionFlags::SUPPRESS),
                        },
                    )
                {
                    let len = segment.len;
                    drop(section);
                    let work = Work::Transfer(Transfer::Send, len);
                    place.fill(InFlight { mark, cookie, flags: completion, work });
                    requests.counters.tallies.count(Transfer::Send, len);
                    probes::posted(self.header.handle(), Transfer::Send, cookie, len);
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
                probes::posted(ep, transfer, cookie, len);
                // One that is done, with none before it, is never in flight.
                let ended = match evd {
                    Some(evd) if handed.done && place.is_first() => request.succeed(evd, ep),
                    _ => false,
                };
                if !ended {
                    place.fill(request);
                    if handed.done {
                        requests.complete_posted(ep, handed.mark);
                    }
                }
                requests.counters.tallies.count(transfer, len);
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
        requests: Locked<'_, T>,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
        transfer: Transfer,
        remote: &RemoteSegment,
    ) -> Result<()> {
        let send = matches!(transfer, Transfer::Send);
        self.post_checked(requests, segments, cookie, completion, (transfer, send), |requests, total, _| {
            let len = requests.length(transfer, total, remote.len)?;
            Ok((operation(transfer, remote, completion), Work::Transfer(transfer, len), len))
        })
    }

    /// Posts a request in any way that there is. `like` is the transfer whose needs it has, and whether it takes a receive of
    /// the peer. `prepare` gets the sum of the lengths of the segments, and these, once they are checked; it says what is to be
    /// done, what is noted of it, and how many bytes it moves.
    pub(super) fn post_checked<S: SegmentList + ?Sized>(
        &self,
        mut requests: Locked<'_, T>,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
        like: (Transfer, bool),
        prepare: impl FnOnce(&Requests<T>, u64, &mut Checked) -> Result<(Operation, Work, u64)>,
    ) -> Result<()> {
        segments.check()?;
        let (transfer, takes) = like;
        let (most, right) = requests.needs(transfer);
        let zone = requests.zone_for(completion, takes, segments.count() > most)?;
        let mut checked = Checked::new();
        let total = self.ia.lmrs.check_all(segments, zone, right, &mut checked)?;
        let (operation, work, len) = prepare(&requests, total, &mut checked)?;
        if !self.make_room(&mut requests)? {
            self.flush(&requests, cookie, completion, work);
            return Ok(());
        }
        let Requests { qp: Some(qp), tx, flight, .. } = &mut *requests else { return Err(requests.state.into()) };
        let Some((id, place)) = flight.next() else { return Err(full()) };
        let request = request(id, &checked, completion, operation, len);
        let handed = self.ia.transport.post(qp, tx, &request)?;
        place.fill(InFlight { mark: handed.mark, cookie, flags: completion, work });
        work.show_posted(self.header.handle(), cookie);
        requests.count(work);
        if handed.done {
            requests.complete_posted(self.header.handle(), handed.mark);
        }
        Ok(())
    }

    /// Hands a transfer of `len` bytes, whose segments were checked, to the transport.
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
        let request = request(id, segments, completion, operation(transfer, remote, completion), len);
        self.ia.transport.post(qp, tx, &request)
    }

    /// Completes a request that is flushed at once.
    #[cold]
    pub(super) fn flush(&self, requests: &Requests<T>, cookie: u64, flags: CompletionFlags, work: Work) {
        let request = InFlight { mark: Mark::default(), cookie, flags, work };
        work.show_posted(self.header.handle(), cookie);
        requests.complete(self.header.handle(), &request, Status::Flushed);
    }

    /// Makes sure that there is room for a request: if the queue is full, looks for completions first. False if the request
    /// is to be flushed, because the connection has ended, maybe meanwhile.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room(&self, requests: &mut Locked<'_, T>) -> Result<bool> {
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

/// A request of `len` bytes, whose segments were checked.
#[inline(always)]
fn request(
    id: RequestId,
    segments: &[Segment],
    completion: CompletionFlags,
    operation: Operation,
    len: u64,
) -> Request<'_> {
    Request {
        id,
        operation,
        segments,
        len,
        fence: completion.contains(CompletionFlags::BARRIER_FENCE),
        signalled: !completion.contains(CompletionFlags::SUPPRESS),
    }
}

/// What the transport is to do for a transfer.
#[inline(always)]
fn operation(transfer: Transfer, remote: &RemoteSegment, completion: CompletionFlags) -> Operation {
    match transfer {
        Transfer::Write => Operation::Write(*remote),
        Transfer::Read => Operation::Read(*remote),
        Transfer::Send | Transfer::Recv => {
            Operation::Send { solicited: completion.contains(CompletionFlags::SOLICITED_WAIT) }
        }
    }
}

/// The refusal of a request for which the queue has no room.
pub(super) fn full() -> Error {
    Error::InsufficientResources(Resource::Memory)
}
