use dat_core::event::Status;

use super::*;

#[test]
fn async_events_have_specified_numbers_and_reasons() {
    assert_eq!(c_async(AsyncReason::EvdOverflow), (0x08001, 0));
    assert_eq!(c_async(AsyncReason::IaCatastrophic), (0x08002, 0));
    assert_eq!(c_async(AsyncReason::SrqLowWatermark), (0x08005, 2));
    assert_eq!(c_async(AsyncReason::EpSoftHighWatermark), (0x08005, 2));
}

#[test]
fn statuses_have_numbers_of_interface() {
    let statuses = [
        (Status::Success, DAT_DTO_SUCCESS),
        (Status::Flushed, DAT_DTO_ERR_FLUSHED),
        (Status::LocalLength, DAT_DTO_ERR_LOCAL_LENGTH),
        (Status::LocalEndpoint, DAT_DTO_ERR_LOCAL_EP),
        (Status::LocalProtection, DAT_DTO_ERR_LOCAL_PROTECTION),
        (Status::BadResponse, DAT_DTO_ERR_BAD_RESPONSE),
        (Status::RemoteAccess, DAT_DTO_ERR_REMOTE_ACCESS),
        (Status::RemoteResponder, DAT_DTO_ERR_REMOTE_RESPONDER),
        (Status::Transport, DAT_DTO_ERR_TRANSPORT),
        (Status::ReceiverNotReady, DAT_DTO_ERR_RECEIVER_NOT_READY),
        (Status::PartialPacket, DAT_DTO_ERR_PARTIAL_PACKET),
        (Status::RmrOperation, DAT_RMR_OPERATION_FAILED),
    ];
    for (status, number) in statuses {
        assert_eq!(status as DAT_DTO_COMPLETION_STATUS, number);
    }
}

#[test]
fn connection_events_have_numbers_of_interface() {
    let events = [
        (ConnectionEvent::Established, DAT_CONNECTION_EVENT_ESTABLISHED),
        (ConnectionEvent::PeerRejected, DAT_CONNECTION_EVENT_PEER_REJECTED),
        (ConnectionEvent::NonPeerRejected, DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
        (ConnectionEvent::AcceptCompletionError, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR),
        (ConnectionEvent::Disconnected, DAT_CONNECTION_EVENT_DISCONNECTED),
        (ConnectionEvent::Broken, DAT_CONNECTION_EVENT_BROKEN),
        (ConnectionEvent::TimedOut, DAT_CONNECTION_EVENT_TIMED_OUT),
        (ConnectionEvent::Unreachable, DAT_CONNECTION_EVENT_UNREACHABLE),
    ];
    for (event, number) in events {
        assert_eq!(c_connection_event(event), number);
    }
}
