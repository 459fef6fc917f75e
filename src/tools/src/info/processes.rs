//! The processes that have an adapter open, and what they have moved.
//!
//! Processes that meet in a directory answer every process of their user; root asks as that user. The kernel says which
//! process answers, /proc its command.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use dat::Api;
use dat_registry::search::{Places, find};
use dat_shm::{OpenAdapter, Process};
use rustix::process::geteuid;
use serde_json::{Value, json};

use super::explain::adapter::{Kind, kind_of};
use super::explain::shm::{PLACE, PREFIX, directory};
use super::{shown, version, words};
use crate::print::{self, columns};
use crate::tool::Outcome;

/// A process, and where it was found.
struct Found {
    user: u32,
    directory: PathBuf,
    command: Option<String>,
    process: Process,
}

/// Shows the table.
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
        let whose = if root { String::new() } else { format!(" of user {}", geteuid().as_raw()) };
        let others = if root { "" } else { "; root sees those of all users" };
        print::line(format_args!("No process{whose} was found that has an adapter of the provider shm open{others}."))?;
    } else {
        let heads = [
            "PID",
            "COMMAND",
            "USER",
            "ADAPTER",
            "API",
            "CONNECTIONS",
            "MADE",
            "FAILED",
            "SENT",
            "BYTES",
            "RECEIVED",
            "BYTES",
            "STALLS",
            "AGE",
        ];
        print::line(columns(&heads, all.iter().flat_map(rows)))?;
    }
    Ok(Outcome::Fine)
}

/// Where processes meet: the usual place, of all users for root, and those that the configuration names.
fn directories(root: bool) -> BTreeSet<PathBuf> {
    let user = geteuid().as_raw();
    let mut all = BTreeSet::from([directory("", user)]);
    if root {
        let entries = fs::read_dir(PLACE).into_iter().flatten().flatten();
        all.extend(entries.filter(|entry| is_usual(&entry.file_name().to_string_lossy())).map(|entry| entry.path()));
    }
    for api in Api::ALL {
        let found = find(&Places::of_library(None), version(api), &mut |_| {});
        let of_shm = found.entries.iter().filter(|(_, entry)| matches!(kind_of(entry), Kind::Shm));
        all.extend(of_shm.map(|(_, entry)| directory(&words(&entry.instance_data), user)));
    }
    all
}

/// Whether this is the name of a user's directory.
fn is_usual(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|user| user.parse::<u32>().is_ok())
}

/// Asks the processes of a directory; root does so as its owner, since they answer nobody else.
fn ask(directory: &Path, root: bool) -> io::Result<Vec<Found>> {
    let user = if root { fs::symlink_metadata(directory)?.uid() } else { geteuid().as_raw() };
    let processes = {
        let _owner = if root { Some(Acting::become_user(user)?) } else { None };
        dat_shm::processes(directory)?
    };
    let found = |process: Process| Found {
        user,
        directory: directory.to_owned(),
        command: (process.pid > 0)
            .then(|| fs::read_to_string(format!("/proc/{}/comm", process.pid)).ok())
            .flatten()
            .map(|command| command.trim_end().to_owned()),
        process,
    };
    Ok(processes.into_iter().map(found).collect())
}

/// Root acts as another user until this is dropped.
struct Acting;

impl Acting {
    fn become_user(user: u32) -> io::Result<Acting> {
        // SAFETY: the call has no preconditions.
        if unsafe { libc::seteuid(user) } == 0 { Ok(Acting) } else { Err(io::Error::last_os_error()) }
    }
}

impl Drop for Acting {
    fn drop(&mut self) {
        // SAFETY: as above. Root may always be root again.
        assert_eq!(unsafe { libc::seteuid(0) }, 0, "root cannot be root again");
    }
}

/// The name of a user, or the number.
fn user_name(user: u32) -> String {
    // SAFETY: no other thread runs now.
    let entry = unsafe { libc::getpwuid(user) };
    if entry.is_null() {
        return user.to_string();
    }
    // SAFETY: the name of an entry is a C string, which stays until the next such call.
    unsafe { CStr::from_ptr((*entry).pw_name) }.to_string_lossy().into_owned()
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
    json!({
        "name": of.name,
        "version": format!("{}.{}", of.major, of.minor),
        "seconds": of.age,
        "connections": of.connections,
        "established": of.fates.established,
        "failures": of.fates.failures,
        "async_events": of.fates.async_events,
        "sends": of.sends.operations,
        "send_bytes": of.sends.bytes,
        "rdma_writes": of.writes.operations,
        "rdma_write_bytes": of.writes.bytes,
        "rdma_reads": of.reads.operations,
        "rdma_read_bytes": of.reads.bytes,
        "receives": of.receives.operations,
        "receive_bytes": of.receives.bytes,
        "request_stalls": of.flow.request_stalls,
        "receive_stalls": of.flow.message_stalls,
        "peer_wakeups": of.flow.peer_wakeups,
    })
}

/// The lines of a process, one an adapter.
fn rows(found: &Found) -> Vec<Vec<String>> {
    let Found { process, command, .. } = found;
    let pid = if process.pid > 0 { process.pid.to_string() } else { "-".to_owned() };
    let head = [pid, command.as_deref().map_or("-".to_owned(), shown), user_name(found.user)];
    let row = |cells: [String; 11]| head.iter().cloned().chain(cells).collect();
    match &process.adapters {
        Some(adapters) => adapters.iter().map(|adapter| row(cells(adapter))).collect(),
        None => vec![row(std::array::from_fn(|_| "-".to_owned()))],
    }
}

fn cells(of: &OpenAdapter) -> [String; 11] {
    let sum = |a: u64, b: u64| a.saturating_add(b);
    [
        shown(&of.name),
        format!("{}.{}", of.major, of.minor),
        of.connections.to_string(),
        of.fates.established.to_string(),
        of.fates.failures.to_string(),
        sum(of.sends.operations, of.writes.operations).to_string(),
        bytes(sum(of.sends.bytes, of.writes.bytes)),
        sum(of.receives.operations, of.reads.operations).to_string(),
        bytes(sum(of.receives.bytes, of.reads.bytes)),
        format!("{}/{}", of.flow.request_stalls, of.flow.message_stalls),
        age(of.age),
    ]
}

/// A number of bytes with a digit behind the point, in the largest unit of which there is one.
fn bytes(number: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = number.checked_ilog2().unwrap_or(0) as usize / 10;
    match power {
        0 => format!("{number} B"),
        _ => format!("{:.1} {}", number as f64 / (1_u64 << (10 * power)) as f64, UNITS[power]),
    }
}

/// A time as ps(1) shows it: `[[DAYS-]HH:]MM:SS`.
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
