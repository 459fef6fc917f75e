//! The counters of endpoints, and their sums for an adapter.

use std::sync::atomic::Ordering;

use crate::counters::Counters;
use crate::ep::endpoint::Endpoint;
use crate::ep::requests::Requests;
use crate::ia::Ia;
use crate::transport::{EndpointSnapshot, Path, Transport};

impl<T: Transport> Endpoint<T> {
    /// Returns the sums of the counters of all connections of the endpoint, including ended ones.
    pub fn counters(&self) -> Counters {
        let mut counters = self.of_requests(&self.requests());
        counters.tallies.add(&self.receives.lock().received);
        counters.lost = self.lost_datagrams();
        counters
    }

    /// Returns how many connects and disconnects the program has started, and how many receives it has posted to the
    /// endpoint's own queue.
    pub fn asked(&self) -> (u64, u64, u64) {
        let (connects, disconnects) = {
            let control = self.control.lock();
            (control.connects, control.disconnects)
        };
        let receives = self.receives.lock();
        (connects, disconnects, receives.next_id + receives.flushed)
    }

    /// Returns a snapshot, without the path unless `full`; `None` if another thread holds one of the endpoint's locks.
    pub(crate) fn glance(&self, full: bool) -> Option<EndpointSnapshot> {
        let mut snapshot = {
            let requests = self.try_requests()?;
            let qp = requests.qp.as_ref().filter(|_| full);
            EndpointSnapshot {
                handle: self.header.handle(),
                state: requests.state,
                remote: None,
                path: qp.map_or(Path::default(), |qp| self.ia.transport.path(qp, &requests.tx)),
                requests: requests.flight.len(),
                receives: 0,
                srq: self.srq.as_ref().map(|srq| srq.header.handle()),
                request_evd: requests.evd.as_ref().map(|evd| evd.header.handle()),
                recv_evd: None,
                evd_full: requests.evd.as_ref().is_some_and(|evd| evd.is_full()),
                counters: self.of_requests(&requests),
            }
        };
        {
            let receives = self.receives.try_lock()?;
            snapshot.receives = receives.posted.len();
            snapshot.recv_evd = receives.evd.as_ref().map(|evd| evd.header.handle());
            snapshot.evd_full |= receives.evd.as_ref().is_some_and(|evd| evd.is_full());
            snapshot.counters.tallies.add(&receives.received);
        }
        snapshot.counters.lost = self.lost_datagrams();
        snapshot.remote.clone_from(&self.control.try_lock()?.remote);
        Some(snapshot)
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
    /// Returns the sums of the counters of all endpoints, including freed ones.
    pub fn counters(&self) -> Counters {
        // While `ended` is locked, no freed endpoint moves its counters there, so each counter is added once.
        let ended = self.ended.lock();
        let mut all = *ended;
        let _: Option<()> = self.find(|ep: &Endpoint<T>| {
            all.add(&ep.counters());
            None
        });
        all
    }
}
