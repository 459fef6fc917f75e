use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Instant;

use super::*;
use crate::event_fd::EventFd;

const NOW: Option<Duration> = Some(Duration::ZERO);
const LONG: Option<Duration> = Some(Duration::from_secs(20));

fn tokens(epoll: &Epoll, timeout: Option<Duration>) -> Vec<Ready> {
    let mut events = Events::with_capacity(8);
    epoll.wait(&mut events, timeout).expect("wait");
    events.iter().collect()
}

#[test]
fn epoll_reports_ready_descriptors() {
    let epoll = Epoll::new().expect("epoll");
    let (one, two) = (EventFd::new().expect("eventfd"), EventFd::new().expect("eventfd"));
    epoll.add(one.as_fd(), 1).expect("add");
    epoll.add(two.as_fd(), u64::MAX).expect("add");
    assert_eq!(epoll.add(one.as_fd(), 1).expect_err("twice").kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(tokens(&epoll, NOW), []);
    two.wake();
    let ready = Ready { token: u64::MAX, readable: true, writable: false };
    assert_eq!(tokens(&epoll, LONG), [ready]);
    epoll.modify(two.as_fd(), 5, true).expect("modify");
    assert_eq!(tokens(&epoll, LONG), [Ready { token: 5, writable: true, ..ready }]);
    epoll.delete(two.as_fd()).expect("delete");
    assert_eq!(epoll.delete(two.as_fd()).expect_err("twice").kind(), io::ErrorKind::NotFound);
    assert_eq!(tokens(&epoll, NOW), []);
}

#[test]
fn epoll_reports_end_of_connection() {
    let epoll = Epoll::new().expect("epoll");
    let (here, there) = UnixStream::pair().expect("pair");
    epoll.add(here.as_fd(), 3).expect("add");
    assert_eq!(tokens(&epoll, NOW), []);
    drop(there);
    let ended = tokens(&epoll, LONG);
    assert!(matches!(ended[..], [Ready { token: 3, readable: true, .. }]), "{ended:?}");
}

#[test]
fn epoll_wait_ends_by_timeout_or_wake() {
    let epoll = Epoll::new().expect("epoll");
    let wakeup_fd = EventFd::new().expect("eventfd");
    epoll.add(wakeup_fd.as_fd(), 1).expect("add");
    let start = Instant::now();
    assert_eq!(tokens(&epoll, Some(Duration::from_micros(1500))), []);
    assert!(start.elapsed() >= Duration::from_micros(1500));
    thread::scope(|scope| {
        scope.spawn(|| wakeup_fd.wake());
        assert_eq!(tokens(&epoll, LONG).len(), 1);
    });
    // The system cannot represent this timeout.
    assert_eq!(tokens(&epoll, Some(Duration::MAX)).len(), 1);
}

#[test]
fn wait_reports_each_descriptor() {
    let event_fds = [(); 3].map(|()| EventFd::new().expect("eventfd"));
    let [one, two, three] = event_fds.each_ref().map(|wakeup_fd| Some(wakeup_fd.as_fd()));
    let quiet = Polled::default();
    let ready = Polled { readable: true, failed: false };
    assert_eq!(wait([one, two, three], NOW).expect("wait"), [quiet; 3]);
    event_fds[2].wake();
    assert_eq!(wait([one, two, three], LONG).expect("wait"), [quiet, quiet, ready]);
    assert_eq!(wait([one, None, three], LONG).expect("wait"), [quiet, quiet, ready]);
    assert_eq!(wait([one, two, None], NOW).expect("wait"), [quiet; 3]);
    assert_eq!(wait([None, None, three], Some(Duration::MAX)).expect("wait"), [quiet, quiet, ready]);
    let start = Instant::now();
    assert_eq!(wait([one], Some(Duration::from_micros(1500))).expect("wait"), [quiet]);
    assert!(start.elapsed() >= Duration::from_micros(1500));
}

#[test]
fn wait_reports_closed_peer() {
    let (here, there) = UnixStream::pair().expect("pair");
    rustix::io::write(&there, b"x").expect("write");
    drop(there);
    let found = wait([Some(here.as_fd())], LONG).expect("wait");
    assert_eq!(found, [Polled { readable: true, failed: true }]);
}
