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

use crate::{Network, repeats, rounds, written};

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

    /// Creates a scene. `change` changes the attributes of the passive end, `b`.
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

/// Returns whether a thread waits on the EVD, which must be empty.
fn has_waiter<T: Transport>(evd: &Evd<T>) -> bool {
    evd.dequeue().err() == Some(Error::InvalidState(StateError::EvdWaiter))
}

/// Waits on `evd` in another thread while `script` runs. The argument of `script` returns whether that thread still
/// waits after 60 ms.
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

/// Returns the cookie and status of a wait's event, and the number of further events.
fn woken(outcome: EvdOutcome) -> (u64, Status, usize) {
    match outcome.result {
        Ok(Event::Transfer { cookie, status, .. }) => (cookie, status, outcome.more),
        other => panic!("{other:?}"),
    }
}

pub fn suppressed_requests_complete_only_if_they_fail<T: Transport>(network: &Network<T>) {
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

pub fn write_completes_after_suppressed_send<T: Transport>(network: &Network<T>) {
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

pub fn read_completes_after_suppressed_send<T: Transport>(network: &Network<T>) {
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

pub fn failure_after_suppressed_send_is_reported<T: Transport>(network: &Network<T>) {
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
    network.expect_broken(&scene.b);
    // The send after the failure has not arrived, so two receives remain.
    (0..2).for_each(|_| scene.b.arrives(3, Status::Flushed));
}

pub fn graceful_disconnect_ends_after_suppressed_send<T: Transport>(network: &Network<T>) {
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

/// The completion of an unsignalled request is queued; only the next signalled completion wakes a waiter.
pub fn unsignalled_requests_wake_no_waiter<T: Transport>(network: &Network<T>) {
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
    // A wait returns an event that is already queued, even if unsignalled.
    scene.send(b, 13, CompletionFlags::UNSIGNALLED);
    until("the request is complete", || b.ep.status().2);
    assert_eq!(woken(wait(&b.requests, 1, Some(Duration::ZERO))), (13, Status::Success, 0));
    let refused = wait(&b.requests, 2, Some(Duration::ZERO)).result.err();
    assert_eq!(refused, Some(Error::InvalidState(StateError::EvdConfigNotify)));
}

pub fn unsignalled_receives_wake_no_waiter<T: Transport>(network: &Network<T>) {
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

pub fn only_solicited_messages_wake_solicited_waiter<T: Transport>(network: &Network<T>) {
    let scene = Scene::with(network, |attr| attr.recv_completion_flags = CompletionFlags::SOLICITED_WAIT);
    if !repeats(&scene.adapter) {
        // On Soft-iWARP, every message wakes the waiter.
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

pub fn solicited_flag_has_no_effect_on_other_streams<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    scene.receive(40);
    scene.send(&scene.a, 4, CompletionFlags::SOLICITED_WAIT);
    scene.a.completes(4, Status::Success);
    scene.b.arrives(40, Status::Success);
}

pub fn flushed_receive_wakes_solicited_waiter<T: Transport>(network: &Network<T>) {
    let scene = Scene::with(network, |attr| attr.recv_completion_flags = CompletionFlags::SOLICITED_WAIT);
    scene.receive(50);
    let outcome = with_waiter(&scene.b.receives, |_| scene.a.ep.disconnect(false).unwrap());
    assert_eq!(woken(outcome), (50, Status::Flushed, 0));
}

pub fn fenced_request_sees_data_of_reads<T: Transport>(network: &Network<T>) {
    const SIZE: usize = 1 << 16;
    let adapter = network.open();
    let (near, far) = (adapter.buffer(SIZE), adapter.buffer(2 * SIZE));
    let (a, b) = adapter.pair();
    for round in 0..rounds(40) {
        far.paint(0..SIZE, round);
        a.ep.post_read(&[near.at(0, SIZE)], 1, far.remote(0, SIZE), CompletionFlags::SUPPRESS).unwrap();
        a.ep.post_write(&[near.at(0, SIZE)], 2, far.remote(SIZE, SIZE), CompletionFlags::BARRIER_FENCE).unwrap();
        a.completes(2, Status::Success);
        written(&adapter, "what was read", || far.shows(SIZE..2 * SIZE, round));
    }
    b.receive(far.at(0, 64), 3);
    a.ep.post_send(&[near.at(0, 64)], 4, CompletionFlags::BARRIER_FENCE).unwrap();
    b.arrives(3, Status::Success);
}

/// There is room again once earlier requests complete, even if their completions are suppressed.
pub fn full_request_queue_accepts_more_later<T: Transport>(network: &Network<T>) {
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
        // Without a receive, no send completes.
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
