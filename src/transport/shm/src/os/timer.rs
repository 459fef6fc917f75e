//! A timer that wakes a thread in epoll(7), and that other threads can change.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use host::cancel::Shielded;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime, timerfd_create,
    timerfd_settime,
};

const SECOND: u64 = 1_000_000_000;

/// Returns the time of the monotonic clock in nanoseconds.
pub fn now() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    tv_sec as u64 * SECOND + tv_nsec as u64
}

/// A timerfd, readable after the time that the last [`Timer::set`] set.
#[derive(Debug)]
pub struct Timer {
    fd: Shielded<OwnedFd>,
}

impl Timer {
    pub fn new() -> io::Result<Timer> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Timer { fd: Shielded::new(timerfd_create(TimerfdClockId::Monotonic, flags)?) })
    }

    /// Sets the time, as [`now`] returns it but not 0. Makes the descriptor unreadable until then. Returns `false` if
    /// the program has forbidden the call; the previous time then remains.
    pub fn set(&self, time: u64) -> bool {
        let it_value = Timespec { tv_sec: (time / SECOND) as i64, tv_nsec: (time % SECOND) as i64 };
        let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
        timerfd_settime(&self.fd, TimerfdTimerFlags::ABSTIME, &Itimerspec { it_interval, it_value }).is_ok()
    }

    /// Resets an expired timer: its descriptor is unreadable until the time of the next [`Timer::set`].
    pub fn clear(&self) {
        let _ = rustix::io::read(&self.fd, &mut [0_u8; 8]);
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
