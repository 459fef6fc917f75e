//! Protection zones.

use dat_core::error::Role;
use dat_core::{Ia, Pz};
use dat_face::guard::slow;
use dat_face::handle::{find, handle_of};
use dat_face::ptr::OutPtr;
use dat_face::{At, Face, Fault};
use dat_udat12::{DAT_IA_HANDLE, DAT_PZ_FIELD_ALL, DAT_PZ_HANDLE, DAT_PZ_PARAM, DAT_PZ_PARAM_MASK, DAT_RETURN};

/// Slot of dat_pz_create: makes a protection zone.
///
/// # Parameters
/// * `ia_handle` - in, the adapter.
/// * `pz_handle` - out, the zone.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `pz_handle` is NULL |
/// | `DAT_INSUFFICIENT_RESOURCES` | no memory, or no more zones |
///
/// # Specification
/// uDAPL 1.2, dat_pz_create(3DAT).
///
/// # Safety
/// `pz_handle` is NULL or writable.
pub unsafe extern "C" fn create<F: Face>(ia_handle: DAT_IA_HANDLE, pz_handle: *mut DAT_PZ_HANDLE) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let pz_handle = unsafe { OutPtr::new(pz_handle) };
    slow::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        let out = pz_handle.required(2)?;
        let pz = Pz::create(&ia).at(&[])?;
        out.write(handle_of(&*pz));
        Ok(())
    })
}

/// Slot of dat_pz_query: tells the adapter of a zone.
///
/// # Parameters
/// * `pz_handle` - in, the zone.
/// * `pz_param_mask` - in, the wanted fields, bits of `DAT_PZ_FIELD_ALL`.
/// * `pz_param` - out, the parameters.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` | not a zone |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `pz_param` is NULL |
///
/// # Specification
/// uDAPL 1.2, dat_pz_query(3DAT).
///
/// # Safety
/// `pz_param` is NULL or writable.
pub unsafe extern "C" fn query<F: Face>(
    pz_handle: DAT_PZ_HANDLE,
    pz_param_mask: DAT_PZ_PARAM_MASK,
    pz_param: *mut DAT_PZ_PARAM,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let pz_param = unsafe { OutPtr::new(pz_param) };
    slow::<F>(|| {
        let pz = find::<F, Pz<F::Transport>>(pz_handle, Role::Pz)?;
        if pz_param_mask & !DAT_PZ_FIELD_ALL != 0 {
            return Err(Fault::Argument(2));
        }
        pz_param.required(3)?.write(DAT_PZ_PARAM { ia_handle: handle_of(&**pz.ia()) });
        Ok(())
    })
}

/// Slot of dat_pz_free: frees a zone.
///
/// # Parameters
/// * `pz_handle` - in, the zone.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_PZ` | not a zone |
/// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_PZ_IN_USE` | an endpoint, a memory region or a shared receive queue is in it |
///
/// # Specification
/// uDAPL 1.2, dat_pz_free(3DAT).
///
/// # Safety
/// None; a slot has the type that the table says.
pub unsafe extern "C" fn free<F: Face>(pz_handle: DAT_PZ_HANDLE) -> DAT_RETURN {
    slow::<F>(|| find::<F, Pz<F::Transport>>(pz_handle, Role::Pz)?.free().at(&[]))
}
