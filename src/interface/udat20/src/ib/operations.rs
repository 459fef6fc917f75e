//! Extended operations and their events

use crate::dat::{DAT_CONTEXT, DAT_HANDLE};
use crate::dat_platform_specific::*;
use crate::ib::ibv_ah;
use dat_udat::names::c_enum;

/// Kind of an extended event.
pub type DAT_IB_EVENT_NUMBER = c_enum;
/// An extended data transfer completed.
pub const DAT_IB_DTO_EVENT: DAT_IB_EVENT_NUMBER = 0x40000;
/// A peer requests the address of a datagram endpoint.
pub const DAT_IB_UD_CONNECTION_REQUEST_EVENT: DAT_IB_EVENT_NUMBER = 0x40001;
/// The address of the remote datagram endpoint is known.
pub const DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED: DAT_IB_EVENT_NUMBER = 0x40002;
/// The peer rejected the request for its address.
pub const DAT_IB_UD_CONNECTION_REJECT_EVENT: DAT_IB_EVENT_NUMBER = 0x40003;
/// The request for an address failed.
pub const DAT_IB_UD_CONNECTION_ERROR_EVENT: DAT_IB_EVENT_NUMBER = 0x40004;
/// A collective operation completed.
pub const DAT_IB_COLLECTIVE_EVENT: DAT_IB_EVENT_NUMBER = 0x40005;

/// Numbers of the extended operations, for dat_extension_op. The providers of this project return
/// DAT_NOT_IMPLEMENTED for collective operations.
pub type DAT_IB_OP = c_enum;
pub const DAT_IB_FETCH_AND_ADD_OP: DAT_IB_OP = 0;
pub const DAT_IB_CMP_AND_SWAP_OP: DAT_IB_OP = 1;
pub const DAT_IB_RDMA_WRITE_IMMED_OP: DAT_IB_OP = 2;
pub const DAT_IB_UD_SEND_OP: DAT_IB_OP = 3;
pub const DAT_IB_QUERY_COUNTERS_OP: DAT_IB_OP = 4;
pub const DAT_IB_PRINT_COUNTERS_OP: DAT_IB_OP = 5;
pub const DAT_IB_COLLECTIVE_CREATE_MEMBER_OP: DAT_IB_OP = 6;
pub const DAT_IB_COLLECTIVE_FREE_MEMBER_OP: DAT_IB_OP = 7;
pub const DAT_IB_COLLECTIVE_CREATE_GROUP_OP: DAT_IB_OP = 8;
pub const DAT_IB_COLLECTIVE_FREE_GROUP_OP: DAT_IB_OP = 9;
pub const DAT_IB_COLLECTIVE_SET_CLOCK_OP: DAT_IB_OP = 10;
pub const DAT_IB_COLLECTIVE_READ_CLOCK_OP: DAT_IB_OP = 11;
pub const DAT_IB_COLLECTIVE_SCATTER_OP: DAT_IB_OP = 12;
pub const DAT_IB_COLLECTIVE_SCATTERV_OP: DAT_IB_OP = 13;
pub const DAT_IB_COLLECTIVE_GATHER_OP: DAT_IB_OP = 14;
pub const DAT_IB_COLLECTIVE_GATHERV_OP: DAT_IB_OP = 15;
pub const DAT_IB_COLLECTIVE_ALLGATHER_OP: DAT_IB_OP = 16;
pub const DAT_IB_COLLECTIVE_ALLGATHERV_OP: DAT_IB_OP = 17;
pub const DAT_IB_COLLECTIVE_ALLTOALL_OP: DAT_IB_OP = 18;
pub const DAT_IB_COLLECTIVE_ALLTOALLV_OP: DAT_IB_OP = 19;
pub const DAT_IB_COLLECTIVE_REDUCE_OP: DAT_IB_OP = 20;
pub const DAT_IB_COLLECTIVE_ALLREDUCE_OP: DAT_IB_OP = 21;
pub const DAT_IB_COLLECTIVE_REDUCE_SCATTER_OP: DAT_IB_OP = 22;
pub const DAT_IB_COLLECTIVE_SCAN_OP: DAT_IB_OP = 23;
pub const DAT_IB_COLLECTIVE_BROADCAST_OP: DAT_IB_OP = 24;
pub const DAT_IB_COLLECTIVE_BARRIER_OP: DAT_IB_OP = 25;
pub const DAT_IB_START_COUNTERS_OP: DAT_IB_OP = 26;
pub const DAT_IB_STOP_COUNTERS_OP: DAT_IB_OP = 27;
pub const DAT_IB_UD_CM_FREE_OP: DAT_IB_OP = 28;
pub const DAT_IB_UD_AH_FREE_OP: DAT_IB_OP = 29;
pub const DAT_IB_OPEN_QUERY_OP: DAT_IB_OP = 0x01000;
pub const DAT_IB_CLOSE_QUERY_OP: DAT_IB_OP = 0x02000;

/// Kind of the operation of an extended event.
pub type DAT_IB_EXT_TYPE = c_enum;
pub const DAT_IB_FETCH_AND_ADD: DAT_IB_EXT_TYPE = 0;
pub const DAT_IB_CMP_AND_SWAP: DAT_IB_EXT_TYPE = 1;
/// RDMA write with immediate data, at the side that posted the write.
pub const DAT_IB_RDMA_WRITE_IMMED: DAT_IB_EXT_TYPE = 2;
/// The immediate data of an RDMA write, at the target: see val.immed.
pub const DAT_IB_RDMA_WRITE_IMMED_DATA: DAT_IB_EXT_TYPE = 3;
/// The immediate data of a send, at the receiver.
pub const DAT_IB_RECV_IMMED_DATA: DAT_IB_EXT_TYPE = 4;
/// A request for the address of a datagram endpoint.
pub const DAT_IB_UD_CONNECT_REQUEST: DAT_IB_EXT_TYPE = 5;
/// The address of the remote datagram endpoint, at the side that requested it.
pub const DAT_IB_UD_REMOTE_AH: DAT_IB_EXT_TYPE = 6;
/// The address of the requesting endpoint, at the side that accepted the request.
pub const DAT_IB_UD_PASSIVE_REMOTE_AH: DAT_IB_EXT_TYPE = 7;
pub const DAT_IB_UD_SEND: DAT_IB_EXT_TYPE = 8;
pub const DAT_IB_UD_RECV: DAT_IB_EXT_TYPE = 9;
/// A rejected request for an address.
pub const DAT_IB_UD_CONNECT_REJECT: DAT_IB_EXT_TYPE = 10;
/// A failed request for an address.
pub const DAT_IB_UD_CONNECT_ERROR: DAT_IB_EXT_TYPE = 11;
pub const DAT_IB_COLLECTIVE_CREATE_STATUS: DAT_IB_EXT_TYPE = 12;
pub const DAT_IB_COLLECTIVE_CREATE_DATA: DAT_IB_EXT_TYPE = 13;
pub const DAT_IB_COLLECTIVE_CLOCK_SET_STATUS: DAT_IB_EXT_TYPE = 14;
pub const DAT_IB_COLLECTIVE_SCATTER_STATUS: DAT_IB_EXT_TYPE = 15;
pub const DAT_IB_COLLECTIVE_SCATTERV_STATUS: DAT_IB_EXT_TYPE = 16;
pub const DAT_IB_COLLECTIVE_GATHER_STATUS: DAT_IB_EXT_TYPE = 17;
pub const DAT_IB_COLLECTIVE_GATHERV_STATUS: DAT_IB_EXT_TYPE = 18;
pub const DAT_IB_COLLECTIVE_ALLGATHER_STATUS: DAT_IB_EXT_TYPE = 19;
pub const DAT_IB_COLLECTIVE_ALLGATHERV_STATUS: DAT_IB_EXT_TYPE = 20;
pub const DAT_IB_COLLECTIVE_ALLTOALL_STATUS: DAT_IB_EXT_TYPE = 21;
pub const DAT_IB_COLLECTIVE_ALLTOALLV_STATUS: DAT_IB_EXT_TYPE = 22;
pub const DAT_IB_COLLECTIVE_REDUCE_STATUS: DAT_IB_EXT_TYPE = 23;
pub const DAT_IB_COLLECTIVE_ALLREDUCE_STATUS: DAT_IB_EXT_TYPE = 24;
pub const DAT_IB_COLLECTIVE_REDUCE_SCATTER_STATUS: DAT_IB_EXT_TYPE = 25;
pub const DAT_IB_COLLECTIVE_SCAN_STATUS: DAT_IB_EXT_TYPE = 26;
pub const DAT_IB_COLLECTIVE_BROADCAST_STATUS: DAT_IB_EXT_TYPE = 27;
pub const DAT_IB_COLLECTIVE_BARRIER_STATUS: DAT_IB_EXT_TYPE = 28;

/// Status of an extended operation.
pub type DAT_IB_STATUS = c_enum;
pub const DAT_OP_SUCCESS: DAT_IB_STATUS = 0;
/// The operation failed; the status in dto_completion_event_data is the reason.
pub const DAT_IB_OP_ERR: DAT_IB_STATUS = 1;
/// A collective operation failed.
pub const DAT_IB_COLL_COMP_ERR: DAT_IB_STATUS = 2;

/// Types of return codes of extended operations.
pub type DAT_IB_RETURN = c_enum;
/// An operation failed.
pub const DAT_IB_ERR: DAT_IB_RETURN = 0x10000000;
/// A collective operation failed.
pub const DAT_IB_COLLECTIVE_ERR: DAT_IB_RETURN = 0x10000001;

/// Kinds of extended operations that complete, as values of DAT_DTOS.
pub type DAT_IB_DTOS = c_enum;
pub const DAT_IB_DTO_RDMA_WRITE_IMMED: DAT_IB_DTOS = 8;
/// Receive of the immediate data of an RDMA write.
pub const DAT_IB_DTO_RECV_IMMED: DAT_IB_DTOS = 9;
pub const DAT_IB_DTO_FETCH_ADD: DAT_IB_DTOS = 10;
pub const DAT_IB_DTO_CMP_SWAP: DAT_IB_DTOS = 11;
/// Receive of a message with immediate data.
pub const DAT_IB_DTO_RECV_MSG_IMMED: DAT_IB_DTOS = 12;
pub const DAT_IB_DTO_SEND_UD: DAT_IB_DTOS = 13;
pub const DAT_IB_DTO_RECV_UD: DAT_IB_DTOS = 14;
pub const DAT_IB_DTO_RECV_UD_IMMED: DAT_IB_DTOS = 15;
pub const DAT_IB_DTO_COLLECTIVES: DAT_IB_DTOS = 16;

/// Kinds of objects of the extensions.
pub type DAT_IB_HANDLE_TYPE = c_enum;
/// Any object of an extension.
pub const DAT_IB_HANDLE_TYPE_EXT: DAT_IB_HANDLE_TYPE = 12;
/// Group of a collective operation.
pub const DAT_IB_HANDLE_TYPE_COLLECTIVE: DAT_IB_HANDLE_TYPE = 13;

/// Kinds of events of the extensions that an event dispatcher admits.
pub type DAT_IB_EVD_EXTENSION_FLAGS = c_enum;
/// Events that no other flag admits, such as completions of collective operations.
pub const DAT_IB_EVD_EXTENSION_FLAG: DAT_IB_EVD_EXTENSION_FLAGS = 0x200;

/// Privileges of the extensions on a memory region.
pub type DAT_IB_MEM_PRIV_FLAGS = c_enum;
/// Peers may execute atomic operations on the memory.
pub const DAT_IB_MEM_PRIV_REMOTE_ATOMIC: DAT_IB_MEM_PRIV_FLAGS = 0x040;

/// Kinds of connections of the extensions.
pub type DAT_IB_SERVICE_TYPE = c_enum;
/// Unreliable datagrams.
pub const DAT_IB_SERVICE_TYPE_UD: DAT_IB_SERVICE_TYPE = 1;

/// Address of an endpoint of unreliable datagrams.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_IB_ADDR_HANDLE {
    /// Address handle of libibverbs.
    pub ah: *mut ibv_ah,
    /// Number of the remote queue pair.
    pub qpn: DAT_UINT32,
    /// Address of the remote interface adapter.
    pub ia_addr: DAT_SOCK_ADDR6,
}

/// Immediate data.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_IB_IMMED_DATA {
    /// Value that the peer has passed: four bytes in the order of memory, not swapped.
    pub data: DAT_UINT32,
}

/// Result of a collective operation.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DAT_IB_COLLECTIVE_EVENT_DATA {
    /// The group or the member.
    pub handle: DAT_HANDLE,
    /// The user_context of the operation.
    pub context: DAT_CONTEXT,
}

/// Older name of DAT_IB_QUERY_COUNTERS_OP.
pub const DAT_QUERY_COUNTERS_OP: DAT_IB_OP = DAT_IB_QUERY_COUNTERS_OP;
/// Older name of DAT_IB_PRINT_COUNTERS_OP.
pub const DAT_PRINT_COUNTERS_OP: DAT_IB_OP = DAT_IB_PRINT_COUNTERS_OP;
