//! Service points and connection requests

use super::types::*;
use crate::dat_platform_specific::*;
use dat_udat::c_enum;

pub use dat_udat::dat::sp::*;

/// Parameters of a common service point, see dat_csp_query. The pointers live as long as it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct dat_csp_param {
    /// The adapter that it belongs to.
    pub ia_handle: DAT_IA_HANDLE,
    /// Its kind of communication.
    pub comm: *mut DAT_COMM,
    /// The address that it listens on.
    pub address_ptr: DAT_IA_ADDRESS_PTR,
    /// The event dispatcher for its requests.
    pub evd_handle: DAT_EVD_HANDLE,
}

/// Parameters of a common service point, see dat_csp_query. The pointers live as long as it.
pub type DAT_CSP_PARAM = dat_csp_param;

c_enum! {
    /// Selects fields of DAT_CSP_PARAM.
    pub enum dat_csp_param_mask as DAT_CSP_PARAM_MASK {
        /// Selects ia_handle.
        DAT_CSP_FIELD_IA_HANDLE = 0x01,
        /// Selects comm.
        DAT_CSP_FIELD_COMM = 0x02,
        /// Selects address_ptr.
        DAT_CSP_FIELD_IA_ADDRESS = 0x04,
        /// Selects evd_handle.
        DAT_CSP_FIELD_EVD_HANDLE = 0x08,
        /// Selects all fields.
        DAT_CSP_FIELD_ALL = 0x0F,
    }
}
