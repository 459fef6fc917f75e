//! The watch that the node's thread keeps over arrived data when no other thread does.

use std::time::{Duration, Instant};

use dat_core::transport::Transport;

use crate::link::Links;

/// Time for which the thread keeps looking after it found data that nobody had fetched.
const SPIN: Duration = Duration::from_micros(200);
/// The shortest and the longest sleep between two looks while it is awake.
const LOOK_MIN: Duration = Duration::from_micros(500);
const LOOK_MAX: Duration = Duration::from_millis(8);
/// Looks in a row, without data found and without a caller that polls, after which it sleeps until it is rung.
const EMPTY_LOOKS: u32 = 4;

/// State of the watch.
pub enum Watch {
    /// The thread does not look before it is rung, or because a blocked waiter watches.
    Asleep,
    /// The thread looks now and then.
    Awake {
        /// Time until the next look.
        pause: Duration,
        /// Looks in a row that found nothing.
        empty: u32,
        /// How often callers had polled at the last look.
        polls: u32,
    },
}

impl Watch {
    /// The longest that the thread may sleep; `None` if that is until it is rung.
    pub fn pause(&self) -> Option<Duration> {
        match self {
            Watch::Asleep => None,
            Watch::Awake { pause, .. } => Some(*pause),
        }
    }

    /// Wakes the watch, because the thread was rung.
    pub fn wake<T: Transport>(&mut self, links: &Links<T>) {
        links.home.thread_awake();
        *self = Watch::Awake { pause: Duration::ZERO, empty: 0, polls: links.home.polls() };
    }

    /// Looks after arrived data, unless another thread does.
    pub fn look<T: Transport>(&mut self, links: &Links<T>) {
        let Watch::Awake { pause, empty, polls } = *self else { return };
        if links.home.is_led() {
            *self = Watch::Asleep;
            return;
        }
        let found = links.look();
        let now = links.home.polls();
        if now != polls {
            // Callers poll, so the thread only looks in case they stop.
            *self = Watch::Awake { pause: LOOK_MAX, empty: 0, polls: now };
            return;
        }
        if found {
            spin(links);
            *self = Watch::Awake { pause: LOOK_MIN, empty: 0, polls: links.home.polls() };
            return;
        }
        let empty = empty + 1;
        if empty < EMPTY_LOOKS {
            let pause = (pause * 2).clamp(LOOK_MIN, LOOK_MAX);
            *self = Watch::Awake { pause, empty, polls };
        } else if links.thread_asleep() {
            *self = Watch::Asleep;
        } else {
            self.wake(links);
        }
    }
}

/// Keeps looking as long as it finds data that nobody had fetched.
fn spin<T: Transport>(links: &Links<T>) {
    let polls = links.home.polls();
    let mut end = Instant::now() + SPIN;
    let limit = Instant::now() + LOOK_MAX;
    loop {
        let found = links.look();
        let now = Instant::now();
        if found {
            end = now + SPIN;
        }
        // Messages about connections and callers must not wait for the end of a stream.
        if now >= end.min(limit) || links.home.polls() != polls {
            return;
        }
        std::thread::yield_now();
    }
}
