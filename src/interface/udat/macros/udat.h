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
