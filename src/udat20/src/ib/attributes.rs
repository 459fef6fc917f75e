//! Named attributes
//!
//! Names among provider_specific_attr of DAT_PROVIDER_ATTR; the value "TRUE" says that the operation works.

use core::ffi::CStr;

use crate::dat_platform_specific::DAT_COUNT;

/// Version of these extensions: extension_version of DAT_IA_ATTR.
pub const DAT_IB_EXTENSION_VERSION: DAT_COUNT = 209;

/// Counters of calls and events.
pub const DAT_IB_ATTR_COUNTERS: &CStr = c"DAT_COUNTERS";

/// Another name of DAT_IB_ATTR_COUNTERS.
pub const DAT_ATTR_COUNTERS: &CStr = c"DAT_COUNTERS";

/// Fetch and add, see dat_ib_post_fetch_and_add.
pub const DAT_IB_ATTR_FETCH_AND_ADD: &CStr = c"DAT_IB_FETCH_AND_ADD";

/// Compare and swap, see dat_ib_post_cmp_and_swap.
pub const DAT_IB_ATTR_CMP_AND_SWAP: &CStr = c"DAT_IB_CMP_AND_SWAP";

/// RDMA write with immediate data, see dat_ib_post_rdma_write_immed.
pub const DAT_IB_ATTR_IMMED_DATA: &CStr = c"DAT_IB_IMMED_DATA";

/// Unreliable datagrams.
pub const DAT_IB_ATTR_UD: &CStr = c"DAT_IB_UD";

/// Collective operation: set clock.
pub const DAT_IB_COLL_SET_CLOCK: &CStr = c"DAT_COLL_SET_CLOCK";

/// Collective operation: read clock.
pub const DAT_IB_COLL_READ_CLOCK: &CStr = c"DAT_COLL_READ_CLOCK";

/// Collective operation: broadcast.
pub const DAT_IB_COLL_BROADCAST: &CStr = c"DAT_COLL_BROADCAST";

/// Collective operation: barrier.
pub const DAT_IB_COLL_BARRIER: &CStr = c"DAT_COLL_BARRIER";

/// Collective operation: scatter.
pub const DAT_IB_COLL_SCATTER: &CStr = c"DAT_COLL_SCATTER";

/// Collective operation: scatterv.
pub const DAT_IB_COLL_SCATTERV: &CStr = c"DAT_COLL_SCATTERV";

/// Collective operation: gather.
pub const DAT_IB_COLL_GATHER: &CStr = c"DAT_COLL_GATHER";

/// Collective operation: gatherv.
pub const DAT_IB_COLL_GATHERV: &CStr = c"DAT_COLL_GATHERV";

/// Collective operation: allgather.
pub const DAT_IB_COLL_ALLGATHER: &CStr = c"DAT_COLL_ALLGATHER";

/// Collective operation: allgatherv.
pub const DAT_IB_COLL_ALLGATHERV: &CStr = c"DAT_COLL_ALLGATHERV";

/// Collective operation: alltoall.
pub const DAT_IB_COLL_ALLTOALL: &CStr = c"DAT_COLL_ALLTOALL";

/// Collective operation: alltoallv.
pub const DAT_IB_COLL_ALLTOALLV: &CStr = c"DAT_COLL_ALLTOALLV";

/// Collective operation: reduce.
pub const DAT_IB_COLL_REDUCE: &CStr = c"DAT_COLL_REDUCE";

/// Collective operation: allreduce.
pub const DAT_IB_COLL_ALLREDUCE: &CStr = c"DAT_COLL_ALLREDUCE";

/// Collective operation: reduce scatter.
pub const DAT_IB_COLL_REDUCE_SCATTER: &CStr = c"DAT_COLL_REDUCE_SCATTER";

/// Collective operation: scan.
pub const DAT_IB_COLL_SCAN: &CStr = c"DAT_COLL_SCAN";
