//! Memory and protection

use super::types::*;
use crate::udat::dat_lmr_param;

pub use dat_udat::dat::memory::*;

place!(triplets);

c_enum! {
    /// Base of the addresses in a region.
    dat_va_type as DAT_VA_TYPE;
    DAT_VA_TYPE_VA = 0, "Addresses of the process that owns the memory.";
    DAT_VA_TYPE_ZB = 1, "The first byte of the region has the address 0.";
}

c_enum! {
    /// The endpoints over which a remote memory region can be used.
    dat_rmr_scope as DAT_RMR_SCOPE;
    DAT_RMR_SCOPE_EP = 0, "The endpoint over which it is bound, see dat_rmr_create_for_ep.";
    DAT_RMR_SCOPE_PZ = 1, "All endpoints of its protection zone, see dat_rmr_create.";
    DAT_RMR_SCOPE_ANY = 2, "Attribute of a provider: both kinds.";
}

c_struct! {
    /// One segment of local memory in a data transfer.
    struct dat_lmr_triplet as DAT_LMR_TRIPLET;
    virtual_address: DAT_VADDR,
        "Address of the first byte; in a zero-based region, its offset in the region.";
    segment_length: DAT_SEG_LENGTH, "Length in bytes.";
    lmr_context: DAT_LMR_CONTEXT, "The region of the segment, see dat_lmr_create.";
}

c_struct! {
    /// The remote memory of an RDMA operation, in local byte order. A program that sends this structure to another host
    /// must convert it.
    struct dat_rmr_triplet as DAT_RMR_TRIPLET;
    virtual_address: DAT_VADDR,
        "Address of the first byte at the remote side; in a zero-based region, its offset in the"
        "region.";
    segment_length: DAT_SEG_LENGTH, "Length in bytes.";
    rmr_context: DAT_RMR_CONTEXT, "The context from the remote side.";
}

c_members! {
    DAT_MEM_PRIV_FLAGS;
    DAT_MEM_PRIV_EXTENSION_BASE = 0x040, "First privilege that extensions define.";
}

place!(lmr_param);

/// Parameters of a local memory region, see dat_lmr_query.
pub type DAT_LMR_PARAM = dat_lmr_param;

c_members! {
    DAT_LMR_PARAM_MASK;
    DAT_LMR_FIELD_VA_TYPE = 0x040, "Selects va_type.";
    DAT_LMR_FIELD_LMR_CONTEXT = 0x080, "Selects lmr_context.";
    DAT_LMR_FIELD_RMR_CONTEXT = 0x100, "Selects rmr_context.";
    DAT_LMR_FIELD_REGISTERED_SIZE = 0x200, "Selects registered_size.";
    DAT_LMR_FIELD_REGISTERED_ADDRESS = 0x400, "Selects registered_address.";
    DAT_LMR_FIELD_ALL = 0x7FF, "Selects all fields.";
}

place!(rmr_param);

c_struct! {
    /// Parameters of a remote memory region, see dat_rmr_query.
    struct dat_rmr_param as DAT_RMR_PARAM;
    ia_handle: DAT_IA_HANDLE, "Its interface adapter.";
    pz_handle: DAT_PZ_HANDLE, "Its protection zone.";
    lmr_triplet: DAT_LMR_TRIPLET, "The memory to which it is bound.";
    mem_priv: DAT_MEM_PRIV_FLAGS, "Its privileges.";
    rmr_context: DAT_RMR_CONTEXT, "Identifies it to the remote side.";
    rmr_scope: DAT_RMR_SCOPE, "The endpoints over which peers can use it.";
    va_type: DAT_VA_TYPE, "Base of the addresses that peers use.";
}

c_members! {
    DAT_RMR_PARAM_MASK;
    DAT_RMR_FIELD_RMR_SCOPE = 0x20, "Selects rmr_scope.";
    DAT_RMR_FIELD_VA_TYPE = 0x40, "Selects va_type.";
    DAT_RMR_FIELD_ALL = 0x7F, "Selects all fields.";
}
