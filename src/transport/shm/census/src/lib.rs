//! Asks the processes that use shm for their open adapters.
//!
//! A client connects to a process's socket in the rendezvous directory and sends [`ASK`] instead of a hello. The
//! progress thread responds with a packet for each adapter, or with [`AGAIN`], and closes the connection. The shm
//! transport shares the sockets and packets; a tool needs nothing else of shm.
//!
//! [`copies`] contains what forbids direct copies between processes, which shm and tools examine.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod copies;
mod packet;
pub mod socket;

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use host::poll;
use rustix::io::Errno;

pub use packet::{AGAIN, ASK, Field, MAX_BYTES, OPEN, OpenAdapter};
use socket::Socket;

/// The directory that contains the default rendezvous directories.
pub const PLACE: &str = "/tmp";
/// Prefix of the names of default rendezvous directories.
pub const PREFIX: &str = "dat-shm-";
/// Size of a buffer for any packet.
pub const MAX_PACKET: usize = 1024;

/// Maximum time for a response, and the pause between attempts.
const TIMEOUT: Duration = Duration::from_secs(1);
const RETRY: Duration = Duration::from_millis(20);
/// Maximum number of processes asked concurrently, and of directory entries read.
const MAX_THREADS: usize = 64;
const MAX_ENTRIES: usize = 65536;
/// Maximum number of adapters of a process: a socket has room for some hundred.
const MAX_ADAPTERS: u32 = 1024;

/// Returns the rendezvous directory of `user` for the instance data `instance`; the default if `instance` is no
/// absolute path, such as the words that OFED writes for its own providers.
pub fn directory(instance: &str, user: u32) -> PathBuf {
    match instance.trim() {
        // Without trailing slashes, which would make the kernel follow a symbolic link.
        path if path.starts_with('/') => Path::new(path).components().collect(),
        _ => Path::new(PLACE).join(format!("{PREFIX}{user}")),
    }
}

/// Returns whether a file name has the form of a process's socket: `p-PID-RANDOM`.
pub fn is_socket_name(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.len() <= 10 && text.bytes().all(|c| c.is_ascii_digit());
    let parts = name.strip_prefix("p-").and_then(|name| name.split_once('-'));
    parts.is_some_and(|(pid, random)| digits(pid) && is_hex16(random))
}

/// Returns whether a text is 16 hexadecimal digits.
pub fn is_hex16(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
}

/// A process that uses a rendezvous directory.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its process ID according to the kernel; 0 if it is not visible from here.
    pub pid: i32,
    /// Its open adapters; `None` without a complete response in time.
    pub adapters: Option<Vec<OpenAdapter>>,
}

/// Asks all processes that use `directory`, which must belong to the effective user. Does not change the directory.
///
/// # Errors
/// `PermissionDenied` if the file belongs to another user or is not a directory; otherwise a system error.
pub fn processes(directory: &Path) -> io::Result<Vec<Process>> {
    let metadata = fs::symlink_metadata(directory)?;
    if !metadata.is_dir() || metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let names = fs::read_dir(directory)?.take(MAX_ENTRIES).flatten().map(|entry| entry.file_name());
    let sockets = names.filter(|name| name.to_str().is_some_and(is_socket_name));
    let sockets: Vec<_> = sockets.map(|name| directory.join(name)).collect();
    let mut all = Vec::new();
    for some in sockets.chunks(MAX_THREADS) {
        thread::scope(|scope| {
            let threads: Vec<_> = some.iter().map(|socket| scope.spawn(|| ask(socket))).collect();
            all.extend(threads.into_iter().filter_map(|thread| thread.join().ok().flatten()));
        });
    }
    Ok(all)
}

/// Asks the process that listens at `path`, until its response is complete or times out; `None` if no process listens.
fn ask(path: &Path) -> Option<Process> {
    let until = Instant::now() + TIMEOUT;
    let mut process = None;
    loop {
        match Socket::connect(path) {
            Err(Errno::AGAIN) => {}
            Err(_) => return None,
            Ok(socket) => {
                let pid = socket.peer().ok()?;
                let adapters = socket.send(&[ASK], &[]).ok().and_then(|()| receive(&socket, until));
                let complete = adapters.is_some();
                process = Some(Process { pid, adapters });
                if complete {
                    return process;
                }
            }
        }
        if Instant::now() >= until {
            return process;
        }
        thread::sleep(RETRY);
    }
}

/// Receives all packets of a response; `None` if one is missing or invalid.
fn receive(socket: &Socket, until: Instant) -> Option<Vec<OpenAdapter>> {
    let (mut adapters, mut packet) = (Vec::<OpenAdapter>::new(), [0; MAX_PACKET]);
    loop {
        match socket.recv(&mut packet, &mut Vec::new()) {
            Ok(len) => {
                let (&OPEN, mut fields) = packet.get(..len)?.split_first()? else { return None };
                let adapter = OpenAdapter::take(&mut fields).filter(|_| fields.is_empty())?;
                let last = adapter.left == 0;
                let follows = |before: &OpenAdapter| before.left.checked_sub(1) == Some(adapter.left);
                if !adapters.last().map_or(adapter.left < MAX_ADAPTERS, follows) {
                    return None;
                }
                adapters.push(adapter);
                if last {
                    return Some(adapters);
                }
            }
            Err(Errno::AGAIN) => {
                let left = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
                poll::wait([Some(socket.as_fd())], Some(left)).ok()?;
            }
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests;
