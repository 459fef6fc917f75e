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
use crate::handle::{find, find_or_null, give, query, same_ia};
use crate::ptr::{InPtr, OutPtr};
use crate::{Answer, Fault, Provider, Version, count};

/// The attributes of an endpoint in the form of a face.
type EpAttr<F> = <<F as Provider>::Version as Version>::EpAttr;
/// The parameters of an endpoint in the form of a face.
pub(crate) type EpParam<F> = <<F as Provider>::Version as Version>::EpParam;

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
fn evd_of<F: Provider>(
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

/// Makes an endpoint, with a shared receive queue if `srq` is the handle of one; `position` is that of the attributes, and the
/// place for the handle is the next argument.
fn create<F: Provider>(
    ia_handle: DAT_IA_HANDLE,
    pz_handle: DAT_PZ_HANDLE,
    [recv, request, connect]: [DAT_EVD_HANDLE; 3],
    srq: Option<DAT_SRQ_HANDLE>,
    attributes: InPtr<EpAttr<F>>,
    ep_handle: OutPtr<DAT_EP_HANDLE>,
    position: u32,
) -> Answer<()> {
    let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
    let pz = find_or_null::<F, Pz<F::Transport>>(pz_handle, Role::Pz)?;
    if let Some(pz) = &pz {
        same_ia(&ia, pz.ia(), Role::Pz)?;
    }
    let connect = evd_of::<F>(&ia, connect, Streams::CONNECTIONS, Role::EvdConnect)?;
    let recv = evd_of::<F>(&ia, recv, Streams::TRANSFERS, Role::EvdRecv)?;
    let request = evd_of::<F>(&ia, request, Streams::TRANSFERS, Role::EvdRequest)?;
    let srq = srq.map(|srq| find::<F, Srq<F::Transport>>(srq, Role::Srq)).transpose()?;
    if let Some(srq) = &srq {
        same_ia(&ia, srq.ia(), Role::Srq)?;
        if attributes.is_null() && !F::Version::SRQ_DEFAULTS {
            return Err(Fault::Argument(position));
        }
    }
    let out = ep_handle.required(position + 1)?;
    let decode = |attr| F::Version::ep_attributes(&attr, srq.is_some(), position);
    let attr = attributes.get().map(decode).transpose()?;
    let parts = EpParts {
        pz: pz.as_ref(),
        recv_evd: recv.as_ref(),
        request_evd: request.as_ref(),
        connect_evd: connect.as_ref(),
        srq: srq.as_ref(),
    };
    give(out, &Endpoint::create(&ia, &parts, attr).map_err(|error| Fault::new(error, &[(Arg::Attributes, position)]))?)
}

/// Slot of dat_ep_create.
pub fn dat_ep_create<F: Provider>(
    ia_handle: DAT_IA_HANDLE,
    pz_handle: DAT_PZ_HANDLE,
    recv_completion_evd_handle: DAT_EVD_HANDLE,
    request_completion_evd_handle: DAT_EVD_HANDLE,
    connect_evd_handle: DAT_EVD_HANDLE,
    ep_attributes: InPtr<EpAttr<F>>,
    ep_handle: OutPtr<DAT_EP_HANDLE>,
) -> DAT_RETURN {
    let evds = [recv_completion_evd_handle, request_completion_evd_handle, connect_evd_handle];
    making::<F>(|| create::<F>(ia_handle, pz_handle, evds, None, ep_attributes, ep_handle, 6))
}

/// Slot of dat_ep_create_with_srq.
pub fn dat_ep_create_with_srq<F: Provider>(
    ia_handle: DAT_IA_HANDLE,
    pz_handle: DAT_PZ_HANDLE,
    recv_completion_evd_handle: DAT_EVD_HANDLE,
    request_completion_evd_handle: DAT_EVD_HANDLE,
    connect_evd_handle: DAT_EVD_HANDLE,
    srq_handle: DAT_SRQ_HANDLE,
    ep_attributes: InPtr<EpAttr<F>>,
    ep_handle: OutPtr<DAT_EP_HANDLE>,
) -> DAT_RETURN {
    let evds = [recv_completion_evd_handle, request_completion_evd_handle, connect_evd_handle];
    making::<F>(|| create::<F>(ia_handle, pz_handle, evds, Some(srq_handle), ep_attributes, ep_handle, 7))
}

/// Slot of dat_ep_query.
pub fn dat_ep_query<F: Provider>(
    ep_handle: DAT_EP_HANDLE,
    ep_param_mask: DAT_EP_PARAM_MASK,
    ep_param: OutPtr<EpParam<F>>,
) -> DAT_RETURN {
    slow::<F>(|| {
        let unknown = ep_param_mask & !F::Version::EP_FIELDS;
        query::<F, _, _>(ep_handle, Role::Ep, unknown, ep_param, F::Version::ep_param::<F>)
    })
}

/// Slot of dat_ep_get_status.
pub fn dat_ep_get_status<F: Provider>(
    ep_handle: DAT_EP_HANDLE,
    ep_state: OutPtr<DAT_EP_STATE>,
    recv_idle: OutPtr<DAT_BOOLEAN>,
    request_idle: OutPtr<DAT_BOOLEAN>,
) -> DAT_RETURN {
    fast::<F>(|| {
        let (state, recv, request) = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?.status();
        ep_state.offer(c_ep_state(state));
        recv_idle.offer(boolean(recv));
        request_idle.offer(boolean(request));
        Ok(())
    })
}

/// Slot of dat_ep_recv_query.
pub fn dat_ep_recv_query<F: Provider>(
    ep_handle: DAT_EP_HANDLE,
    nbufs_allocated: OutPtr<DAT_COUNT>,
    bufs_alloc_span: OutPtr<DAT_COUNT>,
) -> DAT_RETURN {
    fast::<F>(|| {
        let buffers = count(find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?.recv_query());
        nbufs_allocated.offer(buffers);
        bufs_alloc_span.offer(buffers);
        Ok(())
    })
}

/// Slot of dat_ep_set_watermark.
pub fn dat_ep_set_watermark<F: Provider>(
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

crate::simple_slot!(dat_ep_reset: Endpoint as Ep, reset);
crate::simple_slot!(dat_ep_free: Endpoint as Ep, free);
