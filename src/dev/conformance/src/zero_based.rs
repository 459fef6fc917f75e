//! Zero-based regions and windows.

use dat_core::error::Arg;
use dat_core::event::{ConnectionEvent, Event, Status};
use dat_core::testing::{Adapter, Buffer, End, next};
use dat_core::transport::{RemoteSegment, Scope, Transport};
use dat_core::{Base, CompletionFlags, Error, Lmr, LocalSegment, Memory, Object, Rights, Rmr};

use crate::{LOCAL, Network};

const SIZE: usize = 8192;

fn all() -> Rights {
    LOCAL | Rights::REMOTE_READ | Rights::REMOTE_WRITE
}

struct Scene<T: Transport> {
    near: Buffer<T>,
    far: Buffer<T>,
    a: End<T>,
    b: End<T>,
    adapter: Adapter<T>,
}

impl<T: Transport> Scene<T> {
    /// Returns `None` if the adapter rejects zero-based regions as unsupported.
    fn new(network: &Network<T>) -> Option<Self> {
        let adapter = network.open();
        if !adapter.ia.attributes().zero_based {
            let memory = adapter.buffer(SIZE);
            let memory = Memory::Virtual(memory.start());
            let refused = Lmr::create(&adapter.ia, memory, None, 64, &adapter.pz, LOCAL, Base::Zero).err();
            assert_eq!(refused, Some(Error::ModelNotSupported));
            return None;
        }
        let (a, b) = adapter.pair();
        let buffer = || adapter.buffer_from_zero(SIZE, all());
        Some(Scene { near: buffer(), far: buffer(), a, b, adapter })
    }
}

/// Returns a segment of the region with this context.
fn at(context: u32, addr: u64, len: usize) -> LocalSegment {
    LocalSegment { context, addr, len: len as u64 }
}

pub fn addresses_begin_with_zero<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter: _adapter, near, far, a, b }) = Scene::new(network) else { return };
    let (here, there) = (near.lmr().context, far.lmr().context);
    assert_eq!((near.lmr().addr(), near.lmr().len), (0, SIZE as u64));
    near.paint(100..200, 1);
    b.ep.post_recv(&[at(there, 10, 60), at(there, 1000, 40)], 1, CompletionFlags::DEFAULT).unwrap();
    b.receive(at(there, 2000, 50), 2);
    a.send(at(here, 100, 100), 3);
    a.ep.post_send(&[at(here, 0, 0), at(here, 100, 20), at(here, 120, 30)], 4, CompletionFlags::DEFAULT).unwrap();
    assert_eq!(b.arrived(), (1, Status::Success, 100));
    assert_eq!(b.arrived(), (2, Status::Success, 50));
    a.completes(3, Status::Success);
    a.completes(4, Status::Success);
    assert!(far.shows(10..70, 1) && far.shows_from(1000..1040, 1, 60) && far.shows(2000..2050, 1));
    near.paint(0..SIZE, 2);
    let key = far.lmr().remote_key;
    a.write(at(here, 0, SIZE), 5, RemoteSegment { addr: 0, len: SIZE as u64, key });
    a.completes(5, Status::Success);
    assert!(far.shows(0..SIZE, 2));
    far.paint(SIZE - 64..SIZE, 3);
    a.read(at(here, SIZE as u64 - 64, 64), 6, RemoteSegment { addr: SIZE as u64 - 64, len: 64, key });
    a.completes(6, Status::Success);
    assert!(near.shows(SIZE - 64..SIZE, 3) && near.shows(0..SIZE - 64, 2));
}

pub fn regions_of_both_kinds_share_memory<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter, near, far, a, b }) = Scene::new(network) else { return };
    let plain =
        Lmr::create(&adapter.ia, Memory::Virtual(far.start()), None, SIZE as u64, &adapter.pz, all(), Base::Address)
            .unwrap();
    assert_eq!((plain.addr(), plain.base, far.lmr().base), (far.start(), Base::Address, Base::Zero));
    near.paint(0..64, 1);
    let key = plain.remote_key;
    a.write(near.at(0, 64), 1, RemoteSegment { addr: far.start() + 128, len: 64, key });
    a.write(near.at(0, 64), 2, far.remote(256, 64));
    a.completes(1, Status::Success);
    a.completes(2, Status::Success);
    assert!(far.shows(128..192, 1) && far.shows(256..320, 1));
    b.receive(at(plain.context, far.start() + 512, 64), 3);
    b.receive(far.at(1024, 64), 4);
    a.send(near.at(0, 64), 5);
    a.send(near.at(0, 64), 6);
    b.arrives(3, Status::Success);
    b.arrives(4, Status::Success);
    assert!(far.shows(512..576, 1) && far.shows(1024..1088, 1));
    plain.free().unwrap();
}

pub fn region_of_region_has_its_own_base<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter, near, far, a, .. }) = Scene::new(network) else { return };
    let plain = adapter.buffer(SIZE);
    let over = |buffer: &Buffer<T>, base| {
        let memory = Memory::Region(buffer.lmr().header().handle());
        Lmr::create(&adapter.ia, memory, Some(buffer.lmr()), 0, &adapter.pz, all(), base).unwrap()
    };
    for (buffer, base, first) in [
        (&far, Base::Address, far.start()),
        (&far, Base::Zero, 0),
        (&plain, Base::Address, plain.start()),
        (&plain, Base::Zero, 0),
    ] {
        let lmr = over(buffer, base);
        assert_eq!((lmr.addr(), lmr.len), (first, SIZE as u64));
        near.paint(0..64, 4);
        buffer.fill(0..SIZE, 0);
        a.write(near.at(0, 64), 1, RemoteSegment { addr: first + 100, len: 64, key: lmr.remote_key });
        a.completes(1, Status::Success);
        assert!(buffer.shows(100..164, 4));
        near.fill(0..64, 0);
        a.read(at(lmr.context, first + 200, 64), 2, buffer.remote(100, 64));
        a.completes(2, Status::Success);
        assert!(buffer.shows(200..264, 4));
        lmr.free().unwrap();
    }
}

/// The virtual addresses of a zero-based region are outside, too.
pub fn rejects_ranges_outside_region<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter, near, far, a, b }) = Scene::new(network) else { return };
    let size = SIZE as u64;
    let wrong = |start| [(size - 63, 64), (size, 1), (u64::MAX, 1), (u64::MAX - 31, 64), (start, 64), (0, SIZE + 1)];
    for (addr, len) in wrong(near.start()) {
        let segment = at(near.lmr().context, addr, len);
        let refused = Err(Error::InvalidParameter(Arg::Segments));
        let far = far.remote(0, SIZE);
        assert_eq!(a.ep.post_send(&[segment], 1, CompletionFlags::DEFAULT), refused);
        assert_eq!(a.ep.post_write(&[segment], 1, far, CompletionFlags::DEFAULT), refused);
        assert_eq!(a.ep.post_read(&[segment], 1, far, CompletionFlags::DEFAULT), refused);
        assert_eq!(b.ep.post_recv(&[segment], 1, CompletionFlags::DEFAULT), refused);
    }
    far.fill(0..SIZE, 0xee);
    for (addr, len) in wrong(far.start()).into_iter().filter(|&(_, len)| len <= SIZE) {
        let (a, b) = adapter.pair();
        a.write(near.at(0, len), 1, RemoteSegment { addr, len: len as u64, key: far.lmr().remote_key });
        a.completes(1, Status::RemoteAccess);
        a.is_told(ConnectionEvent::Broken);
        network.expect_broken(&b);
        assert!(far.is_all(0..SIZE, 0xee));
    }
}

pub fn windows_have_their_own_base<T: Transport>(network: &Network<T>) {
    let Some(Scene { adapter, near, far, .. }) = Scene::new(network) else { return };
    if !adapter.ia.attributes().rmr {
        return;
    }
    let plain = adapter.buffer_with(SIZE, LOCAL);
    for buffer in [&plain, &far] {
        for base in [Base::Address, Base::Zero] {
            let (mut a, mut b) = adapter.pair();
            let rmr = Rmr::create(&adapter.pz, Scope::Zone).unwrap();
            let segment = buffer.at(1000, 500);
            let rights = Rights::REMOTE_READ | Rights::REMOTE_WRITE;
            let lmr = Some(buffer.lmr());
            let key = b.ep.post_bind(&rmr, lmr, segment, rights, base, 7, CompletionFlags::DEFAULT).unwrap();
            assert!(matches!(next(&b.requests), Event::Bind { status: Status::Success, .. }));
            let status = rmr.status().expect("it is bound");
            assert_eq!((status.segment, status.base, status.remote_key), (segment, base, key));
            let first = base.first(segment.addr);
            let named = |offset: i64, len| RemoteSegment { addr: first.wrapping_add_signed(offset), len, key };
            near.paint(0..500, 5);
            buffer.fill(0..SIZE, 0xee);
            a.write(near.at(0, 500), 1, named(0, 500));
            a.completes(1, Status::Success);
            assert!(buffer.shows(1000..1500, 5));
            assert!(buffer.is_all(0..1000, 0xee) && buffer.is_all(1500..SIZE, 0xee));
            near.fill(0..64, 0);
            a.read(near.at(0, 64), 2, named(436, 64));
            a.completes(2, Status::Success);
            assert!(near.shows_from(0..64, 5, 436));
            for wrong in [named(437, 64), named(500, 1), named(-1, 64)] {
                a.write(near.at(0, wrong.len as usize), 3, wrong);
                a.completes(3, Status::RemoteAccess);
                a.is_told(ConnectionEvent::Broken);
                network.expect_broken(&b);
                (a, b) = adapter.pair();
            }
            assert!(buffer.is_all(0..1000, 0xee) && buffer.is_all(1500..SIZE, 0xee));
            rmr.free();
        }
    }
}
