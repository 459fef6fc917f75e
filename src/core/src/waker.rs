//! Waking a thread that sleeps in a wait. Each thread has one waker, made when the thread sleeps for the first time and
//! gone when it ends. A wait in a signal handler that interrupts another one has a waker to itself.
//!
//! A thread sleeps on one word of memory if it can: on that of its waker, or on one that the transport names, which
//! others, such as other processes, change as well. If the transport has a descriptor for it instead, it sleeps on that
//! one and on a bell of its own.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use host::event_fd::EventFd;
use host::lock::Mutex;
use host::per_thread::PerThread;
use host::{fork, futex, memory};

use crate::transport::Alarm;

/// A word of memory; a model of the memory has its own.
trait Word {
    fn store(&self, value: u32, order: Ordering);
    fn swap(&self, value: u32, order: Ordering) -> u32;
}

impl Word for AtomicU32 {
    fn store(&self, value: u32, order: Ordering) {
        AtomicU32::store(self, value, order);
    }

    fn swap(&self, value: u32, order: Ordering) -> u32 {
        AtomicU32::swap(self, value, order)
    }
}

/// The thread checks all conditions again before it sleeps.
const AWAKE: u32 = 0;
/// The thread sleeps, or is about to.
const ASLEEP: u32 = 1;
/// Its sleep ends.
const WOKEN: u32 = 2;

/// Whether a thread sleeps.
struct SleepState<W>(W);

impl<W: Word> SleepState<W> {
    /// Ends its sleep; true if the caller has to wake it. The condition was changed before.
    fn end_sleep(&self) -> bool {
        // SYNC waker: the condition was changed before. Of this swap and that of the sleeper one is first: the sleeper
        // finds the condition, or this finds that it sleeps.
        self.0.swap(WOKEN, Ordering::AcqRel) == ASLEEP
    }

    /// The thread is about to sleep. It checks the condition after this.
    fn prepare_sleep(&self) {
        // SYNC waker: a wake-up before this line is forgotten, but its condition is visible to the check that follows.
        self.0.swap(ASLEEP, Ordering::AcqRel);
    }

    /// The thread checks all conditions by itself.
    fn set_awake(&self) {
        self.0.store(AWAKE, Ordering::Release);
    }
}

/// What a thread sleeps on.
#[derive(Clone)]
pub enum WakePlace {
    /// The word of its waker.
    Own,
    /// The word of a transport.
    Word(Arc<dyn Alarm>),
    /// Descriptors, one of which is this bell of the waker.
    WakeupFd(Arc<EventFd>),
}

/// Wakes the thread that it belongs to.
pub struct Waker {
    state: SleepState<AtomicU32>,
    place: Mutex<WakePlace>,
    /// Made when the thread first sleeps on descriptors.
    wakeup_fd: Mutex<Option<Arc<EventFd>>>,
    life: u32,
}

static CURRENT: PerThread<RefCell<Option<Arc<Waker>>>> = PerThread::new();

impl Waker {
    /// The waker of the calling thread; `None` if it has none and there is no memory for one.
    pub fn current() -> Option<Arc<Waker>> {
        let current = CURRENT.with(|current| {
            let mut current = current.borrow_mut();
            // A child of fork must not share the bell that its parent sleeps on.
            match &*current {
                Some(waker) if waker.life == fork::life() => Some(waker.clone()),
                _ => Some(current.insert(Self::another()?).clone()),
            }
        });
        current.flatten()
    }

    /// A waker for a wait that begins while another one of the thread sleeps, which keeps its own: the thread is in a signal
    /// handler. `None` if there is no memory for it.
    pub fn another() -> Option<Arc<Waker>> {
        memory::arc(Waker::new()).ok()
    }

    fn new() -> Self {
        Waker {
            state: SleepState(AtomicU32::new(AWAKE)),
            place: Mutex::new(WakePlace::Own),
            wakeup_fd: Mutex::default(),
            life: fork::life(),
        }
    }

    /// The bell for a sleep in [`WakePlace::WakeupFd`]. `None` if none could be made; the thread must then poll by itself
    /// after a while.
    pub fn wakeup_fd(&self) -> Option<Arc<EventFd>> {
        let mut wakeup_fd = self.wakeup_fd.lock();
        if wakeup_fd.is_none() {
            *wakeup_fd = memory::arc(EventFd::new().ok()?).ok();
        }
        wakeup_fd.clone()
    }

    /// The word for a sleep in [`WakePlace::Own`], and the value that it has until the sleep is to end.
    pub fn word(&self) -> (&AtomicU32, u32) {
        (&self.state.0, ASLEEP)
    }

    /// Ends the thread's sleep, now or when it starts. Makes at most one system call between two sleeps.
    pub fn wake(&self) {
        if self.state.end_sleep() {
            self.wake_in_place();
        }
    }

    /// Wakes the thread where it sleeps. If this comes late, it ends a later sleep of the thread for no reason, once.
    #[cold]
    fn wake_in_place(&self) {
        let place = self.place.lock().clone();
        match place {
            WakePlace::Own => futex::wake(&self.state.0),
            WakePlace::Word(alarm) => alarm.wake(),
            WakePlace::WakeupFd(wakeup_fd) => wakeup_fd.wake(),
        }
    }

    /// The thread sleeps in `place` from now on. It calls this before it checks the condition that it is going to sleep
    /// for.
    pub fn prepare_sleep(&self, place: WakePlace) {
        if let WakePlace::WakeupFd(wakeup_fd) = &place {
            // The bell is silenced even if it does not seem rung: an earlier wake-up may ring only now, and would end
            // every later sleep at once.
            wakeup_fd.clear();
        }
        *self.place.lock() = place;
        self.state.prepare_sleep();
    }

    /// The thread has left its place of sleep; drops what a transport has named for that.
    pub fn leave_place(&self) {
        let left = std::mem::replace(&mut *self.place.lock(), WakePlace::Own);
        // The last reference may take long to go, so it goes without the lock.
        drop(left);
    }

    /// The thread is awake and checks all conditions by itself, so it need not be woken.
    pub fn set_awake(&self) {
        self.state.set_awake();
    }
}

#[cfg(all(test, loom))]
mod model;

#[cfg(test)]
mod tests;
