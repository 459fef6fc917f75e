use super::*;

#[test]
fn first_claimant_executes_record() {
    let claim = Claim::<AtomicU64>::default();
    assert_eq!(claim.take(2), Turn::Own);
    assert!(!claim.take_back(2), "the target was first");
    assert!(claim.take_back(5));
    assert_eq!(claim.take(5), Turn::Awaited);
    claim.finish(5);
    assert_eq!(claim.take(5), Turn::Done);
    assert_eq!(claim.take(9), Turn::Own);
}

#[test]
fn earlier_revoked_records_are_done() {
    let claim = Claim::<AtomicU64>::default();
    assert!(claim.take_back(2));
    claim.finish(2);
    assert!(claim.take_back(4));
    assert_eq!(claim.take(2), Turn::Done);
    assert_eq!(claim.take(4), Turn::Awaited);
    claim.give_back(4);
    assert_eq!(claim.take(4), Turn::Own, "the initiator could not copy");
}

#[test]
fn detects_impossible_claim() {
    let claim = Claim(AtomicU64::new(word(7, Claimed::TakenBack)));
    assert_eq!(claim.take(9), Turn::Corrupt, "it copies what the target has passed");
    let claim = Claim(AtomicU64::new(word(9, Claimed::ByTarget)));
    assert_eq!(claim.take(9), Turn::Corrupt, "the target itself has claimed that");
    let claim = Claim(AtomicU64::new(9 << BITS | 3));
    assert_eq!(claim.take(9), Turn::Corrupt, "there is no such state");
}
