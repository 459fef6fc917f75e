//! What the tools dat-info, dat-ping and dat-perf are made of.
//!
//! Errors are shown to the user, so functions document only those that callers have to distinguish.
//!
//! | module | contents |
//! |---|---|
//! | [`tool`] | what they have in common: arguments, exit status, manual pages |
//! | [`print`], [`shell`] | output: colours, aligned columns, words of commands |
//! | [`dat`] | libdat.so.1 behind safe types |
//! | [`interrupt`], [`child`] | Ctrl-C; a server that a tool starts for itself |
//! | [`statistics`] | minimum, mean and maximum of times |
//! | [`info`] | dat-info |
//! | [`ping`] | dat-ping |
//! | [`perf`] | dat-perf |

mod child;
mod dat;
pub mod info;
mod interrupt;
pub mod perf;
pub mod ping;
mod print;
mod shell;
mod statistics;
pub mod tool;
