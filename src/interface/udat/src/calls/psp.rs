/// Calls: public service points. See [`crate::abi`].
#[macro_export]
macro_rules! psp_calls {
    ($callback:path) => {
        $callback! {
            /// Creates a public service point (PSP), which listens on a connection qualifier for any number of
            /// requests. An EVD receives an event for each request; its length is the backlog. Requests may arrive
            /// before the call returns.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the service point listens
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CR` - `evd_handle` is not an event dispatcher of the adapter, or it lacks `DAT_EVD_CR_FLAG`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `conn_qual` is 0 or cannot be used
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `psp_flags` is neither `DAT_PSP_CONSUMER_FLAG` nor `DAT_PSP_PROVIDER_FLAG`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `psp_handle` is NULL
            /// * `DAT_CONN_QUAL_IN_USE` - another service point listens at `conn_qual`. This code has no error class bit
            /// * `DAT_PRIVILEGES_VIOLATION` - the system forbids the process to listen: `conn_qual` is a privileged port, the process may not write the rendezvous directory of shm, it has changed its user since dat_ia_open, or a policy forbids it
            /// * `DAT_MODEL_NOT_SUPPORTED` - the provider does not support `psp_flags`; see `ep_creator` of dat_ia_query; never from the providers of this project
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_DEVICE` - out of memory, or the transport cannot listen
            ///
            /// # Events
            /// `DAT_CONNECTION_REQUEST_EVENT` on the EVD for each request, `sp_handle` the PSP.
            extern "C" fn dat_psp_create(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                conn_qual: DAT_CONN_QUAL,
                    "in, the qualifier at which the service point listens: any 64-bit number except 0.";
                evd_handle: DAT_EVD_HANDLE, "in, dispatcher for the connection requests, with `DAT_EVD_CR_FLAG`.";
                psp_flags: DAT_PSP_FLAGS,
                    "in, `DAT_PSP_CONSUMER_FLAG` (0) if the program supplies the endpoint of each request, or"
                    "`DAT_PSP_PROVIDER_FLAG` (1) if the provider creates it.";
                psp_handle: *mut DAT_PSP_HANDLE, "out, the new service point; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Creates a public service point like dat_psp_create, on a free qualifier that the provider chooses.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the service point listens at `*conn_qual`
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CR` - `evd_handle` is not an event dispatcher of the adapter, or it lacks `DAT_EVD_CR_FLAG`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `conn_qual` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `psp_flags` is neither `DAT_PSP_CONSUMER_FLAG` nor `DAT_PSP_PROVIDER_FLAG`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `psp_handle` is NULL
            /// * `DAT_CONN_QUAL_UNAVAILABLE` - no qualifier is free. This code has no error class bit
            /// * `DAT_PRIVILEGES_VIOLATION` - the system forbids the process to listen
            /// * `DAT_MODEL_NOT_SUPPORTED` - the provider does not support `psp_flags`; never from the providers of this project
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_DEVICE` - out of memory, or the transport cannot listen
            ///
            /// # Events
            /// `DAT_CONNECTION_REQUEST_EVENT` on the EVD for each request, `sp_handle` the PSP.
            extern "C" fn dat_psp_create_any(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                conn_qual: *mut DAT_CONN_QUAL,
                    "out, the chosen qualifier: above the privileged ports and at most 65535; written on success only.";
                evd_handle: DAT_EVD_HANDLE, "in, dispatcher for the connection requests, with `DAT_EVD_CR_FLAG`.";
                psp_flags: DAT_PSP_FLAGS,
                    "in, `DAT_PSP_CONSUMER_FLAG` (0) or `DAT_PSP_PROVIDER_FLAG` (1), as for dat_psp_create.";
                psp_handle: *mut DAT_PSP_HANDLE, "out, the new service point; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Returns the selected parameters of a PSP.
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
                psp_param: *mut DAT_PSP_PARAM, "out, structure provided by the program.";
            ) => dispatch(DAT_INVALID_HANDLE_PSP);
        }
        $callback! {
            /// Destroys a PSP. The program can still accept or reject requests that have arrived. Later requests are
            /// refused as if no service point listened.
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
