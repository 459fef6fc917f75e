/// Calls: connection requests. See [`crate::abi`].
///
/// The list `$own` has what a version writes itself.
#[macro_export]
macro_rules! cr_calls {
    ($callback:path, $own:path) => {
        $callback! {
            /// Returns the peer that asks for a connection, its private data, and the endpoint that the request is for.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the requested fields are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` - `cr_handle` is not a connection request that still waits for its answer: null, of another kind, or already accepted, rejected or handed off
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `cr_param_mask` has a bit outside `DAT_CR_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `cr_param` is NULL
            extern "C" fn dat_cr_query(
                cr_handle: DAT_CR_HANDLE, "in, the connection request, from a `DAT_CONNECTION_REQUEST_EVENT`.";
                cr_param_mask: DAT_CR_PARAM_MASK,
                    "in, bits `DAT_CR_FIELD_REMOTE_IA_ADDRESS_PTR` (0x01), `DAT_CR_FIELD_REMOTE_PORT_QUAL` (0x02),"
                    "`DAT_CR_FIELD_PRIVATE_DATA_SIZE` (0x04), `DAT_CR_FIELD_PRIVATE_DATA` (0x08),"
                    "`DAT_CR_FIELD_LOCAL_EP_HANDLE` (0x10), or `DAT_CR_FIELD_ALL`.";
                cr_param: *mut DAT_CR_PARAM,
                    "out, a structure of the program. The memory that it points to lives as long as the request; the"
                    "private data may be changed in place.";
            ) => dispatch(DAT_INVALID_HANDLE_CR);
        }
        $callback! {
            /// Accepts a connection request and starts to complete the connection, without waiting. The request is
            /// gone, the endpoint becomes completion pending, and one event on its connect EVD reports the outcome. On
            /// error the request, the endpoint and the private data are unchanged.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the acceptance is sent
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` - `cr_handle` is not a connection request that still waits for its answer: null, of another kind, or already accepted, rejected or handed off
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint of the same adapter; or one is given though the request brings its own, or none though it does not; or the endpoint lacks its zone, its connection dispatcher, or another one that it needs
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `private_data_size` is negative or above the maximum
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `private_data` is NULL with a size above 0
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING`, `..._DISCONNECTED` - the endpoint given is not unconnected
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP`, `DAT_RESOURCE_TEVD`, `DAT_RESOURCE_SRQ` - out of memory, or of what the transport needs for the endpoint, its dispatchers or its shared receive queue
            ///
            /// # Events
            /// On the connect EVD of the endpoint: `DAT_CONNECTION_EVENT_ESTABLISHED`, or
            /// `DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR`.
            extern "C" fn dat_cr_accept(
                cr_handle: DAT_CR_HANDLE, "in, the connection request.";
                ep_handle: DAT_EP_HANDLE,
                    "in, an endpoint in the state `DAT_EP_STATE_UNCONNECTED`, with a protection zone, a connection"
                    "dispatcher and the dispatchers that its attributes need, if the request came without one;"
                    "`DAT_HANDLE_NULL` if it brought its own.";
                private_data_size: DAT_COUNT,
                    "in, bytes of private data for the peer, from 0 to `max_private_data_size` of dat_ia_query.";
                private_data: DAT_PVOID, "in, the bytes; ignored if the size is 0. They are copied during the call.";
            ) => dispatch(DAT_INVALID_HANDLE_CR);
        }
        $own!($callback);
        $callback! {
            /// Hands a connection request on to another service point of the same adapter, where it arrives as a new
            /// request. If no service point listens there, the request is refused. The handle is dead in either case.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the request was passed on
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` - `cr_handle` is not a connection request that still waits for its answer: null, of another kind, or already accepted, rejected or handed off
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `handoff` is 0; the request is as it was
            /// * `DAT_MODEL_NOT_SUPPORTED` - 2.0: the request came to a common service point; it is as before
            extern "C" fn dat_cr_handoff(
                cr_handle: DAT_CR_HANDLE, "in, the connection request.";
                handoff: DAT_CONN_QUAL,
                    "in, qualifier, not 0, of the service point of the same adapter that shall get it.";
            ) => dispatch(DAT_INVALID_HANDLE_CR);
        }
    };
}
