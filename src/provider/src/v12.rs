//! The C API layer of uDAPL 1.2: its structures, codes and provider table, and the slots whose parameters differ from
//! other versions. All else is in [the crate](crate).

pub mod cno;
pub mod code;
pub mod cr;
mod ep;
pub mod lmr;
pub mod rmr;
pub mod table;

use std::ffi::CStr;

use dat_core::event::Completion;
use dat_core::transport::RemoteSegment;
use dat_core::{ApiCaps, EpAttributes, Event, Handle, Ia, LocalSegment, Rights, Streams};
use dat_udat12::*;

use crate::handle::raw;
use crate::ptr::{Out, write_field};
use crate::v12::ep::{DAT_EP_FIELD_COMM, comm, datagrams};
use crate::{Provider, Version, counted};

/// uDAPL 1.2.
pub enum Udat12 {}

impl Version for Udat12 {
    crate::version!();

    const NODE: &'static CStr = c"DAT_1.2";
    /// Programs hold the provider's handles.
    const IA_HANDLES: Option<&'static CStr> = None;
    const MIN_ASYNC_QLEN: usize = 0;
    const API_CAPS: ApiCaps = ApiCaps {
        version: (DAT_VERSION_MAJOR as u8, DAT_VERSION_MINOR as u8),
        tell_end_of_shared: false,
        extended: false,
    };

    const RIGHTS: Rights = Rights::REMOTE_ATOMIC.complement();
    /// The bit that disables relaxed ordering. It has no effect.
    const OTHER_RIGHTS: DAT_MEM_PRIV_FLAGS = DAT_MEM_PRIV_RO_DISABLE_FLAG;
    const STREAMS: Streams = Streams::OTHER.complement();
    const MULTIPATH: &'static [DAT_CONNECT_FLAGS] = &[DAT_CONNECT_MULTIPATH_FLAG];
    const SRQ_DEFAULTS: bool = false;

    #[inline(always)]
    fn completion(out: Out<DAT_EVENT>, evd: Handle, completion: &Completion, _extra: u32) {
        let &Completion { ep, cookie, len, status, transfer: _ } = completion;
        write_field!(out, event_number, DAT_DTO_COMPLETION_EVENT);
        write_field!(out, evd_handle, raw(evd));
        write_field!(out, event_data.dto_completion_event_data.ep_handle, raw(ep));
        write_field!(out, event_data.dto_completion_event_data.user_cookie, DAT_CONTEXT { as_64: cookie });
        write_field!(out, event_data.dto_completion_event_data.status, status as DAT_DTO_COMPLETION_STATUS);
        write_field!(out, event_data.dto_completion_event_data.transfered_length, len);
    }

    fn event<F: Provider<Version = Self>>(out: Out<DAT_EVENT>, evd: Handle, event: Event) {
        crate::write_event!(F, out, evd, event, request {});
    }

    #[inline]
    fn local_segment(triplet: &DAT_LMR_TRIPLET) -> LocalSegment {
        LocalSegment { context: triplet.lmr_context, addr: triplet.virtual_address, len: triplet.segment_length }
    }

    #[inline(always)]
    fn remote_segment(triplet: &DAT_RMR_TRIPLET) -> RemoteSegment {
        RemoteSegment { addr: triplet.target_address, len: triplet.segment_length, key: triplet.rmr_context }
    }

    fn ep_attributes(attr: &DAT_EP_ATTR, srq: bool) -> Option<EpAttributes> {
        ep::ep_attributes(attr, srq)
    }

    fn ia_attr<F: Provider<Version = Self>>(ia: &Ia<F::Transport>) -> DAT_IA_ATTR {
        crate::ia_attr!(ia.attributes(), &ia.name, {})
    }

    fn provider_attr<F: Provider<Version = Self>>(ia: &Ia<F::Transport>, thread_safe: bool) -> DAT_PROVIDER_ATTR {
        let limits = ia.attributes();
        let (number, named) = counted::of_adapter(ia, Vec::new());
        crate::provider_attr!(limits, &limits.provider, thread_safe, {
            num_provider_specific_attr: number,
            provider_specific_attr: named,
        })
    }
}

#[cfg(test)]
mod tests;
