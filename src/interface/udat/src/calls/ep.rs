/// Calls: endpoints. See [`crate::abi`].
#[macro_export]
macro_rules! ep_calls {
    ($callback:path) => {
        $callback! {
            /// Creates an unconnected endpoint. The zone, the EVDs and the attributes may be NULL; dat_ep_modify can
            /// set them later.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the endpoint exists and is unconnected
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` - `pz_handle` is neither null nor a protection zone of the adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_RECV`, `DAT_INVALID_HANDLE_EVD_REQUEST`, `DAT_INVALID_HANDLE_EVD_CONN` - the dispatcher is neither null nor an event dispatcher of the adapter, or lacks the required flag. A connection dispatcher of another adapter is allowed
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7` - `ep_handle` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - an attribute has an invalid value: an unknown service type or flag, or a number that is negative or above the limit of the adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - `max_recv_dtos` or `max_request_dtos` is above 0 without a dispatcher for that direction, or 0 with one
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - `max_recv_iov` or `max_request_iov` is 0, and that direction has a dispatcher
            /// * `DAT_MODEL_NOT_SUPPORTED` - the adapter does not support the quality of service
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP` - out of memory, or the adapter has `max_eps` endpoints already
            extern "C" fn dat_ep_create(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                pz_handle: DAT_PZ_HANDLE, "in, a protection zone of the adapter, or `DAT_HANDLE_NULL` to set it later.";
                recv_completion_evd_handle: DAT_EVD_HANDLE,
                    "in, dispatcher for receive completions, with `DAT_EVD_DTO_FLAG`, or `DAT_HANDLE_NULL`.";
                request_completion_evd_handle: DAT_EVD_HANDLE,
                    "in, dispatcher for completions of sends, RDMA and binds, with `DAT_EVD_DTO_FLAG`, or"
                    "`DAT_HANDLE_NULL`.";
                connect_evd_handle: DAT_EVD_HANDLE,
                    "in, dispatcher for connection events, with `DAT_EVD_CONNECTION_FLAG`, or `DAT_HANDLE_NULL` to set"
                    "it later. It may belong to any open adapter of the provider; when that adapter is closed, the"
                    "endpoint loses the dispatcher.";
                ep_attributes: *const DAT_EP_ATTR,
                    "in, the requested attributes, or NULL for the defaults, with which the endpoint can perform every"
                    "operation that its dispatchers allow.";
                ep_handle: *mut DAT_EP_HANDLE, "out, the new endpoint; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Creates an unconnected endpoint that takes its receive buffers from an SRQ. In uDAPL 1.2 the attributes
            /// are mandatory. Their max_recv_dtos and srq_soft_hw are the hard and soft high watermarks of the
            /// endpoint.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the endpoint exists, is unconnected, and is attached to the queue
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` - `pz_handle` is neither null nor a protection zone of the adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_RECV`, `DAT_INVALID_HANDLE_EVD_REQUEST`, `DAT_INVALID_HANDLE_EVD_CONN` - the dispatcher is neither null nor an event dispatcher of the adapter, or lacks the required flag. A connection dispatcher of another adapter is allowed
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` - `srq_handle` is not a shared receive queue of the adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - the zones of the endpoint and the queue differ, and `srq_ep_pz_difference_supported` of the adapter is false
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7` - `ep_attributes` is NULL in uDAPL 1.2, or an attribute is invalid or above the limit of the adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7` - `max_request_dtos` is above 0 without a request dispatcher, or 0 with one
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG8` - `ep_handle` is NULL
            /// * `DAT_MODEL_NOT_SUPPORTED` - the provider does not support the quality of service, shared receive queues, or a requested watermark
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP`, `DAT_RESOURCE_SRQ` - out of memory, the adapter has `max_eps` endpoints already, or the queue has `max_ep_per_srq` endpoints already
            extern "C" fn dat_ep_create_with_srq(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                pz_handle: DAT_PZ_HANDLE,
                    "in, a protection zone of the adapter, or `DAT_HANDLE_NULL` to set it later. It applies to all"
                    "operations except receives. It may differ from the zone of the queue if the provider attribute"
                    "srq_ep_pz_difference_supported is true.";
                recv_evd_handle: DAT_EVD_HANDLE,
                    "in, dispatcher for receive completions, with `DAT_EVD_DTO_FLAG`, or `DAT_HANDLE_NULL` to set it"
                    "later.";
                request_evd_handle: DAT_EVD_HANDLE,
                    "in, dispatcher for completions of sends, RDMA and binds, with `DAT_EVD_DTO_FLAG`, or"
                    "`DAT_HANDLE_NULL`.";
                connect_evd_handle: DAT_EVD_HANDLE,
                    "in, dispatcher for connection events, with `DAT_EVD_CONNECTION_FLAG`, or `DAT_HANDLE_NULL` to set"
                    "it later. It may belong to any open adapter of the provider; when that adapter is closed, the"
                    "endpoint loses the dispatcher.";
                srq_handle: DAT_SRQ_HANDLE,
                    "in, the shared receive queue, to which the endpoint stays attached until the endpoint is freed.";
                ep_attributes: *const DAT_EP_ATTR,
                    "in, the requested attributes. NULL is invalid in uDAPL 1.2; in uDAPL 2.0 it selects the defaults,"
                    "without watermarks.";
                ep_handle: *mut DAT_EP_HANDLE, "out, the new endpoint; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Returns the selected parameters of an endpoint: its state, addresses, objects and attributes.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the requested fields are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `ep_param_mask` has a bit outside `DAT_EP_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `ep_param` is NULL
            extern "C" fn dat_ep_query(
                ep_handle: DAT_EP_HANDLE, "in, the endpoint, in any state.";
                ep_param_mask: DAT_EP_PARAM_MASK,
                    "in, mask of the requested fields: bits DAT_EP_FIELD_..., which dat_ep_modify lists."
                    "`DAT_EP_FIELD_EP_ATTR_ALL` selects all attributes, `DAT_EP_FIELD_ALL` all fields.";
                ep_param: *mut DAT_EP_PARAM, "out, structure provided by the program.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Changes the selected parameters of an endpoint: all of them, or none on error. A table in the manual
            /// page shows which parameter can be changed in which state. In these states, the call accepts every value
            /// that dat_ep_query returned. On an endpoint with a shared receive queue, max_recv_dtos is the hard high
            /// watermark.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - all parameters that the mask selects have their new values; a mask of 0 selects none
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `ep_param` is NULL and the mask is not 0
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - the mask has an undefined bit (0x800 or above 0x7FFFFFFF), or selects a parameter that cannot be changed in any state (P in the table). Exempt is the present value of `srq_soft_hw`
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING`, `..._DISCONNECTED` - a selected parameter cannot be changed in this state (S in the table)
            /// * `DAT_INVALID_STATE` - `recv_completion_flags` would change, and a receive is posted
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - a selected parameter has an invalid or unsupported value, for example an invalid handle
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `pz_handle` is not the zone of the endpoint's shared receive queue, and `srq_ep_pz_difference_supported` of the adapter is false
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `max_recv_dtos` is below the number of posted receives, or `max_recv_iov` is below the number of segments of a posted receive
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `recv_evd_handle` is `DAT_HANDLE_NULL`, and a receive is posted
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `max_recv_dtos` or `max_request_dtos` changes to a number above 0, and the endpoint would have no dispatcher for that direction. `DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING` is exempt
            /// * `DAT_COMM_NOT_SUPPORTED` - 2.0: the adapter does not support the communicator
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - out of memory for the requested number of receives or requests
            ///
            /// The call checks the conditions in the order of this list.
            extern "C" fn dat_ep_modify(
                ep_handle: DAT_EP_HANDLE, "in, the endpoint.";
                ep_param_mask: DAT_EP_PARAM_MASK,
                    "in, mask of the parameters to change: bits DAT_EP_FIELD_... from the table below. 0 changes"
                    "nothing.";
                ep_param: *const DAT_EP_PARAM,
                    "in, the new values. The call reads only the fields that the mask selects. May be NULL if the mask"
                    "is 0.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Returns the state of an endpoint, and whether receives and requests are outstanding. Each result
            /// pointer may be NULL.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the requested values are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            extern "C" fn dat_ep_get_status(
                ep_handle: DAT_EP_HANDLE, "in, the endpoint, in any state.";
                ep_state: *mut DAT_EP_STATE, "out, state of the endpoint; may be NULL.";
                recv_idle: *mut DAT_BOOLEAN, "out, `DAT_TRUE` if no receive is outstanding; may be NULL.";
                request_idle: *mut DAT_BOOLEAN,
                    "out, `DAT_TRUE` if no send, RDMA operation or bind is outstanding; may be NULL.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Returns the number of receive buffers that an endpoint holds. Either result pointer may be NULL. A
            /// provider that does not know a number returns DAT_VALUE_UNKNOWN.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the requested values are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_MODEL_NOT_SUPPORTED` - the provider supports neither value; never from the providers of this project
            extern "C" fn dat_ep_recv_query(
                ep_handle: DAT_EP_HANDLE, "in, the endpoint, in any state.";
                nbufs_allocated: *mut DAT_COUNT,
                    "out, number of receive buffers that the endpoint holds and that have no completion yet: posted to"
                    "the endpoint, or taken from a shared receive queue. May be NULL.";
                bufs_alloc_span: *mut DAT_COUNT,
                    "out, number of receive completions that the endpoint would generate if all messages in progress"
                    "were complete. May be NULL.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Sets and arms the high watermarks for the number of receive buffers that an endpoint holds. If the
            /// number exceeds the soft watermark, one asynchronous event is raised; if it exceeds the hard watermark,
            /// the connection breaks. DAT_WATERMARK_INFINITE disables a watermark.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - both watermarks are set
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `soft_high_watermark` is negative and not `DAT_WATERMARK_INFINITE`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `hard_high_watermark` is negative and not `DAT_WATERMARK_INFINITE`
            /// * `DAT_MODEL_NOT_SUPPORTED` - the endpoint does not have the watermark: in uDAPL 2.0, the hard one of an endpoint for datagrams
            ///
            /// # Events
            /// Soft: on the EVD for asynchronous events `DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR`, `dat_handle` the
            /// endpoint, `reason` `DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT`. Hard: `DAT_CONNECTION_EVENT_BROKEN` on the connect
            /// EVD.
            extern "C" fn dat_ep_set_watermark(
                ep_handle: DAT_EP_HANDLE, "in, the endpoint, in any state.";
                soft_high_watermark: DAT_COUNT,
                    "in, number of buffers above which one event is raised: 0 or more, or `DAT_WATERMARK_INFINITE`"
                    "(-1) to disable the watermark.";
                hard_high_watermark: DAT_COUNT,
                    "in, number of buffers above which the connection breaks: 0 or more, or `DAT_WATERMARK_INFINITE`"
                    "(-1) to disable the watermark.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Returns a disconnected endpoint to the state DAT_EP_STATE_UNCONNECTED, in which it can connect again.
            /// Completions that have not been dequeued may be lost. The call has no effect on an unconnected endpoint.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the endpoint is unconnected
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING` - the endpoint is neither disconnected nor unconnected
            extern "C" fn dat_ep_reset(
                ep_handle: DAT_EP_HANDLE, "in, the endpoint, disconnected or unconnected.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Destroys an endpoint. Its connection ends abruptly, and outstanding operations are flushed.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the endpoint is freed and its handle is invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._TENTCONNPENDING` - the endpoint belongs to a service point or to a pending connection request
            extern "C" fn dat_ep_free(
                ep_handle: DAT_EP_HANDLE, "in, the endpoint.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
    };
}
