//! Protection zones, regions and windows: their users and ranges.

use dat_core::error::{Access, Arg, Error, Resource, StateError};
use dat_core::testing::Buffer;
use dat_core::transport::Scope;
use dat_core::{Base, CompletionFlags, Lmr, LocalSegment, Memory, Object, Pz, Rights, Rmr};

use super::*;

const PZ_IN_USE: Result<()> = Err(Error::InvalidState(StateError::PzInUse));

fn local() -> Rights {
    Rights::LOCAL_READ | Rights::LOCAL_WRITE
}

#[test]
fn used_zone_cannot_be_freed() {
    let adapter = open();
    let zone = || Pz::create(&adapter.ia).unwrap();
    let (first, second) = (zone(), zone());
    assert_ne!(first.id(), second.id());
    assert!(std::sync::Arc::ptr_eq(first.ia(), &adapter.ia));
    second.free().unwrap();
    let srq = adapter.srq(4);
    assert_eq!(adapter.pz.free(), PZ_IN_USE);
    srq.free().unwrap();
    let rmr = Rmr::create(&adapter.pz, Scope::Zone).unwrap();
    assert_eq!(adapter.pz.free(), PZ_IN_USE);
    rmr.free();
    let buffer = adapter.buffer(8);
    assert_eq!(adapter.pz.free(), PZ_IN_USE);
    drop(buffer);
    let end = adapter.end();
    assert_eq!(adapter.pz.free(), PZ_IN_USE);
    end.ep.free().unwrap();
    adapter.pz.free().unwrap();
    assert!(Rmr::create(&adapter.pz, Scope::Zone).is_err());
}

#[test]
fn rejects_invalid_ranges() {
    let adapter = open();
    let create = |memory, len| Lmr::create(&adapter.ia, memory, None, len, &adapter.pz, local(), Base::Address).err();
    let bad = |arg| Some(Error::InvalidParameter(arg));
    assert_eq!(create(Memory::Virtual(4096), 0), bad(Arg::Length));
    assert_eq!(create(Memory::Virtual(4096), u64::MAX), bad(Arg::Length));
    assert_eq!(create(Memory::Virtual(0), 100), bad(Arg::Region));
    assert_eq!(create(Memory::Virtual(u64::MAX - 10), 100), bad(Arg::Region));
    assert_eq!(create(Memory::Region(dat_core::Handle::NULL), 100), bad(Arg::Region));
    fake(&adapter).refuse_after(0, Error::InsufficientResources(Resource::Region));
    assert_eq!(create(Memory::Virtual(4096), 100), Some(Error::InsufficientResources(Resource::Region)));
    adapter.pz.free().unwrap();
}

#[test]
fn region_of_region_has_same_range() {
    let adapter = open();
    let first = adapter.buffer_with(100, local() | Rights::REMOTE_READ);
    assert_ne!(first.lmr().remote_key, 0);
    let memory = Memory::Region(first.lmr().header().handle());
    let second =
        Lmr::create(&adapter.ia, memory.clone(), Some(first.lmr()), 0, &adapter.pz, Rights::LOCAL_READ, Base::Address)
            .unwrap();
    assert_eq!((second.addr(), second.len, second.remote_key), (first.lmr().addr(), 100, 0));
    assert_eq!((&second.memory, second.rights), (&memory, Rights::LOCAL_READ));
    assert_ne!(second.context, first.lmr().context);
    let name: Box<[u8]> = [5; 40].into();
    let shared = Memory::Shared(first.lmr().addr(), name.clone());
    let third = Lmr::create(&adapter.ia, shared, None, 100, &adapter.pz, local(), Base::Address).unwrap();
    assert_eq!(third.memory, Memory::Shared(first.lmr().addr(), name));
    // The first region can be freed before the others.
    first.lmr().free().unwrap();
    second.free().unwrap();
    third.free().unwrap();
}

#[test]
fn finds_segments_by_context() {
    let adapter = open();
    let buffer = adapter.buffer(100);
    let lmrs = &adapter.ia.lmrs;
    let context = buffer.lmr().context;
    assert!(lmrs.covers(&buffer.at(0, 100)) && lmrs.covers(&buffer.at(99, 1)) && lmrs.covers(&buffer.at(100, 0)));
    assert!(!lmrs.covers(&buffer.at(0, 101)) && !lmrs.covers(&buffer.at(101, 0)));
    assert!(!lmrs.covers(&LocalSegment { context: context ^ 1, ..buffer.at(0, 1) }));
    assert_eq!(lmrs.zone_of(context), Some(adapter.pz.id()));
    assert_eq!(lmrs.handle_of(context), Some(buffer.lmr().header().handle()));
    buffer.lmr().free().unwrap();
    assert!(!lmrs.covers(&buffer.at(0, 1)));
    assert_eq!(lmrs.zone_of(context), None);
}

#[test]
fn window_is_unbound_and_number_is_limited() {
    let adapter = open();
    let windows: Vec<_> = (0..4).map(|_| Rmr::create(&adapter.pz, Scope::Zone).unwrap()).collect();
    assert_eq!(Rmr::create(&adapter.pz, Scope::Zone).err(), Some(Error::InsufficientResources(Resource::Region)));
    for window in &windows {
        assert_eq!(window.status(), None);
        assert!(window.pz().is_some());
    }
    windows[0].free();
    assert!(windows[0].pz().is_none());
    Rmr::create(&adapter.pz, Scope::Zone).unwrap();
}

#[test]
fn bound_region_cannot_be_freed() {
    let adapter = open();
    let (end, sink) = connected(&adapter);
    let (first, second) = (adapter.buffer(100), adapter.buffer(100));
    let rmr = Rmr::create(&adapter.pz, Scope::Zone).unwrap();
    let bind = |buffer: &Buffer<Fake>, len| {
        let flags = CompletionFlags::DEFAULT;
        end.ep.post_bind(&rmr, Some(buffer.lmr()), buffer.at(0, len), Rights::REMOTE_READ, Base::Address, 7, flags)
    };
    let in_use = Err(Error::InvalidState(StateError::LmrInUse));
    let key = bind(&first, 100).unwrap();
    assert_ne!(key, 0);
    let status = rmr.status().unwrap();
    assert_eq!((status.segment, status.rights, status.remote_key), (first.at(0, 100), Rights::REMOTE_READ, key));
    assert_eq!(first.lmr().free(), in_use);
    assert!(!sink.requests_done(SeqNo(0)));
    let told = dat_core::testing::next(&end.requests);
    let dat_core::Event::Bind { rmr: told, cookie, status } = told else { panic!("{told:?}") };
    assert_eq!((told, cookie, status), (rmr.header().handle(), 7, Status::Success));
    // A rejected bind changes nothing.
    fake(&adapter).refuse_after(0, Error::InsufficientResources(Resource::Region));
    assert!(bind(&second, 100).is_err());
    assert_eq!(rmr.status().map(|status| status.remote_key), Some(key));
    second.lmr().free().unwrap();
    // A bind of length 0 unbinds, regardless of its other arguments.
    assert!(bind(&first, 0).is_ok());
    assert_eq!(rmr.status(), None);
    // While peers can use the region, the free fails, and the region is in use again.
    fake(&adapter).holds_up_binds(true);
    assert_eq!(first.lmr().free(), in_use);
    fake(&adapter).holds_up_binds(false);
    assert!(bind(&first, 100).is_ok());
    assert_eq!(first.lmr().free(), in_use);
    rmr.free();
    first.lmr().free().unwrap();
}

#[test]
fn bind_requires_rights_of_region() {
    let adapter = open();
    let (end, _) = connected(&adapter);
    let (all, read_only) = (adapter.buffer(100), adapter.buffer_with(100, Rights::LOCAL_READ));
    let zone = Pz::create(&adapter.ia).unwrap();
    let (rmr, elsewhere) = (Rmr::create(&adapter.pz, Scope::Zone).unwrap(), Rmr::create(&zone, Scope::Zone).unwrap());
    let theirs = Buffer::new(&adapter.ia, &zone, 100, local());
    let flags = CompletionFlags::DEFAULT;
    let bind = |rmr: &Rmr<Fake>, buffer: &Buffer<Fake>, segment, rights| {
        end.ep.post_bind(rmr, Some(buffer.lmr()), segment, rights, Base::Address, 1, flags).err()
    };
    let segments = Some(Error::InvalidParameter(Arg::Segments));
    let read = Rights::REMOTE_READ;
    assert_eq!(bind(&rmr, &all, all.at(0, 101), read), segments);
    assert_eq!(bind(&rmr, &all, LocalSegment { addr: all.lmr().addr() - 1, ..all.at(0, 1) }, read), segments);
    assert_eq!(end.ep.post_bind(&rmr, None, all.at(0, 1), read, Base::Address, 1, flags).err(), segments);
    let zones = Some(Error::ProtectionViolation(Access::RemoteRead));
    assert_eq!(bind(&elsewhere, &all, all.at(0, 1), read), zones);
    assert_eq!(bind(&rmr, &theirs, theirs.at(0, 1), read), zones);
    let rights = Some(Error::PrivilegesViolation(Access::RemoteWrite));
    assert_eq!(bind(&rmr, &read_only, read_only.at(0, 1), Rights::REMOTE_WRITE), rights);
    assert_eq!(bind(&rmr, &read_only, read_only.at(0, 1), read), None);
    let solicited = CompletionFlags::SOLICITED_WAIT;
    let refused = end.ep.post_bind(&rmr, Some(all.lmr()), all.at(0, 1), read, Base::Address, 1, solicited);
    assert_eq!(refused.err(), Some(Error::InvalidParameter(Arg::Flags)));
    let idle = adapter.end();
    let refused = idle.ep.post_bind(&rmr, Some(all.lmr()), all.at(0, 1), read, Base::Address, 1, flags);
    assert_eq!(refused.err(), Some(idle.state().into()));
}
