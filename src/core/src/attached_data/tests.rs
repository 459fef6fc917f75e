use super::*;

#[test]
fn a_value_is_made_once() {
    let kept = AttachedData::default();
    assert_eq!(kept.with(|| Err(NoMemory), |value: &mut u32| *value), None);
    for wanted in 1..3 {
        let counted = kept.with(
            || Ok(0u32),
            |value| {
                *value += 1;
                *value
            },
        );
        assert_eq!(counted, Some(wanted));
    }
    assert_eq!(kept.with(|| Ok(0u8), |value| *value), None);
}
