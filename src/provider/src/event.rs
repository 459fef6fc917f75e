//! Conversion of events, as far as versions share it.

use dat_core::event::{AsyncReason, ConnectionEvent, PeerEvent};
use dat_core::{Handle, Ia, Kind};
use dat_udat::*;

use crate::Provider;
use crate::handle::raw;
use crate::ia::ia_handle;

/// Writes an event that was dequeued from `$evd` as the `DAT_EVENT` of the version in scope. `request` contains the
/// fields of connection requests that only this version has.
#[macro_export]
macro_rules! write_event {
    ($provider:ty, $out:expr, $evd:expr, $event:expr, request { $($field:ident: $value:expr)? }) => {{
        use dat_core::Cr;
        use dat_core::event::{Completion, Event};
        use $crate::event::{c_async, c_connection_event, connection_event, object_handle};
        use $crate::handle::raw;
        use $crate::ptr::write_field;

        let (out, evd) = ($out, $evd);
        let connection = |ep, kind, private_data: Option<&[u8]>| {
            let (private_data_size, private_data) = $crate::ptr::c_bytes(private_data.unwrap_or_default());
            let data = DAT_CONNECTION_EVENT_DATA { ep_handle: raw(ep), private_data_size, private_data };
            write_field!(out, event_data.connect_event_data, data);
            c_connection_event(kind)
        };
        let number = match $event {
            Event::Transfer { ep, cookie, status, len, transfer, extra } => {
                return Self::completion(out, evd, &Completion { ep, cookie, len, status, transfer }, extra);
            }
            Event::Bind { rmr, cookie, status } => {
                let data = DAT_RMR_BIND_COMPLETION_EVENT_DATA {
                    rmr_handle: raw(rmr),
                    user_cookie: DAT_CONTEXT { as_64: cookie },
                    status: status as DAT_DTO_COMPLETION_STATUS,
                };
                write_field!(out, event_data.rmr_completion_event_data, data);
                DAT_RMR_BIND_COMPLETION_EVENT
            }
            Event::ConnectionRequest { point, reserved: _, datagrams: _, qualifier, cr } => {
                let request = <$provider>::domain().get::<Cr<<$provider as $crate::Provider>::Transport>>(raw(cr));
                let data = DAT_CR_ARRIVAL_EVENT_DATA {
                    // All handles in the union have the same offset, so any member serves.
                    sp_handle: DAT_SP_HANDLE { psp_handle: raw(point) },
                    local_ia_address_ptr: request.map_or(std::ptr::null_mut(), |cr| {
                        $crate::attr::address_ptr(&cr.ia().attributes().address)
                    }),
                    conn_qual: qualifier,
                    cr_handle: raw(cr),
                    $($field: $value,)?
                };
                write_field!(out, event_data.cr_arrival_event_data, data);
                DAT_CONNECTION_REQUEST_EVENT
            }
            // The EVD keeps the bytes until its next event with private data, even if the endpoint is reset.
            Event::Connection { ep, kind, private_data } => connection(ep, kind, private_data.as_deref()),
            // The address handle of a successful exchange also keeps the bytes.
            Event::Peer { ep, kind, peer } => connection(ep, connection_event(kind), peer.private_data.as_deref()),
            Event::Async { object, reason } => {
                let (number, reason) = c_async(reason);
                let data = DAT_ASYNCH_ERROR_EVENT_DATA { dat_handle: object_handle::<$provider>(object), reason };
                write_field!(out, event_data.asynch_error_event_data, data);
                number
            }
            Event::Software { pointer } => {
                let data = DAT_SOFTWARE_EVENT_DATA { pointer: std::ptr::with_exposed_provenance_mut(pointer) };
                write_field!(out, event_data.software_event_data, data);
                DAT_SOFTWARE_EVENT
            }
        };
        write_field!(out, event_number, number);
        write_field!(out, evd_handle, raw(evd));
    }};
}

/// Returns the program's handle of an object.
pub fn object_handle<F: Provider>(object: Handle) -> DAT_HANDLE {
    let handle = raw(object);
    match F::domain().kind(handle) {
        Some(Kind::Ia) => F::domain().get::<Ia<F::Transport>>(handle).map_or(handle, |ia| ia_handle::<F>(&ia)),
        _ => handle,
    }
}

/// Returns the number of a connection event.
pub fn c_connection_event(kind: ConnectionEvent) -> DAT_EVENT_NUMBER {
    DAT_CONNECTION_EVENT_ESTABLISHED + kind as DAT_EVENT_NUMBER
}

/// Returns the connection event for a peer event, for versions without peer events.
pub fn connection_event(kind: PeerEvent) -> ConnectionEvent {
    match kind {
        PeerEvent::Answered | PeerEvent::Accepted => ConnectionEvent::Established,
        PeerEvent::Rejected => ConnectionEvent::PeerRejected,
        PeerEvent::Failed => ConnectionEvent::AcceptCompletionError,
    }
}

/// Returns event number and reason. Watermarks have no event numbers, so they become provider errors with their reason.
pub fn c_async(reason: AsyncReason) -> (DAT_EVENT_NUMBER, DAT_COUNT) {
    let (number, reason) = match reason {
        AsyncReason::EvdOverflow => (DAT_ASYNC_ERROR_EVD_OVERFLOW, DAT_EVD_OVERFLOW_ERROR),
        AsyncReason::SrqLowWatermark => (DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR, DAT_SRQ_LOW_WATERMARK_EVENT),
        AsyncReason::EpSoftHighWatermark => {
            (DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR, DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT)
        }
        AsyncReason::EndpointLeftShared => (DAT_ASYNC_ERROR_EP_BROKEN, DAT_EP_OTHER_ERROR),
        AsyncReason::IaCatastrophic => (DAT_ASYNC_ERROR_IA_CATASTROPHIC, DAT_IA_CATASTROPHIC_ERROR),
    };
    (number, reason as DAT_COUNT)
}

#[cfg(test)]
mod tests;
