//! The tools dat-info, dat-ping and dat-perf.
//!
//! Errors are shown to the user, so functions document only those that callers distinguish.

pub mod info;
mod interrupt;
mod peer;
pub mod perf;
pub mod ping;
mod print;
mod shell;
mod statistics;
pub mod tool;
mod units;
