//! What dat-ping and dat-perf share: the arguments that name the peer, connections and servers.

pub mod child;
pub mod connect;

use clap::ArgGroup;

use crate::tool::Common;
use crate::units;

pub use connect::Target;

/// Arguments about the peer.
#[derive(clap::Args, Clone, Debug)]
#[group(skip)]
pub struct Arguments {
    /// Host of the server, a name or an address; for shm, this host
    #[arg(value_name = "HOST", conflicts_with = "own_peer")]
    pub host: Option<String>,

    /// Start the server as a child process
    #[arg(long = "self")]
    pub own_peer: bool,

    /// Connection qualifier of the server, over IP a port (also -p and --port); by default 18515 for dat-ping and 18516 for
    /// dat-perf, and with --self any free one
    #[arg(short, long, short_alias = 'p', alias = "port", value_name = "NUMBER", conflicts_with = "own_peer",
          allow_negative_numbers = true, value_parser = units::whole::<u64>(0..=i128::from(u64::MAX), "a whole number"))]
    pub qualifier: Option<u64>,

    /// Listen on any free qualifier and print only its number: the server that --self starts
    #[arg(long, hide = true, conflicts_with_all = ["host", "own_peer"])]
    pub announce: bool,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub common: Common,
}

impl Arguments {
    pub fn is_server(&self) -> bool {
        self.host.is_none() && !self.own_peer
    }

    /// Returns the qualifier on which the server listens. `None` means any free qualifier.
    pub fn listen_on(&self, default: u64) -> Option<u64> {
        (!self.announce).then_some(self.qualifier.unwrap_or(default))
    }
}

pub const CLIENT: &str = "Options of the client";
pub const SERVER: &str = "Options of the server";

/// Returns the group of arguments that make the tool a client. Options of the client require the group.
pub fn client() -> ArgGroup {
    ArgGroup::new("client").args(["host", "own_peer"])
}

/// Returns how many bytes peers may make this process allocate: half of the host's memory.
#[allow(clippy::useless_conversion, reason = "the types differ between architectures")]
pub fn max_memory() -> u64 {
    let system = rustix::system::sysinfo();
    u64::from(system.totalram).saturating_mul(u64::from(system.mem_unit)) / 2
}
