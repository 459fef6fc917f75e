//! Local memory regions.

use dat_core::Base;
use dat_provider_common::Face;
use dat_provider_common::lmr::{Create, Created, create};
use dat_provider_common::ptr::OutPtr;
use dat_udat12::*;

use crate::Udat12;

/// Slot of dat_lmr_create.
///
/// # Safety
/// Results are NULL or writable; the name of shared memory is NULL or 40 bytes long.
pub unsafe extern "C" fn dat_lmr_create<F: Face<Version = Udat12>>(
    ia_handle: DAT_IA_HANDLE,
    mem_type: DAT_MEM_TYPE,
    region_description: DAT_REGION_DESCRIPTION,
    length: DAT_VLEN,
    pz_handle: DAT_PZ_HANDLE,
    privileges: DAT_MEM_PRIV_FLAGS,
    lmr_handle: *mut DAT_LMR_HANDLE,
    lmr_context: *mut DAT_LMR_CONTEXT,
    rmr_context: *mut DAT_RMR_CONTEXT,
    registered_length: *mut DAT_VLEN,
    registered_address: *mut DAT_VADDR,
) -> DAT_RETURN {
    let from = Create { ia: ia_handle, mem_type, region: region_description, length, pz: pz_handle, privileges };
    // SAFETY: the caller's promise, for each of the pointers.
    let out = unsafe {
        Created {
            handle: OutPtr::new(lmr_handle),
            handle_position: 7,
            context: OutPtr::new(lmr_context),
            rmr_context: OutPtr::new(rmr_context),
            length: OutPtr::new(registered_length),
            address: OutPtr::new(registered_address),
        }
    };
    // SAFETY: the caller's promise.
    unsafe { create::<F>(from, || Ok(Base::Address), out) }
}
