//! Two processes: the peer disconnects while this end posts.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

use dat_core::addr::Address;
use dat_core::event::{ConnectionEvent, Event, Status};
use dat_core::testing::{Adapter, End, next_request, patience, request};
use dat_core::transport::RemoteSegment;
use dat_core::{CompletionFlags, Error, Psp, PspMode, Streams};
use dat_shm::Shm;

const QUALIFIER: u64 = 7777;
const ROUNDS: usize = 40;
/// Environment variable of the peer: the directory of both processes.
const MEET: &str = "DAT_TEST_MEET";

/// A process that is killed at the end of the test.
struct Peer(Child);

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Opens an adapter that meets all other adapters in `dir`.
fn open_in(dir: &Path) -> Adapter<Shm> {
    Adapter::open("shm", dir.join("meet").to_str().unwrap())
}

fn peer(dir: &Path) {
    let adapter = open_in(dir);
    let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
    let psp = Psp::create(&adapter.ia, Some(QUALIFIER), &requests, PspMode::Consumer).unwrap();
    let memory = adapter.buffer(4096);
    let remote = memory.remote(100, 8);
    let place = [remote.addr.to_le_bytes(), u64::from(remote.key).to_le_bytes()].concat();
    for _ in 0..ROUNDS {
        let cr = next_request(&requests);
        let end = adapter.end();
        end.receive(memory.at(0, 8), 1);
        cr.accept(Some(&end.ep), &place).unwrap();
        end.is_told(ConnectionEvent::Established);
        assert_eq!(end.arrived(), (1, Status::Success, 8));
        end.ep.disconnect(true).unwrap();
        end.is_told(ConnectionEvent::Disconnected);
        end.ep.free().unwrap();
    }
    psp.free();
}

fn meet(adapter: &Adapter<Shm>) -> (End<Shm>, RemoteSegment) {
    let end = Instant::now() + patience();
    loop {
        let this = adapter.end();
        request(&this, &Address::loopback(), QUALIFIER, Some(patience()), b"").unwrap();
        match this.next_connection_event() {
            (ConnectionEvent::Established, place) => {
                let number = |at: usize| u64::from_le_bytes(place[at..at + 8].try_into().unwrap());
                let key = u32::try_from(number(8)).unwrap();
                return (this, RemoteSegment { addr: number(0), len: 8, key });
            }
            (ConnectionEvent::NonPeerRejected, _) => {
                assert!(Instant::now() < end, "the peer does not listen");
                this.ep.free().unwrap();
                thread::yield_now();
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn reports_graceful_disconnect_despite_posts() {
    if let Some(dir) = std::env::var_os(MEET) {
        return peer(Path::new(&dir));
    }
    let dir = tempfile::tempdir().unwrap();
    let own = std::env::current_exe().unwrap();
    let mut child = Peer(Command::new(own).env(MEET, dir.path()).stdout(Stdio::null()).spawn().unwrap());
    let adapter = open_in(dir.path());
    let memory = adapter.buffer(4096);
    for _ in 0..ROUNDS {
        let (this, remote) = meet(&adapter);
        let end = Instant::now() + patience();
        this.send(memory.at(0, 8), 1);
        let kind = loop {
            assert!(Instant::now() < end, "no connection event in time");
            // Fails once the connection has ended, or if the queue is full.
            let _ = this.ep.post_write(&[memory.at(0, 8)], 2, remote, CompletionFlags::DEFAULT);
            while let Ok(event) = this.requests.dequeue() {
                let Event::Transfer { status, .. } = event else { panic!("{event:?}") };
                assert!(matches!(status, Status::Success | Status::Flushed), "{status:?}");
            }
            match this.connections.dequeue() {
                Ok(Event::Connection { kind, .. }) => break kind,
                Ok(other) => panic!("{other:?}"),
                Err(error) => assert!(matches!(error, Error::QueueEmpty), "{error:?}"),
            }
        };
        assert_eq!(kind, ConnectionEvent::Disconnected);
        this.ep.free().unwrap();
    }
    adapter.ia.close_abrupt().unwrap();
    assert!(child.0.wait().unwrap().success());
}
