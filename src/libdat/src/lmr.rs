//! Local memory regions (LMR).

use dat_udat12::{
    DAT_IA_HANDLE, DAT_LMR_CONTEXT, DAT_LMR_HANDLE, DAT_LMR_PARAM, DAT_LMR_PARAM_MASK, DAT_LMR_TRIPLET,
    DAT_MEM_PRIV_FLAGS, DAT_MEM_TYPE, DAT_PZ_HANDLE, DAT_REGION_DESCRIPTION, DAT_RMR_CONTEXT, DAT_VADDR, DAT_VLEN,
};

dispatch! {
    /// Registers memory.
    ///
    /// # Parameters
    /// * `ia_handle` - in, the IA it belongs to.
    /// * `mem_type` - in, what `region_description` describes.
    /// * `region_description` - in, an address, an LMR, or shared memory.
    /// * `length` - in, bytes; ignored for an LMR.
    /// * `pz_handle` - in, its protection zone.
    /// * `privileges` - in, bits of `DAT_MEM_PRIV_FLAGS`.
    /// * `lmr_handle` - out, the region; like the others written only on success.
    /// * `lmr_context` - out, its name in segments of this side; may be NULL.
    /// * `rmr_context` - out, its name for the remote side, 0 without a remote privilege; may be NULL.
    /// * `registered_length`, `registered_address` - out, what was registered, at least what was asked;
    ///   may be NULL.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA`, `DAT_INVALID_HANDLE_PZ`, `DAT_INVALID_HANDLE_LMR` | not an open IA; not a protection zone; not the LMR described |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2`, `DAT_INVALID_ARG3` | an unknown kind; memory that cannot be used |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4`, `DAT_INVALID_ARG6` | length 0; unknown privileges |
    /// | `DAT_MODEL_NOT_SUPPORTED` | a kind that the provider lacks |
    /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_MEMORY_REGION` | out of memory, of regions, or of memory that may be locked |
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
    ) as udat => lmr_create_func, DAT_INVALID_HANDLE_IA
}

dispatch! {
    /// Tells the attributes of an LMR.
    ///
    /// # Parameters
    /// * `lmr_handle` - in, the LMR.
    /// * `lmr_param_mask` - in, the fields that are wanted, bits of `DAT_LMR_FIELD_ALL`.
    /// * `lmr_param` - out, the fields.
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
    ) as memory => lmr_query_func, DAT_INVALID_HANDLE_LMR
}

dispatch! {
    /// Ends the registration of memory; the memory stays as it is.
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
    extern "C" fn dat_lmr_free(lmr_handle: DAT_LMR_HANDLE)
        as memory => lmr_free_func, DAT_INVALID_HANDLE_LMR
}

dispatch! {
    /// Makes what this side has written visible to RDMA reads of others.
    ///
    /// Needed only where the adapter's memory is not coherent (`lmr_sync_req`).
    ///
    /// # Parameters
    /// * `ia_handle` - in, the IA.
    /// * `local_segments` - in, the memory.
    /// * `num_segments` - in, elements of `local_segments`.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open IA |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | no such LMR, or a segment outside it |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_lmr_sync_rdma_read(3DAT).
    extern "C" fn dat_lmr_sync_rdma_read(
        ia_handle: DAT_IA_HANDLE,
        local_segments: *const DAT_LMR_TRIPLET,
        num_segments: DAT_VLEN,
    ) as memory => lmr_sync_rdma_read_func, DAT_INVALID_HANDLE_IA
}

dispatch! {
    /// Makes what RDMA writes of others have brought visible to this side.
    ///
    /// Needed only where the adapter's memory is not coherent (`lmr_sync_req`).
    ///
    /// # Parameters
    /// * `ia_handle` - in, the IA.
    /// * `local_segments` - in, the memory.
    /// * `num_segments` - in, elements of `local_segments`.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open IA |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | no such LMR, or a segment outside it |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_lmr_sync_rdma_write(3DAT).
    extern "C" fn dat_lmr_sync_rdma_write(
        ia_handle: DAT_IA_HANDLE,
        local_segments: *const DAT_LMR_TRIPLET,
        num_segments: DAT_VLEN,
    ) as memory => lmr_sync_rdma_write_func, DAT_INVALID_HANDLE_IA
}
