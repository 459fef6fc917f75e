/// Calls: connections of endpoints. See [`crate::abi`].
#[macro_export]
macro_rules! connect_calls {
    ($callback:path) => {
        $callback! {
            /// Requests a connection of an endpoint to a service point, and returns. The endpoint enters
            /// DAT_EP_STATE_ACTIVE_CONNECTION_PENDING, and one event on its connect EVD reports the outcome. If the
            /// call fails, the endpoint is unchanged.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the request is sent
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_MODEL_NOT_SUPPORTED` - the adapter does not support the quality of service or the flag
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7` - `quality_of_service` has an unknown bit
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG8` - `connect_flags` has an unknown flag
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `private_data_size` is negative or above the maximum
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - `private_data` is NULL and `private_data_size` is above 0
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `remote_ia_address` is NULL
            /// * `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_UNSUPPORTED` - the adapter does not support the family of the address, or the address is a multicast or broadcast address
            /// * `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_UNREACHABLE`, `..._MALFORMED` - the address is unreachable or malformed, and the provider does not raise `DAT_CONNECTION_EVENT_UNREACHABLE` instead; never from the providers of this project
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `timeout` is 0
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING`, `..._DISCONNECTED` - the endpoint is not in the state `DAT_EP_STATE_UNCONNECTED`
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CONN` - the endpoint has no connection dispatcher
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_NOTREADY` - the endpoint lacks a protection zone or a dispatcher that its attributes require
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP`, `DAT_RESOURCE_TEVD`, `DAT_RESOURCE_SRQ`, `DAT_RESOURCE_DEVICE` - out of memory or file descriptors, or the transport lacks resources for the endpoint, its dispatchers or its shared receive queue
            ///
            /// If the call fails, the endpoint is unchanged.
            ///
            /// # Events
            /// One on the connect EVD: `DAT_CONNECTION_EVENT_ESTABLISHED`, or an event that reports the reason of the
            /// failure.
            extern "C" fn dat_ep_connect(
                ep_handle: DAT_EP_HANDLE,
                    "in, the endpoint, in the state `DAT_EP_STATE_UNCONNECTED`, with a protection zone, a connection"
                    "dispatcher and the dispatchers that its attributes require.";
                remote_ia_address: DAT_IA_ADDRESS_PTR,
                    "in, address of the peer's adapter: an IPv4 or IPv6 socket address, which the call copies. Its"
                    "port is ignored.";
                remote_conn_qual: DAT_CONN_QUAL, "in, connection qualifier at which the peer listens.";
                timeout: DAT_TIMEOUT,
                    "in, maximum time to establish the connection, in microseconds; above 0. `DAT_TIMEOUT_INFINITE`"
                    "sets no limit.";
                private_data_size: DAT_COUNT,
                    "in, number of bytes of private data for the peer, from 0 to `max_private_data_size` of"
                    "dat_ia_query.";
                private_data: DAT_PVOID,
                    "in, the private data, which the call copies. Ignored if `private_data_size` is 0.";
                quality_of_service: DAT_QOS,
                    "in, `DAT_QOS_BEST_EFFORT`, or bits that `dat_qos_supported` of dat_ia_query contains.";
                connect_flags: DAT_CONNECT_FLAGS,
                    "in, `DAT_CONNECT_DEFAULT_FLAG` (0), or `DAT_CONNECT_MULTIPATH_FLAG` (1) if `supports_multipath`"
                    "of dat_ia_query is true.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Requests a connection of an endpoint to the peer of another, connected endpoint, and returns, like
            /// dat_ep_connect.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the request is sent; `ep_handle` is in the state `DAT_EP_STATE_ACTIVE_CONNECTION_PENDING`
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` or `ep_dup_handle` is not an endpoint, or their adapters differ
            /// * `DAT_MODEL_NOT_SUPPORTED` - the adapter does not support the quality of service
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - `quality_of_service` has an unknown bit
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `private_data_size` is negative or above the maximum
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `private_data` is NULL and `private_data_size` is above 0
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING`, `..._DISCONNECTED` - `ep_dup_handle` is not in the state `DAT_EP_STATE_CONNECTED`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `timeout` is 0
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING`, `..._DISCONNECTED` - `ep_handle` is not in the state `DAT_EP_STATE_UNCONNECTED`. The call checks `ep_dup_handle` first
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CONN` - `ep_handle` has no connection dispatcher
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_NOTREADY` - `ep_handle` lacks a protection zone or a dispatcher that its attributes require
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP`, `DAT_RESOURCE_TEVD`, `DAT_RESOURCE_SRQ`, `DAT_RESOURCE_DEVICE` - out of memory or file descriptors, or the transport lacks resources for the endpoint, its dispatchers or its shared receive queue
            ///
            /// # Events
            /// One on the connect EVD: `DAT_CONNECTION_EVENT_ESTABLISHED`, or an event that reports the reason of the
            /// failure.
            extern "C" fn dat_ep_dup_connect(
                ep_handle: DAT_EP_HANDLE, "in, the endpoint to connect, in the state `DAT_EP_STATE_UNCONNECTED`.";
                ep_dup_handle: DAT_EP_HANDLE,
                    "in, an endpoint of the same adapter in the state `DAT_EP_STATE_CONNECTED`. The call does not"
                    "change it.";
                timeout: DAT_TIMEOUT,
                    "in, maximum time to establish the connection, in microseconds; above 0. `DAT_TIMEOUT_INFINITE`"
                    "sets no limit.";
                private_data_size: DAT_COUNT,
                    "in, number of bytes of private data for the peer, from 0 to `max_private_data_size` of"
                    "dat_ia_query.";
                private_data: DAT_PVOID,
                    "in, the private data, which the call copies. Ignored if `private_data_size` is 0.";
                quality_of_service: DAT_QOS,
                    "in, `DAT_QOS_BEST_EFFORT`, or bits that `dat_qos_supported` of dat_ia_query contains.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Disconnects an endpoint, or abandons its attempt to connect, and returns. An abrupt disconnect ends the
            /// connection immediately; a graceful one first completes the posted requests. The call has no effect on a
            /// disconnected endpoint. A graceful call has no effect on an endpoint in DAT_EP_STATE_DISCONNECT_PENDING.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the connection or the attempt is ending, or had already ended
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `close_flags` is neither `DAT_CLOSE_ABRUPT_FLAG` nor `DAT_CLOSE_GRACEFUL_FLAG`
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._TENTCONNPENDING` - the endpoint has no connection and no attempt to connect
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - out of memory; never from the providers of this project
            ///
            /// # Events
            /// `DAT_CONNECTION_EVENT_DISCONNECTED` on the connect EVD, once on each side.
            extern "C" fn dat_ep_disconnect(
                ep_handle: DAT_EP_HANDLE, "in, the endpoint.";
                close_flags: DAT_CLOSE_FLAGS,
                    "in, `DAT_CLOSE_ABRUPT_FLAG` (0) ends the connection immediately; `DAT_CLOSE_GRACEFUL_FLAG` (1)"
                    "first completes the posted requests.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
    };
}
