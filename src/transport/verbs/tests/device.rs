//! Tests of behaviour that the C interface does not show, on a device.

mod common;

use common::network;
use dat_core::error::{Error, Resource};
use dat_core::event::{ConnectionEvent, Status};
use dat_core::testing::connect;
use dat_core::{ApiCaps, Arena, AsyncEvd, CompletionFlags, Evd, Ia, Pz, Srq, Streams};
use dat_verbs::Verbs;

#[test]
fn what_is_no_adapter_does_not_open() {
    let arena: &'static Arena<Verbs> = Box::leak(Box::new(Arena::new()));
    for instance in ["", "no-such-interface 0", "lo 0", "203.0.113.1", "lo banana", "lo 300", "lo 0 more"] {
        let opened = Ia::open(arena, 0, "verbs", instance, AsyncEvd::Create(8), ApiCaps::default());
        assert_eq!(opened.err(), Some(Error::InsufficientResources(Resource::Device)), "{instance:?}");
    }
}

/// If the program's queue is longer than the device's, the excess requests wait, and all complete in order.
#[test]
#[ignore = "needs an RDMA device"]
fn requests_beyond_the_places_of_the_device_wait() {
    let network = network();
    let adapter = network.open();
    let most = adapter.ia.attributes().max_dto_per_ep.min(100_000);
    let requests = Evd::create(&adapter.ia, most, None, Streams::TRANSFERS).unwrap();
    let like = adapter.end();
    let a = adapter.end_to(&adapter.pz, [&like.receives, &requests, &like.connections], None, |attr| {
        attr.max_request_dtos = most;
    });
    let b = adapter.end();
    connect(&a, &b);
    let memory = adapter.buffer(64);
    let to = memory.remote(8, 8);
    for cookie in 0..most as u64 {
        a.write(memory.at(0, 8), cookie, to);
    }
    let full = a.ep.post_write(&[memory.at(0, 8)], 0, to, CompletionFlags::DEFAULT);
    // The post succeeds if earlier requests have completed in time.
    assert!(matches!(full, Ok(()) | Err(Error::InsufficientResources(_))), "{full:?}");
    for cookie in 0..most as u64 {
        assert_eq!(a.done(), (cookie, Status::Success, 8));
    }
}

/// The endpoint and its SRQ are in different zones, if the device permits it.
#[test]
#[ignore = "needs an RDMA device"]
fn buffers_of_a_shared_queue_are_found_whatever_the_zone_of_the_endpoint() {
    let network = network();
    let adapter = network.open();
    let srq = Srq::create(&adapter.ia, &adapter.pz, 16, 2).unwrap();
    let memory = adapter.buffer(256);
    let [second, third] = [(); 2].map(|()| Pz::create(&adapter.ia).unwrap());
    let zones = [&adapter.pz, &second, &third];
    let permitted = if adapter.ia.attributes().srq_zone_difference { 3 } else { 1 };
    for zone in &zones[..permitted] {
        // One receive is posted before the endpoint exists, one after.
        srq.post_recv(&[memory.at(0, 64)], 1).unwrap();
        let (tx, like) = (adapter.end(), adapter.end());
        let evds = [&like.receives, &like.requests, &like.connections];
        let rx = adapter.end_to(zone, evds, Some(&srq), |_| {});
        connect(&tx, &rx);
        srq.post_recv(&[memory.at(64, 64)], 2).unwrap();
        for cookie in [1, 2] {
            tx.ep.post_send(&[memory.at(128, 32)], 3, CompletionFlags::SUPPRESS).unwrap();
            assert_eq!(rx.arrived(), (cookie, Status::Success, 32));
        }
        rx.ep.disconnect(false).unwrap();
        rx.is_told(ConnectionEvent::Disconnected);
        tx.is_told(ConnectionEvent::Disconnected);
        rx.ep.free().unwrap();
        assert_eq!((srq.query().available, srq.query().outstanding), (0, 0));
    }
}

/// Reads succeed even if the target's endpoint is created for no incoming reads, whichever end connects.
#[test]
#[ignore = "needs an RDMA device"]
fn target_without_reads_serves_them() {
    let network = network();
    let adapter = network.open();
    let most = adapter.ia.attributes().max_rdma_read_per_ep_out;
    let memory = adapter.buffer(1 << 16);
    for active in [true, false] {
        let reader = adapter.end_with(None, |attr| {
            attr.max_rdma_read_out = most;
            attr.max_request_dtos = 2 * most;
        });
        let target = adapter.end_with(None, |attr| attr.max_rdma_read_in = 0);
        if active {
            connect(&reader, &target);
        } else {
            connect(&target, &reader);
        }
        for cookie in 0..2 * most as u64 {
            reader.read(memory.at(0, 4096), cookie, memory.remote(1 << 15, 4096));
        }
        (0..2 * most as u64).for_each(|cookie| reader.completes(cookie, Status::Success));
    }
}
