//! Changes of endpoint parameters: fields, values, all or nothing.

use std::sync::Arc;

use dat_core::ep::table::{Field, Qos, Setting};
use dat_core::ep::{EpState, Value, Watermark};
use dat_core::error::{Arg, Error, Role, StateError};
use dat_core::event::{AsyncReason, Event};
use dat_core::testing::{Call, next, quiet};
use dat_core::transport::Verdict;
use dat_core::{Comm, CompletionFlags, Pz, Rsp, Streams};

use super::*;

fn count(field: Field, count: usize) -> [(Field, Value<Fake>); 1] {
    [(field, Value::Setting(Setting::Count(count)))]
}

const BAD: Result<()> = Err(Error::InvalidParameter(Arg::Value));

#[test]
fn rejects_constant_fields() {
    let adapter = open();
    let end = adapter.end();
    assert_eq!(end.ep.modify(&[]), Ok(()));
    for field in [Field::Ia, Field::State, Field::LocalPort, Field::Srq, Field::SrqSoftHighWatermark] {
        assert_eq!(end.ep.modify(&count(field, 0)), Err(Error::InvalidParameter(Arg::Field)), "{field:?}");
    }
}

/// Fields whose values a query can return although no modify sets them.
#[test]
fn present_values_are_no_change() {
    let adapter = open();
    let end = adapter.end_with(None, |attr| {
        attr.request_completion_flags = CompletionFlags::SUPPRESS;
        attr.soft_watermark = Watermark::At(7);
    });
    let set = |field, setting| end.ep.modify(&[(field, Value::Setting(setting))]);
    let flags = |flags| Setting::Flags(flags);
    assert_eq!(set(Field::RequestCompletionFlags, flags(CompletionFlags::SUPPRESS)), Ok(()));
    assert_eq!(set(Field::RequestCompletionFlags, flags(CompletionFlags::BARRIER_FENCE)), BAD);
    assert_eq!(set(Field::ServiceType, Setting::Datagrams(false)), Ok(()));
    assert_eq!(set(Field::ServiceType, Setting::Datagrams(true)), BAD);
    let soft = |value| set(Field::SrqSoftHighWatermark, Setting::Watermark(value));
    assert_eq!(soft(Some(7)), Ok(()));
    assert_eq!(soft(Some(8)), Err(Error::InvalidParameter(Arg::Field)));
    // In attributes, 0 is the default, and also the watermark 0.
    for watermark in [Watermark::Default, Watermark::At(0)] {
        end.ep.set_watermark(watermark, Watermark::Infinite).unwrap();
        assert_eq!((soft(Some(0)), soft(None)), (Ok(()), Err(Error::InvalidParameter(Arg::Field))));
        assert_eq!(end.ep.query().attr.soft_watermark, watermark);
    }
    // The state matters more than the value, but less than another value of a constant field.
    establish(&adapter, &end);
    assert_eq!(soft(Some(0)), Err(EpState::Connected.into()));
    assert_eq!(soft(Some(1)), Err(Error::InvalidParameter(Arg::Field)));
}

#[test]
fn shared_queue_has_a_hard_watermark() {
    let adapter = open();
    let srq = adapter.srq(8);
    let end = adapter.end_with(Some(&srq), |attr| attr.max_recv_iov = 99);
    let hard = || end.ep.query().attr.hard_watermark;
    let set = |value| end.ep.modify(&[(Field::MaxRecvDtos, Value::Setting(Setting::Watermark(value)))]);
    for (value, watermark) in [(Some(5), Watermark::At(5)), (Some(0), Watermark::Default), (None, Watermark::Infinite)]
    {
        assert_eq!(set(value), Ok(()));
        assert_eq!(hard(), watermark);
    }
    end.ep.set_watermark(Watermark::Infinite, Watermark::At(0)).unwrap();
    assert_eq!(set(Some(0)), Ok(()));
    assert_eq!(hard(), Watermark::At(0));
    assert_eq!(end.ep.modify(&count(Field::MaxRecvDtos, 1)), BAD);
    // A creation ignores the segments of a receive.
    assert_eq!(end.ep.modify(&count(Field::MaxRecvIov, 99)), Ok(()));
    assert_eq!(end.ep.modify(&count(Field::MaxRecvIov, 98)), BAD);
    assert_eq!(end.ep.modify(&count(Field::MaxRecvIov, 3)), Ok(()));
    assert_eq!(end.ep.query().attr.max_recv_iov, 3);
}

#[test]
fn modified_hard_watermark_breaks_a_connection() {
    let adapter = open();
    let srq = adapter.srq(4);
    let buffer = adapter.buffer(8);
    let end = adapter.end_on(&srq);
    end.ep.set_watermark(Watermark::At(1), Watermark::Infinite).unwrap();
    end.ep.modify(&[(Field::MaxRecvDtos, Value::Setting(Setting::Watermark(Some(1))))]).unwrap();
    let sink = establish(&adapter, &end);
    fake(&adapter).calls();
    (0..2).for_each(|cookie| srq.post_recv(&[buffer.at(0, 8)], cookie).unwrap());
    let ids = fake(&adapter).calls();
    let [Call::SharedRecv(first), Call::SharedRecv(second)] = ids[..] else { panic!("{ids:?}") };
    assert_eq!(sink.recv_taken(first), Verdict::Continue);
    assert!(quiet([&end.connections, &adapter.events()]));
    assert_eq!(sink.recv_taken(second), Verdict::Break);
    // The modification has left the soft watermark armed.
    let event = next(&adapter.events());
    assert!(matches!(event, Event::Async { reason: AsyncReason::EpSoftHighWatermark, .. }), "{event:?}");
}

#[test]
fn rejects_unsuitable_objects() {
    let adapter = open();
    let (end, other) = (adapter.end(), open());
    let elsewhere = other.evd(Streams::TRANSFERS);
    for (field, value) in [
        (Field::Pz, Value::Invalid),
        (Field::Pz, Value::Pz(Some(other.pz.clone()))),
        (Field::Pz, Value::Evd(Some(end.receives.clone()))),
        (Field::RecvEvd, Value::Invalid),
        (Field::RecvEvd, Value::Evd(Some(end.connections.clone()))),
        (Field::RecvEvd, Value::Evd(Some(elsewhere.clone()))),
        (Field::RequestEvd, Value::Evd(Some(end.connections.clone()))),
        (Field::ConnectEvd, Value::Evd(Some(end.receives.clone()))),
    ] {
        assert_eq!(end.ep.modify(&[(field, value)]), BAD, "{field:?}");
    }
    // The endpoint uses none of the rejected objects.
    elsewhere.free().unwrap();
    other.pz.free().unwrap();
}

#[test]
fn rejects_numbers_outside_limits() {
    let adapter = open();
    let end = adapter.end();
    for (field, value) in [
        (Field::MaxMessageSize, Setting::Size(1 << 40)),
        (Field::MaxRdmaSize, Setting::Size(u64::MAX)),
        (Field::Qos, Setting::Qos(Qos::Other)),
        (Field::RecvCompletionFlags, Setting::Flags(CompletionFlags::SUPPRESS)),
        (Field::RequestCompletionFlags, Setting::Flags(CompletionFlags::SUPPRESS)),
        (Field::MaxRecvDtos, Setting::Count(65)),
        (Field::MaxRequestDtos, Setting::Count(65)),
        (Field::MaxRequestIov, Setting::Count(9)),
        (Field::MaxRdmaReadIn, Setting::Count(5)),
        (Field::MaxRdmaWriteIov, Setting::Count(5)),
        (Field::MaxRecvIov, Setting::Size(1)),
    ] {
        assert_eq!(end.ep.modify(&[(field, Value::Setting(value))]), BAD, "{field:?}");
        assert_eq!(end.ep.modify(&[(field, Value::Invalid)]), BAD, "{field:?}");
    }
    assert_eq!(end.ep.modify(&count(Field::MaxRecvDtos, 33)), Ok(()));
    assert_eq!(end.ep.query().attr.max_recv_dtos, 33);
}

#[test]
fn rejects_unsupported_socket_kinds() {
    let adapter = open();
    let end = adapter.end();
    let set = |comm| end.ep.modify(&[(Field::Comm, Value::Comm(comm))]);
    assert!(end.ep.query().comm.is_unset());
    let stream = Comm { domain: 10, kind: 1, protocol: 6 };
    assert_eq!(set(stream), Ok(()));
    assert_eq!(set(Comm { kind: 2, ..stream }), Err(Error::CommNotSupported));
    assert_eq!(end.ep.modify(&[(Field::Comm, Value::Invalid)]), BAD);
    assert_eq!(end.ep.modify(&[(Field::Pz, Value::Comm(stream))]), BAD);
    assert_eq!(end.ep.query().comm, stream);
    assert_eq!(set(Comm::default()), Ok(()));
    assert!(end.ep.query().comm.is_unset());
    establish(&adapter, &end);
    assert_eq!(set(stream), Err(EpState::Connected.into()));
}

#[test]
fn changes_all_fields_or_none() {
    let adapter = open();
    let end = adapter.end();
    let before = end.ep.query().attr;
    let zone = Pz::create(&adapter.ia).unwrap();
    let bad = (Field::MaxRequestIov, Value::Invalid);
    let good = || {
        let [receives] = count(Field::MaxRecvDtos, 3);
        [(Field::Pz, Value::Pz(Some(zone.clone()))), receives]
    };
    let [first, second] = good();
    assert_eq!(end.ep.modify(&[first, second, bad]), BAD);
    let status = end.ep.query();
    assert_eq!(status.attr, before);
    assert!(status.pz.is_some_and(|pz| Arc::ptr_eq(&pz, &adapter.pz)));
    end.ep.modify(&good()).unwrap();
    let status = end.ep.query();
    assert_eq!(status.attr.max_recv_dtos, 3);
    assert!(status.pz.is_some_and(|pz| Arc::ptr_eq(&pz, &zone)));
    adapter.pz.free().unwrap();
    end.ep.modify(&[(Field::Pz, Value::Pz(None))]).unwrap();
    zone.free().unwrap();
}

#[test]
fn posted_work_restricts_changes() {
    let adapter = open();
    let end = adapter.end();
    let buffer = adapter.buffer(64);
    for cookie in 0..3 {
        end.ep.post_recv(&[buffer.at(0, 8), buffer.at(8, 8)], cookie, CompletionFlags::DEFAULT).unwrap();
    }
    assert_eq!(end.ep.modify(&count(Field::MaxRecvDtos, 2)), BAD);
    assert_eq!(end.ep.modify(&count(Field::MaxRecvIov, 1)), BAD);
    assert_eq!(end.ep.modify(&[(Field::RecvEvd, Value::Evd(None))]), BAD);
    let flags = Value::Setting(Setting::Flags(CompletionFlags::DEFAULT));
    let fixed = end.ep.modify(&[(Field::RecvCompletionFlags, flags)]);
    assert_eq!(fixed, Err(Error::InvalidState(StateError::ReceivesPosted)));
    let flags = Value::Setting(Setting::Flags(end.ep.query().attr.recv_completion_flags));
    end.ep.modify(&[(Field::RecvCompletionFlags, flags)]).unwrap();
    end.ep.modify(&count(Field::MaxRecvDtos, 3)).unwrap();
    end.ep.modify(&count(Field::MaxRecvIov, 2)).unwrap();
    // After the change of zone, the posted memory is in another zone.
    let zone = Pz::create(&adapter.ia).unwrap();
    end.ep.modify(&[(Field::Pz, Value::Pz(Some(zone)))]).unwrap();
    (0..3).for_each(|cookie| end.arrives(cookie, Status::LocalProtection));
    let [none] = count(Field::MaxRecvDtos, 0);
    end.ep.modify(&[(Field::RecvEvd, Value::Evd(None)), none]).unwrap();
    end.receives.free().unwrap();
}

#[test]
fn state_error_precedes_value_error() {
    let adapter = open();
    let (end, _) = connected(&adapter);
    assert_eq!(end.ep.modify(&[(Field::MaxRecvDtos, Value::Invalid)]), Err(end.state().into()));
    assert_eq!(end.ep.modify(&[(Field::Ia, Value::Invalid)]), Err(Error::InvalidParameter(Arg::Field)));
}

#[test]
fn freed_endpoint_accepts_no_objects() {
    let adapter = open();
    let end = adapter.end();
    let other = adapter.evd(Streams::TRANSFERS);
    end.ep.free().unwrap();
    // These calls looked the endpoint up before its free.
    let gone = Err(Error::InvalidHandle(Role::Ep));
    assert_eq!(end.ep.modify(&[(Field::RecvEvd, Value::Evd(Some(other.clone())))]), gone);
    assert_eq!(end.ep.modify(&[(Field::Pz, Value::Pz(Some(adapter.pz.clone())))]), gone);
    assert_eq!(end.ep.reset(), gone);
    let evd = adapter.evd(Streams::CONNECTION_REQUESTS);
    assert_eq!(Rsp::create(&adapter.ia, 7, &end.ep, &evd).err(), Some(Error::InvalidHandle(Role::Ep)));
    other.free().unwrap();
    adapter.pz.free().unwrap();
}
