//! The names of values in log messages, as in the manual pages.

use std::fmt;

use crate::ep_state::EpState;
use crate::error::Resource;
use crate::event::{AsyncReason, ConnectionEvent, Status, Streams};

/// Implements `Display` with these names. The names are complete, so that a text search finds them.
macro_rules! named {
    ($type:ident: $($kind:pat => $name:literal,)*) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($kind => $name,)* })
            }
        }
    };
}

named! { EpState:
    EpState::Unconnected => "DAT_EP_STATE_UNCONNECTED",
    EpState::Reserved => "DAT_EP_STATE_RESERVED",
    EpState::PassiveConnectionPending => "DAT_EP_STATE_PASSIVE_CONNECTION_PENDING",
    EpState::ActiveConnectionPending => "DAT_EP_STATE_ACTIVE_CONNECTION_PENDING",
    EpState::TentativeConnectionPending => "DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING",
    EpState::Connected => "DAT_EP_STATE_CONNECTED",
    EpState::DisconnectPending => "DAT_EP_STATE_DISCONNECT_PENDING",
    EpState::Disconnected => "DAT_EP_STATE_DISCONNECTED",
    EpState::CompletionPending => "DAT_EP_STATE_COMPLETION_PENDING",
}

named! { Status:
    Status::Success => "DAT_DTO_SUCCESS",
    Status::Flushed => "DAT_DTO_ERR_FLUSHED",
    Status::LocalLength => "DAT_DTO_ERR_LOCAL_LENGTH",
    Status::LocalEndpoint => "DAT_DTO_ERR_LOCAL_EP",
    Status::LocalProtection => "DAT_DTO_ERR_LOCAL_PROTECTION",
    Status::BadResponse => "DAT_DTO_ERR_BAD_RESPONSE",
    Status::RemoteAccess => "DAT_DTO_ERR_REMOTE_ACCESS",
    Status::RemoteResponder => "DAT_DTO_ERR_REMOTE_RESPONDER",
    Status::Transport => "DAT_DTO_ERR_TRANSPORT",
    Status::ReceiverNotReady => "DAT_DTO_ERR_RECEIVER_NOT_READY",
    Status::PartialPacket => "DAT_DTO_ERR_PARTIAL_PACKET",
    Status::RmrOperation => "DAT_RMR_OPERATION_FAILED",
}

named! { ConnectionEvent:
    ConnectionEvent::Established => "DAT_CONNECTION_EVENT_ESTABLISHED",
    ConnectionEvent::PeerRejected => "DAT_CONNECTION_EVENT_PEER_REJECTED",
    ConnectionEvent::NonPeerRejected => "DAT_CONNECTION_EVENT_NON_PEER_REJECTED",
    ConnectionEvent::AcceptCompletionError => "DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR",
    ConnectionEvent::Disconnected => "DAT_CONNECTION_EVENT_DISCONNECTED",
    ConnectionEvent::Broken => "DAT_CONNECTION_EVENT_BROKEN",
    ConnectionEvent::TimedOut => "DAT_CONNECTION_EVENT_TIMED_OUT",
    ConnectionEvent::Unreachable => "DAT_CONNECTION_EVENT_UNREACHABLE",
}

named! { AsyncReason:
    AsyncReason::EvdOverflow => "DAT_EVD_OVERFLOW_ERROR",
    AsyncReason::SrqLowWatermark => "DAT_SRQ_LOW_WATERMARK_EVENT",
    AsyncReason::EpSoftHighWatermark => "DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT",
    AsyncReason::EndpointLeftShared => "DAT_ASYNC_ERROR_EP_BROKEN",
    AsyncReason::IaCatastrophic => "DAT_IA_CATASTROPHIC_ERROR",
}

named! { Resource:
    Resource::Memory => "DAT_RESOURCE_MEMORY",
    Resource::Endpoint => "DAT_RESOURCE_TEP",
    Resource::Evd => "DAT_RESOURCE_TEVD",
    Resource::Zone => "DAT_RESOURCE_PROTECTION_DOMAIN",
    Resource::Region => "DAT_RESOURCE_MEMORY_REGION",
    Resource::Srq => "DAT_RESOURCE_SRQ",
    Resource::Device => "DAT_RESOURCE_DEVICE",
}

impl fmt::Display for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Streams::SOFTWARE, "DAT_EVD_SOFTWARE_FLAG"),
            (Streams::CONNECTION_REQUESTS, "DAT_EVD_CR_FLAG"),
            (Streams::TRANSFERS, "DAT_EVD_DTO_FLAG"),
            (Streams::CONNECTIONS, "DAT_EVD_CONNECTION_FLAG"),
            (Streams::BINDS, "DAT_EVD_RMR_BIND_FLAG"),
            (Streams::ASYNC, "DAT_EVD_ASYNC_FLAG"),
        ];
        let accepted = names.iter().filter(|(stream, _)| self.contains(*stream));
        f.write_str(&accepted.map(|(_, name)| *name).collect::<Vec<_>>().join("|"))
    }
}
