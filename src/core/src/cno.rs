//! Consumer notification objects (CNOs): waits for several EVDs.
//!
//! A CNO stores at most one trigger: the EVD that caused it. A trigger wakes one waiter; without a waiter, it is
//! stored. A CNO can have an agent, or an eventfd that is readable exactly while a trigger is stored.
//!
//! A trigger replaces the stored one, whose EVD may still have events. So if the EVD of a stored trigger is freed,
//! another EVD with an event takes its place: at the free if there is an eventfd, otherwise when a thread takes the
//! trigger. The search locks the list of EVDs, but not the trigger.

use std::collections::VecDeque;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::Arc;

use host::event_fd::EventFd;
use host::lock::{Mutex, MutexGuard};
use host::memory::Room;

use crate::adaptive_spin::AdaptiveSpin;
use crate::agent::Agent;
use crate::arena::{Handle, Header, Kind};
use crate::error::{Error, Result, StateError};
use crate::evd::Evd;
use crate::ia::Ia;
use crate::transport::Transport;
use crate::waker::Waker;

/// A consumer notification object.
pub struct Cno<T: Transport> {
    pub(crate) header: Header,
    pub(crate) ia: Arc<Ia<T>>,
    state: Mutex<CnoState>,
    evds: Mutex<Vec<Handle>>,
    /// `true` if the transport must poll even if the program makes no call.
    watch: Mutex<bool>,
    pub(crate) adaptive_spin: AdaptiveSpin,
}

impl<T: Transport> Drop for Cno<T> {
    fn drop(&mut self) {
        self.watch(false);
    }
}

#[derive(Default)]
struct CnoState {
    triggered: Option<Handle>,
    waiters: VecDeque<Waiter>,
    next: u64,
    agent: Option<Agent>,
    wakeup_fd: Option<EventFd>,
    dead: bool,
}

impl CnoState {
    fn keep(&mut self, evd: Handle) {
        if self.triggered.replace(evd).is_none() {
            if let Some(wakeup_fd) = &self.wakeup_fd {
                wakeup_fd.wake();
            }
        }
    }

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
    trigger: Option<Handle>,
}

impl<T: Transport> Cno<T> {
    /// Creates a CNO.
    ///
    /// # Errors
    /// [`Error::InsufficientResources`].
    pub fn create(ia: &Arc<Ia<T>>, agent: Option<Agent>) -> Result<Arc<Self>> {
        Self::create_in(ia, CnoState { agent, ..CnoState::default() })
    }

    /// Creates a CNO with a descriptor, which the free closes.
    ///
    /// # Errors
    /// [`Error::InsufficientResources`], also if the process has no free descriptor.
    pub fn create_polled(ia: &Arc<Ia<T>>) -> Result<Arc<Self>> {
        let wakeup_fd = EventFd::new().map_err(|error| {
            log::warn!("notification object: cannot create its descriptor: {error}");
            Error::NO_MEMORY
        })?;
        Self::create_in(ia, CnoState { wakeup_fd: Some(wakeup_fd), ..CnoState::default() })
    }

    fn create_in(ia: &Arc<Ia<T>>, state: CnoState) -> Result<Arc<Self>> {
        ia.agents.room(ia.count(Kind::Cno) + 1)?;
        if state.agent.is_some() {
            ia.agents.start()?;
        }
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
        log::debug!(target: host::diagnostics::EVD, "notification object {}: created", cno.header.handle());
        Ok(cno)
    }

    /// Frees the CNO.
    ///
    /// # Errors
    /// [`StateError::CnoInUse`] while an EVD is attached or a thread waits.
    pub fn free(&self) -> Result<()> {
        let mut state = self.state.lock();
        if !self.header.users.retire() {
            return Err(Error::InvalidState(StateError::CnoInUse));
        }
        state.dead = true;
        state.agent = None;
        let wakeup_fd = state.wakeup_fd.take();
        drop(state);
        drop(wakeup_fd);
        log::debug!(target: host::diagnostics::EVD, "notification object {}: freed", self.header.handle());
        // Keeps the handle from reuse until no agent call with this handle is scheduled or runs.
        let _dying = self.ia.disown(self);
        let (_, call) = self.ia.agents.replace(self.header.handle(), None);
        self.ia.agents.wait_for(call);
        Ok(())
    }

    /// Frees a CNO that may be in use. Waiters and the agent get [`Handle::NULL`] instead of an EVD.
    pub(crate) fn free_anyway(&self) {
        self.header.users.retire_anyway();
        self.ia.disown(self);
        let mut state = self.state.lock();
        state.dead = true;
        for waiter in &state.waiters {
            waiter.waker.wake();
        }
        // Also wakes threads that sleep on the descriptor.
        if let Some(wakeup_fd) = state.wakeup_fd.take() {
            wakeup_fd.wake();
        }
        if let Some(agent) = state.agent.take() {
            self.ia.agents.schedule(self.header.handle(), agent, Handle::NULL);
        }
    }

    /// Returns the agent that the next trigger calls; `None` without an agent, or after a trigger has called it.
    pub fn agent(&self) -> Option<Agent> {
        self.state.lock().agent
    }

    /// Returns the descriptor of a CNO from [`Cno::create_polled`]; `None` for other CNOs, and after the free.
    pub fn descriptor(&self) -> Option<RawFd> {
        self.state.lock().wakeup_fd.as_ref().map(|wakeup_fd| wakeup_fd.as_fd().as_raw_fd())
    }

    /// Replaces the agent and arms it. The next trigger calls the agent and disarms it.
    ///
    /// # Errors
    /// [`StateError::CnoInUse`] if the CNO has a descriptor; [`Error::InsufficientResources`].
    pub fn modify_agent(&self, agent: Option<Agent>) -> Result<()> {
        let call = {
            let mut state = self.state.lock();
            if state.wakeup_fd.is_some() {
                return Err(Error::InvalidState(StateError::CnoInUse));
            }
            if agent.is_some() {
                self.ia.agents.start()?;
            }
            // A trigger for which the old agent was not called yet goes to the new agent, and disarms it.
            let (passed_on, call) = self.ia.agents.replace(self.header.handle(), agent);
            state.agent = agent.filter(|_| !passed_on);
            call
        };
        self.watch(agent.is_some());
        self.ia.agents.wait_for(call);
        Ok(())
    }

    fn watch(&self, on: bool) {
        let mut watch = self.watch.lock();
        if std::mem::replace(&mut *watch, on) != on {
            self.ia.transport.watch(on);
        }
    }

    /// Adds an EVD to the list. Wakes waiters that sleep, because they must arm the transport for this EVD too.
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

    pub(crate) fn detach(&self, evd: Handle) {
        self.evds.lock().retain(|&known| known != evd);
    }

    /// Called before `evd` is freed. If the CNO has a descriptor and stores a trigger of `evd`, an EVD with an event
    /// replaces `evd` in the trigger; without such an EVD, the trigger is dropped. Without a descriptor, the thread
    /// that takes the trigger replaces `evd`.
    pub(crate) fn forget(&self, evd: Handle) {
        {
            let mut state = self.state.lock();
            if state.wakeup_fd.is_none() || state.triggered != Some(evd) {
                return;
            }
            state.take();
        }
        // An event that arrives after this search triggers the CNO itself.
        if let Some(other) = self.eventful() {
            self.trigger(other);
        }
    }

    fn eventful(&self) -> Option<Handle> {
        let arena = self.ia.arena;
        let evds = self.evds.lock();
        evds.iter().copied().find(|&evd| arena.get::<Evd<T>>(evd).is_some_and(|evd| evd.is_busy()))
    }

    /// Returns `evd` if it exists, otherwise an EVD with an event, if any.
    fn named(&self, evd: Handle) -> Option<Handle> {
        let alive = self.ia.arena.get::<Evd<T>>(evd).is_some();
        if alive { Some(evd) } else { self.eventful() }
    }

    pub(crate) fn evds(&self) -> MutexGuard<'_, Vec<Handle>> {
        self.evds.lock()
    }

    /// Reports a notification event on `evd`: calls the agent and wakes a waiter, or stores the trigger.
    pub(crate) fn trigger(&self, evd: Handle) {
        let waker = {
            let mut state = self.state.lock();
            // Scheduled under the lock, so that `modify_agent` finds the call.
            if let Some(agent) = state.agent.take() {
                self.ia.agents.schedule(self.header.handle(), agent, evd);
            }
            match state.waiters.iter_mut().find(|waiter| waiter.trigger.is_none()) {
                Some(waiter) => {
                    waiter.trigger = Some(evd);
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

    /// Takes the stored trigger and returns its EVD; `None` without a trigger. For a freed EVD, returns an EVD with an
    /// event instead. If all EVDs are empty, returns the handle of the freed EVD, or `None` if the CNO has a
    /// descriptor. Returns NULL if the CNO was freed.
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

    pub(crate) fn enter(&self, waker: &Arc<Waker>) -> u64 {
        let mut state = self.state.lock();
        state.next += 1;
        let number = state.next;
        let trigger = state.take();
        state.waiters.push_back(Waiter { number, waker: waker.clone(), trigger });
        number
    }

    /// Returns the EVD that woke the waiter `number`, if any. For a freed EVD, returns an EVD with an event instead, or
    /// the handle of the freed EVD if no EVD has an event. Returns NULL if the CNO was freed.
    pub(crate) fn trigger_of(&self, number: u64) -> Option<Handle> {
        let trigger = {
            let state = self.state.lock();
            if state.dead {
                return Some(Handle::NULL);
            }
            state.waiters.iter().find(|waiter| waiter.number == number).and_then(|waiter| waiter.trigger)?
        };
        Some(self.named(trigger).unwrap_or(trigger))
    }

    /// Removes the waiter `number`. If the waiter has not taken its trigger (`took` is `false`), the trigger wakes the
    /// next waiter, or is stored.
    pub(crate) fn leave(&self, number: u64, took: bool) {
        let untaken = {
            let mut state = self.state.lock();
            let at = state.waiters.iter().position(|waiter| waiter.number == number);
            let waiter = at.and_then(|at| state.waiters.remove(at));
            waiter.and_then(|waiter| waiter.trigger).filter(|_| !took)
        };
        if let Some(evd) = untaken {
            self.trigger(evd);
        }
    }
}
