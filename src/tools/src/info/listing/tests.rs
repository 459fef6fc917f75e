use super::*;
use crate::dat::Api;
use crate::info::probe::Opened;

fn adapter() -> Adapter {
    Adapter { name: c"verbs-eth0".to_owned(), demand: Demand::of(Api::V12) }
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
