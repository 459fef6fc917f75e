//! Agents of CNOs.
//!
//! A trigger can occur under locks, but an agent must be called without locks. So a thread of each adapter, the
//! *caller*, calls the agents of all its CNOs. An agent may end the thread that calls the agent (`pthread_exit`). So a
//! second thread, the *keeper*, starts the caller, waits for its end, and then starts the next caller.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::cancel::uncancelled;
use host::lock::{Condvar, Mutex};
use host::memory::{NoMemory, Room};
use host::thread::{self, Ended, Id, Thread};

use crate::arena::Handle;

/// A function of the program, its data, and the way to call it.
#[derive(Clone, Copy, Debug)]
pub struct Agent {
    /// The program's data.
    pub data: usize,
    /// The program's function.
    pub function: usize,
    /// Calls `function` with `data` and an EVD or NULL. Must have no destructors to run, because an agent that ends its
    /// thread unwinds this frame.
    pub call: fn(data: usize, function: usize, evd: Handle),
}

/// Pause of the keeper after a failed start of the caller.
const RETRY: Duration = Duration::from_millis(100);

/// Bytes of the keeper's stack.
const STACK_BYTES: usize = 64 << 10;

#[derive(Clone, Copy)]
struct Call {
    cno: Handle,
    agent: Agent,
    evd: Handle,
}

/// CNO and number of a running call.
type Running = (Handle, u64);

#[derive(Default)]
struct Pending {
    calls: VecDeque<Call>,
    /// Identity that the keeper and its callers share. `None` while there is no keeper.
    thread: Option<Id>,
    calling: Option<Running>,
    /// Number of calls that the caller has begun.
    begun: u64,
    /// The keeper, until [`Agents::stop`] joins it.
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
        // Twice the need: a CNO has at most one scheduled call, because scheduling a call disarms the agent.
        let more = (2 * objects).saturating_sub(pending.calls.len());
        pending.calls.room(more)
    }

    /// Starts the keeper, if it does not run. CNOs with an agent call this at their creation, which can fail, unlike a
    /// trigger.
    pub fn start(self: &Arc<Self>) -> Result<(), NoMemory> {
        let mut pending = self.pending.lock();
        if pending.thread.is_none() && !pending.stopped {
            let agents = self.clone();
            let started = thread::start_on(STACK_BYTES, c"dat-agent", move || agents.serve()).map_err(|error| {
                log::warn!("notification object: cannot start the thread of its agent: {error}");
                NoMemory
            })?;
            pending.thread = Some(started.id());
            pending.started = Some(started);
        }
        Ok(())
    }

    pub fn schedule(&self, cno: Handle, agent: Agent, evd: Handle) {
        self.pending.lock().calls.push_back(Call { cno, agent, evd });
        self.changed.notify_all();
    }

    /// Directs the first scheduled call of `cno` to `agent`, and drops the others. Without an agent, drops all. Returns
    /// whether a call was scheduled, and the running call of `cno`.
    pub fn replace(&self, cno: Handle, agent: Option<Agent>) -> (bool, Option<Running>) {
        let mut pending = self.pending.lock();
        let mut any = false;
        pending.calls.retain_mut(|call| {
            if call.cno != cno {
                return true;
            }
            // A trigger disarms the agent, so the new agent gets one call.
            let keep = agent.is_some() && !any;
            any = true;
            if let Some(agent) = agent {
                call.agent = agent;
            }
            keep
        });
        (any, pending.calling.filter(|(of, _)| *of == cno))
    }

    /// Waits for the end of `call`, unless its own agent waits here: it would wait for itself. No lock may be held.
    pub fn wait_for(&self, call: Option<Running>) {
        let mut pending = self.pending.lock();
        while call.is_some() && pending.calling == call && pending.thread != Some(Id::current()) {
            self.changed.wait(&mut pending);
        }
    }

    /// Ends both threads after the scheduled calls. Waits for their end, unless the current thread is one of them. No
    /// lock may be held.
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

    /// The keeper's function: starts callers until one returns, or until [`Agents::stop`] if none can be started.
    fn serve(&self) {
        let mut has_failed = false;
        loop {
            // SAFETY: `self` is a live [`Agents`], as `make_calls` requires, and `make_calls` has no destructors to run
            // while an agent runs.
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
                    if !std::mem::replace(&mut has_failed, true) {
                        log::error!("notification object: cannot start a thread for its agents: {error}");
                    }
                    if pending.stopped {
                        pending.thread = None;
                        return;
                    }
                    self.changed.wait_until(&mut pending, Instant::now() + RETRY);
                }
            }
        }
    }

    fn next(&self) -> Option<Call> {
        let mut pending = self.pending.lock();
        loop {
            if let Some(due) = pending.calls.pop_front() {
                pending.begun += 1;
                pending.calling = Some((due.cno, pending.begun));
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

/// The function of the caller thread: calls the agents. Has no destructors to run during a call, because an agent that
/// ends its thread unwinds this frame.
///
/// # Safety
/// `agents` must be an [`Agents`] that outlives the call.
unsafe extern "C-unwind" fn make_calls(agents: *mut c_void) {
    // SAFETY: `agents` is live, as the caller promises.
    let agents = unsafe { &*agents.cast::<Agents>() };
    // An agent may have enabled asynchronous cancellation of its thread, which must not interrupt code that holds a
    // lock.
    while let Some(due) = uncancelled(|| agents.next()) {
        (due.agent.call)(due.agent.data, due.agent.function, due.evd);
        uncancelled(|| agents.made());
    }
}
