/// Calls: interface adapters. See [`crate::abi`].
#[macro_export]
macro_rules! ia_calls {
    ($callback:path) => {
        $callback! {
            /// Opens an instance of an interface adapter by a name that dat_registry_list_providers returns. Programs
            /// call the macro dat_ia_open, which adds the version and the thread safety for which they were compiled.
            ///
            /// Loads and initialises the provider library unless its entry is already in use. A library that could not
            /// be loaded is not tried again in this process. The call blocks while another thread loads the same
            /// entry. It is thread-safe and not a cancellation point.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the adapter is open and both handles are valid
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` - `provider` is NULL or has more than 255 characters
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is NULL
            /// * `DAT_PROVIDER_NOT_FOUND` / `DAT_NAME_NOT_REGISTERED` - no entry has this name, or its library cannot be loaded or did not register itself
            /// * `DAT_PROVIDER_NOT_FOUND` / `DAT_MAJOR_NOT_FOUND`, `DAT_MINOR_NOT_FOUND`, `DAT_THREAD_SAFETY_NOT_FOUND` - no entry with this name matches. The subtype is the first of these criteria, in this order, that no entry meets
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `asynch_evd_handle` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `*asynch_evd_handle` is `DAT_HANDLE_NULL`, and `asynch_evd_min_qlen` is 0 or negative
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_ASYNC` - `*asynch_evd_handle` is not an event dispatcher, lacks `DAT_EVD_ASYNC_FLAG`, or belongs to another adapter
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_TEVD` - `asynch_evd_min_qlen` is above `max_evd_qlen`, or the adapter has `max_evds` dispatchers already
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_DEVICE` - the transport cannot be opened: the process has no file descriptors left, or the device of the entry cannot be used
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - out of memory
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ia_open(3DAT); loading: dat_provider_init(3DAT), dat.conf(4).
            extern "C" fn dat_ia_openv(
                provider: DAT_NAME_PTR, "in, name of the interface adapter, of 1 to 255 characters.";
                asynch_evd_min_qlen: DAT_COUNT,
                    "in, minimum number of events that a new asynchronous event dispatcher must hold, from 1 to"
                    "`max_evd_qlen` of dat_ia_query.";
                asynch_evd_handle: *mut DAT_EVD_HANDLE,
                    "in/out, the asynchronous event dispatcher, as for dat_ia_open. `DAT_HANDLE_NULL` requests a new"
                    "dispatcher. A dispatcher with `DAT_EVD_ASYNC_FLAG` of another instance of the same adapter is"
                    "shared. `DAT_EVD_ASYNC_EXISTS` requests none and becomes `DAT_EVD_OUT_OF_SCOPE`.";
                ia_handle: *mut DAT_IA_HANDLE, "out, the new instance; written on success only.";
            ) and (
                dat_major: DAT_UINT32,
                    "in, major version of the interface for which the program was written: 1 for uDAPL 1.2. The entry"
                    "must have the same major version.";
                dat_minor: DAT_UINT32,
                    "in, minimum minor version that the program needs: 2 or lower for uDAPL 1.2. The minor version of"
                    "the entry must not be lower.";
                thread_safety: DAT_BOOLEAN,
                    "in, `DAT_TRUE` if the provider must be thread-safe, `DAT_FALSE` if it need not be.";
            ) => wrap as DAT_IA_OPENV_FUNC;
        }
        $callback! {
            /// Returns the asynchronous EVD of an instance, and the attributes of adapter and provider.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the requested values are stored
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` - `ia_attr_mask` has a bit outside `DAT_IA_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` - `provider_attr_mask` has a bit outside `DAT_PROVIDER_FIELD_ALL`
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` - `ia_attr_mask` is not 0 and `ia_attr` is NULL
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` - `provider_attr_mask` is not 0 and `provider_attr` is NULL
            extern "C" fn dat_ia_query(
                ia_handle: DAT_IA_HANDLE, "in, the instance to query.";
                async_evd_handle: *mut DAT_EVD_HANDLE,
                    "out, the asynchronous event dispatcher of the instance, or `DAT_EVD_OUT_OF_SCOPE`; may be NULL.";
                ia_attr_mask: DAT_IA_ATTR_MASK,
                    "in, mask of the requested fields of `ia_attr`: bits DAT_IA_FIELD_..., `DAT_IA_FIELD_ALL` or"
                    "`DAT_IA_FIELD_NONE`. The type has 64 bits.";
                ia_attr: *mut DAT_IA_ATTR, "out, structure provided by the program; may be NULL if the mask is 0.";
                provider_attr_mask: DAT_PROVIDER_ATTR_MASK,
                    "in, mask of the requested fields of `provider_attr`: bits DAT_PROVIDER_FIELD_...,"
                    "`DAT_PROVIDER_FIELD_ALL` or `DAT_PROVIDER_FIELD_NONE`.";
                provider_attr: *mut DAT_PROVIDER_ATTR,
                    "out, structure provided by the program; may be NULL if the mask is 0.";
            ) => dispatch(DAT_INVALID_HANDLE_IA);
        }
        $callback! {
            /// Closes an instance of an interface adapter. DAT_CLOSE_ABRUPT_FLAG destroys all its objects.
            /// DAT_CLOSE_GRACEFUL_FLAG succeeds only if the program has freed all of them, except the asynchronous EVD
            /// that the open created.
            ///
            /// Closing the last instance of an entry also calls the dat_provider_fini of the provider; the library
            /// stays loaded. An instance of a provider that registered itself without an entry is closed in the same
            /// way. If the provider refuses, nothing changes.
            ///
            /// # Returns
            /// * `DAT_SUCCESS` - the instance is closed; its handle and the handles of its objects are invalid
            /// * `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` - `ia_handle` is not an open interface adapter
            /// * `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` - `close_flags` is neither `DAT_CLOSE_ABRUPT_FLAG` nor `DAT_CLOSE_GRACEFUL_FLAG`
            /// * `DAT_INVALID_STATE` / `DAT_INVALID_STATE_IA_IN_USE` - `close_flags` is `DAT_CLOSE_GRACEFUL_FLAG`, and objects of the program exist; nothing has changed
            /// * `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` - the clean-up ran out of memory; never from the providers of this project
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
