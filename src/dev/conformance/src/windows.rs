//! Binds of remote memory regions.

use std::sync::Arc;

use dat_core::error::StateError;
use dat_core::event::{ConnectionEvent, Event, Status};
use dat_core::testing::{Adapter, Buffer, End, next, quiet};
use dat_core::transport::{RemoteSegment, Scope, Transport};
use dat_core::{Base, CompletionFlags, Error, LocalSegment, Object, Rights, Rmr};

use crate::{LOCAL, Network, rounds};

const BIND: u64 = 0xb1;

fn both() -> Rights {
    Rights::REMOTE_READ | Rights::REMOTE_WRITE
}

/// Two connected ends; the buffer `far`, to which windows are bound; and the local buffer `near`. Both have only local
/// rights.
struct Scene<'n, T: Transport> {
    near: Buffer<T>,
    far: Buffer<T>,
    a: End<T>,
    b: End<T>,
    adapter: Adapter<T>,
    network: &'n Network<T>,
}

impl<'n, T: Transport> Scene<'n, T> {
    /// Returns `None` if the adapter rejects windows as unsupported.
    fn new(network: &'n Network<T>) -> Option<Self> {
        let adapter = network.open();
        if !adapter.ia.attributes().rmr {
            assert_eq!(Rmr::create(&adapter.pz, Scope::Zone).err(), Some(Error::NotImplemented));
            return None;
        }
        let (a, b) = adapter.pair();
        let near = adapter.buffer_with(4096, LOCAL);
        let far = adapter.buffer_with(8192, LOCAL);
        Some(Scene { near, far, a, b, adapter, network })
    }

    fn window(&self) -> Arc<Rmr<T>> {
        Rmr::create(&self.adapter.pz, Scope::Zone).unwrap()
    }

    /// Posts a bind of the window to a part of `far`, through the passive end.
    fn bind(&self, rmr: &Rmr<T>, at: usize, len: usize, rights: Rights) -> RemoteSegment {
        self.bind_to(rmr, &self.far, at, len, rights)
    }

    fn bind_to(&self, rmr: &Rmr<T>, buffer: &Buffer<T>, at: usize, len: usize, rights: Rights) -> RemoteSegment {
        let segment = buffer.at(at, len);
        let key = self
            .b
            .ep
            .post_bind(rmr, Some(buffer.lmr()), segment, rights, Base::Address, BIND, CompletionFlags::DEFAULT)
            .unwrap();
        RemoteSegment { addr: segment.addr, len: segment.len, key }
    }

    fn unbind(&self, rmr: &Rmr<T>) {
        let nothing = LocalSegment { context: 0, addr: 0, len: 0 };
        self.b.ep.post_bind(rmr, None, nothing, Rights::NONE, Base::Address, BIND, CompletionFlags::DEFAULT).unwrap();
    }

    #[track_caller]
    fn bound(&self, rmr: &Rmr<T>) {
        match next(&self.b.requests) {
            Event::Bind { rmr: told, cookie, status } => {
                assert_eq!((told, cookie, status), (rmr.header().handle(), BIND, Status::Success));
            }
            other => panic!("{other:?}"),
        }
    }

    /// Writes or reads through a window, and expects success or a violation. After a violation, connects new ends.
    #[track_caller]
    fn access(&mut self, remote: RemoteSegment, write: bool, allowed: bool) {
        let len = remote.len as usize;
        if write {
            self.a.write(self.near.at(0, len), 1, remote);
        } else {
            self.a.read(self.near.at(0, len), 1, remote);
        }
        self.a.completes(1, if allowed { Status::Success } else { Status::RemoteAccess });
        if !allowed {
            self.a.is_told(ConnectionEvent::Broken);
            self.network.expect_broken(&self.b);
            self.a.ep.free().unwrap();
            self.b.ep.free().unwrap();
            (self.a, self.b) = self.adapter.pair();
        }
    }

    /// Posts a message without a receive, and then calls `post`, which binds a window. The bind must wait for the
    /// message.
    fn after_message<R>(&self, post: impl FnOnce() -> R) -> R {
        self.b.send(self.near.at(0, 64), 8);
        let posted = post();
        assert!(quiet([&self.b.requests]), "a bind has overtaken a message");
        posted
    }

    #[track_caller]
    fn release_message(&self, rmr: &Rmr<T>) {
        self.a.receive(self.near.at(64, 64), 9);
        self.a.arrives(9, Status::Success);
        self.b.completes(8, Status::Success);
        self.bound(rmr);
        assert!(quiet([&self.a.connections, &self.b.connections]));
    }
}

fn part(of: RemoteSegment, offset: i64, len: u64) -> RemoteSegment {
    RemoteSegment { addr: of.addr.wrapping_add_signed(offset), len, ..of }
}

pub fn window_grants_exactly_its_range<T: Transport>(network: &Network<T>) {
    let Some(mut scene) = Scene::new(network) else { return };
    let rmr = scene.window();
    let window = scene.bind(&rmr, 1000, 500, both());
    scene.bound(&rmr);
    scene.near.paint(0..500, 1);
    scene.access(window, true, true);
    assert!(scene.far.shows(1000..1500, 1));
    scene.near.fill(0..500, 0);
    scene.access(window, false, true);
    assert!(scene.near.shows(0..500, 1));
    scene.access(part(window, 499, 1), true, true);
    scene.far.fill(0..8192, 0xee);
    scene.access(part(window, 499, 2), true, false);
    scene.access(part(window, -1, 2), false, false);
    assert!(scene.far.is_all(0..8192, 0xee));
    // The endpoint that bound the window has been freed. Other endpoints of the zone can still use the window.
    scene.access(part(window, 200, 10), true, true);
}

pub fn new_bind_replaces_key_range_and_rights<T: Transport>(network: &Network<T>) {
    let Some(mut scene) = Scene::new(network) else { return };
    let rmr = scene.window();
    let old = scene.bind(&rmr, 1000, 500, both());
    scene.bound(&rmr);
    let new = scene.bind(&rmr, 4096, 100, Rights::REMOTE_READ);
    scene.bound(&rmr);
    assert_ne!(old.key, new.key);
    assert_eq!(rmr.status().map(|status| status.remote_key), Some(new.key));
    scene.access(new, false, true);
    scene.access(new, true, false);
    scene.access(part(old, 0, 10), false, false);
}

pub fn unbound_window_grants_nothing<T: Transport>(network: &Network<T>) {
    let Some(mut scene) = Scene::new(network) else { return };
    let rmr = scene.window();
    let window = scene.bind(&rmr, 0, 100, both());
    scene.bound(&rmr);
    scene.access(window, false, true);
    let in_use = Some(Error::InvalidState(StateError::LmrInUse));
    assert_eq!(scene.far.lmr().free().err(), in_use);
    scene.unbind(&rmr);
    scene.bound(&rmr);
    assert_eq!(rmr.status(), None);
    scene.access(window, false, false);
    let window = scene.bind(&rmr, 0, 100, both());
    scene.bound(&rmr);
    scene.access(window, false, true);
}

pub fn freed_window_grants_nothing<T: Transport>(network: &Network<T>) {
    let Some(mut scene) = Scene::new(network) else { return };
    let rmr = scene.window();
    let window = scene.bind(&rmr, 0, 100, both());
    scene.bound(&rmr);
    rmr.free();
    scene.access(window, false, false);
    scene.far.lmr().free().unwrap();
}

pub fn key_sent_after_bind_is_valid_on_arrival<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network) else { return };
    let rmr = scene.window();
    for k in 0..rounds(50) {
        scene.a.receive(scene.near.at(64, 64), 2);
        let window = scene.bind(&rmr, k, 64, both());
        scene.near.put(128, &window.key.to_le_bytes());
        scene.b.send(scene.near.at(128, 64), 3);
        scene.a.arrives(2, Status::Success);
        let key = u32::from_le_bytes(scene.near.bytes(64..68).try_into().unwrap());
        scene.a.write(scene.near.at(0, 64), 4, RemoteSegment { key, ..window });
        scene.a.completes(4, Status::Success);
        scene.bound(&rmr);
        scene.b.completes(3, Status::Success);
    }
}

/// The window is freed while its bind waits for an earlier message.
pub fn window_can_be_freed_during_bind<T: Transport>(network: &Network<T>) {
    let Some(mut scene) = Scene::new(network) else { return };
    for bound_before in [false, true] {
        let rmr = scene.window();
        let before = bound_before.then(|| {
            let before = scene.bind(&rmr, 4096, 64, both());
            scene.bound(&rmr);
            before
        });
        let window = scene.after_message(|| scene.bind(&rmr, 0, 64, both()));
        rmr.free();
        scene.release_message(&rmr);
        scene.access(window, false, false);
        if let Some(before) = before {
            scene.access(before, false, false);
        }
    }
}

/// While an unbind or a bind to another region waits, a free of the old region either succeeds, or fails because it is
/// in use.
pub fn region_can_be_freed_during_rebind<T: Transport>(network: &Network<T>) {
    let Some(mut scene) = Scene::new(network) else { return };
    for unbind in [false, true] {
        let first = scene.adapter.buffer_with(4096, LOCAL);
        let rmr = scene.window();
        let old = scene.bind_to(&rmr, &first, 0, 64, both());
        scene.bound(&rmr);
        let window = scene.after_message(|| {
            if unbind {
                scene.unbind(&rmr);
                None
            } else {
                Some(scene.bind(&rmr, 0, 64, both()))
            }
        });
        let freed = first.lmr().free();
        assert!(matches!(freed, Ok(()) | Err(Error::InvalidState(StateError::LmrInUse))), "{freed:?}");
        scene.release_message(&rmr);
        if freed.is_err() {
            first.lmr().free().unwrap();
        }
        if let Some(window) = window {
            scene.near.paint(0..64, 5);
            scene.access(window, true, true);
            assert!(scene.far.shows(0..64, 5));
        }
        scene.access(old, false, false);
        rmr.free();
    }
}
