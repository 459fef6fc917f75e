/// Calls: connections of endpoints. See [`crate::abi`].
#[macro_export]
macro_rules! connect_calls {
    ($callback:path) => {
        $callback! {
            /// Starts to connect an endpoint to a service point, and returns. The endpoint becomes active connection
            /// pending, and one event on its connect EVD reports the outcome. After any error it is unchanged.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the request is sent
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_MODEL_NOT_SUPPORTED` - the quality of service or the flag is not supported here
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7` - `quality_of_service` has an unknown bit
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG8` - `connect_flags` has an unknown flag
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `private_data_size` is negative or above the maximum
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - `private_data` is NULL with a size above 0
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `remote_ia_address` is NULL
            /// * `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_UNSUPPORTED` - the address is of a family that the adapter does not have, or a multicast or broadcast address
            /// * `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_UNREACHABLE`, `..._MALFORMED` - the address is known to be unreachable, or was never valid. A provider may raise `DAT_CONNECTION_EVENT_UNREACHABLE` instead; never from the providers of this project
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `timeout` is 0
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING`, `..._DISCONNECTED` - the endpoint is not unconnected
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CONN` - the endpoint has no connection dispatcher
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_NOTREADY` - the endpoint has no protection zone, or lacks a dispatcher for operations that its attributes allow
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP`, `DAT_RESOURCE_TEVD`, `DAT_RESOURCE_SRQ` - out of memory, or of what the transport needs for the endpoint, its dispatchers or its shared receive queue
            ///
            /// After any failure the endpoint is as it was.
            ///
            /// # Events
            /// One on the connect EVD: `DAT_CONNECTION_EVENT_ESTABLISHED`, or one that gives the reason of the failure.
            extern "C" fn dat_ep_connect(
                ep_handle: DAT_EP_HANDLE,
                    "in, the endpoint, in the state `DAT_EP_STATE_UNCONNECTED`, with a protection zone, a connection"
                    "dispatcher and the dispatchers that its attributes need.";
                remote_ia_address: DAT_IA_ADDRESS_PTR,
                    "in, address of the peer's adapter, a complete IPv4 or IPv6 socket address. Copied during the"
                    "call; a port in it is ignored.";
                remote_conn_qual: DAT_CONN_QUAL, "in, connection qualifier that the peer listens at.";
                timeout: DAT_TIMEOUT,
                    "in, longest time for the whole establishment, in microseconds, above 0; `DAT_TIMEOUT_INFINITE`"
                    "sets no limit.";
                private_data_size: DAT_COUNT,
                    "in, bytes of private data for the peer, from 0 to `max_private_data_size` of dat_ia_query.";
                private_data: DAT_PVOID, "in, the bytes; ignored if the size is 0. They are copied during the call.";
                quality_of_service: DAT_QOS, "in, `DAT_QOS_BEST_EFFORT`, or other bits that `dat_qos_supported` shows.";
                connect_flags: DAT_CONNECT_FLAGS,
                    "in, `DAT_CONNECT_DEFAULT_FLAG` (0), or `DAT_CONNECT_MULTIPATH_FLAG` (1) if `supports_multipath`"
                    "is true.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Starts to connect an endpoint to the peer of another, connected endpoint, and returns, as dat_ep_connect
            /// does.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the request is sent; `ep_handle` is in the state `DAT_EP_STATE_ACTIVE_CONNECTION_PENDING`
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - one of the two is not an endpoint, or they are of different adapters
            /// * `DAT_MODEL_NOT_SUPPORTED` - the quality of service is not supported here
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - `quality_of_service` has an unknown bit
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `private_data_size` is negative or above the maximum
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `private_data` is NULL with a size above 0
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING`, `..._DISCONNECTED` - `ep_dup_handle` is not connected
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `timeout` is 0
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING`, `..._DISCONNECTED` - `ep_handle` is not unconnected. `ep_dup_handle` is looked at first
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CONN` - `ep_handle` has no connection dispatcher
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_NOTREADY` - `ep_handle` lacks its zone or a dispatcher
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP`, `DAT_RESOURCE_TEVD`, `DAT_RESOURCE_SRQ` - out of memory, or of what the transport needs for the endpoint, its dispatchers or its shared receive queue
            ///
            /// # Events
            /// One on the connect EVD: `DAT_CONNECTION_EVENT_ESTABLISHED`, or one that gives the reason of the failure.
            extern "C" fn dat_ep_dup_connect(
                ep_handle: DAT_EP_HANDLE, "in, the endpoint to connect, in the state `DAT_EP_STATE_UNCONNECTED`.";
                ep_dup_handle: DAT_EP_HANDLE,
                    "in, an endpoint of the same adapter in the state `DAT_EP_STATE_CONNECTED`; it is not changed.";
                timeout: DAT_TIMEOUT,
                    "in, longest time for the establishment, in microseconds, above 0, or `DAT_TIMEOUT_INFINITE`.";
                private_data_size: DAT_COUNT, "in, bytes of private data, from 0 to `max_private_data_size`.";
                private_data: DAT_PVOID, "in, the bytes, copied during the call; ignored if the size is 0.";
                quality_of_service: DAT_QOS, "in, bits of `DAT_QOS`.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Starts to end a connection, or an attempt at one, and returns. The end comes at once, or after posted
            /// requests are done. Has no effect on a disconnected endpoint, nor, if graceful, on one that is
            /// disconnecting.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the connection ends, or had ended before
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `close_flags` is neither of the two
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._TENTCONNPENDING` - there is nothing to end
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - out of memory; never from the providers of this project
            ///
            /// # Events
            /// `DAT_CONNECTION_EVENT_DISCONNECTED` on the connect EVD, once at each end.
            extern "C" fn dat_ep_disconnect(
                ep_handle: DAT_EP_HANDLE, "in, the endpoint.";
                close_flags: DAT_CLOSE_FLAGS,
                    "in, `DAT_CLOSE_ABRUPT_FLAG` (0) to end the connection at once, or `DAT_CLOSE_GRACEFUL_FLAG` (1)"
                    "to complete posted requests first.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
    };
}
