//! The *door*: a thread that does nothing, through which peers reach the memory of this process.
//!
//! Copies between processes name their target by the number of a thread, which the kernel looks up when the copy
//! begins. Peers name the door. So they reach a process whose first thread has ended; and a process that changes its
//! door (another thread, another number, and the old one ends) has revoked all copies that peers have decided on but
//! not begun, even those of a peer that is stopped in between. Such a copy finds nobody; the peer then decides anew,
//! with the number of the new door.
//!
//! The number of a door that is gone is given to another thread only when the system has gone through all its numbers.
//!
//! A peer reads the number before it looks at flag and row (SYNC door), so it never uses a new number after an old
//! look. A peer that was stopped while the kernel gave out all numbers (/proc/sys/kernel/pid_max) could still write
//! through one that was given out again.

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

/// Bytes of a door's stack, on which next to nothing happens.
const STACK: usize = 64 * 1024;

/// One thread.
struct Sleeper {
    /// The change with which it came.
    serial: u64,
    note: Arc<Note>,
    thread: Thread,
}

/// What a door and the other threads share.
#[derive(Default)]
struct Note {
    state: Mutex<DoorState>,
    /// The state has changed.
    news: Condvar,
}

#[derive(Default)]
struct DoorState {
    /// The number of the door, once it is published.
    tid: i32,
    /// The door is to leave.
    leave: bool,
}

/// The doors of a process: the one that is published, and those that leave.
pub struct CopyTargetThread {
    /// Where the number of the door is published; 0 if there is none.
    sign: InShared<AtomicU32>,
    threads: Mutex<Threads>,
    /// The last change whose number is being published, or is.
    published: Arc<AtomicU64>,
}

#[derive(Default)]
struct Threads {
    /// The newest comes last.
    all: Vec<Sleeper>,
    /// The number of changes so far.
    changes: u64,
}

/// A moment, as changes of the door count.
#[derive(Clone, Copy, Debug)]
pub struct Moment(u64);

/// A change of the door.
#[derive(Clone, Copy, Debug)]
pub struct Change(u64);

impl CopyTargetThread {
    /// No door yet. The number of the one that there is will be in `sign`.
    pub fn new(sign: InShared<AtomicU32>) -> CopyTargetThread {
        CopyTargetThread { sign, threads: Mutex::default(), published: Arc::default() }
    }

    /// Makes the first door; returns when its number is published.
    ///
    /// # Errors
    /// There can be no further thread.
    pub fn open(&self) -> io::Result<()> {
        let mut threads = self.threads.lock();
        self.start(&mut threads)?;
        if let Some(sleeper) = threads.all.last() {
            sleeper.note.wait(|state| state.tid != 0);
        }
        Ok(())
    }

    /// This moment. Taken behind a fence, it comes after all stores before that.
    pub fn now(&self) -> Moment {
        Moment(self.published.load(Ordering::SeqCst))
    }

    /// Changes the door, unless that was begun after `since` already. See [`CopyTargetThread::is_changed`].
    pub fn change(&self, since: Moment) -> Change {
        let mut threads = self.threads.lock();
        let published = self.published.load(Ordering::SeqCst);
        // A number that is published later than `since` is as good as one that is asked for now.
        if published > since.0 || threads.changes > published {
            return Change(threads.changes);
        }
        if let Err(error) = self.start(&mut threads) {
            log::warn!("shm: no thread for peers to reach this process by: {error}");
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

    /// True if no peer can find this process by a number from before the change.
    pub fn is_changed(&self, change: Change) -> bool {
        let mut threads = self.threads.lock();
        while let Some(at) = threads.all.iter().position(|sleeper| sleeper.is_gone()) {
            threads.all.remove(at).thread.join();
        }
        let published = self.published.load(Ordering::SeqCst) >= change.0;
        published && threads.all.iter().all(|sleeper| sleeper.serial >= change.0)
    }

    /// Ends all doors; peers can no longer reach this process.
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

    /// Starts another door, which publishes its number and sends the one before away.
    fn start(&self, threads: &mut Threads) -> io::Result<()> {
        let serial = threads.changes + 1;
        let note = Arc::<Note>::default();
        let before = threads.all.last().map(|sleeper| sleeper.note.clone());
        let (own, sign, published) = (note.clone(), self.sign.clone(), self.published.clone());
        let run = move || {
            let tid = gettid().as_raw_nonzero().get();
            // The door before publishes its number first, or it would publish it over this one.
            if let Some(note) = &before {
                note.wait(|state| state.tid != 0);
            }
            // SYNC door: the serial number is stored before the thread's number. A call that closed something and then
            // found the old serial number did so before this store, so a peer that has the new thread's number finds it
            // closed.
            published.store(serial, Ordering::SeqCst);
            sign.store(tid as u32, Ordering::SeqCst);
            drop(sign);
            own.set(|state| state.tid = tid);
            if let Some(note) = before {
                note.set(|state| state.leave = true);
            }
            own.wait(|state| state.leave);
        };
        let thread = thread::start_on(STACK, c"dat-shm-door", run)?;
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
    /// True if the thread was to leave, and the kernel no longer finds it, or finds it without memory. A thread that is
    /// joined may still be found for a moment.
    fn is_gone(&self) -> bool {
        let DoorState { tid, leave } = *self.note.state.lock();
        let Some(pid) = Pid::from_raw(tid).filter(|_| leave) else { return false };
        let own = std::process::id() as i32;
        // A debugger may keep what is left of the thread.
        getpriority_process(Some(pid)) == Err(Errno::SRCH)
            || (task::is_visible(own) && task::is_own_proc().unwrap_or(false) && task::doing(own, tid) == Doing::Gone)
    }
}

impl Note {
    fn set(&self, change: impl FnOnce(&mut DoorState)) {
        change(&mut self.state.lock());
        self.news.notify_all();
    }

    fn wait(&self, until: impl Fn(&DoorState) -> bool) {
        let mut state = self.state.lock();
        while !until(&state) {
            self.news.wait(&mut state);
        }
    }
}

#[cfg(test)]
mod tests;
