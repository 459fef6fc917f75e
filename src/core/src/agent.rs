//! Calls into the program: the agents of notification objects.
//!
//! A trigger can come up anywhere, with locks held and deep inside a transport. The
//! program's function must be called with no lock held and may call anything itself, so
//! all calls are made by one thread, which exists only once an agent was called for.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::{self, ThreadId};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::slab::Handle;

/// A function of the program's together with its data, and the way to call it.
#[derive(Clone, Copy, Debug)]
pub struct Agent {
    /// The program's data.
    pub data: usize,
    /// The program's function.
    pub function: usize,
    /// Calls `function` with `data` and the handle of a dispatcher, or NULL.
    pub call: fn(data: usize, function: usize, evd: Handle),
}

/// A call that is due: on behalf of which notification object, whom, and with what.
struct Call {
    cno: Handle,
    agent: Agent,
    evd: Handle,
}

#[derive(Default)]
struct Pending {
    calls: VecDeque<Call>,
    /// The thread, once there is one, and the object that it is calling for.
    thread: Option<ThreadId>,
    calling: Option<Handle>,
    stopped: bool,
}

/// The calls that are due.
#[derive(Default)]
pub struct Agents {
    shared: Arc<(Mutex<Pending>, Condvar)>,
}

impl Agents {
    /// Has the agent of `cno` called soon.
    pub fn schedule(&self, cno: Handle, agent: Agent, evd: Handle) {
        let (pending, changed) = &*self.shared;
        let mut pending = pending.lock();
        pending.calls.push_back(Call { cno, agent, evd });
        if pending.thread.is_none() {
            let shared = self.shared.clone();
            let thread = std::thread::Builder::new().name("dat-agent".into());
            match thread.spawn(move || serve(&shared)) {
                Ok(thread) => pending.thread = Some(thread.thread().id()),
                Err(error) => log::error!("no thread for the agent of a notification object: {error}"),
            }
        }
        changed.notify_all();
    }

    /// Passes calls for `cno` that are due on to another agent, or drops them if there is
    /// none; whether there were any.
    pub fn replace(&self, cno: Handle, agent: Option<Agent>) -> bool {
        let mut pending = self.shared.0.lock();
        let mut any = false;
        pending.calls.retain_mut(|call| {
            if call.cno != cno {
                return true;
            }
            // An agent hears of one trigger.
            let keep = agent.is_some() && !any;
            any = true;
            if let Some(agent) = agent {
                call.agent = agent;
            }
            keep
        });
        any
    }

    /// Waits for a call for `cno` that is under way, unless it is the caller itself. Called
    /// without a lock.
    pub fn wait_for(&self, cno: Handle) {
        let (pending, changed) = &*self.shared;
        let mut pending = pending.lock();
        while pending.calling == Some(cno) && pending.thread != Some(thread::current().id()) {
            changed.wait(&mut pending);
        }
    }

    /// Ends the thread after the calls that are due already, and waits for them, unless it
    /// is the caller itself. Called without a lock.
    pub fn stop(&self) {
        let (pending, changed) = &*self.shared;
        let mut pending = pending.lock();
        pending.stopped = true;
        changed.notify_all();
        while pending.thread.is_some_and(|thread| thread != thread::current().id()) {
            changed.wait(&mut pending);
        }
    }
}

fn serve(shared: &(Mutex<Pending>, Condvar)) {
    let (pending, changed) = shared;
    let mut pending = pending.lock();
    loop {
        if let Some(due) = pending.calls.pop_front() {
            pending.calling = Some(due.cno);
            MutexGuard::unlocked(&mut pending, || (due.agent.call)(due.agent.data, due.agent.function, due.evd));
            pending.calling = None;
            changed.notify_all();
        } else if pending.stopped {
            pending.thread = None;
            changed.notify_all();
            return;
        } else {
            changed.wait(&mut pending);
        }
    }
}
