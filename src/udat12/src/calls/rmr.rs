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
            /// # Parameters
            /// * `rmr_handle` - in, the RMR.
            /// * `lmr_triplet` - in, the part. A length of 0 unbinds; the rest of the triplet and the privileges are
            ///   then ignored.
            /// * `mem_priv` - in, remote privileges, bits of `DAT_MEM_PRIV_ALL_FLAG`; local ones are ignored.
            /// * `ep_handle` - in, a connected endpoint, or a disconnected one, where the bind is flushed.
            /// * `user_cookie` - in, returned in the completion.
            /// * `completion_flags` - in, `DAT_COMPLETION_SUPPRESS_FLAG`, `DAT_COMPLETION_BARRIER_FENCE_FLAG`, and
            ///   `DAT_COMPLETION_UNSIGNALLED_FLAG` if the endpoint is configured for it.
            /// * `context` - out, the name for the remote side; may be NULL to unbind.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RMR` | not an RMR |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint of the same adapter |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | NULL, no such LMR, or not within it |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | unknown privileges |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` | a flag that does not apply |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7` | `context` is NULL although this is not an unbind |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_UNCONNECTED`, `..._RESERVED`, `..._PASSCONNPENDING`, `..._ACTCONNPENDING`, `..._TENTCONNPENDING`, `..._COMPLPENDING`, `..._DISCPENDING` | the endpoint is in this state, neither connected nor disconnected |
            /// | `DAT_PROTECTION_VIOLATION` / `DAT_PROTECTION_RDMA_READ` | LMR, RMR and endpoint are not all in one protection zone |
            /// | `DAT_PRIVILEGES_VIOLATION` / `DAT_PRIVILEGES_RDMA_READ`, `..._WRITE` | a remote privilege without the LMR having the local one |
            /// | `DAT_MODEL_NOT_SUPPORTED` | the provider has no RMRs; never from the providers of this project |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | `max_request_dtos` requests are outstanding |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY_REGION` | the transport has no region left |
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
            ) => dispatch(DAT_INVALID_HANDLE_RMR);
        }
    };
}
