/// The call among those of [`lmr_calls`](dat_udat::lmr_calls) that 2.0 has in a form of its own.
#[macro_export]
macro_rules! own_lmr_calls {
    ($callback:path) => {
        $callback! {
            /// Registers memory as a local memory region (LMR). Memory may be registered many times, in whole or in
            /// part, and must stay mapped until the LMR is freed. Every result but the handle may be NULL.
            ///
            /// # Returns
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - not an open adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` - not a protection zone of the adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_LMR` - the described region is not an LMR of the adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - an unknown kind of memory
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - memory that cannot be used: address or name of shared memory NULL, beyond the address space, not mapped, or not with these privileges
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - the length is 0 or above `max_lmr_block_size`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - unknown privileges
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7` - no such way to count addresses
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG8` - `lmr_handle` is NULL
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_LMR_IN_USE` - shared memory that cannot be registered as such at present; never from the providers of this project
            /// * `DAT_MODEL_NOT_SUPPORTED` - a zero-based LMR, where the transport has none
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_MEMORY_REGION` - out of memory; no LMR left, or no memory that may be locked
            extern "C" fn dat_lmr_create(
                ia_handle: DAT_IA_HANDLE, "in, the adapter that it belongs to.";
                mem_type: DAT_MEM_TYPE,
                    "in, the kind of memory in `region_description`: `DAT_MEM_TYPE_VIRTUAL` for memory of the process,"
                    "`DAT_MEM_TYPE_LMR` for that of another LMR, `DAT_MEM_TYPE_SHARED_VIRTUAL` for memory that"
                    "processes share.";
                region_description: DAT_REGION_DESCRIPTION,
                    "in, an address, an LMR, or shared memory. Only the memory of the other LMR matters; that LMR may"
                    "be freed afterwards.";
                length: DAT_VLEN, "in, bytes, 1 to `max_lmr_block_size`; ignored for an LMR.";
                pz_handle: DAT_PZ_HANDLE, "in, its protection zone.";
                privileges: DAT_MEM_PRIV_FLAGS,
                    "in, bits of `DAT_MEM_PRIV_ALL_FLAG`, and `DAT_IB_MEM_PRIV_REMOTE_ATOMIC` if others may change the"
                    "memory by atomic operations.";
                va_type: DAT_VA_TYPE,
                    "in, `DAT_VA_TYPE_VA`, or `DAT_VA_TYPE_ZB` if addresses in the LMR count from 0, its first byte,"
                    "at this side and at the remote one.";
                lmr_handle: *mut DAT_LMR_HANDLE, "out, the LMR; like the others written only on success.";
                lmr_context: *mut DAT_LMR_CONTEXT, "out, its name in segments of this side.";
                rmr_context: *mut DAT_RMR_CONTEXT, "out, its name for the remote side, 0 without a remote privilege.";
                registered_length: *mut DAT_VLEN, "out, the registered range, which covers at least the requested one.";
                registered_address: *mut DAT_VADDR,
                    "out, the registered range, which covers at least the requested one.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
    };
}
