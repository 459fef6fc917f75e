//! Endpoints. Connecting is in [`connect`], changing them in [`modify`], posting
//! in [`crate::post`].

pub mod attr;
pub mod connect;
pub mod modify;

use std::sync::Arc;

use dat_core::error::{Arg, Role};
use dat_core::{Endpoint, EpParts, Evd, Ia, Pz, Srq, Streams};
use dat_udat::*;

use crate::attr::boolean;
use crate::call::{fast, making, slow};
use crate::ep::attr::{c_ep_state, watermark};
use crate::handle::{find, find_or_null, handle_of, same_ia};
use crate::ptr::{InPtr, OutPtr};
use crate::{Answer, At, Face, Fault, Version, count};

/// The attributes of an endpoint in the form of a face.
type EpAttr<F> = <<F as Face>::Version as Version>::EpAttr;
/// The parameters of an endpoint in the form of a face.
pub(crate) type EpParam<F> = <<F as Face>::Version as Version>::EpParam;

/// The answer to dat_ep_query, a `DAT_EP_PARAM` of the version that is in scope, with the fields that only this version
/// has; these may look at `$status`, what the core tells of the endpoint. `$attributes` makes its attributes.
#[macro_export]
macro_rules! ep_param {
    ($ep:expr, $status:ident, $attributes:path, { $($field:ident: $value:expr),* $(,)? }) => {{
        use $crate::attr::address_ptr;
        use $crate::core::transport::Transport;
        use $crate::ep::attr::c_ep_state;
        use $crate::handle::handle_or_null;
        use $crate::ia::ia_handle;

        let ep = $ep;
        let $status = ep.query();
        let remote = $status.remote.as_ref();
        DAT_EP_PARAM {
            ia_handle: ia_handle::<F>(ep.ia()),
            ep_state: c_ep_state($status.state),
            local_ia_address_ptr: address_ptr(&ep.ia().transport.attributes().address),
            local_port_qual: $status.local_qualifier,
            remote_ia_address_ptr: remote.map_or(std::ptr::null_mut(), |(address, _)| address_ptr(address)),
            remote_port_qual: remote.map_or(0, |(_, qualifier)| *qualifier),
            pz_handle: handle_or_null($status.pz.as_ref()),
            recv_evd_handle: handle_or_null($status.recv_evd.as_ref()),
            request_evd_handle: handle_or_null($status.request_evd.as_ref()),
            connect_evd_handle: handle_or_null($status.connect_evd.as_ref()),
            srq_handle: handle_or_null($status.srq.as_ref()),
            ep_attr: {
                let mut attributes = $attributes(&$status.attr, $status.srq.is_some());
                let (count, counters) = $crate::counted::of_endpoint(ep);
                // A number without a list would lead those who read it nowhere.
                if $status.attr.counters_number && $status.attr.counters_list {
                    attributes.ep_provider_specific_count = count;
                }
                if $status.attr.counters_list {
                    attributes.ep_provider_specific = counters;
                }
                attributes
            },
            $($field: $value,)*
        }
    }};
}

/// The dispatcher behind a handle that may be NULL, if it is one of `ia` that admits `stream`; that for connections may be one
/// of any adapter, since no device has a part in it.
fn evd_of<F: Face>(
    ia: &Arc<Ia<F::Transport>>,
    handle: DAT_EVD_HANDLE,
    stream: Streams,
    role: Role,
) -> Answer<Option<Arc<Evd<F::Transport>>>> {
    let evd = find_or_null::<F, Evd<F::Transport>>(handle, role)?;
    if let Some(evd) = &evd {
        if role != Role::EvdConnect {
            same_ia(ia, evd.ia(), role)?;
        }
        if !evd.streams.contains(stream) {
            return Err(Fault::Handle(role));
        }
    }
    Ok(evd)
}

/// The objects that make up an endpoint, checked.
struct Parts<F: Face> {
    pz: Option<Arc<Pz<F::Transport>>>,
    recv: Option<Arc<Evd<F::Transport>>>,
    request: Option<Arc<Evd<F::Transport>>>,
    connect: Option<Arc<Evd<F::Transport>>>,
}

impl<F: Face> Parts<F> {
    fn find(
        ia: &Arc<Ia<F::Transport>>,
        pz: DAT_PZ_HANDLE,
        recv: DAT_EVD_HANDLE,
        request: DAT_EVD_HANDLE,
        connect: DAT_EVD_HANDLE,
    ) -> Answer<Self> {
        let pz = find_or_null::<F, Pz<F::Transport>>(pz, Role::Pz)?;
        if let Some(pz) = &pz {
            same_ia(ia, pz.ia(), Role::Pz)?;
        }
        Ok(Parts {
            pz,
            connect: evd_of::<F>(ia, connect, Streams::CONNECTIONS, Role::EvdConnect)?,
            recv: evd_of::<F>(ia, recv, Streams::TRANSFERS, Role::EvdRecv)?,
            request: evd_of::<F>(ia, request, Streams::TRANSFERS, Role::EvdRequest)?,
        })
    }

    fn with<'a>(&'a self, srq: Option<&'a Arc<Srq<F::Transport>>>) -> EpParts<'a, F::Transport> {
        EpParts {
            pz: self.pz.as_ref(),
            recv_evd: self.recv.as_ref(),
            request_evd: self.request.as_ref(),
            connect_evd: self.connect.as_ref(),
            srq,
        }
    }
}

/// Slot of dat_ep_create.
///
/// # Safety
/// `ep_attributes` is NULL or readable, `ep_handle` NULL or writable.
pub unsafe extern "C" fn dat_ep_create<F: Face>(
    ia_handle: DAT_IA_HANDLE,
    pz_handle: DAT_PZ_HANDLE,
    recv_completion_evd_handle: DAT_EVD_HANDLE,
    request_completion_evd_handle: DAT_EVD_HANDLE,
    connect_evd_handle: DAT_EVD_HANDLE,
    ep_attributes: *const EpAttr<F>,
    ep_handle: *mut DAT_EP_HANDLE,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let (ep_attributes, ep_handle) = unsafe { (InPtr::new(ep_attributes), OutPtr::new(ep_handle)) };
    making::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        let parts = Parts::<F>::find(
            &ia,
            pz_handle,
            recv_completion_evd_handle,
            request_completion_evd_handle,
            connect_evd_handle,
        )?;
        let out = ep_handle.required(7)?;
        let decode = |attr| F::Version::ep_attributes(&attr, false, 6);
        let attr = ep_attributes.get().map(decode).transpose()?;
        let ep = Endpoint::create(&ia, &parts.with(None), attr).at(&[(Arg::Attributes, 6)])?;
        out.write(handle_of(&*ep));
        Ok(())
    })
}

/// Slot of dat_ep_create_with_srq.
///
/// # Safety
/// The same as for [`dat_ep_create`].
pub unsafe extern "C" fn dat_ep_create_with_srq<F: Face>(
    ia_handle: DAT_IA_HANDLE,
    pz_handle: DAT_PZ_HANDLE,
    recv_completion_evd_handle: DAT_EVD_HANDLE,
    request_completion_evd_handle: DAT_EVD_HANDLE,
    connect_evd_handle: DAT_EVD_HANDLE,
    srq_handle: DAT_SRQ_HANDLE,
    ep_attributes: *const EpAttr<F>,
    ep_handle: *mut DAT_EP_HANDLE,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let (ep_attributes, ep_handle) = unsafe { (InPtr::new(ep_attributes), OutPtr::new(ep_handle)) };
    making::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        let parts = Parts::<F>::find(
            &ia,
            pz_handle,
            recv_completion_evd_handle,
            request_completion_evd_handle,
            connect_evd_handle,
        )?;
        let srq = find::<F, Srq<F::Transport>>(srq_handle, Role::Srq)?;
        same_ia(&ia, srq.ia(), Role::Srq)?;
        let attr = ep_attributes.get();
        if attr.is_none() && !F::Version::SRQ_DEFAULTS {
            return Err(Fault::Argument(7));
        }
        let out = ep_handle.required(8)?;
        let attr = attr.map(|attr| F::Version::ep_attributes(&attr, true, 7)).transpose()?;
        let ep = Endpoint::create(&ia, &parts.with(Some(&srq)), attr).at(&[(Arg::Attributes, 7)])?;
        out.write(handle_of(&*ep));
        Ok(())
    })
}

/// Slot of dat_ep_query.
///
/// # Safety
/// `ep_param` is NULL or writable.
pub unsafe extern "C" fn dat_ep_query<F: Face>(
    ep_handle: DAT_EP_HANDLE,
    ep_param_mask: DAT_EP_PARAM_MASK,
    ep_param: *mut EpParam<F>,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let ep_param = unsafe { OutPtr::new(ep_param) };
    slow::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        if ep_param_mask & !F::Version::EP_FIELDS != 0 {
            return Err(Fault::Argument(2));
        }
        let out = ep_param.required(3)?;
        out.write(F::Version::ep_param::<F>(&ep));
        Ok(())
    })
}

/// Slot of dat_ep_get_status.
///
/// # Safety
/// Each pointer is NULL or writable.
pub unsafe extern "C" fn dat_ep_get_status<F: Face>(
    ep_handle: DAT_EP_HANDLE,
    ep_state: *mut DAT_EP_STATE,
    recv_idle: *mut DAT_BOOLEAN,
    request_idle: *mut DAT_BOOLEAN,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let (ep_state, recv_idle, request_idle) =
        unsafe { (OutPtr::new(ep_state), OutPtr::new(recv_idle), OutPtr::new(request_idle)) };
    fast::<F>(|| {
        let (state, recv, request) = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?.status();
        if let Some(out) = ep_state.optional() {
            out.write(c_ep_state(state));
        }
        if let Some(out) = recv_idle.optional() {
            out.write(boolean(recv));
        }
        if let Some(out) = request_idle.optional() {
            out.write(boolean(request));
        }
        Ok(())
    })
}

/// Slot of dat_ep_recv_query.
///
/// # Safety
/// Each pointer is NULL or writable.
pub unsafe extern "C" fn dat_ep_recv_query<F: Face>(
    ep_handle: DAT_EP_HANDLE,
    nbufs_allocated: *mut DAT_COUNT,
    bufs_alloc_span: *mut DAT_COUNT,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let (nbufs_allocated, bufs_alloc_span) = unsafe { (OutPtr::new(nbufs_allocated), OutPtr::new(bufs_alloc_span)) };
    fast::<F>(|| {
        let buffers = count(find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?.recv_query());
        for out in [nbufs_allocated, bufs_alloc_span] {
            if let Some(out) = out.optional() {
                out.write(buffers);
            }
        }
        Ok(())
    })
}

/// Slot of dat_ep_set_watermark.
pub extern "C" fn dat_ep_set_watermark<F: Face>(
    ep_handle: DAT_EP_HANDLE,
    soft_high_watermark: DAT_COUNT,
    hard_high_watermark: DAT_COUNT,
) -> DAT_RETURN {
    slow::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        let soft = watermark(soft_high_watermark).ok_or(Fault::Argument(2))?;
        let hard = watermark(hard_high_watermark).ok_or(Fault::Argument(3))?;
        ep.set_watermark(soft, hard);
        Ok(())
    })
}

/// Slot of dat_ep_reset.
pub extern "C" fn dat_ep_reset<F: Face>(ep_handle: DAT_EP_HANDLE) -> DAT_RETURN {
    slow::<F>(|| find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?.reset().at(&[]))
}

/// Slot of dat_ep_free.
pub extern "C" fn dat_ep_free<F: Face>(ep_handle: DAT_EP_HANDLE) -> DAT_RETURN {
    slow::<F>(|| find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?.free().at(&[]))
}
