use super::super::step::Finding;
use super::*;

/// The section for what a provider has said.
fn topic(message: &str) -> Option<String> {
    let step = explain(&[format!("libdapltcp[1]: error: a: {message}")], true)?;
    assert_eq!(step.state, Finding::Wrong);
    step.see
}

#[test]
fn what_lacks_is_in_the_message() {
    let place = |topic: Topic| Some(topic.place());
    let none = "there is no network interface eth7: name one of these: lo (127.0.0.1)";
    assert_eq!(topic(none), place(Topic::InstanceData));
    let bare = "network interface eth0 has no IP address that peers reach: none has an address";
    assert_eq!(topic(bare), place(Topic::NoIpAddress));
    assert_eq!(topic("no default route tells which network interface is meant"), place(Topic::InstanceData));
    assert_eq!(topic("no network interface leads to other hosts: none"), place(Topic::NoIpAddress));
    assert_eq!(topic("something else"), None);
}

#[test]
fn what_nobody_asked_for_is_a_note() {
    let step = explain(&["no network interface leads to other hosts: none".to_owned()], false);
    assert_eq!(step.map(|step| step.state), Some(Finding::Note));
}

#[test]
fn an_interface_that_is_not_there_is_said() {
    let step = missing("none7").unwrap();
    assert!(step.text.starts_with("there is no network interface none7; there are: "), "{}", step.text);
    assert!(missing("lo").is_none());
}
