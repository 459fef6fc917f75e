/// The call among those of [`cr_calls`](dat_udat::cr_calls) that 2.0 has in a form of its own.
#[macro_export]
macro_rules! own_cr_calls {
    ($callback:path) => {
        $callback! {
            /// Rejects a connection request. The request is gone; an endpoint of a reserved service point is
            /// unconnected again, and one that the provider made is gone too.
            ///
            /// # Returns
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` - not a request, or answered already
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - the size is negative or above what the transport carries
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - the private data is NULL and its size is not 0
            ///
            /// # Events
            /// At the other side: `DAT_CONNECTION_EVENT_PEER_REJECTED` with the private data.
            extern "C" fn dat_cr_reject(
                cr_handle: DAT_CR_HANDLE, "in, the request.";
                private_data_size: DAT_COUNT,
                    "in, bytes of `private_data`, at most what the transport carries, which is no less than"
                    "`max_private_data_size`.";
                private_data: DAT_PVOID, "in, given to the other side with its event; copied during the call.";
            ) => dispatch(DAT_INVALID_HANDLE_CR);
        }
    };
}
