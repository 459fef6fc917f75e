//! The network of the tests, which every machine has.

use dat_conformance::Network;
use dat_tcp::Tcp;

/// Returns the network of the loopback interface.
pub fn network() -> Network<Tcp> {
    Network::new("tcp-lo", "")
}
