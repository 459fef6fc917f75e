use super::*;

/// The operations of the specification's table of endpoint states. One column per state, in the order of
/// [`EpState::ALL`]: `o` is allowed, `x` fails, `n` succeeds without effect.
const OPERATIONS: [(Trigger, &str); 9] = [
    (Trigger::Connect, "oxxxxxxxx"),
    (Trigger::Reserve, "oxxxxxxxx"),
    (Trigger::AcceptExplicit, "oxxxxxxxx"),
    (Trigger::AcceptImplicit, "xxoxoxxxx"),
    (Trigger::RequestAnswered, "xxoxoxxxx"),
    (Trigger::DisconnectAbrupt, "xxxoxooon"),
    (Trigger::DisconnectGraceful, "xxxoxoonn"),
    (Trigger::Reset, "nxxxxxxxo"),
    (Trigger::Free, "oxxoxoooo"),
];

#[test]
fn operations_follow_the_table() {
    for (trigger, row) in OPERATIONS {
        for (state, wanted) in EpState::ALL.into_iter().zip(row.chars()) {
            let got = match next(state, trigger) {
                Ok(Next::Stay) => 'n',
                Ok(_) => 'o',
                Err(error) => {
                    assert_eq!(error, state);
                    'x'
                }
            };
            assert_eq!(got, wanted, "{trigger:?} in {state:?}");
        }
    }
}

#[test]
fn attempt_ends_connected_or_disconnected() {
    for state in [EpState::ActiveConnectionPending, EpState::CompletionPending] {
        assert_eq!(next(state, Trigger::Established), Ok(Next::Go(EpState::Connected)));
        assert_eq!(next(state, Trigger::Ended), Ok(Next::Go(EpState::Disconnected)));
    }
    for state in EpState::ALL {
        if let Ok(Next::Go(to)) = next(state, Trigger::Ended) {
            assert_eq!(to, EpState::Disconnected);
        }
    }
}

#[test]
fn no_trigger_keeps_its_state() {
    for state in EpState::ALL {
        for trigger in TRIGGERS {
            assert_ne!(next(state, trigger), Ok(Next::Go(state)), "{trigger:?} in {state:?}");
        }
    }
}

const TRIGGERS: [Trigger; 13] = [
    Trigger::Connect,
    Trigger::AcceptExplicit,
    Trigger::AcceptImplicit,
    Trigger::Reserve,
    Trigger::Release,
    Trigger::RequestArrived,
    Trigger::RequestAnswered,
    Trigger::DisconnectAbrupt,
    Trigger::DisconnectGraceful,
    Trigger::Reset,
    Trigger::Free,
    Trigger::Established,
    Trigger::Ended,
];
