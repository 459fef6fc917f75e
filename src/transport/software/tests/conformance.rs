//! The suite, for a transport without capabilities: what needs one fails with the specified error.

mod common;

use common::Plain;
use dat_conformance::Network;

fn network() -> Network<Plain> {
    Network::new("plain", "")
}

dat_conformance::conformance!(network);
