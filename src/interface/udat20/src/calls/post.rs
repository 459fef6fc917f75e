/// Calls: transfers of endpoints. Those that only 2.0 has.
#[macro_export]
macro_rules! further_post_calls {
    ($callback:path) => {
        $callback! {
            /// Posts a send that also ends the binding of an RMR at the other side: when the receive completes there, nobody
            /// can use the context any more. Without that it does what dat_ep_post_send does.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the message is posted; one completion follows unless it is suppressed
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` - the endpoint is neither connected nor disconnected
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `num_segments` is negative or above `max_request_iov`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `local_iov` is NULL with segments, or a range is not inside its region
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `completion_flags` has a bit that does not apply
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - `invalidate_flag` is neither `DAT_TRUE` nor `DAT_FALSE`
            /// * `DAT_LENGTH_ERROR` - the segments have more bytes than `max_message_size` of the adapter
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_READ` - a segment is not in the zone of the endpoint
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_READ` - an `lmr_context` is unknown or freed, or its region has no local privilege and may not be read
            /// * `DAT_MODEL_NOT_SUPPORTED` - `invalidate_flag` is `DAT_TRUE`, and the device cannot invalidate or the peer is a program of uDAPL 1.2, which has no such messages. Over libdaplverbs(7) such a peer is not recognised
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_request_dtos` requests are outstanding, or out of memory
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the request EVD; at the other side one whose `operation` is
            /// `DAT_DTO_RECEIVE_WITH_INVALIDATE`, with the context.
            extern "C" fn dat_ep_post_send_with_invalidate(
                ep_handle: DAT_EP_HANDLE, "in, a connected endpoint, or a disconnected one, where the send is flushed.";
                num_segments: DAT_COUNT, "in, number of segments, from 0 to `max_request_iov` of the endpoint.";
                local_iov: *mut DAT_LMR_TRIPLET,
                    "in, the segments; read during the call. Those of length 0 are skipped. May be NULL if there are"
                    "none.";
                user_cookie: DAT_DTO_COOKIE, "in, a value for the completion event, returned bit for bit.";
                completion_flags: DAT_COMPLETION_FLAGS, "in, as for dat_ep_post_send.";
                invalidate_flag: DAT_BOOLEAN,
                    "in, `DAT_TRUE` to invalidate; with `DAT_FALSE` the call is dat_ep_post_send.";
                rmr_context: DAT_RMR_CONTEXT,
                    "in, context of a window of the peer, as the peer named it; ignored without `invalidate_flag`."
                    "RDMA of this endpoint that was posted before has been carried out when the binding ends; reads"
                    "only with `DAT_COMPLETION_BARRIER_FENCE_FLAG`.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Posts an RDMA read into memory that a context for the remote side names, of an RMR or of an LMR.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the read is posted; one completion follows unless it is suppressed
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` - the endpoint is neither connected nor disconnected
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `local_iov` is NULL, or its range is not inside the region
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `remote_iov` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `completion_flags` has a bit that does not apply
            /// * `DAT_LENGTH_ERROR` - there is more to read than room, or more than `max_rdma_size` of the adapter
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_WRITE` - the local region is not in the zone of the endpoint, or is bound over another endpoint
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_WRITE` - the local context is unknown, not bound, or does not grant to write
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_request_dtos` requests are outstanding, or out of memory
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the request EVD; none at the other side.
            extern "C" fn dat_ep_post_rdma_read_to_rmr(
                ep_handle: DAT_EP_HANDLE, "in, a connected endpoint, or a disconnected one, where the read is flushed.";
                local_iov: *const DAT_RMR_TRIPLET,
                    "in, where the bytes go: context of a remote memory region of this program that is bound, or the"
                    "`rmr_context` of a local one; address as a peer would give it, and length, at least that of"
                    "`remote_iov`. Copied during the call.";
                user_cookie: DAT_DTO_COOKIE, "in, a value for the completion event, returned bit for bit.";
                remote_iov: *const DAT_RMR_TRIPLET,
                    "in, what is read: context, address and length in the peer's memory. Copied during the call.";
                completion_flags: DAT_COMPLETION_FLAGS, "in, as for dat_ep_post_rdma_read.";
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
    };
}
