/*
 * dat2/udat.h: the user-level interface; programs include this one.
 *
 * Part of libdat2, an implementation of uDAPL 2.0.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Generated from src/interface/udat and src/interface/udat20 by `make derived`; changes belong there.
 */

#ifndef DAT2_UDAT_H
#define DAT2_UDAT_H

#include "dat.h"
#include "udat_config.h"
#include "udat_vendor_specific.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- User-level interface ---- */

/** Consumer notification object. */
typedef DAT_HANDLE DAT_CNO_HANDLE;

/** Kind of memory of a local memory region. */
typedef enum dat_mem_type {
    /** Memory of the process, see for_va. */
    DAT_MEM_TYPE_VIRTUAL = 0,
    /** Memory of an existing region, see for_lmr_handle. */
    DAT_MEM_TYPE_LMR = 1,
    /** Memory shared between processes, see for_shared_memory. */
    DAT_MEM_TYPE_SHARED_VIRTUAL = 2,
} DAT_MEM_TYPE;

/** Bytes in the name of shared memory, see DAT_LMR_COOKIE. */
#define DAT_LMR_COOKIE_SIZE 40

/** Name of shared memory: points to DAT_LMR_COOKIE_SIZE significant bytes (not a string). */
typedef char (*DAT_LMR_COOKIE)[DAT_LMR_COOKIE_SIZE];

/** Shared memory to be registered. */
typedef struct dat_shared_memory {
    /** Address of the memory in this process. */
    DAT_PVOID virtual_address;
    /** Name of the memory, the same in every process. */
    DAT_LMR_COOKIE shared_memory_id;
} DAT_SHARED_MEMORY;

/** The memory to be registered by dat_lmr_create; DAT_MEM_TYPE determines the valid member. */
typedef union dat_region_description {
    /** Address of memory of the process. */
    DAT_PVOID for_va;
    /** An existing region. */
    DAT_LMR_HANDLE for_lmr_handle;
    /** Shared memory. */
    DAT_SHARED_MEMORY for_shared_memory;
} DAT_REGION_DESCRIPTION;

/**
 * State of an event dispatcher: one value of each of three bands (notification, waiting, configuration), combined
 * by bitwise or.
 */
typedef enum dat_evd_state {
    /** Events trigger the notification object. */
    DAT_EVD_STATE_ENABLED = 0x01,
    /** Events do not trigger the notification object. */
    DAT_EVD_STATE_DISABLED = 0x02,
    /** dat_evd_wait is allowed. */
    DAT_EVD_STATE_WAITABLE = 0x04,
    /** dat_evd_wait fails. */
    DAT_EVD_STATE_UNWAITABLE = 0x08,
    /** Fed by an endpoint whose flags for these completions are DAT_COMPLETION_UNSIGNALLED_FLAG. */
    DAT_EVD_STATE_CONFIG_NOTIFY = 0x10,
    /** Fed by an endpoint whose receive completion flags are DAT_COMPLETION_SOLICITED_WAIT_FLAG. */
    DAT_EVD_STATE_CONFIG_SOLICITED = 0x20,
    /** Fed by endpoints; each completion that they queue on the event dispatcher notifies. */
    DAT_EVD_STATE_CONFIG_THRESHOLD = 0x30,
} DAT_EVD_STATE;

/** Parameters of an event dispatcher, see dat_evd_query. */
struct dat_evd_param {
    /** Interface adapter of the event dispatcher. */
    DAT_IA_HANDLE ia_handle;
    /** Maximum number of events. */
    DAT_COUNT evd_qlen;
    /** State of the event dispatcher. */
    DAT_EVD_STATE evd_state;
    /** Notification object that the event dispatcher triggers, or DAT_HANDLE_NULL. */
    DAT_CNO_HANDLE cno_handle;
    /** Kinds of events that the event dispatcher accepts. */
    DAT_EVD_FLAGS evd_flags;
};

/** Function that a consumer notification object calls when it is triggered. */
typedef void (*DAT_AGENT_FUNC)(DAT_PVOID instance_data, DAT_EVD_HANDLE evd_handle);

/** Function of the program that a notification object calls, with data. See dat_cno_create. */
typedef struct dat_os_wait_proxy_agent {
    /** First argument of the function. */
    DAT_PVOID instance_data;
    /** The function. */
    DAT_AGENT_FUNC proxy_agent_func;
} DAT_OS_WAIT_PROXY_AGENT;

/** Selects fields of DAT_CNO_PARAM. */
typedef enum dat_cno_param_mask {
    DAT_CNO_FIELD_IA_HANDLE = 0x01,
    DAT_CNO_FIELD_PROXY_TYPE = 0x02,
    DAT_CNO_FIELD_PROXY = 0x03,
    DAT_CNO_FIELD_ALL = 0x04,
} DAT_CNO_PARAM_MASK;

/**
 * Number of endpoints that a protection zone of a provider may serve.
 *
 * The Solaris headers also have DAT_PZ_SAME with the value 1. It is omitted, because 1 is DAT_PZ_SHAREABLE here.
 */
typedef enum dat_pz_support {
    /** Only one endpoint. */
    DAT_PZ_UNIQUE = 0,
    /** Any number of endpoints. */
    DAT_PZ_SHAREABLE = 1,
} DAT_PZ_SUPPORT;

#define DAT_PROVIDER_FIELD_PROVIDER_NAME UINT64_C(0x1)

#define DAT_PROVIDER_FIELD_PROVIDER_VERSION_MAJOR UINT64_C(0x2)

#define DAT_PROVIDER_FIELD_PROVIDER_VERSION_MINOR UINT64_C(0x4)

#define DAT_PROVIDER_FIELD_DAPL_VERSION_MAJOR UINT64_C(0x8)

#define DAT_PROVIDER_FIELD_DAPL_VERSION_MINOR UINT64_C(0x10)

/** Selects lmr_mem_types_supported. */
#define DAT_PROVIDER_FIELD_LMR_MEM_TYPE_SUPPORTED UINT64_C(0x20)

/** Selects iov_ownership_on_return. */
#define DAT_PROVIDER_FIELD_IOV_OWNERSHIP UINT64_C(0x40)

#define DAT_PROVIDER_FIELD_DAT_QOS_SUPPORTED UINT64_C(0x80)

#define DAT_PROVIDER_FIELD_COMPLETION_FLAGS_SUPPORTED UINT64_C(0x100)

#define DAT_PROVIDER_FIELD_IS_THREAD_SAFE UINT64_C(0x200)

#define DAT_PROVIDER_FIELD_MAX_PRIVATE_DATA_SIZE UINT64_C(0x400)

#define DAT_PROVIDER_FIELD_SUPPORTS_MULTIPATH UINT64_C(0x800)

#define DAT_PROVIDER_FIELD_EP_CREATOR UINT64_C(0x1000)

#define DAT_PROVIDER_FIELD_PZ_SUPPORT UINT64_C(0x2000)

#define DAT_PROVIDER_FIELD_OPTIMAL_BUFFER_ALIGNMENT UINT64_C(0x4000)

#define DAT_PROVIDER_FIELD_EVD_STREAM_MERGING_SUPPORTED UINT64_C(0x8000)

#define DAT_PROVIDER_FIELD_SRQ_SUPPORTED UINT64_C(0x10000)

#define DAT_PROVIDER_FIELD_SRQ_WATERMARKS_SUPPORTED UINT64_C(0x20000)

#define DAT_PROVIDER_FIELD_SRQ_EP_PZ_DIFFERENCE_SUPPORTED UINT64_C(0x40000)

#define DAT_PROVIDER_FIELD_SRQ_INFO_SUPPORTED UINT64_C(0x80000)

#define DAT_PROVIDER_FIELD_EP_RECV_INFO_SUPPORTED UINT64_C(0x100000)

#define DAT_PROVIDER_FIELD_LMR_SYNC_REQ UINT64_C(0x200000)

#define DAT_PROVIDER_FIELD_DTO_ASYNC_RETURN_GUARANTEED UINT64_C(0x400000)

#define DAT_PROVIDER_FIELD_RDMA_WRITE_FOR_RDMA_READ_REQ UINT64_C(0x800000)

/** Selects no field of DAT_PROVIDER_ATTR. */
#define DAT_PROVIDER_FIELD_NONE UINT64_C(0x0)

/** Parameters of a local memory region, see dat_lmr_query. */
struct dat_lmr_param {
    /** Interface adapter of the region. */
    DAT_IA_HANDLE ia_handle;
    /** Kind of the memory; determines the valid member of region_desc. */
    DAT_MEM_TYPE mem_type;
    /** Memory of the region, as passed to dat_lmr_create. */
    DAT_REGION_DESCRIPTION region_desc;
    /** Number of bytes that the program requested. */
    DAT_VLEN length;
    /** Protection zone of the region. */
    DAT_PZ_HANDLE pz_handle;
    /** Privileges of the region. */
    DAT_MEM_PRIV_FLAGS mem_priv;
    /** Base of the addresses in the region. */
    DAT_VA_TYPE va_type;
    /** Context that identifies the region in segments of local memory. */
    DAT_LMR_CONTEXT lmr_context;
    /** Context that identifies the region to the remote side. */
    DAT_RMR_CONTEXT rmr_context;
    /** Number of registered bytes, at least the requested number. */
    DAT_VLEN registered_size;
    /** First registered address. */
    DAT_VADDR registered_address;
};

/** Receiver of the triggers of a notification object, in addition to waiting threads. */
typedef enum dat_proxy_type {
    /** No receiver. */
    DAT_PROXY_TYPE_NONE = 0,
    /** A function of the program. */
    DAT_PROXY_TYPE_AGENT = 1,
    /** A file descriptor, see dat_cno_fd_create. */
    DAT_PROXY_TYPE_FD = 2,
} DAT_PROXY_TYPE;

/** Receiver of the triggers of a notification object. DAT_PROXY_TYPE determines the valid member. */
typedef union dat_cno_proxy {
    /** The function. */
    DAT_OS_WAIT_PROXY_AGENT agent;
    /** The file descriptor. */
    DAT_FD fd;
    /** Unused. */
    DAT_PVOID none;
} DAT_CNO_PROXY;

/** Parameters of a notification object, see dat_cno_query. */
typedef struct dat_cno_param {
    /** Interface adapter of the notification object. */
    DAT_IA_HANDLE ia_handle;
    /** Kind of the receiver; determines the valid member of proxy. */
    DAT_PROXY_TYPE proxy_type;
    /** The receiver of triggers, in addition to waiting threads. */
    DAT_CNO_PROXY proxy;
} DAT_CNO_PARAM;

/** Attributes of the provider that serves an interface adapter, see dat_ia_query. */
struct dat_provider_attr {
    /** Name of the provider. */
    char provider_name[DAT_NAME_MAX_LENGTH];
    /** Version of the provider, major. */
    DAT_UINT32 provider_version_major;
    /** Version of the provider, minor. */
    DAT_UINT32 provider_version_minor;
    /** Version of the interface, major. */
    DAT_UINT32 dapl_version_major;
    /** Version of the interface, minor. */
    DAT_UINT32 dapl_version_minor;
    /** Supported kinds of memory, as a set of bits. */
    DAT_MEM_TYPE lmr_mem_types_supported;
    /** Owner of an array of segments after a post. */
    DAT_IOV_OWNERSHIP iov_ownership_on_return;
    /** Supported qualities of service, as a set of bits. */
    DAT_QOS dat_qos_supported;
    /** Supported completion flags, as a set of bits. */
    DAT_COMPLETION_FLAGS completion_flags_supported;
    /** DAT_TRUE if several threads may call the provider concurrently. */
    DAT_BOOLEAN is_thread_safe;
    /** Maximum bytes of private data in one direction. */
    DAT_COUNT max_private_data_size;
    /** DAT_TRUE if DAT_CONNECT_MULTIPATH_FLAG is supported. */
    DAT_BOOLEAN supports_multipath;
    /** Cases in which the provider creates endpoints at public service points. */
    DAT_EP_CREATOR_FOR_PSP ep_creator;
    /** Number of endpoints that a protection zone may serve. */
    DAT_PZ_SUPPORT pz_support;
    /** Best alignment of buffers in bytes. */
    DAT_UINT32 optimal_buffer_alignment;
    /**
     * DAT_TRUE where one event dispatcher may accept events of the kinds of both row and column. Order of kinds:
     * software, connection request, data transfer, connection, bind, asynchronous. Not const as in other headers,
     * so that programs can copy the structure, and declare it in C++.
     */
    DAT_BOOLEAN evd_stream_merging_supported[6][6];
    /** DAT_TRUE if shared receive queues are supported. */
    DAT_BOOLEAN srq_supported;
    /** Supported watermarks, a set of bits: 0x001 low, 0x010 soft high, 0x100 hard high. */
    DAT_COUNT srq_watermarks_supported;
    /** DAT_TRUE if the zones of an endpoint and of its shared receive queue may differ. */
    DAT_BOOLEAN srq_ep_pz_difference_supported;
    /** Counts that dat_srq_query returns, a set of bits: 0x01 available, 0x10 outstanding. */
    DAT_COUNT srq_info_supported;
    /** Counts that dat_ep_recv_query returns, a set of bits: 0x01 allocated, 0x10 span. */
    DAT_COUNT ep_recv_info_supported;
    /** DAT_TRUE if dat_lmr_sync_rdma_read and dat_lmr_sync_rdma_write are needed. */
    DAT_BOOLEAN lmr_sync_req;
    /** DAT_TRUE if only completions report memory errors, never the return code of a post. */
    DAT_BOOLEAN dto_async_return_guaranteed;
    /** DAT_TRUE if the destination of an RDMA read needs the remote write privilege. */
    DAT_BOOLEAN rdma_write_for_rdma_read_req;
    /** DAT_TRUE if an RDMA read reveals the context of the local memory to the remote side. */
    DAT_BOOLEAN rdma_read_lmr_rmr_context_exposure;
    /** Supported scopes of remote memory regions, see dat_rmr_create and dat_rmr_create_for_ep. */
    DAT_RMR_SCOPE rmr_scope_supported;
    /** DAT_TRUE if signal handlers may make calls. */
    DAT_BOOLEAN is_signal_safe;
    /** DAT_TRUE if another adapter can take over connections, see dat_registry_providers_related. */
    DAT_BOOLEAN ha_supported;
    /** How the provider distributes load over several paths. */
    DAT_HA_LB ha_loadbalancing;
    /** Number of elements of provider_specific_attr. */
    DAT_COUNT num_provider_specific_attr;
    /** Named attributes of the provider. */
    DAT_NAMED_ATTR *provider_specific_attr;
};

#define DAT_PROVIDER_FIELD_NUM_PROVIDER_SPECIFIC_ATTR UINT64_C(0x20000000)

#define DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR UINT64_C(0x40000000)

#define DAT_PROVIDER_FIELD_RDMA_READ_LMR_RMR_CONTEXT_EXPOSURE UINT64_C(0x1000000)

#define DAT_PROVIDER_FIELD_RMR_SCOPE_SUPPORTED UINT64_C(0x2000000)

#define DAT_PROVIDER_FIELD_IS_SIGNAL_SAFE UINT64_C(0x4000000)

#define DAT_PROVIDER_FIELD_HA_SUPPORTED UINT64_C(0x8000000)

/** Selects ha_loadbalancing. */
#define DAT_PROVIDER_FIELD_HA_LB UINT64_C(0x10000000)

#define DAT_PROVIDER_FIELD_ALL UINT64_C(0x7FFFFFFF)

/* ---- Calls; NAME(3) is the manual page of a call ---- */

/** dat_cno_create(3): create a notification object. */
extern DAT_RETURN dat_cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent, DAT_CNO_HANDLE *cno_handle);

/** dat_cno_modify_agent(3): replace the agent of a notification object. */
extern DAT_RETURN dat_cno_modify_agent(DAT_CNO_HANDLE cno_handle, DAT_OS_WAIT_PROXY_AGENT agent);

/** dat_cno_query(3): query a notification object. */
extern DAT_RETURN dat_cno_query(DAT_CNO_HANDLE cno_handle, DAT_CNO_PARAM_MASK cno_param_mask, DAT_CNO_PARAM *cno_param);

/** dat_cno_free(3): destroy a notification object. */
extern DAT_RETURN dat_cno_free(DAT_CNO_HANDLE cno_handle);

/** dat_cno_wait(3): wait until an event dispatcher triggers a notification object. */
extern DAT_RETURN dat_cno_wait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout, DAT_EVD_HANDLE *evd_handle);

/** dat_evd_create(3): create an event dispatcher. */
extern DAT_RETURN dat_evd_create(DAT_IA_HANDLE ia_handle,
                                 DAT_COUNT evd_min_qlen,
                                 DAT_CNO_HANDLE cno_handle,
                                 DAT_EVD_FLAGS evd_flags,
                                 DAT_EVD_HANDLE *evd_handle);

/** dat_evd_modify_cno(3): attach an event dispatcher to a notification object. */
extern DAT_RETURN dat_evd_modify_cno(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle);

/** dat_evd_enable(3): allow an event dispatcher to trigger its notification object. */
extern DAT_RETURN dat_evd_enable(DAT_EVD_HANDLE evd_handle);

/** dat_evd_disable(3): keep an event dispatcher from triggering its notification. */
extern DAT_RETURN dat_evd_disable(DAT_EVD_HANDLE evd_handle);

/** dat_evd_wait(3): wait for events and dequeue the oldest event. */
extern DAT_RETURN dat_evd_wait(DAT_EVD_HANDLE evd_handle,
                               DAT_TIMEOUT timeout,
                               DAT_COUNT threshold,
                               DAT_EVENT *event,
                               DAT_COUNT *n_more_events);

/** dat_lmr_create(3): register memory. */
extern DAT_RETURN dat_lmr_create(DAT_IA_HANDLE ia_handle,
                                 DAT_MEM_TYPE mem_type,
                                 DAT_REGION_DESCRIPTION region_description,
                                 DAT_VLEN length,
                                 DAT_PZ_HANDLE pz_handle,
                                 DAT_MEM_PRIV_FLAGS privileges,
                                 DAT_VA_TYPE va_type,
                                 DAT_LMR_HANDLE *lmr_handle,
                                 DAT_LMR_CONTEXT *lmr_context,
                                 DAT_RMR_CONTEXT *rmr_context,
                                 DAT_VLEN *registered_length,
                                 DAT_VADDR *registered_address);

/** dat_evd_set_unwaitable(3): make an event dispatcher unwaitable. */
extern DAT_RETURN dat_evd_set_unwaitable(DAT_EVD_HANDLE evd_handle);

/** dat_evd_clear_unwaitable(3): make an event dispatcher waitable again. */
extern DAT_RETURN dat_evd_clear_unwaitable(DAT_EVD_HANDLE evd_handle);

/** dat_cno_fd_create(3): create a notification object with a file descriptor. */
extern DAT_RETURN dat_cno_fd_create(DAT_IA_HANDLE ia_handle, DAT_FD *file_descriptor, DAT_CNO_HANDLE *cno_handle);

/** dat_cno_trigger(3): consume the trigger of a notification object. */
extern DAT_RETURN dat_cno_trigger(DAT_CNO_HANDLE cno_handle, DAT_EVD_HANDLE *evd_handle);

/* ---- Macros ---- */

/** Name of srq_ep_pz_difference_supported in the specification of dat_srq_create. */
#define srq_ep_pz_difference_support srq_ep_pz_difference_supported

/**
 * Passed to dat_ia_open instead of an event dispatcher: the instance gets no asynchronous event
 * dispatcher.
 */
#define DAT_EVD_ASYNC_EXISTS ((DAT_EVD_HANDLE)0x1)

/** Returned by dat_ia_query: the instance has no asynchronous event dispatcher in this process. */
#define DAT_EVD_OUT_OF_SCOPE ((DAT_EVD_HANDLE)0x2)

/** No agent, for dat_cno_create and dat_cno_modify_agent. */
#ifdef __cplusplus
#define DAT_OS_WAIT_PROXY_AGENT_NULL DAT_OS_WAIT_PROXY_AGENT{NULL, NULL}
#else
#define DAT_OS_WAIT_PROXY_AGENT_NULL \
    (DAT_OS_WAIT_PROXY_AGENT) { (DAT_PVOID)NULL, (DAT_AGENT_FUNC)NULL }
#endif

#ifdef __cplusplus
}
#endif

#include "udat_redirection.h"

#endif /* DAT2_UDAT_H */
