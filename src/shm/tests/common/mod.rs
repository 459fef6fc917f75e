//! What the tests of a process that connects to itself share.
#![allow(dead_code)] // each test uses some of it

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use daplshm::Shm;
use dat_core::addr::Address;
use dat_core::event::{ConnectionEvent, Status};
use dat_core::{
    AsyncEvd, Cr, Endpoint, EpParts, Error, Evd, Event, Ia, Lmr, LocalSegment, Memory, Psp, PspMode, Pz, Rights, Slab,
    Srq, Streams,
};

pub struct Side {
    pub ia: Arc<Ia<Shm>>,
    pub pz: Arc<Pz<Shm>>,
    pub transfers: Arc<Evd<Shm>>,
    pub connections: Arc<Evd<Shm>>,
    pub requests: Arc<Evd<Shm>>,
}

/// An adapter of its own, which nobody else meets.
pub fn open() -> Side {
    let dir = Box::leak(Box::new(tempfile::tempdir().unwrap()));
    open_in(dir.path())
}

/// An adapter that meets all others opened in that directory.
pub fn open_in(dir: &Path) -> Side {
    let slab: &'static Slab<Shm> = Box::leak(Box::new(Slab::new(0)));
    let instance = dir.join("meet");
    let ia = Ia::open(slab, "shm", instance.to_str().unwrap(), AsyncEvd::Create(8)).unwrap();
    let evd = |streams| Evd::create(&ia, 1024, None, streams).unwrap();
    Side {
        pz: Pz::create(&ia).unwrap(),
        transfers: evd(Streams::TRANSFERS | Streams::BINDS),
        connections: evd(Streams::CONNECTIONS),
        requests: evd(Streams::REQUESTS),
        ia,
    }
}

pub fn next(evd: &Arc<Evd<Shm>>) -> Event {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        match evd.dequeue() {
            Ok(event) => return event,
            Err(Error::QueueEmpty) => assert!(Instant::now() < end, "no event in time"),
            Err(error) => panic!("{error:?}"),
        }
        std::thread::yield_now();
    }
}

/// Nothing is queued, and nothing comes for a while.
pub fn quiet(evd: &Arc<Evd<Shm>>) -> bool {
    let end = Instant::now() + Duration::from_millis(60);
    while Instant::now() < end {
        match evd.dequeue() {
            Err(Error::QueueEmpty) => std::thread::yield_now(),
            _ => return false,
        }
    }
    true
}

pub fn connection(evd: &Arc<Evd<Shm>>, wanted: ConnectionEvent) {
    match next(evd) {
        Event::Connection { kind, .. } => assert_eq!(kind, wanted),
        other => panic!("{other:?}"),
    }
}

pub fn transfer(evd: &Arc<Evd<Shm>>) -> (u64, Status, u64) {
    match next(evd) {
        Event::Transfer { cookie, status, len, .. } => (cookie, status, len),
        other => panic!("{other:?}"),
    }
}

pub fn endpoint(side: &Side, srq: Option<&Arc<Srq<Shm>>>) -> Arc<Endpoint<Shm>> {
    let parts = EpParts {
        pz: Some(&side.pz),
        recv_evd: Some(&side.transfers),
        request_evd: Some(&side.transfers),
        connect_evd: Some(&side.connections),
        srq,
    };
    Endpoint::create(&side.ia, &parts, None).unwrap()
}

/// An endpoint whose requests complete on a dispatcher of their own.
pub fn endpoint_with_requests(side: &Side) -> (Arc<Endpoint<Shm>>, Arc<Evd<Shm>>) {
    let requests = Evd::create(&side.ia, 64, None, Streams::TRANSFERS | Streams::BINDS).unwrap();
    let parts = EpParts {
        pz: Some(&side.pz),
        recv_evd: Some(&side.transfers),
        request_evd: Some(&requests),
        connect_evd: Some(&side.connections),
        srq: None,
    };
    (Endpoint::create(&side.ia, &parts, None).unwrap(), requests)
}

pub fn connect(side: &Side, active: &Arc<Endpoint<Shm>>, passive: &Arc<Endpoint<Shm>>) {
    let psp = Psp::create(&side.ia, None, &side.requests, PspMode::Consumer).unwrap();
    let address = Address::loopback();
    let request = dat_core::ep::ConnectRequest {
        address: &address,
        qualifier: psp.point().qualifier(),
        timeout: Some(Duration::from_secs(20)),
        private_data: b"hello",
    };
    active.connect(&request).unwrap();
    let Event::Request { cr, .. } = next(&side.requests) else { panic!("no request") };
    let cr = side.ia.slab().get::<Cr<Shm>>(cr).unwrap().share();
    assert_eq!(cr.private_data().len(), 5);
    cr.accept(Some(passive), b"welcome").unwrap();
    connection(&side.connections, ConnectionEvent::Established);
    connection(&side.connections, ConnectionEvent::Established);
    psp.free();
}

pub fn register(side: &Side, bytes: &mut [u8]) -> Arc<Lmr<Shm>> {
    let all = Rights::LOCAL_READ | Rights::LOCAL_WRITE | Rights::REMOTE_READ | Rights::REMOTE_WRITE;
    let addr = bytes.as_mut_ptr().expose_provenance() as u64;
    Lmr::create(&side.ia, Memory::Virtual(addr), None, bytes.len() as u64, &side.pz, all).unwrap()
}

pub fn segment(lmr: &Lmr<Shm>, offset: u64, len: u64) -> LocalSegment {
    LocalSegment { context: lmr.context(), addr: lmr.addr() + offset, len }
}
