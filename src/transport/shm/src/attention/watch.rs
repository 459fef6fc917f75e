//! The watch that the progress thread keeps over arrived data when no other thread does.
//!
//! While callers poll, nobody rings and the thread only wakes every eight milliseconds, in case they stop: if they have polled
//! since, it does not look, since that would take the locks, and the copies, to another processor. In all other cases peers
//! ring for it: a program may spin on its memory, or do something else, and its data must not wait for a look. If
//! several waits sleep, it is this thread that wakes them, and no caller takes its place. One that sleeps alone watches
//! for itself.
//!
//! It always looks when it was rung, and while it finds data that nobody fetched it keeps looking, unless waits sleep,
//! since those that it wakes look themselves.

use std::mem;
use std::thread;
use std::time::{Duration, Instant};

use crate::link::Links;

/// Time for which the thread keeps looking after it found data that nobody had fetched. A program that looks at its memory
/// alone gets the next record so without a ring.
const SPIN: Duration = Duration::from_micros(200);
/// Time between two looks while callers poll, and the time that a wait which was rung has for its own look.
const LOOK: Duration = Duration::from_millis(8);
const MOMENT: Duration = Duration::from_millis(1);

/// Whether the thread looks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Not before it is rung. A wait may watch for itself meanwhile.
    Asleep,
    /// At once.
    Awake,
    /// After a moment, if callers have not polled until then.
    Spared,
    /// After a moment, if the wait that watches for itself in the sleep with this number has not looked until then: it was
    /// rung, and may not have slept.
    Doubtful(u32),
}

impl Mode {
    /// Has peers ring from now on, unless there is more to look at.
    fn after(links: &Links) -> Mode {
        if links.thread_asleep() {
            return Mode::Asleep;
        }
        links.control.thread_awake();
        Mode::Awake
    }
}

/// The watch.
pub struct Watch {
    mode: Mode,
    /// How often callers had polled at the last look.
    polls: u32,
    /// Until when it keeps looking though it finds nothing.
    spins: Option<Instant>,
}

impl Watch {
    /// A watch that sleeps.
    pub const fn new() -> Self {
        Watch { mode: Mode::Asleep, polls: 0, spins: None }
    }

    /// The longest that the thread may sleep; `None` if that is until it is rung.
    pub fn pause(&self) -> Option<Duration> {
        match self.mode {
            Mode::Asleep => None,
            Mode::Awake => Some(Duration::ZERO),
            Mode::Spared => Some(LOOK),
            Mode::Doubtful(_) => Some(MOMENT),
        }
    }

    /// Wakes the watch, because the thread was rung.
    pub fn wake(&mut self, links: &Links) {
        links.control.thread_awake();
        if !matches!(self.mode, Mode::Doubtful(_)) {
            self.mode = Mode::Awake;
        }
    }

    /// Looks after arrived data, unless another thread does.
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
            // Those whom this wakes handle what comes next, or sleep.
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
            // Another thread handles what has arrived, which may take long, and knows nothing of what comes later.
            self.mode = Mode::Spared;
            return;
        };
        let now = Instant::now();
        self.mode = match spins {
            // What is found although callers poll rarely waited for the thread, so they do not poll often enough.
            _ if asked && !found => Mode::Spared,
            Some(_) if polled => Mode::after(links),
            _ if found => self.spin(now + SPIN),
            Some(end) if now < end => self.spin(end),
            _ => Mode::after(links),
        };
    }

    /// Keeps looking, after the thread has seen to other things.
    fn spin(&mut self, end: Instant) -> Mode {
        self.spins = Some(end);
        thread::yield_now();
        Mode::Awake
    }
}
