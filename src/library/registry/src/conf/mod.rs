//! The parser of dat.conf: one entry per line, with eight fields in fixed order, separated by spaces and tabs.
//!
//! The parser accepts any bytes. A line that it cannot parse becomes a [`BadLine`], and does not affect other lines.

#![forbid(unsafe_code)]

mod instance;
mod lexer;
mod parse;
#[cfg(test)]
mod tests;

pub use instance::Instance;
pub use lexer::Tokens;
pub use parse::{BadLine, Fault, LINE_MAX, Line, parse};
