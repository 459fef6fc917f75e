//! Functions: memory and protection

use crate::dat::*;
use crate::dat_error::DAT_RETURN;

unsafe extern "C" {
    /// Tells the chosen fields of a local memory region.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (unknown bits, NULL). See
    /// uDAPL 1.2, dat_lmr_query(3DAT).
    pub fn dat_lmr_query(
        lmr_handle: DAT_LMR_HANDLE,
        lmr_param_mask: DAT_LMR_PARAM_MASK,
        lmr_param: *mut DAT_LMR_PARAM,
    ) -> DAT_RETURN;

    /// Ends the registration of memory. The memory itself stays.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_STATE (a remote memory region is bound
    /// to it). See uDAPL 1.2, dat_lmr_free(3DAT).
    pub fn dat_lmr_free(lmr_handle: DAT_LMR_HANDLE) -> DAT_RETURN;

    /// Makes what was written locally visible to RDMA reads by others. Needed only where
    /// lmr_sync_req is true.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (segments). See uDAPL 1.2,
    /// dat_lmr_sync_rdma_read(3DAT).
    pub fn dat_lmr_sync_rdma_read(
        ia_handle: DAT_IA_HANDLE,
        local_segments: *const DAT_LMR_TRIPLET,
        num_segments: DAT_VLEN,
    ) -> DAT_RETURN;

    /// Makes what RDMA writes of others brought visible locally. Needed only where lmr_sync_req is
    /// true.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (segments). See uDAPL 1.2,
    /// dat_lmr_sync_rdma_write(3DAT).
    pub fn dat_lmr_sync_rdma_write(
        ia_handle: DAT_IA_HANDLE,
        local_segments: *const DAT_LMR_TRIPLET,
        num_segments: DAT_VLEN,
    ) -> DAT_RETURN;

    /// Makes a remote memory region, bound to nothing.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE (zone), DAT_INVALID_PARAMETER (NULL),
    /// DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2, dat_rmr_create(3DAT).
    pub fn dat_rmr_create(pz_handle: DAT_PZ_HANDLE, rmr_handle: *mut DAT_RMR_HANDLE) -> DAT_RETURN;

    /// Tells the chosen fields of a remote memory region.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (unknown bits, NULL). See
    /// uDAPL 1.2, dat_rmr_query(3DAT).
    pub fn dat_rmr_query(
        rmr_handle: DAT_RMR_HANDLE,
        rmr_param_mask: DAT_RMR_PARAM_MASK,
        rmr_param: *mut DAT_RMR_PARAM,
    ) -> DAT_RETURN;

    /// Posts a bind of a remote memory region to part of a local one, in place of what it was bound
    /// to; a segment_length of 0 unbinds. context names the memory to the remote side once the bind
    /// is complete.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE (region, endpoint), DAT_INVALID_PARAMETER (segment,
    /// flags), DAT_INVALID_STATE (endpoint), DAT_PROTECTION_VIOLATION (zones differ),
    /// DAT_PRIVILEGES_VIOLATION, DAT_INSUFFICIENT_RESOURCES (max_request_dtos). See uDAPL 1.2,
    /// dat_rmr_bind(3DAT).
    pub fn dat_rmr_bind(
        rmr_handle: DAT_RMR_HANDLE,
        lmr_triplet: *const DAT_LMR_TRIPLET,
        mem_priv: DAT_MEM_PRIV_FLAGS,
        ep_handle: DAT_EP_HANDLE,
        user_cookie: DAT_RMR_COOKIE,
        completion_flags: DAT_COMPLETION_FLAGS,
        context: *mut DAT_RMR_CONTEXT,
    ) -> DAT_RETURN;

    /// Destroys a remote memory region, bound or not.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE. See uDAPL 1.2, dat_rmr_free(3DAT).
    pub fn dat_rmr_free(rmr_handle: DAT_RMR_HANDLE) -> DAT_RETURN;

    /// Makes a protection zone.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE (adapter), DAT_INVALID_PARAMETER (NULL),
    /// DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2, dat_pz_create(3DAT).
    pub fn dat_pz_create(ia_handle: DAT_IA_HANDLE, pz_handle: *mut DAT_PZ_HANDLE) -> DAT_RETURN;

    /// Tells the chosen fields of a protection zone.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (unknown bits, NULL). See
    /// uDAPL 1.2, dat_pz_query(3DAT).
    pub fn dat_pz_query(
        pz_handle: DAT_PZ_HANDLE,
        pz_param_mask: DAT_PZ_PARAM_MASK,
        pz_param: *mut DAT_PZ_PARAM,
    ) -> DAT_RETURN;

    /// Destroys a protection zone.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_STATE (objects use it). See uDAPL 1.2,
    /// dat_pz_free(3DAT).
    pub fn dat_pz_free(pz_handle: DAT_PZ_HANDLE) -> DAT_RETURN;
}
