use super::*;

#[test]
fn every_status_has_a_meaning() {
    assert_eq!(of_completion(ibv_wc_status::IBV_WC_SUCCESS), Status::Success);
    assert_eq!(of_completion(ibv_wc_status::IBV_WC_WR_FLUSH_ERR), Status::Flushed);
    for status in 1..64 {
        assert_ne!(of_completion(status), Status::Success, "{status}");
    }
    assert_eq!(of_completion(u32::MAX), Status::Transport);
}

#[test]
fn misnamed_failures_of_receives_have_their_meaning() {
    let of = |misnames| {
        [
            ibv_wc_status::IBV_WC_LOC_QP_OP_ERR,
            ibv_wc_status::IBV_WC_REM_INV_REQ_ERR,
            ibv_wc_status::IBV_WC_REM_ACCESS_ERR,
            ibv_wc_status::IBV_WC_SUCCESS,
        ]
        .map(|status| of_receive(status, misnames))
    };
    assert_eq!(of(true), [Status::LocalLength, Status::LocalLength, Status::Flushed, Status::Success]);
    assert_eq!(of(false), [Status::LocalEndpoint, Status::RemoteResponder, Status::RemoteAccess, Status::Success]);
}
