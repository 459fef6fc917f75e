//! The adapter of the tests.

use dat_conformance::Network;
use dat_verbs::Verbs;

/// Returns the network of the interface that the environment variable `RDMA` names; by default `v0`, as in the virtual
/// machine of tests-c/verbs.
pub fn network() -> Network<Verbs> {
    let netdev = std::env::var("RDMA").ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "v0".to_owned());
    Network::new("verbs", &format!("{netdev} 0"))
}
