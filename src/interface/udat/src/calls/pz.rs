/// Calls: protection zones. See [`crate::abi`].
#[macro_export]
macro_rules! pz_calls {
    ($callback:path) => {
        $callback! {
            /// Creates a protection zone, which determines which endpoints can use which memory.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the zone exists
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `pz_handle` is NULL
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_PROTECTION_DOMAIN` - out of memory, or the adapter has `max_pzs` zones already
            extern "C" fn dat_pz_create(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                pz_handle: *mut DAT_PZ_HANDLE, "out, the new zone; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Returns the adapter of a protection zone.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the requested field is stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` - `pz_handle` is not a protection zone
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `pz_param_mask` has a bit outside `DAT_PZ_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `pz_param` is NULL
            extern "C" fn dat_pz_query(
                pz_handle: DAT_PZ_HANDLE, "in, the protection zone.";
                pz_param_mask: DAT_PZ_PARAM_MASK,
                    "in, `DAT_PZ_FIELD_IA_HANDLE` (1), which equals `DAT_PZ_FIELD_ALL`, or 0.";
                pz_param: *mut DAT_PZ_PARAM, "out, structure provided by the program.";
            ) => dispatch(DAT_INVALID_HANDLE_PZ);
        }
        $callback! {
            /// Destroys a protection zone.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the zone is freed and its handle is invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` - `pz_handle` is not a protection zone
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_PZ_IN_USE` - an endpoint, a memory region or a shared receive queue uses the zone; nothing has changed
            extern "C" fn dat_pz_free(
                pz_handle: DAT_PZ_HANDLE, "in, the protection zone.";
            ) => dispatch(DAT_INVALID_HANDLE_PZ);
        }
    };
}
