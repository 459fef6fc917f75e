use super::*;
use crate::info::probe::Opened;
use dat::Api;

#[test]
fn causes_are_counted_without_details() {
    let failed = [
        ("a", "searched for \"a0\" port 1; there is no RDMA device"),
        ("b", "/etc/dat.conf:7: b: cannot use l.so: not found"),
        ("c", "searched for \"c\"; there is no RDMA device"),
        ("d", "refused"),
        ("e", "busy"),
    ];
    let expected = "there is no RDMA device (2), cannot use l.so: not found (1), refused (1), other causes (1)";
    assert_eq!(causes(&failed), expected);
}

fn adapter() -> Adapter {
    Adapter { name: c"verbs-eth0".to_owned(), request: Request::of(Api::V12) }
}

#[test]
fn an_open_adapter_shows_its_port() {
    let address: IpAddr = "10.0.0.1".parse().unwrap();
    let port = Port {
        device: "rxe0".to_owned(),
        number: 1,
        state: "active".to_owned(),
        link: "Ethernet".to_owned(),
        interfaces: vec!["eth0".to_owned()],
    };
    let opened = Opened { address: Some(address), library: Some("/lib/l.so".into()), groups: Vec::new() };
    let probe = Probe { answer: Ok(opened), messages: Vec::new() };
    let row = row(&adapter(), probe, None, &[port], &[("eth0".to_owned(), address)]);
    assert_eq!((row.device.as_deref(), row.port, row.state.as_str()), (Some("rxe0"), Some(1), "active"));
    assert!(row.opens && row.why.is_none());
}
