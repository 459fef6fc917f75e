//! RDMA writes with immediate data.

use dat_core::event::{ConnectionEvent, Status, Transfer};
use dat_core::testing::{Adapter, Buffer, End, connect, quiet, until, wait};
use dat_core::transport::{RemoteSegment, Transport};
use dat_core::{CompletionFlags, Error, Event, Rights};

use crate::{LOCAL, Network, rounds};

const LEN: usize = 64;

struct Scene<T: Transport> {
    near: Buffer<T>,
    far: Buffer<T>,
    a: End<T>,
    b: End<T>,
    adapter: Adapter<T>,
}

impl<T: Transport> Scene<T> {
    /// Returns `None` if the adapter rejects writes with immediate data as unsupported.
    fn new(network: &Network<T>) -> Option<Self> {
        let adapter = network.open();
        let (a, b) = adapter.pair();
        let scene = Scene { near: adapter.buffer(1 << 20), far: adapter.buffer(1 << 20), a, b, adapter };
        if !scene.adapter.ia.attributes().immediate {
            let (from, to) = ([scene.near.at(0, LEN)], scene.far.remote(0, LEN));
            let refused = scene.a.ep.post_write_immediate(&from, 1, to, 1, CompletionFlags::DEFAULT);
            assert_eq!(refused, Err(Error::ModelNotSupported));
            return None;
        }
        Some(scene)
    }
}

const NOWHERE: RemoteSegment = RemoteSegment { addr: u64::MAX, len: 0, key: u32::MAX };

/// The bytes are in the target, the value is in a receive's completion, and the receive's buffer is unchanged.
pub fn write_delivers_value<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter, near, far, a, b }) = Scene::new(network) else { return };
    let untouched = adapter.buffer(LEN);
    untouched.fill(0..LEN, 0xee);
    for (seed, len) in [1, 8, LEN, 4096, 8193, 70_000, 1 << 20].into_iter().enumerate() {
        near.paint(0..len, seed);
        b.receive(untouched.at(0, LEN), 7);
        let value = 0xfedc_ba98 + seed as u32;
        a.write_immediate(near.at(0, len), 5, far.remote(0, len), value);
        assert_eq!(b.arrived_with(), ((7, Status::Success, len as u64), Transfer::RecvImmediate, value), "{len} bytes");
        assert!(far.shows(0..len, seed), "{len} bytes");
        assert_eq!(a.done_with(), ((5, Status::Success, len as u64), Transfer::WriteImmediate), "{len} bytes");
    }
    assert!(untouched.is_all(0..LEN, 0xee));
    assert!(quiet([&a.requests, &b.receives]));
}

/// Writes without bytes accept any remote segment. The receive may have no segments.
pub fn zero_length_write_delivers_value<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter: _adapter, near, far, a, b }) = Scene::new(network) else { return };
    b.ep.post_recv(&[], 1, CompletionFlags::DEFAULT).unwrap();
    b.receive(far.at(0, LEN), 2);
    a.ep.post_write_immediate(&[], 3, NOWHERE, 0, CompletionFlags::DEFAULT).unwrap();
    a.write_immediate(near.at(0, 0), 4, NOWHERE, u32::MAX);
    assert_eq!(b.arrived_with(), ((1, Status::Success, 0), Transfer::RecvImmediate, 0));
    assert_eq!(b.arrived_with(), ((2, Status::Success, 0), Transfer::RecvImmediate, u32::MAX));
    assert_eq!(a.done_with(), ((3, Status::Success, 0), Transfer::WriteImmediate));
    assert_eq!(a.done_with(), ((4, Status::Success, 0), Transfer::WriteImmediate));
}

pub fn values_and_messages_stay_in_order<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter: _adapter, near, far, a, b }) = Scene::new(network) else { return };
    let count = rounds(40);
    for k in 0..count as u64 {
        b.receive(far.at(4096 + 2 * k as usize * LEN, LEN), 2 * k);
        b.receive(far.at(4096 + (2 * k as usize + 1) * LEN, LEN), 2 * k + 1);
    }
    for k in 0..count {
        near.paint(k * LEN..(k + 1) * LEN, k);
        a.send(near.at(k * LEN, LEN), 3 * k as u64);
        a.write(near.at(k * LEN, LEN), 3 * k as u64 + 1, far.remote(0, LEN));
        a.write_immediate(near.at(k * LEN, 1 + k), 3 * k as u64 + 2, far.remote(0, 1 + k), k as u32);
    }
    for k in 0..count as u64 {
        assert_eq!(b.arrived(), (2 * k, Status::Success, LEN as u64));
        assert_eq!(b.arrived_with(), ((2 * k + 1, Status::Success, 1 + k), Transfer::RecvImmediate, k as u32));
        a.completes(3 * k, Status::Success);
        a.completes(3 * k + 1, Status::Success);
        a.completes_with(3 * k + 2, Status::Success, Transfer::WriteImmediate);
    }
    for k in 0..count {
        let at = 4096 + 2 * k * LEN;
        assert!(far.shows_from(at..at + LEN, k, 0), "message {k}");
    }
}

pub fn value_waits_for_receive<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter: _adapter, near, far, a, b }) = Scene::new(network) else { return };
    for len in [0, LEN, 8193, 300_000] {
        near.paint(0..len, len);
        a.write_immediate(near.at(0, len), 1, far.remote(0, len), 11);
        a.send(near.at(0, LEN), 2);
        assert!(quiet([&a.requests, &b.receives, &a.connections]), "{len} bytes");
        b.receive(far.at(1 << 19, LEN), 3);
        assert_eq!(b.arrived_with(), ((3, Status::Success, len as u64), Transfer::RecvImmediate, 11), "{len} bytes");
        assert!(far.shows(0..len, len), "{len} bytes");
        a.completes_with(1, Status::Success, Transfer::WriteImmediate);
        assert!(quiet([&b.receives]), "{len} bytes");
        b.receive(far.at(1 << 19, LEN), 4);
        b.arrives(4, Status::Success);
        a.completes(2, Status::Success);
    }
}

pub fn value_arrives_right_after_connection<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter, near, far, .. }) = Scene::new(network) else { return };
    for k in 0..rounds(20) as u32 {
        let (a, b) = (adapter.end(), adapter.end());
        b.receive(far.at(0, LEN), 1);
        connect(&a, &b);
        a.write_immediate(near.at(0, LEN), 2, far.remote(LEN, LEN), k);
        assert_eq!(b.arrived_with(), ((1, Status::Success, LEN as u64), Transfer::RecvImmediate, k));
        a.completes_with(2, Status::Success, Transfer::WriteImmediate);
        a.ep.free().unwrap();
        b.ep.free().unwrap();
    }
}

pub fn values_consume_srq_buffers<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter, near, far, .. }) = Scene::new(network) else { return };
    if !adapter.ia.attributes().srq {
        return;
    }
    let srq = adapter.srq(8);
    let ends: Vec<_> = (0..3).map(|_| (adapter.end(), adapter.end_on(&srq))).collect();
    ends.iter().for_each(|(a, b)| connect(a, b));
    for k in 0..8 {
        srq.post_recv(&[far.at(4096 + k * LEN, LEN)], k as u64).unwrap();
    }
    far.fill(4096..4096 + 8 * LEN, 0xee);
    let mut seen = [false; 8];
    for k in 0..8 {
        let (a, b) = &ends[k % 3];
        near.paint(0..LEN + k, k);
        a.write_immediate(near.at(0, LEN + k), 9, far.remote(0, LEN + k), k as u32);
        let ((cookie, status, len), operation, value) = b.arrived_with();
        assert_eq!(
            (status, len, operation, value),
            (Status::Success, (LEN + k) as u64, Transfer::RecvImmediate, k as u32)
        );
        assert!(!std::mem::replace(&mut seen[cookie as usize], true), "buffer {cookie} came twice");
        assert!(far.shows(0..LEN + k, k));
        a.completes_with(9, Status::Success, Transfer::WriteImmediate);
        let books = srq.query();
        assert_eq!((books.available, books.outstanding), (7 - k, 7 - k));
    }
    assert!(far.is_all(4096..4096 + 8 * LEN, 0xee));
    // A value waits until a buffer is posted.
    let (a, b) = &ends[0];
    a.write_immediate(near.at(0, LEN), 10, far.remote(0, LEN), 77);
    assert!(quiet([&a.requests, &b.receives]));
    srq.post_recv(&[far.at(4096, LEN)], 20).unwrap();
    assert_eq!(b.arrived_with(), ((20, Status::Success, LEN as u64), Transfer::RecvImmediate, 77));
    a.completes_with(10, Status::Success, Transfer::WriteImmediate);
    // A buffer stays outstanding until its completion is dequeued.
    srq.post_recv(&[far.at(4096, LEN)], 21).unwrap();
    a.write_immediate(near.at(0, LEN), 11, far.remote(0, LEN), 78);
    a.completes_with(11, Status::Success, Transfer::WriteImmediate);
    until("the value arrives", || srq.query().available == 0 && b.ep.recv_query() == 0);
    assert_eq!(srq.query().outstanding, 1);
    b.arrived_with();
    assert_eq!(srq.query().outstanding, 0);
}

pub fn write_violation_delivers_no_value<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter, near, far, .. }) = Scene::new(network) else { return };
    let closed = adapter.buffer_with(4096, LOCAL | Rights::REMOTE_READ);
    for wrong in
        [closed.remote(0, LEN), RemoteSegment { key: far.lmr().remote_key ^ 0x5555_5555, ..far.remote(0, LEN) }]
    {
        let (a, b) = adapter.pair();
        far.fill(0..LEN, 0xee);
        b.receive(far.at(4096, LEN), 1);
        a.write_immediate(near.at(0, LEN), 2, wrong, 3);
        a.write_immediate(near.at(0, LEN), 3, far.remote(0, LEN), 4);
        a.completes_with(2, Status::RemoteAccess, Transfer::WriteImmediate);
        a.completes_with(3, Status::Flushed, Transfer::WriteImmediate);
        a.is_told(ConnectionEvent::Broken);
        b.arrives(1, Status::Flushed);
        network.expect_broken(&b);
        assert!(far.is_all(0..LEN, 0xee) && closed.is_all(0..4096, 0));
    }
}

pub fn disconnect_flushes_values<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter: _adapter, near, far, a, b }) = Scene::new(network) else { return };
    a.write_immediate(near.at(0, LEN), 1, far.remote(0, LEN), 1);
    assert!(quiet([&a.requests]), "there is no receive");
    a.ep.disconnect(false).unwrap();
    a.completes_with(1, Status::Flushed, Transfer::WriteImmediate);
    a.is_told(ConnectionEvent::Disconnected);
    network.expect_disconnected(&b);
    a.write_immediate(near.at(0, LEN), 2, far.remote(0, LEN), 2);
    a.completes_with(2, Status::Flushed, Transfer::WriteImmediate);
    assert!(quiet([&b.receives]));
}

/// Suppressed writes complete without an event. Solicited writes wake a solicited waiter.
pub fn values_have_completion_flags<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter, near, far, .. }) = Scene::new(network) else { return };
    let solicited = |attr: &mut dat_core::EpAttributes| attr.recv_completion_flags = CompletionFlags::SOLICITED_WAIT;
    let (a, b) = (adapter.end(), adapter.end_with(None, solicited));
    connect(&a, &b);
    for cookie in 0..2 {
        b.receive(far.at(0, LEN), cookie);
    }
    let write = |cookie, flags| a.ep.post_write_immediate(&[near.at(0, LEN)], cookie, far.remote(0, LEN), 1, flags);
    let outcome = std::thread::scope(|scope| {
        let waiter = scope.spawn(|| wait(&b.receives, 1, None));
        write(1, CompletionFlags::SUPPRESS).unwrap();
        let end = std::time::Instant::now() + std::time::Duration::from_millis(60);
        while std::time::Instant::now() < end && !waiter.is_finished() {
            std::thread::yield_now();
        }
        // If the thread began its wait after the arrival of the first value, the wait has already ended.
        write(2, CompletionFlags::SOLICITED_WAIT).unwrap();
        waiter.join().unwrap()
    });
    assert!(matches!(outcome.result, Ok(Event::Transfer { cookie: 0, transfer: Transfer::RecvImmediate, .. })));
    assert_eq!(b.arrived_with().0.0, 1);
    a.completes_with(2, Status::Success, Transfer::WriteImmediate);
    assert!(quiet([&a.requests]));
}
