//! The suite that every transport passes, on a device.

mod common;

use common::network;

dat_conformance::conformance!(
    #[ignore = "needs an RDMA device"]
    network
);
