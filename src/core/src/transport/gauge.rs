//! Counting how often something of a connection had to wait.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::probes::{self, Stall};
use crate::slab::Handle;

/// What the transport alone can count of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// How often requests began to wait: for room, or for requests before them.
    pub request_stalls: u64,
    /// How often an arrived message began to wait for a receive, as far as the transport sees that.
    pub message_stalls: u64,
    /// How often the peer was asleep and was woken, as far as that is done by the transport.
    pub peer_wakeups: u64,
}

impl Flow {
    /// Adds the counts of another connection.
    pub(crate) fn add(&mut self, other: Flow) {
        self.request_stalls += other.request_stalls;
        self.message_stalls += other.message_stalls;
        self.peer_wakeups += other.peer_wakeups;
    }
}

/// Whether something of a connection waits, and how often that began. It is changed under one lock, that of whatever waits,
/// and so without locked instructions; any thread may read it.
#[derive(Debug, Default)]
pub struct Gauge {
    waits: AtomicBool,
    stalls: AtomicU64,
}

impl Gauge {
    /// Sets whether something waits now.
    #[inline]
    pub fn set(&self, ep: Handle, stall: Stall, waits: bool) {
        if self.waits.load(Ordering::Relaxed) != waits {
            self.change(ep, stall, waits);
        }
    }

    #[cold]
    #[inline(never)]
    fn change(&self, ep: Handle, stall: Stall, waits: bool) {
        self.waits.store(waits, Ordering::Relaxed);
        if waits {
            self.stalls.store(self.stalls.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            probes::stalled(ep, stall);
        } else {
            probes::resumed(ep, stall);
        }
    }

    /// How often waiting has begun.
    pub fn stalls(&self) -> u64 {
        self.stalls.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
