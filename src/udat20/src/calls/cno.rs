/// Calls: consumer notification objects. Those that only 2.0 has.
#[macro_export]
macro_rules! further_cno_calls {
    ($callback:path) => {
        $callback! {
            /// Makes a consumer notification object (CNO) with a file descriptor for poll and the like, which is readable
            /// exactly while the CNO is triggered. Programs do not read it or close it. dat_cno_trigger and dat_cno_wait take
            /// the trigger.
            ///
            /// # Parameters
            /// * `ia_handle` - in, the adapter that it belongs to.
            /// * `file_descriptor` - out, the descriptor, valid until dat_cno_free; written only on success.
            /// * `cno_handle` - out, the CNO; written only on success.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2`, `DAT_INVALID_ARG3` | that pointer is NULL |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | out of memory or of descriptors |
            ///
            /// # Specification
            /// uDAPL 2.0, dat_cno_fd_create.
            extern "C" fn dat_cno_fd_create(
                ia_handle: DAT_IA_HANDLE,
                file_descriptor: *mut DAT_FD,
                cno_handle: *mut DAT_CNO_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Takes the trigger of a CNO without waiting.
            ///
            /// # Parameters
            /// * `cno_handle` - in, the CNO, with or without a descriptor.
            /// * `evd_handle` - out, an EVD that triggered it: a hint, others may have triggered it too. `DAT_HANDLE_NULL` if
            ///   it is not triggered.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_QUEUE_EMPTY` | it is not triggered |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` | not a CNO |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `evd_handle` is NULL |
            ///
            /// # Specification
            /// uDAPL 2.0, dat_cno_trigger.
            extern "C" fn dat_cno_trigger(
                cno_handle: DAT_CNO_HANDLE,
                evd_handle: *mut DAT_EVD_HANDLE,
            ) => dispatch(DAT_INVALID_HANDLE_CNO);
        }
    };
}
