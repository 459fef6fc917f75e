//! Endpoints

use super::types::*;
use crate::dat_platform_specific::*;

pub use dat_udat::dat::ep::*;

c_members! {
    DAT_SERVICE_TYPE;
    DAT_SERVICE_TYPE_EXTENSION_BASE = 1, "First kind that extensions define.";
}

place!(attr);

dat_udat::ep_attr_of! { DAT_SEG_LENGTH; }

c_members! {
    DAT_EP_STATE;
    DAT_EP_STATE_CONNECTED_SINGLE_PATH = 13, "Connected over one of several paths.";
    DAT_EP_STATE_CONNECTED_MULTI_PATH = 14, "Connected over several paths.";
}

place!(param);

dat_udat::ep_param_of! {
    comm: DAT_COMM, "Communicator, for dat_ep_common_connect.";
}

place!(fields);

c_consts! {
    DAT_EP_PARAM_MASK;
    DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR = 0x8, "Selects local_ia_address_ptr.";
    DAT_EP_FIELD_LOCAL_PORT_QUAL = 0x10, "Selects local_port_qual.";
    DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR = 0x20, "Selects remote_ia_address_ptr.";
    DAT_EP_FIELD_REMOTE_PORT_QUAL = 0x40, "Selects remote_port_qual.";
    DAT_EP_FIELD_PZ_HANDLE = 0x80, "Selects pz_handle.";
    DAT_EP_FIELD_RECV_EVD_HANDLE = 0x100, "Selects recv_evd_handle.";
    DAT_EP_FIELD_REQUEST_EVD_HANDLE = 0x200, "Selects request_evd_handle.";
    DAT_EP_FIELD_CONNECT_EVD_HANDLE = 0x400, "Selects connect_evd_handle.";
    DAT_EP_FIELD_SRQ_HANDLE = 0x800, "Selects srq_handle.";
    DAT_EP_FIELD_COMM = 0x4, "Selects comm.";
}

place!(all_fields);

/// Selects all fields of DAT_EP_PARAM.
pub const DAT_EP_FIELD_ALL: DAT_EP_PARAM_MASK = 0x7FFFFFFF;
