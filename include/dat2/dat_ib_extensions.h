/*
 * dat2/dat_ib_extensions.h: extensions for InfiniBand.
 *
 * Part of libdat2, an implementation of uDAPL 2.0.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Generated from src/interface/udat20 by `make derived`; changes belong there.
 */

#ifndef DAT2_DAT_IB_EXTENSIONS_H
#define DAT2_DAT_IB_EXTENSIONS_H

#include "udat.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Named attributes ---- */

/** Version of these extensions: extension_version of DAT_IA_ATTR. */
#define DAT_IB_EXTENSION_VERSION 209

/** Counters of calls and events, see dat_ib_query_counters. */
#define DAT_IB_ATTR_COUNTERS "DAT_COUNTERS"

/** Another name of DAT_IB_ATTR_COUNTERS. */
#define DAT_ATTR_COUNTERS "DAT_COUNTERS"

/** Fetch and add, see dat_ib_post_fetch_and_add. */
#define DAT_IB_ATTR_FETCH_AND_ADD "DAT_IB_FETCH_AND_ADD"

/** Compare and swap, see dat_ib_post_cmp_and_swap. */
#define DAT_IB_ATTR_CMP_AND_SWAP "DAT_IB_CMP_AND_SWAP"

/** RDMA write with immediate data, see dat_ib_post_rdma_write_immed. */
#define DAT_IB_ATTR_IMMED_DATA "DAT_IB_IMMED_DATA"

/** Unreliable datagrams, see dat_ib_post_send_ud. */
#define DAT_IB_ATTR_UD "DAT_IB_UD"

#define DAT_IB_COLL_SET_CLOCK "DAT_COLL_SET_CLOCK"

#define DAT_IB_COLL_READ_CLOCK "DAT_COLL_READ_CLOCK"

#define DAT_IB_COLL_BROADCAST "DAT_COLL_BROADCAST"

#define DAT_IB_COLL_BARRIER "DAT_COLL_BARRIER"

#define DAT_IB_COLL_SCATTER "DAT_COLL_SCATTER"

#define DAT_IB_COLL_SCATTERV "DAT_COLL_SCATTERV"

#define DAT_IB_COLL_GATHER "DAT_COLL_GATHER"

#define DAT_IB_COLL_GATHERV "DAT_COLL_GATHERV"

#define DAT_IB_COLL_ALLGATHER "DAT_COLL_ALLGATHER"

#define DAT_IB_COLL_ALLGATHERV "DAT_COLL_ALLGATHERV"

#define DAT_IB_COLL_ALLTOALL "DAT_COLL_ALLTOALL"

#define DAT_IB_COLL_ALLTOALLV "DAT_COLL_ALLTOALLV"

#define DAT_IB_COLL_REDUCE "DAT_COLL_REDUCE"

#define DAT_IB_COLL_ALLREDUCE "DAT_COLL_ALLREDUCE"

#define DAT_IB_COLL_REDUCE_SCATTER "DAT_COLL_REDUCE_SCATTER"

#define DAT_IB_COLL_SCAN "DAT_COLL_SCAN"

/* ---- Extended operations and their events ---- */

/** Kind of an extended event. */
typedef enum dat_ib_event_number {
    /** An extended data transfer completed. */
    DAT_IB_DTO_EVENT = 0x40000,
    /** A peer requests the address of a datagram endpoint. */
    DAT_IB_UD_CONNECTION_REQUEST_EVENT = 0x40001,
    /** The address of the remote datagram endpoint is known. */
    DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED = 0x40002,
    /** The peer rejected the request for its address. */
    DAT_IB_UD_CONNECTION_REJECT_EVENT = 0x40003,
    /** The request for an address failed. */
    DAT_IB_UD_CONNECTION_ERROR_EVENT = 0x40004,
    /** A collective operation completed. */
    DAT_IB_COLLECTIVE_EVENT = 0x40005,
} DAT_IB_EVENT_NUMBER;

/**
 * Numbers of the extended operations, for dat_extension_op. The providers of this project return
 * DAT_NOT_IMPLEMENTED for collective operations.
 */
typedef enum dat_ib_op {
    DAT_IB_FETCH_AND_ADD_OP = 0,
    DAT_IB_CMP_AND_SWAP_OP = 1,
    DAT_IB_RDMA_WRITE_IMMED_OP = 2,
    DAT_IB_UD_SEND_OP = 3,
    DAT_IB_QUERY_COUNTERS_OP = 4,
    DAT_IB_PRINT_COUNTERS_OP = 5,
    DAT_IB_COLLECTIVE_CREATE_MEMBER_OP = 6,
    DAT_IB_COLLECTIVE_FREE_MEMBER_OP = 7,
    DAT_IB_COLLECTIVE_CREATE_GROUP_OP = 8,
    DAT_IB_COLLECTIVE_FREE_GROUP_OP = 9,
    DAT_IB_COLLECTIVE_SET_CLOCK_OP = 10,
    DAT_IB_COLLECTIVE_READ_CLOCK_OP = 11,
    DAT_IB_COLLECTIVE_SCATTER_OP = 12,
    DAT_IB_COLLECTIVE_SCATTERV_OP = 13,
    DAT_IB_COLLECTIVE_GATHER_OP = 14,
    DAT_IB_COLLECTIVE_GATHERV_OP = 15,
    DAT_IB_COLLECTIVE_ALLGATHER_OP = 16,
    DAT_IB_COLLECTIVE_ALLGATHERV_OP = 17,
    DAT_IB_COLLECTIVE_ALLTOALL_OP = 18,
    DAT_IB_COLLECTIVE_ALLTOALLV_OP = 19,
    DAT_IB_COLLECTIVE_REDUCE_OP = 20,
    DAT_IB_COLLECTIVE_ALLREDUCE_OP = 21,
    DAT_IB_COLLECTIVE_REDUCE_SCATTER_OP = 22,
    DAT_IB_COLLECTIVE_SCAN_OP = 23,
    DAT_IB_COLLECTIVE_BROADCAST_OP = 24,
    DAT_IB_COLLECTIVE_BARRIER_OP = 25,
    DAT_IB_START_COUNTERS_OP = 26,
    DAT_IB_STOP_COUNTERS_OP = 27,
    DAT_IB_UD_CM_FREE_OP = 28,
    DAT_IB_UD_AH_FREE_OP = 29,
    DAT_IB_OPEN_QUERY_OP = 0x01000,
    DAT_IB_CLOSE_QUERY_OP = 0x02000,
} DAT_IB_OP;

/** Kind of the operation of an extended event. */
typedef enum dat_ib_ext_type {
    DAT_IB_FETCH_AND_ADD = 0,
    DAT_IB_CMP_AND_SWAP = 1,
    /** RDMA write with immediate data, at the side that posted the write. */
    DAT_IB_RDMA_WRITE_IMMED = 2,
    /** The immediate data of an RDMA write, at the target: see val.immed. */
    DAT_IB_RDMA_WRITE_IMMED_DATA = 3,
    /** The immediate data of a send, at the receiver. */
    DAT_IB_RECV_IMMED_DATA = 4,
    /** A request for the address of a datagram endpoint. */
    DAT_IB_UD_CONNECT_REQUEST = 5,
    /** The address of the remote datagram endpoint, at the side that requested it. */
    DAT_IB_UD_REMOTE_AH = 6,
    /** The address of the requesting endpoint, at the side that accepted the request. */
    DAT_IB_UD_PASSIVE_REMOTE_AH = 7,
    DAT_IB_UD_SEND = 8,
    DAT_IB_UD_RECV = 9,
    /** A rejected request for an address. */
    DAT_IB_UD_CONNECT_REJECT = 10,
    /** A failed request for an address. */
    DAT_IB_UD_CONNECT_ERROR = 11,
    DAT_IB_COLLECTIVE_CREATE_STATUS = 12,
    DAT_IB_COLLECTIVE_CREATE_DATA = 13,
    DAT_IB_COLLECTIVE_CLOCK_SET_STATUS = 14,
    DAT_IB_COLLECTIVE_SCATTER_STATUS = 15,
    DAT_IB_COLLECTIVE_SCATTERV_STATUS = 16,
    DAT_IB_COLLECTIVE_GATHER_STATUS = 17,
    DAT_IB_COLLECTIVE_GATHERV_STATUS = 18,
    DAT_IB_COLLECTIVE_ALLGATHER_STATUS = 19,
    DAT_IB_COLLECTIVE_ALLGATHERV_STATUS = 20,
    DAT_IB_COLLECTIVE_ALLTOALL_STATUS = 21,
    DAT_IB_COLLECTIVE_ALLTOALLV_STATUS = 22,
    DAT_IB_COLLECTIVE_REDUCE_STATUS = 23,
    DAT_IB_COLLECTIVE_ALLREDUCE_STATUS = 24,
    DAT_IB_COLLECTIVE_REDUCE_SCATTER_STATUS = 25,
    DAT_IB_COLLECTIVE_SCAN_STATUS = 26,
    DAT_IB_COLLECTIVE_BROADCAST_STATUS = 27,
    DAT_IB_COLLECTIVE_BARRIER_STATUS = 28,
} DAT_IB_EXT_TYPE;

/** Status of an extended operation. */
typedef enum dat_ib_status {
    DAT_OP_SUCCESS = 0,
    /** The operation failed; the status in dto_completion_event_data is the reason. */
    DAT_IB_OP_ERR = 1,
    /** A collective operation failed. */
    DAT_IB_COLL_COMP_ERR = 2,
} DAT_IB_STATUS;

/** Types of return codes of extended operations. */
typedef enum dat_ib_return {
    /** An operation failed. */
    DAT_IB_ERR = 0x10000000,
    /** A collective operation failed. */
    DAT_IB_COLLECTIVE_ERR = 0x10000001,
} DAT_IB_RETURN;

/** Kinds of extended operations that complete, as values of DAT_DTOS. */
typedef enum dat_ib_dtos {
    DAT_IB_DTO_RDMA_WRITE_IMMED = 8,
    /** Receive of the immediate data of an RDMA write. */
    DAT_IB_DTO_RECV_IMMED = 9,
    DAT_IB_DTO_FETCH_ADD = 10,
    DAT_IB_DTO_CMP_SWAP = 11,
    /** Receive of a message with immediate data. */
    DAT_IB_DTO_RECV_MSG_IMMED = 12,
    DAT_IB_DTO_SEND_UD = 13,
    DAT_IB_DTO_RECV_UD = 14,
    DAT_IB_DTO_RECV_UD_IMMED = 15,
    DAT_IB_DTO_COLLECTIVES = 16,
} DAT_IB_DTOS;

/** Kinds of objects of the extensions. */
typedef enum dat_ib_handle_type {
    /** Any object of an extension. */
    DAT_IB_HANDLE_TYPE_EXT = 12,
    /** Group of a collective operation. */
    DAT_IB_HANDLE_TYPE_COLLECTIVE = 13,
} DAT_IB_HANDLE_TYPE;

/** Kinds of events of the extensions that an event dispatcher admits. */
typedef enum dat_ib_evd_extension_flags {
    /** Events that no other flag admits, such as completions of collective operations. */
    DAT_IB_EVD_EXTENSION_FLAG = 0x200,
} DAT_IB_EVD_EXTENSION_FLAGS;

/** Privileges of the extensions on a memory region. */
typedef enum dat_ib_mem_priv_flags {
    /** Peers may execute atomic operations on the memory. */
    DAT_IB_MEM_PRIV_REMOTE_ATOMIC = 0x040,
} DAT_IB_MEM_PRIV_FLAGS;

/** Kinds of connections of the extensions. */
typedef enum dat_ib_service_type {
    /** Unreliable datagrams. */
    DAT_IB_SERVICE_TYPE_UD = 1,
} DAT_IB_SERVICE_TYPE;

/** Address of an endpoint of unreliable datagrams. */
typedef struct dat_ib_addr_handle {
    /** Address handle of libibverbs. */
    struct ibv_ah *ah;
    /** Number of the remote queue pair. */
    DAT_UINT32 qpn;
    /** Address of the remote interface adapter. */
    DAT_SOCK_ADDR6 ia_addr;
} DAT_IB_ADDR_HANDLE;

/** Immediate data. */
typedef struct dat_ib_immed_data {
    /** Value that the peer has passed: four bytes in the order of memory, not swapped. */
    DAT_UINT32 data;
} DAT_IB_IMMED_DATA;

/** Result of a collective operation. */
typedef struct dat_ib_collective_event_data {
    /** The group or the member. */
    DAT_HANDLE handle;
    /** The user_context of the operation. */
    DAT_CONTEXT context;
} DAT_IB_COLLECTIVE_EVENT_DATA;

/** Older name of DAT_IB_QUERY_COUNTERS_OP. */
#define DAT_QUERY_COUNTERS_OP DAT_IB_QUERY_COUNTERS_OP

/** Older name of DAT_IB_PRINT_COUNTERS_OP. */
#define DAT_PRINT_COUNTERS_OP DAT_IB_PRINT_COUNTERS_OP

/* ---- Counters ---- */

/** Counters of an interface adapter. */
typedef enum dat_ia_counters {
    DCNT_IA_PZ_CREATE = 0,
    DCNT_IA_PZ_FREE = 1,
    DCNT_IA_LMR_CREATE = 2,
    DCNT_IA_LMR_FREE = 3,
    DCNT_IA_RMR_CREATE = 4,
    DCNT_IA_RMR_FREE = 5,
    DCNT_IA_PSP_CREATE = 6,
    DCNT_IA_PSP_CREATE_ANY = 7,
    DCNT_IA_PSP_FREE = 8,
    DCNT_IA_RSP_CREATE = 9,
    DCNT_IA_RSP_FREE = 10,
    DCNT_IA_EVD_CREATE = 11,
    DCNT_IA_EVD_FREE = 12,
    DCNT_IA_EP_CREATE = 13,
    DCNT_IA_EP_FREE = 14,
    DCNT_IA_SRQ_CREATE = 15,
    DCNT_IA_SRQ_FREE = 16,
    DCNT_IA_SP_CR = 17,
    DCNT_IA_SP_CR_ACCEPTED = 18,
    DCNT_IA_SP_CR_REJECTED = 19,
    DCNT_IA_MEM_ALLOC = 20,
    DCNT_IA_MEM_ALLOC_DATA = 21,
    DCNT_IA_MEM_FREE = 22,
    DCNT_IA_ASYNC_ERROR = 23,
    DCNT_IA_ASYNC_QP_ERROR = 24,
    DCNT_IA_ASYNC_CQ_ERROR = 25,
    DCNT_IA_CM_LISTEN = 26,
    DCNT_IA_CM_REQ_TX = 27,
    DCNT_IA_CM_REQ_RX = 28,
    DCNT_IA_CM_REP_TX = 29,
    DCNT_IA_CM_REP_RX = 30,
    DCNT_IA_CM_RTU_TX = 31,
    DCNT_IA_CM_RTU_RX = 32,
    DCNT_IA_CM_USER_REJ_TX = 33,
    DCNT_IA_CM_USER_REJ_RX = 34,
    DCNT_IA_CM_ACTIVE_EST = 35,
    DCNT_IA_CM_PASSIVE_EST = 36,
    DCNT_IA_CM_AH_REQ_TX = 37,
    DCNT_IA_CM_AH_REQ_RX = 38,
    DCNT_IA_CM_AH_RESOLVED = 39,
    DCNT_IA_CM_DREQ_TX = 40,
    DCNT_IA_CM_DREQ_RX = 41,
    DCNT_IA_CM_DREP_TX = 42,
    DCNT_IA_CM_DREP_RX = 43,
    DCNT_IA_CM_MRA_TX = 44,
    DCNT_IA_CM_MRA_RX = 45,
    DCNT_IA_CM_REQ_FULLQ_POLL = 46,
    DCNT_IA_CM_ERR = 47,
    DCNT_IA_CM_ERR_REQ_FULLQ = 48,
    DCNT_IA_CM_ERR_REQ_DUP = 49,
    DCNT_IA_CM_ERR_REQ_RETRY = 50,
    DCNT_IA_CM_ERR_REP_DUP = 51,
    DCNT_IA_CM_ERR_REP_RETRY = 52,
    DCNT_IA_CM_ERR_RTU_DUP = 53,
    DCNT_IA_CM_ERR_RTU_RETRY = 54,
    DCNT_IA_CM_ERR_REFUSED = 55,
    DCNT_IA_CM_ERR_RESET = 56,
    DCNT_IA_CM_ERR_TIMEOUT = 57,
    DCNT_IA_CM_ERR_REJ_TX = 58,
    DCNT_IA_CM_ERR_REJ_RX = 59,
    DCNT_IA_CM_ERR_DREQ_DUP = 60,
    DCNT_IA_CM_ERR_DREQ_RETRY = 61,
    DCNT_IA_CM_ERR_DREP_DUP = 62,
    DCNT_IA_CM_ERR_DREP_RETRY = 63,
    DCNT_IA_CM_ERR_MRA_DUP = 64,
    DCNT_IA_CM_ERR_MRA_RETRY = 65,
    DCNT_IA_CM_ERR_UNEXPECTED = 66,
    DCNT_IA_LNK_ERR_RCV = 67,
    DCNT_IA_LNK_ERR_RCV_REM_PHYS = 68,
    DCNT_IA_LNK_ERR_RCV_CONSTRAINT = 69,
    DCNT_IA_LNK_ERR_XMT_DISCARDS = 70,
    DCNT_IA_LNK_ERR_XMT_CONTRAINT = 71,
    DCNT_IA_LNK_ERR_INTEGRITY = 72,
    DCNT_IA_LNK_ERR_EXC_BUF_OVERRUN = 73,
    DCNT_IA_LNK_WARN_RCV_SW_RELAY = 74,
    DCNT_IA_LNK_WARN_XMT_WAIT = 75,
    DCNT_IA_DIAG_ERR_RQ_RAE = 76,
    DCNT_IA_DIAG_ERR_RQ_OOS = 77,
    DCNT_IA_DIAG_ERR_RQ_RIRE = 78,
    DCNT_IA_DIAG_ERR_RQ_UDSDPRD = 79,
    DCNT_IA_DIAG_ERR_SQ_RAE = 80,
    DCNT_IA_DIAG_ERR_SQ_OOS = 81,
    DCNT_IA_DIAG_ERR_SQ_RIRE = 82,
    DCNT_IA_DIAG_ERR_SQ_RREE = 83,
    DCNT_IA_DIAG_ERR_SQ_TREE = 84,
    /** Selects all counters of an interface adapter, and is their number. */
    DCNT_IA_ALL_COUNTERS = 85,
} DAT_IA_COUNTERS;

/** Counters of an endpoint. */
typedef enum dat_ep_counters {
    DCNT_EP_CONNECT = 0,
    DCNT_EP_DISCONNECT = 1,
    DCNT_EP_POST_SEND = 2,
    DCNT_EP_POST_SEND_DATA = 3,
    DCNT_EP_POST_SEND_UD = 4,
    DCNT_EP_POST_SEND_UD_DATA = 5,
    DCNT_EP_POST_RECV = 6,
    DCNT_EP_POST_RECV_DATA = 7,
    DCNT_EP_POST_WRITE = 8,
    DCNT_EP_POST_WRITE_DATA = 9,
    DCNT_EP_POST_WRITE_IMM = 10,
    DCNT_EP_POST_WRITE_IMM_DATA = 11,
    DCNT_EP_POST_READ = 12,
    DCNT_EP_POST_READ_DATA = 13,
    DCNT_EP_POST_CMP_SWAP = 14,
    DCNT_EP_POST_FETCH_ADD = 15,
    DCNT_EP_RECV = 16,
    DCNT_EP_RECV_DATA = 17,
    DCNT_EP_RECV_UD = 18,
    DCNT_EP_RECV_UD_DATA = 19,
    DCNT_EP_RECV_IMM = 20,
    DCNT_EP_RECV_IMM_DATA = 21,
    DCNT_EP_RECV_RDMA_IMM = 22,
    DCNT_EP_RECV_RDMA_IMM_DATA = 23,
    /** Selects all counters of an endpoint, and is their number. */
    DCNT_EP_ALL_COUNTERS = 24,
} DAT_EP_COUNTERS;

/** Counters of an event dispatcher. */
typedef enum dat_evd_counters {
    DCNT_EVD_WAIT = 0,
    DCNT_EVD_WAIT_BLOCKED = 1,
    DCNT_EVD_WAIT_NOTIFY = 2,
    DCNT_EVD_DEQUEUE = 3,
    DCNT_EVD_DEQUEUE_FOUND = 4,
    DCNT_EVD_DEQUEUE_NOT_FOUND = 5,
    DCNT_EVD_DEQUEUE_POLL = 6,
    DCNT_EVD_DEQUEUE_POLL_FOUND = 7,
    DCNT_EVD_CONN_CALLBACK = 8,
    DCNT_EVD_DTO_CALLBACK = 9,
    /** Selects all counters of an event dispatcher, and is their number. */
    DCNT_EVD_ALL_COUNTERS = 10,
} DAT_EVD_COUNTERS;

/** Groups of counters of an interface adapter. */
typedef enum dat_ia_counter_type {
    /** Counters of connections. */
    DCNT_IA_CM = 0,
    /** Counters of the link, which the device maintains. */
    DCNT_IA_LNK = 1,
    /** Diagnostic counters of the device. */
    DCNT_IA_DIAG = 2,
} DAT_IA_COUNTER_TYPE;

/* ---- Collective operations ---- */

/** Group of a collective operation. */
typedef DAT_HANDLE DAT_IB_COLLECTIVE_HANDLE;

/** Number of a member in its group. */
typedef unsigned int DAT_IB_COLLECTIVE_RANK;

/** Number of a group. */
typedef unsigned int DAT_IB_COLLECTIVE_ID;

/** Member of a group. */
typedef void *DAT_IB_COLLECTIVE_MEMBER;

/** Type of the data of a reduction. */
typedef enum dat_ib_collective_data_type {
    DAT_IB_COLLECTIVE_TYPE_INT8 = 0,
    DAT_IB_COLLECTIVE_TYPE_UINT8 = 1,
    DAT_IB_COLLECTIVE_TYPE_INT16 = 2,
    DAT_IB_COLLECTIVE_TYPE_UINT16 = 3,
    DAT_IB_COLLECTIVE_TYPE_INT32 = 4,
    DAT_IB_COLLECTIVE_TYPE_UINT32 = 5,
    DAT_IB_COLLECTIVE_TYPE_INT64 = 6,
    DAT_IB_COLLECTIVE_TYPE_UINT64 = 7,
    DAT_IB_COLLECTIVE_TYPE_FLOAT = 8,
    DAT_IB_COLLECTIVE_TYPE_DOUBLE = 9,
    DAT_IB_COLLECTIVE_TYPE_LONG_DOUBLE = 10,
    DAT_IB_COLLECTIVE_TYPE_SHORT_INT = 11,
    DAT_IB_COLLECTIVE_TYPE_2INT = 12,
    DAT_IB_COLLECTIVE_TYPE_FLOAT_INT = 13,
    DAT_IB_COLLECTIVE_TYPE_LONG_INT = 14,
    DAT_IB_COLLECTIVE_TYPE_DOUBLE_INT = 15,
} DAT_IB_COLLECTIVE_DATA_TYPE;

/** Operation of a reduction. */
typedef enum dat_ib_collective_reduce_data_op {
    /** Greatest value. */
    DAT_IB_COLLECTIVE_REDUCE_OP_MAX = 0,
    /** Least value. */
    DAT_IB_COLLECTIVE_REDUCE_OP_MIN = 1,
    DAT_IB_COLLECTIVE_REDUCE_OP_SUM = 2,
    DAT_IB_COLLECTIVE_REDUCE_OP_PROD = 3,
    /** Logical and. */
    DAT_IB_COLLECTIVE_REDUCE_OP_LAND = 4,
    /** Bitwise and. */
    DAT_IB_COLLECTIVE_REDUCE_OP_BAND = 5,
    /** Logical or. */
    DAT_IB_COLLECTIVE_REDUCE_OP_LOR = 6,
    /** Bitwise or. */
    DAT_IB_COLLECTIVE_REDUCE_OP_BOR = 7,
    /** Logical exclusive or. */
    DAT_IB_COLLECTIVE_REDUCE_OP_LXOR = 8,
    /** Bitwise exclusive or. */
    DAT_IB_COLLECTIVE_REDUCE_OP_BXOR = 9,
    /** Greatest value and its location. */
    DAT_IB_COLLECTIVE_REDUCE_OP_MAXLOC = 10,
    /** Least value and its location. */
    DAT_IB_COLLECTIVE_REDUCE_OP_MINLOC = 11,
} DAT_IB_COLLECTIVE_REDUCE_DATA_OP;

/** Members of a group. */
typedef struct dat_ib_collective_group {
    /** Number of members on this host. */
    int local_size;
    /** Number of this member among the members on this host. */
    int local_rank;
    /** Numbers in the group of the members on this host. */
    int *local_ranks;
    /** Number of hosts. */
    int external_size;
    /** Number of this host. */
    int external_rank;
    /** Numbers of one member of each host. */
    int *external_ranks;
    /** For each member, its number on its host. */
    int *intranode_table;
    /** For each member, the number of its host. */
    int *internode_table;
    /** Not 0 if the group has all members of the program. */
    int is_comm_world;
} DAT_IB_COLLECTIVE_GROUP;

/* ---- Macros ---- */

/* C99 has no unnamed members; compilers support them as an extension. */
#ifdef __GNUC__
#define DAT_IB_UNNAMED __extension__
#else
#define DAT_IB_UNNAMED
#endif

/** Contents of event_extension_data of DAT_EVENT if event_number is one of DAT_IB_EVENT_NUMBER. */
typedef struct dat_ib_extension_event_data {
    /** The kind of operation. */
    DAT_IB_EXT_TYPE type;
    /** Status of the operation. */
    DAT_IB_STATUS status;
    /** Value of the operation. */
    union {
        /** The immediate data of an RDMA write. */
        DAT_IB_IMMED_DATA immed;
    } val;
    /** Further data of the event. */
    DAT_IB_UNNAMED union {
        /** Address of the remote endpoint of unreliable datagrams. */
        DAT_IB_ADDR_HANDLE remote_ah;
        /** Result of a collective operation. */
        DAT_IB_COLLECTIVE_EVENT_DATA coll;
    };
    /** Context of an exchange of addresses, for dat_ib_ud_cm_free. */
    DAT_CONTEXT context;
} DAT_IB_EXTENSION_EVENT_DATA;

/**
 * Returns the name of the type of a return code, like dat_strerror, also for the types that only
 * extended operations return.
 */
static inline DAT_RETURN dat_strerror_extension(DAT_IB_RETURN value, const char **message)
{
    DAT_RETURN code = (DAT_RETURN)value & ~(DAT_RETURN)(DAT_CLASS_ERROR | DAT_CLASS_WARNING);

    if (code == (DAT_RETURN)DAT_IB_ERR)
        *message = "DAT_IB_ERR";
    else if (code == (DAT_RETURN)DAT_IB_COLLECTIVE_ERR)
        *message = "DAT_IB_COLLECTIVE_ERR";
    else
        return dat_strerror((DAT_RETURN)value, message, NULL);
    return DAT_SUCCESS;
}

/** Returns the name of the status of an extended operation, a blank for success. */
static inline DAT_RETURN dat_strerror_ext_status(DAT_IB_STATUS value, const char **message)
{
    switch ((DAT_UINT32)value) {
    case DAT_OP_SUCCESS:
        *message = " ";
        return DAT_SUCCESS;
    case DAT_IB_OP_ERR:
        *message = "DAT_IB_OP_ERR";
        return DAT_SUCCESS;
    case DAT_IB_COLL_COMP_ERR:
        *message = "DAT_IB_COLL_COMP_ERR";
        return DAT_SUCCESS;
    default:
        *message = "unknown extension status";
        return (DAT_RETURN)DAT_CLASS_ERROR | DAT_INVALID_PARAMETER;
    }
}

/**
 * Posts an atomic addition of add_val to 8 bytes of remote memory, and stores the previous value in
 * the local segment. The remote address must be a multiple of 8, and the local segment must have at
 * least 8 bytes. The operation completes with DAT_IB_DTO_EVENT; the peer gets no event.
 */
#define dat_ib_post_fetch_and_add(ep, add_val, lbuf, cookie, rbuf, flgs) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_FETCH_AND_ADD_OP, (DAT_UINT64)(add_val), \
        (DAT_LMR_TRIPLET *)(lbuf), (cookie), (DAT_RMR_TRIPLET *)(rbuf), \
        (DAT_COMPLETION_FLAGS)(flgs))

/**
 * Posts an atomic exchange: if 8 bytes of remote memory equal cmp_val, the operation replaces them
 * with swap_val. It always stores the previous value in the local segment. The requirements and
 * events of dat_ib_post_fetch_and_add apply.
 */
#define dat_ib_post_cmp_and_swap(ep, cmp_val, swap_val, lbuf, cookie, rbuf, flgs) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_CMP_AND_SWAP_OP, (DAT_UINT64)(cmp_val), \
        (DAT_UINT64)(swap_val), (DAT_LMR_TRIPLET *)(lbuf), (cookie), (DAT_RMR_TRIPLET *)(rbuf), \
        (DAT_COMPLETION_FLAGS)(flgs))

/**
 * Posts an RDMA write with a value, for which the peer must have posted a receive. After the data
 * is written, the receive completes with the value; the memory of the receive is unchanged. Both
 * sides get DAT_IB_DTO_EVENT. Without segments, the operation transfers only the value.
 */
#define dat_ib_post_rdma_write_immed(ep, size, lbuf, cookie, rbuf, idata, flgs) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_RDMA_WRITE_IMMED_OP, (DAT_COUNT)(size), \
        (DAT_LMR_TRIPLET *)(lbuf), (cookie), (DAT_RMR_TRIPLET *)(rbuf), (DAT_UINT32)(idata), \
        (DAT_COMPLETION_FLAGS)(flgs))

/*
 * Unreliable datagrams, available if the attribute DAT_IB_UD is TRUE: an endpoint whose service
 * type is DAT_IB_SERVICE_TYPE_UD has many peers. Each dat_ep_connect requests another peer, and an
 * event of DAT_IB_EVENT_NUMBER contains the address handle of this peer.
 */

/** Posts a datagram to the peer of an address handle from an event. */
#define dat_ib_post_send_ud(ep, segments, lbuf, ah_ptr, cookie, flgs) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_UD_SEND_OP, (DAT_COUNT)(segments), \
        (DAT_LMR_TRIPLET *)(lbuf), (DAT_IB_ADDR_HANDLE *)(ah_ptr), (cookie), \
        (DAT_COMPLETION_FLAGS)(flgs))

/** Posts a receive for datagrams. */
#define dat_ib_post_recv_ud dat_ep_post_recv

/** Frees the state of an exchange with a peer; cm is the context of the event of the exchange. */
#define dat_ib_ud_cm_free(ep, cm) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_UD_CM_FREE_OP, (cm))

/** Frees an address handle. The program can no longer send to this peer. */
#define dat_ib_ud_ah_free(ep, ah) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_UD_AH_FREE_OP, (DAT_IB_ADDR_HANDLE *)(ah))

/*
 * Counters of an adapter, an endpoint or an event dispatcher. Counters that are not maintained are
 * 0.
 */

/**
 * Stores a counter in the array p_cntrs_out, at the index of its number. Stores all counters if
 * cntr is DCNT_IA_ALL_COUNTERS, DCNT_EP_ALL_COUNTERS or DCNT_EVD_ALL_COUNTERS, as for the kind of
 * dat_handle. If reset is not 0, also resets these counters to 0.
 */
#define dat_ib_query_counters(dat_handle, cntr, p_cntrs_out, reset) \
    dat_extension_op((DAT_HANDLE)(dat_handle), DAT_IB_QUERY_COUNTERS_OP, (int)(cntr), \
        (DAT_UINT64 *)(p_cntrs_out), (int)(reset))

/** Older name of dat_ib_query_counters. */
#define dat_query_counters dat_ib_query_counters

/** Prints a counter, or all counters, to standard output, as for dat_ib_query_counters. */
#define dat_ib_print_counters(dat_handle, cntr, reset) \
    dat_extension_op((DAT_HANDLE)(dat_handle), DAT_IB_PRINT_COUNTERS_OP, (int)(cntr), \
        (int)(reset))

/** Older name of dat_ib_print_counters. */
#define dat_print_counters dat_ib_print_counters

/** Starts the counters of a group of an adapter, a value of DAT_IA_COUNTER_TYPE. */
#define dat_ib_start_counter(dat_handle, type) \
    dat_extension_op((DAT_HANDLE)(dat_handle), DAT_IB_START_COUNTERS_OP, \
        (DAT_IA_COUNTER_TYPE)(type))

/** Stops the counters of a group of an adapter, a value of DAT_IA_COUNTER_TYPE. */
#define dat_ib_stop_counter(dat_handle, type) \
    dat_extension_op((DAT_HANDLE)(dat_handle), DAT_IB_STOP_COUNTERS_OP, \
        (DAT_IA_COUNTER_TYPE)(type))

/**
 * Returns the attributes of an adapter, like dat_ia_query, but the program need not have opened the
 * adapter. The returned handle is valid only for dat_ib_close_query. The memory to which the
 * attributes point is valid until that call.
 */
#define dat_ib_open_query(name, ia_handle, ia_mask, ia_attr, prov_mask, prov_attr) \
    dat_extension_op(DAT_HANDLE_NULL, DAT_IB_OPEN_QUERY_OP, (DAT_NAME_PTR)(name), \
        (DAT_HANDLE *)(ia_handle), (DAT_IA_ATTR_MASK)(ia_mask), (DAT_IA_ATTR *)(ia_attr), \
        (DAT_PROVIDER_ATTR_MASK)(prov_mask), (DAT_PROVIDER_ATTR *)(prov_attr))

/** Closes the handle of dat_ib_open_query, and frees the memory of its attributes. */
#define dat_ib_close_query(ia_handle) \
    dat_extension_op((DAT_HANDLE)(ia_handle), DAT_IB_CLOSE_QUERY_OP)

/*
 * Collective operations: the providers of this project return DAT_NOT_IMPLEMENTED.
 */

/** Creates a member of groups. */
#define dat_ib_collective_create_member(ia_handle, progress_func, member, member_size) \
    dat_extension_op((DAT_IA_HANDLE)(ia_handle), DAT_IB_COLLECTIVE_CREATE_MEMBER_OP, \
        (void *)(progress_func), (DAT_IB_COLLECTIVE_MEMBER *)(member), \
        (DAT_UINT32 *)(member_size))

/** Destroys a member. */
#define dat_ib_collective_free_member(ia_handle, member) \
    dat_extension_op((DAT_IA_HANDLE)(ia_handle), DAT_IB_COLLECTIVE_FREE_MEMBER_OP, \
        (DAT_IB_COLLECTIVE_MEMBER)(member))

/** Creates a group of members. */
#define dat_ib_collective_create_group( \
    members, group_size, self, group_id, group_info, evd, pd, user_context) \
    dat_extension_op((DAT_EVD_HANDLE)(evd), DAT_IB_COLLECTIVE_CREATE_GROUP_OP, \
        (DAT_IB_COLLECTIVE_MEMBER *)(members), (DAT_COUNT)(group_size), \
        (DAT_IB_COLLECTIVE_RANK)(self), (DAT_IB_COLLECTIVE_ID)(group_id), \
        (DAT_IB_COLLECTIVE_GROUP *)(group_info), (DAT_PZ_HANDLE)(pd), (user_context))

/** Destroys a group. */
#define dat_ib_collective_free_group(coll_handle) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_FREE_GROUP_OP)

/** Sets the common clock of a group. */
#define dat_ib_collective_set_clock(coll_handle, clock_value, user_context) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_SET_CLOCK_OP, \
        (DAT_UINT64)(clock_value), (user_context))

/** Reads the common clock of a group. */
#define dat_ib_collective_read_clock(coll_handle, clock_value) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_READ_CLOCK_OP, \
        (DAT_UINT64 *)(clock_value))

/** Sends a part of the root's data to each member. */
#define dat_ib_collective_scatter( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_SCATTER_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (DAT_IB_COLLECTIVE_RANK)(root), (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Sends a part of the root's data to each member; parts may differ in length. */
#define dat_ib_collective_scatterv( \
    coll_handle, sendbuf, sendsizes, displs, recvbuf, recvsize, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_SCATTERV_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT *)(sendsizes), (DAT_COUNT *)(displs), \
        (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), (DAT_IB_COLLECTIVE_RANK)(root), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Sends the data of all members to the root. */
#define dat_ib_collective_gather( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_GATHER_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (DAT_IB_COLLECTIVE_RANK)(root), (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Sends the data of all members to the root; parts may differ in length. */
#define dat_ib_collective_gatherv( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsizes, displs, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_GATHERV_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), \
        (DAT_COUNT *)(recvsizes), (DAT_COUNT *)(displs), (DAT_IB_COLLECTIVE_RANK)(root), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Sends the data of all members to each member. */
#define dat_ib_collective_allgather( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLGATHER_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Sends the data of all members to each member; parts may differ in length. */
#define dat_ib_collective_allgatherv( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsizes, displs, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLGATHERV_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), \
        (DAT_COUNT *)(recvsizes), (DAT_COUNT *)(displs), (user_context), \
        (DAT_COMPLETION_FLAGS)(flags))

/** Sends each member a part of the data of every member. */
#define dat_ib_collective_alltoall( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLTOALL_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Sends each member a part of the data of every member; parts may differ in length. */
#define dat_ib_collective_alltoallv( \
    coll_handle, sendbuf, sendsizes, senddispls, recvbuf, recvsizes, recvdispls, user_context, \
    flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLTOALLV_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT *)(sendsizes), (DAT_COUNT *)(senddispls), \
        (DAT_PVOID)(recvbuf), (DAT_COUNT *)(recvsizes), (DAT_COUNT *)(recvdispls), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Combines the data of all members, and sends the result to the root. */
#define dat_ib_collective_reduce( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, op, type, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_REDUCE_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op), (DAT_IB_COLLECTIVE_DATA_TYPE)(type), \
        (DAT_IB_COLLECTIVE_RANK)(root), (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Combines the data of all members, and sends the result to each member. */
#define dat_ib_collective_allreduce( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, op, type, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLREDUCE_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op), (DAT_IB_COLLECTIVE_DATA_TYPE)(type), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Combines the data of all members, and sends a part of the result to each member. */
#define dat_ib_collective_reduce_scatter( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsizes, op, type, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), \
        DAT_IB_COLLECTIVE_REDUCE_SCATTER_OP, (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), \
        (DAT_PVOID)(recvbuf), (DAT_COUNT *)(recvsizes), (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op), \
        (DAT_IB_COLLECTIVE_DATA_TYPE)(type), (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Combines, for each member, the data of the members up to that member. */
#define dat_ib_collective_scan( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, op, type, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_SCAN_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op), (DAT_IB_COLLECTIVE_DATA_TYPE)(type), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Sends the root's data to each member. */
#define dat_ib_collective_broadcast(coll_handle, buf, size, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_BROADCAST_OP, \
        (DAT_PVOID)(buf), (DAT_COUNT)(size), (DAT_IB_COLLECTIVE_RANK)(root), (user_context), \
        (DAT_COMPLETION_FLAGS)(flags))

/** Waits until all members have made this call. */
#define dat_ib_collective_barrier(coll_handle, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_BARRIER_OP, \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

#ifdef __cplusplus
}
#endif

#endif /* DAT2_DAT_IB_EXTENSIONS_H */
