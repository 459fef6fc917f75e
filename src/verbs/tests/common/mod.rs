//! The device of the tests.

use dat_verbs::Verbs;

pub type Side = dat_loopback::Side<Verbs>;

/// The adapter over the network interface `$RDMA`, by default that of the virtual machine of
/// tests-c/verbs.
pub fn open() -> Side {
    let netdev = std::env::var("RDMA").ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "v0".to_owned());
    dat_loopback::open("verbs", &format!("{netdev} 0"))
}
