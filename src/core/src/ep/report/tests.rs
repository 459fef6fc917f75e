use super::*;

#[test]
fn the_ending_is_told_in_the_terms_of_the_state() {
    use ConnectionEvent as E;
    use ConnectionReport as R;
    let cases = [
        (EpState::ActiveConnectionPending, R::PeerRejected(Vec::new()), E::PeerRejected),
        (EpState::ActiveConnectionPending, R::NonPeerRejected, E::NonPeerRejected),
        (EpState::ActiveConnectionPending, R::TimedOut, E::TimedOut),
        (EpState::ActiveConnectionPending, R::Unreachable, E::Unreachable),
        (EpState::ActiveConnectionPending, R::Broken, E::NonPeerRejected),
        (EpState::CompletionPending, R::AcceptFailed, E::AcceptCompletionError),
        (EpState::CompletionPending, R::Disconnected, E::AcceptCompletionError),
        (EpState::Connected, R::Disconnected, E::Disconnected),
        (EpState::Connected, R::Broken, E::Broken),
        (EpState::DisconnectPending, R::Broken, E::Disconnected),
    ];
    for (state, report, event) in cases {
        assert_eq!(announced(state, &report), event, "{state:?} {report:?}");
    }
}
