//! The types and constants have the sizes, offsets and values that are the binary interface. The compiler finds out.

use dat_udat12::*;

include!("../../../../tests-c/abi/numbers.rs");
include!("../../../../tests-c/abi/layout.rs");
