/// Calls: transfers of endpoints. See [`crate::abi`].
#[macro_export]
macro_rules! post_calls {
    ($callback:path) => {
        $callback! {
            /// Posts a send: the segments, in order, form one message to the other side. Returns at once. The list may
            /// be reused then, the memory only after the completion.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the send is posted; one completion follows unless it is suppressed
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` - the endpoint is neither connected nor disconnected
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `num_segments` is negative or above `max_request_iov`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `local_iov` is NULL with segments, or a segment is not inside its region
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `completion_flags` has a bit that does not apply
            /// * `DAT_LENGTH_ERROR` - the message is longer than `max_message_size` of the adapter
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_READ` - a region is of another protection zone than the endpoint
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_READ` - an `lmr_context` is unknown or freed, or its region has no local privilege and may not be read
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_request_dtos` requests are outstanding, or out of memory
            ///
            /// After a failure nothing was posted.
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the request EVD.
            extern "C" fn dat_ep_post_send(
                ep_handle: DAT_EP_HANDLE, "in, a connected endpoint, or a disconnected one, where the send is flushed.";
                num_segments: DAT_COUNT,
                    "in, number of segments, from 0, for an empty message, to `max_request_iov` of the endpoint.";
                local_iov: *mut DAT_LMR_TRIPLET,
                    "in, the segments: `lmr_context`, `virtual_address` and `segment_length` each; read during the"
                    "call. Those of length 0 are skipped. May be NULL if `num_segments` is 0.";
                user_cookie: DAT_DTO_COOKIE,
                    "in, a value for the completion event, passed by value and returned bit for bit.";
                completion_flags: DAT_COMPLETION_FLAGS,
                    "in, `DAT_COMPLETION_DEFAULT_FLAG`, or a union of `DAT_COMPLETION_SUPPRESS_FLAG`,"
                    "`DAT_COMPLETION_SOLICITED_WAIT_FLAG`, `DAT_COMPLETION_BARRIER_FENCE_FLAG` and, if the request"
                    "completion flags of the endpoint are `DAT_COMPLETION_UNSIGNALLED_FLAG`,"
                    "`DAT_COMPLETION_UNSIGNALLED_FLAG`.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Posts a receive: one message fills the segments in order. Possible in every state; on a disconnected
            /// endpoint the receive is flushed.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the buffer is posted; exactly one completion follows
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_STATE` - the endpoint has a shared receive queue; use dat_srq_post_recv
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_NOTREADY` - the endpoint has no protection zone or no receive dispatcher yet
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `num_segments` is negative or above `max_recv_iov`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `local_iov` is NULL with segments, or a segment is not inside its region
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `completion_flags` has a bit that does not apply
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_WRITE` - a region is of another protection zone than the endpoint
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_WRITE` - an `lmr_context` is unknown or freed, or its region has no local write privilege
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_recv_dtos` buffers are outstanding, or out of memory
            ///
            /// After a failure nothing was posted.
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the receive EVD.
            extern "C" fn dat_ep_post_recv(
                ep_handle: DAT_EP_HANDLE, "in, an endpoint without a shared receive queue, in any state.";
                num_segments: DAT_COUNT,
                    "in, number of segments, from 0, for an empty message, to `max_recv_iov` of the endpoint.";
                local_iov: *mut DAT_LMR_TRIPLET,
                    "in, the segments; read during the call. Those of length 0 are skipped. May be NULL if"
                    "`num_segments` is 0.";
                user_cookie: DAT_DTO_COOKIE, "in, a value for the completion event, returned bit for bit.";
                completion_flags: DAT_COMPLETION_FLAGS,
                    "in, `DAT_COMPLETION_DEFAULT_FLAG` or, if the receive completion flags of the endpoint are"
                    "`DAT_COMPLETION_UNSIGNALLED_FLAG`, `DAT_COMPLETION_UNSIGNALLED_FLAG`.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Posts an RDMA read: remote memory is copied into the segments, in order.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the read is posted; one completion follows unless it is suppressed
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` - the endpoint is neither connected nor disconnected
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `num_segments` is negative or above `max_rdma_read_iov`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `local_iov` is NULL with segments, or a segment is not inside its region
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `remote_iov` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - `completion_flags` has a bit that does not apply
            /// * `DAT_LENGTH_ERROR` - the local segments are smaller than the remote one, or the length is above `max_rdma_size` of the adapter
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_WRITE` - a local region is of another protection zone than the endpoint
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_WRITE` - an `lmr_context` is unknown or freed, or its region has no local write privilege
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_request_dtos` requests are outstanding, or out of memory
            ///
            /// After a failure nothing was posted.
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the request EVD; none at the other side.
            extern "C" fn dat_ep_post_rdma_read(
                ep_handle: DAT_EP_HANDLE, "in, a connected endpoint, or a disconnected one, where the read is flushed.";
                num_segments: DAT_COUNT, "in, number of local segments, from 0 to `max_rdma_read_iov` of the endpoint.";
                local_iov: *mut DAT_LMR_TRIPLET,
                    "in, the local segments that take the data, together at least as long as the remote one; read"
                    "during the call. Those of length 0 are skipped. May be NULL if `num_segments` is 0.";
                user_cookie: DAT_DTO_COOKIE, "in, a value for the completion event, returned bit for bit.";
                remote_iov: *const DAT_RMR_TRIPLET,
                    "in, the one remote segment: `rmr_context`, `target_address` and `segment_length`, as the peer"
                    "named them; read during the call.";
                completion_flags: DAT_COMPLETION_FLAGS,
                    "in, `DAT_COMPLETION_DEFAULT_FLAG`, or a union of `DAT_COMPLETION_SUPPRESS_FLAG`,"
                    "`DAT_COMPLETION_BARRIER_FENCE_FLAG` and, if the endpoint is configured for it,"
                    "`DAT_COMPLETION_UNSIGNALLED_FLAG`.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Posts an RDMA write: the segments, in order, are copied into remote memory.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the write is posted; one completion follows unless it is suppressed
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` - the endpoint is neither connected nor disconnected
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `num_segments` is negative or above `max_rdma_write_iov`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `local_iov` is NULL with segments, or a segment is not inside its region
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `remote_iov` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - `completion_flags` has a bit that does not apply
            /// * `DAT_LENGTH_ERROR` - the remote segment is smaller than the local ones, or the length is above `max_rdma_size` of the adapter
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_READ` - a local region is of another protection zone than the endpoint
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_READ` - an `lmr_context` is unknown or freed, or its region has no local privilege and may not be read
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_request_dtos` requests are outstanding, or out of memory
            ///
            /// After a failure nothing was posted.
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the request EVD; none at the other side.
            extern "C" fn dat_ep_post_rdma_write(
                ep_handle: DAT_EP_HANDLE,
                    "in, a connected endpoint, or a disconnected one, where the write is flushed.";
                num_segments: DAT_COUNT,
                    "in, number of local segments, from 0 to `max_rdma_write_iov` of the endpoint.";
                local_iov: *mut DAT_LMR_TRIPLET,
                    "in, the local segments that hold the data; read during the call. Those of length 0 are skipped."
                    "May be NULL if `num_segments` is 0.";
                user_cookie: DAT_DTO_COOKIE, "in, a value for the completion event, returned bit for bit.";
                remote_iov: *const DAT_RMR_TRIPLET,
                    "in, the one remote segment: `rmr_context`, `target_address` and `segment_length`, as the peer"
                    "named them, at least as long as the local ones together; read during the call.";
                completion_flags: DAT_COMPLETION_FLAGS,
                    "in, `DAT_COMPLETION_DEFAULT_FLAG`, or a union of `DAT_COMPLETION_SUPPRESS_FLAG`,"
                    "`DAT_COMPLETION_BARRIER_FENCE_FLAG` and, if the endpoint is configured for it,"
                    "`DAT_COMPLETION_UNSIGNALLED_FLAG`.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
    };
}
