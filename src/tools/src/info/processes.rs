//! The processes that have an adapter of shm open, and their counters. A process responds only to its user, so root
//! acts as that user.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use dat::Api;
use dat_census::copies::Obstacle;
use dat_census::{OpenAdapter, PLACE, PREFIX, Process};
use dat_registry::search::{Places, find};
use rustix::process::geteuid;
use serde_json::{Value, json};

use super::explain::adapter::{Kind, kind_of};
use super::{shown, version, words};
use crate::print::{self, columns};
use crate::tool::Outcome;

struct Found {
    user: u32,
    directory: PathBuf,
    command: Option<String>,
    process: Process,
}

const HEADS: &str =
    "PID COMMAND USER ADAPTER API CONNECTIONS MADE FAILED SENT BYTES RECEIVED BYTES STALLS LOST DIRECT AGE";

pub fn run(json: bool) -> anyhow::Result<Outcome> {
    let root = geteuid().is_root();
    let mut all = Vec::new();
    for directory in directories(root) {
        match ask(&directory, root) {
            Ok(found) => all.extend(found),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {}
            Err(error) => print::complain(format_args!("{}: {error}", shown(&directory.to_string_lossy()))),
        }
    }
    all.sort_by_key(|found| found.process.pid);
    if json {
        let processes: Vec<_> = all.iter().map(object).collect();
        print::line(format_args!("{:#}", json!({ "processes": processes })))?;
    } else if all.is_empty() {
        let (whose, others) = match root {
            true => (String::new(), ""),
            false => (format!(" of user {}", geteuid().as_raw()), "; root sees the processes of all users"),
        };
        print::line(format_args!("No process{whose} has an adapter of the provider shm open{others}."))?;
    } else {
        print::line(columns(&HEADS.split(' ').collect::<Vec<_>>(), all.iter().flat_map(rows)))?;
    }
    Ok(Outcome::Fine)
}

/// Returns the default directory (for root, of every user) and the configured directories.
fn directories(root: bool) -> BTreeSet<PathBuf> {
    let user = geteuid().as_raw();
    let mut all = BTreeSet::from([dat_census::directory("", user)]);
    if root {
        let is_default = |name: &str| name.strip_prefix(PREFIX).is_some_and(|user| user.parse::<u32>().is_ok());
        let entries = fs::read_dir(PLACE).into_iter().flatten().flatten();
        all.extend(entries.filter(|entry| is_default(&entry.file_name().to_string_lossy())).map(|entry| entry.path()));
    }
    for api in Api::ALL {
        let found = find(&Places::of_library(None), version(api), &mut |_| {});
        let of_shm = found.entries.iter().filter(|(_, entry)| matches!(kind_of(entry), Kind::Shm));
        all.extend(of_shm.map(|(_, entry)| dat_census::directory(&words(&entry.instance_data), user)));
    }
    all
}

/// Queries the processes of a directory; root does so as the directory's owner.
fn ask(directory: &Path, root: bool) -> io::Result<Vec<Found>> {
    let user = if root { fs::symlink_metadata(directory)?.uid() } else { geteuid().as_raw() };
    let processes = {
        let _owner = if root { Some(set_effective_user(user).map(|()| Acting)?) } else { None };
        dat_census::processes(directory)?
    };
    let command = |pid: i32| fs::read_to_string(format!("/proc/{pid}/comm")).ok();
    let found = |process: Process| Found {
        user,
        directory: directory.to_owned(),
        command: command(process.pid).filter(|_| process.pid > 0).map(|name| name.trim_end().to_owned()),
        process,
    };
    Ok(processes.into_iter().map(found).collect())
}

/// Restores the effective user root on drop.
struct Acting;

impl Drop for Acting {
    fn drop(&mut self) {
        // The real user is root, so this succeeds.
        assert!(set_effective_user(0).is_ok(), "cannot return to root");
    }
}

fn set_effective_user(user: u32) -> io::Result<()> {
    // SAFETY: the call has no preconditions.
    if unsafe { libc::seteuid(user) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn user_name(user: u32) -> String {
    // SAFETY: this process has no other thread now.
    let entry = unsafe { libc::getpwuid(user) };
    // SAFETY: NULL, or an entry that is valid until the next such call.
    let Some(entry) = (unsafe { entry.as_ref() }) else { return user.to_string() };
    // SAFETY: a C string, valid as long as its entry.
    unsafe { CStr::from_ptr(entry.pw_name) }.to_string_lossy().into_owned()
}

fn object(found: &Found) -> Value {
    let adapters = found.process.adapters.as_deref().map(|adapters| adapters.iter().map(adapter).collect::<Vec<_>>());
    json!({
        "pid": (found.process.pid > 0).then_some(found.process.pid),
        "command": found.command,
        "user": found.user,
        "directory": found.directory.to_string_lossy(),
        "adapters": adapters,
    })
}

fn adapter(of: &OpenAdapter) -> Value {
    macro_rules! counters {
        ($($field:ident)*) => {
            json!({
                "name": of.name,
                "version": format!("{}.{}", of.major, of.minor),
                "seconds": of.age,
                "obstacle": of.obstacle.map(Obstacle::word),
                $(stringify!($field): of.$field,)*
            })
        };
    }
    counters! {
        connections established failures async_events events_lost peers direct_peers sends send_bytes rdma_writes rdma_write_bytes rdma_reads
        rdma_read_bytes receives receive_bytes request_stalls receive_stalls peer_wakeups
    }
}

fn rows(found: &Found) -> Vec<Vec<String>> {
    let Found { process, command, .. } = found;
    let pid = if process.pid > 0 { process.pid.to_string() } else { "-".to_owned() };
    let head = [pid, command.as_deref().map_or("-".to_owned(), shown), user_name(found.user)];
    let row = |cells: [String; 13]| head.iter().cloned().chain(cells).collect();
    match &process.adapters {
        Some(adapters) => adapters.iter().map(|adapter| row(cells(adapter))).collect(),
        None => vec![row(std::array::from_fn(|_| "-".to_owned()))],
    }
}

fn cells(of: &OpenAdapter) -> [String; 13] {
    [
        shown(&of.name),
        format!("{}.{}", of.major, of.minor),
        of.connections.to_string(),
        of.established.to_string(),
        of.failures.to_string(),
        of.sends.saturating_add(of.rdma_writes).to_string(),
        bytes(of.send_bytes.saturating_add(of.rdma_write_bytes)),
        of.receives.saturating_add(of.rdma_reads).to_string(),
        bytes(of.receive_bytes.saturating_add(of.rdma_read_bytes)),
        format!("{}/{}", of.request_stalls, of.receive_stalls),
        of.events_lost.to_string(),
        direct(of),
        age(of.age),
    ]
}

/// Returns whether a process copies directly from and to its peers: `yes`, the reason why not, or both numbers of peers.
fn direct(of: &OpenAdapter) -> String {
    match of.obstacle {
        None if of.peers == 0 => "-".to_owned(),
        None if of.direct_peers == of.peers => "yes".to_owned(),
        None => format!("{}/{}", of.direct_peers, of.peers),
        Some(obstacle) if of.direct_peers == 0 => format!("no:{}", obstacle.word()),
        Some(obstacle) => format!("{}/{}:{}", of.direct_peers, of.peers, obstacle.word()),
    }
}

/// Returns bytes with one decimal in the largest unit that they reach.
fn bytes(number: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = number.checked_ilog2().unwrap_or(0) as usize / 10;
    match power {
        0 => format!("{number} B"),
        _ => format!("{:.1} {}", number as f64 / (1_u64 << (10 * power)) as f64, UNITS[power]),
    }
}

/// Returns a time in ps(1) format: `[[DAYS-]HH:]MM:SS`.
fn age(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let rest = format!("{:02}:{:02}", seconds / 60 % 60, seconds % 60);
    match (days, hours) {
        (0, 0) => rest,
        (0, _) => format!("{hours:02}:{rest}"),
        _ => format!("{days}-{hours:02}:{rest}"),
    }
}

#[cfg(test)]
mod tests;
