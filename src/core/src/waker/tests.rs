use std::os::fd::AsFd;
use std::time::Duration;

use host::poll;

use super::*;

fn wakeup_fd(waker: &Waker) -> WakePlace {
    WakePlace::WakeupFd(waker.wakeup_fd().expect("a bell"))
}

fn rings(waker: &Waker) -> bool {
    let wakeup_fd = waker.wakeup_fd().expect("a bell");
    let [found] = poll::wait([Some(wakeup_fd.as_fd())], Some(Duration::ZERO)).expect("poll");
    found.readable
}

#[test]
fn wake_changes_word_until_next_sleep() {
    let waker = Waker::new();
    for _ in 0..2 {
        waker.prepare_sleep(WakePlace::Own);
        let (word, value) = waker.word();
        assert_eq!(word.load(Ordering::Relaxed), value);
        waker.wake();
        waker.wake();
        assert_ne!(word.load(Ordering::Relaxed), value);
        waker.set_awake();
        waker.wake();
    }
}

#[test]
fn wake_signals_eventfd_of_sleeper() {
    let waker = Waker::new();
    for _ in 0..2 {
        waker.prepare_sleep(wakeup_fd(&waker));
        assert!(!rings(&waker));
        waker.wake();
        assert!(rings(&waker));
    }
    waker.prepare_sleep(WakePlace::Own);
    waker.set_awake();
    waker.wake();
    waker.prepare_sleep(wakeup_fd(&waker));
    assert!(!rings(&waker), "nobody rings for a thread that is awake");
}

#[test]
fn late_signal_is_cleared() {
    let waker = Waker::new();
    waker.prepare_sleep(wakeup_fd(&waker));
    // A waking thread has changed the word, but has not yet signalled the eventfd.
    assert_eq!(waker.state.0.swap(WOKEN, Ordering::AcqRel), ASLEEP);
    // The sleeper sleeps again.
    waker.prepare_sleep(wakeup_fd(&waker));
    waker.wake_in_place();
    assert!(rings(&waker), "for once it has no reason to");
    waker.prepare_sleep(wakeup_fd(&waker));
    assert!(!rings(&waker), "every sleep to come ends at once");
    waker.wake();
    assert!(rings(&waker));
}

#[test]
fn wake_calls_alarm_of_transport() {
    #[derive(Default)]
    struct Counted(AtomicU32);

    impl Alarm for Counted {
        fn word(&self) -> &AtomicU32 {
            &self.0
        }

        fn wake(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    let (waker, alarm) = (Waker::new(), Arc::new(Counted::default()));
    waker.prepare_sleep(WakePlace::Word(alarm.clone()));
    waker.wake();
    waker.wake();
    assert_eq!(alarm.0.load(Ordering::Relaxed), 1);
    waker.leave_place();
    assert_eq!(Arc::strong_count(&alarm), 1, "a thread that sleeps nowhere keeps it");
    waker.prepare_sleep(WakePlace::Own);
    waker.wake();
    assert_eq!(alarm.0.load(Ordering::Relaxed), 1);
}

#[test]
fn each_thread_has_its_own_waker() {
    let current = || Waker::current().expect("a waker");
    let mine = current();
    assert!(Arc::ptr_eq(&mine, &current()));
    let other = std::thread::spawn(current).join().expect("no panic");
    assert!(!Arc::ptr_eq(&mine, &other));
}
