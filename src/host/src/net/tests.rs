use std::net::UdpSocket;
use std::path::Path;

use super::*;

#[test]
fn addresses_belong_to_this_host() {
    for (name, address) in interfaces().list {
        assert!(!name.is_empty());
        let link_local = matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local());
        if !link_local {
            UdpSocket::bind((address, 0)).unwrap_or_else(|error| panic!("{name} {address}: {error}"));
        }
    }
    if UdpSocket::bind("127.0.0.1:0").is_ok() {
        assert!(interfaces().list.iter().any(|(_, address)| address.is_loopback()));
    }
}

#[test]
fn names_include_interfaces_with_addresses() {
    let all = names(Path::new(PROC)).unwrap();
    for (name, _) in interfaces().list {
        // An address can have a label, which follows a colon.
        let name = name.split(':').next().unwrap_or_default().to_owned();
        assert!(all.contains(&name.clone().into()), "{name} is not among {all:?}");
    }
    let error = names(Path::new("/nonexistent")).unwrap_err();
    assert_eq!(error.to_string(), "/nonexistent/thread-self/net/dev: No such file or directory (os error 2)");
}

#[test]
fn netlink_and_other_sources_agree() {
    let sorted = |mut all: Addresses| {
        all.sort();
        all
    };
    let netlink = sorted(from_netlink().unwrap());
    let others = combine(&io::ErrorKind::Unsupported.into(), from_ioctl(), from_proc(Path::new(PROC)));
    assert_eq!((sorted(others.list), others.failure), (netlink, None));
}

#[test]
fn reads_ipv6_addresses() {
    let proc = tempfile::tempdir().unwrap();
    let directory = proc.path().join(OF_THREAD);
    let missing = from_proc(proc.path()).unwrap_err().to_string();
    assert!(missing.ends_with("thread-self/net/if_inet6: No such file or directory (os error 2)"), "{missing}");
    fs::create_dir_all(&directory).unwrap();
    assert_eq!(from_proc(proc.path()).unwrap(), [], "IPv6 is disabled");
    let table = "20010db8000000000000000000000005 02 40 00 80       v6\n\
        00000000000000000000000000000001 01 80 10 80       lo\n\
        nonsense 01\n";
    fs::write(directory.join("if_inet6"), table).unwrap();
    let wanted = [("v6", "2001:db8::5"), ("lo", "::1")].map(|(name, ip)| (name.to_owned(), ip.parse().unwrap()));
    assert_eq!(from_proc(proc.path()).unwrap(), wanted);
}

#[test]
fn a_failure_contains_each_error() {
    let error = |code| io::Error::from_raw_os_error(code);
    let v6 = || Ok(vec![("lo".to_owned(), IpAddr::from([0; 16]))]);
    let found = combine(&error(libc::EAFNOSUPPORT), Err(error(libc::EPERM)), v6());
    let failure = found.failure.clone().unwrap();
    assert_eq!(failure.topic, Topic::InterfaceList);
    assert_eq!(
        failure.text,
        "cannot list the IP addresses of this host: netlink: Address family not supported by protocol (os error 97), \
         SIOCGIFCONF: Operation not permitted (os error 1)"
    );
    assert!(found.list.is_empty(), "no adapter uses IPv6 because IPv4 is unknown");
    assert_eq!(found.explain(Topic::InstanceData.reason("none")), failure);
    assert_eq!(combine(&error(libc::EPERM), Ok(Vec::new()), v6()).failure, None);
    let v4_only = combine(&error(libc::EPERM), v6(), Err(error(libc::ENOENT)));
    assert_eq!((v4_only.list.len(), v4_only.failure.is_some()), (1, true));
    let lacks = combine(&error(libc::EMFILE), Err(error(libc::EMFILE)), v6());
    assert_eq!(lacks.failure.unwrap().topic, Topic::OpenFiles);
}

#[test]
fn explains_a_forbidden_port_by_its_number() {
    assert_eq!(why_forbidden(1023, 1024), "ports below 1024 need the capability CAP_NET_BIND_SERVICE");
    for (port, first) in [(1040, 1024), (80, 0), (0, 1024)] {
        assert!(!why_forbidden(port, first).contains("below"), "{port}");
    }
}
