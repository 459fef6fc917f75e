//! The objects of a thread of dat-perf, and its measured loops.
//!
//! | module | contents |
//! |---|---|
//! | [`plan`] | a measurement, which both processes follow |
//! | [`worker`] | the objects of a thread |
//! | [`latency`], [`stream`] | the measured loops |
//! | [`clock`] | times and CPU time |
//! | [`limit`] | the early end of a measurement |

pub mod clock;
pub mod latency;
pub mod limit;
pub mod plan;
pub mod stream;
pub mod worker;
