//! What endpoints and adapters count: how much they have moved, and how often something had to wait.
//!
//! The counters of an endpoint lie behind the locks that posting and completing take anyway, so they cost an addition and no
//! locked instruction. An adapter adds up those of its endpoints when it is asked.
//!
//! What the transport alone knows it counts itself (`Flow` in `transport/gauge.rs`): a gauge notes whether something
//! waits, under the lock of whatever waits. Counts of wake-ups alone are locked additions, each beside a system call. A
//! query of an adapter holds the lock on the sums of endpoints that were freed, so that no endpoint counts twice or not
//! at all; it comes before the list of objects. No other process can read the counters, for which they would have
//! to lie in shared memory at a load more for each; a thread of the transport may tell them ([`Glance`](crate::ep::Glance)).

use crate::event::Transfer;
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

/// The counters of an endpoint since it was made, or of an adapter since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Operations.
    pub tallies: Tallies,
    /// What the transport has counted.
    pub flow: Flow,
}

impl Counters {
    /// Adds those of another endpoint.
    pub(crate) fn add(&mut self, other: &Counters) {
        self.tallies.add(&other.tallies);
        self.flow.add(other.flow);
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

#[cfg(test)]
mod tests;
