//! The tools dat-info, dat-ping and dat-perf.
//!
//! The tools print most errors unchanged, so function comments rarely mention errors that callers do not distinguish.

pub mod info;
mod peer;
pub mod perf;
pub mod ping;
mod print;
mod shell;
mod statistics;
pub mod tool;
mod units;
