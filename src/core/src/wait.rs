//! Blocking waits, in steps.
//!
//! A wait must be a place where a thread can be cancelled, and cancellation unwinds the thread's stack without regard
//! to Rust. So the face itself sleeps, in a frame that owns nothing: it asks for [`Step`]s, and when it gets
//! [`Step::Sleep`] it calls poll(2) and asks again. Everything that a wait holds meanwhile is in a list that belongs to
//! the thread and is cleared when the thread ends.

use std::any::Any;
use std::cell::RefCell;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrayvec::ArrayVec;
use host::per_thread::PerThread;
use host::poll;

use crate::cno::Cno;
use crate::error::{Error, Result};
use crate::evd::Evd;
use crate::event::Event;
use crate::slab::Handle;
use crate::transport::Transport;
use crate::waker::Waker;

/// The time for which a wait looks for work before it sleeps.
const SPIN: Duration = Duration::from_micros(30);
/// The longest sleep where no descriptor reports new work.
const BLIND: Duration = Duration::from_millis(1);
/// Descriptors that one sleep can watch: the thread's own and those of completion queues.
pub const MAX_FDS: usize = 17;

/// Time limit of a wait.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// The wait ends at this time.
    Until(Instant),
    /// The wait has no limit.
    Never,
}

impl Limit {
    /// The limit in `micros` microseconds from now; `None` for no limit.
    pub fn from_micros(micros: Option<u32>) -> Self {
        match micros {
            Some(micros) => Limit::Until(Instant::now() + Duration::from_micros(micros.into())),
            None => Limit::Never,
        }
    }

    fn passed(self, now: Instant) -> bool {
        matches!(self, Limit::Until(end) if now >= end)
    }
}

/// The descriptors and the time limit of one sleep; plain data.
#[derive(Clone, Copy)]
pub struct Sleep {
    /// Descriptors to poll for reading.
    pub fds: [RawFd; MAX_FDS],
    /// The number of descriptors.
    pub count: usize,
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

/// Sleeping waits of each thread. There can be more than one, because an agent or a signal handler may wait too.
static PENDING: PerThread<RefCell<Vec<Box<dyn Any>>>> = PerThread::new();

/// Keeps the state of a wait until the thread has slept. Returns it if there is no memory for that.
fn push_pending<W: Any>(wait: W) -> std::result::Result<(), W> {
    let mut wait = Some(wait);
    let kept = PENDING.with(|list| {
        if let Some(wait) = wait.take() {
            list.borrow_mut().push(Box::new(wait));
        }
    });
    match (kept, wait) {
        (None, Some(wait)) => Err(wait),
        _ => Ok(()),
    }
}

fn pop_pending<W: Any>() -> Option<W> {
    let last = PENDING.with(|list| list.borrow_mut().pop()).flatten()?;
    last.downcast::<W>().ok().map(|wait| *wait)
}

/// Sleeps for a short time, for waits for which there is no memory to sleep in another way. The thread cannot be
/// cancelled meanwhile.
fn nap() {
    let _ = poll::wait([None], Some(BLIND));
}

/// A wait on a dispatcher; leaving it undoes what it set up.
struct EvdWait<T: Transport> {
    evd: Arc<Evd<T>>,
    limit: Limit,
    entered: bool,
    armed: Option<Option<RawFd>>,
}

impl<T: Transport> EvdWait<T> {
    fn disarm(&mut self) {
        if let Some(armed) = self.armed.take() {
            self.evd.ia().transport().disarm(self.evd.cq(), armed);
        }
    }

    fn leave(&mut self) -> usize {
        self.disarm();
        if std::mem::take(&mut self.entered) { self.evd.with_wait(|wait| wait.leave()) } else { 0 }
    }

    fn check(&mut self) -> Option<EvdOutcome> {
        let outcome = self.evd.with_wait(|wait| {
            let ended = wait.check()?;
            wait.leave();
            Some(ended)
        })?;
        self.entered = false;
        self.disarm();
        Some(match outcome {
            Ok((queued, more)) => EvdOutcome { result: Ok(queued.settle()), more },
            Err(error) => EvdOutcome { result: Err(error), more: 0 },
        })
    }

    fn give_up(&mut self, error: Error) -> EvdOutcome {
        let more = self.leave();
        EvdOutcome { result: Err(error), more }
    }

    /// Waits to the end without a bell.
    fn doze(mut self) -> EvdOutcome {
        loop {
            self.evd.poll();
            if let Some(outcome) = self.check() {
                return outcome;
            }
            if self.limit.passed(Instant::now()) {
                return self.give_up(Error::TimeoutExpired);
            }
            nap();
        }
    }

    /// Looks for the end of the wait; if there is none, sets up a sleep.
    fn advance(mut self) -> Step<EvdOutcome> {
        let Some(waker) = Waker::current() else { return Step::Done(self.doze()) };
        waker.clear();
        self.evd.with_wait(|wait| wait.block(&waker));
        let armed = self.evd.ia().transport().arm(self.evd.cq());
        self.armed = Some(armed);
        self.evd.poll();
        if let Some(outcome) = self.check() {
            return Step::Done(outcome);
        }
        let now = Instant::now();
        if self.limit.passed(now) {
            return Step::Done(self.give_up(Error::TimeoutExpired));
        }
        let sleep = sleep_on(&waker, armed.into_iter(), self.limit, now);
        match push_pending(self) {
            Ok(()) => Step::Sleep(sleep),
            Err(mut wait) => {
                wait.disarm();
                Step::Done(wait.doze())
            }
        }
    }
}

impl<T: Transport> Drop for EvdWait<T> {
    fn drop(&mut self) {
        self.leave();
    }
}

fn sleep_on(waker: &Waker, armed: impl Iterator<Item = RawFd>, limit: Limit, now: Instant) -> Sleep {
    let mut sleep = Sleep { fds: [-1; MAX_FDS], count: 0, timeout: None };
    if let Limit::Until(end) = limit {
        sleep.timeout = Some(end.saturating_duration_since(now));
    }
    if waker.fd().is_none() {
        sleep.timeout = Some(sleep.timeout.map_or(BLIND, |left| left.min(BLIND)));
    }
    for (place, fd) in sleep.fds.iter_mut().zip(waker.fd().into_iter().chain(armed)) {
        *place = fd;
        sleep.count += 1;
    }
    sleep
}

/// Begins to wait for `threshold` events.
///
/// Ends with [`Error::TimeoutExpired`], [`Error::Aborted`] if the dispatcher was
/// destroyed, [`Error::Interrupted`] after a signal, [`Error::InvalidState`] if
/// another thread waits, the dispatcher is unwaitable or its streams do not admit the
/// threshold, [`crate::error::Arg::Threshold`] for 0 or more than the queue holds.
pub fn evd_begin<T: Transport>(evd: Arc<Evd<T>>, threshold: usize, limit: Limit) -> Step<EvdOutcome> {
    // Events that arrived before the call count as queued at its entry.
    if evd.with_wait(|wait| wait.is_short_of(threshold)) {
        evd.poll();
    }
    if let Err(error) = evd.with_wait(|wait| wait.enter(threshold)) {
        return Step::Done(EvdOutcome { result: Err(error), more: 0 });
    }
    let mut wait = EvdWait { evd, limit, entered: true, armed: None };
    let spin_end = Instant::now() + SPIN;
    loop {
        if let Some(outcome) = wait.check() {
            return Step::Done(outcome);
        }
        let now = Instant::now();
        if limit.passed(now) {
            let outcome = wait.give_up(Error::TimeoutExpired);
            return Step::Done(outcome);
        }
        if now >= spin_end {
            return wait.advance();
        }
        std::hint::spin_loop();
        wait.evd.poll();
    }
}

/// Continues after a sleep; `interrupted` tells whether a signal ended it.
pub fn evd_resume<T: Transport>(interrupted: bool) -> Step<EvdOutcome> {
    let Some(mut wait) = pop_pending::<EvdWait<T>>() else {
        return Step::Done(EvdOutcome { result: Err(Error::Internal), more: 0 });
    };
    // This comes before the watch is handed over, so that nothing is left to wake the thread for.
    wait.evd.poll();
    if let Some(outcome) = wait.check() {
        return Step::Done(outcome);
    }
    wait.disarm();
    if interrupted {
        return Step::Done(wait.give_up(Error::Interrupted));
    }
    wait.advance()
}

/// A wait on a notification object.
struct CnoWait<T: Transport> {
    cno: Arc<Cno<T>>,
    limit: Limit,
    number: Option<u64>,
    armed: ArrayVec<(Arc<Evd<T>>, Option<RawFd>), { MAX_FDS - 1 }>,
}

impl<T: Transport> CnoWait<T> {
    /// Looks for completions that the dispatchers tied to the object may have.
    fn poll(&self) {
        let slab = self.cno.ia().slab();
        for evd in self.cno.evds().iter().filter_map(|&evd| slab.get::<Evd<T>>(evd)) {
            evd.poll();
        }
    }

    /// The first dispatchers tied to the object, as many as one sleep can watch.
    fn evds(&self) -> ArrayVec<Arc<Evd<T>>, { MAX_FDS - 1 }> {
        let slab = self.cno.ia().slab();
        let all = self.cno.evds();
        all.iter().filter_map(|&evd| Some(slab.get::<Evd<T>>(evd)?.share())).take(MAX_FDS - 1).collect()
    }

    fn disarm(&mut self) {
        for (evd, armed) in self.armed.drain(..) {
            evd.ia().transport().disarm(evd.cq(), armed);
        }
    }

    fn check(&mut self) -> Option<Handle> {
        let told = match self.number {
            Some(number) => self.cno.told(number)?,
            None => self.cno.take_trigger()?,
        };
        self.disarm();
        if let Some(number) = self.number.take() {
            self.cno.leave(number, true);
        }
        Some(told)
    }

    /// Waits to the end without a bell.
    fn doze(mut self) -> Result<Handle> {
        loop {
            self.poll();
            if let Some(evd) = self.check() {
                return Ok(evd);
            }
            if self.limit.passed(Instant::now()) {
                return Err(Error::QueueEmpty);
            }
            nap();
        }
    }

    fn advance(mut self) -> Step<Result<Handle>> {
        let Some(waker) = Waker::current() else { return Step::Done(self.doze()) };
        waker.clear();
        if self.number.is_none() {
            self.number = Some(self.cno.enter(&waker));
        }
        for evd in self.evds() {
            let armed = evd.ia().transport().arm(evd.cq());
            self.armed.push((evd, armed));
        }
        self.poll();
        if let Some(evd) = self.check() {
            return Step::Done(Ok(evd));
        }
        let now = Instant::now();
        if self.limit.passed(now) {
            return Step::Done(Err(Error::QueueEmpty));
        }
        let more = self.cno.evds().len() > self.armed.len();
        let mut sleep = sleep_on(&waker, self.armed.iter().filter_map(|(_, fd)| *fd), self.limit, now);
        if more {
            sleep.timeout = Some(sleep.timeout.map_or(BLIND, |left| left.min(BLIND)));
        }
        match push_pending(self) {
            Ok(()) => Step::Sleep(sleep),
            Err(mut wait) => {
                wait.disarm();
                Step::Done(wait.doze())
            }
        }
    }
}

impl<T: Transport> Drop for CnoWait<T> {
    fn drop(&mut self) {
        self.disarm();
        if let Some(number) = self.number.take() {
            self.cno.leave(number, false);
        }
    }
}

/// Begins to wait for a trigger. Ends with the dispatcher that caused it, NULL if the object was destroyed,
/// [`Error::QueueEmpty`] when the time is up, [`Error::Interrupted`] after a signal.
pub fn cno_begin<T: Transport>(cno: Arc<Cno<T>>, limit: Limit) -> Step<Result<Handle>> {
    let mut wait = CnoWait { cno, limit, number: None, armed: ArrayVec::new() };
    let spin_end = Instant::now() + SPIN;
    loop {
        wait.poll();
        if let Some(evd) = wait.check() {
            return Step::Done(Ok(evd));
        }
        let now = Instant::now();
        if limit.passed(now) {
            return Step::Done(Err(Error::QueueEmpty));
        }
        if now >= spin_end {
            return wait.advance();
        }
        std::hint::spin_loop();
    }
}

/// Continues after a sleep; `interrupted` tells whether a signal ended it.
pub fn cno_resume<T: Transport>(interrupted: bool) -> Step<Result<Handle>> {
    let Some(mut wait) = pop_pending::<CnoWait<T>>() else {
        return Step::Done(Err(Error::Internal));
    };
    wait.poll();
    if let Some(evd) = wait.check() {
        return Step::Done(Ok(evd));
    }
    wait.disarm();
    if interrupted {
        return Step::Done(Err(Error::Interrupted));
    }
    wait.advance()
}
