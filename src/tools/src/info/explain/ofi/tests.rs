use super::super::step::Finding;
use super::*;

fn host() -> Host {
    let interfaces = [("lo", "127.0.0.1"), ("eth0", "fe80::1"), ("eth1", "fe80::2"), ("eth1", "192.0.2.7")];
    Host {
        sysfs: "/nonexistent".into(),
        dev: "/nonexistent".into(),
        interfaces: interfaces.map(|(netdev, address)| (netdev.to_owned(), address.parse().unwrap())).into(),
        locked: None,
    }
}

/// The states of what is told, and its text.
fn told(name: &str, instance: &str, message: &str) -> (Vec<Finding>, String) {
    let steps = explain(&host(), name, instance, &[message.to_owned()], true);
    (steps.iter().map(|step| step.state).collect(), steps.into_iter().map(|step| step.text + "\n").collect())
}

#[test]
fn words_are_read_as_the_provider_does() {
    assert_eq!(wanted("tcp", ""), Wanted { provider: "tcp", place: None });
    assert_eq!(wanted("tcp-lo", ""), Wanted { provider: "tcp", place: Some("lo") });
    assert_eq!(wanted("tcp-lo", "sockets eth1"), Wanted { provider: "sockets", place: Some("eth1") });
    assert_eq!(wanted("tcp-lo", "sockets"), Wanted { provider: "sockets", place: None });
}

#[test]
fn what_libfabric_lacks_is_in_the_message() {
    use Finding::{Ok, Wrong};
    let (states, text) = told("tcp", "", "libdaplofi[1]: error: tcp: libfabric.so.1 cannot be loaded: no such file");
    assert_eq!(states, [Wrong, Ok]);
    assert!(text.contains("libfabric1"), "{text}");
    let (states, text) = told("a", "psm9 eth1", "a: libfabric, provider psm9: no endpoint with connections: No data");
    assert_eq!(states, [Wrong, Ok]);
    assert!(text.contains("no provider psm9") && text.contains("eth1 has the address 192.0.2.7"), "{text}");
    let notes = explain(&host(), "tcp", "", &["libfabric.so.1 cannot be loaded".to_owned()], false);
    assert!(notes.iter().all(|step| step.state != Wrong));
}

#[test]
fn an_interface_needs_an_address_that_peers_can_reach() {
    let state = |place| interface(&host(), place, true).state;
    assert_eq!(state(None), Finding::Ok);
    assert_eq!(state(Some("eth1")), Finding::Ok);
    assert_eq!(state(Some("192.0.2.7")), Finding::Ok);
    assert_eq!(state(Some("eth0")), Finding::Wrong, "it has but a link-local one");
    assert_eq!(state(Some("192.0.2.8")), Finding::Wrong);
    let step = interface(&host(), Some("none7"), true);
    assert!(step.text.starts_with("there is no network interface none7; there are: "), "{}", step.text);
}
