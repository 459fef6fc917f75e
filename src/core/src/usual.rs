//! The fast path, from a post to the dequeue of its completion.
//!
//! The fast path requires work of one segment, a queue pair, room in every queue, and no thread that waits on the EVD.
//! Each function checks this, and passes other work to a slow-path function. All functions are inlined into the
//! program's call or the transport's poll. tests-c/perf/instructions.sh counts their instructions, except for
//! datagrams.
//!
//! The lookup of a handle ([`Arena::enter`](crate::Arena::enter)) and the check of segments
//! ([`LmrTable::check`](crate::LmrTable::check)) have fast paths of their own.

use std::sync::atomic::Ordering;

use host::cold_path;
use host::epoch::EpochGuard;
use host::lock::MutexGuard;

use crate::ah::Ah;
use crate::arena::{Handle, Header, Object};
use crate::ep::endpoint::Endpoint;
use crate::ep::receives::{Posted, Receives};
use crate::ep::requests::{InFlight, Requests, Work, length};
use crate::ep_state::EpState;
use crate::error::{Error, Result};
use crate::evd::{Evd, More, Queue, Queued, refuses};
use crate::event::{Completion, CompletionFlags, Event, Status, Transfer, notifies};
use crate::ia::Ia;
use crate::lmr_table::SegmentList;
use crate::mem::Rights;
use crate::probes;
use crate::srq::Srq;
use crate::srq_accounting::Completed;
use crate::transport::datagrams::{DatagramSink, Datagrams, LEAD};
use crate::transport::{
    Delivery, EndpointSink, Handed, Operation, Placement, Recv, RemoteSegment, Request, Segment, SeqNo, SharedReceives,
    ShortSend, Transport,
};

// ---- Posting ----

impl<T: Transport> Endpoint<T> {
    /// Posts a receive in any state. A disconnected endpoint flushes it immediately.
    ///
    /// # Errors
    /// [`crate::error::StateError::EndpointHasSrq`], [`crate::error::StateError::EndpointNotReady`] without zone or
    /// EVD, [`crate::error::Arg::SegmentCount`], [`crate::error::Arg::Flags`], errors of
    /// [`crate::lmr_table::LmrTable::check`], [`Error::InsufficientResources`] if the receive queue is full.
    #[inline(always)]
    pub fn post_recv<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
    ) -> Result<()> {
        self.post_one_recv::<false, S>(self.receives.lock(), segments, cookie, completion)
    }

    /// Posts to the connection's queue pair, or with `DATAGRAMS` to the datagram queue pair. Passes what it cannot post
    /// to a slower function.
    #[inline(always)]
    fn post_one_recv<const DATAGRAMS: bool, S: SegmentList + ?Sized>(
        &self,
        mut receives: MutexGuard<'_, Receives<T>>,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
    ) -> Result<()> {
        'usual: {
            if !segments.is_single() || !completion.is_empty() || receives.max_segments < 1 || receives.evd.is_none() {
                break 'usual;
            }
            let Receives { qp, datagram_qp, zone: Some(zone), posted, next_id, .. } = &mut *receives else {
                break 'usual;
            };
            let qps = match (qp, datagram_qp) {
                (Some(qp), _) if !DATAGRAMS => (Some(qp), None),
                (_, Some(qp)) if DATAGRAMS => (None, Some(qp)),
                // Also reached on a disconnected endpoint, which has no queue pair.
                _ => break 'usual,
            };
            // On an endpoint with an SRQ, the endpoint's own queue has no capacity.
            let Some(place) = posted.vacancy() else { break 'usual };
            let segment = segments.segment(0);
            if segment.len == 0 {
                break 'usual;
            }
            let Ok(piece) = self.ia.lmrs.check(&segment, *zone, Rights::LOCAL_WRITE) else { break 'usual };
            let id = *next_id;
            let awaited = match qps {
                (Some(qp), _) => self.ia.transport.post_recv(qp, &Recv { id, segments: &[piece] })?,
                (_, Some(qp)) => qp.post_recv(&Recv { id, segments: &[piece] }).map(|()| false)?,
                _ => break 'usual,
            };
            *next_id = id + 1;
            let (count, first) = if T::TAKES_RECEIVES { (1, piece) } else { (0, Segment::default()) };
            place.fill(Posted { id, cookie, quiet: false, count, first });
            probes::posted(self.header.handle(), Transfer::Recv, cookie, piece.len);
            if awaited || receives.watched {
                cold_path();
                self.after_recv(receives, awaited);
            }
            return Ok(());
        }
        cold_path();
        if DATAGRAMS {
            self.post_any_recv(receives, segments, cookie, completion)
        } else {
            self.post_other_recv(receives, segments, cookie, completion)
        }
    }

    #[inline(never)]
    fn post_other_recv<S: SegmentList + ?Sized>(
        &self,
        receives: MutexGuard<'_, Receives<T>>,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
    ) -> Result<()> {
        self.post_one_recv::<true, S>(receives, segments, cookie, completion)
    }

    /// Posts a send, an RDMA write or an RDMA read. A send ignores `remote`.
    ///
    /// # Errors
    /// [`crate::error::StateError::Endpoint`] unless connected or disconnected; [`crate::error::Arg::SegmentCount`];
    /// [`crate::error::Arg::Flags`]; [`Error::LengthError`] above the maximum message size, or if the source of an RDMA
    /// operation is longer than its destination; errors of [`crate::lmr_table::LmrTable::check`];
    /// [`Error::InsufficientResources`] if the queue is full.
    #[inline(always)]
    pub fn post<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
        transfer: Transfer,
        remote: &RemoteSegment,
    ) -> Result<()> {
        let mut requests = self.requests();
        let (most, right) = requests.needs(transfer);
        let send = matches!(transfer, Transfer::Send);
        'usual: {
            if !segments.is_single() || !(completion.is_empty() || requests.has_flags(completion, send)) || most < 1 {
                break 'usual;
            }
            if requests.state != EpState::Connected {
                break 'usual;
            }
            let Requests { qp: Some(qp), tx, zone: Some(zone), flight, evd, max_transfer, .. } = &mut *requests else {
                break 'usual;
            };
            let Some((id, place)) = flight.next_place() else { break 'usual };
            let segment = segments.segment(0);
            // The epoch guard keeps the memory registered from the check to the copy.
            let section = if send && segment.len <= T::INLINE_MAX { EpochGuard::enter() } else { None };
            if segment.len == 0 {
                break 'usual;
            }
            let Ok((segment, checked)) = self.ia.lmrs.check_in(section.as_ref(), &segment, *zone, right) else {
                break 'usual;
            };
            let max = if send { u64::MAX } else { *max_transfer };
            let Ok(len) = length(transfer, segment.len, remote.len, max) else { break 'usual };
            let transport = &self.ia.transport;
            let fence = completion.contains(CompletionFlags::BARRIER_FENCE);
            let signalled = !completion.contains(CompletionFlags::SUPPRESS);
            let at_once = checked.and_then(|segment| {
                let solicited = completion.contains(CompletionFlags::SOLICITED_WAIT);
                transport.post_inline(qp, tx, ShortSend { segment, solicited, fence, signalled })
            });
            // Ends the guard before `Transport::post`, which may take locks that a thread must not take in an epoch
            // section.
            drop(section);
            let handed = match at_once {
                Some(mark) => Handed::under_way(mark),
                // The check above skipped the length of sends, because inline sends are always short enough.
                None if send && len > *max_transfer => return Err(Error::LengthError),
                None => {
                    let operation = operation(transfer, remote, completion);
                    let segments = &[segment];
                    transport.post(qp, tx, &Request { id, operation, segments, len, fence, signalled })?
                }
            };
            let ep = self.header.handle();
            let work = Work::Transfer(transfer, len);
            let request = InFlight { mark: handed.mark, cookie, flags: completion, work };
            probes::posted(ep, transfer, cookie, len);
            // A request that is already complete needs no in-flight entry if no earlier request is outstanding.
            let ended = match evd {
                Some(evd) if handed.done && place.is_first() => request.succeed(evd, ep),
                _ => false,
            };
            if !ended {
                place.fill(request);
                if handed.done {
                    // The result is `false`, because `draining` is not set in this state.
                    let _ = requests.complete_through(ep, handed.mark);
                }
            }
            requests.counters.tallies.count(transfer, len);
            return Ok(());
        }
        cold_path();
        // `move`, so that the values above need no stack memory.
        self.post_any(requests, segments, cookie, completion, (transfer, send), move |requests, total, _| {
            let len = requests.length(transfer, total, remote.len)?;
            Ok((operation(transfer, remote, completion), Work::Transfer(transfer, len), len))
        })
    }

    /// Posts a datagram of one segment as [`Endpoint::post_datagram`] does. Returns `false` if it posted nothing: the
    /// caller must then call that function.
    #[inline(always)]
    pub fn post_one_datagram<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        to: &Ah<T>,
        completion: CompletionFlags,
    ) -> bool {
        T::DatagramQp::poll_if_queued(&self.ia.transport, &to.way);
        let mut requests = self.requests();
        if !segments.is_single() || !(completion.is_empty() || requests.has_flags(completion, true)) {
            return false;
        }
        let Requests { datagram_qp: Some(qp), zone: Some(zone), flight, evd: Some(evd), max_segments, .. } =
            &mut *requests
        else {
            return false;
        };
        let segment = segments.segment(0);
        let len = segment.len;
        let fits = len > 0 && len <= self.ia.attributes().fabric.mtu as u64;
        if !fits || *max_segments < 1 || !to.admits(&self.ia, *zone) {
            return false;
        }
        let Some((id, place)) = flight.next_place() else { return false };
        let section = if len <= T::INLINE_MAX { EpochGuard::enter() } else { None };
        let checked = self.ia.lmrs.check_in(section.as_ref(), &segment, *zone, Rights::LOCAL_READ);
        let Ok((segment, checked)) = checked else { return false };
        let solicited = completion.contains(CompletionFlags::SOLICITED_WAIT);
        let short = |segment| ShortSend { segment, solicited, fence: false, signalled: false };
        let is_sent = checked.is_some_and(|segment| T::DatagramQp::send_short(&to.way, short(segment)));
        drop(section);
        let mut handed = Handed { mark: SeqNo(id), done: true };
        if !is_sent {
            let operation = Operation::Send { solicited };
            let request = Request { id, operation, segments: &[segment], len, fence: false, signalled: false };
            let Ok(sent) = qp.send_to(&to.way, &request) else { return false };
            handed = sent;
        }
        let (ep, transfer) = (self.header.handle(), Transfer::SendDatagram);
        probes::posted(ep, transfer, cookie, len);
        let request = InFlight { mark: handed.mark, cookie, flags: completion, work: Work::Transfer(transfer, len) };
        if !(handed.done && place.is_first() && request.succeed(evd, ep)) {
            place.fill(request);
            if handed.done {
                let _ = requests.complete_through(ep, handed.mark);
            }
        }
        requests.counters.tallies.count(transfer, len);
        true
    }
}

#[inline(always)]
fn operation(transfer: Transfer, remote: &RemoteSegment, completion: CompletionFlags) -> Operation {
    match transfer {
        Transfer::Write => Operation::Write(*remote),
        Transfer::Read => Operation::Read(*remote),
        _ => Operation::Send { solicited: completion.contains(CompletionFlags::SOLICITED_WAIT) },
    }
}

impl<T: Transport> Srq<T> {
    /// Posts a receive.
    ///
    /// # Errors
    /// [`crate::error::Arg::SegmentCount`], errors of [`crate::lmr_table::LmrTable::check`],
    /// [`Error::InsufficientResources`] if all entries are occupied.
    #[inline(always)]
    pub fn post_recv<S: SegmentList + ?Sized>(&self, segments: &S, cookie: u64) -> Result<()> {
        if segments.is_single() {
            let segment = segments.segment(0);
            if segment.len > 0 {
                if let Ok(piece) = self.ia.lmrs.check(&segment, self.zone, Rights::LOCAL_WRITE) {
                    return self.hand_in(&[piece], cookie);
                }
            }
        }
        cold_path();
        self.post_any_recv(segments, cookie)
    }

    /// Posts a receive with checked segments.
    #[inline(always)]
    pub(crate) fn hand_in(&self, segments: &[Segment], cookie: u64) -> Result<()> {
        let mut accounting = self.accounting.lock();
        let id = accounting.vacancy().ok_or(Error::NO_MEMORY)?;
        let awaited = self.queue.post(&self.ia.transport, &Recv { id, segments })?;
        accounting.add(cookie, T::TAKES_RECEIVES.then_some(segments));
        probes::recv_posted(self.header().handle(), cookie, segments);
        drop(accounting);
        if awaited {
            cold_path();
            self.queue.kick(|| self.accounting.lock().available > 0);
        }
        Ok(())
    }
}

// ---- Completing ----

impl<T: Transport> EndpointSink<T> {
    /// Completes the oldest receive of the endpoint's own queue, if it has one segment, with a message of `len` bytes.
    /// `place` stores the message under the lock on the receives. For short messages with
    /// [`Transport::TAKES_RECEIVES`].
    #[inline(always)]
    pub fn deliver<'s>(&self, len: u64, solicited: bool, place: impl Placement<'s>) -> Delivery {
        let Endpoint { header, ia, receives, .. } = &*self.endpoint;
        fill_oldest(receives.lock(), (header, ia), Some(self.life), (len, solicited), place)
    }

    /// Like [`EndpointSink::deliver`], for the oldest buffer of the endpoint's SRQ.
    #[inline(always)]
    pub fn deliver_shared<'s>(&self, len: u64, solicited: bool, place: impl Placement<'s>) -> Delivery {
        let Endpoint { header, ia, receives, srq: Some(srq), .. } = &*self.endpoint else { return Delivery::Other };
        let mut receives = receives.lock();
        // If no high watermark is watched, taking the buffer cannot exceed one.
        let Receives { life, connected: true, watched: false, evd: Some(evd), received, feed, .. } = &mut *receives
        else {
            return Delivery::Other;
        };
        if *life != self.life {
            return Delivery::Other;
        }
        let Some((segment, completed)) = srq.take_one(len) else { return Delivery::Other };
        // SAFETY: `LmrTable::check` of this table returned the segment, for writing, at the post.
        let checked = place.section().and_then(|section| unsafe { ia.lmrs.recheck(&segment, section) });
        if !place.place(&segment, checked) {
            return self.hold_again(receives, srq, completed);
        }
        let Completed { cookie, charge } = completed;
        received.count(Transfer::Recv, len);
        let (ep, status) = (header.handle(), Status::Success);
        let completion = || Completion { ep, cookie, len, status, transfer: Transfer::Recv };
        evd.push(|| Queued::transfer(completion(), Some(charge)), || notifies(*feed, false, solicited, status));
        Delivery::Done
    }
}

impl<T: Transport> DatagramSink<T> {
    /// Like [`EndpointSink::deliver`], for a short datagram. Returns `false`, without effect, if the datagram is not
    /// stored.
    #[inline(always)]
    pub fn deliver_short<'s>(&self, len: u64, solicited: bool, place: impl Placement<'s>) -> bool {
        let Endpoint { header, ia, receives, .. } = &*self.endpoint;
        matches!(fill_oldest(receives.lock(), (header, ia), None, (len, solicited), place), Delivery::Done)
    }
}

/// Stores a message of the connection with the generation `connection` in the oldest receive, or a datagram if
/// `connection` is `None`.
#[inline(always)]
fn fill_oldest<'s, T: Transport>(
    mut receives: MutexGuard<'_, Receives<T>>,
    (header, ia): (&Header, &Ia<T>),
    connection: Option<u64>,
    (len, solicited): (u64, bool),
    place: impl Placement<'s>,
) -> Delivery {
    let Receives { life, connected, evd: Some(evd), posted, given: 0, received, feed, .. } = &mut *receives else {
        return Delivery::Other;
    };
    if connection.is_some_and(|connection| !*connected || connection != *life) {
        return Delivery::Other;
    }
    let is_message = connection.is_some();
    let (transfer, lead) = if is_message { (Transfer::Recv, 0) } else { (Transfer::RecvDatagram, LEAD) };
    let Some(oldest) = posted.oldest() else { return Delivery::Other };
    let &Posted { id, count: 1, mut first, cookie, quiet } = oldest.value() else { return Delivery::Other };
    if len + lead > first.len {
        return Delivery::TooLong(id);
    }
    first.addr += lead;
    first.len -= lead;
    // SAFETY: the segment is part of one that `LmrTable::check` of this table returned, for writing, at the post.
    let checked = place.section().and_then(|section| unsafe { ia.lmrs.recheck(&first, section) });
    if !place.place(&first, checked) {
        return Delivery::NoMemory(id);
    }
    oldest.skip();
    received.count(transfer, len);
    let (ep, status) = (header.handle(), Status::Success);
    let completion = || Completion { ep, cookie, len: len + lead, status, transfer };
    evd.push(|| Queued::transfer(completion(), None), || notifies(*feed, quiet, solicited, status));
    Delivery::Done
}

impl<T: Transport> Requests<T> {
    /// Queues the completions of all requests up to `reached`. Returns whether these were the last ones for which the
    /// end of the connection waits.
    #[inline(always)]
    pub(crate) fn complete_through(&mut self, ep: Handle, reached: SeqNo) -> bool {
        if let Some(evd) = &self.evd {
            if let Some(oldest) = self.flight.only_through(reached) {
                if oldest.value().succeed(evd, ep) {
                    oldest.skip();
                    return self.draining && self.flight.is_empty();
                }
            }
        }
        cold_path();
        self.complete_several(ep, reached)
    }
}

impl InFlight {
    /// Queues a successful transfer's completion. Returns `false`, without effect, for a bind or a suppressed
    /// completion.
    #[inline(always)]
    fn succeed<T: Transport>(&self, evd: &Evd<T>, ep: Handle) -> bool {
        // Borrows the values, so that they are copied only once, into the queue.
        let Work::Transfer(transfer, len) = &self.work else { return false };
        let status = Status::Success;
        if self.asks_for_nothing(status) {
            return false;
        }
        let completion = || Completion { ep, cookie: self.cookie, len: *len, status, transfer: *transfer };
        evd.push(|| Queued::transfer(completion(), None), || self.notifies(status));
        true
    }
}

// ---- Events ----

impl<T: Transport> Evd<T> {
    /// Queues an event, or reports a lost event if the queue is full. `notifies` returns whether it is a notification
    /// event. Both closures run under the lock, so that the event is written directly into the queue.
    #[inline(always)]
    pub(crate) fn push(&self, queued: impl FnOnce() -> Queued, notifies: impl FnOnce() -> bool) {
        let mut queue = self.queue.lock();
        let kept = queue.add(queued);
        self.busy.store(true, Ordering::Release);
        if !kept || queue.watched {
            cold_path();
            self.end_push(queue, kept, notifies());
        }
    }

    /// Returns whether there is an event or a waiter. Polls first if there is neither. After `false`, [`Evd::take`]
    /// would find nothing.
    #[inline(always)]
    pub fn look(&self) -> bool {
        self.is_busy() || {
            self.poll();
            self.is_busy()
        }
    }

    /// Takes the oldest event, and passes it to `transfer`, under the queue's lock, if it is a DTO completion,
    /// otherwise to `other`.
    ///
    /// # Errors
    /// [`crate::error::StateError::EvdWaiter`] while a thread waits, [`Error::QueueEmpty`].
    #[inline(always)]
    pub fn take<R>(&self, transfer: impl FnOnce(&Completion) -> R, other: impl FnOnce(Event) -> R) -> Result<R> {
        if let Some((result, _)) = self.take_completion(false, transfer) {
            return Ok(result);
        }
        cold_path();
        self.take_any().map(other)
    }

    /// Takes the oldest event if it is a DTO completion and no thread waits. Returns the result of `transfer` and the
    /// number of remaining events, or `None` if it takes no event. With `waiting`, the call counts as a wait, and takes
    /// none if the EVD is unwaitable.
    #[inline(always)]
    pub fn take_completion<R>(&self, waiting: bool, transfer: impl FnOnce(&Completion) -> R) -> Option<(R, usize)> {
        let mut queue = self.queue.lock();
        let refused =
            if waiting { refuses::ALL | refuses::LATE | refuses::WAITS } else { refuses::ALL | refuses::LATE };
        if queue.refused & refused != 0 {
            return None;
        }
        // `skip_if` does not drop the event, but `release` has freed the SRQ's entry, the only part that needs a drop.
        let result = queue.events.skip_if(|oldest| oldest.release().then(|| transfer(&oldest.completion)))?;
        queue.quick_waits += u64::from(waiting);
        let more = queue.len();
        if more == 0 {
            self.busy.store(false, Ordering::Release);
        }
        Some((result, more))
    }
}

impl<T: Transport> Queue<T> {
    /// Adds an event. Returns `false` if the queue is full.
    #[inline(always)]
    pub(crate) fn add(&mut self, queued: impl FnOnce() -> Queued) -> bool {
        let Some(place) = self.events.vacancy() else { return false };
        let Queued { completion, more } = queued();
        match more {
            More::Nothing | More::OutstandingRecv(_) => {
                place.fill(Queued { completion, more });
                probes::completed(&completion);
            }
            more => Queued { completion, more }.show_and_put(place),
        }
        true
    }
}
