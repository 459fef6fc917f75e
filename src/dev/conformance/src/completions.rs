//! Completion flags: suppressed, unsignalled, solicited, fenced.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use dat_core::ep::EpState;
use dat_core::error::StateError;
use dat_core::event::{ConnectionEvent, Event, Status};
use dat_core::testing::{Adapter, Buffer, End, connect, quiet, until, wait};
use dat_core::transport::Transport;
use dat_core::wait::EvdOutcome;
use dat_core::{CompletionFlags, EpAttributes, Error, Evd};

use crate::{Network, repeats, rounds};

/// Two connected ends and 4096 bytes of memory.
struct Scene<T: Transport> {
    memory: Buffer<T>,
    a: End<T>,
    b: End<T>,
    adapter: Adapter<T>,
}

impl<T: Transport> Scene<T> {
    fn new(network: &Network<T>) -> Self {
        Self::with(network, |_| {})
    }

    /// With other attributes for the passive end.
    fn with(network: &Network<T>, change: impl FnOnce(&mut EpAttributes)) -> Self {
        let adapter = network.open();
        let (a, b) = (adapter.end(), adapter.end_with(None, change));
        connect(&a, &b);
        Scene { memory: adapter.buffer(4096), a, b, adapter }
    }

    fn send(&self, from: &End<T>, cookie: u64, flags: CompletionFlags) {
        from.ep.post_send(&[self.memory.at(0, 32)], cookie, flags).unwrap();
    }

    fn receive(&self, cookie: u64) {
        self.b.receive(self.memory.at(2048, 32), cookie);
    }
}

/// Whether a thread waits on the dispatcher, for which it has to be empty.
fn has_waiter<T: Transport>(evd: &Evd<T>) -> bool {
    evd.dequeue().err() == Some(Error::InvalidState(StateError::EvdWaiter))
}

/// Waits on `evd` in a thread of its own while `script` runs, which gets a function that says
/// whether the thread still waits.
fn with_waiter<T: Transport>(evd: &Arc<Evd<T>>, script: impl FnOnce(&dyn Fn() -> bool)) -> EvdOutcome {
    thread::scope(|scope| {
        let waiter = scope.spawn(|| wait(evd, 1, None));
        until("a thread waits", || has_waiter(evd) || waiter.is_finished());
        script(&|| {
            let end = Instant::now() + Duration::from_millis(60);
            while Instant::now() < end && !waiter.is_finished() {
                thread::yield_now();
            }
            !waiter.is_finished()
        });
        waiter.join().unwrap()
    })
}

/// The cookie and status of what a wait gave, and how many events were left.
fn woken(outcome: EvdOutcome) -> (u64, Status, usize) {
    match outcome.result {
        Ok(Event::Transfer { cookie, status, .. }) => (cookie, status, outcome.more),
        other => panic!("{other:?}"),
    }
}

/// Successes give no event, failures do.
pub fn suppressed_requests_are_told_of_only_if_they_fail<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let (a, b, here) = (&scene.a, &scene.b, [scene.memory.at(0, 32)]);
    let mut there = scene.memory.remote(128, 32);
    (0..4).for_each(|cookie| scene.receive(cookie));
    scene.send(a, 1, CompletionFlags::SUPPRESS);
    a.ep.post_write(&here, 2, there, CompletionFlags::SUPPRESS).unwrap();
    a.ep.post_read(&here, 3, there, CompletionFlags::SUPPRESS).unwrap();
    scene.send(a, 4, CompletionFlags::DEFAULT);
    a.completes(4, Status::Success);
    b.arrives(0, Status::Success);
    b.arrives(1, Status::Success);
    assert!(quiet([&a.requests]));
    if !repeats(&scene.adapter) {
        return;
    }
    there.key ^= 0x5555_5555;
    a.ep.post_write(&here, 5, there, CompletionFlags::SUPPRESS).unwrap();
    scene.send(a, 6, CompletionFlags::SUPPRESS);
    a.completes(5, Status::RemoteAccess);
    a.completes(6, Status::Flushed);
}

/// A write completes behind a suppressed send, with the receive posted before, and after.
pub fn a_write_behind_a_suppressed_send_completes<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    for early in [true, false] {
        if !early && !repeats(&scene.adapter) {
            return;
        }
        if early {
            scene.receive(3);
        }
        scene.send(&scene.a, 1, CompletionFlags::SUPPRESS);
        scene.a.write(scene.memory.at(0, 8), 2, scene.memory.remote(100, 8));
        if !early {
            assert!(quiet([&scene.a.requests]), "the send before it has no receive yet");
            scene.receive(3);
        }
        assert_eq!(scene.b.arrived(), (3, Status::Success, 32));
        assert_eq!(scene.a.done(), (2, Status::Success, 8));
    }
}

/// So does a read.
pub fn a_read_behind_a_suppressed_send_completes<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    if !repeats(&scene.adapter) {
        return;
    }
    scene.send(&scene.a, 1, CompletionFlags::SUPPRESS);
    scene.a.read(scene.memory.at(0, 8), 2, scene.memory.remote(100, 8));
    scene.receive(3);
    assert_eq!(scene.b.arrived(), (3, Status::Success, 32));
    assert_eq!(scene.a.done(), (2, Status::Success, 8));
}

/// A failure behind a suppressed send comes after the message has arrived.
pub fn a_failure_behind_a_suppressed_send_is_told<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    if !repeats(&scene.adapter) {
        return;
    }
    scene.send(&scene.a, 1, CompletionFlags::SUPPRESS);
    scene.a.write(scene.memory.at(0, 80), 2, scene.memory.remote(4090, 80));
    scene.send(&scene.a, 4, CompletionFlags::DEFAULT);
    (0..3).for_each(|_| scene.receive(3));
    assert_eq!(scene.b.arrived(), (3, Status::Success, 32));
    scene.a.completes(2, Status::RemoteAccess);
    scene.a.completes(4, Status::Flushed);
    scene.a.is_told(ConnectionEvent::Broken);
    network.is_told_of_a_failure(&scene.b);
    // The send behind the failure has not arrived: both receives are left over.
    (0..2).for_each(|_| scene.b.arrives(3, Status::Flushed));
}

/// A graceful disconnect behind a suppressed send ends, with the receive posted before it,
/// and after.
pub fn a_graceful_end_behind_a_suppressed_send_comes<T: Transport>(network: &Network<T>) {
    for early in [true, false] {
        let scene = Scene::new(network);
        if !early && !repeats(&scene.adapter) {
            return;
        }
        if early {
            scene.receive(3);
        }
        scene.send(&scene.a, 1, CompletionFlags::SUPPRESS);
        scene.a.ep.disconnect(true).unwrap();
        if !early {
            assert!(quiet([&scene.a.connections]), "the send has no receive yet");
            assert_eq!(scene.a.state(), EpState::DisconnectPending);
            scene.receive(3);
        }
        assert_eq!(scene.b.arrived(), (3, Status::Success, 32));
        for end in [&scene.a, &scene.b] {
            end.is_told(ConnectionEvent::Disconnected);
            assert_eq!(end.state(), EpState::Disconnected);
        }
        assert!(quiet([&scene.a.requests]), "it succeeded and was suppressed");
    }
}

/// An unsignalled request is queued and does not wake a waiter; the next signalled one does.
pub fn unsignalled_requests_do_not_wake_a_waiter<T: Transport>(network: &Network<T>) {
    let scene = Scene::with(network, |attr| attr.request_completion_flags = CompletionFlags::UNSIGNALLED);
    let b = &scene.b;
    (0..4).for_each(|cookie| scene.a.receive(scene.memory.at(64, 32), cookie));
    scene.send(b, 10, CompletionFlags::UNSIGNALLED);
    b.completes(10, Status::Success);
    let outcome = with_waiter(&b.requests, |waits| {
        scene.send(b, 11, CompletionFlags::UNSIGNALLED);
        scene.a.arrives(0, Status::Success);
        scene.a.arrives(1, Status::Success);
        until("the request is complete", || b.ep.status().2);
        assert!(waits());
        scene.send(b, 12, CompletionFlags::DEFAULT);
    });
    assert_eq!(woken(outcome), (11, Status::Success, 1));
    b.completes(12, Status::Success);
    // What is queued at the call counts, announced or not.
    scene.send(b, 13, CompletionFlags::UNSIGNALLED);
    until("the request is complete", || b.ep.status().2);
    assert_eq!(woken(wait(&b.requests, 1, Some(Duration::ZERO))), (13, Status::Success, 0));
    let refused = wait(&b.requests, 2, Some(Duration::ZERO)).result.err();
    assert_eq!(refused, Some(Error::InvalidState(StateError::EvdConfigNotify)));
}

/// So is an unsignalled receive.
pub fn unsignalled_receives_do_not_wake_a_waiter<T: Transport>(network: &Network<T>) {
    let scene = Scene::with(network, |attr| attr.recv_completion_flags = CompletionFlags::UNSIGNALLED);
    let (a, b) = (&scene.a, &scene.b);
    b.ep.post_recv(&[scene.memory.at(64, 32)], 20, CompletionFlags::UNSIGNALLED).unwrap();
    scene.receive(21);
    let outcome = with_waiter(&b.receives, |waits| {
        scene.send(a, 1, CompletionFlags::DEFAULT);
        a.completes(1, Status::Success);
        assert!(waits());
        scene.send(a, 2, CompletionFlags::DEFAULT);
    });
    assert_eq!(woken(outcome), (20, Status::Success, 1));
    b.arrives(21, Status::Success);
}

/// A waiter on a solicited stream sleeps until the sender asks for it.
pub fn only_announced_messages_wake_a_solicited_waiter<T: Transport>(network: &Network<T>) {
    let scene = Scene::with(network, |attr| attr.recv_completion_flags = CompletionFlags::SOLICITED_WAIT);
    if !repeats(&scene.adapter) {
        // Soft-iWARP announces every message.
        return;
    }
    let (a, b) = (&scene.a, &scene.b);
    (30..34).for_each(|cookie| scene.receive(cookie));
    let outcome = with_waiter(&b.receives, |waits| {
        scene.send(a, 1, CompletionFlags::DEFAULT);
        scene.send(a, 2, CompletionFlags::DEFAULT);
        a.completes(1, Status::Success);
        a.completes(2, Status::Success);
        assert!(waits());
        scene.send(a, 3, CompletionFlags::SOLICITED_WAIT);
    });
    assert_eq!(woken(outcome), (30, Status::Success, 2));
    a.completes(3, Status::Success);
    b.arrives(31, Status::Success);
    b.arrives(32, Status::Success);
    let refused = wait(&b.receives, 2, Some(Duration::ZERO)).result.err();
    assert_eq!(refused, Some(Error::InvalidState(StateError::EvdConfigSolicited)));
}

/// Where every completion is announced anyway, the sender's flag changes nothing.
pub fn announcing_a_message_changes_nothing_elsewhere<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    scene.receive(40);
    scene.send(&scene.a, 4, CompletionFlags::SOLICITED_WAIT);
    scene.a.completes(4, Status::Success);
    scene.b.arrives(40, Status::Success);
}

/// A flushed receive wakes a waiter, whatever the endpoint's flags.
pub fn the_end_wakes_a_solicited_waiter<T: Transport>(network: &Network<T>) {
    let scene = Scene::with(network, |attr| attr.recv_completion_flags = CompletionFlags::SOLICITED_WAIT);
    scene.receive(50);
    let outcome = with_waiter(&scene.b.receives, |_| scene.a.ep.disconnect(false).unwrap());
    assert_eq!(woken(outcome), (50, Status::Flushed, 0));
}

/// What is fenced sees what the reads before it have brought.
pub fn a_fenced_request_sees_what_reads_have_brought<T: Transport>(network: &Network<T>) {
    const SIZE: usize = 1 << 16;
    let adapter = network.open();
    let (near, far) = (adapter.buffer(SIZE), adapter.buffer(2 * SIZE));
    let (a, b) = adapter.pair();
    for round in 0..rounds(40) {
        far.paint(0..SIZE, round);
        a.ep.post_read(&[near.at(0, SIZE)], 1, far.remote(0, SIZE), CompletionFlags::SUPPRESS).unwrap();
        a.ep.post_write(&[near.at(0, SIZE)], 2, far.remote(SIZE, SIZE), CompletionFlags::BARRIER_FENCE).unwrap();
        a.completes(2, Status::Success);
        assert!(far.shows(SIZE..2 * SIZE, round));
    }
    b.receive(far.at(0, 64), 3);
    a.ep.post_send(&[near.at(0, 64)], 4, CompletionFlags::BARRIER_FENCE).unwrap();
    b.arrives(3, Status::Success);
}

/// A full queue of requests takes more as soon as some are complete, signalled or not.
pub fn a_full_queue_of_requests_takes_more_later<T: Transport>(network: &Network<T>) {
    const PLACES: usize = 8;
    let adapter = network.open();
    if !repeats(&adapter) {
        return;
    }
    let memory = adapter.buffer(256);
    let a = adapter.end_with(None, |attr| attr.max_request_dtos = PLACES);
    let b = adapter.end();
    connect(&a, &b);
    for flag in [CompletionFlags::DEFAULT, CompletionFlags::SUPPRESS] {
        let send = || a.ep.post_send(&[memory.at(0, 32)], 1, flag);
        // No receive: none of them completes.
        (0..PLACES).for_each(|_| send().unwrap());
        assert!(matches!(send(), Err(Error::InsufficientResources(_))));
        (0..=PLACES).for_each(|_| b.receive(memory.at(64, 32), 2));
        until("there is room again", || send().is_ok());
        (0..=PLACES).for_each(|_| b.arrives(2, Status::Success));
        until("all are complete", || a.ep.status().2);
        let told = std::iter::from_fn(|| a.requests.dequeue().ok()).count();
        assert_eq!(told, if flag == CompletionFlags::DEFAULT { PLACES + 1 } else { 0 });
    }
}
