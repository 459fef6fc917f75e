//! Functions: service points and connection requests

use crate::dat::*;
use crate::dat_error::DAT_RETURN;
use crate::dat_platform_specific::*;

unsafe extern "C" {
    /// Tells the chosen fields of a connection request.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (unknown bits, NULL). See
    /// uDAPL 1.2, dat_cr_query(3DAT).
    pub fn dat_cr_query(
        cr_handle: DAT_CR_HANDLE,
        cr_param_mask: DAT_CR_PARAM_MASK,
        cr_param: *mut DAT_CR_PARAM,
    ) -> DAT_RETURN;

    /// Accepts a connection request and starts to complete the connection; an event on the
    /// connection event dispatcher of the endpoint tells how it went. The request is gone.
    ///
    /// ep_handle is an unconnected endpoint, or DAT_HANDLE_NULL where the request brings its own.
    /// private_data goes to the other side.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE (request, endpoint), DAT_INVALID_PARAMETER (private
    /// data), DAT_INVALID_STATE (endpoint); on error nothing changes. See uDAPL 1.2,
    /// dat_cr_accept(3DAT).
    pub fn dat_cr_accept(
        cr_handle: DAT_CR_HANDLE,
        ep_handle: DAT_EP_HANDLE,
        private_data_size: DAT_COUNT,
        private_data: DAT_PVOID,
    ) -> DAT_RETURN;

    /// Rejects a connection request. The request is gone.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE. See uDAPL 1.2, dat_cr_reject(3DAT).
    pub fn dat_cr_reject(cr_handle: DAT_CR_HANDLE) -> DAT_RETURN;

    /// Hands a connection request to another qualifier of the same adapter. The request is gone.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (qualifier). See uDAPL 1.2,
    /// dat_cr_handoff(3DAT).
    pub fn dat_cr_handoff(cr_handle: DAT_CR_HANDLE, handoff: DAT_CONN_QUAL) -> DAT_RETURN;

    /// Makes a public service point: it listens on conn_qual for any number of requests, whose
    /// events go to evd_handle.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE (adapter, event dispatcher), DAT_INVALID_PARAMETER
    /// (qualifier, flags, NULL), DAT_CONN_QUAL_IN_USE, DAT_MODEL_NOT_SUPPORTED (flags),
    /// DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2, dat_psp_create(3DAT).
    pub fn dat_psp_create(
        ia_handle: DAT_IA_HANDLE,
        conn_qual: DAT_CONN_QUAL,
        evd_handle: DAT_EVD_HANDLE,
        psp_flags: DAT_PSP_FLAGS,
        psp_handle: *mut DAT_PSP_HANDLE,
    ) -> DAT_RETURN;

    /// Makes a public service point on a free qualifier, which it tells in conn_qual.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE (adapter, event dispatcher), DAT_INVALID_PARAMETER
    /// (flags, NULL), DAT_CONN_QUAL_UNAVAILABLE, DAT_MODEL_NOT_SUPPORTED (flags),
    /// DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2, dat_psp_create_any(3DAT).
    pub fn dat_psp_create_any(
        ia_handle: DAT_IA_HANDLE,
        conn_qual: *mut DAT_CONN_QUAL,
        evd_handle: DAT_EVD_HANDLE,
        psp_flags: DAT_PSP_FLAGS,
        psp_handle: *mut DAT_PSP_HANDLE,
    ) -> DAT_RETURN;

    /// Tells the chosen fields of a public service point.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (unknown bits, NULL). See
    /// uDAPL 1.2, dat_psp_query(3DAT).
    pub fn dat_psp_query(
        psp_handle: DAT_PSP_HANDLE,
        psp_param_mask: DAT_PSP_PARAM_MASK,
        psp_param: *mut DAT_PSP_PARAM,
    ) -> DAT_RETURN;

    /// Destroys a public service point. Requests that it handed out stay valid.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE. See uDAPL 1.2, dat_psp_free(3DAT).
    pub fn dat_psp_free(psp_handle: DAT_PSP_HANDLE) -> DAT_RETURN;

    /// Makes a reserved service point: it listens on conn_qual for one request, which is for
    /// ep_handle.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE (adapter, endpoint, event dispatcher),
    /// DAT_INVALID_PARAMETER (qualifier, NULL), DAT_INVALID_STATE (endpoint not unconnected),
    /// DAT_CONN_QUAL_IN_USE, DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2, dat_rsp_create(3DAT).
    pub fn dat_rsp_create(
        ia_handle: DAT_IA_HANDLE,
        conn_qual: DAT_CONN_QUAL,
        ep_handle: DAT_EP_HANDLE,
        evd_handle: DAT_EVD_HANDLE,
        rsp_handle: *mut DAT_RSP_HANDLE,
    ) -> DAT_RETURN;

    /// Tells the chosen fields of a reserved service point.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (unknown bits, NULL). See
    /// uDAPL 1.2, dat_rsp_query(3DAT).
    pub fn dat_rsp_query(
        rsp_handle: DAT_RSP_HANDLE,
        rsp_param_mask: DAT_RSP_PARAM_MASK,
        rsp_param: *mut DAT_RSP_PARAM,
    ) -> DAT_RETURN;

    /// Destroys a reserved service point; its endpoint is unconnected again if no request came.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE. See uDAPL 1.2, dat_rsp_free(3DAT).
    pub fn dat_rsp_free(rsp_handle: DAT_RSP_HANDLE) -> DAT_RETURN;
}
