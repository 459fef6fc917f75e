//! The end of a connection, and its effect on outstanding work.

use std::sync::{Arc, Barrier};
use std::thread;

use dat_core::ep::EpState;
use dat_core::event::{AsyncReason, ConnectionEvent, Event, Status};
use dat_core::testing::{Adapter, End, connect, next, quiet, until};
use dat_core::transport::Transport;
use dat_core::{ApiCaps, CompletionFlags, Evd, Object, Streams};

use crate::{Network, repeats, rounds};

/// Expects one DISCONNECTED event. A second disconnect has no effect.
#[track_caller]
fn expect_end<T: Transport>(end: &End<T>) {
    assert_eq!(end.next_connection_event(), (ConnectionEvent::Disconnected, vec![]));
    assert_eq!(end.state(), EpState::Disconnected);
    end.ep.disconnect(false).unwrap();
    end.ep.disconnect(true).unwrap();
    assert_eq!(end.state(), EpState::Disconnected);
}

pub fn either_side_can_disconnect<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    for graceful in [false, true] {
        for passive in [false, true] {
            let (a, b) = adapter.pair();
            let (this, other) = if passive { (&b, &a) } else { (&a, &b) };
            this.ep.disconnect(graceful).unwrap();
            expect_end(this);
            expect_end(other);
            assert!(quiet([&a.connections, &b.connections]));
        }
    }
}

pub fn both_sides_can_disconnect<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    for graceful in [false, true] {
        let (a, b) = adapter.pair();
        a.ep.disconnect(graceful).unwrap();
        b.ep.disconnect(graceful).unwrap();
        expect_end(&a);
        expect_end(&b);
        assert!(quiet([&a.connections, &b.connections]));
    }
}

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

pub fn requests_are_flushed_in_posting_order<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    if !repeats(&adapter) {
        return;
    }
    let memory = adapter.buffer(256);
    for by_peer in [false, true] {
        let (a, b) = adapter.pair();
        // The first send has no receive, and all other requests wait for it.
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

/// On the same EVD, the completions of the requests precede the DISCONNECTED event.
pub fn graceful_disconnect_executes_posted_requests<T: Transport>(network: &Network<T>) {
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
    expect_end(&a);
    for k in 0..COUNT {
        b.arrives(k as u64, Status::Success);
        assert!(memory.shows(k * 64..k * 64 + 64, 3));
    }
    expect_end(&b);
}

/// What ends a graceful disconnect whose sends wait for receives of the peer.
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
    expect_end(&a);
    a.arrives(71, Status::Flushed);
    expect_end(&b);
}

pub fn graceful_disconnect_waits_for_receives_of_peer<T: Transport>(network: &Network<T>) {
    pending(network, Way::BufferComes);
}

pub fn abrupt_disconnect_ends_graceful_one<T: Transport>(network: &Network<T>) {
    pending(network, Way::AbruptCall);
}

pub fn disconnect_of_peer_ends_graceful_one<T: Transport>(network: &Network<T>) {
    pending(network, Way::PeerDisconnects);
}

pub fn later_posts_are_flushed_after_earlier_ones<T: Transport>(network: &Network<T>) {
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

pub fn free_disconnects_peer<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let memory = adapter.buffer(64);
    let (a, b) = adapter.pair();
    b.receive(memory.at(0, 64), 81);
    a.ep.free().unwrap();
    b.arrives(81, Status::Flushed);
    expect_end(&b);
}

pub fn close_disconnects_all_peers<T: Transport>(network: &Network<T>) {
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
        expect_end(end);
    }
}

pub fn endpoint_connects_repeatedly<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let memory = adapter.buffer(256);
    let (a, b) = (adapter.end(), adapter.end());
    // A reset of an unconnected endpoint changes nothing.
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

pub fn established_precedes_immediate_disconnect<T: Transport>(network: &Network<T>) {
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

pub fn failure_flushes_work_of_both_sides<T: Transport>(network: &Network<T>) {
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
    network.expect_broken(&b);
    b.completes(1, Status::Flushed);
    b.completes(2, Status::Flushed);
    b.arrives(3, Status::Flushed);
    assert!(matches!(b.requests.dequeue(), Err(dat_core::Error::QueueEmpty)));
    // Both endpoints can connect again.
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

/// Number of sends that each endpoint of a [`Side`] posts. The peer has no receives for them.
const WAITING: usize = 30;

/// One side of many connections, with a common SRQ and common EVDs.
struct Side<T: Transport> {
    adapter: Adapter<T>,
    told: Arc<Evd<T>>,
    ends: Vec<End<T>>,
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

    /// Expects one event for the end of each connection, and the events of endpoints that leave the SRQ in the same
    /// order.
    fn expect_end(&self) {
        let mut ended = Vec::new();
        while ended.len() < self.ends.len() {
            match next(&self.told) {
                Event::Connection { ep, kind: ConnectionEvent::Disconnected | ConnectionEvent::Broken, .. } => {
                    ended.push(ep);
                }
                // Outstanding sends are flushed after the connection event.
                Event::Transfer { status: Status::Flushed, .. } => {}
                // A device can give up retries before this side sees the peer's disconnect.
                Event::Transfer { status: Status::Transport, .. } if !self.is_exact => {}
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

/// Both sides concurrently disconnect the same connections, in opposite orders. On each side, connection events and
/// events for leaving the SRQ have the same order.
pub fn many_endpoints_leave_srq_concurrently<T: Transport>(network: &Network<T>) {
    if !network.open().ia.attributes().srq {
        return;
    }
    // Limited, because a software device retransmits the waiting sends of all connections.
    let count = 4 + rounds(96);
    let (here, there) = (Side::new(network, count), Side::new(network, count));
    for _ in 0..rounds(4) {
        for (a, b) in here.ends.iter().zip(&there.ends) {
            connect(a, b);
        }
        // These sends have no receive, so the end of the connection flushes them.
        let sends = if repeats(&here.adapter) { WAITING } else { 0 };
        for end in here.ends.iter().chain(&there.ends) {
            (0..sends).for_each(|_| end.ep.post_send(&[], 1, CompletionFlags::DEFAULT).unwrap());
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
        here.expect_end();
        there.expect_end();
    }
}
