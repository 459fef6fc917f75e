//! The suite over the transport between the endpoints of one process.

use std::sync::atomic::{AtomicUsize, Ordering};

use dat_conformance::Network;
use dat_core::testing::Loopback;

/// A fabric of the test's own.
fn network() -> Network<Loopback> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    Network::new("loopback", &format!("fabric {}", NUMBER.fetch_add(1, Ordering::Relaxed))).exact()
}

dat_conformance::conformance!(network);
