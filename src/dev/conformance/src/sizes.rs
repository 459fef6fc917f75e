//! Messages, RDMA writes and RDMA reads of all sizes.

use dat_core::event::{ConnectionEvent, Status};
use dat_core::testing::{Buffer, End};
use dat_core::transport::Transport;

use crate::{Network, repeats, written};

/// Sizes around the boundaries of ring cells and packets.
const SIZES: [usize; 19] =
    [0, 1, 2, 47, 48, 49, 63, 64, 65, 1000, 4095, 4096, 4097, 8191, 8192, 8193, 65_537, 100_000, 1 << 20];
const LARGEST: usize = 1 << 20;
/// Bytes after each transfer that must not change.
const GUARD: usize = 64;

struct Scene<T: Transport> {
    from: Buffer<T>,
    to: Buffer<T>,
    a: End<T>,
    b: End<T>,
    adapter: dat_core::testing::Adapter<T>,
}

impl<T: Transport> Scene<T> {
    fn new(network: &Network<T>) -> Self {
        let adapter = network.open();
        let (a, b) = adapter.pair();
        let (from, to) = (adapter.buffer(LARGEST + 64), adapter.buffer(LARGEST + 64 + GUARD));
        Scene { from, to, a, b, adapter }
    }

    /// Calls `transfer` for each size, with an offset in `from`, an offset in `to`, and the size. Most offsets are
    /// unaligned.
    fn each(&self, transfer: impl Fn(&Self, usize, usize, usize)) {
        for (seed, &len) in SIZES.iter().enumerate() {
            let (here, there) = (seed * 7 % 64, seed * 13 % 64);
            self.from.paint(here..here + len, seed);
            self.to.fill(0..there + len + GUARD, 0xee);
            transfer(self, here, there, len);
            written(&self.adapter, &format!("{len} bytes"), || self.to.shows(there..there + len, seed));
            assert!(self.to.is_all(0..there, 0xee), "{len} bytes, and some before them");
            assert!(self.to.is_all(there + len..there + len + GUARD, 0xee), "{len} bytes, and some behind them");
        }
    }
}

pub fn messages_of_all_sizes_arrive<T: Transport>(network: &Network<T>) {
    Scene::new(network).each(|scene, here, there, len| {
        scene.b.receive(scene.to.at(there, len), 1);
        scene.a.send(scene.from.at(here, len), 2);
        assert_eq!(scene.b.arrived(), (1, Status::Success, len as u64));
        assert_eq!(scene.a.done(), (2, Status::Success, len as u64));
    });
}

pub fn writes_of_all_sizes_arrive<T: Transport>(network: &Network<T>) {
    Scene::new(network).each(|scene, here, there, len| {
        scene.a.write(scene.from.at(here, len), 1, scene.to.remote(there, len));
        assert_eq!(scene.a.done(), (1, Status::Success, len as u64));
    });
}

pub fn reads_of_all_sizes_arrive<T: Transport>(network: &Network<T>) {
    Scene::new(network).each(|scene, here, there, len| {
        scene.b.read(scene.to.at(there, len), 1, scene.from.remote(here, len));
        assert_eq!(scene.b.done(), (1, Status::Success, len as u64));
    });
}

pub fn short_message_leaves_rest_of_buffer<T: Transport>(network: &Network<T>) {
    const ROOM: usize = 65_536;
    let scene = Scene::new(network);
    for len in [0, 1, 18, 307, 5220, ROOM] {
        scene.from.paint(0..len, 1);
        scene.to.fill(0..ROOM + GUARD, 0xee);
        scene.b.receive(scene.to.at(0, ROOM), 1);
        scene.a.send(scene.from.at(0, len), 2);
        assert_eq!(scene.b.arrived(), (1, Status::Success, len as u64));
        assert_eq!(scene.a.done(), (2, Status::Success, len as u64));
        assert!(scene.to.shows(0..len, 1) && scene.to.is_all(len..ROOM + GUARD, 0xee), "{len} bytes");
    }
}

/// Both ends break, and no byte past the buffer changes.
pub fn message_that_is_too_long_breaks_connection<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let (from, to) = (adapter.buffer(LARGEST), adapter.buffer(LARGEST + GUARD));
    for len in [1, 64, 2048, 8193, 65_536] {
        let (a, b) = adapter.pair();
        to.fill(0..len + GUARD, 0xee);
        b.receive(to.at(0, len - 1), 3);
        b.receive(to.at(len, 16), 4);
        a.send(from.at(0, len), 5);
        b.arrives(3, Status::LocalLength);
        let (cookie, status, _) = a.done();
        assert_eq!(cookie, 5);
        assert!(!matches!(status, Status::Success | Status::Flushed) || !repeats(&adapter), "{status:?}");
        b.arrives(4, Status::Flushed);
        b.is_told(ConnectionEvent::Broken);
        network.expect_broken(&a);
        assert!(to.is_all(len - 1..len + GUARD, 0xee), "{len} bytes");
    }
}
