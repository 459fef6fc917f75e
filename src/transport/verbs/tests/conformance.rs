//! Runs the conformance suite, which every transport passes, on an RDMA device.

mod common;

use common::network;

dat_conformance::conformance!(
    #[ignore = "needs an RDMA device"]
    network
);
