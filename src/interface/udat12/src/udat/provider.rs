//! Attributes of a provider

use core::ffi::c_char;

use super::DAT_MEM_TYPE;
use crate::dat::*;
use crate::dat_platform_specific::*;

pub use dat_udat::udat::provider::*;

place!(attr);

dat_udat::provider_attr_of! {}

place!(fields);

c_consts! {
    DAT_PROVIDER_ATTR_MASK;
    DAT_PROVIDER_FIELD_NUM_PROVIDER_SPECIFIC_ATTR = 0x1000000, "Selects num_provider_specific_attr.";
    DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR = 0x2000000, "Selects provider_specific_attr.";
    DAT_PROVIDER_FIELD_ALL = 0x3FFFFFF, "Selects all fields of DAT_PROVIDER_ATTR.";
}
