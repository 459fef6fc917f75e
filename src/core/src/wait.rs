//! Blocking waits, in steps.
//!
//! A wait must be a place where a thread can be cancelled, and cancellation unwinds the thread's stack without regard
//! to Rust. So the face itself sleeps, in a frame that owns nothing: it asks for [`Step`]s, and when it gets
//! [`Step::Sleep`] it sleeps and asks again. Everything that a wait holds meanwhile is in a list that belongs to
//! the thread. A wait whose thread is unwound is taken off at once ([`abandon`]), before anything of the program runs.
//!
//! A thread sleeps on a word of memory, unless the transport has a descriptor for it.
//!
//! # How a wait sleeps
//! It becomes the waiter and polls for 30 µs, unless polling does not pay (`adaptive_spin`): after 5 µs it offers its
//! processor to others once. Then it leaves its waker with the object, arms the transport, polls once more, checks the
//! queue, and sleeps; in this order it misses nothing. A thread that queues an event that satisfies the waiter wakes it by
//! its waker. Where the thread sleeps follows from what the transport's `arm` returned:
//!
//! | `Armed` | from | the thread sleeps on |
//! |---|---|---|
//! | `Reported`: a thread of the provider reports what comes | shm, where other threads must hear of it as well | the word of its waker, in futex(2) |
//! | `Word`, which others change as well | shm, for a wait that sleeps alone | that word, in futex(2); its waker changes it too |
//! | `Descriptor` | verbs | the descriptor and a bell of its own, in ppoll(2) |
//!
//! A sleep on a word that others change lasts 50 ms at most, the next one of the same wait twice as long, up to an
//! hour: a process that breaks the rules may restore the old value just when the thread falls asleep. A waiter says to
//! `arm` whether completions of requests are to end its sleep: if requests of any endpoint complete on its EVD, if
//! asynchronous events arrive there, of which one reports a completion without room, and always for a CNO. An endpoint
//! that gets the EVD for its requests later, or an EVD that is tied to the CNO later, wakes the waiter, which arms
//! again.
//!
//! A wait in a signal handler that interrupted a wait of its thread has a waker of its own and takes nothing from the
//! outer one.

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
use crate::cno::Cno;
use crate::error::{Error, Result, Role};
use crate::evd::Evd;
use crate::event::Event;
use crate::ia::Ia;
use crate::slab::Handle;
use crate::transport::{Armed, Transport};
use crate::waker::{WakePlace, Waker};

pub use pending::abandon;
use timing::Timing;

/// The longest sleep where nothing reports new work.
const BLIND: Duration = Duration::from_millis(1);
/// Descriptors that one sleep can watch: the thread's own and those of completion queues.
pub const MAX_FDS: usize = 17;

/// What a thread sleeps on; plain data. It stays there until the wait is resumed, or the thread ends.
#[derive(Clone, Copy)]
pub enum SleepPlace {
    /// A word, as long as it has this value.
    Word {
        /// The word.
        word: *const AtomicU32,
        /// Its value.
        value: u32,
        /// Other processes may change it.
        shared: bool,
    },
    /// Descriptors to poll for reading.
    Descriptors {
        /// The descriptors.
        fds: [RawFd; MAX_FDS],
        /// Their number.
        count: usize,
    },
}

/// One sleep; plain data.
#[derive(Clone, Copy)]
pub struct Sleep {
    /// What to sleep on.
    pub place: SleepPlace,
    /// The time limit; `None` for no limit.
    pub timeout: Option<Duration>,
}

/// The next thing that a waiting face does.
pub enum Step<R> {
    /// Return this result.
    Done(R),
    /// Sleep, then ask again.
    Sleep(Sleep),
}

/// The result of [`evd_begin`] and [`evd_resume`].
pub struct EvdOutcome {
    /// The event, or the reason why there is none.
    pub result: Result<Event>,
    /// Events queued at the end.
    pub more: usize,
}

/// A dispatcher on whose completion queue a thread hears of new work, until this is dropped.
struct Watch<T: Transport> {
    evd: Arc<Evd<T>>,
    /// Whether completions of requests are among that.
    requests: bool,
    /// The way, until the drop.
    armed: Option<Armed>,
}

impl<T: Transport> Watch<T> {
    fn begin(evd: Arc<Evd<T>>, requests: bool) -> Self {
        let armed = Some(evd.ia().transport.arm(evd.cq.as_ref(), requests));
        Watch { evd, requests, armed }
    }
}

impl<T: Transport> Drop for Watch<T> {
    fn drop(&mut self) {
        if let Some(armed) = self.armed.take() {
            self.evd.ia().transport.disarm(self.evd.cq.as_ref(), armed, self.requests);
        }
    }
}

/// Those of one sleep.
type Watches<T> = ArrayVec<Watch<T>, { MAX_FDS - 1 }>;

/// What a thread that is about to sleep hears of by its watches.
enum Hears {
    /// All that it waits for.
    All,
    /// Not all; once it has begun new ones, they do.
    Again,
    /// Not all, and they cannot, so the thread polls now and then.
    Part,
}

/// The object of a wait, with the place that the wait has there. Nothing of it is left once [`Target::check`] has found the
/// outcome, or behind [`Target::leave`].
trait Target: Sized + 'static {
    type Transport: Transport;
    type Outcome;

    fn ia(&self) -> &Ia<Self::Transport>;

    /// What its last waits were like.
    fn adaptive_spin(&self) -> &AdaptiveSpin;

    /// Counts a wait that has slept.
    fn note_sleep(&self) {}

    /// Polls the transport for completions that concern it.
    fn poll(&self);

    /// The outcome, if the wait ends now.
    fn check(&mut self) -> Option<Self::Outcome>;

    /// The outcome of a wait that ends with this error, or with [`Error::TimeoutExpired`] when the time is up.
    fn fail(&mut self, error: Error) -> Self::Outcome;

    /// Gives up the place, if it still has it.
    fn leave(&mut self);

    /// Has the thread with this waker woken from now on, and begins watches of all that the wait is to hear of.
    fn watch(&mut self, watches: &mut Watches<Self::Transport>, waker: &Arc<Waker>);

    /// Asked when the thread is said to sleep.
    fn hears(&self, watches: &Watches<Self::Transport>, waker: &Arc<Waker>) -> Hears;
}

/// A wait; leaving it undoes what it set up.
struct Wait<W: Target> {
    target: W,
    watches: Watches<W::Transport>,
    waker: Option<Arc<Waker>>,
    timing: Timing,
}

impl<W: Target> Wait<W> {
    /// Polls for a while, then goes to sleep.
    fn begin(target: W, timing: Timing) -> Step<W::Outcome> {
        let mut now = timing.began;
        let mut wait = Wait { target, watches: ArrayVec::new(), waker: None, timing };
        loop {
            if wait.timing.is_over(now) {
                return Step::Done(wait.give_up(Error::TimeoutExpired));
            }
            if !wait.timing.goes_on_looking(wait.target.adaptive_spin(), now) {
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

    /// Ends the watches. A thread that is awake leaves its place, which may belong to an adapter that is closed next.
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

    /// Waits to the end although there is no memory for what would wake the thread. It cannot be cancelled meanwhile.
    fn wait_without_waker(mut self) -> W::Outcome {
        loop {
            self.target.poll();
            if let Some(outcome) = self.check() {
                return outcome;
            }
            if self.timing.is_over(Instant::now()) {
                return self.give_up(Error::TimeoutExpired);
            }
            let _ = poll::wait([None], Some(BLIND));
        }
    }

    /// Sets up a sleep, unless the wait ends in the last check before it.
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
            let ways = self.watches.iter().filter_map(|watch| watch.armed.as_ref());
            let mut sleep = prepare_sleep(&waker, ways.clone(), &mut self.timing, now);
            if !ways.clone().all(Armed::has_looked) {
                self.target.poll();
            }
            if let Some(outcome) = self.check() {
                return Step::Done(outcome);
            }
            match self.target.hears(&self.watches, &waker) {
                Hears::All => break sleep,
                Hears::Again => self.disarm(),
                Hears::Part => {
                    sleep.timeout = Some(sleep.timeout.map_or(BLIND, |left| left.min(BLIND)));
                    break sleep;
                }
            }
        };
        self.timing.slept = true;
        match pending::push(self) {
            Ok(()) => Step::Sleep(sleep),
            Err(mut wait) => {
                wait.disarm();
                Step::Done(wait.wait_without_waker())
            }
        }
    }

    /// Continues after a sleep; `interrupted` tells whether a signal ended it. `None` if the thread has no such wait.
    fn resume(interrupted: bool) -> Option<Step<W::Outcome>> {
        let mut wait = pending::pop::<Self>()?;
        if let Some(waker) = &wait.waker {
            waker.set_awake();
        }
        // Polls before the watches end, because what comes in between would wake the thread for nothing.
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
            // Beside the system call of the sleep, locked instructions are nothing.
            self.target.ia().wakeups.fetch_add(1, Ordering::Relaxed);
            self.target.note_sleep();
        }
    }
}

/// Sets the waker to the place where a thread hears of new work in all of these ways; returns its sleep there.
fn prepare_sleep<'a>(
    waker: &Waker,
    armed: impl Iterator<Item = &'a Armed>,
    timing: &mut Timing,
    now: Instant,
) -> Sleep {
    let mut timeout = timing.end.map(|end| end.saturating_duration_since(now));
    let mut at_most = |longest: Duration| timeout = Some(timeout.map_or(longest, |left| left.min(longest)));
    let mut fds = ArrayVec::<RawFd, { MAX_FDS - 1 }>::new();
    let mut alarm = None;
    for way in armed {
        match way {
            Armed::Reported => {}
            Armed::Descriptor(fd) => {
                if fds.try_push(*fd).is_err() {
                    at_most(BLIND);
                }
            }
            Armed::Word(other, value) => alarm = Some((other, *value)),
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
        at_most(BLIND);
    }
    let wakeup_fd = waker.wakeup_fd();
    let own = wakeup_fd.as_ref().map(|wakeup_fd| wakeup_fd.as_fd().as_raw_fd());
    match wakeup_fd {
        Some(wakeup_fd) => waker.prepare_sleep(WakePlace::WakeupFd(wakeup_fd)),
        None => at_most(BLIND),
    }
    let mut all = [-1; MAX_FDS];
    let mut count = 0;
    for (place, fd) in all.iter_mut().zip(own.into_iter().chain(fds)) {
        *place = fd;
        count += 1;
    }
    Sleep { place: SleepPlace::Descriptors { fds: all, count }, timeout }
}

/// A wait on a dispatcher.
struct EvdWait<T: Transport> {
    evd: Arc<Evd<T>>,
    entered: bool,
}

impl<T: Transport> Target for EvdWait<T> {
    type Transport = T;
    type Outcome = EvdOutcome;

    fn ia(&self) -> &Ia<T> {
        self.evd.ia()
    }

    fn note_sleep(&self) {
        self.evd.slept.fetch_add(1, Ordering::Relaxed);
    }

    fn adaptive_spin(&self) -> &AdaptiveSpin {
        &self.evd.adaptive_spin
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

    fn hears(&self, watches: &Watches<T>, waker: &Arc<Waker>) -> Hears {
        // An endpoint whose requests complete here may have come before the thread was said to sleep.
        let all = watches.iter().all(|watch| watch.requests) || !self.evd.queue().block(waker);
        if all { Hears::All } else { Hears::Again }
    }
}

/// Begins to wait for `threshold` events, at most for `limit` from when it has found that it must wait; `looked` says that [`Evd::take_completion`] has just found none.
///
/// Ends with [`Error::TimeoutExpired`], [`Error::Aborted`] if the dispatcher was
/// destroyed, [`Error::Interrupted`] after a signal, [`Error::InvalidState`] if
/// another thread waits, the dispatcher is unwaitable or its streams do not admit the
/// threshold, [`crate::error::Arg::Threshold`] for 0 or more than the queue holds.
pub fn evd_begin<T: Transport>(
    evd: Arc<Evd<T>>,
    threshold: usize,
    limit: Option<Duration>,
    looked: bool,
) -> Step<EvdOutcome> {
    // Events that arrived before the call count as queued at its entry.
    if !looked && evd.queue().len() < threshold {
        evd.poll();
    }
    if let Err(error) = evd.queue().begin_wait(threshold) {
        return Step::Done(EvdOutcome { result: Err(error), more: 0 });
    }
    let mut target = EvdWait { evd, entered: true };
    // A wait that is ready says nothing of others, and needs no time.
    if let Some(outcome) = target.check() {
        return Step::Done(outcome);
    }
    let timing = Timing::begin(target.adaptive_spin(), limit);
    Wait::begin(target, timing)
}

/// Continues after a sleep; `interrupted` tells whether a signal ended it.
pub fn evd_resume<T: Transport>(interrupted: bool) -> Step<EvdOutcome> {
    Wait::<EvdWait<T>>::resume(interrupted).unwrap_or(Step::Done(EvdOutcome { result: Err(Error::Internal), more: 0 }))
}

/// A wait on a notification object.
struct CnoWait<T: Transport> {
    cno: Arc<Cno<T>>,
    number: Option<u64>,
}

/// Polls for completions on the dispatchers that are tied to a notification object.
fn poll_tied<T: Transport>(cno: &Cno<T>) {
    let slab = cno.ia.slab;
    for evd in cno.evds().iter().filter_map(|&evd| slab.get::<Evd<T>>(evd)) {
        evd.poll();
    }
}

impl<T: Transport> Target for CnoWait<T> {
    type Transport = T;
    type Outcome = Result<Handle>;

    fn ia(&self) -> &Ia<T> {
        self.cno.ia()
    }

    fn adaptive_spin(&self) -> &AdaptiveSpin {
        &self.cno.adaptive_spin
    }

    fn poll(&self) {
        poll_tied(&self.cno);
    }

    fn check(&mut self) -> Option<Result<Handle>> {
        let told = match self.number {
            Some(number) => self.cno.told(number)?,
            None => self.cno.take_trigger()?,
        };
        if let Some(number) = self.number.take() {
            self.cno.leave(number, true);
        }
        Some(Ok(told))
    }

    fn fail(&mut self, error: Error) -> Result<Handle> {
        // The code for no trigger in time is that for no trigger yet.
        Err(if error == Error::TimeoutExpired { Error::QueueEmpty } else { error })
    }

    fn leave(&mut self) {
        if let Some(number) = self.number.take() {
            self.cno.leave(number, false);
        }
    }

    fn watch(&mut self, watches: &mut Watches<T>, waker: &Arc<Waker>) {
        self.number.get_or_insert_with(|| self.cno.enter(waker));
        let slab = self.cno.ia.slab;
        let count = if T::ARMS_ALL { 1 } else { MAX_FDS - 1 };
        let all = self.cno.evds();
        let evds = all.iter().filter_map(|&evd| slab.get::<Evd<T>>(evd));
        watches.extend(evds.take(count).map(|evd| Watch::begin(evd, true)));
    }

    fn hears(&self, watches: &Watches<T>, _waker: &Arc<Waker>) -> Hears {
        // There are too many, or one has come before the thread was said to sleep.
        let heard_of = if T::ARMS_ALL && !watches.is_empty() { usize::MAX } else { watches.len() };
        if self.cno.evds().len() > heard_of { Hears::Part } else { Hears::All }
    }
}

/// Takes the trigger of a notification object without waiting for one.
///
/// # Errors
/// [`Error::QueueEmpty`] if there is none, [`Role::Cno`] if the object is being freed.
pub fn cno_take<T: Transport>(cno: &Cno<T>) -> Result<Handle> {
    poll_tied(cno);
    match cno.take_trigger() {
        Some(Handle::NULL) => Err(Error::InvalidHandle(Role::Cno)),
        Some(evd) => Ok(evd),
        None => Err(Error::QueueEmpty),
    }
}

/// Begins to wait for a trigger, as [`evd_begin`] does for events. Ends with the dispatcher that caused it, NULL if the object was destroyed,
/// [`Error::QueueEmpty`] when the time is up, [`Error::Interrupted`] after a signal.
pub fn cno_begin<T: Transport>(cno: Arc<Cno<T>>, limit: Option<Duration>) -> Step<Result<Handle>> {
    let timing = Timing::begin(&cno.adaptive_spin, limit);
    let mut target = CnoWait { cno, number: None };
    target.poll();
    // A wait that is ready says nothing of others.
    if let Some(outcome) = target.check() {
        return Step::Done(outcome);
    }
    Wait::begin(target, timing)
}

/// Continues after a sleep; `interrupted` tells whether a signal ended it.
pub fn cno_resume<T: Transport>(interrupted: bool) -> Step<Result<Handle>> {
    Wait::<CnoWait<T>>::resume(interrupted).unwrap_or(Step::Done(Err(Error::Internal)))
}
