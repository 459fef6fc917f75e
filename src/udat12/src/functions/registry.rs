//! Functions: what there is, and what went wrong

use core::ffi::c_char;

use crate::dat::*;
use crate::dat_error::DAT_RETURN;
use crate::dat_platform_specific::*;

unsafe extern "C" {
    /// Lists the providers that can be opened: dat_provider_list is an array of max_to_return
    /// pointers to structures of the caller. entries_returned tells how many there are, also where
    /// max_to_return is 0 or too small.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_PARAMETER (max_to_return, NULL),
    /// DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2, dat_registry_list_providers(3DAT).
    pub fn dat_registry_list_providers(
        max_to_return: DAT_COUNT,
        entries_returned: *mut DAT_COUNT,
        dat_provider_list: *mut *mut DAT_PROVIDER_INFO,
    ) -> DAT_RETURN;

    /// Gives static texts for the type and the subtype of a return code.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_PARAMETER (no such type or subtype, NULL). See uDAPL 1.2,
    /// dat_strerror(3DAT).
    pub fn dat_strerror(
        value: DAT_RETURN,
        major_message: *mut *const c_char,
        minor_message: *mut *const c_char,
    ) -> DAT_RETURN;
}
