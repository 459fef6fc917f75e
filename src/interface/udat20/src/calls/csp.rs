/// Calls: common service points. Only 2.0 has them.
#[macro_export]
macro_rules! csp_calls {
    ($callback:path) => {
        $callback! {
            /// Makes a common service point (CSP), which listens on a socket address of the adapter. Requests of
            /// dat_ep_common_connect to the address, and of dat_ep_connect to a qualifier that equals the port, arrive as for
            /// a public service point.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the service point listens
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CR` - `evd_handle` is not a dispatcher for connection requests of this adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `comm` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `address` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `csp_handle` is NULL
            /// * `DAT_COMM_NOT_SUPPORTED` - `comm` is none of the above
            /// * `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_MALFORMED` - the address is of another family than `comm`
            /// * `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_UNREACHABLE` - the address is not one of the adapter
            /// * `DAT_PORT_IN_USE` - something listens at the port already
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - out of memory
            /// * `DAT_MODEL_NOT_SUPPORTED` - the provider has no common service points; never from the providers of this project
            ///
            /// # Events
            /// On the EVD: `DAT_CONNECTION_REQUEST_EVENT` for each request.
            extern "C" fn dat_csp_create(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                comm: *mut DAT_COMM,
                    "in, the communicator: `domain` `AF_INET` or `AF_INET6`, `type` `SOCK_STREAM`, `protocol` 0 or"
                    "`IPPROTO_TCP`. Copied during the call.";
                address: DAT_IA_ADDRESS_PTR,
                    "in, address and port to listen at. The address is one of the adapter, or that for any address;"
                    "port 0 lets the library choose one, which dat_csp_query tells. Copied during the call.";
                evd_handle: DAT_EVD_HANDLE, "in, a dispatcher for connection requests.";
                csp_handle: *mut DAT_CSP_HANDLE, "out, the common service point; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Returns the chosen attributes of a CSP.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the fields are filled in
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CSP` - `csp_handle` is not a common service point
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `csp_param_mask` has an unknown bit
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `csp_param` is NULL
            extern "C" fn dat_csp_query(
                csp_handle: DAT_CSP_HANDLE, "in, the common service point.";
                csp_param_mask: DAT_CSP_PARAM_MASK, "in, bits of `DAT_CSP_FIELD_ALL`: the fields to fill in.";
                csp_param: *mut DAT_CSP_PARAM,
                    "out, the fields. The memory that they point to lives as long as the service point.";
            ) => dispatch(DAT_INVALID_HANDLE_CSP);
        }
        $callback! {
            /// Destroys a CSP. Requests that have arrived stay valid.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the service point is gone
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CSP` - `csp_handle` is not a common service point
            extern "C" fn dat_csp_free(
                csp_handle: DAT_CSP_HANDLE, "in, the common service point.";
            ) => dispatch(DAT_INVALID_HANDLE_CSP);
        }
    };
}
