//! The plan of a measurement, which both processes follow.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a measurement transfers, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// Sends back and forth, one after the other.
    SendLat,
    /// RDMA writes back and forth; the target polls its memory.
    WriteLat,
    /// RDMA reads, one after the other.
    ReadLat,
    /// Many outstanding sends in one direction.
    SendBw,
    /// Many outstanding RDMA writes.
    WriteBw,
    /// Many outstanding RDMA reads.
    ReadBw,
}

/// A kind of transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// A send, which consumes a receive of the peer.
    Send,
    /// An RDMA write.
    Write,
    /// An RDMA read.
    Read,
}

impl Test {
    /// All tests, in the order of their results.
    pub const ALL: [Self; 6] =
        [Self::SendLat, Self::WriteLat, Self::ReadLat, Self::SendBw, Self::WriteBw, Self::ReadBw];

    /// Returns the name, such as `send_lat`.
    pub fn name(self) -> &'static str {
        match self {
            Test::SendLat => "send_lat",
            Test::WriteLat => "write_lat",
            Test::ReadLat => "read_lat",
            Test::SendBw => "send_bw",
            Test::WriteBw => "write_bw",
            Test::ReadBw => "read_bw",
        }
    }

    /// Returns the kind of the test's transfers.
    pub fn transfer(self) -> Transfer {
        match self {
            Test::SendLat | Test::SendBw => Transfer::Send,
            Test::WriteLat | Test::WriteBw => Transfer::Write,
            Test::ReadLat | Test::ReadBw => Transfer::Read,
        }
    }

    /// Returns whether the test measures the time of single transfers.
    pub fn is_latency(self) -> bool {
        matches!(self, Test::SendLat | Test::WriteLat | Test::ReadLat)
    }

    /// Returns the number of consecutive transfers between two reads of the clock.
    pub fn ways(self) -> u32 {
        if matches!(self, Test::SendLat | Test::WriteLat) { 2 } else { 1 }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A measurement. The arguments of dat-perf describe the fields; counts except `threads` are per thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What is transferred, and how.
    pub test: Test,
    /// Bytes of a transfer.
    pub size: u64,
    /// Transfers that are measured.
    pub iterations: u64,
    /// Transfers before those that are measured.
    pub warmup: u64,
    /// Maximum outstanding transfers.
    pub outstanding: u32,
    /// Connections.
    pub connections: u32,
    /// Connections with transfers.
    pub active: u32,
    /// Threads of each process.
    pub threads: u32,
    /// Pause before each send of `send_lat`, in microseconds.
    pub pause: u32,
    /// Set to take receive buffers from a shared receive queue.
    pub srq: bool,
    /// Set to sleep until a completion, instead of polling.
    pub wait: bool,
    /// Set if the target of RDMA polls an event dispatcher, instead of reading its memory.
    pub target_polls: bool,
    /// Set to compare the bytes of each transfer, which then has its own buffer.
    pub verify: bool,
    /// Set if both sides transfer at the same time.
    pub both: bool,
    /// Set if the server transfers, not the client.
    pub reverse: bool,
    /// Set if both processes are on one host.
    pub near: bool,
    /// Set if more threads poll than CPUs exist, so that they must yield.
    pub crowded: bool,
}

/// Maximum threads of a process.
pub const MAX_THREADS: u32 = 256;
/// Maximum connections of a thread.
pub const MAX_CONNECTIONS: u32 = 16_384;
/// Maximum outstanding transfers of a thread.
pub const MAX_OUTSTANDING: u32 = 16_384;
/// Maximum bytes of a transfer.
pub const MAX_SIZE: u64 = 1 << 31;
/// Maximum transfers of a thread, which take days.
pub const MAX_ITERATIONS: u64 = 1 << 40;
/// Maximum of a pause in microseconds. An interrupt does not end a pause.
pub const MAX_PAUSE: u32 = 1_000_000;

impl Plan {
    /// Returns the default number of transfers, for some tens of milliseconds.
    pub fn default_iterations(size: u64) -> u64 {
        match size {
            0..=4_096 => 20_000,
            4_097..=65_536 => 5_000,
            _ => 500,
        }
    }

    /// Returns whether the client (the server without `is_client`) makes the transfers. If both make transfers, returns
    /// whether this side makes the first transfer.
    pub fn is_initiator(&self, is_client: bool) -> bool {
        is_client != self.reverse
    }

    /// Returns whether all numbers are in range, and no options contradict each other. A peer may send any plan.
    pub fn is_possible(&self) -> bool {
        (1..=MAX_SIZE).contains(&self.size)
            && (1..=MAX_ITERATIONS).contains(&self.iterations)
            && self.warmup <= MAX_ITERATIONS
            && self.pause <= MAX_PAUSE
            && (1..=MAX_OUTSTANDING).contains(&self.outstanding)
            && (1..=MAX_CONNECTIONS).contains(&self.connections)
            && (1..=self.connections).contains(&self.active)
            && (1..=MAX_THREADS).contains(&self.threads)
            && !((self.both || self.reverse) && self.test.is_latency())
            && !(self.both && self.reverse)
    }
}

#[cfg(test)]
mod tests;
