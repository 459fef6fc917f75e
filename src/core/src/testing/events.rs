//! Waits for expected events, with a deadline, and checks that no event occurs.

use std::os::fd::BorrowedFd;
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use host::{futex, poll};

use crate::arena::Handle;
use crate::cno::Cno;
use crate::error::{Error, Result};
use crate::evd::{Evd, Queued};
use crate::event::{Completion, Event};
use crate::transport::Transport;
use crate::wait::{self, EvdOutcome, Sleep, SleepPlace, Step};

/// Time without an event that counts as quiet.
const QUIET_TIME: Duration = Duration::from_millis(60);

/// Returns the deadline of a test: 20 seconds, times the environment variable `DAT_TEST_SCALE` for slow machines.
pub fn patience() -> Duration {
    static SCALE: LazyLock<f64> = LazyLock::new(|| {
        let scale = std::env::var("DAT_TEST_SCALE").ok().and_then(|scale| scale.parse().ok());
        scale.unwrap_or(1.0)
    });
    Duration::from_secs(20).mul_f64(*SCALE)
}

#[track_caller]
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + patience();
    while !condition() {
        assert!(Instant::now() < end, "not in time: {what}");
        thread::yield_now();
    }
}

impl<T: Transport> Evd<T> {
    /// Takes the oldest event, after a poll if there is none.
    ///
    /// # Errors
    /// Errors of [`Evd::take`].
    pub fn dequeue(&self) -> Result<Event> {
        if !self.look() {
            return Err(Error::QueueEmpty);
        }
        let transfer = |&completion: &Completion| Queued::transfer(completion, None).settle();
        self.take(transfer, |event| event)
    }
}

/// Returns the next event. No thread may wait on the EVD.
#[track_caller]
pub fn next<T: Transport>(evd: &Evd<T>) -> Event {
    let mut found = None;
    until("an event", || match evd.dequeue() {
        Ok(event) => found.replace(event).is_none(),
        Err(error) => {
            assert_eq!(error, Error::QueueEmpty);
            false
        }
    });
    found.expect("the condition holds")
}

/// Returns whether no event arrives within [`QUIET_TIME`].
pub fn quiet<T: Transport, const N: usize>(evds: [&Evd<T>; N]) -> bool {
    let end = Instant::now() + QUIET_TIME;
    while Instant::now() < end {
        if !evds.iter().all(|evd| matches!(evd.dequeue(), Err(Error::QueueEmpty))) {
            return false;
        }
        thread::yield_now();
    }
    true
}

/// Waits for `threshold` events, like an API layer. Without `limit`, waits indefinitely.
pub fn wait<T: Transport>(evd: &Arc<Evd<T>>, threshold: usize, limit: Option<Duration>) -> EvdOutcome {
    sleep_through(wait::evd_begin(evd.clone(), threshold, limit, false), wait::evd_resume::<T>)
}

/// Waits for a trigger, like an API layer. Without `limit`, waits indefinitely.
pub fn wait_for_trigger<T: Transport>(cno: &Arc<Cno<T>>, limit: Option<Duration>) -> Result<Handle> {
    sleep_through(wait::cno_begin(cno, limit), wait::cno_resume::<T>)
}

fn sleep_through<R>(mut step: Step<R>, resume: impl Fn(bool) -> Step<R>) -> R {
    loop {
        match step {
            Step::Done(result) => return result,
            Step::Sleep(sleep) => {
                doze(&sleep);
                step = resume(false);
            }
        }
    }
}

fn doze(sleep: &Sleep) {
    match sleep.place {
        // SAFETY: the word is valid until the wait is resumed or abandoned.
        SleepPlace::Word { word, value, shared } => futex::sleep(unsafe { &*word }, value, shared, sleep.timeout),
        SleepPlace::Descriptors { fds, .. } => {
            // SAFETY: the descriptors are open until the wait is resumed or abandoned.
            let fds = fds.map(|fd| (fd >= 0).then(|| unsafe { BorrowedFd::borrow_raw(fd) }));
            poll::wait(fds, sleep.timeout).expect("the descriptors can be polled");
        }
    }
}
