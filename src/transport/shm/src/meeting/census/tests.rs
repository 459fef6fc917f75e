use super::*;

use dat_core::testing::Adapter;

/// What the processes of `directory` tell, who are all this one.
fn told(directory: &Path) -> Vec<Option<Vec<OpenAdapter>>> {
    let all = processes(directory).expect("a directory");
    assert!(all.iter().all(|process| process.pid == std::process::id() as i32), "{all:?}");
    all.into_iter().map(|process| process.adapters).collect()
}

#[test]
fn a_process_tells_of_the_adapters_that_are_open() {
    let place = tempfile::tempdir().expect("a directory");
    let meeting = place.path().join("meeting");
    let instance = meeting.to_str().expect("text");
    let (first, second) = (Adapter::<Shm>::open("one", instance), Adapter::<Shm>::open("two", instance));
    let (_a, _b) = first.pair();
    // An answer may serve for a while.
    let tell = || {
        thread::sleep(FRESH);
        let adapters = told(&meeting).into_iter().flatten().flatten();
        adapters.map(|open| (open.name, open.connections, open.fates.established)).collect::<Vec<_>>()
    };
    assert_eq!(tell(), [("one".to_owned(), 2, 2), ("two".to_owned(), 0, 0)]);
    drop(second);
    assert_eq!(tell(), [("one".to_owned(), 2, 2)]);
    drop((_a, _b, first));
    assert_eq!(tell(), []);
}

#[test]
fn nothing_that_stands_in_the_directory_harms() {
    let place = tempfile::tempdir().expect("a directory");
    let path = |number: u8| place.path().join(format!("p-1-{number:016x}"));
    let open = |left, name: &str| {
        let (counters, fates) = Default::default();
        let none = AdapterSnapshot { name: name.to_owned(), version: (1, 2), connections: 0, counters, fates };
        Message::Open(OpenAdapter { left, ..adapter(none, Duration::ZERO) }).encode()
    };
    // Entries that are no sockets, and the socket of a process that is gone.
    fs::write(path(0), "").expect("a file");
    fs::create_dir(path(1)).expect("a directory");
    std::os::unix::fs::symlink("/dev/zero", path(2)).expect("a link");
    drop(Socket::listen(&path(3)).expect("a socket"));
    // Processes that break the rules: the last packet does not come, the numbers do not fall, there are too many, and so on.
    let responses = [
        vec![],
        vec![open(1, "a")],
        vec![open(2, "a"), open(2, "b"), open(0, "c")],
        vec![open(MOST, "a")],
        vec![b"what is that?".to_vec()],
        vec![Message::Again.encode()],
        vec![open(1, "a"), vec![7; 2 * MAX_PACKET]],
    ];
    let listeners: Vec<_> = (4..).zip(&responses).map(|(at, _)| Socket::listen(&path(at)).expect("a socket")).collect();
    let over = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                for (listener, packets) in listeners.iter().zip(&responses) {
                    if let Ok(Some(socket)) = listener.accept() {
                        let _ = packets.iter().try_for_each(|packet| socket.send(packet, &[]));
                    }
                }
                thread::yield_now();
            }
        });
        let all = std::panic::catch_unwind(|| told(place.path()));
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(all.expect("no panic"), vec![None; responses.len()]);
    });
    assert!(processes(Path::new("/")).is_err() || rustix::process::geteuid().is_root());
    assert!(processes(&path(0)).is_err());
}
