//! Shared receive queues: counts, endpoints that leave, and waiting messages.

use std::sync::Arc;

use dat_core::error::{Error, StateError};
use dat_core::event::{AsyncReason, ConnectionEvent, Event, Status};
use dat_core::testing::{Adapter, Buffer, End, connect, next, quiet, until};
use dat_core::transport::Transport;
use dat_core::{CompletionFlags, Evd, Handle, Object, Pz, Rights, Srq};

use crate::{LOCAL, Network, repeats, rounds, written};

const SLOT: usize = 64;

/// An SRQ of ten buffers, and its endpoints.
pub(crate) struct Scene<T: Transport> {
    pub memory: Buffer<T>,
    pub srq: Arc<Srq<T>>,
    /// Pairs of connected endpoints: a sender, and a receiver that uses the SRQ.
    pub pairs: Vec<(End<T>, End<T>)>,
    pub events: Arc<Evd<T>>,
    pub adapter: Adapter<T>,
}

impl<T: Transport> Scene<T> {
    /// Creates a scene with this number of pairs. Returns `None` if the adapter rejects SRQs as unsupported.
    pub fn new(network: &Network<T>, pairs: usize) -> Option<Self> {
        let adapter = network.open();
        if !adapter.ia.attributes().srq {
            let refused = Srq::create(&adapter.ia, &adapter.pz, 1, 1).err();
            assert_eq!(refused, Some(Error::ModelNotSupported));
            return None;
        }
        let mut scene = Scene {
            memory: adapter.buffer(8192),
            srq: adapter.srq(10),
            pairs: Vec::new(),
            events: adapter.events(),
            adapter,
        };
        for _ in 0..pairs {
            let pair = (scene.adapter.end(), scene.adapter.end_on(&scene.srq));
            connect(&pair.0, &pair.1);
            scene.pairs.push(pair);
        }
        Some(scene)
    }

    /// Posts buffer `k`, with `k` as its cookie.
    pub fn post(&self, k: usize) -> dat_core::Result<()> {
        self.srq.post_recv(&[self.memory.at(k * SLOT, SLOT)], k as u64)
    }

    pub fn fill(&self, buffers: std::ops::Range<usize>) {
        buffers.for_each(|k| self.post(k).unwrap());
    }

    /// Sends from pair `k`, and waits for the arrival.
    #[track_caller]
    pub fn send(&self, k: usize) {
        let (tx, rx) = &self.pairs[k];
        let before = self.srq.query().available;
        tx.send(self.memory.at(4096, 32), 500);
        tx.completes(500, Status::Success);
        until("the message arrives", || self.srq.query().available < before && rx.ep.recv_query() == 0);
    }

    pub fn counts(&self) -> (usize, usize) {
        let status = self.srq.query();
        (status.available, status.outstanding)
    }

    /// Dequeues a completion at receiver `k`, and returns its buffer.
    #[track_caller]
    pub fn take(&self, k: usize) -> usize {
        let (cookie, status, len) = self.pairs[k].1.arrived();
        assert_eq!((status, len), (Status::Success, 32));
        cookie as usize
    }

    #[track_caller]
    pub fn take_all(&self, k: usize, count: usize) {
        for _ in 0..count {
            self.take(k);
        }
    }

    #[track_caller]
    pub fn is_told(&self, object: Handle, reason: AsyncReason) {
        match next(&self.events) {
            Event::Async { object: told, reason: why } => assert_eq!((told, why), (object, reason)),
            other => panic!("{other:?}"),
        }
    }

    pub fn low_watermark(&self) {
        self.is_told(self.srq.header().handle(), AsyncReason::SrqLowWatermark);
    }
}

/// A buffer is available until a message takes it, and outstanding until its completion is dequeued.
pub fn counts_available_and_outstanding_buffers<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network, 1) else { return };
    let (tx, rx) = &scene.pairs[0];
    scene.fill(0..3);
    assert_eq!(scene.counts(), (3, 3));
    tx.ep.post_send(&[scene.memory.at(4096, 8)], 77, CompletionFlags::SUPPRESS).unwrap();
    network.soon("the message has taken a buffer", || scene.counts().0 == 2);
    assert_eq!(scene.counts(), (2, 3));
    assert_eq!(rx.arrived(), (0, Status::Success, 8));
    assert_eq!(scene.counts(), (2, 2));
    assert_eq!(scene.srq.query().max_recvs, 10);
    assert!(matches!(rx.ep.post_recv(&[], 0, CompletionFlags::DEFAULT), Err(Error::InvalidState(_))));
}

/// Buffers count towards the length of the SRQ until their completions are dequeued.
pub fn full_srq_rejects_buffers<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network, 1) else { return };
    let full = || assert!(matches!(scene.post(10), Err(Error::InsufficientResources(_))));
    scene.fill(0..10);
    full();
    (0..4).for_each(|_| scene.send(0));
    assert_eq!(scene.counts(), (6, 10));
    full();
    let freed = scene.take(0);
    scene.post(freed).unwrap();
    full();
    assert_eq!(scene.counts(), (7, 10));
}

/// Each message completes at its own receiver, and no two messages use the same buffer.
pub fn several_endpoints_receive_from_srq<T: Transport>(network: &Network<T>) {
    const ENDS: usize = 3;
    let Some(scene) = Scene::new(network, ENDS) else { return };
    let mut free: Vec<usize> = (0..10).collect();
    for round in 0..rounds(40) {
        free.drain(..).for_each(|k| scene.post(k).unwrap());
        let mut seqs = [0; ENDS];
        for k in 0..9 {
            let from = k % ENDS;
            let at = 4096 + k * SLOT;
            scene.memory.paint(at..at + SLOT, round * 100 + from * 10 + seqs[from]);
            scene.pairs[from].0.send(scene.memory.at(at, SLOT), k as u64);
            seqs[from] += 1;
        }
        for (from, (tx, rx)) in scene.pairs.iter().enumerate() {
            for seq in 0..seqs[from] {
                let (cookie, status, len) = rx.arrived();
                assert_eq!((status, len), (Status::Success, SLOT as u64));
                let at = cookie as usize * SLOT;
                assert!(scene.memory.shows(at..at + SLOT, round * 100 + from * 10 + seq), "in the order of its sender");
                free.push(cookie as usize);
                let (_, status, _) = tx.done();
                assert_eq!(status, Status::Success);
            }
        }
        assert_eq!(scene.counts(), (1, 1));
        let mut all = free.clone();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 9, "every buffer once");
    }
}

/// If messages of several endpoints wait, each endpoint gets some of the posted buffers.
pub fn messages_wait_for_buffers<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network, 2) else { return };
    if !repeats(&scene.adapter) {
        return;
    }
    for (tx, _) in &scene.pairs {
        (0..3).for_each(|cookie| tx.send(scene.memory.at(4096, 32), cookie));
    }
    for (tx, rx) in &scene.pairs {
        assert!(quiet([&tx.requests, &rx.receives]));
    }
    assert_eq!(scene.counts(), (0, 0));
    if network.is_exact() {
        // The endpoints take turns.
        for k in 0..6 {
            scene.post(k).unwrap();
            assert_eq!(scene.take(k % 2), k);
        }
    } else {
        scene.fill(0..6);
        let mut seen: Vec<_> = [0, 1].into_iter().flat_map(|k| [k; 3]).map(|k| scene.take(k)).collect();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
    }
    for (tx, _) in &scene.pairs {
        (0..3).for_each(|cookie| tx.completes(cookie, Status::Success));
    }
    assert_eq!(scene.counts(), (0, 0));
}

/// A way in which an endpoint leaves its SRQ.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Leave {
    Disconnect,
    Gracefully,
    PeerDisconnects,
    Free,
}

/// Available buffers remain in the queue. Taken buffers complete, and count until their completions are dequeued.
pub fn leaving_endpoint_keeps_counts_exact<T: Transport>(network: &Network<T>) {
    for way in [Leave::Disconnect, Leave::Gracefully, Leave::PeerDisconnects, Leave::Free] {
        let Some(scene) = Scene::new(network, 2) else { return };
        let (tx, rx) = &scene.pairs[0];
        scene.fill(0..8);
        (0..3).for_each(|_| scene.send(0));
        assert_eq!(scene.counts(), (5, 8));
        match way {
            Leave::Disconnect => rx.ep.disconnect(false).unwrap(),
            Leave::Gracefully => rx.ep.disconnect(true).unwrap(),
            Leave::PeerDisconnects => tx.ep.disconnect(false).unwrap(),
            Leave::Free => rx.ep.free().unwrap(),
        }
        tx.is_told(ConnectionEvent::Disconnected);
        if way != Leave::Free {
            rx.is_told(ConnectionEvent::Disconnected);
        }
        assert_eq!(scene.counts(), (5, 8), "{way:?}");
        let mut free = vec![8, 9];
        (0..3).for_each(|_| free.push(scene.take(0)));
        assert!(quiet([&rx.receives]), "{way:?}: buffers that were not taken give no completion");
        assert_eq!(scene.counts(), (5, 5), "{way:?}");
        free.into_iter().for_each(|k| scene.post(k).unwrap());
        assert!(scene.post(0).is_err());
        assert_eq!(scene.counts(), (10, 10));
        // Another endpoint can use the buffers.
        for _ in 0..10 {
            scene.send(1);
            scene.take(1);
        }
        assert_eq!(scene.counts(), (0, 0), "{way:?}");
    }
}

pub fn end_of_connection_flushes_waiting_messages<T: Transport>(network: &Network<T>) {
    for free in [false, true] {
        let Some(scene) = Scene::new(network, 1) else { return };
        if !repeats(&scene.adapter) {
            return;
        }
        let (tx, rx) = &scene.pairs[0];
        (0..5).for_each(|cookie| tx.send(scene.memory.at(4096, 32), cookie));
        assert!(quiet([&tx.requests]));
        if free {
            rx.ep.free().unwrap();
        } else {
            rx.ep.disconnect(false).unwrap();
            rx.is_told(ConnectionEvent::Disconnected);
        }
        tx.is_told(ConnectionEvent::Disconnected);
        (0..5).for_each(|cookie| tx.completes(cookie, Status::Flushed));
        scene.fill(0..5);
        assert_eq!(scene.counts(), (5, 5));
        assert!(quiet([&rx.receives]));
        assert_eq!(scene.counts(), (5, 5));
    }
}

pub fn reset_keeps_srq<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network, 1) else { return };
    let (tx, rx) = &scene.pairs[0];
    scene.fill(0..4);
    scene.send(0);
    tx.ep.disconnect(false).unwrap();
    for end in [rx, tx] {
        end.is_told(ConnectionEvent::Disconnected);
        end.ep.reset().unwrap();
    }
    assert_eq!(scene.srq.free(), Err(Error::InvalidState(StateError::SrqInUse)));
    assert_eq!(scene.counts(), (3, 4));
    scene.take(0);
    // This time, the receiver is the active end.
    connect(rx, tx);
    (0..3).for_each(|_| scene.send(0));
    scene.take_all(0, 3);
    assert_eq!(scene.counts(), (0, 0));
    rx.ep.free().unwrap();
    scene.srq.free().unwrap();
}

pub fn message_that_is_too_long_consumes_one_buffer<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network, 2) else { return };
    scene.fill(0..4);
    let (tx, rx) = &scene.pairs[0];
    tx.send(scene.memory.at(4096, SLOT + 1), 1);
    assert_eq!(rx.arrived().1, Status::LocalLength);
    rx.is_told(ConnectionEvent::Broken);
    network.expect_broken(tx);
    let (_, status, _) = tx.done();
    assert!(status != Status::Success || !repeats(&scene.adapter));
    assert_eq!(scene.counts(), (3, 3));
    for _ in 0..3 {
        scene.send(1);
        scene.take(1);
    }
    assert_eq!(scene.counts(), (0, 0));
}

pub fn evd_overflow_releases_buffers<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network, 1) else { return };
    let rx = &scene.pairs[0].1;
    rx.receives.resize(3).unwrap();
    scene.fill(0..8);
    (0..6).for_each(|_| scene.send(0));
    assert_eq!(scene.counts(), (2, 5));
    scene.take_all(0, 3);
    assert!(quiet([&rx.receives]));
    assert_eq!(scene.counts(), (2, 2));
    scene.is_told(rx.receives.header().handle(), AsyncReason::EvdOverflow);
}

/// The endpoint's zone applies to all memory except the SRQ's buffers. Only for adapters that permit another zone.
pub fn endpoint_can_have_another_zone<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network, 0) else { return };
    if !scene.adapter.ia.attributes().srq_zone_difference {
        return;
    }
    let zone = Pz::create(&scene.adapter.ia).unwrap();
    let rights = LOCAL | Rights::REMOTE_WRITE;
    let theirs = Buffer::new(&scene.adapter.ia, &zone, 256, rights);
    let (tx, like) = (scene.adapter.end(), scene.adapter.end());
    let evds = [&like.receives, &like.requests, &like.connections];
    let rx = scene.adapter.end_to(&zone, evds, Some(&scene.srq), |_| {});
    connect(&tx, &rx);
    let refused = scene.srq.post_recv(&[theirs.at(0, 64)], 1);
    assert!(matches!(refused, Err(Error::ProtectionViolation(_))));
    scene.fill(0..1);
    scene.memory.paint(4096..4160, 3);
    tx.send(scene.memory.at(4096, SLOT), 1);
    assert_eq!(rx.arrived(), (0, Status::Success, SLOT as u64));
    tx.completes(1, Status::Success);
    assert!(scene.memory.shows(0..SLOT, 3));
    // Requests of the endpoint, and RDMA operations of its peer, use the endpoint's zone.
    tx.receive(scene.memory.at(1024, SLOT), 2);
    theirs.paint(0..SLOT, 4);
    rx.send(theirs.at(0, SLOT), 3);
    tx.arrives(2, Status::Success);
    rx.completes(3, Status::Success);
    assert!(scene.memory.shows(1024..1024 + SLOT, 4));
    let own = rx.ep.post_send(&[scene.memory.at(0, SLOT)], 4, CompletionFlags::DEFAULT);
    assert!(matches!(own, Err(Error::ProtectionViolation(_))));
    tx.write(scene.memory.at(4096, SLOT), 5, theirs.remote(128, SLOT));
    tx.completes(5, Status::Success);
    written(&scene.adapter, "a slot", || theirs.shows(128..128 + SLOT, 3));
    assert_eq!(zone.free(), Err(Error::InvalidState(StateError::PzInUse)));
}

pub fn many_endpoints_share_srq<T: Transport>(network: &Network<T>) {
    let count = rounds(32);
    let Some(scene) = Scene::new(network, count) else { return };
    scene.fill(0..10);
    for k in 0..count {
        scene.send(k);
        let buffer = scene.take(k);
        scene.post(buffer).unwrap();
    }
    assert_eq!(scene.counts(), (10, 10));
    assert!(scene.srq.free().is_err());
    for (_, rx) in &scene.pairs {
        rx.ep.free().unwrap();
    }
    scene.srq.free().unwrap();
}
