//! Functions: data transfers

use crate::dat::*;
use crate::dat_error::DAT_RETURN;
use crate::dat_platform_specific::*;

unsafe extern "C" {
    /// Posts a send: the segments, in order, are one message to the other side.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (segments, flags),
    /// DAT_INVALID_STATE (neither connected nor disconnected), DAT_LENGTH_ERROR,
    /// DAT_PROTECTION_VIOLATION, DAT_PRIVILEGES_VIOLATION, DAT_INSUFFICIENT_RESOURCES
    /// (max_request_dtos). See uDAPL 1.2, dat_ep_post_send(3DAT).
    pub fn dat_ep_post_send(
        ep_handle: DAT_EP_HANDLE,
        num_segments: DAT_COUNT,
        local_iov: *mut DAT_LMR_TRIPLET,
        user_cookie: DAT_DTO_COOKIE,
        completion_flags: DAT_COMPLETION_FLAGS,
    ) -> DAT_RETURN;

    /// Posts a receive: the segments are filled in order by one message. Possible in every state.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (segments, flags),
    /// DAT_INVALID_STATE (the endpoint has a shared receive queue), DAT_PROTECTION_VIOLATION,
    /// DAT_PRIVILEGES_VIOLATION, DAT_INSUFFICIENT_RESOURCES (max_recv_dtos). See uDAPL 1.2,
    /// dat_ep_post_recv(3DAT).
    pub fn dat_ep_post_recv(
        ep_handle: DAT_EP_HANDLE,
        num_segments: DAT_COUNT,
        local_iov: *mut DAT_LMR_TRIPLET,
        user_cookie: DAT_DTO_COOKIE,
        completion_flags: DAT_COMPLETION_FLAGS,
    ) -> DAT_RETURN;

    /// Posts an RDMA read: the remote memory is copied to the local segments in order.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (segments, flags),
    /// DAT_INVALID_STATE (neither connected nor disconnected), DAT_LENGTH_ERROR (local memory
    /// smaller than remote), DAT_PROTECTION_VIOLATION, DAT_PRIVILEGES_VIOLATION,
    /// DAT_INSUFFICIENT_RESOURCES (max_request_dtos). See uDAPL 1.2, dat_ep_post_rdma_read(3DAT).
    pub fn dat_ep_post_rdma_read(
        ep_handle: DAT_EP_HANDLE,
        num_segments: DAT_COUNT,
        local_iov: *mut DAT_LMR_TRIPLET,
        user_cookie: DAT_DTO_COOKIE,
        remote_iov: *const DAT_RMR_TRIPLET,
        completion_flags: DAT_COMPLETION_FLAGS,
    ) -> DAT_RETURN;

    /// Posts an RDMA write: the local segments in order are copied to the remote memory.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (segments, flags),
    /// DAT_INVALID_STATE (neither connected nor disconnected), DAT_LENGTH_ERROR (remote memory
    /// smaller than local), DAT_PROTECTION_VIOLATION, DAT_PRIVILEGES_VIOLATION,
    /// DAT_INSUFFICIENT_RESOURCES (max_request_dtos). See uDAPL 1.2, dat_ep_post_rdma_write(3DAT).
    pub fn dat_ep_post_rdma_write(
        ep_handle: DAT_EP_HANDLE,
        num_segments: DAT_COUNT,
        local_iov: *mut DAT_LMR_TRIPLET,
        user_cookie: DAT_DTO_COOKIE,
        remote_iov: *const DAT_RMR_TRIPLET,
        completion_flags: DAT_COMPLETION_FLAGS,
    ) -> DAT_RETURN;
}
