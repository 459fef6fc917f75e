//! Functions: endpoints

use crate::dat::*;
use crate::dat_error::DAT_RETURN;
use crate::dat_platform_specific::*;

unsafe extern "C" {
    /// Makes an unconnected endpoint. Zone, event dispatchers and attributes may be NULL and be set
    /// by dat_ep_modify.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE (adapter, zone, event dispatchers),
    /// DAT_INVALID_PARAMETER (attributes, NULL), DAT_MODEL_NOT_SUPPORTED,
    /// DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2, dat_ep_create(3DAT).
    pub fn dat_ep_create(
        ia_handle: DAT_IA_HANDLE,
        pz_handle: DAT_PZ_HANDLE,
        recv_completion_evd_handle: DAT_EVD_HANDLE,
        request_completion_evd_handle: DAT_EVD_HANDLE,
        connect_evd_handle: DAT_EVD_HANDLE,
        ep_attributes: *const DAT_EP_ATTR,
        ep_handle: *mut DAT_EP_HANDLE,
    ) -> DAT_RETURN;

    /// Tells the chosen fields of an endpoint.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (unknown bits, NULL). See
    /// uDAPL 1.2, dat_ep_query(3DAT).
    pub fn dat_ep_query(
        ep_handle: DAT_EP_HANDLE,
        ep_param_mask: DAT_EP_PARAM_MASK,
        ep_param: *mut DAT_EP_PARAM,
    ) -> DAT_RETURN;

    /// Changes the chosen fields of an endpoint: all of them, or none on error. Which fields can
    /// change in which state is a table in the manual page.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (a field that never changes,
    /// unknown bits, a bad value), DAT_INVALID_STATE (a field that cannot change in this state).
    /// See uDAPL 1.2, dat_ep_modify(3DAT).
    pub fn dat_ep_modify(
        ep_handle: DAT_EP_HANDLE,
        ep_param_mask: DAT_EP_PARAM_MASK,
        ep_param: *const DAT_EP_PARAM,
    ) -> DAT_RETURN;

    /// Starts to connect an endpoint to a service point; an event on its connection event
    /// dispatcher tells how it went. timeout is in microseconds for the whole of it.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (address, timeout of 0,
    /// private data), DAT_INVALID_STATE (not unconnected, or not ready), DAT_MODEL_NOT_SUPPORTED
    /// (quality of service, flags), DAT_INVALID_ADDRESS, DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2,
    /// dat_ep_connect(3DAT).
    pub fn dat_ep_connect(
        ep_handle: DAT_EP_HANDLE,
        remote_ia_address: DAT_IA_ADDRESS_PTR,
        remote_conn_qual: DAT_CONN_QUAL,
        timeout: DAT_TIMEOUT,
        private_data_size: DAT_COUNT,
        private_data: DAT_PVOID,
        quality_of_service: DAT_QOS,
        connect_flags: DAT_CONNECT_FLAGS,
    ) -> DAT_RETURN;

    /// Starts to connect an endpoint to where ep_dup_handle is connected.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE (either), DAT_INVALID_PARAMETER (timeout, private
    /// data), DAT_INVALID_STATE (ep_handle not unconnected, ep_dup_handle not connected),
    /// DAT_MODEL_NOT_SUPPORTED, DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2,
    /// dat_ep_dup_connect(3DAT).
    pub fn dat_ep_dup_connect(
        ep_handle: DAT_EP_HANDLE,
        ep_dup_handle: DAT_EP_HANDLE,
        timeout: DAT_TIMEOUT,
        private_data_size: DAT_COUNT,
        private_data: DAT_PVOID,
        quality_of_service: DAT_QOS,
    ) -> DAT_RETURN;

    /// Ends a connection or an attempt, at once or after posted requests are done. Without effect
    /// on a disconnected endpoint.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (flags), DAT_INVALID_STATE
    /// (nothing to end). See uDAPL 1.2, dat_ep_disconnect(3DAT).
    pub fn dat_ep_disconnect(ep_handle: DAT_EP_HANDLE, close_flags: DAT_CLOSE_FLAGS) -> DAT_RETURN;

    /// Tells the state of an endpoint and whether receives and requests are outstanding. Each
    /// pointer may be NULL.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE. See uDAPL 1.2, dat_ep_get_status(3DAT).
    pub fn dat_ep_get_status(
        ep_handle: DAT_EP_HANDLE,
        ep_state: *mut DAT_EP_STATE,
        recv_idle: *mut DAT_BOOLEAN,
        request_idle: *mut DAT_BOOLEAN,
    ) -> DAT_RETURN;

    /// Destroys an endpoint; a connection ends abruptly.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_STATE (reserved, or a request is
    /// pending). See uDAPL 1.2, dat_ep_free(3DAT).
    pub fn dat_ep_free(ep_handle: DAT_EP_HANDLE) -> DAT_RETURN;

    /// Brings a disconnected endpoint back to unconnected. Completions not dequeued may be lost.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_STATE (neither disconnected nor
    /// unconnected). See uDAPL 1.2, dat_ep_reset(3DAT).
    pub fn dat_ep_reset(ep_handle: DAT_EP_HANDLE) -> DAT_RETURN;

    /// Makes an unconnected endpoint that takes its receive buffers from a shared receive queue.
    /// The attributes are mandatory; max_recv_dtos and srq_soft_hw in them are the hard and soft
    /// high watermarks.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE (adapter, zone, event dispatchers, queue),
    /// DAT_INVALID_PARAMETER (attributes, NULL, a zone that the queue does not allow),
    /// DAT_MODEL_NOT_SUPPORTED, DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2,
    /// dat_ep_create_with_srq(3DAT).
    pub fn dat_ep_create_with_srq(
        ia_handle: DAT_IA_HANDLE,
        pz_handle: DAT_PZ_HANDLE,
        recv_evd_handle: DAT_EVD_HANDLE,
        request_evd_handle: DAT_EVD_HANDLE,
        connect_evd_handle: DAT_EVD_HANDLE,
        srq_handle: DAT_SRQ_HANDLE,
        ep_attributes: *const DAT_EP_ATTR,
        ep_handle: *mut DAT_EP_HANDLE,
    ) -> DAT_RETURN;

    /// Counts the receive buffers at an endpoint: nbufs_allocated without completion yet, and in
    /// bufs_alloc_span the receive completions that there would be if every message under way were
    /// finished. Either pointer may be NULL; a count that cannot be told is DAT_VALUE_UNKNOWN.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_MODEL_NOT_SUPPORTED. See uDAPL 1.2,
    /// dat_ep_recv_query(3DAT).
    pub fn dat_ep_recv_query(
        ep_handle: DAT_EP_HANDLE,
        nbufs_allocated: *mut DAT_COUNT,
        bufs_alloc_span: *mut DAT_COUNT,
    ) -> DAT_RETURN;

    /// Sets and arms the high watermarks of receive buffers at an endpoint. Above the soft one: one
    /// asynchronous event with reason DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT. Above the hard one: the
    /// connection breaks. DAT_WATERMARK_INFINITE switches off.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (negative values),
    /// DAT_MODEL_NOT_SUPPORTED. See uDAPL 1.2, dat_ep_set_watermark(3DAT).
    pub fn dat_ep_set_watermark(
        ep_handle: DAT_EP_HANDLE,
        soft_high_watermark: DAT_COUNT,
        hard_high_watermark: DAT_COUNT,
    ) -> DAT_RETURN;
}
