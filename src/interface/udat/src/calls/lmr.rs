/// Calls: local memory regions. See [`crate::abi`].
///
/// The macro `$own` lists the calls whose form depends on the version.
#[macro_export]
macro_rules! lmr_calls {
    ($callback:path, $own:path) => {
        $own!($callback);
        $callback! {
            /// Returns the selected parameters of an LMR.
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
                    "out, structure provided by the program. The cookie of shared memory in it stays valid until the"
                    "region is freed.";
            ) => dispatch(DAT_INVALID_HANDLE_LMR);
        }
        $callback! {
            /// Ends the registration of memory. The memory itself is unchanged. Outstanding transfers may fail.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the region is freed and its handle is invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_LMR` - `lmr_handle` is not a local memory region
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_LMR_IN_USE` - a remote memory region is bound to the region, or an unbind has not completed because earlier requests delay it; nothing has changed
            extern "C" fn dat_lmr_free(
                lmr_handle: DAT_LMR_HANDLE, "in, the local memory region.";
            ) => dispatch(DAT_INVALID_HANDLE_LMR);
        }
        $callback! {
            /// Ensures that later RDMA reads of peers see local stores. The call is needed only if lmr_sync_req of the
            /// provider attributes is true.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - all segments are visible
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `local_segments` is NULL and `num_segments` is above 0; or a segment has an unknown context or is not inside its region
            ///
            /// If the call fails, it guarantees nothing for any segment.
            extern "C" fn dat_lmr_sync_rdma_read(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                local_segments: *const DAT_LMR_TRIPLET,
                    "in, array of segments, each with `lmr_context`, `virtual_address` and `segment_length` in bytes."
                    "They may belong to different regions and zones of the adapter. Segments of length 0 are skipped.";
                num_segments: DAT_VLEN, "in, number of segments, a 64-bit number.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Ensures that local loads see the data of RDMA writes of peers. The call is needed only if lmr_sync_req
            /// of the provider attributes is true.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - all segments are visible
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `local_segments` is NULL and `num_segments` is above 0; or a segment has an unknown context or is not inside its region
            ///
            /// If the call fails, it guarantees nothing for any segment.
            extern "C" fn dat_lmr_sync_rdma_write(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                local_segments: *const DAT_LMR_TRIPLET,
                    "in, array of segments, each with `lmr_context`, `virtual_address` and `segment_length` in bytes."
                    "They may belong to different regions and zones of the adapter. Segments of length 0 are skipped.";
                num_segments: DAT_VLEN, "in, number of segments, a 64-bit number.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
    };
}
