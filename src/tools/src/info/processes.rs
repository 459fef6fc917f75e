//! The processes that have adapters open: counters, connections and queues. A process responds only to its own user and
//! to root. For shm's sockets, root takes the process's user ID.

mod sockets;
mod table;
mod watch;

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dat::Api;
use dat_census::copies::Obstacle;
use dat_census::{Counts, Endpoint, OpenAdapter, PLACE, PREFIX, Process, Queue};
use dat_registry::search::{Places, find};
use rustix::process::geteuid;
use serde_json::{Map, Value, json};

use self::sockets::{Connection, connections};
use super::explain::adapter::{Kind, kind_of};
use super::{shown, version, words};
use crate::print;
use crate::tool::Outcome;

/// A process that was found by its socket: in a rendezvous directory of shm, or of an adapter in this network
/// namespace.
#[derive(Clone, Debug)]
struct Found {
    directory: Option<PathBuf>,
    command: Option<String>,
    stopped: bool,
    /// The TCP connections of a process that does not respond. Empty if it responds, or if it was found in a directory
    /// of shm.
    connections: Vec<Connection>,
    process: Process,
}

pub fn run(json: bool, all: bool, watch: Option<f64>) -> anyhow::Result<Outcome> {
    if let Some(interval) = watch {
        return watch::run(Duration::from_secs_f64(interval));
    }
    let found = collect();
    if json {
        print::line(format_args!("{:#}", json!({ "processes": objects(&found) })))?;
    } else if found.is_empty() {
        let (whose, others) = match geteuid().is_root() {
            true => (String::new(), ""),
            false => (format!(" of user {}", geteuid().as_raw()), "; root sees the processes of all users"),
        };
        print::line(format_args!("No process{whose} has an adapter open{others}."))?;
    } else {
        print::line(table::all(&found, all))?;
    }
    Ok(Outcome::Fine)
}

/// Queries all processes, and returns them sorted by process ID.
fn collect() -> Vec<Found> {
    let root = geteuid().is_root();
    let mut all = Vec::new();
    for directory in directories(root) {
        match ask(&directory, root) {
            Ok(processes) => all.extend(processes.into_iter().map(|process| found(process, Some(&directory)))),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {}
            Err(error) => print::complain(format_args!("{}: {error}", shown(&directory.to_string_lossy()))),
        }
    }
    match dat_census::adapters_in_namespace() {
        Ok(processes) => all.extend(processes.into_iter().map(|process| found(process, None))),
        Err(error) => print::complain(format_args!("/proc/net/unix: {error}: only adapters of shm are shown")),
    }
    // A process that has just closed its adapter responds with an empty list.
    all.retain(|found| found.process.adapters.as_ref().is_none_or(|adapters| !adapters.is_empty()));
    all.sort_by_key(|found| found.process.pid);
    all
}

fn found(process: Process, directory: Option<&Path>) -> Found {
    let proc = |file: &str| {
        let is_visible = process.pid > 0;
        is_visible.then(|| fs::read_to_string(format!("/proc/{}/{file}", process.pid)).ok()).flatten()
    };
    // The state follows the command, which can contain any characters.
    let state = proc("stat").and_then(|stat| stat.rsplit_once(')')?.1.trim_start().chars().next());
    Found {
        directory: directory.map(Path::to_owned),
        command: proc("comm").map(|name| name.trim_end().to_owned()),
        stopped: matches!(state, Some('T' | 't')),
        // A rendezvous directory may be shared with other network namespaces, which can have equal addresses.
        connections: match process.adapters {
            None if process.pid > 0 && directory.is_none() => connections(process.pid),
            _ => Vec::new(),
        },
        process,
    }
}

/// Returns the rendezvous directories of shm: the default directory of this user (for root, of all users), and the
/// directories in dat.conf.
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

/// Queries the processes of a rendezvous directory. For root, does so with the user ID of the directory's owner.
fn ask(directory: &Path, root: bool) -> io::Result<Vec<Process>> {
    let user = if root { fs::symlink_metadata(directory)?.uid() } else { geteuid().as_raw() };
    let _owner = if root { Some(set_effective_user(user).map(|()| Acting)?) } else { None };
    dat_census::processes(directory)
}

/// A guard that restores the effective user root when it is dropped.
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
    // SAFETY: this process has no other thread while it formats tables.
    let entry = unsafe { libc::getpwuid(user) };
    // SAFETY: NULL, or an entry that is valid until the next such call.
    let Some(entry) = (unsafe { entry.as_ref() }) else { return user.to_string() };
    // SAFETY: a C string, valid as long as its entry.
    unsafe { CStr::from_ptr(entry.pw_name) }.to_string_lossy().into_owned()
}

/// Returns an object for each process, with all its adapters.
fn objects(found: &[Found]) -> Vec<Value> {
    let mut all: Vec<Map<String, Value>> = Vec::new();
    for one in found {
        let Found { directory, command, stopped, process, .. } = one;
        let adapters = process.adapters.iter().flatten().map(|open| adapter(found, one, open)).collect::<Vec<_>>();
        let adapters = process.adapters.as_ref().map(|_| adapters);
        let pid = (process.pid > 0).then_some(process.pid);
        match all.last_mut().filter(|last| pid.is_some() && last["pid"] == json!(pid)) {
            Some(last) => {
                if directory.is_some() {
                    last["directory"] = json!(directory);
                }
                match (last["adapters"].as_array_mut(), adapters) {
                    (Some(known), Some(adapters)) => known.extend(adapters),
                    (None, Some(adapters)) => last["adapters"] = adapters.into(),
                    (_, None) => {}
                }
            }
            None => all.extend(
                json!({
                    "pid": pid,
                    "command": command,
                    "user": process.user,
                    "stopped": stopped,
                    "directory": directory,
                    "adapters": adapters,
                })
                .as_object()
                .cloned(),
            ),
        }
    }
    all.into_iter().map(Value::Object).collect()
}

/// Adds the fields `$field` of `$value` to the JSON object `$others`, and returns it.
macro_rules! object {
    ($value:expr, $($field:ident)*; $others:expr) => {{
        let mut object = $others;
        $(object[stringify!($field)] = json!($value.$field);)*
        object
    }};
}

fn adapter(all: &[Found], found: &Found, open: &OpenAdapter) -> Value {
    let of = &open.adapter;
    let others = json!({
        "version": format!("{}.{}", of.major, of.minor),
        "seconds": of.age,
        "obstacle": of.obstacle.map(Obstacle::word),
        "endpoints": open.endpoints.iter().map(|of| endpoint(all, found, open, of)).collect::<Vec<_>>(),
        "queues": open.queues.iter().map(queue).collect::<Vec<_>>(),
    });
    let object = counts(&of.counts, others);
    object!(of, name connections established failures async_events events_lost peers direct_peers; object)
}

fn counts(of: &Counts, others: Value) -> Value {
    object!(
        of,
        sends send_bytes rdma_writes rdma_write_bytes rdma_reads rdma_read_bytes receives receive_bytes request_stalls
        receive_stalls peer_wakeups;
        others
    )
}

fn endpoint(all: &[Found], found: &Found, open: &OpenAdapter, of: &Endpoint) -> Value {
    let srq = table::srq(open, of);
    let (peer, qualifier) = if table::has_no_peer(of) { ("", 0) } else { (of.peer.as_str(), of.qualifier) };
    let others = json!({
        "handle": format!("{:#x}", of.handle),
        "peer": peer,
        "qualifier": qualifier,
        "process": table::process(all, found, of),
        "srq": srq.map(|(handle, _)| format!("{handle:#x}")),
        "srq_receives": srq.and_then(|(_, queue)| queue).map(|queue| queue.filled),
        "waits_for": table::waits(all, found, open, of),
    });
    let object = counts(&of.counts, others);
    object!(
        of,
        state path local_socket peer_socket outstanding_requests posted_receives requests_wait message_waits
        evd_full;
        object
    )
}

fn queue(of: &Queue) -> Value {
    let others = json!({
        "handle": format!("{:#x}", of.handle),
        "kind": if of.is_srq { "SRQ" } else { "EVD" },
        "streams": table::streams(of),
    });
    object!(of, size filled low_watermark lost has_waiter; others)
}
