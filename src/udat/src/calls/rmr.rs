/// Calls: remote memory regions. See [`crate::abi`].
///
/// The list `$own` has what a version writes itself.
#[macro_export]
macro_rules! rmr_calls {
    ($callback:path, $own:path) => {
        $callback! {
            /// Makes a remote memory region (RMR) that is bound to nothing.
            ///
            /// # Parameters
            /// * `pz_handle` - in, its protection zone.
            /// * `rmr_handle` - out, the RMR; written only on success.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` | not a protection zone |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `rmr_handle` is NULL |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_MEMORY_REGION` | out of memory; the adapter has no RMR left |
            /// | `DAT_NOT_IMPLEMENTED` | the transport has no remote memory regions |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_rmr_create(3DAT).
            extern "C" fn dat_rmr_create(
                pz_handle: DAT_PZ_HANDLE,
                rmr_handle: *mut DAT_RMR_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_PZ);
        }
        $callback! {
            /// Returns the chosen attributes of an RMR.
            ///
            /// # Parameters
            /// * `rmr_handle` - in, the RMR.
            /// * `rmr_param_mask` - in, the requested fields, bits of `DAT_RMR_FIELD_ALL`.
            /// * `rmr_param` - out, the fields; of an unbound RMR all but adapter and zone are 0.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RMR` | not an RMR |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `rmr_param` is NULL |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_rmr_query(3DAT).
            extern "C" fn dat_rmr_query(
                rmr_handle: DAT_RMR_HANDLE,
                rmr_param_mask: DAT_RMR_PARAM_MASK,
                rmr_param: *mut DAT_RMR_PARAM,
            ) => dispatch(DAT_INVALID_HANDLE_RMR);
        }
        $own!($callback);
        $callback! {
            /// Destroys an RMR; its binding ends.
            ///
            /// # Parameters
            /// * `rmr_handle` - in, the RMR.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RMR` | not an RMR |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_rmr_free(3DAT).
            extern "C" fn dat_rmr_free(
                rmr_handle: DAT_RMR_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_RMR);
        }
    };
}
