/// Calls: transfers of endpoints. See [`crate::abi`].
#[macro_export]
macro_rules! post_calls {
    ($callback:path) => {
        $callback! {
            /// Posts a send, which transfers the segments in order as one message to the peer. Returns without
            /// waiting. The program can reuse the list of segments after the call, and the memory after the
            /// completion.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the send is posted; one completion follows unless it is suppressed
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` - the endpoint is neither connected nor disconnected
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `num_segments` is negative or above `max_request_iov`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `local_iov` is NULL and `num_segments` is above 0, or a segment is not inside its region
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `completion_flags` has a flag that is not allowed for the operation or the endpoint
            /// * `DAT_LENGTH_ERROR` - the message is longer than `max_message_size` of the adapter
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_READ` - the protection zones of a region and of the endpoint differ
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_READ` - an `lmr_context` is unknown or freed, or its region has neither the local read nor the local write privilege
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_request_dtos` requests are outstanding, or out of memory
            ///
            /// If the call fails, it posts nothing.
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the request EVD.
            extern "C" fn dat_ep_post_send(
                ep_handle: DAT_EP_HANDLE, "in, a connected or disconnected endpoint.";
                num_segments: DAT_COUNT,
                    "in, number of segments, from 0 (an empty message) to `max_request_iov` of the endpoint.";
                local_iov: *mut DAT_LMR_TRIPLET,
                    "in, array of segments, each with `lmr_context`, `virtual_address` and `segment_length`. The call"
                    "copies the array. Segments of length 0 are skipped. May be NULL if `num_segments` is 0.";
                user_cookie: DAT_DTO_COOKIE, "in, a value that the completion event returns unchanged.";
                completion_flags: DAT_COMPLETION_FLAGS,
                    "in, `DAT_COMPLETION_DEFAULT_FLAG`, or a union of `DAT_COMPLETION_SUPPRESS_FLAG`,"
                    "`DAT_COMPLETION_SOLICITED_WAIT_FLAG`, `DAT_COMPLETION_BARRIER_FENCE_FLAG` and"
                    "`DAT_COMPLETION_UNSIGNALLED_FLAG`. `DAT_COMPLETION_UNSIGNALLED_FLAG` is allowed only if"
                    "`request_completion_flags` of the endpoint has this value.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Posts a receive, whose segments one message fills in order. A receive can be posted in every state; on
            /// a disconnected endpoint it is flushed.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the buffer is posted; exactly one completion follows
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_STATE` - the endpoint has a shared receive queue; see dat_srq_post_recv
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_NOTREADY` - the endpoint lacks a protection zone or a receive dispatcher
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `num_segments` is negative or above `max_recv_iov`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `local_iov` is NULL and `num_segments` is above 0, or a segment is not inside its region
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `completion_flags` has a flag that is not allowed for the operation or the endpoint
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_WRITE` - the protection zones of a region and of the endpoint differ
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_WRITE` - an `lmr_context` is unknown or freed, or its region lacks the local write privilege
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_recv_dtos` buffers are outstanding, or out of memory
            ///
            /// If the call fails, it posts nothing.
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the receive EVD.
            extern "C" fn dat_ep_post_recv(
                ep_handle: DAT_EP_HANDLE, "in, an endpoint in any state, without a shared receive queue.";
                num_segments: DAT_COUNT,
                    "in, number of segments, from 0 (for an empty message) to `max_recv_iov` of the endpoint.";
                local_iov: *mut DAT_LMR_TRIPLET,
                    "in, array of segments, as for dat_ep_post_send. The call copies the array. Segments of length 0"
                    "are skipped. May be NULL if `num_segments` is 0.";
                user_cookie: DAT_DTO_COOKIE, "in, a value that the completion event returns unchanged.";
                completion_flags: DAT_COMPLETION_FLAGS,
                    "in, `DAT_COMPLETION_DEFAULT_FLAG`, or `DAT_COMPLETION_UNSIGNALLED_FLAG` if"
                    "`recv_completion_flags` of the endpoint has this value.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Posts an RDMA read, which copies remote memory into the local segments in order.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the read is posted; one completion follows unless it is suppressed
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` - the endpoint is neither connected nor disconnected
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `num_segments` is negative or above `max_rdma_read_iov`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `local_iov` is NULL and `num_segments` is above 0, or a segment is not inside its region
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `remote_iov` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - `completion_flags` has a flag that is not allowed for the operation or the endpoint
            /// * `DAT_LENGTH_ERROR` - the remote segment is longer than the local segments together, or longer than `max_rdma_size` of the adapter
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_WRITE` - the protection zones of a local region and of the endpoint differ
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_WRITE` - an `lmr_context` is unknown or freed, or its region lacks the local write privilege
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_request_dtos` requests are outstanding, or out of memory
            ///
            /// If the call fails, it posts nothing.
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the request EVD; none at the peer.
            extern "C" fn dat_ep_post_rdma_read(
                ep_handle: DAT_EP_HANDLE, "in, a connected or disconnected endpoint.";
                num_segments: DAT_COUNT, "in, number of local segments, from 0 to `max_rdma_read_iov` of the endpoint.";
                local_iov: *mut DAT_LMR_TRIPLET,
                    "in, array of local segments that receive the data, together at least as long as the remote"
                    "segment. The call copies the array. Segments of length 0 are skipped. May be NULL if"
                    "`num_segments` is 0.";
                user_cookie: DAT_DTO_COOKIE, "in, a value that the completion event returns unchanged.";
                remote_iov: *const DAT_RMR_TRIPLET,
                    "in, the remote segment, which the call copies: `rmr_context` and `target_address` from the peer,"
                    "and `segment_length`.";
                completion_flags: DAT_COMPLETION_FLAGS,
                    "in, `DAT_COMPLETION_DEFAULT_FLAG`, or a union of `DAT_COMPLETION_SUPPRESS_FLAG`,"
                    "`DAT_COMPLETION_BARRIER_FENCE_FLAG` and `DAT_COMPLETION_UNSIGNALLED_FLAG`."
                    "`DAT_COMPLETION_UNSIGNALLED_FLAG` is allowed only if `request_completion_flags` of the endpoint"
                    "has this value.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Posts an RDMA write, which copies the local segments in order into remote memory.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the write is posted; one completion follows unless it is suppressed
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` - the endpoint is neither connected nor disconnected
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `num_segments` is negative or above `max_rdma_write_iov`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `local_iov` is NULL and `num_segments` is above 0, or a segment is not inside its region
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `remote_iov` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - `completion_flags` has a flag that is not allowed for the operation or the endpoint
            /// * `DAT_LENGTH_ERROR` - the local segments together are longer than the remote segment, or longer than `max_rdma_size` of the adapter
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_READ` - the protection zones of a local region and of the endpoint differ
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_READ` - an `lmr_context` is unknown or freed, or its region has neither the local read nor the local write privilege
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_request_dtos` requests are outstanding, or out of memory
            ///
            /// If the call fails, it posts nothing.
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the request EVD; none at the peer.
            extern "C" fn dat_ep_post_rdma_write(
                ep_handle: DAT_EP_HANDLE, "in, a connected or disconnected endpoint.";
                num_segments: DAT_COUNT,
                    "in, number of local segments, from 0 to `max_rdma_write_iov` of the endpoint.";
                local_iov: *mut DAT_LMR_TRIPLET,
                    "in, array of local segments that contain the data. The call copies the array. Segments of length"
                    "0 are skipped. May be NULL if `num_segments` is 0.";
                user_cookie: DAT_DTO_COOKIE, "in, a value that the completion event returns unchanged.";
                remote_iov: *const DAT_RMR_TRIPLET,
                    "in, the remote segment, which the call copies: `rmr_context` and `target_address` from the peer,"
                    "and `segment_length`. It is at least as long as the local segments together.";
                completion_flags: DAT_COMPLETION_FLAGS,
                    "in, `DAT_COMPLETION_DEFAULT_FLAG`, or a union of `DAT_COMPLETION_SUPPRESS_FLAG`,"
                    "`DAT_COMPLETION_BARRIER_FENCE_FLAG` and `DAT_COMPLETION_UNSIGNALLED_FLAG`."
                    "`DAT_COMPLETION_UNSIGNALLED_FLAG` is allowed only if `request_completion_flags` of the endpoint"
                    "has this value.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
    };
}
