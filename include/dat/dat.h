/*
 * dat/dat.h: what the user-level and the kernel-level interface share.
 *
 * Part of libdat, an implementation of uDAPL 1.2.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Generated from src/interface/udat and src/interface/udat12 by `make derived`; changes belong there.
 */

#ifndef DAT_DAT_H
#define DAT_DAT_H

#include "dat_error.h"
#include "dat_platform_specific.h"
#include "dat_vendor_specific.h"
#include "udat_config.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Basic types ---- */

/** Size of the arrays that contain names, including the terminating NUL. */
#define DAT_NAME_MAX_LENGTH 256

/** Name of an interface adapter: a string of fewer than DAT_NAME_MAX_LENGTH characters. */
typedef char *DAT_NAME_PTR;

/** A named attribute: two strings. */
typedef struct dat_named_attr {
    /** Name. */
    const char *name;
    /** Value. */
    const char *value;
} DAT_NAMED_ATTR;

/** Truth value. */
typedef enum dat_boolean {
    DAT_FALSE = 0,
    DAT_TRUE = 1,
} DAT_BOOLEAN;

/** A word of the program, which the library returns unchanged. */
typedef union dat_context {
    /** The word as a pointer. */
    DAT_PVOID as_ptr;
    /** The word as a number of 64 bits. */
    DAT_UINT64 as_64;
    /** The word as the longest number. */
    DAT_UVERYLONG as_index;
} DAT_CONTEXT;

/** Word of the program, returned in the completion of a data transfer. */
typedef DAT_CONTEXT DAT_DTO_COOKIE;

/** Word of the program, returned in the completion of a bind. */
typedef DAT_CONTEXT DAT_RMR_COOKIE;

/** How a data transfer completes. As an attribute of an endpoint: which completions notify. */
typedef enum dat_completion_flags {
    /** The completion notifies: it wakes a waiter, or triggers the notification object. */
    DAT_COMPLETION_DEFAULT_FLAG = 0x00,
    /** No event if the operation succeeds. */
    DAT_COMPLETION_SUPPRESS_FLAG = 0x01,
    /** The receive of this send notifies, if the peer set this flag in recv_completion_flags. */
    DAT_COMPLETION_SOLICITED_WAIT_FLAG = 0x02,
    /** A successful completion is queued, but wakes no waiter and triggers no notification object. */
    DAT_COMPLETION_UNSIGNALLED_FLAG = 0x04,
    /** Start only after all earlier RDMA reads of the endpoint are complete. */
    DAT_COMPLETION_BARRIER_FENCE_FLAG = 0x08,
    /** Only an attribute of an endpoint: every completion notifies; waiters may have thresholds. */
    DAT_COMPLETION_EVD_THRESHOLD_FLAG = 0x10,
} DAT_COMPLETION_FLAGS;

/** Time to wait in microseconds, counted from the call. */
typedef DAT_UINT32 DAT_TIMEOUT;

/** Waits without a limit. */
#define DAT_TIMEOUT_INFINITE 0xFFFFFFFF

/** Any object of the interface. A valid handle points to a word that points to the DAT_PROVIDER of the object. */
typedef DAT_PVOID DAT_HANDLE;

/** Connection request. */
typedef DAT_HANDLE DAT_CR_HANDLE;

/** Endpoint: one end of a connection. */
typedef DAT_HANDLE DAT_EP_HANDLE;

/** Event dispatcher: a queue of events. */
typedef DAT_HANDLE DAT_EVD_HANDLE;

/** Open instance of an interface adapter. */
typedef DAT_HANDLE DAT_IA_HANDLE;

/** Local memory region. */
typedef DAT_HANDLE DAT_LMR_HANDLE;

/** Public service point. */
typedef DAT_HANDLE DAT_PSP_HANDLE;

/** Protection zone. */
typedef DAT_HANDLE DAT_PZ_HANDLE;

/** Remote memory region. */
typedef DAT_HANDLE DAT_RMR_HANDLE;

/** Reserved service point. */
typedef DAT_HANDLE DAT_RSP_HANDLE;

/** Shared receive queue. */
typedef DAT_HANDLE DAT_SRQ_HANDLE;

/** Kind of an object, see dat_get_handle_type. */
typedef enum dat_handle_type {
    DAT_HANDLE_TYPE_CR = 0,
    DAT_HANDLE_TYPE_EP = 1,
    DAT_HANDLE_TYPE_EVD = 2,
    DAT_HANDLE_TYPE_IA = 3,
    DAT_HANDLE_TYPE_LMR = 4,
    DAT_HANDLE_TYPE_PSP = 5,
    DAT_HANDLE_TYPE_PZ = 6,
    DAT_HANDLE_TYPE_RMR = 7,
    DAT_HANDLE_TYPE_RSP = 8,
    /** Consumer notification object. */
    DAT_HANDLE_TYPE_CNO = 9,
    DAT_HANDLE_TYPE_SRQ = 10,
} DAT_HANDLE_TYPE;

/** Length in bytes. */
typedef DAT_UINT64 DAT_VLEN;

/** Virtual address as a number. */
typedef DAT_UINT64 DAT_VADDR;

/** Pointer to the address of an interface adapter. */
typedef DAT_SOCK_ADDR *DAT_IA_ADDRESS_PTR;

/** Connection qualifier: the number at which a service point listens. */
typedef DAT_UINT64 DAT_CONN_QUAL;

/** Port qualifier: the number of one end of a connection. */
typedef DAT_UINT64 DAT_PORT_QUAL;

/** Quality of service of a connection; bits in DAT_PROVIDER_ATTR. */
typedef enum dat_qos {
    DAT_QOS_BEST_EFFORT = 0x00,
    DAT_QOS_HIGH_THROUGHPUT = 0x01,
    DAT_QOS_LOW_LATENCY = 0x02,
    DAT_QOS_ECONOMY = 0x04,
    DAT_QOS_PREMIUM = 0x08,
} DAT_QOS;

/** Options of dat_ep_connect. */
typedef enum dat_connect_flags {
    /** The connection uses one path. */
    DAT_CONNECT_DEFAULT_FLAG = 0,
    /** The connection may use several paths. */
    DAT_CONNECT_MULTIPATH_FLAG = 1,
} DAT_CONNECT_FLAGS;

/** How dat_ia_close and dat_ep_disconnect end an instance or a connection. */
typedef enum dat_close_flags {
    /** Ends immediately; outstanding work fails. */
    DAT_CLOSE_ABRUPT_FLAG = 0,
    /** Ends after the posted requests have completed. dat_ia_close fails if objects are left. */
    DAT_CLOSE_GRACEFUL_FLAG = 1,
} DAT_CLOSE_FLAGS;

/** Default of dat_ia_close and dat_ep_disconnect. */
#define DAT_CLOSE_DEFAULT DAT_CLOSE_ABRUPT_FLAG

/* ---- Memory and protection ---- */

/** Number that identifies a local memory region in the segments of a data transfer. */
typedef DAT_UINT32 DAT_LMR_CONTEXT;

/** Number that identifies memory to the remote side in RDMA operations. */
typedef DAT_UINT32 DAT_RMR_CONTEXT;

/** Privileges of a memory region. */
typedef enum dat_mem_priv_flags {
    /** No privilege. */
    DAT_MEM_PRIV_NONE_FLAG = 0x000,
    /** The memory may be the source of local sends and RDMA writes. */
    DAT_MEM_PRIV_LOCAL_READ_FLAG = 0x001,
    /** Peers may read the memory by RDMA. */
    DAT_MEM_PRIV_REMOTE_READ_FLAG = 0x002,
    /** The memory may be the destination of local receives and RDMA reads. */
    DAT_MEM_PRIV_LOCAL_WRITE_FLAG = 0x010,
    /** Peers may write the memory by RDMA. */
    DAT_MEM_PRIV_REMOTE_WRITE_FLAG = 0x020,
    /** All four privileges. */
    DAT_MEM_PRIV_ALL_FLAG = 0x033,
    /**
     * No relaxed ordering for this memory. Ignored. From the Solaris headers, for programs that use it; no other
     * privilege has this bit.
     */
    DAT_MEM_PRIV_RO_DISABLE_FLAG = 0x100,
} DAT_MEM_PRIV_FLAGS;

/** Local and remote read; for compatibility. */
#define DAT_MEM_PRIV_READ_FLAG (DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG)

/** Local and remote write; for compatibility. */
#define DAT_MEM_PRIV_WRITE_FLAG (DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG)

/** Selects fields of DAT_LMR_PARAM. */
typedef enum dat_lmr_param_mask {
    DAT_LMR_FIELD_IA_HANDLE = 0x001,
    DAT_LMR_FIELD_MEM_TYPE = 0x002,
    DAT_LMR_FIELD_REGION_DESC = 0x004,
    DAT_LMR_FIELD_LENGTH = 0x008,
    DAT_LMR_FIELD_PZ_HANDLE = 0x010,
    DAT_LMR_FIELD_MEM_PRIV = 0x020,
    DAT_LMR_FIELD_LMR_CONTEXT = 0x040,
    DAT_LMR_FIELD_RMR_CONTEXT = 0x080,
    DAT_LMR_FIELD_REGISTERED_SIZE = 0x100,
    DAT_LMR_FIELD_REGISTERED_ADDRESS = 0x200,
    DAT_LMR_FIELD_ALL = 0x3FF,
} DAT_LMR_PARAM_MASK;

/** Selects fields of DAT_RMR_PARAM. */
typedef enum dat_rmr_param_mask {
    DAT_RMR_FIELD_IA_HANDLE = 0x01,
    DAT_RMR_FIELD_PZ_HANDLE = 0x02,
    DAT_RMR_FIELD_LMR_TRIPLET = 0x04,
    DAT_RMR_FIELD_MEM_PRIV = 0x08,
    DAT_RMR_FIELD_RMR_CONTEXT = 0x10,
    DAT_RMR_FIELD_ALL = 0x1F,
} DAT_RMR_PARAM_MASK;

/** Parameters of a protection zone, see dat_pz_query. */
typedef struct dat_pz_param {
    /** Interface adapter of the protection zone. */
    DAT_IA_HANDLE ia_handle;
} DAT_PZ_PARAM;

/** Selects fields of DAT_PZ_PARAM. */
typedef enum dat_pz_param_mask {
    DAT_PZ_FIELD_IA_HANDLE = 0x01,
    DAT_PZ_FIELD_ALL = 0x01,
} DAT_PZ_PARAM_MASK;

/** Owner of the array of segments after a post returned. */
typedef enum dat_iov_ownership {
    /** The program, which may reuse the array immediately. */
    DAT_IOV_CONSUMER = 0,
    /** The provider, until completion. It does not change the array. */
    DAT_IOV_PROVIDER_NOMOD = 1,
    /** The provider, until completion. It may change the array. */
    DAT_IOV_PROVIDER_MOD = 2,
} DAT_IOV_OWNERSHIP;

/* ---- Events ---- */

/** Kinds of events that an event dispatcher admits. */
typedef enum dat_evd_flags {
    DAT_EVD_SOFTWARE_FLAG = 0x001,
    DAT_EVD_CR_FLAG = 0x010,
    /** Completions of data transfers. */
    DAT_EVD_DTO_FLAG = 0x020,
    DAT_EVD_CONNECTION_FLAG = 0x040,
    /** Completions of binds. */
    DAT_EVD_RMR_BIND_FLAG = 0x080,
    /** Asynchronous errors and watermarks. */
    DAT_EVD_ASYNC_FLAG = 0x100,
    /** All but software events. */
    DAT_EVD_DEFAULT_FLAG = 0x1F0,
} DAT_EVD_FLAGS;

/** Parameters of an event dispatcher, see dat_evd_query. */
typedef struct dat_evd_param DAT_EVD_PARAM;

/** Selects fields of DAT_EVD_PARAM. */
typedef enum dat_evd_param_mask {
    DAT_EVD_FIELD_IA_HANDLE = 0x01,
    DAT_EVD_FIELD_EVD_QLEN = 0x02,
    DAT_EVD_FIELD_EVD_STATE = 0x04,
    /** Selects cno_handle. */
    DAT_EVD_FIELD_CNO = 0x08,
    DAT_EVD_FIELD_EVD_FLAGS = 0x10,
    DAT_EVD_FIELD_ALL = 0x1F,
} DAT_EVD_PARAM_MASK;

/** Status of a data transfer or a bind. */
typedef enum dat_dto_completion_status {
    DAT_DTO_SUCCESS = 0,
    /** Not executed, because the connection ended or does not exist. */
    DAT_DTO_ERR_FLUSHED = 1,
    /** Message longer than the local memory, or another local length problem. */
    DAT_DTO_ERR_LOCAL_LENGTH = 2,
    /** The local endpoint failed. */
    DAT_DTO_ERR_LOCAL_EP = 3,
    /** Local memory: wrong zone, missing privilege, wrong bounds or stale context. */
    DAT_DTO_ERR_LOCAL_PROTECTION = 4,
    /** The remote side sent an unexpected response. */
    DAT_DTO_ERR_BAD_RESPONSE = 5,
    /** Remote memory: wrong zone, missing privilege, wrong bounds or stale context. */
    DAT_DTO_ERR_REMOTE_ACCESS = 6,
    /** The remote side could not execute the operation; its receive may be too short. */
    DAT_DTO_ERR_REMOTE_RESPONDER = 7,
    /** The transport failed after all its retries. */
    DAT_DTO_ERR_TRANSPORT = 8,
    /** No receive was posted at the remote side. */
    DAT_DTO_ERR_RECEIVER_NOT_READY = 9,
    /** A packet was incomplete. */
    DAT_DTO_ERR_PARTIAL_PACKET = 10,
    /** The bind failed. */
    DAT_RMR_OPERATION_FAILED = 11,
} DAT_DTO_COMPLETION_STATUS;

/** Older name of DAT_DTO_ERR_LOCAL_LENGTH. */
#define DAT_DTO_LENGTH_ERROR DAT_DTO_ERR_LOCAL_LENGTH

/** Older name of DAT_DTO_ERR_FLUSHED. */
#define DAT_DTO_FAILURE DAT_DTO_ERR_FLUSHED

/** Status of a bind, with the same values as for a data transfer. */
typedef DAT_DTO_COMPLETION_STATUS DAT_RMR_BIND_COMPLETION_STATUS;

/** The bind succeeded. */
#define DAT_RMR_BIND_SUCCESS DAT_DTO_SUCCESS

/** The bind was flushed. */
#define DAT_RMR_BIND_FAILURE DAT_DTO_ERR_FLUSHED

/** Data of DAT_RMR_BIND_COMPLETION_EVENT. */
typedef struct dat_rmr_bind_completion_event_data {
    /** The remote memory region. */
    DAT_RMR_HANDLE rmr_handle;
    /** The cookie that was passed to dat_rmr_bind. */
    DAT_RMR_COOKIE user_cookie;
    /** Status of the bind. */
    DAT_DTO_COMPLETION_STATUS status;
} DAT_RMR_BIND_COMPLETION_EVENT_DATA;

/** Data of the connection events. */
typedef struct dat_connection_event_data {
    /** The endpoint. */
    DAT_EP_HANDLE ep_handle;
    /** Bytes of private data that the peer sent, such as with dat_cr_accept; 0 without data. */
    DAT_COUNT private_data_size;
    /** The private data. */
    DAT_PVOID private_data;
} DAT_CONNECTION_EVENT_DATA;

/** Data of the asynchronous events. */
typedef struct dat_asynch_error_event_data {
    /** The object of the event. */
    DAT_HANDLE dat_handle;
    /** The reason, from the enumeration for the kind of dat_handle. */
    DAT_COUNT reason;
} DAT_ASYNCH_ERROR_EVENT_DATA;

/** Reason of an asynchronous event whose dat_handle is an interface adapter. */
typedef enum ia_async_error_reason {
    /** The adapter has failed. */
    DAT_IA_CATASTROPHIC_ERROR = 0,
    /** Any other error. */
    DAT_IA_OTHER_ERROR = 1,
} DAT_IA_ASYNC_ERROR_REASON;

/** Reason of an asynchronous event whose dat_handle is an endpoint. */
typedef enum ep_async_error_reason {
    /** The endpoint entered an error state. */
    DAT_EP_TRANSFER_TO_ERROR = 0,
    /**
     * Any other error. Also the end of a connection, with DAT_ASYNC_ERROR_EP_BROKEN in uDAPL
     * 2.0.
     */
    DAT_EP_OTHER_ERROR = 1,
    /** The endpoint holds more receive buffers than its soft high watermark. */
    DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT = 2,
} DAT_EP_ASYNC_ERROR_REASON;

/** Reason of an asynchronous event whose dat_handle is an event dispatcher. */
typedef enum evd_async_error_reason {
    /** The queue was full, and an event is lost. */
    DAT_EVD_OVERFLOW_ERROR = 0,
    /** Any other error. */
    DAT_EVD_OTHER_ERROR = 1,
} DAT_EVD_ASYNC_ERROR_REASON;

/** Reason of an asynchronous event whose dat_handle is a shared receive queue. */
typedef enum srq_async_error_reason {
    /** The queue entered the error state. */
    DAT_SRQ_TRANSFER_TO_ERROR = 0,
    /** Any other error. */
    DAT_SRQ_OTHER_ERROR = 1,
    /** Fewer buffers are available than the low watermark, see dat_srq_set_lw. */
    DAT_SRQ_LOW_WATERMARK_EVENT = 2,
} DAT_SRQ_ASYNC_ERROR_REASON;

/** Reason of an asynchronous event whose dat_handle is a local memory region. */
typedef enum lmr_async_error_reason {
    /** Any error. */
    DAT_LMR_OTHER_ERROR = 0,
} DAT_LMR_ASYNC_ERROR_REASON;

/** Reason of an asynchronous event whose dat_handle is a remote memory region. */
typedef enum rmr_async_error_reason {
    /** Any error. */
    DAT_RMR_OTHER_ERROR = 0,
} DAT_RMR_ASYNC_ERROR_REASON;

/** Reason of an asynchronous event whose dat_handle is a protection zone. */
typedef enum pz_async_error_reason {
    /** Any error. */
    DAT_PZ_OTHER_ERROR = 0,
} DAT_PZ_ASYNC_ERROR_REASON;

/** Data of DAT_SOFTWARE_EVENT. */
typedef struct dat_software_event_data {
    /** The pointer that was passed to dat_evd_post_se. */
    DAT_PVOID pointer;
} DAT_SOFTWARE_EVENT_DATA;

/** Kind of an event. */
typedef enum dat_event_number {
    DAT_DTO_COMPLETION_EVENT = 0x00001,
    DAT_RMR_BIND_COMPLETION_EVENT = 0x01001,
    /** A peer requests a connection. */
    DAT_CONNECTION_REQUEST_EVENT = 0x02001,
    /** The endpoint is connected. */
    DAT_CONNECTION_EVENT_ESTABLISHED = 0x04001,
    /** The remote program rejected the request. */
    DAT_CONNECTION_EVENT_PEER_REJECTED = 0x04002,
    /**
     * The request failed: the peer has no listener or no free backlog entry, or the transport failed. The remote
     * program did not reject it.
     */
    DAT_CONNECTION_EVENT_NON_PEER_REJECTED = 0x04003,
    /** An accepted connection could not be completed. */
    DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR = 0x04004,
    /** Either side disconnected. */
    DAT_CONNECTION_EVENT_DISCONNECTED = 0x04005,
    /** An error ended the connection. */
    DAT_CONNECTION_EVENT_BROKEN = 0x04006,
    /** The timeout of dat_ep_connect expired. */
    DAT_CONNECTION_EVENT_TIMED_OUT = 0x04007,
    /** The remote address is unreachable. */
    DAT_CONNECTION_EVENT_UNREACHABLE = 0x04008,
    /** An event dispatcher was full and lost an event. */
    DAT_ASYNC_ERROR_EVD_OVERFLOW = 0x08001,
    /** The adapter has failed. */
    DAT_ASYNC_ERROR_IA_CATASTROPHIC = 0x08002,
    /**
     * An endpoint entered an error state. In uDAPL 2.0, also each end of a connection of an endpoint with a shared
     * receive queue, even a normal end. The program may have freed the endpoint before it takes the event.
     */
    DAT_ASYNC_ERROR_EP_BROKEN = 0x08003,
    /** An operation timed out. */
    DAT_ASYNC_ERROR_TIMED_OUT = 0x08004,
    /** The provider reports an event of the object dat_handle. Watermark events have this number, too. See reason. */
    DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR = 0x08005,
    /** Posted by dat_evd_post_se. */
    DAT_SOFTWARE_EVENT = 0x10001,
} DAT_EVENT_NUMBER;

/* ---- Endpoints ---- */

/** Kind of connection. */
typedef enum dat_service_type {
    /** Reliable connection. */
    DAT_SERVICE_TYPE_RC = 0,
} DAT_SERVICE_TYPE;

/** State of an endpoint. */
typedef enum dat_ep_state {
    /** Initial state, and the state after dat_ep_reset. */
    DAT_EP_STATE_UNCONNECTED = 0,
    /** Like DAT_EP_STATE_UNCONNECTED, but attributes are not yet set. */
    DAT_EP_STATE_UNCONFIGURED_UNCONNECTED = 1,
    /** Reserved by a reserved service point, which waits for a request. */
    DAT_EP_STATE_RESERVED = 2,
    /** Like DAT_EP_STATE_RESERVED, but attributes are not yet set. */
    DAT_EP_STATE_UNCONFIGURED_RESERVED = 3,
    /** A request for the endpoint arrived at its reserved service point. */
    DAT_EP_STATE_PASSIVE_CONNECTION_PENDING = 4,
    /** Like DAT_EP_STATE_PASSIVE_CONNECTION_PENDING, but attributes are not yet set. */
    DAT_EP_STATE_UNCONFIGURED_PASSIVE = 5,
    /** The program has requested a connection, which is not yet established. */
    DAT_EP_STATE_ACTIVE_CONNECTION_PENDING = 6,
    /** Created by the provider for a request that is not yet accepted or rejected. */
    DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING = 7,
    /** Like DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING, but attributes are not yet set. */
    DAT_EP_STATE_UNCONFIGURED_TENTATIVE = 8,
    DAT_EP_STATE_CONNECTED = 9,
    /** Disconnecting: posted requests are completing, or the transport still uses buffers. */
    DAT_EP_STATE_DISCONNECT_PENDING = 10,
    /** No longer connected, or the connection attempt failed; see dat_ep_reset. */
    DAT_EP_STATE_DISCONNECTED = 11,
    /** The program has accepted a request; the connection is not yet established. */
    DAT_EP_STATE_COMPLETION_PENDING = 12,
} DAT_EP_STATE;

/** Older name of DAT_EP_STATE_DISCONNECTED. */
#define DAT_EP_STATE_ERROR DAT_EP_STATE_DISCONNECTED

/** Selects fields of DAT_EP_PARAM, a set of DAT_EP_FIELD_ bits. */
typedef DAT_UINT64 DAT_EP_PARAM_MASK;

/** Selects ia_handle. */
#define DAT_EP_FIELD_IA_HANDLE UINT64_C(0x1)

/** Selects ep_state. */
#define DAT_EP_FIELD_EP_STATE UINT64_C(0x2)

#define DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE UINT64_C(0x1000)

#define DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE UINT64_C(0x2000)

#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE UINT64_C(0x4000)

#define DAT_EP_FIELD_EP_ATTR_QOS UINT64_C(0x8000)

#define DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS UINT64_C(0x10000)

#define DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS UINT64_C(0x20000)

#define DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS UINT64_C(0x40000)

#define DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS UINT64_C(0x80000)

#define DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV UINT64_C(0x100000)

#define DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV UINT64_C(0x200000)

#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN UINT64_C(0x400000)

#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT UINT64_C(0x800000)

#define DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW UINT64_C(0x1000000)

#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV UINT64_C(0x2000000)

#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV UINT64_C(0x4000000)

/** Selects ep_attr.ep_transport_specific_count. */
#define DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR UINT64_C(0x8000000)

#define DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR UINT64_C(0x10000000)

/** Selects ep_attr.ep_provider_specific_count. */
#define DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR UINT64_C(0x20000000)

#define DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR UINT64_C(0x40000000)

#define DAT_EP_FIELD_EP_ATTR_ALL UINT64_C(0x7FFFF000)

/** A watermark that is never crossed. */
#define DAT_WATERMARK_INFINITE (-1)

/** Default of the high watermarks of an endpoint. */
#define DAT_HW_DEFAULT DAT_WATERMARK_INFINITE

/** Value of a count that the provider does not know. */
#define DAT_VALUE_UNKNOWN (-2)

/* ---- Shared receive queues ---- */

/** Attributes of a shared receive queue. */
typedef struct dat_srq_attr {
    /** Maximum number of outstanding buffers. */
    DAT_COUNT max_recv_dtos;
    /** Maximum number of segments of a buffer. */
    DAT_COUNT max_recv_iov;
    /** Must be DAT_SRQ_LW_DEFAULT, see dat_srq_set_lw. */
    DAT_COUNT low_watermark;
} DAT_SRQ_ATTR;

/** Default of the low watermark of a shared receive queue, which is never crossed. */
#define DAT_SRQ_LW_DEFAULT 0

/** State of a shared receive queue. */
typedef enum dat_srq_state {
    DAT_SRQ_STATE_OPERATIONAL = 0,
    /** The queue has failed. */
    DAT_SRQ_STATE_ERROR = 1,
} DAT_SRQ_STATE;

/** Parameters of a shared receive queue, see dat_srq_query. */
typedef struct dat_srq_param {
    /** Interface adapter of the queue. */
    DAT_IA_HANDLE ia_handle;
    /** State of the queue. */
    DAT_SRQ_STATE srq_state;
    /** Protection zone of the queue. */
    DAT_PZ_HANDLE pz_handle;
    /** Maximum number of outstanding buffers. */
    DAT_COUNT max_recv_dtos;
    /** Maximum number of segments of a buffer. */
    DAT_COUNT max_recv_iov;
    /** Low watermark of the queue, see dat_srq_set_lw. */
    DAT_COUNT low_watermark;
    /** Number of buffers that no endpoint has taken, or DAT_VALUE_UNKNOWN. */
    DAT_COUNT available_dto_count;
    /**
     * Number of buffers that occupy an entry: available, taken by an endpoint, or completed and not yet dequeued.
     * DAT_VALUE_UNKNOWN if the provider does not know it.
     */
    DAT_COUNT outstanding_dto_count;
} DAT_SRQ_PARAM;

/** Selects fields of DAT_SRQ_PARAM. */
typedef enum dat_srq_param_mask {
    DAT_SRQ_FIELD_IA_HANDLE = 0x01,
    DAT_SRQ_FIELD_SRQ_STATE = 0x02,
    DAT_SRQ_FIELD_PZ_HANDLE = 0x04,
    /** Selects max_recv_dtos. */
    DAT_SRQ_FIELD_MAX_RECV_DTO = 0x08,
    DAT_SRQ_FIELD_MAX_RECV_IOV = 0x10,
    DAT_SRQ_FIELD_LOW_WATERMARK = 0x20,
    DAT_SRQ_FIELD_AVAILABLE_DTO_COUNT = 0x40,
    DAT_SRQ_FIELD_OUTSTANDING_DTO_COUNT = 0x80,
    DAT_SRQ_FIELD_ALL = 0xFF,
} DAT_SRQ_PARAM_MASK;

/* ---- Service points and connection requests ---- */

/** Supplier of the endpoint for a request at a public service point. */
typedef enum dat_psp_flags {
    /** The program passes an endpoint to dat_cr_accept. */
    DAT_PSP_CONSUMER_FLAG = 0,
    /** The provider creates an endpoint for each request. */
    DAT_PSP_PROVIDER_FLAG = 1,
} DAT_PSP_FLAGS;

/** Parameters of a public service point, see dat_psp_query. */
typedef struct dat_psp_param {
    /** Interface adapter of the service point. */
    DAT_IA_HANDLE ia_handle;
    /** Qualifier at which the service point listens. */
    DAT_CONN_QUAL conn_qual;
    /** Event dispatcher for connection requests. */
    DAT_EVD_HANDLE evd_handle;
    /** Supplier of the endpoint for a request. */
    DAT_PSP_FLAGS psp_flags;
} DAT_PSP_PARAM;

/** Selects fields of DAT_PSP_PARAM. */
typedef enum dat_psp_param_mask {
    DAT_PSP_FIELD_IA_HANDLE = 0x01,
    DAT_PSP_FIELD_CONN_QUAL = 0x02,
    DAT_PSP_FIELD_EVD_HANDLE = 0x04,
    DAT_PSP_FIELD_PSP_FLAGS = 0x08,
    DAT_PSP_FIELD_ALL = 0x0F,
} DAT_PSP_PARAM_MASK;

/** Parameters of a reserved service point, see dat_rsp_query. */
typedef struct dat_rsp_param {
    /** Interface adapter of the service point. */
    DAT_IA_HANDLE ia_handle;
    /** Qualifier at which the service point listens. */
    DAT_CONN_QUAL conn_qual;
    /** Event dispatcher for the connection request. */
    DAT_EVD_HANDLE evd_handle;
    /** Endpoint that is reserved for the request. */
    DAT_EP_HANDLE ep_handle;
} DAT_RSP_PARAM;

/** Selects fields of DAT_RSP_PARAM. */
typedef enum dat_rsp_param_mask {
    DAT_RSP_FIELD_IA_HANDLE = 0x01,
    DAT_RSP_FIELD_CONN_QUAL = 0x02,
    DAT_RSP_FIELD_EVD_HANDLE = 0x04,
    DAT_RSP_FIELD_EP_HANDLE = 0x08,
    DAT_RSP_FIELD_ALL = 0x0F,
} DAT_RSP_PARAM_MASK;

/** Parameters of a connection request, see dat_cr_query. The pointers are valid until the request is freed. */
typedef struct dat_cr_param {
    /** Remote address. */
    DAT_IA_ADDRESS_PTR remote_ia_address_ptr;
    /** Remote port. */
    DAT_PORT_QUAL remote_port_qual;
    /** Bytes of private data. */
    DAT_COUNT private_data_size;
    /** The private data. */
    DAT_PVOID private_data;
    /** Endpoint of the reserved service point, or created by the provider; else DAT_HANDLE_NULL. */
    DAT_EP_HANDLE local_ep_handle;
} DAT_CR_PARAM;

/** Selects fields of DAT_CR_PARAM. */
typedef enum dat_cr_param_mask {
    DAT_CR_FIELD_REMOTE_IA_ADDRESS_PTR = 0x01,
    DAT_CR_FIELD_REMOTE_PORT_QUAL = 0x02,
    DAT_CR_FIELD_PRIVATE_DATA_SIZE = 0x04,
    DAT_CR_FIELD_PRIVATE_DATA = 0x08,
    DAT_CR_FIELD_LOCAL_EP_HANDLE = 0x10,
    DAT_CR_FIELD_ALL = 0x1F,
} DAT_CR_PARAM_MASK;

/** Cases in which the provider creates the endpoint for a request at a public service point. */
typedef enum dat_ep_creator_for_psp {
    /** Never. */
    DAT_PSP_CREATES_EP_NEVER = 0,
    /** If the program passes DAT_PSP_PROVIDER_FLAG to dat_psp_create. */
    DAT_PSP_CREATES_EP_IFASKED = 1,
    /** Always. */
    DAT_PSP_CREATES_EP_ALWAYS = 2,
} DAT_EP_CREATOR_FOR_PSP;

/* ---- Interface adapters and providers ---- */

/** Selects fields of DAT_IA_ATTR, a set of DAT_IA_FIELD_ bits. */
typedef DAT_UINT64 DAT_IA_ATTR_MASK;

/** Older name of DAT_IA_FIELD_IA_MAX_MESSAGE_SIZE. */
#define DAT_IA_FIELD_IA_MAX_MTU_SIZE DAT_IA_FIELD_IA_MAX_MESSAGE_SIZE

#define DAT_IA_FIELD_IA_ADAPTER_NAME UINT64_C(0x1)

#define DAT_IA_FIELD_IA_VENDOR_NAME UINT64_C(0x2)

#define DAT_IA_FIELD_IA_HARDWARE_MAJOR_VERSION UINT64_C(0x4)

#define DAT_IA_FIELD_IA_HARDWARE_MINOR_VERSION UINT64_C(0x8)

#define DAT_IA_FIELD_IA_FIRMWARE_MAJOR_VERSION UINT64_C(0x10)

#define DAT_IA_FIELD_IA_FIRMWARE_MINOR_VERSION UINT64_C(0x20)

#define DAT_IA_FIELD_IA_ADDRESS_PTR UINT64_C(0x40)

#define DAT_IA_FIELD_IA_MAX_EPS UINT64_C(0x80)

#define DAT_IA_FIELD_IA_MAX_DTO_PER_EP UINT64_C(0x100)

#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_IN UINT64_C(0x200)

#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_OUT UINT64_C(0x400)

#define DAT_IA_FIELD_IA_MAX_EVDS UINT64_C(0x800)

#define DAT_IA_FIELD_IA_MAX_EVD_QLEN UINT64_C(0x1000)

#define DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_DTO UINT64_C(0x2000)

#define DAT_IA_FIELD_IA_MAX_LMRS UINT64_C(0x4000)

#define DAT_IA_FIELD_IA_MAX_LMR_BLOCK_SIZE UINT64_C(0x8000)

#define DAT_IA_FIELD_IA_MAX_LMR_VIRTUAL_ADDRESS UINT64_C(0x10000)

#define DAT_IA_FIELD_IA_MAX_PZS UINT64_C(0x20000)

#define DAT_IA_FIELD_IA_MAX_MESSAGE_SIZE UINT64_C(0x40000)

#define DAT_IA_FIELD_IA_MAX_RDMA_SIZE UINT64_C(0x80000)

#define DAT_IA_FIELD_IA_MAX_RMRS UINT64_C(0x100000)

#define DAT_IA_FIELD_IA_MAX_RMR_TARGET_ADDRESS UINT64_C(0x200000)

#define DAT_IA_FIELD_IA_MAX_SRQS UINT64_C(0x400000)

#define DAT_IA_FIELD_IA_MAX_EP_PER_SRQ UINT64_C(0x800000)

#define DAT_IA_FIELD_IA_MAX_RECV_PER_SRQ UINT64_C(0x1000000)

#define DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_RDMA_READ UINT64_C(0x2000000)

#define DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_RDMA_WRITE UINT64_C(0x4000000)

#define DAT_IA_FIELD_IA_MAX_RDMA_READ_IN UINT64_C(0x8000000)

#define DAT_IA_FIELD_IA_MAX_RDMA_READ_OUT UINT64_C(0x10000000)

#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_IN_GUARANTEED UINT64_C(0x20000000)

#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_OUT_GUARANTEED UINT64_C(0x40000000)

/** Selects no field of DAT_IA_ATTR. */
#define DAT_IA_FIELD_NONE UINT64_C(0x0)

/** Selects fields of DAT_PROVIDER_ATTR, a set of DAT_PROVIDER_FIELD_ bits. */
typedef DAT_UINT64 DAT_PROVIDER_ATTR_MASK;

/** Identity of a provider in the registry: all four fields together. */
typedef struct dat_provider_info {
    /** Name of the interface adapter. */
    char ia_name[DAT_NAME_MAX_LENGTH];
    /** Version of the interface, major. */
    DAT_UINT32 dapl_version_major;
    /** Version of the interface, minor. */
    DAT_UINT32 dapl_version_minor;
    /** DAT_TRUE if several threads may call the provider concurrently. */
    DAT_BOOLEAN is_thread_safe;
} DAT_PROVIDER_INFO;

/* ---- The structures and values of uDAPL 1.2 ---- */

/** One segment of local memory in a data transfer. */
typedef struct dat_lmr_triplet {
    /** Context of the region that contains the segment, see dat_lmr_create. */
    DAT_LMR_CONTEXT lmr_context;
    /** Unused; aligns the next field. */
    DAT_UINT32 pad;
    /** Address of the first byte. */
    DAT_VADDR virtual_address;
    /** Length in bytes. */
    DAT_VLEN segment_length;
} DAT_LMR_TRIPLET;

/**
 * The remote memory of an RDMA operation, in local byte order. A program that sends this structure to another host
 * must convert it.
 */
typedef struct dat_rmr_triplet {
    /** Context of the memory, from dat_lmr_create or dat_rmr_bind at the remote side. */
    DAT_RMR_CONTEXT rmr_context;
    /** Unused; aligns the next field. */
    DAT_UINT32 pad;
    /** Address of the first byte at the remote side. */
    DAT_VADDR target_address;
    /** Length in bytes. */
    DAT_VLEN segment_length;
} DAT_RMR_TRIPLET;

/** Parameters of a local memory region, see dat_lmr_query. */
typedef struct dat_lmr_param DAT_LMR_PARAM;

/** Parameters of a remote memory region, see dat_rmr_query. */
typedef struct dat_rmr_param {
    /** Interface adapter of the region. */
    DAT_IA_HANDLE ia_handle;
    /** Protection zone of the region. */
    DAT_PZ_HANDLE pz_handle;
    /** Memory to which the region is bound. */
    DAT_LMR_TRIPLET lmr_triplet;
    /** Privileges of the remote side on this memory. */
    DAT_MEM_PRIV_FLAGS mem_priv;
    /** Context that identifies the region to the remote side. */
    DAT_RMR_CONTEXT rmr_context;
} DAT_RMR_PARAM;

/** Data of DAT_DTO_COMPLETION_EVENT. */
typedef struct dat_dto_completion_event_data {
    /** Endpoint of the operation. */
    DAT_EP_HANDLE ep_handle;
    /** The cookie that was passed to the post. */
    DAT_DTO_COOKIE user_cookie;
    /** Status of the operation. */
    DAT_DTO_COMPLETION_STATUS status;
    /** Number of transferred bytes; undefined unless status is DAT_DTO_SUCCESS. */
    DAT_VLEN transfered_length;
} DAT_DTO_COMPLETION_EVENT_DATA;

/** A service point of either kind. */
typedef union dat_sp_handle {
    /** Reserved service point. */
    DAT_RSP_HANDLE rsp_handle;
    /** Public service point. */
    DAT_PSP_HANDLE psp_handle;
} DAT_SP_HANDLE;

/** Data of DAT_CONNECTION_REQUEST_EVENT. */
typedef struct dat_cr_arrival_event_data {
    /** The service point at which the request arrived. */
    DAT_SP_HANDLE sp_handle;
    /** The local address to which the peer connects. */
    DAT_IA_ADDRESS_PTR local_ia_address_ptr;
    /** The qualifier to which the peer connects. */
    DAT_CONN_QUAL conn_qual;
    /** The request, for dat_cr_accept, dat_cr_reject or dat_cr_handoff. */
    DAT_CR_HANDLE cr_handle;
} DAT_CR_ARRIVAL_EVENT_DATA;

/** Data of an event. event_number determines the valid member. */
typedef union dat_event_data {
    /** DAT_DTO_COMPLETION_EVENT. */
    DAT_DTO_COMPLETION_EVENT_DATA dto_completion_event_data;
    /** DAT_RMR_BIND_COMPLETION_EVENT. */
    DAT_RMR_BIND_COMPLETION_EVENT_DATA rmr_completion_event_data;
    /** DAT_CONNECTION_REQUEST_EVENT. */
    DAT_CR_ARRIVAL_EVENT_DATA cr_arrival_event_data;
    /** The connection events. */
    DAT_CONNECTION_EVENT_DATA connect_event_data;
    /** The asynchronous events. */
    DAT_ASYNCH_ERROR_EVENT_DATA asynch_error_event_data;
    /** DAT_SOFTWARE_EVENT. */
    DAT_SOFTWARE_EVENT_DATA software_event_data;
} DAT_EVENT_DATA;

/** An event that dat_evd_wait or dat_evd_dequeue returns. */
typedef struct dat_event {
    /** Kind of the event. */
    DAT_EVENT_NUMBER event_number;
    /** Event dispatcher from which the event was taken. */
    DAT_EVD_HANDLE evd_handle;
    /** Data of the event. event_number determines the valid member. */
    DAT_EVENT_DATA event_data;
} DAT_EVENT;

/** Attributes of an endpoint. */
typedef struct dat_ep_attr {
    /** Kind of connection. */
    DAT_SERVICE_TYPE service_type;
    /** Maximum bytes of a message; 0 leaves the maximum to the provider. */
    DAT_VLEN max_message_size;
    /** Maximum bytes of an RDMA operation; 0 leaves the maximum to the provider. */
    DAT_VLEN max_rdma_size;
    /** Quality of service. */
    DAT_QOS qos;
    /** Which receive completions notify. */
    DAT_COMPLETION_FLAGS recv_completion_flags;
    /** Which request completions notify. */
    DAT_COMPLETION_FLAGS request_completion_flags;
    /** Maximum number of outstanding receives. On a shared receive queue: hard high watermark. */
    DAT_COUNT max_recv_dtos;
    /** Maximum number of outstanding requests. */
    DAT_COUNT max_request_dtos;
    /** Maximum number of segments of a receive. */
    DAT_COUNT max_recv_iov;
    /** Maximum number of segments of a send. */
    DAT_COUNT max_request_iov;
    /** Maximum number of outstanding RDMA reads as target. */
    DAT_COUNT max_rdma_read_in;
    /** Maximum number of outstanding RDMA reads as originator. */
    DAT_COUNT max_rdma_read_out;
    /** Soft high watermark of receive buffers, with a shared receive queue. */
    DAT_COUNT srq_soft_hw;
    /** Maximum number of segments of an RDMA read. */
    DAT_COUNT max_rdma_read_iov;
    /** Maximum number of segments of an RDMA write. */
    DAT_COUNT max_rdma_write_iov;
    /** Number of elements of ep_transport_specific. */
    DAT_COUNT ep_transport_specific_count;
    /** Named attributes of the transport. */
    DAT_NAMED_ATTR *ep_transport_specific;
    /** Number of elements of ep_provider_specific. */
    DAT_COUNT ep_provider_specific_count;
    /** Named attributes of the provider. */
    DAT_NAMED_ATTR *ep_provider_specific;
} DAT_EP_ATTR;

/** Parameters of an endpoint, see dat_ep_query and dat_ep_modify. */
typedef struct dat_ep_param {
    /** Interface adapter of the endpoint. */
    DAT_IA_HANDLE ia_handle;
    /** State of the endpoint. */
    DAT_EP_STATE ep_state;
    /** Local address. */
    DAT_IA_ADDRESS_PTR local_ia_address_ptr;
    /** Port of the local end of the connection. */
    DAT_PORT_QUAL local_port_qual;
    /** Remote address. */
    DAT_IA_ADDRESS_PTR remote_ia_address_ptr;
    /** Port of the remote end of the connection. */
    DAT_PORT_QUAL remote_port_qual;
    /** Protection zone of the endpoint. */
    DAT_PZ_HANDLE pz_handle;
    /** Event dispatcher of receive completions. */
    DAT_EVD_HANDLE recv_evd_handle;
    /** Event dispatcher of request completions. */
    DAT_EVD_HANDLE request_evd_handle;
    /** Event dispatcher of connection events. */
    DAT_EVD_HANDLE connect_evd_handle;
    /** Shared receive queue of the endpoint, or DAT_HANDLE_NULL. */
    DAT_SRQ_HANDLE srq_handle;
    /** Attributes of the endpoint. */
    DAT_EP_ATTR ep_attr;
} DAT_EP_PARAM;

#define DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR UINT64_C(0x4)

#define DAT_EP_FIELD_LOCAL_PORT_QUAL UINT64_C(0x8)

#define DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR UINT64_C(0x10)

#define DAT_EP_FIELD_REMOTE_PORT_QUAL UINT64_C(0x20)

#define DAT_EP_FIELD_PZ_HANDLE UINT64_C(0x40)

#define DAT_EP_FIELD_RECV_EVD_HANDLE UINT64_C(0x80)

#define DAT_EP_FIELD_REQUEST_EVD_HANDLE UINT64_C(0x100)

#define DAT_EP_FIELD_CONNECT_EVD_HANDLE UINT64_C(0x200)

#define DAT_EP_FIELD_SRQ_HANDLE UINT64_C(0x400)

/** Selects all fields of DAT_EP_PARAM. */
#define DAT_EP_FIELD_ALL UINT64_C(0x7FFFF7FF)

/** Attributes of an interface adapter, see dat_ia_query. All users of the adapter share the maxima. */
typedef struct dat_ia_attr {
    /** Name with which the program opened the adapter. */
    char adapter_name[DAT_NAME_MAX_LENGTH];
    /** Vendor of the adapter. */
    char vendor_name[DAT_NAME_MAX_LENGTH];
    /** Version of the hardware, major. */
    DAT_UINT32 hardware_version_major;
    /** Version of the hardware, minor. */
    DAT_UINT32 hardware_version_minor;
    /** Version of the firmware, major. */
    DAT_UINT32 firmware_version_major;
    /** Version of the firmware, minor. */
    DAT_UINT32 firmware_version_minor;
    /** Local address, valid until dat_ia_close. */
    DAT_IA_ADDRESS_PTR ia_address_ptr;
    /** Maximum number of endpoints. */
    DAT_COUNT max_eps;
    /** Maximum number of outstanding data transfers in one direction of an endpoint. */
    DAT_COUNT max_dto_per_ep;
    /** Maximum number of outstanding RDMA reads of an endpoint as target. */
    DAT_COUNT max_rdma_read_per_ep_in;
    /** Maximum number of outstanding RDMA reads of an endpoint as originator. */
    DAT_COUNT max_rdma_read_per_ep_out;
    /** Maximum number of event dispatchers. */
    DAT_COUNT max_evds;
    /** Maximum number of events in an event dispatcher. */
    DAT_COUNT max_evd_qlen;
    /** Maximum number of segments of a send or receive. */
    DAT_COUNT max_iov_segments_per_dto;
    /** Maximum number of local memory regions. */
    DAT_COUNT max_lmrs;
    /** Maximum bytes in a local memory region. */
    DAT_VLEN max_lmr_block_size;
    /** Highest address in a local memory region. */
    DAT_VADDR max_lmr_virtual_address;
    /** Maximum number of protection zones. */
    DAT_COUNT max_pzs;
    /** Maximum bytes in a message. */
    DAT_VLEN max_message_size;
    /** Maximum bytes in an RDMA operation. */
    DAT_VLEN max_rdma_size;
    /** Maximum number of remote memory regions. */
    DAT_COUNT max_rmrs;
    /** Highest address in a remote memory region. */
    DAT_VADDR max_rmr_target_address;
    /** Maximum number of shared receive queues. */
    DAT_COUNT max_srqs;
    /** Maximum number of endpoints on a shared receive queue. */
    DAT_COUNT max_ep_per_srq;
    /** Maximum number of buffers in a shared receive queue. */
    DAT_COUNT max_recv_per_srq;
    /** Maximum number of segments of an RDMA read. */
    DAT_COUNT max_iov_segments_per_rdma_read;
    /** Maximum number of segments of an RDMA write. */
    DAT_COUNT max_iov_segments_per_rdma_write;
    /** Maximum number of outstanding RDMA reads of the adapter as target. */
    DAT_COUNT max_rdma_read_in;
    /** Maximum number of outstanding RDMA reads of the adapter as originator. */
    DAT_COUNT max_rdma_read_out;
    /** DAT_TRUE if each endpoint gets max_rdma_read_per_ep_in; else all share a pool. */
    DAT_BOOLEAN max_rdma_read_per_ep_in_guaranteed;
    /** DAT_TRUE if each endpoint gets max_rdma_read_per_ep_out; else all share a pool. */
    DAT_BOOLEAN max_rdma_read_per_ep_out_guaranteed;
    /** Number of elements of transport_attr. */
    DAT_COUNT num_transport_attr;
    /** Named attributes of the transport. */
    DAT_NAMED_ATTR *transport_attr;
    /** Number of elements of vendor_attr. */
    DAT_COUNT num_vendor_attr;
    /** Named attributes of the vendor. */
    DAT_NAMED_ATTR *vendor_attr;
} DAT_IA_ATTR;

#define DAT_IA_FIELD_IA_NUM_TRANSPORT_ATTR UINT64_C(0x80000000)

#define DAT_IA_FIELD_IA_TRANSPORT_ATTR UINT64_C(0x100000000)

#define DAT_IA_FIELD_IA_NUM_VENDOR_ATTR UINT64_C(0x200000000)

#define DAT_IA_FIELD_IA_VENDOR_ATTR UINT64_C(0x400000000)

/** Older name of DAT_IA_FIELD_ALL. */
#define DAT_IA_ALL DAT_IA_FIELD_ALL

#define DAT_IA_FIELD_ALL UINT64_C(0x7FFFFFFFF)

/** Attributes of the provider that serves an interface adapter, see dat_ia_query. */
typedef struct dat_provider_attr DAT_PROVIDER_ATTR;

/* ---- Calls; NAME(3) is the manual page of a call ---- */

/** dat_ia_openv(3): open an interface adapter for a version and thread safety. */
extern DAT_RETURN dat_ia_openv(DAT_NAME_PTR provider,
                               DAT_COUNT asynch_evd_min_qlen,
                               DAT_EVD_HANDLE *asynch_evd_handle,
                               DAT_IA_HANDLE *ia_handle,
                               DAT_UINT32 dat_major,
                               DAT_UINT32 dat_minor,
                               DAT_BOOLEAN thread_safety);

/** dat_ia_query(3): query an interface adapter and its provider. */
extern DAT_RETURN dat_ia_query(DAT_IA_HANDLE ia_handle,
                               DAT_EVD_HANDLE *async_evd_handle,
                               DAT_IA_ATTR_MASK ia_attr_mask,
                               DAT_IA_ATTR *ia_attr,
                               DAT_PROVIDER_ATTR_MASK provider_attr_mask,
                               DAT_PROVIDER_ATTR *provider_attr);

/** dat_ia_close(3): close an interface adapter. */
extern DAT_RETURN dat_ia_close(DAT_IA_HANDLE ia_handle, DAT_CLOSE_FLAGS close_flags);

/** dat_set_consumer_context(3): store a value of the program in an object. */
extern DAT_RETURN dat_set_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT context);

/** dat_get_consumer_context(3): return the value that the program stored in an. */
extern DAT_RETURN dat_get_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT *context);

/** dat_get_handle_type(3): return the kind of an object. */
extern DAT_RETURN dat_get_handle_type(DAT_HANDLE dat_handle, DAT_HANDLE_TYPE *handle_type);

/** dat_cr_query(3): query a connection request. */
extern DAT_RETURN dat_cr_query(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK cr_param_mask, DAT_CR_PARAM *cr_param);

/** dat_cr_accept(3): accept a connection request. */
extern DAT_RETURN dat_cr_accept(DAT_CR_HANDLE cr_handle,
                                DAT_EP_HANDLE ep_handle,
                                DAT_COUNT private_data_size,
                                DAT_PVOID private_data);

/** dat_cr_reject(3): reject a connection request. */
extern DAT_RETURN dat_cr_reject(DAT_CR_HANDLE cr_handle);

/** dat_cr_handoff(3): hand a connection request off to another service point. */
extern DAT_RETURN dat_cr_handoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL handoff);

/** dat_evd_query(3): query an event dispatcher. */
extern DAT_RETURN dat_evd_query(DAT_EVD_HANDLE evd_handle, DAT_EVD_PARAM_MASK evd_param_mask, DAT_EVD_PARAM *evd_param);

/** dat_evd_resize(3): change the length of an event dispatcher. */
extern DAT_RETURN dat_evd_resize(DAT_EVD_HANDLE evd_handle, DAT_COUNT evd_min_qlen);

/** dat_evd_post_se(3): post a software event. */
extern DAT_RETURN dat_evd_post_se(DAT_EVD_HANDLE evd_handle, const DAT_EVENT *event);

/** dat_evd_dequeue(3): dequeue the oldest event without waiting. */
extern DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT *event);

/** dat_evd_free(3): destroy an event dispatcher. */
extern DAT_RETURN dat_evd_free(DAT_EVD_HANDLE evd_handle);

/** dat_ep_create(3): create an endpoint. */
extern DAT_RETURN dat_ep_create(DAT_IA_HANDLE ia_handle,
                                DAT_PZ_HANDLE pz_handle,
                                DAT_EVD_HANDLE recv_completion_evd_handle,
                                DAT_EVD_HANDLE request_completion_evd_handle,
                                DAT_EVD_HANDLE connect_evd_handle,
                                const DAT_EP_ATTR *ep_attributes,
                                DAT_EP_HANDLE *ep_handle);

/** dat_ep_query(3): query an endpoint. */
extern DAT_RETURN dat_ep_query(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask, DAT_EP_PARAM *ep_param);

/** dat_ep_modify(3): change parameters of an endpoint. */
extern DAT_RETURN dat_ep_modify(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask, const DAT_EP_PARAM *ep_param);

/** dat_ep_connect(3): connect an endpoint to a service point. */
extern DAT_RETURN dat_ep_connect(DAT_EP_HANDLE ep_handle,
                                 DAT_IA_ADDRESS_PTR remote_ia_address,
                                 DAT_CONN_QUAL remote_conn_qual,
                                 DAT_TIMEOUT timeout,
                                 DAT_COUNT private_data_size,
                                 DAT_PVOID private_data,
                                 DAT_QOS quality_of_service,
                                 DAT_CONNECT_FLAGS connect_flags);

/** dat_ep_dup_connect(3): connect an endpoint to the peer of another endpoint. */
extern DAT_RETURN dat_ep_dup_connect(DAT_EP_HANDLE ep_handle,
                                     DAT_EP_HANDLE ep_dup_handle,
                                     DAT_TIMEOUT timeout,
                                     DAT_COUNT private_data_size,
                                     DAT_PVOID private_data,
                                     DAT_QOS quality_of_service);

/** dat_ep_disconnect(3): disconnect an endpoint. */
extern DAT_RETURN dat_ep_disconnect(DAT_EP_HANDLE ep_handle, DAT_CLOSE_FLAGS close_flags);

/** dat_ep_post_send(3): send a message. */
extern DAT_RETURN dat_ep_post_send(DAT_EP_HANDLE ep_handle,
                                   DAT_COUNT num_segments,
                                   DAT_LMR_TRIPLET *local_iov,
                                   DAT_DTO_COOKIE user_cookie,
                                   DAT_COMPLETION_FLAGS completion_flags);

/** dat_ep_post_recv(3): post a receive buffer. */
extern DAT_RETURN dat_ep_post_recv(DAT_EP_HANDLE ep_handle,
                                   DAT_COUNT num_segments,
                                   DAT_LMR_TRIPLET *local_iov,
                                   DAT_DTO_COOKIE user_cookie,
                                   DAT_COMPLETION_FLAGS completion_flags);

/** dat_ep_post_rdma_read(3): read memory of the peer. */
extern DAT_RETURN dat_ep_post_rdma_read(DAT_EP_HANDLE ep_handle,
                                        DAT_COUNT num_segments,
                                        DAT_LMR_TRIPLET *local_iov,
                                        DAT_DTO_COOKIE user_cookie,
                                        const DAT_RMR_TRIPLET *remote_iov,
                                        DAT_COMPLETION_FLAGS completion_flags);

/** dat_ep_post_rdma_write(3): write into memory of the peer. */
extern DAT_RETURN dat_ep_post_rdma_write(DAT_EP_HANDLE ep_handle,
                                         DAT_COUNT num_segments,
                                         DAT_LMR_TRIPLET *local_iov,
                                         DAT_DTO_COOKIE user_cookie,
                                         const DAT_RMR_TRIPLET *remote_iov,
                                         DAT_COMPLETION_FLAGS completion_flags);

/** dat_ep_get_status(3): return the state of an endpoint and whether it is idle. */
extern DAT_RETURN dat_ep_get_status(DAT_EP_HANDLE ep_handle,
                                    DAT_EP_STATE *ep_state,
                                    DAT_BOOLEAN *recv_idle,
                                    DAT_BOOLEAN *request_idle);

/** dat_ep_free(3): destroy an endpoint. */
extern DAT_RETURN dat_ep_free(DAT_EP_HANDLE ep_handle);

/** dat_lmr_query(3): query a local memory region. */
extern DAT_RETURN dat_lmr_query(DAT_LMR_HANDLE lmr_handle, DAT_LMR_PARAM_MASK lmr_param_mask, DAT_LMR_PARAM *lmr_param);

/** dat_lmr_free(3): deregister memory. */
extern DAT_RETURN dat_lmr_free(DAT_LMR_HANDLE lmr_handle);

/** dat_rmr_create(3): create a remote memory region. */
extern DAT_RETURN dat_rmr_create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE *rmr_handle);

/** dat_rmr_query(3): query a remote memory region. */
extern DAT_RETURN dat_rmr_query(DAT_RMR_HANDLE rmr_handle, DAT_RMR_PARAM_MASK rmr_param_mask, DAT_RMR_PARAM *rmr_param);

/** dat_rmr_bind(3): give peers access to a part of a local memory region. */
extern DAT_RETURN dat_rmr_bind(DAT_RMR_HANDLE rmr_handle,
                               const DAT_LMR_TRIPLET *lmr_triplet,
                               DAT_MEM_PRIV_FLAGS mem_priv,
                               DAT_EP_HANDLE ep_handle,
                               DAT_RMR_COOKIE user_cookie,
                               DAT_COMPLETION_FLAGS completion_flags,
                               DAT_RMR_CONTEXT *context);

/** dat_rmr_free(3): destroy a remote memory region. */
extern DAT_RETURN dat_rmr_free(DAT_RMR_HANDLE rmr_handle);

/** dat_psp_create(3): listen at a given connection qualifier. */
extern DAT_RETURN dat_psp_create(DAT_IA_HANDLE ia_handle,
                                 DAT_CONN_QUAL conn_qual,
                                 DAT_EVD_HANDLE evd_handle,
                                 DAT_PSP_FLAGS psp_flags,
                                 DAT_PSP_HANDLE *psp_handle);

/** dat_psp_query(3): query a public service point. */
extern DAT_RETURN dat_psp_query(DAT_PSP_HANDLE psp_handle, DAT_PSP_PARAM_MASK psp_param_mask, DAT_PSP_PARAM *psp_param);

/** dat_psp_free(3): stop listening at a public service point. */
extern DAT_RETURN dat_psp_free(DAT_PSP_HANDLE psp_handle);

/** dat_rsp_create(3): reserve an endpoint for one connection request. */
extern DAT_RETURN dat_rsp_create(DAT_IA_HANDLE ia_handle,
                                 DAT_CONN_QUAL conn_qual,
                                 DAT_EP_HANDLE ep_handle,
                                 DAT_EVD_HANDLE evd_handle,
                                 DAT_RSP_HANDLE *rsp_handle);

/** dat_rsp_query(3): query a reserved service point. */
extern DAT_RETURN dat_rsp_query(DAT_RSP_HANDLE rsp_handle, DAT_RSP_PARAM_MASK rsp_param_mask, DAT_RSP_PARAM *rsp_param);

/** dat_rsp_free(3): stop listening at a reserved service point. */
extern DAT_RETURN dat_rsp_free(DAT_RSP_HANDLE rsp_handle);

/** dat_pz_create(3): create a protection zone. */
extern DAT_RETURN dat_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE *pz_handle);

/** dat_pz_query(3): query a protection zone. */
extern DAT_RETURN dat_pz_query(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK pz_param_mask, DAT_PZ_PARAM *pz_param);

/** dat_pz_free(3): destroy a protection zone. */
extern DAT_RETURN dat_pz_free(DAT_PZ_HANDLE pz_handle);

/** dat_psp_create_any(3): listen at a connection qualifier that the provider. */
extern DAT_RETURN dat_psp_create_any(DAT_IA_HANDLE ia_handle,
                                     DAT_CONN_QUAL *conn_qual,
                                     DAT_EVD_HANDLE evd_handle,
                                     DAT_PSP_FLAGS psp_flags,
                                     DAT_PSP_HANDLE *psp_handle);

/** dat_ep_reset(3): return a disconnected endpoint to the unconnected state. */
extern DAT_RETURN dat_ep_reset(DAT_EP_HANDLE ep_handle);

/** dat_lmr_sync_rdma_read(3): make local stores visible to RDMA reads of peers. */
extern DAT_RETURN dat_lmr_sync_rdma_read(DAT_IA_HANDLE ia_handle,
                                         const DAT_LMR_TRIPLET *local_segments,
                                         DAT_VLEN num_segments);

/** dat_lmr_sync_rdma_write(3): make RDMA writes of peers visible to local loads. */
extern DAT_RETURN dat_lmr_sync_rdma_write(DAT_IA_HANDLE ia_handle,
                                          const DAT_LMR_TRIPLET *local_segments,
                                          DAT_VLEN num_segments);

/** dat_ep_create_with_srq(3): create an endpoint that receives from a shared. */
extern DAT_RETURN dat_ep_create_with_srq(DAT_IA_HANDLE ia_handle,
                                         DAT_PZ_HANDLE pz_handle,
                                         DAT_EVD_HANDLE recv_evd_handle,
                                         DAT_EVD_HANDLE request_evd_handle,
                                         DAT_EVD_HANDLE connect_evd_handle,
                                         DAT_SRQ_HANDLE srq_handle,
                                         const DAT_EP_ATTR *ep_attributes,
                                         DAT_EP_HANDLE *ep_handle);

/** dat_ep_recv_query(3): return the number of receive buffers that an endpoint. */
extern DAT_RETURN dat_ep_recv_query(DAT_EP_HANDLE ep_handle, DAT_COUNT *nbufs_allocated, DAT_COUNT *bufs_alloc_span);

/** dat_ep_set_watermark(3): set the high watermarks for the receive buffers of an. */
extern DAT_RETURN dat_ep_set_watermark(DAT_EP_HANDLE ep_handle,
                                       DAT_COUNT soft_high_watermark,
                                       DAT_COUNT hard_high_watermark);

/** dat_srq_create(3): create a shared receive queue. */
extern DAT_RETURN dat_srq_create(DAT_IA_HANDLE ia_handle,
                                 DAT_PZ_HANDLE pz_handle,
                                 DAT_SRQ_ATTR *srq_attr,
                                 DAT_SRQ_HANDLE *srq_handle);

/** dat_srq_free(3): destroy a shared receive queue. */
extern DAT_RETURN dat_srq_free(DAT_SRQ_HANDLE srq_handle);

/** dat_srq_post_recv(3): post a buffer to a shared receive queue. */
extern DAT_RETURN dat_srq_post_recv(DAT_SRQ_HANDLE srq_handle,
                                    DAT_COUNT num_segments,
                                    DAT_LMR_TRIPLET *local_iov,
                                    DAT_DTO_COOKIE user_cookie);

/** dat_srq_query(3): query a shared receive queue. */
extern DAT_RETURN dat_srq_query(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK srq_param_mask, DAT_SRQ_PARAM *srq_param);

/** dat_srq_resize(3): change the size of a shared receive queue. */
extern DAT_RETURN dat_srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT srq_max_recv_dto);

/** dat_srq_set_lw(3): set the low watermark of a shared receive queue. */
extern DAT_RETURN dat_srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark);

/** dat_registry_list_providers(3): list the configured interface adapters. */
extern DAT_RETURN dat_registry_list_providers(DAT_COUNT max_to_return,
                                              DAT_COUNT *entries_returned,
                                              DAT_PROVIDER_INFO **dat_provider_list);

/** dat_strerror(3): convert a return code to text. */
extern DAT_RETURN dat_strerror(DAT_RETURN value, const char **major_message, const char **minor_message);

/* ---- Macros ---- */

/** No object. */
#define DAT_HANDLE_NULL ((DAT_HANDLE)NULL)

/** Older name of max_rdma_read_per_ep_in in DAT_IA_ATTR. */
#define max_rdma_read_per_ep max_rdma_read_per_ep_in

/** Older name of max_message_size in DAT_IA_ATTR and DAT_EP_ATTR. */
#define max_mtu_size max_message_size

/** Name of DAT_COMPLETION_UNSIGNALLED_FLAG in the specification of dat_ep_modify. */
#define DAT_COMPLETION_NOTIFICATION_SUPPRESS_FLAG DAT_COMPLETION_UNSIGNALLED_FLAG

/**
 * Older name of DAT_IA_FIELD_IA_MAX_DTO_PER_EP. In other headers, programs cannot use this macro:
 * it expands to an undefined name.
 */
#define DAT_IA_FIELD_IA_MAX_DTO_PER_OP DAT_IA_FIELD_IA_MAX_DTO_PER_EP

/**
 * Opens an interface adapter, as dat_ia_openv does for the version and the thread safety that the
 * program is compiled for. This macro is not a function: the library exports only dat_ia_openv.
 */
#define dat_ia_open(name, qlen, async_evd, ia) \
    dat_ia_openv((name), (qlen), (async_evd), (ia), \
        DAT_VERSION_MAJOR, DAT_VERSION_MINOR, DAT_THREADSAFE)

#ifdef __cplusplus
}
#endif

#endif /* DAT_DAT_H */
