//! A current bindgen, under a version that rdma-sys accepts. The bindgen that rdma-sys asks for, 0.59, cannot read the
//! headers of rdma-core with libclang 16 or newer. `[patch.crates-io]` in the manifest of the workspace replaces
//! version 0.59 by this crate.

pub use ::bindgen::*;
