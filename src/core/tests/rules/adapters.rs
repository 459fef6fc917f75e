//! Adapters: opening, asynchronous dispatchers, closing.

use dat_core::error::{Arg, Error, Refusal, Resource, Role};
use dat_core::event::{AsyncReason, Event};
use dat_core::testing::{Fake, next};
use dat_core::{AsyncEvd, Endpoint, Evd, Ia, Kind, Object, Pz, Slab, Streams};

use super::*;

const IN_USE: Result<()> = Err(Error::InvalidState(Refusal::IaInUse));

/// Opens another instance of the adapter.
fn again(adapter: &Adapter<Fake>, evd: AsyncEvd<Fake>) -> Result<std::sync::Arc<Ia<Fake>>> {
    Ia::open(adapter.ia.slab(), adapter.ia.name(), "", evd)
}

#[test]
fn what_cannot_be_opened_is_refused() {
    let slab: &'static Slab<Fake> = Box::leak(Box::new(Slab::new(0)));
    let open = |instance, qlen| Ia::open(slab, "fake", instance, AsyncEvd::Create(qlen)).err();
    assert_eq!(open("", 0), Some(Error::InvalidParameter(Arg::QueueLength)));
    assert_eq!(open("", 1001), Some(Error::InsufficientResources(Resource::Evd)));
    assert_eq!(open(Fake::NO_DEVICE, 8), Some(Error::InsufficientResources(Resource::Device)));
    let adapter = super::open();
    let transfers = adapter.evd(Streams::TRANSFERS);
    let bad = Some(Error::InvalidHandle(Role::EvdAsync));
    assert_eq!(again(&adapter, AsyncEvd::Given(transfers.clone())).err(), bad);
    let own = adapter.events();
    let other = Ia::open(adapter.ia.slab(), "another", "", AsyncEvd::Given(own.clone()));
    assert_eq!(other.err(), bad);
    // Nothing of that uses them.
    transfers.free().unwrap();
    adapter.pz.free().unwrap();
    adapter.ia.close_graceful().unwrap();
}

#[test]
fn asynchronous_dispatchers_are_made_lent_or_elsewhere() {
    let adapter = open();
    let own = adapter.events();
    assert_eq!(own.streams(), Streams::ASYNC);
    let borrower = again(&adapter, AsyncEvd::Given(own.clone())).unwrap();
    assert_eq!(borrower.async_evd(), Some(own.header().handle()));
    borrower.close_graceful().unwrap();
    let without = again(&adapter, AsyncEvd::Elsewhere).unwrap();
    assert!(without.async_evd().is_none());
    without.close_graceful().unwrap();
    assert_eq!(own.free(), Err(Error::InvalidState(Refusal::EvdInUse)));
}

#[test]
fn a_lent_dispatcher_outlives_its_adapter() {
    let adapter = open();
    let own = adapter.events();
    let borrower = again(&adapter, AsyncEvd::Given(own.clone())).unwrap();
    adapter.ia.close_abrupt();
    let alive = || borrower.slab().get::<Evd<Fake>>(own.header().handle()).is_some();
    assert!(alive());
    borrower.transport().fail();
    let Event::Async { object, reason } = next(&own) else { panic!("no asynchronous event") };
    assert_eq!((object, reason), (borrower.header().handle(), AsyncReason::IaCatastrophic));
    borrower.close_graceful().unwrap();
    assert!(!alive());
}

#[test]
fn a_graceful_close_wants_everything_freed() {
    let adapter = open();
    assert_eq!(adapter.ia.close_graceful(), IN_USE);
    let pz = Pz::create(&adapter.ia).unwrap();
    adapter.pz.free().unwrap();
    assert_eq!(adapter.ia.close_graceful(), IN_USE);
    pz.free().unwrap();
    adapter.ia.close_graceful().unwrap();
    assert_eq!(adapter.ia.close_graceful(), IN_USE);
}

#[test]
fn an_abrupt_close_frees_everything() {
    let adapter = open();
    let (end, _) = connected(&adapter);
    let handles = (adapter.ia.header().handle(), end.ep.header().handle(), adapter.pz.header().handle());
    adapter.ia.close_abrupt();
    adapter.ia.close_abrupt();
    let slab = adapter.ia.slab();
    assert!(slab.get::<Ia<Fake>>(handles.0).is_none());
    assert!(slab.get::<Endpoint<Fake>>(handles.1).is_none());
    assert!(slab.get::<Pz<Fake>>(handles.2).is_none());
    assert_eq!(adapter.ia.count(Kind::Evd), 0);
    assert_eq!(Pz::create(&adapter.ia).err(), Some(Error::InvalidHandle(Role::Ia)));
}

#[test]
fn an_adapter_that_cannot_go_on_says_so() {
    let adapter = open();
    fake(&adapter).fail();
    let Event::Async { object, reason } = next(&adapter.events()) else { panic!("no event") };
    assert_eq!((object, reason), (adapter.ia.header().handle(), AsyncReason::IaCatastrophic));
}
