//! Named attributes
//!
//! Names in provider_specific_attr of DAT_PROVIDER_ATTR. The value "TRUE" means that the operation is supported.

use core::ffi::CStr;

use crate::dat_platform_specific::DAT_COUNT;

/// Version of these extensions: extension_version of DAT_IA_ATTR.
pub const DAT_IB_EXTENSION_VERSION: DAT_COUNT = 209;

c_consts! {
    &CStr;
    DAT_IB_ATTR_COUNTERS = c"DAT_COUNTERS", "Counters of calls and events.";
    DAT_ATTR_COUNTERS = c"DAT_COUNTERS", "Another name of DAT_IB_ATTR_COUNTERS.";
    DAT_IB_ATTR_FETCH_AND_ADD = c"DAT_IB_FETCH_AND_ADD", "Fetch and add, see dat_ib_post_fetch_and_add.";
    DAT_IB_ATTR_CMP_AND_SWAP = c"DAT_IB_CMP_AND_SWAP", "Compare and swap, see dat_ib_post_cmp_and_swap.";
    DAT_IB_ATTR_IMMED_DATA = c"DAT_IB_IMMED_DATA", "RDMA write with immediate data, see dat_ib_post_rdma_write_immed.";
    DAT_IB_ATTR_UD = c"DAT_IB_UD", "Unreliable datagrams.";
    DAT_IB_COLL_SET_CLOCK = c"DAT_COLL_SET_CLOCK", "Collective operation: set clock.";
    DAT_IB_COLL_READ_CLOCK = c"DAT_COLL_READ_CLOCK", "Collective operation: read clock.";
    DAT_IB_COLL_BROADCAST = c"DAT_COLL_BROADCAST", "Collective operation: broadcast.";
    DAT_IB_COLL_BARRIER = c"DAT_COLL_BARRIER", "Collective operation: barrier.";
    DAT_IB_COLL_SCATTER = c"DAT_COLL_SCATTER", "Collective operation: scatter.";
    DAT_IB_COLL_SCATTERV = c"DAT_COLL_SCATTERV", "Collective operation: scatterv.";
    DAT_IB_COLL_GATHER = c"DAT_COLL_GATHER", "Collective operation: gather.";
    DAT_IB_COLL_GATHERV = c"DAT_COLL_GATHERV", "Collective operation: gatherv.";
    DAT_IB_COLL_ALLGATHER = c"DAT_COLL_ALLGATHER", "Collective operation: allgather.";
    DAT_IB_COLL_ALLGATHERV = c"DAT_COLL_ALLGATHERV", "Collective operation: allgatherv.";
    DAT_IB_COLL_ALLTOALL = c"DAT_COLL_ALLTOALL", "Collective operation: alltoall.";
    DAT_IB_COLL_ALLTOALLV = c"DAT_COLL_ALLTOALLV", "Collective operation: alltoallv.";
    DAT_IB_COLL_REDUCE = c"DAT_COLL_REDUCE", "Collective operation: reduce.";
    DAT_IB_COLL_ALLREDUCE = c"DAT_COLL_ALLREDUCE", "Collective operation: allreduce.";
    DAT_IB_COLL_REDUCE_SCATTER = c"DAT_COLL_REDUCE_SCATTER", "Collective operation: reduce scatter.";
    DAT_IB_COLL_SCAN = c"DAT_COLL_SCAN", "Collective operation: scan.";
}
