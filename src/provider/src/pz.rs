//! Protection zones.

use dat_core::error::Role;
use dat_core::{Ia, Pz};
use dat_udat::{DAT_IA_HANDLE, DAT_PZ_FIELD_ALL, DAT_PZ_HANDLE, DAT_PZ_PARAM, DAT_PZ_PARAM_MASK, DAT_RETURN};

use crate::call::{making, slow};
use crate::handle::{find, handle_of};
use crate::ia::ia_handle;
use crate::ptr::OutPtr;
use crate::{At, Face, Fault};

/// Slot of dat_pz_create.
///
/// # Safety
/// `pz_handle` is NULL or writable.
pub unsafe extern "C" fn dat_pz_create<F: Face>(ia_handle: DAT_IA_HANDLE, pz_handle: *mut DAT_PZ_HANDLE) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let pz_handle = unsafe { OutPtr::new(pz_handle) };
    making::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        let out = pz_handle.required(2)?;
        let pz = Pz::create(&ia).at(&[])?;
        out.write(handle_of(&*pz));
        Ok(())
    })
}

/// Slot of dat_pz_query.
///
/// # Safety
/// `pz_param` is NULL or writable.
pub unsafe extern "C" fn dat_pz_query<F: Face>(
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
        pz_param.required(3)?.write(DAT_PZ_PARAM { ia_handle: ia_handle::<F>(pz.ia()) });
        Ok(())
    })
}

/// Slot of dat_pz_free.
pub extern "C" fn dat_pz_free<F: Face>(pz_handle: DAT_PZ_HANDLE) -> DAT_RETURN {
    slow::<F>(|| find::<F, Pz<F::Transport>>(pz_handle, Role::Pz)?.free().at(&[]))
}
