//! Functions: registration of providers

use core::ffi::c_ulong;

use crate::dat::*;
use crate::dat_error::DAT_RETURN;
use crate::dat_redirection::DAT_PROVIDER;

unsafe extern "C" {
    /// Registers a provider; called by dat_provider_init. The table is kept by reference, the
    /// information is copied.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_PARAMETER (NULL), DAT_PROVIDER_ALREADY_REGISTERED,
    /// DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2, dat_registry_add_provider(3DAT).
    pub fn dat_registry_add_provider(
        provider: *const DAT_PROVIDER,
        provider_info: *const DAT_PROVIDER_INFO,
    ) -> DAT_RETURN;

    /// Removes a provider from the registry; called by dat_provider_fini.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_PARAMETER (NULL, not registered), DAT_PROVIDER_IN_USE. See
    /// uDAPL 1.2, dat_registry_remove_provider(3DAT).
    pub fn dat_registry_remove_provider(
        provider: *const DAT_PROVIDER,
        provider_info: *const DAT_PROVIDER_INFO,
    ) -> DAT_RETURN;

    /// Gives the provider's handle of an adapter for the one that a program holds. They are the
    /// same here, so it gives back what it got; an implementation that numbers adapters translates.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (NULL).
    pub fn dats_get_ia_handle(handle: c_ulong, ia_handle: *mut DAT_IA_HANDLE) -> DAT_RETURN;
}
