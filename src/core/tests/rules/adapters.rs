//! Adapters: opening, asynchronous dispatchers, closing.

use dat_core::ep::EpParts;
use dat_core::error::{Arg, Error, Resource, Role, StateError};
use dat_core::event::{AsyncReason, Event};
use dat_core::testing::{Fake, next, patience, wait};
use dat_core::transport::Scope;
use dat_core::{
    ApiCaps, Arena, AsyncEvd, Base, Endpoint, Evd, Ia, Kind, Lmr, Memory, Object, Pz, Rights, Rmr, Srq, Streams,
};

use super::*;

const IN_USE: Result<()> = Err(Error::InvalidState(StateError::IaInUse));

fn again(adapter: &Adapter<Fake>, evd: AsyncEvd<Fake>) -> Result<std::sync::Arc<Ia<Fake>>> {
    Ia::open(adapter.ia.arena, 0, &adapter.ia.name, "", evd, ApiCaps::default())
}

#[test]
fn rejects_invalid_opens() {
    let arena: &'static Arena<Fake> = Box::leak(Box::new(Arena::new()));
    let open = |instance, qlen| Ia::open(arena, 0, "fake", instance, AsyncEvd::Create(qlen), ApiCaps::default()).err();
    assert_eq!(open("", 0), Some(Error::InvalidParameter(Arg::QueueLength)));
    assert_eq!(open("", 1001), Some(Error::InsufficientResources(Resource::Evd)));
    assert_eq!(open(Fake::NO_DEVICE, 8), Some(Error::InsufficientResources(Resource::Device)));
    let adapter = super::open();
    let transfers = adapter.evd(Streams::TRANSFERS);
    let bad = Some(Error::InvalidHandle(Role::EvdAsync));
    assert_eq!(again(&adapter, AsyncEvd::Given(transfers.clone())).err(), bad);
    let own = adapter.events();
    let other = Ia::open(adapter.ia.arena, 1, "another", "", AsyncEvd::Given(own.clone()), ApiCaps::default());
    assert_eq!(other.err(), bad);
    // The failed calls use neither EVD nor adapter.
    transfers.free().unwrap();
    adapter.pz.free().unwrap();
    adapter.ia.close_graceful().unwrap();
}

#[test]
fn async_evd_is_created_shared_or_absent() {
    let adapter = open();
    let own = adapter.events();
    assert_eq!(own.streams, Streams::ASYNC);
    let borrower = again(&adapter, AsyncEvd::Given(own.clone())).unwrap();
    assert_eq!(borrower.async_evd(), Some(own.header().handle()));
    borrower.close_graceful().unwrap();
    let without = again(&adapter, AsyncEvd::Elsewhere).unwrap();
    assert!(without.async_evd().is_none());
    without.close_graceful().unwrap();
    assert_eq!(own.free(), Err(Error::InvalidState(StateError::EvdInUse)));
}

#[test]
fn shared_async_evd_outlives_its_adapter() {
    let adapter = open();
    let own = adapter.events();
    let borrower = again(&adapter, AsyncEvd::Given(own.clone())).unwrap();
    adapter.ia.close_abrupt().unwrap();
    let alive = || borrower.arena.get::<Evd<Fake>>(own.header().handle()).is_some();
    assert!(alive());
    borrower.transport.fail();
    let Event::Async { object, reason } = next(&own) else { panic!("no asynchronous event") };
    assert_eq!((object, reason), (borrower.header().handle(), AsyncReason::IaCatastrophic));
    borrower.close_graceful().unwrap();
    assert!(!alive());
}

#[test]
fn lent_evd_of_program_outlives_its_adapter() {
    let adapter = open();
    let evd = adapter.evd(Streams::ASYNC);
    let borrower = again(&adapter, AsyncEvd::Given(evd.clone())).unwrap();
    adapter.ia.close_abrupt().unwrap();
    borrower.transport.fail();
    assert!(matches!(next(&evd), Event::Async { reason: AsyncReason::IaCatastrophic, .. }));
    borrower.close_graceful().unwrap();
    assert!(adapter.ia.arena.get::<Evd<Fake>>(evd.header().handle()).is_none());
}

#[test]
fn close_ends_wait_for_evd_that_was_lent() {
    let adapter = open();
    let evd = adapter.evd(Streams::ASYNC | Streams::CONNECTIONS);
    again(&adapter, AsyncEvd::Given(evd.clone())).unwrap().close_graceful().unwrap();
    // The endpoint of another adapter still uses the EVD.
    let other = again(&adapter, AsyncEvd::Elsewhere).unwrap();
    let parts = EpParts { connect_evd: Some(&evd), ..EpParts::default() };
    Endpoint::create(&other, &parts, None).unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| wait(&evd, 1, Some(patience())));
        adapter.ia.close_abrupt().unwrap();
        assert_ne!(waiter.join().unwrap().result.err(), Some(Error::TimeoutExpired));
    });
    other.close_abrupt().unwrap();
}

#[test]
fn graceful_close_requires_freed_objects() {
    let adapter = open();
    assert_eq!(adapter.ia.close_graceful(), IN_USE);
    let pz = Pz::create(&adapter.ia).unwrap();
    adapter.pz.free().unwrap();
    assert_eq!(adapter.ia.close_graceful(), IN_USE);
    pz.free().unwrap();
    adapter.ia.close_graceful().unwrap();
    assert_eq!(adapter.ia.close_graceful(), Err(Error::InvalidHandle(Role::Ia)));
}

#[test]
fn abrupt_close_frees_all_objects() {
    let adapter = open();
    let (end, _) = connected(&adapter);
    let handles = (adapter.ia.header().handle(), end.ep.header().handle(), adapter.pz.header().handle());
    adapter.ia.close_abrupt().unwrap();
    assert_eq!(adapter.ia.close_abrupt(), Err(Error::InvalidHandle(Role::Ia)), "only one call closes it");
    let arena = adapter.ia.arena;
    assert!(arena.get::<Ia<Fake>>(handles.0).is_none());
    assert!(arena.get::<Endpoint<Fake>>(handles.1).is_none());
    assert!(arena.get::<Pz<Fake>>(handles.2).is_none());
    assert_eq!(adapter.ia.count(Kind::Evd), 0);
    assert_eq!(Pz::create(&adapter.ia).err(), Some(Error::InvalidHandle(Role::Ia)));
}

#[test]
fn failed_adapter_raises_event() {
    let adapter = open();
    fake(&adapter).fail();
    let Event::Async { object, reason } = next(&adapter.events()) else { panic!("no event") };
    assert_eq!((object, reason), (adapter.ia.header().handle(), AsyncReason::IaCatastrophic));
}

/// Creates objects until that fails. Returns them and the exhausted resource.
fn as_many<O>(mut make: impl FnMut() -> Result<O>) -> (Vec<O>, Resource) {
    let mut made = Vec::new();
    loop {
        match make() {
            Ok(object) => made.push(object),
            Err(Error::InsufficientResources(resource)) => return (made, resource),
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[test]
fn enforces_limits_of_attributes() {
    let adapter = open();
    let limits = adapter.ia.attributes().clone();
    let buffer = adapter.buffer(8);
    let start = |kind| adapter.ia.count(kind);
    macro_rules! fills {
        ($kind:ident, $limit:expr, $resource:ident, $make:expr, $free:expr) => {{
            let before = start(Kind::$kind);
            for _ in 0..2 {
                let (mut made, lacking) = as_many($make);
                assert_eq!((made.len() + before, lacking), ($limit, Resource::$resource), stringify!($kind));
                $free(made.pop().unwrap());
                made.push($make().unwrap());
                assert!($make().is_err());
                for object in made {
                    $free(object);
                }
                assert_eq!(start(Kind::$kind), before);
            }
        }};
    }
    fills!(Pz, limits.max_pzs, Zone, || Pz::create(&adapter.ia), |pz: std::sync::Arc<Pz<Fake>>| pz.free().unwrap());
    let memory = || Memory::Virtual(buffer.at(0, 8).addr);
    let lmr = || Lmr::create(&adapter.ia, memory(), None, 8, &adapter.pz, Rights::LOCAL_READ, Base::Address);
    fills!(Lmr, limits.max_lmrs, Region, lmr, |lmr: std::sync::Arc<Lmr<Fake>>| lmr.free().unwrap());
    fills!(Rmr, limits.max_rmrs, Region, || Rmr::create(&adapter.pz, Scope::Zone), |rmr: std::sync::Arc<Rmr<Fake>>| {
        rmr.free()
    });
    let evd = || Evd::create(&adapter.ia, 1, None, Streams::SOFTWARE);
    fills!(Evd, limits.max_evds, Evd, evd, |evd: std::sync::Arc<Evd<Fake>>| evd.free().unwrap());
    let srq = || Srq::create(&adapter.ia, &adapter.pz, 1, 1);
    fills!(Srq, limits.max_srqs, Srq, srq, |srq: std::sync::Arc<Srq<Fake>>| srq.free().unwrap());
    let ep = || Endpoint::create(&adapter.ia, &EpParts::default(), None);
    fills!(Ep, limits.max_eps, Endpoint, ep, |ep: std::sync::Arc<Endpoint<Fake>>| ep.free().unwrap());
    let srq = srq().unwrap();
    let parts = EpParts { srq: Some(&srq), ..EpParts::default() };
    let (made, lacking) = as_many(|| Endpoint::create(&adapter.ia, &parts, None));
    assert_eq!((made.len(), lacking), (limits.max_eps_per_srq, Resource::Srq));
    for ep in made {
        ep.free().unwrap();
    }
    srq.free().unwrap();
}

#[test]
fn enforces_limits_across_threads() {
    let adapter = open();
    let limit = adapter.ia.attributes().max_pzs;
    for _ in 0..20 {
        let made = std::thread::scope(|scope| {
            let make = || as_many(|| Pz::create(&adapter.ia)).0;
            let threads = [(); 4].map(|()| scope.spawn(make));
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(made.len() + 1, limit, "the adapter of a test has one already");
        assert_eq!(adapter.ia.count(Kind::Pz), limit);
        for pz in made {
            pz.free().unwrap();
        }
    }
}
