//! Endpoints

use super::types::*;
use crate::dat_platform_specific::*;
use dat_udat::{c_members, place};

pub use dat_udat::dat::ep::*;

c_members! {
    DAT_SERVICE_TYPE {
        /// First kind that extensions define.
        DAT_SERVICE_TYPE_EXTENSION_BASE = 1,
    }
}

place!(attr);

dat_udat::ep_attr_of! { DAT_SEG_LENGTH; }

c_members! {
    DAT_EP_STATE {
        /// Connected over one of several paths.
        DAT_EP_STATE_CONNECTED_SINGLE_PATH = 13,
        /// Connected over several paths.
        DAT_EP_STATE_CONNECTED_MULTI_PATH = 14,
    }
}

place!(param);

dat_udat::ep_param_of! {
    /// Kind of communication, for dat_ep_common_connect.
    pub comm: DAT_COMM,
}

place!(fields);

/// Selects local_ia_address_ptr.
pub const DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR: DAT_EP_PARAM_MASK = 0x8;

/// Selects local_port_qual.
pub const DAT_EP_FIELD_LOCAL_PORT_QUAL: DAT_EP_PARAM_MASK = 0x10;

/// Selects remote_ia_address_ptr.
pub const DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR: DAT_EP_PARAM_MASK = 0x20;

/// Selects remote_port_qual.
pub const DAT_EP_FIELD_REMOTE_PORT_QUAL: DAT_EP_PARAM_MASK = 0x40;

/// Selects pz_handle.
pub const DAT_EP_FIELD_PZ_HANDLE: DAT_EP_PARAM_MASK = 0x80;

/// Selects recv_evd_handle.
pub const DAT_EP_FIELD_RECV_EVD_HANDLE: DAT_EP_PARAM_MASK = 0x100;

/// Selects request_evd_handle.
pub const DAT_EP_FIELD_REQUEST_EVD_HANDLE: DAT_EP_PARAM_MASK = 0x200;

/// Selects connect_evd_handle.
pub const DAT_EP_FIELD_CONNECT_EVD_HANDLE: DAT_EP_PARAM_MASK = 0x400;

/// Selects srq_handle.
pub const DAT_EP_FIELD_SRQ_HANDLE: DAT_EP_PARAM_MASK = 0x800;

/// Selects comm.
pub const DAT_EP_FIELD_COMM: DAT_EP_PARAM_MASK = 0x4;

place!(all_fields);

/// Selects all fields of DAT_EP_PARAM.
pub const DAT_EP_FIELD_ALL: DAT_EP_PARAM_MASK = 0x7FFFFFFF;
