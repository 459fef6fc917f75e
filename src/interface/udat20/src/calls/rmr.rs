/// The call among those of [`rmr_calls`](dat_udat::rmr_calls) that 2.0 has in a form of its own.
#[macro_export]
macro_rules! own_rmr_calls {
    ($callback:path) => {
        $callback! {
            /// Posts a bind. Once it completes, the RMR names a part of an LMR to the remote side, in place of the part
            /// to which it was bound before. A segment_length of 0 only ends the existing binding.
            ///
            /// The bind is a request of the endpoint, in order with the others. The new context is known at once, but
            /// the peer can use it only when the bind is complete; the old one ends then.
            ///
            /// # Returns
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RMR` - not an RMR
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_LMR` - not an LMR of the same adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - not an endpoint of the same adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - NULL, its context is not that of the LMR, or it is not within the LMR
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - unknown privileges
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - no such way to count addresses
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - an RMR of dat_rmr_create_for_ep is bound over another endpoint
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG8` - a flag that does not apply
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG9` - `context` is NULL although this is not an unbind
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` - the endpoint is in this state, neither connected nor disconnected
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_RDMA_READ` - LMR, RMR and endpoint are not all in one protection zone
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_RDMA_READ`, `..._WRITE` - a remote privilege without the LMR having the local one
            /// * `DAT_MODEL_NOT_SUPPORTED` - zero-based addresses, where the transport has none
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_request_dtos` requests are outstanding
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY_REGION` - the transport has no region left
            ///
            /// # Events
            /// `DAT_RMR_BIND_COMPLETION_EVENT` on the request EVD of the endpoint.
            extern "C" fn dat_rmr_bind(
                rmr_handle: DAT_RMR_HANDLE, "in, the RMR.";
                lmr_handle: DAT_LMR_HANDLE, "in, the LMR; ignored to unbind.";
                lmr_triplet: *const DAT_LMR_TRIPLET,
                    "in, the part. A length of 0 unbinds; the rest of the triplet and the privileges are then ignored.";
                mem_priv: DAT_MEM_PRIV_FLAGS,
                    "in, remote privileges, bits of `DAT_MEM_PRIV_ALL_FLAG`; local ones are ignored.";
                va_type: DAT_VA_TYPE,
                    "in, how the remote side counts addresses: `DAT_VA_TYPE_VA` as in the LMR, `DAT_VA_TYPE_ZB` from"
                    "0, the first byte of the part.";
                ep_handle: DAT_EP_HANDLE,
                    "in, a connected endpoint, or a disconnected one, where the bind is flushed. An RMR of"
                    "dat_rmr_create_for_ep that is bound stays with its endpoint.";
                user_cookie: DAT_RMR_COOKIE, "in, returned in the completion.";
                completion_flags: DAT_COMPLETION_FLAGS,
                    "in, `DAT_COMPLETION_SUPPRESS_FLAG`, `DAT_COMPLETION_BARRIER_FENCE_FLAG`, and"
                    "`DAT_COMPLETION_UNSIGNALLED_FLAG` if the endpoint is configured for it.";
                context: *mut DAT_RMR_CONTEXT, "out, the name for the remote side; may be NULL to unbind.";
            ) => dispatch(DAT_INVALID_HANDLE_RMR);
        }
    };
}

/// Calls: remote memory regions. Those that only 2.0 has.
#[macro_export]
macro_rules! further_rmr_calls {
    ($callback:path) => {
        $callback! {
            /// Makes a remote memory region (RMR) that is bound to nothing and can only be used over the endpoint over which
            /// it is bound. When that endpoint is no longer connected, the binding ends.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the region is made
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` - `pz_handle` is not a protection zone
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `rmr_handle` is NULL
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_MEMORY_REGION` - out of memory, or the adapter has no region left
            /// * `DAT_MODEL_NOT_SUPPORTED` - the device has no windows of one endpoint
            extern "C" fn dat_rmr_create_for_ep(
                pz_handle: DAT_PZ_HANDLE, "in, the protection zone of the region.";
                rmr_handle: *mut DAT_RMR_HANDLE, "out, the new region, bound to nothing.";
            ) => dispatch(DAT_INVALID_HANDLE_PZ);
        }
    };
}
