//! Runs the conformance suite, which every transport passes, over TCP.

mod common;

use common::network;

dat_conformance::conformance!(network);
