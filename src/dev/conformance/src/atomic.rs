//! Atomic operations on memory of the peer.

use std::thread;

use dat_core::event::{ConnectionEvent, Event, Status, Transfer};
use dat_core::testing::{Adapter, Buffer, End, connect, next, quiet};
use dat_core::transport::{RemoteSegment, Scope, Transport};
use dat_core::{Base, Change, CompletionFlags, Error, Rights, Rmr};

use crate::{LOCAL, Network, rounds};

fn rights() -> Rights {
    LOCAL | Rights::REMOTE
}

/// Two connected ends, a buffer for old values, and a buffer to change.
struct Scene<T: Transport> {
    near: Buffer<T>,
    far: Buffer<T>,
    a: End<T>,
    b: End<T>,
    adapter: Adapter<T>,
}

impl<T: Transport> Scene<T> {
    /// Returns `None` if the adapter does not support atomic operations. The adapter must then reject them, but accept
    /// the right to them.
    fn new(network: &Network<T>) -> Option<Self> {
        let adapter = network.open();
        let (a, b) = adapter.pair();
        if !adapter.ia.attributes().atomics {
            let memory = adapter.buffer_with(64, rights());
            assert_eq!(memory.lmr().rights, rights());
            if adapter.ia.attributes().rmr {
                let rmr = Rmr::create(&adapter.pz, Scope::Zone).unwrap();
                let (lmr, flags) = (Some(memory.lmr()), CompletionFlags::DEFAULT);
                a.ep.post_bind(&rmr, lmr, memory.at(0, 64), Rights::REMOTE, Base::Address, 2, flags).unwrap();
                assert!(matches!(next(&a.requests), Event::Bind { status: Status::Success, .. }));
                assert_eq!(rmr.status().map(|status| status.rights), Some(Rights::REMOTE));
                rmr.free();
            }
            let refused =
                a.ep.post_atomic(&[memory.at(0, 8)], 1, memory.remote(8, 8), Change::Add(1), CompletionFlags::DEFAULT);
            assert_eq!(refused, Err(Error::ModelNotSupported));
            return None;
        }
        let (near, far) = (adapter.buffer(4096), adapter.buffer_with(4096, rights()));
        Some(Scene { near, far, a, b, adapter })
    }
}

fn word<T: Transport>(buffer: &Buffer<T>, offset: usize) -> u64 {
    u64::from_ne_bytes(buffer.bytes(offset..offset + 8).try_into().expect("eight bytes"))
}

/// Returns the first offset from `from` whose remote address is a multiple of 8.
fn aligned<T: Transport>(buffer: &Buffer<T>, from: usize) -> usize {
    (from..).find(|&at| buffer.remote(at, 8).addr % 8 == 0).expect("one in eight is")
}

pub fn fetch_and_add_wraps_and_returns_old_value<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter: _adapter, near, far, a, b }) = Scene::new(network) else { return };
    let at = aligned(&far, 64);
    far.put(at, &0x10_u64.to_ne_bytes());
    let mut before = 0x10_u64;
    for (cookie, add) in [0x100, 1, 0, u64::MAX, 1 << 63, 1 << 63, 0x0123_4567_89ab_cdef].into_iter().enumerate() {
        near.fill(0..64, 0xee);
        a.change(near.at(8, 8), cookie as u64, far.remote(at, 8), Change::Add(add));
        assert_eq!(a.done_with(), ((cookie as u64, Status::Success, 8), Transfer::FetchAdd));
        assert_eq!(word(&near, 8), before);
        assert!(near.is_all(0..8, 0xee) && near.is_all(16..64, 0xee));
        before = before.wrapping_add(add);
        assert_eq!(word(&far, at), before);
    }
    assert!(far.is_all(0..at, 0) && far.is_all(at + 8..4096, 0));
    assert!(quiet([&b.receives, &b.requests, &b.connections]), "the target is told of nothing");
}

pub fn compare_and_swap_requires_expected_value<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter: _adapter, near, far, a, .. }) = Scene::new(network) else { return };
    let at = aligned(&far, 0);
    far.put(at, &0x12345_u64.to_ne_bytes());
    for (expected, new, before, after) in [
        (0x12345, 0x54321, 0x12345, 0x54321),
        (0x12345, 0x98765, 0x54321, 0x54321),
        (0x54321, 0x54321, 0x54321, 0x54321),
        (0x54321, u64::MAX, 0x54321, u64::MAX),
        (u64::MAX, 0, u64::MAX, 0),
    ] {
        // A longer segment receives only 8 bytes.
        near.fill(0..64, 0xee);
        a.change(near.at(3, 40), 6, far.remote(at, 64), Change::Swap { expected, new });
        assert_eq!(a.done_with(), ((6, Status::Success, 8), Transfer::CompareSwap));
        assert_eq!((word(&near, 3), word(&far, at)), (before, after));
        assert!(near.is_all(0..3, 0xee) && near.is_all(11..64, 0xee));
    }
}

/// Writes, reads and atomic operations execute in posting order. A request that uses their results needs a fence.
pub fn atomic_operations_stay_in_order<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter: _adapter, near, far, a, b }) = Scene::new(network) else { return };
    let at = aligned(&far, 0);
    for k in 0..rounds(50) as u64 {
        near.put(0, &k.to_ne_bytes());
        b.receive(far.at(1024, 64), k);
        a.write(near.at(0, 8), 1, far.remote(at, 8));
        a.change(near.at(8, 8), 2, far.remote(at, 8), Change::Add(1000));
        a.change(near.at(16, 8), 3, far.remote(at, 8), Change::Swap { expected: k + 1000, new: 7 });
        a.read(near.at(24, 8), 4, far.remote(at, 8));
        a.ep.post_send(&[near.at(8, 24)], 5, CompletionFlags::BARRIER_FENCE).unwrap();
        b.arrives(k, Status::Success);
        assert_eq!([1024, 1032, 1040].map(|at| word(&far, at)), [k, k + 1000, 7]);
        a.completes(1, Status::Success);
        a.completes_with(2, Status::Success, Transfer::FetchAdd);
        a.completes_with(3, Status::Success, Transfer::CompareSwap);
        a.completes(4, Status::Success);
        a.completes(5, Status::Success);
    }
}

pub fn concurrent_additions_lose_nothing<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter, far, .. }) = Scene::new(network) else { return };
    let at = aligned(&far, 0);
    let count = rounds(200);
    let pairs: Vec<_> = (0..3).map(|_| (adapter.pair(), adapter.buffer(count * 8))).collect();
    thread::scope(|scope| {
        for ((a, _), near) in &pairs {
            let target = far.remote(at, 8);
            scope.spawn(move || {
                for k in 0..count {
                    a.change(near.at(k * 8, 8), k as u64, target, Change::Add(1));
                    a.completes_with(k as u64, Status::Success, Transfer::FetchAdd);
                }
            });
        }
    });
    assert_eq!(word(&far, at), 3 * count as u64);
    let mut seen: Vec<u64> = pairs.iter().flat_map(|(_, near)| (0..count).map(|k| word(near, k * 8))).collect();
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..3 * count as u64));
}

pub fn atomic_operations_beyond_peer_limit_wait<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter, near, far, .. }) = Scene::new(network) else { return };
    let at = aligned(&far, 0);
    let most = adapter.ia.attributes().max_rdma_read_per_ep_out;
    let count = (2 * most).min(64) as u64;
    let a = adapter.end_with(None, |attr| attr.max_rdma_read_out = most);
    let b = adapter.end_with(None, |attr| attr.max_rdma_read_in = 1);
    connect(&a, &b);
    for k in 0..count {
        a.change(near.at(8 * k as usize, 8), k, far.remote(at, 8), Change::Add(1));
    }
    for k in 0..count {
        a.completes_with(k, Status::Success, Transfer::FetchAdd);
        assert_eq!(word(&near, 8 * k as usize), k);
    }
}

pub fn atomic_violation_breaks_connection<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter, near, far, .. }) = Scene::new(network) else { return };
    let other = dat_core::Pz::create(&adapter.ia).unwrap();
    let without = adapter.buffer(4096);
    let elsewhere = Buffer::new(&adapter.ia, &other, 4096, rights());
    let at = aligned(&far, 0);
    let open = far.remote(at, 8);
    for (what, wrong) in [
        ("a region without that right", without.remote(aligned(&without, 0), 8)),
        ("a region of another zone", elsewhere.remote(aligned(&elsewhere, 0), 8)),
        ("a word beyond the region", far.remote(aligned(&far, 4090), 8)),
        ("a word before the region", RemoteSegment { addr: far.remote(0, 8).addr / 8 * 8 - 8, ..open }),
        ("an unknown key", RemoteSegment { key: open.key ^ 0x5555_5555, ..open }),
        ("key 0", RemoteSegment { key: 0, ..open }),
    ] {
        for (change, kind) in
            [(Change::Add(1), Transfer::FetchAdd), (Change::Swap { expected: 0, new: 1 }, Transfer::CompareSwap)]
        {
            let (a, b) = adapter.pair();
            near.fill(0..64, 0xee);
            a.change(near.at(0, 8), 1, wrong, change);
            a.change(near.at(8, 8), 2, open, change);
            a.completes_with(1, Status::RemoteAccess, kind);
            a.completes_with(2, Status::Flushed, kind);
            a.is_told(ConnectionEvent::Broken);
            network.expect_broken(&b);
            for buffer in [&far, &without, &elsewhere] {
                assert!(buffer.is_all(0..4096, 0), "{what}");
            }
            assert!(near.is_all(0..64, 0xee), "{what}");
            a.ep.free().unwrap();
            b.ep.free().unwrap();
        }
    }
}

/// Suppressed operations complete without an event. At the end of the connection, outstanding operations are flushed.
pub fn atomic_operations_have_completion_flags<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter: _adapter, near, far, a, b }) = Scene::new(network) else { return };
    let at = aligned(&far, 0);
    let post = |cookie, flags| a.ep.post_atomic(&[near.at(0, 8)], cookie, far.remote(at, 8), Change::Add(1), flags);
    post(1, CompletionFlags::SUPPRESS).unwrap();
    post(2, CompletionFlags::DEFAULT).unwrap();
    a.completes_with(2, Status::Success, Transfer::FetchAdd);
    assert_eq!(word(&near, 0), 1);
    assert!(quiet([&a.requests]));
    // Blocked by a message without a receive, the operation never executes.
    a.send(near.at(64, 64), 3);
    post(4, CompletionFlags::SUPPRESS).unwrap();
    a.ep.disconnect(false).unwrap();
    a.completes(3, Status::Flushed);
    a.completes_with(4, Status::Flushed, Transfer::FetchAdd);
    a.is_told(ConnectionEvent::Disconnected);
    network.expect_disconnected(&b);
    post(5, CompletionFlags::DEFAULT).unwrap();
    a.completes_with(5, Status::Flushed, Transfer::FetchAdd);
    assert_eq!(word(&far, at), 2);
}
