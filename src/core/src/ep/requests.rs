//! The requests of an endpoint: those in flight, and the state that posting and completing them needs.
//!
//! Requests stand in posting order, each with the *mark* that the transport gave it. Marks never fall and mean what the
//! transport likes, such as a position in a ring. A transport reports that all requests up to a mark are done, so
//! unsignalled ones need no report, and it needs no list of requests that end in their order. The completions of one
//! report enter their EVD under one lock.

use std::sync::Arc;

use host::diagnostics::COMPLETION;

use crate::counters::Counters;
use crate::ep::endpoint::not_ready;
use crate::ep_state::EpState;
use crate::error::{Arg, Error, Result};
use crate::evd::{Batch, Evd, Queued};
use crate::event::{Completion, CompletionFlags, Event, Extended, Feed, Status, Transfer, notifies};
use crate::fifo::{Fifo, Oldest, Vacancy};
use crate::mem::Rights;
use crate::probes;
use crate::slab::Handle;
use crate::transport::{FailedRequest, RequestId, SeqNo, Transport};
use crate::users::Use;

/// The work of a request in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// A data transfer, and its bytes.
    Transfer(Transfer, u64),
    /// A transfer that not every version of the interface has, and its bytes.
    Extended(Extended, u64),
    /// The bind or unbind of this remote memory region.
    Bind(Handle),
}

impl Work {
    /// The bytes of an atomic operation.
    pub const ATOMIC: u64 = 8;

    /// The transfer that it is, or is like, and its length.
    fn moves(self) -> Option<(Transfer, u64)> {
        match self {
            Work::Transfer(transfer, len) => Some((transfer, len)),
            Work::Extended(kind, len) => Some((kind.transfer(), len)),
            Work::Bind(_) => None,
        }
    }

    /// Shows a tracer that it was posted.
    #[inline(never)]
    pub fn show_posted(self, ep: Handle, cookie: u64) {
        match self.moves() {
            Some((transfer, len)) => probes::posted(ep, transfer, cookie, len),
            None => probes::bind_posted(ep, cookie),
        }
    }
}

// The usual request is written in two words.
const _: () = assert!(size_of::<Work>() == 16);

/// A request in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    /// The mark that the transport gave it.
    pub mark: SeqNo,
    pub cookie: u64,
    pub flags: CompletionFlags,
    pub work: Work,
}

impl InFlight {
    /// Adds the completion, unless the request succeeded and asked for no event then.
    fn complete<T: Transport>(&self, batch: &mut Batch<'_, T>, ep: Handle, status: Status) {
        if self.asks_for_nothing(status) {
            return;
        }
        let cookie = self.cookie;
        let queued = match self.work {
            Work::Transfer(transfer, len) => Queued::transfer(Completion { ep, cookie, len, status, transfer }, None),
            Work::Extended(kind, len) => {
                Queued::extended(Completion { ep, cookie, len, status, transfer: kind.transfer() }, kind, 0, None)
            }
            Work::Bind(rmr) => Queued::event(Event::Bind { rmr, cookie, status }),
        };
        batch.add(queued, self.notifies(status));
    }

    #[inline(always)]
    pub fn asks_for_nothing(&self, status: Status) -> bool {
        self.flags.contains(CompletionFlags::SUPPRESS) && matches!(status, Status::Success)
    }

    /// Of a request, the poster alone decides.
    #[inline(always)]
    pub fn notifies(&self, status: Status) -> bool {
        notifies(Feed::Unsignalled, self.flags.contains(CompletionFlags::UNSIGNALLED), false, status)
    }
}

/// The requests in flight of one endpoint. Their marks never fall, so a report on one of them covers all earlier ones. Their
/// numbers are those that the queue gives its values.
pub(crate) type Flight = Fifo<InFlight>;

impl Flight {
    /// The number that the next request will have, and the place for it once the transport has taken it; `None` if there is
    /// no room for it.
    #[inline(always)]
    pub fn next_place(&mut self) -> Option<(RequestId, Vacancy<'_, InFlight>)> {
        self.vacancy().map(|place| (place.number() as u64, place))
    }

    /// The oldest request, if that one, and no other one, has a mark of at most `reached`.
    #[inline(always)]
    pub fn only_through(&mut self, reached: SeqNo) -> Option<Oldest<'_, InFlight>> {
        if self.get(1).is_some_and(|next| next.mark <= reached) {
            return None;
        }
        self.oldest().filter(|oldest| oldest.value().mark <= reached)
    }

    /// Whether the oldest request has a mark of at most `reached`.
    fn reaches(&self, reached: SeqNo) -> bool {
        self.front().is_some_and(|oldest| oldest.mark <= reached)
    }

    /// Takes the oldest request, if its mark is at most `reached`.
    fn pop_through(&mut self, reached: SeqNo) -> Option<InFlight> {
        if self.reaches(reached) { self.pop() } else { None }
    }

    /// Takes the oldest request, if its number is less than `end`.
    fn pop_before(&mut self, end: RequestId) -> Option<InFlight> {
        if self.taken() as u64 >= end { None } else { self.pop() }
    }
}

/// The handling of requests that are posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Requests go to the transport.
    Open,
    /// Requests are accepted and flushed at once.
    Flush,
    /// Requests are refused.
    Closed,
}

/// The handling of requests that are posted in a state.
fn request_gate(state: EpState) -> Gate {
    match state {
        EpState::Connected => Gate::Open,
        EpState::Disconnected => Gate::Flush,
        _ => Gate::Closed,
    }
}

/// The part of an endpoint that is behind the lock on its requests.
pub(crate) struct Requests<T: Transport> {
    pub life: u64,
    pub gate: Gate,
    pub state: EpState,
    pub evd: Option<Use<Evd<T>>>,
    pub qp: Option<Arc<T::Qp>>,
    /// What the transport keeps of the sending direction of `qp`.
    pub tx: T::Tx,
    pub zone: Option<u32>,
    pub flight: Flight,
    pub feed: Feed,
    pub max_segments: usize,
    pub max_read_segments: usize,
    pub max_write_segments: usize,
    /// The adapter's limit. The sizes in the attributes of an endpoint are what its program intends to use, and programs exceed
    /// them.
    pub max_transfer: u64,
    /// The state is DISCONNECT_PENDING: the connection ends with the last request.
    pub draining: bool,
    /// The remote memory regions that were bound for this connection alone; some may have been unbound since.
    pub windows: Vec<Handle>,
    /// What was posted, and how the earlier connections flowed.
    pub counters: Counters,
}

impl<T: Transport> Requests<T> {
    pub fn new(evd: Option<Use<Evd<T>>>) -> Self {
        Requests {
            life: 1,
            gate: Gate::Closed,
            state: EpState::Unconnected,
            evd,
            qp: None,
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

    /// Follows the endpoint `ep` into a state; the handle is NULL as long as it has none.
    pub fn enter(&mut self, ep: Handle, state: EpState) {
        if ep != Handle::NULL && state != self.state {
            probes::connection(ep, self.state, state);
            log::debug!(target: host::diagnostics::EP, "endpoint {ep}: {}, then {state}", self.state);
        }
        self.state = state;
        self.gate = request_gate(state);
        self.draining = state == EpState::DisconnectPending;
    }

    /// Releases the dispatcher.
    pub fn detach(&mut self) {
        if let Some(evd) = self.evd.take() {
            evd.remove_feed(self.feed, true);
        }
    }

    /// Refuses requests in a state that does not admit them.
    #[inline]
    pub fn admit(&self) -> Result<()> {
        match self.gate {
            Gate::Open | Gate::Flush => Ok(()),
            Gate::Closed => Err(self.state.into()),
        }
    }

    /// The most segments that a request can have, and the right that it needs to them.
    #[inline(always)]
    pub fn needs(&self, transfer: Transfer) -> (usize, Rights) {
        match transfer {
            Transfer::Send | Transfer::Recv => (self.max_segments, Rights::LOCAL_READ),
            Transfer::Write => (self.max_write_segments, Rights::LOCAL_READ),
            Transfer::Read => (self.max_read_segments, Rights::LOCAL_WRITE),
        }
    }

    /// Returns the length of a transfer whose local segments have `total` bytes, and the remote one `remote`.
    ///
    /// # Errors
    /// [`Error::LengthError`].
    pub fn length(&self, transfer: Transfer, total: u64, remote: u64) -> Result<u64> {
        length(transfer, total, remote, self.max_transfer)
    }

    /// Whether a request can have these flags; `send` says whether it is a send.
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

    /// The zone for the segments of a request, if everything but their memory admits it.
    ///
    /// # Errors
    /// The first of: [`crate::error::StateError::Endpoint`], [`Arg::Flags`], [`Arg::SegmentCount`],
    /// [`crate::error::StateError::EndpointNotReady`].
    #[inline(always)]
    pub fn zone_for(&self, completion: CompletionFlags, send: bool, too_many: bool) -> Result<u32> {
        let open = !matches!(self.gate, Gate::Closed);
        match self.zone {
            Some(zone) if open && self.has_flags(completion, send) && !too_many => Ok(zone),
            _ => Err(self.refusal(completion, send, too_many)),
        }
    }

    /// The reason why a request is not admitted, has too many segments, or there is no zone for it.
    #[cold]
    fn refusal(&self, completion: CompletionFlags, send: bool, too_many: bool) -> Error {
        if let Err(error) = self.admit() {
            error
        } else if !self.has_flags(completion, send) {
            Error::InvalidParameter(Arg::Flags)
        } else if too_many {
            Error::InvalidParameter(Arg::SegmentCount)
        } else {
            not_ready()
        }
    }

    /// Counts a request that the transport has taken.
    pub fn count(&mut self, work: Work) {
        if let Some((transfer, len)) = work.moves() {
            self.counters.tallies.count(transfer, len);
        }
        if let Work::Extended(kind, len) = work {
            self.counters.specials.count(kind, len);
        }
    }

    /// Queues the completion of a request, unless it succeeded and asked for no event then.
    pub fn complete(&self, ep: Handle, request: &InFlight, status: Status) {
        if let Some(evd) = &self.evd {
            evd.push_all(|batch| request.complete(batch, ep, status));
        }
    }

    /// Queues the completions of all requests whose mark was reached. True if the end of the connection waits for them,
    /// and they were the last ones.
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

    /// Queues the completions of all requests up to the one that failed: success for those
    /// before it, then its status.
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

    /// Queues flushed completions for all requests in flight.
    pub fn flush(&mut self, ep: Handle) {
        while let Some(request) = self.flight.pop() {
            self.complete(ep, &request, Status::Flushed);
        }
    }
}

/// Returns the length of a transfer whose local segments have `total` bytes, and the remote one `remote`. It is at most `max`.
///
/// # Errors
/// [`Error::LengthError`].
#[inline(always)]
pub(crate) fn length(transfer: Transfer, total: u64, remote: u64, max: u64) -> Result<u64> {
    let (fits, len) = match transfer {
        Transfer::Write => (total <= remote && total <= max, total),
        Transfer::Read => (total >= remote && remote <= max, remote),
        Transfer::Send | Transfer::Recv => (total <= max, total),
    };
    if fits { Ok(len) } else { Err(Error::LengthError) }
}

#[cfg(test)]
mod tests;
