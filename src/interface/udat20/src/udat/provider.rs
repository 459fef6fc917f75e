//! Attributes of a provider

use core::ffi::c_char;

use super::DAT_MEM_TYPE;
use crate::dat::*;
use crate::dat_platform_specific::*;

pub use dat_udat::udat::provider::*;

place!(attr);

dat_udat::provider_attr_of! {
    rdma_read_lmr_rmr_context_exposure: DAT_BOOLEAN, "Whether an RDMA read shows the remote side the context of the local memory.";
    rmr_scope_supported: DAT_RMR_SCOPE, "Kinds of remote memory regions, see dat_rmr_create and dat_rmr_create_for_ep.";
    is_signal_safe: DAT_BOOLEAN, "Whether calls may be made in a signal handler.";
    ha_supported: DAT_BOOLEAN, "Whether another adapter can take over connections, see dat_registry_providers_related.";
    ha_loadbalancing: DAT_HA_LB, "How load is spread over several paths.";
}

place!(fields);

c_consts! {
    DAT_PROVIDER_ATTR_MASK;
    DAT_PROVIDER_FIELD_NUM_PROVIDER_SPECIFIC_ATTR = 0x20000000, "Selects num_provider_specific_attr.";
    DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR = 0x40000000, "Selects provider_specific_attr.";
    DAT_PROVIDER_FIELD_RDMA_READ_LMR_RMR_CONTEXT_EXPOSURE = 0x1000000, "Selects rdma_read_lmr_rmr_context_exposure.";
    DAT_PROVIDER_FIELD_RMR_SCOPE_SUPPORTED = 0x2000000, "Selects rmr_scope_supported.";
    DAT_PROVIDER_FIELD_IS_SIGNAL_SAFE = 0x4000000, "Selects is_signal_safe.";
    DAT_PROVIDER_FIELD_HA_SUPPORTED = 0x8000000, "Selects ha_supported.";
    DAT_PROVIDER_FIELD_HA_LB = 0x10000000, "Selects ha_loadbalancing.";
    DAT_PROVIDER_FIELD_ALL = 0x7FFFFFFF, "Selects all fields of DAT_PROVIDER_ATTR.";
}
