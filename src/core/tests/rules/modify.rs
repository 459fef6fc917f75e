//! Changes of endpoint parameters: fields, values, all or nothing.

use std::sync::Arc;

use dat_core::ep::table::{Field, Qos, Setting};
use dat_core::ep::{EpState, Value};
use dat_core::error::{Arg, Error, Role, StateError};
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
