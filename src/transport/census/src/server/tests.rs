use dat_core::event::Streams;
use dat_core::testing::{self, Fake};

use super::*;

#[test]
fn a_beacon_is_found_and_pauses_after_responses() {
    let adapter = testing::Adapter::<Fake>::open("fake", "");
    let _end = adapter.end();
    let beacon = Beacon::<Fake>::open();
    beacon.add(adapter.ia.transport.sink());
    let pid = std::process::id() as i32;
    let until = Instant::now() + Duration::from_secs(20);
    let found = std::thread::scope(|scope| {
        let asked = scope.spawn(|| {
            loop {
                let all = crate::adapters_in_namespace().expect("/proc/net/unix");
                let own = all.into_iter().find(|process| process.pid == pid).and_then(|process| process.adapters);
                if own.is_some() || Instant::now() > until {
                    return own;
                }
            }
        });
        while !asked.is_finished() {
            let (fd, pause) = beacon.watched();
            assert!(fd.is_some() != pause.is_some());
            let found = host::poll::wait([fd], Some(pause.unwrap_or(PAUSE))).expect("poll");
            if found[0].readable {
                beacon.respond();
                let (fd, pause) = beacon.watched();
                assert!(fd.is_none() && pause.is_some_and(|pause| pause <= PAUSE));
            }
        }
        asked.join().expect("no panic")
    });
    let [open] = &found.expect("a response")[..] else { panic!("one adapter") };
    assert_eq!((open.adapter.name.as_str(), open.endpoints.len()), ("fake", 1));
    let links = open.endpoints[0].links.expect("a library of today");
    let streams = |handle| open.queues.iter().find(|queue| queue.handle == handle).map(|queue| queue.streams);
    assert_eq!(links.srq, 0);
    for evd in [links.request_evd, links.receive_evd] {
        assert!(streams(evd).is_some_and(|streams| streams & Streams::TRANSFERS.bits() != 0), "{open:?}");
    }
    beacon.close();
    let all = crate::adapters_in_namespace().expect("/proc/net/unix");
    assert!(all.iter().all(|process| process.pid != pid), "{all:?}");
}

#[test]
fn the_longest_response_fits_into_a_socket() {
    let address = "[2001:db8:1111:2222:3333:4444:5555:6666]:65535";
    let longest = Endpoint {
        state: "DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING".to_owned(),
        peer: "2001:db8:1111:2222:3333:4444:5555:6666".to_owned(),
        path: "socket".to_owned(),
        local_socket: address.to_owned(),
        peer_socket: address.to_owned(),
        ..Endpoint::default()
    };
    let mut packets = Vec::new();
    pack(&mut packets, &[ADAPTER], [Adapter { name: "n".repeat(MAX_BYTES), ..Adapter::default() }]).expect("memory");
    pack(&mut packets, &[ENDPOINTS], vec![longest; MAX_DETAILS]).expect("memory");
    pack(&mut packets, &[QUEUES], vec![Queue::default(); MAX_DETAILS]).expect("memory");
    pack_end(&mut packets, vec![EndpointLinks::default(); MAX_DETAILS], vec![0; MAX_DETAILS]).expect("memory");
    assert!(packets.iter().all(|packet| packet.len() <= MAX_PACKET));
    let name = format!("census-test-{}", std::process::id());
    let listener = Socket::listen_in_namespace(&name).expect("a socket");
    let _receiver = Socket::connect_in_namespace(&name).expect("it listens");
    let sender = listener.accept().expect("no error").expect("a connection");
    assert!(packets.contains(&vec![END]));
    send(&sender, &packets).expect("there is room");
}
