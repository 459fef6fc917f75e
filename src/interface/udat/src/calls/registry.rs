/// Calls: registry and return codes. See [`crate::abi`].
///
/// The macro `$own` lists the calls whose form depends on the version.
#[macro_export]
macro_rules! registry_calls {
    ($callback:path, $own:path) => {
        $callback! {
            /// Lists interface adapters: first the entries of the configuration in their order, then providers that
            /// registered themselves without an entry. Without an entry for this version, it lists the RDMA devices of
            /// the host. In uDAPL 2.0, the list also contains entries for other major versions, which cannot be opened.
            /// The call loads no library. It is thread-safe.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the first `max_to_return` entries, or all of them, are stored, and `*entries_returned` is their number
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `entries_returned` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` - `max_to_return` is negative
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` - `max_to_return` is 0. `*entries_returned` is the number of all entries
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `dat_provider_list` is NULL and `max_to_return` is above 0, or one of the elements to be filled is NULL
            extern "C" fn dat_registry_list_providers(
                max_to_return: DAT_COUNT,
                    "in, number of elements of `dat_provider_list`. 0 requests only the number of entries.";
                entries_returned: *mut DAT_COUNT,
                    "out, number of filled structures, or the number of all entries if `max_to_return` is 0.";
                dat_provider_list: *mut *mut DAT_PROVIDER_INFO,
                    "out, array of pointers to structures provided by the program. The call fills one structure for"
                    "each entry that has room. May be NULL if `max_to_return` is 0.";
            ) => own;
        }
        $callback! {
            /// Registers a provider under an identity: name, version and thread safety. A provider calls this function
            /// from its dat_provider_init. A program that contains a provider may call it at any time. The call is
            /// thread-safe and allowed in a constructor of a library.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the provider is registered and can be opened
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` - `provider` is NULL or misaligned
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `provider_info` is NULL, its name is empty or not terminated, or its major version differs from the version of the library
            /// * `DAT_PROVIDER_ALREADY_REGISTERED` - an entry with the same name, major version, minor version and thread safety is registered
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - out of memory, or too many tables are registered
            extern "C" fn dat_registry_add_provider(
                provider: *const DAT_PROVIDER,
                    "in, the table of functions. The call does not copy the table, so it must stay valid until it is"
                    "removed.";
                provider_info: *const DAT_PROVIDER_INFO,
                    "in, name, version and thread safety of the entry, which the call copies.";
            ) => own;
        }
        $callback! {
            /// Removes a provider. A provider calls this function from its dat_provider_fini; a program that added the
            /// provider may also call it. After the call, the table is no longer used unless it is registered under
            /// another identity, and handles that point to it are invalid. The call is thread-safe.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the entry is removed
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` - `provider` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `provider_info` is NULL, or `provider` is not registered under it
            /// * `DAT_PROVIDER_IN_USE` - an adapter that was opened through this entry is open
            extern "C" fn dat_registry_remove_provider(
                provider: *const DAT_PROVIDER, "in, the registered table of functions.";
                provider_info: *const DAT_PROVIDER_INFO, "in, name, version and thread safety of the entry.";
            ) => own;
        }
        $own!($callback);
    };
}
