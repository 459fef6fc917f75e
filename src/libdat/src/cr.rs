//! Connection requests (CR).

use dat_udat12::{DAT_CONN_QUAL, DAT_COUNT, DAT_CR_HANDLE, DAT_CR_PARAM, DAT_CR_PARAM_MASK, DAT_EP_HANDLE, DAT_PVOID};

dispatch! {
    /// Tells who asks for a connection, with what private data, and for which endpoint.
    ///
    /// # Parameters
    /// * `cr_handle` - in, the request, from its event.
    /// * `cr_param_mask` - in, the fields that are wanted, bits of `DAT_CR_FIELD_ALL`.
    /// * `cr_param` - out, the fields; what they point to lives as long as the request.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` | not a request that waits for an answer |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `cr_param` is NULL |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_cr_query(3DAT).
    extern "C" fn dat_cr_query(
        cr_handle: DAT_CR_HANDLE,
        cr_param_mask: DAT_CR_PARAM_MASK,
        cr_param: *mut DAT_CR_PARAM,
    ) as sp => cr_query_func, DAT_INVALID_HANDLE_CR
}

dispatch! {
    /// Accepts a request.
    ///
    /// Starts to complete the connection and returns; the request is gone. On error the request, the
    /// endpoint and the private data are as they were.
    ///
    /// # Parameters
    /// * `cr_handle` - in, the request.
    /// * `ep_handle` - in, an unconnected endpoint with a protection zone and EVDs, or
    ///   `DAT_HANDLE_NULL` when the request brings its own.
    /// * `private_data_size` - in, bytes of `private_data`.
    /// * `private_data` - in, given to the other side; copied during the call.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` | not a request that waits for an answer |
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | no endpoint, one too many, or one that is not ready |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | size negative or above `max_private_data_size` |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | private data NULL and its size not 0 |
    /// | `DAT_INVALID_STATE` / state of the endpoint | the endpoint is not unconnected |
    ///
    /// # Events
    /// On the connect EVD of the endpoint: `DAT_CONNECTION_EVENT_ESTABLISHED`, or
    /// `DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR`.
    ///
    /// # Specification
    /// uDAPL 1.2, dat_cr_accept(3DAT).
    extern "C" fn dat_cr_accept(
        cr_handle: DAT_CR_HANDLE,
        ep_handle: DAT_EP_HANDLE,
        private_data_size: DAT_COUNT,
        private_data: DAT_PVOID,
    ) as sp => cr_accept_func, DAT_INVALID_HANDLE_CR
}

dispatch! {
    /// Rejects a request; the request is gone.
    ///
    /// An endpoint that came with it goes back to where it was before.
    ///
    /// # Parameters
    /// * `cr_handle` - in, the request.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` | not a request that waits for an answer |
    ///
    /// # Events
    /// At the other side: `DAT_CONNECTION_EVENT_PEER_REJECTED`.
    ///
    /// # Specification
    /// uDAPL 1.2, dat_cr_reject(3DAT).
    extern "C" fn dat_cr_reject(cr_handle: DAT_CR_HANDLE)
        as sp => cr_reject_func, DAT_INVALID_HANDLE_CR
}

dispatch! {
    /// Hands a request on to another service point of the same adapter; the request is gone.
    ///
    /// # Parameters
    /// * `cr_handle` - in, the request.
    /// * `handoff` - in, connection qualifier of the other service point.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` | not a request that waits for an answer |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the qualifier cannot be used; the request stays |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_cr_handoff(3DAT).
    extern "C" fn dat_cr_handoff(cr_handle: DAT_CR_HANDLE, handoff: DAT_CONN_QUAL)
        as sp => cr_handoff_func, DAT_INVALID_HANDLE_CR
}
