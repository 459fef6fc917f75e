//! Wakers of sleeping threads. A thread has one waker until the thread ends. A wait in a signal handler that interrupts
//! another wait of the thread has a second waker.
//!
//! If possible, a thread sleeps on one word: the word of its waker, or a word that the transport shares with other
//! processes. Otherwise it sleeps on the transport's descriptor and an eventfd.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use host::event_fd::EventFd;
use host::lock::Mutex;
use host::per_thread::PerThread;
use host::word::Word;
use host::{fork, futex, memory};

use crate::transport::Alarm;

const AWAKE: u32 = 0;
/// The thread sleeps, or is about to.
const ASLEEP: u32 = 1;
const WOKEN: u32 = 2;

struct SleepState<W>(W);

impl<W: Word<Value = u32>> SleepState<W> {
    /// Called after a change of the condition that the thread awaits. Returns whether the caller must wake the thread.
    fn end_sleep(&self) -> bool {
        // SYNC waker: the caller has changed the condition before. If this swap precedes the one in `prepare_sleep`,
        // the thread finds the changed condition; otherwise this swap finds ASLEEP.
        self.0.swap(WOKEN, Ordering::AcqRel) == ASLEEP
    }

    fn prepare_sleep(&self) {
        // SYNC waker: discards an earlier wake-up. The check that follows sees the condition of that wake-up.
        self.0.swap(ASLEEP, Ordering::AcqRel);
    }

    fn set_awake(&self) {
        self.0.store(AWAKE, Ordering::Release);
    }
}

/// The object on which a thread sleeps.
#[derive(Clone)]
pub enum WakePlace {
    Own,
    Word(Arc<dyn Alarm>),
    /// Descriptors of the transport, and this eventfd of the waker.
    WakeupFd(Arc<EventFd>),
}

pub struct Waker {
    state: SleepState<AtomicU32>,
    place: Mutex<WakePlace>,
    /// Created by the first sleep on descriptors.
    wakeup_fd: Mutex<Option<Arc<EventFd>>>,
    life: u32,
}

static CURRENT: PerThread<RefCell<Option<Arc<Waker>>>> = PerThread::new();

impl Waker {
    /// Returns the calling thread's waker, or `None` if memory is exhausted.
    pub fn current() -> Option<Arc<Waker>> {
        let current = CURRENT.with(|current| {
            let mut current = current.borrow_mut();
            // A child of fork must not share its parent's eventfd.
            match &*current {
                Some(waker) if waker.life == fork::life() => Some(waker.clone()),
                _ => Some(current.insert(Self::another()?).clone()),
            }
        });
        current.flatten()
    }

    /// Creates a waker for a signal handler in a sleeping thread.
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

    /// Returns the eventfd for [`WakePlace::WakeupFd`]. Returns `None` if it cannot be created; the thread must then
    /// poll periodically.
    pub fn wakeup_fd(&self) -> Option<Arc<EventFd>> {
        let mut wakeup_fd = self.wakeup_fd.lock();
        if wakeup_fd.is_none() {
            *wakeup_fd = memory::arc(EventFd::new().ok()?).ok();
        }
        wakeup_fd.clone()
    }

    /// Returns the word for [`WakePlace::Own`], and the value that it has while the thread sleeps.
    pub fn word(&self) -> (&AtomicU32, u32) {
        (&self.state.0, ASLEEP)
    }

    /// Ends the sleep if the thread sleeps or is about to, with at most one system call per sleep. Has no effect on a
    /// sleep that the thread prepares later: the check of the condition then ends the wait.
    pub fn wake(&self) {
        if self.state.end_sleep() {
            self.wake_in_place();
        }
    }

    /// Wakes the thread. If the call is delayed until the thread sleeps again, it ends that sleep spuriously.
    #[cold]
    fn wake_in_place(&self) {
        let place = self.place.lock().clone();
        match place {
            WakePlace::Own => futex::wake(&self.state.0, 1),
            WakePlace::Word(alarm) => alarm.wake(),
            WakePlace::WakeupFd(wakeup_fd) => wakeup_fd.wake(),
        }
    }

    /// Prepares a sleep. The caller must then check the condition.
    pub fn prepare_sleep(&self, place: WakePlace) {
        if let WakePlace::WakeupFd(wakeup_fd) = &place {
            // A delayed wake-up of an earlier sleep may have made the eventfd readable.
            wakeup_fd.clear();
        }
        *self.place.lock() = place;
        self.state.prepare_sleep();
    }

    /// Detaches the waker from the place of its last sleep.
    pub fn leave_place(&self) {
        let left = std::mem::replace(&mut *self.place.lock(), WakePlace::Own);
        // Dropped without the lock, because the drop may take long.
        drop(left);
    }

    /// Marks the thread as awake.
    pub fn set_awake(&self) {
        self.state.set_awake();
    }
}

#[cfg(all(test, loom))]
mod model;

#[cfg(test)]
mod tests;
