//! The beginning of a provider's table, which all versions of the interface have in common.

use std::ffi::{c_char, c_void};

use dat_udat::dat::{DAT_CLOSE_FLAGS, DAT_EVD_HANDLE, DAT_IA_HANDLE, DAT_NAME_PTR};
use dat_udat::dat_error::DAT_RETURN;
use dat_udat::dat_platform_specific::DAT_COUNT;

/// The function of a provider that opens an instance.
pub type Open = unsafe extern "C" fn(DAT_NAME_PTR, DAT_COUNT, *mut DAT_EVD_HANDLE, *mut DAT_IA_HANDLE) -> DAT_RETURN;

/// The function of a provider that closes an instance.
pub type Close = unsafe extern "C" fn(DAT_IA_HANDLE, DAT_CLOSE_FLAGS) -> DAT_RETURN;

/// The first fields of a provider's table. [`library!`](crate::library) asserts that a version has them so.
#[repr(C)]
#[derive(Debug)]
pub struct Head {
    /// Name of the adapter that it serves.
    pub device_name: *const c_char,
    /// For the provider's own use.
    pub extension: *mut c_void,
    /// Slot of dat_ia_open.
    pub ia_open_func: Option<Open>,
    /// Slot of dat_ia_query, whose type is the version's.
    pub ia_query_func: *const c_void,
    /// Slot of dat_ia_close.
    pub ia_close_func: Option<Close>,
}

/// Asserts at compile time that the table of a version begins with [`Head`] and is not larger than
/// [`LARGEST`](crate::tables::LARGEST).
#[macro_export]
macro_rules! assert_head {
    ($table:ty) => {
        const _: () = {
            use core::mem::offset_of;
            use $crate::head::{Close, Head, Open};

            assert!(offset_of!(Head, device_name) == offset_of!($table, device_name));
            assert!(offset_of!(Head, extension) == offset_of!($table, extension));
            assert!(offset_of!(Head, ia_open_func) == offset_of!($table, ia_open_func));
            assert!(offset_of!(Head, ia_query_func) == offset_of!($table, ia_query_func));
            assert!(offset_of!(Head, ia_close_func) == offset_of!($table, ia_close_func));
            assert!(size_of::<$table>() <= $crate::tables::LARGEST);
            const fn same_types(table: &$table) -> (Option<Open>, Option<Close>) {
                (table.ia_open_func, table.ia_close_func)
            }
            let _ = same_types;
        };
    };
}
