//! Shared receive queues: accounting.

use std::sync::Arc;

use dat_core::ep::table::Field;
use dat_core::ep::{EpAttributes, Value, Watermark};
use dat_core::error::{Access, Arg, Error, Resource, StateError};
use dat_core::event::{AsyncReason, Event};
use dat_core::testing::{Buffer, Call, next, quiet};
use dat_core::transport::Verdict;
use dat_core::{CompletionFlags, Endpoint, EpParts, Object, Pz, Rights, Srq};

use super::*;

fn counts(srq: &Srq<Fake>) -> (usize, usize) {
    let status = srq.query();
    (status.available, status.outstanding)
}

#[test]
fn a_queue_has_entries_and_segments() {
    let adapter = open();
    let create = |recvs, segments| Srq::create(&adapter.ia, &adapter.pz, recvs, segments).err();
    for (recvs, segments) in [(0, 2), (65, 2), (10, 0), (10, 9)] {
        assert_eq!(create(recvs, segments), Some(Error::InvalidParameter(Arg::Attributes)));
    }
    fake(&adapter).refuse_after(0, Error::InsufficientResources(Resource::Srq));
    assert_eq!(create(10, 2), Some(Error::InsufficientResources(Resource::Srq)));
    let srqs: Vec<_> = (0..4).map(|_| adapter.srq(10)).collect();
    assert_eq!(create(10, 2), Some(Error::InsufficientResources(Resource::Srq)));
    let status = srqs[0].query();
    assert_eq!((status.max_recvs, status.max_segments, status.low_watermark), (10, 1, 0));
    assert_eq!((status.available, status.outstanding), (0, 0));
    srqs[1].free().unwrap();
    assert_eq!(create(10, 2), None);
}

#[test]
fn buffers_are_checked_within_the_zone_of_the_queue() {
    let adapter = open();
    let srq = Srq::create(&adapter.ia, &adapter.pz, 3, 2).unwrap();
    let buffer = adapter.buffer(8);
    let read_only = adapter.buffer_with(8, Rights::LOCAL_READ);
    let zone = Pz::create(&adapter.ia).unwrap();
    let theirs = Buffer::new(&adapter.ia, &zone, 8, Rights::LOCAL_WRITE);
    let post = |segments: &[_]| srq.post_recv(segments, 1).err();
    assert_eq!(post(&[buffer.at(0, 1); 3]), Some(Error::InvalidParameter(Arg::SegmentCount)));
    assert_eq!(post(&[buffer.at(0, 9)]), Some(Error::InvalidParameter(Arg::Segments)));
    assert_eq!(post(&[read_only.at(0, 8)]), Some(Error::PrivilegesViolation(Access::Write)));
    assert_eq!(post(&[theirs.at(0, 8)]), Some(Error::ProtectionViolation(Access::Write)));
    // A rejected receive occupies no entry.
    fake(&adapter).refuse_after(0, Error::InsufficientResources(Resource::Memory));
    assert!(post(&[]).is_some());
    assert_eq!(counts(&srq), (0, 0));
    for segments in [&[][..], &[buffer.at(0, 8)], &[buffer.at(0, 4), buffer.at(4, 4)]] {
        assert_eq!(post(segments), None);
    }
    assert_eq!(counts(&srq), (3, 3));
    assert_eq!(post(&[]), Some(Error::InsufficientResources(Resource::Memory)));
}

#[test]
fn an_endpoint_of_another_zone_is_refused_unless_the_adapter_supports_it() {
    for (instance, refusal) in [("", None), (Fake::EQUAL_ZONES, Some(Error::InvalidParameter(Arg::Zone)))] {
        let adapter = Adapter::<Fake>::open("fake", instance);
        let (srq, other) = (adapter.srq(10), Pz::create(&adapter.ia).unwrap());
        let create = |pz| {
            let parts = EpParts { pz, srq: Some(&srq), ..EpParts::default() };
            let attributes = EpAttributes {
                max_recv_dtos: 0,
                max_request_dtos: 0,
                ..EpAttributes::defaults(adapter.ia.attributes())
            };
            Endpoint::create(&adapter.ia, &parts, Some(attributes))
        };
        assert_eq!(create(Some(&other)).err(), refusal);
        let (own, unset) = (create(Some(&adapter.pz)).unwrap(), create(None).unwrap());
        let zone = |ep: &Endpoint<Fake>, pz: &Arc<Pz<Fake>>| ep.modify(&[(Field::Pz, Value::Pz(Some(pz.clone())))]);
        let modified = refusal.map_or(Ok(()), |_| Err(Error::InvalidParameter(Arg::Value)));
        for ep in [&own, &unset] {
            assert_eq!(zone(ep, &other), modified);
            zone(ep, &adapter.pz).unwrap();
        }
    }
}

#[test]
fn a_resize_is_no_shorter_than_what_is_outstanding() {
    let adapter = open();
    let srq = adapter.srq(10);
    (0..3).for_each(|cookie| srq.post_recv(&[], cookie).unwrap());
    for bad in [0, 65] {
        assert_eq!(srq.resize(bad), Err(Error::InvalidParameter(Arg::QueueLength)));
    }
    assert_eq!(srq.resize(2), Err(Error::InvalidState(StateError::SrqTooShort)));
    srq.resize(3).unwrap();
    assert!(srq.post_recv(&[], 3).is_err());
    fake(&adapter).refuse_after(0, Error::InsufficientResources(Resource::Memory));
    assert!(srq.resize(20).is_err());
    assert_eq!(srq.query().max_recvs, 3);
    srq.resize(20).unwrap();
    srq.post_recv(&[], 3).unwrap();
    srq.set_low_watermark(4).unwrap();
    assert_eq!(srq.resize(3), Err(Error::InvalidState(StateError::SrqTooShort)));
}

#[test]
fn the_low_watermark_is_handed_on_unless_it_fires_at_once() {
    let adapter = open();
    let srq = adapter.srq(10);
    let events = adapter.events();
    (0..3).for_each(|cookie| srq.post_recv(&[], cookie).unwrap());
    assert_eq!(srq.set_low_watermark(11), Err(Error::InvalidParameter(Arg::Watermark)));
    fake(&adapter).calls();
    srq.set_low_watermark(3).unwrap();
    assert_eq!(fake(&adapter).calls(), [Call::ArmLimit(3)]);
    assert!(quiet([&events]));
    srq.set_low_watermark(4).unwrap();
    assert_eq!(fake(&adapter).calls(), [Call::ArmLimit(0)]);
    let Event::Async { object, reason } = next(&events) else { panic!("no asynchronous event") };
    assert_eq!((object, reason), (srq.header().handle(), AsyncReason::SrqLowWatermark));
    assert_eq!(srq.query().low_watermark, 4);
}

#[test]
fn a_queue_lives_as_long_as_endpoints_are_attached() {
    let adapter = open();
    let srq = adapter.srq(10);
    let ends: Vec<_> = (0..4).map(|_| adapter.end_on(&srq)).collect();
    let parts = dat_core::EpParts { srq: Some(&srq), ..Default::default() };
    let fifth = dat_core::Endpoint::create(&adapter.ia, &parts, None).err();
    assert!(fifth.is_some());
    let refused = ends[0].ep.post_recv(&[], 1, CompletionFlags::DEFAULT);
    assert_eq!(refused, Err(Error::InvalidState(StateError::EndpointHasSrq)));
    assert!(ends[0].ep.query().srq.is_some());
    for end in &ends {
        assert_eq!(srq.free(), Err(Error::InvalidState(StateError::SrqInUse)));
        end.ep.free().unwrap();
    }
    srq.free().unwrap();
}

#[test]
fn a_buffer_counts_until_its_completion_is_dequeued() {
    let adapter = open();
    let srq = adapter.srq(10);
    let end = adapter.end_on(&srq);
    fake(&adapter).calls();
    (0..3).for_each(|cookie| srq.post_recv(&[], cookie).unwrap());
    let ids: Vec<u64> = fake(&adapter)
        .calls()
        .into_iter()
        .map(|call| if let Call::SharedRecv(id) = call { id } else { panic!("{call:?}") })
        .collect();
    let sink = establish(&adapter, &end);
    assert_eq!(sink.recv_taken(ids[0]), Verdict::Continue);
    assert_eq!((counts(&srq), end.ep.recv_query()), ((2, 3), 1));
    // The completion does not count the buffer as taken again.
    sink.recv_done(received(ids[0]));
    assert_eq!((counts(&srq), end.ep.recv_query()), ((2, 3), 0));
    // A transport need not report taken buffers before their completions.
    sink.recv_done(received(ids[1]));
    assert_eq!(counts(&srq), (1, 3));
    assert_eq!(end.arrived(), (0, Status::Success, 9));
    assert_eq!(counts(&srq), (1, 2));
    // The end of the connection flushes a taken buffer.
    let _ = sink.recv_taken(ids[2]);
    sink.connection(ConnectionReport::Disconnected);
    assert_eq!(counts(&srq), (0, 2));
    assert_eq!(end.arrived(), (1, Status::Success, 9));
    end.arrives(2, Status::Flushed);
    assert_eq!(counts(&srq), (0, 0));
}

#[test]
fn completions_that_are_dropped_leave_the_books() {
    let adapter = open();
    let srq = adapter.srq(10);
    let end = adapter.end_on(&srq);
    end.receives.resize(2).unwrap();
    let sink = establish(&adapter, &end);
    fake(&adapter).calls();
    (0..4).for_each(|cookie| srq.post_recv(&[], cookie).unwrap());
    for call in fake(&adapter).calls() {
        let Call::SharedRecv(id) = call else { panic!("{call:?}") };
        sink.recv_done(received(id));
    }
    // The EVD had no room for two of four completions, which no longer count.
    assert_eq!(counts(&srq), (0, 2));
    let Event::Async { object, reason } = next(&adapter.events()) else { panic!("no event") };
    assert_eq!((object, reason), (end.receives.header().handle(), AsyncReason::EvdOverflow));
    end.ep.free().unwrap();
    assert_eq!(counts(&srq), (0, 2), "what is queued outlives the endpoint");
    end.receives.free().unwrap();
    assert_eq!(counts(&srq), (0, 0));
}

#[test]
fn buffers_taken_after_the_end_are_flushed() {
    let adapter = open();
    let srq = adapter.srq(10);
    let end = adapter.end_on(&srq);
    fake(&adapter).calls();
    (0..3).for_each(|cookie| srq.post_recv(&[], cookie).unwrap());
    let ids: Vec<Call> = fake(&adapter).calls();
    let id = |at: usize| if let Call::SharedRecv(id) = ids[at] { id } else { panic!("{:?}", ids[at]) };
    let late = establish(&adapter, &end);
    late.connection(ConnectionReport::Broken);
    assert!(quiet([&end.receives]));
    let _ = late.recv_taken(id(0));
    late.recv_done(received(id(1)));
    end.arrives(0, Status::Flushed);
    end.arrives(1, Status::Flushed);
    assert_eq!(counts(&srq), (1, 1));
}

#[test]
fn watermarks_of_an_endpoint_count_what_it_has_taken() {
    let adapter = open();
    let srq = adapter.srq(10);
    let end = adapter.end_on(&srq);
    let events = adapter.events();
    let sink = establish(&adapter, &end);
    end.ep.set_watermark(Watermark::At(0), Watermark::At(1)).unwrap();
    fake(&adapter).calls();
    (0..3).for_each(|cookie| srq.post_recv(&[], cookie).unwrap());
    let ids: Vec<Call> = fake(&adapter).calls();
    let id = |at: usize| if let Call::SharedRecv(id) = ids[at] { id } else { panic!("{:?}", ids[at]) };
    assert_eq!(sink.recv_taken(id(0)), Verdict::Continue);
    let Event::Async { object, reason } = next(&events) else { panic!("no asynchronous event") };
    assert_eq!((object, reason), (end.ep.header().handle(), AsyncReason::EpSoftHighWatermark));
    assert_eq!(sink.recv_taken(id(1)), Verdict::Break);
    assert!(quiet([&events]));
}

#[test]
fn watermark_events_wait_for_room_and_others_are_lost() {
    let adapter = open();
    let (events, srq) = (adapter.events(), adapter.srq(10));
    let end = adapter.end();
    let raised = || {
        let Event::Async { object, .. } = next(&events) else { panic!("no asynchronous event") };
        object
    };
    let (queue, ep) = (srq.header().handle(), end.ep.header().handle());
    events.resize(2).unwrap();
    (0..5).for_each(|_| srq.set_low_watermark(1).unwrap());
    end.ep.post_recv(&[], 1, CompletionFlags::DEFAULT).unwrap();
    end.ep.set_watermark(Watermark::At(0), Watermark::Infinite).unwrap();
    // The overflow of another EVD finds no room.
    end.receives.resize(1).unwrap();
    let sink = establish(&adapter, &end);
    (0..2).for_each(|cookie| end.ep.post_recv(&[], cookie, CompletionFlags::DEFAULT).unwrap());
    sink.connection(ConnectionReport::Broken);
    assert_eq!([(); 6].map(|()| raised()), [queue, queue, queue, queue, queue, ep]);
    assert!(quiet([&events]));

    // Freed objects leave no event that waits.
    (0..5).for_each(|_| srq.set_low_watermark(1).unwrap());
    end.ep.set_watermark(Watermark::At(0), Watermark::Infinite).unwrap();
    end.ep.free().unwrap();
    srq.free().unwrap();
    assert_eq!([(); 2].map(|()| raised()), [queue, queue]);
    assert!(quiet([&events]));
}
