/// Calls: connection requests. See [`crate::abi`].
///
/// The macro `$own` lists the calls whose form depends on the version.
#[macro_export]
macro_rules! cr_calls {
    ($callback:path, $own:path) => {
        $callback! {
            /// Returns the peer that requests a connection, its private data, and the endpoint of the request.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the requested fields are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` - `cr_handle` is not a pending connection request: null, of another kind, or already accepted, rejected or handed off
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `cr_param_mask` has a bit outside `DAT_CR_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `cr_param` is NULL
            extern "C" fn dat_cr_query(
                cr_handle: DAT_CR_HANDLE, "in, the connection request, from a `DAT_CONNECTION_REQUEST_EVENT`.";
                cr_param_mask: DAT_CR_PARAM_MASK,
                    "in, bits `DAT_CR_FIELD_REMOTE_IA_ADDRESS_PTR` (0x01), `DAT_CR_FIELD_REMOTE_PORT_QUAL` (0x02),"
                    "`DAT_CR_FIELD_PRIVATE_DATA_SIZE` (0x04), `DAT_CR_FIELD_PRIVATE_DATA` (0x08),"
                    "`DAT_CR_FIELD_LOCAL_EP_HANDLE` (0x10), or `DAT_CR_FIELD_ALL`.";
                cr_param: *mut DAT_CR_PARAM, "out, structure provided by the program.";
            ) => dispatch(DAT_INVALID_HANDLE_CR);
        }
        $callback! {
            /// Accepts a connection request and returns without waiting for the connection. The call frees the request
            /// and moves the endpoint to DAT_EP_STATE_COMPLETION_PENDING. One event on the connect EVD of the endpoint
            /// reports the outcome. If the call fails, the request, the endpoint and the private data are unchanged.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the acceptance is sent
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` - `cr_handle` is not a pending connection request: null, of another kind, or already accepted, rejected or handed off
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is neither null nor an endpoint of the same adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is null, and the request has no endpoint; or it is not null, and the request has one
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - the endpoint lacks a protection zone, a connection dispatcher, or a dispatcher that its attributes require
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `private_data_size` is negative or above the maximum
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `private_data` is NULL and `private_data_size` is above 0
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING`, `..._DISCONNECTED` - the endpoint is not in the state `DAT_EP_STATE_UNCONNECTED`
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP`, `DAT_RESOURCE_TEVD`, `DAT_RESOURCE_SRQ` - out of memory, or the transport lacks resources for the endpoint, its dispatchers or its shared receive queue
            ///
            /// # Events
            /// On the connect EVD of the endpoint: `DAT_CONNECTION_EVENT_ESTABLISHED`, or
            /// `DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR`.
            extern "C" fn dat_cr_accept(
                cr_handle: DAT_CR_HANDLE, "in, the connection request.";
                ep_handle: DAT_EP_HANDLE,
                    "in, an endpoint in the state `DAT_EP_STATE_UNCONNECTED`. `DAT_HANDLE_NULL` if `local_ep_handle`"
                    "of the request is not null.";
                private_data_size: DAT_COUNT,
                    "in, number of bytes of private data for the peer, from 0 to `max_private_data_size` of"
                    "dat_ia_query.";
                private_data: DAT_PVOID,
                    "in, the private data, which the call copies. Ignored if `private_data_size` is 0.";
            ) => dispatch(DAT_INVALID_HANDLE_CR);
        }
        $own!($callback);
        $callback! {
            /// Hands a connection request off to another service point of the same adapter, where it arrives as a new
            /// request. If no service point listens at the qualifier, the request is refused. In both cases the handle
            /// becomes invalid.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the request was handed off, or refused because no service point at `handoff` can take it
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` - `cr_handle` is not a pending connection request: null, of another kind, or already accepted, rejected or handed off
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `handoff` is 0
            /// * `DAT_MODEL_NOT_SUPPORTED` - 2.0: the request arrived at a common service point
            extern "C" fn dat_cr_handoff(
                cr_handle: DAT_CR_HANDLE, "in, the connection request.";
                handoff: DAT_CONN_QUAL, "in, connection qualifier of another service point of the same adapter; not 0.";
            ) => dispatch(DAT_INVALID_HANDLE_CR);
        }
    };
}
