//! The compiler checks that types and constants have the sizes, offsets and values of the binary interface.

use dat_udat20::*;

include!("../../../../tests-c/abi/numbers.rs");
include!("../../../../tests-c/abi/layout20.rs");
