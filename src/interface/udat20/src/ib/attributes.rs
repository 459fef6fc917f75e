//! Named attributes
//!
//! Names in provider_specific_attr of DAT_PROVIDER_ATTR. The value "TRUE" means that the operation is supported.

use core::ffi::CStr;

use crate::dat_platform_specific::DAT_COUNT;

/// Version of these extensions: extension_version of DAT_IA_ATTR.
pub const DAT_IB_EXTENSION_VERSION: DAT_COUNT = 209;

/// Counters of calls and events, see dat_ib_query_counters.
pub const DAT_IB_ATTR_COUNTERS: &CStr = c"DAT_COUNTERS";
/// Another name of DAT_IB_ATTR_COUNTERS.
pub const DAT_ATTR_COUNTERS: &CStr = c"DAT_COUNTERS";
/// Fetch and add, see dat_ib_post_fetch_and_add.
pub const DAT_IB_ATTR_FETCH_AND_ADD: &CStr = c"DAT_IB_FETCH_AND_ADD";
/// Compare and swap, see dat_ib_post_cmp_and_swap.
pub const DAT_IB_ATTR_CMP_AND_SWAP: &CStr = c"DAT_IB_CMP_AND_SWAP";
/// RDMA write with immediate data, see dat_ib_post_rdma_write_immed.
pub const DAT_IB_ATTR_IMMED_DATA: &CStr = c"DAT_IB_IMMED_DATA";
/// Unreliable datagrams, see dat_ib_post_send_ud.
pub const DAT_IB_ATTR_UD: &CStr = c"DAT_IB_UD";
pub const DAT_IB_COLL_SET_CLOCK: &CStr = c"DAT_COLL_SET_CLOCK";
pub const DAT_IB_COLL_READ_CLOCK: &CStr = c"DAT_COLL_READ_CLOCK";
pub const DAT_IB_COLL_BROADCAST: &CStr = c"DAT_COLL_BROADCAST";
pub const DAT_IB_COLL_BARRIER: &CStr = c"DAT_COLL_BARRIER";
pub const DAT_IB_COLL_SCATTER: &CStr = c"DAT_COLL_SCATTER";
pub const DAT_IB_COLL_SCATTERV: &CStr = c"DAT_COLL_SCATTERV";
pub const DAT_IB_COLL_GATHER: &CStr = c"DAT_COLL_GATHER";
pub const DAT_IB_COLL_GATHERV: &CStr = c"DAT_COLL_GATHERV";
pub const DAT_IB_COLL_ALLGATHER: &CStr = c"DAT_COLL_ALLGATHER";
pub const DAT_IB_COLL_ALLGATHERV: &CStr = c"DAT_COLL_ALLGATHERV";
pub const DAT_IB_COLL_ALLTOALL: &CStr = c"DAT_COLL_ALLTOALL";
pub const DAT_IB_COLL_ALLTOALLV: &CStr = c"DAT_COLL_ALLTOALLV";
pub const DAT_IB_COLL_REDUCE: &CStr = c"DAT_COLL_REDUCE";
pub const DAT_IB_COLL_ALLREDUCE: &CStr = c"DAT_COLL_ALLREDUCE";
pub const DAT_IB_COLL_REDUCE_SCATTER: &CStr = c"DAT_COLL_REDUCE_SCATTER";
pub const DAT_IB_COLL_SCAN: &CStr = c"DAT_COLL_SCAN";
