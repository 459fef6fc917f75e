//! The counters of endpoints, and those of an adapter, which are their sums.

use std::time::Instant;

use host::memory;
use host::pause::Pause;

use crate::counters::{ConnSummary, Counters};
use crate::ep::datagram::Service;
use crate::ep::endpoint::Endpoint;
use crate::ep::receives::Receives;
use crate::ep::requests::Requests;
use crate::ep_state::EpState;
use crate::ia::{AdapterSink, Ia};
use crate::transport::Transport;

impl<T: Transport> Endpoint<T> {
    /// What the endpoint has counted since it was made, over all of its connections.
    pub fn counters(&self) -> Counters {
        let mut counters = self.of_requests(&self.requests());
        add_receives(&mut counters, &self.receives.lock());
        if let Service::Datagrams(peers) = &self.service {
            if let Some(lanes) = peers.counters(|lane| Some(lane.counters())) {
                counters.add(&lanes);
                counters.lost = self.lost_datagrams();
            }
        }
        counters
    }

    /// How often the program has connected the endpoint, ended that, and posted a receive on its own queue.
    pub fn asked(&self) -> (u64, u64, u64) {
        let (connects, disconnects) = {
            let control = self.control.lock();
            (control.connects, control.disconnects)
        };
        let receives = self.receives.lock();
        (connects, disconnects, receives.next_id + receives.flushed)
    }

    /// The same, and whether it is connected; none if another thread has one of its locks.
    fn glance(&self) -> Option<(Counters, bool)> {
        let requests = self.try_requests()?;
        let mut counters = self.of_requests(&requests);
        let connected = matches!(requests.state, EpState::Connected | EpState::DisconnectPending);
        drop(requests);
        add_receives(&mut counters, &*self.receives.try_lock()?);
        if let Service::Datagrams(peers) = &self.service {
            counters.add(&peers.counters(|lane| Some(lane.glance()?.0))?);
            counters.lost = self.lost_datagrams();
        }
        Some((counters, connected))
    }

    /// What is counted of the sending direction.
    fn of_requests(&self, requests: &Requests<T>) -> Counters {
        let mut counters = requests.counters;
        if let Some(qp) = &requests.qp {
            counters.flow.add(self.ia.transport.flow(qp, &requests.tx));
        }
        counters
    }

    /// Leaves what the endpoint has counted to its adapter, because it is freed.
    pub(super) fn leave_counters(&self) {
        let mut ended = self.ia.ended.lock();
        let counters = self.counters();
        self.requests().counters = Counters::default();
        {
            let mut receives = self.receives.lock();
            (receives.received, receives.specials) = Default::default();
        }
        if let Service::Datagrams(peers) = &self.service {
            peers.forget();
        }
        counters.tell(self.header.handle());
        ended.add(&counters);
    }
}

/// Adds what is counted of the receiving direction.
fn add_receives<T: Transport>(counters: &mut Counters, receives: &Receives<T>) {
    counters.tallies.add(&receives.received);
    counters.specials.add(&receives.specials);
}

impl<T: Transport> Ia<T> {
    /// What all endpoints of the adapter have counted since it was opened, those that were freed as well.
    pub fn counters(&self) -> Counters {
        // No endpoint leaves its counters meanwhile.
        let ended = self.ended.lock();
        let mut all = *ended;
        let _: Option<()> = self.find(|ep: &Endpoint<T>| {
            all.add(&ep.counters());
            None
        });
        all
    }

    /// How many endpoints are connected, and the counters; none if another thread keeps one of the locks until then.
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

/// What a call finds that is repeated until it finds something, or the time is over.
fn patiently<R>(pause: &mut Pause, until: Instant, look: impl Fn() -> Option<R>) -> Option<R> {
    loop {
        let found = look();
        if found.is_some() || Instant::now() >= until {
            return found;
        }
        pause.pass();
    }
}

/// What a process tells of an open adapter to one that looks on.
#[derive(Clone, Debug)]
pub struct AdapterSnapshot {
    /// The name under which it was opened.
    pub name: String,
    /// The version of the interface for which it was opened, as the face gave it.
    pub version: (u8, u8),
    /// Its endpoints that are connected.
    pub connections: u64,
    /// What they and all others have counted.
    pub counters: Counters,
    /// What happened to its connections.
    pub fates: ConnSummary,
}

/// The outcome of [`AdapterSink::glance`].
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum Glanced {
    /// This is what there is to tell.
    Told(AdapterSnapshot),
    /// A thread keeps a lock.
    Busy,
    /// The adapter is closed.
    Closed,
}

impl<T: Transport> AdapterSink<T> {
    /// Looks at an adapter for a thread that must not wait for those of the program, one of which may be stopped in the middle
    /// of a post: it looks again for locks that others have, until a time.
    pub fn glance(&self, until: Instant) -> Glanced {
        let Some(ia) = self.adapter.upgrade().filter(|ia| !ia.is_shut()) else { return Glanced::Closed };
        let (Ok(name), Some((connections, counters))) = (memory::text(&ia.name), ia.glance(until)) else {
            return Glanced::Busy;
        };
        let fates = ia.happenings.fates();
        Glanced::Told(AdapterSnapshot { name, version: ia.api_caps.version, connections, counters, fates })
    }

    /// Whether the adapter is gone.
    pub fn is_gone(&self) -> bool {
        self.adapter.strong_count() == 0
    }
}

#[cfg(test)]
mod tests;
