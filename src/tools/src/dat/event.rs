//! What comes from event dispatchers.

use dat_udat12::*;

use super::{Cr, Library};

/// The end of a data transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    pub ep: DAT_EP_HANDLE,
    /// The cookie of the post.
    pub cookie: u64,
    /// The outcome, `DAT_DTO_SUCCESS` or an error.
    pub status: DAT_DTO_COMPLETION_STATUS,
    /// Bytes moved, if it succeeded.
    pub length: u64,
}

impl Completion {
    /// Whether the transfer succeeded. If not, it was flushed, and the event of its connection says why.
    ///
    /// # Errors
    /// It failed by itself.
    pub fn succeeded(&self) -> anyhow::Result<bool> {
        match self.status {
            DAT_DTO_SUCCESS => Ok(true),
            DAT_DTO_ERR_FLUSHED => Ok(false),
            status => anyhow::bail!("a transfer failed, {}", status_name(status)),
        }
    }
}

/// Something happened to a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// What: one of `DAT_CONNECTION_EVENT_...`.
    pub number: DAT_EVENT_NUMBER,
    pub ep: DAT_EP_HANDLE,
    /// Private data of the peer.
    pub private_data: Vec<u8>,
}

pub enum Event {
    /// A data transfer has ended.
    Completion(Completion),
    /// A peer asks for a connection.
    Request(Cr),
    /// Something happened to a connection.
    Connection(Connection),
    Other,
}

impl Event {
    /// An event as a call returned it.
    ///
    /// # Safety
    /// It comes from a dispatcher of this library, and is the only copy that is turned into an `Event`.
    pub(super) unsafe fn of(library: Library, event: &DAT_EVENT) -> Self {
        let data = &event.event_data;
        // SAFETY: the number says which member of the union is valid; private data is valid when the event is taken.
        unsafe {
            match event.event_number {
                DAT_DTO_COMPLETION_EVENT => {
                    let data = &data.dto_completion_event_data;
                    Event::Completion(Completion {
                        ep: data.ep_handle,
                        cookie: data.user_cookie.as_64,
                        status: data.status,
                        length: data.transfered_length,
                    })
                }
                DAT_CONNECTION_REQUEST_EVENT => Event::Request(Cr::new(library, data.cr_arrival_event_data.cr_handle)),
                number @ DAT_CONNECTION_EVENT_ESTABLISHED..=DAT_CONNECTION_EVENT_UNREACHABLE => {
                    let data = &data.connect_event_data;
                    let private_data = bytes(data.private_data, data.private_data_size);
                    Event::Connection(Connection { number, ep: data.ep_handle, private_data })
                }
                _ => Event::Other,
            }
        }
    }
}

/// Copies private data.
///
/// # Safety
/// There are as many bytes, or the pointer is null.
pub(super) unsafe fn bytes(data: DAT_PVOID, size: DAT_COUNT) -> Vec<u8> {
    let size = usize::try_from(size).unwrap_or(0);
    if data.is_null() || size == 0 {
        return Vec::new();
    }
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) }.to_vec()
}

/// A function that gives the names of constants.
macro_rules! names {
    ($(#[$doc:meta])* $function:ident, $type:ty, $other:literal: $($name:ident)*) => {
        $(#[$doc])*
        pub fn $function(number: $type) -> &'static str {
            match number {
                $($name => stringify!($name),)*
                _ => $other,
            }
        }
    };
}

names! {
    /// The name of an event, such as `DAT_CONNECTION_EVENT_BROKEN`.
    event_name, DAT_EVENT_NUMBER, "an event without a name":
        DAT_DTO_COMPLETION_EVENT DAT_RMR_BIND_COMPLETION_EVENT DAT_CONNECTION_REQUEST_EVENT DAT_CONNECTION_EVENT_ESTABLISHED
        DAT_CONNECTION_EVENT_PEER_REJECTED DAT_CONNECTION_EVENT_NON_PEER_REJECTED
        DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR DAT_CONNECTION_EVENT_DISCONNECTED DAT_CONNECTION_EVENT_BROKEN
        DAT_CONNECTION_EVENT_TIMED_OUT DAT_CONNECTION_EVENT_UNREACHABLE DAT_ASYNC_ERROR_EVD_OVERFLOW
        DAT_ASYNC_ERROR_IA_CATASTROPHIC DAT_ASYNC_ERROR_EP_BROKEN DAT_ASYNC_ERROR_TIMED_OUT
        DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR DAT_SOFTWARE_EVENT
}

names! {
    /// The name of the outcome of a data transfer, such as `DAT_DTO_ERR_FLUSHED`.
    status_name, DAT_DTO_COMPLETION_STATUS, "an outcome without a name":
        DAT_DTO_SUCCESS DAT_DTO_ERR_FLUSHED DAT_DTO_ERR_LOCAL_LENGTH DAT_DTO_ERR_LOCAL_EP DAT_DTO_ERR_LOCAL_PROTECTION
        DAT_DTO_ERR_BAD_RESPONSE DAT_DTO_ERR_REMOTE_ACCESS DAT_DTO_ERR_REMOTE_RESPONDER DAT_DTO_ERR_TRANSPORT
        DAT_DTO_ERR_RECEIVER_NOT_READY DAT_DTO_ERR_PARTIAL_PACKET
}
