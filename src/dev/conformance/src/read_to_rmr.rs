//! RDMA reads into memory that a remote key names.

use dat_core::error::{Access, Arg};
use dat_core::event::{Event, Status};
use dat_core::testing::{Adapter, Buffer, End, next};
use dat_core::transport::{RemoteSegment, Scope, Transport};
use dat_core::{Base, CompletionFlags, Error, LocalSegment, Pz, Result, Rights, Rmr};

use crate::{LOCAL, Network};

fn read<T: Transport>(end: &End<T>, key: u32, addr: u64, len: u64, from: RemoteSegment) -> Result<()> {
    end.ep.post_read_to_rmr(LocalSegment { context: key, addr, len }, 1, from, CompletionFlags::DEFAULT)
}

#[track_caller]
fn bind<T: Transport>(end: &End<T>, rmr: &Rmr<T>, buffer: &Buffer<T>, rights: Rights, base: Base) -> u32 {
    let segment = buffer.at(1000, 500);
    let lmr = Some(buffer.lmr());
    let key = end.ep.post_bind(rmr, lmr, segment, rights, base, 7, CompletionFlags::DEFAULT).unwrap();
    assert!(matches!(next(&end.requests), Event::Bind { status: Status::Success, .. }));
    key
}

pub fn reads_into_window<T: Transport>(network: &Network<T>) {
    let adapter: Adapter<T> = network.open();
    let limits = adapter.ia.attributes();
    if !limits.rmr {
        return;
    }
    let (a, _b) = adapter.pair();
    let (sink, source) = (adapter.buffer_with(4096, LOCAL), adapter.buffer(4096));
    let bases = if limits.zero_based { &[Base::Address, Base::Zero][..] } else { &[Base::Address] };
    let scopes = if limits.endpoint_windows { &[Scope::Zone, Scope::Endpoint][..] } else { &[Scope::Zone] };
    for (seed, (&base, &scope)) in
        bases.iter().flat_map(|base| scopes.iter().map(move |scope| (base, scope))).enumerate()
    {
        let rmr = Rmr::create(&adapter.pz, scope).unwrap();
        let key = bind(&a, &rmr, &sink, Rights::REMOTE_WRITE, base);
        let first = base.first(sink.at(1000, 500).addr);
        source.paint(0..4096, seed);
        sink.fill(0..4096, 0xee);
        read(&a, key, first, 500, source.remote(0, 500)).unwrap();
        assert_eq!(a.done(), (1, Status::Success, 500));
        assert!(sink.shows(1000..1500, seed) && sink.is_all(0..1000, 0xee) && sink.is_all(1500..4096, 0xee));
        read(&a, key, first + 436, 64, source.remote(500, 60)).unwrap();
        assert_eq!(a.done(), (1, Status::Success, 60));
        assert!(sink.shows_from(1436..1496, seed, 500));
        rmr.free();
    }
}

pub fn reads_into_region_by_remote_key<T: Transport>(network: &Network<T>) {
    let adapter: Adapter<T> = network.open();
    let (a, _b) = adapter.pair();
    let (sink, source) = (adapter.buffer(4096), adapter.buffer(4096));
    source.paint(0..4096, 1);
    let named = sink.remote(64, 4000);
    read(&a, named.key, named.addr, named.len, source.remote(0, 4000)).unwrap();
    assert_eq!(a.done(), (1, Status::Success, 4000));
    assert!(sink.shows(64..4064, 1));
    sink.lmr().free().unwrap();
    let gone = read(&a, named.key, named.addr, 8, source.remote(0, 8));
    assert_eq!(gone, Err(Error::PrivilegesViolation(Access::Write)));
}

/// The post is rejected, and the connection stays up.
pub fn rejects_read_into_unwritable_memory<T: Transport>(network: &Network<T>) {
    let adapter: Adapter<T> = network.open();
    let limits = adapter.ia.attributes();
    if !limits.rmr {
        return;
    }
    let ((a, b), (c, _d)) = (adapter.pair(), adapter.pair());
    let (sink, source) = (adapter.buffer_with(4096, LOCAL), adapter.buffer(4096));
    sink.fill(0..4096, 0xee);
    let from = source.remote(0, 8);
    let (privileges, protection) =
        (Err(Error::PrivilegesViolation(Access::Write)), Err(Error::ProtectionViolation(Access::Write)));
    let rmr = Rmr::create(&adapter.pz, Scope::Zone).unwrap();
    let first = sink.at(1000, 500).addr;
    let read_only = bind(&a, &rmr, &sink, Rights::REMOTE_READ, Base::Address);
    assert_eq!(read(&a, read_only, first, 8, from), privileges);
    let key = bind(&a, &rmr, &sink, Rights::REMOTE_WRITE, Base::Address);
    assert_eq!(read(&a, read_only, first, 8, from), privileges, "the key of before");
    assert_eq!(read(&a, 0, first, 8, from), privileges);
    assert_eq!(read(&a, key ^ 0x5555_5555, first, 8, from), privileges);
    for (addr, len) in [(first - 1, 8), (first + 493, 8), (first, 501), (u64::MAX, 8), (0, 8)] {
        assert_eq!(read(&a, key, addr, len, from), Err(Error::InvalidParameter(Arg::Segments)));
    }
    assert_eq!(read(&a, key, first, 7, from), Err(Error::LengthError));
    let other = Pz::create(&adapter.ia).unwrap();
    let elsewhere = Buffer::new(&adapter.ia, &other, 64, LOCAL | Rights::REMOTE_WRITE);
    let named = elsewhere.remote(0, 8);
    assert_eq!(read(&a, named.key, named.addr, 8, from), protection);
    if limits.endpoint_windows {
        let mine = Rmr::create(&adapter.pz, Scope::Endpoint).unwrap();
        let key = bind(&b, &mine, &sink, Rights::REMOTE_WRITE, Base::Address);
        assert_eq!(read(&c, key, first, 8, from), protection, "a window for another connection");
        read(&b, key, first, 8, from).unwrap();
        b.completes(1, Status::Success);
        sink.fill(1000..1008, 0xee);
    }
    rmr.free();
    assert_eq!(read(&a, key, first, 8, from), privileges, "the key of a window that is gone");
    assert!(sink.is_all(0..4096, 0xee));
    // An empty read needs no valid segment.
    read(&a, 0, 0, 0, RemoteSegment { len: 0, ..from }).unwrap();
    assert_eq!(a.done(), (1, Status::Success, 0));
}
