/*
 * dat2/dat_redirection.h: the table of a provider.
 *
 * Part of libdat2, an implementation of uDAPL 2.0.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Generated from src/interface/udat and src/interface/udat20 by `make derived`; changes belong there.
 */

#ifndef DAT2_DAT_REDIRECTION_H
#define DAT2_DAT_REDIRECTION_H

#include <stdarg.h>

#include "udat.h"
#include "udat_redirection.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types of the slots that both interfaces share ---- */

/** Slot of dat_ia_openv. */
typedef DAT_RETURN (*DAT_IA_OPEN_FUNC)(DAT_NAME_PTR provider,
                                       DAT_COUNT asynch_evd_min_qlen,
                                       DAT_EVD_HANDLE *asynch_evd_handle,
                                       DAT_IA_HANDLE *ia_handle);

/** Slot of dat_ia_query. */
typedef DAT_RETURN (*DAT_IA_QUERY_FUNC)(DAT_IA_HANDLE ia_handle,
                                        DAT_EVD_HANDLE *async_evd_handle,
                                        DAT_IA_ATTR_MASK ia_attr_mask,
                                        DAT_IA_ATTR *ia_attr,
                                        DAT_PROVIDER_ATTR_MASK provider_attr_mask,
                                        DAT_PROVIDER_ATTR *provider_attr);

/** Slot of dat_ia_close. */
typedef DAT_RETURN (*DAT_IA_CLOSE_FUNC)(DAT_IA_HANDLE ia_handle, DAT_CLOSE_FLAGS close_flags);

/** Slot of dat_set_consumer_context. */
typedef DAT_RETURN (*DAT_SET_CONSUMER_CONTEXT_FUNC)(DAT_HANDLE dat_handle, DAT_CONTEXT context);

/** Slot of dat_get_consumer_context. */
typedef DAT_RETURN (*DAT_GET_CONSUMER_CONTEXT_FUNC)(DAT_HANDLE dat_handle, DAT_CONTEXT *context);

/** Slot of dat_get_handle_type. */
typedef DAT_RETURN (*DAT_GET_HANDLE_TYPE_FUNC)(DAT_HANDLE dat_handle, DAT_HANDLE_TYPE *handle_type);

/** Slot of dat_cr_query. */
typedef DAT_RETURN (*DAT_CR_QUERY_FUNC)(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK cr_param_mask, DAT_CR_PARAM *cr_param);

/** Slot of dat_cr_accept. */
typedef DAT_RETURN (*DAT_CR_ACCEPT_FUNC)(DAT_CR_HANDLE cr_handle,
                                         DAT_EP_HANDLE ep_handle,
                                         DAT_COUNT private_data_size,
                                         DAT_PVOID private_data);

/** Slot of dat_cr_reject. */
typedef DAT_RETURN (*DAT_CR_REJECT_FUNC)(DAT_CR_HANDLE cr_handle, DAT_COUNT private_data_size, DAT_PVOID private_data);

/** Slot of dat_cr_handoff. */
typedef DAT_RETURN (*DAT_CR_HANDOFF_FUNC)(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL handoff);

/** Slot of dat_evd_query. */
typedef DAT_RETURN (*DAT_EVD_QUERY_FUNC)(DAT_EVD_HANDLE evd_handle,
                                         DAT_EVD_PARAM_MASK evd_param_mask,
                                         DAT_EVD_PARAM *evd_param);

/** Slot of dat_evd_resize. */
typedef DAT_RETURN (*DAT_EVD_RESIZE_FUNC)(DAT_EVD_HANDLE evd_handle, DAT_COUNT evd_min_qlen);

/** Slot of dat_evd_post_se. */
typedef DAT_RETURN (*DAT_EVD_POST_SE_FUNC)(DAT_EVD_HANDLE evd_handle, const DAT_EVENT *event);

/** Slot of dat_evd_dequeue. */
typedef DAT_RETURN (*DAT_EVD_DEQUEUE_FUNC)(DAT_EVD_HANDLE evd_handle, DAT_EVENT *event);

/** Slot of dat_evd_free. */
typedef DAT_RETURN (*DAT_EVD_FREE_FUNC)(DAT_EVD_HANDLE evd_handle);

/** Slot of dat_ep_create. */
typedef DAT_RETURN (*DAT_EP_CREATE_FUNC)(DAT_IA_HANDLE ia_handle,
                                         DAT_PZ_HANDLE pz_handle,
                                         DAT_EVD_HANDLE recv_completion_evd_handle,
                                         DAT_EVD_HANDLE request_completion_evd_handle,
                                         DAT_EVD_HANDLE connect_evd_handle,
                                         const DAT_EP_ATTR *ep_attributes,
                                         DAT_EP_HANDLE *ep_handle);

/** Slot of dat_ep_query. */
typedef DAT_RETURN (*DAT_EP_QUERY_FUNC)(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask, DAT_EP_PARAM *ep_param);

/** Slot of dat_ep_modify. */
typedef DAT_RETURN (*DAT_EP_MODIFY_FUNC)(DAT_EP_HANDLE ep_handle,
                                         DAT_EP_PARAM_MASK ep_param_mask,
                                         const DAT_EP_PARAM *ep_param);

/** Slot of dat_ep_connect. */
typedef DAT_RETURN (*DAT_EP_CONNECT_FUNC)(DAT_EP_HANDLE ep_handle,
                                          DAT_IA_ADDRESS_PTR remote_ia_address,
                                          DAT_CONN_QUAL remote_conn_qual,
                                          DAT_TIMEOUT timeout,
                                          DAT_COUNT private_data_size,
                                          DAT_PVOID private_data,
                                          DAT_QOS quality_of_service,
                                          DAT_CONNECT_FLAGS connect_flags);

/** Slot of dat_ep_dup_connect. */
typedef DAT_RETURN (*DAT_EP_DUP_CONNECT_FUNC)(DAT_EP_HANDLE ep_handle,
                                              DAT_EP_HANDLE ep_dup_handle,
                                              DAT_TIMEOUT timeout,
                                              DAT_COUNT private_data_size,
                                              DAT_PVOID private_data,
                                              DAT_QOS quality_of_service);

/** Slot of dat_ep_disconnect. */
typedef DAT_RETURN (*DAT_EP_DISCONNECT_FUNC)(DAT_EP_HANDLE ep_handle, DAT_CLOSE_FLAGS close_flags);

/** Slot of dat_ep_post_send. */
typedef DAT_RETURN (*DAT_EP_POST_SEND_FUNC)(DAT_EP_HANDLE ep_handle,
                                            DAT_COUNT num_segments,
                                            DAT_LMR_TRIPLET *local_iov,
                                            DAT_DTO_COOKIE user_cookie,
                                            DAT_COMPLETION_FLAGS completion_flags);

/** Slot of dat_ep_post_recv. */
typedef DAT_RETURN (*DAT_EP_POST_RECV_FUNC)(DAT_EP_HANDLE ep_handle,
                                            DAT_COUNT num_segments,
                                            DAT_LMR_TRIPLET *local_iov,
                                            DAT_DTO_COOKIE user_cookie,
                                            DAT_COMPLETION_FLAGS completion_flags);

/** Slot of dat_ep_post_rdma_read. */
typedef DAT_RETURN (*DAT_EP_POST_RDMA_READ_FUNC)(DAT_EP_HANDLE ep_handle,
                                                 DAT_COUNT num_segments,
                                                 DAT_LMR_TRIPLET *local_iov,
                                                 DAT_DTO_COOKIE user_cookie,
                                                 const DAT_RMR_TRIPLET *remote_iov,
                                                 DAT_COMPLETION_FLAGS completion_flags);

/** Slot of dat_ep_post_rdma_write. */
typedef DAT_RETURN (*DAT_EP_POST_RDMA_WRITE_FUNC)(DAT_EP_HANDLE ep_handle,
                                                  DAT_COUNT num_segments,
                                                  DAT_LMR_TRIPLET *local_iov,
                                                  DAT_DTO_COOKIE user_cookie,
                                                  const DAT_RMR_TRIPLET *remote_iov,
                                                  DAT_COMPLETION_FLAGS completion_flags);

/** Slot of dat_ep_get_status. */
typedef DAT_RETURN (*DAT_EP_GET_STATUS_FUNC)(DAT_EP_HANDLE ep_handle,
                                             DAT_EP_STATE *ep_state,
                                             DAT_BOOLEAN *recv_idle,
                                             DAT_BOOLEAN *request_idle);

/** Slot of dat_ep_free. */
typedef DAT_RETURN (*DAT_EP_FREE_FUNC)(DAT_EP_HANDLE ep_handle);

/** Slot of dat_lmr_query. */
typedef DAT_RETURN (*DAT_LMR_QUERY_FUNC)(DAT_LMR_HANDLE lmr_handle,
                                         DAT_LMR_PARAM_MASK lmr_param_mask,
                                         DAT_LMR_PARAM *lmr_param);

/** Slot of dat_lmr_free. */
typedef DAT_RETURN (*DAT_LMR_FREE_FUNC)(DAT_LMR_HANDLE lmr_handle);

/** Slot of dat_rmr_create. */
typedef DAT_RETURN (*DAT_RMR_CREATE_FUNC)(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE *rmr_handle);

/** Slot of dat_rmr_query. */
typedef DAT_RETURN (*DAT_RMR_QUERY_FUNC)(DAT_RMR_HANDLE rmr_handle,
                                         DAT_RMR_PARAM_MASK rmr_param_mask,
                                         DAT_RMR_PARAM *rmr_param);

/** Slot of dat_rmr_bind. */
typedef DAT_RETURN (*DAT_RMR_BIND_FUNC)(DAT_RMR_HANDLE rmr_handle,
                                        DAT_LMR_HANDLE lmr_handle,
                                        const DAT_LMR_TRIPLET *lmr_triplet,
                                        DAT_MEM_PRIV_FLAGS mem_priv,
                                        DAT_VA_TYPE va_type,
                                        DAT_EP_HANDLE ep_handle,
                                        DAT_RMR_COOKIE user_cookie,
                                        DAT_COMPLETION_FLAGS completion_flags,
                                        DAT_RMR_CONTEXT *context);

/** Slot of dat_rmr_free. */
typedef DAT_RETURN (*DAT_RMR_FREE_FUNC)(DAT_RMR_HANDLE rmr_handle);

/** Slot of dat_psp_create. */
typedef DAT_RETURN (*DAT_PSP_CREATE_FUNC)(DAT_IA_HANDLE ia_handle,
                                          DAT_CONN_QUAL conn_qual,
                                          DAT_EVD_HANDLE evd_handle,
                                          DAT_PSP_FLAGS psp_flags,
                                          DAT_PSP_HANDLE *psp_handle);

/** Slot of dat_psp_query. */
typedef DAT_RETURN (*DAT_PSP_QUERY_FUNC)(DAT_PSP_HANDLE psp_handle,
                                         DAT_PSP_PARAM_MASK psp_param_mask,
                                         DAT_PSP_PARAM *psp_param);

/** Slot of dat_psp_free. */
typedef DAT_RETURN (*DAT_PSP_FREE_FUNC)(DAT_PSP_HANDLE psp_handle);

/** Slot of dat_rsp_create. */
typedef DAT_RETURN (*DAT_RSP_CREATE_FUNC)(DAT_IA_HANDLE ia_handle,
                                          DAT_CONN_QUAL conn_qual,
                                          DAT_EP_HANDLE ep_handle,
                                          DAT_EVD_HANDLE evd_handle,
                                          DAT_RSP_HANDLE *rsp_handle);

/** Slot of dat_rsp_query. */
typedef DAT_RETURN (*DAT_RSP_QUERY_FUNC)(DAT_RSP_HANDLE rsp_handle,
                                         DAT_RSP_PARAM_MASK rsp_param_mask,
                                         DAT_RSP_PARAM *rsp_param);

/** Slot of dat_rsp_free. */
typedef DAT_RETURN (*DAT_RSP_FREE_FUNC)(DAT_RSP_HANDLE rsp_handle);

/** Slot of dat_pz_create. */
typedef DAT_RETURN (*DAT_PZ_CREATE_FUNC)(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE *pz_handle);

/** Slot of dat_pz_query. */
typedef DAT_RETURN (*DAT_PZ_QUERY_FUNC)(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK pz_param_mask, DAT_PZ_PARAM *pz_param);

/** Slot of dat_pz_free. */
typedef DAT_RETURN (*DAT_PZ_FREE_FUNC)(DAT_PZ_HANDLE pz_handle);

/** Slot of dat_psp_create_any. */
typedef DAT_RETURN (*DAT_PSP_CREATE_ANY_FUNC)(DAT_IA_HANDLE ia_handle,
                                              DAT_CONN_QUAL *conn_qual,
                                              DAT_EVD_HANDLE evd_handle,
                                              DAT_PSP_FLAGS psp_flags,
                                              DAT_PSP_HANDLE *psp_handle);

/** Slot of dat_ep_reset. */
typedef DAT_RETURN (*DAT_EP_RESET_FUNC)(DAT_EP_HANDLE ep_handle);

/** Slot of dat_lmr_sync_rdma_read. */
typedef DAT_RETURN (*DAT_LMR_SYNC_RDMA_READ_FUNC)(DAT_IA_HANDLE ia_handle,
                                                  const DAT_LMR_TRIPLET *local_segments,
                                                  DAT_VLEN num_segments);

/** Slot of dat_lmr_sync_rdma_write. */
typedef DAT_RETURN (*DAT_LMR_SYNC_RDMA_WRITE_FUNC)(DAT_IA_HANDLE ia_handle,
                                                   const DAT_LMR_TRIPLET *local_segments,
                                                   DAT_VLEN num_segments);

/** Slot of dat_ep_create_with_srq. */
typedef DAT_RETURN (*DAT_EP_CREATE_WITH_SRQ_FUNC)(DAT_IA_HANDLE ia_handle,
                                                  DAT_PZ_HANDLE pz_handle,
                                                  DAT_EVD_HANDLE recv_evd_handle,
                                                  DAT_EVD_HANDLE request_evd_handle,
                                                  DAT_EVD_HANDLE connect_evd_handle,
                                                  DAT_SRQ_HANDLE srq_handle,
                                                  const DAT_EP_ATTR *ep_attributes,
                                                  DAT_EP_HANDLE *ep_handle);

/** Slot of dat_ep_recv_query. */
typedef DAT_RETURN (*DAT_EP_RECV_QUERY_FUNC)(DAT_EP_HANDLE ep_handle,
                                             DAT_COUNT *nbufs_allocated,
                                             DAT_COUNT *bufs_alloc_span);

/** Slot of dat_ep_set_watermark. */
typedef DAT_RETURN (*DAT_EP_SET_WATERMARK_FUNC)(DAT_EP_HANDLE ep_handle,
                                                DAT_COUNT soft_high_watermark,
                                                DAT_COUNT hard_high_watermark);

/** Slot of dat_srq_create. */
typedef DAT_RETURN (*DAT_SRQ_CREATE_FUNC)(DAT_IA_HANDLE ia_handle,
                                          DAT_PZ_HANDLE pz_handle,
                                          DAT_SRQ_ATTR *srq_attr,
                                          DAT_SRQ_HANDLE *srq_handle);

/** Slot of dat_srq_free. */
typedef DAT_RETURN (*DAT_SRQ_FREE_FUNC)(DAT_SRQ_HANDLE srq_handle);

/** Slot of dat_srq_post_recv. */
typedef DAT_RETURN (*DAT_SRQ_POST_RECV_FUNC)(DAT_SRQ_HANDLE srq_handle,
                                             DAT_COUNT num_segments,
                                             DAT_LMR_TRIPLET *local_iov,
                                             DAT_DTO_COOKIE user_cookie);

/** Slot of dat_srq_query. */
typedef DAT_RETURN (*DAT_SRQ_QUERY_FUNC)(DAT_SRQ_HANDLE srq_handle,
                                         DAT_SRQ_PARAM_MASK srq_param_mask,
                                         DAT_SRQ_PARAM *srq_param);

/** Slot of dat_srq_resize. */
typedef DAT_RETURN (*DAT_SRQ_RESIZE_FUNC)(DAT_SRQ_HANDLE srq_handle, DAT_COUNT srq_max_recv_dto);

/** Slot of dat_srq_set_lw. */
typedef DAT_RETURN (*DAT_SRQ_SET_LW_FUNC)(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark);

/** Slot of dat_csp_create. */
typedef DAT_RETURN (*DAT_CSP_CREATE_FUNC)(DAT_IA_HANDLE ia_handle,
                                          DAT_COMM *comm,
                                          DAT_IA_ADDRESS_PTR address,
                                          DAT_EVD_HANDLE evd_handle,
                                          DAT_CSP_HANDLE *csp_handle);

/** Slot of dat_csp_query. */
typedef DAT_RETURN (*DAT_CSP_QUERY_FUNC)(DAT_CSP_HANDLE csp_handle,
                                         DAT_CSP_PARAM_MASK csp_param_mask,
                                         DAT_CSP_PARAM *csp_param);

/** Slot of dat_csp_free. */
typedef DAT_RETURN (*DAT_CSP_FREE_FUNC)(DAT_CSP_HANDLE csp_handle);

/** Slot of dat_ep_common_connect. */
typedef DAT_RETURN (*DAT_EP_COMMON_CONNECT_FUNC)(DAT_EP_HANDLE ep_handle,
                                                 DAT_IA_ADDRESS_PTR remote_ia_address,
                                                 DAT_TIMEOUT timeout,
                                                 DAT_COUNT private_data_size,
                                                 DAT_PVOID private_data);

/** Slot of dat_rmr_create_for_ep. */
typedef DAT_RETURN (*DAT_RMR_CREATE_FOR_EP_FUNC)(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE *rmr_handle);

/** Slot of dat_ep_post_send_with_invalidate. */
typedef DAT_RETURN (*DAT_EP_POST_SEND_WITH_INVALIDATE_FUNC)(DAT_EP_HANDLE ep_handle,
                                                            DAT_COUNT num_segments,
                                                            DAT_LMR_TRIPLET *local_iov,
                                                            DAT_DTO_COOKIE user_cookie,
                                                            DAT_COMPLETION_FLAGS completion_flags,
                                                            DAT_BOOLEAN invalidate_flag,
                                                            DAT_RMR_CONTEXT rmr_context);

/** Slot of dat_ep_post_rdma_read_to_rmr. */
typedef DAT_RETURN (*DAT_EP_POST_RDMA_READ_TO_RMR_FUNC)(DAT_EP_HANDLE ep_handle,
                                                        const DAT_RMR_TRIPLET *local_iov,
                                                        DAT_DTO_COOKIE user_cookie,
                                                        const DAT_RMR_TRIPLET *remote_iov,
                                                        DAT_COMPLETION_FLAGS completion_flags);

/** Slot of dat_ia_ha_related. */
typedef DAT_RETURN (*DAT_IA_HA_RELATED_FUNC)(DAT_IA_HANDLE ia_handle, DAT_NAME_PTR provider, DAT_BOOLEAN *answer);

/** Slot of dat_extension_op. */
typedef DAT_RETURN (*DAT_HANDLE_EXTENDEDOP_FUNC)(DAT_HANDLE dat_handle, DAT_EXTENDED_OP ext_op, va_list args);

/* ---- Type of a call without a slot ---- */

/** Type of dat_ia_openv. The slot ia_open_func lacks the last three parameters. */
typedef DAT_RETURN (*DAT_IA_OPENV_FUNC)(DAT_NAME_PTR provider,
                                        DAT_COUNT asynch_evd_min_qlen,
                                        DAT_EVD_HANDLE *asynch_evd_handle,
                                        DAT_IA_HANDLE *ia_handle,
                                        DAT_UINT32 dat_major,
                                        DAT_UINT32 dat_minor,
                                        DAT_BOOLEAN thread_safety);

/* ---- The table of a provider ---- */

/**
 * Table of the functions of a provider. The order is part of the binary interface. For a slot that
 * is NULL, the library returns DAT_NOT_IMPLEMENTED.
 */
typedef struct dat_provider {
    /** Name of the adapter that the provider serves. */
    const char *device_name;
    /** For the provider's own use. */
    DAT_PVOID extension;
    /** dat_ia_openv. */
    DAT_IA_OPEN_FUNC ia_open_func;
    /** dat_ia_query. */
    DAT_IA_QUERY_FUNC ia_query_func;
    /** dat_ia_close. */
    DAT_IA_CLOSE_FUNC ia_close_func;
    /** dat_set_consumer_context. */
    DAT_SET_CONSUMER_CONTEXT_FUNC set_consumer_context_func;
    /** dat_get_consumer_context. */
    DAT_GET_CONSUMER_CONTEXT_FUNC get_consumer_context_func;
    /** dat_get_handle_type. */
    DAT_GET_HANDLE_TYPE_FUNC get_handle_type_func;
    /** dat_cno_create. */
    DAT_CNO_CREATE_FUNC cno_create_func;
    /** dat_cno_modify_agent. */
    DAT_CNO_MODIFY_AGENT_FUNC cno_modify_agent_func;
    /** dat_cno_query. */
    DAT_CNO_QUERY_FUNC cno_query_func;
    /** dat_cno_free. */
    DAT_CNO_FREE_FUNC cno_free_func;
    /** dat_cno_wait. */
    DAT_CNO_WAIT_FUNC cno_wait_func;
    /** dat_cr_query. */
    DAT_CR_QUERY_FUNC cr_query_func;
    /** dat_cr_accept. */
    DAT_CR_ACCEPT_FUNC cr_accept_func;
    /** dat_cr_reject. */
    DAT_CR_REJECT_FUNC cr_reject_func;
    /** dat_cr_handoff. */
    DAT_CR_HANDOFF_FUNC cr_handoff_func;
    /** dat_evd_create. */
    DAT_EVD_CREATE_FUNC evd_create_func;
    /** dat_evd_query. */
    DAT_EVD_QUERY_FUNC evd_query_func;
    /** dat_evd_modify_cno. */
    DAT_EVD_MODIFY_CNO_FUNC evd_modify_cno_func;
    /** dat_evd_enable. */
    DAT_EVD_ENABLE_FUNC evd_enable_func;
    /** dat_evd_disable. */
    DAT_EVD_DISABLE_FUNC evd_disable_func;
    /** dat_evd_wait. */
    DAT_EVD_WAIT_FUNC evd_wait_func;
    /** dat_evd_resize. */
    DAT_EVD_RESIZE_FUNC evd_resize_func;
    /** dat_evd_post_se. */
    DAT_EVD_POST_SE_FUNC evd_post_se_func;
    /** dat_evd_dequeue. */
    DAT_EVD_DEQUEUE_FUNC evd_dequeue_func;
    /** dat_evd_free. */
    DAT_EVD_FREE_FUNC evd_free_func;
    /** dat_ep_create. */
    DAT_EP_CREATE_FUNC ep_create_func;
    /** dat_ep_query. */
    DAT_EP_QUERY_FUNC ep_query_func;
    /** dat_ep_modify. */
    DAT_EP_MODIFY_FUNC ep_modify_func;
    /** dat_ep_connect. */
    DAT_EP_CONNECT_FUNC ep_connect_func;
    /** dat_ep_dup_connect. */
    DAT_EP_DUP_CONNECT_FUNC ep_dup_connect_func;
    /** dat_ep_disconnect. */
    DAT_EP_DISCONNECT_FUNC ep_disconnect_func;
    /** dat_ep_post_send. */
    DAT_EP_POST_SEND_FUNC ep_post_send_func;
    /** dat_ep_post_recv. */
    DAT_EP_POST_RECV_FUNC ep_post_recv_func;
    /** dat_ep_post_rdma_read. */
    DAT_EP_POST_RDMA_READ_FUNC ep_post_rdma_read_func;
    /** dat_ep_post_rdma_write. */
    DAT_EP_POST_RDMA_WRITE_FUNC ep_post_rdma_write_func;
    /** dat_ep_get_status. */
    DAT_EP_GET_STATUS_FUNC ep_get_status_func;
    /** dat_ep_free. */
    DAT_EP_FREE_FUNC ep_free_func;
    /** dat_lmr_create. */
    DAT_LMR_CREATE_FUNC lmr_create_func;
    /** dat_lmr_query. */
    DAT_LMR_QUERY_FUNC lmr_query_func;
    /** dat_lmr_free. */
    DAT_LMR_FREE_FUNC lmr_free_func;
    /** dat_rmr_create. */
    DAT_RMR_CREATE_FUNC rmr_create_func;
    /** dat_rmr_query. */
    DAT_RMR_QUERY_FUNC rmr_query_func;
    /** dat_rmr_bind. */
    DAT_RMR_BIND_FUNC rmr_bind_func;
    /** dat_rmr_free. */
    DAT_RMR_FREE_FUNC rmr_free_func;
    /** dat_psp_create. */
    DAT_PSP_CREATE_FUNC psp_create_func;
    /** dat_psp_query. */
    DAT_PSP_QUERY_FUNC psp_query_func;
    /** dat_psp_free. */
    DAT_PSP_FREE_FUNC psp_free_func;
    /** dat_rsp_create. */
    DAT_RSP_CREATE_FUNC rsp_create_func;
    /** dat_rsp_query. */
    DAT_RSP_QUERY_FUNC rsp_query_func;
    /** dat_rsp_free. */
    DAT_RSP_FREE_FUNC rsp_free_func;
    /** dat_pz_create. */
    DAT_PZ_CREATE_FUNC pz_create_func;
    /** dat_pz_query. */
    DAT_PZ_QUERY_FUNC pz_query_func;
    /** dat_pz_free. */
    DAT_PZ_FREE_FUNC pz_free_func;
    /** dat_psp_create_any. */
    DAT_PSP_CREATE_ANY_FUNC psp_create_any_func;
    /** dat_ep_reset. */
    DAT_EP_RESET_FUNC ep_reset_func;
    /** dat_evd_set_unwaitable. */
    DAT_EVD_SET_UNWAITABLE_FUNC evd_set_unwaitable_func;
    /** dat_evd_clear_unwaitable. */
    DAT_EVD_CLEAR_UNWAITABLE_FUNC evd_clear_unwaitable_func;
    /** dat_lmr_sync_rdma_read. */
    DAT_LMR_SYNC_RDMA_READ_FUNC lmr_sync_rdma_read_func;
    /** dat_lmr_sync_rdma_write. */
    DAT_LMR_SYNC_RDMA_WRITE_FUNC lmr_sync_rdma_write_func;
    /** dat_ep_create_with_srq. */
    DAT_EP_CREATE_WITH_SRQ_FUNC ep_create_with_srq_func;
    /** dat_ep_recv_query. */
    DAT_EP_RECV_QUERY_FUNC ep_recv_query_func;
    /** dat_ep_set_watermark. */
    DAT_EP_SET_WATERMARK_FUNC ep_set_watermark_func;
    /** dat_srq_create. */
    DAT_SRQ_CREATE_FUNC srq_create_func;
    /** dat_srq_free. */
    DAT_SRQ_FREE_FUNC srq_free_func;
    /** dat_srq_post_recv. */
    DAT_SRQ_POST_RECV_FUNC srq_post_recv_func;
    /** dat_srq_query. */
    DAT_SRQ_QUERY_FUNC srq_query_func;
    /** dat_srq_resize. */
    DAT_SRQ_RESIZE_FUNC srq_resize_func;
    /** dat_srq_set_lw. */
    DAT_SRQ_SET_LW_FUNC srq_set_lw_func;
    /** dat_csp_create. */
    DAT_CSP_CREATE_FUNC csp_create_func;
    /** dat_csp_query. */
    DAT_CSP_QUERY_FUNC csp_query_func;
    /** dat_csp_free. */
    DAT_CSP_FREE_FUNC csp_free_func;
    /** dat_ep_common_connect. */
    DAT_EP_COMMON_CONNECT_FUNC ep_common_connect_func;
    /** dat_rmr_create_for_ep. */
    DAT_RMR_CREATE_FOR_EP_FUNC rmr_create_for_ep_func;
    /** dat_ep_post_send_with_invalidate. */
    DAT_EP_POST_SEND_WITH_INVALIDATE_FUNC ep_post_send_with_invalidate_func;
    /** dat_ep_post_rdma_read_to_rmr. */
    DAT_EP_POST_RDMA_READ_TO_RMR_FUNC ep_post_rdma_read_to_rmr_func;
    /** dat_cno_fd_create. */
    DAT_CNO_FD_CREATE_FUNC cno_fd_create_func;
    /** dat_cno_trigger. */
    DAT_CNO_TRIGGER_FUNC cno_trigger_func;
    /** dat_ia_ha_related. */
    DAT_IA_HA_RELATED_FUNC ia_ha_related_func;
    /** dat_extension_op. */
    DAT_HANDLE_EXTENDEDOP_FUNC handle_extendedop_func;
} DAT_PROVIDER;

/* ---- Macros ---- */

/**
 * Returns the provider table of an object: the handle points to a word that points to the table.
 */
#ifndef DAT_HANDLE_TO_PROVIDER
#define DAT_HANDLE_TO_PROVIDER(handle) (*(DAT_PROVIDER **)(handle))
#endif

/* ---- Calls by way of the table ---- */

/*
 * Upper-case macros: the functions by way of the table of the object's provider, without the library in
 * between. No handle is checked, and the one that names the table is evaluated twice.
 */

/** dat_ia_query. */
#define DAT_IA_QUERY(ia_handle, async_evd_handle, ia_attr_mask, ia_attr, provider_attr_mask, provider_attr) \
    (*DAT_HANDLE_TO_PROVIDER(ia_handle)->ia_query_func)((ia_handle), (async_evd_handle), (ia_attr_mask), (ia_attr), \
            (provider_attr_mask), (provider_attr))

/** dat_set_consumer_context. */
#define DAT_SET_CONSUMER_CONTEXT(dat_handle, context) \
    (*DAT_HANDLE_TO_PROVIDER(dat_handle)->set_consumer_context_func)((dat_handle), (context))

/** dat_get_consumer_context. */
#define DAT_GET_CONSUMER_CONTEXT(dat_handle, context) \
    (*DAT_HANDLE_TO_PROVIDER(dat_handle)->get_consumer_context_func)((dat_handle), (context))

/** dat_get_handle_type. */
#define DAT_GET_HANDLE_TYPE(dat_handle, handle_type) \
    (*DAT_HANDLE_TO_PROVIDER(dat_handle)->get_handle_type_func)((dat_handle), (handle_type))

/** dat_cr_query. */
#define DAT_CR_QUERY(cr_handle, cr_param_mask, cr_param) \
    (*DAT_HANDLE_TO_PROVIDER(cr_handle)->cr_query_func)((cr_handle), (cr_param_mask), (cr_param))

/** dat_cr_accept. */
#define DAT_CR_ACCEPT(cr_handle, ep_handle, private_data_size, private_data) \
    (*DAT_HANDLE_TO_PROVIDER(cr_handle)->cr_accept_func)((cr_handle), (ep_handle), (private_data_size), \
            (private_data))

/** dat_cr_reject. */
#define DAT_CR_REJECT(cr_handle, private_data_size, private_data) \
    (*DAT_HANDLE_TO_PROVIDER(cr_handle)->cr_reject_func)((cr_handle), (private_data_size), (private_data))

/** dat_cr_handoff. */
#define DAT_CR_HANDOFF(cr_handle, handoff) \
    (*DAT_HANDLE_TO_PROVIDER(cr_handle)->cr_handoff_func)((cr_handle), (handoff))

/** dat_evd_query. */
#define DAT_EVD_QUERY(evd_handle, evd_param_mask, evd_param) \
    (*DAT_HANDLE_TO_PROVIDER(evd_handle)->evd_query_func)((evd_handle), (evd_param_mask), (evd_param))

/** dat_evd_resize. */
#define DAT_EVD_RESIZE(evd_handle, evd_min_qlen) \
    (*DAT_HANDLE_TO_PROVIDER(evd_handle)->evd_resize_func)((evd_handle), (evd_min_qlen))

/** dat_evd_post_se. */
#define DAT_EVD_POST_SE(evd_handle, event) \
    (*DAT_HANDLE_TO_PROVIDER(evd_handle)->evd_post_se_func)((evd_handle), (event))

/** dat_evd_dequeue. */
#define DAT_EVD_DEQUEUE(evd_handle, event) \
    (*DAT_HANDLE_TO_PROVIDER(evd_handle)->evd_dequeue_func)((evd_handle), (event))

/** dat_evd_free. */
#define DAT_EVD_FREE(evd_handle) \
    (*DAT_HANDLE_TO_PROVIDER(evd_handle)->evd_free_func)((evd_handle))

/** dat_ep_create. */
#define DAT_EP_CREATE(ia_handle, pz_handle, recv_completion_evd_handle, request_completion_evd_handle, \
        connect_evd_handle, ep_attributes, ep_handle) \
    (*DAT_HANDLE_TO_PROVIDER(ia_handle)->ep_create_func)((ia_handle), (pz_handle), (recv_completion_evd_handle), \
            (request_completion_evd_handle), (connect_evd_handle), (ep_attributes), (ep_handle))

/** dat_ep_query. */
#define DAT_EP_QUERY(ep_handle, ep_param_mask, ep_param) \
    (*DAT_HANDLE_TO_PROVIDER(ep_handle)->ep_query_func)((ep_handle), (ep_param_mask), (ep_param))

/** dat_ep_modify. */
#define DAT_EP_MODIFY(ep_handle, ep_param_mask, ep_param) \
    (*DAT_HANDLE_TO_PROVIDER(ep_handle)->ep_modify_func)((ep_handle), (ep_param_mask), (ep_param))

/** dat_ep_connect. */
#define DAT_EP_CONNECT(ep_handle, remote_ia_address, remote_conn_qual, timeout, private_data_size, private_data, \
        quality_of_service, connect_flags) \
    (*DAT_HANDLE_TO_PROVIDER(ep_handle)->ep_connect_func)((ep_handle), (remote_ia_address), (remote_conn_qual), \
            (timeout), (private_data_size), (private_data), (quality_of_service), (connect_flags))

/** dat_ep_dup_connect. */
#define DAT_EP_DUP_CONNECT(ep_handle, ep_dup_handle, timeout, private_data_size, private_data, quality_of_service) \
    (*DAT_HANDLE_TO_PROVIDER(ep_handle)->ep_dup_connect_func)((ep_handle), (ep_dup_handle), (timeout), \
            (private_data_size), (private_data), (quality_of_service))

/** dat_ep_disconnect. */
#define DAT_EP_DISCONNECT(ep_handle, close_flags) \
    (*DAT_HANDLE_TO_PROVIDER(ep_handle)->ep_disconnect_func)((ep_handle), (close_flags))

/** dat_ep_post_send. */
#define DAT_EP_POST_SEND(ep_handle, num_segments, local_iov, user_cookie, completion_flags) \
    (*DAT_HANDLE_TO_PROVIDER(ep_handle)->ep_post_send_func)((ep_handle), (num_segments), (local_iov), (user_cookie), \
            (completion_flags))

/** dat_ep_post_recv. */
#define DAT_EP_POST_RECV(ep_handle, num_segments, local_iov, user_cookie, completion_flags) \
    (*DAT_HANDLE_TO_PROVIDER(ep_handle)->ep_post_recv_func)((ep_handle), (num_segments), (local_iov), (user_cookie), \
            (completion_flags))

/** dat_ep_post_rdma_read. */
#define DAT_EP_POST_RDMA_READ(ep_handle, num_segments, local_iov, user_cookie, remote_iov, completion_flags) \
    (*DAT_HANDLE_TO_PROVIDER(ep_handle)->ep_post_rdma_read_func)((ep_handle), (num_segments), (local_iov), \
            (user_cookie), (remote_iov), (completion_flags))

/** dat_ep_post_rdma_write. */
#define DAT_EP_POST_RDMA_WRITE(ep_handle, num_segments, local_iov, user_cookie, remote_iov, completion_flags) \
    (*DAT_HANDLE_TO_PROVIDER(ep_handle)->ep_post_rdma_write_func)((ep_handle), (num_segments), (local_iov), \
            (user_cookie), (remote_iov), (completion_flags))

/** dat_ep_get_status. */
#define DAT_EP_GET_STATUS(ep_handle, ep_state, recv_idle, request_idle) \
    (*DAT_HANDLE_TO_PROVIDER(ep_handle)->ep_get_status_func)((ep_handle), (ep_state), (recv_idle), (request_idle))

/** dat_ep_free. */
#define DAT_EP_FREE(ep_handle) \
    (*DAT_HANDLE_TO_PROVIDER(ep_handle)->ep_free_func)((ep_handle))

/** dat_lmr_query. */
#define DAT_LMR_QUERY(lmr_handle, lmr_param_mask, lmr_param) \
    (*DAT_HANDLE_TO_PROVIDER(lmr_handle)->lmr_query_func)((lmr_handle), (lmr_param_mask), (lmr_param))

/** dat_lmr_free. */
#define DAT_LMR_FREE(lmr_handle) \
    (*DAT_HANDLE_TO_PROVIDER(lmr_handle)->lmr_free_func)((lmr_handle))

/** dat_rmr_create. */
#define DAT_RMR_CREATE(pz_handle, rmr_handle) \
    (*DAT_HANDLE_TO_PROVIDER(pz_handle)->rmr_create_func)((pz_handle), (rmr_handle))

/** dat_rmr_query. */
#define DAT_RMR_QUERY(rmr_handle, rmr_param_mask, rmr_param) \
    (*DAT_HANDLE_TO_PROVIDER(rmr_handle)->rmr_query_func)((rmr_handle), (rmr_param_mask), (rmr_param))

/** dat_rmr_bind. */
#define DAT_RMR_BIND(rmr_handle, lmr_handle, lmr_triplet, mem_priv, va_type, ep_handle, user_cookie, completion_flags, \
        context) \
    (*DAT_HANDLE_TO_PROVIDER(rmr_handle)->rmr_bind_func)((rmr_handle), (lmr_handle), (lmr_triplet), (mem_priv), \
            (va_type), (ep_handle), (user_cookie), (completion_flags), (context))

/** dat_rmr_free. */
#define DAT_RMR_FREE(rmr_handle) \
    (*DAT_HANDLE_TO_PROVIDER(rmr_handle)->rmr_free_func)((rmr_handle))

/** dat_psp_create. */
#define DAT_PSP_CREATE(ia_handle, conn_qual, evd_handle, psp_flags, psp_handle) \
    (*DAT_HANDLE_TO_PROVIDER(ia_handle)->psp_create_func)((ia_handle), (conn_qual), (evd_handle), (psp_flags), \
            (psp_handle))

/** dat_psp_query. */
#define DAT_PSP_QUERY(psp_handle, psp_param_mask, psp_param) \
    (*DAT_HANDLE_TO_PROVIDER(psp_handle)->psp_query_func)((psp_handle), (psp_param_mask), (psp_param))

/** dat_psp_free. */
#define DAT_PSP_FREE(psp_handle) \
    (*DAT_HANDLE_TO_PROVIDER(psp_handle)->psp_free_func)((psp_handle))

/** dat_rsp_create. */
#define DAT_RSP_CREATE(ia_handle, conn_qual, ep_handle, evd_handle, rsp_handle) \
    (*DAT_HANDLE_TO_PROVIDER(ia_handle)->rsp_create_func)((ia_handle), (conn_qual), (ep_handle), (evd_handle), \
            (rsp_handle))

/** dat_rsp_query. */
#define DAT_RSP_QUERY(rsp_handle, rsp_param_mask, rsp_param) \
    (*DAT_HANDLE_TO_PROVIDER(rsp_handle)->rsp_query_func)((rsp_handle), (rsp_param_mask), (rsp_param))

/** dat_rsp_free. */
#define DAT_RSP_FREE(rsp_handle) \
    (*DAT_HANDLE_TO_PROVIDER(rsp_handle)->rsp_free_func)((rsp_handle))

/** dat_pz_create. */
#define DAT_PZ_CREATE(ia_handle, pz_handle) \
    (*DAT_HANDLE_TO_PROVIDER(ia_handle)->pz_create_func)((ia_handle), (pz_handle))

/** dat_pz_query. */
#define DAT_PZ_QUERY(pz_handle, pz_param_mask, pz_param) \
    (*DAT_HANDLE_TO_PROVIDER(pz_handle)->pz_query_func)((pz_handle), (pz_param_mask), (pz_param))

/** dat_pz_free. */
#define DAT_PZ_FREE(pz_handle) \
    (*DAT_HANDLE_TO_PROVIDER(pz_handle)->pz_free_func)((pz_handle))

/** dat_psp_create_any. */
#define DAT_PSP_CREATE_ANY(ia_handle, conn_qual, evd_handle, psp_flags, psp_handle) \
    (*DAT_HANDLE_TO_PROVIDER(ia_handle)->psp_create_any_func)((ia_handle), (conn_qual), (evd_handle), (psp_flags), \
            (psp_handle))

/** dat_ep_reset. */
#define DAT_EP_RESET(ep_handle) \
    (*DAT_HANDLE_TO_PROVIDER(ep_handle)->ep_reset_func)((ep_handle))

/** dat_lmr_sync_rdma_read. */
#define DAT_LMR_SYNC_RDMA_READ(ia_handle, local_segments, num_segments) \
    (*DAT_HANDLE_TO_PROVIDER(ia_handle)->lmr_sync_rdma_read_func)((ia_handle), (local_segments), (num_segments))

/** dat_lmr_sync_rdma_write. */
#define DAT_LMR_SYNC_RDMA_WRITE(ia_handle, local_segments, num_segments) \
    (*DAT_HANDLE_TO_PROVIDER(ia_handle)->lmr_sync_rdma_write_func)((ia_handle), (local_segments), (num_segments))

/** dat_ep_create_with_srq. */
#define DAT_EP_CREATE_WITH_SRQ(ia_handle, pz_handle, recv_evd_handle, request_evd_handle, connect_evd_handle, \
        srq_handle, ep_attributes, ep_handle) \
    (*DAT_HANDLE_TO_PROVIDER(ia_handle)->ep_create_with_srq_func)((ia_handle), (pz_handle), (recv_evd_handle), \
            (request_evd_handle), (connect_evd_handle), (srq_handle), (ep_attributes), (ep_handle))

/** dat_ep_recv_query. */
#define DAT_EP_RECV_QUERY(ep_handle, nbufs_allocated, bufs_alloc_span) \
    (*DAT_HANDLE_TO_PROVIDER(ep_handle)->ep_recv_query_func)((ep_handle), (nbufs_allocated), (bufs_alloc_span))

/** dat_ep_set_watermark. */
#define DAT_EP_SET_WATERMARK(ep_handle, soft_high_watermark, hard_high_watermark) \
    (*DAT_HANDLE_TO_PROVIDER(ep_handle)->ep_set_watermark_func)((ep_handle), (soft_high_watermark), \
            (hard_high_watermark))

/** dat_srq_create. */
#define DAT_SRQ_CREATE(ia_handle, pz_handle, srq_attr, srq_handle) \
    (*DAT_HANDLE_TO_PROVIDER(ia_handle)->srq_create_func)((ia_handle), (pz_handle), (srq_attr), (srq_handle))

/** dat_srq_free. */
#define DAT_SRQ_FREE(srq_handle) \
    (*DAT_HANDLE_TO_PROVIDER(srq_handle)->srq_free_func)((srq_handle))

/** dat_srq_post_recv. */
#define DAT_SRQ_POST_RECV(srq_handle, num_segments, local_iov, user_cookie) \
    (*DAT_HANDLE_TO_PROVIDER(srq_handle)->srq_post_recv_func)((srq_handle), (num_segments), (local_iov), \
            (user_cookie))

/** dat_srq_query. */
#define DAT_SRQ_QUERY(srq_handle, srq_param_mask, srq_param) \
    (*DAT_HANDLE_TO_PROVIDER(srq_handle)->srq_query_func)((srq_handle), (srq_param_mask), (srq_param))

/** dat_srq_resize. */
#define DAT_SRQ_RESIZE(srq_handle, srq_max_recv_dto) \
    (*DAT_HANDLE_TO_PROVIDER(srq_handle)->srq_resize_func)((srq_handle), (srq_max_recv_dto))

/** dat_srq_set_lw. */
#define DAT_SRQ_SET_LW(srq_handle, low_watermark) \
    (*DAT_HANDLE_TO_PROVIDER(srq_handle)->srq_set_lw_func)((srq_handle), (low_watermark))

/** dat_csp_create. */
#define DAT_CSP_CREATE(ia_handle, comm, address, evd_handle, csp_handle) \
    (*DAT_HANDLE_TO_PROVIDER(ia_handle)->csp_create_func)((ia_handle), (comm), (address), (evd_handle), (csp_handle))

/** dat_csp_query. */
#define DAT_CSP_QUERY(csp_handle, csp_param_mask, csp_param) \
    (*DAT_HANDLE_TO_PROVIDER(csp_handle)->csp_query_func)((csp_handle), (csp_param_mask), (csp_param))

/** dat_csp_free. */
#define DAT_CSP_FREE(csp_handle) \
    (*DAT_HANDLE_TO_PROVIDER(csp_handle)->csp_free_func)((csp_handle))

/** dat_ep_common_connect. */
#define DAT_EP_COMMON_CONNECT(ep_handle, remote_ia_address, timeout, private_data_size, private_data) \
    (*DAT_HANDLE_TO_PROVIDER(ep_handle)->ep_common_connect_func)((ep_handle), (remote_ia_address), (timeout), \
            (private_data_size), (private_data))

/** dat_rmr_create_for_ep. */
#define DAT_RMR_CREATE_FOR_EP(pz_handle, rmr_handle) \
    (*DAT_HANDLE_TO_PROVIDER(pz_handle)->rmr_create_for_ep_func)((pz_handle), (rmr_handle))

/** dat_ep_post_send_with_invalidate. */
#define DAT_EP_POST_SEND_WITH_INVALIDATE(ep_handle, num_segments, local_iov, user_cookie, completion_flags, \
        invalidate_flag, rmr_context) \
    (*DAT_HANDLE_TO_PROVIDER(ep_handle)->ep_post_send_with_invalidate_func)((ep_handle), (num_segments), (local_iov), \
            (user_cookie), (completion_flags), (invalidate_flag), (rmr_context))

/** dat_ep_post_rdma_read_to_rmr. */
#define DAT_EP_POST_RDMA_READ_TO_RMR(ep_handle, local_iov, user_cookie, remote_iov, completion_flags) \
    (*DAT_HANDLE_TO_PROVIDER(ep_handle)->ep_post_rdma_read_to_rmr_func)((ep_handle), (local_iov), (user_cookie), \
            (remote_iov), (completion_flags))

/** dat_ia_ha_related. */
#define DAT_IA_HA_RELATED(ia_handle, provider, answer) \
    (*DAT_HANDLE_TO_PROVIDER(ia_handle)->ia_ha_related_func)((ia_handle), (provider), (answer))

/** dat_extension_op. */
#define DAT_HANDLE_EXTENDEDOP(dat_handle, ext_op, args) \
    (*DAT_HANDLE_TO_PROVIDER(dat_handle)->handle_extendedop_func)((dat_handle), (ext_op), (args))

#ifdef __cplusplus
}
#endif

#endif /* DAT2_DAT_REDIRECTION_H */
