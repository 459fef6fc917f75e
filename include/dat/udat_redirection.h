/*
 * dat/udat_redirection.h: the part of a provider's table that is of the user-level interface alone.
 *
 * Part of libdat, an implementation of uDAPL 1.2.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Generated from src/interface/udat and src/interface/udat12 by `make derived`; changes belong there.
 */

#ifndef DAT_UDAT_REDIRECTION_H
#define DAT_UDAT_REDIRECTION_H

#include "udat.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types of the slots of the user-level interface alone ---- */

/** Slot of dat_cno_create. */
typedef DAT_RETURN (*DAT_CNO_CREATE_FUNC)(DAT_IA_HANDLE ia_handle,
                                          DAT_OS_WAIT_PROXY_AGENT agent,
                                          DAT_CNO_HANDLE *cno_handle);

/** Slot of dat_cno_modify_agent. */
typedef DAT_RETURN (*DAT_CNO_MODIFY_AGENT_FUNC)(DAT_CNO_HANDLE cno_handle, DAT_OS_WAIT_PROXY_AGENT agent);

/** Slot of dat_cno_query. */
typedef DAT_RETURN (*DAT_CNO_QUERY_FUNC)(DAT_CNO_HANDLE cno_handle,
                                         DAT_CNO_PARAM_MASK cno_param_mask,
                                         DAT_CNO_PARAM *cno_param);

/** Slot of dat_cno_free. */
typedef DAT_RETURN (*DAT_CNO_FREE_FUNC)(DAT_CNO_HANDLE cno_handle);

/** Slot of dat_cno_wait. */
typedef DAT_RETURN (*DAT_CNO_WAIT_FUNC)(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout, DAT_EVD_HANDLE *evd_handle);

/** Slot of dat_evd_create. */
typedef DAT_RETURN (*DAT_EVD_CREATE_FUNC)(DAT_IA_HANDLE ia_handle,
                                          DAT_COUNT evd_min_qlen,
                                          DAT_CNO_HANDLE cno_handle,
                                          DAT_EVD_FLAGS evd_flags,
                                          DAT_EVD_HANDLE *evd_handle);

/** Slot of dat_evd_modify_cno. */
typedef DAT_RETURN (*DAT_EVD_MODIFY_CNO_FUNC)(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle);

/** Slot of dat_evd_enable. */
typedef DAT_RETURN (*DAT_EVD_ENABLE_FUNC)(DAT_EVD_HANDLE evd_handle);

/** Slot of dat_evd_disable. */
typedef DAT_RETURN (*DAT_EVD_DISABLE_FUNC)(DAT_EVD_HANDLE evd_handle);

/** Slot of dat_evd_wait. */
typedef DAT_RETURN (*DAT_EVD_WAIT_FUNC)(DAT_EVD_HANDLE evd_handle,
                                        DAT_TIMEOUT timeout,
                                        DAT_COUNT threshold,
                                        DAT_EVENT *event,
                                        DAT_COUNT *n_more_events);

/** Slot of dat_lmr_create. */
typedef DAT_RETURN (*DAT_LMR_CREATE_FUNC)(DAT_IA_HANDLE ia_handle,
                                          DAT_MEM_TYPE mem_type,
                                          DAT_REGION_DESCRIPTION region_description,
                                          DAT_VLEN length,
                                          DAT_PZ_HANDLE pz_handle,
                                          DAT_MEM_PRIV_FLAGS privileges,
                                          DAT_LMR_HANDLE *lmr_handle,
                                          DAT_LMR_CONTEXT *lmr_context,
                                          DAT_RMR_CONTEXT *rmr_context,
                                          DAT_VLEN *registered_length,
                                          DAT_VADDR *registered_address);

/** Slot of dat_evd_set_unwaitable. */
typedef DAT_RETURN (*DAT_EVD_SET_UNWAITABLE_FUNC)(DAT_EVD_HANDLE evd_handle);

/** Slot of dat_evd_clear_unwaitable. */
typedef DAT_RETURN (*DAT_EVD_CLEAR_UNWAITABLE_FUNC)(DAT_EVD_HANDLE evd_handle);

/* ---- Calls by way of the table ---- */

/*
 * Upper-case macros: the functions by way of the table of the object's provider, without the library in
 * between. No handle is checked, and the one that names the table is evaluated twice.
 */

/** dat_cno_create. */
#define DAT_CNO_CREATE(ia_handle, agent, cno_handle) \
    (*DAT_HANDLE_TO_PROVIDER(ia_handle)->cno_create_func)((ia_handle), (agent), (cno_handle))

/** dat_cno_modify_agent. */
#define DAT_CNO_MODIFY_AGENT(cno_handle, agent) \
    (*DAT_HANDLE_TO_PROVIDER(cno_handle)->cno_modify_agent_func)((cno_handle), (agent))

/** dat_cno_query. */
#define DAT_CNO_QUERY(cno_handle, cno_param_mask, cno_param) \
    (*DAT_HANDLE_TO_PROVIDER(cno_handle)->cno_query_func)((cno_handle), (cno_param_mask), (cno_param))

/** dat_cno_free. */
#define DAT_CNO_FREE(cno_handle) \
    (*DAT_HANDLE_TO_PROVIDER(cno_handle)->cno_free_func)((cno_handle))

/** dat_cno_wait. */
#define DAT_CNO_WAIT(cno_handle, timeout, evd_handle) \
    (*DAT_HANDLE_TO_PROVIDER(cno_handle)->cno_wait_func)((cno_handle), (timeout), (evd_handle))

/** dat_evd_create. */
#define DAT_EVD_CREATE(ia_handle, evd_min_qlen, cno_handle, evd_flags, evd_handle) \
    (*DAT_HANDLE_TO_PROVIDER(ia_handle)->evd_create_func)((ia_handle), (evd_min_qlen), (cno_handle), (evd_flags), \
            (evd_handle))

/** dat_evd_modify_cno. */
#define DAT_EVD_MODIFY_CNO(evd_handle, cno_handle) \
    (*DAT_HANDLE_TO_PROVIDER(evd_handle)->evd_modify_cno_func)((evd_handle), (cno_handle))

/** dat_evd_enable. */
#define DAT_EVD_ENABLE(evd_handle) \
    (*DAT_HANDLE_TO_PROVIDER(evd_handle)->evd_enable_func)((evd_handle))

/** dat_evd_disable. */
#define DAT_EVD_DISABLE(evd_handle) \
    (*DAT_HANDLE_TO_PROVIDER(evd_handle)->evd_disable_func)((evd_handle))

/** dat_evd_wait. */
#define DAT_EVD_WAIT(evd_handle, timeout, threshold, event, n_more_events) \
    (*DAT_HANDLE_TO_PROVIDER(evd_handle)->evd_wait_func)((evd_handle), (timeout), (threshold), (event), \
            (n_more_events))

/** dat_lmr_create. */
#define DAT_LMR_CREATE(ia_handle, mem_type, region_description, length, pz_handle, privileges, lmr_handle, \
        lmr_context, rmr_context, registered_length, registered_address) \
    (*DAT_HANDLE_TO_PROVIDER(ia_handle)->lmr_create_func)((ia_handle), (mem_type), (region_description), (length), \
            (pz_handle), (privileges), (lmr_handle), (lmr_context), (rmr_context), (registered_length), \
            (registered_address))

/** dat_evd_set_unwaitable. */
#define DAT_EVD_SET_UNWAITABLE(evd_handle) \
    (*DAT_HANDLE_TO_PROVIDER(evd_handle)->evd_set_unwaitable_func)((evd_handle))

/** dat_evd_clear_unwaitable. */
#define DAT_EVD_CLEAR_UNWAITABLE(evd_handle) \
    (*DAT_HANDLE_TO_PROVIDER(evd_handle)->evd_clear_unwaitable_func)((evd_handle))

#ifdef __cplusplus
}
#endif

#include "dat_redirection.h"

#endif /* DAT_UDAT_REDIRECTION_H */
