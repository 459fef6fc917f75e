//! Consumer notification objects: one place to wait for many dispatchers.
//!
//! A CNO keeps one trigger, and each trigger wakes one waiter. One with a descriptor has an eventfd instead of an
//! agent. It is rung when a trigger is kept and cleared when it is taken, both under the CNO's lock, so it is readable
//! exactly while there is one. As a trigger replaces an earlier one, the trigger of an EVD that is freed goes to
//! another EVD of the CNO that holds an event: at the free itself if there is a descriptor, and otherwise, or if it
//! came after the free, when it is taken. The list of EVDs is locked for that, and EVDs are examined under it, never
//! under the lock on the trigger. Once the CNO was freed or its agent replaced, the old agent is no longer called.

use std::collections::VecDeque;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::Arc;

use host::event_fd::EventFd;
use host::lock::{Mutex, MutexGuard};
use host::memory::Room;

use crate::adaptive_spin::AdaptiveSpin;
use crate::agent::Agent;
use crate::error::{Error, Resource, Result, StateError};
use crate::evd::Evd;
use crate::ia::Ia;
use crate::slab::{Handle, Header, Kind};
use crate::transport::Transport;
use crate::waker::Waker;

/// A consumer notification object.
pub struct Cno<T: Transport> {
    pub(crate) header: Header,
    pub(crate) ia: Arc<Ia<T>>,
    state: Mutex<CnoState>,
    /// The dispatchers that are tied to it.
    evds: Mutex<Vec<Handle>>,
    /// Whether the transport was asked to poll although no thread calls in.
    watch: Mutex<bool>,
    /// What its last waits were like.
    pub(crate) adaptive_spin: AdaptiveSpin,
}

impl<T: Transport> Drop for Cno<T> {
    fn drop(&mut self) {
        self.watch(false);
    }
}

#[derive(Default)]
struct CnoState {
    /// The dispatcher of a trigger that no waiter has taken.
    triggered: Option<Handle>,
    /// The waiting threads, each with the dispatcher whose trigger has woken it.
    waiters: VecDeque<Waiter>,
    next: u64,
    agent: Option<Agent>,
    /// Readable exactly while there is a trigger, for programs that sleep on its descriptor.
    wakeup_fd: Option<EventFd>,
    dead: bool,
}

impl CnoState {
    /// Keeps a trigger, in place of an earlier one.
    fn keep(&mut self, evd: Handle) {
        if self.triggered.replace(evd).is_none() {
            if let Some(wakeup_fd) = &self.wakeup_fd {
                wakeup_fd.wake();
            }
        }
    }

    /// Takes the trigger that was kept.
    fn take(&mut self) -> Option<Handle> {
        let taken = self.triggered.take();
        if taken.is_some() {
            if let Some(wakeup_fd) = &self.wakeup_fd {
                wakeup_fd.clear();
            }
        }
        taken
    }
}

struct Waiter {
    number: u64,
    waker: Arc<Waker>,
    told: Option<Handle>,
}

impl<T: Transport> Cno<T> {
    /// Makes a notification object.
    ///
    /// # Errors
    /// [`Error::InsufficientResources`].
    pub fn create(ia: &Arc<Ia<T>>, agent: Option<Agent>) -> Result<Arc<Self>> {
        Self::create_in(ia, CnoState { agent, ..CnoState::default() })
    }

    /// Makes a notification object with a descriptor, which is readable exactly while there is a trigger that nobody has
    /// taken. The descriptor is closed when the object is freed.
    ///
    /// # Errors
    /// [`Error::InsufficientResources`], also if the process can have no more descriptors.
    pub fn create_polled(ia: &Arc<Ia<T>>) -> Result<Arc<Self>> {
        let wakeup_fd = EventFd::new().map_err(|error| {
            log::warn!("no descriptor for a notification object: {error}");
            Error::InsufficientResources(Resource::Memory)
        })?;
        Self::create_in(ia, CnoState { wakeup_fd: Some(wakeup_fd), ..CnoState::default() })
    }

    fn create_in(ia: &Arc<Ia<T>>, state: CnoState) -> Result<Arc<Self>> {
        ia.agents.room(ia.count(Kind::Cno) + 1)?;
        // The program calls neither for an agent nor while it sleeps on the descriptor.
        let watch = state.agent.is_some() || state.wakeup_fd.is_some();
        let cno = ia.adopt(Cno {
            header: Header::default(),
            ia: ia.clone(),
            state: Mutex::new(state),
            evds: Mutex::default(),
            watch: Mutex::default(),
            adaptive_spin: AdaptiveSpin::default(),
        })?;
        cno.watch(watch);
        log::debug!(target: host::diagnostics::EVD, "notification object {}: made", cno.header.handle());
        Ok(cno)
    }

    /// Frees the object.
    ///
    /// # Errors
    /// [`StateError::CnoInUse`] while a dispatcher refers to it or a thread waits on it.
    pub fn free(&self) -> Result<()> {
        let in_use = Error::InvalidState(StateError::CnoInUse);
        let mut state = self.state.lock();
        if !state.waiters.is_empty() || !self.header.users.retire() {
            return Err(in_use);
        }
        state.dead = true;
        state.agent = None;
        let wakeup_fd = state.wakeup_fd.take();
        drop(state);
        drop(wakeup_fd);
        log::debug!(target: host::diagnostics::EVD, "notification object {}: freed", self.header.handle());
        // Calls of the agent are known by the handle, also below.
        let _dying = self.ia.disown(self);
        self.ia.agents.replace(self.header.handle(), None);
        self.ia.agents.wait_for(self.header.handle());
        Ok(())
    }

    /// Frees the object even while it is used: waiters return and the agent is called, both without a dispatcher, and its
    /// descriptor is closed.
    pub(crate) fn free_anyway(&self) {
        self.header.users.retire_anyway();
        self.ia.disown(self);
        let mut state = self.state.lock();
        state.dead = true;
        for waiter in &state.waiters {
            waiter.waker.wake();
        }
        // Threads that sleep on the descriptor wake as well.
        if let Some(wakeup_fd) = state.wakeup_fd.take() {
            wakeup_fd.wake();
        }
        if let Some(agent) = state.agent.take() {
            self.ia.agents.schedule(self.header.handle(), agent, Handle::NULL);
        }
    }

    /// The agent that is called at the next trigger.
    pub fn agent(&self) -> Option<Agent> {
        self.state.lock().agent
    }

    /// Its descriptor, which only [`Cno::create_polled`] gives it; `None` once freed.
    pub fn descriptor(&self) -> Option<RawFd> {
        self.state.lock().wakeup_fd.as_ref().map(|wakeup_fd| wakeup_fd.as_fd().as_raw_fd())
    }

    /// Replaces the agent. An agent is called for one trigger only; setting it again arms it again.
    ///
    /// # Errors
    /// [`StateError::CnoInUse`] if the object has a descriptor.
    pub fn modify_agent(&self, agent: Option<Agent>) -> Result<()> {
        let cno = self.header.handle();
        {
            let mut state = self.state.lock();
            if state.wakeup_fd.is_some() {
                return Err(Error::InvalidState(StateError::CnoInUse));
            }
            // A trigger for which the old agent was not called goes to the new one.
            let passed_on = self.ia.agents.replace(cno, agent);
            state.agent = agent.filter(|_| !passed_on);
        }
        self.watch(agent.is_some());
        // Once this has returned, the old agent is no longer called.
        self.ia.agents.wait_for(cno);
        Ok(())
    }

    /// Tells the transport whether it must poll although no thread of the program calls in, for an agent or a descriptor.
    fn watch(&self, on: bool) {
        let mut watch = self.watch.lock();
        if std::mem::replace(&mut *watch, on) != on {
            self.ia.transport.watch(on);
        }
    }

    /// Ties the dispatcher `evd` to this object. Threads that sleep wake, because they have to hear of its completions
    /// from now on.
    ///
    /// # Errors
    /// [`crate::error::Resource::Memory`].
    pub(crate) fn attach(&self, evd: Handle) -> Result<()> {
        {
            let mut evds = self.evds.lock();
            if evds.contains(&evd) {
                return Ok(());
            }
            evds.room(1)?;
            evds.push(evd);
        }
        for waiter in &self.state.lock().waiters {
            waiter.waker.wake();
        }
        Ok(())
    }

    /// Undoes [`Cno::attach`].
    pub(crate) fn detach(&self, evd: Handle) {
        self.evds.lock().retain(|&known| known != evd);
    }

    /// Forgets a dispatcher that is being freed, after [`Cno::detach`]. A thread that sleeps on the descriptor has
    /// no use for its trigger, which may have replaced that of another dispatcher: it goes to one that holds an event, if
    /// any does. A thread that waits in a call gets the trigger nevertheless, so that the wait ends.
    pub(crate) fn forget(&self, evd: Handle) {
        {
            let mut state = self.state.lock();
            if state.wakeup_fd.is_none() || state.triggered != Some(evd) {
                return;
            }
            state.take();
        }
        // An event that is queued after this check triggers by itself.
        if let Some(other) = self.eventful() {
            self.trigger(other);
        }
    }

    /// A dispatcher tied to this object that holds an event.
    fn eventful(&self) -> Option<Handle> {
        let slab = self.ia.slab;
        let evds = self.evds.lock();
        evds.iter().copied().find(|&evd| slab.get::<Evd<T>>(evd).is_some_and(|evd| evd.is_busy()))
    }

    /// The dispatcher to name for a trigger of `evd`: that one, or if it was freed, another one that holds an event, whose
    /// own trigger it may have replaced.
    fn named(&self, evd: Handle) -> Option<Handle> {
        let alive = self.ia.slab.get::<Evd<T>>(evd).is_some();
        if alive { Some(evd) } else { self.eventful() }
    }

    /// The dispatchers that are tied to this object; the list stays locked for as long as the guard lives.
    pub(crate) fn evds(&self) -> MutexGuard<'_, Vec<Handle>> {
        self.evds.lock()
    }

    /// Reports an announced event on `evd`: wakes one waiter, or keeps the trigger for the next one.
    pub(crate) fn trigger(&self, evd: Handle) {
        let waker = {
            let mut state = self.state.lock();
            // Under the lock, so that a thread that replaces the agent finds the call.
            if let Some(agent) = state.agent.take() {
                self.ia.agents.schedule(self.header.handle(), agent, evd);
            }
            match state.waiters.iter_mut().find(|waiter| waiter.told.is_none()) {
                Some(waiter) => {
                    waiter.told = Some(evd);
                    Some(waiter.waker.clone())
                }
                None => {
                    state.keep(evd);
                    None
                }
            }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Takes a trigger that was kept. That of a dispatcher that was freed may have come after [`Cno::forget`]; with a
    /// descriptor there is none then, unless it is another one's as well.
    pub(crate) fn take_trigger(&self) -> Option<Handle> {
        let (evd, polled) = {
            let mut state = self.state.lock();
            if state.dead {
                return Some(Handle::NULL);
            }
            (state.take()?, state.wakeup_fd.is_some())
        };
        self.named(evd).or((!polled).then_some(evd))
    }

    /// Adds a waiting thread.
    pub(crate) fn enter(&self, waker: &Arc<Waker>) -> u64 {
        let mut state = self.state.lock();
        state.next += 1;
        let number = state.next;
        let told = state.take();
        state.waiters.push_back(Waiter { number, waker: waker.clone(), told });
        number
    }

    /// The dispatcher whose trigger has woken a thread, or if that was freed, another one with an event, if any has one.
    pub(crate) fn told(&self, number: u64) -> Option<Handle> {
        let told = {
            let state = self.state.lock();
            if state.dead {
                return Some(Handle::NULL);
            }
            state.waiters.iter().find(|waiter| waiter.number == number).and_then(|waiter| waiter.told)?
        };
        Some(self.named(told).unwrap_or(told))
    }

    /// Removes a waiting thread. A trigger that has woken it and that it did not take goes to the next one.
    pub(crate) fn leave(&self, number: u64, took: bool) {
        let untaken = {
            let mut state = self.state.lock();
            let at = state.waiters.iter().position(|waiter| waiter.number == number);
            let waiter = at.and_then(|at| state.waiters.remove(at));
            waiter.and_then(|waiter| waiter.told).filter(|_| !took)
        };
        if let Some(evd) = untaken {
            self.trigger(evd);
        }
    }
}
