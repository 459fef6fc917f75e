/// Calls: extended operations. Only 2.0 has them.
#[macro_export]
macro_rules! extension_calls {
    ($callback:path) => {
        $callback! {
            /// Carries out an extended operation. Programs call it by the macros of dat_ib_extensions.h, one for each
            /// operation.
            ///
            /// Fetch and add, compare and swap, RDMA write with immediate data, and the query of an adapter that is not open
            /// are there where extension_supported of the adapter is `DAT_EXTENSION_IB`. Unreliable datagrams, counters and
            /// collective operations are not.
            ///
            /// # Parameters
            /// * `dat_handle` - in, the object: an endpoint to post; `DAT_HANDLE_NULL` to open a query.
            /// * `ext_op` - in, the operation, a value of `DAT_IB_OP`.
            /// * `args` - in, its arguments: those of the macro that follow the object.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_NOT_IMPLEMENTED` | no such operation, or none that the transport has |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an object |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | a post on something that is not an endpoint |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | the end of a query that is not open |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` | a post, and the endpoint is in this state, neither connected nor disconnected |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3`, `DAT_INVALID_ARG4`, `DAT_INVALID_ARG5`, `DAT_INVALID_ARG6`, `DAT_INVALID_ARG7`, `DAT_INVALID_ARG8` | that argument is not acceptable, counted from `dat_handle`, which is the first |
            /// | `DAT_LENGTH_ERROR` | the local or the remote memory is too short, or longer than `max_rdma_size` of the endpoint |
            /// | `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_READ`, `..._WRITE` | an LMR of another protection zone |
            /// | `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_READ`, `..._WRITE` | no such LMR, or one without the local privilege |
            /// | `DAT_MODEL_NOT_SUPPORTED` | a post, and the program at the other end does not take such operations |
            /// | `DAT_PROVIDER_NOT_FOUND` / `DAT_NAME_NOT_REGISTERED` | a query of an adapter that no entry names, or whose library cannot be loaded |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_DEVICE` | `max_request_dtos` requests are outstanding, or out of memory; a query of a device that cannot be used |
            ///
            /// # Events
            /// `DAT_IB_DTO_EVENT` on the request EVD for a post; for immediate data also on the receive EVD of the other
            /// side.
            ///
            /// # Specification
            /// uDAPL 2.0, dat_extension_op.
            extern "C" fn dat_extension_op(
                dat_handle: DAT_HANDLE,
                ext_op: DAT_EXTENDED_OP,
                args: va_list,
            ) => variadic;
        }
    };
}
