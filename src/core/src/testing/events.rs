//! Waiting for what has to come, with a deadline, and for what must not.

use std::os::fd::BorrowedFd;
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use host::{futex, poll};

use crate::cno::Cno;
use crate::error::{Error, Result};
use crate::evd::Evd;
use crate::event::Event;
use crate::slab::Handle;
use crate::transport::Transport;
use crate::wait::{self, EvdOutcome, Sleep, SleepPlace, Step};

/// How long nothing must come for it to count as quiet.
const QUIET: Duration = Duration::from_millis(60);

/// How long a test waits for what has to come: 20 seconds, times `DAT_TEST_SCALE` of the
/// environment where a machine is slow.
pub fn patience() -> Duration {
    static SCALE: LazyLock<f64> = LazyLock::new(|| {
        let scale = std::env::var("DAT_TEST_SCALE").ok().and_then(|scale| scale.parse().ok());
        scale.unwrap_or(1.0)
    });
    Duration::from_secs(20).mul_f64(*SCALE)
}

/// Waits until the condition holds.
///
/// # Panics
/// When it does not in time.
#[track_caller]
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + patience();
    while !condition() {
        assert!(Instant::now() < end, "not in time: {what}");
        thread::yield_now();
    }
}

/// The next event, which is there or comes soon.
///
/// # Panics
/// When none comes in time, or a thread waits on the dispatcher.
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

/// Whether nothing is queued on any of the dispatchers and nothing comes for a while.
pub fn quiet<T: Transport, const N: usize>(evds: [&Evd<T>; N]) -> bool {
    let end = Instant::now() + QUIET;
    while Instant::now() < end {
        if !evds.iter().all(|evd| matches!(evd.dequeue(), Err(Error::QueueEmpty))) {
            return false;
        }
        thread::yield_now();
    }
    true
}

/// Waits for `threshold` events as a face does; `None` waits for ever.
pub fn wait<T: Transport>(evd: &Arc<Evd<T>>, threshold: usize, limit: Option<Duration>) -> EvdOutcome {
    sleep_through(wait::evd_begin(evd.clone(), threshold, limit, false), wait::evd_resume::<T>)
}

/// Waits for a trigger of a notification object as a face does; `None` waits for ever.
///
/// # Errors
/// Those of [`wait::cno_begin`].
pub fn wait_for_trigger<T: Transport>(cno: &Arc<Cno<T>>, limit: Option<Duration>) -> Result<Handle> {
    sleep_through(wait::cno_begin(cno.clone(), limit), wait::cno_resume::<T>)
}

/// Sleeps as often as the steps of a wait ask for it.
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

/// Sleeps until it is woken, the time is up or a signal has come.
fn doze(sleep: &Sleep) {
    match sleep.place {
        // SAFETY: the word of a wait stays where it is until it goes on or is given up.
        SleepPlace::Word { word, value, shared } => futex::sleep(unsafe { &*word }, value, shared, sleep.timeout),
        SleepPlace::Descriptors { fds, .. } => {
            // SAFETY: those of a wait stay open until it goes on or is given up.
            let fds = fds.map(|fd| (fd >= 0).then(|| unsafe { BorrowedFd::borrow_raw(fd) }));
            poll::wait(fds, sleep.timeout).expect("the descriptors can be polled");
        }
    }
}
