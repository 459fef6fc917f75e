//! The arguments of dat-perf, and the plans that they request.

use std::time::Duration;

use clap::Parser;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use dat_measure::perf::plan::{
    MAX_CONNECTIONS, MAX_ITERATIONS, MAX_OUTSTANDING, MAX_PAUSE, MAX_SIZE, MAX_THREADS, Plan, Test,
};

use crate::peer::{self, CLIENT, SERVER};
use crate::units::{self, DAY};

/// The default tests with --both or --reverse: the tests of bandwidth.
const BANDWIDTH: Option<&str> = Some("send_bw,write_bw,read_bw");

const USAGE: &str = "dat-perf [OPTIONS] NAME
       dat-perf [OPTIONS] NAME HOST
       dat-perf [OPTIONS] --self NAME";

/// Measure latency, bandwidth and rate between two processes or hosts through an interface adapter
///
/// Without HOST, dat-perf is the server, which prints where it listens, and errors. With HOST or --self, it is the client, which
/// measures each test with each size, on separate connections and event dispatchers. The server serves one client after another.
#[derive(Parser, Clone, Debug)]
#[command(name = "dat-perf", version, override_usage = USAGE, group = peer::client())]
pub struct Arguments {
    /// Interface adapter, as dat-info lists it
    #[arg(value_name = "NAME")]
    pub name: String,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub peer: peer::Arguments,

    /// Tests to run, separated by commas; by default all of these, with --both or --reverse send_bw, write_bw and read_bw
    #[arg(
        short,
        long,
        value_name = "TEST",
        value_delimiter = ',',
        value_parser = tests(),
        requires = "client", help_heading = CLIENT,
        hide_default_value = true,
        default_value = "send_lat,write_lat,read_lat,send_bw,write_bw,read_bw",
        default_value_ifs([("both", "true", BANDWIDTH), ("reverse", "true", BANDWIDTH)])
    )]
    pub test: Vec<Test>,

    /// Transfer in both directions at the same time, in send_bw, write_bw and read_bw
    #[arg(short, long, requires = "client", help_heading = CLIENT)]
    pub both: bool,

    /// Let the server make the transfers of send_bw, write_bw and read_bw
    #[arg(short = 'R', long, requires = "client", help_heading = CLIENT, conflicts_with = "both")]
    pub reverse: bool,

    /// Bytes of a transfer: numbers such as 8, 64K or 4M, and ranges of powers of two such as 1-4K
    #[arg(short, long, value_name = "BYTES", default_value = "1,8,64,512,4K,32K,256K,1M,4M", value_parser = sizes,
          requires = "client", help_heading = CLIENT)]
    pub size: Sizes,

    /// Measured transfers of a thread, such as 500 or 20K; by default 20,000 up to 4 KiB, 5,000 up to 64 KiB, else 500
    ///
    /// dat-perf makes the transfers in turns of up to 32,768 transfers or a quarter of a second. The one transfer before each
    /// turn does not count.
    #[arg(short = 'n', long, value_name = "N", requires = "client", help_heading = CLIENT, value_parser = units::count::<u64>(1..=MAX_ITERATIONS))]
    pub iterations: Option<u64>,

    /// Measure for this time instead of a number of transfers
    #[arg(short = 'D', long, value_name = "SECONDS", requires = "client", help_heading = CLIENT, conflicts_with = "iterations",
          allow_negative_numbers = true, value_parser = units::seconds(0.001..=DAY))]
    pub duration: Option<f64>,

    /// Show a line for each interval of this time while a measurement runs, such as one of --duration 10
    #[arg(short, long, value_name = "SECONDS", requires = "client", help_heading = CLIENT, conflicts_with_all = ["csv", "json"],
          allow_negative_numbers = true, value_parser = units::seconds(0.1..=DAY))]
    pub interval: Option<f64>,

    /// Transfers of a thread before the measured ones; by default a tenth of these, but at most a tenth of --duration or --limit
    #[arg(long, value_name = "N", requires = "client", help_heading = CLIENT, value_parser = units::count::<u64>(0..=MAX_ITERATIONS))]
    pub warmup: Option<u64>,

    /// Outstanding transfers of a thread, by default 64; always 1 in latency tests
    #[arg(short, long, value_name = "N", requires = "client", help_heading = CLIENT,
          value_parser = units::count::<u32>(1..=MAX_OUTSTANDING.into()))]
    pub outstanding: Option<u32>,

    /// Connections of a thread
    ///
    /// Adapters limit the connections of all threads together; a client over shm can have 2047 to one server.
    #[arg(short, long, value_name = "N", default_value = "1", requires = "client", help_heading = CLIENT,
          value_parser = units::count::<u32>(1..=MAX_CONNECTIONS.into()))]
    pub connections: u32,

    /// Connections of a thread that carry traffic, in turn; by default all
    #[arg(long, value_name = "N", requires = "client", help_heading = CLIENT, value_parser = units::count::<u32>(1..=MAX_CONNECTIONS.into()))]
    pub active: Option<u32>,

    /// Threads on each side, each with its own connections and event dispatchers
    #[arg(long, value_name = "N", default_value = "1", requires = "client", help_heading = CLIENT,
          value_parser = units::count::<u32>(1..=MAX_THREADS.into()))]
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

    /// CPUs of this process, which its threads use in turn; by default the system chooses
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', value_parser = cpu())]
    pub cpu: Vec<usize>,

    /// CPUs of the server that --self starts
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', requires = "own_peer", value_parser = cpu(),
          help_heading = CLIENT)]
    pub peer_cpu: Vec<usize>,

    /// Maximum time of one measurement; by default 120, or twice --duration plus 20 if that is more
    ///
    /// A measurement that would take longer has fewer transfers; dat-perf reports this, and the exit status is 1. The server has
    /// a separate limit for the time until a client requests its next step.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true,
          value_parser = units::whole::<u64>(1..=200_000, "a whole number of seconds"))]
    pub limit: Option<u64>,

    /// Show a histogram for each measurement of latency; with --json for all measurements
    #[arg(long, requires = "client", help_heading = CLIENT, conflicts_with = "csv")]
    pub histogram: bool,

    /// Show bandwidth in Gbit/s instead of MB/s; without effect on the names and values of --csv and --json
    #[arg(long, alias = "report_gbits", requires = "client", help_heading = CLIENT)]
    pub gbits: bool,

    /// Write comma-separated values
    #[arg(long, conflicts_with = "json", requires = "client", help_heading = CLIENT)]
    pub csv: bool,

    /// Exit after the first client
    #[arg(long, help_heading = SERVER, conflicts_with_all = ["host", "own_peer"])]
    pub once: bool,

    /// Report each client and what it measures
    #[arg(short, long, help_heading = SERVER, conflicts_with_all = ["host", "own_peer"])]
    pub verbose: bool,
}

/// Sizes of transfers in bytes. A type of its own, because one argument may contain several sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(pub Vec<u64>);

impl Arguments {
    /// Returns the reason why the arguments contradict each other, or `None` if they do not.
    pub fn contradiction(&self) -> Option<String> {
        if self.peer.is_server() && self.peer.common.json {
            return Some("--json is for the client, which has HOST or --self".to_owned());
        }
        // --peer-cpu requires --self, but clap ignores a requirement that conflicts with a given argument.
        if self.peer.host.is_some() && !self.peer_cpu.is_empty() {
            return Some("--peer-cpu is for the server that --self starts".to_owned());
        }
        if let Some(duration) = self.duration.filter(|&duration| duration >= self.seconds() as f64) {
            return Some(format!("--duration {duration} does not end within --limit {}", self.seconds()));
        }
        let option = if self.both { "--both" } else { "--reverse" };
        if let Some(test) = self.test.iter().find(|test| (self.both || self.reverse) && test.is_latency()) {
            return Some(format!("{option} is for send_bw, write_bw and read_bw, not for {test}"));
        }
        let latency = self.test.iter().any(|test| test.is_latency());
        if self.histogram && !latency && !self.peer.common.json {
            return Some("--histogram shows latencies; the histograms of other tests are in --json".to_owned());
        }
        let more = self.active.filter(|&active| active > self.connections)?;
        Some(format!("--active {more} exceeds --connections {}", self.connections))
    }

    /// Returns the maximum time of one measurement.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.seconds())
    }

    /// Returns [`Self::timeout`] in seconds.
    pub fn seconds(&self) -> u64 {
        let default = self.duration.map_or(120, |duration| (2.0 * duration) as u64 + 20);
        self.limit.unwrap_or(default.max(120))
    }

    /// Returns the plans of all measurements, in order: for each test, each size.
    pub fn plans(&self) -> Vec<Plan> {
        self.test.iter().flat_map(|&test| self.size.0.iter().map(move |&size| self.plan(test, size))).collect()
    }

    fn plan(&self, test: Test, size: u64) -> Plan {
        let iterations = self.iterations.unwrap_or_else(|| Plan::default_iterations(size));
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
            reverse: self.reverse,
            near: false,
            crowded: false,
        }
    }
}

/// Returns the parser of a test, with a description of each test for --help.
fn tests() -> impl TypedValueParser<Value = Test> {
    let value = |test: Test| {
        PossibleValue::new(test.name()).help(match test {
            Test::SendLat => "Sends back and forth, one after the other",
            Test::WriteLat => "RDMA writes back and forth; the target polls its memory",
            Test::ReadLat => "RDMA reads, one after the other",
            Test::SendBw => "Many outstanding sends in one direction",
            Test::WriteBw => "Many outstanding RDMA writes",
            Test::ReadBw => "Many outstanding RDMA reads",
        })
    };
    let test_of = |name: String| Test::ALL.into_iter().find(|test| test.name() == name).ok_or("not a test");
    PossibleValuesParser::new(Test::ALL.map(value)).try_map(test_of)
}

/// Parses sizes and ranges, separated by commas. A range contains the powers of two times its first number.
fn sizes(text: &str) -> Result<Sizes, String> {
    let mut sizes = Vec::new();
    for part in text.split(',') {
        match part.split_once('-') {
            None => sizes.push(size(part)?),
            Some((from, to)) => {
                let (from, to) = (size(from)?, size(to)?);
                if from > to {
                    return Err(format!("{part}: the range ends before it begins"));
                }
                sizes.extend(std::iter::successors(Some(from), |&size| Some(size * 2)).take_while(|&size| size <= to));
            }
        }
    }
    Ok(Sizes(sizes))
}

fn size(text: &str) -> Result<u64, String> {
    if text.is_empty() { Err("a size is empty".to_owned()) } else { units::bytes(1..=MAX_SIZE)(text) }
}

fn cpu() -> impl Fn(&str) -> Result<usize, String> + Clone {
    units::whole(0..=i128::from(u16::MAX), "the number of a CPU")
}

#[cfg(test)]
mod tests;
