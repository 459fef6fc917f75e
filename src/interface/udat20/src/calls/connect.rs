/// Calls: connections of endpoints, only in 2.0.
#[macro_export]
macro_rules! further_connect_calls {
    ($callback:path) => {
        $callback! {
            /// Requests a connection of an endpoint to a socket address, and returns, like dat_ep_connect. A common
            /// service point with this address, or a service point whose qualifier equals the port, receives the
            /// request.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the request is sent
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `private_data_size` is negative or above the maximum
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `private_data` is NULL and `private_data_size` is above 0
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `remote_ia_address` is NULL
            /// * `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_MALFORMED` - the family of the address differs from the communicator of the endpoint, or the port is 0
            /// * `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_UNSUPPORTED` - the adapter does not support the family of the address, or the address is a multicast or broadcast address
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `timeout` is 0
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING`, `..._DISCONNECTED` - the endpoint is not in the state `DAT_EP_STATE_UNCONNECTED`
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CONN` - the endpoint has no connection dispatcher
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_NOTREADY` - the endpoint lacks a protection zone or a dispatcher that its attributes require
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP`, `DAT_RESOURCE_TEVD`, `DAT_RESOURCE_SRQ`, `DAT_RESOURCE_DEVICE` - out of memory or file descriptors, or the transport lacks resources for the endpoint, its dispatchers or its shared receive queue
            ///
            /// # Events
            /// One on the connect EVD: `DAT_CONNECTION_EVENT_ESTABLISHED`, or an event that reports the reason of the
            /// failure.
            extern "C" fn dat_ep_common_connect(
                ep_handle: DAT_EP_HANDLE,
                    "in, the endpoint, in the state `DAT_EP_STATE_UNCONNECTED`, as for dat_ep_connect. Its"
                    "communicator `comm` must match the family of the address; all zeros match IPv4.";
                remote_ia_address: DAT_IA_ADDRESS_PTR,
                    "in, address of the peer's adapter and port at which the peer listens: an IPv4 or IPv6 socket"
                    "address, which the call copies.";
                timeout: DAT_TIMEOUT,
                    "in, maximum time to establish the connection, in microseconds; above 0. `DAT_TIMEOUT_INFINITE`"
                    "sets no limit.";
                private_data_size: DAT_COUNT,
                    "in, number of bytes of private data for the peer, from 0 to `max_private_data_size` of"
                    "dat_ia_query.";
                private_data: DAT_PVOID,
                    "in, the private data, which the call copies. Ignored if `private_data_size` is 0.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
    };
}
