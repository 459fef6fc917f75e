/// Calls: connections of endpoints. See [`crate::abi`].
#[macro_export]
macro_rules! connect_calls {
    ($callback:path) => {
        $callback! {
            /// Starts to connect an endpoint to a service point, and returns. The endpoint becomes active connection
            /// pending, and one event on its connect EVD reports the outcome. After any error it is unchanged.
            ///
            /// # Parameters
            /// * `ep_handle` - in, an unconnected endpoint with a protection zone, a connect EVD and the EVDs that its
            ///   attributes need.
            /// * `remote_ia_address` - in, a complete IPv4 or IPv6 socket address, whose port is ignored; copied during
            ///   the call.
            /// * `remote_conn_qual` - in, connection qualifier of the service point.
            /// * `timeout` - in, microseconds for the whole establishment, not 0; `DAT_TIMEOUT_INFINITE` if the program
            ///   sets no limit.
            /// * `private_data_size` - in, bytes of `private_data`, at most `max_private_data_size`.
            /// * `private_data` - in, given to the other side with the request; copied during the call.
            /// * `quality_of_service` - in, `DAT_QOS_BEST_EFFORT`.
            /// * `connect_flags` - in, `DAT_CONNECT_DEFAULT_FLAG`.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
            /// | `DAT_MODEL_NOT_SUPPORTED` | a quality of service or a flag that the provider lacks |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7`, `DAT_INVALID_ARG8` | no such quality of service; no such flag |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | the size of the private data is negative or above `max_private_data_size` |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` | the private data is NULL and its size is not 0 |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the address is NULL |
            /// | `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_UNSUPPORTED` | an address of a family that the adapter does not support, or a multicast or broadcast address |
            /// | `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_UNREACHABLE`, `..._MALFORMED` | an address known to be unreachable, or never valid; never from the providers of this project |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | the timeout is 0 |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING`, `..._DISCONNECTED` | the endpoint is in this state, not unconnected |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CONN` | the endpoint has no connect EVD |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_NOTREADY` | the endpoint lacks a protection zone or another EVD |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP`, `DAT_RESOURCE_TEVD`, `DAT_RESOURCE_SRQ` | out of memory, or of resources that the transport needs for the endpoint, its EVDs or its SRQ |
            ///
            /// # Events
            /// One on the connect EVD: `DAT_CONNECTION_EVENT_ESTABLISHED`, or one that gives the reason of the failure.
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ep_connect(3DAT).
            extern "C" fn dat_ep_connect(
                ep_handle: DAT_EP_HANDLE,
                remote_ia_address: DAT_IA_ADDRESS_PTR,
                remote_conn_qual: DAT_CONN_QUAL,
                timeout: DAT_TIMEOUT,
                private_data_size: DAT_COUNT,
                private_data: DAT_PVOID,
                quality_of_service: DAT_QOS,
                connect_flags: DAT_CONNECT_FLAGS,
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Starts to connect an endpoint to the peer of another, connected endpoint, and returns, as dat_ep_connect
            /// does.
            ///
            /// # Parameters
            /// * `ep_handle` - in, an unconnected endpoint, as for dat_ep_connect.
            /// * `ep_dup_handle` - in, a connected endpoint of the same adapter; it is not changed.
            /// * `timeout` - in, microseconds for the whole establishment, not 0; `DAT_TIMEOUT_INFINITE` if the program
            ///   sets no limit.
            /// * `private_data_size` - in, bytes of `private_data`, at most `max_private_data_size`.
            /// * `private_data` - in, given to the other side with the request; copied during the call.
            /// * `quality_of_service` - in, `DAT_QOS_BEST_EFFORT`.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | either is not an endpoint, or they are of different adapters |
            /// | `DAT_MODEL_NOT_SUPPORTED` | a quality of service that the provider lacks |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` | no such quality of service |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | the size of the private data is negative or above `max_private_data_size` |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | the private data is NULL and its size is not 0 |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING`, `..._DISCONNECTED` | `ep_dup_handle` is in this state, not connected |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | the timeout is 0 |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING`, `..._DISCONNECTED` | `ep_handle` is in this state, not unconnected |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CONN` | `ep_handle` has no connect EVD |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_NOTREADY` | `ep_handle` lacks a protection zone or another EVD |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP`, `DAT_RESOURCE_TEVD`, `DAT_RESOURCE_SRQ` | out of memory, or of resources that the transport needs for the endpoint, its EVDs or its SRQ |
            ///
            /// # Events
            /// One on the connect EVD: `DAT_CONNECTION_EVENT_ESTABLISHED`, or one that gives the reason of the failure.
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ep_dup_connect(3DAT).
            extern "C" fn dat_ep_dup_connect(
                ep_handle: DAT_EP_HANDLE,
                ep_dup_handle: DAT_EP_HANDLE,
                timeout: DAT_TIMEOUT,
                private_data_size: DAT_COUNT,
                private_data: DAT_PVOID,
                quality_of_service: DAT_QOS,
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Starts to end a connection, or an attempt at one, and returns. The end comes at once, or after posted
            /// requests are done. Has no effect on a disconnected endpoint, nor, if graceful, on one that is
            /// disconnecting.
            ///
            /// # Parameters
            /// * `ep_handle` - in, the endpoint.
            /// * `close_flags` - in, `DAT_CLOSE_ABRUPT_FLAG` to end it at once, `DAT_CLOSE_GRACEFUL_FLAG` to complete
            ///   posted requests first.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | neither of the two flags |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._TENTCONNPENDING` | the endpoint is in this state: there is nothing to end |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | out of memory; never from the providers of this project |
            ///
            /// # Events
            /// `DAT_CONNECTION_EVENT_DISCONNECTED` on the connect EVD, once at each end.
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ep_disconnect(3DAT).
            extern "C" fn dat_ep_disconnect(
                ep_handle: DAT_EP_HANDLE,
                close_flags: DAT_CLOSE_FLAGS,
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
    };
}
