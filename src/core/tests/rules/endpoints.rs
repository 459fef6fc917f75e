//! Endpoints: attributes, queries, watermarks, users.

use std::sync::Arc;

use dat_core::ep::table::Qos;
use dat_core::ep::{EpState, Watermark};
use dat_core::error::{Arg, Error, Resource};
use dat_core::event::{AsyncReason, Event};
use dat_core::testing::{Call, next, quiet};
use dat_core::{CompletionFlags, Endpoint, EpAttributes, EpParts, Object};

use super::*;

/// Creates an endpoint like `like` with other attributes.
fn make(adapter: &Adapter<Fake>, like: &End<Fake>, change: impl FnOnce(&mut EpAttributes)) -> Result<()> {
    let parts = EpParts {
        pz: Some(&adapter.pz),
        recv_evd: Some(&like.receives),
        request_evd: Some(&like.requests),
        connect_evd: Some(&like.connections),
        srq: None,
    };
    let mut attributes = EpAttributes::defaults(adapter.ia.attributes());
    change(&mut attributes);
    Endpoint::create(&adapter.ia, &parts, Some(attributes)).map(|ep| ep.free().unwrap())
}

#[test]
fn attributes_that_no_endpoint_can_have_are_refused() {
    let adapter = open();
    let like = adapter.end();
    type Change = fn(&mut EpAttributes);
    let bad: [(&str, Change); 13] = [
        ("messages too large", |a| a.max_message_size = 1 << 40),
        ("transfers too large", |a| a.max_rdma_size = 1 << 40),
        ("no receives, but a dispatcher", |a| a.max_recv_dtos = 0),
        ("too many receives", |a| a.max_recv_dtos = 65),
        ("no requests, but a dispatcher", |a| a.max_request_dtos = 0),
        ("no segment a receive", |a| a.max_recv_iov = 0),
        ("too many segments a request", |a| a.max_request_iov = 9),
        ("receives suppressed", |a| a.recv_completion_flags = CompletionFlags::SUPPRESS),
        ("unknown flags of requests", |a| a.request_completion_flags = CompletionFlags::from_bits_retain(0x20)),
        ("too many reads in", |a| a.max_rdma_read_in = 5),
        ("too many reads out", |a| a.max_rdma_read_out = 5),
        ("too many segments a read", |a| a.max_rdma_read_iov = 5),
        ("too many segments a write", |a| a.max_rdma_write_iov = 5),
    ];
    for (what, change) in bad {
        assert_eq!(make(&adapter, &like, change), Err(Error::InvalidParameter(Arg::Attributes)), "{what}");
    }
    assert_eq!(make(&adapter, &like, |a| a.qos = Qos::Other), Err(Error::ModelNotSupported));
    assert_eq!(make(&adapter, &like, |_| {}), Ok(()));
}

#[test]
fn an_endpoint_without_dispatchers_can_have_no_work() {
    let adapter = open();
    let bare = Endpoint::create(&adapter.ia, &EpParts::default(), None).unwrap();
    let attributes = bare.query().attr;
    assert_eq!((attributes.max_recv_dtos, attributes.max_request_dtos), (0, 0));
    let some = EpAttributes { max_recv_dtos: 1, ..attributes };
    let refused = Endpoint::create(&adapter.ia, &EpParts::default(), Some(some)).err();
    assert_eq!(refused, Some(Error::InvalidParameter(Arg::Attributes)));
}

#[test]
fn a_query_shows_what_the_endpoint_was_made_of() {
    let adapter = open();
    let end = adapter.end_with(None, |attr| (attr.max_recv_dtos, attr.max_request_iov) = (8, 2));
    let status = end.ep.query();
    assert_eq!(status.state, EpState::Unconnected);
    assert!(status.pz.is_some_and(|pz| Arc::ptr_eq(&pz, &adapter.pz)));
    assert!(status.recv_evd.is_some_and(|evd| Arc::ptr_eq(&evd, &end.receives)));
    assert!(status.request_evd.is_some_and(|evd| Arc::ptr_eq(&evd, &end.requests)));
    assert!(status.connect_evd.is_some_and(|evd| Arc::ptr_eq(&evd, &end.connections)));
    assert!(status.srq.is_none() && status.remote.is_none());
    assert_eq!((status.attr.max_recv_dtos, status.attr.max_request_iov, status.local_qualifier), (8, 2, 0));
}

#[test]
fn there_are_not_endless_many_endpoints() {
    let adapter = open();
    let ends: Vec<_> = (0..8).map(|_| adapter.end()).collect();
    let like = &ends[0];
    assert_eq!(make(&adapter, like, |_| {}), Err(Error::InsufficientResources(Resource::Endpoint)));
    ends[1].ep.free().unwrap();
    assert_eq!(make(&adapter, like, |_| {}), Ok(()));
}

#[test]
fn receives_are_counted_from_the_post_on() {
    let adapter = open();
    let end = adapter.end();
    assert_eq!(end.ep.status(), (EpState::Unconnected, true, true));
    end.ep.post_recv(&[], 1, CompletionFlags::DEFAULT).unwrap();
    assert_eq!(end.ep.status(), (EpState::Unconnected, false, true));
    assert_eq!(end.ep.recv_query(), 1);
    let sink = establish(&adapter, &end);
    sink.recv_done(received(0));
    assert_eq!(end.ep.status(), (EpState::Connected, true, true));
    assert_eq!(end.ep.recv_query(), 0);
}

#[test]
fn the_soft_high_watermark_fires_once_an_arming() {
    let adapter = open();
    let end = adapter.end();
    let events = adapter.events();
    let fires = || {
        let Event::Async { object, reason } = next(&events) else { panic!("no asynchronous event") };
        assert_eq!((object, reason), (end.ep.header().handle(), AsyncReason::EpSoftHighWatermark));
    };
    let post = || end.ep.post_recv(&[], 1, CompletionFlags::DEFAULT).unwrap();
    (0..3).for_each(|_| post());
    end.ep.set_watermark(Watermark::At(3), Watermark::Infinite).unwrap();
    assert!(quiet([&events]), "three are not more than three");
    post();
    fires();
    post();
    assert!(quiet([&events]), "it has fired");
    // The watermark is exceeded already, so the event is immediate.
    for _ in 0..2 {
        end.ep.set_watermark(Watermark::At(0), Watermark::Infinite).unwrap();
        fires();
    }
    end.ep.set_watermark(Watermark::Infinite, Watermark::Infinite).unwrap();
    post();
    assert!(quiet([&events]));
}

#[test]
fn the_hard_high_watermark_breaks_a_connection_and_only_that() {
    let adapter = open();
    let end = adapter.end();
    end.ep.set_watermark(Watermark::Infinite, Watermark::At(2)).unwrap();
    let post = |cookie| end.ep.post_recv(&[], cookie, CompletionFlags::DEFAULT).unwrap();
    (0..3).for_each(post);
    assert_eq!(end.state(), EpState::Unconnected);
    assert!(quiet([&end.connections]));
    ask(&end).unwrap();
    fake(&adapter).calls();
    fake(&adapter).last_qp().connection(ConnectionReport::Established(Vec::new()));
    end.is_told(ConnectionEvent::Established);
    end.is_told(ConnectionEvent::Broken);
    assert_eq!(fake(&adapter).calls(), [Call::Disconnect { broken: true }]);
    (0..3).for_each(|cookie| end.arrives(cookie, Status::Flushed));
    // The watermark also holds for the next connection.
    end.ep.reset().unwrap();
    (0..2).for_each(post);
    establish(&adapter, &end);
    assert!(quiet([&end.connections]));
    post(2);
    end.is_told(ConnectionEvent::Broken);
    assert!(matches!(adapter.events().dequeue(), Err(Error::QueueEmpty)));
}

#[test]
fn the_hard_watermark_can_be_exceeded_when_it_is_set() {
    let adapter = open();
    let (end, _) = connected(&adapter);
    (0..3).for_each(|cookie| end.ep.post_recv(&[], cookie, CompletionFlags::DEFAULT).unwrap());
    end.ep.set_watermark(Watermark::Infinite, Watermark::At(3)).unwrap();
    assert_eq!(end.state(), EpState::Connected);
    end.ep.set_watermark(Watermark::Infinite, Watermark::At(2)).unwrap();
    end.is_told(ConnectionEvent::Broken);
    (0..3).for_each(|cookie| end.arrives(cookie, Status::Flushed));
}
