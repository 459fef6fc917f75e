use dat_census::Process;
use dat_census::copies::Obstacle;

use super::*;

#[test]
fn shortens_bytes_and_times() {
    let short = [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1_572_864, "1.5 MiB"), (u64::MAX, "16.0 EiB")];
    assert!(short.iter().all(|&(number, text)| bytes(number) == text), "{short:?}");
    let times = [(59, "00:59"), (3_600, "01:00:00"), (90_061, "1-01:01:01")];
    assert!(times.iter().all(|&(seconds, text)| age(seconds) == text), "{times:?}");
}

fn found(pid: i32, adapters: Option<Vec<OpenAdapter>>) -> Found {
    Found { directory: None, command: None, stopped: false, process: Process { pid, user: u32::MAX, adapters } }
}

#[test]
fn a_silent_process_has_a_row() {
    let mut silent = found(0, None);
    let [row] = &adapters(&silent)[..] else { panic!("one row") };
    assert_eq!(row.len(), ADAPTERS.split(',').count());
    assert!(row.iter().enumerate().all(|(at, cell)| cell == "-" || at == 2), "{row:?}");
    silent.stopped = true;
    assert_eq!(adapters(&silent)[0][3], "stopped");
}

#[test]
fn names_the_obstacle_to_direct_copies() {
    let of = |peers, direct_peers, obstacle| direct(&Adapter { peers, direct_peers, obstacle, ..Adapter::default() });
    assert_eq!(of(0, 0, None), "-");
    assert_eq!(of(2, 2, None), "yes");
    assert_eq!(of(3, 2, None), "2/3");
    assert_eq!(of(0, 0, Some(Obstacle::Variable)), "no:DAT_SHM_VM");
    assert_eq!(of(3, 2, Some(Obstacle::PeerVariable)), "2/3:peer");
}

/// Returns what the first endpoint waits for, if process 1 has `first` and process 2 has `second`.
fn cause(first: &Endpoint, second: Option<Endpoint>) -> String {
    let open = |endpoint: Endpoint| vec![OpenAdapter { endpoints: vec![endpoint], ..OpenAdapter::default() }];
    let mut far = found(2, second.map(open));
    far.stopped = far.process.adapters.is_none();
    let all = [found(1, Some(open(first.clone()))), far];
    waits(&all, &all[0], first)
}

#[test]
fn names_what_an_endpoint_waits_for() {
    let idle = Endpoint { handle: 1, process: 2, ..Endpoint::default() };
    let sender = Endpoint { outstanding_requests: 1, ..idle.clone() };
    let far = |message_waits| Some(Endpoint { process: 1, message_waits, ..Endpoint::default() });
    assert_eq!(cause(&idle, far(false)), "-");
    assert_eq!(cause(&sender, far(false)), "the peer");
    assert_eq!(cause(&sender, far(true)), "a receive of the peer");
    assert_eq!(cause(&sender, None), "the peer, which is stopped");
    let full = Endpoint { evd_full: true, message_waits: true, ..idle };
    assert_eq!(cause(&full, far(false)), "room in its EVD; a receive");
    let waiting = Endpoint { requests_wait: true, ..sender };
    assert_eq!(cause(&waiting, far(false)), "room at the peer, or earlier requests");
}

#[test]
fn finds_the_far_end_by_its_socket() {
    let socket = |local: &str, peer: &str, outstanding_requests, message_waits| Endpoint {
        local_socket: local.to_owned(),
        peer_socket: peer.to_owned(),
        outstanding_requests,
        message_waits,
        ..Endpoint::default()
    };
    let sender = socket("10.0.0.1:5", "10.0.0.2:6", 1, false);
    assert_eq!(cause(&sender, Some(socket("10.0.0.2:6", "10.0.0.1:5", 0, true))), "a receive of the peer");
    assert_eq!(cause(&sender, Some(socket("10.0.0.2:7", "10.0.0.1:5", 0, true))), "the peer");
}
