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
            /// uDAPL 1.2 and 2.0, dat_lmr_query(3DAT).
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
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_LMR_IN_USE` | an RMR is bound to it, or the request that unbinds it is held up |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_lmr_free(3DAT).
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
            /// uDAPL 1.2 and 2.0, dat_lmr_sync_rdma_read(3DAT).
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
            /// uDAPL 1.2 and 2.0, dat_lmr_sync_rdma_write(3DAT).
            extern "C" fn dat_lmr_sync_rdma_write(
                ia_handle: DAT_IA_HANDLE,
                local_segments: *const DAT_LMR_TRIPLET,
                num_segments: DAT_VLEN,
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
    };
}
