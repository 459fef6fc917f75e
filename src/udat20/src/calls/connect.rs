/// Calls: connections of endpoints. Those that only 2.0 has.
#[macro_export]
macro_rules! further_connect_calls {
    ($callback:path) => {
        $callback! {
            /// Starts to connect an endpoint to a socket address, and returns, as dat_ep_connect does: to a common service
            /// point with this address, or to a service point with the port as qualifier.
            ///
            /// # Parameters
            /// * `ep_handle` - in, an unconnected endpoint, as for dat_ep_connect. Its kind of communication, `comm` of its
            ///   parameters, is that of the address, or all 0.
            /// * `remote_ia_address` - in, a complete IPv4 or IPv6 socket address with port; copied during the call.
            /// * `timeout` - in, microseconds for the whole establishment, not 0; `DAT_TIMEOUT_INFINITE` if the program sets no
            ///   limit.
            /// * `private_data_size` - in, bytes of `private_data`, at most `max_private_data_size`.
            /// * `private_data` - in, given to the other side with the request; copied during the call.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | the size of the private data is negative or above `max_private_data_size` |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | the private data is NULL and its size is not 0 |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the address is NULL |
            /// | `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_MALFORMED` | an address without a port, or of another family than `comm` of the endpoint |
            /// | `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_UNSUPPORTED` | an address of a family that the adapter does not support, or a multicast or broadcast address |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | the timeout is 0 |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING`, `..._DISCONNECTED` | the endpoint is in this state, not unconnected |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CONN` | the endpoint has no connect EVD |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_NOTREADY` | the endpoint lacks a protection zone or another EVD |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP`, `DAT_RESOURCE_TEVD`, `DAT_RESOURCE_SRQ` | out of memory, or of resources that the transport needs for the endpoint, its EVDs or its SRQ |
            ///
            /// # Events
            /// One on the connect EVD: `DAT_CONNECTION_EVENT_ESTABLISHED`, or one that gives the reason of the failure.
            ///
            /// # Specification
            /// uDAPL 2.0, dat_ep_common_connect.
            extern "C" fn dat_ep_common_connect(
                ep_handle: DAT_EP_HANDLE,
                remote_ia_address: DAT_IA_ADDRESS_PTR,
                timeout: DAT_TIMEOUT,
                private_data_size: DAT_COUNT,
                private_data: DAT_PVOID,
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
    };
}
