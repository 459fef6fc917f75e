//! Descriptors that the child of a fork must not keep open: the kernel takes the end of the
//! last copy for the end of the process, and only then tells the peers.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, Ordering};

/// 0 is a free place.
static NOTED: [AtomicI32; 4096] = [const { AtomicI32::new(0) }; 4096];

/// A note that a descriptor is to be closed in children; dropped before it is closed here.
pub struct Noted(RawFd);

impl Noted {
    /// Notes `fd`.
    pub fn new(fd: RawFd) -> Self {
        let free = |place: &&AtomicI32| {
            place.load(Ordering::Relaxed) == 0
                && place.compare_exchange(0, fd, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        let _ = NOTED.iter().find(free);
        Noted(fd)
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        let taken = |place: &&AtomicI32| {
            place.load(Ordering::Relaxed) == self.0
                && place.compare_exchange(self.0, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        let _ = NOTED.iter().find(taken);
    }
}

/// Closes them in the child of a fork; takes no lock.
pub fn close_all_in_child() {
    for place in &NOTED {
        let fd = place.swap(0, Ordering::AcqRel);
        if fd > 0 {
            // SAFETY: the child's copy of a descriptor whose owner, a value that the child
            // never touches again, is left alone.
            unsafe { libc::close(fd) };
        }
    }
}
