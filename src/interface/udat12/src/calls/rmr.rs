/// The RMR call that differs in 1.2. See [`rmr_calls`](dat_udat::rmr_calls).
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
            /// * `DAT_SUCCESS` - the bind is posted; one completion follows unless it is suppressed
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RMR` - `rmr_handle` is not a remote memory region
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint of the same adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `lmr_triplet` is NULL, its context is unknown, or the range is not inside the local memory region
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `mem_priv` has an unknown bit
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - `completion_flags` has a flag that is not allowed for the operation or the endpoint
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7` - `context` is NULL, and the call does not unbind
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` - the endpoint is neither connected nor disconnected
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_RDMA_READ` - the protection zones of the remote memory region, the local memory region and the endpoint differ
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_RDMA_READ`, `..._WRITE` - the local memory region lacks the local privilege that corresponds to the remote privilege
            /// * `DAT_MODEL_NOT_SUPPORTED` - the provider does not support remote memory regions; never from the providers of this project
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_request_dtos` requests are outstanding, or out of memory
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY_REGION` - the transport has no memory window left
            ///
            /// If the call fails, it posts nothing, and the binding of the region is unchanged.
            ///
            /// # Events
            /// `DAT_RMR_BIND_COMPLETION_EVENT` on the request EVD of the endpoint.
            extern "C" fn dat_rmr_bind(
                rmr_handle: DAT_RMR_HANDLE, "in, the remote memory region.";
                lmr_triplet: *const DAT_LMR_TRIPLET,
                    "in, the part of the local memory region: `lmr_context`, `virtual_address` and `segment_length` in"
                    "bytes. A length of 0 unbinds; the call then ignores the other fields and the privileges.";
                mem_priv: DAT_MEM_PRIV_FLAGS,
                    "in, `DAT_MEM_PRIV_REMOTE_READ_FLAG`, `DAT_MEM_PRIV_REMOTE_WRITE_FLAG` or both. Local privileges"
                    "have no effect.";
                ep_handle: DAT_EP_HANDLE,
                    "in, a connected or disconnected endpoint, to whose request queue the bind is posted.";
                user_cookie: DAT_RMR_COOKIE, "in, a value that the completion event returns unchanged.";
                completion_flags: DAT_COMPLETION_FLAGS,
                    "in, `DAT_COMPLETION_DEFAULT_FLAG`, or a union of `DAT_COMPLETION_SUPPRESS_FLAG`,"
                    "`DAT_COMPLETION_BARRIER_FENCE_FLAG` and `DAT_COMPLETION_UNSIGNALLED_FLAG`."
                    "`DAT_COMPLETION_UNSIGNALLED_FLAG` is allowed only if `request_completion_flags` of the endpoint"
                    "has this value.";
                context: *mut DAT_RMR_CONTEXT,
                    "out, the new context for peers; written on success only. Undefined if the call unbinds.";
            ) => dispatch(DAT_INVALID_HANDLE_RMR);
        }
    };
}
