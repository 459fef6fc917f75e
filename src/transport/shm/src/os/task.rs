//! What the system tells in /proc about a thread of another process. Fast calls may ask, so the thread that reads the
//! files cannot be cancelled there.
//!
//! Two processes copy only if each finds the other in /proc under the number by which it knows itself. So processes of
//! different pid namespaces move bytes through the ring, and so do those of a namespace that sees another one's /proc,
//! where the same numbers are other processes.

use std::fs;
use std::io;
use std::time::{Duration, SystemTime};

use host::cancel::uncancelled;
use rustix::time::{ClockId, clock_gettime};

/// What a thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// It is over.
    Gone,
    /// It is stopped: by a signal, by a tracer, or with its control group. It is in no copy between processes, since
    /// a thread stops only before and after a system call.
    Stopped,
    /// It sleeps, but not in a copy between processes.
    Elsewhere,
    /// It sleeps in a copy between processes, or may, for all that can be found out at this moment.
    Copying,
    /// It runs, or would if it had a processor, and has run for this many ticks ([`TICKS_PER_SECOND`]) in all.
    Running(u64),
    /// It sleeps, and this process may not know where.
    Asleep,
}

/// Ticks of the time that a thread has run.
pub const TICKS_PER_SECOND: u64 = 100;

fn read(path: &str) -> io::Result<String> {
    uncancelled(|| fs::read_to_string(path))
}

fn exists(path: &str) -> bool {
    uncancelled(|| fs::exists(path)).unwrap_or(false)
}

/// The numbers of a thread, from its file of that name: in the pid namespace of this /proc, and in all between that and
/// the thread's own.
fn numbers(status: &str) -> impl DoubleEndedIterator<Item = &str> {
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
    line.split_ascii_whitespace()
}

/// True if /proc numbers processes as this process does. In a pid namespace that was made without a /proc of its own it
/// shows others under the same numbers.
///
/// # Errors
/// It could not be found out.
pub fn is_own_proc() -> io::Result<bool> {
    Ok(numbers(&read("/proc/thread-self/status")?).count() == 1)
}

/// True if `tid` is a thread of the process `pid`, and that process numbers it as /proc does. Processes of other pid
/// namespaces number their threads otherwise.
///
/// # Errors
/// It could not be found out, for want of a descriptor or memory.
pub fn is_thread(pid: libc::pid_t, tid: libc::pid_t) -> io::Result<bool> {
    let status = match read(&format!("/proc/{pid}/task/{tid}/status")) {
        Err(error) if is_absent(&error) => return Ok(false),
        status => status?,
    };
    let own = numbers(&status).next_back().and_then(|number| number.parse().ok());
    Ok(own == Some(tid))
}

/// Whether /proc shows the threads of the process `pid`.
pub fn is_visible(pid: libc::pid_t) -> bool {
    pid > 0 && exists(&format!("/proc/{pid}/task"))
}

/// When the process `pid` began, by the clock of files; nothing if that cannot be found out.
pub fn beginning(pid: libc::pid_t) -> Option<SystemTime> {
    let stat = read(&format!("/proc/{pid}/stat")).ok()?;
    let ticks: u64 = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace().nth(19)?.parse().ok()?;
    let now = clock_gettime(ClockId::Boottime);
    let now = Duration::new(now.tv_sec.try_into().ok()?, now.tv_nsec.try_into().ok()?);
    let age = now.saturating_sub(Duration::from_millis(ticks.saturating_mul(1000 / TICKS_PER_SECOND)));
    SystemTime::now().checked_sub(age)
}

/// What the thread `tid` of the process `pid` is doing, as this process counts them.
pub fn doing(pid: libc::pid_t, tid: libc::pid_t) -> Doing {
    let read = |file: &str| read(&format!("/proc/{pid}/task/{tid}/{file}"));
    let stat = match read("stat") {
        Ok(stat) => stat,
        Err(error) if is_absent(&error) && exists("/proc/thread-self/stat") => return Doing::Gone,
        // There may be no descriptor or no memory to look with, which tells nothing about the thread.
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

/// True if a file is not there, or no longer: the thread is over, or there is no /proc.
fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

/// State of a thread, and its ticks in user mode and in the kernel.
fn parse_stat(stat: &str) -> Option<(u8, u64)> {
    // The name of the thread, in parentheses, may contain anything.
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let user: u64 = fields.nth(10)?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some((state, user.saturating_add(system)))
}

/// The system call that a thread is in.
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

/// True if that is where the kernel keeps the threads of a frozen control group. They go there on their way out of a
/// system call, whose number is still shown.
fn is_frozen(place: &str) -> bool {
    matches!(place, "do_freezer_trap" | "__refrigerator" | "get_signal")
}

#[cfg(test)]
mod tests;
