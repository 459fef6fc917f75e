/// Calls: reserved service points. See [`crate::abi`].
#[macro_export]
macro_rules! rsp_calls {
    ($callback:path) => {
        $callback! {
            /// Creates a reserved service point (RSP), which listens on a connection qualifier for one request, for
            /// one endpoint. The endpoint is reserved until the request arrives.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the service point listens and the endpoint is reserved
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_MODEL_NOT_SUPPORTED` - `ep_handle` is `DAT_HANDLE_NULL`, which requests an endpoint from the provider
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint of the adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CR` - `evd_handle` is not an event dispatcher of the adapter, or it lacks `DAT_EVD_CR_FLAG`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `conn_qual` is 0 or cannot be used
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `rsp_handle` is NULL
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING`, `..._DISCONNECTED` - the endpoint is not in the state `DAT_EP_STATE_UNCONNECTED`
            /// * `DAT_CONN_QUAL_IN_USE` - another service point listens at `conn_qual`. Unlike in dat_psp_create, this code has the error class bit
            /// * `DAT_PRIVILEGES_VIOLATION` - the system forbids the process to listen, as for dat_psp_create
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_DEVICE` - out of memory, or the transport cannot listen
            ///
            /// # Events
            /// `DAT_CONNECTION_REQUEST_EVENT` on the EVD, once, `sp_handle` the RSP.
            extern "C" fn dat_rsp_create(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                conn_qual: DAT_CONN_QUAL,
                    "in, the qualifier at which the service point listens: any 64-bit number except 0.";
                ep_handle: DAT_EP_HANDLE, "in, an endpoint in the state `DAT_EP_STATE_UNCONNECTED`.";
                evd_handle: DAT_EVD_HANDLE, "in, dispatcher for the connection request, with `DAT_EVD_CR_FLAG`.";
                rsp_handle: *mut DAT_RSP_HANDLE, "out, the new service point; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Returns the selected parameters of an RSP.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the requested fields are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RSP` - `rsp_handle` is not a reserved service point
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `rsp_param_mask` has a bit outside `DAT_RSP_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `rsp_param` is NULL
            extern "C" fn dat_rsp_query(
                rsp_handle: DAT_RSP_HANDLE, "in, the service point.";
                rsp_param_mask: DAT_RSP_PARAM_MASK,
                    "in, bits `DAT_RSP_FIELD_IA_HANDLE` (1), `DAT_RSP_FIELD_CONN_QUAL` (2), `DAT_RSP_FIELD_EVD_HANDLE`"
                    "(4), `DAT_RSP_FIELD_EP_HANDLE` (8), or `DAT_RSP_FIELD_ALL`.";
                rsp_param: *mut DAT_RSP_PARAM, "out, structure provided by the program.";
            ) => dispatch(DAT_INVALID_HANDLE_RSP);
        }
        $callback! {
            /// Destroys an RSP. If no request has arrived, its endpoint returns to DAT_EP_STATE_UNCONNECTED. The
            /// program can still accept or reject a request that has arrived.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the service point is freed and its handle is invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RSP` - `rsp_handle` is not a reserved service point
            extern "C" fn dat_rsp_free(
                rsp_handle: DAT_RSP_HANDLE, "in, the service point.";
            ) => dispatch(DAT_INVALID_HANDLE_RSP);
        }
    };
}
