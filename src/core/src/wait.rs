//! Blocking waits, in steps.
//!
//! A wait must be a cancellation point, and cancellation unwinds the stack without Rust destructors. So core does not
//! sleep: it returns a [`Step`], and the API layer sleeps in a frame without destructors. Each thread has a list of its
//! sleeping waits. If cancellation unwinds a sleep, [`abandon`] removes the wait from the list before code of the
//! program runs.
//!
//! # How a wait sleeps
//!
//! The thread polls for 30 µs, unless polling does not pay (`adaptive_spin`), and yields its CPU once after 5 µs. To
//! miss no event, it then stores its waker in the object, arms the transport, polls again, checks the queue, and
//! sleeps. The result of `arm` determines on what the thread sleeps:
//!
//! | `Wakeup` | transport | the thread sleeps on |
//! |---|---|---|
//! | `Reported`: another thread polls | verbs, no queue; shm, several waits or an agent | the waker's word, futex(2) |
//! | `Word`: peer processes change it, too | shm, one wait and no agent | that word, futex(2) |
//! | `Descriptor` | tcp, verbs | the descriptor and an eventfd, ppoll(2) |
//!
//! The first sleep on a shared word lasts at most 50 ms. Each further sleep has twice the limit, up to an hour. A limit
//! is necessary because a process that violates the protocol may restore the old value, so the wake-up is lost.
//!
//! The waiter passes to `arm` whether completed requests must end its sleep. They must in a wait on a CNO or on an EVD
//! on which requests complete. They also must in a wait for asynchronous events, which may report a lost completion. An
//! endpoint that begins to use the EVD of a sleeping waiter for requests wakes the waiter, which arms again. So does an
//! EVD that is attached to the waiter's CNO.
//!
//! A wait in a signal handler that interrupts another wait has its own waker.

mod pending;
mod timing;

use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use arrayvec::ArrayVec;
use host::poll;

use crate::adaptive_spin::AdaptiveSpin;
use crate::arena::Handle;
use crate::cno::Cno;
use crate::error::{Error, Result, Role};
use crate::evd::Evd;
use crate::event::Event;
use crate::transport::{Alarm, Armed, Transport, Wakeup};
use crate::users::Use;
use crate::waker::{WakePlace, Waker};

pub use pending::abandon;
use timing::Timing;

/// Interval of polls if the transport cannot wake the thread.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// Maximum number of descriptors of a sleep: the thread's eventfd, and one for each completion queue.
pub const MAX_FDS: usize = 17;

/// The object on which a thread sleeps. Valid until the wait is resumed or the thread ends.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub enum SleepPlace {
    /// A word. The thread sleeps while the word has this value.
    Word {
        word: *const AtomicU32,
        value: u32,
        /// `true` if other processes may change the word.
        shared: bool,
    },
    /// The first `count` descriptors of `fds`. The thread sleeps until one is readable.
    Descriptors { fds: [RawFd; MAX_FDS], count: usize },
}

/// A sleep that the API layer must perform.
#[derive(Clone, Copy)]
pub struct Sleep {
    /// Object on which to sleep.
    pub place: SleepPlace,
    /// Maximum time; `None` for no limit.
    pub timeout: Option<Duration>,
}

/// The next action of a waiter.
#[allow(missing_docs)]
pub enum Step<R> {
    Done(R),
    /// The caller must sleep, then call [`evd_resume`] or [`cno_resume`].
    Sleep(Sleep),
}

/// The result of [`evd_begin`] and [`evd_resume`].
pub struct EvdOutcome {
    /// The event, or why there is none.
    pub result: Result<Event>,
    /// Number of events that remain in the EVD after an event, a timeout or a signal; 0 after other errors.
    pub more: usize,
}

/// An armed completion queue.
struct Watch<T: Transport> {
    armed: T::Armed,
    requests: bool,
    /// Dropped after `armed`, so that the adapter outlives `armed`.
    _evd: Arc<Evd<T>>,
}

impl<T: Transport> Watch<T> {
    fn begin(evd: Arc<Evd<T>>, requests: bool) -> Self {
        Watch { armed: evd.ia().transport.arm(evd.cq.as_ref(), requests), requests, _evd: evd }
    }
}

type Watches<T> = ArrayVec<Watch<T>, { MAX_FDS - 1 }>;

/// Extent to which the events that must end a wait wake the sleeping thread.
enum Coverage {
    Full,
    /// Some events do not wake the thread, but all will after the thread has armed the transport again.
    Rearm,
    /// Some events might not wake the thread, even after it has armed again. So the thread must poll periodically.
    Partial,
}

/// The object of a wait. [`Target::leave`], [`Target::fail`], and a [`Target::check`] that returns an outcome, remove
/// the waiter from the object.
trait Target: Sized + 'static {
    type Transport: Transport;
    type Outcome;

    fn adaptive_spin(&self) -> &AdaptiveSpin;

    fn note_sleep(&self);

    fn poll(&self);

    fn check(&mut self) -> Option<Self::Outcome>;

    /// Returns the outcome for an error; [`Error::TimeoutExpired`] means that the timeout has passed.
    fn fail(&mut self, error: Error) -> Self::Outcome;

    fn leave(&mut self);

    fn watch(&mut self, watches: &mut Watches<Self::Transport>, waker: &Arc<Waker>);

    /// Returns which events wake the thread. Called after the waker is marked as asleep.
    fn coverage(&self, watches: &Watches<Self::Transport>, waker: &Arc<Waker>) -> Coverage;
}

struct Wait<W: Target> {
    target: W,
    watches: Watches<W::Transport>,
    waker: Option<Arc<Waker>>,
    timing: Timing,
}

impl<W: Target> Wait<W> {
    fn begin(target: W, timing: Timing) -> Step<W::Outcome> {
        let mut now = timing.began;
        let mut wait = Wait { target, watches: ArrayVec::new(), waker: None, timing };
        loop {
            if wait.timing.is_over(now) {
                return Step::Done(wait.give_up(Error::TimeoutExpired));
            }
            if !wait.timing.keeps_spinning(wait.target.adaptive_spin(), now) {
                return wait.advance(now);
            }
            std::hint::spin_loop();
            wait.target.poll();
            if let Some(outcome) = wait.check() {
                wait.timing.stop(wait.target.adaptive_spin());
                return Step::Done(outcome);
            }
            now = Instant::now();
        }
    }

    /// Ends the watches, and detaches the waker from the transport's word, because the adapter may be closed next.
    fn disarm(&mut self) {
        self.watches.clear();
        if let Some(waker) = &self.waker {
            waker.leave_place();
        }
    }

    fn check(&mut self) -> Option<W::Outcome> {
        let outcome = self.target.check()?;
        self.disarm();
        Some(outcome)
    }

    fn give_up(&mut self, error: Error) -> W::Outcome {
        self.disarm();
        self.target.fail(error)
    }

    /// Waits by periodic polls, because memory is exhausted for a waker or for the list of waits. Cancellation has no
    /// effect on such a wait.
    fn wait_without_waker(mut self) -> W::Outcome {
        loop {
            self.target.poll();
            if let Some(outcome) = self.check() {
                return outcome;
            }
            if self.timing.is_over(Instant::now()) {
                return self.give_up(Error::TimeoutExpired);
            }
            let _ = poll::wait([None], Some(POLL_INTERVAL));
        }
    }

    /// Prepares a sleep and returns it, unless a last check ends the wait.
    fn advance(mut self, now: Instant) -> Step<W::Outcome> {
        if self.waker.is_none() {
            self.waker = pending::waker();
        }
        let Some(waker) = self.waker.clone() else { return Step::Done(self.wait_without_waker()) };
        if !self.timing.slept {
            waker.set_awake();
        }
        let sleep = loop {
            self.target.watch(&mut self.watches, &waker);
            let ways = self.watches.iter().map(|watch| watch.armed.wakeup());
            let mut sleep = prepare_sleep(&waker, ways.clone(), &mut self.timing, now);
            if !ways.clone().all(|wakeup| wakeup.has_looked()) {
                self.target.poll();
            }
            if let Some(outcome) = self.check() {
                return Step::Done(outcome);
            }
            match self.target.coverage(&self.watches, &waker) {
                Coverage::Full => break sleep,
                Coverage::Rearm => self.disarm(),
                Coverage::Partial => {
                    sleep.timeout = Some(sleep.timeout.map_or(POLL_INTERVAL, |left| left.min(POLL_INTERVAL)));
                    break sleep;
                }
            }
        };
        self.watches.iter().for_each(|watch| watch.armed.before_sleep());
        self.timing.slept = true;
        match pending::push(self) {
            Ok(()) => Step::Sleep(sleep),
            Err(mut wait) => {
                wait.disarm();
                Step::Done(wait.wait_without_waker())
            }
        }
    }

    /// Like [`evd_resume`]. Returns `None` if the thread has no sleeping wait of this type.
    fn resume(interrupted: bool) -> Option<Step<W::Outcome>> {
        let mut wait = pending::pop::<Self>()?;
        if let Some(waker) = &wait.waker {
            waker.set_awake();
        }
        // Polls before the watches end. If unhandled work were left then, the transport could wake its progress thread
        // for it.
        wait.target.poll();
        if let Some(outcome) = wait.check() {
            return Some(Step::Done(outcome));
        }
        wait.disarm();
        if interrupted {
            return Some(Step::Done(wait.give_up(Error::Interrupted)));
        }
        let now = Instant::now();
        if wait.timing.is_over(now) {
            return Some(Step::Done(wait.give_up(Error::TimeoutExpired)));
        }
        Some(wait.advance(now))
    }
}

impl<W: Target> Drop for Wait<W> {
    fn drop(&mut self) {
        self.disarm();
        self.target.leave();
        if self.timing.slept {
            // The atomic addition is cheap compared with the system call of the sleep.
            self.target.note_sleep();
        }
    }
}

/// Selects the object to sleep on, sets it in the waker, and returns the sleep. If not all armed queues can wake the
/// thread there, limits the sleep to [`POLL_INTERVAL`].
fn prepare_sleep<'a, A: Alarm + 'static>(
    waker: &Waker,
    armed: impl Iterator<Item = Wakeup<'a, A>>,
    timing: &mut Timing,
    now: Instant,
) -> Sleep {
    let mut timeout = timing.end.map(|end| end.saturating_duration_since(now));
    let mut at_most = |longest: Duration| timeout = Some(timeout.map_or(longest, |left| left.min(longest)));
    let mut fds = ArrayVec::<RawFd, { MAX_FDS - 1 }>::new();
    let mut alarm = None;
    for way in armed {
        match way {
            Wakeup::Reported => {}
            Wakeup::Descriptor(fd) => {
                if fds.try_push(fd).is_err() {
                    at_most(POLL_INTERVAL);
                }
            }
            Wakeup::Word(other, value) => alarm = Some((other, value)),
        }
    }
    if fds.is_empty() {
        let (word, value, shared) = match alarm {
            Some((alarm, value)) => {
                at_most(timing.next_sleep());
                waker.prepare_sleep(WakePlace::Word(alarm.clone()));
                (alarm.word(), value, true)
            }
            None => {
                waker.prepare_sleep(WakePlace::Own);
                let (word, value) = waker.word();
                (word, value, false)
            }
        };
        return Sleep { place: SleepPlace::Word { word: ptr::from_ref(word), value, shared }, timeout };
    }
    if alarm.is_some() {
        at_most(POLL_INTERVAL);
    }
    let wakeup_fd = waker.wakeup_fd();
    let own = wakeup_fd.as_ref().map(|wakeup_fd| wakeup_fd.as_fd().as_raw_fd());
    match wakeup_fd {
        Some(wakeup_fd) => waker.prepare_sleep(WakePlace::WakeupFd(wakeup_fd)),
        None => at_most(POLL_INTERVAL),
    }
    let mut all = [-1; MAX_FDS];
    let mut count = 0;
    for (place, fd) in all.iter_mut().zip(own.into_iter().chain(fds)) {
        *place = fd;
        count += 1;
    }
    Sleep { place: SleepPlace::Descriptors { fds: all, count }, timeout }
}

struct EvdWait<T: Transport> {
    evd: Arc<Evd<T>>,
    entered: bool,
}

impl<T: Transport> Target for EvdWait<T> {
    type Transport = T;
    type Outcome = EvdOutcome;

    fn adaptive_spin(&self) -> &AdaptiveSpin {
        &self.evd.adaptive_spin
    }

    fn note_sleep(&self) {
        self.evd.ia.wakeups.fetch_add(1, Ordering::Relaxed);
        self.evd.slept.fetch_add(1, Ordering::Relaxed);
    }

    fn poll(&self) {
        self.evd.poll();
    }

    fn check(&mut self) -> Option<EvdOutcome> {
        let outcome = {
            let mut queue = self.evd.queue();
            let ended = queue.check_wait()?;
            queue.end_wait();
            ended
        };
        self.entered = false;
        Some(match outcome {
            Ok((queued, more)) => EvdOutcome { result: Ok(queued.settle()), more },
            Err(error) => EvdOutcome { result: Err(error), more: 0 },
        })
    }

    fn fail(&mut self, error: Error) -> EvdOutcome {
        self.entered = false;
        EvdOutcome { result: Err(error), more: self.evd.queue().end_wait() }
    }

    fn leave(&mut self) {
        if self.entered {
            self.fail(Error::Aborted);
        }
    }

    fn watch(&mut self, watches: &mut Watches<T>, waker: &Arc<Waker>) {
        let requests = self.evd.queue().block(waker);
        watches.push(Watch::begin(self.evd.clone(), requests));
    }

    fn coverage(&self, watches: &Watches<T>, waker: &Arc<Waker>) -> Coverage {
        // An endpoint may have begun to complete requests on the EVD before the waker was marked as asleep, so without
        // a wakeup.
        let all = watches.iter().all(|watch| watch.requests) || !self.evd.queue().block(waker);
        if all { Coverage::Full } else { Coverage::Rearm }
    }
}

/// Begins to wait for `threshold` events, at most for `limit`. With `looked`, does not poll first, because the caller
/// has just polled and found no event ([`Evd::look`]).
///
/// # Errors
/// * [`Error::TimeoutExpired`]
/// * [`Error::Aborted`] if the EVD was destroyed
/// * [`Error::Interrupted`] after a signal
/// * [`Error::InvalidState`] if another thread waits, the EVD is unwaitable or its streams do not allow the threshold
/// * [`crate::error::Arg::Threshold`] for 0 or above the length of the queue
pub fn evd_begin<T: Transport>(
    evd: Arc<Evd<T>>,
    threshold: usize,
    limit: Option<Duration>,
    looked: bool,
) -> Step<EvdOutcome> {
    // Events that have arrived before the call count as queued when the call begins.
    if !looked && evd.queue().len() < threshold {
        evd.poll();
    }
    if let Err(error) = evd.queue().begin_wait(threshold) {
        return Step::Done(EvdOutcome { result: Err(error), more: 0 });
    }
    let mut target = EvdWait { evd, entered: true };
    // A wait that ends immediately shows nothing about the benefit of polling, and needs no clock.
    if let Some(outcome) = target.check() {
        return Step::Done(outcome);
    }
    let timing = Timing::begin(target.adaptive_spin(), limit);
    Wait::begin(target, timing)
}

/// Continues a wait on an EVD after a sleep. `interrupted` must be `true` if a signal ended the sleep.
pub fn evd_resume<T: Transport>(interrupted: bool) -> Step<EvdOutcome> {
    Wait::<EvdWait<T>>::resume(interrupted).unwrap_or(Step::Done(EvdOutcome { result: Err(Error::Internal), more: 0 }))
}

struct CnoWait<T: Transport> {
    cno: Use<Cno<T>>,
    number: Option<u64>,
}

fn poll_tied<T: Transport>(cno: &Cno<T>) {
    let arena = cno.ia.arena;
    for evd in cno.evds().iter().filter_map(|&evd| arena.get::<Evd<T>>(evd)) {
        evd.poll();
    }
}

impl<T: Transport> Target for CnoWait<T> {
    type Transport = T;
    type Outcome = Result<Handle>;

    fn adaptive_spin(&self) -> &AdaptiveSpin {
        &self.cno.adaptive_spin
    }

    fn note_sleep(&self) {
        self.cno.ia.wakeups.fetch_add(1, Ordering::Relaxed);
    }

    fn poll(&self) {
        poll_tied(&self.cno);
    }

    fn check(&mut self) -> Option<Result<Handle>> {
        let evd = match self.number {
            Some(number) => self.cno.trigger_of(number)?,
            None => self.cno.take_trigger()?,
        };
        if let Some(number) = self.number.take() {
            self.cno.leave(number, true);
        }
        Some(Ok(evd))
    }

    fn fail(&mut self, error: Error) -> Result<Handle> {
        // uDAPL has the same code for a timeout and for a CNO that is not triggered.
        Err(if error == Error::TimeoutExpired { Error::QueueEmpty } else { error })
    }

    fn leave(&mut self) {
        if let Some(number) = self.number.take() {
            self.cno.leave(number, false);
        }
    }

    fn watch(&mut self, watches: &mut Watches<T>, waker: &Arc<Waker>) {
        self.number.get_or_insert_with(|| self.cno.enter(waker));
        let arena = self.cno.ia.arena;
        let count = if T::ARMS_ALL { 1 } else { MAX_FDS - 1 };
        let all = self.cno.evds();
        let evds = all.iter().filter_map(|&evd| arena.get::<Evd<T>>(evd));
        watches.extend(evds.take(count).map(|evd| Watch::begin(evd, true)));
    }

    fn coverage(&self, watches: &Watches<T>, _waker: &Arc<Waker>) -> Coverage {
        // Partial, if there are too many EVDs to watch, or if one was attached before the waker was marked as asleep.
        let heard_of = if T::ARMS_ALL && !watches.is_empty() { usize::MAX } else { watches.len() };
        if self.cno.evds().len() > heard_of { Coverage::Partial } else { Coverage::Full }
    }
}

/// Takes the trigger of a CNO without waiting.
///
/// # Errors
/// [`Error::QueueEmpty`] if the CNO is not triggered, [`Role::Cno`] if it is being freed.
pub fn cno_take<T: Transport>(cno: &Cno<T>) -> Result<Handle> {
    poll_tied(cno);
    match cno.take_trigger() {
        Some(Handle::NULL) => Err(Error::InvalidHandle(Role::Cno)),
        Some(evd) => Ok(evd),
        None => Err(Error::QueueEmpty),
    }
}

/// Begins to wait for a trigger of `cno`. The wait returns the EVD of the trigger, or NULL if the CNO was destroyed.
///
/// # Errors
/// [`Error::QueueEmpty`] after the timeout, [`Error::Interrupted`] after a signal, [`Role::Cno`] if it is being freed.
pub fn cno_begin<T: Transport>(cno: &Arc<Cno<T>>, limit: Option<Duration>) -> Step<Result<Handle>> {
    let Some(cno) = Use::of(cno) else { return Step::Done(Err(Error::InvalidHandle(Role::Cno))) };
    let timing = Timing::begin(&cno.adaptive_spin, limit);
    let mut target = CnoWait { cno, number: None };
    target.poll();
    // A trigger that precedes the wait ends it.
    if let Some(outcome) = target.check() {
        return Step::Done(outcome);
    }
    Wait::begin(target, timing)
}

/// Continues a wait on a CNO after a sleep. `interrupted` must be `true` if a signal ended the sleep.
pub fn cno_resume<T: Transport>(interrupted: bool) -> Step<Result<Handle>> {
    Wait::<CnoWait<T>>::resume(interrupted).unwrap_or(Step::Done(Err(Error::Internal)))
}
