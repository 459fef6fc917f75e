// SPDX-License-Identifier: MIT OR Apache-2.0

//! Child processes that end at their deadline, or with this process.
//!
//! Each child leads a process group, so that its remaining processes can be killed. A terminal therefore interrupts
//! only this process, which ends the live groups ([`end_all_on_signals`]).

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, test_kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Time between SIGTERM, at a child's deadline, and SIGKILL.
const GRACE: Duration = Duration::from_secs(10);

static GROUPS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Directories of [`remove_on_signals`].
static DIRECTORIES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The end of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Exited with this status.
    Exited(i32),
    /// Killed by this signal.
    Signalled(i32),
    /// Killed at its deadline.
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
    pub fn spawn(command: &mut Command) -> io::Result<Group> {
        // Hold the lock until the insertion, so that `end_all_on_signals` finds the group.
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        let child = command.process_group(0).spawn()?;
        let pid = Pid::from_child(&child);
        groups.insert(pid.as_raw_nonzero().get());
        Ok(Group { child, pid })
    }

    fn signal(&self, signal: Signal) {
        // Ignore errors: the group may have no process left.
        let _ = kill_process_group(self.pid, signal);
    }

    /// Waits for the child, then kills the rest of its group. At the deadline the group gets SIGTERM, and after
    /// [`GRACE`] SIGKILL. Returns how the child ended, and the CPU time of the child and of children that it waited
    /// for.
    pub fn wait(mut self, limit: Duration) -> io::Result<(End, Duration)> {
        let timed_out = !self.ends_within(limit)?;
        if timed_out {
            self.signal(Signal::TERM);
            self.ends_within(GRACE)?;
        }
        // Kill before the child is reaped: until then, the ID of its group is not reused.
        self.signal(Signal::KILL);
        let cpu = self.cpu_time().unwrap_or_default();
        let status = self.child.wait()?;
        GROUPS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.pid.as_raw_nonzero().get());
        Ok((if timed_out { End::TimedOut } else { status.into() }, cpu))
    }

    /// Returns the CPU time of an unreaped child: fields 14 to 17 of its stat line in /proc.
    fn cpu_time(&self) -> Option<Duration> {
        let line = fs::read_to_string(format!("/proc/{}/stat", self.pid.as_raw_nonzero())).ok()?;
        let fields = line.rsplit_once(')')?.1.split_whitespace();
        let ticks: u64 = fields.skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
        Some(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
    }

    /// Waits for the end of the child, for at most `limit`. Returns whether it ended. Does not reap it.
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

/// Registers a directory that is removed if a signal ends this process. Before a normal end, the caller must remove the
/// directory.
pub fn remove_on_signals(directory: &Path) {
    DIRECTORIES.lock().unwrap_or_else(PoisonError::into_inner).push(directory.to_path_buf());
}

/// Starts a thread that ends all groups and this process on SIGINT, SIGTERM or SIGHUP. A group has the time `grace` to
/// end by itself, because a child that runs tests must end its own groups.
pub fn end_all_on_signals(grace: Duration) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::spawn(move || {
        let Some(signal) = signals.forever().next() else { return };
        // Hold the lock until this process ends, so that no further group starts.
        let groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        let pids: Vec<Pid> = groups.iter().filter_map(|&pid| Pid::from_raw(pid)).collect();
        let signal_all = |signal| {
            for &pid in &pids {
                let _ = kill_process_group(pid, signal);
            }
        };
        signal_all(Signal::TERM);
        let until = Instant::now() + grace;
        while Instant::now() < until && pids.iter().any(|&pid| test_kill_process_group(pid).is_ok()) {
            thread::sleep(Duration::from_millis(20));
        }
        signal_all(Signal::KILL);
        for directory in DIRECTORIES.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = fs::remove_dir_all(directory);
        }
        std::process::exit(128 + signal);
    });
    Ok(())
}
