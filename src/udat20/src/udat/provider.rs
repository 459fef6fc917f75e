//! Attributes of a provider

use core::ffi::c_char;

use super::DAT_MEM_TYPE;
use crate::dat::*;
use crate::dat_platform_specific::*;
use dat_udat::place;

pub use dat_udat::udat::provider::*;

place!(attr);

dat_udat::provider_attr_of! {
    /// Whether an RDMA read shows the remote side the context of the local memory.
    pub rdma_read_lmr_rmr_context_exposure: DAT_BOOLEAN,
    /// Kinds of remote memory regions, see dat_rmr_create and dat_rmr_create_for_ep.
    pub rmr_scope_supported: DAT_RMR_SCOPE,
    /// Whether calls may be made in a signal handler.
    pub is_signal_safe: DAT_BOOLEAN,
    /// Whether another adapter can take over connections, see dat_registry_providers_related.
    pub ha_supported: DAT_BOOLEAN,
    /// How load is spread over several paths.
    pub ha_loadbalancing: DAT_HA_LB,
}

place!(fields);

/// Selects num_provider_specific_attr.
pub const DAT_PROVIDER_FIELD_NUM_PROVIDER_SPECIFIC_ATTR: DAT_PROVIDER_ATTR_MASK = 0x20000000;

/// Selects provider_specific_attr.
pub const DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR: DAT_PROVIDER_ATTR_MASK = 0x40000000;

/// Selects rdma_read_lmr_rmr_context_exposure.
pub const DAT_PROVIDER_FIELD_RDMA_READ_LMR_RMR_CONTEXT_EXPOSURE: DAT_PROVIDER_ATTR_MASK = 0x1000000;

/// Selects rmr_scope_supported.
pub const DAT_PROVIDER_FIELD_RMR_SCOPE_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x2000000;

/// Selects is_signal_safe.
pub const DAT_PROVIDER_FIELD_IS_SIGNAL_SAFE: DAT_PROVIDER_ATTR_MASK = 0x4000000;

/// Selects ha_supported.
pub const DAT_PROVIDER_FIELD_HA_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x8000000;

/// Selects ha_loadbalancing.
pub const DAT_PROVIDER_FIELD_HA_LB: DAT_PROVIDER_ATTR_MASK = 0x10000000;

/// Selects all fields of DAT_PROVIDER_ATTR.
pub const DAT_PROVIDER_FIELD_ALL: DAT_PROVIDER_ATTR_MASK = 0x7FFFFFFF;
