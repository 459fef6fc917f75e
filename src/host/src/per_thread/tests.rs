use std::cell::Cell;
use std::sync::atomic::AtomicUsize;

use super::*;

static DROPPED: AtomicUsize = AtomicUsize::new(0);

#[derive(Default)]
struct Number(Cell<usize>);

impl Drop for Number {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn value_belongs_to_one_thread_and_ends_with_it() {
    static NUMBERS: PerThread<Number> = PerThread::new();
    check(&NUMBERS);
    // As if the program had used up all keys.
    static WITHOUT_KEY: PerThread<Number> = PerThread { key: AtomicU64::new(NO_KEY), values: PhantomData };
    check(&WITHOUT_KEY);
    static ANOTHER: PerThread<Number> = PerThread { key: AtomicU64::new(NO_KEY), values: PhantomData };
    check(&ANOTHER);
}

fn check(numbers: &'static PerThread<Number>) {
    let set = move |number| numbers.with(|value| value.0.replace(number));
    let before = DROPPED.load(Ordering::Relaxed);
    assert_eq!(set(1), Some(0));
    std::thread::spawn(move || assert_eq!((set(2), set(3)), (Some(0), Some(2)))).join().expect("no panic");
    assert_eq!(DROPPED.load(Ordering::Relaxed), before + 1);
    assert_eq!(set(4), Some(1));
}
