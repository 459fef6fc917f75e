//! RDMA and the rights of the target's regions.

use dat_core::event::{ConnectionEvent, Status};
use dat_core::testing::{Adapter, Buffer, End, connect, quiet};
use dat_core::transport::{RemoteSegment, Transport};
use dat_core::{CompletionFlags, Pz, Rights};

use crate::{LOCAL, Network, is_refusal, repeats, rounds, written};

const SIZE: usize = 8192;

/// Regions of a target with different rights.
struct Target<T: Transport> {
    open: Buffer<T>,
    read_only: Buffer<T>,
    write_only: Buffer<T>,
    local: Buffer<T>,
    elsewhere: Buffer<T>,
    /// Remote key of a freed region.
    freed: u32,
}

impl<T: Transport> Target<T> {
    fn new(adapter: &Adapter<T>) -> Self {
        let other = Pz::create(&adapter.ia).unwrap();
        let all = LOCAL | Rights::REMOTE_READ | Rights::REMOTE_WRITE;
        let target = Target {
            open: adapter.buffer(SIZE),
            read_only: adapter.buffer_with(SIZE, LOCAL | Rights::REMOTE_READ),
            write_only: adapter.buffer_with(SIZE, LOCAL | Rights::REMOTE_WRITE),
            local: adapter.buffer_with(SIZE, LOCAL),
            elsewhere: Buffer::new(&adapter.ia, &other, SIZE, all),
            freed: adapter.buffer(SIZE).lmr().remote_key,
        };
        for (seed, buffer) in target.all().into_iter().enumerate() {
            buffer.paint(0..SIZE, seed);
        }
        target
    }

    fn all(&self) -> [&Buffer<T>; 5] {
        [&self.open, &self.read_only, &self.write_only, &self.local, &self.elsewhere]
    }

    fn is_unharmed(&self) -> bool {
        self.all().into_iter().enumerate().all(|(seed, buffer)| buffer.shows(0..SIZE, seed))
    }

    /// Returns descriptions and values of remote segments that are invalid for a write, or for a read.
    fn wrong(&self, adapter: &Adapter<T>, write: bool) -> Vec<(&'static str, RemoteSegment)> {
        let open = self.open.remote(0, 64);
        let one_right = if write { &self.read_only } else { &self.write_only };
        // A region without remote rights may have no remote key. A malicious peer would then try the local key.
        let cheat = match self.local.remote(0, 64) {
            RemoteSegment { key: 0, .. } => {
                let region = self.local.lmr().region().expect("it is registered");
                RemoteSegment {
                    key: dat_core::transport::RegisteredRegion::local_key(&*region) as u32,
                    ..self.local.remote(0, 64)
                }
            }
            named => named,
        };
        let mut wrong = vec![
            ("a range one byte past the region", self.open.remote(SIZE - 63, 64)),
            ("a range one byte before the region", RemoteSegment { addr: open.addr - 1, ..open }),
            ("an address far beyond the region", RemoteSegment { addr: open.addr + (1 << 40), ..open }),
            ("a range that wraps around the address space", RemoteSegment { addr: u64::MAX - 31, ..open }),
            ("a region of another zone", self.elsewhere.remote(0, 64)),
            ("a region that was freed", RemoteSegment { key: self.freed, ..open }),
            ("an unknown key", RemoteSegment { key: open.key ^ 0x5555_5555, ..open }),
            ("key 0", RemoteSegment { key: 0, ..open }),
        ];
        // Soft-iWARP permits reads of these regions.
        if write || repeats(adapter) {
            wrong.push(("a region without that right", one_right.remote(0, 64)));
            wrong.push(("a region without remote rights", cheat));
        }
        wrong
    }
}

fn post<T: Transport>(end: &End<T>, write: bool, memory: &Buffer<T>, cookie: u64, remote: RemoteSegment) {
    if write {
        end.write(memory.at(0, 64), cookie, remote);
    } else {
        end.read(memory.at(0, 64), cookie, remote);
    }
}

fn violations<T: Transport>(network: &Network<T>, write: bool) {
    let adapter = network.open();
    let memory = adapter.buffer_with(4096, LOCAL);
    let target = Target::new(&adapter);
    for (what, wrong) in target.wrong(&adapter, write) {
        let (a, b) = adapter.pair();
        memory.fill(0..64, 0xee);
        a.receive(memory.at(1024, 64), 8);
        post(&a, write, &memory, 9, wrong);
        // Later requests are flushed.
        post(&a, write, &memory, 10, target.open.remote(0, 64));
        let (cookie, status, _) = a.done();
        assert_eq!(cookie, 9);
        assert!(is_refusal(&adapter, write, status, Status::RemoteAccess), "{what}: {status:?}");
        let (cookie, status, _) = a.done();
        assert_eq!(cookie, 10);
        assert!(status == Status::Flushed || !repeats(&adapter), "{what}: {status:?}");
        network.expect_refusal(&adapter, &a);
        a.arrives(8, Status::Flushed);
        network.expect_broken(&b);
        assert!(target.is_unharmed(), "{what}");
        assert!(memory.is_all(0..64, 0xee), "{what}: something was read");
        a.ep.free().unwrap();
        b.ep.free().unwrap();
    }
}

pub fn write_violation_breaks_connection<T: Transport>(network: &Network<T>) {
    violations(network, true);
}

pub fn read_violation_breaks_connection<T: Transport>(network: &Network<T>) {
    violations(network, false);
}

/// A write needs only the right to write, and a read only the right to read, up to the first and last byte. The target
/// gets no event.
pub fn rights_suffice_up_to_region_boundaries<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let memory = adapter.buffer_with(4096, LOCAL);
    let target = Target::new(&adapter);
    let (a, b) = adapter.pair();
    b.receive(memory.at(2048, 64), 1);
    memory.paint(0..64, 20);
    for at in [0, SIZE - 64] {
        a.write(memory.at(0, 64), 2, target.write_only.remote(at, 64));
        assert_eq!(a.done(), (2, Status::Success, 64));
        written(&adapter, "64 bytes", || target.write_only.shows(at..at + 64, 20));
        target.read_only.paint(at..at + 64, 21);
        a.read(memory.at(512, 64), 3, target.read_only.remote(at, 64));
        assert_eq!(a.done(), (3, Status::Success, 64));
        assert!(memory.shows(512..576, 21));
    }
    assert!(quiet([&b.receives, &b.requests, &b.connections]));
    b.write(memory.at(0, 64), 4, target.open.remote(0, 64));
    b.completes(4, Status::Success);
    written(&adapter, "64 bytes", || target.open.shows(0..64, 20));
}

pub fn transfers_change_no_other_bytes<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let (a, b) = adapter.pair();
    let (near, far) = (adapter.buffer(70_000), adapter.buffer(70_000));
    near.fill(0..70_000, 1);
    far.fill(0..70_000, 2);
    let window = far.remote(5, 60_000);
    a.ep.post_write(&[near.at(0, 100), near.at(100, 59_900)], 1, window, CompletionFlags::DEFAULT).unwrap();
    assert_eq!(a.done(), (1, Status::Success, 60_000));
    written(&adapter, "60,000 bytes", || far.is_all(5..60_005, 1));
    assert!(far.is_all(0..5, 2) && far.is_all(60_005..70_000, 2));
    far.fill(0..70_000, 9);
    a.read(near.at(1, 60_000), 2, window);
    assert_eq!(a.done(), (2, Status::Success, 60_000));
    assert!(near.is_all(1..60_001, 9) && near.is_all(0..1, 1) && near.is_all(60_001..70_000, 1));

    a.write(near.at(0, 60_000), 3, far.remote(20_000, 60_000));
    let (_, status, _) = a.done();
    assert!(is_refusal(&adapter, true, status, Status::RemoteAccess), "{status:?}");
    network.expect_refusal(&adapter, &a);
    network.expect_broken(&b);
}

/// Transfers without bytes accept any remote segment.
pub fn zero_length_transfers_succeed<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let (a, _b) = adapter.pair();
    let nowhere = RemoteSegment { addr: u64::MAX, len: 0, key: u32::MAX };
    a.ep.post_write(&[], 7, nowhere, CompletionFlags::DEFAULT).unwrap();
    a.ep.post_read(&[], 8, nowhere, CompletionFlags::DEFAULT).unwrap();
    assert_eq!(a.done(), (7, Status::Success, 0));
    assert_eq!(a.done(), (8, Status::Success, 0));
}

pub fn key_of_freed_region_is_invalid<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let memory = adapter.buffer(4096);
    for write in [true, false] {
        let (a, b) = adapter.pair();
        let far = adapter.buffer(SIZE);
        let remote = far.remote(0, 64);
        post(&a, write, &memory, 1, remote);
        a.completes(1, Status::Success);
        // This read completes only after the bytes of the write have arrived.
        post(&a, false, &memory, 3, remote);
        a.completes(3, Status::Success);
        far.lmr().free().unwrap();
        post(&a, write, &memory, 2, remote);
        let (_, status, _) = a.done();
        assert!(is_refusal(&adapter, write, status, Status::RemoteAccess), "{status:?}");
        network.expect_refusal(&adapter, &a);
        network.expect_broken(&b);
    }
}

/// After the target's disconnect has returned, no write of the peer changes its memory.
pub fn no_write_after_target_disconnects<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    for _ in 0..rounds(20) {
        let (near, far) = (adapter.buffer(64), adapter.buffer(64));
        let (a, b) = adapter.pair();
        near.fill(0..8, 9);
        far.fill(0..8, 7);
        b.ep.disconnect(false).unwrap();
        b.is_told(ConnectionEvent::Disconnected);
        // The writer may not have seen the disconnect yet, so both results are valid.
        let posted = a.ep.post_write(&[near.at(0, 8)], 2, far.remote(0, 8), CompletionFlags::DEFAULT);
        network.expect_disconnected(&a);
        match posted {
            Ok(()) => {
                let (cookie, status, _) = a.done();
                assert_eq!(cookie, 2);
                let fits = if network.is_exact() { status == Status::Flushed } else { status != Status::Success };
                assert!(fits || !repeats(&adapter), "{status:?}");
            }
            Err(error) => assert!(matches!(error, dat_core::Error::InvalidState(_)), "{error:?}"),
        }
        assert!(far.is_all(0..8, 7));
    }
}

pub fn reads_beyond_peer_limit_wait<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let most = adapter.ia.attributes().max_rdma_read_per_ep_out;
    let count = (2 * most).min(64);
    let (near, far) = (adapter.buffer(4096), adapter.buffer(4096));
    far.paint(0..4096, 3);
    for active in [true, false] {
        let reader = adapter.end_with(None, |attr| attr.max_rdma_read_out = most);
        let target = adapter.end_with(None, |attr| attr.max_rdma_read_in = 1);
        if active {
            connect(&reader, &target);
        } else {
            connect(&target, &reader);
        }
        near.fill(0..4096, 0);
        for cookie in 0..count {
            reader.read(near.at(0, 4096), cookie as u64, far.remote(0, 4096));
        }
        for cookie in 0..count {
            assert_eq!(reader.done(), (cookie as u64, Status::Success, 4096));
        }
        assert!(near.shows(0..4096, 3));
    }
}
