//! Reserved service points (RSP).

use dat_udat12::{
    DAT_CONN_QUAL, DAT_EP_HANDLE, DAT_EVD_HANDLE, DAT_IA_HANDLE, DAT_RSP_HANDLE, DAT_RSP_PARAM, DAT_RSP_PARAM_MASK,
};

dispatch! {
    /// Makes a service point that takes one request on a connection qualifier, for one endpoint.
    ///
    /// # Parameters
    /// * `ia_handle` - in, the IA it belongs to.
    /// * `conn_qual` - in, the qualifier to listen on, not 0.
    /// * `ep_handle` - in, an unconnected endpoint, which becomes reserved.
    /// * `evd_handle` - in, an EVD for connection requests.
    /// * `rsp_handle` - out, the service point; written only on success.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA`, `DAT_INVALID_HANDLE_EP`, `DAT_INVALID_HANDLE_EVD_CR` | not an open IA; not an endpoint; not an EVD for requests |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | a qualifier that cannot be used |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | `rsp_handle` is NULL |
    /// | `DAT_INVALID_STATE` / state of the endpoint | not unconnected |
    /// | `DAT_CONN_QUAL_IN_USE` | another service point listens there |
    /// | `DAT_MODEL_NOT_SUPPORTED` | no endpoint was given |
    /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | out of memory |
    ///
    /// # Events
    /// `DAT_CONNECTION_REQUEST_EVENT` on the EVD, once.
    ///
    /// # Specification
    /// uDAPL 1.2, dat_rsp_create(3DAT).
    extern "C" fn dat_rsp_create(
        ia_handle: DAT_IA_HANDLE,
        conn_qual: DAT_CONN_QUAL,
        ep_handle: DAT_EP_HANDLE,
        evd_handle: DAT_EVD_HANDLE,
        rsp_handle: *mut DAT_RSP_HANDLE,
    ) as sp => rsp_create_func, DAT_INVALID_HANDLE_IA
}

dispatch! {
    /// Tells the attributes of an RSP.
    ///
    /// # Parameters
    /// * `rsp_handle` - in, the RSP.
    /// * `rsp_param_mask` - in, the fields that are wanted, bits of `DAT_RSP_FIELD_ALL`.
    /// * `rsp_param` - out, the fields.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RSP` | not an RSP |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `rsp_param` is NULL |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_rsp_query(3DAT).
    extern "C" fn dat_rsp_query(
        rsp_handle: DAT_RSP_HANDLE,
        rsp_param_mask: DAT_RSP_PARAM_MASK,
        rsp_param: *mut DAT_RSP_PARAM,
    ) as sp => rsp_query_func, DAT_INVALID_HANDLE_RSP
}

dispatch! {
    /// Destroys an RSP; its endpoint is unconnected again if no request came.
    ///
    /// # Parameters
    /// * `rsp_handle` - in, the RSP.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RSP` | not an RSP |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_rsp_free(3DAT).
    extern "C" fn dat_rsp_free(rsp_handle: DAT_RSP_HANDLE)
        as sp => rsp_free_func, DAT_INVALID_HANDLE_RSP
}
