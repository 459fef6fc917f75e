//! The end of a connection, from either side, and what becomes of outstanding work.

use std::sync::{Arc, Barrier};
use std::thread;

use dat_core::ep::EpState;
use dat_core::event::{AsyncReason, ConnectionEvent, Event, Status};
use dat_core::testing::{Adapter, End, connect, next, quiet, until};
use dat_core::transport::Transport;
use dat_core::{ApiCaps, CompletionFlags, Evd, Object, Streams};

use crate::{Network, repeats, rounds};

/// One event that says DISCONNECTED, the state, and a second call without effect.
#[track_caller]
fn is_over<T: Transport>(end: &End<T>) {
    assert_eq!(end.news(), (ConnectionEvent::Disconnected, vec![]));
    assert_eq!(end.state(), EpState::Disconnected);
    end.ep.disconnect(false).unwrap();
    end.ep.disconnect(true).unwrap();
    assert_eq!(end.state(), EpState::Disconnected);
}

/// Both ways to disconnect, by the active and by the passive side.
pub fn either_side_ends_the_connection_of_both<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    for graceful in [false, true] {
        for passive in [false, true] {
            let (a, b) = adapter.pair();
            let (this, other) = if passive { (&b, &a) } else { (&a, &b) };
            this.ep.disconnect(graceful).unwrap();
            is_over(this);
            is_over(other);
            assert!(quiet([&a.connections, &b.connections]));
        }
    }
}

/// Each side gets its one event also when both disconnect.
pub fn both_sides_can_end_it_at_once<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    for graceful in [false, true] {
        let (a, b) = adapter.pair();
        a.ep.disconnect(graceful).unwrap();
        b.ep.disconnect(graceful).unwrap();
        is_over(&a);
        is_over(&b);
        assert!(quiet([&a.connections, &b.connections]));
    }
}

/// Posted receives come back flushed, in posting order, on both sides, and never before.
pub fn receives_are_flushed_in_posting_order<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let memory = adapter.buffer(64);
    for graceful in [false, true] {
        let (a, b) = adapter.pair();
        for cookie in 0..10 {
            a.receive(memory.at(0, 64), cookie);
            b.receive(memory.at(0, 64), 100 + cookie);
        }
        assert!(quiet([&a.receives, &b.receives]));
        a.ep.disconnect(graceful).unwrap();
        (0..10).for_each(|cookie| a.arrives(cookie, Status::Flushed));
        (100..110).for_each(|cookie| b.arrives(cookie, Status::Flushed));
        assert!(quiet([&a.receives, &b.receives]));
    }
}

/// Requests that were not carried out come back flushed, in posting order.
pub fn requests_are_flushed_in_posting_order<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    if !repeats(&adapter) {
        return;
    }
    let memory = adapter.buffer(256);
    for by_peer in [false, true] {
        let (a, b) = adapter.pair();
        // The first finds no receive, and all others wait behind it.
        a.send(memory.at(0, 64), 0);
        a.write(memory.at(0, 64), 1, memory.remote(64, 64));
        a.ep.post_send(&[memory.at(0, 64)], 2, CompletionFlags::SUPPRESS).unwrap();
        a.read(memory.at(0, 64), 3, memory.remote(64, 64));
        a.send(memory.at(0, 64), 4);
        if by_peer { &b } else { &a }.ep.disconnect(false).unwrap();
        (0..5).for_each(|cookie| a.completes(cookie, Status::Flushed));
        assert!(quiet([&a.requests, &b.requests]));
    }
}

/// Gracefully, what was posted is carried through, and completes before DISCONNECTED comes.
pub fn a_graceful_end_carries_through_what_was_posted<T: Transport>(network: &Network<T>) {
    const COUNT: usize = 16;
    let adapter = network.open();
    let memory = adapter.buffer(4096);
    let (receives, one) = (adapter.evd(Streams::TRANSFERS), adapter.evd(Streams::TRANSFERS | Streams::CONNECTIONS));
    let a = adapter.end_to(&adapter.pz, [&receives, &one, &one], None, |_| {});
    let b = adapter.end();
    connect(&a, &b);
    memory.paint(2048..2112, 3);
    for k in 0..COUNT {
        b.receive(memory.at(k * 64, 64), k as u64);
    }
    for k in 0..COUNT {
        a.send(memory.at(2048, 64), k as u64);
    }
    a.ep.disconnect(true).unwrap();
    for k in 0..COUNT {
        a.completes(k as u64, Status::Success);
    }
    is_over(&a);
    for k in 0..COUNT {
        b.arrives(k as u64, Status::Success);
        assert!(memory.shows(k * 64..k * 64 + 64, 3));
    }
    is_over(&b);
}

/// How a connection that cannot drain ends after all.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    BufferComes,
    AbruptCall,
    PeerDisconnects,
}

fn pending<T: Transport>(network: &Network<T>, way: Way) {
    let adapter = network.open();
    if !repeats(&adapter) {
        return;
    }
    let memory = adapter.buffer(256);
    let (a, b) = adapter.pair();
    a.receive(memory.at(0, 64), 71);
    a.send(memory.at(64, 64), 72);
    a.send(memory.at(64, 64), 73);
    assert!(!a.ep.status().2, "sends are outstanding");
    for _ in 0..2 {
        a.ep.disconnect(true).unwrap();
        assert_eq!(a.state(), EpState::DisconnectPending);
    }
    assert!(quiet([&a.connections]));
    assert!(a.ep.post_send(&[memory.at(64, 64)], 0, CompletionFlags::DEFAULT).is_err());
    match way {
        Way::BufferComes => {
            b.receive(memory.at(128, 64), 74);
            b.receive(memory.at(192, 64), 75);
            b.arrives(74, Status::Success);
            b.arrives(75, Status::Success);
        }
        Way::AbruptCall => a.ep.disconnect(false).unwrap(),
        Way::PeerDisconnects => b.ep.disconnect(false).unwrap(),
    }
    let status = if way == Way::BufferComes { Status::Success } else { Status::Flushed };
    a.completes(72, status);
    a.completes(73, status);
    is_over(&a);
    a.arrives(71, Status::Flushed);
    is_over(&b);
}

/// A graceful disconnect waits for messages that wait for their receives.
pub fn a_graceful_end_waits_for_the_receives_of_the_peer<T: Transport>(network: &Network<T>) {
    pending(network, Way::BufferComes);
}

/// An abrupt disconnect ends a graceful one.
pub fn an_abrupt_end_cuts_a_graceful_one_short<T: Transport>(network: &Network<T>) {
    pending(network, Way::AbruptCall);
}

/// So does the disconnect of the peer.
pub fn the_peer_cuts_a_graceful_end_short<T: Transport>(network: &Network<T>) {
    pending(network, Way::PeerDisconnects);
}

/// What is posted afterwards comes back at once, behind all that came before it.
pub fn posts_after_the_end_are_flushed_behind_earlier_ones<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    if !repeats(&adapter) {
        return;
    }
    let memory = adapter.buffer(64);
    let (a, _b) = adapter.pair();
    for cookie in 0..5 {
        a.receive(memory.at(0, 64), cookie);
        a.send(memory.at(0, 64), cookie);
    }
    a.ep.disconnect(false).unwrap();
    until("it is disconnected", || a.state() == EpState::Disconnected);
    a.receive(memory.at(0, 64), 90);
    a.send(memory.at(0, 64), 91);
    a.write(memory.at(0, 64), 92, memory.remote(0, 64));
    a.read(memory.at(0, 64), 93, memory.remote(0, 64));
    (0..5).chain([90]).for_each(|cookie| a.arrives(cookie, Status::Flushed));
    (0..5).chain(91..94).for_each(|cookie| a.completes(cookie, Status::Flushed));
}

/// Freeing an endpoint ends the connection for the other side.
pub fn a_free_ends_the_connection<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let memory = adapter.buffer(64);
    let (a, b) = adapter.pair();
    b.receive(memory.at(0, 64), 81);
    a.ep.free().unwrap();
    b.arrives(81, Status::Flushed);
    is_over(&b);
}

/// So does closing the adapter.
pub fn a_close_ends_the_connections_of_the_adapter<T: Transport>(network: &Network<T>) {
    let (this, other) = (network.open(), network.open());
    let memory = this.buffer(64);
    let ends: Vec<_> = (0..4)
        .map(|_| {
            let (near, far) = (this.end(), other.end());
            connect(&far, &near);
            near.receive(memory.at(0, 64), 81);
            near
        })
        .collect();
    other.ia.close_abrupt().unwrap();
    for end in &ends {
        end.arrives(81, Status::Flushed);
        is_over(end);
    }
}

/// An endpoint connects again and again, in both roles.
pub fn an_endpoint_is_used_again<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let memory = adapter.buffer(256);
    let (a, b) = (adapter.end(), adapter.end());
    // A reset of what is unconnected changes nothing.
    a.receive(memory.at(0, 64), 61);
    a.ep.reset().unwrap();
    assert!(!a.ep.status().1, "the receive stays posted");
    connect(&a, &b);
    b.send(memory.at(64, 64), 62);
    a.arrives(61, Status::Success);
    b.completes(62, Status::Success);
    for round in 0..10 {
        a.receive(memory.at(0, 64), 63);
        let (this, other) = if round % 2 == 0 { (&b, &a) } else { (&a, &b) };
        this.ep.disconnect(round % 3 == 0).unwrap();
        for end in [&a, &b] {
            end.is_told(ConnectionEvent::Disconnected);
            end.ep.reset().unwrap();
            assert_eq!(end.state(), EpState::Unconnected);
        }
        a.arrives(63, Status::Flushed);
        connect(this, other);
        for (from, to) in [(&a, &b), (&b, &a)] {
            to.receive(memory.at(128, 64), 64);
            from.send(memory.at(64, 64), 65);
            to.arrives(64, Status::Success);
            from.completes(65, Status::Success);
        }
    }
}

/// The passive side sees that the connection stood, however soon the active side ends it.
pub fn a_connection_that_ends_at_once_was_established<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    for round in 0..rounds(20) {
        let (a, b) = adapter.pair();
        if round % 2 == 0 {
            a.ep.free().unwrap();
        } else {
            a.ep.disconnect(false).unwrap();
        }
        b.is_told(ConnectionEvent::Disconnected);
        b.ep.free().unwrap();
    }
}

/// A failure of one request, and the requests of the peer that were in the middle of it.
pub fn a_failure_flushes_the_work_of_both_sides<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    if !repeats(&adapter) {
        return;
    }
    let memory = adapter.buffer(256);
    let (a, b) = adapter.pair();
    b.send(memory.at(0, 64), 1);
    b.send(memory.at(0, 64), 2);
    b.receive(memory.at(64, 64), 3);
    let mut nowhere = memory.remote(0, 64);
    nowhere.key ^= 0x5555_5555;
    a.write(memory.at(0, 64), 4, nowhere);
    a.completes(4, Status::RemoteAccess);
    a.is_told(ConnectionEvent::Broken);
    network.is_told_of_a_failure(&b);
    b.completes(1, Status::Flushed);
    b.completes(2, Status::Flushed);
    b.arrives(3, Status::Flushed);
    assert!(matches!(b.requests.dequeue(), Err(dat_core::Error::QueueEmpty)));
    // Both can be used again.
    a.ep.reset().unwrap();
    b.ep.reset().unwrap();
    connect(&b, &a);
    b.receive(memory.at(64, 64), 5);
    a.send(memory.at(0, 64), 6);
    assert_eq!(b.arrived(), (5, Status::Success, 64));
    let Event::Transfer { cookie: 6, status: Status::Success, .. } = next(&a.requests) else {
        panic!("the send does not complete")
    };
}

/// Sends that wait in vain on each endpoint of a [`Side`].
const WAITING: usize = 30;

/// One side of many connections, whose endpoints have a shared receive queue and dispatchers in common.
struct Side<T: Transport> {
    adapter: Adapter<T>,
    told: Arc<Evd<T>>,
    ends: Vec<End<T>>,
    /// [`Network::is_exact`].
    is_exact: bool,
}

impl<T: Transport> Side<T> {
    fn new(network: &Network<T>, count: usize) -> Self {
        let adapter = network.open_with(ApiCaps { tell_end_of_shared: true, ..ApiCaps::default() });
        adapter.events().resize(count).unwrap();
        let srq = adapter.srq(4);
        let receives = adapter.evd(Streams::TRANSFERS);
        let told = adapter.evd(Streams::TRANSFERS | Streams::CONNECTIONS);
        told.resize(count * (1 + WAITING)).unwrap();
        let end = || adapter.end_to(&adapter.pz, [&receives, &told, &told], Some(&srq), |_| {});
        let ends = (0..count).map(|_| end()).collect();
        Side { adapter, told, ends, is_exact: network.is_exact() }
    }

    /// The end of each endpoint was reported once, and the reports that they left the queue came in the same order.
    fn is_over(&self) {
        let mut ended = Vec::new();
        while ended.len() < self.ends.len() {
            match next(&self.told) {
                Event::Connection { ep, kind: ConnectionEvent::Disconnected | ConnectionEvent::Broken, .. } => {
                    ended.push(ep);
                }
                // What was outstanding is flushed behind that.
                Event::Transfer { status: Status::Flushed, .. } => {}
                // A device may give up retrying before this side learns that the peer has ended.
                Event::Transfer { status: Status::Transport, .. } if !self.is_exact => {}
                Event::Transfer { status: Status::Success, .. } if !repeats(&self.adapter) => {}
                other => panic!("{other:?}"),
            }
        }
        for &ep in &ended {
            let Event::Async { object, reason } = next(&self.adapter.events()) else { panic!("no asynchronous event") };
            assert_eq!((object, reason), (ep, AsyncReason::EndpointLeftShared));
        }
        ended.sort_unstable();
        let mut all: Vec<_> = self.ends.iter().map(|end| end.ep.header().handle()).collect();
        all.sort_unstable();
        assert_eq!(ended, all);
        for end in &self.ends {
            end.ep.reset().unwrap();
        }
        while self.told.dequeue().is_ok() {}
        assert!(quiet([&self.adapter.events(), &self.told]));
    }
}

/// Both sides end many connections at once, in opposite orders. The ends of the endpoints are reported in the same order on
/// one dispatcher as, on the other, that they left their shared receive queue.
pub fn many_leave_their_shared_queues_at_once<T: Transport>(network: &Network<T>) {
    // A device in software sends all that waits again and again.
    let count = 4 + rounds(96);
    let (here, there) = (Side::new(network, count), Side::new(network, count));
    for _ in 0..rounds(4) {
        for (a, b) in here.ends.iter().zip(&there.ends) {
            connect(a, b);
        }
        // These find no receive, and are flushed in the middle of the end.
        for end in here.ends.iter().chain(&there.ends) {
            (0..WAITING).for_each(|_| end.ep.post_send(&[], 1, CompletionFlags::DEFAULT).unwrap());
        }
        let together = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                together.wait();
                here.ends.iter().for_each(|end| end.ep.disconnect(false).unwrap());
            });
            scope.spawn(|| {
                together.wait();
                there.ends.iter().rev().for_each(|end| end.ep.disconnect(false).unwrap());
            });
        });
        here.is_over();
        there.is_over();
    }
}
