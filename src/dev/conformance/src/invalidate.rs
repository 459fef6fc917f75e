//! Sends that invalidate a window of the peer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use dat_core::event::{ConnectionEvent, Event, Status, Transfer};
use dat_core::testing::{Adapter, Buffer, End, connect, next, quiet, until};
use dat_core::transport::{Poll, RemoteSegment, Scope, Transport};
use dat_core::{Base, CompletionFlags, Error, Rights, Rmr};

use crate::{LOCAL, Network, rounds};

/// Two connected ends; a window and the buffer `far`, to which it is bound; and the buffer `near`, from which `a`
/// sends.
struct Scene<T: Transport> {
    near: Buffer<T>,
    far: Buffer<T>,
    rmr: Arc<Rmr<T>>,
    a: End<T>,
    b: End<T>,
    adapter: Adapter<T>,
}

impl<T: Transport> Scene<T> {
    /// Returns `None` if the adapter rejects sends that invalidate as unsupported.
    fn new(network: &Network<T>) -> Option<Self> {
        let adapter = network.open();
        let (a, b) = adapter.pair();
        let buffer = || adapter.buffer_with(4096, LOCAL);
        let (near, far) = (buffer(), buffer());
        let limits = adapter.ia.attributes();
        if !limits.invalidate {
            let refused = a.ep.post_send_invalidate(&[near.at(0, 8)], 1, 1, CompletionFlags::DEFAULT);
            assert_eq!(refused, Err(Error::ModelNotSupported));
            return None;
        }
        // All transports that support these sends also support windows for one connection.
        let rmr = Rmr::create(&adapter.pz, Scope::Endpoint).unwrap();
        Some(Scene { near, far, rmr, a, b, adapter })
    }

    /// Binds a window through `end` to 64 bytes at offset `at` of `far`.
    #[track_caller]
    fn bind(&self, rmr: &Rmr<T>, end: &End<T>, at: usize) -> RemoteSegment {
        let (segment, rights) = (self.far.at(at, 64), Rights::REMOTE_READ | Rights::REMOTE_WRITE);
        let lmr = Some(self.far.lmr());
        let post = || end.ep.post_bind(rmr, lmr, segment, rights, Base::Address, 7, CompletionFlags::DEFAULT);
        // Binds of another thread can fill the queue temporarily.
        let mut key = None;
        until("the bind is posted", || {
            key = post().ok();
            key.is_some()
        });
        let key = key.unwrap();
        assert!(matches!(next(&end.requests), Event::Bind { cookie: 7, status: Status::Success, .. }));
        RemoteSegment { addr: segment.addr, len: segment.len, key }
    }
}

fn revoke<T: Transport>(end: &End<T>, scene: &Scene<T>, cookie: u64, key: u32) {
    end.ep.post_send_invalidate(&[scene.near.at(0, 64)], cookie, key, CompletionFlags::DEFAULT).unwrap();
}

pub fn send_invalidates_window<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network) else { return };
    let (a, b) = (&scene.a, &scene.b);
    let window = scene.bind(&scene.rmr, b, 100);
    a.write(scene.near.at(0, 64), 1, window);
    a.completes(1, Status::Success);
    b.receive(scene.far.at(1024, 64), 2);
    scene.near.paint(0..64, 3);
    revoke(a, &scene, 3, window.key);
    assert_eq!(b.arrived_with(), ((2, Status::Success, 64), Transfer::RecvInvalidated, window.key));
    assert!(scene.far.shows(1024..1088, 3));
    assert_eq!(scene.rmr.status(), None);
    // The sender gets an ordinary completion.
    assert_eq!(a.done(), (3, Status::Success, 64));
    assert!(quiet([&b.requests, &b.receives]), "there is no other event");
    scene.far.lmr().free().unwrap();
    a.write(scene.near.at(0, 64), 4, window);
    a.completes(4, Status::RemoteAccess);
    a.is_told(ConnectionEvent::Broken);
    network.expect_broken(b);
}

pub fn invalidated_window_can_be_bound_again<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network) else { return };
    let (a, b) = (&scene.a, &scene.b);
    let mut before = None;
    for k in 0..rounds(20) {
        let window = scene.bind(&scene.rmr, b, k);
        assert_ne!(before.replace(window).map(|window| window.key), Some(window.key));
        scene.near.paint(0..64, k);
        a.write(scene.near.at(0, 64), 1, window);
        b.receive(scene.far.at(2048, 64), 2);
        revoke(a, &scene, 3, window.key);
        assert_eq!(b.arrived_with(), ((2, Status::Success, 64), Transfer::RecvInvalidated, window.key));
        assert!(scene.far.shows(k..k + 64, k));
        a.completes(1, Status::Success);
        a.completes(3, Status::Success);
    }
    let old = before.expect("there were some");
    scene.bind(&scene.rmr, b, 0);
    a.read(scene.near.at(64, 64), 4, old);
    a.completes(4, Status::RemoteAccess);
    a.is_told(ConnectionEvent::Broken);
    network.expect_broken(b);
}

/// Earlier writes through the window, and earlier reads before a fence, succeed.
pub fn invalidation_follows_earlier_requests<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network) else { return };
    let (a, b) = (&scene.a, &scene.b);
    for k in 0..rounds(20) {
        let window = scene.bind(&scene.rmr, b, 100);
        b.receive(scene.far.at(2048, 64), 9);
        scene.near.paint(64..128, k);
        for cookie in 0..4 {
            a.write(scene.near.at(64, 64), cookie, window);
        }
        for cookie in 4..8 {
            a.read(scene.near.at(512 + cookie as usize * 64, 64), cookie, window);
        }
        let fenced = CompletionFlags::BARRIER_FENCE;
        a.ep.post_send_invalidate(&[scene.near.at(0, 64)], 8, window.key, fenced).unwrap();
        assert_eq!(b.arrived_with(), ((9, Status::Success, 64), Transfer::RecvInvalidated, window.key));
        assert!(scene.far.shows(100..164, k));
        for cookie in 0..9 {
            a.completes(cookie, Status::Success);
        }
        assert!((4..8).all(|at| scene.near.shows(512 + at * 64..576 + at * 64, k)));
    }
}

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Threads create, bind, free and query windows while another window is invalidated and bound again.
pub fn invalidation_is_thread_safe<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network) else { return };
    let (a, b) = (&scene.a, &scene.b);
    let (tell, told) = mpsc::channel();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let (scene, over) = (&scene, &over);
        scope.spawn(move || {
            for key in told {
                revoke(a, scene, 3, key);
                assert_eq!(a.done(), (3, Status::Success, 64));
            }
        });
        scope.spawn(move || {
            let (rights, quiet) = (Rights::REMOTE_READ, CompletionFlags::SUPPRESS);
            while !over.load(Ordering::Relaxed) {
                let rmr = Rmr::create(&scene.adapter.pz, Scope::Endpoint).unwrap();
                let (lmr, segment) = (Some(scene.far.lmr()), scene.far.at(512, 64));
                let bound = b.ep.post_bind(&rmr, lmr, segment, rights, Base::Address, 8, quiet);
                // Suppressed binds that are not polled yet can fill the queue.
                assert!(matches!(bound, Ok(_) | Err(Error::InsufficientResources(_))), "{bound:?}");
                assert_eq!(rmr.status().map(|status| status.remote_key), bound.ok());
                rmr.free();
            }
        });
        scope.spawn(move || {
            while !over.load(Ordering::Relaxed) {
                let bound = scene.rmr.status();
                assert!(bound.is_none_or(|bound| bound.segment == scene.far.at(100, 64)));
                scene.adapter.ia.transport.poll(None, Poll::Complete);
            }
        });
        let _over = SetOnDrop(over);
        for cookie in 0..rounds(300) as u64 {
            b.receive(scene.far.at(1024, 64), cookie);
            let key = scene.bind(&scene.rmr, b, 100).key;
            tell.send(key).unwrap();
            assert_eq!(b.arrived_with(), ((cookie, Status::Success, 64), Transfer::RecvInvalidated, key));
            assert_eq!(scene.rmr.status(), None);
        }
        drop(tell);
    });
    b.ep.disconnect(false).unwrap();
    b.is_told(ConnectionEvent::Disconnected);
    scene.far.lmr().free().unwrap();
}

pub fn invalidation_consumes_srq_buffers<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network) else { return };
    if !scene.adapter.ia.attributes().srq {
        return;
    }
    let srq = scene.adapter.srq(4);
    let (a, b) = (scene.adapter.end(), scene.adapter.end_on(&srq));
    connect(&a, &b);
    srq.post_recv(&[scene.far.at(1024, 64)], 5).unwrap();
    let window = scene.bind(&scene.rmr, &b, 100);
    revoke(&a, &scene, 3, window.key);
    a.completes(3, Status::Success);
    network.soon("the message arrives", || srq.query().available == 0);
    assert_eq!(srq.query().outstanding, 1);
    assert_eq!(b.arrived_with(), ((5, Status::Success, 64), Transfer::RecvInvalidated, window.key));
    assert_eq!((srq.query().outstanding, scene.rmr.status()), (0, None));
    // While a message waits for a buffer, the window stays valid.
    let window = scene.bind(&scene.rmr, &b, 100);
    revoke(&a, &scene, 4, window.key);
    assert!(quiet([&a.requests, &b.receives]));
    assert!(scene.rmr.status().is_some());
    srq.post_recv(&[scene.far.at(1024, 64)], 6).unwrap();
    assert_eq!(b.arrived_with(), ((6, Status::Success, 64), Transfer::RecvInvalidated, window.key));
    a.completes(4, Status::Success);
}

/// The message is incomplete, because its sender frees a region of it before the message is transferred.
pub fn incomplete_message_invalidates_nothing<T: Transport>(network: &Network<T>) {
    const LONG: usize = 1 << 20;
    let Some(scene) = Scene::new(network).filter(|_| network.is_exact()) else { return };
    let rmr = Rmr::create(&scene.adapter.pz, Scope::Zone).unwrap();
    let window = scene.bind(&rmr, &scene.b, 100);
    let (a, b) = scene.adapter.pair();
    let (there, gone, into) = (scene.adapter.buffer(LONG), scene.adapter.buffer(LONG), scene.adapter.buffer(2 * LONG));
    let segments = [there.at(0, LONG), gone.at(0, LONG)];
    a.ep.post_send_invalidate(&segments, 3, window.key, CompletionFlags::DEFAULT).unwrap();
    assert!(quiet([&a.requests, &b.receives]));
    gone.lmr().free().unwrap();
    b.receive(into.at(0, 2 * LONG), 2);
    let (cookie, status, _) = a.done();
    assert!(cookie == 3 && status != Status::Success, "{status:?}");
    network.expect_broken(&a);
    let (cookie, status, _) = b.arrived();
    assert!(cookie == 2 && status != Status::Success, "{status:?}");
    network.expect_broken(&b);
    // The window is still usable.
    assert!(rmr.status().is_some_and(|bound| bound.remote_key == window.key));
    scene.near.paint(0..64, 1);
    scene.a.write(scene.near.at(0, 64), 4, window);
    scene.a.completes(4, Status::Success);
    assert!(scene.far.shows(100..164, 1));
}

pub fn invalid_key_breaks_connection<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network) else { return };
    let open = scene.adapter.buffer(64);
    let elsewhere = scene.bind(&scene.rmr, &scene.b, 100);
    for (what, key) in [
        ("a key that never was", elsewhere.key ^ 0x5555_5555),
        ("key 0", 0),
        ("the key of a region", open.lmr().remote_key),
        // On Soft-RoCE, any connection of the zone can invalidate such a window, so use key 0 instead.
        ("a window for another connection", if network.is_exact() { elsewhere.key } else { 0 }),
    ] {
        let (a, b) = scene.adapter.pair();
        scene.far.fill(1024..1088, 0xee);
        b.receive(scene.far.at(1024, 64), 2);
        revoke(&a, &scene, 3, key);
        let (cookie, status, _) = a.done();
        // A device can detect the error after the message has arrived.
        let fits = status == Status::RemoteAccess || !network.is_exact() && status == Status::Success;
        assert!(cookie == 3 && fits, "{what}: {status:?}");
        network.expect_broken(&a);
        let (cookie, status, _) = b.arrived();
        assert!(cookie == 2 && status != Status::Success, "{what}: {status:?}");
        network.expect_broken(&b);
        assert!(scene.rmr.status().is_some(), "{what}");
        if network.is_exact() {
            assert!(scene.far.is_all(1024..1088, 0xee), "{what}");
        }
    }
    scene.near.paint(0..64, 1);
    scene.a.write(scene.near.at(0, 64), 4, elsewhere);
    scene.a.completes(4, Status::Success);
    assert!(scene.far.shows(100..164, 1));
    if network.is_exact() {
        // A window of a zone can be invalidated over any connection of the zone.
        let rmr = Rmr::create(&scene.adapter.pz, Scope::Zone).unwrap();
        let window = scene.bind(&rmr, &scene.b, 200);
        let (a, b) = scene.adapter.pair();
        b.receive(scene.far.at(1024, 64), 5);
        revoke(&a, &scene, 6, window.key);
        assert_eq!(b.arrived_with(), ((5, Status::Success, 64), Transfer::RecvInvalidated, window.key));
        assert_eq!(rmr.status(), None);
    }
}
