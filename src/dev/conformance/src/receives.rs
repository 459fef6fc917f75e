//! Receives before the connection, and messages before their receives.

use dat_core::ep::EpState;
use dat_core::event::Status;
use dat_core::testing::{connect, quiet};
use dat_core::transport::Transport;

use crate::{Network, repeats, rounds};

pub fn uses_receives_posted_before_connect<T: Transport>(network: &Network<T>) {
    const COUNT: usize = 8;
    let adapter = network.open();
    let memory = adapter.buffer(4096);
    let (a, b) = (adapter.end(), adapter.end());
    for k in 0..COUNT {
        a.receive(memory.at(k * 64, 64), k as u64);
        b.receive(memory.at(1024 + k * 64, 64), k as u64);
    }
    assert!(!a.ep.status().1 && !b.ep.status().1);
    connect(&a, &b);
    assert!(quiet([&a.receives, &b.receives]));
    a.receive(memory.at(COUNT * 64, 64), COUNT as u64);
    b.receive(memory.at(1024 + COUNT * 64, 64), COUNT as u64);
    for (from, to, at) in [(&a, &b, 1024), (&b, &a, 0)] {
        for k in 0..=COUNT {
            memory.paint(2048..2112, k);
            from.send(memory.at(2048, 64), 100);
            to.arrives(k as u64, Status::Success);
            from.completes(100, Status::Success);
            assert!(memory.shows(at + k * 64..at + k * 64 + 64, k));
        }
        assert!(to.ep.status().1, "none is left");
    }
}

pub fn receive_of_freed_memory_fails_at_connect<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let memory = adapter.buffer(256);
    let (a, b) = (adapter.end(), adapter.end());
    let gone = adapter.buffer(64);
    b.receive(gone.at(0, 64), 1);
    b.receive(memory.at(0, 64), 2);
    drop(gone);
    connect(&a, &b);
    b.arrives(1, Status::LocalProtection);
    a.send(memory.at(64, 64), 3);
    b.arrives(2, Status::Success);
}

pub fn message_waits_for_receive<T: Transport>(network: &Network<T>) {
    const ROOM: usize = 1 << 17;
    let adapter = network.open();
    if !repeats(&adapter) {
        return;
    }
    let (from, to) = (adapter.buffer(ROOM), adapter.buffer(ROOM));
    for (seed, len) in [1, 64, 5000, 8193, 70_000].into_iter().enumerate() {
        let (a, b) = adapter.pair();
        from.paint(0..len, seed);
        a.send(from.at(0, len), 1);
        assert!(quiet([&a.requests, &b.receives, &a.connections]), "{len} bytes");
        assert_eq!((a.state(), b.state()), (EpState::Connected, EpState::Connected));
        b.receive(to.at(0, len), 2);
        assert_eq!(b.arrived(), (2, Status::Success, len as u64));
        assert_eq!(a.done(), (1, Status::Success, len as u64));
        assert!(to.shows(0..len, seed), "{len} bytes");
    }
}

pub fn many_messages_wait_in_order<T: Transport>(network: &Network<T>) {
    const SLOT: usize = 512;
    let count = rounds(100);
    let adapter = network.open();
    if !repeats(&adapter) {
        return;
    }
    let (from, to) = (adapter.buffer(count * SLOT), adapter.buffer(count * SLOT));
    let (a, b) = adapter.pair();
    for k in 0..count {
        from.paint(k * SLOT..k * SLOT + 1 + k, k);
        a.send(from.at(k * SLOT, 1 + k), k as u64);
    }
    assert!(quiet([&b.receives]));
    let mut seen = 0;
    for k in 0..count {
        b.receive(to.at(k * SLOT, SLOT), k as u64);
        if k % 7 == 6 || k + 1 == count {
            for k in seen..=k {
                assert_eq!(b.arrived(), (k as u64, Status::Success, k as u64 + 1));
                assert!(to.shows(k * SLOT..k * SLOT + 1 + k, k));
            }
            seen = k + 1;
        }
    }
    (0..count).for_each(|k| a.completes(k as u64, Status::Success));
}

pub fn waiting_connection_delays_no_other<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    if !repeats(&adapter) {
        return;
    }
    let memory = adapter.buffer(4096);
    let (stuck, _idle) = adapter.pair();
    let (a, b) = adapter.pair();
    (0..20).for_each(|cookie| stuck.send(memory.at(0, 1024), cookie));
    for _ in 0..rounds(50) {
        b.receive(memory.at(2048, 64), 1);
        a.send(memory.at(0, 64), 2);
        b.arrives(1, Status::Success);
        a.completes(2, Status::Success);
    }
    assert!(quiet([&stuck.requests, &stuck.connections]));
}

pub fn counts_receives_until_completion<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let memory = adapter.buffer(64);
    let (a, b) = adapter.pair();
    let allocated = || b.ep.recv_query();
    (0..5).for_each(|cookie| b.receive(memory.at(0, 64), cookie));
    assert_eq!(allocated(), 5);
    for cookie in 0..2 {
        a.send(memory.at(0, 64), cookie);
        a.completes(cookie, Status::Success);
    }
    // The sender's completion can precede the receiver's.
    dat_core::testing::until("two are complete", || allocated() == 3);
    b.arrives(0, Status::Success);
    b.arrives(1, Status::Success);
    assert_eq!(allocated(), 3);
    assert!(!b.ep.status().1);
    a.ep.disconnect(false).unwrap();
    (2..5).for_each(|cookie| b.arrives(cookie, Status::Flushed));
    assert_eq!(allocated(), 0);
    assert!(b.ep.status().1);
}
