//! A provider's table, whose form is that of a version of the interface.

use dat_udat::dat::{DAT_CLOSE_FLAGS, DAT_EVD_HANDLE, DAT_IA_HANDLE, DAT_NAME_PTR};
use dat_udat::dat_error::DAT_RETURN;
use dat_udat::dat_platform_specific::DAT_COUNT;

/// The function of a provider that opens an instance.
pub type Open = unsafe extern "C" fn(DAT_NAME_PTR, DAT_COUNT, *mut DAT_EVD_HANDLE, *mut DAT_IA_HANDLE) -> DAT_RETURN;

/// The function of a provider that closes an instance.
pub type Close = unsafe extern "C" fn(DAT_IA_HANDLE, DAT_CLOSE_FLAGS) -> DAT_RETURN;

/// What a pointer to a table of any version points to.
pub enum Head {}
