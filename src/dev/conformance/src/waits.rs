//! Blocked threads, and what wakes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dat_core::event::{ConnectionEvent, Event, Status};
use dat_core::testing::{connect, next_request, patience, request, until, wait, wait_for_trigger};
use dat_core::transport::Transport;
use dat_core::wait::EvdOutcome;
use dat_core::{Agent, Cno, CompletionFlags, Error, Evd, Handle, Object, Psp, PspMode, Streams};

use crate::{Network, repeats, rounds};

#[track_caller]
fn event(outcome: EvdOutcome) -> Event {
    outcome.result.expect("an event")
}

/// Waits in another thread for `threshold` events while `script` runs.
fn while_waiting<T: Transport>(evd: &Arc<Evd<T>>, threshold: usize, script: impl FnOnce()) -> EvdOutcome {
    thread::scope(|scope| {
        let waiter = scope.spawn(|| wait(evd, threshold, Some(patience())));
        // A dequeue fails with another error than `QueueEmpty` only while a thread waits.
        until("a thread waits", || !matches!(evd.dequeue(), Err(Error::QueueEmpty)));
        script();
        waiter.join().unwrap()
    })
}

/// A message wakes the thread that waits for it. Its acknowledgement wakes the thread that waits for the send.
pub fn message_wakes_both_sides<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let memory = adapter.buffer(256);
    let (a, b) = adapter.pair();
    for _ in 0..rounds(20) {
        b.receive(memory.at(0, 64), 1);
        let outcome = while_waiting(&b.receives, 1, || a.send(memory.at(64, 64), 2));
        let Event::Transfer { cookie: 1, status: Status::Success, .. } = event(outcome) else {
            panic!("another event")
        };
        a.completes(2, Status::Success);
        if !repeats(&adapter) {
            continue;
        }
        // No receive is posted yet, so the send cannot complete before the wait.
        a.send(memory.at(64, 64), 3);
        let outcome = while_waiting(&a.requests, 1, || b.receive(memory.at(0, 64), 4));
        let Event::Transfer { cookie: 3, status: Status::Success, .. } = event(outcome) else {
            panic!("another event")
        };
        b.arrives(4, Status::Success);
    }
}

/// When as many events as the threshold have arrived, the wait returns the first.
pub fn wait_ends_at_threshold<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let memory = adapter.buffer(256);
    let (a, b) = adapter.pair();
    (0..3).for_each(|cookie| b.receive(memory.at(0, 64), cookie));
    let outcome = while_waiting(&b.receives, 3, || {
        for cookie in 0..3 {
            a.send(memory.at(64, 64), cookie);
            a.completes(cookie, Status::Success);
        }
    });
    assert_eq!(outcome.more, 2);
    let Event::Transfer { cookie: 0, .. } = event(outcome) else { panic!("another event") };
    b.arrives(1, Status::Success);
    b.arrives(2, Status::Success);
}

pub fn connection_events_wake_waiters<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
    let psp = Psp::create(&adapter.ia, None, &requests, PspMode::Consumer).unwrap();
    let address = adapter.ia.attributes().address.clone();
    let (a, b) = (adapter.end(), adapter.end());
    let outcome = while_waiting(&requests, 1, || {
        request(&a, &address, psp.point.qualifier(), Some(patience()), b"").unwrap();
    });
    let Event::ConnectionRequest { cr, .. } = event(outcome) else { panic!("no request") };
    let cr = adapter.ia.arena.get::<dat_core::Cr<T>>(cr).unwrap();
    let outcome = while_waiting(&a.connections, 1, || cr.accept(Some(&b.ep), b"").unwrap());
    let Event::Connection { kind: ConnectionEvent::Established, .. } = event(outcome) else { panic!("not up") };
    b.is_told(ConnectionEvent::Established);
    let outcome = while_waiting(&a.connections, 1, || b.ep.disconnect(false).unwrap());
    let Event::Connection { kind: ConnectionEvent::Disconnected, .. } = event(outcome) else { panic!("not over") };
    b.is_told(ConnectionEvent::Disconnected);
    // The timeout of an attempt also ends a wait, although no thread polls.
    let c = adapter.end();
    request(&c, &address, psp.point.qualifier(), Some(patience() / 20), b"").unwrap();
    let outcome = wait(&c.connections, 1, Some(patience()));
    let Event::Connection { kind: ConnectionEvent::TimedOut, .. } = event(outcome) else { panic!("not in time") };
    next_request(&requests).reject(&[]).unwrap();
}

pub fn sleeping_threads_exchange_messages<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let memory = adapter.buffer(256);
    let (a, b) = adapter.pair();
    let count = rounds(300) as u64;
    let awaited = |evd: &Arc<Evd<T>>, wanted: u64| {
        let Event::Transfer { cookie, status: Status::Success, .. } = event(wait(evd, 1, Some(patience()))) else {
            panic!("another event")
        };
        assert_eq!(cookie, wanted);
    };
    a.receive(memory.at(0, 64), 0);
    b.receive(memory.at(64, 64), 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for k in 0..count {
                awaited(&b.receives, k);
                b.receive(memory.at(64, 64), k + 1);
                b.send(memory.at(128, 64), k);
                awaited(&b.requests, k);
            }
        });
        for k in 0..count {
            a.send(memory.at(192, 64), k);
            awaited(&a.receives, k);
            awaited(&a.requests, k);
            a.receive(memory.at(0, 64), k + 1);
        }
    });
}

/// The wait does not end before the timeout, and the EVD works afterwards.
pub fn wait_ends_at_timeout<T: Transport>(network: &Network<T>) {
    const TIME: Duration = Duration::from_millis(20);
    let adapter = network.open();
    let memory = adapter.buffer(256);
    let (a, b) = adapter.pair();
    let start = Instant::now();
    assert_eq!(wait(&b.receives, 1, Some(TIME)).result.err(), Some(Error::TimeoutExpired));
    assert!(start.elapsed() >= TIME);
    b.receive(memory.at(0, 64), 1);
    a.send(memory.at(64, 64), 2);
    assert!(wait(&b.receives, 1, Some(patience())).result.is_ok());
    let cno = Cno::create(&adapter.ia, None).unwrap();
    let start = Instant::now();
    assert_eq!(wait_for_trigger(&cno, Some(TIME)), Err(Error::QueueEmpty));
    assert!(start.elapsed() >= TIME);
}

pub fn message_triggers_cno<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let memory = adapter.buffer(256);
    let cno = Cno::create(&adapter.ia, None).unwrap();
    let (a, b) = adapter.pair();
    let (c, d) = adapter.pair();
    b.receives.modify_cno(Some(&cno)).unwrap();
    d.receives.modify_cno(Some(&cno)).unwrap();
    for (from, to) in [(&a, &b), (&c, &d), (&a, &b)] {
        // The message arrives before the wait.
        to.receive(memory.at(0, 64), 1);
        from.send(memory.at(64, 64), 2);
        from.completes(2, Status::Success);
        assert_eq!(wait_for_trigger(&cno, Some(patience())), Ok(to.receives.header().handle()));
        to.arrives(1, Status::Success);
        // The message arrives during the wait, or just before.
        to.receive(memory.at(0, 64), 3);
        let told = thread::scope(|scope| {
            let waiter = scope.spawn(|| wait_for_trigger(&cno, Some(patience())));
            from.send(memory.at(64, 64), 4);
            waiter.join().unwrap()
        });
        assert_eq!(told, Ok(to.receives.header().handle()));
        to.arrives(3, Status::Success);
        from.completes(4, Status::Success);
    }
}

pub fn agent_is_called_without_polling<T: Transport>(network: &Network<T>) {
    fn note(data: usize, _function: usize, evd: Handle) {
        let told = std::ptr::with_exposed_provenance::<AtomicUsize>(data);
        // SAFETY: the test passed the address of a counter that outlives the adapter.
        unsafe { &*told }.store(evd.0, Ordering::Release);
    }
    let told = Box::new(AtomicUsize::new(0));
    let adapter = network.open();
    let memory = adapter.buffer(256);
    let (a, b) = adapter.pair();
    let agent = Agent { data: (&raw const *told).expose_provenance(), function: 0, call: note };
    let cno = Cno::create(&adapter.ia, Some(agent)).unwrap();
    b.receives.modify_cno(Some(&cno)).unwrap();
    b.receive(memory.at(0, 64), 1);
    a.ep.post_send(&[memory.at(64, 64)], 2, CompletionFlags::SUPPRESS).unwrap();
    until("the agent is called", || {
        thread::sleep(Duration::from_millis(1));
        told.load(Ordering::Acquire) != 0
    });
    assert_eq!(told.load(Ordering::Acquire), b.receives.header().handle().0);
    b.arrives(1, Status::Success);
}

pub fn many_threads_share_adapter<T: Transport>(network: &Network<T>) {
    const THREADS: usize = 4;
    let adapter = network.open();
    let ends: Vec<_> = (0..THREADS).map(|_| (adapter.end(), adapter.end(), adapter.buffer(4096))).collect();
    for (a, b, _) in &ends {
        connect(a, b);
    }
    thread::scope(|scope| {
        for (k, (a, b, memory)) in ends.iter().enumerate() {
            scope.spawn(move || {
                for round in 0..rounds(100) {
                    memory.paint(0..256, round + k);
                    b.receive(memory.at(1024, 256), 1);
                    a.send(memory.at(0, 256), 2);
                    if round % 2 == 0 {
                        let outcome = wait(&b.receives, 1, Some(patience()));
                        let Event::Transfer { cookie: 1, status: Status::Success, .. } = event(outcome) else {
                            panic!("another event")
                        };
                    } else {
                        b.arrives(1, Status::Success);
                    }
                    a.completes(2, Status::Success);
                    assert!(memory.shows(1024..1280, round + k));
                }
            });
        }
    });
}
