/// Calls: transfers of endpoints. See [`crate::abi`].
#[macro_export]
macro_rules! post_calls {
    ($callback:path) => {
        $callback! {
            /// Posts a send: the segments, in order, form one message to the other side. Returns at once. The list may
            /// be reused then, the memory only after the completion.
            ///
            /// # Parameters
            /// * `ep_handle` - in, a connected endpoint, or a disconnected one, where the send is flushed.
            /// * `num_segments` - in, elements of `local_iov`, 0 to `max_request_iov`; 0 for an empty message.
            /// * `local_iov` - in, the segments; read during the call; NULL only if there are none. Segments of length 0
            ///   are skipped.
            /// * `user_cookie` - in, returned in the completion.
            /// * `completion_flags` - in, `DAT_COMPLETION_SUPPRESS_FLAG`, `DAT_COMPLETION_SOLICITED_WAIT_FLAG`,
            ///   `DAT_COMPLETION_BARRIER_FENCE_FLAG`, and `DAT_COMPLETION_UNSIGNALLED_FLAG` if the endpoint is configured
            ///   for it.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` | the endpoint is in this state, neither connected nor disconnected |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the number of segments is negative or above `max_request_iov` |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | NULL with a count, or a segment is not within its LMR |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | a flag that does not apply |
            /// | `DAT_LENGTH_ERROR` | longer than `max_message_size` of the endpoint |
            /// | `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_READ` | an LMR of another protection zone |
            /// | `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_READ` | no such LMR, or one without any local privilege |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | `max_request_dtos` requests are outstanding |
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the request EVD.
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ep_post_send(3DAT).
            extern "C" fn dat_ep_post_send(
                ep_handle: DAT_EP_HANDLE,
                num_segments: DAT_COUNT,
                local_iov: *mut DAT_LMR_TRIPLET,
                user_cookie: DAT_DTO_COOKIE,
                completion_flags: DAT_COMPLETION_FLAGS,
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Posts a receive: one message fills the segments in order. Possible in every state; on a disconnected
            /// endpoint the receive is flushed.
            ///
            /// # Parameters
            /// * `ep_handle` - in, an endpoint without an SRQ.
            /// * `num_segments` - in, elements of `local_iov`, 0 to `max_recv_iov`; 0 for an empty message.
            /// * `local_iov` - in, the segments; read during the call; NULL only if there are none. Segments of length 0
            ///   are skipped.
            /// * `user_cookie` - in, returned in the completion.
            /// * `completion_flags` - in, `DAT_COMPLETION_UNSIGNALLED_FLAG` if the endpoint is configured for it, else
            ///   none.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
            /// | `DAT_INVALID_STATE` | the endpoint takes its buffers from an SRQ |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_NOTREADY` | the endpoint has no protection zone or no receive EVD |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the number of segments is negative or above `max_recv_iov` |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | NULL with a count, or a segment is not within its LMR |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | a flag that does not apply |
            /// | `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_WRITE` | an LMR of another protection zone |
            /// | `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_WRITE` | no such LMR, or one without local write privilege |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | `max_recv_dtos` receives are outstanding |
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the receive EVD.
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ep_post_recv(3DAT).
            extern "C" fn dat_ep_post_recv(
                ep_handle: DAT_EP_HANDLE,
                num_segments: DAT_COUNT,
                local_iov: *mut DAT_LMR_TRIPLET,
                user_cookie: DAT_DTO_COOKIE,
                completion_flags: DAT_COMPLETION_FLAGS,
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Posts an RDMA read: remote memory is copied into the segments, in order.
            ///
            /// # Parameters
            /// * `ep_handle` - in, a connected endpoint, or a disconnected one, where the read is flushed.
            /// * `num_segments` - in, elements of `local_iov`, 0 to `max_rdma_read_iov`.
            /// * `local_iov` - in, the segments, together at least as long as the remote memory; read during the call;
            ///   NULL only if there are none. Segments of length 0 are skipped.
            /// * `user_cookie` - in, returned in the completion.
            /// * `remote_iov` - in, the remote memory as the other side named it; read during the call.
            /// * `completion_flags` - in, `DAT_COMPLETION_SUPPRESS_FLAG`, `DAT_COMPLETION_BARRIER_FENCE_FLAG`, and
            ///   `DAT_COMPLETION_UNSIGNALLED_FLAG` if the endpoint is configured for it.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` | the endpoint is in this state, neither connected nor disconnected |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the number of segments is negative or above `max_rdma_read_iov` |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | NULL with a count, or a segment is not within its LMR |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | `remote_iov` is NULL |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` | a flag that does not apply |
            /// | `DAT_LENGTH_ERROR` | the segments are shorter than the remote memory, or it is longer than `max_rdma_size` of the endpoint |
            /// | `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_WRITE` | an LMR of another protection zone |
            /// | `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_WRITE` | no such LMR, or one without local write privilege |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | `max_request_dtos` requests are outstanding |
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the request EVD; none at the other side.
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ep_post_rdma_read(3DAT).
            extern "C" fn dat_ep_post_rdma_read(
                ep_handle: DAT_EP_HANDLE,
                num_segments: DAT_COUNT,
                local_iov: *mut DAT_LMR_TRIPLET,
                user_cookie: DAT_DTO_COOKIE,
                remote_iov: *const DAT_RMR_TRIPLET,
                completion_flags: DAT_COMPLETION_FLAGS,
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
        $callback! {
            /// Posts an RDMA write: the segments, in order, are copied into remote memory.
            ///
            /// # Parameters
            /// * `ep_handle` - in, a connected endpoint, or a disconnected one, where the write is flushed.
            /// * `num_segments` - in, elements of `local_iov`, 0 to `max_rdma_write_iov`.
            /// * `local_iov` - in, the segments; read during the call; NULL only if there are none. Segments of length 0
            ///   are skipped.
            /// * `user_cookie` - in, returned in the completion.
            /// * `remote_iov` - in, the remote memory as the other side named it, at least as long as the segments
            ///   together; read during the call.
            /// * `completion_flags` - in, `DAT_COMPLETION_SUPPRESS_FLAG`, `DAT_COMPLETION_BARRIER_FENCE_FLAG`, and
            ///   `DAT_COMPLETION_UNSIGNALLED_FLAG` if the endpoint is configured for it.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` | the endpoint is in this state, neither connected nor disconnected |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the number of segments is negative or above `max_rdma_write_iov` |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | NULL with a count, or a segment is not within its LMR |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | `remote_iov` is NULL |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` | a flag that does not apply |
            /// | `DAT_LENGTH_ERROR` | the remote memory is shorter than the segments, or they are longer than `max_rdma_size` of the endpoint |
            /// | `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_READ` | an LMR of another protection zone |
            /// | `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_READ` | no such LMR, or one without any local privilege |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | `max_request_dtos` requests are outstanding |
            ///
            /// # Events
            /// `DAT_DTO_COMPLETION_EVENT` on the request EVD; none at the other side.
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ep_post_rdma_write(3DAT).
            extern "C" fn dat_ep_post_rdma_write(
                ep_handle: DAT_EP_HANDLE,
                num_segments: DAT_COUNT,
                local_iov: *mut DAT_LMR_TRIPLET,
                user_cookie: DAT_DTO_COOKIE,
                remote_iov: *const DAT_RMR_TRIPLET,
                completion_flags: DAT_COMPLETION_FLAGS,
            ) => dispatch(DAT_INVALID_HANDLE_EP);
        }
    };
}
