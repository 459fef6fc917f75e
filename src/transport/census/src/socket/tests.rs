use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;

use rustix::net::socketpair;

use super::*;

fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("s");
    (dir, path)
}

fn ends() -> (Socket, Socket) {
    let (one, two) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, FLAGS, None).expect("pair");
    (Socket::noted(|| Ok(one)).unwrap(), Socket::noted(|| Ok(two)).unwrap())
}

#[test]
fn connections_are_made_and_carry_messages_both_ways() {
    let (_dir, path) = place();
    let listener = Socket::listen(&path).expect("bind");
    assert!(listener.accept().expect("accept").is_none());
    let ours = Socket::connect(&path).expect("connect");
    assert_eq!(ours.send(b"early", &[]), Ok(()));
    let theirs = listener.accept().expect("accept").expect("one");
    let mut buf = [0; 16];
    let mut fds = vec![];
    assert_eq!(theirs.recv(&mut buf, &mut fds), Ok(5));
    assert_eq!(&buf[..5], b"early");
    assert_eq!(theirs.recv(&mut buf, &mut fds), Err(Errno::AGAIN));
    assert_eq!(theirs.send(b"a", &[]), Ok(()));
    assert_eq!(theirs.send(b"bc", &[]), Ok(()));
    assert_eq!(ours.recv(&mut buf, &mut fds), Ok(1));
    assert_eq!(ours.recv(&mut buf, &mut fds), Ok(2));
    drop(theirs);
    assert_eq!(ours.recv(&mut buf, &mut fds), Ok(0));
    assert_eq!(ours.send(b"late", &[]), Err(Errno::PIPE));
    assert!(fds.is_empty());
}

#[test]
fn what_was_sent_before_the_end_arrives() {
    let (ours, theirs) = ends();
    assert_eq!(ours.send(b"last", &[]), Ok(()));
    drop(ours);
    let mut buf = [0; 16];
    assert_eq!(theirs.recv(&mut buf, &mut vec![]), Ok(4));
    assert_eq!(theirs.recv(&mut buf, &mut vec![]), Ok(0));
}

#[test]
fn peers_are_known() {
    let (_dir, path) = place();
    let listener = Socket::listen(&path).expect("bind");
    let ours = Socket::connect(&path).expect("connect");
    let theirs = listener.accept().expect("accept").expect("one");
    let me = std::process::id() as libc::pid_t;
    assert_eq!(ours.peer().expect("credentials"), me);
    assert_eq!(theirs.peer().expect("credentials"), me);
}

#[test]
fn processes_of_other_users_are_refused() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can act as another user");
        return;
    }
    let (_dir, path) = place();
    let listener = Socket::listen(&path).expect("bind");
    let other = std::thread::spawn(move || {
        // SAFETY: changes only the identity of this thread, which connects and ends.
        let changed = unsafe { libc::syscall(libc::SYS_setresuid, -1, 65534, -1) };
        // Access to files remains that of root, so that the directory can be reached.
        // SAFETY: changes only this thread.
        unsafe { libc::setfsuid(0) };
        assert_eq!(changed, 0);
        Socket::connect(&path)
    });
    let theirs = other.join().expect("the thread").expect("connect");
    let ours = listener.accept().expect("accept").expect("one");
    assert_eq!(ours.peer().map_err(|e| e.kind()), Err(io::ErrorKind::PermissionDenied));
    assert!(theirs.peer().is_ok(), "the listener belongs to this user");
}

#[test]
fn nobody_and_busy_are_told_apart() {
    let (_dir, path) = place();
    assert!(matches!(Socket::connect(&path), Err(Errno::CONNREFUSED)), "no file");
    let listener = Socket::listen(&path).expect("bind");
    assert_eq!(Socket::listen(&path).expect_err("twice").kind(), io::ErrorKind::AddrInUse);
    listen(&listener, 0).expect("a queue of the shortest length");
    let mut waiting = vec![];
    let end = loop {
        match Socket::connect(&path) {
            Ok(socket) => waiting.push(socket),
            Err(error) => break error,
        }
        assert!(waiting.len() < 100);
    };
    assert_eq!(end, Errno::AGAIN);
    drop(listener);
    assert!(matches!(Socket::connect(&path), Err(Errno::CONNREFUSED)), "left behind");
    File::create(path.with_extension("plain")).expect("file");
    assert!(Socket::connect(&path.with_extension("plain")).is_err());
    assert!(matches!(Socket::connect(Path::new(&"x".repeat(108))), Err(Errno::NAMETOOLONG)));
    assert!(matches!(Socket::connect(Path::new("")), Err(Errno::NAMETOOLONG)));
}

#[test]
fn descriptors_travel() {
    let (ours, theirs) = ends();
    let mut files: Vec<File> = (0..MAX_FDS).map(|_| tempfile::tempfile().expect("file")).collect();
    let lent: Vec<_> = files.iter().map(AsFd::as_fd).collect();
    assert_eq!(ours.send(b"fds", &lent), Ok(()));
    let mut fds = vec![];
    assert_eq!(theirs.recv(&mut [0; 3], &mut fds), Ok(3));
    assert_eq!(fds.len(), MAX_FDS);
    for (i, fd) in fds.into_iter().enumerate() {
        assert_eq!(rustix::io::fcntl_getfd(&fd), Ok(rustix::io::FdFlags::CLOEXEC));
        write!(File::from(fd), "{i}").expect("write");
        let mut text = String::new();
        std::io::Seek::rewind(&mut files[i]).expect("rewind");
        files[i].read_to_string(&mut text).expect("read");
        assert_eq!(text, i.to_string());
    }
}

#[test]
fn messages_that_are_too_long_leave_no_descriptor_behind() {
    let (ours, theirs) = ends();
    let (probe, held) = ends();
    assert_eq!(ours.send(b"too long", &[held.as_fd()]), Ok(()));
    drop(held);
    let mut fds = vec![];
    let error = theirs.recv(&mut [0; 3], &mut fds).expect_err("truncated");
    assert_eq!(error, Errno::MSGSIZE);
    assert!(fds.is_empty());
    // The lost message had the last descriptor of the other end.
    assert_eq!(probe.recv(&mut [0; 8], &mut fds), Ok(0));
    assert_eq!(ours.send(b"fit", &[]), Ok(()));
    assert_eq!(theirs.recv(&mut [0; 3], &mut fds), Ok(3), "the next is whole");
}

#[test]
fn a_full_queue_does_not_block() {
    let (ours, theirs) = ends();
    let message = [7_u8; 10_000];
    let mut count = 0;
    while ours.send(&message, &[]).is_ok() {
        count += 1;
        assert!(count < 100_000);
    }
    assert_eq!(ours.send(&message, &[]), Err(Errno::AGAIN));
    let mut buf = [0; 10_000];
    for _ in 0..count {
        assert_eq!(theirs.recv(&mut buf, &mut vec![]), Ok(10_000));
    }
    assert_eq!(ours.send(&message, &[]), Ok(()));
}

#[test]
fn messages_that_make_no_sense_are_refused() {
    let (ours, theirs) = ends();
    assert!(ours.send(b"", &[]).is_err());
    let lent = vec![ours.as_fd(); MAX_FDS + 1];
    assert!(ours.send(b"x", &lent).is_err());
    assert_eq!(theirs.recv(&mut [0; 3], &mut vec![]), Err(Errno::AGAIN));
}
