//! The text of dat.conf.
//!
//! One entry per line, eight fields in fixed order, separated by blanks and tabs. The parser takes any bytes: a line
//! that it cannot read becomes a [`BadLine`], and the lines around it still count.
//!
//! Nothing here writes messages: the caller decides which bad lines deserve one.

#![forbid(unsafe_code)]

mod instance;
mod lexer;
mod parse;
#[cfg(test)]
mod tests;

pub use instance::Instance;
pub use lexer::Tokens;
pub use parse::{BadLine, Fault, LINE_MAX, Line, parse};
