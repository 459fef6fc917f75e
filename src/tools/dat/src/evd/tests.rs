use super::*;
use crate::Region;

/// Compiles only if the type lacks the trait: otherwise the parameter of `Lacks` is ambiguous.
macro_rules! assert_lacks {
    ($type:ty, $trait:path) => {{
        trait Lacks<P> {
            fn check() {}
        }
        impl<T> Lacks<()> for T {}
        impl<T: $trait> Lacks<u8> for T {}
        <$type as Lacks<_>>::check();
    }};
}

#[test]
fn only_one_thread_takes_events_or_copies_bytes() {
    assert_lacks!(Evd, Sync);
    assert_lacks!(Evd, Clone);
    assert_lacks!(Region, Sync);
}

#[test]
fn finite_times_stay_finite() {
    assert_eq!(microseconds(Duration::from_millis(3)), 3000);
    assert_eq!(microseconds(Duration::MAX), DAT_TIMEOUT_INFINITE - 1);
    assert_eq!(microseconds(Duration::from_micros(u64::from(u32::MAX))), DAT_TIMEOUT_INFINITE - 1);
}
