//! The state of other processes' threads in /proc. Reads disable thread cancellation, because data transfer calls,
//! which are no cancellation points, also read these files.
//!
//! Two processes copy only if each sees the other in /proc under the id that the other itself uses. Therefore,
//! processes of different pid namespaces use the ring, as do processes that see the /proc of another namespace, where
//! their ids belong to other processes.

use std::fs;
use std::io;
use std::time::{Duration, SystemTime};

use dat_census::copies::namespace_ids;
use host::cancel::uncancelled;
use rustix::time::{ClockId, clock_gettime};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    Gone,
    /// Stopped by a signal, a tracer or the freezer, thus outside of system calls.
    Stopped,
    /// Asleep outside of copies between processes.
    Elsewhere,
    /// Asleep in a copy between processes, or unknown.
    Copying,
    /// Running or runnable, after this many ticks of CPU time ([`TICKS_PER_SECOND`]).
    Running(u64),
    /// Asleep; this process cannot see in which call.
    Asleep,
}

pub const TICKS_PER_SECOND: u64 = 100;

fn read(path: &str) -> io::Result<String> {
    uncancelled(|| fs::read_to_string(path))
}

fn exists(path: &str) -> bool {
    uncancelled(|| fs::exists(path)).unwrap_or(false)
}

/// Returns whether the IDs in /proc are the IDs in this process's pid namespace; an error if that cannot be determined.
pub fn is_own_proc() -> io::Result<bool> {
    Ok(namespace_ids(&read("/proc/thread-self/status")?).count() == 1)
}

/// Returns whether `tid` is a thread of process `pid` in both the process's and this /proc's pid namespace; an error
/// for lack of a descriptor or memory.
pub fn is_thread(pid: libc::pid_t, tid: libc::pid_t) -> io::Result<bool> {
    let status = match read(&format!("/proc/{pid}/task/{tid}/status")) {
        Err(error) if is_absent(&error) => return Ok(false),
        status => status?,
    };
    let own = namespace_ids(&status).next_back().and_then(|number| number.parse().ok());
    Ok(own == Some(tid))
}

pub fn is_visible(pid: libc::pid_t) -> bool {
    pid > 0 && exists(&format!("/proc/{pid}/task"))
}

/// Returns the start time of process `pid` by the file clock; `None` if it is unknown.
pub fn beginning(pid: libc::pid_t) -> Option<SystemTime> {
    let stat = read(&format!("/proc/{pid}/stat")).ok()?;
    let ticks: u64 = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace().nth(19)?.parse().ok()?;
    let now = clock_gettime(ClockId::Boottime);
    let now = Duration::new(now.tv_sec.try_into().ok()?, now.tv_nsec.try_into().ok()?);
    let age = now.saturating_sub(Duration::from_millis(ticks.saturating_mul(1000 / TICKS_PER_SECOND)));
    SystemTime::now().checked_sub(age)
}

pub fn doing(pid: libc::pid_t, tid: libc::pid_t) -> Doing {
    let read = |file: &str| read(&format!("/proc/{pid}/task/{tid}/{file}"));
    let stat = match read("stat") {
        Ok(stat) => stat,
        Err(error) if is_absent(&error) && exists("/proc/thread-self/stat") => return Doing::Gone,
        // The read has failed, for example for lack of a descriptor or memory, so the thread may be copying.
        Err(_) => return Doing::Copying,
    };
    let Some((state, ticks)) = parse_stat(&stat) else { return Doing::Asleep };
    match state {
        b'Z' | b'X' | b'x' => Doing::Gone,
        b'T' | b't' => Doing::Stopped,
        b'R' => Doing::Running(ticks),
        _ => match read("syscall").as_deref().map(parse_syscall) {
            Ok(Some(Call::Running)) => Doing::Running(ticks),
            Ok(Some(Call::Copy)) if read("wchan").is_ok_and(|place| is_frozen(&place)) => Doing::Stopped,
            Ok(Some(Call::Copy)) => Doing::Copying,
            Ok(Some(Call::Other)) => Doing::Elsewhere,
            Ok(None) | Err(_) => Doing::Asleep,
        },
    }
}

fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

fn parse_stat(stat: &str) -> Option<(u8, u64)> {
    // The thread's name, in parentheses, can contain any characters.
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let user: u64 = fields.nth(10)?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some((state, user.saturating_add(system)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Running,
    Copy,
    Other,
}

fn parse_syscall(text: &str) -> Option<Call> {
    let number = text.split_ascii_whitespace().next()?;
    if number == "running" {
        return Some(Call::Running);
    }
    let number: libc::c_long = number.parse().ok()?;
    let copy = number == libc::SYS_process_vm_readv || number == libc::SYS_process_vm_writev;
    Some(if copy { Call::Copy } else { Call::Other })
}

/// Returns whether a thread that sleeps in the kernel function `place` is frozen. A frozen thread has left the system
/// call that /proc shows.
fn is_frozen(place: &str) -> bool {
    matches!(place, "do_freezer_trap" | "__refrigerator" | "get_signal")
}

#[cfg(test)]
mod tests;
