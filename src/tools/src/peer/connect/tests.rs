use super::*;

#[test]
fn hints_depend_on_the_place() {
    let (here, far) = ([127, 0, 0, 1], [203, 0, 113, 10]);
    let interrupt = Interrupt::default();
    let timeout = Duration::from_secs(1);
    let target = Target { tool: "dat-ping", adapter: "a", host: None, qualifier: 1, timeout, interrupt: &interrupt };
    let of = |provider, host: [u8; 4], late| target.hint(provider, host.into(), late);
    assert_eq!(of("shm", here, false), "is `dat-ping a` running there, as this user?");
    assert_eq!(of("shm", [127, 0, 1, 1], false), "is `dat-ping a` running there, as this user?");
    assert_eq!(of("tcp", here, false), "is `dat-ping a` running there, and is this the address that it prints?");
    assert_eq!(of("verbs", here, false), "is `dat-ping a` running there?");
    assert!(of("shm", here, true).ends_with("is it stopped or busy?"));
    for late in [false, true] {
        let firewall = "is `dat-ping a` running there, and does each firewall admit";
        assert_eq!(of("tcp", far, late), format!("{firewall} port 1?"));
        assert_eq!(of("verbs", far, late), format!("{firewall} UDP port 4791, if the network is RoCE?"));
        assert_eq!(of("shm", far, late), "shm connects only processes of this host");
    }
    let target = Target { qualifier: 1 << 20, ..target };
    assert!(target.hint("tcp", far.into(), false).ends_with(" admit the port of qualifier 1048576?"));
}

#[test]
fn resolves_names_and_addresses() {
    let v4: IpAddr = "192.0.2.7".parse().unwrap();
    assert_eq!(resolve("192.0.2.7", None).unwrap(), [v4]);
    assert_eq!(resolve("[::1]", Some(v4)).unwrap(), ["::1".parse::<IpAddr>().unwrap()]);
    assert!(resolve("localhost", Some(v4)).unwrap()[0].is_loopback());
    assert!(resolve("host.invalid", None).is_err());
}
