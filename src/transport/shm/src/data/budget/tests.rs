use super::*;

#[test]
fn turns_of_a_round_share_it() {
    let rounds = Rounds::default();
    assert_eq!(rounds.share(), ROUND, "alone");
    rounds.begin(1);
    rounds.begin(1);
    for turns in [1_u64, 2, 8, 30, 1000] {
        // The first round learns their number, the second one divides.
        let mut shares = Vec::new();
        for _ in 0..2 {
            rounds.begin(1);
            shares = (0..turns).map(|_| rounds.share()).collect();
            assert!(shares.iter().sum::<u64>() <= ROUND + turns * CALL, "{turns}");
        }
        assert!(shares.iter().sum::<u64>() >= ROUND / 2, "{turns}");
        assert!(shares.iter().all(|&share| share == shares[0]), "{turns}");
    }
    rounds.begin(1);
    rounds.begin(1);
    assert_eq!(rounds.share(), ROUND, "alone again");
}
