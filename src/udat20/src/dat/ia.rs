//! Interface adapters and providers

use core::ffi::c_char;

use super::types::*;
use crate::dat_platform_specific::*;
use crate::udat::provider::dat_provider_attr;
use dat_udat::{c_enum, place};

pub use dat_udat::dat::ia::*;

place!(attr);

c_enum! {
    /// Extensions of the interface.
    pub enum dat_extension as DAT_EXTENSION {
        /// None.
        DAT_EXTENSION_NONE = 0,
        /// Those for InfiniBand, see dat_ib_extensions.h.
        DAT_EXTENSION_IB = 1,
        /// Those for iWARP, of which there are none.
        DAT_EXTENSION_IW = 2,
    }
}

/// How load is spread over several paths.
pub type DAT_HA_LB = DAT_UINT32;

/// It is not.
pub const DAT_HA_LB_NONE: DAT_HA_LB = 0;

/// By connection.
pub const DAT_HA_LB_INTERCOMM: DAT_HA_LB = 1;

/// Within a connection.
pub const DAT_HA_LB_INTRACOMM: DAT_HA_LB = 2;

/// Another name of DAT_EXTENSION_IB.
pub const DAT_IB_EXTENSION: DAT_EXTENSION = DAT_EXTENSION_IB;

/// Another name of DAT_EXTENSION_IW.
pub const DAT_IW_EXTENSION: DAT_EXTENSION = DAT_EXTENSION_IW;

dat_udat::ia_attr_of! {
    DAT_SEG_LENGTH;
    /// Whether regions may be zero-based, see DAT_VA_TYPE_ZB.
    pub zb_supported: DAT_BOOLEAN,
    /// The extensions that it has.
    pub extension_supported: DAT_EXTENSION,
    /// Their version; for InfiniBand see DAT_IB_EXTENSION_VERSION.
    pub extension_version: DAT_COUNT,
}

place!(fields);

/// Selects num_transport_attr.
pub const DAT_IA_FIELD_IA_NUM_TRANSPORT_ATTR: DAT_IA_ATTR_MASK = 0x400000000;

/// Selects transport_attr.
pub const DAT_IA_FIELD_IA_TRANSPORT_ATTR: DAT_IA_ATTR_MASK = 0x800000000;

/// Selects num_vendor_attr.
pub const DAT_IA_FIELD_IA_NUM_VENDOR_ATTR: DAT_IA_ATTR_MASK = 0x1000000000;

/// Selects vendor_attr.
pub const DAT_IA_FIELD_IA_VENDOR_ATTR: DAT_IA_ATTR_MASK = 0x2000000000;

/// Selects zb_supported.
pub const DAT_IA_FIELD_IA_ZB_SUPPORTED: DAT_IA_ATTR_MASK = 0x80000000;

/// Selects extension_supported.
pub const DAT_IA_FIELD_IA_EXTENSION: DAT_IA_ATTR_MASK = 0x100000000;

/// Another name of DAT_IA_FIELD_IA_EXTENSION.
pub const DAT_IA_FIELD_IA_EXTENSIONS_SUPPORTED: DAT_IA_ATTR_MASK = DAT_IA_FIELD_IA_EXTENSION;

/// Selects extension_version.
pub const DAT_IA_FIELD_IA_EXTENSION_VERSION: DAT_IA_ATTR_MASK = 0x200000000;

/// Older name of DAT_IA_FIELD_ALL.
pub const DAT_IA_ALL: DAT_IA_ATTR_MASK = DAT_IA_FIELD_ALL;

/// Selects all fields of DAT_IA_ATTR.
pub const DAT_IA_FIELD_ALL: DAT_IA_ATTR_MASK = 0x3FFFFFFFFF;

place!(provider_attr);

/// Attributes of the provider that serves an interface adapter, see dat_ia_query.
pub type DAT_PROVIDER_ATTR = dat_provider_attr;
