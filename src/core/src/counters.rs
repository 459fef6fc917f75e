//! What endpoints and adapters count: how much they have moved, and how often something had to wait.
//!
//! The counters of an endpoint lie behind the locks that posting and completing take anyway, so they cost an addition and no
//! locked instruction. An adapter adds up those of its endpoints when it is asked.
//!
//! What the transport alone knows it counts itself (`Flow` in `transport/gauge.rs`): a gauge notes whether something
//! waits, under the lock of whatever waits. Locked additions are only counts of sleeps, each beside a system call, and of
//! what happens to connections ([`ConnStat`]). A query of an adapter holds the lock on the sums of endpoints that were
//! freed, so that no endpoint counts twice or not at all; it comes before the list of objects. No other process can read
//! the counters, for which they would have to lie in shared memory at a load more for each; a thread of the transport may
//! tell them ([`AdapterSnapshot`](crate::ep::Glance)).

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::event::{AsyncReason, ConnectionEvent, Extended, Transfer};
use crate::slab::Handle;
use crate::transport::Flow;

/// Operations of one kind, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Operations.
    pub operations: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Operations of every kind: the requests that a transport has taken, and the receives that messages have filled. The places
/// are the numbers of [`Transfer`]. The two numbers of a kind do not lie side by side, since the compiler would then load, add
/// and store them as a vector, which takes more instructions than two additions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tallies {
    operations: [u64; 4],
    bytes: [u64; 4],
}

impl Tallies {
    /// Those of one kind.
    pub fn of(&self, transfer: Transfer) -> Tally {
        Tally { operations: self.operations[transfer as usize], bytes: self.bytes[transfer as usize] }
    }

    /// Counts one operation of `len` bytes.
    #[inline(always)]
    pub(crate) fn count(&mut self, transfer: Transfer, len: u64) {
        let (operations, bytes) = (&mut self.operations[transfer as usize], &mut self.bytes[transfer as usize]);
        *operations = operations.wrapping_add(1);
        *bytes = bytes.wrapping_add(len);
    }

    /// Adds others.
    pub(crate) fn add(&mut self, other: &Tallies) {
        let sum = |ours: &mut [u64; 4], theirs: &[u64; 4]| {
            ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours = ours.wrapping_add(*theirs));
        };
        sum(&mut self.operations, &other.operations);
        sum(&mut self.bytes, &other.bytes);
    }
}

/// Operations of the kinds that have an event of their own, which are counted among the usual ones as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Specials([Tally; Extended::COUNT]);

impl Specials {
    /// Those of one kind.
    pub fn of(&self, kind: Extended) -> Tally {
        self.0[kind as usize]
    }

    /// Counts one operation of `len` bytes.
    pub(crate) fn count(&mut self, kind: Extended, len: u64) {
        let Tally { operations, bytes } = &mut self.0[kind as usize];
        *operations = operations.wrapping_add(1);
        *bytes = bytes.wrapping_add(len);
    }

    /// Adds others.
    pub(crate) fn add(&mut self, other: &Specials) {
        for (ours, theirs) in self.0.iter_mut().zip(&other.0) {
            ours.operations = ours.operations.wrapping_add(theirs.operations);
            ours.bytes = ours.bytes.wrapping_add(theirs.bytes);
        }
    }
}

/// The counters of an endpoint since it was made, or of an adapter since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Operations.
    pub tallies: Tallies,
    /// Those that not every version of the interface has.
    pub specials: Specials,
    /// What the transport has counted.
    pub flow: Flow,
    /// Datagrams that were not sent, and those that found no receive.
    pub lost: u64,
}

impl Counters {
    /// Adds those of another endpoint.
    pub(crate) fn add(&mut self, other: &Counters) {
        self.tallies.add(&other.tallies);
        self.specials.add(&other.specials);
        self.flow.add(other.flow);
        self.lost = self.lost.wrapping_add(other.lost);
    }

    /// Tells those of an endpoint to who asks for them.
    pub(crate) fn tell(&self, ep: Handle) {
        for (transfer, what) in [
            (Transfer::Send, "sends"),
            (Transfer::Recv, "receives"),
            (Transfer::Write, "RDMA writes"),
            (Transfer::Read, "RDMA reads"),
        ] {
            let Tally { operations, bytes } = self.tallies.of(transfer);
            log::debug!(target: host::diagnostics::COUNTERS, "endpoint {ep}: {operations} {what} of {bytes} bytes");
        }
        let Flow { request_stalls, message_stalls, peer_wakeups } = self.flow;
        log::debug!(
            target: host::diagnostics::COUNTERS,
            "endpoint {ep}: {request_stalls} stalls of requests, {message_stalls} of messages, {peer_wakeups} wake-ups of peers"
        );
    }
}

/// What an adapter counts beside transfers: of connections, and of what befalls it. Nothing of it happens on the way of
/// a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnStat {
    /// The program has begun to connect an endpoint.
    Connect,
    /// A request has come to a service point.
    Request,
    /// The program has accepted a request.
    Accept,
    /// The program has rejected a request.
    Reject,
    /// A connection stands that this side has asked for.
    ActiveUp,
    /// A connection stands that the peer has asked for.
    PassiveUp,
    /// The program has ended a connection, or an attempt at one.
    Disconnect,
    /// The peer has ended a connection.
    PeerDisconnect,
    /// A public service point has got a qualifier that the transport has chosen.
    AnyQualifier,
    /// A connection, or an attempt at one, has ended with this event.
    Ended(ConnectionEvent),
    /// An asynchronous event was raised.
    Async(AsyncReason),
}

impl ConnStat {
    const ENDED: usize = 9;
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
            ConnStat::Ended(event) => ConnStat::ENDED + event as usize,
            ConnStat::Async(reason) => ConnStat::ASYNC + reason as usize,
        }
    }
}

/// What happened to the connections of an adapter, in short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnSummary {
    /// Connections that stood, whichever side asked for them.
    pub established: u64,
    /// Connections and attempts that ended otherwise than by a disconnect.
    pub failures: u64,
    /// Asynchronous events.
    pub async_events: u64,
}

/// How often each of them happened.
#[derive(Default)]
pub(crate) struct Happenings([AtomicU64; ConnStat::COUNT]);

impl Happenings {
    /// Counts one.
    pub fn note(&self, what: ConnStat) {
        self.0[what.index()].fetch_add(1, Ordering::Relaxed);
    }

    /// How often it happened.
    pub fn of(&self, what: ConnStat) -> u64 {
        self.0[what.index()].load(Ordering::Relaxed)
    }

    /// All of them, in short.
    pub fn fates(&self) -> ConnSummary {
        let sum = |places: Range<usize>| self.0[places].iter().map(|count| count.load(Ordering::Relaxed)).sum::<u64>();
        let disconnected = self.of(ConnStat::Ended(ConnectionEvent::Disconnected));
        ConnSummary {
            established: self.of(ConnStat::ActiveUp) + self.of(ConnStat::PassiveUp),
            failures: sum(ConnStat::ENDED..ConnStat::ASYNC).saturating_sub(disconnected),
            async_events: sum(ConnStat::ASYNC..ConnStat::COUNT),
        }
    }
}

#[cfg(test)]
mod tests;
