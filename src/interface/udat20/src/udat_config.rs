//! Configuration of the program at compile time

use crate::dat_platform_specific::DAT_UINT32;

pub use dat_udat::udat_config::*;

place!(version);

c_consts! {
    DAT_UINT32;
    DAT_VERSION_MAJOR = 2, "Major version of the interface for which a program is compiled.";
    DAT_VERSION_MINOR = 0, "Minor version of the interface for which a program is compiled.";
    DAT_EXTENSIONS = 1, "The interface has the calls that extensions need.";
}
