/* C99 has no unnamed members; compilers have them all the same. */
#ifdef __GNUC__
#define DAT_IB_UNNAMED __extension__
#else
#define DAT_IB_UNNAMED
#endif

/** What event_extension_data of DAT_EVENT holds if event_number is one of DAT_IB_EVENT_NUMBER. */
typedef struct dat_ib_extension_event_data {
    /** The kind of operation. */
    DAT_IB_EXT_TYPE type;
    /** Its outcome. */
    DAT_IB_STATUS status;
    /** Its value. */
    union {
        /** The value that came with a write. */
        DAT_IB_IMMED_DATA immed;
    } val;
    /** Further data. */
    DAT_IB_UNNAMED union {
        /** Address of an unreliable datagram. */
        DAT_IB_ADDR_HANDLE remote_ah;
        /** Result of a collective operation. */
        DAT_IB_COLLECTIVE_EVENT_DATA coll;
    };
    /** Word of the consumer. */
    DAT_CONTEXT context;
} DAT_IB_EXTENSION_EVENT_DATA;

/** Names of the types of return codes that extended operations add to those of dat_strerror. */
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

/** Name of the outcome of an extended operation; a blank if it is done. */
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
 * Posts an atomic addition: add_val is added to the 8 bytes of remote memory, whose value before
 * goes to the local segment. The remote address is a multiple of 8, the local segment one of at
 * least 8 bytes. Completes by DAT_IB_DTO_EVENT; none at the other side.
 */
#define dat_ib_post_fetch_and_add(ep, add_val, lbuf, cookie, rbuf, flgs) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_FETCH_AND_ADD_OP, (DAT_UINT64)(add_val), \
        (DAT_LMR_TRIPLET *)(lbuf), (cookie), (DAT_RMR_TRIPLET *)(rbuf), \
        (DAT_COMPLETION_FLAGS)(flgs))

/**
 * Posts an atomic exchange: if the 8 bytes of remote memory equal cmp_val, swap_val takes their
 * place; their value before goes to the local segment in any case. Otherwise as
 * dat_ib_post_fetch_and_add.
 */
#define dat_ib_post_cmp_and_swap(ep, cmp_val, swap_val, lbuf, cookie, rbuf, flgs) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_CMP_AND_SWAP_OP, (DAT_UINT64)(cmp_val), \
        (DAT_UINT64)(swap_val), (DAT_LMR_TRIPLET *)(lbuf), (cookie), (DAT_RMR_TRIPLET *)(rbuf), \
        (DAT_COMPLETION_FLAGS)(flgs))

/**
 * Posts an RDMA write with a value, for which the other side must have posted a receive: when the
 * data is in place, that receive completes with the value, and its memory is not touched. Both
 * sides get DAT_IB_DTO_EVENT. Without segments only the value is sent.
 */
#define dat_ib_post_rdma_write_immed(ep, size, lbuf, cookie, rbuf, idata, flgs) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_RDMA_WRITE_IMMED_OP, (DAT_COUNT)(size), \
        (DAT_LMR_TRIPLET *)(lbuf), (cookie), (DAT_RMR_TRIPLET *)(rbuf), (DAT_UINT32)(idata), \
        (DAT_COMPLETION_FLAGS)(flgs))

/*
 * Unreliable datagrams, where the attribute DAT_IB_UD is TRUE: endpoints whose service type is DAT_IB_SERVICE_TYPE_UD have
 * many peers. dat_ep_connect asks for one more, and an event of DAT_IB_EVENT_NUMBER brings its address handle.
 */

/** Posts a datagram to the peer of an address handle, which an event has brought. */
#define dat_ib_post_send_ud(ep, segments, lbuf, ah_ptr, cookie, flgs) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_UD_SEND_OP, (DAT_COUNT)(segments), \
        (DAT_LMR_TRIPLET *)(lbuf), (DAT_IB_ADDR_HANDLE *)(ah_ptr), (cookie), \
        (DAT_COMPLETION_FLAGS)(flgs))

/** Posts a receive for datagrams. */
#define dat_ib_post_recv_ud dat_ep_post_recv

/** Gives back what is kept of an exchange; cm is the context of its event. */
#define dat_ib_ud_cm_free(ep, cm) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_UD_CM_FREE_OP, (cm))

/** Gives up an address handle: nothing more is sent to that peer. */
#define dat_ib_ud_ah_free(ep, ah) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_UD_AH_FREE_OP, (DAT_IB_ADDR_HANDLE *)(ah))

/*
 * Counters of an adapter, an endpoint or an event dispatcher. Those that are not counted are 0.
 */

/**
 * Reads a counter into its place in an array, or all of them if cntr is DCNT_IA_ALL_COUNTERS or the
 * like. With a reset that is not 0 they begin at 0 again.
 */
#define dat_ib_query_counters(dat_handle, cntr, p_cntrs_out, reset) \
    dat_extension_op((DAT_HANDLE)(dat_handle), DAT_IB_QUERY_COUNTERS_OP, (int)(cntr), \
        (DAT_UINT64 *)(p_cntrs_out), (int)(reset))

/** Older name of dat_ib_query_counters. */
#define dat_query_counters dat_ib_query_counters

/** Prints a counter, or all of them, on standard output. */
#define dat_ib_print_counters(dat_handle, cntr, reset) \
    dat_extension_op((DAT_HANDLE)(dat_handle), DAT_IB_PRINT_COUNTERS_OP, (int)(cntr), \
        (int)(reset))

/** Older name of dat_ib_print_counters. */
#define dat_print_counters dat_ib_print_counters

/** Starts the counters of a group, a value of DAT_IA_COUNTER_TYPE. */
#define dat_ib_start_counter(dat_handle, type) \
    dat_extension_op((DAT_HANDLE)(dat_handle), DAT_IB_START_COUNTERS_OP, \
        (DAT_IA_COUNTER_TYPE)(type))

/** Stops the counters of a group, a value of DAT_IA_COUNTER_TYPE. */
#define dat_ib_stop_counter(dat_handle, type) \
    dat_extension_op((DAT_HANDLE)(dat_handle), DAT_IB_STOP_COUNTERS_OP, \
        (DAT_IA_COUNTER_TYPE)(type))

/**
 * Returns attributes of an adapter that need not be open, as dat_ia_query does, and a handle for
 * dat_ib_close_query and nothing else. The memory that the attributes point to lives until then.
 */
#define dat_ib_open_query(name, ia_handle, ia_mask, ia_attr, prov_mask, prov_attr) \
    dat_extension_op(DAT_HANDLE_NULL, DAT_IB_OPEN_QUERY_OP, (DAT_NAME_PTR)(name), \
        (DAT_HANDLE *)(ia_handle), (DAT_IA_ATTR_MASK)(ia_mask), (DAT_IA_ATTR *)(ia_attr), \
        (DAT_PROVIDER_ATTR_MASK)(prov_mask), (DAT_PROVIDER_ATTR *)(prov_attr))

/** Ends a query. */
#define dat_ib_close_query(ia_handle) \
    dat_extension_op((DAT_HANDLE)(ia_handle), DAT_IB_CLOSE_QUERY_OP)

/*
 * Collective operations: the providers of this project return DAT_NOT_IMPLEMENTED.
 */

/** Makes a member of groups. */
#define dat_ib_collective_create_member(ia_handle, progress_func, member, member_size) \
    dat_extension_op((DAT_IA_HANDLE)(ia_handle), DAT_IB_COLLECTIVE_CREATE_MEMBER_OP, \
        (void *)(progress_func), (DAT_IB_COLLECTIVE_MEMBER *)(member), \
        (DAT_UINT32 *)(member_size))

/** Destroys a member. */
#define dat_ib_collective_free_member(ia_handle, member) \
    dat_extension_op((DAT_IA_HANDLE)(ia_handle), DAT_IB_COLLECTIVE_FREE_MEMBER_OP, \
        (DAT_IB_COLLECTIVE_MEMBER)(member))

/** Makes a group of members. */
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

/** Gives each member a part of the root's data. */
#define dat_ib_collective_scatter( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_SCATTER_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (DAT_IB_COLLECTIVE_RANK)(root), (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Gives each member a part of the root's data; parts may differ in length. */
#define dat_ib_collective_scatterv( \
    coll_handle, sendbuf, sendsizes, displs, recvbuf, recvsize, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_SCATTERV_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT *)(sendsizes), (DAT_COUNT *)(displs), \
        (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), (DAT_IB_COLLECTIVE_RANK)(root), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Gives the root the data of all members. */
#define dat_ib_collective_gather( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_GATHER_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (DAT_IB_COLLECTIVE_RANK)(root), (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Gives the root the data of all members; parts may differ in length. */
#define dat_ib_collective_gatherv( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsizes, displs, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_GATHERV_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), \
        (DAT_COUNT *)(recvsizes), (DAT_COUNT *)(displs), (DAT_IB_COLLECTIVE_RANK)(root), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Gives each member the data of all. */
#define dat_ib_collective_allgather( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLGATHER_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Gives each member the data of all; parts may differ in length. */
#define dat_ib_collective_allgatherv( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsizes, displs, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLGATHERV_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), \
        (DAT_COUNT *)(recvsizes), (DAT_COUNT *)(displs), (user_context), \
        (DAT_COMPLETION_FLAGS)(flags))

/** Gives each member a part of the data of each. */
#define dat_ib_collective_alltoall( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLTOALL_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Gives each member a part of the data of each; parts may differ in length. */
#define dat_ib_collective_alltoallv( \
    coll_handle, sendbuf, sendsizes, senddispls, recvbuf, recvsizes, recvdispls, user_context, \
    flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLTOALLV_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT *)(sendsizes), (DAT_COUNT *)(senddispls), \
        (DAT_PVOID)(recvbuf), (DAT_COUNT *)(recvsizes), (DAT_COUNT *)(recvdispls), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Combines the data of all members for the root. */
#define dat_ib_collective_reduce( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, op, type, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_REDUCE_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op), (DAT_IB_COLLECTIVE_DATA_TYPE)(type), \
        (DAT_IB_COLLECTIVE_RANK)(root), (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Combines the data of all members for each. */
#define dat_ib_collective_allreduce( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, op, type, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLREDUCE_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op), (DAT_IB_COLLECTIVE_DATA_TYPE)(type), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Combines the data of all members and gives each a part of the result. */
#define dat_ib_collective_reduce_scatter( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsizes, op, type, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), \
        DAT_IB_COLLECTIVE_REDUCE_SCATTER_OP, (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), \
        (DAT_PVOID)(recvbuf), (DAT_COUNT *)(recvsizes), (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op), \
        (DAT_IB_COLLECTIVE_DATA_TYPE)(type), (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Combines the data of the members up to each. */
#define dat_ib_collective_scan( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, op, type, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_SCAN_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op), (DAT_IB_COLLECTIVE_DATA_TYPE)(type), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Gives each member the root's data. */
#define dat_ib_collective_broadcast(coll_handle, buf, size, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_BROADCAST_OP, \
        (DAT_PVOID)(buf), (DAT_COUNT)(size), (DAT_IB_COLLECTIVE_RANK)(root), (user_context), \
        (DAT_COMPLETION_FLAGS)(flags))

/** Waits until all members have come. */
#define dat_ib_collective_barrier(coll_handle, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_BARRIER_OP, \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))
