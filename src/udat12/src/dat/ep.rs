//! Endpoints

use super::types::*;
use crate::dat_platform_specific::*;
use dat_udat::place;

pub use dat_udat::dat::ep::*;

place!(attr);

dat_udat::ep_attr_of! { DAT_VLEN; }

place!(param);

dat_udat::ep_param_of! {}

place!(fields);

/// Selects local_ia_address_ptr.
pub const DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR: DAT_EP_PARAM_MASK = 0x4;

/// Selects local_port_qual.
pub const DAT_EP_FIELD_LOCAL_PORT_QUAL: DAT_EP_PARAM_MASK = 0x8;

/// Selects remote_ia_address_ptr.
pub const DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR: DAT_EP_PARAM_MASK = 0x10;

/// Selects remote_port_qual.
pub const DAT_EP_FIELD_REMOTE_PORT_QUAL: DAT_EP_PARAM_MASK = 0x20;

/// Selects pz_handle.
pub const DAT_EP_FIELD_PZ_HANDLE: DAT_EP_PARAM_MASK = 0x40;

/// Selects recv_evd_handle.
pub const DAT_EP_FIELD_RECV_EVD_HANDLE: DAT_EP_PARAM_MASK = 0x80;

/// Selects request_evd_handle.
pub const DAT_EP_FIELD_REQUEST_EVD_HANDLE: DAT_EP_PARAM_MASK = 0x100;

/// Selects connect_evd_handle.
pub const DAT_EP_FIELD_CONNECT_EVD_HANDLE: DAT_EP_PARAM_MASK = 0x200;

/// Selects srq_handle.
pub const DAT_EP_FIELD_SRQ_HANDLE: DAT_EP_PARAM_MASK = 0x400;

place!(all_fields);

/// Selects all fields of DAT_EP_PARAM.
pub const DAT_EP_FIELD_ALL: DAT_EP_PARAM_MASK = 0x7FFFF7FF;
