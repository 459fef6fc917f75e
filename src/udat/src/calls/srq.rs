/// Calls: shared receive queues. See [`crate::abi`].
#[macro_export]
macro_rules! srq_calls {
    ($callback:path) => {
        $callback! {
            /// Makes a shared receive queue (SRQ) that no endpoint uses yet.
            ///
            /// # Parameters
            /// * `ia_handle` - in, the adapter that it belongs to.
            /// * `pz_handle` - in, the protection zone that its buffers must be in; mandatory.
            /// * `srq_attr` - in, buffers that can be outstanding, 1 to `max_recv_per_srq`; segments of a buffer, 1 to
            ///   `max_iov_segments_per_dto`; and `DAT_SRQ_LW_DEFAULT`, because fewer buffers than any other low
            ///   watermark would be available from the start. dat_srq_query returns the actual sizes, which are no
            ///   smaller.
            /// * `srq_handle` - out, the SRQ; written only on success.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` | NULL, or not a protection zone of the adapter |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `srq_attr` is NULL; a size is 0, negative or above the limit; another low watermark than the default |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | `srq_handle` is NULL |
            /// | `DAT_MODEL_NOT_SUPPORTED` | the adapter has no SRQs, see `srq_supported` |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_SRQ` | out of memory; the adapter has no SRQ left |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_srq_create(3DAT).
            extern "C" fn dat_srq_create(
                ia_handle: DAT_IA_HANDLE,
                pz_handle: DAT_PZ_HANDLE,
                srq_attr: *mut DAT_SRQ_ATTR,
                srq_handle: *mut DAT_SRQ_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Destroys an SRQ; buffers on it are dropped without completion.
            ///
            /// # Parameters
            /// * `srq_handle` - in, the SRQ.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` | not an SRQ |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_SRQ_IN_USE` | an endpoint uses it |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_srq_free(3DAT).
            extern "C" fn dat_srq_free(
                srq_handle: DAT_SRQ_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_SRQ);
        }
        $callback! {
            /// Posts a receive buffer to an SRQ. Any endpoint of the SRQ may take it. The completion names that
            /// endpoint, and notifies as its attributes say.
            ///
            /// # Parameters
            /// * `srq_handle` - in, the SRQ.
            /// * `num_segments` - in, elements of `local_iov`, 0 to `max_recv_iov` of the SRQ.
            /// * `local_iov` - in, the segments, of the protection zone of the SRQ; read during the call; NULL only if
            ///   there are none. Segments of length 0 are skipped.
            /// * `user_cookie` - in, returned in the completion.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` | not an SRQ |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the number of segments is negative or above `max_recv_iov` |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | NULL with a count, or a segment is not within its LMR |
            /// | `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_WRITE` | no such LMR, or one without local write privilege |
            /// | `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_WRITE` | an LMR of another protection zone than the SRQ's |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | `max_recv_dtos` buffers are outstanding |
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the receive EVD of the endpoint that took the buffer.
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_srq_post_recv(3DAT).
            extern "C" fn dat_srq_post_recv(
                srq_handle: DAT_SRQ_HANDLE,
                num_segments: DAT_COUNT,
                local_iov: *mut DAT_LMR_TRIPLET,
                user_cookie: DAT_DTO_COOKIE,
            ) => dispatch(DAT_INVALID_HANDLE_SRQ);
        }
        $callback! {
            /// Returns the chosen attributes of an SRQ and the numbers of its available and outstanding buffers, exact
            /// at this moment.
            ///
            /// # Parameters
            /// * `srq_handle` - in, the SRQ.
            /// * `srq_param_mask` - in, the requested fields, bits of `DAT_SRQ_FIELD_ALL`.
            /// * `srq_param` - out, the fields. `available_dto_count` counts the buffers that an endpoint could still
            ///   take; `outstanding_dto_count` also counts those that endpoints hold and those whose completion was not
            ///   dequeued. A count that a provider does not know is `DAT_VALUE_UNKNOWN`; the providers of this project
            ///   know both.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` | not an SRQ |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `srq_param` is NULL |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_srq_query(3DAT).
            extern "C" fn dat_srq_query(
                srq_handle: DAT_SRQ_HANDLE,
                srq_param_mask: DAT_SRQ_PARAM_MASK,
                srq_param: *mut DAT_SRQ_PARAM,
            ) => dispatch(DAT_INVALID_HANDLE_SRQ);
        }
        $callback! {
            /// Changes the number of buffers of an SRQ that can be outstanding. No buffer and no message is lost; the
            /// low watermark stays armed, or not, as it was.
            ///
            /// # Parameters
            /// * `srq_handle` - in, the SRQ; endpoints may use it meanwhile.
            /// * `srq_max_recv_dto` - in, buffers, 1 to `max_recv_per_srq`.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` | not an SRQ |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | 0, negative, or above the limit |
            /// | `DAT_INVALID_STATE` | more buffers are outstanding, or the low watermark is higher |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | out of memory |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_srq_resize(3DAT).
            extern "C" fn dat_srq_resize(
                srq_handle: DAT_SRQ_HANDLE,
                srq_max_recv_dto: DAT_COUNT,
            ) => dispatch(DAT_INVALID_HANDLE_SRQ);
        }
        $callback! {
            /// Sets and arms the low watermark of an SRQ; setting it again replaces it and arms it again. As soon as
            /// fewer buffers are available, perhaps during the call, one asynchronous event is raised.
            ///
            /// # Parameters
            /// * `srq_handle` - in, the SRQ.
            /// * `low_watermark` - in, buffers below which the event is raised, 0 to `max_recv_dtos` of the SRQ; 0
            ///   (`DAT_SRQ_LW_DEFAULT`) disarms it.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` | not an SRQ |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | negative, or above `max_recv_dtos` |
            /// | `DAT_MODEL_NOT_SUPPORTED` | the provider has no such watermark; never from the providers of this project |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_SRQ` | the device does not take the limit |
            ///
            /// # Events
            /// On the EVD for asynchronous events `DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR`, `dat_handle` the SRQ,
            /// `reason` `DAT_SRQ_LOW_WATERMARK_EVENT`.
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_srq_set_lw(3DAT).
            extern "C" fn dat_srq_set_lw(
                srq_handle: DAT_SRQ_HANDLE,
                low_watermark: DAT_COUNT,
            ) => dispatch(DAT_INVALID_HANDLE_SRQ);
        }
    };
}
