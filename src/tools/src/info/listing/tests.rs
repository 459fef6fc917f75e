use super::*;
use crate::info::probe::Opened;
use dat::Api;

#[test]
fn causes_are_counted_without_details() {
    let failed = [
        ("a", "searched for \"a0\" port 1; there is no RDMA device"),
        ("b", "/etc/dat.conf:7: b: cannot use l.so: not found"),
        ("c", "searched for \"c\"; there is no RDMA device"),
        ("d", "host:SCM:3e43:5b8287c0: 36 us(36 us):  refused"),
        ("e", "host:UCM:3e45:b44d47c0: 40 us(40 us):  refused"),
        ("f", "gone"),
        ("g", "busy"),
    ];
    let failed = failed.map(|(name, why)| (name, String::new(), why));
    let expected = "there is no RDMA device (2), refused (2), cannot use l.so: not found (1), other causes (2)";
    assert_eq!(causes(&failed), expected);
}

#[test]
fn equal_causes_of_a_name_are_one() {
    let row = |name: &str, version: &str, why: Option<&str>| Listed {
        name: name.to_owned(),
        version: version.to_owned(),
        thread_safe: true,
        from: String::new(),
        listed: true,
        library: String::new(),
        device: None,
        port: None,
        state: String::new(),
        address: None,
        opens: why.is_none(),
        why: why.map(str::to_owned),
    };
    let rows = [
        row("a", "1.2", Some("libdat[7]: error: a: closed")),
        row("b", "1.2", Some("one")),
        row("c", "1.2", None),
        row("a", "2.0", Some("libdat2[8]: error: a: closed")),
        row("b", "2.0", Some("two")),
        row("c", "2.0", Some("gone")),
    ];
    let failed = failures(&rows).into_iter().map(|(name, versions, why)| format!("{name}{versions}: {why}"));
    assert_eq!(failed.collect::<Vec<_>>(), ["a: closed", "b (1.2): one", "b (2.0): two", "c (2.0): gone"]);
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
