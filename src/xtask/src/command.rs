// SPDX-License-Identifier: MIT OR Apache-2.0

//! Children that end with their deadline, or with this process.
//!
//! Each child leads a process group of its own, so that the processes that it leaves behind can be killed. A terminal
//! therefore sends its interrupt to this process only, which ends the groups that are alive ([`end_all_on_signals`]).

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(10);

/// Groups that are alive.
static GROUPS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited with this status.
    Exited(i32),
    /// This signal killed it.
    Signalled(i32),
    /// It was killed at its deadline.
    TimedOut,
}

impl End {
    /// Returns whether the child exited with status 0.
    pub fn is_success(self) -> bool {
        self == End::Exited(0)
    }
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> End {
        match status.code() {
            Some(code) => End::Exited(code),
            None => End::Signalled(status.signal().unwrap_or(0)),
        }
    }
}

/// A child that leads a process group.
pub struct Group {
    child: Child,
    pid: Pid,
}

impl Group {
    /// Starts `command` as the leader of a new process group.
    pub fn spawn(command: &mut Command) -> io::Result<Group> {
        // The lock is held over the start, so that a signal finds the group.
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        let child = command.process_group(0).spawn()?;
        let pid = Pid::from_child(&child);
        groups.insert(pid.as_raw_nonzero().get());
        Ok(Group { child, pid })
    }

    /// Sends a signal to the processes of the group.
    fn signal(&self, signal: Signal) {
        // The group may have no process left.
        let _ = kill_process_group(self.pid, signal);
    }

    /// Waits for the child, then kills what is left of its group. At the deadline the group gets SIGTERM, and SIGKILL if the
    /// child is still alive after [`GRACE`].
    pub fn wait(mut self, limit: Duration) -> io::Result<End> {
        let timed_out = !self.ends_within(limit)?;
        if timed_out {
            self.signal(Signal::TERM);
            self.ends_within(GRACE)?;
        }
        // Before the child is reaped, its number cannot belong to another group.
        self.signal(Signal::KILL);
        let status = self.child.wait()?;
        GROUPS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.pid.as_raw_nonzero().get());
        Ok(if timed_out { End::TimedOut } else { status.into() })
    }

    /// Returns whether the child ends within `limit`. Does not reap it.
    fn ends_within(&self, limit: Duration) -> io::Result<bool> {
        let fd = pidfd_open(self.pid, PidfdFlags::empty())?;
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            match poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&timeout)) {
                Ok(0) => return Ok(false),
                Ok(_) => return Ok(true),
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }
}

/// Ends all groups and this process when it is interrupted or terminated.
pub fn end_all_on_signals() -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
            let pids = || groups.iter().filter_map(|&pid| Pid::from_raw(pid));
            for pid in pids() {
                let _ = kill_process_group(pid, Signal::TERM);
            }
            // A child that runs tests ends the groups of its own.
            thread::sleep(Duration::from_secs(1));
            for pid in pids() {
                let _ = kill_process_group(pid, Signal::KILL);
            }
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}
