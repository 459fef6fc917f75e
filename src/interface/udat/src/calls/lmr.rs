/// Calls: local memory regions. See [`crate::abi`].
///
/// The list `$own` has what a version writes itself.
#[macro_export]
macro_rules! lmr_calls {
    ($callback:path, $own:path) => {
        $own!($callback);
        $callback! {
            /// Returns the chosen attributes of an LMR.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the requested fields are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_LMR` - `lmr_handle` is not a local memory region
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `lmr_param_mask` has a bit outside `DAT_LMR_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `lmr_param` is NULL
            extern "C" fn dat_lmr_query(
                lmr_handle: DAT_LMR_HANDLE, "in, the local memory region.";
                lmr_param_mask: DAT_LMR_PARAM_MASK,
                    "in, bits `DAT_LMR_FIELD_IA_HANDLE` (0x001), `DAT_LMR_FIELD_MEM_TYPE` (0x002),"
                    "`DAT_LMR_FIELD_REGION_DESC` (0x004), `DAT_LMR_FIELD_LENGTH` (0x008), `DAT_LMR_FIELD_PZ_HANDLE`"
                    "(0x010), `DAT_LMR_FIELD_MEM_PRIV` (0x020), `DAT_LMR_FIELD_LMR_CONTEXT` (0x040),"
                    "`DAT_LMR_FIELD_RMR_CONTEXT` (0x080), `DAT_LMR_FIELD_REGISTERED_SIZE` (0x100),"
                    "`DAT_LMR_FIELD_REGISTERED_ADDRESS` (0x200), or `DAT_LMR_FIELD_ALL`.";
                lmr_param: *mut DAT_LMR_PARAM,
                    "out, a structure of the program. The name of shared memory stays in place until the region is"
                    "freed.";
            ) => dispatch(DAT_INVALID_HANDLE_LMR);
        }
        $callback! {
            /// Ends the registration of memory. The memory itself is unchanged; outstanding transfers may fail.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the region is freed and its handle is invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_LMR` - `lmr_handle` is not a local memory region
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_LMR_IN_USE` - a remote memory region is bound into it, or requests that are not complete hold up the one that unbinds it; nothing has changed
            extern "C" fn dat_lmr_free(
                lmr_handle: DAT_LMR_HANDLE, "in, the local memory region.";
            ) => dispatch(DAT_INVALID_HANDLE_LMR);
        }
        $callback! {
            /// Makes data that this side has written visible to later RDMA reads of others. Needed only where
            /// lmr_sync_req of the provider attributes is true.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - all segments are visible
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `local_segments` is NULL with segments, names an unknown region, or has a segment that is not inside its region
            ///
            /// After a failure nothing is promised for any segment.
            extern "C" fn dat_lmr_sync_rdma_read(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                local_segments: *const DAT_LMR_TRIPLET,
                    "in, the ranges: `lmr_context`, `virtual_address` and `segment_length` in bytes each. They may be"
                    "of different regions and zones of the adapter; those of length 0 are skipped.";
                num_segments: DAT_VLEN, "in, number of segments, a 64-bit number.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Makes data that RDMA writes of others have brought visible to this side. Needed only where lmr_sync_req
            /// of the provider attributes is true.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - what was written is visible
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `local_segments` is NULL with segments, names an unknown region, or has a segment that is not inside its region
            ///
            /// After a failure nothing is promised for any segment.
            extern "C" fn dat_lmr_sync_rdma_write(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                local_segments: *const DAT_LMR_TRIPLET,
                    "in, the ranges: `lmr_context`, `virtual_address` and `segment_length` in bytes each. They may be"
                    "of different regions and zones of the adapter; those of length 0 are skipped.";
                num_segments: DAT_VLEN, "in, number of segments, a 64-bit number.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
    };
}
