/**
 * Passed to dat_ia_open in place of an event dispatcher: asynchronous events go to one that exists
 * elsewhere.
 */
#define DAT_EVD_ASYNC_EXISTS ((DAT_EVD_HANDLE)0x1)

/**
 * Returned by dat_ia_query: the event dispatcher of asynchronous events is in another process.
 */
#define DAT_EVD_OUT_OF_SCOPE ((DAT_EVD_HANDLE)0x2)

/** No agent, for dat_cno_create and dat_cno_modify_agent. */
#ifdef __cplusplus
#define DAT_OS_WAIT_PROXY_AGENT_NULL DAT_OS_WAIT_PROXY_AGENT{NULL, NULL}
#else
#define DAT_OS_WAIT_PROXY_AGENT_NULL \
    (DAT_OS_WAIT_PROXY_AGENT) { (DAT_PVOID)NULL, (DAT_AGENT_FUNC)NULL }
#endif
