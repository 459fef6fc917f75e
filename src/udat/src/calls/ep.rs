/// Calls: endpoints. See [`crate::abi`].
#[macro_export]
macro_rules! ep_calls {
    ($callback:path) => {
        $callback! {
            /// Makes an unconnected endpoint. Zone, EVDs and attributes may be NULL and be set by dat_ep_modify.
            ///
            /// # Parameters
            /// * `ia_handle` - in, the adapter that it belongs to.
            /// * `pz_handle` - in, its protection zone, or `DAT_HANDLE_NULL`.
            /// * `recv_completion_evd_handle`, `request_completion_evd_handle` - in, the EVDs for completions, with
            ///   `DAT_EVD_DTO_FLAG`, or `DAT_HANDLE_NULL`.
            /// * `connect_evd_handle` - in, the EVD for connection events, with `DAT_EVD_CONNECTION_FLAG`, or
            ///   `DAT_HANDLE_NULL`.
            /// * `ep_attributes` - in, the attributes that it needs; NULL for defaults with which it can do everything
            ///   that its EVDs allow. 0 asks for the default where a 0 would make no sense: sizes, segments of RDMA.
            /// * `ep_handle` - out, the endpoint; written only on success.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` | neither NULL nor a protection zone of the adapter |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_RECV`, `DAT_INVALID_HANDLE_EVD_REQUEST`, `DAT_INVALID_HANDLE_EVD_CONN` | neither NULL nor an EVD with that flag, of the adapter or, for connections, of any of the provider |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7` | `ep_handle` is NULL |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` | an attribute is invalid or above the adapter's limit; receives or requests without an EVD, or an EVD without them |
            /// | `DAT_MODEL_NOT_SUPPORTED` | a quality of service other than best effort |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP` | out of memory; the adapter has no endpoint left |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ep_create(3DAT).
            extern "C" fn dat_ep_create(
                ia_handle: DAT_IA_HANDLE,
                pz_handle: DAT_PZ_HANDLE,
                recv_completion_evd_handle: DAT_EVD_HANDLE,
                request_completion_evd_handle: DAT_EVD_HANDLE,
                connect_evd_handle: DAT_EVD_HANDLE,
                ep_attributes: *const DAT_EP_ATTR,
                ep_handle: *mut DAT_EP_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Makes an unconnected endpoint that takes its receive buffers from an SRQ. In uDAPL 1.2 the attributes are
            /// mandatory; max_recv_dtos and srq_soft_hw in them are its hard and soft high watermarks.
            ///
            /// # Parameters
            /// * `ia_handle` - in, the adapter that it belongs to.
            /// * `pz_handle` - in, its protection zone, or `DAT_HANDLE_NULL`; may differ from that of the SRQ, and
            ///   governs everything but receives.
            /// * `recv_evd_handle`, `request_evd_handle` - in, the EVDs for completions, with `DAT_EVD_DTO_FLAG`, or
            ///   `DAT_HANDLE_NULL`.
            /// * `connect_evd_handle` - in, the EVD for connection events, with `DAT_EVD_CONNECTION_FLAG`, or
            ///   `DAT_HANDLE_NULL`.
            /// * `srq_handle` - in, the SRQ, which the endpoint uses until it is freed.
            /// * `ep_attributes` - in, as for dat_ep_create; in uDAPL 2.0 NULL for the defaults, without watermarks. For both
            ///   watermarks `DAT_HW_DEFAULT` means none; `max_recv_iov` is ignored.
            /// * `ep_handle` - out, the endpoint; written only on success.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` | neither NULL nor a protection zone of the adapter |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_RECV`, `DAT_INVALID_HANDLE_EVD_REQUEST`, `DAT_INVALID_HANDLE_EVD_CONN` | neither NULL nor an EVD with that flag, of the adapter or, for connections, of any of the provider |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` | not an SRQ of the adapter |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | a zone other than that of the SRQ, where the provider does not allow it; never from the providers of this project |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7` | 1.2: `ep_attributes` is NULL; an attribute is invalid or above the adapter's limit; requests without an EVD, or an EVD without them |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG8` | `ep_handle` is NULL |
            /// | `DAT_MODEL_NOT_SUPPORTED` | a quality of service other than best effort; SRQs or watermarks that the provider lacks |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP`, `DAT_RESOURCE_SRQ` | out of memory; the adapter has no endpoint left; `max_ep_per_srq` endpoints use the SRQ |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ep_create_with_srq(3DAT).
            extern "C" fn dat_ep_create_with_srq(
                ia_handle: DAT_IA_HANDLE,
                pz_handle: DAT_PZ_HANDLE,
                recv_evd_handle: DAT_EVD_HANDLE,
                request_evd_handle: DAT_EVD_HANDLE,
                connect_evd_handle: DAT_EVD_HANDLE,
                srq_handle: DAT_SRQ_HANDLE,
                ep_attributes: *const DAT_EP_ATTR,
                ep_handle: *mut DAT_EP_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Returns the state, the addresses, the objects and the attributes of an endpoint, as far as the mask
            /// selects them.
            ///
            /// # Parameters
            /// * `ep_handle` - in, the endpoint, in any state.
            /// * `ep_param_mask` - in, the requested fields, bits of `DAT_EP_FIELD_ALL`.
            /// * `ep_param` - out, the fields. The local address stays in place as long as the adapter is open; the
            ///   remote one until the endpoint connects to another peer, is reset or freed. The remote one is NULL
            ///   until there is a peer.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `ep_param` is NULL |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ep_query(3DAT).
            extern "C" fn dat_ep_query(
                ep_handle: DAT_EP_HANDLE,
                ep_param_mask: DAT_EP_PARAM_MASK,
                ep_param: *mut DAT_EP_PARAM,
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Changes the chosen fields of an endpoint: all of them, or none on error. A table in the manual page
            /// shows which field can change in which state.
            ///
            /// # Parameters
            /// * `ep_handle` - in, the endpoint.
            /// * `ep_param_mask` - in, the fields to change, bits of `DAT_EP_FIELD_ALL`; 0 changes nothing.
            /// * `ep_param` - in, the new values; only the chosen fields are read. May be NULL if the mask is 0.
            ///
            /// # Errors
            /// The causes are checked in this order.
            ///
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `ep_param` is NULL although fields are chosen |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits, or a field that never changes |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING`, `..._DISCONNECTED` | a field that cannot change in this state |
            /// | `DAT_INVALID_STATE` | the receive completion flags, when receives are posted |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | a value that is invalid, handles included |
            /// | `DAT_COMM_NOT_SUPPORTED` | 2.0: a kind of communication that the provider lacks |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | out of memory |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ep_modify(3DAT).
            extern "C" fn dat_ep_modify(
                ep_handle: DAT_EP_HANDLE,
                ep_param_mask: DAT_EP_PARAM_MASK,
                ep_param: *const DAT_EP_PARAM,
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Returns the state of an endpoint and whether receives and requests are outstanding. Every result may be
            /// NULL.
            ///
            /// # Parameters
            /// * `ep_handle` - in, the endpoint, in any state.
            /// * `ep_state` - out, its state.
            /// * `recv_idle` - out, whether no receive is outstanding.
            /// * `request_idle` - out, whether no request is outstanding.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ep_get_status(3DAT).
            extern "C" fn dat_ep_get_status(
                ep_handle: DAT_EP_HANDLE,
                ep_state: *mut DAT_EP_STATE,
                recv_idle: *mut DAT_BOOLEAN,
                request_idle: *mut DAT_BOOLEAN,
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Counts the receive buffers that an endpoint holds. Either result may be NULL; a count that a provider
            /// does not know is DAT_VALUE_UNKNOWN.
            ///
            /// # Parameters
            /// * `ep_handle` - in, the endpoint, in any state.
            /// * `nbufs_allocated` - out, buffers without completion: posted ones, or those taken from an SRQ.
            /// * `bufs_alloc_span` - out, receive completions that there will be when all messages that are arriving in
            ///   those buffers are complete.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
            /// | `DAT_MODEL_NOT_SUPPORTED` | the provider knows neither count; never from the providers of this project |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ep_recv_query(3DAT).
            extern "C" fn dat_ep_recv_query(
                ep_handle: DAT_EP_HANDLE,
                nbufs_allocated: *mut DAT_COUNT,
                bufs_alloc_span: *mut DAT_COUNT,
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Sets and arms the high watermarks on the receive buffers that an endpoint holds. Passing the soft one
            /// raises one asynchronous event; passing the hard one breaks the connection. DAT_WATERMARK_INFINITE means
            /// none.
            ///
            /// # Parameters
            /// * `ep_handle` - in, the endpoint, in any state.
            /// * `soft_high_watermark` - in, buffers above which the event comes, once.
            /// * `hard_high_watermark` - in, buffers above which the connection is broken.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2`, `DAT_INVALID_ARG3` | that watermark is negative and not `DAT_WATERMARK_INFINITE` |
            /// | `DAT_MODEL_NOT_SUPPORTED` | the provider has no such watermarks; never from the providers of this project |
            ///
            /// # Events
            /// Soft: on the EVD for asynchronous events `DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR`, `dat_handle` the
            /// endpoint, `reason` `DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT`. Hard: `DAT_CONNECTION_EVENT_BROKEN` on the connect
            /// EVD.
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ep_set_watermark(3DAT).
            extern "C" fn dat_ep_set_watermark(
                ep_handle: DAT_EP_HANDLE,
                soft_high_watermark: DAT_COUNT,
                hard_high_watermark: DAT_COUNT,
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Makes a disconnected endpoint unconnected, ready for another connection. Completions that were not
            /// dequeued may be lost. Has no effect on an unconnected endpoint.
            ///
            /// # Parameters
            /// * `ep_handle` - in, a disconnected or unconnected endpoint.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING` | the endpoint is in this state, neither disconnected nor unconnected |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ep_reset(3DAT).
            extern "C" fn dat_ep_reset(
                ep_handle: DAT_EP_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Destroys an endpoint. A connection ends abruptly, and outstanding work is flushed.
            ///
            /// # Parameters
            /// * `ep_handle` - in, the endpoint.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._TENTCONNPENDING` | a service point or an unanswered connection request holds it |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ep_free(3DAT).
            extern "C" fn dat_ep_free(
                ep_handle: DAT_EP_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
    };
}
