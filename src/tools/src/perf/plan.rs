//! What is measured: the plan that both processes follow.

use std::fmt;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// What a measurement moves, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[value(rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// Sends back and forth, one at a time
    SendLat,
    /// RDMA writes back and forth; the target polls its memory
    WriteLat,
    /// RDMA reads, one after the other
    ReadLat,
    /// Many outstanding sends in one direction
    SendBw,
    /// Many outstanding RDMA writes
    WriteBw,
    /// Many outstanding RDMA reads
    ReadBw,
}

/// The kind of transfer of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    Send,
    Write,
    Read,
}

impl Test {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Test; 6] =
        [Test::SendLat, Test::WriteLat, Test::ReadLat, Test::SendBw, Test::WriteBw, Test::ReadBw];

    pub fn transfer(self) -> Transfer {
        match self {
            Test::SendLat | Test::SendBw => Transfer::Send,
            Test::WriteLat | Test::WriteBw => Transfer::Write,
            Test::ReadLat | Test::ReadBw => Transfer::Read,
        }
    }

    /// Whether it measures the time of one transfer at a time, and not many of them.
    pub fn is_latency(self) -> bool {
        matches!(self, Test::SendLat | Test::WriteLat | Test::ReadLat)
    }

    /// Transfers one after the other that one step of the clock contains: there and back.
    pub fn ways(self) -> u32 {
        if matches!(self, Test::SendLat | Test::WriteLat) { 2 } else { 1 }
    }
}

/// Its name, as in arguments.
impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_possible_value().expect("no test is hidden").get_name())
    }
}

/// One measurement, the same in both processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What is measured.
    pub test: Test,
    /// Bytes of a transfer.
    pub size: u64,
    /// Transfers of a thread that are measured.
    pub iterations: u64,
    /// Transfers of a thread before that.
    pub warmup: u64,
    /// Transfers under way at a time, of a thread.
    pub outstanding: u32,
    pub connections: u32,
    /// Those of them that carry traffic, in turn.
    pub active: u32,
    /// Threads on each side, each with its own connections and event dispatchers.
    pub threads: u32,
    /// Microseconds before each send, so that the peer sleeps in its wait.
    pub pause: u32,
    /// Receive buffers come from a shared receive queue.
    pub srq: bool,
    /// dat_evd_wait instead of polling with dat_evd_dequeue.
    pub wait: bool,
    /// The target of RDMA polls with dat_evd_dequeue.
    #[serde(default)]
    pub target_polls: bool,
    /// Each message has its own buffer, and its bytes are compared.
    pub verify: bool,
    /// Of many transfers at a time: both processes make them, to each other.
    pub both: bool,
    /// Both processes are on one host.
    pub near: bool,
    /// More threads poll than there are processors for them, so they give way to each other.
    pub crowded: bool,
}

/// The most threads and connections of a thread that a plan may have.
pub const MAX_THREADS: u32 = 256;
/// See [`MAX_THREADS`].
pub const MAX_CONNECTIONS: u32 = 16_384;
/// The most transfers under way, of a thread.
pub const MAX_OUTSTANDING: u32 = 16_384;
/// The longest transfer.
pub const MAX_SIZE: u64 = 1 << 31;
/// The most transfers of a thread, which take days, and as many before that.
pub const MAX_ITERATIONS: u64 = 1 << 40;
/// The longest rest before a send, in microseconds: nothing ends it.
pub const MAX_PAUSE: u32 = 1_000_000;

impl Plan {
    /// The transfers of a thread, if nothing else is said: some tens of milliseconds of them.
    pub fn usual_iterations(size: u64) -> u64 {
        match size {
            0..=4_096 => 20_000,
            4_097..=65_536 => 5_000,
            _ => 500,
        }
    }

    /// Whether the numbers fit together.
    pub fn is_possible(&self) -> bool {
        (1..=MAX_SIZE).contains(&self.size)
            && (1..=MAX_ITERATIONS).contains(&self.iterations)
            && self.warmup <= MAX_ITERATIONS
            && self.pause <= MAX_PAUSE
            && (1..=MAX_OUTSTANDING).contains(&self.outstanding)
            && (1..=MAX_CONNECTIONS).contains(&self.connections)
            && (1..=self.connections).contains(&self.active)
            && (1..=MAX_THREADS).contains(&self.threads)
            && !(self.both && self.test.is_latency())
    }
}

#[cfg(test)]
pub mod tests;
