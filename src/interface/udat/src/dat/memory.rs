//! Memory and protection

use super::types::*;
use crate::dat_platform_specific::*;

/// Identifies a local memory region in the segments of a data transfer.
pub type DAT_LMR_CONTEXT = DAT_UINT32;

/// Identifies memory to the remote side in RDMA operations.
pub type DAT_RMR_CONTEXT = DAT_UINT32;

place!(triplets);

c_enum! {
    /// Privileges of a memory region.
    dat_mem_priv_flags as DAT_MEM_PRIV_FLAGS;
    DAT_MEM_PRIV_NONE_FLAG = 0x000, "No privilege.";
    DAT_MEM_PRIV_LOCAL_READ_FLAG = 0x001, "Source of local transfers.";
    DAT_MEM_PRIV_REMOTE_READ_FLAG = 0x002, "Source of RDMA reads of peers.";
    DAT_MEM_PRIV_LOCAL_WRITE_FLAG = 0x010, "Target of local transfers.";
    DAT_MEM_PRIV_REMOTE_WRITE_FLAG = 0x020, "Target of RDMA writes of peers.";
    DAT_MEM_PRIV_ALL_FLAG = 0x033, "All four privileges.";
}

/// Local and remote read; for compatibility.
pub const DAT_MEM_PRIV_READ_FLAG: DAT_MEM_PRIV_FLAGS = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG;

/// Local and remote write; for compatibility.
pub const DAT_MEM_PRIV_WRITE_FLAG: DAT_MEM_PRIV_FLAGS = DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG;

place!(lmr_param);

c_enum! {
    /// Selects fields of DAT_LMR_PARAM.
    dat_lmr_param_mask as DAT_LMR_PARAM_MASK;
    DAT_LMR_FIELD_IA_HANDLE = 0x001, "Selects ia_handle.";
    DAT_LMR_FIELD_MEM_TYPE = 0x002, "Selects mem_type.";
    DAT_LMR_FIELD_REGION_DESC = 0x004, "Selects region_desc.";
    DAT_LMR_FIELD_LENGTH = 0x008, "Selects length.";
    DAT_LMR_FIELD_PZ_HANDLE = 0x010, "Selects pz_handle.";
    DAT_LMR_FIELD_MEM_PRIV = 0x020, "Selects mem_priv.";
}

place!(rmr_param);

c_enum! {
    /// Selects fields of DAT_RMR_PARAM.
    dat_rmr_param_mask as DAT_RMR_PARAM_MASK;
    DAT_RMR_FIELD_IA_HANDLE = 0x01, "Selects ia_handle.";
    DAT_RMR_FIELD_PZ_HANDLE = 0x02, "Selects pz_handle.";
    DAT_RMR_FIELD_LMR_TRIPLET = 0x04, "Selects lmr_triplet.";
    DAT_RMR_FIELD_MEM_PRIV = 0x08, "Selects mem_priv.";
    DAT_RMR_FIELD_RMR_CONTEXT = 0x10, "Selects rmr_context.";
}

c_struct! {
    /// Parameters of a protection zone, see dat_pz_query.
    struct dat_pz_param as DAT_PZ_PARAM;
    ia_handle: DAT_IA_HANDLE, "Its interface adapter.";
}

c_enum! {
    /// Selects fields of DAT_PZ_PARAM.
    dat_pz_param_mask as DAT_PZ_PARAM_MASK;
    DAT_PZ_FIELD_IA_HANDLE = 0x01, "Selects ia_handle.";
    DAT_PZ_FIELD_ALL = 0x01, "Selects all fields.";
}

c_enum! {
    /// Owner of the array of segments after a post returned.
    dat_iov_ownership as DAT_IOV_OWNERSHIP;
    DAT_IOV_CONSUMER = 0, "The program, which may reuse it immediately.";
    DAT_IOV_PROVIDER_NOMOD = 1, "The provider, until completion. It does not change the array.";
    DAT_IOV_PROVIDER_MOD = 2, "The provider, until completion. It may change the array.";
}
