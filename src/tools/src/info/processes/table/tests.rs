use dat_census::copies::Obstacle;
use dat_census::{EndpointLinks, Process};

use super::*;

#[test]
fn shortens_bytes_and_times() {
    let short = [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1_572_864, "1.5 MiB"), (u64::MAX, "16.0 EiB")];
    assert!(short.iter().all(|&(number, text)| bytes(number) == text), "{short:?}");
    let times = [(59, "00:59"), (3_600, "01:00:00"), (90_061, "1-01:01:01")];
    assert!(times.iter().all(|&(seconds, text)| age(seconds) == text), "{times:?}");
}

fn found(pid: i32, adapters: Option<Vec<OpenAdapter>>) -> Found {
    let process = Process { pid, user: u32::MAX, adapters };
    Found { directory: None, command: None, stopped: false, connections: Vec::new(), process }
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
    let near = open(first.clone());
    let all = [found(1, Some(near.clone())), far];
    waits(&all, &all[0], &near[0], first).unwrap_or("-".to_owned())
}

fn in_state(state: &str) -> Endpoint {
    Endpoint { state: format!("{STATE}{state}"), ..Endpoint::default() }
}

/// An adapter with a queue of each kind, and an endpoint in `state` that uses these queues.
fn with_queues(state: &str, evd: Queue, srq: Queue) -> OpenAdapter {
    let links = Some(EndpointLinks { srq: 8, request_evd: 7, receive_evd: 7 });
    let queues = vec![Queue { handle: 7, size: 4, ..evd }, Queue { handle: 8, is_srq: true, size: 4, ..srq }];
    OpenAdapter { endpoints: vec![Endpoint { links, ..in_state(state) }], queues, ..OpenAdapter::default() }
}

#[test]
fn names_what_an_attempt_to_connect_waits_for() {
    assert_eq!(cause(&in_state("ACTIVE_CONNECTION_PENDING"), None), "the peer to accept");
    assert_eq!(cause(&in_state("COMPLETION_PENDING"), None), "the peer to complete the connection");
    for state in ["PASSIVE_CONNECTION_PENDING", "TENTATIVE_CONNECTION_PENDING"] {
        assert_eq!(cause(&in_state(state), None), "the program to accept");
    }
    for state in ["UNCONNECTED", "RESERVED", "CONNECTED", "DISCONNECTED"] {
        assert_eq!(cause(&in_state(state), None), "-");
    }
}

#[test]
fn nothing_waits_for_an_evd_that_lost_events() {
    let cause = |state: &str, lost| {
        let mut open = with_queues(state, Queue { filled: 4, lost, ..Queue::default() }, Queue::default());
        open.endpoints[0].evd_full = true;
        waits(&[], &found(1, None), &open, &open.endpoints[0]).unwrap_or("-".to_owned())
    };
    assert_eq!(cause("CONNECTED", 0), "room in its EVD");
    assert_eq!(cause("CONNECTED", 2), "nothing, because its EVD lost events");
    assert_eq!([cause("DISCONNECTED", 0), cause("DISCONNECTED", 2)], ["-", "-"]);
}

#[test]
fn shows_the_queues_that_can_be_the_cause() {
    let shown = |evd: Queue, available, message_waits| {
        let mut open = with_queues("CONNECTED", evd, Queue { filled: available, ..Queue::default() });
        open.endpoints[0].message_waits = message_waits;
        open.queues.iter().filter(|queue| is_suspect(&open, queue)).map(|queue| queue.handle).collect::<Vec<_>>()
    };
    let evd = Queue::default();
    assert_eq!(shown(evd, 0, false), [0_u64; 0]);
    assert_eq!(shown(Queue { filled: 1, ..evd }, 1, true), [7]);
    assert_eq!(shown(Queue { filled: 1, has_waiter: true, ..evd }, 0, false), [0_u64; 0]);
    assert_eq!(shown(Queue { filled: 4, has_waiter: true, ..evd }, 0, false), [7]);
    assert_eq!(shown(Queue { lost: 1, ..evd }, 0, true), [7, 8]);
}

#[test]
fn rows_have_the_receives_of_the_srq_and_the_kind_of_the_evd() {
    let evd = Queue { filled: 1, streams: 0x1f0, ..Queue::default() };
    let mut open = with_queues("CONNECTED", evd, Queue { filled: 3, ..Queue::default() });
    let process = found(1, None);
    let receives = |open: &OpenAdapter| cells(&[], &process, open, &open.endpoints[0])[7].clone();
    assert_eq!(receives(&open), "SRQ 3");
    let [evd, srq] = [0, 1].map(|at| queue_cells(&process, &open, &open.queues[at]));
    assert_eq!(evd.len(), QUEUES.split(',').count());
    assert_eq!((&*evd[4], &*evd[8], &*srq[4]), ("cr,dto,connection,rmr-bind,async", "no thread waits on it", "-"));
    open.queues.clear();
    assert_eq!(receives(&open), "SRQ");
    open.endpoints[0].links = None;
    assert_eq!(receives(&open), "0");
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

#[test]
fn names_the_process_at_the_other_end_of_a_socket() {
    let socket = |local: &str, peer: &str| Endpoint {
        local_socket: local.to_owned(),
        peer_socket: peer.to_owned(),
        outstanding_requests: 1,
        ..Endpoint::default()
    };
    let open = |endpoint| OpenAdapter { endpoints: vec![endpoint], ..OpenAdapter::default() };
    let near = open(socket("10.0.0.1:5", "[::1]:6"));
    let mut all = [found(1, Some(vec![near.clone()])), found(2, Some(vec![open(socket("[::1]:6", "10.0.0.1:5"))]))];
    let row = |all: &[Found]| {
        let [.., peer, _, _, _, waits] = cells(all, &all[0], &near, &near.endpoints[0]);
        (peer, waits)
    };
    assert_eq!(row(&all), ("pid 2".to_owned(), "the peer".to_owned()));
    all[1].process.adapters = None;
    assert_eq!(row(&all), ("[::1]:6".to_owned(), "the peer".to_owned()));
    all[1].stopped = true;
    all[1].connections = vec![("[::1]:6".parse().expect("valid"), "10.0.0.1:5".parse().expect("valid"))];
    assert_eq!(row(&all), ("pid 2".to_owned(), "the peer, which is stopped".to_owned()));
}

#[test]
fn only_an_endpoint_with_a_connection_or_an_attempt_has_a_peer() {
    let peer = |state: &str| {
        let of = Endpoint { peer: "10.0.0.2".to_owned(), qualifier: 7, process: 0, ..in_state(state) };
        cells(&[], &found(1, None), &OpenAdapter::default(), &of)[4].clone()
    };
    assert_eq!([peer("DISCONNECTED"), peer("UNCONNECTED")], ["-", "-"]);
    assert_eq!([peer("CONNECTED"), peer("ACTIVE_CONNECTION_PENDING")], ["10.0.0.2 7", "10.0.0.2 7"]);
}
