//! A process connects to itself: the transport under the core, without a C interface.

use std::sync::Arc;
use std::time::{Duration, Instant};

use daplshm::Shm;
use dat_core::addr::Address;
use dat_core::ep::{State, flags};
use dat_core::event::{ConnectionEvent, Status};
use dat_core::transport::RemoteSegment;
use dat_core::{
    AsyncEvd, Cr, Endpoint, EpParts, Error, Evd, Event, Ia, Lmr, LocalSegment, Memory, Object, Psp, PspMode, Pz,
    Rights, Slab, Srq, Streams,
};

struct Side {
    ia: Arc<Ia<Shm>>,
    pz: Arc<Pz<Shm>>,
    transfers: Arc<Evd<Shm>>,
    connections: Arc<Evd<Shm>>,
    requests: Arc<Evd<Shm>>,
}

fn open() -> Side {
    let slab: &'static Slab<Shm> = Box::leak(Box::new(Slab::new(0)));
    let dir = Box::leak(Box::new(tempfile::tempdir().unwrap()));
    let instance = dir.path().join("meet");
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

fn next(evd: &Arc<Evd<Shm>>) -> Event {
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

fn connection(evd: &Arc<Evd<Shm>>, wanted: ConnectionEvent) {
    match next(evd) {
        Event::Connection { kind, .. } => assert_eq!(kind, wanted),
        other => panic!("{other:?}"),
    }
}

fn transfer(evd: &Arc<Evd<Shm>>) -> (u64, Status, u64) {
    match next(evd) {
        Event::Transfer { cookie, status, len, .. } => (cookie, status, len),
        other => panic!("{other:?}"),
    }
}

fn endpoint(side: &Side, srq: Option<&Arc<Srq<Shm>>>) -> Arc<Endpoint<Shm>> {
    let parts = EpParts {
        pz: Some(&side.pz),
        recv_evd: Some(&side.transfers),
        request_evd: Some(&side.transfers),
        connect_evd: Some(&side.connections),
        srq,
    };
    Endpoint::create(&side.ia, &parts, None).unwrap()
}

fn connect(side: &Side, active: &Arc<Endpoint<Shm>>, passive: &Arc<Endpoint<Shm>>) {
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

fn register(side: &Side, bytes: &mut [u8]) -> Arc<Lmr<Shm>> {
    let all = Rights::LOCAL_READ | Rights::LOCAL_WRITE | Rights::REMOTE_READ | Rights::REMOTE_WRITE;
    let addr = bytes.as_mut_ptr().expose_provenance() as u64;
    Lmr::create(&side.ia, Memory::Virtual(addr), None, bytes.len() as u64, &side.pz, all).unwrap()
}

fn segment(lmr: &Lmr<Shm>, offset: u64, len: u64) -> LocalSegment {
    LocalSegment { context: lmr.context(), addr: lmr.addr() + offset, len }
}

#[test]
fn messages_of_all_sizes_arrive() {
    let side = open();
    let (a, b) = (endpoint(&side, None), endpoint(&side, None));
    connect(&side, &a, &b);
    let size = 1 << 20;
    let mut from: Vec<u8> = (0..size).map(|k: u32| (k * 7 + k / 251) as u8).collect();
    let mut to = vec![0_u8; size as usize];
    let (source, target) = (register(&side, &mut from), register(&side, &mut to));
    for len in [0_u64, 1, 47, 48, 49, 64, 1000, 8191, 8192, 8193, 100_000, 1 << 20] {
        b.post_recv(&[segment(&target, 0, u64::from(size))], 1, flags::DEFAULT).unwrap();
        a.post_send(&[segment(&source, 0, len)], 2, flags::DEFAULT).unwrap();
        let mut seen = [transfer(&side.transfers), transfer(&side.transfers)];
        seen.sort_unstable_by_key(|(cookie, ..)| *cookie);
        assert_eq!(seen, [(1, Status::Success, len), (2, Status::Success, len)]);
        assert_eq!(from[..len as usize], to[..len as usize], "{len} bytes");
        to.fill(0);
    }
    a.disconnect(false).unwrap();
    connection(&side.connections, ConnectionEvent::Disconnected);
    connection(&side.connections, ConnectionEvent::Disconnected);
    assert_eq!((a.query().state, b.query().state), (State::Disconnected, State::Disconnected));
    side.ia.close_abrupt();
}

#[test]
fn memory_of_the_peer_is_written_and_read() {
    let side = open();
    let (a, b) = (endpoint(&side, None), endpoint(&side, None));
    connect(&side, &a, &b);
    let (mut near, mut far) = (vec![1_u8; 70_000], vec![2_u8; 70_000]);
    let (local, remote) = (register(&side, &mut near), register(&side, &mut far));
    let window = RemoteSegment { addr: remote.addr() + 5, len: 60_000, key: remote.remote_key() };
    a.post_write(&[segment(&local, 0, 100), segment(&local, 100, 59_900)], 1, window, flags::DEFAULT).unwrap();
    assert_eq!(transfer(&side.transfers), (1, Status::Success, 60_000));
    assert!(far[5..60_005].iter().all(|&byte| byte == 1) && far[..5] == [2; 5] && far[60_005] == 2);
    far.fill(9);
    a.post_read(&[segment(&local, 1, 60_000)], 2, window, flags::DEFAULT).unwrap();
    assert_eq!(transfer(&side.transfers), (2, Status::Success, 60_000));
    assert!(near[1..60_001].iter().all(|&byte| byte == 9) && near[0] == 1);

    let beyond = RemoteSegment { addr: remote.addr() + 20_000, len: 60_000, key: remote.remote_key() };
    a.post_write(&[segment(&local, 0, 60_000)], 3, beyond, flags::DEFAULT).unwrap();
    assert_eq!(transfer(&side.transfers).1, Status::RemoteAccess);
    connection(&side.connections, ConnectionEvent::Broken);
    connection(&side.connections, ConnectionEvent::Broken);
    side.ia.close_abrupt();
}

#[test]
fn a_shared_receive_queue_counts_its_buffers() {
    let side = open();
    let srq = Srq::create(&side.ia, &side.pz, 10, 1).unwrap();
    let (a, b) = (endpoint(&side, None), endpoint(&side, Some(&srq)));
    connect(&side, &a, &b);
    let mut bytes = vec![0_u8; 4096];
    let lmr = register(&side, &mut bytes);
    let counts = || {
        let status = srq.query();
        (status.max_recvs, status.available, status.outstanding)
    };
    for cookie in 0..3 {
        srq.post_recv(&[segment(&lmr, 64 * cookie, 64)], cookie).unwrap();
    }
    assert_eq!(counts(), (10, 3, 3));
    a.post_send(&[segment(&lmr, 1024, 8)], 77, flags::SUPPRESS).unwrap();
    assert_eq!(counts(), (10, 2, 3));
    let Event::Transfer { ep, cookie, .. } = next(&side.transfers) else { panic!("no completion") };
    assert_eq!((ep, cookie), (b.header().handle(), 0));
    assert_eq!(counts(), (10, 2, 2));
    side.ia.close_abrupt();
}
