//! The *target thread*: an idle thread that peers name as the target of their copies.
//!
//! The kernel looks up the target of process_vm_readv and process_vm_writev when the copy starts. So a process that
//! replaces its target thread revokes all copies that have not started, even by a stopped peer. Such a copy finds no
//! thread; the peer then checks its access again and uses the new thread. A copy that names the target thread also
//! works after the process's first thread has exited.
//!
//! A peer loads the id before it checks flag and row (SYNC target), so it never uses a new id after an old check. The
//! kernel reuses an id only after it has assigned all others. So only a peer that is stopped during all these
//! assignments (/proc/sys/kernel/pid_max) could write through a reused id.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use host::lock::{Condvar, Mutex};
use host::thread::{self, Thread};
use rustix::io::Errno;
use rustix::process::{Pid, getpriority_process};
use rustix::thread::gettid;

use crate::os::memory::InShared;
use crate::os::task::{self, Doing};

const STACK: usize = 64 * 1024;

struct Sleeper {
    serial: u64,
    note: Arc<Note>,
    thread: Thread,
}

#[derive(Default)]
struct Note {
    state: Mutex<TargetState>,
    changed: Condvar,
}

#[derive(Default)]
struct TargetState {
    tid: i32,
    leave: bool,
}

/// The target threads of a process: the published thread, and earlier threads that are exiting.
pub struct CopyTargetThread {
    /// The id of the target thread, which peers read; 0 if there is no thread.
    sign: InShared<AtomicU32>,
    threads: Mutex<Threads>,
    /// Number of the last change of the target thread that has been, or is being, published.
    published: Arc<AtomicU64>,
}

#[derive(Default)]
struct Threads {
    all: Vec<Sleeper>,
    changes: u64,
}

/// A point in time: the number of changes of the target thread before it.
#[derive(Clone, Copy, Debug)]
pub struct Moment(u64);

#[derive(Clone, Copy, Debug)]
pub struct Change(u64);

impl CopyTargetThread {
    pub fn new(sign: InShared<AtomicU32>) -> CopyTargetThread {
        CopyTargetThread { sign, threads: Mutex::default(), published: Arc::default() }
    }

    pub fn open(&self) -> io::Result<()> {
        let mut threads = self.threads.lock();
        self.start(&mut threads)?;
        if let Some(sleeper) = threads.all.last() {
            sleeper.note.wait(|state| state.tid != 0);
        }
        Ok(())
    }

    /// Returns the current [`Moment`]. The caller must execute a fence between the revocation of access and this call.
    pub fn now(&self) -> Moment {
        Moment(self.published.load(Ordering::SeqCst))
    }

    /// Replaces the target thread, unless a replacement was published after `since` or is in progress. See
    /// [`CopyTargetThread::is_changed`].
    pub fn change(&self, since: Moment) -> Change {
        let mut threads = self.threads.lock();
        let published = self.published.load(Ordering::SeqCst);
        // A peer that uses an id published after `since` sees the revocation, so no further replacement is needed.
        if published > since.0 || threads.changes > published {
            return Change(threads.changes);
        }
        if let Err(error) = self.start(&mut threads) {
            log::warn!("shm: cannot start the thread that serves copies of peers: {error}");
            if let Some(last) = threads.all.last() {
                last.note.wait(|state| state.tid != 0);
            }
            threads.changes += 1;
            self.published.store(threads.changes, Ordering::SeqCst);
            self.sign.store(0, Ordering::SeqCst);
            threads.all.iter().for_each(|sleeper| sleeper.note.set(|state| state.leave = true));
        }
        Change(threads.changes)
    }

    /// Returns whether the replacement is published, and all earlier target threads have exited.
    pub fn is_changed(&self, change: Change) -> bool {
        let mut threads = self.threads.lock();
        while let Some(at) = threads.all.iter().position(|sleeper| sleeper.is_gone()) {
            threads.all.remove(at).thread.join();
        }
        let published = self.published.load(Ordering::SeqCst) >= change.0;
        published && threads.all.iter().all(|sleeper| sleeper.serial >= change.0)
    }

    pub fn close(&self) {
        let sleepers = std::mem::take(&mut self.threads.lock().all);
        for sleeper in &sleepers {
            sleeper.note.wait(|state| state.tid != 0);
            sleeper.note.set(|state| state.leave = true);
        }
        self.sign.store(0, Ordering::SeqCst);
        for sleeper in sleepers {
            sleeper.thread.join();
        }
    }

    /// Starts a target thread, which publishes its id and ends the previous one.
    fn start(&self, threads: &mut Threads) -> io::Result<()> {
        let serial = threads.changes + 1;
        let note = Arc::<Note>::default();
        let before = threads.all.last().map(|sleeper| sleeper.note.clone());
        let (own, sign, published) = (note.clone(), self.sign.clone(), self.published.clone());
        let run = move || {
            let tid = gettid().as_raw_nonzero().get();
            // Waits until the previous target thread has published its id, which could otherwise overwrite this id.
            if let Some(note) = &before {
                note.wait(|state| state.tid != 0);
            }
            // SYNC target: the serial number precedes the id. A call that loads the old number has revoked access
            // before this store, so a peer that uses the new id sees the revocation.
            published.store(serial, Ordering::SeqCst);
            sign.store(tid as u32, Ordering::SeqCst);
            drop(sign);
            own.set(|state| state.tid = tid);
            if let Some(note) = before {
                note.set(|state| state.leave = true);
            }
            own.wait(|state| state.leave);
        };
        let thread = thread::start_on(STACK, c"dat-shm-target", run)?;
        threads.changes = serial;
        threads.all.push(Sleeper { serial, note, thread });
        Ok(())
    }
}

impl Drop for CopyTargetThread {
    fn drop(&mut self) {
        self.close();
    }
}

impl Sleeper {
    /// Returns whether the target thread had to exit, and has exited.
    fn is_gone(&self) -> bool {
        let TargetState { tid, leave } = *self.note.state.lock();
        let Some(pid) = Pid::from_raw(tid).filter(|_| leave) else { return false };
        let own = std::process::id() as i32;
        // A debugger can keep an exited thread as a zombie, which `getpriority` still finds.
        getpriority_process(Some(pid)) == Err(Errno::SRCH)
            || (task::is_visible(own) && task::is_own_proc().unwrap_or(false) && task::doing(own, tid) == Doing::Gone)
    }
}

impl Note {
    fn set(&self, change: impl FnOnce(&mut TargetState)) {
        change(&mut self.state.lock());
        self.changed.notify_all();
    }

    fn wait(&self, until: impl Fn(&TargetState) -> bool) {
        let mut state = self.state.lock();
        while !until(&state) {
            self.changed.wait(&mut state);
        }
    }
}

#[cfg(test)]
mod tests;
