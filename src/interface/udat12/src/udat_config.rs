//! Configuration of the program at compile time

use crate::dat_platform_specific::DAT_UINT32;

pub use dat_udat::udat_config::*;

/// Major version of the interface for which a program is compiled.
pub const DAT_VERSION_MAJOR: DAT_UINT32 = 1;
/// Minor version of the interface for which a program is compiled.
pub const DAT_VERSION_MINOR: DAT_UINT32 = 2;
