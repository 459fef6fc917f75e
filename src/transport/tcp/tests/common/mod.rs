//! The network of this host, which every machine has.

use dat_conformance::Network;
use dat_tcp::Tcp;

/// The loopback interface.
pub fn network() -> Network<Tcp> {
    Network::new("tcp-lo", "")
}
