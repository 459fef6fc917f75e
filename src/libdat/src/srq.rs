//! Shared receive queues (SRQ). Posting is in [`fast`](crate::fast).

use dat_udat12::{
    DAT_COUNT, DAT_IA_HANDLE, DAT_PZ_HANDLE, DAT_SRQ_ATTR, DAT_SRQ_HANDLE, DAT_SRQ_PARAM, DAT_SRQ_PARAM_MASK,
};

dispatch! {
    /// Makes an SRQ that no endpoint uses yet.
    ///
    /// # Parameters
    /// * `ia_handle` - in, the IA it belongs to.
    /// * `pz_handle` - in, its protection zone; mandatory.
    /// * `srq_attr` - in, buffers and segments a buffer it must be able to hold; the low watermark must
    ///   be `DAT_SRQ_LW_DEFAULT`. dat_srq_query tells what it can hold.
    /// * `srq_handle` - out, the SRQ; written only on success.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA`, `DAT_INVALID_HANDLE_PZ` | not an open IA; no protection zone |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | attributes NULL; a size below 1 or above the limit; a low watermark |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | `srq_handle` is NULL |
    /// | `DAT_MODEL_NOT_SUPPORTED` | the provider has no such queues |
    /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`, `DAT_RESOURCE_SRQ` | out of memory or of queues |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_srq_create(3DAT).
    extern "C" fn dat_srq_create(
        ia_handle: DAT_IA_HANDLE,
        pz_handle: DAT_PZ_HANDLE,
        srq_attr: *mut DAT_SRQ_ATTR,
        srq_handle: *mut DAT_SRQ_HANDLE,
    ) as srq => srq_create_func, DAT_INVALID_HANDLE_IA
}

dispatch! {
    /// Destroys an SRQ; buffers on it are dropped without completion.
    ///
    /// # Parameters
    /// * `srq_handle` - in, the SRQ.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` | not an SRQ |
    /// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_SRQ_IN_USE` | an endpoint uses it |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_srq_free(3DAT).
    extern "C" fn dat_srq_free(srq_handle: DAT_SRQ_HANDLE)
        as srq => srq_free_func, DAT_INVALID_HANDLE_SRQ
}

dispatch! {
    /// Tells the attributes of an SRQ and how many of its buffers are available and outstanding.
    ///
    /// # Parameters
    /// * `srq_handle` - in, the SRQ.
    /// * `srq_param_mask` - in, the fields that are wanted, bits of `DAT_SRQ_FIELD_ALL`.
    /// * `srq_param` - out, the fields; a count that the provider cannot tell is `DAT_VALUE_UNKNOWN`.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` | not an SRQ |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `srq_param` is NULL |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_srq_query(3DAT).
    extern "C" fn dat_srq_query(
        srq_handle: DAT_SRQ_HANDLE,
        srq_param_mask: DAT_SRQ_PARAM_MASK,
        srq_param: *mut DAT_SRQ_PARAM,
    ) as srq => srq_query_func, DAT_INVALID_HANDLE_SRQ
}

dispatch! {
    /// Changes how many buffers an SRQ can hold. No buffer is lost, and the low watermark stays armed.
    ///
    /// # Parameters
    /// * `srq_handle` - in, the SRQ; endpoints may use it meanwhile.
    /// * `srq_max_recv_dto` - in, buffers it must be able to hold.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` | not an SRQ |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | below 1 or above the limit |
    /// | `DAT_INVALID_STATE` | more buffers are outstanding, or the low watermark is higher |
    /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | out of memory |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_srq_resize(3DAT).
    extern "C" fn dat_srq_resize(srq_handle: DAT_SRQ_HANDLE, srq_max_recv_dto: DAT_COUNT)
        as srq => srq_resize_func, DAT_INVALID_HANDLE_SRQ
}

dispatch! {
    /// Sets and arms the low watermark of an SRQ; setting it again replaces it.
    ///
    /// # Parameters
    /// * `srq_handle` - in, the SRQ.
    /// * `low_watermark` - in, buffers below which there is an event, 0 for none.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_SRQ` | not an SRQ |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | negative, or above `max_recv_dtos` |
    /// | `DAT_MODEL_NOT_SUPPORTED` | the provider has no such watermark |
    ///
    /// # Events
    /// One on the EVD for asynchronous events as soon as fewer buffers are available, which may be
    /// during the call.
    ///
    /// # Specification
    /// uDAPL 1.2, dat_srq_set_lw(3DAT).
    extern "C" fn dat_srq_set_lw(srq_handle: DAT_SRQ_HANDLE, low_watermark: DAT_COUNT)
        as srq => srq_set_lw_func, DAT_INVALID_HANDLE_SRQ
}
