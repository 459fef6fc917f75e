//! The network of this host, which every machine has.

use dat_conformance::Network;
use dat_ofi::Ofi;

/// The loopback interface.
pub fn network() -> Network<Ofi> {
    Network::new("tcp-lo", "")
}
