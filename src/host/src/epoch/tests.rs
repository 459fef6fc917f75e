use std::sync::mpsc;

use super::*;

fn record() -> usize {
    drop(EpochGuard::<Memory>::enter());
    ptr::from_ref(own().expect("a record")).addr()
}

#[test]
fn a_record_goes_from_a_thread_that_ends_to_a_later_one() {
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
    // Other tests have threads as well.
    assert!(all().count() < known + 40, "none is used again");
}

/// Waits while another thread is in a section.
fn wait_for_another() {
    let (gone, left) = (AtomicBool::new(false), AtomicBool::new(false));
    let (entered, is_entered) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let section = EpochGuard::<Objects>::enter().expect("a record");
            entered.send(()).expect("it is awaited");
            while !gone.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            // The other thread is waiting, or about to wait.
            std::thread::sleep(Duration::from_millis(5));
            left.store(true, Ordering::Relaxed);
            drop(section);
        });
        is_entered.recv().expect("it is entered");
        assert!(!synchronize::<Objects>(Some(Duration::ZERO)), "it is not over");
        gone.store(true, Ordering::Relaxed);
        synchronize::<Objects>(None);
        assert!(left.load(Ordering::Relaxed), "the section was over");
    });
}

#[test]
fn a_wait_is_for_the_sections_of_others_that_were_entered_before() {
    if !asymmetric::available() {
        return;
    }
    let [first, second] = [(); 2].map(|()| EpochGuard::<Objects>::enter().expect("a record"));
    let memory = EpochGuard::<Memory>::enter().expect("a record");
    assert!(is_inside::<Objects>() && is_inside::<Memory>());
    // A thread does not wait for itself, and waits for sections of the kind alone.
    synchronize::<Objects>(None);
    std::thread::scope(|scope| scope.spawn(|| assert!(!is_inside::<Memory>())).join().expect("no panic"));
    drop(first);
    assert!(is_inside::<Objects>(), "in the second one");
    drop(second);
    assert!(!is_inside::<Objects>());
    drop(memory);
    wait_for_another();
}

#[test]
fn a_thread_that_ends_in_a_section_holds_nobody_up() {
    let end = || std::mem::forget(EpochGuard::<Objects>::enter());
    std::thread::spawn(end).join().expect("no panic");
    synchronize::<Objects>(None);
}

#[test]
fn a_wait_is_for_a_thread_with_a_spare_record() {
    let (enter, entered) = mpsc::channel();
    let left = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            with_spare(|| {
                assert!(own().is_none() && !is_inside::<Objects>());
                enter.send(()).expect("it is awaited");
                std::thread::sleep(Duration::from_millis(5));
                left.store(true, Ordering::Relaxed);
            });
        });
        entered.recv().expect("it is entered");
        synchronize::<Objects>(None);
        assert!(left.load(Ordering::Relaxed), "the section was over");
    });
}

#[test]
fn more_threads_than_there_are_spare_records_wait_for_one() {
    std::thread::scope(|scope| {
        for _ in 0..2 * SPARE.len() {
            scope.spawn(|| (0..100).for_each(|_| with_spare(std::thread::yield_now)));
        }
        assert!((0..100).all(|_| synchronize::<Objects>(None)));
    });
}
