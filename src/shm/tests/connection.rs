//! What a connection owes its two ends: requests complete behind suppressed ones, ends end.

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::{Side, open};
use dat_core::addr::Address;
use dat_core::ep::{ConnectRequest, State};
use dat_core::event::{ConnectionEvent, Status};
use dat_core::transport::RemoteSegment;
use dat_core::{CompletionFlags, Endpoint, Error, Evd, Event, Lmr, Psp, PspMode};
use dat_loopback::{connect, connection, endpoint, endpoint_with_requests, next, quiet, register, segment, transfer};
use dat_shm::Shm;

/// Two connected ends, the first with requests on a dispatcher of their own, and memory.
struct Pair {
    side: Side,
    requests: Arc<Evd<Shm>>,
    a: Arc<Endpoint<Shm>>,
    b: Arc<Endpoint<Shm>>,
    lmr: Arc<Lmr<Shm>>,
    /// Registered as long as the pair lives.
    bytes: Vec<u8>,
}

fn pair() -> Pair {
    let side = open();
    let (a, requests) = endpoint_with_requests(&side);
    let b = endpoint(&side, None);
    connect(&side, &a, &b);
    let mut bytes = vec![0_u8; 4096];
    let lmr = register(&side, &mut bytes);
    Pair { side, requests, a, b, lmr, bytes }
}

impl Pair {
    /// A place of the registered memory as its peer names it.
    fn remote(&self, offset: u64, len: u64) -> RemoteSegment {
        RemoteSegment { addr: self.lmr.addr() + offset, len, key: self.lmr.remote_key() }
    }

    fn send(&self, cookie: u64, flags: CompletionFlags) {
        self.a.post_send(&[segment(&self.lmr, 0, 8)], cookie, flags).unwrap();
    }

    /// Posts a receive at the passive end.
    fn receive(&self, cookie: u64) {
        self.b.post_recv(&[segment(&self.lmr, 2048, 8)], cookie, CompletionFlags::DEFAULT).unwrap();
    }
}

#[test]
fn rdma_behind_a_suppressed_send_completes() {
    let pair = pair();
    // With the receive posted before, and after.
    for early in [true, false] {
        if early {
            pair.receive(3);
        }
        pair.send(1, CompletionFlags::SUPPRESS);
        pair.a.post_write(&[segment(&pair.lmr, 0, 8)], 2, pair.remote(100, 8), CompletionFlags::DEFAULT).unwrap();
        if !early {
            assert!(quiet(&pair.requests), "the send before it has no receive yet");
            pair.receive(3);
        }
        assert_eq!(transfer(&pair.side.transfers), (3, Status::Success, 8));
        assert_eq!(transfer(&pair.requests), (2, Status::Success, 8));
    }
    pair.side.ia.close_abrupt();
}

#[test]
fn an_rdma_read_behind_a_suppressed_send_completes() {
    let pair = pair();
    pair.send(1, CompletionFlags::SUPPRESS);
    pair.a.post_read(&[segment(&pair.lmr, 0, 8)], 2, pair.remote(100, 8), CompletionFlags::DEFAULT).unwrap();
    pair.receive(3);
    assert_eq!(transfer(&pair.side.transfers), (3, Status::Success, 8));
    assert_eq!(transfer(&pair.requests), (2, Status::Success, 8));
    pair.side.ia.close_abrupt();
}

#[test]
fn a_failure_behind_a_suppressed_send_is_reported() {
    let pair = pair();
    pair.send(1, CompletionFlags::SUPPRESS);
    let beyond = pair.remote(4090, 80);
    pair.a.post_write(&[segment(&pair.lmr, 0, 80)], 2, beyond, CompletionFlags::DEFAULT).unwrap();
    pair.send(4, CompletionFlags::DEFAULT);
    for _ in 0..3 {
        pair.receive(3);
    }
    assert_eq!(transfer(&pair.side.transfers), (3, Status::Success, 8));
    let (cookie, status, _) = transfer(&pair.requests);
    assert_eq!((cookie, status), (2, Status::RemoteAccess));
    let (cookie, status, _) = transfer(&pair.requests);
    assert_eq!((cookie, status), (4, Status::Flushed));
    connection(&pair.side.connections, ConnectionEvent::Broken);
    connection(&pair.side.connections, ConnectionEvent::Broken);
    // The send behind the failure has not arrived: both receives are left over.
    for _ in 0..2 {
        let (cookie, status, _) = transfer(&pair.side.transfers);
        assert_eq!((cookie, status), (3, Status::Flushed));
    }
    pair.side.ia.close_abrupt();
}

#[test]
fn a_graceful_disconnect_behind_a_suppressed_send_ends() {
    // With the receive posted before, and after the disconnect.
    for early in [true, false] {
        let pair = pair();
        if early {
            pair.receive(3);
        }
        pair.send(1, CompletionFlags::SUPPRESS);
        pair.a.disconnect(true).unwrap();
        if !early {
            assert!(quiet(&pair.side.connections), "the send has no receive yet");
            assert_eq!(pair.a.query().state, State::DisconnectPending);
            pair.receive(3);
        }
        assert_eq!(transfer(&pair.side.transfers), (3, Status::Success, 8));
        connection(&pair.side.connections, ConnectionEvent::Disconnected);
        connection(&pair.side.connections, ConnectionEvent::Disconnected);
        assert_eq!((pair.a.query().state, pair.b.query().state), (State::Disconnected, State::Disconnected));
        assert!(quiet(&pair.requests), "it succeeded and was suppressed");
        pair.side.ia.close_abrupt();
    }
}

#[test]
fn no_byte_is_written_once_the_target_has_disconnected() {
    for _ in 0..20 {
        let mut pair = pair();
        pair.bytes[..8].fill(9);
        pair.bytes[100..108].fill(7);
        pair.b.disconnect(false).unwrap();
        // Whether the other end knows it already is a matter of luck.
        let posted = pair.a.post_write(&[segment(&pair.lmr, 0, 8)], 2, pair.remote(100, 8), CompletionFlags::DEFAULT);
        connection(&pair.side.connections, ConnectionEvent::Disconnected);
        connection(&pair.side.connections, ConnectionEvent::Disconnected);
        match posted {
            Ok(()) => {
                let (cookie, status, _) = transfer(&pair.requests);
                assert_eq!((cookie, status), (2, Status::Flushed));
            }
            Err(error) => assert!(matches!(error, Error::InvalidState(_)), "{error:?}"),
        }
        assert_eq!(pair.bytes[100..108], [7; 8]);
        pair.side.ia.close_abrupt();
    }
}

#[test]
fn a_refused_connect_leaves_receives_posted() {
    let side = open();
    let (a, b) = (endpoint(&side, None), endpoint(&side, None));
    let mut bytes = vec![0_u8; 4096];
    let lmr = register(&side, &mut bytes);
    b.post_recv(&[segment(&lmr, 2048, 8)], 3, CompletionFlags::DEFAULT).unwrap();
    let nobody = Address::new(std::net::SocketAddr::from(([224, 0, 0, 1], 0)));
    let request =
        ConnectRequest { address: &nobody, qualifier: 5, timeout: Some(Duration::from_secs(20)), private_data: b"" };
    assert!(matches!(b.connect(&request), Err(Error::InvalidAddress(_))));
    assert_eq!(b.query().state, State::Unconnected);
    assert!(quiet(&side.transfers) && quiet(&side.connections));
    connect(&side, &b, &a);
    a.post_send(&[segment(&lmr, 0, 8)], 4, CompletionFlags::DEFAULT).unwrap();
    let mut seen = [transfer(&side.transfers), transfer(&side.transfers)];
    seen.sort_unstable_by_key(|(cookie, ..)| *cookie);
    assert_eq!(seen, [(3, Status::Success, 8), (4, Status::Success, 8)]);
    side.ia.close_abrupt();
}

#[test]
fn a_connect_that_nobody_listens_to_flushes_receives() {
    let side = open();
    let a = endpoint(&side, None);
    let mut bytes = vec![0_u8; 64];
    let lmr = register(&side, &mut bytes);
    a.post_recv(&[segment(&lmr, 0, 8)], 3, CompletionFlags::DEFAULT).unwrap();
    // A qualifier that was there a moment ago.
    let psp = Psp::create(&side.ia, None, &side.requests, PspMode::Consumer).unwrap();
    let qualifier = psp.point().qualifier();
    psp.free();
    let address = Address::loopback();
    let request =
        ConnectRequest { address: &address, qualifier, timeout: Some(Duration::from_secs(20)), private_data: b"" };
    a.connect(&request).unwrap();
    let Event::Connection { kind, .. } = next(&side.connections) else { panic!("no connection event") };
    assert_eq!(kind, ConnectionEvent::NonPeerRejected);
    let (cookie, status, _) = transfer(&side.transfers);
    assert_eq!((cookie, status), (3, Status::Flushed));
    side.ia.close_abrupt();
}
