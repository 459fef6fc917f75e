use super::*;

#[test]
fn hints_depend_on_the_place() {
    let (shm, far) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([203, 0, 113, 9]));
    let interrupt = Interrupt::default();
    let timeout = Duration::from_secs(1);
    let target = Target { tool: "dat-ping", adapter: "shm", host: None, qualifier: 1, timeout, interrupt: &interrupt };
    let of = |own, host, late| target.hint(Some(own), host, late);
    assert_eq!(of(shm, shm, false), "is `dat-ping shm` running there, as this user?");
    assert_eq!(of(shm, [127, 0, 1, 1].into(), false), "is `dat-ping shm` running there, as this user?");
    assert!(of(shm, shm, true).ends_with("is it stopped or busy?"));
    for late in [false, true] {
        assert_eq!(of(far, [203, 0, 113, 10].into(), late), "is `dat-ping shm` running there?");
    }
    assert_eq!(of(far, shm, false), "is `dat-ping shm` running there?");
}

#[test]
fn resolves_names_and_addresses() {
    let v4: IpAddr = "192.0.2.7".parse().unwrap();
    assert_eq!(resolve("192.0.2.7", None).unwrap(), [v4]);
    assert_eq!(resolve("[::1]", Some(v4)).unwrap(), ["::1".parse::<IpAddr>().unwrap()]);
    assert!(resolve("localhost", Some(v4)).unwrap()[0].is_loopback());
    assert!(resolve("host.invalid", None).is_err());
}
