//! Memory and protection

use super::types::*;
use crate::dat_platform_specific::*;
use crate::udat::dat_lmr_param;
use dat_abi::c_enum;

/// Names a local memory region in the segments of a data transfer.
pub type DAT_LMR_CONTEXT = DAT_UINT32;

/// Names memory to the remote side in RDMA operations.
pub type DAT_RMR_CONTEXT = DAT_UINT32;

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

c_enum! {
    /// Rights on a memory region.
    pub enum dat_mem_priv_flags as DAT_MEM_PRIV_FLAGS {
        /// No right.
        DAT_MEM_PRIV_NONE_FLAG = 0x000,
        /// Source of local transfers.
        DAT_MEM_PRIV_LOCAL_READ_FLAG = 0x001,
        /// Source of RDMA reads by others.
        DAT_MEM_PRIV_REMOTE_READ_FLAG = 0x002,
        /// Target of local transfers.
        DAT_MEM_PRIV_LOCAL_WRITE_FLAG = 0x010,
        /// Target of RDMA writes by others.
        DAT_MEM_PRIV_REMOTE_WRITE_FLAG = 0x020,
        /// All four rights.
        DAT_MEM_PRIV_ALL_FLAG = 0x033,
        /// No relaxed ordering for this memory. Only the Solaris headers have it; it is here for
        /// their programs, because the bit clashes with nothing. Ignored.
        DAT_MEM_PRIV_RO_DISABLE_FLAG = 0x100,
    }
}

/// Local and remote read; for compatibility.
pub const DAT_MEM_PRIV_READ_FLAG: DAT_MEM_PRIV_FLAGS = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG;

/// Local and remote write; for compatibility.
pub const DAT_MEM_PRIV_WRITE_FLAG: DAT_MEM_PRIV_FLAGS = DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG;

/// Parameters of a local memory region, see dat_lmr_query.
pub type DAT_LMR_PARAM = dat_lmr_param;

c_enum! {
    /// Selects fields of DAT_LMR_PARAM.
    pub enum dat_lmr_param_mask as DAT_LMR_PARAM_MASK {
        /// Selects ia_handle.
        DAT_LMR_FIELD_IA_HANDLE = 0x001,
        /// Selects mem_type.
        DAT_LMR_FIELD_MEM_TYPE = 0x002,
        /// Selects region_desc.
        DAT_LMR_FIELD_REGION_DESC = 0x004,
        /// Selects length.
        DAT_LMR_FIELD_LENGTH = 0x008,
        /// Selects pz_handle.
        DAT_LMR_FIELD_PZ_HANDLE = 0x010,
        /// Selects mem_priv.
        DAT_LMR_FIELD_MEM_PRIV = 0x020,
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

c_enum! {
    /// Selects fields of DAT_RMR_PARAM.
    pub enum dat_rmr_param_mask as DAT_RMR_PARAM_MASK {
        /// Selects ia_handle.
        DAT_RMR_FIELD_IA_HANDLE = 0x01,
        /// Selects pz_handle.
        DAT_RMR_FIELD_PZ_HANDLE = 0x02,
        /// Selects lmr_triplet.
        DAT_RMR_FIELD_LMR_TRIPLET = 0x04,
        /// Selects mem_priv.
        DAT_RMR_FIELD_MEM_PRIV = 0x08,
        /// Selects rmr_context.
        DAT_RMR_FIELD_RMR_CONTEXT = 0x10,
        /// Selects all fields.
        DAT_RMR_FIELD_ALL = 0x1F,
    }
}

/// Parameters of a protection zone, see dat_pz_query.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct dat_pz_param {
    /// The adapter that it belongs to.
    pub ia_handle: DAT_IA_HANDLE,
}

/// Parameters of a protection zone, see dat_pz_query.
pub type DAT_PZ_PARAM = dat_pz_param;

c_enum! {
    /// Selects fields of DAT_PZ_PARAM.
    pub enum dat_pz_param_mask as DAT_PZ_PARAM_MASK {
        /// Selects ia_handle.
        DAT_PZ_FIELD_IA_HANDLE = 0x01,
        /// Selects all fields.
        DAT_PZ_FIELD_ALL = 0x01,
    }
}

c_enum! {
    /// Owner of the array of segments after a post returned.
    pub enum dat_iov_ownership as DAT_IOV_OWNERSHIP {
        /// The consumer: it may be reused at once.
        DAT_IOV_CONSUMER = 0,
        /// The provider until completion, which does not change it.
        DAT_IOV_PROVIDER_NOMOD = 1,
        /// The provider until completion, which may change it.
        DAT_IOV_PROVIDER_MOD = 2,
    }
}
