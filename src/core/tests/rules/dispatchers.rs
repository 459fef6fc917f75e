//! EVDs and CNOs.

use dat_core::error::{Arg, Error, Resource, StateError};
use dat_core::testing::Call;
use dat_core::{Agent, Cno, Evd, Event, Feed, Handle, Streams};

use super::*;

fn ignore(_: usize, _: usize, _: Handle) {}

fn software(event: Event) -> usize {
    match event {
        Event::Software { pointer } => pointer,
        other => panic!("{other:?}"),
    }
}

#[test]
fn evd_requires_length() {
    let adapter = open();
    let create = |qlen, streams| Evd::create(&adapter.ia, qlen, None, streams).err();
    assert_eq!(create(0, Streams::TRANSFERS), Some(Error::InvalidParameter(Arg::QueueLength)));
    assert_eq!(create(1001, Streams::TRANSFERS), Some(Error::InsufficientResources(Resource::Evd)));
    fake(&adapter).refuse_after(0, Error::InsufficientResources(Resource::Memory));
    assert_eq!(create(8, Streams::TRANSFERS), Some(Error::InsufficientResources(Resource::Memory)));
    let evd = Evd::create(&adapter.ia, 8, None, Streams::TRANSFERS | Streams::SOFTWARE).unwrap();
    assert!(evd.streams.contains(Streams::SOFTWARE) && !evd.streams.contains(Streams::BINDS));
    let status = evd.status();
    assert_eq!((status.qlen, status.enabled, status.waitable, status.feed), (8, true, true, None));
    evd.disable();
    evd.set_unwaitable();
    assert!(!evd.status().enabled && !evd.status().waitable);
    evd.enable();
    evd.clear_unwaitable();
    assert!(evd.status().enabled && evd.status().waitable);
}

#[test]
fn number_of_evds_is_limited() {
    let adapter = open();
    let made = std::iter::from_fn(|| Evd::create(&adapter.ia, 1, None, Streams::SOFTWARE).ok()).count();
    // The adapter's EVD of asynchronous events is EVD 64.
    assert_eq!(made, 63);
    let one_more = Evd::create(&adapter.ia, 1, None, Streams::SOFTWARE).err();
    assert_eq!(one_more, Some(Error::InsufficientResources(Resource::Evd)));
}

#[test]
fn events_keep_their_order() {
    let adapter = open();
    let evd = Evd::create(&adapter.ia, 3, None, Streams::SOFTWARE).unwrap();
    assert!(matches!(evd.dequeue(), Err(Error::QueueEmpty)));
    (1..4).for_each(|pointer| evd.post_software(pointer).unwrap());
    assert_eq!(evd.post_software(4), Err(Error::QueueFull));
    assert_eq!(software(evd.dequeue().unwrap()), 1);
    evd.post_software(5).unwrap();
    for wanted in [2, 3, 5] {
        assert_eq!(software(evd.dequeue().unwrap()), wanted);
    }
    assert!(matches!(evd.dequeue(), Err(Error::QueueEmpty)));
    let transfers = adapter.evd(Streams::TRANSFERS);
    assert_eq!(transfers.post_software(1), Err(Error::InvalidParameter(Arg::Evd)));
}

#[test]
fn resize_loses_no_event() {
    let adapter = open();
    let evd = Evd::create(&adapter.ia, 2, None, Streams::SOFTWARE).unwrap();
    assert_eq!(evd.resize(0), Err(Error::InvalidParameter(Arg::QueueLength)));
    assert_eq!(evd.resize(1001), Err(Error::InsufficientResources(Resource::Evd)));
    evd.post_software(1).unwrap();
    evd.post_software(2).unwrap();
    assert_eq!(evd.resize(1), Err(Error::InvalidState(StateError::EvdTooShort)));
    evd.resize(3).unwrap();
    evd.post_software(3).unwrap();
    assert_eq!(evd.post_software(4), Err(Error::QueueFull));
    assert_eq!(evd.status().qlen, 3);
    for wanted in [1, 2, 3] {
        assert_eq!(software(evd.dequeue().unwrap()), wanted);
    }
    evd.resize(1).unwrap();
}

#[test]
fn fed_evd_cannot_be_freed() {
    let adapter = open();
    let end = adapter.end();
    let in_use = Err(Error::InvalidState(StateError::EvdInUse));
    for evd in [&end.receives, &end.requests, &end.connections] {
        assert_eq!(evd.free(), in_use);
    }
    assert_eq!(end.receives.status().feed, Some(Feed::Threshold));
    end.ep.free().unwrap();
    assert_eq!(end.receives.status().feed, None);
    for evd in [&end.receives, &end.requests, &end.connections] {
        evd.free().unwrap();
    }
    // A free drops queued events.
    let evd = adapter.evd(Streams::SOFTWARE);
    evd.post_software(1).unwrap();
    evd.free().unwrap();
    assert_eq!(evd.post_software(2), Err(Error::QueueFull));
}

#[test]
fn attached_cno_cannot_be_freed() {
    let adapter = open();
    let (cno, other) = (Cno::create(&adapter.ia, None).unwrap(), Cno::create(&adapter.ia, None).unwrap());
    let evd = Evd::create(&adapter.ia, 8, Some(&cno), Streams::SOFTWARE).unwrap();
    let tied = |to: &std::sync::Arc<Cno<Fake>>| evd.cno().is_some_and(|cno| std::sync::Arc::ptr_eq(&cno, to));
    assert!(tied(&cno));
    assert_eq!(cno.free(), Err(Error::InvalidState(StateError::CnoInUse)));
    evd.modify_cno(Some(&cno)).unwrap();
    assert!(tied(&cno));
    evd.modify_cno(Some(&other)).unwrap();
    assert!(tied(&other));
    cno.free().unwrap();
    assert!(evd.modify_cno(Some(&cno)).is_err(), "it is freed");
    evd.modify_cno(None).unwrap();
    assert!(evd.cno().is_none());
    other.free().unwrap();
}

#[test]
fn transport_polls_while_cno_has_agent() {
    let adapter = open();
    let agent = Agent { data: 1, function: 2, call: ignore };
    let cno = Cno::create(&adapter.ia, Some(agent)).unwrap();
    assert_eq!(fake(&adapter).calls(), [Call::Watch(true)]);
    assert_eq!(cno.agent().map(|agent| (agent.data, agent.function)), Some((1, 2)));
    cno.modify_agent(Some(Agent { data: 3, ..agent })).unwrap();
    assert_eq!(cno.agent().map(|agent| agent.data), Some(3));
    assert_eq!(fake(&adapter).calls(), []);
    cno.modify_agent(None).unwrap();
    assert!(cno.agent().is_none());
    assert_eq!(fake(&adapter).calls(), [Call::Watch(false)]);
    cno.modify_agent(Some(agent)).unwrap();
    cno.free().unwrap();
    drop(cno);
    assert_eq!(fake(&adapter).calls(), [Call::Watch(true), Call::Watch(false)]);
}
