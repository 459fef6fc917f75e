/// Calls: extended operations. Only 2.0 has them.
#[macro_export]
macro_rules! extension_calls {
    ($callback:path) => {
        $callback! {
            /// Carries out an extended operation. Programs call it by the macros of dat_ib_extensions.h, one for each
            /// operation.
            ///
            /// Fetch and add, compare and swap, RDMA write with immediate data, and the query of an adapter that is not open
            /// are there where extension_supported of the adapter is `DAT_EXTENSION_IB`, and the four operations of
            /// counters everywhere. Unreliable datagrams are there where the adapter has them, collective operations nowhere.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the operation is posted, and one completion follows unless it is suppressed; or the query is answered, or closed; or the counters are told, or sampled
            /// * `DAT_NOT_IMPLEMENTED` - `ext_op` is none of these, or one that the device does not have
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `dat_handle` is null or no object, and the operation needs one; or it is no adapter, endpoint or event dispatcher, which have counters
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - the operation needs an endpoint, and `dat_handle` is none
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `dat_handle` is no open query, or no adapter whose counters could be sampled
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` - the endpoint is neither connected nor disconnected
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3`, `DAT_INVALID_ARG4`, `DAT_INVALID_ARG5`, `DAT_INVALID_ARG6`, `DAT_INVALID_ARG7`, `DAT_INVALID_ARG8` - an argument is bad; places are counted from `dat_handle`, which is the first. So it is for a number of segments, NULL for segments or for a remote triplet, a segment that is not inside its region, a remote address of an atomic operation that is not aligned, flags that do not apply, NULL for a name or result of a query, the number of a counter or of a group of them that does not exist, and NULL for the place of counters
            /// * `DAT_LENGTH_ERROR` - a write has more bytes than `max_rdma_size` of the adapter, or than `remote_iov`; the segment of an atomic operation has fewer than eight
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_READ`, `..._WRITE` - a region is of another protection zone than the endpoint
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_READ`, `..._WRITE` - an `lmr_context` is unknown or freed, or its region lacks the local privilege
            /// * `DAT_MODEL_NOT_SUPPORTED` - a transfer is posted, and the peer is a program of uDAPL 1.2, which has no such operations. Over libdaplverbs(7) such a peer is not recognised
            /// * `DAT_PROVIDER_NOT_FOUND` / `DAT_NAME_NOT_REGISTERED` - no adapter has the name in a query, or its library cannot be loaded
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_request_dtos` requests are outstanding, or out of memory
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_DEVICE` - the adapter of a query cannot be opened
            ///
            /// # Events
            /// `DAT_IB_DTO_EVENT` on the request EVD for a post; for immediate data also on the receive EVD of the other
            /// side.
            extern "C" fn dat_extension_op(
                dat_handle: DAT_HANDLE,
                    "in, an endpoint to post; an adapter, an endpoint or an event dispatcher for its counters; for"
                    "`DAT_IB_OPEN_QUERY_OP` null, for `DAT_IB_CLOSE_QUERY_OP` what the former returned.";
                ext_op: DAT_EXTENDED_OP, "in, one of `DAT_IB_OP` of `<dat2/dat_ib_extensions.h>`.";
                args: va_list, "in, the arguments of the operation: those of its macro that follow the object.";
            ) => variadic;
        }
    };
}
