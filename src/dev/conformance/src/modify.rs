//! Changes of an endpoint before it connects.

use std::sync::Arc;

use dat_core::ep::Value;
use dat_core::ep::table::{Field, Setting};
use dat_core::error::{Arg, Error};
use dat_core::event::Status;
use dat_core::testing::{Adapter, End, connect, quiet};
use dat_core::transport::Transport;
use dat_core::{CompletionFlags, Endpoint, Pz, Streams};

use crate::{Network, is_refusal, repeats, written};

fn set<T: Transport>(ep: &Endpoint<T>, field: Field, value: Value<T>) -> dat_core::Result<()> {
    ep.modify(&[(field, value)])
}

fn count<T: Transport>(count: usize) -> Value<T> {
    Value::Setting(Setting::Count(count))
}

fn size<T: Transport>(size: u64) -> Value<T> {
    Value::Setting(Setting::Size(size))
}

fn flags<T: Transport>(flags: CompletionFlags) -> Value<T> {
    Value::Setting(Setting::Flags(flags))
}

/// Sets the zone and the EVDs of an endpoint. Returns the endpoint with these EVDs.
pub(crate) fn equip<T: Transport>(adapter: &Adapter<T>, ep: Arc<Endpoint<T>>) -> End<T> {
    let end = End {
        receives: adapter.evd(Streams::TRANSFERS),
        requests: adapter.evd(Streams::TRANSFERS),
        connections: adapter.evd(Streams::CONNECTIONS),
        ep,
    };
    set(&end.ep, Field::Pz, Value::Pz(Some(adapter.pz.clone()))).unwrap();
    for (field, evd) in
        [(Field::RecvEvd, &end.receives), (Field::RequestEvd, &end.requests), (Field::ConnectEvd, &end.connections)]
    {
        set(&end.ep, field, Value::Evd(Some(evd.clone()))).unwrap();
    }
    end
}

pub fn queue_lengths_apply_at_connect<T: Transport>(network: &Network<T>) {
    const QUEUE_LEN: usize = 100;
    let adapter = network.open();
    let memory = adapter.buffer(256);
    let little = |attr: &mut dat_core::EpAttributes| (attr.max_recv_dtos, attr.max_request_dtos) = (2, 2);
    let (a, b) = (adapter.end_with(None, little), adapter.end_with(None, little));
    set(&a.ep, Field::MaxRequestDtos, count(QUEUE_LEN)).unwrap();
    set(&b.ep, Field::MaxRecvDtos, count(QUEUE_LEN)).unwrap();
    let full = |posted| assert!(matches!(posted, Err(Error::InsufficientResources(_))), "{posted:?}");
    (0..QUEUE_LEN as u64).for_each(|cookie| b.receive(memory.at(0, 64), cookie));
    full(b.ep.post_recv(&[memory.at(0, 64)], 0, CompletionFlags::DEFAULT));
    connect(&a, &b);
    (0..QUEUE_LEN as u64).for_each(|cookie| a.send(memory.at(64, 64), cookie));
    for cookie in 0..QUEUE_LEN as u64 {
        b.arrives(cookie, Status::Success);
        a.completes(cookie, Status::Success);
    }
    if !repeats(&adapter) {
        return;
    }
    // No receive is posted, so requests stay in the queue.
    (0..QUEUE_LEN as u64).for_each(|cookie| a.send(memory.at(64, 64), cookie));
    full(a.ep.post_send(&[memory.at(64, 64)], 0, CompletionFlags::DEFAULT));
}

pub fn evds_apply_at_completion<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let memory = adapter.buffer(256);
    let (a, old) = (adapter.end(), adapter.end());
    old.receive(memory.at(0, 64), 1);
    let b = equip(&adapter, old.ep.clone());
    connect(&a, &b);
    a.send(memory.at(64, 64), 2);
    b.arrives(1, Status::Success);
    a.receive(memory.at(0, 64), 3);
    b.send(memory.at(64, 64), 4);
    b.completes(4, Status::Success);
    assert!(quiet([&old.receives, &old.requests, &old.connections]));
    for evd in [&old.receives, &old.requests, &old.connections] {
        evd.free().unwrap();
    }
}

/// Limits of segments take effect on later posts. Limits of sizes have no effect: longer transfers succeed.
pub fn segment_limits_apply_at_post<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let memory = adapter.buffer(4096);
    let (a, b) = (adapter.end(), adapter.end());
    let most = adapter.ia.attributes().max_segments.min(6);
    for (end, field) in [(&a, Field::MaxRequestIov), (&b, Field::MaxRecvIov)] {
        set(&end.ep, field, count(most)).unwrap();
    }
    set(&a.ep, Field::MaxMessageSize, size(1000)).unwrap();
    set(&a.ep, Field::MaxRdmaSize, size(500)).unwrap();
    connect(&a, &b);
    let parts = |at: usize, len: usize| (0..most).map(|k| memory.at(at + k * len, len)).collect::<Vec<_>>();
    memory.paint(0..most * 100, 1);
    b.ep.post_recv(&parts(2048, 100), 1, CompletionFlags::DEFAULT).unwrap();
    a.ep.post_send(&parts(0, 100), 2, CompletionFlags::DEFAULT).unwrap();
    assert_eq!(b.arrived(), (1, Status::Success, most as u64 * 100));
    a.completes(2, Status::Success);
    assert!(memory.shows(2048..2048 + most * 100, 1));
    b.receive(memory.at(2048, 1001), 4);
    a.send(memory.at(0, 1001), 3);
    assert_eq!(b.arrived(), (4, Status::Success, 1001));
    a.write(memory.at(0, 501), 5, memory.remote(2048, 501));
    a.completes(3, Status::Success);
    a.completes(5, Status::Success);
}

pub fn zone_applies_at_connect<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let zone = Pz::create(&adapter.ia).unwrap();
    let (a, b) = (adapter.end(), adapter.end());
    let here = adapter.buffer(256);
    let there = dat_core::testing::Buffer::new(
        &adapter.ia,
        &zone,
        256,
        dat_core::Rights::LOCAL_READ | dat_core::Rights::LOCAL_WRITE | dat_core::Rights::REMOTE_WRITE,
    );
    // A receive that was posted with memory of the old zone fails.
    b.receive(here.at(0, 64), 1);
    set(&b.ep, Field::Pz, Value::Pz(Some(zone.clone()))).unwrap();
    b.arrives(1, Status::LocalProtection);
    assert!(matches!(
        b.ep.post_recv(&[here.at(0, 64)], 0, CompletionFlags::DEFAULT),
        Err(Error::ProtectionViolation(_))
    ));
    b.receive(there.at(0, 64), 2);
    connect(&a, &b);
    here.paint(0..64, 1);
    a.send(here.at(0, 64), 3);
    b.arrives(2, Status::Success);
    a.completes(3, Status::Success);
    a.write(here.at(0, 64), 4, there.remote(64, 64));
    a.completes(4, Status::Success);
    assert!(there.shows(0..64, 1));
    written(&adapter, "64 bytes", || there.shows(64..128, 1));
    // The peer cannot access memory of the old zone.
    a.write(here.at(0, 64), 5, here.remote(64, 64));
    let (_, status, _) = a.done();
    assert!(is_refusal(&adapter, true, status, Status::RemoteAccess), "{status:?}");
}

pub fn recv_completion_flags_apply_at_connect<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let memory = adapter.buffer(256);
    let (a, b) = (adapter.end(), adapter.end());
    set(&a.ep, Field::RequestCompletionFlags, flags(CompletionFlags::UNSIGNALLED)).unwrap();
    set(&b.ep, Field::RecvCompletionFlags, flags(CompletionFlags::SOLICITED_WAIT)).unwrap();
    b.receive(memory.at(0, 64), 1);
    let fixed = set(&b.ep, Field::RecvCompletionFlags, flags(CompletionFlags::DEFAULT));
    assert_eq!(fixed.err(), Some(Error::InvalidState(dat_core::error::StateError::ReceivesPosted)));
    connect(&a, &b);
    a.ep.post_send(&[memory.at(64, 64)], 2, CompletionFlags::UNSIGNALLED | CompletionFlags::SOLICITED_WAIT).unwrap();
    b.arrives(1, Status::Success);
    a.completes(2, Status::Success);
    let two = dat_core::testing::wait(&b.receives, 2, Some(std::time::Duration::ZERO));
    assert_eq!(two.result.err(), Some(Error::InvalidState(dat_core::error::StateError::EvdConfigSolicited)));
}

pub fn rejects_changes_while_connected<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let (a, _b) = adapter.pair();
    assert_eq!(set(&a.ep, Field::MaxRecvDtos, count(1)), Err(a.state().into()));
    assert_eq!(set(&a.ep, Field::MaxMessageSize, size(1)), Err(a.state().into()));
    assert_eq!(set(&a.ep, Field::MaxRdmaReadIn, count(1)), Err(a.state().into()));
    assert_eq!(set(&a.ep, Field::Pz, Value::Pz(Some(adapter.pz.clone()))), Err(a.state().into()));
    a.ep.disconnect(false).unwrap();
    a.is_told(dat_core::event::ConnectionEvent::Disconnected);
    a.ep.reset().unwrap();
    set(&a.ep, Field::MaxRecvDtos, count(1)).unwrap();
    let too_many = adapter.ia.attributes().max_dto_per_ep + 1;
    assert_eq!(set(&a.ep, Field::MaxRecvDtos, count(too_many)), Err(Error::InvalidParameter(Arg::Value)));
}
