//! Endpoints (EP). Posting is in [`fast`](crate::fast).

use dat_udat12::{
    DAT_BOOLEAN, DAT_CLOSE_FLAGS, DAT_CONN_QUAL, DAT_CONNECT_FLAGS, DAT_COUNT, DAT_EP_ATTR, DAT_EP_HANDLE,
    DAT_EP_PARAM, DAT_EP_PARAM_MASK, DAT_EP_STATE, DAT_EVD_HANDLE, DAT_IA_ADDRESS_PTR, DAT_IA_HANDLE, DAT_PVOID,
    DAT_PZ_HANDLE, DAT_QOS, DAT_SRQ_HANDLE, DAT_TIMEOUT,
};

dispatch! {
    /// Makes an unconnected endpoint.
    ///
    /// # Parameters
    /// * `ia_handle` - in, the IA it belongs to.
    /// * `pz_handle` - in, its protection zone, or `DAT_HANDLE_NULL` to be set by dat_ep_modify.
    /// * `recv_completion_evd_handle`, `request_completion_evd_handle`, `connect_evd_handle` - in, the
    ///   EVDs that it feeds, each of which may be `DAT_HANDLE_NULL`.
    /// * `ep_attributes` - in, what it must be able to do; NULL for the provider's choice.
    /// * `ep_handle` - out, the endpoint; written only on success.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open IA |
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` | not a protection zone |
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_RECV`, `DAT_INVALID_HANDLE_EVD_REQUEST`, `DAT_INVALID_HANDLE_EVD_CONN` | not an EVD for such events |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` | attributes not acceptable |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7` | `ep_handle` is NULL |
    /// | `DAT_MODEL_NOT_SUPPORTED` | attributes that the provider lacks |
    /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP` | out of memory or of endpoints |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_ep_create(3DAT).
    extern "C" fn dat_ep_create(
        ia_handle: DAT_IA_HANDLE,
        pz_handle: DAT_PZ_HANDLE,
        recv_completion_evd_handle: DAT_EVD_HANDLE,
        request_completion_evd_handle: DAT_EVD_HANDLE,
        connect_evd_handle: DAT_EVD_HANDLE,
        ep_attributes: *const DAT_EP_ATTR,
        ep_handle: *mut DAT_EP_HANDLE,
    ) as ep => ep_create_func, DAT_INVALID_HANDLE_IA
}

dispatch! {
    /// Makes an unconnected endpoint that takes its receive buffers from a shared receive queue.
    ///
    /// # Parameters
    /// * `ia_handle` - in, the IA it belongs to.
    /// * `pz_handle` - in, its protection zone, or `DAT_HANDLE_NULL`; may differ from that of the queue
    ///   if the adapter supports that.
    /// * `recv_evd_handle`, `request_evd_handle`, `connect_evd_handle` - in, the EVDs that it feeds,
    ///   each of which may be `DAT_HANDLE_NULL`.
    /// * `srq_handle` - in, the queue.
    /// * `ep_attributes` - in, what it must be able to do; mandatory. `max_recv_dtos` and `srq_soft_hw`
    ///   are its hard and soft high watermarks.
    /// * `ep_handle` - out, the endpoint; written only on success.
    ///
    /// # Errors
    /// Those of [`dat_ep_create`], and:
    ///
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` | not a shared receive queue |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | a protection zone that the queue does not admit |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7` | attributes NULL or not acceptable |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG8` | `ep_handle` is NULL |
    /// | `DAT_MODEL_NOT_SUPPORTED` | the provider has no such queues, or no such watermarks |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_ep_create_with_srq(3DAT).
    extern "C" fn dat_ep_create_with_srq(
        ia_handle: DAT_IA_HANDLE,
        pz_handle: DAT_PZ_HANDLE,
        recv_evd_handle: DAT_EVD_HANDLE,
        request_evd_handle: DAT_EVD_HANDLE,
        connect_evd_handle: DAT_EVD_HANDLE,
        srq_handle: DAT_SRQ_HANDLE,
        ep_attributes: *const DAT_EP_ATTR,
        ep_handle: *mut DAT_EP_HANDLE,
    ) as ep => ep_create_with_srq_func, DAT_INVALID_HANDLE_IA
}

dispatch! {
    /// Tells the state, the addresses, the objects and the attributes of an endpoint.
    ///
    /// # Parameters
    /// * `ep_handle` - in, the endpoint, in any state.
    /// * `ep_param_mask` - in, the fields that are wanted, bits of `DAT_EP_FIELD_ALL`.
    /// * `ep_param` - out, the fields.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `ep_param` is NULL |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_ep_query(3DAT).
    extern "C" fn dat_ep_query(
        ep_handle: DAT_EP_HANDLE,
        ep_param_mask: DAT_EP_PARAM_MASK,
        ep_param: *mut DAT_EP_PARAM,
    ) as ep => ep_query_func, DAT_INVALID_HANDLE_EP
}

dispatch! {
    /// Changes fields of an endpoint: all those chosen, or none.
    ///
    /// Which field can be changed in which state is a table in the specification.
    ///
    /// # Parameters
    /// * `ep_handle` - in, the endpoint.
    /// * `ep_param_mask` - in, the fields to change; no others are read.
    /// * `ep_param` - in, the new values.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits, or a field that never changes |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `ep_param` NULL, or a value not acceptable |
    /// | `DAT_INVALID_STATE` / state of the endpoint | a field that cannot change in this state |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_ep_modify(3DAT).
    extern "C" fn dat_ep_modify(
        ep_handle: DAT_EP_HANDLE,
        ep_param_mask: DAT_EP_PARAM_MASK,
        ep_param: *const DAT_EP_PARAM,
    ) as ep => ep_modify_func, DAT_INVALID_HANDLE_EP
}

dispatch! {
    /// Starts to connect an endpoint to a service point, and returns.
    ///
    /// # Parameters
    /// * `ep_handle` - in, an unconnected endpoint with a protection zone and EVDs.
    /// * `remote_ia_address` - in, a socket address; copied during the call.
    /// * `remote_conn_qual` - in, connection qualifier of the service point.
    /// * `timeout` - in, microseconds for the whole of it, not 0; `DAT_TIMEOUT_INFINITE` for no limit.
    /// * `private_data_size` - in, bytes of `private_data`.
    /// * `private_data` - in, given to the other side with the request; copied during the call.
    /// * `quality_of_service` - in, bits of `DAT_QOS`.
    /// * `connect_flags` - in, `DAT_CONNECT_DEFAULT_FLAG` or `DAT_CONNECT_MULTIPATH_FLAG`.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CONN` | it has no connect EVD |
    /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_NOTREADY` | it lacks a protection zone or an EVD |
    /// | `DAT_INVALID_STATE` / state of the endpoint | not unconnected |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2`, `DAT_INVALID_ARG4` | no address; a timeout of 0 |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5`, `DAT_INVALID_ARG6` | size of the private data; the data NULL |
    /// | `DAT_INVALID_ADDRESS` | an address that cannot be used |
    /// | `DAT_MODEL_NOT_SUPPORTED` | a quality of service or a flag that the provider lacks |
    /// | `DAT_INSUFFICIENT_RESOURCES` | out of memory or of endpoints of the adapter |
    ///
    /// # Events
    /// One on the connect EVD: `DAT_CONNECTION_EVENT_ESTABLISHED`, or one that tells why not.
    ///
    /// # Specification
    /// uDAPL 1.2, dat_ep_connect(3DAT).
    extern "C" fn dat_ep_connect(
        ep_handle: DAT_EP_HANDLE,
        remote_ia_address: DAT_IA_ADDRESS_PTR,
        remote_conn_qual: DAT_CONN_QUAL,
        timeout: DAT_TIMEOUT,
        private_data_size: DAT_COUNT,
        private_data: DAT_PVOID,
        quality_of_service: DAT_QOS,
        connect_flags: DAT_CONNECT_FLAGS,
    ) as ep => ep_connect_func, DAT_INVALID_HANDLE_EP
}

dispatch! {
    /// Starts to connect an endpoint to where another one is connected, and returns.
    ///
    /// # Parameters
    /// * `ep_handle` - in, an unconnected endpoint.
    /// * `ep_dup_handle` - in, a connected endpoint.
    /// * `timeout` - in, microseconds for the whole of it, not 0; `DAT_TIMEOUT_INFINITE` for no limit.
    /// * `private_data_size` - in, bytes of `private_data`.
    /// * `private_data` - in, given to the other side with the request; copied during the call.
    /// * `quality_of_service` - in, bits of `DAT_QOS`.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | either is not an endpoint |
    /// | `DAT_INVALID_STATE` / state of the endpoint | the first is not unconnected, or the second not connected |
    /// | `DAT_INVALID_PARAMETER` | timeout or private data |
    /// | `DAT_MODEL_NOT_SUPPORTED`, `DAT_INSUFFICIENT_RESOURCES` | as for [`dat_ep_connect`] |
    ///
    /// # Events
    /// As for [`dat_ep_connect`].
    ///
    /// # Specification
    /// uDAPL 1.2, dat_ep_dup_connect(3DAT).
    extern "C" fn dat_ep_dup_connect(
        ep_handle: DAT_EP_HANDLE,
        ep_dup_handle: DAT_EP_HANDLE,
        timeout: DAT_TIMEOUT,
        private_data_size: DAT_COUNT,
        private_data: DAT_PVOID,
        quality_of_service: DAT_QOS,
    ) as ep => ep_dup_connect_func, DAT_INVALID_HANDLE_EP
}

dispatch! {
    /// Starts to end a connection, or an attempt at one, and returns.
    ///
    /// Without effect on a disconnected endpoint, and, if graceful, on one that is disconnecting.
    ///
    /// # Parameters
    /// * `ep_handle` - in, the endpoint.
    /// * `close_flags` - in, `DAT_CLOSE_ABRUPT_FLAG`, or `DAT_CLOSE_GRACEFUL_FLAG` to let posted
    ///   requests finish first.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | neither of the two flags |
    /// | `DAT_INVALID_STATE` / state of the endpoint | there is nothing to end |
    /// | `DAT_INSUFFICIENT_RESOURCES` | out of memory |
    ///
    /// # Events
    /// `DAT_CONNECTION_EVENT_DISCONNECTED` on the connect EVD, once.
    ///
    /// # Specification
    /// uDAPL 1.2, dat_ep_disconnect(3DAT).
    extern "C" fn dat_ep_disconnect(ep_handle: DAT_EP_HANDLE, close_flags: DAT_CLOSE_FLAGS)
        as ep => ep_disconnect_func, DAT_INVALID_HANDLE_EP
}

dispatch! {
    /// Tells the state of an endpoint, and whether anything posted to it is outstanding.
    ///
    /// # Parameters
    /// * `ep_handle` - in, the endpoint.
    /// * `ep_state` - out, its state; may be NULL.
    /// * `recv_idle` - out, whether no receive is outstanding; may be NULL.
    /// * `request_idle` - out, whether no other operation is outstanding; may be NULL.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_ep_get_status(3DAT).
    extern "C" fn dat_ep_get_status(
        ep_handle: DAT_EP_HANDLE,
        ep_state: *mut DAT_EP_STATE,
        recv_idle: *mut DAT_BOOLEAN,
        request_idle: *mut DAT_BOOLEAN,
    ) as ep => ep_get_status_func, DAT_INVALID_HANDLE_EP
}

dispatch! {
    /// Makes a disconnected endpoint an unconnected one.
    ///
    /// Completions that were not dequeued may be lost.
    ///
    /// # Parameters
    /// * `ep_handle` - in, a disconnected or unconnected endpoint.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
    /// | `DAT_INVALID_STATE` / state of the endpoint | neither disconnected nor unconnected |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_ep_reset(3DAT).
    extern "C" fn dat_ep_reset(ep_handle: DAT_EP_HANDLE)
        as ep => ep_reset_func, DAT_INVALID_HANDLE_EP
}

dispatch! {
    /// Destroys an endpoint; a connection ends abruptly.
    ///
    /// # Parameters
    /// * `ep_handle` - in, the endpoint.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
    /// | `DAT_INVALID_STATE` / state of the endpoint | reserved, or a request for it waits for an answer |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_ep_free(3DAT).
    extern "C" fn dat_ep_free(ep_handle: DAT_EP_HANDLE)
        as ep => ep_free_func, DAT_INVALID_HANDLE_EP
}

dispatch! {
    /// Counts the receive buffers that an endpoint holds.
    ///
    /// # Parameters
    /// * `ep_handle` - in, the endpoint.
    /// * `nbufs_allocated` - out, buffers at the endpoint that have not completed; may be NULL.
    /// * `bufs_alloc_span` - out, receives that would have completed if all messages under way were
    ///   done; may be NULL.
    ///
    /// A count that the provider cannot tell is `DAT_VALUE_UNKNOWN`.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
    /// | `DAT_MODEL_NOT_SUPPORTED` | the provider does not count |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_ep_recv_query(3DAT).
    extern "C" fn dat_ep_recv_query(
        ep_handle: DAT_EP_HANDLE,
        nbufs_allocated: *mut DAT_COUNT,
        bufs_alloc_span: *mut DAT_COUNT,
    ) as ep => ep_recv_query_func, DAT_INVALID_HANDLE_EP
}

dispatch! {
    /// Sets and arms the high watermarks of an endpoint on a shared receive queue.
    ///
    /// # Parameters
    /// * `ep_handle` - in, the endpoint.
    /// * `soft_high_watermark` - in, buffers above which there is an event; `DAT_WATERMARK_INFINITE`
    ///   for none.
    /// * `hard_high_watermark` - in, buffers above which the connection is broken;
    ///   `DAT_WATERMARK_INFINITE` for none.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2`, `DAT_INVALID_ARG3` | a value not acceptable |
    /// | `DAT_MODEL_NOT_SUPPORTED` | the provider has no such watermarks |
    ///
    /// # Events
    /// Soft: one on the EVD for asynchronous events. Hard: `DAT_CONNECTION_EVENT_BROKEN`.
    ///
    /// # Specification
    /// uDAPL 1.2, dat_ep_set_watermark(3DAT).
    extern "C" fn dat_ep_set_watermark(
        ep_handle: DAT_EP_HANDLE,
        soft_high_watermark: DAT_COUNT,
        hard_high_watermark: DAT_COUNT,
    ) as ep => ep_set_watermark_func, DAT_INVALID_HANDLE_EP
}
