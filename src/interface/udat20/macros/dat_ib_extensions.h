/* C99 has no unnamed members; compilers support them as an extension. */
#ifdef __GNUC__
#define DAT_IB_UNNAMED __extension__
#else
#define DAT_IB_UNNAMED
#endif

/** Contents of event_extension_data of DAT_EVENT if event_number is one of DAT_IB_EVENT_NUMBER. */
typedef struct dat_ib_extension_event_data {
    /** The kind of operation. */
    DAT_IB_EXT_TYPE type;
    /** Status of the operation. */
    DAT_IB_STATUS status;
    /** Value of the operation. */
    union {
        /** The immediate data of an RDMA write. */
        DAT_IB_IMMED_DATA immed;
    } val;
    /** Further data of the event. */
    DAT_IB_UNNAMED union {
        /** Address of the remote endpoint of unreliable datagrams. */
        DAT_IB_ADDR_HANDLE remote_ah;
        /** Result of a collective operation. */
        DAT_IB_COLLECTIVE_EVENT_DATA coll;
    };
    /** Context of an exchange of addresses, for dat_ib_ud_cm_free. */
    DAT_CONTEXT context;
} DAT_IB_EXTENSION_EVENT_DATA;

/**
 * Returns the name of the type of a return code, like dat_strerror, also for the types that only
 * extended operations return.
 */
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

/** Returns the name of the status of an extended operation, a blank for success. */
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
 * Posts an atomic addition of add_val to 8 bytes of remote memory, and stores the previous value in
 * the local segment. The remote address must be a multiple of 8, and the local segment must have at
 * least 8 bytes. The operation completes with DAT_IB_DTO_EVENT; the peer gets no event.
 */
#define dat_ib_post_fetch_and_add(ep, add_val, lbuf, cookie, rbuf, flgs) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_FETCH_AND_ADD_OP, (DAT_UINT64)(add_val), \
        (DAT_LMR_TRIPLET *)(lbuf), (cookie), (DAT_RMR_TRIPLET *)(rbuf), \
        (DAT_COMPLETION_FLAGS)(flgs))

/**
 * Posts an atomic exchange: if 8 bytes of remote memory equal cmp_val, the operation replaces them
 * with swap_val. It always stores the previous value in the local segment. The requirements and
 * events of dat_ib_post_fetch_and_add apply.
 */
#define dat_ib_post_cmp_and_swap(ep, cmp_val, swap_val, lbuf, cookie, rbuf, flgs) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_CMP_AND_SWAP_OP, (DAT_UINT64)(cmp_val), \
        (DAT_UINT64)(swap_val), (DAT_LMR_TRIPLET *)(lbuf), (cookie), (DAT_RMR_TRIPLET *)(rbuf), \
        (DAT_COMPLETION_FLAGS)(flgs))

/**
 * Posts an RDMA write with a value, for which the peer must have posted a receive. After the data
 * is written, the receive completes with the value; the memory of the receive is unchanged. Both
 * sides get DAT_IB_DTO_EVENT. Without segments, the operation transfers only the value.
 */
#define dat_ib_post_rdma_write_immed(ep, size, lbuf, cookie, rbuf, idata, flgs) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_RDMA_WRITE_IMMED_OP, (DAT_COUNT)(size), \
        (DAT_LMR_TRIPLET *)(lbuf), (cookie), (DAT_RMR_TRIPLET *)(rbuf), (DAT_UINT32)(idata), \
        (DAT_COMPLETION_FLAGS)(flgs))

/*
 * Unreliable datagrams, available if the attribute DAT_IB_UD is TRUE: an endpoint whose service
 * type is DAT_IB_SERVICE_TYPE_UD has many peers. Each dat_ep_connect requests another peer, and an
 * event of DAT_IB_EVENT_NUMBER contains the address handle of this peer.
 */

/** Posts a datagram to the peer of an address handle from an event. */
#define dat_ib_post_send_ud(ep, segments, lbuf, ah_ptr, cookie, flgs) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_UD_SEND_OP, (DAT_COUNT)(segments), \
        (DAT_LMR_TRIPLET *)(lbuf), (DAT_IB_ADDR_HANDLE *)(ah_ptr), (cookie), \
        (DAT_COMPLETION_FLAGS)(flgs))

/** Posts a receive for datagrams. */
#define dat_ib_post_recv_ud dat_ep_post_recv

/** Frees the state of an exchange with a peer; cm is the context of the event of the exchange. */
#define dat_ib_ud_cm_free(ep, cm) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_UD_CM_FREE_OP, (cm))

/** Frees an address handle. The program can no longer send to this peer. */
#define dat_ib_ud_ah_free(ep, ah) \
    dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_UD_AH_FREE_OP, (DAT_IB_ADDR_HANDLE *)(ah))

/*
 * Counters of an adapter, an endpoint or an event dispatcher. Counters that are not maintained are
 * 0.
 */

/**
 * Stores a counter in the array p_cntrs_out, at the index of its number. Stores all counters if
 * cntr is DCNT_IA_ALL_COUNTERS, DCNT_EP_ALL_COUNTERS or DCNT_EVD_ALL_COUNTERS, as for the kind of
 * dat_handle. If reset is not 0, also resets these counters to 0.
 */
#define dat_ib_query_counters(dat_handle, cntr, p_cntrs_out, reset) \
    dat_extension_op((DAT_HANDLE)(dat_handle), DAT_IB_QUERY_COUNTERS_OP, (int)(cntr), \
        (DAT_UINT64 *)(p_cntrs_out), (int)(reset))

/** Older name of dat_ib_query_counters. */
#define dat_query_counters dat_ib_query_counters

/** Prints a counter, or all counters, to standard output, as for dat_ib_query_counters. */
#define dat_ib_print_counters(dat_handle, cntr, reset) \
    dat_extension_op((DAT_HANDLE)(dat_handle), DAT_IB_PRINT_COUNTERS_OP, (int)(cntr), \
        (int)(reset))

/** Older name of dat_ib_print_counters. */
#define dat_print_counters dat_ib_print_counters

/** Starts the counters of a group of an adapter, a value of DAT_IA_COUNTER_TYPE. */
#define dat_ib_start_counter(dat_handle, type) \
    dat_extension_op((DAT_HANDLE)(dat_handle), DAT_IB_START_COUNTERS_OP, \
        (DAT_IA_COUNTER_TYPE)(type))

/** Stops the counters of a group of an adapter, a value of DAT_IA_COUNTER_TYPE. */
#define dat_ib_stop_counter(dat_handle, type) \
    dat_extension_op((DAT_HANDLE)(dat_handle), DAT_IB_STOP_COUNTERS_OP, \
        (DAT_IA_COUNTER_TYPE)(type))

/**
 * Returns the attributes of an adapter, like dat_ia_query, but the program need not have opened the
 * adapter. The returned handle is valid only for dat_ib_close_query. The memory to which the
 * attributes point is valid until that call.
 */
#define dat_ib_open_query(name, ia_handle, ia_mask, ia_attr, prov_mask, prov_attr) \
    dat_extension_op(DAT_HANDLE_NULL, DAT_IB_OPEN_QUERY_OP, (DAT_NAME_PTR)(name), \
        (DAT_HANDLE *)(ia_handle), (DAT_IA_ATTR_MASK)(ia_mask), (DAT_IA_ATTR *)(ia_attr), \
        (DAT_PROVIDER_ATTR_MASK)(prov_mask), (DAT_PROVIDER_ATTR *)(prov_attr))

/** Closes the handle of dat_ib_open_query, and frees the memory of its attributes. */
#define dat_ib_close_query(ia_handle) \
    dat_extension_op((DAT_HANDLE)(ia_handle), DAT_IB_CLOSE_QUERY_OP)

/*
 * Collective operations: the providers of this project return DAT_NOT_IMPLEMENTED.
 */

/** Creates a member of groups. */
#define dat_ib_collective_create_member(ia_handle, progress_func, member, member_size) \
    dat_extension_op((DAT_IA_HANDLE)(ia_handle), DAT_IB_COLLECTIVE_CREATE_MEMBER_OP, \
        (void *)(progress_func), (DAT_IB_COLLECTIVE_MEMBER *)(member), \
        (DAT_UINT32 *)(member_size))

/** Destroys a member. */
#define dat_ib_collective_free_member(ia_handle, member) \
    dat_extension_op((DAT_IA_HANDLE)(ia_handle), DAT_IB_COLLECTIVE_FREE_MEMBER_OP, \
        (DAT_IB_COLLECTIVE_MEMBER)(member))

/** Creates a group of members. */
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

/** Sends a part of the root's data to each member. */
#define dat_ib_collective_scatter( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_SCATTER_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (DAT_IB_COLLECTIVE_RANK)(root), (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Sends a part of the root's data to each member; parts may differ in length. */
#define dat_ib_collective_scatterv( \
    coll_handle, sendbuf, sendsizes, displs, recvbuf, recvsize, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_SCATTERV_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT *)(sendsizes), (DAT_COUNT *)(displs), \
        (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), (DAT_IB_COLLECTIVE_RANK)(root), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Sends the data of all members to the root. */
#define dat_ib_collective_gather( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_GATHER_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (DAT_IB_COLLECTIVE_RANK)(root), (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Sends the data of all members to the root; parts may differ in length. */
#define dat_ib_collective_gatherv( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsizes, displs, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_GATHERV_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), \
        (DAT_COUNT *)(recvsizes), (DAT_COUNT *)(displs), (DAT_IB_COLLECTIVE_RANK)(root), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Sends the data of all members to each member. */
#define dat_ib_collective_allgather( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLGATHER_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Sends the data of all members to each member; parts may differ in length. */
#define dat_ib_collective_allgatherv( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsizes, displs, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLGATHERV_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), \
        (DAT_COUNT *)(recvsizes), (DAT_COUNT *)(displs), (user_context), \
        (DAT_COMPLETION_FLAGS)(flags))

/** Sends each member a part of the data of every member. */
#define dat_ib_collective_alltoall( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLTOALL_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Sends each member a part of the data of every member; parts may differ in length. */
#define dat_ib_collective_alltoallv( \
    coll_handle, sendbuf, sendsizes, senddispls, recvbuf, recvsizes, recvdispls, user_context, \
    flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLTOALLV_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT *)(sendsizes), (DAT_COUNT *)(senddispls), \
        (DAT_PVOID)(recvbuf), (DAT_COUNT *)(recvsizes), (DAT_COUNT *)(recvdispls), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Combines the data of all members, and sends the result to the root. */
#define dat_ib_collective_reduce( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, op, type, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_REDUCE_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op), (DAT_IB_COLLECTIVE_DATA_TYPE)(type), \
        (DAT_IB_COLLECTIVE_RANK)(root), (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Combines the data of all members, and sends the result to each member. */
#define dat_ib_collective_allreduce( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, op, type, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLREDUCE_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op), (DAT_IB_COLLECTIVE_DATA_TYPE)(type), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Combines the data of all members, and sends a part of the result to each member. */
#define dat_ib_collective_reduce_scatter( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsizes, op, type, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), \
        DAT_IB_COLLECTIVE_REDUCE_SCATTER_OP, (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), \
        (DAT_PVOID)(recvbuf), (DAT_COUNT *)(recvsizes), (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op), \
        (DAT_IB_COLLECTIVE_DATA_TYPE)(type), (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Combines, for each member, the data of the members up to that member. */
#define dat_ib_collective_scan( \
    coll_handle, sendbuf, sendsize, recvbuf, recvsize, op, type, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_SCAN_OP, \
        (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
        (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op), (DAT_IB_COLLECTIVE_DATA_TYPE)(type), \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))

/** Sends the root's data to each member. */
#define dat_ib_collective_broadcast(coll_handle, buf, size, root, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_BROADCAST_OP, \
        (DAT_PVOID)(buf), (DAT_COUNT)(size), (DAT_IB_COLLECTIVE_RANK)(root), (user_context), \
        (DAT_COMPLETION_FLAGS)(flags))

/** Waits until all members have made this call. */
#define dat_ib_collective_barrier(coll_handle, user_context, flags) \
    dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_BARRIER_OP, \
        (user_context), (DAT_COMPLETION_FLAGS)(flags))
