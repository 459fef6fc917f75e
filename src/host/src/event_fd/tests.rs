use super::*;

#[test]
fn is_readable_until_cleared() {
    let wakeup_fd = EventFd::new().expect("eventfd");
    assert!(!wakeup_fd.clear());
    wakeup_fd.wake();
    wakeup_fd.wake();
    assert!(wakeup_fd.clear());
    assert!(!wakeup_fd.clear());
}

#[test]
fn wake_does_not_block_if_counter_is_full() {
    let wakeup_fd = EventFd::new().expect("eventfd");
    let max = u64::MAX - 1;
    assert_eq!(rustix::io::write(&wakeup_fd, &max.to_ne_bytes()), Ok(8));
    wakeup_fd.wake();
    assert!(wakeup_fd.clear());
}
