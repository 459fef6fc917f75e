//! Functions: adapters and objects of any kind

use crate::dat::*;
use crate::dat_error::DAT_RETURN;
use crate::dat_platform_specific::*;

unsafe extern "C" {
    /// Opens an interface adapter by the name that dat_registry_list_providers reports. Programs
    /// call it as dat_ia_open, which adds the version and the thread safety that they were compiled
    /// for.
    ///
    /// asynch_evd_handle is DAT_HANDLE_NULL on entry to have an event dispatcher of at least
    /// asynch_evd_min_qlen events made for asynchronous events, or one of the same adapter that
    /// exists, or DAT_EVD_ASYNC_EXISTS.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_PARAMETER (a name that is NULL or too long, a length below
    /// 1), DAT_INVALID_HANDLE (the event dispatcher, a NULL ia_handle), DAT_PROVIDER_NOT_FOUND (no
    /// such name, version or thread safety, or its library cannot be loaded),
    /// DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2, dat_ia_open(3DAT).
    pub fn dat_ia_openv(
        provider: DAT_NAME_PTR,
        asynch_evd_min_qlen: DAT_COUNT,
        asynch_evd_handle: *mut DAT_EVD_HANDLE,
        ia_handle: *mut DAT_IA_HANDLE,
        dat_major: DAT_UINT32,
        dat_minor: DAT_UINT32,
        thread_safety: DAT_BOOLEAN,
    ) -> DAT_RETURN;

    /// Tells the event dispatcher of asynchronous events, attributes of the adapter and attributes
    /// of its provider. A mask of 0 allows its structure to be NULL; a NULL async_evd_handle is
    /// allowed.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (unknown bits in a mask, a
    /// NULL structure). See uDAPL 1.2, dat_ia_query(3DAT).
    pub fn dat_ia_query(
        ia_handle: DAT_IA_HANDLE,
        async_evd_handle: *mut DAT_EVD_HANDLE,
        ia_attr_mask: DAT_IA_ATTR_MASK,
        ia_attr: *mut DAT_IA_ATTR,
        provider_attr_mask: DAT_PROVIDER_ATTR_MASK,
        provider_attr: *mut DAT_PROVIDER_ATTR,
    ) -> DAT_RETURN;

    /// Closes an adapter. DAT_CLOSE_ABRUPT_FLAG destroys all its objects; DAT_CLOSE_GRACEFUL_FLAG
    /// works only if none is left but the event dispatcher that opening it made.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (flags), DAT_INVALID_STATE
    /// (graceful, and objects are left). See uDAPL 1.2, dat_ia_close(3DAT).
    pub fn dat_ia_close(ia_handle: DAT_IA_HANDLE, close_flags: DAT_CLOSE_FLAGS) -> DAT_RETURN;

    /// Stores a word of the consumer in an object of any kind, in place of the one it had.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE. See uDAPL 1.2, dat_set_consumer_context(3DAT).
    pub fn dat_set_consumer_context(dat_handle: DAT_HANDLE, context: DAT_CONTEXT) -> DAT_RETURN;

    /// Gives back the word that dat_set_consumer_context stored, at first 0.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (NULL). See uDAPL 1.2,
    /// dat_get_consumer_context(3DAT).
    pub fn dat_get_consumer_context(dat_handle: DAT_HANDLE, context: *mut DAT_CONTEXT) -> DAT_RETURN;

    /// Tells the kind of an object.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (NULL). See uDAPL 1.2,
    /// dat_get_handle_type(3DAT).
    pub fn dat_get_handle_type(dat_handle: DAT_HANDLE, handle_type: *mut DAT_HANDLE_TYPE) -> DAT_RETURN;
}
