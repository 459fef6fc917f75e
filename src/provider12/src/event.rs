//! Events in the form of the C structure.

use std::ptr::{null_mut, with_exposed_provenance_mut};

use dat_core::event::{AsyncReason, Completion, ConnectionEvent, Event, Status};
use dat_core::transport::Transport;
use dat_core::{Cr, Handle};
use dat_face::Face;
use dat_face::handle::raw;
use dat_face::ptr::{Out, write_field};
use dat_udat12::*;

use crate::attr::address_ptr;

/// Writes the C form of the end of a transfer that was taken from the dispatcher `evd_handle`.
#[inline(always)]
pub(crate) fn write_completion(out: Out<DAT_EVENT>, evd_handle: DAT_EVD_HANDLE, completion: &Completion) {
    let &Completion { ep, cookie, len, status, transfer: _ } = completion;
    write_field!(out, event_number, DAT_DTO_COMPLETION_EVENT);
    write_field!(out, evd_handle, evd_handle);
    write_field!(out, event_data.dto_completion_event_data.ep_handle, raw(ep));
    write_field!(out, event_data.dto_completion_event_data.user_cookie, DAT_CONTEXT { as_64: cookie });
    write_field!(out, event_data.dto_completion_event_data.status, c_status(status));
    write_field!(out, event_data.dto_completion_event_data.transfered_length, len);
}

/// Writes the C form of an event that was taken from the dispatcher `evd_handle`.
pub(crate) fn write_event<F: Face>(out: Out<DAT_EVENT>, evd_handle: DAT_EVD_HANDLE, event: Event) {
    let (event_number, event_data) = match event {
        Event::Transfer { ep, cookie, status, len, transfer } => {
            return write_completion(out, evd_handle, &Completion { ep, cookie, len, status, transfer });
        }
        Event::Bind { rmr, cookie, status } => {
            let rmr_completion_event_data = DAT_RMR_BIND_COMPLETION_EVENT_DATA {
                rmr_handle: raw(rmr),
                user_cookie: DAT_CONTEXT { as_64: cookie },
                status: c_status(status),
            };
            (DAT_RMR_BIND_COMPLETION_EVENT, DAT_EVENT_DATA { rmr_completion_event_data })
        }
        Event::ConnectionRequest { point, reserved, qualifier, cr } => {
            let point = raw(point);
            let sp_handle =
                if reserved { DAT_SP_HANDLE { rsp_handle: point } } else { DAT_SP_HANDLE { psp_handle: point } };
            let cr_arrival_event_data = DAT_CR_ARRIVAL_EVENT_DATA {
                sp_handle,
                local_ia_address_ptr: local_address::<F>(cr),
                conn_qual: qualifier,
                cr_handle: raw(cr),
            };
            (DAT_CONNECTION_REQUEST_EVENT, DAT_EVENT_DATA { cr_arrival_event_data })
        }
        Event::Connection { ep, kind, private_data } => {
            // The endpoint keeps the bytes in place after the event is gone.
            let data = private_data.as_deref().unwrap_or_default();
            let connect_event_data = DAT_CONNECTION_EVENT_DATA {
                ep_handle: raw(ep),
                private_data_size: DAT_COUNT::try_from(data.len()).unwrap_or(DAT_COUNT::MAX),
                private_data: if data.is_empty() { null_mut() } else { data.as_ptr().cast_mut().cast() },
            };
            (c_connection_event(kind), DAT_EVENT_DATA { connect_event_data })
        }
        Event::Async { object, reason } => {
            let (number, reason) = c_async(reason);
            let asynch_error_event_data = DAT_ASYNCH_ERROR_EVENT_DATA { dat_handle: raw(object), reason };
            (number, DAT_EVENT_DATA { asynch_error_event_data })
        }
        Event::Software { pointer } => {
            let software_event_data = DAT_SOFTWARE_EVENT_DATA { pointer: with_exposed_provenance_mut(pointer) };
            (DAT_SOFTWARE_EVENT, DAT_EVENT_DATA { software_event_data })
        }
    };
    write_field!(out, event_number, event_number);
    write_field!(out, evd_handle, evd_handle);
    write_field!(out, event_data, event_data);
}

/// The address of the adapter at which a connection request arrived.
fn local_address<F: Face>(cr: Handle) -> DAT_IA_ADDRESS_PTR {
    let cr = F::domain().get::<Cr<F::Transport>>(raw(cr));
    cr.map_or(null_mut(), |cr| address_ptr(&cr.ia().transport().attributes().address))
}

#[inline]
fn c_status(status: Status) -> DAT_DTO_COMPLETION_STATUS {
    match status {
        Status::Success => DAT_DTO_SUCCESS,
        Status::Flushed => DAT_DTO_ERR_FLUSHED,
        Status::LocalLength => DAT_DTO_ERR_LOCAL_LENGTH,
        Status::LocalEndpoint => DAT_DTO_ERR_LOCAL_EP,
        Status::LocalProtection => DAT_DTO_ERR_LOCAL_PROTECTION,
        Status::BadResponse => DAT_DTO_ERR_BAD_RESPONSE,
        Status::RemoteAccess => DAT_DTO_ERR_REMOTE_ACCESS,
        Status::RemoteResponder => DAT_DTO_ERR_REMOTE_RESPONDER,
        Status::Transport => DAT_DTO_ERR_TRANSPORT,
        Status::ReceiverNotReady => DAT_DTO_ERR_RECEIVER_NOT_READY,
        Status::PartialPacket => DAT_DTO_ERR_PARTIAL_PACKET,
        Status::RmrOperation => DAT_RMR_OPERATION_FAILED,
    }
}

fn c_connection_event(kind: ConnectionEvent) -> DAT_EVENT_NUMBER {
    match kind {
        ConnectionEvent::Established => DAT_CONNECTION_EVENT_ESTABLISHED,
        ConnectionEvent::PeerRejected => DAT_CONNECTION_EVENT_PEER_REJECTED,
        ConnectionEvent::NonPeerRejected => DAT_CONNECTION_EVENT_NON_PEER_REJECTED,
        ConnectionEvent::AcceptCompletionError => DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR,
        ConnectionEvent::Disconnected => DAT_CONNECTION_EVENT_DISCONNECTED,
        ConnectionEvent::Broken => DAT_CONNECTION_EVENT_BROKEN,
        ConnectionEvent::TimedOut => DAT_CONNECTION_EVENT_TIMED_OUT,
        ConnectionEvent::Unreachable => DAT_CONNECTION_EVENT_UNREACHABLE,
    }
}

/// Number and reason. The interface has no event numbers for watermarks, so they are reported as provider events, with
/// the reason that the kind of object has for them.
fn c_async(reason: AsyncReason) -> (DAT_EVENT_NUMBER, DAT_COUNT) {
    let (number, reason) = match reason {
        AsyncReason::EvdOverflow => (DAT_ASYNC_ERROR_EVD_OVERFLOW, DAT_EVD_OVERFLOW_ERROR),
        AsyncReason::SrqLowWatermark => (DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR, DAT_SRQ_LOW_WATERMARK_EVENT),
        AsyncReason::EpSoftHighWatermark => {
            (DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR, DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT)
        }
        AsyncReason::IaCatastrophic => (DAT_ASYNC_ERROR_IA_CATASTROPHIC, DAT_IA_CATASTROPHIC_ERROR),
    };
    (number, reason as DAT_COUNT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asynchronous_events_have_the_numbers_and_reasons_of_the_specification() {
        assert_eq!(c_async(AsyncReason::EvdOverflow), (0x08001, 0));
        assert_eq!(c_async(AsyncReason::IaCatastrophic), (0x08002, 0));
        assert_eq!(c_async(AsyncReason::SrqLowWatermark), (0x08005, 2));
        assert_eq!(c_async(AsyncReason::EpSoftHighWatermark), (0x08005, 2));
    }
}
