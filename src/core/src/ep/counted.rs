//! The counters of endpoints, and their sums for an adapter.

use std::sync::atomic::Ordering;
use std::time::Instant;

use host::memory;
use host::pause::Pause;

use crate::counters::{ConnSummary, Counters};
use crate::ep::endpoint::Endpoint;
use crate::ep::requests::Requests;
use crate::ep_state::EpState;
use crate::ia::{AdapterSink, Ia};
use crate::transport::Transport;

impl<T: Transport> Endpoint<T> {
    /// Returns the counters of all connections.
    pub fn counters(&self) -> Counters {
        let mut counters = self.of_requests(&self.requests());
        counters.tallies.add(&self.receives.lock().received);
        counters.lost = self.lost_datagrams();
        counters
    }

    /// Returns the numbers of connects, disconnects, and receives on the endpoint's own queue that the program posted.
    pub fn asked(&self) -> (u64, u64, u64) {
        let (connects, disconnects) = {
            let control = self.control.lock();
            (control.connects, control.disconnects)
        };
        let receives = self.receives.lock();
        (connects, disconnects, receives.next_id + receives.flushed)
    }

    /// Returns the counters, and whether the endpoint is connected; `None` if another thread holds one of its locks.
    fn glance(&self) -> Option<(Counters, bool)> {
        let requests = self.try_requests()?;
        let mut counters = self.of_requests(&requests);
        let connected = matches!(requests.state, EpState::Connected | EpState::DisconnectPending);
        drop(requests);
        counters.tallies.add(&self.receives.try_lock()?.received);
        counters.lost = self.lost_datagrams();
        Some((counters, connected))
    }

    fn of_requests(&self, requests: &Requests<T>) -> Counters {
        let mut counters = requests.counters;
        if let Some(qp) = &requests.qp {
            counters.flow.add(self.ia.transport.flow(qp, &requests.tx));
        }
        counters
    }

    pub(super) fn leave_counters(&self) {
        let mut ended = self.ia.ended.lock();
        let counters = self.counters();
        self.requests().counters = Counters::default();
        self.receives.lock().received = Default::default();
        if let Ok(own) = self.datagrams() {
            own.lost.store(0, Ordering::Relaxed);
        }
        counters.tell(self.header.handle());
        ended.add(&counters);
    }
}

impl<T: Transport> Ia<T> {
    /// Returns the sums of all endpoints, including freed ones.
    pub fn counters(&self) -> Counters {
        // While this is locked, no freed endpoint moves its counters to `ended`, so each counter is added once.
        let ended = self.ended.lock();
        let mut all = *ended;
        let _: Option<()> = self.find(|ep: &Endpoint<T>| {
            all.add(&ep.counters());
            None
        });
        all
    }

    /// Returns the number of connected endpoints and all counters' sums; `None` if a lock was held until `until`.
    fn glance(&self, until: Instant) -> Option<(u64, Counters)> {
        let mut pause = Pause::new();
        let ended = patiently(&mut pause, until, || self.ended.try_lock())?;
        let (mut connections, mut all) = (0, *ended);
        let busy = self.find(|ep: &Endpoint<T>| match patiently(&mut pause, until, || ep.glance()) {
            Some((counters, connected)) => {
                all.add(&counters);
                connections += u64::from(connected);
                None
            }
            None => Some(()),
        });
        busy.is_none().then_some((connections, all))
    }
}

fn patiently<R>(pause: &mut Pause, until: Instant, look: impl Fn() -> Option<R>) -> Option<R> {
    loop {
        let found = look();
        if found.is_some() || Instant::now() >= until {
            return found;
        }
        pause.pass();
    }
}

/// A summary of an open adapter for another process.
#[derive(Clone, Debug)]
pub struct AdapterSnapshot {
    /// Name in the open call.
    pub name: String,
    /// Version of the interface.
    pub version: (u8, u8),
    /// Number of connected endpoints.
    pub connections: u64,
    /// Counters of all endpoints.
    pub counters: Counters,
    /// Summary of the connections.
    pub fates: ConnSummary,
}

/// The result of [`AdapterSink::glance`].
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum Glanced {
    /// The adapter's summary.
    Told(AdapterSnapshot),
    /// Another thread held a lock until the time limit, or memory is exhausted.
    Busy,
    /// The adapter is closed.
    Closed,
}

impl<T: Transport> AdapterSink<T> {
    /// Returns a summary without waiting for threads that may be stopped in a post: retries locks until `until`.
    pub fn glance(&self, until: Instant) -> Glanced {
        let Some(ia) = self.adapter.upgrade().filter(|ia| !ia.is_shut()) else { return Glanced::Closed };
        let (Ok(name), Some((connections, counters))) = (memory::text(&ia.name), ia.glance(until)) else {
            return Glanced::Busy;
        };
        let fates = ia.happenings.fates();
        Glanced::Told(AdapterSnapshot { name, version: ia.api_caps.version, connections, counters, fates })
    }

    /// Returns whether the adapter no longer exists.
    pub fn is_gone(&self) -> bool {
        self.adapter.strong_count() == 0
    }
}

#[cfg(test)]
mod tests;
