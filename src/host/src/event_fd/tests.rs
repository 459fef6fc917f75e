use super::*;

#[test]
fn a_bell_rings_until_it_is_cleared() {
    let wakeup_fd = EventFd::new().expect("bell");
    assert!(!wakeup_fd.clear());
    wakeup_fd.wake();
    wakeup_fd.wake();
    assert!(wakeup_fd.clear());
    assert!(!wakeup_fd.clear());
}

#[test]
fn a_bell_that_is_full_does_not_block() {
    let wakeup_fd = EventFd::new().expect("bell");
    let most = u64::MAX - 1;
    assert_eq!(rustix::io::write(&wakeup_fd, &most.to_ne_bytes()), Ok(8));
    wakeup_fd.wake();
    assert!(wakeup_fd.clear());
}
