//! The conformance suite over shared memory.

mod common;

use common::network;

dat_conformance::conformance!(network);
