/// Calls: interface adapters. See [`crate::abi`].
#[macro_export]
macro_rules! ia_calls {
    ($callback:path) => {
        $callback! {
            /// Opens an instance of an interface adapter by a name that dat_registry_list_providers lists. Programs
            /// call it as dat_ia_open, a macro that adds the version and the thread safety that they were compiled for.
            ///
            /// The provider library is loaded and initialised unless its entry is in use already. A library that could
            /// not be loaded is not tried again in this process. Blocks while another thread loads the same entry.
            /// Thread-safe; not a cancellation point.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the adapter is open and both handles are valid
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` - `provider` is NULL, or has 256 characters or more
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is NULL
            /// * `DAT_PROVIDER_NOT_FOUND` / `DAT_NAME_NOT_REGISTERED` - no entry has this name, or its library could not be loaded or did not register itself
            /// * `DAT_PROVIDER_NOT_FOUND` / `DAT_MAJOR_NOT_FOUND`, `DAT_MINOR_NOT_FOUND`, `DAT_THREAD_SAFETY_NOT_FOUND` - the name is known; the subtype is the first of the three criteria, in this order, that no entry meets
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `asynch_evd_handle` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - a dispatcher is to be created and `asynch_evd_min_qlen` is 0 or negative
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_ASYNC` - `*asynch_evd_handle` is not an event dispatcher, has no asynchronous stream, or belongs to another adapter
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_TEVD` - `asynch_evd_min_qlen` is above `max_evd_qlen`, or no place is left for an event dispatcher
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_DEVICE` - the transport cannot be opened: no descriptors are left, or the device that the entry names cannot be used
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - out of memory
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ia_open(3DAT); loading: dat_provider_init(3DAT), dat.conf(4).
            extern "C" fn dat_ia_openv(
                provider: DAT_NAME_PTR, "in, name of the interface adapter, 1 to 255 characters.";
                asynch_evd_min_qlen: DAT_COUNT,
                    "in, least number of events that the asynchronous event dispatcher must hold if one is created,"
                    "from 1 to `max_evd_qlen`.";
                asynch_evd_handle: *mut DAT_EVD_HANDLE,
                    "in/out, `DAT_HANDLE_NULL` for a new asynchronous event dispatcher; one with `DAT_EVD_ASYNC_FLAG`"
                    "of another instance of the same adapter to use that; `DAT_EVD_ASYNC_EXISTS` if there is one"
                    "elsewhere, which becomes `DAT_EVD_OUT_OF_SCOPE`. See dat_ia_open.";
                ia_handle: *mut DAT_IA_HANDLE, "out, the new instance; written on success only.";
            ) and (
                dat_major: DAT_UINT32,
                    "in, major version of the interface that the program was written for, which must be that of the"
                    "entry: 1 for uDAPL 1.2.";
                dat_minor: DAT_UINT32,
                    "in, least minor version that the program needs; that of the entry must not be lower. 2 or lower"
                    "for uDAPL 1.2.";
                thread_safety: DAT_BOOLEAN,
                    "in, `DAT_TRUE` if the provider has to be thread-safe, `DAT_FALSE` if that does not matter.";
            ) => wrap as DAT_IA_OPENV_FUNC;
        }
        $callback! {
            /// Returns the EVD for asynchronous events, the attributes of an adapter and those of its provider.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the wanted values are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `ia_attr_mask` has a bit outside `DAT_IA_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `provider_attr_mask` has a bit outside `DAT_PROVIDER_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `ia_attr_mask` is not 0 and `ia_attr` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - `provider_attr_mask` is not 0 and `provider_attr` is NULL
            extern "C" fn dat_ia_query(
                ia_handle: DAT_IA_HANDLE, "in, an open interface adapter.";
                async_evd_handle: *mut DAT_EVD_HANDLE,
                    "out, its asynchronous event dispatcher, or `DAT_EVD_OUT_OF_SCOPE`; may be NULL if not wanted.";
                ia_attr_mask: DAT_IA_ATTR_MASK,
                    "in, which fields of `ia_attr` are wanted: bits DAT_IA_FIELD_..., `DAT_IA_FIELD_ALL` or"
                    "`DAT_IA_FIELD_NONE`. The type has 64 bits.";
                ia_attr: *mut DAT_IA_ATTR,
                    "out, a structure of the program; may be NULL if the mask is 0. The memory that it points to"
                    "belongs to the provider and lives until the instance is closed.";
                provider_attr_mask: DAT_PROVIDER_ATTR_MASK,
                    "in, which fields of `provider_attr` are wanted: bits DAT_PROVIDER_FIELD_...,"
                    "`DAT_PROVIDER_FIELD_ALL` or `DAT_PROVIDER_FIELD_NONE`.";
                provider_attr: *mut DAT_PROVIDER_ATTR,
                    "out, a structure of the program; may be NULL if the mask is 0. The memory that it points to"
                    "belongs to the provider and lives until the instance is closed.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Closes an instance of an interface adapter. DAT_CLOSE_ABRUPT_FLAG destroys all its objects;
            /// DAT_CLOSE_GRACEFUL_FLAG works only if none is left except the EVD that was made when it was opened.
            ///
            /// Closing the last instance of an entry also calls the provider's fini; the library stays in the process.
            /// An instance of a provider that registered itself without an entry is closed in the same way. If the
            /// provider refuses, nothing changes.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the instance is closed; its handle and the handles of its objects are invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `close_flags` is neither of the two
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_IA_IN_USE` - graceful, and objects of the program are left; nothing has changed
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - the clean-up itself ran out of memory; never from the providers of this project
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ia_close(3DAT); finishing: dat_provider_fini(3DAT).
            extern "C" fn dat_ia_close(
                ia_handle: DAT_IA_HANDLE, "in, the instance to close.";
                close_flags: DAT_CLOSE_FLAGS,
                    "in, `DAT_CLOSE_ABRUPT_FLAG` (0, also called `DAT_CLOSE_DEFAULT`) or `DAT_CLOSE_GRACEFUL_FLAG`"
                    "(1).";
            ) => wrap;
        }
    };
}
