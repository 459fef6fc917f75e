//! Interface adapters and providers

use core::ffi::c_char;

use super::types::*;
use crate::dat_platform_specific::*;
use crate::udat::provider::dat_provider_attr;

pub use dat_udat::dat::ia::*;

place!(attr);

c_enum! {
    /// Extensions of the interface.
    dat_extension as DAT_EXTENSION;
    DAT_EXTENSION_NONE = 0, "None.";
    DAT_EXTENSION_IB = 1, "Extensions for InfiniBand, see dat_ib_extensions.h.";
    DAT_EXTENSION_IW = 2, "Extensions for iWARP. None exist.";
}

/// How a provider distributes load over several paths.
pub type DAT_HA_LB = DAT_UINT32;

c_consts! {
    DAT_HA_LB;
    DAT_HA_LB_NONE = 0, "No distribution.";
    DAT_HA_LB_INTERCOMM = 1, "Per connection.";
    DAT_HA_LB_INTRACOMM = 2, "Within a connection.";
}

/// Another name of DAT_EXTENSION_IB.
pub const DAT_IB_EXTENSION: DAT_EXTENSION = DAT_EXTENSION_IB;

/// Another name of DAT_EXTENSION_IW.
pub const DAT_IW_EXTENSION: DAT_EXTENSION = DAT_EXTENSION_IW;

dat_udat::ia_attr_of! {
    DAT_SEG_LENGTH;
    zb_supported: DAT_BOOLEAN, "True if regions may be zero-based, see DAT_VA_TYPE_ZB.";
    extension_supported: DAT_EXTENSION, "The supported extensions.";
    extension_version: DAT_COUNT, "Their version; for InfiniBand see DAT_IB_EXTENSION_VERSION.";
}

place!(fields);

c_consts! {
    DAT_IA_ATTR_MASK;
    DAT_IA_FIELD_IA_NUM_TRANSPORT_ATTR = 0x400000000, "Selects num_transport_attr.";
    DAT_IA_FIELD_IA_TRANSPORT_ATTR = 0x800000000, "Selects transport_attr.";
    DAT_IA_FIELD_IA_NUM_VENDOR_ATTR = 0x1000000000, "Selects num_vendor_attr.";
    DAT_IA_FIELD_IA_VENDOR_ATTR = 0x2000000000, "Selects vendor_attr.";
    DAT_IA_FIELD_IA_ZB_SUPPORTED = 0x80000000, "Selects zb_supported.";
    DAT_IA_FIELD_IA_EXTENSION = 0x100000000, "Selects extension_supported.";
    DAT_IA_FIELD_IA_EXTENSIONS_SUPPORTED = DAT_IA_FIELD_IA_EXTENSION, "Another name of DAT_IA_FIELD_IA_EXTENSION.";
    DAT_IA_FIELD_IA_EXTENSION_VERSION = 0x200000000, "Selects extension_version.";
    DAT_IA_ALL = DAT_IA_FIELD_ALL, "Older name of DAT_IA_FIELD_ALL.";
    DAT_IA_FIELD_ALL = 0x3FFFFFFFFF, "Selects all fields of DAT_IA_ATTR.";
}

place!(provider_attr);

/// Attributes of the provider that serves an interface adapter, see dat_ia_query.
pub type DAT_PROVIDER_ATTR = dat_provider_attr;
