/// Calls: objects of any kind. See [`crate::abi`].
#[macro_export]
macro_rules! context_calls {
    ($callback:path) => {
        $callback! {
            /// Stores a word of the consumer in an object of any kind, in place of the previous one. The word is
            /// stored, not interpreted. Two threads that store into the same object at once must coordinate themselves.
            /// Does not block.
            ///
            /// # Parameters
            /// * `dat_handle` - in, an object of any kind.
            /// * `context` - in, the word, any value.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an object |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_set_consumer_context(3DAT).
            extern "C" fn dat_set_consumer_context(
                dat_handle: DAT_HANDLE,
                context: DAT_CONTEXT,
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Returns the word that dat_set_consumer_context stored last, 0 before the first.
            ///
            /// # Parameters
            /// * `dat_handle` - in, an object of any kind.
            /// * `context` - out, the word; written only on success.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an object |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `context` is NULL |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_get_consumer_context(3DAT).
            extern "C" fn dat_get_consumer_context(
                dat_handle: DAT_HANDLE,
                context: *mut DAT_CONTEXT,
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
        $callback! {
            /// Returns the kind of object that a handle stands for.
            ///
            /// # Parameters
            /// * `dat_handle` - in, an object of any kind.
            /// * `handle_type` - out, the kind; written only on success.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not an object |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `handle_type` is NULL |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_get_handle_type(3DAT).
            extern "C" fn dat_get_handle_type(
                dat_handle: DAT_HANDLE,
                handle_type: *mut DAT_HANDLE_TYPE,
            ) => dispatch(DAT_INVALID_HANDLE1);
        }
    };
}
