//! What the tools dat-info, dat-ping and dat-perf are made of.
//!
//! | module | contents |
//! |---|---|
//! | [`tool`] | what they have in common: arguments, exit status, manual pages |
//! | [`print`], [`shell`] | output: colours, aligned columns, words of commands |
//! | [`adapter`] | opening one by its name |
//! | [`dat`] | libdat.so.1 behind safe types |
//! | [`interrupt`], [`child`] | Ctrl-C; a server that a tool starts for itself |
//! | [`statistics`] | minimum, mean and maximum of times |
//! | [`info`] | dat-info |
//! | [`ping`] | dat-ping |
//! | [`perf`] | dat-perf |

pub mod adapter;
pub mod child;
pub mod dat;
pub mod info;
pub mod interrupt;
pub mod perf;
pub mod ping;
pub mod print;
pub mod shell;
pub mod statistics;
pub mod tool;
