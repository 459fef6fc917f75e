/// Calls: objects of any kind. See [`crate::abi`].
#[macro_export]
macro_rules! context_calls {
    ($callback:path) => {
        $callback! {
            /// Stores a word of the consumer in an object of any kind, in place of the previous one. The word is
            /// stored, not interpreted. Two threads that store into the same object at once must coordinate themselves.
            /// Does not block.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the value is stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `dat_handle` is not an object
            extern "C" fn dat_set_consumer_context(
                dat_handle: DAT_HANDLE, "in, any object of any kind.";
                context: DAT_CONTEXT,
                    "in, the value: a union of a pointer (`as_ptr`), a 64-bit number (`as_64`) and an index"
                    "(`as_index`), 8 bytes, passed by value.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Returns the word that dat_set_consumer_context stored last, 0 before the first.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the value is in `*context`
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `dat_handle` is not an object
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `context` is NULL
            extern "C" fn dat_get_consumer_context(
                dat_handle: DAT_HANDLE, "in, any object of any kind.";
                context: *mut DAT_CONTEXT, "out, the value; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Returns the kind of object that a handle stands for.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the kind is in `*handle_type`
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` - `dat_handle` is not an object
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `handle_type` is NULL
            extern "C" fn dat_get_handle_type(
                dat_handle: DAT_HANDLE, "in, any object of any kind.";
                handle_type: *mut DAT_HANDLE_TYPE, "out, its kind; written on success only.";
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
    };
}
