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
