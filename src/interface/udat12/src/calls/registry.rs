/// The calls among those of [`registry_calls`](dat_udat::registry_calls) that 1.2 has in a form of its own.
#[macro_export]
macro_rules! own_registry_calls {
    ($callback:path) => {
        $callback! {
            /// Returns the provider's handle of an instance for the handle that a program holds. They are the same
            /// here, so it returns its argument. Providers made for a library that numbers its instances call it.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - `*ia_handle` is set
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `handle` is no handle of a registered provider
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `ia_handle` is NULL
            ///
            /// # Specification
            /// None; part of the binary interface between the registry and providers on Linux.
            extern "C" fn dats_get_ia_handle(
                handle: c_ulong, "in, a handle of an interface adapter, as the program holds it.";
                ia_handle: *mut DAT_IA_HANDLE,
                    "out, the handle under which the provider knows it; written on success only.";
            ) => own;
        }
        $callback! {
            /// Returns the names of a return code's type and subtype, which are static texts. The class bits do not
            /// matter: a code has the same names as error, as warning and without a class. Thread-safe; takes no lock
            /// and allocates nothing.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - both strings are set
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` - `value` has a type or a subtype that does not exist
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2`, `DAT_INVALID_ARG3` - `major_message` or `minor_message` is NULL
            extern "C" fn dat_strerror(
                value: DAT_RETURN, "in, a return code of any function of the library.";
                major_message: *mut *const c_char, "out, name of its type; written on success only.";
                minor_message: *mut *const c_char,
                    "out, name of its subtype, an empty string if it has none; written on success only.";
            ) => own;
        }
    };
}
