//! Agents of CNOs.
//!
//! A trigger can occur under locks, but an agent must be called without any. So one thread calls all agents. A second
//! thread restarts it if an agent ends it.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use host::cancel::uncancelled;
use host::lock::{Condvar, Mutex};
use host::memory::{NoMemory, Room};
use host::thread::{self, Ended, Id, Thread};

use crate::slab::Handle;

/// A function of the program, its data, and the way to call it.
#[derive(Clone, Copy, Debug)]
pub struct Agent {
    /// The program's data.
    pub data: usize,
    /// The program's function.
    pub function: usize,
    /// Calls `function` with `data` and an EVD or NULL. Owns nothing, because it may be unwound.
    pub call: fn(data: usize, function: usize, evd: Handle),
}

/// Of the second thread.
const STACK_BYTES: usize = 64 << 10;

#[derive(Clone, Copy)]
struct Call {
    cno: Handle,
    agent: Agent,
    evd: Handle,
}

#[derive(Default)]
struct Pending {
    calls: VecDeque<Call>,
    /// Identity of both threads.
    thread: Option<Id>,
    calling: Option<Handle>,
    /// The second thread, until [`Agents::stop`] joins it.
    started: Option<Thread>,
    stopped: bool,
}

#[derive(Default)]
pub struct Agents {
    pending: Mutex<Pending>,
    changed: Condvar,
}

impl Agents {
    pub fn room(&self, objects: usize) -> Result<(), NoMemory> {
        let mut pending = self.pending.lock();
        // One scheduled call per CNO, and one at its destruction.
        let more = (2 * objects).saturating_sub(pending.calls.len());
        pending.calls.room(more)
    }

    pub fn schedule(self: &Arc<Self>, cno: Handle, agent: Agent, evd: Handle) {
        let mut pending = self.pending.lock();
        pending.calls.push_back(Call { cno, agent, evd });
        if pending.thread.is_none() {
            let agents = self.clone();
            match thread::start_on(STACK_BYTES, c"dat-agent", move || agents.serve()) {
                Ok(thread) => {
                    pending.thread = Some(thread.id());
                    pending.started = Some(thread);
                }
                Err(error) => log::error!("notification object: cannot start the thread of its agent: {error}"),
            }
        }
        self.changed.notify_all();
    }

    /// Redirects or drops the scheduled calls of `cno`. Returns whether there were any.
    pub fn replace(&self, cno: Handle, agent: Option<Agent>) -> bool {
        let mut pending = self.pending.lock();
        let mut any = false;
        pending.calls.retain_mut(|call| {
            if call.cno != cno {
                return true;
            }
            // A trigger disarms the agent.
            let keep = agent.is_some() && !any;
            any = true;
            if let Some(agent) = agent {
                call.agent = agent;
            }
            keep
        });
        any
    }

    /// Waits for a running call of `cno`, unless the caller is its agent. The caller must hold no lock.
    pub fn wait_for(&self, cno: Handle) {
        let mut pending = self.pending.lock();
        while pending.calling == Some(cno) && pending.thread != Some(Id::current()) {
            self.changed.wait(&mut pending);
        }
    }

    /// Ends the threads after the scheduled calls, and waits for them, unless the caller is one. The caller must hold
    /// no lock.
    pub fn stop(&self) {
        let thread = {
            let mut pending = self.pending.lock();
            pending.stopped = true;
            self.changed.notify_all();
            pending.started.take()
        };
        if let Some(thread) = thread {
            thread.join();
        }
    }

    fn serve(&self) {
        loop {
            // SAFETY: `make_calls` requires a live [`Agents`], which this is, and owns nothing while an agent runs.
            let ended = unsafe { thread::apart(make_calls, ptr::from_ref(self).cast_mut().cast()) };
            let mut pending = self.pending.lock();
            match ended {
                Ok(Ended::Exited) => {
                    log::warn!("notification object: its agent ended the thread that called it");
                    pending.calling = None;
                    self.changed.notify_all();
                }
                Ok(Ended::Returned) => return,
                Err(error) => {
                    log::error!("notification object: cannot start a thread for its agents: {error}");
                    if pending.stopped {
                        pending.thread = None;
                        return;
                    }
                    // The next scheduled call, or the stop, retries.
                    self.changed.wait(&mut pending);
                }
            }
        }
    }

    fn next(&self) -> Option<Call> {
        let mut pending = self.pending.lock();
        loop {
            if let Some(due) = pending.calls.pop_front() {
                pending.calling = Some(due.cno);
                return Some(due);
            }
            if pending.stopped {
                pending.thread = None;
                return None;
            }
            self.changed.wait(&mut pending);
        }
    }

    fn made(&self) {
        self.pending.lock().calling = None;
        self.changed.notify_all();
    }
}

/// Calls all agents. Owns nothing during a call, which may end the thread and unwind this frame.
///
/// # Safety
/// `agents` must be an [`Agents`] that outlives the call.
unsafe extern "C-unwind" fn make_calls(agents: *mut c_void) {
    // SAFETY: `agents` is live, as the caller promises.
    let agents = unsafe { &*agents.cast::<Agents>() };
    // An agent may have enabled asynchronous cancellation of its thread.
    while let Some(due) = uncancelled(|| agents.next()) {
        (due.agent.call)(due.agent.data, due.agent.function, due.evd);
        uncancelled(|| agents.made());
    }
}
