/// The call among those of [`cr_calls`](dat_udat::cr_calls) that 1.2 has in a form of its own.
#[macro_export]
macro_rules! own_cr_calls {
    ($callback:path) => {
        $callback! {
            /// Rejects a connection request. The request is gone; an endpoint of a reserved service point is
            /// unconnected again, and one that the provider made is gone too.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the request is refused
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` - `cr_handle` is not a connection request that still waits for its answer: null, of another kind, or already accepted, rejected or handed off
            ///
            /// # Events
            /// At the other side: `DAT_CONNECTION_EVENT_PEER_REJECTED`.
            extern "C" fn dat_cr_reject(
                cr_handle: DAT_CR_HANDLE, "in, the connection request.";
            ) => dispatch(DAT_INVALID_HANDLE_CR);
        }
    };
}
