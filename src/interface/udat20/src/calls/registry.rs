/// The calls among those of [`registry_calls`](dat_udat::registry_calls) that 2.0 has in a form of its own.
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
                handle: DAT_IA_HANDLE, "in, a handle of an interface adapter, as the program holds it.";
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
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` - there is no such type or no such subtype
            extern "C" fn dat_strerror(
                value: DAT_RETURN, "in, a return code of any call; `DAT_SUCCESS` is one.";
                major_message: *mut *const c_char, "out, the name of the type; may be NULL.";
                minor_message: *mut *const c_char,
                    "out, the name of the subtype, an empty string for `DAT_NO_SUBTYPE`; may be NULL. Both are written"
                    "whatever the call returns.";
            ) => own;
        }
    };
}

/// Calls: registry and return codes. Those that only 2.0 has.
#[macro_export]
macro_rules! further_registry_calls {
    ($callback:path) => {
        $callback! {
            /// Tells whether two adapters can take over each other's connections. Asks the providers of those that are open;
            /// loads nothing. Thread-safe.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - `relationship` is set
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` - `name1` is NULL or longer than 255 characters
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `name2` is NULL or longer than 255 characters
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `relationship` is NULL
            /// * `DAT_PROVIDER_NOT_FOUND` / `DAT_NAME_NOT_REGISTERED` - one of the names is not in the registry
            extern "C" fn dat_registry_providers_related(
                name1: DAT_NAME_PTR, "in, name of an interface adapter, as dat_registry_list_providers lists it.";
                name2: DAT_NAME_PTR, "in, name of another one.";
                relationship: *mut DAT_HA_RELATIONSHIP,
                    "out, `DAT_HA_TRUE`, `DAT_HA_FALSE`, `DAT_HA_CONFLICTING` if the providers disagree, or"
                    "`DAT_HA_UNKNOWN` if no provider can say; written on success only.";
            ) => own;
        }
        $callback! {
            /// Slot of dat_registry_providers_related: tells whether another adapter can take over connections of this one.
            ///
            /// # Returns
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - not an open adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2`, `DAT_INVALID_ARG3` - that pointer is NULL
            ///
            /// # Specification
            /// uDAPL 2.0, the provider table.
            extern "C" fn dat_ia_ha_related(
                ia_handle: DAT_IA_HANDLE, "in, the adapter.";
                provider: DAT_NAME_PTR, "in, the name of the other one.";
                answer: *mut DAT_BOOLEAN, "out, whether it can.";
            ) => slot;
        }
    };
}
