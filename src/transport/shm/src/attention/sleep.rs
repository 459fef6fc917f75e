//! The published word, which specifies the thread that a peer must wake. Only the owning process writes it.
//!
//! | value | watching thread | a peer with new data |
//! |---|---|---|
//! | [`AWAKE`] | callers; the progress thread polls periodically | wakes no thread |
//! | [`BUSY`] | the progress thread, awake, for sleeping waits | wakes no thread |
//! | [`THREAD`] | the progress thread, in epoll(7) | wakes it |
//! | [`SHARED`] | the progress thread, for sleeping waits; callers do not replace it | wakes it |
//! | any other, new for each sleep | the only sleeping wait (the *leader*), in futex(2) | rings the [`alarm`](crate::alarm), once per value |
//!
//! [`QUIET`] is set if no wait or agent needs completions of requests. A peer that completes a request then only sets
//! the ready bit.
//!
//! A thread checks for data after it changes the word, and a peer publishes data before it loads the word. So no thread
//! sleeps while there is data for it (SYNC sleep).
//!
//! A leader watches only for itself, because it can be in a signal handler, stopped, or of low priority. The progress
//! thread watches once there is another wait or an agent, or when a ring finds the leader awake. The second sleeper
//! checks for data after it has changed the word, and thus finds data for which only the leader was woken. With several
//! waits, each wakeup costs one more thread switch, but no wait is woken for another's data. Callers then do not
//! replace the progress thread, because they can stop polling at any time.
//!
//! A woken leader also handles data that the program reads in its memory without a call. If a ring finds no sleeper,
//! the peer also wakes the progress thread, which takes over if the leader does not poll within a millisecond. If the
//! leader was woken but gets no CPU, such data waits.

use std::sync::atomic::Ordering;

use host::word::Word;

/// Flag: completions of requests wake no thread.
const QUIET: u32 = 1;
pub const AWAKE: u32 = 0;
pub const THREAD: u32 = 2;
pub const SHARED: u32 = 4;
pub const BUSY: u32 = 6;
/// Lowest number of a leader's sleep.
const FIRST: u32 = 8;
/// Difference of consecutive numbers of sleeps; even, because bit 0 is [`QUIET`].
const STEP: u32 = 2;

pub const RUNG: u32 = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    Record,
    Completion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    Nobody,
    Thread,
    /// The leader, in the sleep with this number.
    Leader(u32),
}

#[inline]
pub const fn watcher(word: u32) -> u32 {
    word & !QUIET
}

#[inline]
pub fn load_behind<W: Word>(load: impl FnOnce() -> u32) -> u32 {
    // SYNC sleep: pairs with the sleeper's fence: the sleeper finds the data, or this load finds the sleeper.
    W::fence(Ordering::SeqCst);
    load()
}

#[inline]
pub fn whom<W: Word<Value = u32>>(notice: Notice, load: impl FnOnce() -> u32) -> Wake {
    let word = load_behind::<W>(load);
    match watcher(word) {
        AWAKE | BUSY => Wake::Nobody,
        _ if notice == Notice::Completion && word & QUIET != 0 => Wake::Nobody,
        THREAD | SHARED => Wake::Thread,
        sleep => Wake::Leader(sleep),
    }
}

/// Returns whether there is data, after a thread was published as asleep: no peer wakes that thread for earlier data.
#[inline]
pub fn is_late<W: Word<Value = u32>>(any_news: impl FnOnce() -> bool) -> bool {
    // SYNC sleep: the word already shows the thread asleep. This check finds earlier data; later data wakes the thread.
    W::fence(Ordering::SeqCst);
    any_news()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// This process has already ended this sleep. The leader is awake, and finds the data when it polls.
    Before,
    Woken,
    /// No thread slept: the leader is about to sleep, which the ring prevents, or is busy.
    Nobody,
}

/// Ends the sleep with number `sleep`, unless `ended`, the last sleep that this process ended, has this number. `wake`
/// returns whether it woke a sleeper.
#[inline]
pub fn ring_for<W: Word<Value = u32>>(alarm: &W, ended: &W, sleep: u32, wake: impl FnOnce() -> bool) -> Rung {
    if ended.load(Ordering::Acquire) == sleep {
        return Rung::Before;
    }
    // Only the first of concurrent rings can see whether the leader slept.
    let first = alarm.swap(RUNG, Ordering::Release) == sleep;
    let woken = wake();
    // Stored after the ring, so that no thread relies on a ring that has yet to happen.
    ended.store(sleep, Ordering::Release);
    if first && !woken { Rung::Nobody } else { Rung::Woken }
}

/// Wakes the thread that waits for data of the kind `notice`, which the caller has published: `alarm` ends a leader's
/// sleep, `wakeup_fd` wakes the progress thread. Returns `false` if no thread waits, or if this process has already
/// ended the leader's sleep.
#[inline]
pub fn tell<W: Word<Value = u32>>(
    notice: Notice,
    load: impl Fn() -> u32,
    alarm: impl FnOnce(u32) -> Rung,
    wakeup_fd: impl FnOnce(),
) -> bool {
    match whom::<W>(notice, &load) {
        Wake::Nobody => false,
        Wake::Thread => {
            wakeup_fd();
            true
        }
        Wake::Leader(sleep) => {
            let rung = alarm(sleep);
            // If the word has changed since, the thread that changed it checks for data.
            if rung == Rung::Nobody && watcher(load()) == sleep {
                wakeup_fd();
            }
            rung != Rung::Before
        }
    }
}

/// The sleeping threads of this process. The lock on this value also protects the published word.
#[derive(Default)]
pub struct Sleepers {
    waits: usize,
    /// Number of agents and of descriptors on which the program sleeps.
    agents: usize,
    led: bool,
    /// Number of the last sleep of a leader; published during that sleep.
    sleep: u32,
    /// Number of waits and agents that also need completions of requests. If 0, [`QUIET`] is published.
    requests: usize,
}

impl Sleepers {
    pub fn is_led(&self) -> bool {
        self.led
    }

    pub fn has_waits(&self) -> bool {
        self.waits > 0
    }

    fn publish<W: Word<Value = u32>>(&self, published: &W, watcher: u32) {
        published.store(watcher | if self.requests == 0 { QUIET } else { 0 }, Ordering::Release);
    }

    fn publish_thread<W: Word<Value = u32>>(&mut self, published: &W) {
        self.led = false;
        self.publish(published, if self.has_waits() { SHARED } else { THREAD });
    }

    /// Adds a wait; `requests` is set if it also waits for completions of requests. Without another wait or agent, the
    /// new wait becomes the leader, and sleeps while the alarm's word has the returned value. Otherwise returns `None`:
    /// the progress thread watches. In both cases, the caller must then unlock and check [`is_late`].
    pub fn add<W: Word<Value = u32>>(&mut self, published: &W, alarm: &W, requests: bool) -> Option<u32> {
        let alone = self.waits == 0 && self.agents == 0;
        self.waits += 1;
        self.requests += usize::from(requests);
        if !alone {
            self.publish_thread(published);
            return None;
        }
        self.led = true;
        self.sleep = self.sleep.wrapping_add(STEP).max(FIRST);
        alarm.store(self.sleep, Ordering::Release);
        self.publish(published, self.sleep);
        Some(self.sleep)
    }

    /// Removes a wait for which [`Sleepers::add`] returned `sleep`. Returns whether it was the leader: the progress
    /// thread then watches, and the caller must wake that thread if [`is_late`].
    pub fn remove<W: Word<Value = u32>>(&mut self, published: &W, sleep: Option<u32>, requests: bool) -> bool {
        self.waits = self.waits.saturating_sub(1);
        self.requests = self.requests.saturating_sub(usize::from(requests));
        let led = self.led && sleep == Some(self.sleep);
        match watcher(published.load(Ordering::Acquire)) {
            _ if led => self.publish_thread(published),
            SHARED if !self.has_waits() => self.publish_thread(published),
            BUSY if !self.has_waits() => self.publish(published, AWAKE),
            _ => {}
        }
        led
    }

    /// Adds an agent or descriptor. The caller must wake the progress thread if [`is_late`].
    pub fn add_agent<W: Word<Value = u32>>(&mut self, published: &W) {
        self.agents += 1;
        self.requests += 1;
        if !matches!(watcher(published.load(Ordering::Acquire)), AWAKE | BUSY) {
            self.publish_thread(published);
        }
    }

    pub fn remove_agent(&mut self) {
        self.agents = self.agents.saturating_sub(1);
        self.requests = self.requests.saturating_sub(1);
    }

    /// Returns the number of the leader's sleep if the alarm has rung for that sleep. The leader might not poll yet.
    pub fn rung<W: Word<Value = u32>>(&self, alarm: &W) -> Option<u32> {
        (self.led && alarm.load(Ordering::Acquire) != self.sleep).then_some(self.sleep)
    }

    /// Publishes that the progress thread polls, unless a leader watches.
    pub fn thread_awake<W: Word<Value = u32>>(&self, published: &W) {
        if !self.led {
            self.publish(published, if self.has_waits() { BUSY } else { AWAKE });
        }
    }

    pub fn thread_takes_over<W: Word<Value = u32>>(&mut self, published: &W) {
        self.led = false;
        self.thread_awake(published);
    }

    /// Publishes that the progress thread sleeps; the caller must then check [`is_late`]. If a leader watches, only
    /// returns `false`.
    pub fn thread_asleep<W: Word<Value = u32>>(&mut self, published: &W) -> bool {
        if !self.led {
            self.publish_thread(published);
        }
        !self.led
    }
}

#[cfg(test)]
mod tests;

#[cfg(all(test, loom))]
mod model;
