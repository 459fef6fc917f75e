/// Calls: connection requests. See [`crate::abi`].
///
/// The list `$own` has what a version writes itself.
#[macro_export]
macro_rules! cr_calls {
    ($callback:path, $own:path) => {
        $callback! {
            /// Returns the peer that asks for a connection, its private data, and the endpoint that the request is for.
            ///
            /// # Parameters
            /// * `cr_handle` - in, the request, from its event.
            /// * `cr_param_mask` - in, the requested fields, bits of `DAT_CR_FIELD_ALL`.
            /// * `cr_param` - out, the fields. The memory they point to lives as long as the request; the private data
            ///   may be changed in place.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` | not a request, or answered already |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `cr_param` is NULL |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_cr_query(3DAT).
            extern "C" fn dat_cr_query(
                cr_handle: DAT_CR_HANDLE,
                cr_param_mask: DAT_CR_PARAM_MASK,
                cr_param: *mut DAT_CR_PARAM,
            ) => dispatch(DAT_INVALID_HANDLE_CR);
        }
        $callback! {
            /// Accepts a connection request and starts to complete the connection, without waiting. The request is
            /// gone, the endpoint becomes completion pending, and one event on its connect EVD reports the outcome. On
            /// error the request, the endpoint and the private data are unchanged.
            ///
            /// # Parameters
            /// * `cr_handle` - in, the request.
            /// * `ep_handle` - in, an unconnected endpoint with a protection zone, a connect EVD and the EVDs that its
            ///   attributes need, or `DAT_HANDLE_NULL` when the request brings its own.
            /// * `private_data_size` - in, bytes of `private_data`, at most `max_private_data_size`.
            /// * `private_data` - in, given to the other side with its `DAT_CONNECTION_EVENT_ESTABLISHED`; copied during
            ///   the call.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` | not a request, or answered already |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint of the same adapter; given although the request brings one, or missing although it brings none; it lacks a zone or an EVD |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | the size is negative or above `max_private_data_size` |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | the private data is NULL and its size is not 0 |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING`, `..._DISCONNECTED` | the endpoint given is in this state, not unconnected |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP`, `DAT_RESOURCE_TEVD`, `DAT_RESOURCE_SRQ` | out of memory, or of resources that the transport needs for the endpoint, its EVDs or its SRQ |
            ///
            /// # Events
            /// On the connect EVD of the endpoint: `DAT_CONNECTION_EVENT_ESTABLISHED`, or
            /// `DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR`.
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_cr_accept(3DAT).
            extern "C" fn dat_cr_accept(
                cr_handle: DAT_CR_HANDLE,
                ep_handle: DAT_EP_HANDLE,
                private_data_size: DAT_COUNT,
                private_data: DAT_PVOID,
            ) => dispatch(DAT_INVALID_HANDLE_CR);
        }
        $own!($callback);
        $callback! {
            /// Hands a connection request on to another service point of the same adapter, where it arrives as a new
            /// request. If no service point listens there, the request is refused. The handle is dead in either case.
            ///
            /// # Parameters
            /// * `cr_handle` - in, the request.
            /// * `handoff` - in, connection qualifier of the other service point, not 0.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` | not a request, or answered already |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the qualifier is 0; the request is as before |
            /// | `DAT_MODEL_NOT_SUPPORTED` | 2.0: the request came to a common service point; it is as before |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_cr_handoff(3DAT).
            extern "C" fn dat_cr_handoff(
                cr_handle: DAT_CR_HANDLE,
                handoff: DAT_CONN_QUAL,
            ) => dispatch(DAT_INVALID_HANDLE_CR);
        }
    };
}
