//! Memory and protection

use super::types::*;
use crate::dat_platform_specific::*;
use crate::udat::dat_lmr_param;
use dat_udat::{c_members, place};

pub use dat_udat::dat::memory::*;

place!(triplets);

/// One segment of local memory in a data transfer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct dat_lmr_triplet {
    /// The region that holds the segment, see dat_lmr_create.
    pub lmr_context: DAT_LMR_CONTEXT,
    /// Unused; aligns the next field.
    pub pad: DAT_UINT32,
    /// Address of the first byte.
    pub virtual_address: DAT_VADDR,
    /// Length in bytes.
    pub segment_length: DAT_VLEN,
}

/// One segment of local memory in a data transfer.
pub type DAT_LMR_TRIPLET = dat_lmr_triplet;

/// The remote memory of an RDMA operation, in local byte order: a program that sends it to
/// another host converts it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct dat_rmr_triplet {
    /// The memory as the remote side named it.
    pub rmr_context: DAT_RMR_CONTEXT,
    /// Unused; aligns the next field.
    pub pad: DAT_UINT32,
    /// Address of the first byte at the remote side.
    pub target_address: DAT_VADDR,
    /// Length in bytes.
    pub segment_length: DAT_VLEN,
}

/// The remote memory of an RDMA operation, in local byte order: a program that sends it to
/// another host converts it.
pub type DAT_RMR_TRIPLET = dat_rmr_triplet;

c_members! {
    DAT_MEM_PRIV_FLAGS {
        /// No relaxed ordering for this memory. Only the Solaris headers have it; it is here for
        /// their programs, because the bit clashes with nothing. Ignored.
        DAT_MEM_PRIV_RO_DISABLE_FLAG = 0x100,
    }
}

place!(lmr_param);

/// Parameters of a local memory region, see dat_lmr_query.
pub type DAT_LMR_PARAM = dat_lmr_param;

c_members! {
    DAT_LMR_PARAM_MASK {
        /// Selects lmr_context.
        DAT_LMR_FIELD_LMR_CONTEXT = 0x040,
        /// Selects rmr_context.
        DAT_LMR_FIELD_RMR_CONTEXT = 0x080,
        /// Selects registered_size.
        DAT_LMR_FIELD_REGISTERED_SIZE = 0x100,
        /// Selects registered_address.
        DAT_LMR_FIELD_REGISTERED_ADDRESS = 0x200,
        /// Selects all fields.
        DAT_LMR_FIELD_ALL = 0x3FF,
    }
}

place!(rmr_param);

/// Parameters of a remote memory region, see dat_rmr_query.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct dat_rmr_param {
    /// The adapter that it belongs to.
    pub ia_handle: DAT_IA_HANDLE,
    /// Its protection zone.
    pub pz_handle: DAT_PZ_HANDLE,
    /// The memory it is bound to.
    pub lmr_triplet: DAT_LMR_TRIPLET,
    /// Its rights.
    pub mem_priv: DAT_MEM_PRIV_FLAGS,
    /// Names it to the remote side.
    pub rmr_context: DAT_RMR_CONTEXT,
}

/// Parameters of a remote memory region, see dat_rmr_query.
pub type DAT_RMR_PARAM = dat_rmr_param;

c_members! {
    DAT_RMR_PARAM_MASK {
        /// Selects all fields.
        DAT_RMR_FIELD_ALL = 0x1F,
    }
}
