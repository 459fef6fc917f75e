/// The connection request call that differs in 2.0. See [`cr_calls`](dat_udat::cr_calls).
#[macro_export]
macro_rules! own_cr_calls {
    ($callback:path) => {
        $callback! {
            /// Rejects a connection request and frees it. The endpoint of a reserved service point returns to
            /// DAT_EP_STATE_UNCONNECTED; an endpoint that the provider created is freed.
            ///
            /// # Returns
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` - `cr_handle` is not a pending connection request
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `private_data_size` is negative or above the maximum of the transport
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `private_data` is NULL and `private_data_size` is above 0
            ///
            /// # Events
            /// At the peer: `DAT_CONNECTION_EVENT_PEER_REJECTED` with the private data.
            extern "C" fn dat_cr_reject(
                cr_handle: DAT_CR_HANDLE, "in, the connection request.";
                private_data_size: DAT_COUNT,
                    "in, number of bytes of private data, from 0 to the maximum of the transport, which is at least"
                    "`max_private_data_size`.";
                private_data: DAT_PVOID, "in, the private data for the event of the peer, which the call copies.";
            ) => dispatch(DAT_INVALID_HANDLE_CR);
        }
    };
}
