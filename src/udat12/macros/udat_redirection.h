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
