/// The LMR call that differs in 2.0. See [`lmr_calls`](dat_udat::lmr_calls).
#[macro_export]
macro_rules! own_lmr_calls {
    ($callback:path) => {
        $callback! {
            /// Registers memory as a local memory region (LMR). Memory may be registered repeatedly, in whole or in
            /// part, and must stay mapped until the LMR is freed. Each result pointer except lmr_handle may be NULL.
            ///
            /// # Returns
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` - `pz_handle` is not a protection zone of the adapter
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_LMR` - `for_lmr_handle` is not a local memory region of the adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `mem_type` is none of the three types
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - the address or the cookie in `region_description` is NULL; or the range is outside the address space, or is not accessible as `privileges` requires
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `length` is 0 or above `max_lmr_block_size`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - `privileges` has an unknown bit
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7` - `va_type` is not a `DAT_VA_TYPE`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG8` - `lmr_handle` is NULL
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_LMR_IN_USE` - the shared memory cannot be registered at present; never from the providers of this project
            /// * `DAT_MODEL_NOT_SUPPORTED` - `va_type` is `DAT_VA_TYPE_ZB`, and the transport does not support zero-based addresses
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_MEMORY_REGION` - out of memory, the limit for locked memory is exceeded, or the adapter has `max_lmrs` regions already
            extern "C" fn dat_lmr_create(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                mem_type: DAT_MEM_TYPE,
                    "in, the type of memory: `DAT_MEM_TYPE_VIRTUAL`, `DAT_MEM_TYPE_LMR` or"
                    "`DAT_MEM_TYPE_SHARED_VIRTUAL`.";
                region_description: DAT_REGION_DESCRIPTION,
                    "in, a union, passed by value: `for_va`, an address; `for_lmr_handle`, another region; or"
                    "`for_shared_memory`, an address and a cookie of 40 bytes.";
                length: DAT_VLEN,
                    "in, number of bytes to register, from 1 to `max_lmr_block_size` of dat_ia_query. Ignored for"
                    "`DAT_MEM_TYPE_LMR`.";
                pz_handle: DAT_PZ_HANDLE, "in, the protection zone of the new region.";
                privileges: DAT_MEM_PRIV_FLAGS,
                    "in, bits of `DAT_MEM_PRIV_ALL_FLAG`, and `DAT_IB_MEM_PRIV_REMOTE_ATOMIC` for atomic operations of"
                    "peers.";
                va_type: DAT_VA_TYPE,
                    "in, `DAT_VA_TYPE_VA`, or `DAT_VA_TYPE_ZB` if addresses in the region count from 0, its first"
                    "byte, on this side and at peers.";
                lmr_handle: *mut DAT_LMR_HANDLE, "out, the new region. All results are written on success only.";
                lmr_context: *mut DAT_LMR_CONTEXT, "out, the context for segments of this program.";
                rmr_context: *mut DAT_RMR_CONTEXT,
                    "out, the context for RDMA operations of peers; 0 without a remote privilege.";
                registered_length: *mut DAT_VLEN, "out, number of registered bytes: `length` or more.";
                registered_address: *mut DAT_VADDR, "out, first address of the registered range.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
    };
}
