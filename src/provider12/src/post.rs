//! The fast slots: posting and dequeuing.
//!
//! Nothing here allocates, formats, makes a system call or panics. Errors are built in
//! functions that are out of the way. Should the core or a transport panic all the same, the
//! process ends: there is no frame here that catches.

use dat_core::error::{Arg, Role};
use dat_core::transport::RemoteSegment;
use dat_core::{Endpoint, Evd, Held, Object, Srq};
use dat_udat12::{
    DAT_COMPLETION_FLAGS, DAT_COUNT, DAT_DTO_COOKIE, DAT_EP_HANDLE, DAT_EVD_HANDLE, DAT_EVENT, DAT_HANDLE,
    DAT_LMR_TRIPLET, DAT_RETURN, DAT_RMR_TRIPLET, DAT_SRQ_HANDLE, DAT_SUCCESS,
};
use host::cancel::uncancelled;

use crate::error::{Answer, At, Positions, invalid_handle};
use crate::event::c_event;
use crate::handle::Face;
use crate::ptr::{self, InPtr, OutPtr, Room};

/// Where the arguments of a send or receive stand.
const TRANSFER: Positions = &[(Arg::SegmentCount, 2), (Arg::Segments, 3), (Arg::Flags, 5)];
/// Where the arguments of an RDMA operation stand.
const RDMA: Positions = &[(Arg::SegmentCount, 2), (Arg::Segments, 3), (Arg::RemoteSegment, 5), (Arg::Flags, 6)];

/// Runs the body of a fast slot and gives its return code. The thread cannot be cancelled
/// meanwhile.
#[inline(always)]
fn fast(body: impl FnOnce() -> Answer<()>) -> DAT_RETURN {
    uncancelled(|| match body() {
        Ok(()) => DAT_SUCCESS,
        Err(code) => code,
    })
}

/// Enters the object behind `handle`, which plays `role` in the call.
#[inline(always)]
fn enter<F: Face, O: Object>(handle: DAT_HANDLE, role: Role) -> Answer<Held<'static, O>> {
    F::domain().get::<O>(handle).ok_or_else(|| invalid_handle(role))
}

/// The remote segment of an RDMA operation, its fifth argument.
#[inline(always)]
fn remote(triplet: InPtr<DAT_RMR_TRIPLET>) -> Answer<RemoteSegment> {
    let triplet = triplet.required(5)?;
    Ok(RemoteSegment { addr: triplet.target_address, len: triplet.segment_length, key: triplet.rmr_context })
}

/// Slot of dat_ep_post_send: posts a send.
///
/// Segments of length 0 are passed over. The list may be reused at once, the memory when the
/// completion has come.
///
/// # Parameters
/// * `ep_handle` - in, the endpoint, `CONNECTED`, or `DISCONNECTED` for a send that is flushed.
/// * `num_segments` - in, elements of the list, 0 to `max_request_iov`.
/// * `local_iov` - in, the memory, in order; may be NULL for none.
/// * `user_cookie` - in, comes back in the completion.
/// * `completion_flags` - in, `DAT_COMPLETION_SUPPRESS_FLAG`, `..._SOLICITED_WAIT_FLAG`,
///   `..._BARRIER_FENCE_FLAG`, and `..._UNSIGNALLED_FLAG` if the endpoint is configured for it.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the count is negative or above the endpoint's limit |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | the list is NULL with a count; a segment is out of its region's bounds |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | a flag that is not valid here |
/// | `DAT_INVALID_STATE` / that of the state | another state |
/// | `DAT_LENGTH_ERROR` | longer than `max_message_size` |
/// | `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_READ` | no such region, or it grants no local access |
/// | `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_READ` | a region of another zone |
/// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | `max_request_dtos` requests are outstanding |
///
/// # Events
/// `DAT_DTO_COMPLETION_EVENT` on the request EVD.
///
/// # Specification
/// uDAPL 1.2, dat_ep_post_send(3DAT).
///
/// # Safety
/// `local_iov` is NULL or has that many elements.
pub unsafe extern "C" fn ep_post_send<F: Face>(
    ep_handle: DAT_EP_HANDLE,
    num_segments: DAT_COUNT,
    local_iov: *mut DAT_LMR_TRIPLET,
    user_cookie: DAT_DTO_COOKIE,
    completion_flags: DAT_COMPLETION_FLAGS,
) -> DAT_RETURN {
    fast(|| {
        let ep = enter::<F, Endpoint<F>>(ep_handle, Role::Ep)?;
        let mut room = Room::new();
        // SAFETY: the caller's promise.
        let segments = unsafe { room.read(num_segments, local_iov) }?;
        ep.post_send(segments, ptr::word(user_cookie), completion_flags).at(TRANSFER)
    })
}

/// Slot of dat_ep_post_recv: posts a receive buffer.
///
/// # Parameters
/// * `ep_handle` - in, the endpoint, in any state; in `DISCONNECTED` the receive is flushed.
/// * `num_segments`, `local_iov` - as for [`ep_post_send`], up to `max_recv_iov`.
/// * `user_cookie` - in, comes back in the completion.
/// * `completion_flags` - in, none, or `DAT_COMPLETION_UNSIGNALLED_FLAG` if the endpoint is configured for it.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
/// | `DAT_INVALID_STATE` | the endpoint receives from a shared receive queue |
/// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_NOTREADY` | it has no zone or no receive EVD |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the count is negative or above the endpoint's limit |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | the list is NULL with a count; a segment is out of its region's bounds |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | a flag that is not valid here |
/// | `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_WRITE` | no such region, or it grants no local write |
/// | `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_WRITE` | a region of another zone |
/// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | `max_recv_dtos` receives are outstanding |
///
/// # Events
/// `DAT_DTO_COMPLETION_EVENT` on the receive EVD.
///
/// # Specification
/// uDAPL 1.2, dat_ep_post_recv(3DAT).
///
/// # Safety
/// `local_iov` is NULL or has that many elements.
pub unsafe extern "C" fn ep_post_recv<F: Face>(
    ep_handle: DAT_EP_HANDLE,
    num_segments: DAT_COUNT,
    local_iov: *mut DAT_LMR_TRIPLET,
    user_cookie: DAT_DTO_COOKIE,
    completion_flags: DAT_COMPLETION_FLAGS,
) -> DAT_RETURN {
    fast(|| {
        let ep = enter::<F, Endpoint<F>>(ep_handle, Role::Ep)?;
        let mut room = Room::new();
        // SAFETY: the caller's promise.
        let segments = unsafe { room.read(num_segments, local_iov) }?;
        ep.post_recv(segments, ptr::word(user_cookie), completion_flags).at(TRANSFER)
    })
}

/// Slot of dat_ep_post_rdma_read: posts a read of the peer's memory.
///
/// # Parameters
/// * `ep_handle` - in, the endpoint, `CONNECTED`, or `DISCONNECTED` for a read that is flushed.
/// * `num_segments`, `local_iov` - as for [`ep_post_send`], up to `max_rdma_read_iov`; at least as long as
///   the remote memory.
/// * `user_cookie` - in, comes back in the completion.
/// * `remote_iov` - in, the peer's memory as the peer named it.
/// * `completion_flags` - in, `DAT_COMPLETION_SUPPRESS_FLAG`, `..._BARRIER_FENCE_FLAG`, and
///   `..._UNSIGNALLED_FLAG` if the endpoint is configured for it.
///
/// # Errors
/// As for [`ep_post_send`], but:
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | `remote_iov` is NULL |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` | a flag that is not valid here |
/// | `DAT_LENGTH_ERROR` | the local memory is shorter than the remote one; longer than `max_rdma_size` |
/// | `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_WRITE` | no such region, or it grants no local write |
/// | `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_WRITE` | a region of another zone |
///
/// # Events
/// `DAT_DTO_COMPLETION_EVENT` on the request EVD.
///
/// # Specification
/// uDAPL 1.2, dat_ep_post_rdma_read(3DAT).
///
/// # Safety
/// `local_iov` is NULL or has that many elements; `remote_iov` is NULL or readable.
pub unsafe extern "C" fn ep_post_rdma_read<F: Face>(
    ep_handle: DAT_EP_HANDLE,
    num_segments: DAT_COUNT,
    local_iov: *mut DAT_LMR_TRIPLET,
    user_cookie: DAT_DTO_COOKIE,
    remote_iov: *const DAT_RMR_TRIPLET,
    completion_flags: DAT_COMPLETION_FLAGS,
) -> DAT_RETURN {
    fast(|| {
        let ep = enter::<F, Endpoint<F>>(ep_handle, Role::Ep)?;
        let mut room = Room::new();
        // SAFETY: the caller's promise.
        let segments = unsafe { room.read(num_segments, local_iov) }?;
        // SAFETY: the caller's promise.
        let remote = remote(unsafe { InPtr::new(remote_iov) })?;
        ep.post_read(segments, ptr::word(user_cookie), remote, completion_flags).at(RDMA)
    })
}

/// Slot of dat_ep_post_rdma_write: posts a write to the peer's memory.
///
/// # Parameters
/// As for [`ep_post_rdma_read`], with `max_rdma_write_iov`; the remote memory is at least as long as
/// the local one.
///
/// # Errors
/// As for [`ep_post_send`], but:
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | `remote_iov` is NULL |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` | a flag that is not valid here |
/// | `DAT_LENGTH_ERROR` | the remote memory is shorter than the local one; longer than `max_rdma_size` |
///
/// # Events
/// `DAT_DTO_COMPLETION_EVENT` on the request EVD; none at the peer.
///
/// # Specification
/// uDAPL 1.2, dat_ep_post_rdma_write(3DAT).
///
/// # Safety
/// `local_iov` is NULL or has that many elements; `remote_iov` is NULL or readable.
pub unsafe extern "C" fn ep_post_rdma_write<F: Face>(
    ep_handle: DAT_EP_HANDLE,
    num_segments: DAT_COUNT,
    local_iov: *mut DAT_LMR_TRIPLET,
    user_cookie: DAT_DTO_COOKIE,
    remote_iov: *const DAT_RMR_TRIPLET,
    completion_flags: DAT_COMPLETION_FLAGS,
) -> DAT_RETURN {
    fast(|| {
        let ep = enter::<F, Endpoint<F>>(ep_handle, Role::Ep)?;
        let mut room = Room::new();
        // SAFETY: the caller's promise.
        let segments = unsafe { room.read(num_segments, local_iov) }?;
        // SAFETY: the caller's promise.
        let remote = remote(unsafe { InPtr::new(remote_iov) })?;
        ep.post_write(segments, ptr::word(user_cookie), remote, completion_flags).at(RDMA)
    })
}

/// Slot of dat_srq_post_recv: posts a receive buffer to a shared receive queue.
///
/// The endpoint that takes it tells its completion, which notifies as that endpoint's attributes say.
///
/// # Parameters
/// * `srq_handle` - in, the queue.
/// * `num_segments`, `local_iov` - as for [`ep_post_send`], up to `max_recv_iov` of the queue.
/// * `user_cookie` - in, comes back in the completion.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` | not a shared receive queue |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the count is negative or above the queue's limit |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | the list is NULL with a count; a segment is out of its region's bounds |
/// | `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_WRITE` | no such region, or it grants no local write |
/// | `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_WRITE` | a region of another zone than the queue's |
/// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | `max_recv_dtos` buffers are outstanding |
///
/// # Events
/// `DAT_DTO_COMPLETION_EVENT` on the receive EVD of the endpoint that took the buffer.
///
/// # Specification
/// uDAPL 1.2, dat_srq_post_recv(3DAT).
///
/// # Safety
/// `local_iov` is NULL or has that many elements.
pub unsafe extern "C" fn srq_post_recv<F: Face>(
    srq_handle: DAT_SRQ_HANDLE,
    num_segments: DAT_COUNT,
    local_iov: *mut DAT_LMR_TRIPLET,
    user_cookie: DAT_DTO_COOKIE,
) -> DAT_RETURN {
    fast(|| {
        let srq = enter::<F, Srq<F>>(srq_handle, Role::Srq)?;
        let mut room = Room::new();
        // SAFETY: the caller's promise.
        let segments = unsafe { room.read(num_segments, local_iov) }?;
        srq.post_recv(segments, ptr::word(user_cookie)).at(TRANSFER)
    })
}

/// Slot of dat_evd_dequeue: takes the oldest event, without waiting.
///
/// # Parameters
/// * `evd_handle` - in, the dispatcher, also if it is disabled or unwaitable.
/// * `event` - out, the event.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not a dispatcher |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `event` is NULL |
/// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_WAITER` | a thread waits on it |
/// | `DAT_QUEUE_EMPTY` | nothing is queued |
///
/// # Specification
/// uDAPL 1.2, dat_evd_dequeue(3DAT).
///
/// # Safety
/// `event` is NULL or writable.
pub unsafe extern "C" fn evd_dequeue<F: Face>(evd_handle: DAT_EVD_HANDLE, event: *mut DAT_EVENT) -> DAT_RETURN {
    fast(|| {
        let evd = enter::<F, Evd<F>>(evd_handle, Role::Evd)?;
        // SAFETY: the caller's promise.
        let out = unsafe { OutPtr::new(event) }.required(2)?;
        let event = evd.dequeue().at(&[])?;
        out.write(c_event::<F>(evd_handle, event));
        Ok(())
    })
}
