//! The watch that the node's thread keeps over arrived data when no other thread does.
//!
//! While callers poll, nobody rings and the thread only looks now and then, in case they stop. In all other cases peers
//! ring for it: a program may spin on its memory, or do something else, and its data must not wait for a look.

use std::time::{Duration, Instant};

use dat_core::transport::Transport;

use crate::link::Links;

/// Time for which the thread keeps looking after it found data that nobody had fetched.
const SPIN: Duration = Duration::from_micros(200);
/// The longest spin, so that messages about connections need not wait for the end of a stream.
const SPIN_MAX: Duration = Duration::from_millis(8);
/// Time between two looks while callers poll.
const LOOK: Duration = Duration::from_millis(8);
/// Polls between two looks that are enough to spare peers the bell.
const POLLS: u32 = 64;
/// Time in which a caller that polls does so again.
const AGAIN: Duration = Duration::from_micros(20);

/// Whether the thread looks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not before it is rung, or because a blocked waiter watches.
    Asleep,
    /// At once.
    Awake,
    /// Now and then.
    Spared,
}

/// State of the watch.
pub struct Watch {
    state: State,
    /// How often callers had polled at the last look.
    polls: u32,
}

impl Watch {
    /// A watch that sleeps.
    pub const fn new() -> Self {
        Watch { state: State::Asleep, polls: 0 }
    }

    /// The longest that the thread may sleep; `None` if that is until it is rung.
    pub fn pause(&self) -> Option<Duration> {
        match self.state {
            State::Asleep => None,
            State::Awake => Some(Duration::ZERO),
            State::Spared => Some(LOOK),
        }
    }

    /// Wakes the watch, because the thread was rung.
    pub fn wake<T: Transport>(&mut self, links: &Links<T>) {
        links.home.thread_awake();
        self.state = State::Awake;
    }

    /// Looks after arrived data, unless another thread does.
    pub fn look<T: Transport>(&mut self, links: &Links<T>) {
        if self.state == State::Asleep {
            return;
        }
        if links.home.is_led() {
            self.state = State::Asleep;
            return;
        }
        let polls = links.home.polls();
        let many = polls.wrapping_sub(self.polls) >= POLLS;
        if self.state == State::Awake && polls != self.polls && polls_again(links, polls) {
            // A caller rang, to spare peers the bell. It looks for itself.
            self.spare(links);
            return;
        }
        let found = links.look();
        if !found && many && self.state == State::Spared {
            self.spare(links);
            return;
        }
        if found && spin(links) {
            self.state = State::Awake;
            self.polls = links.home.polls();
            return;
        }
        self.polls = links.home.polls();
        self.state = if links.thread_asleep() { State::Asleep } else { State::Awake };
        if self.state == State::Awake {
            links.home.thread_awake();
        }
    }

    fn spare<T: Transport>(&mut self, links: &Links<T>) {
        self.state = State::Spared;
        self.polls = links.home.polls();
    }
}

/// True if callers have polled since they had done so `polls` times, or do within a moment.
fn polls_again<T: Transport>(links: &Links<T>, polls: u32) -> bool {
    let end = Instant::now() + AGAIN;
    loop {
        // The caller may need this processor.
        std::thread::yield_now();
        if links.home.polls() != polls {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
    }
}

/// Keeps looking as long as it finds data that nobody had fetched, and no caller polls; true if it has to go on after
/// the thread has seen to other things.
fn spin<T: Transport>(links: &Links<T>) -> bool {
    let polls = links.home.polls();
    let mut end = Instant::now() + SPIN;
    let limit = Instant::now() + SPIN_MAX;
    loop {
        let found = links.look();
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
