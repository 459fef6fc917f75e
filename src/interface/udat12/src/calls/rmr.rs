/// The call among those of [`rmr_calls`](dat_udat::rmr_calls) that 1.2 has in a form of its own.
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
            /// * `DAT_SUCCESS` - the bind is posted; one completion follows unless it is suppressed
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RMR` - `rmr_handle` is not a remote memory region
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` - `ep_handle` is not an endpoint
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `lmr_triplet` is NULL, its context is unknown, or the range is not inside the local memory region
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `mem_priv` has an unknown bit
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - `completion_flags` has a bit that does not apply
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7` - `context` is NULL and the call is not to unbind
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` - the endpoint is neither connected nor disconnected
            /// * `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_RDMA_READ` - the three are not of one zone
            /// * `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_RDMA_READ`, `..._WRITE` - the local memory region lacks the local privilege for the remote one
            /// * `DAT_MODEL_NOT_SUPPORTED` - the provider has no such regions; never from the providers of this project
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - `max_request_dtos` requests are outstanding, or out of memory
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY_REGION` - the transport has no region left
            ///
            /// After a failure nothing was posted, and the region is bound as before.
            ///
            /// # Events
            /// `DAT_RMR_BIND_COMPLETION_EVENT` on the request EVD of the endpoint.
            extern "C" fn dat_rmr_bind(
                rmr_handle: DAT_RMR_HANDLE, "in, the remote memory region.";
                lmr_triplet: *const DAT_LMR_TRIPLET,
                    "in, the part: `lmr_context`, `virtual_address` and `segment_length` in bytes. A length of 0"
                    "unbinds; the other fields and the privileges are ignored then.";
                mem_priv: DAT_MEM_PRIV_FLAGS,
                    "in, `DAT_MEM_PRIV_REMOTE_READ_FLAG`, `DAT_MEM_PRIV_REMOTE_WRITE_FLAG` or both; other bits have no"
                    "effect.";
                ep_handle: DAT_EP_HANDLE,
                    "in, a connected endpoint, on whose request queue the bind is carried out, or a disconnected one,"
                    "where it is flushed.";
                user_cookie: DAT_RMR_COOKIE, "in, a value for the completion event, returned bit for bit.";
                completion_flags: DAT_COMPLETION_FLAGS,
                    "in, `DAT_COMPLETION_DEFAULT_FLAG`, or a union of `DAT_COMPLETION_SUPPRESS_FLAG`,"
                    "`DAT_COMPLETION_BARRIER_FENCE_FLAG` and, if the endpoint is configured for it,"
                    "`DAT_COMPLETION_UNSIGNALLED_FLAG`.";
                context: *mut DAT_RMR_CONTEXT,
                    "out, the new context for peers; undefined when unbinding, otherwise written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_RMR);
        }
    };
}
