//! The contract of transports, as tests that each transport instantiates completely.
//!
//! A transport supplies a function that creates a network of mutually reachable adapters; the macro expands to one
//! `#[test]` per test:
//!
//! ```text
//! fn network() -> Network<Shm> { /* a private directory */ }
//!
//! dat_conformance::conformance!(network);
//! ```
//!
//! Attributes of all tests come first: `conformance!(#[ignore = "needs a device"] network)`. A test program can use the
//! macro once, because it sets the allocator.
//!
//! The tests call core as the C API layer does. The name of a test states the rule that it checks.

#![expect(missing_docs, reason = "the names of tests state what they check")]

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

use network::{LOCAL, is_refusal, repeats, written};
pub use network::{Network, rounds};
