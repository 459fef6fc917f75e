/// The RMR call that differs in 2.0. See [`rmr_calls`](dat_udat::rmr_calls).
#[macro_export]
macro_rules! own_rmr_calls {
    ($callback:path) => {
        $callback! {
            /// Posts a bind. When the bind completes, the RMR gives peers access to a part of an LMR instead of the
            /// part to which it was bound before. A segment_length of 0 only ends the existing binding.
            ///
            /// The bind is a request of the endpoint, in order with its other requests. The call returns the new
            /// context immediately, but peers can use it only when the bind is complete. The old context becomes
            /// invalid at the same time.
            ///
            /// # Returns
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RMR` - `rmr_handle` is not a remote memory region
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_LMR` - `lmr_handle` is not a local memory region of the same adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint of the same adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `lmr_triplet` is NULL, its context does not belong to `lmr_handle`, or the range is not inside the local memory region
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `mem_priv` has an unknown bit
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `va_type` is not a `DAT_VA_TYPE`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - the region is a region of dat_rmr_create_for_ep that is bound over another endpoint
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG8` - `completion_flags` has a flag that is not allowed for the operation or the endpoint
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG9` - `context` is NULL, and the call does not unbind
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` - the endpoint is neither connected nor disconnected
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_RDMA_READ` - the protection zones of the remote memory region, the local memory region and the endpoint differ
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_RDMA_READ`, `..._WRITE` - the local memory region lacks the local privilege that corresponds to the remote privilege
            /// * `DAT_MODEL_NOT_SUPPORTED` - `va_type` is `DAT_VA_TYPE_ZB`, and the transport does not support zero-based addresses
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_request_dtos` requests are outstanding
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY_REGION` - the transport has no memory window left
            ///
            /// # Events
            /// `DAT_RMR_BIND_COMPLETION_EVENT` on the request EVD of the endpoint.
            extern "C" fn dat_rmr_bind(
                rmr_handle: DAT_RMR_HANDLE, "in, the remote memory region.";
                lmr_handle: DAT_LMR_HANDLE, "in, the local memory region; ignored if the call unbinds.";
                lmr_triplet: *const DAT_LMR_TRIPLET,
                    "in, the part of the local memory region. A length of 0 unbinds; the call then ignores the other"
                    "fields and the privileges.";
                mem_priv: DAT_MEM_PRIV_FLAGS,
                    "in, remote privileges: bits of `DAT_MEM_PRIV_ALL_FLAG`. Local privileges have no effect.";
                va_type: DAT_VA_TYPE,
                    "in, the addresses that peers use: `DAT_VA_TYPE_VA` for the addresses in the local memory region,"
                    "or `DAT_VA_TYPE_ZB` if 0 is the first byte of the part.";
                ep_handle: DAT_EP_HANDLE,
                    "in, a connected or disconnected endpoint. A bound region of dat_rmr_create_for_ep can be bound"
                    "only over the same endpoint.";
                user_cookie: DAT_RMR_COOKIE, "in, a value that the completion event returns unchanged.";
                completion_flags: DAT_COMPLETION_FLAGS,
                    "in, `DAT_COMPLETION_DEFAULT_FLAG`, or a union of `DAT_COMPLETION_SUPPRESS_FLAG`,"
                    "`DAT_COMPLETION_BARRIER_FENCE_FLAG` and, if `request_completion_flags` of the endpoint has this"
                    "value, `DAT_COMPLETION_UNSIGNALLED_FLAG`.";
                context: *mut DAT_RMR_CONTEXT, "out, the new context for peers; may be NULL if the call unbinds.";
            ) => dispatch(DAT_INVALID_HANDLE_RMR);
        }
    };
}

/// Calls: remote memory regions, only in 2.0.
#[macro_export]
macro_rules! further_rmr_calls {
    ($callback:path) => {
        $callback! {
            /// Creates an unbound remote memory region (RMR) that peers can use only over the endpoint over which it
            /// is bound. When that endpoint is no longer connected, the binding ends.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the region exists and is unbound
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` - `pz_handle` is not a protection zone
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `rmr_handle` is NULL
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_MEMORY_REGION` - out of memory, or the adapter has `max_rmrs` regions already
            /// * `DAT_MODEL_NOT_SUPPORTED` - the device does not support memory windows for one endpoint
            extern "C" fn dat_rmr_create_for_ep(
                pz_handle: DAT_PZ_HANDLE, "in, the protection zone of the region.";
                rmr_handle: *mut DAT_RMR_HANDLE, "out, the new, unbound region; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_PZ);
        }
    };
}
