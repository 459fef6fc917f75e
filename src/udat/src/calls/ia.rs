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
            /// # Parameters
            /// * `provider` - in, name of the adapter, 1 to 255 characters.
            /// * `asynch_evd_min_qlen` - in, events that the EVD for asynchronous events must hold if one is made, 1 to
            ///   `max_evd_qlen`.
            /// * `asynch_evd_handle` - in and out, `DAT_HANDLE_NULL` to get a new EVD for asynchronous events; an EVD
            ///   with `DAT_EVD_ASYNC_FLAG` of another instance of the same adapter to use that one;
            ///   `DAT_EVD_ASYNC_EXISTS` if there is one elsewhere, which becomes `DAT_EVD_OUT_OF_SCOPE`.
            /// * `ia_handle` - out, the instance; written only on success.
            /// * `dat_major`, `dat_minor` - in, version of the interface: the major number must equal that of the
            ///   entry, the minor number must not be higher.
            /// * `thread_safety` - in, whether the program needs a thread-safe provider. If it does not, either kind
            ///   serves it.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` | `provider` is NULL or longer than 255 characters |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | `ia_handle` is NULL |
            /// | `DAT_PROVIDER_NOT_FOUND` / `DAT_NAME_NOT_REGISTERED` | no entry has this name, or its library cannot be loaded or did not register the name |
            /// | `DAT_PROVIDER_NOT_FOUND` / `DAT_MAJOR_NOT_FOUND`, `DAT_MINOR_NOT_FOUND`, `DAT_THREAD_SAFETY_NOT_FOUND` | the first of the three criteria, in this order, that no entry of this name meets |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `asynch_evd_handle` is NULL |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | an EVD is to be made and the length is 0 or negative |
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_ASYNC` | the handle is not an EVD, the EVD lacks the flag, or it belongs to another adapter |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_TEVD` | the length is above `max_evd_qlen` |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_DEVICE` | the transport cannot be opened: no descriptors are left, or the device that the entry names cannot be used |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | out of memory |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ia_open(3DAT); loading: dat_provider_init(3DAT), dat.conf(4).
            extern "C" fn dat_ia_openv(
                provider: DAT_NAME_PTR,
                asynch_evd_min_qlen: DAT_COUNT,
                asynch_evd_handle: *mut DAT_EVD_HANDLE,
                ia_handle: *mut DAT_IA_HANDLE,
            ) and (
                dat_major: DAT_UINT32,
                dat_minor: DAT_UINT32,
                thread_safety: DAT_BOOLEAN,
            ) => wrap as DAT_IA_OPENV_FUNC;
        }
        $callback! {
            /// Returns the EVD for asynchronous events, the attributes of an adapter and those of its provider.
            ///
            /// # Parameters
            /// * `ia_handle` - in, the instance.
            /// * `async_evd_handle` - out, the EVD for asynchronous events, or `DAT_EVD_OUT_OF_SCOPE`; may be NULL.
            /// * `ia_attr_mask` - in, the requested fields of `ia_attr`, bits of `DAT_IA_FIELD_ALL`.
            /// * `ia_attr` - out, attributes of the adapter; may be NULL if the mask is 0. The memory they point to
            ///   belongs to the provider and lives until the instance is closed.
            /// * `provider_attr_mask` - in, the requested fields of `provider_attr`, bits of
            ///   `DAT_PROVIDER_FIELD_ALL`.
            /// * `provider_attr` - out, attributes of the provider; as `ia_attr`.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3`, `DAT_INVALID_ARG5` | unknown bits in that mask |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4`, `DAT_INVALID_ARG6` | that structure is NULL and its mask is not 0 |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ia_query(3DAT).
            extern "C" fn dat_ia_query(
                ia_handle: DAT_IA_HANDLE,
                async_evd_handle: *mut DAT_EVD_HANDLE,
                ia_attr_mask: DAT_IA_ATTR_MASK,
                ia_attr: *mut DAT_IA_ATTR,
                provider_attr_mask: DAT_PROVIDER_ATTR_MASK,
                provider_attr: *mut DAT_PROVIDER_ATTR,
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
            /// # Parameters
            /// * `ia_handle` - in, the instance.
            /// * `close_flags` - in, `DAT_CLOSE_ABRUPT_FLAG` or `DAT_CLOSE_GRACEFUL_FLAG`.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
            /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | neither of the two flags |
            /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_IA_IN_USE` | graceful, and the program has left objects |
            /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | the clean-up itself failed; never from the providers of this project |
            ///
            /// # Specification
            /// uDAPL 1.2 and 2.0, dat_ia_close(3DAT); finishing: dat_provider_fini(3DAT).
            extern "C" fn dat_ia_close(
                ia_handle: DAT_IA_HANDLE,
                close_flags: DAT_CLOSE_FLAGS,
            ) => wrap;
        }
    };
}
