/// Calls: public service points. See [`crate::abi`].
#[macro_export]
macro_rules! psp_calls {
    ($callback:path) => {
        $callback! {
            /// Makes a public service point (PSP). It listens on a connection qualifier for any number of requests,
            /// whose events go to an EVD. Requests may arrive before the call returns. The length of the EVD is the
            /// backlog.
            ///
            /// # Parameters
            /// * `ia_handle` - in, the adapter that it belongs to.
            /// * `conn_qual` - in, the qualifier to listen on, not 0.
            /// * `evd_handle` - in, the EVD for requests, with `DAT_EVD_CR_FLAG`.
            /// * `psp_flags` - in, the side that provides the endpoint of each request: `DAT_PSP_CONSUMER_FLAG` for the
            ///   program, `DAT_PSP_PROVIDER_FLAG` for the provider.
            /// * `psp_handle` - out, the PSP; written only on success.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CR` | not an EVD of the adapter with that flag |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the qualifier is 0 or cannot be used |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | neither of the two flags |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | `psp_handle` is NULL |
            /// | `DAT_CONN_QUAL_IN_USE` | another service point listens there, or the transport reserves the qualifier for others; this code alone has no class bit |
            /// | `DAT_MODEL_NOT_SUPPORTED` | the provider lacks this mode; never from the providers of this project |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_DEVICE` | out of memory, or the transport cannot listen |
            ///
            /// # Events
            /// `DAT_CONNECTION_REQUEST_EVENT` on the EVD for each request, `sp_handle` the PSP.
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_psp_create(3DAT).
            extern "C" fn dat_psp_create(
                ia_handle: DAT_IA_HANDLE,
                conn_qual: DAT_CONN_QUAL,
                evd_handle: DAT_EVD_HANDLE,
                psp_flags: DAT_PSP_FLAGS,
                psp_handle: *mut DAT_PSP_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Makes a public service point as dat_psp_create does, on a free qualifier that the provider finds.
            ///
            /// # Parameters
            /// * `ia_handle` - in, the adapter that it belongs to.
            /// * `conn_qual` - out, the qualifier, above the privileged ones and at most 65535; like the other result
            ///   written only on success.
            /// * `evd_handle` - in, the EVD for requests, with `DAT_EVD_CR_FLAG`.
            /// * `psp_flags` - in, as for dat_psp_create.
            /// * `psp_handle` - out, the PSP.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CR` | not an EVD of the adapter with that flag |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `conn_qual` is NULL |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | neither of the two flags |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | `psp_handle` is NULL |
            /// | `DAT_CONN_QUAL_UNAVAILABLE` | no qualifier is free; this code alone has no class bit |
            /// | `DAT_MODEL_NOT_SUPPORTED` | the provider lacks this mode; never from the providers of this project |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_DEVICE` | out of memory, or the transport cannot listen |
            ///
            /// # Events
            /// `DAT_CONNECTION_REQUEST_EVENT` on the EVD for each request, `sp_handle` the PSP.
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_psp_create_any(3DAT).
            extern "C" fn dat_psp_create_any(
                ia_handle: DAT_IA_HANDLE,
                conn_qual: *mut DAT_CONN_QUAL,
                evd_handle: DAT_EVD_HANDLE,
                psp_flags: DAT_PSP_FLAGS,
                psp_handle: *mut DAT_PSP_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Returns the chosen attributes of a PSP.
            ///
            /// # Parameters
            /// * `psp_handle` - in, the PSP.
            /// * `psp_param_mask` - in, the requested fields, bits of `DAT_PSP_FIELD_ALL`.
            /// * `psp_param` - out, the fields.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PSP` | not a PSP |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `psp_param` is NULL |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_psp_query(3DAT).
            extern "C" fn dat_psp_query(
                psp_handle: DAT_PSP_HANDLE,
                psp_param_mask: DAT_PSP_PARAM_MASK,
                psp_param: *mut DAT_PSP_PARAM,
            ) => dispatch(DAT_INVALID_HANDLE_PSP);
        }
        $callback! {
            /// Destroys a PSP. Requests that it announced can still be answered; later ones are refused as if there
            /// were no listener.
            ///
            /// # Parameters
            /// * `psp_handle` - in, the PSP.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PSP` | not a PSP |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_psp_free(3DAT).
            extern "C" fn dat_psp_free(
                psp_handle: DAT_PSP_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_PSP);
        }
    };
}
