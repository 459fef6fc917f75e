use super::*;

#[test]
fn finite_times_stay_finite() {
    assert_eq!(microseconds(Duration::from_millis(3)), 3000);
    assert_eq!(microseconds(Duration::MAX), DAT_TIMEOUT_INFINITE - 1);
    assert_eq!(microseconds(Duration::from_micros(u64::from(u32::MAX))), DAT_TIMEOUT_INFINITE - 1);
}
