//! The fast path: posting, dequeueing, waiting.
//!
//! What a data transfer costs here is a load, a compare and an indirect jump. Nothing in this file may
//! allocate, lock, make a system call or panic. The two waits are cancellation points: a thread that
//! `pthread_cancel` ends in one of them is unwound through its frame, which owns nothing.

use dat_udat12::{
    DAT_CNO_HANDLE, DAT_COMPLETION_FLAGS, DAT_COUNT, DAT_DTO_COOKIE, DAT_EP_HANDLE, DAT_EVD_HANDLE, DAT_EVENT,
    DAT_LMR_TRIPLET, DAT_RMR_TRIPLET, DAT_SRQ_HANDLE, DAT_TIMEOUT,
};

dispatch! {
    /// Posts a send: the segments, one after the other, are one message.
    ///
    /// Returns at once; the memory belongs to the operation until it completes.
    ///
    /// # Parameters
    /// * `ep_handle` - in, an endpoint; connected, or disconnected, where the operation is flushed.
    /// * `num_segments` - in, elements of `local_iov`; 0 for an empty message.
    /// * `local_iov` - in, the segments; read during the call; NULL only if there are none.
    /// * `user_cookie` - in, comes back in the completion.
    /// * `completion_flags` - in, bits of `DAT_COMPLETION_FLAGS`: suppress, unsignalled if the endpoint
    ///   is configured for it, solicited wait, barrier fence.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
    /// | `DAT_INVALID_STATE` / state of the endpoint | neither connected nor disconnected |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | a negative number of segments, or too many |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | segments NULL, or outside their LMR |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | flags that do not apply |
    /// | `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_READ` | an LMR of another protection zone |
    /// | `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_READ` | no such LMR |
    /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | `max_request_dtos` are outstanding |
    ///
    /// # Events
    /// `DAT_DTO_COMPLETION_EVENT` on the request EVD.
    ///
    /// # Specification
    /// uDAPL 1.2, dat_ep_post_send(3DAT).
    extern "C" fn dat_ep_post_send(
        ep_handle: DAT_EP_HANDLE,
        num_segments: DAT_COUNT,
        local_iov: *mut DAT_LMR_TRIPLET,
        user_cookie: DAT_DTO_COOKIE,
        completion_flags: DAT_COMPLETION_FLAGS,
    ) as dto => ep_post_send_func, DAT_INVALID_HANDLE_EP
}

dispatch! {
    /// Posts a receive: the segments, one after the other, take one message.
    ///
    /// Possible in every state of the endpoint; one that is disconnected flushes it.
    ///
    /// # Parameters
    /// * `ep_handle` - in, an endpoint without a shared receive queue.
    /// * `num_segments` - in, elements of `local_iov`; 0 for an empty message.
    /// * `local_iov` - in, the segments; read during the call; NULL only if there are none.
    /// * `user_cookie` - in, comes back in the completion.
    /// * `completion_flags` - in, unsignalled if the endpoint is configured for it, else none.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
    /// | `DAT_INVALID_STATE` | the endpoint takes its buffers from a shared receive queue |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | a negative number of segments, or too many |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | segments NULL, or outside their LMR |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | flags that do not apply |
    /// | `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_WRITE` | an LMR of another protection zone |
    /// | `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_WRITE` | no such LMR, or no local write privilege |
    /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | `max_recv_dtos` are outstanding |
    ///
    /// # Events
    /// `DAT_DTO_COMPLETION_EVENT` on the receive EVD.
    ///
    /// # Specification
    /// uDAPL 1.2, dat_ep_post_recv(3DAT).
    extern "C" fn dat_ep_post_recv(
        ep_handle: DAT_EP_HANDLE,
        num_segments: DAT_COUNT,
        local_iov: *mut DAT_LMR_TRIPLET,
        user_cookie: DAT_DTO_COOKIE,
        completion_flags: DAT_COMPLETION_FLAGS,
    ) as dto => ep_post_recv_func, DAT_INVALID_HANDLE_EP
}

dispatch! {
    /// Posts an RDMA read: remote memory is copied into the segments, one after the other.
    ///
    /// # Parameters
    /// * `ep_handle` - in, an endpoint; connected, or disconnected, where the operation is flushed.
    /// * `num_segments` - in, elements of `local_iov`.
    /// * `local_iov` - in, the segments; read during the call; NULL only if there are none.
    /// * `user_cookie` - in, comes back in the completion.
    /// * `remote_iov` - in, the remote memory; read during the call.
    /// * `completion_flags` - in, suppress, unsignalled if the endpoint is configured for it, barrier
    ///   fence.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
    /// | `DAT_INVALID_STATE` / state of the endpoint | neither connected nor disconnected |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2`, `DAT_INVALID_ARG3` | number of segments; segments |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5`, `DAT_INVALID_ARG6` | `remote_iov` NULL; flags that do not apply |
    /// | `DAT_LENGTH_ERROR` | the segments are smaller than the remote memory |
    /// | `DAT_PROTECTION_VIOLATION`, `DAT_PRIVILEGES_VIOLATION` | an LMR of another zone; no such LMR, or no local write privilege |
    /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | `max_request_dtos` are outstanding |
    ///
    /// # Events
    /// `DAT_DTO_COMPLETION_EVENT` on the request EVD.
    ///
    /// # Specification
    /// uDAPL 1.2, dat_ep_post_rdma_read(3DAT).
    extern "C" fn dat_ep_post_rdma_read(
        ep_handle: DAT_EP_HANDLE,
        num_segments: DAT_COUNT,
        local_iov: *mut DAT_LMR_TRIPLET,
        user_cookie: DAT_DTO_COOKIE,
        remote_iov: *const DAT_RMR_TRIPLET,
        completion_flags: DAT_COMPLETION_FLAGS,
    ) as dto => ep_post_rdma_read_func, DAT_INVALID_HANDLE_EP
}

dispatch! {
    /// Posts an RDMA write: the segments, one after the other, are copied into remote memory.
    ///
    /// # Parameters
    /// * `ep_handle` - in, an endpoint; connected, or disconnected, where the operation is flushed.
    /// * `num_segments` - in, elements of `local_iov`.
    /// * `local_iov` - in, the segments; read during the call; NULL only if there are none.
    /// * `user_cookie` - in, comes back in the completion.
    /// * `remote_iov` - in, the remote memory; read during the call.
    /// * `completion_flags` - in, suppress, unsignalled if the endpoint is configured for it, barrier
    ///   fence.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
    /// | `DAT_INVALID_STATE` / state of the endpoint | neither connected nor disconnected |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2`, `DAT_INVALID_ARG3` | number of segments; segments |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5`, `DAT_INVALID_ARG6` | `remote_iov` NULL; flags that do not apply |
    /// | `DAT_LENGTH_ERROR` | the remote memory is smaller than the segments |
    /// | `DAT_PROTECTION_VIOLATION`, `DAT_PRIVILEGES_VIOLATION` | an LMR of another zone; no such LMR |
    /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | `max_request_dtos` are outstanding |
    ///
    /// # Events
    /// `DAT_DTO_COMPLETION_EVENT` on the request EVD.
    ///
    /// # Specification
    /// uDAPL 1.2, dat_ep_post_rdma_write(3DAT).
    extern "C" fn dat_ep_post_rdma_write(
        ep_handle: DAT_EP_HANDLE,
        num_segments: DAT_COUNT,
        local_iov: *mut DAT_LMR_TRIPLET,
        user_cookie: DAT_DTO_COOKIE,
        remote_iov: *const DAT_RMR_TRIPLET,
        completion_flags: DAT_COMPLETION_FLAGS,
    ) as dto => ep_post_rdma_write_func, DAT_INVALID_HANDLE_EP
}

dispatch! {
    /// Posts a receive buffer to a shared receive queue; any endpoint of the queue may take it.
    ///
    /// # Parameters
    /// * `srq_handle` - in, the queue.
    /// * `num_segments` - in, elements of `local_iov`, at most `max_recv_iov` of the queue.
    /// * `local_iov` - in, the segments, of the protection zone of the queue; read during the call; NULL
    ///   only if there are none.
    /// * `user_cookie` - in, comes back in the completion.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` | not a shared receive queue |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | a negative number of segments, or too many |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | segments NULL, or outside their LMR |
    /// | `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_WRITE` | an LMR of another protection zone |
    /// | `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_WRITE` | no such LMR, or no local write privilege |
    /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | `max_recv_dtos` buffers are outstanding |
    ///
    /// # Events
    /// `DAT_DTO_COMPLETION_EVENT` on the receive EVD of the endpoint that took the buffer.
    ///
    /// # Specification
    /// uDAPL 1.2, dat_srq_post_recv(3DAT).
    extern "C" fn dat_srq_post_recv(
        srq_handle: DAT_SRQ_HANDLE,
        num_segments: DAT_COUNT,
        local_iov: *mut DAT_LMR_TRIPLET,
        user_cookie: DAT_DTO_COOKIE,
    ) as srq => srq_post_recv_func, DAT_INVALID_HANDLE_SRQ
}

dispatch! {
    /// Takes the oldest event off an EVD, without waiting.
    ///
    /// # Parameters
    /// * `evd_handle` - in, the EVD, whether enabled, waitable or not.
    /// * `event` - out, the event; written only on success.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_QUEUE_EMPTY` | no event is queued |
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `event` is NULL |
    /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_WAITER` | a thread waits on it |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_evd_dequeue(3DAT).
    extern "C" fn dat_evd_dequeue(evd_handle: DAT_EVD_HANDLE, event: *mut DAT_EVENT)
        as evd => evd_dequeue_func, DAT_INVALID_HANDLE1
}

dispatch! {
    /// Waits until enough events are queued on an EVD and takes the oldest.
    ///
    /// One thread can wait on an EVD at a time. A cancellation point.
    ///
    /// # Parameters
    /// * `evd_handle` - in, a waitable EVD.
    /// * `timeout` - in, microseconds; `DAT_TIMEOUT_INFINITE` waits for ever.
    /// * `threshold` - in, events that must be queued, 1 to the length of the EVD.
    /// * `event` - out, the event; written only on success.
    /// * `n_more_events` - out, events that remain; written on success, and when time ran out.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_TIMEOUT_EXPIRED` | time ran out first; nothing was taken |
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an EVD |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | threshold below 1 or above the length |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4`, `DAT_INVALID_ARG5` | that pointer is NULL |
    /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_WAITER` | another thread waits on it |
    /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_UNWAITABLE` | it is, or became, unwaitable |
    /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_CONFIG_NOTIFY`, `DAT_INVALID_STATE_EVD_CONFIG_SOLICITED` | threshold above 1, and an endpoint that feeds it has such completion flags |
    /// | `DAT_INTERRUPTED_CALL` | a signal was caught |
    /// | `DAT_ABORT` | the IA was closed meanwhile |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_evd_wait(3DAT).
    extern "C-unwind" fn dat_evd_wait(
        evd_handle: DAT_EVD_HANDLE,
        timeout: DAT_TIMEOUT,
        threshold: DAT_COUNT,
        event: *mut DAT_EVENT,
        n_more_events: *mut DAT_COUNT,
    ) as udat => evd_wait_func, DAT_INVALID_HANDLE1
}

dispatch! {
    /// Waits until an EVD attached to a CNO triggers it.
    ///
    /// A cancellation point.
    ///
    /// # Parameters
    /// * `cno_handle` - in, the CNO.
    /// * `timeout` - in, microseconds; `DAT_TIMEOUT_INFINITE` waits for ever.
    /// * `evd_handle` - out, an EVD that triggered it, as a hint; `DAT_HANDLE_NULL` when time ran out or
    ///   the IA was closed.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_QUEUE_EMPTY` | time ran out first |
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` | not a CNO |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `evd_handle` is NULL |
    /// | `DAT_INTERRUPTED_CALL` | a signal was caught |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_cno_wait(3DAT).
    extern "C-unwind" fn dat_cno_wait(
        cno_handle: DAT_CNO_HANDLE,
        timeout: DAT_TIMEOUT,
        evd_handle: *mut DAT_EVD_HANDLE,
    ) as udat => cno_wait_func, DAT_INVALID_HANDLE_CNO
}
