//! The table of a provider

use crate::dat::*;
use crate::dat_error::DAT_RETURN;
use crate::dat_platform_specific::*;

/// Type of dat_ia_openv; no slot has it.
pub type DAT_IA_OPENV_FUNC = Option<
    unsafe extern "C" fn(
        provider: DAT_NAME_PTR,
        asynch_evd_min_qlen: DAT_COUNT,
        asynch_evd_handle: *mut DAT_EVD_HANDLE,
        ia_handle: *mut DAT_IA_HANDLE,
        dat_major: DAT_UINT32,
        dat_minor: DAT_UINT32,
        thread_safety: DAT_BOOLEAN,
    ) -> DAT_RETURN,
>;
