//! Waits: thresholds, solicited events, their ends, and triggers.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dat_core::error::{Arg, Error, Role, StateError};
use dat_core::testing::{self, Call, patience, until, wait_for_trigger};
use dat_core::wait::{self, EvdOutcome, SleepPlace, Step};
use dat_core::{Agent, Cno, CompletionFlags, Evd, Event, Handle, Object, Streams};
use host::poll;

use super::*;

const NOW: Option<Duration> = Some(Duration::ZERO);

fn has_waiter(evd: &Evd<Fake>) -> bool {
    evd.dequeue().err() == Some(Error::InvalidState(StateError::EvdWaiter))
}

fn while_waiting(evd: &Arc<Evd<Fake>>, threshold: usize, script: impl FnOnce()) -> EvdOutcome {
    thread::scope(|scope| {
        let waiter = scope.spawn(|| testing::wait(evd, threshold, None));
        until("a thread waits", || has_waiter(evd));
        script();
        waiter.join().unwrap()
    })
}

fn error(outcome: EvdOutcome) -> (Option<Error>, usize) {
    (outcome.result.err(), outcome.more)
}

#[test]
fn rejects_threshold_above_queue_length() {
    let adapter = open();
    let evd = Evd::create(&adapter.ia, 10, None, Streams::SOFTWARE).unwrap();
    for threshold in [0, 11] {
        assert_eq!(error(testing::wait(&evd, threshold, NOW)), (Some(Error::InvalidParameter(Arg::Threshold)), 0));
    }
    assert_eq!(error(testing::wait(&evd, 1, NOW)), (Some(Error::TimeoutExpired), 0));
    evd.post_software(1).unwrap();
    let start = Instant::now();
    let limit = Duration::from_millis(5);
    assert_eq!(error(testing::wait(&evd, 2, Some(limit))), (Some(Error::TimeoutExpired), 1));
    assert!(start.elapsed() >= limit);
    evd.post_software(2).unwrap();
    evd.post_software(3).unwrap();
    let outcome = testing::wait(&evd, 2, NOW);
    assert!(matches!(outcome.result, Ok(Event::Software { pointer: 1 })));
    assert_eq!(outcome.more, 2);
}

#[test]
fn streams_without_full_notification_require_threshold_one() {
    let adapter = open();
    let end = adapter.end_with(None, |attr| {
        attr.recv_completion_flags = CompletionFlags::SOLICITED_WAIT;
        attr.request_completion_flags = CompletionFlags::UNSIGNALLED;
    });
    let two = |evd| testing::wait(evd, 2, NOW).result.err();
    assert_eq!(two(&end.receives), Some(Error::InvalidState(StateError::EvdConfigSolicited)));
    assert_eq!(two(&end.requests), Some(Error::InvalidState(StateError::EvdConfigNotify)));
    end.ep.free().unwrap();
    assert_eq!(two(&end.receives), Some(Error::TimeoutExpired));
}

#[test]
fn events_unwaitable_and_close_end_wait() {
    let adapter = open();
    let evd = Evd::create(&adapter.ia, 10, None, Streams::SOFTWARE).unwrap();
    let outcome = while_waiting(&evd, 2, || {
        // Only one thread can wait, and others cannot dequeue.
        let refused = Some(Error::InvalidState(StateError::EvdWaiter));
        assert_eq!(testing::wait(&evd, 1, NOW).result.err(), refused);
        assert_eq!(evd.free().err(), refused);
        assert_eq!(evd.resize(1), Err(Error::InvalidState(StateError::EvdTooShort)));
        evd.post_software(1).unwrap();
        assert_eq!(evd.dequeue().err(), refused);
        evd.post_software(2).unwrap();
    });
    assert!(matches!(outcome.result, Ok(Event::Software { pointer: 1 })));
    assert_eq!(outcome.more, 1);
    evd.dequeue().unwrap();

    let unwaitable = Some(Error::InvalidState(StateError::EvdUnwaitable));
    let outcome = while_waiting(&evd, 1, || evd.set_unwaitable());
    assert_eq!(outcome.result.err(), unwaitable);
    evd.post_software(3).unwrap();
    assert_eq!(testing::wait(&evd, 1, NOW).result.err(), unwaitable);
    evd.clear_unwaitable();
    assert!(testing::wait(&evd, 1, NOW).result.is_ok());

    let cno = Cno::create(&adapter.ia, None).unwrap();
    evd.modify_cno(Some(&cno)).unwrap();
    let outcome = while_waiting(&evd, 1, || {
        evd.set_unwaitable();
        evd.post_software(4).unwrap();
    });
    assert_eq!(outcome.result.err(), unwaitable);
    assert_eq!(wait_for_trigger(&cno, NOW), Ok(evd.header().handle()), "the refused wait takes no event");
    evd.clear_unwaitable();
    evd.dequeue().unwrap();

    let outcome = while_waiting(&evd, 1, || adapter.ia.close_abrupt().unwrap());
    assert_eq!(outcome.result.err(), Some(Error::Aborted));
}

#[test]
fn solicited_event_ends_wait() {
    let adapter = open();
    let end = adapter.end_with(None, |attr| attr.recv_completion_flags = CompletionFlags::SOLICITED_WAIT);
    (0..3).for_each(|cookie| end.ep.post_recv(&[], cookie, CompletionFlags::DEFAULT).unwrap());
    let sink = establish(&adapter, &end);
    let outcome = while_waiting(&end.receives, 1, || {
        sink.recv_done(received(0));
        sink.recv_done(received(1));
        assert!(has_waiter(&end.receives));
        sink.recv_announced();
    });
    assert!(matches!(outcome.result, Ok(Event::Transfer { cookie: 0, .. })));
    assert_eq!(outcome.more, 1);
    end.arrives(1, Status::Success);
    // Without a queued event, there is nothing to notify of.
    sink.recv_announced();
    assert_eq!(testing::wait(&end.receives, 1, NOW).result.err(), Some(Error::TimeoutExpired));
    // A solicited completion needs no separate notification.
    let outcome = while_waiting(&end.receives, 1, || {
        sink.recv_done(RecvDone { solicited: true, ..received(2) });
    });
    assert!(matches!(outcome.result, Ok(Event::Transfer { cookie: 2, .. })));
}

#[test]
fn solicited_event_before_established_ends_wait() {
    let adapter = open();
    let end = adapter.end_with(None, |attr| attr.recv_completion_flags = CompletionFlags::SOLICITED_WAIT);
    (0..2).for_each(|cookie| end.ep.post_recv(&[], cookie, CompletionFlags::DEFAULT).unwrap());
    ask(&end).unwrap();
    let sink = fake(&adapter).last_qp();
    sink.recv_done(received(0));
    sink.recv_announced();
    let outcome = thread::scope(|scope| {
        let waiter = scope.spawn(|| testing::wait(&end.receives, 1, Some(patience())));
        until("a thread waits", || has_waiter(&end.receives));
        sink.connection(ConnectionReport::Established(Vec::new()));
        waiter.join().unwrap()
    });
    assert!(matches!(outcome.result, Ok(Event::Transfer { cookie: 0, .. })));
    // A later message is not solicited.
    let outcome = while_waiting(&end.receives, 1, || {
        sink.recv_done(received(1));
        end.receives.set_unwaitable();
    });
    assert_eq!(outcome.result.err(), Some(Error::InvalidState(StateError::EvdUnwaitable)));
}

#[test]
fn only_failures_of_unsignalled_requests_end_wait() {
    let adapter = open();
    let end = adapter.end_with(None, |attr| attr.request_completion_flags = CompletionFlags::UNSIGNALLED);
    let sink = establish(&adapter, &end);
    (0..2).for_each(|cookie| end.ep.post_send(&[], cookie, CompletionFlags::UNSIGNALLED).unwrap());
    let outcome = while_waiting(&end.requests, 1, || {
        assert!(!sink.requests_done(SeqNo(0)));
        assert!(has_waiter(&end.requests));
        sink.failed(None, Some((FailedRequest::Number(1), Status::RemoteAccess)));
    });
    assert!(matches!(outcome.result, Ok(Event::Transfer { cookie: 0, status: Status::Success, .. })));
    end.completes(1, Status::RemoteAccess);
}

#[test]
fn stores_one_trigger() {
    let adapter = open();
    let cno = Cno::create(&adapter.ia, None).unwrap();
    let evd = Evd::create(&adapter.ia, 8, Some(&cno), Streams::SOFTWARE).unwrap();
    let handle = evd.header().handle();
    assert_eq!(wait_for_trigger(&cno, NOW), Err(Error::QueueEmpty));
    evd.post_software(1).unwrap();
    evd.post_software(2).unwrap();
    assert_eq!(wait_for_trigger(&cno, NOW), Ok(handle));
    assert_eq!(wait_for_trigger(&cno, NOW), Err(Error::QueueEmpty), "one trigger is kept");
    // No trigger while the EVD is disabled or a thread waits on it.
    evd.disable();
    evd.post_software(3).unwrap();
    assert_eq!(wait_for_trigger(&cno, NOW), Err(Error::QueueEmpty));
    evd.enable();
    while evd.dequeue().is_ok() {}
    let outcome = while_waiting(&evd, 1, || evd.post_software(4).unwrap());
    assert!(outcome.result.is_ok());
    assert_eq!(wait_for_trigger(&cno, NOW), Err(Error::QueueEmpty));
    // Queued events do not trigger the next CNO.
    evd.post_software(5).unwrap();
    let other = Cno::create(&adapter.ia, None).unwrap();
    evd.modify_cno(Some(&other)).unwrap();
    assert_eq!(wait_for_trigger(&other, NOW), Err(Error::QueueEmpty));
    assert_eq!(wait_for_trigger(&cno, NOW), Ok(handle));
}

fn is_readable(cno: &Cno<Fake>) -> bool {
    let fd = cno.descriptor().expect("it has a descriptor");
    // SAFETY: the live CNO keeps the descriptor open.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    poll::wait([Some(fd)], NOW).expect("a descriptor")[0].readable
}

#[test]
fn descriptor_is_readable_while_triggered() {
    let adapter = open();
    let cno = Cno::create_polled(&adapter.ia).unwrap();
    let evd = Evd::create(&adapter.ia, 8, Some(&cno), Streams::SOFTWARE).unwrap();
    let handle = evd.header().handle();
    assert!(!is_readable(&cno));
    assert_eq!(wait::cno_take(&cno), Err(Error::QueueEmpty));
    for waits in [false, true] {
        let take = || if waits { wait_for_trigger(&cno, NOW) } else { wait::cno_take(&cno) };
        evd.post_software(1).unwrap();
        evd.post_software(2).unwrap();
        assert!(is_readable(&cno) && is_readable(&cno));
        assert_eq!(take(), Ok(handle));
        assert!(!is_readable(&cno), "one trigger is kept");
        assert_eq!(take(), Err(Error::QueueEmpty));
    }
    thread::scope(|scope| {
        let waiter = scope.spawn(|| wait_for_trigger(&cno, Some(patience())));
        until("the waiter is told", || {
            while evd.dequeue().is_ok() {}
            evd.post_software(3).unwrap();
            waiter.is_finished() || wait::cno_take(&cno).is_err()
        });
        assert_eq!(waiter.join().unwrap(), Ok(handle));
    });
    assert!(!is_readable(&cno));
    let last = Evd::create(&adapter.ia, 8, Some(&cno), Streams::SOFTWARE).unwrap();
    while evd.dequeue().is_ok() {}
    evd.post_software(4).unwrap();
    last.post_software(5).unwrap();
    assert_eq!(wait::cno_take(&cno), Ok(last.header().handle()));
    // A freed EVD loses its own trigger, but no other one.
    while last.dequeue().is_ok() {}
    last.post_software(6).unwrap();
    evd.free().unwrap();
    assert!(is_readable(&cno));
    last.free().unwrap();
    assert!(!is_readable(&cno));
    cno.free().unwrap();
    assert_eq!(cno.descriptor(), None);
    assert_eq!(wait::cno_take(&cno), Err(Error::InvalidHandle(Role::Cno)));
}

#[test]
fn trigger_of_freed_evd_passes_to_evd_with_event() {
    let adapter = open();
    let cno = Cno::create_polled(&adapter.ia).unwrap();
    let evd = || Evd::create(&adapter.ia, 8, Some(&cno), Streams::SOFTWARE).unwrap();
    let (idle, a, b) = (evd(), evd(), evd());
    let handle = a.header().handle();
    for waits in [false, true] {
        let take = || if waits { wait_for_trigger(&cno, NOW) } else { wait::cno_take(&cno) };
        let b = evd();
        a.post_software(1).unwrap();
        b.post_software(2).unwrap();
        b.free().unwrap();
        assert!(is_readable(&cno));
        assert_eq!(take(), Ok(handle));
        assert!(!is_readable(&cno), "one trigger is handed on");
        assert_eq!(take(), Err(Error::QueueEmpty));
        while a.dequeue().is_ok() {}
    }
    // A detached and freed EVD leaves its trigger, which another EVD then gets.
    a.post_software(3).unwrap();
    b.post_software(4).unwrap();
    b.modify_cno(None).unwrap();
    b.free().unwrap();
    assert!(is_readable(&cno));
    assert_eq!(wait::cno_take(&cno), Ok(handle));
    a.post_software(5).unwrap();
    a.modify_cno(None).unwrap();
    a.free().unwrap();
    assert_eq!(wait::cno_take(&cno), Err(Error::QueueEmpty));
    assert!(!is_readable(&cno));
    idle.free().unwrap();
    cno.free().unwrap();
}

#[test]
fn trigger_of_freed_evd_ends_wait() {
    let adapter = open();
    let cno = Cno::create(&adapter.ia, None).unwrap();
    let evd = || Evd::create(&adapter.ia, 8, Some(&cno), Streams::SOFTWARE).unwrap();
    let (a, b, c) = (evd(), evd(), evd());
    let (first, last) = (a.header().handle(), c.header().handle());
    a.post_software(1).unwrap();
    b.post_software(2).unwrap();
    b.free().unwrap();
    assert_eq!(wait_for_trigger(&cno, NOW), Ok(first));
    while a.dequeue().is_ok() {}
    c.post_software(3).unwrap();
    c.free().unwrap();
    assert_eq!(wait_for_trigger(&cno, NOW), Ok(last), "no other one has an event");
    assert_eq!(wait_for_trigger(&cno, NOW), Err(Error::QueueEmpty));
}

#[test]
fn transport_polls_while_cno_has_descriptor() {
    let adapter = open();
    let cno = Cno::create_polled(&adapter.ia).unwrap();
    assert_eq!(fake(&adapter).calls(), [Call::Watch(true)]);
    assert_eq!(cno.modify_agent(None), Err(Error::InvalidState(StateError::CnoInUse)));
    cno.free().unwrap();
    drop(cno);
    assert_eq!(fake(&adapter).calls(), [Call::Watch(false)]);
    // A CNO without a descriptor also has a trigger to take.
    let plain = Cno::create(&adapter.ia, None).unwrap();
    assert_eq!(plain.descriptor(), None);
    let evd = Evd::create(&adapter.ia, 8, Some(&plain), Streams::SOFTWARE).unwrap();
    evd.post_software(1).unwrap();
    assert_eq!(wait::cno_take(&plain), Ok(evd.header().handle()));
}

#[test]
fn free_of_cno_wakes_pollers() {
    let adapter = open();
    let cno = Cno::create_polled(&adapter.ia).unwrap();
    let fd = cno.descriptor().expect("it has a descriptor");
    // SAFETY: the descriptor is open until the close. The clone keeps the file open.
    let polled = unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned().unwrap();
    let ready = || poll::wait([Some(polled.as_fd())], NOW).unwrap()[0].readable;
    assert!(!ready());
    adapter.ia.close_abrupt().unwrap();
    assert!(ready());
    assert_eq!(cno.descriptor(), None);
}

#[test]
fn each_trigger_wakes_one_thread() {
    let adapter = open();
    let cno = Cno::create(&adapter.ia, None).unwrap();
    let evd = Evd::create(&adapter.ia, 64, Some(&cno), Streams::SOFTWARE).unwrap();
    let woken = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                assert_eq!(wait_for_trigger(&cno, Some(patience())), Ok(evd.header().handle()));
                woken.fetch_add(1, Ordering::AcqRel);
            });
        }
        // A stored trigger absorbs the next one, so each must be taken first.
        for wanted in 1..=4 {
            evd.post_software(wanted).unwrap();
            until("a thread is woken", || woken.load(Ordering::Acquire) >= wanted);
        }
    });
    assert_eq!(woken.into_inner(), 4);
    cno.free().expect_err("a dispatcher refers to it");
}

#[test]
fn free_of_cno_ends_waits() {
    let adapter = open();
    let cno = Cno::create(&adapter.ia, None).unwrap();
    let Step::Sleep(sleep) = wait::cno_begin(&cno, None) else { panic!("nothing has happened") };
    assert!(matches!(sleep.place, SleepPlace::Word { shared: false, .. }));
    assert_eq!(cno.free(), Err(Error::InvalidState(StateError::CnoInUse)));
    adapter.ia.close_abrupt().unwrap();
    let Step::Done(told) = wait::cno_resume::<Fake>(false) else { panic!("the object is gone") };
    assert_eq!(told, Ok(Handle::NULL));
}

#[test]
fn signal_ends_wait_without_event() {
    let adapter = open();
    let evd = Evd::create(&adapter.ia, 8, None, Streams::SOFTWARE).unwrap();
    for queued in [false, true] {
        let Step::Sleep(_) = wait::evd_begin(evd.clone(), 1, None, false) else { panic!("nothing has happened") };
        assert!(has_waiter(&evd));
        if queued {
            evd.post_software(1).unwrap();
        }
        let Step::Done(outcome) = wait::evd_resume::<Fake>(true) else { panic!("it was interrupted") };
        assert_eq!(outcome.result.err(), if queued { None } else { Some(Error::Interrupted) });
        assert!(matches!(evd.dequeue(), Err(Error::QueueEmpty)), "nobody waits");
    }
}

struct Heard {
    evd: AtomicUsize,
    calls: AtomicUsize,
}

fn hear(data: usize, _function: usize, evd: Handle) {
    // SAFETY: the tests pass the address of a value that outlives the adapter.
    let heard = unsafe { &*std::ptr::with_exposed_provenance::<Heard>(data) };
    heard.evd.store(evd.0, Ordering::Release);
    heard.calls.fetch_add(1, Ordering::AcqRel);
}

#[test]
fn agent_is_called_once_per_arming() {
    let heard = Box::new(Heard { evd: AtomicUsize::new(1), calls: AtomicUsize::new(0) });
    let agent = Agent { data: (&raw const *heard).expose_provenance(), function: 0, call: hear };
    let adapter = open();
    let cno = Cno::create(&adapter.ia, Some(agent)).unwrap();
    let evd = Evd::create(&adapter.ia, 8, Some(&cno), Streams::SOFTWARE).unwrap();
    let called = |times| until("the agent is called", || heard.calls.load(Ordering::Acquire) == times);
    evd.post_software(1).unwrap();
    called(1);
    assert_eq!(heard.evd.load(Ordering::Acquire), evd.header().handle().0);
    assert!(cno.agent().is_none());
    evd.post_software(2).unwrap();
    cno.modify_agent(Some(agent)).unwrap();
    assert_eq!(heard.calls.load(Ordering::Acquire), 1);
    evd.post_software(3).unwrap();
    called(2);
    // The free of the CNO calls the agent without an EVD.
    cno.modify_agent(Some(agent)).unwrap();
    adapter.ia.close_abrupt().unwrap();
    called(3);
    assert_eq!(heard.evd.load(Ordering::Acquire), 0);
}
