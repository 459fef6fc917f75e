//! Calls into the program: the agents of notification objects.
//!
//! A trigger can come up anywhere, with locks held and deep inside a transport. The program's function must be called
//! with no lock held and may call anything itself. So one thread makes all calls; it starts with the first of them.
//!
//! The function may also end the thread on which it runs. So that thread is started by another one, which waits for its
//! end and starts it again.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use host::cancel::uncancelled;
use host::lock::{Condvar, Mutex};
use host::memory::{NoMemory, Room};
use host::thread::{self, Ended, Id, Thread};

use crate::slab::Handle;

/// A function of the program with its data, and the way to call it.
#[derive(Clone, Copy, Debug)]
pub struct Agent {
    /// The program's data.
    pub data: usize,
    /// The program's function.
    pub function: usize,
    /// Calls `function` with `data` and the handle of a dispatcher, or NULL. Owns nothing: it may be unwound.
    pub call: fn(data: usize, function: usize, evd: Handle),
}

/// The stack of the thread that waits for the end of another one.
const STACK: usize = 64 << 10;

/// A call that is due: the notification object, its agent, and the dispatcher to pass.
#[derive(Clone, Copy)]
struct Call {
    cno: Handle,
    agent: Agent,
    evd: Handle,
}

#[derive(Default)]
struct Pending {
    calls: VecDeque<Call>,
    /// The identity of the thread that makes calls and of the one that starts it again, and the object for which a call is
    /// under way.
    thread: Option<Id>,
    calling: Option<Handle>,
    /// The thread that starts the other one, until somebody waits for its end.
    started: Option<Thread>,
    stopped: bool,
}

/// The calls that are due, and the threads that make them.
#[derive(Default)]
pub struct Agents {
    pending: Mutex<Pending>,
    changed: Condvar,
}

impl Agents {
    /// Gets the memory for the calls of this many notification objects.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn room(&self, objects: usize) -> Result<(), NoMemory> {
        let mut pending = self.pending.lock();
        // One that is due, and the last one of an object that is destroyed.
        let more = (2 * objects).saturating_sub(pending.calls.len());
        pending.calls.room(more)
    }

    /// Schedules a call of the agent of `cno`.
    pub fn schedule(self: &Arc<Self>, cno: Handle, agent: Agent, evd: Handle) {
        let mut pending = self.pending.lock();
        pending.calls.push_back(Call { cno, agent, evd });
        if pending.thread.is_none() {
            let agents = self.clone();
            match thread::start_on(STACK, c"dat-agent", move || agents.serve()) {
                Ok(thread) => {
                    pending.thread = Some(thread.id());
                    pending.started = Some(thread);
                }
                Err(error) => log::error!("no thread for the agent of a notification object: {error}"),
            }
        }
        self.changed.notify_all();
    }

    /// Redirects due calls for `cno` to another agent, or drops them if there is none. Returns whether there were any.
    pub fn replace(&self, cno: Handle, agent: Option<Agent>) -> bool {
        let mut pending = self.pending.lock();
        let mut any = false;
        pending.calls.retain_mut(|call| {
            if call.cno != cno {
                return true;
            }
            // An agent is called for one trigger only.
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
        let mut pending = self.pending.lock();
        while pending.calling == Some(cno) && pending.thread != Some(Id::current()) {
            self.changed.wait(&mut pending);
        }
    }

    /// Lets the thread finish the calls that are due and end, and waits for its end unless that thread is the caller.
    /// Called without a lock.
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

    /// Has calls made until no more are to come, by a thread that an agent may end.
    fn serve(&self) {
        loop {
            // SAFETY: `make_calls` takes what it is given here, from any thread, and owns nothing while an agent runs.
            let ended = unsafe { thread::apart(make_calls, ptr::from_ref(self).cast_mut().cast()) };
            let mut pending = self.pending.lock();
            match ended {
                Ok(Ended::Exited) => {
                    log::warn!("an agent of a notification object ended its thread");
                    pending.calling = None;
                    self.changed.notify_all();
                }
                Ok(Ended::Returned) => return,
                Err(error) => {
                    log::error!("no thread for the agents of notification objects: {error}");
                    if pending.stopped {
                        pending.thread = None;
                        return;
                    }
                    // The next call that is due, or the end, tries again.
                    self.changed.wait(&mut pending);
                }
            }
        }
    }

    /// Waits for a call that is due, and notes that it is under way. None when no more are to come.
    fn next(&self) -> Option<Call> {
        let mut pending = self.pending.lock();
        loop {
            if let Some(due) = pending.calls.pop_front() {
                pending.calling = Some(due.cno);
                return Some(due);
            }
            if pending.stopped {
                // A call that becomes due later has a thread of its own.
                pending.thread = None;
                return None;
            }
            self.changed.wait(&mut pending);
        }
    }

    /// Notes that no call is under way.
    fn made(&self) {
        self.pending.lock().calling = None;
        self.changed.notify_all();
    }
}

/// Makes all calls. Owns nothing while it makes one: an agent may end the thread, which unwinds this frame.
///
/// # Safety
/// `agents` is a [`Agents`] that outlives the call.
unsafe extern "C-unwind" fn make_calls(agents: *mut c_void) {
    // SAFETY: the caller's promise.
    let agents = unsafe { &*agents.cast::<Agents>() };
    // An agent may have made its thread one that can be cancelled anywhere.
    while let Some(due) = uncancelled(|| agents.next()) {
        (due.agent.call)(due.agent.data, due.agent.function, due.evd);
        uncancelled(|| agents.made());
    }
}
