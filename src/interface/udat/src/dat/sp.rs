//! Service points and connection requests

use super::types::*;
use crate::dat_platform_specific::*;
use crate::names::c_enum;

/// Supplier of the endpoint for a request at a public service point.
pub type DAT_PSP_FLAGS = c_enum;
/// The program passes an endpoint to dat_cr_accept.
pub const DAT_PSP_CONSUMER_FLAG: DAT_PSP_FLAGS = 0;
/// The provider creates an endpoint for each request.
pub const DAT_PSP_PROVIDER_FLAG: DAT_PSP_FLAGS = 1;

/// Parameters of a public service point, see dat_psp_query.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_PSP_PARAM {
    /// Interface adapter of the service point.
    pub ia_handle: DAT_IA_HANDLE,
    /// Qualifier at which the service point listens.
    pub conn_qual: DAT_CONN_QUAL,
    /// Event dispatcher for connection requests.
    pub evd_handle: DAT_EVD_HANDLE,
    /// Supplier of the endpoint for a request.
    pub psp_flags: DAT_PSP_FLAGS,
}

/// Selects fields of DAT_PSP_PARAM.
pub type DAT_PSP_PARAM_MASK = c_enum;
pub const DAT_PSP_FIELD_IA_HANDLE: DAT_PSP_PARAM_MASK = 0x01;
pub const DAT_PSP_FIELD_CONN_QUAL: DAT_PSP_PARAM_MASK = 0x02;
pub const DAT_PSP_FIELD_EVD_HANDLE: DAT_PSP_PARAM_MASK = 0x04;
pub const DAT_PSP_FIELD_PSP_FLAGS: DAT_PSP_PARAM_MASK = 0x08;
pub const DAT_PSP_FIELD_ALL: DAT_PSP_PARAM_MASK = 0x0F;

/// Parameters of a reserved service point, see dat_rsp_query.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_RSP_PARAM {
    /// Interface adapter of the service point.
    pub ia_handle: DAT_IA_HANDLE,
    /// Qualifier at which the service point listens.
    pub conn_qual: DAT_CONN_QUAL,
    /// Event dispatcher for the connection request.
    pub evd_handle: DAT_EVD_HANDLE,
    /// Endpoint that is reserved for the request.
    pub ep_handle: DAT_EP_HANDLE,
}

/// Selects fields of DAT_RSP_PARAM.
pub type DAT_RSP_PARAM_MASK = c_enum;
pub const DAT_RSP_FIELD_IA_HANDLE: DAT_RSP_PARAM_MASK = 0x01;
pub const DAT_RSP_FIELD_CONN_QUAL: DAT_RSP_PARAM_MASK = 0x02;
pub const DAT_RSP_FIELD_EVD_HANDLE: DAT_RSP_PARAM_MASK = 0x04;
pub const DAT_RSP_FIELD_EP_HANDLE: DAT_RSP_PARAM_MASK = 0x08;
pub const DAT_RSP_FIELD_ALL: DAT_RSP_PARAM_MASK = 0x0F;

/// Parameters of a connection request, see dat_cr_query. The pointers are valid until the request is freed.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_CR_PARAM {
    /// Remote address.
    pub remote_ia_address_ptr: DAT_IA_ADDRESS_PTR,
    /// Remote port.
    pub remote_port_qual: DAT_PORT_QUAL,
    /// Bytes of private data.
    pub private_data_size: DAT_COUNT,
    /// The private data.
    pub private_data: DAT_PVOID,
    /// Endpoint of the reserved service point, or created by the provider; else DAT_HANDLE_NULL.
    pub local_ep_handle: DAT_EP_HANDLE,
}

/// Selects fields of DAT_CR_PARAM.
pub type DAT_CR_PARAM_MASK = c_enum;
pub const DAT_CR_FIELD_REMOTE_IA_ADDRESS_PTR: DAT_CR_PARAM_MASK = 0x01;
pub const DAT_CR_FIELD_REMOTE_PORT_QUAL: DAT_CR_PARAM_MASK = 0x02;
pub const DAT_CR_FIELD_PRIVATE_DATA_SIZE: DAT_CR_PARAM_MASK = 0x04;
pub const DAT_CR_FIELD_PRIVATE_DATA: DAT_CR_PARAM_MASK = 0x08;
pub const DAT_CR_FIELD_LOCAL_EP_HANDLE: DAT_CR_PARAM_MASK = 0x10;
pub const DAT_CR_FIELD_ALL: DAT_CR_PARAM_MASK = 0x1F;

/// Cases in which the provider creates the endpoint for a request at a public service point.
pub type DAT_EP_CREATOR_FOR_PSP = c_enum;
/// Never.
pub const DAT_PSP_CREATES_EP_NEVER: DAT_EP_CREATOR_FOR_PSP = 0;
/// If the program passes DAT_PSP_PROVIDER_FLAG to dat_psp_create.
pub const DAT_PSP_CREATES_EP_IFASKED: DAT_EP_CREATOR_FOR_PSP = 1;
/// Always.
pub const DAT_PSP_CREATES_EP_ALWAYS: DAT_EP_CREATOR_FOR_PSP = 2;
