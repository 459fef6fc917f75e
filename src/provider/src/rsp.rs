//! Reserved service points.

use dat_core::error::{Arg, Error, Role};
use dat_core::{Endpoint, Evd, Ia, Rsp};
use dat_udat::*;

use crate::call::{making, slow};
use crate::handle::{find, handle_of, handle_or_null, same_ia};
use crate::ia::ia_handle;
use crate::ptr::OutPtr;
use crate::{At, Face, Fault};

/// Slot of dat_rsp_create.
///
/// # Safety
/// `rsp_handle` is NULL or writable.
pub unsafe extern "C" fn dat_rsp_create<F: Face>(
    ia_handle: DAT_IA_HANDLE,
    conn_qual: DAT_CONN_QUAL,
    ep_handle: DAT_EP_HANDLE,
    evd_handle: DAT_EVD_HANDLE,
    rsp_handle: *mut DAT_RSP_HANDLE,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let rsp_handle = unsafe { OutPtr::new(rsp_handle) };
    making::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        if ep_handle.is_null() {
            return Err(Fault::Core(Error::ModelNotSupported));
        }
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        same_ia(&ia, ep.ia(), Role::Ep)?;
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::EvdConnectionRequests)?;
        let out = rsp_handle.required(5)?;
        let rsp = Rsp::create(&ia, conn_qual, &ep, &evd).at(&[(Arg::Qualifier, 2)]).map_err(|fault| match fault {
            Fault::Core(Error::QualifierInUse) => Fault::ReservedQualifierInUse,
            other => other,
        })?;
        out.write(handle_of(&*rsp));
        Ok(())
    })
}

/// Slot of dat_rsp_query.
///
/// # Safety
/// `rsp_param` is NULL or writable.
pub unsafe extern "C" fn dat_rsp_query<F: Face>(
    rsp_handle: DAT_RSP_HANDLE,
    rsp_param_mask: DAT_RSP_PARAM_MASK,
    rsp_param: *mut DAT_RSP_PARAM,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let rsp_param = unsafe { OutPtr::new(rsp_param) };
    slow::<F>(|| {
        let rsp = find::<F, Rsp<F::Transport>>(rsp_handle, Role::Rsp)?;
        if rsp_param_mask & !DAT_RSP_FIELD_ALL != 0 {
            return Err(Fault::Argument(2));
        }
        rsp_param.required(3)?.write(DAT_RSP_PARAM {
            ia_handle: ia_handle::<F>(&rsp.point.ia),
            conn_qual: rsp.point.qualifier(),
            evd_handle: handle_or_null(rsp.point.evd().as_ref()),
            ep_handle: handle_of(&*rsp.ep),
        });
        Ok(())
    })
}

/// Slot of dat_rsp_free.
pub extern "C" fn dat_rsp_free<F: Face>(rsp_handle: DAT_RSP_HANDLE) -> DAT_RETURN {
    slow::<F>(|| {
        find::<F, Rsp<F::Transport>>(rsp_handle, Role::Rsp)?.free();
        Ok(())
    })
}
