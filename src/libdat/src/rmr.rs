//! Remote memory regions (RMR).

use dat_udat12::{
    DAT_COMPLETION_FLAGS, DAT_EP_HANDLE, DAT_LMR_TRIPLET, DAT_MEM_PRIV_FLAGS, DAT_PZ_HANDLE, DAT_RMR_CONTEXT,
    DAT_RMR_COOKIE, DAT_RMR_HANDLE, DAT_RMR_PARAM, DAT_RMR_PARAM_MASK,
};

dispatch! {
    /// Makes an RMR that is bound to nothing.
    ///
    /// # Parameters
    /// * `pz_handle` - in, its protection zone.
    /// * `rmr_handle` - out, the RMR; written only on success.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` | not a protection zone |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `rmr_handle` is NULL |
    /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_MEMORY_REGION` | out of memory or of regions |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_rmr_create(3DAT).
    extern "C" fn dat_rmr_create(pz_handle: DAT_PZ_HANDLE, rmr_handle: *mut DAT_RMR_HANDLE)
        as memory => rmr_create_func, DAT_INVALID_HANDLE_PZ
}

dispatch! {
    /// Tells the attributes of an RMR.
    ///
    /// # Parameters
    /// * `rmr_handle` - in, the RMR.
    /// * `rmr_param_mask` - in, the fields that are wanted, bits of `DAT_RMR_FIELD_ALL`.
    /// * `rmr_param` - out, the fields.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RMR` | not an RMR |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `rmr_param` is NULL |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_rmr_query(3DAT).
    extern "C" fn dat_rmr_query(
        rmr_handle: DAT_RMR_HANDLE,
        rmr_param_mask: DAT_RMR_PARAM_MASK,
        rmr_param: *mut DAT_RMR_PARAM,
    ) as memory => rmr_query_func, DAT_INVALID_HANDLE_RMR
}

dispatch! {
    /// Posts a bind: once it completes, the RMR names part of an LMR to the remote side.
    ///
    /// What the RMR was bound to before is no longer accessible through it.
    ///
    /// # Parameters
    /// * `rmr_handle` - in, the RMR.
    /// * `lmr_triplet` - in, the part; a length of 0 only ends the binding there is.
    /// * `mem_priv` - in, remote privileges, bits of `DAT_MEM_PRIV_FLAGS`.
    /// * `ep_handle` - in, an endpoint; connected, or disconnected, where the operation is flushed.
    /// * `user_cookie` - in, comes back in the completion.
    /// * `completion_flags` - in, suppress, unsignalled if the endpoint is configured for it, barrier
    ///   fence.
    /// * `context` - out, the name for the remote side.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RMR`, `DAT_INVALID_HANDLE_EP` | not an RMR; not an endpoint |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2`, `DAT_INVALID_ARG6` | no such LMR, or outside it; flags that do not apply |
    /// | `DAT_INVALID_STATE` / state of the endpoint | neither connected nor disconnected |
    /// | `DAT_PROTECTION_VIOLATION` | LMR, RMR and endpoint are not of one protection zone |
    /// | `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_RDMA_READ`, `DAT_PRIVILEGES_RDMA_WRITE` | more than the LMR allows |
    /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | `max_request_dtos` are outstanding |
    ///
    /// # Events
    /// `DAT_RMR_BIND_COMPLETION_EVENT` on the request EVD of the endpoint.
    ///
    /// # Specification
    /// uDAPL 1.2, dat_rmr_bind(3DAT).
    extern "C" fn dat_rmr_bind(
        rmr_handle: DAT_RMR_HANDLE,
        lmr_triplet: *const DAT_LMR_TRIPLET,
        mem_priv: DAT_MEM_PRIV_FLAGS,
        ep_handle: DAT_EP_HANDLE,
        user_cookie: DAT_RMR_COOKIE,
        completion_flags: DAT_COMPLETION_FLAGS,
        context: *mut DAT_RMR_CONTEXT,
    ) as memory => rmr_bind_func, DAT_INVALID_HANDLE_RMR
}

dispatch! {
    /// Destroys an RMR; a binding ends.
    ///
    /// # Parameters
    /// * `rmr_handle` - in, the RMR.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RMR` | not an RMR |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_rmr_free(3DAT).
    extern "C" fn dat_rmr_free(rmr_handle: DAT_RMR_HANDLE)
        as memory => rmr_free_func, DAT_INVALID_HANDLE_RMR
}
