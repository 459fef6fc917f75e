/// Calls: extended operations, only in 2.0.
#[macro_export]
macro_rules! extension_calls {
    ($callback:path) => {
        $callback! {
            /// Performs an extended operation. Programs call this function by the macros of dat_ib_extensions.h, one
            /// for each operation.
            ///
            /// Fetch and add, compare and swap, and RDMA write with immediate data are available if
            /// extension_supported of the adapter is `DAT_EXTENSION_IB`. Unreliable datagrams are available if the
            /// adapter supports them. The query of an adapter that is not open and the four operations of counters are
            /// always available. Collective operations are not implemented.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the operation is posted, and one completion follows unless it is suppressed; or the query or the operation of counters is complete
            /// * `DAT_NOT_IMPLEMENTED` - `ext_op` is unknown or is a collective operation, or the device does not support the operation
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `dat_handle` is not an object, or has no counters although the operation needs an adapter, an endpoint or an event dispatcher
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - the operation needs an endpoint, and `dat_handle` is of another kind
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - the operation closes a query, and `dat_handle` is no open query; or it samples counters, and `dat_handle` is no adapter
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` - the endpoint is neither connected nor disconnected
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3`, `DAT_INVALID_ARG4`, `DAT_INVALID_ARG5`, `DAT_INVALID_ARG6`, `DAT_INVALID_ARG7`, `DAT_INVALID_ARG8` - an argument is invalid. The subtype contains its position, and `dat_handle` has position 1. For example, a required pointer is NULL, a number of segments is out of range, or a flag is not allowed. Other examples are a segment outside its region, a misaligned remote address of an atomic operation, and an unknown counter
            /// * `DAT_LENGTH_ERROR` - a write is longer than `remote_iov` or `max_rdma_size` of the adapter, or the segment of an atomic operation is shorter than eight bytes
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_READ`, `..._WRITE` - the protection zones of a region and of the endpoint differ
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_READ`, `..._WRITE` - an `lmr_context` is unknown or freed, or its region lacks the required local privilege
            /// * `DAT_MODEL_NOT_SUPPORTED` - the peer is a uDAPL 1.2 program, which does not support the transfer. libdaplverbs(7) cannot detect a uDAPL 1.2 peer
            /// * `DAT_PROVIDER_NOT_FOUND` / `DAT_NAME_NOT_REGISTERED` - no adapter has the name in the query, or its library cannot be loaded
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_request_dtos` requests are outstanding, or out of memory
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_DEVICE` - the adapter of the query cannot be opened
            ///
            /// # Events
            /// `DAT_IB_DTO_EVENT` on the request EVD for a posted operation; for immediate data also on the receive
            /// EVD of the peer.
            extern "C" fn dat_extension_op(
                dat_handle: DAT_HANDLE,
                    "in, an endpoint for a posted operation; an adapter, an endpoint or an event dispatcher for"
                    "counters. `DAT_HANDLE_NULL` for `DAT_IB_OPEN_QUERY_OP`; the handle that this operation returned"
                    "for `DAT_IB_CLOSE_QUERY_OP`.";
                ext_op: DAT_EXTENDED_OP, "in, the operation: a value of `DAT_IB_OP` in `<dat2/dat_ib_extensions.h>`.";
                args: va_list, "in, the arguments of the operation: the arguments of its macro after the object.";
            ) => variadic;
        }
    };
}
