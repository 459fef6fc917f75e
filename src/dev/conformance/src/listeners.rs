//! Service points: qualifiers, backlogs, RSPs, and endpoints that the provider creates.

use std::net::SocketAddr;

use dat_core::addr::Address;
use dat_core::ep::table::Field;
use dat_core::ep::{EpState, Value};
use dat_core::error::Error;
use dat_core::event::{ConnectionEvent, Event};
use dat_core::testing::{next, next_request, patience, quiet, request, until};
use dat_core::transport::Transport;
use dat_core::{Comm, Cr, Csp, Evd, Object, Psp, PspMode, Rsp, Streams};

use crate::Network;
use crate::connecting::Scene;
use crate::modify::equip;

pub fn qualifier_has_one_service_point<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let other = network.open();
    let elsewhere = other.evd(Streams::CONNECTION_REQUESTS);
    let qualifier = scene.psp.point.qualifier();
    assert_ne!(qualifier, 0);
    let twice = Psp::create(&scene.adapter.ia, Some(qualifier), &scene.requests, PspMode::Consumer);
    assert_eq!(twice.err(), Some(Error::QualifierInUse));
    let twice = Psp::create(&other.ia, Some(qualifier), &elsewhere, PspMode::Consumer);
    assert_eq!(twice.err(), Some(Error::QualifierInUse));
    let reserved = scene.adapter.end();
    let twice = Rsp::create(&scene.adapter.ia, qualifier, &reserved.ep, &scene.requests);
    assert_eq!(twice.err(), Some(Error::QualifierInUse));
    assert_eq!(reserved.state(), EpState::Unconnected);
    scene.psp.free();
    let psp = Psp::create(&other.ia, Some(qualifier), &elsewhere, PspMode::Consumer).unwrap();
    assert_eq!(psp.point.qualifier(), qualifier);
}

/// Returns the parameters of a stream socket for the address's family.
fn streams(address: &Address) -> Comm {
    Comm { domain: if address.ip().is_ipv4() { 2 } else { 10 }, kind: 1, protocol: 0 }
}

/// Endpoints can connect to both CSPs and PSPs, by address and port or by qualifier.
pub fn service_points_of_both_models_share_ports<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let comm = streams(&scene.address);
    let other = network.open();
    let elsewhere = other.evd(Streams::CONNECTION_REQUESTS);
    let csp = Csp::create(&scene.adapter.ia, comm, &scene.address, &scene.requests).unwrap();
    let port = csp.address().port();
    assert_eq!((csp.address().ip(), u64::from(port)), (scene.address.ip(), csp.point.qualifier()));
    let twice = |ia, evd| Csp::create(ia, comm, csp.address(), evd).err();
    assert_eq!(twice(&scene.adapter.ia, &scene.requests), Some(Error::PortInUse));
    assert_eq!(twice(&other.ia, &elsewhere), Some(Error::PortInUse));
    let psp = Psp::create(&other.ia, Some(port.into()), &elsewhere, PspMode::Consumer);
    assert_eq!(psp.err(), Some(Error::QualifierInUse));

    let public = (scene.psp.header().handle(), scene.psp.point.qualifier());
    let common = (csp.header().handle(), csp.point.qualifier());
    for (to, by_address) in [(common, true), (common, false), (public, true)] {
        let (a, b) = (scene.adapter.end(), scene.adapter.end());
        if by_address {
            let mut socket = SocketAddr::new(scene.address.ip(), 0);
            socket.set_port(u16::try_from(to.1).expect("a port"));
            a.ep.modify(&[(Field::Comm, Value::Comm(comm))]).unwrap();
            a.ep.common_connect(&Address::new(socket), Some(patience()), b"hello").unwrap();
        } else {
            request(&a, &scene.address, to.1, Some(patience()), b"hello").unwrap();
        }
        let Event::ConnectionRequest { point, qualifier, cr, .. } = next(&scene.requests) else { panic!("no request") };
        assert_eq!((point, qualifier), to);
        let cr = scene.adapter.ia.arena.get::<Cr<T>>(cr).unwrap();
        assert_eq!(cr.remote_address.ip(), scene.address.ip());
        cr.accept(Some(&b.ep), b"").unwrap();
        a.is_told(ConnectionEvent::Established);
        b.is_told(ConnectionEvent::Established);
        scene.talk(&a, &b);
    }
    // After the CSP is freed, so is the port.
    csp.free();
    Psp::create(&other.ia, Some(port.into()), &elsewhere, PspMode::Consumer).unwrap();
}

pub fn chosen_qualifiers_differ<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let points: Vec<_> =
        (0..16).map(|_| Psp::create(&scene.adapter.ia, None, &scene.requests, PspMode::Consumer).unwrap()).collect();
    let mut qualifiers: Vec<_> = points.iter().map(|psp| psp.point.qualifier()).collect();
    qualifiers.push(scene.psp.point.qualifier());
    qualifiers.sort_unstable();
    qualifiers.dedup();
    assert_eq!(qualifiers.len(), 17);
    assert!(!qualifiers.contains(&0));
}

pub fn request_contains_service_point<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let other = Psp::create(&scene.adapter.ia, None, &scene.requests, PspMode::Consumer).unwrap();
    for psp in [&other, &scene.psp] {
        let a = scene.adapter.end();
        let wanted = psp.point.qualifier();
        request(&a, &scene.address, wanted, Some(patience()), b"").unwrap();
        let Event::ConnectionRequest { point, reserved, qualifier, .. } = next(&scene.requests) else {
            panic!("no request")
        };
        assert_eq!((point, reserved, qualifier), (psp.header().handle(), false, wanted));
        a.ep.free().unwrap();
    }
}

pub fn requests_outlive_service_point<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let (a, b) = (scene.adapter.end(), scene.adapter.end());
    scene.ask(&a, Some(patience()));
    let cr = next_request(&scene.requests);
    scene.psp.free();
    cr.accept(Some(&b.ep), b"").unwrap();
    a.is_told(ConnectionEvent::Established);
    b.is_told(ConnectionEvent::Established);
    scene.talk(&a, &b);
}

/// The backlog of a service point is the length of its EVD for connection requests.
pub fn rejects_requests_beyond_backlog<T: Transport>(network: &Network<T>) {
    const ROOM: usize = 2;
    let scene = Scene::new(network);
    let requests = Evd::create(&scene.adapter.ia, ROOM, None, Streams::CONNECTION_REQUESTS).unwrap();
    let psp = Psp::create(&scene.adapter.ia, None, &requests, PspMode::Consumer).unwrap();
    let ends: Vec<_> = (0..=ROOM).map(|_| scene.adapter.end()).collect();
    for end in &ends {
        request(end, &scene.address, psp.point.qualifier(), Some(patience()), b"").unwrap();
    }
    let pending = || ends.iter().filter(|end| end.state() == EpState::ActiveConnectionPending).count();
    until("one is refused", || pending() == ROOM);
    // The contract does not determine which request is rejected.
    let refused = ends.iter().find(|end| end.state() == EpState::Disconnected).expect("one is not pending");
    refused.is_told(ConnectionEvent::NonPeerRejected);
    let events = scene.adapter.events();
    assert!(quiet([&events]), "that is no overflow");
    assert_eq!(pending(), ROOM);
    for _ in 0..ROOM {
        next_request(&requests).reject(&[]).unwrap();
    }
    assert!(quiet([&requests]));
    // The backlog has space again.
    let more = scene.adapter.end();
    request(&more, &scene.address, psp.point.qualifier(), Some(patience()), b"").unwrap();
    next_request(&requests).reject(&[]).unwrap();
    more.is_told(ConnectionEvent::PeerRejected);
}

pub fn rsp_accepts_one_request<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let (a, late, b) = (scene.adapter.end(), scene.adapter.end(), scene.adapter.end());
    let qualifier = scene.psp.point.qualifier();
    scene.psp.free();
    let rsp = Rsp::create(&scene.adapter.ia, qualifier, &b.ep, &scene.requests).unwrap();
    assert_eq!(b.state(), EpState::Reserved);
    request(&a, &scene.address, qualifier, Some(patience()), b"").unwrap();
    let cr = next_request(&scene.requests);
    assert_eq!(b.state(), EpState::PassiveConnectionPending);
    request(&late, &scene.address, qualifier, Some(patience()), b"").unwrap();
    late.is_told(ConnectionEvent::NonPeerRejected);
    cr.accept(None, b"").unwrap();
    a.is_told(ConnectionEvent::Established);
    b.is_told(ConnectionEvent::Established);
    scene.talk(&a, &b);
    rsp.free();
}

/// The PSP creates an endpoint for each request. The program then sets the endpoint's zone and EVDs.
pub fn psp_creates_endpoints<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let psp = Psp::create(&scene.adapter.ia, None, &scene.requests, PspMode::Provider).unwrap();
    let a = scene.adapter.end();
    request(&a, &scene.address, psp.point.qualifier(), Some(patience()), b"").unwrap();
    let cr = next_request(&scene.requests);
    let tentative = cr.ep.as_ref().expect("the request brings an endpoint").clone();
    assert_eq!(tentative.query().state, EpState::TentativeConnectionPending);
    let b = equip(&scene.adapter, tentative);
    b.receive(scene.memory.at(2048, 64), 1);
    cr.accept(None, b"").unwrap();
    a.is_told(ConnectionEvent::Established);
    b.is_told(ConnectionEvent::Established);
    a.send(scene.memory.at(0, 64), 2);
    b.arrives(1, dat_core::event::Status::Success);
    a.completes(2, dat_core::event::Status::Success);
    scene.talk(&a, &b);
}

pub fn request_is_handed_off<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let elsewhere = scene.adapter.evd(Streams::CONNECTION_REQUESTS);
    let other = Psp::create(&scene.adapter.ia, None, &elsewhere, PspMode::Consumer).unwrap();
    let (a, b) = (scene.adapter.end(), scene.adapter.end());
    scene.ask(&a, Some(patience()));
    next_request(&scene.requests).handoff(other.point.qualifier()).unwrap();
    next_request(&elsewhere).accept(Some(&b.ep), b"").unwrap();
    a.is_told(ConnectionEvent::Established);
    b.is_told(ConnectionEvent::Established);
    scene.talk(&a, &b);
    // If nothing listens on the qualifier, the handoff rejects the request.
    let c = scene.adapter.end();
    scene.ask(&c, Some(patience()));
    let qualifier = other.point.qualifier();
    other.free();
    next_request(&scene.requests).handoff(qualifier).unwrap();
    c.is_told(ConnectionEvent::NonPeerRejected);
}
