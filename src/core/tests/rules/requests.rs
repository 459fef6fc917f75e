//! Service points and connection requests.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use dat_core::counters::ConnStat;
use dat_core::ep::EpState;
use dat_core::error::{AddressFault, Arg, Error, Role, StateError};
use dat_core::event::Event;
use dat_core::testing::{Call, next, next_request, quiet};
use dat_core::transport::{ConnectionRequestInfo, Rejection};
use dat_core::{Comm, Cr, Csp, Endpoint, Evd, Kind, Object, Psp, PspMode, Rsp, Streams};

use super::*;

/// Reports a request to listener number `at`.
fn arrive(adapter: &Adapter<Fake>, requests: &Evd<Fake>, at: usize) -> Arc<Cr<Fake>> {
    let (qualifier, sink) = fake(adapter).listener(at);
    assert!(sink.request((), info(qualifier)).is_ok());
    next_request(requests)
}

fn info(qualifier: u64) -> ConnectionRequestInfo {
    ConnectionRequestInfo {
        qualifier,
        remote_address: Address::new("10.1.2.3:0".parse().unwrap()),
        remote_qualifier: 4321,
        private_data: b"hello".to_vec(),
        datagrams: None,
    }
}

fn psp(adapter: &Adapter<Fake>, requests: &Arc<Evd<Fake>>, qualifier: u64, mode: PspMode) -> Arc<Psp<Fake>> {
    Psp::create(&adapter.ia, Some(qualifier), requests, mode).unwrap()
}

const ANSWERED: Result<()> = Err(Error::InvalidHandle(Role::Cr));
const NO_END: Result<()> = Err(Error::InvalidHandle(Role::Ep));

#[test]
fn service_point_requires_evd_and_qualifier() {
    let adapter = open();
    let (requests, other) = (adapter.evd(Streams::CONNECTION_REQUESTS), open());
    let transfers = adapter.evd(Streams::TRANSFERS);
    let elsewhere = other.evd(Streams::CONNECTION_REQUESTS);
    let create = |qualifier, evd| Psp::create(&adapter.ia, qualifier, evd, PspMode::Consumer).err();
    let bad = Some(Error::InvalidHandle(Role::EvdConnectionRequests));
    assert_eq!(create(Some(5), &transfers), bad);
    assert_eq!(create(Some(5), &elsewhere), bad);
    assert_eq!(create(Some(0), &requests), Some(Error::InvalidParameter(Arg::Qualifier)));
    assert_eq!(create(Some(Fake::QUALIFIER_IN_USE), &requests), Some(Error::QualifierInUse));
    assert_eq!(adapter.ia.made(Kind::Psp), (0, 0));
    let psp = Psp::create(&adapter.ia, None, &requests, PspMode::Provider).unwrap();
    assert_eq!((psp.point.qualifier(), psp.mode), (Fake::QUALIFIER_CHOSEN, PspMode::Provider));
    assert_eq!(requests.free(), Err(Error::InvalidState(StateError::EvdInUse)));
    psp.free();
    assert_eq!(adapter.ia.made(Kind::Psp), (1, 1));
    assert_eq!(adapter.ia.happened(ConnStat::AnyQualifier), 1);
    requests.free().unwrap();
}

#[test]
fn rsp_reserves_endpoint() {
    let adapter = open();
    let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
    let transfers = adapter.evd(Streams::TRANSFERS);
    let end = adapter.end();
    let create = |qualifier, evd| Rsp::create(&adapter.ia, qualifier, &end.ep, evd);
    for (qualifier, evd, error) in [
        (5, &transfers, Error::InvalidHandle(Role::EvdConnectionRequests)),
        (0, &requests, Error::InvalidParameter(Arg::Qualifier)),
        (Fake::QUALIFIER_IN_USE, &requests, Error::QualifierInUse),
    ] {
        assert_eq!(create(qualifier, evd).err(), Some(error));
        assert_eq!(end.state(), EpState::Unconnected);
        assert_eq!(adapter.ia.made(Kind::Rsp), (0, 0));
    }
    let rsp = create(5, &requests).unwrap();
    assert_eq!(end.state(), EpState::Reserved);
    assert!(Arc::ptr_eq(&rsp.ep, &end.ep));
    let refused = Some(EpState::Reserved.into());
    assert_eq!(end.ep.free().err(), refused);
    assert_eq!(create(9, &requests).err(), refused);
    assert_eq!(ask(&end).err(), refused);
    rsp.free();
    assert_eq!(end.state(), EpState::Unconnected);
    end.ep.free().unwrap();
}

#[test]
fn rsp_request_is_accepted_by_its_endpoint() {
    let adapter = open();
    let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
    let (end, other) = (adapter.end(), adapter.end());
    let rsp = Rsp::create(&adapter.ia, 5, &end.ep, &requests).unwrap();
    let cr = arrive(&adapter, &requests, 0);
    assert_eq!(end.state(), EpState::PassiveConnectionPending);
    let (address, qualifier) = end.ep.query().remote.unwrap();
    assert_eq!((address, qualifier), (cr.remote_address.clone(), 4321));
    // The RSP accepts only one request.
    let (_, sink) = fake(&adapter).listener(0);
    assert!(sink.request((), info(5)).is_err());
    assert_eq!(cr.accept(Some(&other.ep), b""), NO_END);
    cr.accept(None, b"").unwrap();
    assert_eq!(end.state(), EpState::CompletionPending);
    rsp.free();
    assert_eq!(end.state(), EpState::CompletionPending);
    fake(&adapter).last_qp().connection(ConnectionReport::Established(Vec::new()));
    end.is_told(ConnectionEvent::Established);
}

#[test]
fn rejected_request_releases_reserved_endpoint() {
    let adapter = open();
    let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
    let end = adapter.end();
    let _rsp = Rsp::create(&adapter.ia, 5, &end.ep, &requests).unwrap();
    let cr = arrive(&adapter, &requests, 0);
    cr.reject(&[]).unwrap();
    assert_eq!(end.state(), EpState::Unconnected);
    assert!(end.ep.query().remote.is_none());
    assert_eq!(cr.reject(&[]), ANSWERED);
    end.ep.free().unwrap();
}

#[test]
fn full_evd_leaves_rsp_for_next_request() {
    let adapter = open();
    let requests = Evd::create(&adapter.ia, 1, None, Streams::CONNECTION_REQUESTS | Streams::SOFTWARE).unwrap();
    let end = adapter.end();
    let _rsp = Rsp::create(&adapter.ia, 5, &end.ep, &requests).unwrap();
    while requests.post_software(1).is_ok() {}
    let (_, sink) = fake(&adapter).listener(0);
    assert!(sink.request((), info(5)).is_err());
    assert_eq!(end.state(), EpState::Reserved);
    while requests.dequeue().is_ok() {}
    arrive(&adapter, &requests, 0).accept(None, b"").unwrap();
}

#[test]
fn freed_evd_rejects_its_requests() {
    let adapter = open();
    let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
    let end = adapter.end();
    let rsp = Rsp::create(&adapter.ia, 5, &end.ep, &requests).unwrap();
    let (_, sink) = fake(&adapter).listener(0);
    assert!(sink.request((), info(5)).is_ok());
    rsp.free();
    assert_eq!(end.state(), EpState::PassiveConnectionPending);
    fake(&adapter).calls();
    requests.free().unwrap();
    assert_eq!(fake(&adapter).calls(), [Call::Reject(Rejection::Provider)]);
    assert_eq!((end.state(), adapter.ia.count(Kind::Cr)), (EpState::Unconnected, 0));
}

#[test]
fn late_free_of_rsp_keeps_next_reservation() {
    let adapter = open();
    let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
    let end = adapter.end();
    let create = |qualifier| Rsp::create(&adapter.ia, qualifier, &end.ep, &requests).unwrap();
    let first = create(5);
    arrive(&adapter, &requests, 0).reject(&[]).unwrap();
    let second = create(6);
    first.free();
    assert_eq!(end.state(), EpState::Reserved);
    second.free();
    assert_eq!(end.state(), EpState::Unconnected);
}

#[test]
fn queries_and_accepts_request() {
    let adapter = open();
    let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
    psp(&adapter, &requests, 5, PspMode::Consumer);
    let cr = arrive(&adapter, &requests, 0);
    assert_eq!(cr.remote_address.ip(), "10.1.2.3".parse::<std::net::IpAddr>().unwrap());
    assert_eq!(cr.remote_qualifier, 4321);
    assert!(cr.ep.as_ref().is_none());
    let data: Vec<u8> = cr.private_data.iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
    assert_eq!(data, b"hello");

    let end = adapter.end();
    let bare = Endpoint::create(&adapter.ia, &Default::default(), None).unwrap();
    assert_eq!(cr.accept(None, b""), NO_END);
    assert_eq!(cr.accept(Some(&bare), b""), NO_END);
    assert_eq!(end.state(), EpState::Unconnected);
    // After a failure of the transport, the request is still pending.
    fake(&adapter).refuse_after(1, Error::Internal);
    assert_eq!(cr.accept(Some(&end.ep), b""), Err(Error::Internal));
    assert_eq!(end.state(), EpState::Unconnected);
    cr.accept(Some(&end.ep), b"welcome").unwrap();
    assert_eq!(end.state(), EpState::CompletionPending);
    assert_eq!((cr.accept(Some(&end.ep), b""), cr.reject(&[]), cr.handoff(6)), (ANSWERED, ANSWERED, ANSWERED));

    fake(&adapter).last_qp().connection(ConnectionReport::Established(b"ignored".to_vec()));
    assert_eq!(end.next_connection_event(), (ConnectionEvent::Established, vec![]));
    assert_eq!(end.state(), EpState::Connected);
    let (address, qualifier) = end.ep.query().remote.unwrap();
    assert_eq!((address.ip(), qualifier), (cr.remote_address.ip(), 4321));
}

#[test]
fn rejects_request() {
    let adapter = open();
    let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
    psp(&adapter, &requests, 5, PspMode::Consumer);
    let cr = arrive(&adapter, &requests, 0);
    fake(&adapter).calls();
    cr.reject(&[]).unwrap();
    assert_eq!(fake(&adapter).calls(), [Call::Reject(Rejection::Consumer)]);
    assert!(adapter.ia.arena.get::<Cr<Fake>>(cr.header().handle()).is_none());
}

#[test]
fn hands_request_off() {
    let adapter = open();
    let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
    psp(&adapter, &requests, 5, PspMode::Consumer);
    let other = psp(&adapter, &requests, 6, PspMode::Provider);
    let cr = arrive(&adapter, &requests, 0);
    assert_eq!(cr.handoff(0), Err(Error::InvalidParameter(Arg::Qualifier)));
    cr.handoff(6).unwrap();
    assert_eq!(cr.handoff(6), ANSWERED);
    let again = next_request(&requests);
    assert_eq!(again.private_data.len(), 5);
    let tentative = again.ep.as_ref().expect("its service point brings one").clone();
    assert_eq!(tentative.query().state, EpState::TentativeConnectionPending);
    assert_eq!(tentative.free(), Err(EpState::TentativeConnectionPending.into()));
    again.reject(&[]).unwrap();
    assert!(adapter.ia.arena.get::<Endpoint<Fake>>(tentative.header().handle()).is_none());
    // Without a listener, the request is rejected.
    let cr = arrive(&adapter, &requests, 0);
    other.free();
    fake(&adapter).calls();
    cr.handoff(6).unwrap();
    assert_eq!(fake(&adapter).calls(), [Call::Reject(Rejection::Provider)]);
}

#[test]
fn tentative_endpoint_requires_evds() {
    let adapter = open();
    let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
    psp(&adapter, &requests, 5, PspMode::Provider);
    let cr = arrive(&adapter, &requests, 0);
    assert_eq!(cr.accept(None, b""), NO_END);
    assert_eq!(cr.ep.as_ref().unwrap().query().state, EpState::TentativeConnectionPending);
    let other = adapter.end();
    assert_eq!(cr.accept(Some(&other.ep), b""), NO_END);
    cr.reject(&[]).unwrap();
}

#[test]
fn full_evd_returns_request_to_transport() {
    let adapter = open();
    let requests = Evd::create(&adapter.ia, 1, None, Streams::CONNECTION_REQUESTS).unwrap();
    let psp = psp(&adapter, &requests, 5, PspMode::Provider);
    let cr = arrive(&adapter, &requests, 0);
    let (_, sink) = fake(&adapter).listener(0);
    assert!(sink.request((), info(5)).is_ok());
    assert!(sink.request((), info(5)).is_err(), "there is no room");
    assert_eq!(adapter.ia.count(dat_core::Kind::Ep), 2, "its endpoint is gone");
    assert!(quiet([&adapter.events()]), "that is no overflow");
    drop(next_request(&requests));
    psp.free();
    assert!(sink.request((), info(5)).is_err(), "nobody listens");
    cr.reject(&[]).unwrap();
}

/// Streams over IPv4.
const STREAM: Comm = Comm { domain: 2, kind: 1, protocol: 0 };

fn socket(text: &str) -> Address {
    Address::new(text.parse().unwrap())
}

#[test]
fn csp_requires_address_of_adapter() {
    let adapter = open();
    let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
    let transfers = adapter.evd(Streams::TRANSFERS);
    let create = |comm, address, evd| Csp::create(&adapter.ia, comm, &socket(address), evd).err();
    let bad = Some(Error::InvalidHandle(Role::EvdConnectionRequests));
    assert_eq!(create(STREAM, "127.0.0.1:5", &transfers), bad);
    for comm in [Comm::default(), Comm { kind: 2, ..STREAM }, Comm { protocol: 17, ..STREAM }] {
        assert_eq!(create(comm, "127.0.0.1:5", &requests), Some(Error::CommNotSupported));
    }
    let malformed = Some(Error::InvalidAddress(AddressFault::Malformed));
    assert_eq!(create(STREAM, "[::1]:5", &requests), malformed);
    let unreachable = Some(Error::InvalidAddress(AddressFault::Unreachable));
    assert_eq!(create(STREAM, "203.0.113.9:5", &requests), unreachable);
    let taken = format!("127.0.0.1:{}", Fake::QUALIFIER_IN_USE);
    assert_eq!(create(STREAM, &taken, &requests), Some(Error::PortInUse));
    // The failed calls have not used the EVDs.
    requests.free().unwrap();
    transfers.free().unwrap();
}

#[test]
fn csp_reports_its_port() {
    let adapter = open();
    let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
    let any = Csp::create(&adapter.ia, STREAM, &socket("0.0.0.0:0"), &requests).unwrap();
    assert_eq!(any.address(), &socket(&format!("127.0.0.1:{}", Fake::QUALIFIER_CHOSEN)));
    assert_eq!(any.point.qualifier(), Fake::QUALIFIER_CHOSEN);
    let tcp = Comm { domain: 10, protocol: 6, ..STREAM };
    let named = Csp::create(&adapter.ia, tcp, &socket("[::1]:7"), &requests).unwrap();
    assert_eq!((named.address(), named.comm), (&socket("[::1]:7"), tcp));
    assert_eq!(requests.free(), Err(Error::InvalidState(StateError::EvdInUse)));
    any.free();
    named.free();
    requests.free().unwrap();
}

#[test]
fn csp_request_cannot_be_handed_off() {
    let adapter = open();
    let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
    let csp = Csp::create(&adapter.ia, STREAM, &socket("127.0.0.1:5"), &requests).unwrap();
    let public = psp(&adapter, &requests, 6, PspMode::Consumer);
    let cr = arrive(&adapter, &requests, 0);
    assert_eq!(cr.handoff(6), Err(Error::ModelNotSupported));
    csp.free();
    // The request is still pending after the free of its service point.
    let end = adapter.end();
    cr.accept(Some(&end.ep), b"").unwrap();
    // A request at another service point can be handed off to a CSP.
    let csp = Csp::create(&adapter.ia, STREAM, &socket("127.0.0.1:7"), &requests).unwrap();
    arrive(&adapter, &requests, 1).handoff(7).unwrap();
    let Event::ConnectionRequest { point, reserved, qualifier, .. } = next(&requests) else { panic!("no request") };
    assert_eq!((point, reserved, qualifier), (csp.header().handle(), false, 7));
    public.free();
    adapter.ia.close_abrupt().unwrap();
    assert!(adapter.ia.arena.get::<Csp<Fake>>(csp.header().handle()).is_none());
    assert!(csp.point.evd().is_none());
}
