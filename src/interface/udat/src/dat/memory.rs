//! Memory and protection

use super::types::*;
use crate::dat_platform_specific::*;
use crate::names::c_enum;

/// Number that identifies a local memory region in the segments of a data transfer.
pub type DAT_LMR_CONTEXT = DAT_UINT32;

/// Number that identifies memory to the remote side in RDMA operations.
pub type DAT_RMR_CONTEXT = DAT_UINT32;

/// Privileges of a memory region.
pub type DAT_MEM_PRIV_FLAGS = c_enum;
/// No privilege.
pub const DAT_MEM_PRIV_NONE_FLAG: DAT_MEM_PRIV_FLAGS = 0x000;
/// The memory may be the source of local sends and RDMA writes.
pub const DAT_MEM_PRIV_LOCAL_READ_FLAG: DAT_MEM_PRIV_FLAGS = 0x001;
/// Peers may read the memory by RDMA.
pub const DAT_MEM_PRIV_REMOTE_READ_FLAG: DAT_MEM_PRIV_FLAGS = 0x002;
/// The memory may be the destination of local receives and RDMA reads.
pub const DAT_MEM_PRIV_LOCAL_WRITE_FLAG: DAT_MEM_PRIV_FLAGS = 0x010;
/// Peers may write the memory by RDMA.
pub const DAT_MEM_PRIV_REMOTE_WRITE_FLAG: DAT_MEM_PRIV_FLAGS = 0x020;
/// All four privileges.
pub const DAT_MEM_PRIV_ALL_FLAG: DAT_MEM_PRIV_FLAGS = 0x033;
/// Local and remote read; for compatibility.
pub const DAT_MEM_PRIV_READ_FLAG: DAT_MEM_PRIV_FLAGS = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG;
/// Local and remote write; for compatibility.
pub const DAT_MEM_PRIV_WRITE_FLAG: DAT_MEM_PRIV_FLAGS = DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG;

/// Selects fields of DAT_LMR_PARAM.
pub type DAT_LMR_PARAM_MASK = c_enum;
pub const DAT_LMR_FIELD_IA_HANDLE: DAT_LMR_PARAM_MASK = 0x001;
pub const DAT_LMR_FIELD_MEM_TYPE: DAT_LMR_PARAM_MASK = 0x002;
pub const DAT_LMR_FIELD_REGION_DESC: DAT_LMR_PARAM_MASK = 0x004;
pub const DAT_LMR_FIELD_LENGTH: DAT_LMR_PARAM_MASK = 0x008;
pub const DAT_LMR_FIELD_PZ_HANDLE: DAT_LMR_PARAM_MASK = 0x010;
pub const DAT_LMR_FIELD_MEM_PRIV: DAT_LMR_PARAM_MASK = 0x020;

/// Selects fields of DAT_RMR_PARAM.
pub type DAT_RMR_PARAM_MASK = c_enum;
pub const DAT_RMR_FIELD_IA_HANDLE: DAT_RMR_PARAM_MASK = 0x01;
pub const DAT_RMR_FIELD_PZ_HANDLE: DAT_RMR_PARAM_MASK = 0x02;
pub const DAT_RMR_FIELD_LMR_TRIPLET: DAT_RMR_PARAM_MASK = 0x04;
pub const DAT_RMR_FIELD_MEM_PRIV: DAT_RMR_PARAM_MASK = 0x08;
pub const DAT_RMR_FIELD_RMR_CONTEXT: DAT_RMR_PARAM_MASK = 0x10;

/// Parameters of a protection zone, see dat_pz_query.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_PZ_PARAM {
    /// Interface adapter of the protection zone.
    pub ia_handle: DAT_IA_HANDLE,
}

/// Selects fields of DAT_PZ_PARAM.
pub type DAT_PZ_PARAM_MASK = c_enum;
pub const DAT_PZ_FIELD_IA_HANDLE: DAT_PZ_PARAM_MASK = 0x01;
pub const DAT_PZ_FIELD_ALL: DAT_PZ_PARAM_MASK = 0x01;

/// Owner of the array of segments after a post returned.
pub type DAT_IOV_OWNERSHIP = c_enum;
/// The program, which may reuse the array immediately.
pub const DAT_IOV_CONSUMER: DAT_IOV_OWNERSHIP = 0;
/// The provider, until completion. It does not change the array.
pub const DAT_IOV_PROVIDER_NOMOD: DAT_IOV_OWNERSHIP = 1;
/// The provider, until completion. It may change the array.
pub const DAT_IOV_PROVIDER_MOD: DAT_IOV_OWNERSHIP = 2;
