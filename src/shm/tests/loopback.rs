//! A process connects to itself: the transport under the core, without a C interface.

mod common;

use common::open;
use dat_core::ep::State;
use dat_core::event::{ConnectionEvent, Status};
use dat_core::transport::RemoteSegment;
use dat_core::{CompletionFlags, Event, Object, Srq};
use dat_loopback::{connect, connection, endpoint, next, register, segment, transfer};

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
        b.post_recv(&[segment(&target, 0, u64::from(size))], 1, CompletionFlags::DEFAULT).unwrap();
        a.post_send(&[segment(&source, 0, len)], 2, CompletionFlags::DEFAULT).unwrap();
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
    a.post_write(&[segment(&local, 0, 100), segment(&local, 100, 59_900)], 1, window, CompletionFlags::DEFAULT)
        .unwrap();
    assert_eq!(transfer(&side.transfers), (1, Status::Success, 60_000));
    assert!(far[5..60_005].iter().all(|&byte| byte == 1) && far[..5] == [2; 5] && far[60_005] == 2);
    far.fill(9);
    a.post_read(&[segment(&local, 1, 60_000)], 2, window, CompletionFlags::DEFAULT).unwrap();
    assert_eq!(transfer(&side.transfers), (2, Status::Success, 60_000));
    assert!(near[1..60_001].iter().all(|&byte| byte == 9) && near[0] == 1);

    let beyond = RemoteSegment { addr: remote.addr() + 20_000, len: 60_000, key: remote.remote_key() };
    a.post_write(&[segment(&local, 0, 60_000)], 3, beyond, CompletionFlags::DEFAULT).unwrap();
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
    a.post_send(&[segment(&lmr, 1024, 8)], 77, CompletionFlags::SUPPRESS).unwrap();
    assert_eq!(counts(), (10, 2, 3));
    let Event::Transfer { ep, cookie, .. } = next(&side.transfers) else { panic!("no completion") };
    assert_eq!((ep, cookie), (b.header().handle(), 0));
    assert_eq!(counts(), (10, 2, 2));
    side.ia.close_abrupt();
}
