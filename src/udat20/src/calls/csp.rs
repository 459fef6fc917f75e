/// Calls: common service points. Only 2.0 has them.
#[macro_export]
macro_rules! csp_calls {
    ($callback:path) => {
        $callback! {
            /// Makes a common service point (CSP), which listens on a socket address of the adapter. Requests of
            /// dat_ep_common_connect to the address, and of dat_ep_connect to a qualifier that equals the port, arrive as for
            /// a public service point.
            ///
            /// # Parameters
            /// * `ia_handle` - in, the adapter that it belongs to.
            /// * `comm` - in, the kind of communication: the family of the address, SOCK_STREAM, and 0 or IPPROTO_TCP; copied.
            /// * `address` - in, an address of the adapter, or the one that stands for all addresses, and the port; 0 lets the
            ///   provider choose one, which dat_csp_query tells; copied.
            /// * `evd_handle` - in, the EVD for its requests.
            /// * `csp_handle` - out, the CSP; written only on success.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CR` | not an EVD of the adapter for connection requests |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2`, `DAT_INVALID_ARG3`, `DAT_INVALID_ARG5` | that pointer is NULL |
            /// | `DAT_COMM_NOT_SUPPORTED` | another kind of communication |
            /// | `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_MALFORMED` | an address of another family than `comm` says |
            /// | `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_UNREACHABLE` | not an address of the adapter |
            /// | `DAT_PORT_IN_USE` | another service point has the port |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | out of memory |
            /// | `DAT_MODEL_NOT_SUPPORTED` | the provider has no CSPs; never from the providers of this project |
            ///
            /// # Events
            /// On the EVD: `DAT_CONNECTION_REQUEST_EVENT` for each request.
            ///
            /// # Specification
            /// uDAPL 2.0, dat_csp_create.
            extern "C" fn dat_csp_create(
                ia_handle: DAT_IA_HANDLE,
                comm: *mut DAT_COMM,
                address: DAT_IA_ADDRESS_PTR,
                evd_handle: DAT_EVD_HANDLE,
                csp_handle: *mut DAT_CSP_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Returns the chosen attributes of a CSP.
            ///
            /// # Parameters
            /// * `csp_handle` - in, the CSP.
            /// * `csp_param_mask` - in, the requested fields, bits of `DAT_CSP_FIELD_ALL`.
            /// * `csp_param` - out, the fields. The memory they point to lives as long as the CSP.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CSP` | not a CSP |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `csp_param` is NULL |
            ///
            /// # Specification
            /// uDAPL 2.0, dat_csp_query.
            extern "C" fn dat_csp_query(
                csp_handle: DAT_CSP_HANDLE,
                csp_param_mask: DAT_CSP_PARAM_MASK,
                csp_param: *mut DAT_CSP_PARAM,
            ) => dispatch(DAT_INVALID_HANDLE_CSP);
        }
        $callback! {
            /// Destroys a CSP. Requests that have arrived stay valid.
            ///
            /// # Parameters
            /// * `csp_handle` - in, the CSP.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CSP` | not a CSP |
            ///
            /// # Specification
            /// uDAPL 2.0, dat_csp_free.
            extern "C" fn dat_csp_free(
                csp_handle: DAT_CSP_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_CSP);
        }
    };
}
