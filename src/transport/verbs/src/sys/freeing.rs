//! Threads for calls that can block: the destruction of objects.
//!
//! The kernel can block such a call for a minute, for example until all references to a queue pair are released, or on
//! iWARP until the peer responds. The adapter's progress thread serves all connections, so it passes objects to these
//! threads. Calls of the program destroy objects except address handles themselves, without a lock of this transport.
//!
//! Normally one thread runs all tasks, from the first task until the adapter is closed. If no task has been started for
//! [`BLOCKED_AFTER`], a further thread takes the next task, up to [`MAX_THREADS`]. Further threads end when there is no
//! task.
//!
//! A task owns its objects and their parents, so a queue pair is destroyed before its completion queues and its zone.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use host::lock::{Condvar, Mutex};
use host::memory::{self, NoMemory, Room};
use host::thread::{self, Id, isolate};

/// Maximum number of threads of an adapter. More would be needed only if this many calls block.
const MAX_THREADS: usize = 64;
/// Time without a started task after which the running calls count as blocked. Soft-RoCE destroys a queue pair in less.
const BLOCKED_AFTER: Duration = Duration::from_millis(10);

type Task = Box<dyn FnOnce() + Send>;

/// The threads that destroy objects of an adapter, and their tasks.
#[derive(Default)]
pub struct Freeing {
    state: Mutex<State>,
    /// Notified when a task is added, and when [`Freeing::close`] begins.
    added: Condvar,
    /// Notified when a thread becomes idle or ends.
    settled: Condvar,
    /// The progress thread, which must not destroy objects.
    progress: OnceLock<Id>,
}

#[derive(Default)]
struct State {
    tasks: VecDeque<Task>,
    /// Number of threads.
    threads: usize,
    /// Number of threads without a task, including those that start.
    idle: usize,
    /// Time at which a thread last took a task.
    taken: Option<Instant>,
    /// Set by [`Freeing::close`]: threads without a task end.
    closed: bool,
}

impl State {
    /// Returns whether another thread must start for the waiting tasks, and counts it.
    fn grows(&mut self) -> bool {
        let grows = !self.tasks.is_empty() && self.idle == 0 && self.threads < MAX_THREADS;
        if grows {
            (self.threads, self.idle) = (self.threads + 1, self.idle + 1);
        }
        grows
    }
}

impl Freeing {
    pub fn new() -> Result<Arc<Self>, NoMemory> {
        memory::arc(Freeing::default())
    }

    /// Records that the calling thread is the progress thread.
    pub fn spare_this_thread(&self) {
        let _ = self.progress.set(Id::current());
    }

    /// Returns whether the calling thread is the progress thread, which must not block.
    pub fn is_progress_thread(&self) -> bool {
        self.progress.get() == Some(&Id::current())
    }

    /// Runs `task` in a thread. Without memory, fails and drops `task`, which destroys its objects in this thread.
    pub fn run(self: &Arc<Self>, task: impl FnOnce() + Send + 'static) -> Result<(), NoMemory> {
        let task: Task = memory::boxed(task)?;
        let grows = {
            let mut state = self.state.lock();
            state.tasks.room(1)?;
            state.tasks.push_back(task);
            state.grows()
        };
        self.added.notify_all();
        if grows {
            self.grow();
        }
        Ok(())
    }

    /// Starts a thread that [`State::grows`] has counted. If it cannot start and there is no other thread, runs the
    /// tasks in this thread.
    fn grow(self: &Arc<Self>) {
        let own = self.clone();
        let Err(error) = thread::start(c"dat-verbs-free", move || own.work()) else { return };
        let left = {
            let mut state = self.state.lock();
            (state.threads, state.idle) = (state.threads - 1, state.idle - 1);
            if state.threads == 0 { std::mem::take(&mut state.tasks) } else { VecDeque::new() }
        };
        if !left.is_empty() {
            log::warn!("device: cannot start a thread to free objects, which may delay connections: {error}");
        }
        for task in left {
            isolate(task);
        }
        self.settled.notify_all();
    }

    fn work(self: Arc<Self>) {
        let mut state = self.state.lock();
        // Set while this thread takes tasks immediately. Otherwise it takes one only once the others count as blocked.
        let mut active = false;
        loop {
            let now = Instant::now();
            active |= state.threads == state.idle;
            let waits_until = state.taken.map(|taken| taken + BLOCKED_AFTER).filter(|&end| !active && now < end);
            if let (Some(end), false) = (waits_until, state.tasks.is_empty()) {
                self.added.wait_until(&mut state, end);
            } else if let Some(task) = state.tasks.pop_front() {
                state.taken = Some(now);
                state.idle -= 1;
                let grows = state.grows();
                drop(state);
                if grows {
                    self.grow();
                }
                isolate(task);
                state = self.state.lock();
                state.idle += 1;
                active = true;
            } else if state.closed || state.idle > 1 {
                break;
            } else {
                active = false;
                self.settled.notify_all();
                self.added.wait(&mut state);
            }
        }
        (state.threads, state.idle) = (state.threads - 1, state.idle - 1);
        drop(state);
        self.settled.notify_all();
    }

    /// Waits until all tasks have ended, at most until `limit`. Threads end after their tasks, which own their objects.
    pub fn close(&self, limit: Instant) {
        let mut state = self.state.lock();
        state.closed = true;
        self.added.notify_all();
        while state.threads > 0 && Instant::now() < limit {
            self.settled.wait_until(&mut state, limit);
        }
        if state.threads > 0 {
            log::info!("device: {} calls that free objects still block", state.threads - state.idle);
        }
    }
}

/// A parent of an object, which leads to the threads that destroy the object.
pub trait Ancestor: Send + 'static {
    fn freeing(&self) -> &Arc<Freeing>;
}

impl Ancestor for Arc<Freeing> {
    fn freeing(&self) -> &Arc<Freeing> {
        self
    }
}

impl<A: Ancestor, B: Send + 'static> Ancestor for (A, B) {
    fn freeing(&self) -> &Arc<Freeing> {
        self.0.freeing()
    }
}

impl<A: Ancestor, B: Send + 'static, C: Send + 'static> Ancestor for (A, B, C) {
    fn freeing(&self) -> &Arc<Freeing> {
        self.0.freeing()
    }
}

#[cfg(test)]
mod tests;
