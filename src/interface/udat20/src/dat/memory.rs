//! Memory and protection

use super::types::*;
use crate::udat::dat_lmr_param;

pub use dat_udat::dat::memory::*;

place!(triplets);

c_enum! {
    /// How addresses in a region are counted.
    dat_va_type as DAT_VA_TYPE;
    DAT_VA_TYPE_VA = 0, "As in the process that has the memory.";
    DAT_VA_TYPE_ZB = 1, "From the first byte of the region, which is 0.";
}

c_enum! {
    /// The endpoints over which a remote memory region can be used.
    dat_rmr_scope as DAT_RMR_SCOPE;
    DAT_RMR_SCOPE_EP = 0, "The one over which it is bound, see dat_rmr_create_for_ep.";
    DAT_RMR_SCOPE_PZ = 1, "Those of its protection zone, see dat_rmr_create.";
    DAT_RMR_SCOPE_ANY = 2, "Attribute of a provider: both kinds.";
}

c_struct! {
    /// One segment of local memory in a data transfer.
    struct dat_lmr_triplet as DAT_LMR_TRIPLET;
    virtual_address: DAT_VADDR,
        "Address of the first byte; counted from the start of the region if that is zero-based.";
    segment_length: DAT_SEG_LENGTH, "Length in bytes.";
    lmr_context: DAT_LMR_CONTEXT, "The region that holds the segment, see dat_lmr_create.";
}

c_struct! {
    /// The remote memory of an RDMA operation, in local byte order: a program that sends it to
    /// another host converts it.
    struct dat_rmr_triplet as DAT_RMR_TRIPLET;
    virtual_address: DAT_VADDR,
        "Address of the first byte at the remote side; counted from the start of the region if that"
        "is zero-based.";
    segment_length: DAT_SEG_LENGTH, "Length in bytes.";
    rmr_context: DAT_RMR_CONTEXT, "The memory as the remote side named it.";
}

c_members! {
    DAT_MEM_PRIV_FLAGS;
    DAT_MEM_PRIV_EXTENSION_BASE = 0x040, "First right that extensions define.";
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
    ia_handle: DAT_IA_HANDLE, "The adapter that it belongs to.";
    pz_handle: DAT_PZ_HANDLE, "Its protection zone.";
    lmr_triplet: DAT_LMR_TRIPLET, "The memory it is bound to.";
    mem_priv: DAT_MEM_PRIV_FLAGS, "Its rights.";
    rmr_context: DAT_RMR_CONTEXT, "Names it to the remote side.";
    rmr_scope: DAT_RMR_SCOPE, "The endpoints over which it can be used.";
    va_type: DAT_VA_TYPE, "How the remote side counts the addresses in it.";
}

c_members! {
    DAT_RMR_PARAM_MASK;
    DAT_RMR_FIELD_RMR_SCOPE = 0x20, "Selects rmr_scope.";
    DAT_RMR_FIELD_VA_TYPE = 0x40, "Selects va_type.";
    DAT_RMR_FIELD_ALL = 0x7F, "Selects all fields.";
}
