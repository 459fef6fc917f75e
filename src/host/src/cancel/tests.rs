use super::*;

fn state() -> c_int {
    let before = forbid();
    restore(before);
    before.0
}

#[test]
fn restores_the_cancellation_state() {
    let usual = state();
    assert_ne!(usual, PTHREAD_CANCEL_DISABLE);
    assert_eq!(uncancelled(state), PTHREAD_CANCEL_DISABLE);
    assert_eq!(state(), usual);
    let outer = forbid();
    uncancelled(|| ());
    assert_eq!(state(), PTHREAD_CANCEL_DISABLE, "the inner one must not end the outer one");
    restore(outer);
    assert_eq!(state(), usual);
}

#[test]
fn drops_shielded_value_once_with_cancellation_disabled() {
    struct Dropped<'a>(&'a std::cell::Cell<usize>);
    impl Drop for Dropped<'_> {
        fn drop(&mut self) {
            assert_eq!(state(), PTHREAD_CANCEL_DISABLE);
            self.0.set(self.0.get() + 1);
        }
    }
    let drops = std::cell::Cell::new(0);
    drop(Shielded::new(Dropped(&drops)));
    assert_eq!(drops.get(), 1);
    assert_ne!(state(), PTHREAD_CANCEL_DISABLE);
}
