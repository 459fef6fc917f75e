//! Order of messages, completions and failures.

use std::sync::atomic::{Ordering, fence};
use std::thread;

use dat_core::Streams;
use dat_core::event::{ConnectionEvent, Event, Status};
use dat_core::testing::{next, next_request, patience, quiet, request, until};
use dat_core::transport::Transport;
use dat_core::{CompletionFlags, Psp, PspMode};

use crate::{Network, repeats, rounds};

/// Sends messages of mixed sizes.
pub fn messages_arrive_in_order<T: Transport>(network: &Network<T>) {
    const WINDOW: usize = 16;
    const MAX_LEN: usize = 12_000;
    const SIZES: [usize; 9] = [1, 64, 0, 4096, 17, 300, 8192, 2, MAX_LEN];
    let adapter = network.open();
    let (a, b) = adapter.pair();
    let (from, to) = (adapter.buffer(WINDOW * MAX_LEN), adapter.buffer(WINDOW * MAX_LEN));
    let count = rounds(400);
    let place = |k: usize| k % WINDOW * MAX_LEN;
    for k in 0..WINDOW.min(count) {
        b.receive(to.at(place(k), MAX_LEN), k as u64);
    }
    let mut sent = 0;
    for k in 0..count {
        while sent < count && sent < k + WINDOW {
            let (at, len) = (place(sent), SIZES[sent % SIZES.len()]);
            from.paint(at..at + len, sent);
            a.send(from.at(at, len), sent as u64);
            sent += 1;
        }
        let (at, len) = (place(k), SIZES[k % SIZES.len()]);
        assert_eq!(a.done(), (k as u64, Status::Success, len as u64));
        assert_eq!(b.arrived(), (k as u64, Status::Success, len as u64));
        assert!(to.shows(at..at + len, k), "message {k}");
        if k + WINDOW < count {
            b.receive(to.at(at, MAX_LEN), (k + WINDOW) as u64);
        }
    }
}

pub fn requests_complete_in_posting_order<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let (a, b) = adapter.pair();
    let (near, far) = (adapter.buffer(1 << 16), adapter.buffer(1 << 17));
    for _ in 0..rounds(20) {
        for k in 0..8 {
            b.receive(far.at((1 << 16) + k * 64, 64), k as u64);
        }
        for k in 0..24_usize {
            let len = if k % 2 == 1 { 40 } else { 30_000 };
            match k % 3 {
                0 => a.send(near.at(0, 40), k as u64),
                1 => a.write(near.at(0, len), k as u64, far.remote(0, len)),
                _ => a.read(near.at(0, len), k as u64, far.remote(0, len)),
            }
        }
        (0..24).for_each(|k| a.completes(k, Status::Success));
        (0..8).for_each(|k| b.arrives(k, Status::Success));
    }
}

pub fn failure_separates_successes_from_flushes<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    if !repeats(&adapter) {
        return;
    }
    let (near, far) = (adapter.buffer(4096), adapter.buffer(4096));
    let (a, _b) = adapter.pair();
    (100..105).for_each(|cookie| a.receive(near.at(1024, 64), cookie));
    for cookie in 0..20 {
        let beyond = if cookie == 7 { 32 } else { 0 };
        let mut to = far.remote(4096 - 64, 64);
        to.addr += beyond;
        // The connection can end before the last posts, which flushes them too.
        a.write(near.at(0, 64), cookie, to);
    }
    (0..7).for_each(|cookie| a.completes(cookie, Status::Success));
    a.completes(7, Status::RemoteAccess);
    (8..20).for_each(|cookie| a.completes(cookie, Status::Flushed));
    (100..105).for_each(|cookie| a.arrives(cookie, Status::Flushed));
    a.is_told(ConnectionEvent::Broken);
    assert!(quiet([&a.connections, &a.requests, &a.receives]));
}

pub fn established_precedes_first_message<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let memory = adapter.buffer(4096);
    let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
    let psp = Psp::create(&adapter.ia, None, &requests, PspMode::Consumer).unwrap();
    let address = adapter.ia.attributes().address.clone();
    for _ in 0..rounds(20) {
        let all = adapter.evd(Streams::TRANSFERS | Streams::CONNECTIONS);
        let a = adapter.end();
        let b = adapter.end_to(&adapter.pz, [&all, &all, &all], None, |_| {});
        b.receive(memory.at(0, 64), 1);
        request(&a, &address, psp.point.qualifier(), Some(patience()), b"").unwrap();
        next_request(&requests).accept(Some(&b.ep), b"").unwrap();
        a.is_told(ConnectionEvent::Established);
        a.send(memory.at(64, 64), 2);
        b.is_told(ConnectionEvent::Established);
        b.arrives(1, Status::Success);
        a.completes(2, Status::Success);
        b.ep.free().unwrap();
        a.ep.free().unwrap();
        all.free().unwrap();
    }
}

pub fn message_follows_earlier_writes<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let (a, b) = adapter.pair();
    let (near, far) = (adapter.buffer(4096), adapter.buffer(4096));
    for k in 0..rounds(100) {
        near.paint(0..64, k);
        far.fill(0..64, 0);
        b.receive(far.at(2048, 64), 1);
        a.ep.post_write(&[near.at(0, 64)], 5, far.remote(0, 64), CompletionFlags::SUPPRESS).unwrap();
        a.send(near.at(0, 8), 6);
        b.arrives(1, Status::Success);
        assert!(far.shows(0..64, k));
        a.completes(6, Status::Success);
    }
}

/// A thread that sees the last byte of a message or write also sees all other bytes.
pub fn last_byte_becomes_visible_last<T: Transport>(network: &Network<T>) {
    const LARGEST: usize = 1 << 16;
    let adapter = network.open();
    let (near, far) = (adapter.buffer(LARGEST), adapter.buffer(LARGEST));
    let (a, b) = adapter.pair();
    for (message, len) in [8, 64, 200, 4096, 5000, LARGEST].into_iter().flat_map(|len| [(false, len), (true, len)]) {
        for round in 1..=rounds(20) {
            far.fill(0..len, 0);
            near.paint(0..len - 1, round);
            near.put(len - 1, &[round as u8]);
            thread::scope(|scope| {
                // This thread makes no call of the library.
                let poller = scope.spawn(|| {
                    until("the last byte is there", || far.is_all(len - 1..len, round as u8));
                    fence(Ordering::Acquire);
                    far.shows(0..len - 1, round)
                });
                if message {
                    b.receive(far.at(0, len), 1);
                    a.send(near.at(0, len), 2);
                } else {
                    a.write(near.at(0, len), 2, far.remote(0, len));
                }
                assert!(poller.join().unwrap(), "{len} bytes");
                a.completes(2, Status::Success);
                if message {
                    b.arrives(1, Status::Success);
                }
            });
        }
    }
}

pub fn traffic_in_both_directions_stays_in_order<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let (a, b) = adapter.pair();
    let memory = adapter.buffer(1 << 14);
    for _ in 0..rounds(50) {
        for (end, at) in [(&a, 0), (&b, 4096)] {
            (0..8).for_each(|k| end.receive(memory.at(at + k * 64, 64), k as u64));
        }
        for (end, at) in [(&a, 8192), (&b, 12_288)] {
            (0..8).for_each(|k| end.send(memory.at(at + k * 64, 1 + k), 100 + k as u64));
        }
        for end in [&a, &b] {
            for k in 0..8 {
                assert_eq!(end.arrived(), (k, Status::Success, k + 1));
                assert_eq!(end.done(), (100 + k, Status::Success, k + 1));
            }
        }
    }
}

/// An overflow of the EVD for receives loses events and is reported, but the connection continues.
pub fn evd_overflow_keeps_connection<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let (a, b) = adapter.pair();
    let memory = adapter.buffer(4096);
    b.receives.resize(2).unwrap();
    for cookie in 0..4 {
        b.receive(memory.at(0, 64), cookie);
    }
    for cookie in 0..4 {
        a.send(memory.at(64, 64), cookie);
        a.completes(cookie, Status::Success);
    }
    until("all receives complete", || b.ep.recv_query() == 0);
    let events = adapter.events();
    let Event::Async { reason, .. } = next(&events) else { panic!("no asynchronous event") };
    assert_eq!(reason, dat_core::event::AsyncReason::EvdOverflow);
    (0..2).for_each(|cookie| b.arrives(cookie, Status::Success));
    assert!(quiet([&b.receives]));
    b.receive(memory.at(0, 64), 5);
    a.send(memory.at(64, 64), 6);
    b.arrives(5, Status::Success);
}
