//! Windows for one connection alone.

use std::sync::Arc;

use dat_core::error::{Arg, StateError};
use dat_core::event::{ConnectionEvent, Event, Status};
use dat_core::testing::{Adapter, Buffer, End, connect, next, quiet};
use dat_core::transport::{RemoteSegment, Scope, Transport};
use dat_core::{Base, CompletionFlags, Error, LocalSegment, Object, Result, Rights, Rmr};

use crate::Network;

fn local() -> Rights {
    Rights::LOCAL_READ | Rights::LOCAL_WRITE
}

/// Memory to bind and to move from, and a window for one connection.
struct Scene<T: Transport> {
    near: Buffer<T>,
    far: Buffer<T>,
    rmr: Arc<Rmr<T>>,
    adapter: Adapter<T>,
}

impl<T: Transport> Scene<T> {
    /// `None` where the adapter says that it has no such windows, and has none.
    fn new(network: &Network<T>) -> Option<Self> {
        let adapter = network.open();
        let limits = adapter.ia.transport.attributes();
        if !limits.endpoint_windows {
            let refused = if limits.rmr { Error::ModelNotSupported } else { Error::NotImplemented };
            assert_eq!(Rmr::create(&adapter.pz, Scope::Endpoint).err(), Some(refused));
            return None;
        }
        let rmr = Rmr::create(&adapter.pz, Scope::Endpoint).unwrap();
        assert_eq!(rmr.scope, Scope::Endpoint);
        let (near, far) = (adapter.buffer_with(4096, local()), adapter.buffer_with(4096, local()));
        Some(Scene { near, far, rmr, adapter })
    }

    /// Posts a bind through `end`, to the part at 100 of 64 bytes.
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

    /// Posts an unbind through `end`.
    fn unbind(&self, end: &End<T>) -> Result<u32> {
        let nothing = LocalSegment { context: 0, addr: 0, len: 0 };
        end.ep.post_bind(&self.rmr, None, nothing, Rights::NONE, Base::Address, 7, CompletionFlags::DEFAULT)
    }

    /// The next completion at `end` is that of a bind.
    #[track_caller]
    fn is_bound(&self, end: &End<T>) {
        match next(&end.requests) {
            Event::Bind { rmr, cookie: 7, status: Status::Success } => assert_eq!(rmr, self.rmr.header().handle()),
            other => panic!("{other:?}"),
        }
    }

    /// `end` writes through the window, and reads, and sees what it has written.
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

    /// `a`, whose peer is `b`, fails to write through the window, or to read.
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
        network.is_told_of_a_failure(&b);
        assert!(self.near.is_all(0..64, 0xdd) && self.far.bytes(0..4096) == before);
    }
}

/// Its peer uses it; over another connection of the same zone it is nothing.
pub fn a_window_for_one_connection_opens_nothing_to_others<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network) else { return };
    let (a, b) = scene.adapter.pair();
    let window = scene.bind(&b);
    scene.is_open_to(&a, window, 1);
    for write in [true, false] {
        scene.is_closed_to(network, scene.adapter.pair(), window, write);
    }
    // Nor to the end over which it is bound, as a peer of another one.
    let other = scene.adapter.end();
    let third = scene.adapter.end();
    connect(&third, &other);
    scene.is_closed_to(network, (third, other), window, true);
    scene.is_open_to(&a, window, 2);
}

/// While it is bound, another endpoint neither binds nor unbinds it.
pub fn a_window_for_one_connection_is_changed_over_it_alone<T: Transport>(network: &Network<T>) {
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
    // Unbound, it can be bound over any.
    let there = scene.bind(&d);
    scene.is_open_to(&c, there, 3);
    scene.is_closed_to(network, (a, b), there, true);
    scene.is_open_to(&c, there, 4);
    assert!(quiet([&d.requests]));
}

/// Its end unbinds the windows of a connection, without a completion: the region can be freed, the window bound again.
pub fn the_end_of_the_connection_unbinds_its_windows<T: Transport>(network: &Network<T>) {
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
            b.news();
        }
        assert_eq!(scene.rmr.status(), None, "{how}");
        let own = scene.adapter.buffer_with(64, local());
        assert!(quiet([&b.requests]), "{how}");
        // Over a new connection it is another window.
        let (c, d) = scene.adapter.pair();
        scene.is_closed_to(network, (c, d), window, true);
        let (c, d) = scene.adapter.pair();
        let again = scene.bind(&d);
        scene.is_open_to(&c, again, 2);
        scene.unbind(&d).unwrap();
        scene.is_bound(&d);
        own.lmr().free().unwrap();
    }
    // The region that was shown last is the program's again at once.
    let (a, b) = scene.adapter.pair();
    scene.bind(&b);
    b.ep.disconnect(false).unwrap();
    b.is_told(ConnectionEvent::Disconnected);
    scene.far.lmr().free().unwrap();
    network.is_told_of_a_farewell(&a);
    // The endpoint is used again; the window is no longer bound.
    b.ep.reset().unwrap();
    assert_eq!(scene.rmr.status(), None);
    scene.rmr.free();
}

/// What is bound and unbound without completions is closed once the window, or the region alone, is free.
pub fn a_free_closes_a_window_whose_completions_nobody_fetches<T: Transport>(network: &Network<T>) {
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
