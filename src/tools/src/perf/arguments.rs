//! The arguments of dat-perf, and the plans that they stand for.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Parser};

use super::plan::{MAX_CONNECTIONS, MAX_ITERATIONS, MAX_OUTSTANDING, MAX_PAUSE, MAX_SIZE, MAX_THREADS, Plan, Test};
use crate::tool::Common;

/// Measure latency, bandwidth and rate between two processes or hosts through an interface adapter
///
/// Without HOST it is the server, which prints nothing but errors; with HOST it is the client, which measures: each test
/// with each size, on connections and event dispatchers of its own. The server carries out what the client asks for, one client
/// after the other.
#[derive(Parser, Clone, Debug)]
#[command(name = "dat-perf", version, group = ArgGroup::new("client").args(["host", "own_peer"]))]
pub struct Arguments {
    /// The interface adapter, as dat-info lists it
    #[arg(value_name = "NAME")]
    pub name: String,

    /// The host of the server, as a name or an address
    #[arg(value_name = "HOST", conflicts_with = "own_peer")]
    pub host: Option<String>,

    /// Be both: start the server as a child process
    #[arg(long = "self")]
    pub own_peer: bool,

    /// The connection qualifier, over IP a port, of the server
    #[arg(short, long, value_name = "NUMBER", default_value_t = 18_516, conflicts_with = "own_peer")]
    pub qualifier: u64,

    /// What to measure
    #[arg(
        short,
        long,
        value_name = "TEST",
        value_delimiter = ',',
        requires = "client",
        default_value = "send_lat,write_lat,read_lat,send_bw,write_bw,read_bw"
    )]
    pub test: Vec<Test>,

    /// Bytes of a transfer: numbers such as 8, 64K or 4M, and ranges such as 1-4K, of powers of two
    #[arg(short, long, value_name = "BYTES", default_value = "1,8,64,512,4K,32K,256K,1M,4M", value_parser = sizes,
          requires = "client")]
    pub size: Sizes,

    /// Transfers of a thread that are measured; by default 20,000 up to 4 KiB, 5,000 up to 64 KiB, else 500
    #[arg(short = 'n', long, value_name = "N", requires = "client",
          value_parser = clap::value_parser!(u64).range(1..=MAX_ITERATIONS))]
    pub iterations: Option<u64>,

    /// Transfers of a thread before these; by default a tenth
    #[arg(long, value_name = "N", requires = "client",
          value_parser = clap::value_parser!(u64).range(..=MAX_ITERATIONS))]
    pub warmup: Option<u64>,

    /// Transfers of a thread under way at a time, 64 if nothing is said; where latency is measured it is always 1
    #[arg(short, long, value_name = "N", requires = "client",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_OUTSTANDING)))]
    pub outstanding: Option<u32>,

    /// Connections of a thread
    #[arg(short, long, value_name = "N", default_value_t = 1, requires = "client",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_CONNECTIONS)))]
    pub connections: u32,

    /// Connections of a thread that carry traffic, in turn; by default all
    #[arg(long, value_name = "N", requires = "client", value_parser = clap::value_parser!(u32).range(1..))]
    pub active: Option<u32>,

    /// Threads on each side, each with connections and event dispatchers of its own
    #[arg(long, value_name = "N", default_value_t = 1, requires = "client",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_THREADS)))]
    pub threads: u32,

    /// Take receive buffers from a shared receive queue
    #[arg(long, requires = "client")]
    pub srq: bool,

    /// Wait with dat_evd_wait instead of polling with dat_evd_dequeue
    #[arg(short, long, requires = "client")]
    pub wait: bool,

    /// Rest before each send of send_lat, so that the peer sleeps in its wait; the rest is not counted
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 0, requires = "client",
          value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_PAUSE)))]
    pub pause: u32,

    /// The target of RDMA polls with dat_evd_dequeue instead of looking at its memory
    #[arg(long, requires = "client", conflicts_with = "wait")]
    pub target_polls: bool,

    /// Compare the bytes of each transfer, which takes time that is counted; of write_bw those of the last in each buffer
    #[arg(long, requires = "client")]
    pub verify: bool,

    /// The processors of this process, one after the other for each thread
    #[arg(long, value_name = "NUMBER", value_delimiter = ',')]
    pub cpu: Vec<usize>,

    /// The processors of the server that --self starts
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', requires = "own_peer")]
    pub peer_cpu: Vec<usize>,

    /// The longest time of one measurement; the server has its own, which also ends a client that says nothing
    #[arg(long, value_name = "SECONDS", default_value_t = 120,
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub limit: u64,

    /// Write comma-separated values
    #[arg(long, conflicts_with = "json", requires = "client")]
    pub csv: bool,

    /// Draw the results into this file
    #[arg(long, value_name = "FILE", requires = "client")]
    pub svg: Option<PathBuf>,

    /// As the server: end after the first client
    #[arg(long, conflicts_with_all = ["host", "own_peer"])]
    pub once: bool,

    /// As the server: say who connects and what is measured
    #[arg(short, long, conflicts_with_all = ["host", "own_peer"])]
    pub verbose: bool,

    /// As the server: listen at any free connection qualifier, and write where on standard output
    #[arg(long, hide = true, conflicts_with_all = ["host", "own_peer"])]
    pub announce: bool,

    /// Measure nothing, and draw the picture that standard input describes on standard output: for `make bench`
    #[arg(long, hide = true, conflicts_with_all = ["host", "own_peer", "once", "verbose", "announce"])]
    pub draw: bool,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub common: Common,
}

/// Bytes of transfers. A type of its own, since an argument may stand for several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(pub Vec<u64>);

impl Arguments {
    /// Why the arguments make no sense together, where each does by itself.
    pub fn contradiction(&self) -> Option<String> {
        let serves = self.host.is_none() && !self.own_peer;
        if serves && self.common.json {
            return Some("--json is for the client, which names a HOST or has --self".to_owned());
        }
        // A conflict with what is required makes clap forget the requirement.
        if self.host.is_some() && !self.peer_cpu.is_empty() {
            return Some("--peer-cpu is for the server that --self starts".to_owned());
        }
        let more = self.active.filter(|&active| active > self.connections)?;
        Some(format!("--active {more} is more than --connections, which is {}", self.connections))
    }

    /// The longest time of one measurement.
    pub fn longest(&self) -> Duration {
        Duration::from_secs(self.limit)
    }

    /// The measurements, in their order.
    pub fn plans(&self) -> Vec<Plan> {
        self.test.iter().flat_map(|&test| self.size.0.iter().map(move |&size| self.plan(test, size))).collect()
    }

    fn plan(&self, test: Test, size: u64) -> Plan {
        let iterations = self.iterations.unwrap_or_else(|| Plan::usual_iterations(size));
        Plan {
            test,
            size,
            iterations,
            warmup: self.warmup.unwrap_or(iterations / 10 + 1),
            outstanding: if test.is_latency() { 1 } else { self.outstanding.unwrap_or(64) },
            connections: self.connections,
            active: self.active.unwrap_or(self.connections),
            threads: self.threads,
            pause: if test == Test::SendLat { self.pause } else { 0 },
            srq: self.srq,
            wait: self.wait,
            target_polls: self.target_polls,
            verify: self.verify,
        }
    }
}

/// Sizes with commas between them; ranges are the powers of two from the first number on.
fn sizes(text: &str) -> Result<Sizes, String> {
    let mut sizes = Vec::new();
    for part in text.split(',') {
        match part.split_once('-') {
            None => sizes.push(size(part)?),
            Some((from, to)) => {
                let (from, to) = (size(from)?, size(to)?);
                if from > to {
                    return Err(format!("{part} ends before it begins"));
                }
                sizes.extend(std::iter::successors(Some(from), |&size| Some(size * 2)).take_while(|&size| size <= to));
            }
        }
    }
    Ok(Sizes(sizes))
}

/// A number with K, M or G behind it, of which each is 1024 times the one before.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|last: char| !last.is_ascii_digit());
    let factor = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return Err(format!("{text} is not a number of bytes")),
    };
    let number: u64 = digits.parse().map_err(|_| format!("{text} is not a number of bytes"))?;
    match number.checked_mul(factor) {
        Some(bytes @ 1..=MAX_SIZE) => Ok(bytes),
        _ => Err(format!("{text} is not between 1 byte and {} GiB", MAX_SIZE >> 30)),
    }
}

#[cfg(test)]
mod tests;
