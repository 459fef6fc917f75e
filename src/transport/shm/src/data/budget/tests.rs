use super::*;

#[test]
fn divides_round_between_turns() {
    let rounds = Rounds::default();
    assert_eq!(rounds.share(), ROUND, "alone");
    rounds.begin(1);
    rounds.begin(1);
    for turns in [1_u64, 2, 8, 30, 1000] {
        // The first round counts the turns, and the second divides the bytes.
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
