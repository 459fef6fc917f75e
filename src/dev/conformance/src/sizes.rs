//! Messages, RDMA writes and RDMA reads of every size, byte by byte.

use dat_core::event::{ConnectionEvent, Status};
use dat_core::testing::{Buffer, End};
use dat_core::transport::Transport;

use crate::{Network, refused};

/// Nothing, one byte, cells of a ring and packets of a device on both sides of their edges,
/// and much.
const SIZES: [usize; 19] =
    [0, 1, 2, 47, 48, 49, 63, 64, 65, 1000, 4095, 4096, 4097, 8191, 8192, 8193, 65_537, 100_000, 1 << 20];
const LARGEST: usize = 1 << 20;
/// Bytes behind each transfer that must stay as they were.
const GUARD: usize = 64;

/// Two connected ends, and memory to move from and to, neither at an even address.
struct Scene<T: Transport> {
    from: Buffer<T>,
    to: Buffer<T>,
    a: End<T>,
    b: End<T>,
    _adapter: dat_core::testing::Adapter<T>,
}

impl<T: Transport> Scene<T> {
    fn new(network: &Network<T>) -> Self {
        let adapter = network.open();
        let (a, b) = adapter.pair();
        let (from, to) = (adapter.buffer(LARGEST + 64), adapter.buffer(LARGEST + 64 + GUARD));
        Scene { from, to, a, b, _adapter: adapter }
    }

    /// Goes through all sizes: `transfer` moves `len` bytes from one offset to the other.
    fn each(&self, transfer: impl Fn(&Self, usize, usize, usize)) {
        for (seed, &len) in SIZES.iter().enumerate() {
            let (here, there) = (seed * 7 % 64, seed * 13 % 64);
            self.from.paint(here..here + len, seed);
            self.to.fill(0..there + len + GUARD, 0xee);
            transfer(self, here, there, len);
            assert!(self.to.shows(there..there + len, seed), "{len} bytes");
            assert!(self.to.is_all(0..there, 0xee), "{len} bytes, and some before them");
            assert!(self.to.is_all(there + len..there + len + GUARD, 0xee), "{len} bytes, and some behind them");
        }
    }
}

/// Sends into a receive of their size.
pub fn messages_of_all_sizes_arrive<T: Transport>(network: &Network<T>) {
    Scene::new(network).each(|scene, here, there, len| {
        scene.b.receive(scene.to.at(there, len), 1);
        scene.a.send(scene.from.at(here, len), 2);
        assert_eq!(scene.b.arrived(), (1, Status::Success, len as u64));
        assert_eq!(scene.a.done(), (2, Status::Success, len as u64));
    });
}

/// RDMA writes, of which the target hears nothing.
pub fn writes_of_all_sizes_arrive<T: Transport>(network: &Network<T>) {
    Scene::new(network).each(|scene, here, there, len| {
        scene.a.write(scene.from.at(here, len), 1, scene.to.remote(there, len));
        assert_eq!(scene.a.done(), (1, Status::Success, len as u64));
    });
}

/// RDMA reads, by the passive side.
pub fn reads_of_all_sizes_arrive<T: Transport>(network: &Network<T>) {
    Scene::new(network).each(|scene, here, there, len| {
        scene.b.read(scene.to.at(there, len), 1, scene.from.remote(here, len));
        assert_eq!(scene.b.done(), (1, Status::Success, len as u64));
    });
}

/// The completion has the length of the message, and the rest of the buffer is untouched.
pub fn a_short_message_leaves_the_rest_of_its_buffer<T: Transport>(network: &Network<T>) {
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

/// Both ends fail, and nothing is written behind the buffer.
pub fn a_message_that_is_too_long_ends_the_connection<T: Transport>(network: &Network<T>) {
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
        assert!(
            !matches!(status, Status::Success | Status::Flushed) || refused(&adapter, Status::Transport) == status,
            "{status:?}"
        );
        b.arrives(4, Status::Flushed);
        b.is_told(ConnectionEvent::Broken);
        network.is_told_of_a_failure(&a);
        assert!(to.is_all(len - 1..len + GUARD, 0xee), "{len} bytes");
    }
}
