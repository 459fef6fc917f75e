/// The registry calls that differ in 2.0. See [`registry_calls`](dat_udat::registry_calls).
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
                handle: DAT_IA_HANDLE, "in, the handle of an interface adapter that the program uses.";
                ia_handle: *mut DAT_IA_HANDLE, "out, the handle that the provider uses; written on success only.";
            ) => own;
        }
        $callback! {
            /// Returns the names of the type and the subtype of a return code, which are static strings. The class
            /// bits are ignored. The call is thread-safe, takes no lock and allocates no memory.
            ///
            /// # Returns
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` - `value` has an unknown type or subtype
            extern "C" fn dat_strerror(
                value: DAT_RETURN, "in, a return code.";
                major_message: *mut *const c_char, "out, the name of the type; may be NULL.";
                minor_message: *mut *const c_char,
                    "out, the name of the subtype, or an empty string for `DAT_NO_SUBTYPE`; may be NULL. The call"
                    "writes both strings even if it fails.";
            ) => own;
        }
    };
}

/// Calls: registry and return codes, only in 2.0.
#[macro_export]
macro_rules! further_registry_calls {
    ($callback:path) => {
        $callback! {
            /// Returns whether two adapters can take over each other's connections. Asks the providers of the adapters
            /// that are open, and loads no library. The call is thread-safe.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - `*relationship` is set
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` - `name1` is NULL or longer than 255 characters
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `name2` is NULL or longer than 255 characters
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `relationship` is NULL
            /// * `DAT_PROVIDER_NOT_FOUND` / `DAT_NAME_NOT_REGISTERED` - `name1` or `name2` is not in the registry
            extern "C" fn dat_registry_providers_related(
                name1: DAT_NAME_PTR, "in, name of an interface adapter, which dat_registry_list_providers returns.";
                name2: DAT_NAME_PTR, "in, name of the other interface adapter.";
                relationship: *mut DAT_HA_RELATIONSHIP,
                    "out, `DAT_HA_TRUE`, `DAT_HA_FALSE`, `DAT_HA_CONFLICTING` if the providers disagree, or"
                    "`DAT_HA_UNKNOWN` if no provider knows; written on success only.";
            ) => own;
        }
        $callback! {
            /// Returns whether another adapter can take over the connections of this adapter. Only a slot, which
            /// dat_registry_providers_related calls.
            ///
            /// # Returns
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2`, `DAT_INVALID_ARG3` - this pointer is NULL
            ///
            /// # Specification
            /// uDAPL 2.0, the provider table.
            extern "C" fn dat_ia_ha_related(
                ia_handle: DAT_IA_HANDLE, "in, the adapter.";
                provider: DAT_NAME_PTR, "in, the name of the other adapter.";
                answer: *mut DAT_BOOLEAN, "out, `DAT_TRUE` if the other adapter can take over.";
            ) => slot;
        }
    };
}
