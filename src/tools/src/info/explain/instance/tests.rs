use super::super::rdma::tests::host;
use super::super::step::State;
use super::*;

fn wrong(host: &Host, instance: &str) -> Vec<String> {
    use dat_registry::conf::{Line, parse};
    let line = format!("v u1.2 threadsafe default libdaplverbs.so.1 A.1.0 \"{instance}\" \"\"");
    let Some(Line::Entry(_, entry)) = parse(line.as_bytes()).next() else { panic!("no entry: {line}") };
    explain(host, &entry).into_iter().filter(|step| step.state == State::Wrong).map(|step| step.text).collect()
}

#[test]
fn a_line_that_names_what_is_here_is_not_at_fault() {
    let root = tempfile::tempdir().unwrap();
    let host = host(root.path(), true);
    for instance in ["eth0 0", "eth0:1", "eth0 1", "rxe0 1", "10.0.0.1"] {
        assert_eq!(wrong(&host, instance), [""; 0], "{instance}");
    }
}

#[test]
fn a_line_that_names_something_else_is_told_what_there_is() {
    let root = tempfile::tempdir().unwrap();
    let host = host(root.path(), true);
    for instance in ["ib0 0", "rubbish", "mlx4_0 2", "rxe0 2", "eth0 2", "10.0.0.9", "2001:db8::9"] {
        let told = wrong(&host, instance);
        assert!(told.len() == 1 && told[0].ends_with("there is: rxe0 port 1 (eth0)"), "{instance}: {told:?}");
    }
    assert_eq!(wrong(&host, "lo 0"), ["lo has no RDMA device"]);
}

/// The provider refuses the sign by the same rule.
#[test]
fn a_line_that_the_provider_refuses_is_wrong_in_its_words() {
    let root = tempfile::tempdir().unwrap();
    let told = wrong(&host(root.path(), true), "mlx4_0 +1");
    assert_eq!(told, ["instance data \"mlx4_0 +1\": \"+1\" is not the number of a port"]);
    for instance in ["", "eth0 x", "eth0 1 2"] {
        assert_eq!(wrong(&host(root.path(), true), instance).len(), 1, "{instance}");
    }
}

#[test]
fn without_a_device_that_is_what_lacks() {
    let root = tempfile::tempdir().unwrap();
    let host = host(root.path(), false);
    assert_eq!(wrong(&host, "eth0 0"), ["this host has no RDMA device"]);
    assert_eq!(wrong(&host, "mlx4_0 1").len(), 2);
}
