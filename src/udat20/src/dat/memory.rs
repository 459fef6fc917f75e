//! Memory and protection

use super::types::*;
use crate::udat::dat_lmr_param;
use dat_udat::{c_enum, c_members, place};

pub use dat_udat::dat::memory::*;

place!(triplets);

c_enum! {
    /// How addresses in a region are counted.
    pub enum dat_va_type as DAT_VA_TYPE {
        /// As in the process that has the memory.
        DAT_VA_TYPE_VA = 0,
        /// From the first byte of the region, which is 0.
        DAT_VA_TYPE_ZB = 1,
    }
}

c_enum! {
    /// The endpoints over which a remote memory region can be used.
    pub enum dat_rmr_scope as DAT_RMR_SCOPE {
        /// The one over which it is bound, see dat_rmr_create_for_ep.
        DAT_RMR_SCOPE_EP = 0,
        /// Those of its protection zone, see dat_rmr_create.
        DAT_RMR_SCOPE_PZ = 1,
        /// Attribute of a provider: both kinds.
        DAT_RMR_SCOPE_ANY = 2,
    }
}

/// One segment of local memory in a data transfer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct dat_lmr_triplet {
    /// Address of the first byte; counted from the start of the region if that is zero-based.
    pub virtual_address: DAT_VADDR,
    /// Length in bytes.
    pub segment_length: DAT_SEG_LENGTH,
    /// The region that holds the segment, see dat_lmr_create.
    pub lmr_context: DAT_LMR_CONTEXT,
}

/// One segment of local memory in a data transfer.
pub type DAT_LMR_TRIPLET = dat_lmr_triplet;

/// The remote memory of an RDMA operation, in local byte order: a program that sends it to
/// another host converts it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct dat_rmr_triplet {
    /// Address of the first byte at the remote side; counted from the start of the region if that
    /// is zero-based.
    pub virtual_address: DAT_VADDR,
    /// Length in bytes.
    pub segment_length: DAT_SEG_LENGTH,
    /// The memory as the remote side named it.
    pub rmr_context: DAT_RMR_CONTEXT,
}

/// The remote memory of an RDMA operation, in local byte order: a program that sends it to
/// another host converts it.
pub type DAT_RMR_TRIPLET = dat_rmr_triplet;

c_members! {
    DAT_MEM_PRIV_FLAGS {
        /// First right that extensions define.
        DAT_MEM_PRIV_EXTENSION_BASE = 0x040,
    }
}

place!(lmr_param);

/// Parameters of a local memory region, see dat_lmr_query.
pub type DAT_LMR_PARAM = dat_lmr_param;

c_members! {
    DAT_LMR_PARAM_MASK {
        /// Selects va_type.
        DAT_LMR_FIELD_VA_TYPE = 0x040,
        /// Selects lmr_context.
        DAT_LMR_FIELD_LMR_CONTEXT = 0x080,
        /// Selects rmr_context.
        DAT_LMR_FIELD_RMR_CONTEXT = 0x100,
        /// Selects registered_size.
        DAT_LMR_FIELD_REGISTERED_SIZE = 0x200,
        /// Selects registered_address.
        DAT_LMR_FIELD_REGISTERED_ADDRESS = 0x400,
        /// Selects all fields.
        DAT_LMR_FIELD_ALL = 0x7FF,
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
    /// The endpoints over which it can be used.
    pub rmr_scope: DAT_RMR_SCOPE,
    /// How the remote side counts the addresses in it.
    pub va_type: DAT_VA_TYPE,
}

/// Parameters of a remote memory region, see dat_rmr_query.
pub type DAT_RMR_PARAM = dat_rmr_param;

c_members! {
    DAT_RMR_PARAM_MASK {
        /// Selects rmr_scope.
        DAT_RMR_FIELD_RMR_SCOPE = 0x20,
        /// Selects va_type.
        DAT_RMR_FIELD_VA_TYPE = 0x40,
        /// Selects all fields.
        DAT_RMR_FIELD_ALL = 0x7F,
    }
}
