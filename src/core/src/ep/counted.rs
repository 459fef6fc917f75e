//! The counters of endpoints, and those of an adapter, which are their sums.

use crate::counters::Counters;
use crate::ep::endpoint::Endpoint;
use crate::ia::Ia;
use crate::transport::Transport;

impl<T: Transport> Endpoint<T> {
    /// What the endpoint has counted since it was made, over all of its connections.
    pub fn counters(&self) -> Counters {
        let mut counters = {
            let requests = self.requests();
            let mut counters = requests.counters;
            if let Some(qp) = &requests.qp {
                counters.flow.add(self.ia.transport.flow(qp, &requests.tx));
            }
            counters
        };
        counters.tallies.add(&self.receives.lock().received);
        counters
    }

    /// Leaves what the endpoint has counted to its adapter, because it is freed.
    pub(super) fn leave_counters(&self) {
        let mut ended = self.ia.ended.lock();
        let counters = self.counters();
        self.requests().counters = Counters::default();
        self.receives.lock().received = Default::default();
        counters.tell(self.header.handle());
        ended.add(&counters);
    }
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
}
