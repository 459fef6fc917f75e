//! Service points and connection requests

use super::types::*;
use crate::dat_platform_specific::*;

c_enum! {
    /// Supplier of the endpoint for a request at a public service point.
    dat_psp_flags as DAT_PSP_FLAGS;
    DAT_PSP_CONSUMER_FLAG = 0, "The program passes an endpoint to dat_cr_accept.";
    DAT_PSP_PROVIDER_FLAG = 1, "The provider creates an endpoint for each request.";
}

c_struct! {
    /// Parameters of a public service point, see dat_psp_query.
    struct dat_psp_param as DAT_PSP_PARAM;
    ia_handle: DAT_IA_HANDLE, "Its interface adapter.";
    conn_qual: DAT_CONN_QUAL, "The qualifier at which it listens.";
    evd_handle: DAT_EVD_HANDLE, "The event dispatcher for its requests.";
    psp_flags: DAT_PSP_FLAGS, "The supplier of the endpoint.";
}

c_enum! {
    /// Selects fields of DAT_PSP_PARAM.
    dat_psp_param_mask as DAT_PSP_PARAM_MASK;
    DAT_PSP_FIELD_IA_HANDLE = 0x01, "Selects ia_handle.";
    DAT_PSP_FIELD_CONN_QUAL = 0x02, "Selects conn_qual.";
    DAT_PSP_FIELD_EVD_HANDLE = 0x04, "Selects evd_handle.";
    DAT_PSP_FIELD_PSP_FLAGS = 0x08, "Selects psp_flags.";
    DAT_PSP_FIELD_ALL = 0x0F, "Selects all fields.";
}

c_struct! {
    /// Parameters of a reserved service point, see dat_rsp_query.
    struct dat_rsp_param as DAT_RSP_PARAM;
    ia_handle: DAT_IA_HANDLE, "Its interface adapter.";
    conn_qual: DAT_CONN_QUAL, "The qualifier at which it listens.";
    evd_handle: DAT_EVD_HANDLE, "The event dispatcher for its request.";
    ep_handle: DAT_EP_HANDLE, "The reserved endpoint.";
}

c_enum! {
    /// Selects fields of DAT_RSP_PARAM.
    dat_rsp_param_mask as DAT_RSP_PARAM_MASK;
    DAT_RSP_FIELD_IA_HANDLE = 0x01, "Selects ia_handle.";
    DAT_RSP_FIELD_CONN_QUAL = 0x02, "Selects conn_qual.";
    DAT_RSP_FIELD_EVD_HANDLE = 0x04, "Selects evd_handle.";
    DAT_RSP_FIELD_EP_HANDLE = 0x08, "Selects ep_handle.";
    DAT_RSP_FIELD_ALL = 0x0F, "Selects all fields.";
}

c_struct! {
    /// Parameters of a connection request, see dat_cr_query. The pointers are valid until the request is
    /// freed.
    struct dat_cr_param as DAT_CR_PARAM;
    remote_ia_address_ptr: DAT_IA_ADDRESS_PTR, "Remote address.";
    remote_port_qual: DAT_PORT_QUAL, "Remote port.";
    private_data_size: DAT_COUNT, "Bytes of private data.";
    private_data: DAT_PVOID, "The private data.";
    local_ep_handle: DAT_EP_HANDLE, "The endpoint of the request, or DAT_HANDLE_NULL.";
}

c_enum! {
    /// Selects fields of DAT_CR_PARAM.
    dat_cr_param_mask as DAT_CR_PARAM_MASK;
    DAT_CR_FIELD_REMOTE_IA_ADDRESS_PTR = 0x01, "Selects remote_ia_address_ptr.";
    DAT_CR_FIELD_REMOTE_PORT_QUAL = 0x02, "Selects remote_port_qual.";
    DAT_CR_FIELD_PRIVATE_DATA_SIZE = 0x04, "Selects private_data_size.";
    DAT_CR_FIELD_PRIVATE_DATA = 0x08, "Selects private_data.";
    DAT_CR_FIELD_LOCAL_EP_HANDLE = 0x10, "Selects local_ep_handle.";
    DAT_CR_FIELD_ALL = 0x1F, "Selects all fields.";
}

c_enum! {
    /// Cases in which the provider creates the endpoint for a request at a public service point.
    dat_ep_creator_for_psp as DAT_EP_CREATOR_FOR_PSP;
    DAT_PSP_CREATES_EP_NEVER = 0, "Never.";
    DAT_PSP_CREATES_EP_IFASKED = 1, "If the program passes DAT_PSP_PROVIDER_FLAG.";
    DAT_PSP_CREATES_EP_ALWAYS = 2, "Always.";
}
