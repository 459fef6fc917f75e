//! Reserved service points.

use dat_core::error::{Arg, Error, Role};
use dat_core::{Endpoint, Evd, Ia, Rsp};
use dat_face::guard::slow;
use dat_face::handle::{find, handle_of, handle_or_null, same_ia};
use dat_face::ptr::OutPtr;
use dat_face::{At, Face, Fault};
use dat_udat12::{
    DAT_CONN_QUAL, DAT_EP_HANDLE, DAT_EVD_HANDLE, DAT_IA_HANDLE, DAT_RETURN, DAT_RSP_FIELD_ALL, DAT_RSP_HANDLE,
    DAT_RSP_PARAM, DAT_RSP_PARAM_MASK,
};

/// Slot of dat_rsp_create: makes a service point that takes one connection request, for one
/// endpoint, which is `RESERVED` until then.
///
/// # Parameters
/// * `ia_handle` - in, the adapter.
/// * `conn_qual` - in, where it listens; not 0.
/// * `ep_handle` - in, the endpoint, `UNCONNECTED`.
/// * `evd_handle` - in, where the request goes; an EVD with `DAT_EVD_CR_FLAG`.
/// * `rsp_handle` - out, the service point.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open adapter |
/// | `DAT_MODEL_NOT_SUPPORTED` | `ep_handle` is NULL: the provider makes no endpoints for this |
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint of the adapter |
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CR` | not an EVD of the adapter with that flag |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the qualifier is 0 |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | `rsp_handle` is NULL |
/// | `DAT_INVALID_STATE` / that of the state | the endpoint is not `UNCONNECTED` |
/// | `DAT_CONN_QUAL_IN_USE` | another service point listens there |
/// | `DAT_INSUFFICIENT_RESOURCES` | memory, or something of the transport |
///
/// # Events
/// `DAT_CONNECTION_REQUEST_EVENT` on the dispatcher, `sp_handle` the service point.
///
/// # Specification
/// uDAPL 1.2, dat_rsp_create(3DAT).
///
/// # Safety
/// `rsp_handle` is NULL or writable.
pub unsafe extern "C" fn create<F: Face>(
    ia_handle: DAT_IA_HANDLE,
    conn_qual: DAT_CONN_QUAL,
    ep_handle: DAT_EP_HANDLE,
    evd_handle: DAT_EVD_HANDLE,
    rsp_handle: *mut DAT_RSP_HANDLE,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let rsp_handle = unsafe { OutPtr::new(rsp_handle) };
    slow::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        if ep_handle.is_null() {
            return Err(Fault::Core(Error::ModelNotSupported));
        }
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        same_ia(&ia, ep.ia(), Role::Ep)?;
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::EvdRequests)?;
        let out = rsp_handle.required(5)?;
        let rsp = Rsp::create(&ia, conn_qual, &ep, &evd).at(&[(Arg::Qualifier, 2)])?;
        out.write(handle_of(&*rsp));
        Ok(())
    })
}

/// Slot of dat_rsp_query: tells the parameters of a service point.
///
/// # Parameters
/// * `rsp_handle` - in, the service point; it lives until it is freed, also after its request.
/// * `rsp_param_mask` - in, the wanted fields, bits of `DAT_RSP_FIELD_ALL`.
/// * `rsp_param` - out, the parameters.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RSP` | not a reserved service point |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `rsp_param` is NULL |
///
/// # Specification
/// uDAPL 1.2, dat_rsp_query(3DAT).
///
/// # Safety
/// `rsp_param` is NULL or writable.
pub unsafe extern "C" fn query<F: Face>(
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
            ia_handle: handle_of(&**rsp.point().ia()),
            conn_qual: rsp.point().qualifier(),
            evd_handle: handle_or_null(rsp.point().evd().as_ref()),
            ep_handle: handle_of(&**rsp.ep()),
        });
        Ok(())
    })
}

/// Slot of dat_rsp_free: stops listening. An endpoint that is still `RESERVED` is `UNCONNECTED` again; a
/// request that was announced stays valid.
///
/// # Parameters
/// * `rsp_handle` - in, the service point.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_RSP` | not a reserved service point |
///
/// # Specification
/// uDAPL 1.2, dat_rsp_free(3DAT).
///
/// # Safety
/// None; a slot has the type that the table says.
pub unsafe extern "C" fn free<F: Face>(rsp_handle: DAT_RSP_HANDLE) -> DAT_RETURN {
    slow::<F>(|| {
        find::<F, Rsp<F::Transport>>(rsp_handle, Role::Rsp)?.free();
        Ok(())
    })
}
