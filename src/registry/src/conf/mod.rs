//! The text of dat.conf.
//!
//! One entry per line, eight fields in fixed order, separated by blanks and tabs. The parser takes
//! any bytes: what it cannot read is a [`BadLine`], and the lines around it still count.
//!
//! The functions of this module hold no state and write nothing; whoever reads the file decides
//! which bad lines are worth a message.

#![forbid(unsafe_code)]

mod lexer;
mod parse;
#[cfg(test)]
mod tests;

pub use lexer::{LexFault, Tokens};
pub use parse::{BadLine, Fault, Line, parse};
