use super::*;

#[test]
fn refusals_are_hopeless_after_a_while_and_again_after_another() {
    let now = Instant::now();
    let mut refusals = Refusals::default();
    assert!(!refusals.any() && !refusals.are_hopeless(now + 2 * HOPE));
    assert!(refusals.count(now));
    assert!(!refusals.count(now + HOPE));
    assert!(refusals.any() && !refusals.are_hopeless(now + HOPE));
    let later = now + HOPE + Duration::from_millis(1);
    assert!(refusals.are_hopeless(later));
    assert!(!refusals.are_hopeless(later));
    assert!(refusals.are_hopeless(later + 2 * HOPE));
}
