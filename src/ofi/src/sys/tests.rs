use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dat_memory::user::Source;

use super::*;

const LIMIT: Duration = Duration::from_secs(20);

/// The next event of either queue.
fn next(queue: &Arc<EventQueue>, queues: &Queues) -> CmEvent {
    let end = Instant::now() + LIMIT;
    loop {
        queues.read(&mut arrayvec::ArrayVec::new());
        if let Some(event) = queue.next() {
            return event;
        }
        assert!(Instant::now() < end, "no event in time");
        std::thread::yield_now();
    }
}

fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

#[test]
fn two_endpoints_exchange_messages() {
    let fabric = Fabric::open("tcp", loopback()).expect("libfabric has its provider tcp");
    assert!(fabric.inject_size() >= 64);
    let events = EventQueue::open(&fabric).unwrap();
    let queues = Queues::open(&fabric, &Arc::new(host::event_fd::EventFd::new().unwrap())).unwrap();
    let (passive, at) = Passive::listen(&fabric, &events, loopback()).unwrap();
    assert_ne!(at.port(), 0);
    let client = Ep::active(&fabric, &events, &queues, 1).unwrap();
    let mut buffers = [vec![0_u8; 8192], vec![0_u8; 8192]];
    // SAFETY: the buffer outlives the endpoint.
    unsafe { client.recv(buffers[0].as_mut_ptr(), 8192, 100).unwrap() };
    client.connect(at, b"hello").unwrap();
    let CmEvent::Request { info, data, peer, passive: fid } = next(&events, &queues) else { panic!("no request") };
    assert_eq!((&data[..], fid), (&b"hello"[..], passive.fid()));
    assert!(peer.is_some_and(|peer| peer.ip().is_loopback()));
    let server = Ep::passive(&fabric, &events, &queues, &info, 2).unwrap();
    // SAFETY: as above.
    unsafe { server.recv(buffers[1].as_mut_ptr(), 8192, 200).unwrap() };
    server.accept(b"welcome").unwrap();
    let mut connected = Vec::new();
    for _ in 0..2 {
        match next(&events, &queues) {
            CmEvent::Connected { ep, data } => connected.push((ep, data)),
            _ => panic!("no connection"),
        }
    }
    connected.sort();
    assert_eq!(connected, [(1, b"welcome".to_vec()), (2, Vec::new())]);
    client.inject(&[7; 60]).unwrap();
    let long = vec![9_u8; 4000];
    // SAFETY: the bytes outlive the endpoint.
    unsafe { server.send(&[Source::of(&long)], Some(300)).unwrap() };
    let mut found = Vec::new();
    let end = Instant::now() + LIMIT;
    while found.len() < 3 {
        let mut batch = arrayvec::ArrayVec::new();
        queues.read(&mut batch);
        found.extend(batch.into_iter().map(|done| (done.context, done.failed, done.len)));
        assert!(Instant::now() < end, "only {found:?}");
    }
    found.sort();
    assert_eq!(
        found.iter().map(|done| (done.0, done.1)).collect::<Vec<_>>(),
        [(100, false), (200, false), (300, false)]
    );
    assert_eq!((found[0].2, found[1].2), (4000, 60));
    assert!(buffers[0][..4000].iter().all(|byte| *byte == 9) && buffers[1][..60].iter().all(|byte| *byte == 7));
    client.shutdown();
    drop(client);
    assert!(matches!(next(&events, &queues), CmEvent::Shutdown { ep: 2 }));
}

#[test]
fn a_rejection_brings_its_bytes_and_a_closed_port_none() {
    let fabric = Fabric::open("tcp", loopback()).expect("libfabric has its provider tcp");
    let events = EventQueue::open(&fabric).unwrap();
    let queues = Queues::open(&fabric, &Arc::new(host::event_fd::EventFd::new().unwrap())).unwrap();
    let (passive, at) = Passive::listen(&fabric, &events, loopback()).unwrap();
    let busy = Passive::listen(&fabric, &events, at).map(|_| ());
    assert_eq!(busy, Err(FiError(libc::EADDRINUSE)));
    let client = Ep::active(&fabric, &events, &queues, 1).unwrap();
    client.connect(at, b"please").unwrap();
    let CmEvent::Request { info, .. } = next(&events, &queues) else { panic!("no request") };
    passive.reject(info, b"no");
    match next(&events, &queues) {
        CmEvent::Failed { ep: 1, error, data } => assert_eq!((error.0, &data[..]), (libc::ECONNREFUSED, &b"no"[..])),
        _ => panic!("no failure"),
    }
    drop(passive);
    let late = Ep::active(&fabric, &events, &queues, 2).unwrap();
    late.connect(at, b"please").unwrap();
    match next(&events, &queues) {
        CmEvent::Failed { ep: 2, error, data } => assert_eq!((error.0, data), (libc::ECONNREFUSED, Vec::new())),
        _ => panic!("no failure"),
    }
}

#[test]
fn what_libfabric_does_not_have_is_an_error() {
    assert!(Fabric::open("no such provider", loopback()).is_err());
}

#[test]
fn a_stranger_is_sent_away_with_the_endpoint_that_listened() {
    let fabric = Fabric::open("tcp", loopback()).expect("libfabric has its provider tcp");
    let events = EventQueue::open(&fabric).unwrap();
    let queues = Queues::open(&fabric, &Arc::new(host::event_fd::EventFd::new().unwrap())).unwrap();
    let (silent, at) = Passive::listen(&fabric, &events, loopback()).unwrap();
    let mut greeting = greeting(&fabric, &events, &queues);
    let mut stranger = TcpStream::connect(at).unwrap();
    // It is accepted once the kernel's queue is empty, which shows in the number of sockets of this address.
    until("it is not accepted", || {
        assert!(events.next().is_none());
        (!listener::strangers(at, |_| false).is_empty()).then_some(())
    });
    drop(silent);
    // The port is free at once, and another endpoint may get the memory of the one that was closed.
    let (_again, _) = Passive::listen(&fabric, &events, at).unwrap();
    // Its greeting comes too late, and nothing is kept of it.
    let _ = stranger.write_all(&greeting);
    until("it is kept", || {
        assert!(events.next().is_none());
        (events.retired() == 0).then_some(())
    });
    greeting.clear();
    let _ = stranger.read_to_end(&mut greeting);
    assert!(greeting.is_empty());
}

#[test]
fn the_end_of_a_connection_is_seen_whatever_failed_before() {
    let fabric = Fabric::open("tcp", loopback()).expect("libfabric has its provider tcp");
    let events = EventQueue::open(&fabric).unwrap();
    let (_passive, at) = Passive::listen(&fabric, &events, loopback()).unwrap();
    let stranger = TcpStream::connect(at).unwrap();
    let accepted = |expected: usize| {
        until("the number of accepted connections is not as it should be", || {
            // SAFETY: it is this thread's place.
            unsafe { *libc::__errno_location() = libc::EAGAIN };
            assert!(events.next().is_none());
            // SAFETY: as above.
            assert_eq!(unsafe { *libc::__errno_location() }, libc::EAGAIN);
            (listener::strangers(at, |_| false).len() == expected).then_some(())
        });
    };
    accepted(1);
    drop(stranger);
    accepted(0);
}

#[test]
fn more_than_libfabric_copies_is_refused() {
    let fabric = Fabric::open("tcp", loopback()).expect("libfabric has its provider tcp");
    let events = EventQueue::open(&fabric).unwrap();
    let queues = Queues::open(&fabric, &Arc::new(host::event_fd::EventFd::new().unwrap())).unwrap();
    let ep = Ep::active(&fabric, &events, &queues, 1).unwrap();
    assert_eq!(ep.inject(&vec![0; fabric.inject_size() + 1]), Err(FiError(libc::EMSGSIZE)));
}

/// What a client sends to connect with `hello`.
fn greeting(fabric: &Arc<Fabric>, events: &Arc<EventQueue>, queues: &Queues) -> Vec<u8> {
    let server = TcpListener::bind(loopback()).unwrap();
    let client = Ep::active(fabric, events, queues, 9).unwrap();
    client.connect(server.local_addr().unwrap(), b"hello").unwrap();
    let (mut stream, _) = server.accept().unwrap();
    stream.set_nonblocking(true).unwrap();
    let mut bytes = vec![0; 4096];
    let len = until("no greeting", || {
        assert!(events.next().is_none());
        stream.read(&mut bytes).ok()
    });
    bytes.truncate(len);
    bytes
}

fn until<T>(or: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + LIMIT;
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < end, "{or}");
        std::thread::yield_now();
    }
}
