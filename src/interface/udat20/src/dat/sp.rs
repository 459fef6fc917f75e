//! Service points and connection requests

use super::types::*;
use crate::dat_platform_specific::*;

pub use dat_udat::dat::sp::*;

c_struct! {
    /// Parameters of a common service point, see dat_csp_query. The pointers are valid until the service point is
    /// freed.
    struct dat_csp_param as DAT_CSP_PARAM;
    ia_handle: DAT_IA_HANDLE, "Its interface adapter.";
    comm: *mut DAT_COMM, "Its communicator.";
    address_ptr: DAT_IA_ADDRESS_PTR, "The address at which it listens.";
    evd_handle: DAT_EVD_HANDLE, "The event dispatcher for its requests.";
}

c_enum! {
    /// Selects fields of DAT_CSP_PARAM.
    dat_csp_param_mask as DAT_CSP_PARAM_MASK;
    DAT_CSP_FIELD_IA_HANDLE = 0x01, "Selects ia_handle.";
    DAT_CSP_FIELD_COMM = 0x02, "Selects comm.";
    DAT_CSP_FIELD_IA_ADDRESS = 0x04, "Selects address_ptr.";
    DAT_CSP_FIELD_EVD_HANDLE = 0x08, "Selects evd_handle.";
    DAT_CSP_FIELD_ALL = 0x0F, "Selects all fields.";
}
