//! How the progress thread watches for data when no other thread does.
//!
//! While callers poll, peers do not wake the progress thread. It wakes every eight milliseconds, and polls if callers
//! have stopped. While callers do not poll, peers wake the thread, because the program may wait for data in its memory
//! without a call.
//!
//! A woken thread polls until no data is left. While waits sleep, it polls once, because a woken wait polls itself. If
//! a caller has asked for no more wakeups by peers, the thread also polls once, and then leaves new data to the
//! callers.

use std::time::Duration;
use std::{mem, thread};

use crate::link::Links;

/// Interval of checks while callers poll.
const CHECK_INTERVAL: Duration = Duration::from_millis(8);
/// Time after a ring of the [`alarm`](crate::alarm) in which the leader must poll. Afterwards, the progress thread
/// takes over.
const LEADER_TIMEOUT: Duration = Duration::from_millis(1);

/// The time of the thread's next poll.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Only when woken. A leader may watch instead.
    Asleep,
    Awake,
    /// After [`CHECK_INTERVAL`], if callers have not polled since.
    Spared,
    /// After [`LEADER_TIMEOUT`], if the leader in the sleep with this number has not polled since. A ring has ended
    /// this sleep, but may have found the leader awake and busy.
    Doubtful(u32),
}

impl Mode {
    /// Returns the mode after a poll. Publishes that the progress thread is about to sleep, and returns
    /// [`Mode::Asleep`]. But if there is data, yields the CPU and returns [`Mode::Awake`].
    fn after(links: &Links) -> Mode {
        if links.thread_asleep() {
            return Mode::Asleep;
        }
        links.control.thread_awake();
        // A caller on the same CPU might poll, and find the data itself.
        thread::yield_now();
        Mode::Awake
    }
}

pub struct Watch {
    mode: Mode,
    polls: u32,
}

impl Watch {
    pub const fn new() -> Self {
        Watch { mode: Mode::Asleep, polls: 0 }
    }

    pub fn pause(&self) -> Option<Duration> {
        match self.mode {
            Mode::Asleep => None,
            Mode::Awake => Some(Duration::ZERO),
            Mode::Spared => Some(CHECK_INTERVAL),
            Mode::Doubtful(_) => Some(LEADER_TIMEOUT),
        }
    }

    pub fn wake(&mut self, links: &Links) {
        links.control.thread_awake();
        if !matches!(self.mode, Mode::Doubtful(_)) {
            self.mode = Mode::Awake;
        }
    }

    pub fn look(&mut self, links: &Links) {
        if self.mode == Mode::Asleep {
            return;
        }
        let asked = links.control.take_asked();
        if links.control.sleepers.lock().is_led() {
            let rung = links.control.rung_leader().map(Mode::Doubtful);
            if rung != Some(self.mode) {
                self.mode = rung.unwrap_or(Mode::Asleep);
                return;
            }
            links.control.thread_takes_over();
        }
        if links.control.sleepers.lock().has_waits() {
            links.serve();
            self.mode = Mode::after(links);
            return;
        }
        let polls = links.control.polls();
        let polled = mem::replace(&mut self.polls, polls) != polls;
        if self.mode == Mode::Spared && polled {
            return;
        }
        // If another thread polls, its poll can take long and miss later data, so this thread checks again after the
        // interval. Callers that have asked for no wakeups keep polling, and find later data, too.
        self.mode = if !links.look() || asked { Mode::Spared } else { Mode::after(links) };
    }
}
