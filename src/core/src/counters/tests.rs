use super::*;

#[test]
fn sums_counters() {
    let mut one = Counters::default();
    one.tallies.count(Transfer::Read, 5);
    one.flow.message_stalls = 2;
    let mut sum = one;
    sum.tallies.count(Transfer::Recv, u64::MAX);
    sum.add(&one);
    assert_eq!(sum.tallies.of(Transfer::Read), Tally { operations: 2, bytes: 10 });
    assert_eq!(sum.tallies.of(Transfer::Recv), Tally { operations: 1, bytes: u64::MAX });
    assert_eq!(sum.flow, Flow { request_stalls: 0, message_stalls: 4, peer_wakeups: 0 });
}

#[test]
fn counts_each_event_separately() {
    use ConnStat::*;
    let ended = [
        ConnectionEvent::Established,
        ConnectionEvent::PeerRejected,
        ConnectionEvent::NonPeerRejected,
        ConnectionEvent::AcceptCompletionError,
        ConnectionEvent::Disconnected,
        ConnectionEvent::Broken,
        ConnectionEvent::TimedOut,
        ConnectionEvent::Unreachable,
    ];
    let raised = [
        AsyncReason::EvdOverflow,
        AsyncReason::SrqLowWatermark,
        AsyncReason::EpSoftHighWatermark,
        AsyncReason::EndpointLeftShared,
        AsyncReason::IaCatastrophic,
    ];
    let mut all =
        vec![Connect, Request, Accept, Reject, ActiveUp, PassiveUp, Disconnect, PeerDisconnect, AnyQualifier, NoRoom];
    all.extend(ended.map(Ended));
    all.extend(raised.map(Async));
    assert_eq!(all.len(), ConnStat::COUNT);
    let conn_stats = ConnStats::default();
    for (times, &what) in all.iter().enumerate() {
        (0..times).for_each(|_| conn_stats.note(what));
    }
    assert!(all.iter().enumerate().all(|(times, &what)| conn_stats.of(what) == times as u64));
    // All ends except a disconnect, which is the fifth.
    let conn_summary = ConnSummary {
        established: 4 + 5,
        failures: (10..18).sum::<u64>() - 14,
        async_events: (18..23).sum(),
        events_lost: 18 + 9,
    };
    assert_eq!(conn_stats.summary(), conn_summary);
}

#[test]
fn sums_extended_operations() {
    let mut one = Tallies::default();
    one.count(Transfer::FetchAdd, 8);
    let mut sum = one;
    sum.count(Transfer::Read, 3);
    sum.count(Transfer::RecvInvalidated, 3);
    sum.add(&one);
    assert_eq!(sum.of(Transfer::FetchAdd), Tally { operations: 2, bytes: 16 });
    assert_eq!(sum.of(Transfer::RecvInvalidated), Tally { operations: 1, bytes: 3 });
    assert_eq!(sum.of(Transfer::CompareSwap), Tally::default());
    assert_eq!(sum.of(Transfer::Read), Tally { operations: 1, bytes: 3 });
    assert_eq!(sum.total(Transfer::Read), Tally { operations: 3, bytes: 19 });
    assert_eq!(sum.total(Transfer::Send), Tally::default());
}
