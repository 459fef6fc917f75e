use std::sync::atomic::AtomicU32;

use super::*;

#[test]
fn completions_wake_only_their_waits() {
    let (published, alarm) = (AtomicU32::new(AWAKE), AtomicU32::new(RUNG));
    let whom = |notice| whom::<AtomicU32>(notice, || published.load(Ordering::Acquire));
    let mut sleepers = Sleepers::default();
    assert_eq!(whom(Notice::Record), Wake::Nobody);
    assert!(sleepers.thread_asleep(&published));
    assert_eq!((whom(Notice::Record), whom(Notice::Completion)), (Wake::Thread, Wake::Nobody));
    let first = sleepers.add(&published, &alarm, false).expect("the leader");
    assert_eq!(alarm.load(Ordering::Acquire), first);
    assert_eq!((whom(Notice::Record), whom(Notice::Completion)), (Wake::Leader(first), Wake::Nobody));
    assert!(sleepers.remove(&published, Some(first), false));
    assert_eq!((whom(Notice::Record), whom(Notice::Completion)), (Wake::Thread, Wake::Nobody));
    let second = sleepers.add(&published, &alarm, true).expect("the leader");
    assert_ne!(first, second);
    assert_eq!(whom(Notice::Completion), Wake::Leader(second));
    assert!(sleepers.remove(&published, Some(second), true));
    assert_eq!((whom(Notice::Record), whom(Notice::Completion)), (Wake::Thread, Wake::Nobody));
    sleepers.thread_awake(&published);
    sleepers.add_agent(&published);
    assert_eq!(whom(Notice::Completion), Wake::Nobody, "callers poll");
    assert!(sleepers.thread_asleep(&published));
    assert_eq!(whom(Notice::Completion), Wake::Thread);
}

#[test]
fn wait_leads_only_while_alone() {
    let (published, alarm) = (AtomicU32::new(AWAKE), AtomicU32::new(RUNG));
    let whom = || whom::<AtomicU32>(Notice::Record, || published.load(Ordering::Acquire));
    let value = || watcher(published.load(Ordering::Acquire));
    let mut sleepers = Sleepers::default();
    let first = sleepers.add(&published, &alarm, false);
    assert!(first.is_some());
    assert_eq!(sleepers.add(&published, &alarm, false), None, "two waits");
    assert_eq!((whom(), value(), sleepers.is_led()), (Wake::Thread, SHARED, false));
    sleepers.thread_awake(&published);
    assert_eq!((whom(), value()), (Wake::Nobody, BUSY));
    assert!(!sleepers.remove(&published, None, false));
    assert_eq!(value(), BUSY, "one is left");
    assert_eq!(sleepers.add(&published, &alarm, false), None);
    assert_eq!(value(), SHARED, "the thread does not say that it looks again");
    assert!(sleepers.thread_asleep(&published));
    assert!(!sleepers.remove(&published, first, false), "it leads no more");
    assert_eq!(value(), SHARED);
    assert!(!sleepers.remove(&published, None, false));
    assert_eq!(value(), THREAD, "callers can take the place of the thread");
    let rung = sleepers.add(&published, &alarm, false);
    let leads = || rung.is_some_and(|sleep| whom() == Wake::Leader(sleep));
    assert!(leads());
    sleepers.thread_awake(&published);
    assert_eq!(sleepers.rung(&alarm), None);
    alarm.store(RUNG, Ordering::Release);
    assert_eq!(sleepers.rung(&alarm), rung);
    sleepers.thread_awake(&published);
    assert!(leads(), "it may be about to look");
    sleepers.thread_takes_over(&published);
    assert_eq!(sleepers.rung(&alarm), None);
    assert_eq!(value(), BUSY, "the thread has taken over");
    assert!(!sleepers.remove(&published, rung, false));
    assert_eq!(value(), AWAKE, "callers can take the place of the thread");
    assert!(sleepers.thread_asleep(&published));
    sleepers.add_agent(&published);
    assert_eq!(sleepers.add(&published, &alarm, false), None, "a wait and an agent");
    sleepers.remove_agent();
    assert!(!sleepers.remove(&published, None, false));
    let last = sleepers.add(&published, &alarm, false);
    sleepers.add_agent(&published);
    assert_eq!((last.is_some(), value()), (true, SHARED), "a wait and an agent");
}

#[test]
fn wakes_thread_if_leader_is_awake() {
    let [published, alarm, ended, other] = [8, 8, 0, 0].map(AtomicU32::new);
    let tell = |ended, asleep| {
        let mut wakeup_fd = false;
        let ring = |sleep| ring_for(&alarm, ended, sleep, || asleep);
        let told = tell::<AtomicU32>(Notice::Record, || published.load(Ordering::Acquire), ring, || wakeup_fd = true);
        (told, wakeup_fd)
    };
    assert_eq!(tell(&ended, false), (true, true));
    assert_eq!(tell(&ended, false), (false, false), "the same process tells once");
    assert_eq!(tell(&other, false), (true, false), "another one does not ring first");
    published.store(10, Ordering::Release);
    alarm.store(10, Ordering::Release);
    assert_eq!(tell(&ended, true), (true, false));
}
