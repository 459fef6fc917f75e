//! Local memory regions.

use dat_provider_common::Provider;
use dat_provider_common::call::making;
use dat_provider_common::lmr::{Inputs, Results, create_lmr};
use dat_provider_common::ptr::OutPtr;
use dat_udat20::*;

use crate::Udat20;
use crate::rmr::base;

/// Slot of dat_lmr_create.
///
/// # Safety
/// `region_description` has the member for `mem_type`; a shared-memory name is NULL or 40 bytes long.
pub unsafe fn dat_lmr_create<F: Provider<Version = Udat20>>(
    ia_handle: DAT_IA_HANDLE,
    mem_type: DAT_MEM_TYPE,
    region_description: DAT_REGION_DESCRIPTION,
    length: DAT_VLEN,
    pz_handle: DAT_PZ_HANDLE,
    privileges: DAT_MEM_PRIV_FLAGS,
    va_type: DAT_VA_TYPE,
    lmr_handle: OutPtr<DAT_LMR_HANDLE>,
    lmr_context: OutPtr<DAT_LMR_CONTEXT>,
    rmr_context: OutPtr<DAT_RMR_CONTEXT>,
    registered_length: OutPtr<DAT_VLEN>,
    registered_address: OutPtr<DAT_VADDR>,
) -> DAT_RETURN {
    let from = Inputs { ia_handle, mem_type, region_description, length, pz_handle, privileges };
    let to = Results { lmr_handle, lmr_context, rmr_context, registered_length, registered_address };
    // SAFETY: the caller's `region_description` matches `mem_type`.
    making::<F>(|| unsafe { create_lmr::<F>(from, base(va_type, 7), to, 8) })
}
