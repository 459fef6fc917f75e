//! The arguments of dat-info.

use std::ffi::OsString;

use clap::Parser;
use clap::builder::{OsStringValueParser, TypedValueParser};
use dat::Request;

use crate::tool::Common;
use crate::units::{self, DAY};

const USAGE: &str = "dat-info [OPTIONS] [NAME]
       dat-info --processes [--all] [--json]
       dat-info --processes --watch[=SECONDS]";

/// Show the interface adapters that a uDAPL program can open, and why others do not open
///
/// A separate process opens each adapter briefly, as a program does.
#[derive(Parser, Clone, Debug)]
#[command(name = "dat-info", version, override_usage = USAGE)]
pub struct Arguments {
    /// Show all attributes of this adapter and of its provider
    #[arg(value_name = "NAME", value_parser = OsStringValueParser::new().try_map(named))]
    pub name: Option<OsString>,

    /// Also list the adapters that do not open, each with the cause; with --explain, also the steps without a fault
    #[arg(short, long, conflicts_with = "name")]
    pub all: bool,

    /// Show the steps of dat_ia_open for NAME or all adapters, and where the documentation describes each failure
    #[arg(long)]
    pub explain: bool,

    /// Show the processes that have adapters open, their connections, and what these wait for; with --all, all queues
    #[arg(long, conflicts_with_all = ["name", "explain", "library", "api"])]
    pub processes: bool,

    /// With --processes, show the rates of the connections every SECONDS (1) until Ctrl-C; not with --json or --all
    #[arg(long, requires = "processes", conflicts_with_all = ["json", "all"], value_name = "SECONDS", num_args = 0..=1,
        require_equals = true, default_missing_value = "1", value_parser = units::seconds(0.1..=DAY))]
    pub watch: Option<f64>,

    /// Open the adapter as a program of this version and thread safety does, and write what came of it as JSON; dat-info
    /// runs itself so
    #[arg(long, hide = true, requires = "name", conflicts_with = "explain", value_name = "REQUEST")]
    pub probe: Option<Request>,

    /// Print the licences of libdat and of the third-party code in its libraries and tools
    #[arg(long, alias = "licenses", exclusive = true)]
    pub licences: bool,

    #[command(flatten)]
    #[expect(missing_docs, reason = "its text would replace that of the tool")]
    pub common: Common,
}

/// Parses an adapter's name. Rejects an empty name, for example from an unset shell variable.
fn named(name: OsString) -> Result<OsString, &'static str> {
    if name.is_empty() {
        Err("no adapter has an empty name; without NAME, dat-info lists all of them")
    } else {
        Ok(name)
    }
}
