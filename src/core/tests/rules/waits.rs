//! Waits: thresholds, announcements, what ends them, whom a trigger wakes.

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

/// Whether a thread waits on the dispatcher, which is empty.
fn has_waiter(evd: &Evd<Fake>) -> bool {
    evd.dequeue().err() == Some(Error::InvalidState(StateError::EvdWaiter))
}

/// Waits in a thread of its own while `script` runs.
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
fn a_threshold_is_at_most_what_the_queue_holds() {
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
fn streams_that_are_told_of_some_events_admit_one_as_threshold() {
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
fn a_sleeping_waiter_is_woken_by_an_event_by_unwaitable_and_by_the_end() {
    let adapter = open();
    let evd = Evd::create(&adapter.ia, 10, None, Streams::SOFTWARE).unwrap();
    let outcome = while_waiting(&evd, 2, || {
        // There is one waiter at a time, and nobody takes its events.
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

    let outcome = while_waiting(&evd, 1, || adapter.ia.close_abrupt().unwrap());
    assert_eq!(outcome.result.err(), Some(Error::Aborted));
}

#[test]
fn an_announcement_wakes_whoever_waits_for_solicited_messages() {
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
    // With nothing queued there is nobody to tell.
    sink.recv_announced();
    assert_eq!(testing::wait(&end.receives, 1, NOW).result.err(), Some(Error::TimeoutExpired));
    // One that its sender announced needs no more words.
    let outcome = while_waiting(&end.receives, 1, || {
        sink.recv_done(RecvDone { solicited: true, ..received(2) });
    });
    assert!(matches!(outcome.result, Ok(Event::Transfer { cookie: 2, .. })));
}

#[test]
fn an_announcement_from_before_the_connection_wakes_whoever_waits_once_that_is_told() {
    let adapter = open();
    let end = adapter.end_with(None, |attr| attr.recv_completion_flags = CompletionFlags::SOLICITED_WAIT);
    (0..2).for_each(|cookie| end.ep.post_recv(&[], cookie, CompletionFlags::DEFAULT).unwrap());
    ask(&end).unwrap();
    let sink = fake(&adapter).last_qp();
    sink.recv_done(received(0));
    sink.recv_announced();
    let outcome = thread::scope(|scope| {
        let waiter = scope.spawn(|| testing::wait(&end.receives, 1, Some(Duration::from_secs(2))));
        until("a thread waits", || has_waiter(&end.receives));
        sink.connection(ConnectionReport::Established(Vec::new()));
        waiter.join().unwrap()
    });
    assert!(matches!(outcome.result, Ok(Event::Transfer { cookie: 0, .. })));
    // A later one is not announced.
    let outcome = while_waiting(&end.receives, 1, || {
        sink.recv_done(received(1));
        end.receives.set_unwaitable();
    });
    assert_eq!(outcome.result.err(), Some(Error::InvalidState(StateError::EvdUnwaitable)));
}

#[test]
fn unsignalled_completions_wake_nobody_and_failures_do() {
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
fn a_trigger_is_kept_for_one_waiter() {
    let adapter = open();
    let cno = Cno::create(&adapter.ia, None).unwrap();
    let evd = Evd::create(&adapter.ia, 8, Some(&cno), Streams::SOFTWARE).unwrap();
    let handle = evd.header().handle();
    assert_eq!(wait_for_trigger(&cno, NOW), Err(Error::QueueEmpty));
    evd.post_software(1).unwrap();
    evd.post_software(2).unwrap();
    assert_eq!(wait_for_trigger(&cno, NOW), Ok(handle));
    assert_eq!(wait_for_trigger(&cno, NOW), Err(Error::QueueEmpty), "one trigger is kept");
    // Not while the dispatcher is disabled, nor while a thread waits on it.
    evd.disable();
    evd.post_software(3).unwrap();
    assert_eq!(wait_for_trigger(&cno, NOW), Err(Error::QueueEmpty));
    evd.enable();
    while evd.dequeue().is_ok() {}
    let outcome = while_waiting(&evd, 1, || evd.post_software(4).unwrap());
    assert!(outcome.result.is_ok());
    assert_eq!(wait_for_trigger(&cno, NOW), Err(Error::QueueEmpty));
    // What was queued before does not trigger the next object.
    evd.post_software(5).unwrap();
    let other = Cno::create(&adapter.ia, None).unwrap();
    evd.modify_cno(Some(&other)).unwrap();
    assert_eq!(wait_for_trigger(&other, NOW), Err(Error::QueueEmpty));
    assert_eq!(wait_for_trigger(&cno, NOW), Ok(handle));
}

/// Whether the descriptor of a notification object is readable.
fn rings(cno: &Cno<Fake>) -> bool {
    let fd = cno.descriptor().expect("it has a descriptor");
    // SAFETY: the object has it open for as long as it lives.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    poll::wait([Some(fd)], NOW).expect("a descriptor")[0].readable
}

#[test]
fn a_descriptor_is_readable_exactly_while_there_is_a_trigger() {
    let adapter = open();
    let cno = Cno::create_polled(&adapter.ia).unwrap();
    let evd = Evd::create(&adapter.ia, 8, Some(&cno), Streams::SOFTWARE).unwrap();
    let handle = evd.header().handle();
    assert!(!rings(&cno));
    assert_eq!(wait::cno_take(&cno), Err(Error::QueueEmpty));
    for waits in [false, true] {
        let take = || if waits { wait_for_trigger(&cno, NOW) } else { wait::cno_take(&cno) };
        evd.post_software(1).unwrap();
        evd.post_software(2).unwrap();
        assert!(rings(&cno) && rings(&cno));
        assert_eq!(take(), Ok(handle));
        assert!(!rings(&cno), "one trigger is kept");
        assert_eq!(take(), Err(Error::QueueEmpty));
    }
    // A thread that waits takes the trigger, which is nobody else's then.
    thread::scope(|scope| {
        let waiter = scope.spawn(|| wait_for_trigger(&cno, Some(patience())));
        until("the waiter is told", || {
            while evd.dequeue().is_ok() {}
            evd.post_software(3).unwrap();
            waiter.is_finished() || wait::cno_take(&cno).is_err()
        });
        assert_eq!(waiter.join().unwrap(), Ok(handle));
    });
    assert!(!rings(&cno));
    // The last one to trigger is the one that is told of.
    let last = Evd::create(&adapter.ia, 8, Some(&cno), Streams::SOFTWARE).unwrap();
    while evd.dequeue().is_ok() {}
    evd.post_software(4).unwrap();
    last.post_software(5).unwrap();
    assert_eq!(wait::cno_take(&cno), Ok(last.header().handle()));
    // A trigger goes with its dispatcher, but not with another one.
    while last.dequeue().is_ok() {}
    last.post_software(6).unwrap();
    evd.free().unwrap();
    assert!(rings(&cno));
    last.free().unwrap();
    assert!(!rings(&cno));
    cno.free().unwrap();
    assert_eq!(cno.descriptor(), None);
    assert_eq!(wait::cno_take(&cno), Err(Error::InvalidHandle(Role::Cno)));
}

#[test]
fn the_trigger_of_a_freed_dispatcher_goes_to_another_one_with_an_event() {
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
        assert!(rings(&cno));
        assert_eq!(take(), Ok(handle));
        assert!(!rings(&cno), "one trigger is handed on");
        assert_eq!(take(), Err(Error::QueueEmpty));
        while a.dequeue().is_ok() {}
    }
    // One that was untied before it was freed leaves its trigger, which names it no more.
    a.post_software(3).unwrap();
    b.post_software(4).unwrap();
    b.modify_cno(None).unwrap();
    b.free().unwrap();
    assert!(rings(&cno));
    assert_eq!(wait::cno_take(&cno), Ok(handle));
    a.post_software(5).unwrap();
    a.modify_cno(None).unwrap();
    a.free().unwrap();
    assert_eq!(wait::cno_take(&cno), Err(Error::QueueEmpty));
    assert!(!rings(&cno));
    idle.free().unwrap();
    cno.free().unwrap();
}

#[test]
fn a_wait_ends_by_the_trigger_of_a_freed_dispatcher() {
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
fn the_transport_looks_for_events_while_there_is_a_descriptor() {
    let adapter = open();
    let cno = Cno::create_polled(&adapter.ia).unwrap();
    assert_eq!(fake(&adapter).calls(), [Call::Watch(true)]);
    assert_eq!(cno.modify_agent(None), Err(Error::InvalidState(StateError::CnoInUse)));
    cno.free().unwrap();
    drop(cno);
    assert_eq!(fake(&adapter).calls(), [Call::Watch(false)]);
    // Without one there is still a trigger to take.
    let plain = Cno::create(&adapter.ia, None).unwrap();
    assert_eq!(plain.descriptor(), None);
    let evd = Evd::create(&adapter.ia, 8, Some(&plain), Streams::SOFTWARE).unwrap();
    evd.post_software(1).unwrap();
    assert_eq!(wait::cno_take(&plain), Ok(evd.header().handle()));
}

#[test]
fn the_end_of_a_notification_object_wakes_those_who_poll_it() {
    let adapter = open();
    let cno = Cno::create_polled(&adapter.ia).unwrap();
    let fd = cno.descriptor().expect("it has a descriptor");
    // SAFETY: open for now. The thread that polls keeps the file, and that the number is free then does not matter to it.
    let polled = unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned().unwrap();
    let ready = || poll::wait([Some(polled.as_fd())], NOW).unwrap()[0].readable;
    assert!(!ready());
    adapter.ia.close_abrupt().unwrap();
    assert!(ready());
    assert_eq!(cno.descriptor(), None);
}

#[test]
fn triggers_wake_as_many_threads_as_there_are() {
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
        // A trigger that nobody has taken yet swallows the next.
        for wanted in 1..=4 {
            evd.post_software(wanted).unwrap();
            until("a thread is woken", || woken.load(Ordering::Acquire) >= wanted);
        }
    });
    assert_eq!(woken.into_inner(), 4);
    cno.free().expect_err("a dispatcher refers to it");
}

#[test]
fn the_end_of_a_notification_object_ends_its_waits() {
    let adapter = open();
    let cno = Cno::create(&adapter.ia, None).unwrap();
    // A face is told to sleep, and asks again when something has woken it.
    let Step::Sleep(sleep) = wait::cno_begin(cno.clone(), None) else { panic!("nothing has happened") };
    assert!(matches!(sleep.place, SleepPlace::Word { shared: false, .. }));
    assert_eq!(cno.free(), Err(Error::InvalidState(StateError::CnoInUse)));
    adapter.ia.close_abrupt().unwrap();
    let Step::Done(told) = wait::cno_resume::<Fake>(false) else { panic!("the object is gone") };
    assert_eq!(told, Ok(Handle::NULL));
}

#[test]
fn a_signal_ends_a_wait_unless_there_is_an_event() {
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

/// Notes the dispatcher that an agent was called with, and how often it was.
struct Heard {
    evd: AtomicUsize,
    calls: AtomicUsize,
}

fn hear(data: usize, _function: usize, evd: Handle) {
    // SAFETY: the tests give the address of a value that outlives the adapter.
    let heard = unsafe { &*std::ptr::with_exposed_provenance::<Heard>(data) };
    heard.evd.store(evd.0, Ordering::Release);
    heard.calls.fetch_add(1, Ordering::AcqRel);
}

#[test]
fn an_agent_hears_of_one_trigger_and_is_armed_again_by_setting_it() {
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
    // The end of the object is told with no dispatcher.
    cno.modify_agent(Some(agent)).unwrap();
    adapter.ia.close_abrupt().unwrap();
    called(3);
    assert_eq!(heard.evd.load(Ordering::Acquire), 0);
}
