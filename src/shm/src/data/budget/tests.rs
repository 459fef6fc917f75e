use super::*;

#[test]
fn turns_of_a_round_share_it() {
    let rounds = Rounds::default();
    let mut records = 0;
    let mut begin = || {
        records += 1;
        rounds.begin(records);
    };
    assert_eq!(rounds.share(), ROUND, "alone");
    begin();
    begin();
    for turns in [1_u64, 2, 8, 30, 1000] {
        // The first round learns their number, the second one divides.
        let mut shares = Vec::new();
        for _ in 0..2 {
            begin();
            shares = (0..turns).map(|_| rounds.share()).collect();
            assert!(shares.iter().sum::<u64>() <= ROUND + turns * CALL, "{turns}");
        }
        assert!(shares.iter().sum::<u64>() >= ROUND / 2, "{turns}");
        assert!(shares.iter().all(|&share| share == shares[0]), "{turns}");
    }
    begin();
    begin();
    assert_eq!(rounds.share(), ROUND, "alone again");
}

#[test]
fn a_turn_gets_more_while_it_is_the_only_one_and_no_record_comes() {
    let rounds = Rounds::default();
    let next = |records| {
        rounds.begin(records);
        rounds.share()
    };
    assert_eq!([1, 1, 1, 2, 2].map(next), [ROUND, ROUND, ALONE, ROUND, ALONE]);
    let _ = rounds.share();
    assert_eq!([2, 2].map(next), [ROUND / 2, ALONE], "there were two");
}
