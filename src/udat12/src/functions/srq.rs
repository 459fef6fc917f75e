//! Functions: shared receive queues

use crate::dat::*;
use crate::dat_error::DAT_RETURN;
use crate::dat_platform_specific::*;

unsafe extern "C" {
    /// Makes a shared receive queue of at least the sizes in srq_attr, with no endpoint on it.
    /// low_watermark in it must be DAT_SRQ_LW_DEFAULT. dat_srq_query tells the real sizes.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE (adapter, zone), DAT_INVALID_PARAMETER (attributes,
    /// NULL), DAT_MODEL_NOT_SUPPORTED, DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2,
    /// dat_srq_create(3DAT).
    pub fn dat_srq_create(
        ia_handle: DAT_IA_HANDLE,
        pz_handle: DAT_PZ_HANDLE,
        srq_attr: *mut DAT_SRQ_ATTR,
        srq_handle: *mut DAT_SRQ_HANDLE,
    ) -> DAT_RETURN;

    /// Destroys a shared receive queue; buffers on it are dropped without completion.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_STATE (endpoints use it). See uDAPL
    /// 1.2, dat_srq_free(3DAT).
    pub fn dat_srq_free(srq_handle: DAT_SRQ_HANDLE) -> DAT_RETURN;

    /// Posts a receive buffer, which any endpoint of the queue may take; the completion names that
    /// endpoint. The memory must be of the zone of the queue.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (segments),
    /// DAT_PROTECTION_VIOLATION, DAT_PRIVILEGES_VIOLATION (context, local write),
    /// DAT_INSUFFICIENT_RESOURCES (max_recv_dtos buffers are outstanding). See uDAPL 1.2,
    /// dat_srq_post_recv(3DAT).
    pub fn dat_srq_post_recv(
        srq_handle: DAT_SRQ_HANDLE,
        num_segments: DAT_COUNT,
        local_iov: *mut DAT_LMR_TRIPLET,
        user_cookie: DAT_DTO_COOKIE,
    ) -> DAT_RETURN;

    /// Tells the chosen fields of a shared receive queue. A count that cannot be told is
    /// DAT_VALUE_UNKNOWN.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (unknown bits, NULL). See
    /// uDAPL 1.2, dat_srq_query(3DAT).
    pub fn dat_srq_query(
        srq_handle: DAT_SRQ_HANDLE,
        srq_param_mask: DAT_SRQ_PARAM_MASK,
        srq_param: *mut DAT_SRQ_PARAM,
    ) -> DAT_RETURN;

    /// Changes the number of buffers that a shared receive queue can hold. No buffer is lost; the
    /// low watermark stays armed.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (below 1, above the limit),
    /// DAT_INVALID_STATE (fewer than are outstanding, or below the low watermark),
    /// DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2, dat_srq_resize(3DAT).
    pub fn dat_srq_resize(srq_handle: DAT_SRQ_HANDLE, srq_max_recv_dto: DAT_COUNT) -> DAT_RETURN;

    /// Sets and arms the low watermark: as soon as fewer buffers are available, which may be at
    /// once, there is one asynchronous event with reason DAT_SRQ_LOW_WATERMARK_EVENT.
    /// DAT_SRQ_LW_DEFAULT switches off.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (negative, above
    /// max_recv_dtos), DAT_MODEL_NOT_SUPPORTED. See uDAPL 1.2, dat_srq_set_lw(3DAT).
    pub fn dat_srq_set_lw(srq_handle: DAT_SRQ_HANDLE, low_watermark: DAT_COUNT) -> DAT_RETURN;
}
