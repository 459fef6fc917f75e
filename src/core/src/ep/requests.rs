//! The requests of an endpoint.
//!
//! Requests in flight are in posting order, each with the position ([`SeqNo`]) that the transport assigned. A transport
//! reports the completion of all requests up to a position, so unsignalled requests need no report. The completions of
//! one report enter their EVD under one lock.

use std::sync::Arc;

use host::diagnostics::COMPLETION;

use crate::arena::Handle;
use crate::counters::Counters;
use crate::ep_state::EpState;
use crate::error::{Arg, Error, Result};
use crate::evd::{Batch, Evd, Queued};
use crate::event::{Completion, CompletionFlags, Event, Feed, Status, Transfer, notifies};
use crate::fifo::{Fifo, Oldest, Vacancy};
use crate::mem::Rights;
use crate::probes;
use crate::transport::{FailedRequest, RequestId, SeqNo, Transport};
use crate::users::Use;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Kind, and length in bytes.
    Transfer(Transfer, u64),
    Bind(Handle),
}

impl Work {
    pub const ATOMIC: u64 = 8;

    #[inline(never)]
    pub fn show_posted(self, ep: Handle, cookie: u64) {
        match self {
            Work::Transfer(transfer, len) => probes::posted(ep, transfer, cookie, len),
            Work::Bind(_) => probes::bind_posted(ep, cookie),
        }
    }
}

// Two words, because the fast path writes the value for each request.
const _: () = assert!(size_of::<Work>() == 16);

#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub mark: SeqNo,
    pub cookie: u64,
    pub flags: CompletionFlags,
    pub work: Work,
}

impl InFlight {
    fn complete<T: Transport>(&self, batch: &mut Batch<'_, T>, ep: Handle, status: Status) {
        if self.asks_for_nothing(status) {
            return;
        }
        let cookie = self.cookie;
        let queued = match self.work {
            Work::Transfer(transfer, len) => Queued::transfer(Completion { ep, cookie, len, status, transfer }, None),
            Work::Bind(rmr) => Queued::event(Event::Bind { rmr, cookie, status }),
        };
        batch.add(queued, self.notifies(status));
    }

    #[inline(always)]
    pub fn asks_for_nothing(&self, status: Status) -> bool {
        self.flags.contains(CompletionFlags::SUPPRESS) && matches!(status, Status::Success)
    }

    /// Returns whether the completion is a notification event: always after a failure, otherwise by the poster's flags.
    #[inline(always)]
    pub fn notifies(&self, status: Status) -> bool {
        notifies(Feed::Unsignalled, self.flags.contains(CompletionFlags::UNSIGNALLED), false, status)
    }
}

/// An endpoint's requests in flight. The number of a queue entry is the [`RequestId`] of its request.
pub(crate) type Flight = Fifo<InFlight>;

impl Flight {
    /// Returns the number of the next request and its free entry, or `None` if the queue is full.
    #[inline(always)]
    pub fn next_place(&mut self) -> Option<(RequestId, Vacancy<'_, InFlight>)> {
        self.vacancy().map(|place| (place.number() as u64, place))
    }

    /// Returns the oldest request if it is the only one whose position is at most `reached`.
    #[inline(always)]
    pub fn only_through(&mut self, reached: SeqNo) -> Option<Oldest<'_, InFlight>> {
        if self.get(1).is_some_and(|next| next.mark <= reached) {
            return None;
        }
        self.oldest().filter(|oldest| oldest.value().mark <= reached)
    }

    fn reaches(&self, reached: SeqNo) -> bool {
        self.front().is_some_and(|oldest| oldest.mark <= reached)
    }

    fn pop_through(&mut self, reached: SeqNo) -> Option<InFlight> {
        if self.reaches(reached) { self.pop() } else { None }
    }

    fn pop_before(&mut self, end: RequestId) -> Option<InFlight> {
        if self.taken() as u64 >= end { None } else { self.pop() }
    }
}

/// The part of an endpoint under the lock on its requests.
pub(crate) struct Requests<T: Transport> {
    pub life: u64,
    pub state: EpState,
    pub evd: Option<Use<Evd<T>>>,
    pub qp: Option<Arc<T::Qp>>,
    pub datagram_qp: Option<Arc<T::DatagramQp>>,
    pub tx: T::Tx,
    pub zone: Option<u32>,
    pub flight: Flight,
    pub feed: Feed,
    pub max_segments: usize,
    pub max_read_segments: usize,
    pub max_write_segments: usize,
    /// The adapter's limit in bytes. The limits in the attributes do not apply, because programs exceed them.
    pub max_transfer: u64,
    /// Set if the completion of the last outstanding request must end the connection (state DISCONNECT_PENDING), or
    /// call the owner of an internal connection.
    pub draining: bool,
    /// Remote memory regions that were bound for this connection only; some may have been unbound.
    pub windows: Vec<Handle>,
    /// Counters of all connections, without the [`Flow`](crate::transport::Flow) of the present connection.
    pub counters: Counters,
}

impl<T: Transport> Requests<T> {
    pub fn new(evd: Option<Use<Evd<T>>>) -> Self {
        Requests {
            life: 1,
            state: EpState::Unconnected,
            evd,
            qp: None,
            datagram_qp: None,
            tx: T::Tx::default(),
            zone: None,
            flight: Flight::default(),
            feed: Feed::Threshold,
            max_segments: 0,
            max_read_segments: 0,
            max_write_segments: 0,
            max_transfer: 0,
            draining: false,
            windows: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// Sets the state, and logs the change. `ep` is NULL before the endpoint has a handle: then nothing is logged.
    pub fn enter(&mut self, ep: Handle, state: EpState) {
        if ep != Handle::NULL && state != self.state {
            probes::connection(ep, self.state, state);
            log::debug!(target: host::diagnostics::EP, "endpoint {ep}: {}, then {state}", self.state);
        }
        self.state = state;
        self.draining = state == EpState::DisconnectPending;
    }

    pub fn detach(&mut self) {
        if let Some(evd) = self.evd.take() {
            evd.remove_feed(self.feed, true);
        }
    }

    #[inline]
    pub fn admit(&self) -> Result<()> {
        match self.state {
            EpState::Connected | EpState::Disconnected => Ok(()),
            state => Err(state.into()),
        }
    }

    /// Returns the maximum number of local segments of an ordinary transfer, and the right to them that it requires.
    #[inline(always)]
    pub fn needs(&self, transfer: Transfer) -> (usize, Rights) {
        match transfer {
            Transfer::Write => (self.max_write_segments, Rights::LOCAL_READ),
            Transfer::Read => (self.max_read_segments, Rights::LOCAL_WRITE),
            _ => (self.max_segments, Rights::LOCAL_READ),
        }
    }

    pub fn length(&self, transfer: Transfer, total: u64, remote: u64) -> Result<u64> {
        length(transfer, total, remote, self.max_transfer)
    }

    /// Returns whether a request can have these flags. `send` is `true` if the request consumes a receive of the peer.
    pub fn has_flags(&self, completion: CompletionFlags, send: bool) -> bool {
        let mut valid = CompletionFlags::SUPPRESS | CompletionFlags::BARRIER_FENCE;
        if send {
            valid |= CompletionFlags::SOLICITED_WAIT;
        }
        if matches!(self.feed, Feed::Unsignalled) {
            valid |= CompletionFlags::UNSIGNALLED;
        }
        valid.contains(completion)
    }

    /// Checks the endpoint, the flags and the number of segments of a request, and returns the zone of the endpoint.
    /// `send` is as in [`Requests::has_flags`]; `too_many` is `true` if there are too many segments.
    ///
    /// # Errors
    /// The first of: [`crate::error::StateError::Endpoint`], [`Arg::Flags`], [`Arg::SegmentCount`],
    /// [`crate::error::StateError::EndpointNotReady`].
    #[inline(always)]
    pub fn zone_for(&self, completion: CompletionFlags, send: bool, too_many: bool) -> Result<u32> {
        self.admit()?;
        if !self.has_flags(completion, send) {
            return Err(Error::InvalidParameter(Arg::Flags));
        }
        if too_many {
            return Err(Error::InvalidParameter(Arg::SegmentCount));
        }
        self.zone.ok_or(Error::NOT_READY)
    }

    pub fn count(&mut self, work: Work) {
        if let Work::Transfer(transfer, len) = work {
            self.counters.tallies.count(transfer, len);
        }
    }

    pub fn complete(&self, ep: Handle, request: &InFlight, status: Status) {
        if let Some(evd) = &self.evd {
            evd.push_all(|batch| request.complete(batch, ep, status));
        }
    }

    /// Does what [`Requests::complete_through`] does, without its fast path for a single request.
    #[inline(never)]
    pub fn complete_several(&mut self, ep: Handle, reached: SeqNo) -> bool {
        let flight = &mut self.flight;
        match &self.evd {
            Some(evd) if flight.reaches(reached) => evd.push_all(|batch| {
                while let Some(request) = flight.pop_through(reached) {
                    request.complete(batch, ep, Status::Success);
                }
            }),
            Some(_) => {}
            None => while flight.pop_through(reached).is_some() {},
        }
        self.draining && self.flight.is_empty()
    }

    /// Queues successes for the requests before the failed request, and then its completion. `None` has no effect.
    pub fn drain(&mut self, ep: Handle, failed: Option<(FailedRequest, Status)>) {
        let Some((which, status)) = failed else { return };
        let request = match which {
            FailedRequest::Oldest => self.flight.pop(),
            FailedRequest::Number(id) => {
                while let Some(request) = self.flight.pop_before(id) {
                    self.complete(ep, &request, Status::Success);
                }
                self.flight.pop_before(id + 1)
            }
        };
        if let Some(request) = request {
            log::debug!(target: COMPLETION, "endpoint {ep}: a request with cookie {:#x} ends: {status}", request.cookie);
            self.complete(ep, &request, status);
        }
    }

    pub fn flush(&mut self, ep: Handle) {
        while let Some(request) = self.flight.pop() {
            self.complete(ep, &request, Status::Flushed);
        }
    }
}

/// Returns the length of a transfer of `total` local and `remote` remote bytes. Fails if it exceeds `max` or the length
/// of the destination.
#[inline(always)]
pub(crate) fn length(transfer: Transfer, total: u64, remote: u64, max: u64) -> Result<u64> {
    let (fits, len) = match transfer {
        Transfer::Write => (total <= remote && total <= max, total),
        Transfer::Read => (total >= remote && remote <= max, remote),
        _ => (total <= max, total),
    };
    if fits { Ok(len) } else { Err(Error::LengthError) }
}

#[cfg(test)]
mod tests;
