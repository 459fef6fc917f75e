//! Types of a provider's table, independent of the version.

use dat_udat::dat::{DAT_CLOSE_FLAGS, DAT_EVD_HANDLE, DAT_IA_HANDLE, DAT_NAME_PTR};
use dat_udat::dat_error::DAT_RETURN;
use dat_udat::dat_platform_specific::DAT_COUNT;

/// A provider's function that opens an instance.
pub type Open = unsafe extern "C" fn(DAT_NAME_PTR, DAT_COUNT, *mut DAT_EVD_HANDLE, *mut DAT_IA_HANDLE) -> DAT_RETURN;

/// A provider's function that closes an instance.
pub type Close = unsafe extern "C" fn(DAT_IA_HANDLE, DAT_CLOSE_FLAGS) -> DAT_RETURN;

/// Type for pointers to a provider's table of any version. It has no values.
pub enum Head {}
