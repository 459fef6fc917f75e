//! The suite that every transport passes, over shared memory.

mod common;

use common::network;

dat_conformance::conformance!(network);
