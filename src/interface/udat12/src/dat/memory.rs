//! Memory and protection

use super::types::*;
use crate::dat_platform_specific::*;
use crate::udat::dat_lmr_param;

pub use dat_udat::dat::memory::*;

place!(triplets);

c_struct! {
    /// One segment of local memory in a data transfer.
    struct dat_lmr_triplet as DAT_LMR_TRIPLET;
    lmr_context: DAT_LMR_CONTEXT, "The region of the segment, see dat_lmr_create.";
    pad: DAT_UINT32, "Unused; aligns the next field.";
    virtual_address: DAT_VADDR, "Address of the first byte.";
    segment_length: DAT_VLEN, "Length in bytes.";
}

c_struct! {
    /// The remote memory of an RDMA operation, in local byte order. A program that sends this structure to another host
    /// must convert it.
    struct dat_rmr_triplet as DAT_RMR_TRIPLET;
    rmr_context: DAT_RMR_CONTEXT, "The context from the remote side.";
    pad: DAT_UINT32, "Unused; aligns the next field.";
    target_address: DAT_VADDR, "Address of the first byte at the remote side.";
    segment_length: DAT_VLEN, "Length in bytes.";
}

c_members! {
    DAT_MEM_PRIV_FLAGS;
    DAT_MEM_PRIV_RO_DISABLE_FLAG = 0x100,
        "No relaxed ordering for this memory. Ignored. Only the Solaris headers have this flag; it"
        "is here for their programs, because the bit is free.";
}

place!(lmr_param);

/// Parameters of a local memory region, see dat_lmr_query.
pub type DAT_LMR_PARAM = dat_lmr_param;

c_members! {
    DAT_LMR_PARAM_MASK;
    DAT_LMR_FIELD_LMR_CONTEXT = 0x040, "Selects lmr_context.";
    DAT_LMR_FIELD_RMR_CONTEXT = 0x080, "Selects rmr_context.";
    DAT_LMR_FIELD_REGISTERED_SIZE = 0x100, "Selects registered_size.";
    DAT_LMR_FIELD_REGISTERED_ADDRESS = 0x200, "Selects registered_address.";
    DAT_LMR_FIELD_ALL = 0x3FF, "Selects all fields.";
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
}

c_members! {
    DAT_RMR_PARAM_MASK;
    DAT_RMR_FIELD_ALL = 0x1F, "Selects all fields.";
}
