//! Endpoints

use super::types::*;
use crate::dat_platform_specific::*;

pub use dat_udat::dat::ep::*;

place!(attr);

dat_udat::ep_attr_of! { DAT_VLEN; }

place!(param);

dat_udat::ep_param_of! {}

place!(fields);

c_consts! {
    DAT_EP_PARAM_MASK;
    DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR = 0x4, "Selects local_ia_address_ptr.";
    DAT_EP_FIELD_LOCAL_PORT_QUAL = 0x8, "Selects local_port_qual.";
    DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR = 0x10, "Selects remote_ia_address_ptr.";
    DAT_EP_FIELD_REMOTE_PORT_QUAL = 0x20, "Selects remote_port_qual.";
    DAT_EP_FIELD_PZ_HANDLE = 0x40, "Selects pz_handle.";
    DAT_EP_FIELD_RECV_EVD_HANDLE = 0x80, "Selects recv_evd_handle.";
    DAT_EP_FIELD_REQUEST_EVD_HANDLE = 0x100, "Selects request_evd_handle.";
    DAT_EP_FIELD_CONNECT_EVD_HANDLE = 0x200, "Selects connect_evd_handle.";
    DAT_EP_FIELD_SRQ_HANDLE = 0x400, "Selects srq_handle.";
}

place!(all_fields);

/// Selects all fields of DAT_EP_PARAM.
pub const DAT_EP_FIELD_ALL: DAT_EP_PARAM_MASK = 0x7FFFF7FF;
