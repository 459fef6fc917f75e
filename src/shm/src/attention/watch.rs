//! The watch that the node's thread keeps over arrived data when no other thread does.
//!
//! While callers poll, nobody rings and the thread only looks now and then, in case they stop. In all other cases peers
//! ring for it: a program may spin on its memory, or do something else, and its data must not wait for a look. If
//! several waits sleep, it is this thread that wakes them, and no caller takes its place. One that sleeps alone watches
//! for itself.
//!
//! The time between two looks grows from a quarter of a millisecond to eight. The thread does not look at all while
//! callers poll every 10 µs, or every millisecond while they copy: it would only take the locks, and the copies, to
//! another processor. It always looks when it was rung, and while it finds data that nobody fetched it spins, unless
//! waits sleep, since those that it wakes look themselves.

use std::time::{Duration, Instant};

use crate::link::Links;

/// Time for which the thread keeps looking after it found data that nobody had fetched.
const SPIN: Duration = Duration::from_micros(200);
/// The longest spin, so that messages about connections need not wait for the end of a stream.
const SPIN_MAX: Duration = Duration::from_millis(8);
/// Time between two looks while callers poll: at first, and the longest, to which it grows.
const LOOK_MIN: Duration = Duration::from_micros(250);
const LOOK_MAX: Duration = Duration::from_millis(8);
/// Polls between two looks by which callers count as polling.
const POLLS: u32 = 4;
/// Time between two polls of callers that need no help, even if something waits for their next poll; and while they copy.
const OFTEN: Duration = Duration::from_micros(10);
const OFTEN_COPYING: Duration = Duration::from_millis(1);

/// Whether the thread looks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Not before it is rung. A wait may watch for itself meanwhile.
    Asleep,
    /// At once.
    Awake,
    /// After this time.
    Spared(Duration),
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
        links.home.thread_awake();
        Mode::Awake
    }
}

/// The watch.
pub struct Watch {
    mode: Mode,
    /// How often callers had polled at the last look.
    polls: u32,
}

impl Watch {
    /// A watch that sleeps.
    pub const fn new() -> Self {
        Watch { mode: Mode::Asleep, polls: 0 }
    }

    /// The longest that the thread may sleep; `None` if that is until it is rung.
    pub fn pause(&self) -> Option<Duration> {
        match self.mode {
            Mode::Asleep => None,
            Mode::Awake => Some(Duration::ZERO),
            Mode::Spared(pause) => Some(pause),
            Mode::Doubtful(_) => Some(LOOK_MIN),
        }
    }

    /// Wakes the watch, because the thread was rung.
    pub fn wake(&mut self, links: &Links) {
        links.home.thread_awake();
        if !matches!(self.mode, Mode::Doubtful(_)) {
            self.mode = Mode::Awake;
        }
    }

    /// Spares callers a look if they have polled so often since the last one that they need no help: it would only take
    /// the locks from them, and copies to another processor. Never after the thread was rung.
    fn is_spared(&mut self, links: &Links) -> bool {
        let Mode::Spared(pause) = self.mode else { return false };
        let polls = links.home.polls();
        let more = polls.wrapping_sub(self.polls);
        let copying = links.home.rounds.are_copying();
        let (least, often) = if copying { (1, OFTEN_COPYING) } else { (POLLS, OFTEN) };
        let spared = more >= least && often.saturating_mul(more) >= pause;
        if spared {
            self.polls = polls;
            self.mode = Mode::Spared((pause * 4).min(LOOK_MAX));
        }
        spared
    }

    /// Looks after arrived data, unless another thread does.
    pub fn look(&mut self, links: &Links) {
        if self.mode == Mode::Asleep {
            return;
        }
        if links.home.sleepers.lock().is_led() {
            let rung = links.home.rung_leader().map(Mode::Doubtful);
            if rung != Some(self.mode) {
                self.mode = rung.unwrap_or(Mode::Asleep);
                return;
            }
            links.home.thread_takes_over();
        }
        let asked = links.home.take_asked();
        if links.home.sleepers.lock().has_waits() {
            // Those whom this wakes handle what comes next, or sleep.
            links.serve();
            self.mode = Mode::after(links);
            return;
        }
        if self.is_spared(links) {
            return;
        }
        let Some(found) = links.look() else {
            // Another thread handles what has arrived, which may take long, and knows nothing of what comes later.
            self.mode = Mode::Spared(LOOK_MIN);
            return;
        };
        let polls = links.home.polls();
        let more = polls.wrapping_sub(std::mem::replace(&mut self.polls, polls));
        self.mode = match self.mode {
            // What is found although callers poll rarely waited for the thread, so they do not poll often enough.
            Mode::Awake if !found && asked => Mode::Spared(LOOK_MIN),
            Mode::Spared(pause) if more >= POLLS && !found => Mode::Spared((pause * 4).min(LOOK_MAX)),
            _ if found && spin(links) => Mode::Awake,
            _ => Mode::after(links),
        };
    }
}

/// Keeps looking as long as it finds data that nobody had fetched, and no caller polls; true if it has to go on after
/// the thread has seen to other things.
fn spin(links: &Links) -> bool {
    let polls = links.home.polls();
    let mut end = Instant::now() + SPIN;
    let limit = Instant::now() + SPIN_MAX;
    loop {
        let found = links.look() == Some(true);
        let now = Instant::now();
        if found {
            end = now + SPIN;
        }
        if now >= end || links.home.polls() != polls {
            return false;
        }
        if now >= limit {
            return true;
        }
        std::thread::yield_now();
    }
}
