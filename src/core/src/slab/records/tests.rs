use super::*;

fn record() -> *const Record {
    slot().map_or(ptr::null(), |_| ptr::from_ref(own().expect("a record")))
}

#[test]
fn a_record_goes_from_a_thread_that_ends_to_a_later_one() {
    if !asymmetric::available() {
        return;
    }
    let mine = record().addr();
    assert_eq!(record().addr(), mine);
    let known = all().count();
    for _ in 0..50 {
        let other = std::thread::spawn(|| record().addr()).join().expect("no panic");
        assert!(other != 0 && other != mine);
    }
    // Other tests have threads as well.
    assert!(all().count() < known + 40, "none is used again");
}

#[test]
fn who_awaits_sections_waits_for_those_that_were_entered_before() {
    if !asymmetric::available() {
        return;
    }
    let _ = slot();
    let own = Section::enter().expect("a record");
    assert!(Section::enter().is_none(), "one at a time");
    // A thread does not wait for itself.
    await_sections();
    drop(own);
    let gone = AtomicBool::new(false);
    let (entered, is_entered) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _ = slot();
            let section = Section::enter().expect("a record");
            entered.send(()).expect("it is awaited");
            while !gone.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            // The other thread is waiting, or about to wait.
            std::thread::sleep(std::time::Duration::from_millis(5));
            gone.store(false, Ordering::Relaxed);
            drop(section);
        });
        is_entered.recv().expect("it is entered");
        gone.store(true, Ordering::Relaxed);
        asymmetric::heavy();
        await_sections();
        assert!(!gone.load(Ordering::Relaxed), "the section was over");
    });
}

#[test]
fn a_thread_that_gets_no_record_has_no_slot() {
    let thread = std::thread::spawn(|| {
        // SAFETY: this module defines the word; records are never freed.
        unsafe { static_tls::set_word(ptr::from_ref(&NONE).expose_provenance()) };
        slot().is_none()
    });
    assert!(thread.join().expect("no panic"));
}
