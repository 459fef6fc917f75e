//! The arguments of dat-ping.

use clap::Parser;

use super::MAX_SIZE;
use crate::peer::{self, CLIENT};
use crate::units::{self, DAY};

const USAGE: &str = "dat-ping [OPTIONS] NAME
       dat-ping [OPTIONS] NAME HOST
       dat-ping [OPTIONS] --self [NAME]";

/// Check whether two processes or hosts reach each other through an interface adapter
///
/// Without HOST, dat-ping is the server, which serves up to 64 clients concurrently. With HOST or --self, it is the client.
#[derive(Parser, Clone, Debug)]
#[command(name = "dat-ping", version, override_usage = USAGE, group = peer::client())]
pub struct Arguments {
    /// Interface adapter, as dat-info lists it; with --self the default is the first one that opens
    #[arg(value_name = "NAME", required_unless_present = "own_peer")]
    pub name: Option<String>,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub peer: peer::Arguments,

    /// End after this many rounds, or as a server after this many clients; default: until Ctrl-C
    #[arg(short, long, value_name = "N", value_parser = units::count::<u64>(1..=u64::MAX))]
    pub count: Option<u64>,

    /// Bytes of each transfer: a number such as 64, 64K or 4M
    #[arg(short, long, value_name = "BYTES", default_value = "64", value_parser = units::bytes::<u32>(1..=MAX_SIZE.into()),
          requires = "client", help_heading = CLIENT)]
    pub size: u32,

    /// Seconds from the start of a round to the start of the next
    #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = units::seconds(0.0..=DAY),
          allow_negative_numbers = true, requires = "client", help_heading = CLIENT)]
    pub interval: f64,

    /// Seconds to wait for a connection or a reply before the round counts as lost
    #[arg(short, long, value_name = "SECONDS", default_value = "5", value_parser = units::seconds(0.001..=DAY),
          allow_negative_numbers = true, requires = "client", help_heading = CLIENT)]
    pub timeout: f64,

    /// End after this time; the exit status is 1 if --count requests more rounds
    #[arg(short = 'w', long, value_name = "SECONDS", value_parser = units::seconds(0.001..=DAY),
          allow_negative_numbers = true, requires = "client", help_heading = CLIENT)]
    pub deadline: Option<f64>,

    /// Sleep on both sides until a message arrives, instead of polling
    #[arg(long, requires = "client", help_heading = CLIENT)]
    pub wait: bool,

    /// Begin each round when the last one ends, and write only the summary
    #[arg(short, long, conflicts_with = "interval", requires = "client", help_heading = CLIENT)]
    pub flood: bool,

    /// Write only the first line and the summary
    #[arg(long, requires = "client", help_heading = CLIENT)]
    pub quiet: bool,

    /// Begin each line before the summary with the time, in seconds since 1970
    #[arg(short = 'D', long, requires = "client", help_heading = CLIENT)]
    pub timestamps: bool,
}

#[cfg(test)]
mod tests;
