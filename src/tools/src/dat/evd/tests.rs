use super::*;

#[test]
fn a_long_time_is_not_for_ever() {
    assert_eq!(timeout(Duration::from_millis(3)), 3000);
    assert_eq!(timeout(Duration::MAX), DAT_TIMEOUT_INFINITE - 1);
    assert_eq!(timeout(Duration::from_micros(u64::from(u32::MAX))), DAT_TIMEOUT_INFINITE - 1);
}
