use super::*;

#[test]
fn directories_are_paths_or_the_default() {
    assert_eq!(directory(" /srv/meet/ ", 7), Path::new("/srv/meet"));
    for default in ["", "ib0 0"] {
        assert_eq!(directory(default, 7), Path::new("/tmp").join(format!("{PREFIX}7")));
    }
}

#[test]
fn recognises_socket_names() {
    assert!(is_socket_name("p-1-0123456789abcdef"));
    for other in
        ["p-1-0123456789abcdeF", "p-1-0123", "p--0123456789abcdef", "q-1-0123456789abcdef", "p-x-0123456789abcdef"]
    {
        assert!(!is_socket_name(other), "{other}");
    }
}

#[test]
fn recognises_beacons() {
    let line = |name: &str| format!("ffff8f0e: 00000002 00000000 00010000 0005 01 21 {name}");
    assert_eq!(beacon_in(&line("@libdat-1-0123456789abcdef")), Some("libdat-1-0123456789abcdef"));
    for other in
        ["", "libdat-1-0123456789abcdef", "/tmp/@libdat-1-0123456789abcdef", "@libdat-1-2", "@other-1-0123456789abcdef"]
    {
        assert_eq!(beacon_in(&line(other)), None, "{other}");
    }
    assert!(beacon_in(&line(&format!("@{}", beacon_name()))).is_some());
}

fn open(name: &str) -> Vec<u8> {
    let mut packet = vec![ADAPTER];
    Adapter { name: name.to_owned(), age: u64::MAX, ..Adapter::default() }.put(&mut packet);
    packet
}

fn with_two<F: Field + Default>(kind: u8) -> Vec<u8> {
    let mut packet = vec![kind];
    F::default().put(&mut packet);
    F::default().put(&mut packet);
    packet
}

/// Sends each of the `packets` from a listener in a directory. Returns the responses that arrive.
fn responses(packets: &[Vec<Vec<u8>>]) -> Vec<Option<Vec<OpenAdapter>>> {
    let place = tempfile::tempdir().expect("a directory");
    let path = |number: usize| place.path().join(format!("p-1-{number:016x}"));
    // Entries that are not sockets, and the socket of a process that has ended.
    fs::write(path(90), "").expect("a file");
    fs::create_dir(path(91)).expect("a directory");
    std::os::unix::fs::symlink("/dev/zero", path(92)).expect("a link");
    drop(Socket::listen(&path(93)).expect("a socket"));
    let listeners: Vec<_> =
        packets.iter().enumerate().map(|(at, _)| Socket::listen(&path(at)).expect("a socket")).collect();
    let over = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                for (listener, packets) in listeners.iter().zip(packets) {
                    if let Ok(Some(socket)) = listener.accept() {
                        let _ = packets.iter().try_for_each(|packet| socket.send(packet, &[]));
                    }
                }
                thread::yield_now();
            }
        });
        let all = std::panic::catch_unwind(|| processes(place.path()).expect("a directory"));
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        let all = all.expect("no panic");
        assert!(all.iter().all(|process| process.pid == std::process::id() as i32), "{all:?}");
        all.into_iter().map(|process| process.adapters).collect()
    })
}

#[test]
fn receives_all_adapters() {
    let packets = vec![
        open("one"),
        with_two::<Endpoint>(ENDPOINTS),
        with_two::<Endpoint>(ENDPOINTS),
        with_two::<Queue>(QUEUES),
        open("two"),
        vec![END],
    ];
    let found = |open: OpenAdapter| (open.adapter.name, open.endpoints.len(), open.queues.len());
    let all: Vec<_> = responses(&[packets]).into_iter().flatten().flatten().map(found).collect();
    assert_eq!(all, [("one".to_owned(), 4, 2), ("two".to_owned(), 0, 0)]);
}

#[test]
fn packets_after_the_end_add_fields_and_may_be_unknown() {
    let whole = [vec![open("one")], vec![with_two::<Endpoint>(ENDPOINTS), with_two::<Queue>(QUEUES)], vec![vec![END]]];
    let links = EndpointLinks { srq: 1, request_evd: 2, receive_evd: 3 };
    let rest = |kind, item: &dyn Fn(&mut Vec<u8>), more: usize| {
        let mut packet = vec![kind, 0];
        for _ in 0..3 {
            item(&mut packet);
            packet.extend(vec![7; more]);
        }
        packet[1] = ((packet.len() - 2) / 3) as u8;
        packet
    };
    let found = |rest: Vec<Vec<u8>>| {
        let all = responses(&[[whole.concat(), rest].concat()]).remove(0).expect("a response");
        let [open] = &all[..] else { panic!("one adapter") };
        let (endpoints, queues) = (open.endpoints.iter(), open.queues.iter());
        (endpoints.map(|one| one.links).collect::<Vec<_>>(), queues.map(|one| one.streams).collect::<Vec<_>>())
    };
    let none = (vec![None; 2], vec![0; 2]);
    let full = (vec![Some(links); 2], vec![0x20; 2]);
    let put_links = |packet: &mut Vec<u8>| links.put(packet);
    let put_streams = |packet: &mut Vec<u8>| 0x20_u32.put(packet);
    assert_eq!(found(vec![]), none);
    // Items of today and longer ones, more items than endpoints, and an unknown kind.
    for more in [0, 5] {
        let unknown = rest(99, &put_streams, 0);
        assert_eq!(found(vec![rest(LINKS, &put_links, more), unknown, rest(STREAMS, &put_streams, more)]), full);
    }
    // Items that are too short or without a length.
    assert_eq!(found(vec![rest(LINKS, &put_streams, 0), vec![STREAMS, 0, 1], vec![LINKS]]), none);
}

#[test]
fn invalid_responses_are_none() {
    // The last packet is missing, an adapter is missing or incomplete, there are too many, and so on.
    let packets = [
        vec![],
        vec![open("a")],
        vec![with_two::<Endpoint>(ENDPOINTS), vec![END]],
        vec![open("a"), vec![QUEUES, 0], vec![END]],
        vec![open("a"); MAX_ADAPTERS + 1],
        [vec![open("a")], vec![with_two::<Queue>(QUEUES); MAX_DETAILS / 2 + 1], vec![vec![END]]].concat(),
        vec![open("a"), vec![END, 0]],
        vec![b"what is that?".to_vec()],
        vec![vec![AGAIN]],
        vec![open("a"), vec![7; 2 * MAX_PACKET], vec![END]],
    ];
    assert_eq!(responses(&packets), vec![None; packets.len()]);
    assert!(processes(Path::new("/")).is_err() || rustix::process::geteuid().is_root());
    assert!(processes(Path::new("/dev/null")).is_err());
}
