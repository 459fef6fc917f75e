/// The connection request call that differs in 1.2. See [`cr_calls`](dat_udat::cr_calls).
#[macro_export]
macro_rules! own_cr_calls {
    ($callback:path) => {
        $callback! {
            /// Rejects a connection request and frees it. The endpoint of a reserved service point returns to
            /// DAT_EP_STATE_UNCONNECTED; an endpoint that the provider created is freed.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the request is rejected and its handle is invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` - `cr_handle` is not a pending connection request: null, of another kind, or already accepted, rejected or handed off
            ///
            /// # Events
            /// At the peer: `DAT_CONNECTION_EVENT_PEER_REJECTED`.
            extern "C" fn dat_cr_reject(
                cr_handle: DAT_CR_HANDLE, "in, the connection request.";
            ) => dispatch(DAT_INVALID_HANDLE_CR);
        }
    };
}
