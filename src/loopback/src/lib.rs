//! What the tests of transports share: a process that connects to itself, over the core, without a C
//! interface.

pub mod counting;
pub mod fast_path;

use std::sync::Arc;
use std::time::{Duration, Instant};

use dat_core::event::{ConnectionEvent, Status};
use dat_core::transport::Transport;
use dat_core::{
    AsyncEvd, Cr, Endpoint, EpParts, Error, Evd, Event, Ia, Lmr, LocalSegment, Memory, Psp, PspMode, Pz, Rights, Slab,
    Srq, Streams,
};

/// An adapter with one of everything that an endpoint needs.
pub struct Side<T: Transport> {
    /// The adapter.
    pub ia: Arc<Ia<T>>,
    /// Protection zone.
    pub pz: Arc<Pz<T>>,
    /// Where transfers and binds complete.
    pub transfers: Arc<Evd<T>>,
    /// Connection events.
    pub connections: Arc<Evd<T>>,
    /// Connection requests.
    pub requests: Arc<Evd<T>>,
}

impl<T: Transport> Side<T> {
    /// What an endpoint without a shared queue is made of.
    pub fn parts(&self) -> EpParts<'_, T> {
        EpParts {
            pz: Some(&self.pz),
            recv_evd: Some(&self.transfers),
            request_evd: Some(&self.transfers),
            connect_evd: Some(&self.connections),
            srq: None,
        }
    }
}

/// Opens the adapter that `name` and `instance` describe.
///
/// # Panics
/// As all of this crate, where something does not work.
pub fn open<T: Transport>(name: &str, instance: &str) -> Side<T> {
    let slab: &'static Slab<T> = Box::leak(Box::new(Slab::new(0)));
    let ia = Ia::open(slab, name, instance, AsyncEvd::Create(8)).unwrap();
    let evd = |streams| Evd::create(&ia, 1024, None, streams).unwrap();
    Side {
        pz: Pz::create(&ia).unwrap(),
        transfers: evd(Streams::TRANSFERS | Streams::BINDS),
        connections: evd(Streams::CONNECTIONS),
        requests: evd(Streams::REQUESTS),
        ia,
    }
}

/// The next event; there is one soon.
pub fn next<T: Transport>(evd: &Arc<Evd<T>>) -> Event {
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
pub fn quiet<T: Transport>(evd: &Arc<Evd<T>>) -> bool {
    let end = Instant::now() + Duration::from_millis(60);
    while Instant::now() < end {
        match evd.dequeue() {
            Err(Error::QueueEmpty) => std::thread::yield_now(),
            _ => return false,
        }
    }
    true
}

/// The next event is this one of a connection.
pub fn connection<T: Transport>(evd: &Arc<Evd<T>>, wanted: ConnectionEvent) {
    match next(evd) {
        Event::Connection { kind, .. } => assert_eq!(kind, wanted),
        other => panic!("{other:?}"),
    }
}

/// Cookie, status and length of the next event, a transfer.
pub fn transfer<T: Transport>(evd: &Arc<Evd<T>>) -> (u64, Status, u64) {
    match next(evd) {
        Event::Transfer { cookie, status, len, .. } => (cookie, status, len),
        other => panic!("{other:?}"),
    }
}

/// An endpoint with defaults for all attributes.
pub fn endpoint<T: Transport>(side: &Side<T>, srq: Option<&Arc<Srq<T>>>) -> Arc<Endpoint<T>> {
    let parts = EpParts { srq, ..side.parts() };
    Endpoint::create(&side.ia, &parts, None).unwrap()
}

/// An endpoint whose requests complete on a dispatcher of their own.
pub fn endpoint_with_requests<T: Transport>(side: &Side<T>) -> (Arc<Endpoint<T>>, Arc<Evd<T>>) {
    let requests = Evd::create(&side.ia, 64, None, Streams::TRANSFERS | Streams::BINDS).unwrap();
    let parts = EpParts { request_evd: Some(&requests), ..side.parts() };
    (Endpoint::create(&side.ia, &parts, None).unwrap(), requests)
}

/// Connects two endpoints with each other.
pub fn connect<T: Transport>(side: &Side<T>, active: &Arc<Endpoint<T>>, passive: &Arc<Endpoint<T>>) {
    let psp = Psp::create(&side.ia, None, &side.requests, PspMode::Consumer).unwrap();
    let address = side.ia.transport().attributes().address.clone();
    let request = dat_core::ep::ConnectRequest {
        address: &address,
        qualifier: psp.point().qualifier(),
        timeout: Some(Duration::from_secs(20)),
        private_data: b"hello",
    };
    active.connect(&request).unwrap();
    let Event::Request { cr, .. } = next(&side.requests) else { panic!("no request") };
    let cr = side.ia.slab().get::<Cr<T>>(cr).unwrap().share();
    // The wire may have padding.
    assert!(cr.private_data().len() >= 5);
    cr.accept(Some(passive), b"welcome").unwrap();
    connection(&side.connections, ConnectionEvent::Established);
    connection(&side.connections, ConnectionEvent::Established);
    psp.free();
}

/// Registers memory for everything.
pub fn register<T: Transport>(side: &Side<T>, bytes: &mut [u8]) -> Arc<Lmr<T>> {
    let all = Rights::LOCAL_READ | Rights::LOCAL_WRITE | Rights::REMOTE_READ | Rights::REMOTE_WRITE;
    let addr = bytes.as_mut_ptr().expose_provenance() as u64;
    Lmr::create(&side.ia, Memory::Virtual(addr), None, bytes.len() as u64, &side.pz, all).unwrap()
}

/// A part of registered memory.
pub fn segment<T: Transport>(lmr: &Lmr<T>, offset: u64, len: u64) -> LocalSegment {
    LocalSegment { context: lmr.context(), addr: lmr.addr() + offset, len }
}
