/// Calls: common service points, only in 2.0.
#[macro_export]
macro_rules! csp_calls {
    ($callback:path) => {
        $callback! {
            /// Creates a common service point (CSP), which listens on a socket address of the adapter. It receives
            /// requests of dat_ep_common_connect to this address and of dat_ep_connect to its port as qualifier.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the service point listens
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CR` - `evd_handle` is not an event dispatcher of this adapter, or it lacks `DAT_EVD_CR_FLAG`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `comm` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `address` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `csp_handle` is NULL
            /// * `DAT_COMM_NOT_SUPPORTED` - the communicator is not one of those listed under `comm`
            /// * `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_MALFORMED` - the family of the address differs from `domain` of `comm`
            /// * `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_UNREACHABLE` - the address does not belong to the adapter
            /// * `DAT_PORT_IN_USE` - another service point or another program already listens at the port
            /// * `DAT_PRIVILEGES_VIOLATION` - the system forbids the process to listen, as for dat_psp_create
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_DEVICE` - out of memory, or the transport cannot listen
            /// * `DAT_MODEL_NOT_SUPPORTED` - the provider has no common service points; never from the providers of this project
            ///
            /// # Events
            /// On the EVD: `DAT_CONNECTION_REQUEST_EVENT` for each request.
            extern "C" fn dat_csp_create(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                comm: *mut DAT_COMM,
                    "in, the communicator, which the call copies: `domain` is `AF_INET` or `AF_INET6`, `type` is"
                    "`SOCK_STREAM`, and `protocol` is 0 or `IPPROTO_TCP`.";
                address: DAT_IA_ADDRESS_PTR,
                    "in, address and port to listen at, which the call copies. The address is an address of the"
                    "adapter or the wildcard address. For port 0 the library chooses a port, which dat_csp_query"
                    "returns.";
                evd_handle: DAT_EVD_HANDLE, "in, dispatcher for the connection requests, with `DAT_EVD_CR_FLAG`.";
                csp_handle: *mut DAT_CSP_HANDLE, "out, the common service point; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Returns the selected attributes of a CSP.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the requested fields are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CSP` - `csp_handle` is not a common service point
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `csp_param_mask` has a bit outside `DAT_CSP_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `csp_param` is NULL
            extern "C" fn dat_csp_query(
                csp_handle: DAT_CSP_HANDLE, "in, the common service point.";
                csp_param_mask: DAT_CSP_PARAM_MASK, "in, mask of the requested fields: bits of `DAT_CSP_FIELD_ALL`.";
                csp_param: *mut DAT_CSP_PARAM, "out, structure provided by the program.";
            ) => dispatch(DAT_INVALID_HANDLE_CSP);
        }
        $callback! {
            /// Destroys a CSP. Requests that have already arrived stay valid.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the service point is freed and its handle is invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CSP` - `csp_handle` is not a common service point
            extern "C" fn dat_csp_free(
                csp_handle: DAT_CSP_HANDLE, "in, the common service point.";
            ) => dispatch(DAT_INVALID_HANDLE_CSP);
        }
    };
}
