//! Two processes: the peer disconnects in the middle of what this end posts.

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{Side, open_in};
use dat_core::addr::Address;
use dat_core::ep::ConnectRequest;
use dat_core::event::{ConnectionEvent, Status};
use dat_core::transport::RemoteSegment;
use dat_core::{CompletionFlags, Cr, Endpoint, Error, Event, Psp, PspMode};
use dat_loopback::{connection, endpoint, next, register, segment, transfer};
use dat_shm::Shm;

const QUALIFIER: u64 = 7777;
const ROUNDS: usize = 40;
/// Names the directory where the two processes meet; set in the peer alone.
const MEET: &str = "DAT_TEST_MEET";

/// Ended with the test, however that ends.
struct Peer(Child);

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Accepts one connection after another, takes one message from each, and disconnects.
fn peer(dir: &Path) {
    let side = open_in(dir);
    let psp = Psp::create(&side.ia, Some(QUALIFIER), &side.requests, PspMode::Consumer).unwrap();
    let mut bytes = vec![0_u8; 4096];
    let lmr = register(&side, &mut bytes);
    let place = [lmr.addr().to_le_bytes(), u64::from(lmr.remote_key()).to_le_bytes()].concat();
    for _ in 0..ROUNDS {
        let Event::Request { cr, .. } = next(&side.requests) else { panic!("no request") };
        let cr = side.ia.slab().get::<Cr<Shm>>(cr).unwrap().share();
        let ep = endpoint(&side, None);
        ep.post_recv(&[segment(&lmr, 0, 8)], 1, CompletionFlags::DEFAULT).unwrap();
        cr.accept(Some(&ep), &place).unwrap();
        connection(&side.connections, ConnectionEvent::Established);
        assert_eq!(transfer(&side.transfers), (1, Status::Success, 8));
        ep.disconnect(true).unwrap();
        connection(&side.connections, ConnectionEvent::Disconnected);
        ep.free().unwrap();
    }
    psp.free();
    side.ia.close_abrupt();
}

/// Connects as soon as the peer listens.
fn meet(side: &Side) -> (Arc<Endpoint<Shm>>, RemoteSegment) {
    let end = Instant::now() + Duration::from_secs(20);
    let address = Address::loopback();
    loop {
        let ep = endpoint(side, None);
        let request = ConnectRequest {
            address: &address,
            qualifier: QUALIFIER,
            timeout: Some(Duration::from_secs(20)),
            private_data: b"",
        };
        ep.connect(&request).unwrap();
        match next(&side.connections) {
            Event::Connection { kind: ConnectionEvent::Established, private_data: Some(place), .. } => {
                let number = |at: usize| u64::from_le_bytes(place[at..at + 8].try_into().unwrap());
                let key = u32::try_from(number(8)).unwrap();
                return (ep, RemoteSegment { addr: number(0) + 100, len: 8, key });
            }
            Event::Connection { kind: ConnectionEvent::NonPeerRejected, .. } => {
                assert!(Instant::now() < end, "the peer does not listen");
                ep.free().unwrap();
                std::thread::yield_now();
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_graceful_disconnect_of_the_peer_is_one_whatever_is_posted() {
    if let Some(dir) = std::env::var_os(MEET) {
        return peer(Path::new(&dir));
    }
    let dir = tempfile::tempdir().unwrap();
    let own = std::env::current_exe().unwrap();
    let mut child = Peer(Command::new(own).env(MEET, dir.path()).stdout(Stdio::null()).spawn().unwrap());
    let side = open_in(dir.path());
    let mut bytes = vec![0_u8; 4096];
    let lmr = register(&side, &mut bytes);
    for _ in 0..ROUNDS {
        let (ep, remote) = meet(&side);
        let end = Instant::now() + Duration::from_secs(20);
        ep.post_send(&[segment(&lmr, 0, 8)], 1, CompletionFlags::DEFAULT).unwrap();
        let kind = loop {
            assert!(Instant::now() < end, "no connection event in time");
            // Refused once the connection has ended, or while there is no room.
            let _ = ep.post_write(&[segment(&lmr, 0, 8)], 2, remote, CompletionFlags::DEFAULT);
            while let Ok(event) = side.transfers.dequeue() {
                let Event::Transfer { status, .. } = event else { panic!("{event:?}") };
                assert!(matches!(status, Status::Success | Status::Flushed), "{status:?}");
            }
            match side.connections.dequeue() {
                Ok(Event::Connection { kind, .. }) => break kind,
                Ok(other) => panic!("{other:?}"),
                Err(error) => assert!(matches!(error, Error::QueueEmpty), "{error:?}"),
            }
        };
        assert_eq!(kind, ConnectionEvent::Disconnected);
        ep.free().unwrap();
        while side.transfers.dequeue().is_ok() {}
    }
    side.ia.close_abrupt();
    assert!(child.0.wait().unwrap().success());
}
