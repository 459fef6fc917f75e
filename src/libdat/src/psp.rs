//! Public service points (PSP).

use dat_udat12::{
    DAT_CONN_QUAL, DAT_EVD_HANDLE, DAT_IA_HANDLE, DAT_PSP_FLAGS, DAT_PSP_HANDLE, DAT_PSP_PARAM, DAT_PSP_PARAM_MASK,
};

dispatch! {
    /// Makes a service point that takes any number of requests on a connection qualifier.
    ///
    /// # Parameters
    /// * `ia_handle` - in, the IA it belongs to.
    /// * `conn_qual` - in, the qualifier to listen on, not 0.
    /// * `evd_handle` - in, an EVD for connection requests.
    /// * `psp_flags` - in, `DAT_PSP_CONSUMER_FLAG` if the program brings the endpoints,
    ///   `DAT_PSP_PROVIDER_FLAG` if they come with the requests.
    /// * `psp_handle` - out, the service point; written only on success.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA`, `DAT_INVALID_HANDLE_EVD_CR` | not an open IA; not an EVD for requests |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | a qualifier that cannot be used |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | neither of the two flags |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | `psp_handle` is NULL |
    /// | `DAT_CONN_QUAL_IN_USE` | another service point listens there |
    /// | `DAT_MODEL_NOT_SUPPORTED` | a flag that the provider lacks |
    /// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | out of memory |
    ///
    /// # Events
    /// `DAT_CONNECTION_REQUEST_EVENT` on the EVD for each request.
    ///
    /// # Specification
    /// uDAPL 1.2, dat_psp_create(3DAT).
    extern "C" fn dat_psp_create(
        ia_handle: DAT_IA_HANDLE,
        conn_qual: DAT_CONN_QUAL,
        evd_handle: DAT_EVD_HANDLE,
        psp_flags: DAT_PSP_FLAGS,
        psp_handle: *mut DAT_PSP_HANDLE,
    ) as sp => psp_create_func, DAT_INVALID_HANDLE_IA
}

dispatch! {
    /// Makes a service point as dat_psp_create does, on a qualifier that the provider finds.
    ///
    /// # Parameters
    /// * `ia_handle` - in, the IA it belongs to.
    /// * `conn_qual` - out, the qualifier; like the other written only on success.
    /// * `evd_handle` - in, an EVD for connection requests.
    /// * `psp_flags` - in, `DAT_PSP_CONSUMER_FLAG` or `DAT_PSP_PROVIDER_FLAG`.
    /// * `psp_handle` - out, the service point.
    ///
    /// # Errors
    /// Those of [`dat_psp_create`], but for:
    ///
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `conn_qual` is NULL |
    /// | `DAT_CONN_QUAL_UNAVAILABLE` | none is free; takes the place of `DAT_CONN_QUAL_IN_USE` |
    ///
    /// # Events
    /// As for [`dat_psp_create`].
    ///
    /// # Specification
    /// uDAPL 1.2, dat_psp_create_any(3DAT).
    extern "C" fn dat_psp_create_any(
        ia_handle: DAT_IA_HANDLE,
        conn_qual: *mut DAT_CONN_QUAL,
        evd_handle: DAT_EVD_HANDLE,
        psp_flags: DAT_PSP_FLAGS,
        psp_handle: *mut DAT_PSP_HANDLE,
    ) as sp => psp_create_any_func, DAT_INVALID_HANDLE_IA
}

dispatch! {
    /// Tells the attributes of a PSP.
    ///
    /// # Parameters
    /// * `psp_handle` - in, the PSP.
    /// * `psp_param_mask` - in, the fields that are wanted, bits of `DAT_PSP_FIELD_ALL`.
    /// * `psp_param` - out, the fields.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PSP` | not a PSP |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `psp_param` is NULL |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_psp_query(3DAT).
    extern "C" fn dat_psp_query(
        psp_handle: DAT_PSP_HANDLE,
        psp_param_mask: DAT_PSP_PARAM_MASK,
        psp_param: *mut DAT_PSP_PARAM,
    ) as sp => psp_query_func, DAT_INVALID_HANDLE_PSP
}

dispatch! {
    /// Destroys a PSP; requests that it brought can still be answered.
    ///
    /// # Parameters
    /// * `psp_handle` - in, the PSP.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PSP` | not a PSP |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_psp_free(3DAT).
    extern "C" fn dat_psp_free(psp_handle: DAT_PSP_HANDLE)
        as sp => psp_free_func, DAT_INVALID_HANDLE_PSP
}
