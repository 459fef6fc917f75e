//! Calls into the program: the agents of notification objects.
//!
//! A trigger can come up anywhere, with locks held and deep inside a transport. The
//! program's function must be called with no lock held and may call anything itself, so
//! all calls are made by one thread, which exists only once an agent was called for.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

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

#[derive(Default)]
struct Pending {
    calls: VecDeque<(Agent, Handle)>,
    running: bool,
    stopped: bool,
}

/// The calls that are due.
#[derive(Default)]
pub struct Agents {
    shared: Arc<(Mutex<Pending>, Condvar)>,
}

impl Agents {
    /// Has the agent called soon.
    pub fn schedule(&self, agent: Agent, evd: Handle) {
        let (pending, changed) = &*self.shared;
        let mut pending = pending.lock();
        pending.calls.push_back((agent, evd));
        if !pending.running {
            let shared = self.shared.clone();
            let thread = std::thread::Builder::new().name("dat-agent".into());
            pending.running = thread.spawn(move || serve(&shared)).is_ok();
            if !pending.running {
                log::error!("no thread for the agent of a notification object");
            }
        }
        changed.notify_one();
    }

    /// Ends the thread after the calls that are due already.
    pub fn stop(&self) {
        let (pending, changed) = &*self.shared;
        pending.lock().stopped = true;
        changed.notify_one();
    }
}

fn serve(shared: &(Mutex<Pending>, Condvar)) {
    let (pending, changed) = shared;
    loop {
        let due = {
            let mut pending = pending.lock();
            loop {
                if let Some(due) = pending.calls.pop_front() {
                    break due;
                }
                if pending.stopped {
                    pending.running = false;
                    return;
                }
                changed.wait(&mut pending);
            }
        };
        (due.0.call)(due.0.data, due.0.function, due.1);
    }
}
