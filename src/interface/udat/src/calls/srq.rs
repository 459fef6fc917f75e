/// Calls: shared receive queues. See [`crate::abi`].
#[macro_export]
macro_rules! srq_calls {
    ($callback:path) => {
        $callback! {
            /// Makes a shared receive queue (SRQ) that no endpoint uses yet.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the queue exists
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` - `pz_handle` is not a protection zone of the adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `srq_attr` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `srq_handle` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `low_watermark` is not `DAT_SRQ_LW_DEFAULT`, or `max_recv_dtos` or `max_recv_iov` is negative
            /// * `DAT_MODEL_NOT_SUPPORTED` - the adapter has no shared receive queues; see `srq_supported` of dat_ia_query
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `max_recv_dtos` or `max_recv_iov` is 0 or above the limit of the adapter
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_SRQ` - out of memory, or the adapter has `max_srqs` queues already
            ///
            /// The arguments are checked in the order of this list, and after a failure nothing has been created.
            extern "C" fn dat_srq_create(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                pz_handle: DAT_PZ_HANDLE, "in, a protection zone of that adapter; it must not be null.";
                srq_attr: *mut DAT_SRQ_ATTR,
                    "in, the size of the queue: `max_recv_dtos`, the number of buffers that can be outstanding, from 1"
                    "to `max_recv_per_srq` of dat_ia_query; `max_recv_iov`, the number of segments that one buffer may"
                    "have, from 1 to `max_iov_segments_per_dto`; and `low_watermark`, which must be"
                    "`DAT_SRQ_LW_DEFAULT` (0), because fewer buffers than any other would be available from the start."
                    "dat_srq_set_lw sets another value later.";
                srq_handle: *mut DAT_SRQ_HANDLE, "out, the new queue; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Destroys an SRQ; buffers on it are dropped without completion.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the queue is freed and its handle is invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` - `srq_handle` is not a shared receive queue
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_SRQ_IN_USE` - an endpoint is attached; nothing has changed
            extern "C" fn dat_srq_free(
                srq_handle: DAT_SRQ_HANDLE, "in, the shared receive queue.";
            ) => dispatch(DAT_INVALID_HANDLE_SRQ);
        }
        $callback! {
            /// Posts a receive buffer to an SRQ. Any endpoint of the SRQ may take it. The completion names that
            /// endpoint, and notifies as its attributes say.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the buffer is posted
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` - `srq_handle` is not a shared receive queue
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `num_segments` is negative or above `max_recv_iov`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `local_iov` is NULL with segments, or a segment is not inside its region
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_WRITE` - an `lmr_context` is unknown or freed, or its region has no local write privilege
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_WRITE` - a region is of another protection zone than the queue
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_recv_dtos` buffers are outstanding already, or out of memory. Exactly that many can be, no fewer
            ///
            /// After a failure nothing was posted, and the counters are as they were.
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the receive EVD of the endpoint that took the buffer.
            extern "C" fn dat_srq_post_recv(
                srq_handle: DAT_SRQ_HANDLE, "in, the shared receive queue, in any state.";
                num_segments: DAT_COUNT, "in, number of segments, from 0 to `max_recv_iov` of the queue.";
                local_iov: *mut DAT_LMR_TRIPLET,
                    "in, the segments: `lmr_context`, `virtual_address` and `segment_length` in bytes each; read"
                    "during the call. Those of length 0 are skipped. May be NULL if `num_segments` is 0, which makes a"
                    "buffer for an empty message.";
                user_cookie: DAT_DTO_COOKIE,
                    "in, a value for the completion event, passed by value and returned bit for bit.";
            ) => dispatch(DAT_INVALID_HANDLE_SRQ);
        }
        $callback! {
            /// Returns the chosen attributes of an SRQ and the numbers of its available and outstanding buffers, exact
            /// at this moment.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the requested fields are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` - `srq_handle` is not a shared receive queue
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `srq_param_mask` has a bit outside `DAT_SRQ_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `srq_param` is NULL
            ///
            /// After a failure nothing was written to `*srq_param`.
            extern "C" fn dat_srq_query(
                srq_handle: DAT_SRQ_HANDLE, "in, the shared receive queue.";
                srq_param_mask: DAT_SRQ_PARAM_MASK,
                    "in, which fields are wanted: a union of bits DAT_SRQ_FIELD_..., or `DAT_SRQ_FIELD_ALL` (0x0FF).";
                srq_param: *mut DAT_SRQ_PARAM,
                    "out, a structure of the program. `available_dto_count` counts the buffers that an endpoint could"
                    "still take; `outstanding_dto_count` also counts those that endpoints hold and those whose"
                    "completion was not dequeued. A count that a provider does not know is `DAT_VALUE_UNKNOWN`; the"
                    "providers of this project know both.";
            ) => dispatch(DAT_INVALID_HANDLE_SRQ);
        }
        $callback! {
            /// Changes the number of buffers of an SRQ that can be outstanding. No buffer and no message is lost; the
            /// low watermark stays armed, or not, as it was.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the queue has the new size
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` - `srq_handle` is not a shared receive queue
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `srq_max_recv_dto` is 0, negative or above `max_recv_per_srq`
            /// * `DAT_INVALID_STATE` - `srq_max_recv_dto` is below `outstanding_dto_count` or below `low_watermark`
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - out of memory for a larger queue
            ///
            /// The arguments are checked in the order of this list, and after a failure nothing has changed.
            extern "C" fn dat_srq_resize(
                srq_handle: DAT_SRQ_HANDLE, "in, the shared receive queue; endpoints can use it during the call.";
                srq_max_recv_dto: DAT_COUNT,
                    "in, the new number of buffers that can be outstanding, from 1 to `max_recv_per_srq` of"
                    "dat_ia_query.";
            ) => dispatch(DAT_INVALID_HANDLE_SRQ);
        }
        $callback! {
            /// Sets and arms the low watermark of an SRQ; setting it again replaces it and arms it again. As soon as
            /// fewer buffers are available, perhaps during the call, one asynchronous event is raised.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the watermark is set, and armed unless it is 0 or has fired in the call
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` - `srq_handle` is not a shared receive queue
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `low_watermark` is negative or above `max_recv_dtos`
            /// * `DAT_MODEL_NOT_SUPPORTED` - the provider has no low watermark; see `srq_watermarks_supported` of dat_ia_query; never from the providers of this project
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_SRQ` - the device does not take the limit
            ///
            /// After a failure the old watermark holds, armed or not as it was.
            ///
            /// # Events
            /// On the EVD for asynchronous events `DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR`, `dat_handle` the SRQ,
            /// `reason` `DAT_SRQ_LOW_WATERMARK_EVENT`.
            extern "C" fn dat_srq_set_lw(
                srq_handle: DAT_SRQ_HANDLE, "in, the shared receive queue.";
                low_watermark: DAT_COUNT,
                    "in, number of buffers, from 0 to `max_recv_dtos` of the queue. An event comes when fewer are"
                    "available; 0 (`DAT_SRQ_LW_DEFAULT`) switches it off.";
            ) => dispatch(DAT_INVALID_HANDLE_SRQ);
        }
    };
}
