//! Extended operations and their events

use crate::dat::{DAT_CONTEXT, DAT_HANDLE};
use crate::dat_platform_specific::*;
use crate::ib::ibv_ah;

c_enum! {
    /// Kind of an extended event.
    dat_ib_event_number as DAT_IB_EVENT_NUMBER;
    DAT_IB_DTO_EVENT = 0x40000, "An extended data transfer completed.";
    DAT_IB_UD_CONNECTION_REQUEST_EVENT = 0x40001, "A peer requests the address of a datagram endpoint.";
    DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED = 0x40002, "The address of the remote datagram endpoint is known.";
    DAT_IB_UD_CONNECTION_REJECT_EVENT = 0x40003, "The peer rejected the request for its address.";
    DAT_IB_UD_CONNECTION_ERROR_EVENT = 0x40004, "The request for an address failed.";
    DAT_IB_COLLECTIVE_EVENT = 0x40005, "A collective operation completed.";
}

c_enum! {
    /// Numbers of the extended operations, for dat_extension_op. Collective operations are not in this project: they
    /// return DAT_NOT_IMPLEMENTED.
    dat_ib_op as DAT_IB_OP;
    DAT_IB_FETCH_AND_ADD_OP = 0, "See dat_ib_post_fetch_and_add.";
    DAT_IB_CMP_AND_SWAP_OP = 1, "See dat_ib_post_cmp_and_swap.";
    DAT_IB_RDMA_WRITE_IMMED_OP = 2, "See dat_ib_post_rdma_write_immed.";
    DAT_IB_UD_SEND_OP = 3, "See dat_ib_post_send_ud.";
    DAT_IB_QUERY_COUNTERS_OP = 4, "See dat_ib_query_counters.";
    DAT_IB_PRINT_COUNTERS_OP = 5, "See dat_ib_print_counters.";
    DAT_IB_COLLECTIVE_CREATE_MEMBER_OP = 6, "See dat_ib_collective_create_member.";
    DAT_IB_COLLECTIVE_FREE_MEMBER_OP = 7, "See dat_ib_collective_free_member.";
    DAT_IB_COLLECTIVE_CREATE_GROUP_OP = 8, "See dat_ib_collective_create_group.";
    DAT_IB_COLLECTIVE_FREE_GROUP_OP = 9, "See dat_ib_collective_free_group.";
    DAT_IB_COLLECTIVE_SET_CLOCK_OP = 10, "See dat_ib_collective_set_clock.";
    DAT_IB_COLLECTIVE_READ_CLOCK_OP = 11, "See dat_ib_collective_read_clock.";
    DAT_IB_COLLECTIVE_SCATTER_OP = 12, "See dat_ib_collective_scatter.";
    DAT_IB_COLLECTIVE_SCATTERV_OP = 13, "See dat_ib_collective_scatterv.";
    DAT_IB_COLLECTIVE_GATHER_OP = 14, "See dat_ib_collective_gather.";
    DAT_IB_COLLECTIVE_GATHERV_OP = 15, "See dat_ib_collective_gatherv.";
    DAT_IB_COLLECTIVE_ALLGATHER_OP = 16, "See dat_ib_collective_allgather.";
    DAT_IB_COLLECTIVE_ALLGATHERV_OP = 17, "See dat_ib_collective_allgatherv.";
    DAT_IB_COLLECTIVE_ALLTOALL_OP = 18, "See dat_ib_collective_alltoall.";
    DAT_IB_COLLECTIVE_ALLTOALLV_OP = 19, "See dat_ib_collective_alltoallv.";
    DAT_IB_COLLECTIVE_REDUCE_OP = 20, "See dat_ib_collective_reduce.";
    DAT_IB_COLLECTIVE_ALLREDUCE_OP = 21, "See dat_ib_collective_allreduce.";
    DAT_IB_COLLECTIVE_REDUCE_SCATTER_OP = 22, "See dat_ib_collective_reduce_scatter.";
    DAT_IB_COLLECTIVE_SCAN_OP = 23, "See dat_ib_collective_scan.";
    DAT_IB_COLLECTIVE_BROADCAST_OP = 24, "See dat_ib_collective_broadcast.";
    DAT_IB_COLLECTIVE_BARRIER_OP = 25, "See dat_ib_collective_barrier.";
    DAT_IB_START_COUNTERS_OP = 26, "See dat_ib_start_counter.";
    DAT_IB_STOP_COUNTERS_OP = 27, "See dat_ib_stop_counter.";
    DAT_IB_UD_CM_FREE_OP = 28, "See dat_ib_ud_cm_free.";
    DAT_IB_UD_AH_FREE_OP = 29, "See dat_ib_ud_ah_free.";
    DAT_IB_OPEN_QUERY_OP = 0x01000, "See dat_ib_open_query.";
    DAT_IB_CLOSE_QUERY_OP = 0x02000, "See dat_ib_close_query.";
}

c_enum! {
    /// Kind of the operation of an extended event.
    dat_ib_ext_type as DAT_IB_EXT_TYPE;
    DAT_IB_FETCH_AND_ADD = 0, "Fetch and add.";
    DAT_IB_CMP_AND_SWAP = 1, "Compare and swap.";
    DAT_IB_RDMA_WRITE_IMMED = 2, "RDMA write with immediate data, at its origin.";
    DAT_IB_RDMA_WRITE_IMMED_DATA = 3, "The immediate data of an RDMA write, at its target: see val.immed.";
    DAT_IB_RECV_IMMED_DATA = 4, "The immediate data of a send, at its target.";
    DAT_IB_UD_CONNECT_REQUEST = 5, "A request for the address of a datagram endpoint.";
    DAT_IB_UD_REMOTE_AH = 6, "The address of the remote datagram endpoint.";
    DAT_IB_UD_PASSIVE_REMOTE_AH = 7, "The address of the requesting endpoint.";
    DAT_IB_UD_SEND = 8, "Send of a datagram.";
    DAT_IB_UD_RECV = 9, "Receive of a datagram.";
    DAT_IB_UD_CONNECT_REJECT = 10, "A rejected request for an address.";
    DAT_IB_UD_CONNECT_ERROR = 11, "A failed request for an address.";
    DAT_IB_COLLECTIVE_CREATE_STATUS = 12, "Collective operation: create.";
    DAT_IB_COLLECTIVE_CREATE_DATA = 13, "Collective operation: create, its result.";
    DAT_IB_COLLECTIVE_CLOCK_SET_STATUS = 14, "Collective operation: clock set.";
    DAT_IB_COLLECTIVE_SCATTER_STATUS = 15, "Collective operation: scatter.";
    DAT_IB_COLLECTIVE_SCATTERV_STATUS = 16, "Collective operation: scatterv.";
    DAT_IB_COLLECTIVE_GATHER_STATUS = 17, "Collective operation: gather.";
    DAT_IB_COLLECTIVE_GATHERV_STATUS = 18, "Collective operation: gatherv.";
    DAT_IB_COLLECTIVE_ALLGATHER_STATUS = 19, "Collective operation: allgather.";
    DAT_IB_COLLECTIVE_ALLGATHERV_STATUS = 20, "Collective operation: allgatherv.";
    DAT_IB_COLLECTIVE_ALLTOALL_STATUS = 21, "Collective operation: alltoall.";
    DAT_IB_COLLECTIVE_ALLTOALLV_STATUS = 22, "Collective operation: alltoallv.";
    DAT_IB_COLLECTIVE_REDUCE_STATUS = 23, "Collective operation: reduce.";
    DAT_IB_COLLECTIVE_ALLREDUCE_STATUS = 24, "Collective operation: allreduce.";
    DAT_IB_COLLECTIVE_REDUCE_SCATTER_STATUS = 25, "Collective operation: reduce scatter.";
    DAT_IB_COLLECTIVE_SCAN_STATUS = 26, "Collective operation: scan.";
    DAT_IB_COLLECTIVE_BROADCAST_STATUS = 27, "Collective operation: broadcast.";
    DAT_IB_COLLECTIVE_BARRIER_STATUS = 28, "Collective operation: barrier.";
}

c_enum! {
    /// Status of an extended operation.
    dat_ib_status as DAT_IB_STATUS;
    DAT_OP_SUCCESS = 0, "Success.";
    DAT_IB_OP_ERR = 1, "Failed; the status in the event data contains the reason.";
    DAT_IB_COLL_COMP_ERR = 2, "A collective operation failed.";
}

c_enum! {
    /// Types of return codes of extended operations.
    dat_ib_return as DAT_IB_RETURN;
    DAT_IB_ERR = 0x10000000, "An operation failed.";
    DAT_IB_COLLECTIVE_ERR = 0x10000001, "A collective operation failed.";
}

c_enum! {
    /// Kinds of extended operations that complete, as values of DAT_DTOS.
    dat_ib_dtos as DAT_IB_DTOS;
    DAT_IB_DTO_RDMA_WRITE_IMMED = 8, "RDMA write with immediate data.";
    DAT_IB_DTO_RECV_IMMED = 9, "Receive of the immediate data of an RDMA write.";
    DAT_IB_DTO_FETCH_ADD = 10, "Fetch and add.";
    DAT_IB_DTO_CMP_SWAP = 11, "Compare and swap.";
    DAT_IB_DTO_RECV_MSG_IMMED = 12, "Receive of a message with immediate data.";
    DAT_IB_DTO_SEND_UD = 13, "Send of a datagram.";
    DAT_IB_DTO_RECV_UD = 14, "Receive of a datagram.";
    DAT_IB_DTO_RECV_UD_IMMED = 15, "Receive of a datagram with immediate data.";
    DAT_IB_DTO_COLLECTIVES = 16, "Collective operation.";
}

c_enum! {
    /// Kinds of objects of the extensions.
    dat_ib_handle_type as DAT_IB_HANDLE_TYPE;
    DAT_IB_HANDLE_TYPE_EXT = 12, "Any.";
    DAT_IB_HANDLE_TYPE_COLLECTIVE = 13, "Group of a collective operation.";
}

c_enum! {
    /// Kinds of events of the extensions that an event dispatcher admits.
    dat_ib_evd_extension_flags as DAT_IB_EVD_EXTENSION_FLAGS;
    DAT_IB_EVD_EXTENSION_FLAG = 0x200, "All other events.";
}

c_enum! {
    /// Privileges of the extensions on a memory region.
    dat_ib_mem_priv_flags as DAT_IB_MEM_PRIV_FLAGS;
    DAT_IB_MEM_PRIV_REMOTE_ATOMIC = 0x040, "Target of atomic operations of peers.";
}

c_enum! {
    /// Kinds of connections of the extensions.
    dat_ib_service_type as DAT_IB_SERVICE_TYPE;
    DAT_IB_SERVICE_TYPE_UD = 1, "Unreliable datagrams.";
}

c_struct! {
    /// Address of an endpoint of unreliable datagrams.
    struct dat_ib_addr_handle as DAT_IB_ADDR_HANDLE;
    ah: *mut ibv_ah, "Address handle of libibverbs.";
    qpn: DAT_UINT32, "Number of the queue pair.";
    ia_addr: DAT_SOCK_ADDR6, "Address of the adapter.";
}

c_struct! {
    /// Immediate data.
    struct dat_ib_immed_data as DAT_IB_IMMED_DATA;
    data: DAT_UINT32, "The value, unchanged.";
}

c_struct! {
    /// Result of a collective operation.
    struct dat_ib_collective_event_data as DAT_IB_COLLECTIVE_EVENT_DATA;
    handle: DAT_HANDLE, "The group or the member.";
    context: DAT_CONTEXT, "Word of the program.";
}

/// Older name of DAT_IB_QUERY_COUNTERS_OP.
pub const DAT_QUERY_COUNTERS_OP: DAT_IB_OP = DAT_IB_QUERY_COUNTERS_OP;

/// Older name of DAT_IB_PRINT_COUNTERS_OP.
pub const DAT_PRINT_COUNTERS_OP: DAT_IB_OP = DAT_IB_PRINT_COUNTERS_OP;
