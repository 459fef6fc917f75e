/// Calls: remote memory regions. See [`crate::abi`].
///
/// The macro `$own` lists the calls whose form depends on the version.
#[macro_export]
macro_rules! rmr_calls {
    ($callback:path, $own:path) => {
        $callback! {
            /// Creates an unbound remote memory region (RMR).
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the region exists and is unbound
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` - `pz_handle` is not a protection zone
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `rmr_handle` is NULL
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_MEMORY_REGION` - out of memory, or the adapter has `max_rmrs` regions already
            /// * `DAT_NOT_IMPLEMENTED` - the transport does not support remote memory regions
            extern "C" fn dat_rmr_create(
                pz_handle: DAT_PZ_HANDLE, "in, the protection zone of the region.";
                rmr_handle: *mut DAT_RMR_HANDLE, "out, the new, unbound region; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_PZ);
        }
        $callback! {
            /// Returns the selected parameters of an RMR.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the requested fields are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RMR` - `rmr_handle` is not a remote memory region
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `rmr_param_mask` has a bit outside `DAT_RMR_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `rmr_param` is NULL
            extern "C" fn dat_rmr_query(
                rmr_handle: DAT_RMR_HANDLE, "in, the remote memory region.";
                rmr_param_mask: DAT_RMR_PARAM_MASK,
                    "in, bits `DAT_RMR_FIELD_IA_HANDLE` (0x01), `DAT_RMR_FIELD_PZ_HANDLE` (0x02),"
                    "`DAT_RMR_FIELD_LMR_TRIPLET` (0x04), `DAT_RMR_FIELD_MEM_PRIV` (0x08), `DAT_RMR_FIELD_RMR_CONTEXT`"
                    "(0x10), or `DAT_RMR_FIELD_ALL`.";
                rmr_param: *mut DAT_RMR_PARAM, "out, structure provided by the program.";
            ) => dispatch(DAT_INVALID_HANDLE_RMR);
        }
        $own!($callback);
        $callback! {
            /// Destroys an RMR and ends its binding.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the region is freed and its handle is invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RMR` - `rmr_handle` is not a remote memory region
            extern "C" fn dat_rmr_free(
                rmr_handle: DAT_RMR_HANDLE, "in, the remote memory region.";
            ) => dispatch(DAT_INVALID_HANDLE_RMR);
        }
    };
}
