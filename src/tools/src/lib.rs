//! The tools dat-info, dat-ping and dat-perf.
//!
//! Errors are shown to the user, so functions document only those that callers distinguish.
//!
//! | module | contents |
//! |---|---|
//! | [`tool`] | arguments, exit status and manual pages of all tools; finding the libraries |
//! | [`print`], [`shell`] | output: colours, aligned columns, words of shell commands |
//! | [`interrupt`] | Ctrl-C |
//! | [`statistics`], [`units`] | the spread of many times; numbers with K, M or G |
//! | [`peer`] | what dat-ping and dat-perf share: arguments, connections, servers |
//! | [`info`], [`ping`], [`perf`] | the tools |

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
