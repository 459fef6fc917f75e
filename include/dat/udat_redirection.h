/*
 * dat/udat_redirection.h: the part of a provider's table that is of the user-level interface alone.
 *
 * Part of libdat, an implementation of uDAPL 1.2.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Generated from src/udat12 by `make headers`; changes belong there.
 */

#ifndef DAT_UDAT_REDIRECTION_H
#define DAT_UDAT_REDIRECTION_H

#include "udat.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types of the slots of the user-level interface alone ---- */

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

/** Slot of dat_evd_create. */
typedef DAT_RETURN (*DAT_EVD_CREATE_FUNC)(DAT_IA_HANDLE ia_handle,
                                          DAT_COUNT evd_min_qlen,
                                          DAT_CNO_HANDLE cno_handle,
                                          DAT_EVD_FLAGS evd_flags,
                                          DAT_EVD_HANDLE *evd_handle);

/** Slot of dat_evd_modify_cno. */
typedef DAT_RETURN (*DAT_EVD_MODIFY_CNO_FUNC)(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle);

/** Slot of dat_cno_create. */
typedef DAT_RETURN (*DAT_CNO_CREATE_FUNC)(DAT_IA_HANDLE ia_handle,
                                          DAT_OS_WAIT_PROXY_AGENT agent,
                                          DAT_CNO_HANDLE *cno_handle);

/** Slot of dat_cno_modify_agent. */
typedef DAT_RETURN (*DAT_CNO_MODIFY_AGENT_FUNC)(DAT_CNO_HANDLE cno_handle,
                                                DAT_OS_WAIT_PROXY_AGENT agent);

/** Slot of dat_cno_query. */
typedef DAT_RETURN (*DAT_CNO_QUERY_FUNC)(DAT_CNO_HANDLE cno_handle,
                                         DAT_CNO_PARAM_MASK cno_param_mask,
                                         DAT_CNO_PARAM *cno_param);

/** Slot of dat_cno_free. */
typedef DAT_RETURN (*DAT_CNO_FREE_FUNC)(DAT_CNO_HANDLE cno_handle);

/**
 * Slot of dat_cno_wait. In Rust it may unwind: a thread that pthread_cancel ends passes through.
 */
typedef DAT_RETURN (*DAT_CNO_WAIT_FUNC)(DAT_CNO_HANDLE cno_handle,
                                        DAT_TIMEOUT timeout,
                                        DAT_EVD_HANDLE *evd_handle);

/** Slot of dat_evd_enable. */
typedef DAT_RETURN (*DAT_EVD_ENABLE_FUNC)(DAT_EVD_HANDLE evd_handle);

/**
 * Slot of dat_evd_wait. In Rust it may unwind: a thread that pthread_cancel ends passes through.
 */
typedef DAT_RETURN (*DAT_EVD_WAIT_FUNC)(DAT_EVD_HANDLE evd_handle,
                                        DAT_TIMEOUT timeout,
                                        DAT_COUNT threshold,
                                        DAT_EVENT *event,
                                        DAT_COUNT *n_more_events);

/** Slot of dat_evd_disable. */
typedef DAT_RETURN (*DAT_EVD_DISABLE_FUNC)(DAT_EVD_HANDLE evd_handle);

/** Slot of dat_evd_set_unwaitable. */
typedef DAT_RETURN (*DAT_EVD_SET_UNWAITABLE_FUNC)(DAT_EVD_HANDLE evd_handle);

/** Slot of dat_evd_clear_unwaitable. */
typedef DAT_RETURN (*DAT_EVD_CLEAR_UNWAITABLE_FUNC)(DAT_EVD_HANDLE evd_handle);

/* ---- Macros ---- */

/*
 * Upper-case macros: the functions by way of the table of the object's provider, without libdat in
 * between. No handle is checked, and the one that names the table is evaluated twice.
 */

/** dat_lmr_create. */
#define DAT_LMR_CREATE( \
    ia, mem_type, reg_desc, len, pz, priv, lmr, lmr_context, rmr_context, reg_len, reg_addr) \
    (*DAT_HANDLE_TO_PROVIDER(ia)->lmr_create_func)( \
        (ia), (mem_type), (reg_desc), (len), (pz), (priv), (lmr), (lmr_context), (rmr_context), \
        (reg_len), (reg_addr))

/** dat_evd_create. */
#define DAT_EVD_CREATE(ia, qlen, cno, flags, handle) \
    (*DAT_HANDLE_TO_PROVIDER(ia)->evd_create_func)((ia), (qlen), (cno), (flags), (handle))

/** dat_evd_enable. */
#define DAT_EVD_ENABLE(evd) \
    (*DAT_HANDLE_TO_PROVIDER(evd)->evd_enable_func)((evd))

/** dat_evd_wait. */
#define DAT_EVD_WAIT(evd, timeout, threshold, event, nmore) \
    (*DAT_HANDLE_TO_PROVIDER(evd)->evd_wait_func)((evd), (timeout), (threshold), (event), (nmore))

/** dat_evd_disable. */
#define DAT_EVD_DISABLE(evd) \
    (*DAT_HANDLE_TO_PROVIDER(evd)->evd_disable_func)((evd))

/** dat_evd_set_unwaitable. */
#define DAT_EVD_SET_UNWAITABLE(evd) \
    (*DAT_HANDLE_TO_PROVIDER(evd)->evd_set_unwaitable_func)((evd))

/** dat_evd_clear_unwaitable. */
#define DAT_EVD_CLEAR_UNWAITABLE(evd) \
    (*DAT_HANDLE_TO_PROVIDER(evd)->evd_clear_unwaitable_func)((evd))

/** dat_evd_modify_cno. */
#define DAT_EVD_MODIFY_CNO(evd, cno) \
    (*DAT_HANDLE_TO_PROVIDER(evd)->evd_modify_cno_func)((evd), (cno))

/** dat_cno_create. */
#define DAT_CNO_CREATE(ia, proxy, cno) \
    (*DAT_HANDLE_TO_PROVIDER(ia)->cno_create_func)((ia), (proxy), (cno))

/** dat_cno_modify_agent. */
#define DAT_CNO_MODIFY_AGENT(cno, proxy) \
    (*DAT_HANDLE_TO_PROVIDER(cno)->cno_modify_agent_func)((cno), (proxy))

/** dat_cno_query. */
#define DAT_CNO_QUERY(cno, mask, param) \
    (*DAT_HANDLE_TO_PROVIDER(cno)->cno_query_func)((cno), (mask), (param))

/** dat_cno_free. */
#define DAT_CNO_FREE(cno) \
    (*DAT_HANDLE_TO_PROVIDER(cno)->cno_free_func)((cno))

/** dat_cno_wait. */
#define DAT_CNO_WAIT(cno, timeout, evd) \
    (*DAT_HANDLE_TO_PROVIDER(cno)->cno_wait_func)((cno), (timeout), (evd))

#ifdef __cplusplus
}
#endif

#include "dat_redirection.h"

#endif /* DAT_UDAT_REDIRECTION_H */
