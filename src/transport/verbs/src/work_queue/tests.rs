use super::*;

#[test]
fn refusals_are_hopeless_after_a_while_and_again_after_another() {
    let now = Instant::now();
    let mut refusals = Refusals::default();
    assert!(!refusals.any() && !refusals.are_hopeless(now + 2 * REFUSAL_TIMEOUT));
    assert!(refusals.count(now));
    assert!(!refusals.count(now + REFUSAL_TIMEOUT));
    assert!(refusals.any() && !refusals.are_hopeless(now + REFUSAL_TIMEOUT));
    let later = now + REFUSAL_TIMEOUT + Duration::from_millis(1);
    assert!(refusals.are_hopeless(later));
    assert!(!refusals.are_hopeless(later));
    assert!(refusals.are_hopeless(later + 2 * REFUSAL_TIMEOUT));
}
