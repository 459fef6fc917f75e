//! uDAPL 2.0 over the core, in addition to [the crate](crate).
//!
//! | module | contents |
//! |---|---|
//! | [`code`], [`table`] | return codes and the provider table |
//! | [`cr`], [`lmr`], [`rmr`] | slots with other parameters or results |
//! | [`extension`] | extended operations |
//! | `counters` | extended operations that read counters |
//! | [`csp`], [`cno`], [`post`], [`related`] | other slots that only this version has |
//! | `event`, `ep`, `named` | C structures of events, endpoint parameters and named attributes |

pub mod cno;
pub mod code;
mod counters;
pub mod cr;
pub mod csp;
mod ep;
mod event;
pub mod extension;
pub mod lmr;
mod named;
pub mod post;
pub mod related;
pub mod rmr;
pub mod table;

use std::ffi::CStr;

use dat_core::event::{Completion, Transfer};
use dat_core::transport::RemoteSegment;
use dat_core::{ApiCaps, EpAttributes, Event, Handle, Ia, LocalSegment, Rights, Streams};
use dat_udat20::*;

use crate::handle::raw;
use crate::ptr::{Out, write_field};
use crate::v20::ep::{comm, datagrams};
use crate::{Provider, Version, attr, counted};

/// uDAPL 2.0.
pub enum Udat20 {}

impl Version for Udat20 {
    crate::version!();

    const NODE: &'static CStr = c"DAT_2.0";
    const IA_HANDLES: Option<&'static CStr> = Some(c"dats_get_ia_handle");
    /// Programs request short queues, but the end of each connection with a shared receive queue adds an event.
    const MIN_ASYNC_QLEN: usize = 1024;
    const API_CAPS: ApiCaps = ApiCaps {
        version: (DAT_VERSION_MAJOR as u8, DAT_VERSION_MINOR as u8),
        tell_end_of_shared: true,
        extended: true,
    };

    const RIGHTS: Rights = Rights::all();
    const OTHER_RIGHTS: DAT_MEM_PRIV_FLAGS = 0;
    const STREAMS: Streams = Streams::all();
    const MULTIPATH: &'static [DAT_CONNECT_FLAGS] =
        &[DAT_CONNECT_MULTIPATH_REQUESTED_FLAG, DAT_CONNECT_MULTIPATH_REQUIRED_FLAG];
    const SRQ_DEFAULTS: bool = true;

    #[inline(always)]
    fn completion(out: Out<DAT_EVENT>, evd: Handle, completion: &Completion, extra: u32) {
        let &Completion { ep, cookie, len, status, transfer } = completion;
        write_field!(out, event_number, DAT_DTO_COMPLETION_EVENT);
        write_field!(out, evd_handle, raw(evd));
        write_field!(out, event_data.dto_completion_event_data.ep_handle, raw(ep));
        write_field!(out, event_data.dto_completion_event_data.user_cookie, DAT_CONTEXT { as_64: cookie });
        write_field!(out, event_data.dto_completion_event_data.status, status as DAT_DTO_COMPLETION_STATUS);
        // `AdapterAttributes::max_transfer` limits the length to 32 bits.
        debug_assert!(len <= u64::from(u32::MAX));
        write_field!(out, event_data.dto_completion_event_data.transfered_length, len as DAT_SEG_LENGTH);
        event::write_operation(out, transfer as DAT_DTOS);
        write_field!(out, event_extension_data, [0; 8]);
        if transfer as u32 > Transfer::Recv as u32 {
            event::extend(out, status, transfer, extra);
        }
    }

    fn event<F: Provider<Version = Self>>(out: Out<DAT_EVENT>, evd: Handle, event: Event) {
        write_field!(out, event_extension_data, [0; 8]);
        let datagram_event = event::DatagramEvent::of(&event);
        // A request with too much private data never arrives, so none is truncated.
        crate::write_event!(F, out, evd, event, request { truncate_flag: DAT_FALSE });
        if let Some(datagram_event) = datagram_event {
            datagram_event.write(out);
        }
    }

    #[inline]
    fn local_segment(triplet: &DAT_LMR_TRIPLET) -> LocalSegment {
        LocalSegment { context: triplet.lmr_context, addr: triplet.virtual_address, len: triplet.segment_length.into() }
    }

    #[inline(always)]
    fn remote_segment(triplet: &DAT_RMR_TRIPLET) -> RemoteSegment {
        RemoteSegment { addr: triplet.virtual_address, len: triplet.segment_length.into(), key: triplet.rmr_context }
    }

    fn ep_attributes(attr: &DAT_EP_ATTR, srq: bool) -> Option<EpAttributes> {
        ep::attributes(attr, srq)
    }

    fn ia_attr<F: Provider<Version = Self>>(ia: &Ia<F::Transport>) -> DAT_IA_ATTR {
        let limits = ia.attributes();
        let extended = extension::extensions(limits);
        crate::ia_attr!(limits, &limits.fabric.device, {
            zb_supported: attr::boolean(limits.zero_based),
            extension_supported: if extended { DAT_EXTENSION_IB } else { DAT_EXTENSION_NONE },
            extension_version: if extended { DAT_IB_EXTENSION_VERSION } else { 0 },
        })
    }

    fn provider_attr<F: Provider<Version = Self>>(ia: &Ia<F::Transport>, thread_safe: bool) -> DAT_PROVIDER_ATTR {
        let limits = ia.attributes();
        let facts = named::named_attributes(limits, extension::extensions(limits));
        let (number, named) = counted::of_adapter(ia, facts);
        crate::provider_attr!(limits, &ia.name, thread_safe, {
            rdma_read_lmr_rmr_context_exposure: DAT_FALSE,
            rmr_scope_supported: if limits.endpoint_windows { DAT_RMR_SCOPE_ANY } else { DAT_RMR_SCOPE_PZ },
            is_signal_safe: DAT_FALSE,
            ha_supported: DAT_FALSE,
            ha_loadbalancing: DAT_HA_LB_NONE,
            num_provider_specific_attr: number,
            provider_specific_attr: named,
        })
    }
}
