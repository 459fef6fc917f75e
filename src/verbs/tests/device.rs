//! What shows only below the C interface, on a device.

mod common;

use common::open;
use dat_core::ep::{EpAttributes, Watermark};
use dat_core::error::{Error, Resource};
use dat_core::event::{ConnectionEvent, Status};
use dat_core::transport::{RemoteSegment, Transport};
use dat_core::{AsyncEvd, CompletionFlags, Endpoint, EpParts, Evd, Event, Ia, Object, Pz, Slab, Srq, Streams};
use dat_loopback::{connect, connection, endpoint, next, register, segment, transfer};
use dat_verbs::Verbs;

#[test]
fn what_is_no_adapter_does_not_open() {
    let slab: &'static Slab<Verbs> = Box::leak(Box::new(Slab::new(0)));
    for instance in ["", "no-such-interface 0", "lo 0", "203.0.113.1", "lo banana", "lo 300", "lo 0 more"] {
        let opened = Ia::open(slab, "verbs", instance, AsyncEvd::Create(8));
        assert_eq!(opened.err(), Some(Error::InsufficientResources(Resource::Device)), "{instance:?}");
    }
}

/// A queue that is longer than the device's gets all of its work done, in order.
#[test]
#[ignore = "needs an RDMA device"]
fn requests_beyond_the_places_of_the_device_wait() {
    let side = open();
    let most = side.ia.transport().attributes().max_dto_per_ep.min(100_000);
    let requests = Evd::create(&side.ia, most, None, Streams::TRANSFERS).unwrap();
    let attributes = EpAttributes { max_request_dtos: most, ..endpoint(&side, None).query().attr };
    let parts = EpParts { request_evd: Some(&requests), ..side.parts() };
    let a = Endpoint::create(&side.ia, &parts, Some(attributes)).unwrap();
    let b = endpoint(&side, None);
    connect(&side, &a, &b);
    let mut bytes = vec![0_u8; 64];
    let lmr = register(&side, &mut bytes);
    let to = RemoteSegment { addr: lmr.addr() + 8, len: 8, key: lmr.remote_key() };
    for cookie in 0..most as u64 {
        a.post_write(&[segment(&lmr, 0, 8)], cookie, to, CompletionFlags::DEFAULT).unwrap();
    }
    let full = a.post_write(&[segment(&lmr, 0, 8)], 0, to, CompletionFlags::DEFAULT);
    // Some may be done by now, which makes room.
    assert!(matches!(full, Ok(()) | Err(Error::InsufficientResources(_))), "{full:?}");
    for cookie in 0..most as u64 {
        assert_eq!(transfer(&requests), (cookie, Status::Success, 8));
    }
    side.ia.close_abrupt();
}

/// Endpoints of another zone than their queue's, where the device looks in the endpoint's.
#[test]
#[ignore = "needs an RDMA device"]
fn buffers_of_a_shared_queue_are_found_whatever_the_zone_of_the_endpoint() {
    let side = open();
    let srq = Srq::create(&side.ia, &side.pz, 16, 2).unwrap();
    let mut bytes = vec![0_u8; 256];
    let lmr = register(&side, &mut bytes);
    for zone in [&side.pz, &Pz::create(&side.ia).unwrap(), &Pz::create(&side.ia).unwrap()] {
        let parts = EpParts { pz: Some(zone), srq: Some(&srq), ..side.parts() };
        // Before and after there is an endpoint.
        srq.post_recv(&[segment(&lmr, 0, 64)], 1).unwrap();
        let attributes = EpAttributes { hard_watermark: Watermark::Infinite, ..endpoint(&side, None).query().attr };
        let rx = Endpoint::create(&side.ia, &parts, Some(attributes)).unwrap();
        let tx = endpoint(&side, None);
        connect(&side, &tx, &rx);
        srq.post_recv(&[segment(&lmr, 64, 64)], 2).unwrap();
        for cookie in [1, 2] {
            tx.post_send(&[segment(&lmr, 128, 32)], 3, CompletionFlags::SUPPRESS).unwrap();
            assert_eq!(transfer(&side.transfers), (cookie, Status::Success, 32));
        }
        rx.disconnect(false).unwrap();
        connection(&side.connections, ConnectionEvent::Disconnected);
        connection(&side.connections, ConnectionEvent::Disconnected);
        rx.free().unwrap();
        assert_eq!((srq.query().available, srq.query().outstanding), (0, 0));
    }
    side.ia.close_abrupt();
}

/// A free waits until the device has let go: nothing is written to the buffer afterwards, and what
/// was posted is back.
#[test]
#[ignore = "needs an RDMA device"]
fn a_freed_endpoint_has_let_go_of_its_buffers() {
    let side = open();
    let mut bytes = vec![0_u8; 1 << 16];
    let lmr = register(&side, &mut bytes);
    for _ in 0..20 {
        let (a, b) = (endpoint(&side, None), endpoint(&side, None));
        connect(&side, &a, &b);
        for cookie in 0..8 {
            b.post_recv(&[segment(&lmr, 0, 1 << 15)], cookie, CompletionFlags::DEFAULT).unwrap();
            a.post_send(&[segment(&lmr, 1 << 15, 1 << 15)], 100, CompletionFlags::SUPPRESS).unwrap();
        }
        b.free().unwrap();
        let mut seen = Vec::new();
        while seen.len() < 8 {
            match next(&side.transfers) {
                Event::Transfer { ep, cookie, status, .. } if ep == b.header().handle() => {
                    assert!(matches!(status, Status::Success | Status::Flushed), "{status:?}");
                    seen.push(cookie);
                }
                _ => {}
            }
        }
        assert_eq!(seen, (0..8).collect::<Vec<_>>());
        a.free().unwrap();
        while side.transfers.dequeue().is_ok() || side.connections.dequeue().is_ok() {}
    }
    side.ia.close_abrupt();
}

/// An end that asks for more reads at a time than the other serves gets them all the same, some later.
#[test]
#[ignore = "needs an RDMA device"]
fn reads_at_a_time_are_no_more_than_the_peer_serves() {
    let side = open();
    let most = side.ia.transport().attributes().max_rdma_read_per_ep_out;
    let mut bytes = vec![7_u8; 1 << 16];
    let lmr = register(&side, &mut bytes);
    let default = endpoint(&side, None).query().attr;
    for (served, status) in [(1, Status::Success), (0, Status::RemoteResponder)] {
        let make = |attributes| {
            let parts = side.parts();
            Endpoint::create(&side.ia, &parts, Some(attributes)).unwrap()
        };
        let wide = EpAttributes { max_rdma_read_out: most, ..default };
        let narrow = EpAttributes { max_rdma_read_in: served, ..default };
        // Each end is once the one that connects.
        for active in [true, false] {
            let (reader, target) = (make(wide), make(narrow));
            if active {
                connect(&side, &reader, &target);
            } else {
                connect(&side, &target, &reader);
            }
            let from = RemoteSegment { addr: lmr.addr() + (1 << 15), len: 4096, key: lmr.remote_key() };
            for cookie in 0..2 * most as u64 {
                reader.post_read(&[segment(&lmr, 0, 4096)], cookie, from, CompletionFlags::DEFAULT).unwrap();
            }
            assert_eq!(transfer(&side.transfers).1, status);
            if status == Status::Success {
                for cookie in 1..2 * most as u64 {
                    assert_eq!(transfer(&side.transfers), (cookie, Status::Success, 4096));
                }
            }
            reader.free().unwrap();
            target.free().unwrap();
            while side.transfers.dequeue().is_ok() || side.connections.dequeue().is_ok() {}
        }
    }
    side.ia.close_abrupt();
}
