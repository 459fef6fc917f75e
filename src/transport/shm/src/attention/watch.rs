//! How the progress thread watches for data when no other thread does.
//!
//! While callers poll, peers do not wake the thread; it wakes every eight milliseconds, and polls if callers have
//! stopped. Otherwise peers wake it, because the program may only read its memory.
//!
//! The thread keeps polling while it finds data, unless waits sleep: these poll themselves when woken.

use std::mem;
use std::thread;
use std::time::{Duration, Instant};

use crate::link::Links;

/// Time for which the thread keeps polling after it found data, so that a program that only reads its memory gets the
/// next record without a wakeup.
const SPIN_TIME: Duration = Duration::from_micros(200);
/// Interval of checks while callers poll, and time for a rung leader to poll before the progress thread takes over.
const CHECK_INTERVAL: Duration = Duration::from_millis(8);
const LEADER_TIMEOUT: Duration = Duration::from_millis(1);

/// The time of the thread's next poll.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Only when woken. A leader may watch instead.
    Asleep,
    Awake,
    /// After [`CHECK_INTERVAL`], if callers have not polled since.
    Spared,
    /// After [`LEADER_TIMEOUT`], if the leader of this sleep has not polled since. It was rung, but may not have slept.
    Doubtful(u32),
}

impl Mode {
    /// Publishes that the thread is about to sleep. Returns [`Mode::Awake`] if there is data.
    fn after(links: &Links) -> Mode {
        if links.thread_asleep() {
            return Mode::Asleep;
        }
        links.control.thread_awake();
        Mode::Awake
    }
}

pub struct Watch {
    mode: Mode,
    polls: u32,
    spins: Option<Instant>,
}

impl Watch {
    pub const fn new() -> Self {
        Watch { mode: Mode::Asleep, polls: 0, spins: None }
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
        let spins = self.spins.take();
        if self.mode == Mode::Asleep {
            return;
        }
        if links.control.sleepers.lock().is_led() {
            let rung = links.control.rung_leader().map(Mode::Doubtful);
            if rung != Some(self.mode) {
                self.mode = rung.unwrap_or(Mode::Asleep);
                return;
            }
            links.control.thread_takes_over();
        }
        let asked = links.control.take_asked();
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
        let Some(found) = links.look() else {
            // Another thread polls. It can take long, and miss later data.
            self.mode = Mode::Spared;
            return;
        };
        let now = Instant::now();
        self.mode = match spins {
            // If this thread finds data although callers poll, they poll too rarely.
            _ if asked && !found => Mode::Spared,
            Some(_) if polled => Mode::after(links),
            _ if found => self.spin(now + SPIN_TIME),
            Some(end) if now < end => self.spin(end),
            _ => Mode::after(links),
        };
    }

    fn spin(&mut self, end: Instant) -> Mode {
        self.spins = Some(end);
        thread::yield_now();
        Mode::Awake
    }
}
