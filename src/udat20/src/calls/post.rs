/// Calls: transfers of endpoints. Those that only 2.0 has.
#[macro_export]
macro_rules! further_post_calls {
    ($callback:path) => {
        $callback! {
            /// Posts a send that also ends the binding of an RMR at the other side: when the receive completes there, nobody
            /// can use the context any more. Without that it does what dat_ep_post_send does.
            ///
            /// # Parameters
            /// * `ep_handle` - in, a connected endpoint, or a disconnected one, where the send is flushed.
            /// * `num_segments` - in, elements of `local_iov`, 0 to `max_request_iov`; 0 for an empty message.
            /// * `local_iov` - in, the segments; read during the call; NULL only if there are none. Segments of length 0
            ///   are skipped.
            /// * `user_cookie` - in, returned in the completion.
            /// * `completion_flags` - in, as for dat_ep_post_send.
            /// * `invalidate_flag` - in, whether a binding ends.
            /// * `rmr_context` - in, the context of the RMR as the other side named it. RDMA of this endpoint that was posted
            ///   before has been carried out; for reads only with `DAT_COMPLETION_BARRIER_FENCE_FLAG`.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` | the endpoint is in this state, neither connected nor disconnected |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the number of segments is negative or above `max_request_iov` |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | NULL with a count, or a segment is not within its LMR |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | a flag that does not apply |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` | `invalidate_flag` is neither true nor false |
            /// | `DAT_LENGTH_ERROR` | longer than `max_message_size` of the endpoint |
            /// | `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_READ` | an LMR of another protection zone |
            /// | `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_READ` | no such LMR, or one without any local privilege |
            /// | `DAT_MODEL_NOT_SUPPORTED` | a binding is to end, and the transport cannot do that, or the program at the other end does not take such sends |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | `max_request_dtos` requests are outstanding |
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the request EVD; at the other side one whose `operation` is
            /// `DAT_DTO_RECEIVE_WITH_INVALIDATE`, with the context.
            ///
            /// # Specification
            /// uDAPL 2.0, dat_ep_post_send_with_invalidate.
            extern "C" fn dat_ep_post_send_with_invalidate(
                ep_handle: DAT_EP_HANDLE,
                num_segments: DAT_COUNT,
                local_iov: *mut DAT_LMR_TRIPLET,
                user_cookie: DAT_DTO_COOKIE,
                completion_flags: DAT_COMPLETION_FLAGS,
                invalidate_flag: DAT_BOOLEAN,
                rmr_context: DAT_RMR_CONTEXT,
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Posts an RDMA read into memory that a context for the remote side names, of an RMR or of an LMR.
            ///
            /// # Parameters
            /// * `ep_handle` - in, a connected endpoint, or a disconnected one, where the read is flushed.
            /// * `local_iov` - in, the local memory, at least as long as the remote one; read during the call.
            /// * `user_cookie` - in, returned in the completion.
            /// * `remote_iov` - in, the remote memory as the other side named it; read during the call.
            /// * `completion_flags` - in, as for dat_ep_post_rdma_read.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` | the endpoint is in this state, neither connected nor disconnected |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `local_iov` is NULL, or not within its region |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | `remote_iov` is NULL |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | a flag that does not apply |
            /// | `DAT_LENGTH_ERROR` | the local memory is shorter than the remote one, or that is longer than `max_rdma_size` of the endpoint |
            /// | `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_WRITE` | a region of another protection zone, or an RMR that is bound over another endpoint |
            /// | `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_WRITE` | no such context, or one without write privilege |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | `max_request_dtos` requests are outstanding |
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the request EVD; none at the other side.
            ///
            /// # Specification
            /// uDAPL 2.0, dat_ep_post_rdma_read_to_rmr.
            extern "C" fn dat_ep_post_rdma_read_to_rmr(
                ep_handle: DAT_EP_HANDLE,
                local_iov: *const DAT_RMR_TRIPLET,
                user_cookie: DAT_DTO_COOKIE,
                remote_iov: *const DAT_RMR_TRIPLET,
                completion_flags: DAT_COMPLETION_FLAGS,
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
    };
}
