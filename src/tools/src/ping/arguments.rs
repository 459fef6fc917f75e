//! The arguments of dat-ping.

use clap::{ArgGroup, Parser};

use super::MAX_SIZE;
use crate::tool::Common;

/// Find out whether two processes or hosts reach each other through an interface adapter
///
/// Without HOST it is the server, which answers one client after another, or several at a time; with HOST it is the client.
#[derive(Parser, Clone, Debug)]
#[command(name = "dat-ping", version, group = ArgGroup::new("client").args(["host", "self_peer"]))]
pub struct Arguments {
    /// The interface adapter, as dat-info lists it; with --self, the first one if it is left out
    #[arg(value_name = "NAME", required_unless_present = "self_peer")]
    pub name: Option<String>,

    /// The host of the server, as a name or an address; for the adapter shm, this one
    #[arg(value_name = "HOST", conflicts_with = "self_peer")]
    pub host: Option<String>,

    /// Be both: start the server as a child process
    #[arg(long = "self")]
    pub self_peer: bool,

    /// End after this many rounds, or as a server after this many clients; by default Ctrl-C ends it
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,

    /// Bytes of each transfer
    #[arg(short, long, value_name = "BYTES", default_value_t = 64, requires = "client",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SIZE)))]
    pub size: u32,

    /// Seconds from the beginning of a round to that of the next
    #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = seconds, requires = "client")]
    pub interval: f64,

    /// Seconds to wait for a connection or an answer before it counts as lost
    #[arg(short, long, value_name = "SECONDS", default_value = "5", value_parser = some_seconds,
          requires = "client")]
    pub timeout: f64,

    /// The connection qualifier, over IP a port, of the server
    #[arg(short, long, value_name = "NUMBER", default_value_t = 18_515, conflicts_with = "self_peer")]
    pub qualifier: u64,

    /// Flood: the next round begins as soon as the last one ends, and only the summary is written
    #[arg(short, long, conflicts_with = "interval", requires = "client")]
    pub flood: bool,

    /// Listen on any qualifier, print it on standard output, and nothing else: the server that --self starts
    #[arg(long, hide = true, conflicts_with_all = ["host", "self_peer"])]
    pub announce: bool,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub common: Common,
}

/// A number of seconds, not below 0 and not more than a day.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=86_400.0).contains(&seconds) => Ok(seconds),
        Ok(_) => Err("it is between 0 and 86400".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// A number of seconds that something can take: a millisecond or more.
fn some_seconds(text: &str) -> Result<f64, String> {
    seconds(text)
        .and_then(|seconds| if seconds >= 0.001 { Ok(seconds) } else { Err("it is at least 0.001".to_owned()) })
}

#[cfg(test)]
mod tests;
