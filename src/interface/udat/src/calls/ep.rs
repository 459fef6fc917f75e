/// Calls: endpoints. See [`crate::abi`].
#[macro_export]
macro_rules! ep_calls {
    ($callback:path) => {
        $callback! {
            /// Makes an unconnected endpoint. Zone, EVDs and attributes may be NULL and be set by dat_ep_modify.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the endpoint exists and is unconnected
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` - `pz_handle` is neither null nor a protection zone of the adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_RECV`, `DAT_INVALID_HANDLE_EVD_REQUEST`, `DAT_INVALID_HANDLE_EVD_CONN` - that dispatcher is neither null nor valid, lacks the flag it needs, or belongs to another adapter; the one for connection events may do that
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7` - `ep_handle` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - an attribute cannot be had: another service type; an unknown bit in `qos` or in the completion flags; a number that is negative or above what dat_ia_query reports; 0 segments; operations in a direction that has no dispatcher, or a dispatcher and no operations
            /// * `DAT_MODEL_NOT_SUPPORTED` - the provider does not have the quality of service or the completion flag asked for
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP` - out of memory, or the adapter has no endpoint left
            extern "C" fn dat_ep_create(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                pz_handle: DAT_PZ_HANDLE, "in, its protection zone, or `DAT_HANDLE_NULL` for now.";
                recv_completion_evd_handle: DAT_EVD_HANDLE,
                    "in, dispatcher for receive completions, with `DAT_EVD_DTO_FLAG`, or `DAT_HANDLE_NULL`.";
                request_completion_evd_handle: DAT_EVD_HANDLE,
                    "in, dispatcher for completions of sends, RDMA and binds, with `DAT_EVD_DTO_FLAG`, or"
                    "`DAT_HANDLE_NULL`.";
                connect_evd_handle: DAT_EVD_HANDLE,
                    "in, dispatcher for connection events, with `DAT_EVD_CONNECTION_FLAG`, or `DAT_HANDLE_NULL` for"
                    "now. It may be one of any open adapter of the provider; when that is closed under it, the"
                    "endpoint has none.";
                ep_attributes: *const DAT_EP_ATTR,
                    "in, the attributes wanted, or NULL for defaults with which it can do everything that its"
                    "dispatchers allow. 0 asks for the default where a 0 would make no sense: sizes, segments of RDMA.";
                ep_handle: *mut DAT_EP_HANDLE, "out, the new endpoint; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Makes an unconnected endpoint that takes its receive buffers from an SRQ. In uDAPL 1.2 the attributes are
            /// mandatory; max_recv_dtos and srq_soft_hw in them are its hard and soft high watermarks.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the endpoint exists, is unconnected, and is attached
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` - `pz_handle` is neither null nor a protection zone of the adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_RECV`, `DAT_INVALID_HANDLE_EVD_REQUEST`, `DAT_INVALID_HANDLE_EVD_CONN` - that dispatcher is neither null nor valid, lacks the flag it needs, or belongs to another adapter; the one for connection events may do that
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` - `srq_handle` is not a shared receive queue of the adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - the zone differs from that of the queue, and the provider does not support it; never from the providers of this project
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7` - `ep_attributes` is NULL in uDAPL 1.2; or an attribute is invalid or above the limit of the adapter; or requests have no dispatcher, or a dispatcher has no requests
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG8` - `ep_handle` is NULL
            /// * `DAT_MODEL_NOT_SUPPORTED` - the provider does not have the quality of service asked for, or has no shared receive queues, or not the watermark asked for
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_TEP`, `DAT_RESOURCE_SRQ` - out of memory, no endpoint left, or `max_ep_per_srq` endpoints are attached to the queue already
            extern "C" fn dat_ep_create_with_srq(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                pz_handle: DAT_PZ_HANDLE,
                    "in, its protection zone, or `DAT_HANDLE_NULL` for now. It may differ from that of the queue, and"
                    "governs everything but receives.";
                recv_evd_handle: DAT_EVD_HANDLE, "in, dispatcher for receive completions, with `DAT_EVD_DTO_FLAG`.";
                request_evd_handle: DAT_EVD_HANDLE,
                    "in, dispatcher for completions of sends, RDMA and binds, with `DAT_EVD_DTO_FLAG`, or"
                    "`DAT_HANDLE_NULL`.";
                connect_evd_handle: DAT_EVD_HANDLE,
                    "in, dispatcher for connection events, with `DAT_EVD_CONNECTION_FLAG`, or `DAT_HANDLE_NULL` for"
                    "now. It may be one of any open adapter of the provider; when that is closed under it, the"
                    "endpoint has none.";
                srq_handle: DAT_SRQ_HANDLE, "in, the shared receive queue, which the endpoint uses until it is freed.";
                ep_attributes: *const DAT_EP_ATTR,
                    "in, the attributes wanted; must not be NULL in uDAPL 1.2, and may be in 2.0 for the defaults,"
                    "without watermarks. `DAT_HW_DEFAULT` means none for both watermarks; `max_recv_iov` is ignored.";
                ep_handle: *mut DAT_EP_HANDLE, "out, the new endpoint; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Returns the state, the addresses, the objects and the attributes of an endpoint, as far as the mask
            /// selects them.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the requested fields are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `ep_param_mask` has a bit outside `DAT_EP_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `ep_param` is NULL
            extern "C" fn dat_ep_query(
                ep_handle: DAT_EP_HANDLE, "in, the endpoint, in any state.";
                ep_param_mask: DAT_EP_PARAM_MASK,
                    "in, bits DAT_EP_FIELD_..., as listed in dat_ep_modify; `DAT_EP_FIELD_EP_ATTR_ALL` for all"
                    "attributes, `DAT_EP_FIELD_ALL` for everything.";
                ep_param: *mut DAT_EP_PARAM,
                    "out, a structure of the program. The local address stays in place as long as the adapter is open;"
                    "the remote one until the endpoint connects to another peer, is reset or freed. The remote one is"
                    "NULL until there is a peer.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Changes the chosen fields of an endpoint: all of them, or none on error. A table in the manual page
            /// shows which field can change in which state.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - all parameters that the mask names have their new values; a mask of 0 names none
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `ep_param` is NULL and the mask is not 0. This is checked before the bits of the mask
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - the mask has a bit that names no parameter (0x800 and everything above 0x7FFFFFFF are such), or names one that can never be changed: P in the table of parameters and states. This is so in every state
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._CONNECTED`, `..._DISCPENDING`, `..._DISCONNECTED` - a parameter that the mask names cannot be changed in this state: S in the table
            /// * `DAT_INVALID_STATE` - `recv_completion_flags` is named and a receive is posted
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - the state is right and a value is invalid or not supported, invalid handles included; or `max_recv_dtos` is below the number of receives that are posted, or `max_recv_iov` below the segments of one of them; or receives are posted and their dispatcher would be null; or `max_recv_dtos` or `max_request_dtos` is above 0 and its dispatcher would be null, except in `DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING`; or the endpoint has a shared receive queue and `max_recv_dtos` or `max_recv_iov` is named
            /// * `DAT_COMM_NOT_SUPPORTED` - 2.0: a kind of communication that the provider lacks
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - out of memory for as many receives or requests as asked for
            ///
            /// The causes are checked in the order of this list.
            extern "C" fn dat_ep_modify(
                ep_handle: DAT_EP_HANDLE, "in, the endpoint.";
                ep_param_mask: DAT_EP_PARAM_MASK,
                    "in, which parameters to change: a union of bits DAT_EP_FIELD_..., named in the table of"
                    "parameters and states; 0 changes nothing.";
                ep_param: *const DAT_EP_PARAM,
                    "in, the new values. Only the fields that the mask names are read; may be NULL if the mask is 0.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Returns the state of an endpoint and whether receives and requests are outstanding. Every result may be
            /// NULL.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the wanted values are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            extern "C" fn dat_ep_get_status(
                ep_handle: DAT_EP_HANDLE, "in, the endpoint, in any state.";
                ep_state: *mut DAT_EP_STATE, "out, its state; may be NULL if not wanted.";
                recv_idle: *mut DAT_BOOLEAN, "out, `DAT_TRUE` if no receive is outstanding; may be NULL.";
                request_idle: *mut DAT_BOOLEAN,
                    "out, `DAT_TRUE` if no send, RDMA operation or bind is outstanding; may be NULL.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Counts the receive buffers that an endpoint holds. Either result may be NULL; a count that a provider
            /// does not know is DAT_VALUE_UNKNOWN.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the wanted values are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_MODEL_NOT_SUPPORTED` - the provider knows neither value; never from the providers of this project
            extern "C" fn dat_ep_recv_query(
                ep_handle: DAT_EP_HANDLE, "in, the endpoint, in any state.";
                nbufs_allocated: *mut DAT_COUNT,
                    "out, receive buffers of the endpoint whose completion was not generated yet, posted ones or those"
                    "taken from a shared receive queue; may be NULL.";
                bufs_alloc_span: *mut DAT_COUNT,
                    "out, receive completions that would come if all messages that are now arriving were complete; may"
                    "be NULL.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Sets and arms the high watermarks on the receive buffers that an endpoint holds. Passing the soft one
            /// raises one asynchronous event; passing the hard one breaks the connection. DAT_WATERMARK_INFINITE means
            /// none.
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
                    "in, number of buffers above which an event comes, once: 0 or more, or `DAT_WATERMARK_INFINITE`"
                    "(-1) for never.";
                hard_high_watermark: DAT_COUNT,
                    "in, number of buffers above which the connection is broken: 0 or more, or"
                    "`DAT_WATERMARK_INFINITE` (-1) for never.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Makes a disconnected endpoint unconnected, ready for another connection. Completions that were not
            /// dequeued may be lost. Has no effect on an unconnected endpoint.
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
            /// Destroys an endpoint. A connection ends abruptly, and outstanding work is flushed.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the endpoint is freed and its handle is invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_RESERVED`, `..._PASSCONNPENDING`, `..._TENTCONNPENDING` - the endpoint belongs to a service point or to an unanswered connection request
            extern "C" fn dat_ep_free(
                ep_handle: DAT_EP_HANDLE, "in, the endpoint.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
    };
}
