use std::os::fd::AsFd;

use rustix::event::{EventfdFlags, eventfd};

use super::*;

#[test]
fn adds_flags_to_existing_ones() {
    let fd = eventfd(0, EventfdFlags::empty()).expect("eventfd");
    let before = fcntl_getfl(&fd).expect("flags");
    for _ in 0..2 {
        never_block(fd.as_fd()).expect("flags");
        close_on_exec(fd.as_fd()).expect("flags");
        assert_eq!(fcntl_getfl(&fd), Ok(before | OFlags::NONBLOCK));
        assert_eq!(fcntl_getfd(&fd), Ok(FdFlags::CLOEXEC));
    }
    assert_eq!(rustix::io::read(&fd, &mut [0; 8]), Err(rustix::io::Errno::AGAIN));
}
