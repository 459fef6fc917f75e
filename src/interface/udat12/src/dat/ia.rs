//! Interface adapters and providers

use core::ffi::c_char;

use super::types::*;
use crate::dat_platform_specific::*;
use crate::udat::provider::dat_provider_attr;

pub use dat_udat::dat::ia::*;

place!(attr);

dat_udat::ia_attr_of! { DAT_VLEN; }

place!(fields);

c_consts! {
    DAT_IA_ATTR_MASK;
    DAT_IA_FIELD_IA_NUM_TRANSPORT_ATTR = 0x80000000, "Selects num_transport_attr.";
    DAT_IA_FIELD_IA_TRANSPORT_ATTR = 0x100000000, "Selects transport_attr.";
    DAT_IA_FIELD_IA_NUM_VENDOR_ATTR = 0x200000000, "Selects num_vendor_attr.";
    DAT_IA_FIELD_IA_VENDOR_ATTR = 0x400000000, "Selects vendor_attr.";
    DAT_IA_ALL = DAT_IA_FIELD_ALL, "Older name of DAT_IA_FIELD_ALL.";
    DAT_IA_FIELD_ALL = 0x7FFFFFFFF, "Selects all fields of DAT_IA_ATTR.";
}

place!(provider_attr);

/// Attributes of the provider that serves an interface adapter, see dat_ia_query.
pub type DAT_PROVIDER_ATTR = dat_provider_attr;
