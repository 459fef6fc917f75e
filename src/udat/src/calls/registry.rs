/// Calls: registry and return codes. See [`crate::abi`].
///
/// The list `$own` has what a version writes itself.
#[macro_export]
macro_rules! registry_calls {
    ($callback:path, $own:path) => {
        $callback! {
            /// Lists the adapters that dat_ia_open can open: first the entries of the configuration in their order,
            /// loaded or not, then providers that registered themselves without an entry. Nothing is loaded.
            /// Thread-safe.
            ///
            /// # Parameters
            /// * `max_to_return` - in, elements of `dat_provider_list`; 0 only asks for the number of entries.
            /// * `entries_returned` - out, the number of entries. Written on success, and also when `max_to_return` is
            ///   0 or too small.
            /// * `dat_provider_list` - in, pointers to structures of the caller. On success as many of them are filled
            ///   as there are entries; further elements are not touched. May be NULL if `max_to_return` is 0.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `entries_returned` is NULL |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` | `max_to_return` is negative, 0, or below the number of entries |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | the list is NULL with `max_to_return` above 0, or a pointer in it that is needed is NULL |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_registry_list_providers(3DAT).
            extern "C" fn dat_registry_list_providers(
                max_to_return: DAT_COUNT,
                entries_returned: *mut DAT_COUNT,
                dat_provider_list: *mut *mut DAT_PROVIDER_INFO,
            ) => own;
        }
        $callback! {
            /// Registers a provider under an identity: name, version and thread safety. A provider calls this from its
            /// dat_provider_init; a program that brings its own provider may call it at any time. Thread-safe; may be
            /// called from a library's constructor.
            ///
            /// # Parameters
            /// * `provider` - in, the table of the provider's functions. It is not copied, so it must stay in place
            ///   until it is removed.
            /// * `provider_info` - in, the identity; copied.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` | `provider` is NULL or not aligned |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `provider_info` is NULL, its name is empty or unterminated, or its major version is not that of the library |
            /// | `DAT_PROVIDER_ALREADY_REGISTERED` | a provider has this identity |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | too many tables are registered |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_registry_add_provider(3DAT).
            extern "C" fn dat_registry_add_provider(
                provider: *const DAT_PROVIDER,
                provider_info: *const DAT_PROVIDER_INFO,
            ) => own;
        }
        $callback! {
            /// Removes a provider. A provider calls this from its dat_provider_fini; a program that added the provider
            /// may call it too. On return the table is no longer used, unless it is registered under other identities
            /// too, and handles that point to it are invalid. Thread-safe.
            ///
            /// # Parameters
            /// * `provider` - in, the table that was added.
            /// * `provider_info` - in, the identity under which it was added.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` | `provider` is NULL |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `provider_info` is NULL, or `provider` is not registered under it |
            /// | `DAT_PROVIDER_IN_USE` | instances of it are open |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_registry_remove_provider(3DAT).
            extern "C" fn dat_registry_remove_provider(
                provider: *const DAT_PROVIDER,
                provider_info: *const DAT_PROVIDER_INFO,
            ) => own;
        }
        $own!($callback);
    };
}
