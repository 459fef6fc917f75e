//! Calls into the program: the agents of notification objects.
//!
//! A trigger can come up anywhere, with locks held and deep inside a transport. The program's function must be called
//! with no lock held and may call anything itself. So one thread makes all calls; it starts with the first of them.

use std::collections::VecDeque;
use std::sync::Arc;

use host::lock::{Condvar, Mutex, MutexGuard};
use host::memory::{self, NoMemory, Room};
use host::thread::{self, Id, Thread};

use crate::slab::Handle;

/// A function of the program with its data, and the way to call it.
#[derive(Clone, Copy, Debug)]
pub struct Agent {
    /// The program's data.
    pub data: usize,
    /// The program's function.
    pub function: usize,
    /// Calls `function` with `data` and the handle of a dispatcher, or NULL.
    pub call: fn(data: usize, function: usize, evd: Handle),
}

/// A call that is due: the notification object, its agent, and the dispatcher to pass.
struct Call {
    cno: Handle,
    agent: Agent,
    evd: Handle,
}

#[derive(Default)]
struct Pending {
    calls: VecDeque<Call>,
    /// The thread that makes calls, as long as it does, and the object for which it is making one.
    thread: Option<Id>,
    calling: Option<Handle>,
    /// The same thread, until somebody waits for its end.
    started: Option<Thread>,
    stopped: bool,
}

/// The calls that are due.
pub struct Agents {
    shared: Arc<(Mutex<Pending>, Condvar)>,
}

impl Agents {
    /// No calls.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn new() -> Result<Self, NoMemory> {
        Ok(Agents { shared: memory::arc(Default::default())? })
    }

    /// Gets the memory for the calls of this many notification objects.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn room(&self, objects: usize) -> Result<(), NoMemory> {
        let mut pending = self.shared.0.lock();
        // One that is due, and the last one of an object that is destroyed.
        let more = (2 * objects).saturating_sub(pending.calls.len());
        pending.calls.room(more)
    }

    /// Schedules a call of the agent of `cno`.
    pub fn schedule(&self, cno: Handle, agent: Agent, evd: Handle) {
        let (pending, changed) = &*self.shared;
        let mut pending = pending.lock();
        pending.calls.push_back(Call { cno, agent, evd });
        if pending.thread.is_none() {
            let shared = self.shared.clone();
            match thread::start(c"dat-agent", move || serve(&shared)) {
                Ok(thread) => {
                    pending.thread = Some(thread.id());
                    pending.started = Some(thread);
                }
                Err(error) => log::error!("no thread for the agent of a notification object: {error}"),
            }
        }
        changed.notify_all();
    }

    /// Redirects due calls for `cno` to another agent, or drops them if there is none. Returns whether there were any.
    pub fn replace(&self, cno: Handle, agent: Option<Agent>) -> bool {
        let mut pending = self.shared.0.lock();
        let mut any = false;
        pending.calls.retain_mut(|call| {
            if call.cno != cno {
                return true;
            }
            // An agent is told of one trigger only.
            let keep = agent.is_some() && !any;
            any = true;
            if let Some(agent) = agent {
                call.agent = agent;
            }
            keep
        });
        any
    }

    /// Waits for a call for `cno` that is under way, unless the agent itself is the caller. Called without a lock.
    pub fn wait_for(&self, cno: Handle) {
        let (pending, changed) = &*self.shared;
        let mut pending = pending.lock();
        while pending.calling == Some(cno) && pending.thread != Some(Id::current()) {
            changed.wait(&mut pending);
        }
    }

    /// Lets the thread finish the calls that are due and end, and waits for its end unless that thread is the caller.
    /// Called without a lock.
    pub fn stop(&self) {
        let (pending, changed) = &*self.shared;
        let thread = {
            let mut pending = pending.lock();
            pending.stopped = true;
            changed.notify_all();
            pending.started.take()
        };
        if let Some(thread) = thread {
            thread.join();
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
            return;
        } else {
            changed.wait(&mut pending);
        }
    }
}
