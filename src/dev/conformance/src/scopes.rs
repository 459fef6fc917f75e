//! Windows for one connection only.

use std::sync::Arc;

use dat_core::error::{Arg, StateError};
use dat_core::event::{ConnectionEvent, Event, Status};
use dat_core::testing::{Adapter, Buffer, End, next, quiet};
use dat_core::transport::{RemoteSegment, Scope, Transport};
use dat_core::{Base, CompletionFlags, Error, LocalSegment, Object, Result, Rights, Rmr};

use crate::{LOCAL, Network};

/// A buffer to bind, a local buffer, and a window for one connection.
struct Scene<T: Transport> {
    near: Buffer<T>,
    far: Buffer<T>,
    rmr: Arc<Rmr<T>>,
    adapter: Adapter<T>,
}

impl<T: Transport> Scene<T> {
    /// Returns `None` if the adapter rejects windows for one connection as unsupported.
    fn new(network: &Network<T>) -> Option<Self> {
        let adapter = network.open();
        let limits = adapter.ia.attributes();
        if !limits.endpoint_windows {
            let refused = if limits.rmr { Error::ModelNotSupported } else { Error::NotImplemented };
            assert_eq!(Rmr::create(&adapter.pz, Scope::Endpoint).err(), Some(refused));
            return None;
        }
        let rmr = Rmr::create(&adapter.pz, Scope::Endpoint).unwrap();
        assert_eq!(rmr.scope, Scope::Endpoint);
        let (near, far) = (adapter.buffer_with(4096, LOCAL), adapter.buffer_with(4096, LOCAL));
        Some(Scene { near, far, rmr, adapter })
    }

    /// Posts a bind of the window through `end`, to 64 bytes at offset 100 of `far`.
    fn post(&self, end: &End<T>) -> Result<RemoteSegment> {
        let (segment, rights) = (self.far.at(100, 64), Rights::REMOTE_READ | Rights::REMOTE_WRITE);
        let lmr = Some(self.far.lmr());
        let key = end.ep.post_bind(&self.rmr, lmr, segment, rights, Base::Address, 7, CompletionFlags::DEFAULT)?;
        Ok(RemoteSegment { addr: segment.addr, len: segment.len, key })
    }

    #[track_caller]
    fn bind(&self, end: &End<T>) -> RemoteSegment {
        let window = self.post(end).unwrap();
        self.is_bound(end);
        window
    }

    fn unbind(&self, end: &End<T>) -> Result<u32> {
        let nothing = LocalSegment { context: 0, addr: 0, len: 0 };
        end.ep.post_bind(&self.rmr, None, nothing, Rights::NONE, Base::Address, 7, CompletionFlags::DEFAULT)
    }

    #[track_caller]
    fn is_bound(&self, end: &End<T>) {
        match next(&end.requests) {
            Event::Bind { rmr, cookie: 7, status: Status::Success } => assert_eq!(rmr, self.rmr.header().handle()),
            other => panic!("{other:?}"),
        }
    }

    /// Expects that `end` can write and read through the window.
    #[track_caller]
    fn is_open_to(&self, end: &End<T>, window: RemoteSegment, seed: usize) {
        self.near.paint(0..64, seed);
        end.write(self.near.at(0, 64), 1, window);
        end.completes(1, Status::Success);
        assert!(self.far.shows(100..164, seed));
        end.read(self.near.at(1000, 64), 2, window);
        end.completes(2, Status::Success);
        assert!(self.near.shows(1000..1064, seed));
    }

    /// Expects that `a`, whose peer is `b`, can neither write nor read through the window.
    #[track_caller]
    fn is_closed_to(&self, network: &Network<T>, (a, b): (End<T>, End<T>), window: RemoteSegment, write: bool) {
        self.near.fill(0..64, 0xdd);
        let before = self.far.bytes(0..4096);
        if write {
            a.write(self.near.at(0, 64), 1, window);
        } else {
            a.read(self.near.at(0, 64), 1, window);
        }
        a.completes(1, Status::RemoteAccess);
        a.is_told(ConnectionEvent::Broken);
        network.expect_broken(&b);
        assert!(self.near.is_all(0..64, 0xdd) && self.far.bytes(0..4096) == before);
    }
}

pub fn window_is_closed_to_other_connections<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network) else { return };
    let (a, b) = scene.adapter.pair();
    let window = scene.bind(&b);
    scene.is_open_to(&a, window, 1);
    for write in [true, false] {
        scene.is_closed_to(network, scene.adapter.pair(), window, write);
    }
    scene.is_open_to(&a, window, 2);
}

pub fn only_its_endpoint_rebinds_window<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network) else { return };
    let ((a, b), (c, d)) = (scene.adapter.pair(), scene.adapter.pair());
    let old = scene.bind(&b);
    let refused = Error::InvalidParameter(Arg::Endpoint);
    assert_eq!(scene.post(&d).err(), Some(refused));
    assert_eq!(scene.unbind(&d), Err(refused));
    scene.is_open_to(&a, old, 1);
    let new = scene.bind(&b);
    assert_ne!(old.key, new.key);
    scene.is_open_to(&a, new, 2);
    scene.unbind(&b).unwrap();
    scene.is_bound(&b);
    assert_eq!(scene.rmr.status(), None);
    // An unbound window can be bound through any endpoint.
    let there = scene.bind(&d);
    scene.is_open_to(&c, there, 3);
    scene.is_closed_to(network, (a, b), there, true);
    scene.is_open_to(&c, there, 4);
    assert!(quiet([&d.requests]));
}

pub fn end_of_connection_unbinds_windows<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network) else { return };
    for how in ["its own disconnect", "the peer's disconnect", "a failure", "a graceful end", "a free"] {
        let (a, b) = scene.adapter.pair();
        let window = scene.bind(&b);
        scene.is_open_to(&a, window, 1);
        assert_eq!(scene.far.lmr().free(), Err(Error::InvalidState(StateError::LmrInUse)), "{how}");
        match how {
            "its own disconnect" => b.ep.disconnect(false).unwrap(),
            "the peer's disconnect" => a.ep.disconnect(false).unwrap(),
            "a failure" => {
                a.write(scene.near.at(0, 8), 9, RemoteSegment { addr: 8, len: 8, key: window.key ^ 0x5555_5555 });
            }
            "a graceful end" => b.ep.disconnect(true).unwrap(),
            _ => b.ep.free().unwrap(),
        }
        if how != "a free" {
            b.next_connection_event();
        }
        assert_eq!(scene.rmr.status(), None, "{how}");
        // A new region, which may take the row of the table that the window had.
        let own = scene.adapter.buffer_with(64, LOCAL);
        assert!(quiet([&b.requests]), "{how}");
        // On a new connection, the old key is invalid.
        let (c, d) = scene.adapter.pair();
        scene.is_closed_to(network, (c, d), window, true);
        let (c, d) = scene.adapter.pair();
        let again = scene.bind(&d);
        scene.is_open_to(&c, again, 2);
        scene.unbind(&d).unwrap();
        scene.is_bound(&d);
        own.lmr().free().unwrap();
    }
    // After the end of the connection, the region can be freed immediately.
    let (a, b) = scene.adapter.pair();
    scene.bind(&b);
    b.ep.disconnect(false).unwrap();
    b.is_told(ConnectionEvent::Disconnected);
    scene.far.lmr().free().unwrap();
    network.expect_disconnected(&a);
    // Reuse of the endpoint does not restore the binding.
    b.ep.reset().unwrap();
    assert_eq!(scene.rmr.status(), None);
    scene.rmr.free();
}

/// An unbind before the free of the region closes the window, too.
pub fn free_closes_window_with_suppressed_binds<T: Transport>(network: &Network<T>) {
    for unbind in [false, true] {
        let Some(scene) = Scene::new(network) else { return };
        let (a, b) = scene.adapter.pair();
        let quietly = |lmr, segment, rights| {
            b.ep.post_bind(&scene.rmr, lmr, segment, rights, Base::Address, 7, CompletionFlags::SUPPRESS).unwrap()
        };
        let segment = scene.far.at(100, 64);
        let key = quietly(Some(scene.far.lmr()), segment, Rights::REMOTE_READ | Rights::REMOTE_WRITE);
        let window = RemoteSegment { addr: segment.addr, len: segment.len, key };
        scene.is_open_to(&a, window, 1);
        if unbind {
            quietly(None, LocalSegment { context: 0, addr: 0, len: 0 }, Rights::NONE);
        } else {
            scene.rmr.free();
        }
        scene.far.lmr().free().unwrap();
        scene.is_closed_to(network, (a, b), window, true);
    }
}
