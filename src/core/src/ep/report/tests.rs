use super::*;

#[test]
fn the_ending_is_told_in_the_terms_of_the_state() {
    use ConnectionEvent as E;
    use ConnectionReport as R;
    let cases = [
        (State::ActiveConnectionPending, R::PeerRejected(Vec::new()), E::PeerRejected),
        (State::ActiveConnectionPending, R::NonPeerRejected, E::NonPeerRejected),
        (State::ActiveConnectionPending, R::TimedOut, E::TimedOut),
        (State::ActiveConnectionPending, R::Unreachable, E::Unreachable),
        (State::ActiveConnectionPending, R::Broken, E::NonPeerRejected),
        (State::CompletionPending, R::AcceptFailed, E::AcceptCompletionError),
        (State::CompletionPending, R::Disconnected, E::AcceptCompletionError),
        (State::Connected, R::Disconnected, E::Disconnected),
        (State::Connected, R::Broken, E::Broken),
        (State::DisconnectPending, R::Broken, E::Disconnected),
    ];
    for (state, report, event) in cases {
        assert_eq!(announced(state, &report), event, "{state:?} {report:?}");
    }
}
