//! What the provider shm needs of the host besides its rendezvous directory, about which the provider's own message says more.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use super::step::Step;
use super::topic::Topic;

/// The place of the directories in which processes meet that are told of no other one, and how their names begin.
pub const PLACE: &str = "/tmp";
pub const PREFIX: &str = "dat-shm-";

/// Looks at what the kernel lets processes of a user do with each other.
///
/// # Parameters
/// * `instance` - the instance data of the entry, which may name the directory.
/// * `opens` - whether the adapter opens.
pub fn explain(instance: &str, opens: bool) -> Vec<Step> {
    let directory = opens.then(|| meeting(instance, geteuid().as_raw()));
    let looks = [processes(Path::new("/proc")), copies(Path::new("/proc/sys/kernel/yama/ptrace_scope"))];
    directory.into_iter().chain(looks.into_iter().flatten()).collect()
}

/// Where processes meet, and which.
fn meeting(instance: &str, user: u32) -> Step {
    let directory = directory(instance, user);
    let directory = directory.display();
    Step::ok(format!(
        "the rendezvous directory {directory} belongs to you, user {user}: processes of this user that see it reach each \
         other"
    ))
}

/// The directory in which processes of a user meet whose entry has this instance data. The provider takes what is no path for
/// nothing.
pub fn directory(instance: &str, user: u32) -> PathBuf {
    match instance.trim() {
        path if path.starts_with('/') => Path::new(path).components().collect(),
        _ => Path::new(PLACE).join(format!("{PREFIX}{user}")),
    }
}

/// The file system by which a process reaches its own files and those of its peers.
fn processes(proc: &Path) -> Option<Step> {
    let lacks = || format!("{} is no file system of processes, which shm needs", proc.display());
    (!proc.join("self/fd").exists()).then(|| Step::wrong(lacks()).see(Topic::ProcFileSystem))
}

/// Whether a process may read the memory of another one of its user, by which long transfers are fastest.
fn copies(scope: &Path) -> Option<Step> {
    let scope = fs::read_to_string(scope).ok()?;
    (scope.trim() == "3").then(|| {
        Step::note(
            "kernel.yama.ptrace_scope is 3: no process reads the memory of another, so long transfers go through shared \
             memory, which is slower",
        )
    })
}

#[cfg(test)]
mod tests;
