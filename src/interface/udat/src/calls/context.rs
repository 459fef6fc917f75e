/// Calls: objects of any kind. See [`crate::abi`].
#[macro_export]
macro_rules! context_calls {
    ($callback:path) => {
        $callback! {
            /// Stores a context value of the program in an object of any kind, and replaces the previous value. The
            /// library does not interpret the value. Threads that set the value of one object concurrently must
            /// synchronise themselves. The call does not block.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the value is stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `dat_handle` is not an object
            extern "C" fn dat_set_consumer_context(
                dat_handle: DAT_HANDLE, "in, an object of any kind.";
                context: DAT_CONTEXT,
                    "in, the value: a union of 8 bytes, passed by value, of a pointer (`as_ptr`), a 64-bit number"
                    "(`as_64`) and an index (`as_index`).";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Returns the value that dat_set_consumer_context stored last, or 0 if it has stored none.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - `*context` is the value
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `dat_handle` is not an object
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `context` is NULL
            extern "C" fn dat_get_consumer_context(
                dat_handle: DAT_HANDLE, "in, an object of any kind.";
                context: *mut DAT_CONTEXT, "out, the value; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Returns the kind of the object that a handle refers to.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - `*handle_type` is the kind of the object
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `dat_handle` is not an object
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `handle_type` is NULL
            extern "C" fn dat_get_handle_type(
                dat_handle: DAT_HANDLE, "in, an object of any kind.";
                handle_type: *mut DAT_HANDLE_TYPE, "out, the kind of the object; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
    };
}
