use super::*;

#[test]
fn counters_add_up() {
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
