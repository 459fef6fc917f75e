/// Calls: local memory regions. See [`for_each_call`](crate::for_each_call).
#[macro_export]
macro_rules! lmr_calls {
    ($callback:path) => {
        $callback! {
            /// Registers memory as a local memory region (LMR). Memory may be registered many times, in whole or in
            /// part, and must stay mapped until the LMR is freed. Every result but the handle may be NULL.
            ///
            /// # Parameters
            /// * `ia_handle` - in, the adapter that it belongs to.
            /// * `mem_type` - in, the kind of memory in `region_description`: `DAT_MEM_TYPE_VIRTUAL` for memory of the
            ///   process, `DAT_MEM_TYPE_LMR` for that of another LMR, `DAT_MEM_TYPE_SHARED_VIRTUAL` for memory that
            ///   processes share.
            /// * `region_description` - in, an address, an LMR, or shared memory. Only the memory of the other LMR
            ///   matters; that LMR may be freed afterwards.
            /// * `length` - in, bytes, 1 to `max_lmr_block_size`; ignored for an LMR.
            /// * `pz_handle` - in, its protection zone.
            /// * `privileges` - in, bits of `DAT_MEM_PRIV_ALL_FLAG`.
            /// * `lmr_handle` - out, the LMR; like the others written only on success.
            /// * `lmr_context` - out, its name in segments of this side.
            /// * `rmr_context` - out, its name for the remote side, 0 without a remote privilege.
            /// * `registered_length`, `registered_address` - out, the registered range, which covers at least the
            ///   requested one.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` | not a protection zone of the adapter |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_LMR` | the described region is not an LMR of the adapter |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | an unknown kind of memory |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | memory that cannot be used: address or name of shared memory NULL, beyond the address space, not mapped, or not with these privileges |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | the length is 0 or above `max_lmr_block_size` |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` | unknown privileges |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7` | `lmr_handle` is NULL |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_LMR_IN_USE` | shared memory that cannot be registered as such at present; never from the providers of this project |
            /// | `DAT_MODEL_NOT_SUPPORTED` | a kind of memory that the provider lacks; never from the providers of this project |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_MEMORY_REGION` | out of memory; no LMR left, or no memory that may be locked |
            ///
            /// # Specification
            /// uDAPL 1.2, dat_lmr_create(3DAT).
            extern "C" fn dat_lmr_create(
                ia_handle: DAT_IA_HANDLE,
                mem_type: DAT_MEM_TYPE,
                region_description: DAT_REGION_DESCRIPTION,
                length: DAT_VLEN,
                pz_handle: DAT_PZ_HANDLE,
                privileges: DAT_MEM_PRIV_FLAGS,
                lmr_handle: *mut DAT_LMR_HANDLE,
                lmr_context: *mut DAT_LMR_CONTEXT,
                rmr_context: *mut DAT_RMR_CONTEXT,
                registered_length: *mut DAT_VLEN,
                registered_address: *mut DAT_VADDR,
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Returns the chosen attributes of an LMR.
            ///
            /// # Parameters
            /// * `lmr_handle` - in, the LMR.
            /// * `lmr_param_mask` - in, the requested fields, bits of `DAT_LMR_FIELD_ALL`.
            /// * `lmr_param` - out, the fields. The name of shared memory stays in place until the LMR is freed.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_LMR` | not an LMR |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `lmr_param` is NULL |
            ///
            /// # Specification
            /// uDAPL 1.2, dat_lmr_query(3DAT).
            extern "C" fn dat_lmr_query(
                lmr_handle: DAT_LMR_HANDLE,
                lmr_param_mask: DAT_LMR_PARAM_MASK,
                lmr_param: *mut DAT_LMR_PARAM,
            ) => dispatch(DAT_INVALID_HANDLE_LMR);
        }
        $callback! {
            /// Ends the registration of memory. The memory itself is unchanged; outstanding transfers may fail.
            ///
            /// # Parameters
            /// * `lmr_handle` - in, the LMR.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_LMR` | not an LMR |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_LMR_IN_USE` | an RMR is bound to it |
            ///
            /// # Specification
            /// uDAPL 1.2, dat_lmr_free(3DAT).
            extern "C" fn dat_lmr_free(
                lmr_handle: DAT_LMR_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_LMR);
        }
        $callback! {
            /// Makes data that this side has written visible to later RDMA reads of others. Needed only where
            /// lmr_sync_req of the provider attributes is true.
            ///
            /// # Parameters
            /// * `ia_handle` - in, the adapter.
            /// * `local_segments` - in, the memory; segments of length 0 are skipped.
            /// * `num_segments` - in, elements of `local_segments`.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | NULL with a count, or a segment is not within an LMR of the adapter |
            ///
            /// # Specification
            /// uDAPL 1.2, dat_lmr_sync_rdma_read(3DAT).
            extern "C" fn dat_lmr_sync_rdma_read(
                ia_handle: DAT_IA_HANDLE,
                local_segments: *const DAT_LMR_TRIPLET,
                num_segments: DAT_VLEN,
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Makes data that RDMA writes of others have brought visible to this side. Needed only where lmr_sync_req
            /// of the provider attributes is true.
            ///
            /// # Parameters
            /// * `ia_handle` - in, the adapter.
            /// * `local_segments` - in, the memory; segments of length 0 are skipped.
            /// * `num_segments` - in, elements of `local_segments`.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | NULL with a count, or a segment is not within an LMR of the adapter |
            ///
            /// # Specification
            /// uDAPL 1.2, dat_lmr_sync_rdma_write(3DAT).
            extern "C" fn dat_lmr_sync_rdma_write(
                ia_handle: DAT_IA_HANDLE,
                local_segments: *const DAT_LMR_TRIPLET,
                num_segments: DAT_VLEN,
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
    };
}
