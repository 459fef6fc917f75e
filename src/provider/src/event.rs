//! Events in the terms of C: numbers, states and the parts that are the same in all versions.

use std::ptr::{null_mut, with_exposed_provenance_mut};

use dat_core::event::{AsyncReason, Completion, ConnectionEvent, Event, Extended, Status};
use dat_core::transport::Transport;
use dat_core::{Cr, Handle, Ia, Kind};
use dat_udat::*;

use crate::Face;
use crate::attr::address_ptr;
use crate::handle::raw;
use crate::ia::ia_handle;

/// What an event carries besides its number and its dispatcher.
pub enum Payload {
    /// The end of a transfer.
    Transfer(Completion),
    /// The end of a transfer that not every version has.
    Extended {
        /// The same as the end of the usual transfer that is most like it.
        completion: Completion,
        /// What it was.
        operation: Extended,
        /// What it has brought: see [`Event::Extended`].
        extra: u32,
    },
    /// The end of a bind.
    Bind(DAT_RMR_BIND_COMPLETION_EVENT_DATA),
    /// A connection request.
    Request {
        /// The service point.
        point: DAT_HANDLE,
        /// Whether that is a reserved one.
        reserved: bool,
        /// The address of the adapter at which the request arrived.
        local_address: DAT_IA_ADDRESS_PTR,
        /// The qualifier at which it arrived.
        qualifier: DAT_CONN_QUAL,
        /// The request.
        cr: DAT_CR_HANDLE,
    },
    /// What became of a connection.
    Connection(DAT_CONNECTION_EVENT_DATA),
    /// An asynchronous event.
    Async(DAT_ASYNCH_ERROR_EVENT_DATA),
    /// An event that a program posted.
    Software(DAT_SOFTWARE_EVENT_DATA),
}

/// The data of an event, a `DAT_EVENT_DATA` of the version that is in scope, with the fields that a connection request has
/// in this version alone. The version says itself what becomes of the ends of transfers.
#[macro_export]
macro_rules! event_data {
    ($payload:expr, request { $($field:ident: $value:expr),* $(,)? }, $($transfer:pat => $end:expr),* $(,)?) => {
        match $payload {
            $($transfer => $end,)*
            $crate::event::Payload::Bind(rmr_completion_event_data) => DAT_EVENT_DATA { rmr_completion_event_data },
            $crate::event::Payload::Request { point, reserved, local_address, qualifier, cr } => DAT_EVENT_DATA {
                cr_arrival_event_data: DAT_CR_ARRIVAL_EVENT_DATA {
                    sp_handle: if reserved {
                        DAT_SP_HANDLE { rsp_handle: point }
                    } else {
                        DAT_SP_HANDLE { psp_handle: point }
                    },
                    local_ia_address_ptr: local_address,
                    conn_qual: qualifier,
                    cr_handle: cr,
                    $($field: $value,)*
                },
            },
            $crate::event::Payload::Connection(connect_event_data) => DAT_EVENT_DATA { connect_event_data },
            $crate::event::Payload::Async(asynch_error_event_data) => DAT_EVENT_DATA { asynch_error_event_data },
            $crate::event::Payload::Software(software_event_data) => DAT_EVENT_DATA { software_event_data },
        }
    };
}

/// The pointer in a software event of the version that is in scope, as a number; `None` for NULL and for any other event.
#[macro_export]
macro_rules! software_event {
    ($event:expr) => {{
        use $crate::ptr::read_field;

        let pointer = read_field!($event, event_data.software_event_data.pointer)?;
        (read_field!($event, event_number) == Some(DAT_SOFTWARE_EVENT)).then(|| pointer.expose_provenance())
    }};
}

/// The number of an event, and what it carries.
pub fn payload<F: Face>(event: Event) -> (DAT_EVENT_NUMBER, Payload) {
    match event {
        Event::Transfer { ep, cookie, status, len, transfer } => {
            (DAT_DTO_COMPLETION_EVENT, Payload::Transfer(Completion { ep, cookie, len, status, transfer }))
        }
        Event::Extended { ep, cookie, status, len, operation, extra } => {
            let completion = Completion { ep, cookie, len, status, transfer: operation.transfer() };
            (DAT_DTO_COMPLETION_EVENT, Payload::Extended { completion, operation, extra })
        }
        Event::Bind { rmr, cookie, status } => {
            let data = DAT_RMR_BIND_COMPLETION_EVENT_DATA {
                rmr_handle: raw(rmr),
                user_cookie: DAT_CONTEXT { as_64: cookie },
                status: c_status(status),
            };
            (DAT_RMR_BIND_COMPLETION_EVENT, Payload::Bind(data))
        }
        Event::ConnectionRequest { point, reserved, qualifier, cr } => {
            let (point, local_address) = (raw(point), local_address::<F>(cr));
            let request = Payload::Request { point, reserved, local_address, qualifier, cr: raw(cr) };
            (DAT_CONNECTION_REQUEST_EVENT, request)
        }
        Event::Connection { ep, kind, private_data } => {
            // The dispatcher keeps the bytes in place after the event is gone, though the endpoint may have been reset.
            let data = private_data.as_deref().unwrap_or_default();
            let data = DAT_CONNECTION_EVENT_DATA {
                ep_handle: raw(ep),
                private_data_size: DAT_COUNT::try_from(data.len()).unwrap_or(DAT_COUNT::MAX),
                private_data: if data.is_empty() { null_mut() } else { data.as_ptr().cast_mut().cast() },
            };
            (c_connection_event(kind), Payload::Connection(data))
        }
        Event::Async { object, reason } => {
            let (number, reason) = c_async(reason);
            (number, Payload::Async(DAT_ASYNCH_ERROR_EVENT_DATA { dat_handle: object_handle::<F>(object), reason }))
        }
        Event::Software { pointer } => {
            let data = DAT_SOFTWARE_EVENT_DATA { pointer: with_exposed_provenance_mut(pointer) };
            (DAT_SOFTWARE_EVENT, Payload::Software(data))
        }
    }
}

/// The handle that the program has for the object of an asynchronous event.
fn object_handle<F: Face>(object: Handle) -> DAT_HANDLE {
    let handle = raw(object);
    match F::domain().kind(handle) {
        Some(Kind::Ia) => F::domain().get::<Ia<F::Transport>>(handle).map_or(handle, |ia| ia_handle::<F>(&ia)),
        _ => handle,
    }
}

/// The address of the adapter at which a connection request arrived.
fn local_address<F: Face>(cr: Handle) -> DAT_IA_ADDRESS_PTR {
    let cr = F::domain().get::<Cr<F::Transport>>(raw(cr));
    cr.map_or(null_mut(), |cr| address_ptr(&cr.ia().transport.attributes().address))
}

/// The status of a transfer or bind in the form of the interface.
#[inline]
pub fn c_status(status: Status) -> DAT_DTO_COMPLETION_STATUS {
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
        AsyncReason::EndpointLeftShared => (DAT_ASYNC_ERROR_EP_BROKEN, DAT_EP_OTHER_ERROR),
        AsyncReason::IaCatastrophic => (DAT_ASYNC_ERROR_IA_CATASTROPHIC, DAT_IA_CATASTROPHIC_ERROR),
    };
    (number, reason as DAT_COUNT)
}

#[cfg(test)]
mod tests;
