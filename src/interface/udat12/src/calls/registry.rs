/// The registry calls that differ in 1.2. See [`registry_calls`](dat_udat::registry_calls).
#[macro_export]
macro_rules! own_registry_calls {
    ($callback:path) => {
        $callback! {
            /// Returns the handle of an instance that its provider uses. In this library it equals the handle of the
            /// program, so the call returns its argument. Providers for a library that numbers its instances call it.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - `*ia_handle` is the handle of the provider
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `handle` does not belong to a registered provider
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `ia_handle` is NULL
            ///
            /// # Specification
            /// None; part of the binary interface between the registry and providers on Linux.
            extern "C" fn dats_get_ia_handle(
                handle: c_ulong, "in, the handle of an interface adapter that the program uses.";
                ia_handle: *mut DAT_IA_HANDLE, "out, the handle that the provider uses; written on success only.";
            ) => own;
        }
        $callback! {
            /// Returns the names of the type and the subtype of a return code, which are static strings. The class
            /// bits are ignored. The call is thread-safe, takes no lock and allocates no memory.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - both strings are set
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` - `value` has a type or a subtype that does not exist
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2`, `DAT_INVALID_ARG3` - `major_message` or `minor_message` is NULL
            extern "C" fn dat_strerror(
                value: DAT_RETURN, "in, a return code.";
                major_message: *mut *const c_char, "out, the name of the type; written on success only.";
                minor_message: *mut *const c_char,
                    "out, the name of the subtype, or an empty string for `DAT_NO_SUBTYPE`; written on success only.";
            ) => own;
        }
    };
}
