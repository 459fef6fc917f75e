//! Calls on objects of any kind.

use dat_udat12::{DAT_CONTEXT, DAT_HANDLE, DAT_HANDLE_TYPE};

dispatch! {
    /// Stores one word of the consumer in an object.
    ///
    /// The word replaces the one stored before; it is kept, not looked at. Two threads that store into
    /// the same object at once have to agree between themselves.
    ///
    /// # Parameters
    /// * `dat_handle` - in, an object of any of the eleven kinds.
    /// * `context` - in, the word.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | no such object |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_set_consumer_context(3DAT).
    extern "C" fn dat_set_consumer_context(dat_handle: DAT_HANDLE, context: DAT_CONTEXT)
        as ia => set_consumer_context_func, DAT_INVALID_HANDLE1
}

dispatch! {
    /// Gives back the word that was stored last, or 0.
    ///
    /// # Parameters
    /// * `dat_handle` - in, an object of any of the eleven kinds.
    /// * `context` - out, the word; written only on success.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | no such object |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `context` is NULL |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_get_consumer_context(3DAT).
    extern "C" fn dat_get_consumer_context(dat_handle: DAT_HANDLE, context: *mut DAT_CONTEXT)
        as ia => get_consumer_context_func, DAT_INVALID_HANDLE1
}

dispatch! {
    /// Tells what kind of object a handle stands for.
    ///
    /// # Parameters
    /// * `dat_handle` - in, an object of any of the eleven kinds.
    /// * `handle_type` - out, the kind; written only on success.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | no such object |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `handle_type` is NULL |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_get_handle_type(3DAT).
    extern "C" fn dat_get_handle_type(dat_handle: DAT_HANDLE, handle_type: *mut DAT_HANDLE_TYPE)
        as ia => get_handle_type_func, DAT_INVALID_HANDLE1
}
