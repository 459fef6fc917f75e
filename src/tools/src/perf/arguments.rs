//! The arguments of dat-perf, and the plans that they stand for.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Parser};

use super::plan::{MAX_CONNECTIONS, MAX_ITERATIONS, MAX_OUTSTANDING, MAX_PAUSE, MAX_SIZE, MAX_THREADS, Plan, Test};
use crate::tool::Common;
use crate::units::{self, DAY};

/// The most seconds of --limit.
const MAX_LIMIT: i128 = 200_000;
/// The headings of what the other side has no use for.
const CLIENT: &str = "Options of the client";
const SERVER: &str = "Options of the server";

/// Measure latency, bandwidth and rate between two processes or hosts through an interface adapter
///
/// Without HOST, dat-perf is the server, which prints where it listens, and errors. With HOST or --self, it is the client, which
/// measures each test with each size, on separate connections and event dispatchers. The server serves one client after another.
#[derive(Parser, Clone, Debug)]
#[command(name = "dat-perf", version, group = ArgGroup::new("client").args(["host", "own_peer"]))]
pub struct Arguments {
    /// The interface adapter, as dat-info lists it
    #[arg(value_name = "NAME")]
    pub name: String,

    /// The host of the server, as a name or an address
    #[arg(value_name = "HOST", conflicts_with = "own_peer")]
    pub host: Option<String>,

    /// Run both sides: start the server as a child process
    #[arg(long = "self")]
    pub own_peer: bool,

    /// Connection qualifier of the server (over IP, a port); with --self the server uses any free one
    #[arg(short, long, value_name = "NUMBER", default_value_t = 18_516, conflicts_with = "own_peer",
          allow_negative_numbers = true, value_parser = units::whole::<u64>(0..=i128::from(u64::MAX), "a whole number"))]
    pub qualifier: u64,

    /// Tests to run, separated by commas; by default all of these, with --both send_bw, write_bw and read_bw
    #[arg(
        short,
        long,
        value_name = "TEST",
        value_delimiter = ',',
        requires = "client", help_heading = CLIENT,
        hide_default_value = true,
        default_value = "send_lat,write_lat,read_lat,send_bw,write_bw,read_bw",
        default_value_if("both", "true", "send_bw,write_bw,read_bw")
    )]
    pub test: Vec<Test>,

    /// Transfer in both directions at the same time, in send_bw, write_bw and read_bw
    #[arg(short, long, requires = "client", help_heading = CLIENT)]
    pub both: bool,

    /// Bytes of a transfer: numbers such as 8, 64K or 4M, and ranges of powers of two such as 1-4K
    #[arg(short, long, value_name = "BYTES", default_value = "1,8,64,512,4K,32K,256K,1M,4M", value_parser = sizes,
          requires = "client", help_heading = CLIENT)]
    pub size: Sizes,

    /// Measured transfers of a thread, such as 500 or 20K; by default 20,000 up to 4 KiB, 5,000 up to 64 KiB, else 500
    ///
    /// dat-perf makes the transfers in turns of up to 32,768 transfers or a quarter of a second. The one transfer before each
    /// turn does not count.
    #[arg(short = 'n', long, value_name = "N", requires = "client", help_heading = CLIENT, value_parser = units::count(1..=MAX_ITERATIONS))]
    pub iterations: Option<u64>,

    /// Measure for this time instead of a number of transfers
    #[arg(short = 'D', long, value_name = "SECONDS", requires = "client", help_heading = CLIENT, conflicts_with = "iterations",
          allow_negative_numbers = true, value_parser = units::seconds(0.001..=DAY))]
    pub duration: Option<f64>,

    /// Transfers of a thread before the measured ones; by default a tenth of these, but at most a tenth of --duration or --limit
    #[arg(long, value_name = "N", requires = "client", help_heading = CLIENT, value_parser = units::count(0..=MAX_ITERATIONS))]
    pub warmup: Option<u64>,

    /// Outstanding transfers of a thread, by default 64; always 1 in latency tests
    #[arg(short, long, value_name = "N", requires = "client", help_heading = CLIENT,
          value_parser = units::count32(1..=MAX_OUTSTANDING))]
    pub outstanding: Option<u32>,

    /// Connections of a thread
    ///
    /// Adapters limit the connections of all threads together; a client over shm can have 2047 to one server.
    #[arg(short, long, value_name = "N", default_value = "1", requires = "client", help_heading = CLIENT,
          value_parser = units::count32(1..=MAX_CONNECTIONS))]
    pub connections: u32,

    /// Connections of a thread that carry traffic, in turn; by default all
    #[arg(long, value_name = "N", requires = "client", help_heading = CLIENT, value_parser = units::count32(1..=MAX_CONNECTIONS))]
    pub active: Option<u32>,

    /// Threads on each side, each with its own connections and event dispatchers
    #[arg(long, value_name = "N", default_value = "1", requires = "client", help_heading = CLIENT,
          value_parser = units::count32(1..=MAX_THREADS))]
    pub threads: u32,

    /// Take receive buffers from a shared receive queue
    #[arg(long, requires = "client", help_heading = CLIENT)]
    pub srq: bool,

    /// Wait with dat_evd_wait instead of polling with dat_evd_dequeue
    #[arg(short, long, requires = "client", help_heading = CLIENT)]
    pub wait: bool,

    /// Pause before each send of send_lat, so that the peer sleeps in its wait; the pause is not measured
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 0, requires = "client", help_heading = CLIENT,
          allow_negative_numbers = true,
          value_parser = units::whole::<u32>(0..=i128::from(MAX_PAUSE), "a whole number of microseconds"))]
    pub pause: u32,

    /// Poll at the target of RDMA with dat_evd_dequeue instead of reading its memory
    #[arg(long, requires = "client", help_heading = CLIENT, conflicts_with = "wait")]
    pub target_polls: bool,

    /// Compare the bytes of each transfer (in write_bw, of the last write into each buffer); the measured time includes this
    #[arg(long, requires = "client", help_heading = CLIENT)]
    pub verify: bool,

    /// CPUs of this process, which its threads use in turn
    ///
    /// Without --cpu and --peer-cpu the system chooses the CPUs. With --self, each thread of both sides is pinned to a separate
    /// CPU if enough CPUs are free, according to the load of the last minute. On a busy host, where a CPU may have other work,
    /// threads are not pinned. Nor are they with --wait, because the system then wakes them on the best CPU.
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', value_parser = processor())]
    pub cpu: Vec<usize>,

    /// CPUs of the server that --self starts
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', requires = "own_peer", value_parser = processor(),
          help_heading = CLIENT)]
    pub peer_cpu: Vec<usize>,

    /// Maximum time of one measurement; by default 120, or twice --duration plus 20 if that is more
    ///
    /// A measurement that would take longer has fewer transfers; dat-perf reports this, and the exit status is 1. The server has
    /// a separate limit for the time until a client requests its next step.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true,
          value_parser = units::whole::<u64>(1..=MAX_LIMIT, "a whole number of seconds"))]
    pub limit: Option<u64>,

    /// Show the distribution of latencies: 50, 90, 99, 99.9 and 99.99 percent, and the standard deviation
    #[arg(long, requires = "client", help_heading = CLIENT)]
    pub percentiles: bool,

    /// Show a histogram for each measurement of latency; with --json for all measurements
    #[arg(long, requires = "client", help_heading = CLIENT, conflicts_with = "csv")]
    pub histogram: bool,

    /// Write comma-separated values
    #[arg(long, conflicts_with = "json", requires = "client", help_heading = CLIENT)]
    pub csv: bool,

    /// Draw the results into this file
    #[arg(long, value_name = "FILE", requires = "client", help_heading = CLIENT)]
    pub svg: Option<PathBuf>,

    /// Exit after the first client
    #[arg(long, help_heading = SERVER, conflicts_with_all = ["host", "own_peer"])]
    pub once: bool,

    /// Report each client and what it measures
    #[arg(short, long, help_heading = SERVER, conflicts_with_all = ["host", "own_peer"])]
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
        if let Some(duration) = self.duration.filter(|&duration| duration >= self.seconds() as f64) {
            return Some(format!("--duration {duration} does not end within --limit, which is {}", self.seconds()));
        }
        if let Some(test) = self.test.iter().find(|test| self.both && test.is_latency()) {
            return Some(format!("--both is for send_bw, write_bw and read_bw, and not for {test}"));
        }
        let latency = self.test.iter().any(|test| test.is_latency());
        if (self.percentiles || self.histogram) && !latency && !self.common.json && !self.csv {
            let test = self.test.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            return Some(format!("--percentiles and --histogram are of latency; those of {test} are in --json"));
        }
        let more = self.active.filter(|&active| active > self.connections)?;
        Some(format!("--active {more} is more than --connections, which is {}", self.connections))
    }

    /// The longest time of one measurement.
    pub fn longest(&self) -> Duration {
        Duration::from_secs(self.seconds())
    }

    /// The same as --limit says it.
    pub fn seconds(&self) -> u64 {
        let usual = self.duration.map_or(120, |duration| (2.0 * duration) as u64 + 20);
        self.limit.unwrap_or(usual.max(120))
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
            both: self.both,
            near: false,
            crowded: false,
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

/// The bytes of a transfer.
fn size(text: &str) -> Result<u64, String> {
    if text.is_empty() { Err("there is an empty size".to_owned()) } else { units::bytes(1..=MAX_SIZE)(text) }
}

/// The number of a processor.
fn processor() -> impl Fn(&str) -> Result<usize, String> + Clone {
    units::whole(0..=i128::from(u16::MAX), "the number of a processor")
}

#[cfg(test)]
mod tests;
