//! Stalls on a connection: their number, and whether the connection stalls now.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::arena::Handle;
use crate::probes::{self, Stall};

/// Connection counters that only the transport can maintain. A counter that a transport cannot maintain stays 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Number of times that requests began to wait for resources or earlier requests.
    pub request_stalls: u64,
    /// Number of times that a received message began to wait for a receive.
    pub message_stalls: u64,
    /// Number of times that the transport woke a sleeping peer.
    pub peer_wakeups: u64,
}

impl Flow {
    pub(crate) fn add(&mut self, other: Flow) {
        self.request_stalls += other.request_stalls;
        self.message_stalls += other.message_stalls;
        self.peer_wakeups += other.peer_wakeups;
    }
}

/// The number of stalls of a connection's requests, receives or messages ([`Stall`]), and whether these stall now.
/// Changes need the lock that protects these; any thread may read.
#[derive(Debug, Default)]
pub struct Gauge {
    waits: AtomicBool,
    stalls: AtomicU64,
}

impl Gauge {
    /// Sets whether the work stalls.
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

    /// Returns the number of stalls.
    pub fn stalls(&self) -> u64 {
        self.stalls.load(Ordering::Relaxed)
    }

    /// Returns whether the work stalls now.
    pub fn waits(&self) -> bool {
        self.waits.load(Ordering::Relaxed)
    }
}

/// For tools: how a connection transfers data, and what it waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Name of the path, which the transport's manual page describes.
    pub name: &'static str,
    /// ID of the peer's process; 0 if the transport does not know it.
    pub process: i32,
    /// Local address and peer's address of the connection's TCP socket, if it has one.
    pub sockets: Option<(SocketAddr, SocketAddr)>,
    /// Set while a request waits for room or for earlier requests.
    pub requests_wait: bool,
    /// Set while a message of the peer waits for a receive.
    pub message_waits: bool,
}

#[cfg(test)]
mod tests;
