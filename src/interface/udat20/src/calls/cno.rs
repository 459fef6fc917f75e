/// Calls: consumer notification objects, only in 2.0.
#[macro_export]
macro_rules! further_cno_calls {
    ($callback:path) => {
        $callback! {
            /// Creates a consumer notification object (CNO) with a file descriptor for poll, which is readable exactly
            /// while the CNO is triggered. The program must not read or close the descriptor. dat_cno_trigger and
            /// dat_cno_wait consume the trigger.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the notification object and its descriptor exist
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `file_descriptor` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `cno_handle` is NULL
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - out of memory or file descriptors
            extern "C" fn dat_cno_fd_create(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                file_descriptor: *mut DAT_FD,
                    "out, file descriptor for poll(2), select(2) and epoll(7), valid until dat_cno_free; written on"
                    "success only.";
                cno_handle: *mut DAT_CNO_HANDLE, "out, the notification object; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Consumes the trigger of a CNO without waiting.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the notification object was triggered, and the trigger is consumed
            /// * `DAT_QUEUE_EMPTY` - the notification object is not triggered; `*evd_handle` is `DAT_HANDLE_NULL`. Unlike in dat_cno_wait, this code has the error class bit
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` - `cno_handle` is not a notification object
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `evd_handle` is NULL
            extern "C" fn dat_cno_trigger(
                cno_handle: DAT_CNO_HANDLE, "in, the notification object, with or without a file descriptor.";
                evd_handle: *mut DAT_EVD_HANDLE,
                    "out, the dispatcher that triggered the notification object last; other dispatchers may have"
                    "triggered it too. `DAT_HANDLE_NULL` if the notification object is not triggered.";
            ) => dispatch(DAT_INVALID_HANDLE_CNO);
        }
    };
}
