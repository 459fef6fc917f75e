//! The arguments of dat-info.

use std::ffi::OsString;

use clap::Parser;
use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::dat::Demand;
use crate::tool::Common;

/// Show the interface adapters that a program of uDAPL would see, and why one does not open
///
/// Each adapter is opened for a moment, as a program opens it, by a process of its own.
#[derive(Parser, Clone, Debug)]
#[command(name = "dat-info", version)]
pub struct Arguments {
    /// Show all attributes of this adapter and of its provider
    #[arg(value_name = "NAME", value_parser = OsStringValueParser::new().try_map(named))]
    pub name: Option<OsString>,

    /// Go through what dat_ia_open does, step by step, and name the section of a page for each failure
    ///
    /// With NAME for this adapter, otherwise for all of them.
    #[arg(long)]
    pub explain: bool,

    /// Show which processes have an adapter of the provider shm open, and what they have sent and received
    #[arg(long, conflicts_with_all = ["name", "explain", "library", "api"])]
    pub processes: bool,

    /// Open the adapter as a program of this version and thread safety does, and write what came of it as JSON; dat-info
    /// runs itself so
    #[arg(long, hide = true, requires = "name", conflicts_with = "explain", value_parser = demand)]
    pub probe: Option<Demand>,

    /// Print the licences of libdat, and of the code of others in its libraries and tools
    #[arg(long, alias = "licenses", exclusive = true)]
    pub licences: bool,

    #[command(flatten)]
    #[expect(missing_docs, reason = "its text would replace that of the tool")]
    pub common: Common,
}

/// The name of an adapter, which a variable of the shell that is not set does not have.
fn named(name: OsString) -> Result<OsString, &'static str> {
    if name.is_empty() {
        Err("no adapter has an empty name; without NAME, dat-info lists all of them")
    } else {
        Ok(name)
    }
}

/// As [`probe`](super::probe) writes it.
fn demand(json: &str) -> serde_json::Result<Demand> {
    serde_json::from_str(json)
}
