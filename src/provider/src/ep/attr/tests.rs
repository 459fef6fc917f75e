use super::*;

#[test]
fn watermarks_are_read_back() {
    for value in [-1, 0, 1, DAT_COUNT::MAX] {
        assert_eq!(new_watermark(value).map(c_watermark), Some(value));
        assert_eq!(watermark(value).map(c_watermark), Some(value));
    }
    assert_eq!((watermark(-2), new_watermark(DAT_COUNT::MIN)), (None, None));
    // 0 allows no buffer for an existing endpoint, and any number for a new endpoint.
    assert_eq!(watermark(0).and_then(Watermark::limit), Some(0));
    assert_eq!(new_watermark(0).and_then(Watermark::limit), None);
}

#[test]
fn states_have_numbers_of_interface() {
    let states = [
        (EpState::Unconnected, DAT_EP_STATE_UNCONNECTED),
        (EpState::Reserved, DAT_EP_STATE_RESERVED),
        (EpState::PassiveConnectionPending, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING),
        (EpState::ActiveConnectionPending, DAT_EP_STATE_ACTIVE_CONNECTION_PENDING),
        (EpState::TentativeConnectionPending, DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING),
        (EpState::Connected, DAT_EP_STATE_CONNECTED),
        (EpState::DisconnectPending, DAT_EP_STATE_DISCONNECT_PENDING),
        (EpState::Disconnected, DAT_EP_STATE_DISCONNECTED),
        (EpState::CompletionPending, DAT_EP_STATE_COMPLETION_PENDING),
    ];
    for (state, number) in states {
        assert_eq!(c_ep_state(state), number);
    }
}
