//! Attributes of a provider

use core::ffi::c_char;

use super::DAT_MEM_TYPE;
use crate::dat::*;
use crate::dat_platform_specific::*;
use dat_udat::place;

pub use dat_udat::udat::provider::*;

place!(attr);

dat_udat::provider_attr_of! {}

place!(fields);

/// Selects num_provider_specific_attr.
pub const DAT_PROVIDER_FIELD_NUM_PROVIDER_SPECIFIC_ATTR: DAT_PROVIDER_ATTR_MASK = 0x1000000;

/// Selects provider_specific_attr.
pub const DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR: DAT_PROVIDER_ATTR_MASK = 0x2000000;

/// Selects all fields of DAT_PROVIDER_ATTR.
pub const DAT_PROVIDER_FIELD_ALL: DAT_PROVIDER_ATTR_MASK = 0x3FFFFFF;
