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
            /// # Returns
            /// * `DAT_SUCCESS` - the entries are stored, and `*entries_returned` tells how many
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `entries_returned` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` - `max_to_return` is 0, negative, or below the number of entries. `*entries_returned` is the number of entries, and no structure was written
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `dat_provider_list` is NULL with `max_to_return` above 0, or one of the elements to be filled is NULL
            extern "C" fn dat_registry_list_providers(
                max_to_return: DAT_COUNT,
                    "in, number of elements of `dat_provider_list`; 0 only asks for the number of entries.";
                entries_returned: *mut DAT_COUNT,
                    "out, number of structures that were filled; with `DAT_INVALID_ARG1`, the number of entries there"
                    "are.";
                dat_provider_list: *mut *mut DAT_PROVIDER_INFO,
                    "out, an array of pointers to structures of the program. As many of them are filled as there are"
                    "entries; further elements are not touched. May be NULL if `max_to_return` is 0.";
            ) => own;
        }
        $callback! {
            /// Registers a provider under an identity: name, version and thread safety. A provider calls this from its
            /// dat_provider_init; a program that brings its own provider may call it at any time. Thread-safe; may be
            /// called from a library's constructor.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the table is registered and can be opened
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` - `provider` is NULL or not aligned
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `provider_info` is NULL, its name is empty or has no end, or its major version is not that of the library
            /// * `DAT_PROVIDER_ALREADY_REGISTERED` - an entry with the same name, major version, minor version and thread safety is registered
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - too many tables are registered
            extern "C" fn dat_registry_add_provider(
                provider: *const DAT_PROVIDER,
                    "in, the table of functions. It is not copied, so it must stay in place until it is removed.";
                provider_info: *const DAT_PROVIDER_INFO,
                    "in, name, version and thread safety under which the table is found. It is copied.";
            ) => own;
        }
        $callback! {
            /// Removes a provider. A provider calls this from its dat_provider_fini; a program that added the provider
            /// may call it too. On return the table is no longer used, unless it is registered under other identities
            /// too, and handles that point to it are invalid. Thread-safe.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the entry is gone
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` - `provider` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `provider_info` is NULL, or `provider` is not registered under it
            /// * `DAT_PROVIDER_IN_USE` - an adapter that was opened through this entry is still open
            extern "C" fn dat_registry_remove_provider(
                provider: *const DAT_PROVIDER, "in, the table of functions that was registered.";
                provider_info: *const DAT_PROVIDER_INFO,
                    "in, name, version and thread safety under which it was registered.";
            ) => own;
        }
        $own!($callback);
    };
}
