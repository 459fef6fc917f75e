/// Calls: connections of endpoints. Those that only 2.0 has.
#[macro_export]
macro_rules! further_connect_calls {
    ($callback:path) => {
        $callback! {
            /// Starts to connect an endpoint to a socket address, and returns, as dat_ep_connect does: to a common service
            /// point with this address, or to a service point with the port as qualifier.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the request is sent
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `private_data_size` is negative or above the maximum
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `private_data` is NULL with a size above 0
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `remote_ia_address` is NULL
            /// * `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_MALFORMED` - the address is of another family than the communicator of the endpoint, or has no port
            /// * `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_UNSUPPORTED` - the address is of a family that the adapter does not have, or a multicast or broadcast address
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `timeout` is 0
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING`, `..._DISCONNECTED` - the endpoint is not unconnected
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CONN` - the endpoint has no connection dispatcher
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_NOTREADY` - the endpoint has no protection zone, or lacks a dispatcher for operations that its attributes allow
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP`, `DAT_RESOURCE_TEVD`, `DAT_RESOURCE_SRQ` - out of memory, or of what the transport needs for the endpoint, its dispatchers or its shared receive queue
            ///
            /// # Events
            /// One on the connect EVD: `DAT_CONNECTION_EVENT_ESTABLISHED`, or one that gives the reason of the failure.
            extern "C" fn dat_ep_common_connect(
                ep_handle: DAT_EP_HANDLE,
                    "in, the endpoint, in the state `DAT_EP_STATE_UNCONNECTED`, as for dat_ep_connect. Its"
                    "communicator, `comm` of its parameters, is that of the address, or all 0.";
                remote_ia_address: DAT_IA_ADDRESS_PTR,
                    "in, address of the peer's adapter, and the port that it listens at: a complete IPv4 or IPv6"
                    "socket address. Copied during the call.";
                timeout: DAT_TIMEOUT,
                    "in, longest time for the whole establishment, in microseconds, above 0; `DAT_TIMEOUT_INFINITE`"
                    "sets no limit.";
                private_data_size: DAT_COUNT,
                    "in, bytes of private data for the peer, from 0 to `max_private_data_size` of dat_ia_query.";
                private_data: DAT_PVOID, "in, the bytes; ignored if the size is 0. They are copied during the call.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
    };
}
