/// Calls: protection zones. See [`crate::abi`].
#[macro_export]
macro_rules! pz_calls {
    ($callback:path) => {
        $callback! {
            /// Makes a protection zone, which keeps endpoints and memory together.
            ///
            /// # Parameters
            /// * `ia_handle` - in, the adapter that it belongs to.
            /// * `pz_handle` - out, the zone; written only on success.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `pz_handle` is NULL |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_PROTECTION_DOMAIN` | out of memory; the adapter has no zone left |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_pz_create(3DAT).
            extern "C" fn dat_pz_create(
                ia_handle: DAT_IA_HANDLE,
                pz_handle: *mut DAT_PZ_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Returns the adapter of a protection zone.
            ///
            /// # Parameters
            /// * `pz_handle` - in, the zone.
            /// * `pz_param_mask` - in, the requested fields, bits of `DAT_PZ_FIELD_ALL`.
            /// * `pz_param` - out, the fields.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` | not a protection zone |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `pz_param` is NULL |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_pz_query(3DAT).
            extern "C" fn dat_pz_query(
                pz_handle: DAT_PZ_HANDLE,
                pz_param_mask: DAT_PZ_PARAM_MASK,
                pz_param: *mut DAT_PZ_PARAM,
            ) => dispatch(DAT_INVALID_HANDLE_PZ);
        }
        $callback! {
            /// Destroys a protection zone.
            ///
            /// # Parameters
            /// * `pz_handle` - in, the zone.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` | not a protection zone |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_PZ_IN_USE` | an endpoint, a memory region or an SRQ is in it |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_pz_free(3DAT).
            extern "C" fn dat_pz_free(
                pz_handle: DAT_PZ_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_PZ);
        }
    };
}
