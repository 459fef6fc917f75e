/// Calls: reserved service points. See [`crate::abi`].
#[macro_export]
macro_rules! rsp_calls {
    ($callback:path) => {
        $callback! {
            /// Makes a reserved service point (RSP). It listens on a connection qualifier for one request, for one
            /// endpoint. The endpoint is reserved until then.
            ///
            /// # Parameters
            /// * `ia_handle` - in, the adapter that it belongs to.
            /// * `conn_qual` - in, the qualifier to listen on, not 0.
            /// * `ep_handle` - in, an unconnected endpoint.
            /// * `evd_handle` - in, the EVD for the request, with `DAT_EVD_CR_FLAG`.
            /// * `rsp_handle` - out, the RSP; written only on success.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
            /// | `DAT_MODEL_NOT_SUPPORTED` | `ep_handle` is `DAT_HANDLE_NULL`: the provider makes no endpoints for this |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint of the adapter |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CR` | not an EVD of the adapter with that flag |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the qualifier is 0 or cannot be used |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | `rsp_handle` is NULL |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING`, `..._DISCONNECTED` | the endpoint is in this state, not unconnected |
            /// | `DAT_CONN_QUAL_IN_USE` | another service point listens there, or the transport reserves the qualifier for others |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_DEVICE` | out of memory, or the transport cannot listen |
            ///
            /// # Events
            /// `DAT_CONNECTION_REQUEST_EVENT` on the EVD, once, `sp_handle` the RSP.
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_rsp_create(3DAT).
            extern "C" fn dat_rsp_create(
                ia_handle: DAT_IA_HANDLE,
                conn_qual: DAT_CONN_QUAL,
                ep_handle: DAT_EP_HANDLE,
                evd_handle: DAT_EVD_HANDLE,
                rsp_handle: *mut DAT_RSP_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Returns the chosen attributes of an RSP.
            ///
            /// # Parameters
            /// * `rsp_handle` - in, the RSP; it lives until it is freed, even after its request.
            /// * `rsp_param_mask` - in, the requested fields, bits of `DAT_RSP_FIELD_ALL`.
            /// * `rsp_param` - out, the fields.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RSP` | not an RSP |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `rsp_param` is NULL |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_rsp_query(3DAT).
            extern "C" fn dat_rsp_query(
                rsp_handle: DAT_RSP_HANDLE,
                rsp_param_mask: DAT_RSP_PARAM_MASK,
                rsp_param: *mut DAT_RSP_PARAM,
            ) => dispatch(DAT_INVALID_HANDLE_RSP);
        }
        $callback! {
            /// Destroys an RSP. Its endpoint is unconnected again if no request came; a request that came can still be
            /// answered.
            ///
            /// # Parameters
            /// * `rsp_handle` - in, the RSP.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RSP` | not an RSP |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_rsp_free(3DAT).
            extern "C" fn dat_rsp_free(
                rsp_handle: DAT_RSP_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_RSP);
        }
    };
}
