/// Calls: transfers of endpoints, only in 2.0.
#[macro_export]
macro_rules! further_post_calls {
    ($callback:path) => {
        $callback! {
            /// Posts a send that also unbinds an RMR of the peer: once the receive of the peer completes, the context
            /// is invalid. Without invalidate_flag, the call equals dat_ep_post_send.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the message is posted; one completion follows unless it is suppressed
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` - the endpoint is neither connected nor disconnected
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `num_segments` is negative or above `max_request_iov`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `local_iov` is NULL and `num_segments` is above 0, or a segment is not inside its region
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `completion_flags` has a flag that is not allowed for the operation or the endpoint
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - `invalidate_flag` is neither `DAT_TRUE` nor `DAT_FALSE`
            /// * `DAT_LENGTH_ERROR` - the message is longer than `max_message_size` of the adapter
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_READ` - the protection zones of a region and of the endpoint differ
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_READ` - an `lmr_context` is unknown or freed, or its region has neither the local read nor the local write privilege
            /// * `DAT_MODEL_NOT_SUPPORTED` - `invalidate_flag` is `DAT_TRUE`, and the device cannot invalidate or the peer is a uDAPL 1.2 program. libdaplverbs(7) cannot detect a uDAPL 1.2 peer
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_request_dtos` requests are outstanding, or out of memory
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the request EVD; at the peer, one with the `operation`
            /// `DAT_DTO_RECEIVE_WITH_INVALIDATE` and the context.
            extern "C" fn dat_ep_post_send_with_invalidate(
                ep_handle: DAT_EP_HANDLE, "in, a connected or disconnected endpoint.";
                num_segments: DAT_COUNT, "in, number of segments, from 0 to `max_request_iov` of the endpoint.";
                local_iov: *mut DAT_LMR_TRIPLET,
                    "in, array of segments, as for dat_ep_post_send. The call copies the array. Segments of length 0"
                    "are skipped. May be NULL if `num_segments` is 0.";
                user_cookie: DAT_DTO_COOKIE, "in, a value that the completion event returns unchanged.";
                completion_flags: DAT_COMPLETION_FLAGS, "in, as for dat_ep_post_send.";
                invalidate_flag: DAT_BOOLEAN,
                    "in, `DAT_TRUE` to unbind the region; with `DAT_FALSE` the call equals dat_ep_post_send.";
                rmr_context: DAT_RMR_CONTEXT,
                    "in, context, from the peer, of a remote memory region of the peer. Ignored if `invalidate_flag`"
                    "is `DAT_FALSE`.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Posts an RDMA read into local memory that an rmr_context of an RMR or LMR identifies.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the read is posted; one completion follows unless it is suppressed
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` - the endpoint is neither connected nor disconnected
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `local_iov` is NULL, or its range is not inside the region that its context identifies
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `remote_iov` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `completion_flags` has a flag that is not allowed for the operation or the endpoint
            /// * `DAT_LENGTH_ERROR` - `remote_iov` is longer than `local_iov`, or longer than `max_rdma_size` of the adapter
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_WRITE` - the local region is in another protection zone, or is a region of dat_rmr_create_for_ep that is bound over another endpoint
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_WRITE` - the context in `local_iov` is unknown or not bound, or its region lacks the required write privilege
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_request_dtos` requests are outstanding, or out of memory
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the request EVD; none at the peer.
            extern "C" fn dat_ep_post_rdma_read_to_rmr(
                ep_handle: DAT_EP_HANDLE, "in, a connected or disconnected endpoint.";
                local_iov: *const DAT_RMR_TRIPLET,
                    "in, the destination, which the call copies. The context is the `rmr_context` of a bound remote"
                    "memory region or of a local memory region of this program. The address is the address that a peer"
                    "would use. The length is at least the length of `remote_iov`.";
                user_cookie: DAT_DTO_COOKIE, "in, a value that the completion event returns unchanged.";
                remote_iov: *const DAT_RMR_TRIPLET,
                    "in, the remote segment to read, which the call copies: context, address and length.";
                completion_flags: DAT_COMPLETION_FLAGS, "in, as for dat_ep_post_rdma_read.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
    };
}
