//! Counters of endpoints and adapters.
//!
//! The locks of posts and completions protect an endpoint's counters, so a count costs one addition. Only sleeps and
//! connection events ([`ConnStat`]) are counted atomically. The transport counts stalls (`Flow` in
//! `transport/gauge.rs`).
//!
//! A query of an adapter first locks the sums of the freed endpoints, then the list of objects, and adds both. A free
//! locks the same sums while it moves the endpoint's counters to them, so a query counts each endpoint once.
//!
//! Other processes cannot read the counters: shared memory would cost a load per count. A thread of the transport may
//! report them ([`AdapterSnapshot`](crate::transport::AdapterSnapshot)).

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::arena::Handle;
use crate::event::{AsyncReason, ConnectionEvent, Transfer};
use crate::transport::Flow;

/// Counts of one kind of transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of operations.
    pub operations: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// Counts for each [`Transfer`]: requests that the transport accepted, and receives that a message filled. Two arrays,
/// because the compiler would update an array of pairs with slower vector instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tallies {
    operations: [u64; Transfer::COUNT],
    bytes: [u64; Transfer::COUNT],
}

impl Tallies {
    /// Returns the counts of one kind.
    pub fn of(&self, transfer: Transfer) -> Tally {
        Tally { operations: self.operations[transfer as usize], bytes: self.bytes[transfer as usize] }
    }

    /// Returns the total of an ordinary kind (the first four of [`Transfer`]) and of the kinds that correspond to it.
    pub fn total(&self, transfer: Transfer) -> Tally {
        let sum = |counts: &[u64]| {
            counts.iter().skip(transfer as usize).step_by(4).fold(0, |sum, &one| one.wrapping_add(sum))
        };
        Tally { operations: sum(&self.operations), bytes: sum(&self.bytes) }
    }

    #[inline(always)]
    pub(crate) fn count(&mut self, transfer: Transfer, len: u64) {
        let (operations, bytes) = (&mut self.operations[transfer as usize], &mut self.bytes[transfer as usize]);
        *operations = operations.wrapping_add(1);
        *bytes = bytes.wrapping_add(len);
    }

    pub(crate) fn add(&mut self, other: &Tallies) {
        let sum = |ours: &mut [u64], theirs: &[u64]| {
            ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours = ours.wrapping_add(*theirs));
        };
        sum(&mut self.operations, &other.operations);
        sum(&mut self.bytes, &other.bytes);
    }
}

/// The counters of an endpoint or of an adapter since its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Counts of transfers.
    pub tallies: Tallies,
    /// Counters that the transport maintains.
    pub flow: Flow,
    /// Datagrams that this side dropped: before they were sent, or on arrival without a receive that is long enough.
    pub lost: u64,
}

impl Counters {
    pub(crate) fn add(&mut self, other: &Counters) {
        self.tallies.add(&other.tallies);
        self.flow.add(other.flow);
        self.lost = self.lost.wrapping_add(other.lost);
    }

    pub(crate) fn tell(&self, ep: Handle) {
        for (transfer, what) in [
            (Transfer::Send, "sends"),
            (Transfer::Recv, "receives"),
            (Transfer::Write, "RDMA writes"),
            (Transfer::Read, "RDMA reads"),
        ] {
            let Tally { operations, bytes } = self.tallies.total(transfer);
            log::debug!(target: host::diagnostics::COUNTERS, "endpoint {ep}: {operations} {what} of {bytes} bytes");
        }
        let Flow { request_stalls, message_stalls, peer_wakeups } = self.flow;
        log::debug!(
            target: host::diagnostics::COUNTERS,
            "endpoint {ep}: {request_stalls} stalls of requests, {message_stalls} of messages, {peer_wakeups} wake-ups of peers"
        );
    }
}

/// Counted events outside the fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the other variants are named after the call of the program
pub enum ConnStat {
    Connect,
    /// A connection request has arrived at a service point.
    Request,
    Accept,
    Reject,
    /// A connection that this side requested was established.
    ActiveUp,
    /// A connection that the peer requested was established.
    PassiveUp,
    Disconnect,
    /// The peer has disconnected.
    PeerDisconnect,
    /// The transport has chosen the qualifier of a public service point.
    AnyQualifier,
    /// The asynchronous EVD had no room for an event, or the EVD of a service point had none for a request.
    NoRoom,
    /// A connection or an attempt to connect has ended with this event.
    Ended(ConnectionEvent),
    /// An asynchronous event was raised.
    Async(AsyncReason),
}

impl ConnStat {
    const ENDED: usize = 10;
    const ASYNC: usize = ConnStat::ENDED + ConnectionEvent::COUNT;
    const COUNT: usize = ConnStat::ASYNC + AsyncReason::COUNT;

    fn index(self) -> usize {
        match self {
            ConnStat::Connect => 0,
            ConnStat::Request => 1,
            ConnStat::Accept => 2,
            ConnStat::Reject => 3,
            ConnStat::ActiveUp => 4,
            ConnStat::PassiveUp => 5,
            ConnStat::Disconnect => 6,
            ConnStat::PeerDisconnect => 7,
            ConnStat::AnyQualifier => 8,
            ConnStat::NoRoom => 9,
            ConnStat::Ended(event) => ConnStat::ENDED + event as usize,
            ConnStat::Async(reason) => ConnStat::ASYNC + reason as usize,
        }
    }
}

/// Summary of an adapter's connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnSummary {
    /// Connections established so far, whether this side or the peer requested them.
    pub established: u64,
    /// Connections and attempts that ended without a disconnect.
    pub failures: u64,
    /// Asynchronous events raised so far.
    pub async_events: u64,
    /// Events and connection requests for which an EVD had no room.
    pub events_lost: u64,
}

#[derive(Default)]
pub(crate) struct ConnStats([AtomicU64; ConnStat::COUNT]);

impl ConnStats {
    pub fn note(&self, what: ConnStat) {
        self.0[what.index()].fetch_add(1, Ordering::Relaxed);
    }

    pub fn of(&self, what: ConnStat) -> u64 {
        self.0[what.index()].load(Ordering::Relaxed)
    }

    pub fn summary(&self) -> ConnSummary {
        let sum = |places: Range<usize>| self.0[places].iter().map(|count| count.load(Ordering::Relaxed)).sum::<u64>();
        let disconnected = self.of(ConnStat::Ended(ConnectionEvent::Disconnected));
        ConnSummary {
            established: self.of(ConnStat::ActiveUp) + self.of(ConnStat::PassiveUp),
            failures: sum(ConnStat::ENDED..ConnStat::ASYNC).saturating_sub(disconnected),
            async_events: sum(ConnStat::ASYNC..ConnStat::COUNT),
            events_lost: self.of(ConnStat::Async(AsyncReason::EvdOverflow)) + self.of(ConnStat::NoRoom),
        }
    }
}

#[cfg(test)]
mod tests;
