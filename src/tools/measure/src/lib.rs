//! What dat-perf and dat-ping time: the calls, loops and clocks between the start and the end of a measured time.
//!
//! | module | contents |
//! |---|---|
//! | [`perf`] | the objects of a thread of dat-perf, and its measured loops |
//! | [`ping`] | the rounds of dat-ping, at both sides |
//! | [`node`], [`channel`] | an adapter and a connection, of dat-ping and of the control connection of dat-perf |
//! | [`pattern`] | the bytes of a transfer, which the receiver compares |
//! | [`interrupt`], [`stop`] | the early end of an exchange |
//!
//! The profile `tools` optimises only this crate and `dat`. So a function that runs for each transfer, poll or byte is in
//! this crate. If dat-tools calls it in a measured time, it is neither generic nor `#[inline]`, because dat-tools would
//! compile its own copy.
//!
//! The tools print most errors unchanged, so function comments rarely mention errors that callers do not distinguish.

pub mod channel;
pub mod interrupt;
pub mod node;
pub mod pattern;
pub mod perf;
pub mod ping;
pub mod stop;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
