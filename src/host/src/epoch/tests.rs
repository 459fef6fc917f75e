use std::sync::mpsc;

use super::*;

fn record() -> usize {
    drop(EpochGuard::<Memory>::enter());
    ptr::from_ref(own().expect("a record")).addr()
}

#[test]
fn reuses_record_of_ended_thread() {
    if !asymmetric::available() {
        return;
    }
    let mine = record();
    assert_eq!(record(), mine);
    let known = all().count();
    for _ in 0..50 {
        let other = std::thread::spawn(record).join().expect("no panic");
        assert!(other != 0 && other != mine);
    }
    // Other tests create threads, too.
    assert!(all().count() < known + 40, "no record is reused");
}

fn wait_for_other_thread() {
    let (gone, left) = (AtomicBool::new(false), AtomicBool::new(false));
    let (entered, is_entered) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let section = EpochGuard::<Objects>::enter().expect("a record");
            entered.send(()).expect("a receiver");
            while !gone.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            // The other thread calls `synchronize` during this time.
            std::thread::sleep(Duration::from_millis(5));
            left.store(true, Ordering::Relaxed);
            drop(section);
        });
        is_entered.recv().expect("a sender");
        assert!(!synchronize::<Objects>(Some(Duration::ZERO)), "the section has not ended");
        gone.store(true, Ordering::Relaxed);
        synchronize::<Objects>(None);
        assert!(left.load(Ordering::Relaxed), "the section has ended");
    });
}

#[test]
fn waits_for_earlier_sections_of_other_threads() {
    if !asymmetric::available() {
        return;
    }
    let [first, second] = [(); 2].map(|()| EpochGuard::<Objects>::enter().expect("a record"));
    let memory = EpochGuard::<Memory>::enter().expect("a record");
    assert!(is_inside::<Objects>() && is_inside::<Memory>());
    // The call waits neither for this thread's sections nor for sections of the other kind.
    synchronize::<Objects>(None);
    std::thread::scope(|scope| scope.spawn(|| assert!(!is_inside::<Memory>())).join().expect("no panic"));
    drop(first);
    assert!(is_inside::<Objects>(), "in the second one");
    drop(second);
    assert!(!is_inside::<Objects>());
    drop(memory);
    wait_for_other_thread();
}

#[test]
fn section_ends_with_its_thread() {
    let end = || std::mem::forget(EpochGuard::<Objects>::enter());
    std::thread::spawn(end).join().expect("no panic");
    synchronize::<Objects>(None);
}

#[test]
fn waits_for_thread_with_spare_record() {
    let (enter, entered) = mpsc::channel();
    let left = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            with_spare(|| {
                assert!(own().is_none() && !is_inside::<Objects>());
                enter.send(()).expect("a receiver");
                std::thread::sleep(Duration::from_millis(5));
                left.store(true, Ordering::Relaxed);
            });
        });
        entered.recv().expect("a sender");
        synchronize::<Objects>(None);
        assert!(left.load(Ordering::Relaxed), "the section has ended");
    });
}

#[test]
fn threads_wait_for_spare_records() {
    std::thread::scope(|scope| {
        for _ in 0..2 * SPARE.len() {
            scope.spawn(|| (0..100).for_each(|_| with_spare(std::thread::yield_now)));
        }
        assert!((0..100).all(|_| synchronize::<Objects>(None)));
    });
}
