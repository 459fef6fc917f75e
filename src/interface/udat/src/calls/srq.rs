/// Calls: shared receive queues. See [`crate::abi`].
#[macro_export]
macro_rules! srq_calls {
    ($callback:path) => {
        $callback! {
            /// Creates a shared receive queue (SRQ) to which no endpoint is attached.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the queue exists
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` - `pz_handle` is not a protection zone of the adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `srq_attr` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `srq_handle` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `low_watermark` is not `DAT_SRQ_LW_DEFAULT`, or `max_recv_dtos` or `max_recv_iov` is negative
            /// * `DAT_MODEL_NOT_SUPPORTED` - the adapter has no shared receive queues; see `srq_supported` of dat_ia_query
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `max_recv_dtos` or `max_recv_iov` is 0, or above the limit of the adapter
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_SRQ` - out of memory, or the adapter has `max_srqs` queues already
            ///
            /// The call checks the conditions in the order of this list. If it fails, it creates nothing.
            extern "C" fn dat_srq_create(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                pz_handle: DAT_PZ_HANDLE, "in, a protection zone of the adapter; must not be `DAT_HANDLE_NULL`.";
                srq_attr: *mut DAT_SRQ_ATTR,
                    "in, the requested attributes. `max_recv_dtos` is the maximum number of outstanding buffers, from"
                    "1 to `max_recv_per_srq` of dat_ia_query. `max_recv_iov` is the maximum number of segments in one"
                    "buffer, from 1 to `max_iov_segments_per_dto` of dat_ia_query. `low_watermark` must be"
                    "`DAT_SRQ_LW_DEFAULT` (0); dat_srq_set_lw sets another value later.";
                srq_handle: *mut DAT_SRQ_HANDLE, "out, the new queue; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Destroys an SRQ. Its buffers are dropped without completion.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the queue is freed and its handle is invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` - `srq_handle` is not a shared receive queue
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_SRQ_IN_USE` - an endpoint is attached to the queue; nothing has changed
            extern "C" fn dat_srq_free(
                srq_handle: DAT_SRQ_HANDLE, "in, the shared receive queue.";
            ) => dispatch(DAT_INVALID_HANDLE_SRQ);
        }
        $callback! {
            /// Posts a receive buffer to an SRQ. Any endpoint of the SRQ can take the buffer. The completion contains
            /// the handle of this endpoint, whose attributes determine whether the completion is a notification event.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the buffer is posted
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` - `srq_handle` is not a shared receive queue
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `num_segments` is negative or above `max_recv_iov`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `local_iov` is NULL and `num_segments` is above 0, or a segment is not inside its region
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_WRITE` - an `lmr_context` is unknown or freed, or its region lacks the local write privilege
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_WRITE` - the protection zones of a region and of the queue differ
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_recv_dtos` buffers are already outstanding, or out of memory
            ///
            /// If the call fails, it posts nothing and does not change the counters.
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the receive EVD of the endpoint that took the buffer.
            extern "C" fn dat_srq_post_recv(
                srq_handle: DAT_SRQ_HANDLE, "in, the shared receive queue, in any state.";
                num_segments: DAT_COUNT,
                    "in, number of segments, from 0 (for an empty message) to `max_recv_iov` of the queue.";
                local_iov: *mut DAT_LMR_TRIPLET,
                    "in, array of segments, each with `lmr_context`, `virtual_address` and `segment_length` in bytes."
                    "The call copies the array. Segments of length 0 are skipped. May be NULL if `num_segments` is 0.";
                user_cookie: DAT_DTO_COOKIE, "in, a value that the completion event returns unchanged.";
            ) => dispatch(DAT_INVALID_HANDLE_SRQ);
        }
        $callback! {
            /// Returns selected parameters of an SRQ, with the exact numbers of available and outstanding buffers.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the requested fields are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` - `srq_handle` is not a shared receive queue
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `srq_param_mask` has a bit outside `DAT_SRQ_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `srq_param` is NULL
            ///
            /// If the call fails, it does not write to `*srq_param`.
            extern "C" fn dat_srq_query(
                srq_handle: DAT_SRQ_HANDLE, "in, the shared receive queue.";
                srq_param_mask: DAT_SRQ_PARAM_MASK,
                    "in, mask of the requested fields: a union of bits DAT_SRQ_FIELD_..., or `DAT_SRQ_FIELD_ALL`"
                    "(0x0FF).";
                srq_param: *mut DAT_SRQ_PARAM, "out, structure provided by the program.";
            ) => dispatch(DAT_INVALID_HANDLE_SRQ);
        }
        $callback! {
            /// Changes the maximum number of outstanding buffers of an SRQ. No buffer and no message is lost. The call
            /// neither arms nor disarms the low watermark.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the queue has the new size
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` - `srq_handle` is not a shared receive queue
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `srq_max_recv_dto` is 0, negative or above `max_recv_per_srq`
            /// * `DAT_INVALID_STATE` - `srq_max_recv_dto` is below `outstanding_dto_count` or below `low_watermark` of the queue
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - out of memory for a larger queue
            ///
            /// The call checks the conditions in the order of this list. If it fails, it changes nothing.
            extern "C" fn dat_srq_resize(
                srq_handle: DAT_SRQ_HANDLE,
                    "in, the shared receive queue. Endpoints can use the queue during the call.";
                srq_max_recv_dto: DAT_COUNT,
                    "in, the new maximum number of outstanding buffers, from 1 to `max_recv_per_srq` of dat_ia_query.";
            ) => dispatch(DAT_INVALID_HANDLE_SRQ);
        }
        $callback! {
            /// Sets and arms the low watermark of an SRQ. The first time that fewer buffers than the watermark are
            /// available, possibly during the call, one asynchronous event is raised. Another call replaces the
            /// watermark and arms it again.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the watermark is set, and is armed unless it is 0 or has raised its event in the call
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` - `srq_handle` is not a shared receive queue
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `low_watermark` is negative or above `max_recv_dtos`
            /// * `DAT_MODEL_NOT_SUPPORTED` - the provider does not support the low watermark; see `srq_watermarks_supported` of dat_ia_query; never from the providers of this project
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_SRQ` - the device rejects the watermark
            ///
            /// If the call fails, the old watermark stays as it is, armed or disarmed.
            ///
            /// # Events
            /// On the EVD for asynchronous events `DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR`, `dat_handle` the SRQ,
            /// `reason` `DAT_SRQ_LOW_WATERMARK_EVENT`.
            extern "C" fn dat_srq_set_lw(
                srq_handle: DAT_SRQ_HANDLE, "in, the shared receive queue.";
                low_watermark: DAT_COUNT,
                    "in, number of available buffers below which the event is raised, from 0 to `max_recv_dtos` of the"
                    "queue. 0 (`DAT_SRQ_LW_DEFAULT`) disarms the watermark.";
            ) => dispatch(DAT_INVALID_HANDLE_SRQ);
        }
    };
}
