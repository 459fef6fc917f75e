//! Consumer notification objects: one place to wait for many dispatchers.

use std::collections::VecDeque;
use std::sync::Arc;

use host::lock::{Mutex, MutexGuard};
use host::memory::Room;

use crate::agent::Agent;
use crate::error::{Error, Refusal, Result};
use crate::ia::Ia;
use crate::patience::Patience;
use crate::slab::{Handle, Header, Kind, Object};
use crate::transport::Transport;
use crate::users::{Counted, Users};
use crate::waker::Waker;

/// A consumer notification object.
pub struct Cno<T: Transport> {
    header: Header,
    users: Users,
    ia: Arc<Ia<T>>,
    state: Mutex<CnoState>,
    /// The dispatchers that are tied to it.
    evds: Mutex<Vec<Handle>>,
    /// Whether the transport was asked to look for events when no thread calls in.
    watch: Mutex<bool>,
    patience: Patience,
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
    /// The waiting threads, each with the dispatcher that it was told of.
    waiters: VecDeque<Waiter>,
    next: u64,
    agent: Option<Agent>,
    dead: bool,
}

struct Waiter {
    number: u64,
    waker: Arc<Waker>,
    told: Option<Handle>,
}

impl<T: Transport> Object for Cno<T> {
    const KIND: Kind = Kind::Cno;

    fn header(&self) -> &Header {
        &self.header
    }
}

impl<T: Transport> Counted for Cno<T> {
    fn users(&self) -> &Users {
        &self.users
    }
}

impl<T: Transport> Cno<T> {
    /// Makes a notification object.
    pub fn create(ia: &Arc<Ia<T>>, agent: Option<Agent>) -> Result<Arc<Self>> {
        ia.agents().room(ia.count(Kind::Cno) + 1)?;
        let cno = ia.adopt(Cno {
            header: Header::default(),
            users: Users::default(),
            ia: ia.clone(),
            state: Mutex::new(CnoState { agent, ..CnoState::default() }),
            evds: Mutex::default(),
            watch: Mutex::default(),
            patience: Patience::default(),
        })?;
        cno.watch(agent.is_some());
        Ok(cno)
    }

    /// Frees the object.
    ///
    /// # Errors
    /// [`Refusal::CnoInUse`] while a dispatcher refers to it or a thread waits on it.
    pub fn free(&self) -> Result<()> {
        let in_use = Error::InvalidState(Refusal::CnoInUse);
        let mut state = self.state.lock();
        if !state.waiters.is_empty() || !self.users.retire() {
            return Err(in_use);
        }
        state.dead = true;
        state.agent = None;
        drop(state);
        self.ia.disown(self);
        self.ia.agents().replace(self.header.handle(), None);
        self.ia.agents().wait_for(self.header.handle());
        Ok(())
    }

    /// Frees the object even while it is used: waiters return, and the agent is called, both without a dispatcher.
    pub(crate) fn free_anyway(&self) {
        self.users.retire_anyway();
        self.ia.disown(self);
        let mut state = self.state.lock();
        state.dead = true;
        for waiter in &state.waiters {
            waiter.waker.wake();
        }
        if let Some(agent) = state.agent.take() {
            self.ia.agents().schedule(self.header.handle(), agent, Handle::NULL);
        }
    }

    /// The adapter it belongs to.
    pub fn ia(&self) -> &Arc<Ia<T>> {
        &self.ia
    }

    /// What its last waits were like.
    pub(crate) fn patience(&self) -> &Patience {
        &self.patience
    }

    /// The agent that is called at the next trigger.
    pub fn agent(&self) -> Option<Agent> {
        self.state.lock().agent
    }

    /// Replaces the agent. An agent is told of one trigger only; setting it again arms it again.
    pub fn modify_agent(&self, agent: Option<Agent>) {
        let cno = self.header.handle();
        {
            let mut state = self.state.lock();
            // A trigger that the old agent was not told of goes to the new one.
            let passed_on = self.ia.agents().replace(cno, agent);
            state.agent = agent.filter(|_| !passed_on);
        }
        self.watch(agent.is_some());
        // The old agent is not called any more once this has returned.
        self.ia.agents().wait_for(cno);
    }

    /// Tells the transport whether an agent must be told of events although no thread of the program calls in.
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

    /// The dispatchers that are tied to this object; the list stays locked for as long as the guard lives.
    pub(crate) fn evds(&self) -> MutexGuard<'_, Vec<Handle>> {
        self.evds.lock()
    }

    /// Reports an announced event on `evd`: wakes one waiter, or keeps the trigger for the next one.
    pub(crate) fn trigger(&self, evd: Handle) {
        let (waker, agent) = {
            let mut state = self.state.lock();
            let agent = state.agent.take();
            let waker = match state.waiters.iter_mut().find(|waiter| waiter.told.is_none()) {
                Some(waiter) => {
                    waiter.told = Some(evd);
                    Some(waiter.waker.clone())
                }
                None => {
                    state.triggered = Some(evd);
                    None
                }
            };
            (waker, agent)
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        if let Some(agent) = agent {
            self.ia.agents().schedule(self.header.handle(), agent, evd);
        }
    }

    /// Takes a trigger that was kept.
    pub(crate) fn take_trigger(&self) -> Option<Handle> {
        let mut state = self.state.lock();
        if state.dead { Some(Handle::NULL) } else { state.triggered.take() }
    }

    /// Adds a waiting thread.
    pub(crate) fn enter(&self, waker: &Arc<Waker>) -> u64 {
        let mut state = self.state.lock();
        state.next += 1;
        let number = state.next;
        let told = state.triggered.take();
        state.waiters.push_back(Waiter { number, waker: waker.clone(), told });
        number
    }

    /// The dispatcher that a waiting thread was told of.
    pub(crate) fn told(&self, number: u64) -> Option<Handle> {
        let state = self.state.lock();
        if state.dead {
            return Some(Handle::NULL);
        }
        state.waiters.iter().find(|waiter| waiter.number == number).and_then(|waiter| waiter.told)
    }

    /// Removes a waiting thread. A trigger that it was told of and did not take goes to the next one.
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
