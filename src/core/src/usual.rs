//! The usual path, from a post to the dequeue of its completion.
//!
//! In the usual case work has one segment, the endpoint is connected, every queue has room, and no thread waits on the EVD.
//! This file has that case alone, in the order in which a message meets it: the peer posts a receive, the program posts a
//! request, the transport delivers the message, then reports that the request is done; both completions enter an EVD, from
//! which the programs take them. Each function compares what makes the case a usual one and hands every other case to the
//! function that handles all of them. What stands here is compiled into the call of the program or into the poll of the
//! transport, and tests-c/perf/instructions.sh counts its instructions.
//!
//! Before it, the slab finds the object behind a handle; [`LmrTable::check`](crate::LmrTable::check) checks segments. Those
//! two have quick ways of their own; nothing else in the core is written twice for speed.

use std::sync::atomic::Ordering;

use host::cold_path;
use host::epoch::EpochGuard;

use crate::ep::endpoint::Endpoint;
use crate::ep::receives::{Ended, Posted, Receives};
use crate::ep::requests::{Gate, InFlight, Requests, Work, length};
use crate::error::{Error, Resource, Result};
use crate::evd::{Evd, More, Queue, Queued, refuses};
use crate::event::{Completion, CompletionFlags, Event, Status, Transfer, notifies};
use crate::lmr_table::SegmentList;
use crate::mem::Rights;
use crate::probes;
use crate::slab::{Handle, Object};
use crate::srq::Srq;
use crate::srq_accounting::Completed;
use crate::transport::{
    Awaited, Delivery, EndpointSink, Handed, Operation, Placement, Recv, RecvDone, RecvId, RemoteSegment, Request,
    Segment, SeqNo, ShortSend, Transport, Verdict,
};

// ---- Posting ----

impl<T: Transport> Endpoint<T> {
    /// Posts a receive, in any state; when disconnected it is flushed at once.
    ///
    /// # Errors
    /// [`crate::error::StateError::EndpointHasSrq`], [`crate::error::StateError::EndpointNotReady`] without zone or
    /// dispatcher, [`crate::error::Arg::SegmentCount`], [`crate::error::Arg::Flags`], the errors of
    /// [`crate::lmr_table::LmrTable::check`], [`Error::InsufficientResources`] if the
    /// receive queue is full.
    #[inline(always)]
    pub fn post_recv<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
    ) -> Result<()> {
        let mut receives = self.receives.lock();
        'usual: {
            if !segments.is_single() || !completion.is_empty() || receives.max_segments < 1 || receives.evd.is_none() {
                break 'usual;
            }
            let Receives { qp: Some(qp), zone: Some(zone), posted, next_id, .. } = &mut *receives else { break 'usual };
            // The queue of an endpoint that takes its buffers from a shared one has no room.
            let Some(place) = posted.vacancy() else { break 'usual };
            let segment = segments.segment(0);
            if segment.len == 0 {
                break 'usual;
            }
            let Ok(piece) = self.ia.lmrs.check(&segment, *zone, Rights::LOCAL_WRITE) else { break 'usual };
            let id = *next_id;
            let awaited = self.ia.transport.post_recv(qp, &Recv { id, segments: &[piece] })?;
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
        self.post_any_recv(receives, segments, cookie, completion)
    }

    /// Posts a transfer; `remote` has no meaning for a send.
    #[inline(always)]
    pub(crate) fn post<S: SegmentList + ?Sized>(
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
            let Requests { gate: Gate::Open, qp: Some(qp), tx, zone: Some(zone), flight, evd, max_transfer, .. } =
                &mut *requests
            else {
                break 'usual;
            };
            let Some((id, place)) = flight.next_place() else { break 'usual };
            let segment = segments.segment(0);
            // The section begins before the segment is checked, so that the memory stays registered during the copy.
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
            // The transport may take locks for any other post.
            drop(section);
            let handed = match at_once {
                Some(mark) => Handed::under_way(mark),
                // A short send needs no comparison.
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
            // One that is done, with none before it, is never in flight.
            let ended = match evd {
                Some(evd) if handed.done && place.is_first() => request.succeed(evd, ep),
                _ => false,
            };
            if !ended {
                place.fill(request);
                if handed.done {
                    // A post does not end a connection, so the answer does not matter.
                    let _ = requests.complete_through(ep, handed.mark);
                }
            }
            requests.counters.tallies.count(transfer, len);
            return Ok(());
        }
        cold_path();
        // Moved, so that nothing above has to lie in memory for it.
        self.post_any(requests, segments, cookie, completion, (transfer, send), move |requests, total, _| {
            let len = requests.length(transfer, total, remote.len)?;
            Ok((operation(transfer, remote, completion), Work::Transfer(transfer, len), len))
        })
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

impl<T: Transport> Srq<T> {
    /// Posts a receive.
    ///
    /// # Errors
    /// [`crate::error::Arg::SegmentCount`], the errors of [`crate::lmr_table::LmrTable::check`] with the zone
    /// of the queue, [`Error::InsufficientResources`] if all entries are occupied.
    #[inline(always)]
    pub fn post_recv<S: SegmentList + ?Sized>(&self, segments: &S, cookie: u64) -> Result<()> {
        if segments.is_single() {
            let segment = segments.segment(0);
            if segment.len > 0 {
                if let Ok(piece) = self.ia.lmrs.check(&segment, self.zone, Rights::LOCAL_WRITE) {
                    return self.hand_in(&[piece], cookie).map(|_| ());
                }
            }
        }
        cold_path();
        self.post_any_recv(segments, cookie)
    }

    /// Hands a receive whose segments were checked to the transport. Returns its number.
    #[inline(always)]
    pub(crate) fn hand_in(&self, segments: &[Segment], cookie: u64) -> Result<RecvId> {
        let mut accounting = self.accounting.lock();
        let vacancy = accounting.vacancy().ok_or(Error::InsufficientResources(Resource::Memory))?;
        let id = vacancy.id();
        let awaited = self.ia.transport.srq_post(&self.queue, &Recv { id, segments })?;
        vacancy.fill(cookie);
        probes::recv_posted(self.header().handle(), cookie, segments);
        drop(accounting);
        if awaited {
            cold_path();
            self.ia.transport.kick(Awaited::Srq(&self.queue));
        }
        Ok(id)
    }
}

// ---- Completing ----

impl<T: Transport> EndpointSink<T> {
    /// Completes the oldest receive of the endpoint's own queue with a message of `len` bytes, if it has one segment: `place`
    /// puts the message there. Short messages only, because the endpoint's receives are locked meanwhile. For transports
    /// with [`Transport::TAKES_RECEIVES`].
    #[inline(always)]
    pub fn deliver<'s>(&self, len: u64, solicited: bool, place: impl Placement<'s>) -> Delivery {
        let Endpoint { header, ia, receives, .. } = &*self.endpoint;
        let mut receives = receives.lock();
        let Receives { life, connected: true, evd: Some(evd), posted, given: 0, received, feed, .. } = &mut *receives
        else {
            return Delivery::Other;
        };
        if *life != self.life {
            return Delivery::Other;
        }
        let Some(oldest) = posted.oldest() else { return Delivery::Other };
        let &Posted { id, count: 1, first, cookie, quiet } = oldest.value() else { return Delivery::Other };
        if len > first.len {
            return Delivery::TooLong(id);
        }
        // SAFETY: the segments of a receive were checked when it was posted.
        let checked = place.section().and_then(|section| unsafe { ia.lmrs.recheck(&first, section) });
        if !place.place(&first, checked) {
            return Delivery::NoMemory(id);
        }
        oldest.skip();
        received.count(Transfer::Recv, len);
        let (ep, status) = (header.handle(), Status::Success);
        let completion = || Completion { ep, cookie, len, status, transfer: Transfer::Recv };
        evd.push(|| Queued::transfer(completion(), None), || notifies(*feed, quiet, solicited, status));
        Delivery::Done
    }

    /// Reports that the endpoint took a buffer of the shared queue for a message that has arrived as a whole, and that it is
    /// complete: [`EndpointSink::recv_taken`] and [`EndpointSink::recv_done`] in one. It is not complete if the answer is
    /// [`Verdict::Break`].
    #[inline]
    pub fn recv_arrived(&self, done: RecvDone) -> Verdict {
        let ep = &*self.endpoint;
        let mut receives = ep.receives.lock();
        // Without a watermark to pass it makes no difference that the endpoint has the buffer for a moment.
        if let Some(srq) = &ep.srq {
            if receives.life == self.life && receives.connected && !receives.watched {
                if let Some(Completed { cookie, charge }) = srq.complete(done.id) {
                    receives.complete(ep.header.handle(), cookie, &Ended::from(done), false, Some(charge));
                }
                return Verdict::Continue;
            }
        }
        cold_path();
        self.arrived_otherwise(receives, done)
    }
}

impl<T: Transport> Requests<T> {
    /// Queues the completions of all requests whose mark was reached. True if the end of the connection waits for them,
    /// and they were the last ones.
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
    /// Queues the completion of a transfer that succeeded and asked for an event; false if this is another request.
    #[inline(always)]
    fn succeed<T: Transport>(&self, evd: &Evd<T>, ep: Handle) -> bool {
        // By reference, so that they are read under the lock of the queue, straight into their place.
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
    /// Queues an event; `notifies` makes it a notification event. If there is no room the event is lost, and the loss is
    /// reported as an asynchronous event. Both are asked under the lock of the queue, so that the event goes straight to its
    /// place.
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

    /// Whether the queue holds an event or a thread waits; if not, polls the transport and checks again. If it is false,
    /// [`Evd::take`] would find nothing.
    #[inline(always)]
    pub fn look(&self) -> bool {
        self.is_busy() || {
            self.poll();
            self.is_busy()
        }
    }

    /// Takes the oldest event, whether announced or not: shows the end of a transfer to `transfer`, under the lock of the
    /// queue, and any event that is something else to `other`.
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

    /// Takes the oldest event if it is the end of a transfer and no thread waits: shows it to `transfer` and returns the number
    /// of events that remain. With `waiting` it is for a wait for one event, which an EVD that is not waitable refuses.
    #[inline(always)]
    pub fn take_completion<R>(&self, waiting: bool, transfer: impl FnOnce(&Completion) -> R) -> Option<(R, usize)> {
        let mut queue = self.queue.lock();
        let refused = if waiting { refuses::ALL | refuses::WAITS } else { refuses::ALL };
        if queue.refused & refused != 0 {
            return None;
        }
        // Nothing is left in it that needs a drop.
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
    /// Adds an event; false if there is no room.
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
