//! The words that say who of a process sleeps, and whom a peer with news wakes.
//!
//! One word is *published*: peers can read it, and the process alone writes it. It holds
//!
//! | value | who watches | a peer with news |
//! |---|---|---|
//! | [`AWAKE`] | callers poll; the progress thread looks in now and then | does nothing |
//! | [`BUSY`] | the progress thread, which is awake, for waits that sleep | does nothing |
//! | [`THREAD`] | the progress thread, in epoll(7) | rings its bell |
//! | [`SHARED`] | the same, for waits that sleep: it lets no caller take its place | the same |
//! | any other, another one for each sleep | the one wait that sleeps (the *leader*), in futex(2) | rings the [`alarm`](crate::alarm), once for each value |
//!
//! and the flag [`QUIET`] if nobody there waits for the completion of requests. Then a peer that has consumed the
//! record of a request, which completes it, sets the ready bit and wakes nobody: the next poll finds it.
//!
//! A thread that writes the word looks for news once more afterwards, and a peer publishes its news before it reads the
//! word. So nobody sleeps while there is news for which it would be woken (SYNC sleep).
//!
//! A leader watches for itself alone. Its thread is the program's, which may be in a signal handler, stopped, or of a
//! low priority when it is rung. So as soon as somebody else waits for news, another wait or an agent, the progress thread
//! watches and wakes each of them. It takes the watch over as well when a ring finds that the leader does not sleep.
//!
//! The second sleeper looks for news behind the change of the word, so it finds the news for which only the leader was woken. The
//! former leader sleeps on like any other wait, and leads again when it next sleeps alone. Waits beside others thus
//! cost a second switch of threads, and none is woken for the news of another. Callers that poll do not take the
//! thread's place then, since they may stop at any time.
//!
//! A leader watches over more than its own wait: over data that other threads look for in memory, and over what peers
//! wait to see taken. If it was awake when it was rung, futex(2) says so, and the peer rings for the progress thread as
//! well. The thread gives the leader a millisecond, since it may only have been about to fall asleep, and then takes the
//! watch over. What remains: a leader that was woken and gets no processor delays data for which nobody sleeps, until it
//! runs or another thread polls.

use std::sync::atomic::Ordering;

use crate::word::Word;

/// Flag of the published word: a completion of requests wakes nobody.
const QUIET: u32 = 1;
/// Value of the word while nobody sleeps.
pub const AWAKE: u32 = 0;
/// Value of the word while peers are to wake the progress thread.
pub const THREAD: u32 = 2;
/// The same while there are waits that sleep.
pub const SHARED: u32 = 4;
/// Value of the word while the progress thread is about to look for waits that sleep.
pub const BUSY: u32 = 6;
/// The lowest number of a sleep, and the difference of two.
const FIRST: u32 = 8;
const STEP: u32 = 2;

/// The value of the alarm's word that is no number of a sleep.
pub const RUNG: u32 = 0;

/// What a peer wakes somebody for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// A record, or something else that must not wait.
    Record,
    /// That requests are complete, which interests only those who wait for it.
    Completion,
}

/// Whom a peer wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Nobody.
    Nobody,
    /// The progress thread.
    Thread,
    /// The leader, in the sleep with this number.
    Leader(u32),
}

/// The value of a published word without its flag.
#[inline]
pub const fn watcher(word: u32) -> u32 {
    word & !QUIET
}

/// Loads the published word, with `load`, behind the news that were published before.
#[inline]
pub fn load_behind<W: Word>(load: impl FnOnce() -> u32) -> u32 {
    // SYNC sleep: with the fence of the sleeper, it finds the news, or this finds that it sleeps.
    W::fence(Ordering::SeqCst);
    load()
}

/// Whom to wake for `news` that were published before. `load` loads the published word.
#[inline]
pub fn whom<W: Word<Value = u32>>(news: News, load: impl FnOnce() -> u32) -> Wake {
    let word = load_behind::<W>(load);
    match watcher(word) {
        AWAKE | BUSY => Wake::Nobody,
        _ if news == News::Completion && word & QUIET != 0 => Wake::Nobody,
        THREAD | SHARED => Wake::Thread,
        sleep => Wake::Leader(sleep),
    }
}

/// True if there is news for somebody who has just been published as asleep.
#[inline]
pub fn is_late<W: Word<Value = u32>>(any_news: impl FnOnce() -> bool) -> bool {
    // SYNC sleep: the word says that this thread sleeps. News that came before is found here, and news that comes later
    // wakes it.
    W::fence(Ordering::SeqCst);
    any_news()
}

/// What has become of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// This process has ended the sleep before, and the sleeper finds whatever was published before this call.
    Before,
    /// The sleeper was woken, by this ring or another one.
    Woken,
    /// Nobody slept. The thread is about to sleep, which it will not do now, or does something else.
    Nobody,
}

/// Ends the sleep with this number. `ended` is the last sleep that this process has ended; `wake` wakes those who sleep on
/// the alarm's word, and tells whether there are any.
#[inline]
pub fn ring_for<W: Word<Value = u32>>(alarm: &W, ended: &W, sleep: u32, wake: impl FnOnce() -> bool) -> Rung {
    if ended.load(Ordering::Acquire) == sleep {
        return Rung::Before;
    }
    // Of several who ring, the first alone can tell whether the sleeper slept.
    let first = alarm.swap(RUNG, Ordering::Release) == sleep;
    let woken = wake();
    // The mark is set after the ring, so that nobody relies on one that another thread has yet to make.
    ended.store(sleep, Ordering::Release);
    if first && !woken { Rung::Nobody } else { Rung::Woken }
}

/// Wakes those who wait for `news` that were published before; true if there is somebody. `load` loads the published
/// word, `alarm` rings for the leader in the sleep with this number, `wakeup_fd` for the progress thread.
#[inline]
pub fn tell<W: Word<Value = u32>>(
    news: News,
    load: impl Fn() -> u32,
    alarm: impl FnOnce(u32) -> Rung,
    wakeup_fd: impl FnOnce(),
) -> bool {
    match whom::<W>(news, &load) {
        Wake::Nobody => false,
        Wake::Thread => {
            wakeup_fd();
            true
        }
        Wake::Leader(sleep) => {
            let rung = alarm(sleep);
            // Whoever has changed the word since looks for news behind that.
            if rung == Rung::Nobody && watcher(load()) == sleep {
                wakeup_fd();
            }
            rung != Rung::Before
        }
    }
}

/// Who sleeps in this process. The published word changes under the lock of this alone.
#[derive(Default)]
pub struct Sleepers {
    /// Waits that sleep, or are about to.
    waits: usize,
    /// Agents, and descriptors on which the program sleeps.
    agents: usize,
    /// The one wait that there is watches.
    led: bool,
    /// The number of the last sleep of a leader, which the published word shows meanwhile.
    sleep: u32,
    /// Those who wait for the completion of requests: waits, and agents.
    requests: usize,
}

impl Sleepers {
    /// True if a wait watches for itself.
    pub fn is_led(&self) -> bool {
        self.led
    }

    /// True if there are waits that sleep.
    pub fn has_waits(&self) -> bool {
        self.waits > 0
    }

    fn publish<W: Word<Value = u32>>(&self, published: &W, watcher: u32) {
        published.store(watcher | if self.requests == 0 { QUIET } else { 0 }, Ordering::Release);
    }

    /// Has peers ring for the progress thread.
    fn publish_thread<W: Word<Value = u32>>(&mut self, published: &W) {
        self.led = false;
        self.publish(published, if self.has_waits() { SHARED } else { THREAD });
    }

    /// Adds a wait that is going to sleep, with `requests` for the completion of requests among others. If nobody else waits for
    /// news it becomes the leader, and sleeps as long as the alarm's word has the value that is returned.
    ///
    /// Then, without the lock, [`is_late`] tells whether there is news for which nobody was woken.
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

    /// Takes a wait off that was added with `requests`; `sleep` is what was returned. True if it was the leader. Then the
    /// node's thread watches, which is to be woken if [`is_late`] is true.
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

    /// There is an agent, or a descriptor, that waits for news from now on. [`is_late`] tells whether the progress thread is to
    /// be woken.
    pub fn add_agent<W: Word<Value = u32>>(&mut self, published: &W) {
        self.agents += 1;
        self.requests += 1;
        if !matches!(watcher(published.load(Ordering::Acquire)), AWAKE | BUSY) {
            self.publish_thread(published);
        }
    }

    /// Undoes [`Sleepers::add_agent`].
    pub fn remove_agent(&mut self) {
        self.agents = self.agents.saturating_sub(1);
        self.requests = self.requests.saturating_sub(1);
    }

    /// The number of the sleep of a leader that was rung and has not been taken off since: it may not have slept, and not be
    /// about to look.
    pub fn rung<W: Word<Value = u32>>(&self, alarm: &W) -> Option<u32> {
        (self.led && alarm.load(Ordering::Acquire) != self.sleep).then_some(self.sleep)
    }

    /// The progress thread is awake and looks, so that nobody needs to wake it, unless a leader watches.
    pub fn thread_awake<W: Word<Value = u32>>(&self, published: &W) {
        if !self.led {
            self.publish(published, if self.has_waits() { BUSY } else { AWAKE });
        }
    }

    /// The progress thread is awake and looks, in the place of the leader.
    pub fn thread_takes_over<W: Word<Value = u32>>(&mut self, published: &W) {
        self.led = false;
        self.thread_awake(published);
    }

    /// The progress thread is going to sleep; false if a leader watches. Otherwise it must not sleep if [`is_late`] is true.
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
