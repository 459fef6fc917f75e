use super::super::step::Finding;
use super::*;

/// Returns a host with Soft-RoCE on eth0.
fn host(state: &str, locked: Option<u64>) -> Host {
    Host {
        ports: Ok(vec![Port {
            device: "rxe0".to_owned(),
            number: 1,
            state: state.to_owned(),
            link: "Ethernet".to_owned(),
            interfaces: vec!["eth0".to_owned()],
        }]),
        interfaces: Interfaces {
            list: vec![("lo".to_owned(), [127, 0, 0, 1].into()), ("eth0".to_owned(), [10, 0, 0, 1].into())],
            failure: None,
        },
        locked,
    }
}

#[test]
fn a_host_without_devices_is_a_note() {
    let steps = Host { ports: Ok(Vec::new()), ..host("active", None) }.explain();
    assert_eq!(steps, [Step::note("this host has no RDMA device").see(Topic::NoRdmaDevice)]);
}

#[test]
fn unreadable_lists_are_not_shown_as_empty() {
    let steps = Host { ports: Err(io::ErrorKind::PermissionDenied.into()), ..host("active", None) }.explain();
    assert_eq!(steps, [Step::note("cannot list the RDMA devices: permission denied").see(Topic::InterfaceList)]);
    let failure = Some(Topic::InterfaceList.reason("no list"));
    let steps = Host { interfaces: Interfaces { list: Vec::new(), failure }, ..host("active", None) }.explain();
    let text = "rxe0 port 1 (Ethernet), interface eth0: no list";
    assert_eq!(steps[0], Step::note(text).see(Topic::InterfaceList));
}

#[test]
fn shows_ports_and_limits() {
    let steps = host("active", Some(8 << 20)).explain();
    assert_eq!(steps[0], Step::ok("rxe0 port 1 (Ethernet): active, interface eth0, 10.0.0.1"));
    assert_eq!((steps[1].state, steps.len()), (Finding::Note, 2));
    let down = host("down", None);
    assert_eq!(down.explain().iter().map(|step| step.state).collect::<Vec<_>>(), [Finding::Note, Finding::Ok]);
    assert_eq!(down.port_of([10, 0, 0, 1].into()).map(|step| step.state), Some(Finding::Wrong));
    assert_eq!(down.port_of([127, 0, 0, 1].into()), None);
}

#[test]
fn the_capability_lifts_the_limit() {
    const CAP_IPC_LOCK: u32 = 14;
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:\t")).unwrap();
    let has_ipc_lock = u64::from_str_radix(effective, 16).unwrap() >> CAP_IPC_LOCK & 1 == 1;
    let limit = limit::locked_memory().unwrap();
    assert_eq!(Host::this().locked, limit.filter(|_| !has_ipc_lock));
}
