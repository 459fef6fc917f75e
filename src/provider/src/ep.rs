//! Endpoints. [`connect`] connects, [`modify`] modifies, and [`crate::post`] posts.

#![expect(missing_docs, reason = "the list of calls documents the slots")]

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
use crate::handle::{find, find_in, find_in_or_null, find_or_null, give};
use crate::ptr::{InPtr, OutPtr};
use crate::{Answer, Fault, Provider, Version, count};

type EpAttr<F> = <<F as Provider>::Version as Version>::EpAttr;
pub(crate) type EpParam<F> = <<F as Provider>::Version as Version>::EpParam;

/// Defines the slot of dat_ep_query of the version in scope. The list sets fields that only this version has. The
/// values can use `$status`, the result of [`Endpoint::query`]. `$attributes` converts the attributes.
#[macro_export]
macro_rules! ep_query {
    ($status:ident, $attributes:path, { $($field:ident: $value:expr),* $(,)? }) => {
        $crate::query_slot!(dat_ep_query: Endpoint as Ep, DAT_EP_PARAM_MASK, DAT_EP_FIELD_ALL, DAT_EP_PARAM, |ep| {
            use $crate::attr::address_ptr;
            use $crate::handle::handle_or_null;

            let $status = ep.query();
            let remote = $status.remote.as_ref();
            DAT_EP_PARAM {
                ia_handle: $crate::ia::ia_handle::<F>(ep.ia()),
                ep_state: $crate::ep::attr::c_ep_state($status.state),
                local_ia_address_ptr: address_ptr(&ep.ia().attributes().address),
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
                    // Without the list, the number must be 0, because programs would dereference the NULL list.
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
        });
    };
}

/// Returns the EVD of an argument that can be NULL. The EVD must be of `ia` and admit `stream`; a connection EVD can be
/// of any adapter, because no device uses it.
fn evd_of<F: Provider>(
    ia: &Arc<Ia<F::Transport>>,
    handle: DAT_EVD_HANDLE,
    stream: Streams,
    role: Role,
) -> Answer<Option<Arc<Evd<F::Transport>>>> {
    let evd = find_or_null::<F, Evd<F::Transport>>(handle, role)?;
    let fits = |evd: &Arc<Evd<F::Transport>>| {
        evd.streams.contains(stream) && (role == Role::EvdConnect || Arc::ptr_eq(ia, evd.ia()))
    };
    if evd.as_ref().is_none_or(fits) { Ok(evd) } else { Err(Fault::Handle(role)) }
}

/// Creates an endpoint. The attributes are the argument at `position`, and the new handle is the argument after it.
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
    let pz = find_in_or_null::<F, _>(&ia, pz_handle, Role::Pz, Pz::ia)?;
    let connect = evd_of::<F>(&ia, connect, Streams::CONNECTIONS, Role::EvdConnect)?;
    let recv = evd_of::<F>(&ia, recv, Streams::TRANSFERS, Role::EvdRecv)?;
    let request = evd_of::<F>(&ia, request, Streams::TRANSFERS, Role::EvdRequest)?;
    let srq = srq.map(|srq| find_in::<F, _>(&ia, srq, Role::Srq, Srq::ia)).transpose()?;
    if srq.is_some() && attributes.is_null() && !F::Version::SRQ_DEFAULTS {
        return Err(Fault::Argument(position));
    }
    let out = ep_handle.required(position + 1)?;
    let decode = |attr| F::Version::ep_attributes(&attr, srq.is_some()).ok_or(Fault::Argument(position));
    let attr = attributes.get().map(decode).transpose()?;
    let parts = EpParts {
        pz: pz.as_ref(),
        recv_evd: recv.as_ref(),
        request_evd: request.as_ref(),
        connect_evd: connect.as_ref(),
        srq: srq.as_ref(),
    };
    let positions = &[(Arg::Zone, 2), (Arg::Attributes, position)];
    give(out, &Endpoint::create(&ia, &parts, attr).map_err(|error| Fault::new(error, positions))?)
}

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

pub fn dat_ep_set_watermark<F: Provider>(
    ep_handle: DAT_EP_HANDLE,
    soft_high_watermark: DAT_COUNT,
    hard_high_watermark: DAT_COUNT,
) -> DAT_RETURN {
    slow::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        let soft = watermark(soft_high_watermark).ok_or(Fault::Argument(2))?;
        let hard = watermark(hard_high_watermark).ok_or(Fault::Argument(3))?;
        ep.set_watermark(soft, hard).map_err(Fault::Core)
    })
}

crate::simple_slot!(dat_ep_reset: Endpoint as Ep, reset);
crate::simple_slot!(dat_ep_free: Endpoint as Ep, free);
