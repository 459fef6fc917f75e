//! The words that say who of a process sleeps, and whom a peer with news wakes.
//!
//! One word is *published*: peers can read it, and the process alone writes it. It holds
//!
//! | value | who watches | a peer with news |
//! |---|---|---|
//! | [`AWAKE`] | callers poll; the node's thread looks in now and then | does nothing |
//! | [`THREAD`] | the node's thread, in epoll(7) | rings its bell |
//! | any other, another one for each sleep | one blocked waiter (the *leader*), in futex(2) | rings the [`alarm`](crate::alarm), once for each value |
//!
//! and the flag [`QUIET`] if nobody there waits for the completion of requests. Then a peer that has consumed the record
//! of a request, which completes it, sets the ready bit and wakes nobody: whoever polls next finds it.
//!
//! A thread that writes the word looks for news once more afterwards, and a peer publishes its news before it reads the
//! word. So nobody sleeps while there is news for which it would be woken (SYNC sleep).

use std::sync::atomic::{AtomicU32, Ordering, fence};

/// Flag of the published word: a completion of requests wakes nobody.
const QUIET: u32 = 1;
/// Value of the word while nobody sleeps.
pub const AWAKE: u32 = 0;
/// Value of the word while peers are to wake the node's thread.
pub const THREAD: u32 = 2;
/// The lowest number of a sleep, and the difference of two.
const FIRST: u32 = 4;
const STEP: u32 = 2;

/// The value of the alarm's word that is no number of a sleep.
pub const RUNG: u32 = 0;

/// What a peer tells of.
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
    /// The node's thread.
    Thread,
    /// The leader, in the sleep with this number.
    Leader(u32),
}

/// A word of memory; a model of the memory has its own.
pub trait Word {
    /// Loads it, and sees what was stored before.
    fn load(&self) -> u32;
    /// Stores it behind all earlier stores.
    fn store(&self, value: u32);
    /// A full fence.
    fn fence();
}

impl Word for AtomicU32 {
    #[inline]
    fn load(&self) -> u32 {
        AtomicU32::load(self, Ordering::Acquire)
    }

    #[inline]
    fn store(&self, value: u32) {
        AtomicU32::store(self, value, Ordering::Release);
    }

    #[inline]
    fn fence() {
        fence(Ordering::SeqCst);
    }
}

/// The value of a published word without its flag.
#[inline]
pub const fn watcher(word: u32) -> u32 {
    word & !QUIET
}

/// Whom to tell `news` of that were published before. `load` loads the published word.
#[inline]
pub fn whom<W: Word>(news: News, load: impl FnOnce() -> u32) -> Wake {
    // SYNC sleep: the news were published before this look.
    W::fence();
    let word = load();
    match watcher(word) {
        AWAKE => Wake::Nobody,
        _ if news == News::Completion && word & QUIET != 0 => Wake::Nobody,
        THREAD => Wake::Thread,
        sleep => Wake::Leader(sleep),
    }
}

/// True if there is news for somebody who has just been published as asleep.
#[inline]
pub fn is_late<W: Word>(any_news: impl FnOnce() -> bool) -> bool {
    // SYNC sleep: news that came before is found here, news that comes later wakes.
    W::fence();
    any_news()
}

/// Ends whatever sleep there is on the alarm's word; `wake` wakes those who sleep there.
#[inline]
pub fn ring<W: Word>(alarm: &W, wake: impl FnOnce()) {
    alarm.store(RUNG);
    wake();
}

/// Ends the sleep with this number. `ended` is the last sleep that this process has ended. The second call for a sleep
/// does nothing, and returns false: the sleeper, once it is awake, finds whatever was published before the call.
#[inline]
pub fn ring_for<W: Word>(alarm: &W, ended: &W, sleep: u32, wake: impl FnOnce()) -> bool {
    // The mark is set after the ring, so that nobody relies on one that another thread has yet to make.
    let sleeps = ended.load() != sleep;
    if sleeps {
        ring(alarm, wake);
        ended.store(sleep);
    }
    sleeps
}

/// Who sleeps in this process. The published word changes under the lock of this alone.
#[derive(Default)]
pub struct Sleepers {
    /// A blocked waiter watches.
    led: bool,
    /// The number of the last sleep of one, which the published word shows meanwhile.
    sleep: u32,
    /// Those who wait for the completion of requests: blocked waiters, and agents.
    requests: usize,
}

impl Sleepers {
    /// True if a blocked waiter watches.
    pub fn is_led(&self) -> bool {
        self.led
    }

    fn publish<W: Word>(&self, published: &W, watcher: u32) {
        published.store(watcher | if self.requests == 0 { QUIET } else { 0 });
    }

    /// Adds a waiter that is going to sleep, with `requests` for the completion of requests among others. It becomes the
    /// leader if there is none, and sleeps as long as the alarm's word has the value that is returned.
    ///
    /// Then, without the lock, [`is_late`] tells whether somebody is to be woken again: the leader, if there is one.
    pub fn add<W: Word>(&mut self, published: &W, alarm: &W, requests: bool) -> Option<u32> {
        if self.led {
            if requests {
                self.expect_requests(published);
            }
            return None;
        }
        self.requests += usize::from(requests);
        self.led = true;
        self.sleep = self.sleep.wrapping_add(STEP).max(FIRST);
        alarm.store(self.sleep);
        self.publish(published, self.sleep);
        Some(self.sleep)
    }

    /// Somebody else waits for the completion of requests from now on. [`is_late`] tells whether whoever watches is to be
    /// woken.
    pub fn expect_requests<W: Word>(&mut self, published: &W) {
        self.requests += 1;
        let watcher = watcher(published.load());
        if watcher != AWAKE {
            self.publish(published, watcher);
        }
    }

    /// Takes off one who waits for the completion of requests.
    pub fn forget_requests(&mut self) {
        self.requests = self.requests.saturating_sub(1);
    }

    /// The leader watches no more. Until there is another one, the node's thread does, which is to be woken if
    /// [`is_late`] is true.
    pub fn leave<W: Word>(&mut self, published: &W) {
        self.led = false;
        self.publish(published, THREAD);
    }

    /// The node's thread is awake, so that nobody needs to wake it.
    pub fn thread_awake<W: Word>(&self, published: &W) {
        if !self.led {
            published.store(AWAKE);
        }
    }

    /// The node's thread is going to sleep; false if a leader watches. Otherwise it must not sleep if [`is_late`] is true.
    pub fn thread_asleep<W: Word>(&self, published: &W) -> bool {
        if !self.led {
            self.publish(published, THREAD);
        }
        !self.led
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_wake_those_who_wait_for_them() {
        let (published, alarm) = (AtomicU32::new(AWAKE), AtomicU32::new(RUNG));
        let whom = |news| whom::<AtomicU32>(news, || Word::load(&published));
        let mut sleepers = Sleepers::default();
        assert_eq!(whom(News::Record), Wake::Nobody);
        assert!(sleepers.thread_asleep(&published));
        assert_eq!((whom(News::Record), whom(News::Completion)), (Wake::Thread, Wake::Nobody));
        let first = sleepers.add(&published, &alarm, false).expect("the leader");
        assert_eq!(Word::load(&alarm), first);
        assert_eq!((whom(News::Record), whom(News::Completion)), (Wake::Leader(first), Wake::Nobody));
        assert_eq!(sleepers.add(&published, &alarm, true), None);
        assert_eq!((whom(News::Record), whom(News::Completion)), (Wake::Leader(first), Wake::Leader(first)));
        sleepers.leave(&published);
        assert_eq!(whom(News::Completion), Wake::Thread);
        sleepers.forget_requests();
        let second = sleepers.add(&published, &alarm, true).expect("the leader");
        assert_ne!(first, second);
        assert_eq!(whom(News::Completion), Wake::Leader(second));
        sleepers.forget_requests();
        sleepers.leave(&published);
        assert_eq!((whom(News::Record), whom(News::Completion)), (Wake::Thread, Wake::Nobody));
        sleepers.thread_awake(&published);
        sleepers.expect_requests(&published);
        assert_eq!(whom(News::Completion), Wake::Nobody, "callers poll");
    }
}

#[cfg(all(test, loom))]
mod model;
