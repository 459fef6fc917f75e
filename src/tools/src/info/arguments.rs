//! The arguments of dat-info.

use std::ffi::OsString;

use clap::Parser;

use crate::dat::Demand;
use crate::tool::Common;

/// Show the interface adapters that a program of uDAPL would see, and why one does not open
///
/// Each adapter is opened for a moment, as a program opens it, by a process of its own.
#[derive(Parser, Clone, Debug)]
#[command(name = "dat-info", version)]
pub struct Arguments {
    /// Show all attributes of this adapter and of its provider
    #[arg(value_name = "NAME")]
    pub name: Option<OsString>,

    /// Go through what dat_ia_open does, step by step, and name the section of a page for each failure
    ///
    /// With NAME for this adapter, otherwise for all of them.
    #[arg(long)]
    pub explain: bool,

    /// Open the adapter as a program of this version and thread safety does, and write what came of it as JSON; dat-info
    /// runs itself so
    #[arg(long, hide = true, requires = "name", conflicts_with = "explain", value_parser = demand)]
    pub probe: Option<Demand>,

    #[command(flatten)]
    #[expect(missing_docs, reason = "its text would replace that of the tool")]
    pub common: Common,
}

/// As [`probe`](super::probe) writes it.
fn demand(json: &str) -> serde_json::Result<Demand> {
    serde_json::from_str(json)
}
