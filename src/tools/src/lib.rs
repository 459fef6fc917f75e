//! What the tools dat-info, dat-ping and dat-perf are made of.
//!
//! Errors are shown to the user, so functions document only those that callers have to distinguish.
//!
//! | module | contents |
//! |---|---|
//! | [`tool`] | what they have in common: arguments, exit status, manual pages |
//! | [`print`], [`shell`] | output: colours, aligned columns, words of commands |
//! | [`dat`] | libdat.so.1 and libdat2.so.2 behind safe types |
//! | [`hint`] | what is asked if no server was reached |
//! | [`interrupt`], [`child`] | Ctrl-C; a server that a tool starts for itself |
//! | [`statistics`], [`units`] | what many times have in common; numbers with K, M or G |
//! | [`info`] | dat-info |
//! | [`ping`] | dat-ping |
//! | [`perf`] | dat-perf |

mod child;
mod dat;
mod hint;
pub mod info;
mod interrupt;
pub mod perf;
pub mod ping;
mod print;
mod shell;
mod statistics;
pub mod tool;
mod units;
