//! What every transport must do, as a suite of tests that each of them instantiates whole.
//!
//! A transport's own tests say how to come by a network on which its adapters meet, and get
//! one `#[test]` for every test of the suite:
//!
//! ```text
//! fn network() -> Network<Shm> { /* a directory that no one else knows */ }
//!
//! dat_conformance::conformance!(network);
//! ```
//!
//! Attributes for all of them come first: `conformance!(#[ignore = "needs a device"] network)`.
//! The macro sets the allocator of the test program, so it can be used once in each.
//!
//! The tests use the core as a face does. What the trait leaves open, they leave open.

pub mod allocation;
pub mod atomic;
pub mod cleanup;
pub mod completions;
pub mod connecting;
pub mod counting;
pub mod datagrams;
pub mod endings;
pub mod extended;
pub mod faults;
pub mod immediate;
pub mod invalidate;
pub mod limits;
pub mod listeners;
pub mod modify;
mod network;
pub mod order;
pub mod rdma;
pub mod read_to_rmr;
pub mod receives;
pub mod scopes;
pub mod segments;
pub mod sizes;
pub mod srq;
mod suite;
pub mod waits;
pub mod watermarks;
pub mod windows;
pub mod zero_based;

pub use network::{Network, rounds};
use network::{refused, repeats};
