/// Calls: public service points. See [`crate::abi`].
#[macro_export]
macro_rules! psp_calls {
    ($callback:path) => {
        $callback! {
            /// Makes a public service point (PSP). It listens on a connection qualifier for any number of requests,
            /// whose events go to an EVD. Requests may arrive before the call returns. The length of the EVD is the
            /// backlog.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the service point listens
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CR` - `evd_handle` is not an event dispatcher or has no `DAT_EVD_CR_FLAG`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `conn_qual` is 0 or cannot be used
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `psp_flags` is neither of the two
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `psp_handle` is NULL
            /// * `DAT_CONN_QUAL_IN_USE` - another service point, public or reserved, listens there, or the transport reserves the qualifier for others. This code has no class bit
            /// * `DAT_MODEL_NOT_SUPPORTED` - the provider never creates endpoints, or always does, and `psp_flags` asks for the opposite; see `ep_creator` of dat_ia_query; never from the providers of this project
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_DEVICE` - out of memory, or the transport cannot listen
            ///
            /// # Events
            /// `DAT_CONNECTION_REQUEST_EVENT` on the EVD for each request, `sp_handle` the PSP.
            extern "C" fn dat_psp_create(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                conn_qual: DAT_CONN_QUAL, "in, the qualifier to listen at; any 64-bit number but 0.";
                evd_handle: DAT_EVD_HANDLE, "in, dispatcher for the requests, with `DAT_EVD_CR_FLAG`.";
                psp_flags: DAT_PSP_FLAGS,
                    "in, the side that provides the endpoint of each request: `DAT_PSP_CONSUMER_FLAG` (0) for the"
                    "program, `DAT_PSP_PROVIDER_FLAG` (1) for the provider.";
                psp_handle: *mut DAT_PSP_HANDLE, "out, the new service point; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Makes a public service point as dat_psp_create does, on a free qualifier that the provider finds.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the service point listens at `*conn_qual`
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CR` - `evd_handle` is not an event dispatcher or has no `DAT_EVD_CR_FLAG`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `conn_qual` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `psp_flags` is neither of the two
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `psp_handle` is NULL
            /// * `DAT_CONN_QUAL_UNAVAILABLE` - no qualifier is free. This code has no class bit
            /// * `DAT_MODEL_NOT_SUPPORTED` - the provider does not support `psp_flags`; never from the providers of this project
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_DEVICE` - out of memory, or the transport cannot listen
            ///
            /// # Events
            /// `DAT_CONNECTION_REQUEST_EVENT` on the EVD for each request, `sp_handle` the PSP.
            extern "C" fn dat_psp_create_any(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                conn_qual: *mut DAT_CONN_QUAL,
                    "out, the qualifier that was chosen, above the privileged ones and at most 65535; written on"
                    "success only.";
                evd_handle: DAT_EVD_HANDLE, "in, dispatcher for the requests, with `DAT_EVD_CR_FLAG`.";
                psp_flags: DAT_PSP_FLAGS,
                    "in, `DAT_PSP_CONSUMER_FLAG` (0) or `DAT_PSP_PROVIDER_FLAG` (1), as for dat_psp_create.";
                psp_handle: *mut DAT_PSP_HANDLE, "out, the new service point; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Returns the chosen attributes of a PSP.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the requested fields are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PSP` - `psp_handle` is not a public service point
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `psp_param_mask` has a bit outside `DAT_PSP_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `psp_param` is NULL
            extern "C" fn dat_psp_query(
                psp_handle: DAT_PSP_HANDLE, "in, the service point.";
                psp_param_mask: DAT_PSP_PARAM_MASK,
                    "in, bits `DAT_PSP_FIELD_IA_HANDLE` (1), `DAT_PSP_FIELD_CONN_QUAL` (2), `DAT_PSP_FIELD_EVD_HANDLE`"
                    "(4), `DAT_PSP_FIELD_PSP_FLAGS` (8), or `DAT_PSP_FIELD_ALL`.";
                psp_param: *mut DAT_PSP_PARAM, "out, a structure of the program.";
            ) => dispatch(DAT_INVALID_HANDLE_PSP);
        }
        $callback! {
            /// Destroys a PSP. Requests that it announced can still be answered; later ones are refused as if there
            /// were no listener.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the service point is freed and its handle is invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PSP` - `psp_handle` is not a public service point
            extern "C" fn dat_psp_free(
                psp_handle: DAT_PSP_HANDLE, "in, the service point.";
            ) => dispatch(DAT_INVALID_HANDLE_PSP);
        }
    };
}
