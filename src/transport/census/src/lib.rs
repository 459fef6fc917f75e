//! Both sides of the question for open adapters: tools ask processes for snapshots, and transports respond.
//!
//! A client connects to a socket of the process, and a progress thread responds with packets, or with [`AGAIN`], and
//! closes the connection. At the socket of shm in the rendezvous directory, the client first sends [`ASK`] instead of a
//! hello. Adapters of other transports have a [`Beacon`] each.
//!
//! The shm transport shares the sockets and packets. [`copies`] determines what forbids direct copies between
//! processes, for shm and for tools.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod copies;
mod packet;
#[cfg(feature = "server")]
mod server;
pub mod socket;

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use host::poll;
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use packet::{ADAPTER, END, ENDPOINTS, LINKS, MAX_DETAILS, MAX_PACKET, QUEUES, STREAMS};
pub use packet::{AGAIN, ASK, Adapter, Counts, Endpoint, EndpointLinks, Field, MAX_BYTES, Queue};
#[cfg(feature = "server")]
pub use server::{Beacon, Census, Copies};
use socket::Socket;

/// The directory that contains the default rendezvous directories.
pub const PLACE: &str = "/tmp";
/// Prefix of the names of default rendezvous directories.
pub const PREFIX: &str = "dat-shm-";
/// Prefix of the names of beacons.
const BEACON: &str = "libdat-";

/// Maximum time to wait for the complete response of one process.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Time after which no further processes are asked.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(5);
/// Pause between attempts to ask a process.
const RETRY: Duration = Duration::from_millis(20);
/// Maximum number of adapters of a process.
const MAX_ADAPTERS: usize = 1024;
/// Maximum number of processes that are asked concurrently.
const MAX_THREADS: usize = 64;
/// Maximum number of entries that are read from a directory, or of beacons.
const MAX_ENTRIES: usize = 65536;

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
    name.strip_prefix("p-").is_some_and(is_pid_and_random)
}

fn is_pid_and_random(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.len() <= 10 && text.bytes().all(|c| c.is_ascii_digit());
    text.split_once('-').is_some_and(|(pid, random)| digits(pid) && is_hex16(random))
}

#[cfg(any(test, feature = "server"))]
fn beacon_name() -> String {
    format!("{BEACON}{}-{:016x}", std::process::id(), random())
}

/// Returns the name of a beacon in a line of /proc/net/unix.
fn beacon_in(line: &str) -> Option<&str> {
    let name = line.rsplit(' ').next()?.strip_prefix('@')?;
    name.strip_prefix(BEACON).is_some_and(is_pid_and_random).then_some(name)
}

/// Returns whether a text is 16 hexadecimal digits.
pub fn is_hex16(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
}

/// A process, or one of its adapters, that responds at a socket.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its process ID according to the kernel; 0 if the process is in a PID namespace that this process cannot see.
    pub pid: i32,
    /// The ID of its user.
    pub user: u32,
    /// Its open adapters; `None` without a complete response in time.
    pub adapters: Option<Vec<OpenAdapter>>,
}

/// An open adapter. The lists contain only the first 512 endpoints and queues of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenAdapter {
    /// The adapter.
    pub adapter: Adapter,
    /// Its endpoints.
    pub endpoints: Vec<Endpoint>,
    /// Its event dispatchers and shared receive queues.
    pub queues: Vec<Queue>,
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
    Ok(ask_all(&sockets, &[ASK], |path| Socket::connect(path)))
}

/// Asks all beacons in the network namespace: for root of all users, otherwise of the effective user.
///
/// # Errors
/// A system error of reading /proc/net/unix.
pub fn adapters_in_namespace() -> io::Result<Vec<Process>> {
    let sockets = fs::read_to_string("/proc/net/unix")?;
    let mut names: Vec<_> = sockets.lines().filter_map(beacon_in).collect();
    // Connections that wait for the accept have the name, too.
    names.sort_unstable();
    names.dedup();
    names.truncate(MAX_ENTRIES);
    Ok(ask_all(&names, &[], |name| Socket::connect_in_namespace(name)))
}

/// Asks at all `sockets`, until [`TOTAL_TIMEOUT`]. An empty `question` is not sent.
fn ask_all<S: Sync>(
    sockets: &[S],
    question: &[u8],
    connect: impl Fn(&S) -> rustix::io::Result<Socket> + Sync,
) -> Vec<Process> {
    let ask = |socket| ask(|| connect(socket), question);
    let until = Instant::now() + TOTAL_TIMEOUT;
    let mut all = Vec::new();
    // Other users can create any number of sockets that do not respond, so the total time is limited.
    for some in sockets.chunks(MAX_THREADS).take_while(|_| Instant::now() < until) {
        thread::scope(|scope| {
            let threads: Vec<_> = some.iter().map(|socket| scope.spawn(|| ask(socket))).collect();
            all.extend(threads.into_iter().filter_map(|thread| thread.join().ok().flatten()));
        });
    }
    all
}

/// Asks a process, repeatedly, until its response is complete or [`TIMEOUT`] expires. Returns `None` if no process
/// listens, or if it belongs to another user and this user is not root.
fn ask(connect: impl Fn() -> rustix::io::Result<Socket>, question: &[u8]) -> Option<Process> {
    let until = Instant::now() + TIMEOUT;
    let me = rustix::process::geteuid();
    let mut process = None;
    loop {
        match connect() {
            Err(Errno::AGAIN) => {}
            Err(_) => return process,
            Ok(socket) => {
                let (pid, user) = socket.peer_of_any_user().ok()?;
                if user != me.as_raw() && !me.is_root() {
                    return None;
                }
                let asked = question.is_empty() || socket.send(question, &[]).is_ok();
                let adapters = asked.then(|| response(|packet| receive(&socket, until, packet))).flatten();
                let complete = adapters.is_some();
                process = Some(Process { pid, user, adapters });
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

/// Reads a response. `next` stores its next packet, and returns the length, or `None` after the last packet. Returns
/// `None` if a packet up to [`END`] is missing or invalid, or if the packets exceed the limits.
pub fn response(mut next: impl FnMut(&mut [u8]) -> Option<usize>) -> Option<Vec<OpenAdapter>> {
    let (mut adapters, mut packet) = (Vec::<OpenAdapter>::new(), vec![0; MAX_PACKET]);
    let (mut endpoints, mut queues) = (0, 0);
    loop {
        let len = next(&mut packet)?;
        let (&kind, mut fields) = packet.get(..len)?.split_first()?;
        if kind == END {
            let is_valid = fields.is_empty();
            if is_valid {
                read_rest(next, &mut packet, &mut adapters);
            }
            return is_valid.then_some(adapters);
        }
        while !fields.is_empty() {
            match kind {
                ADAPTER => {
                    let adapter = Adapter::take(&mut fields)?;
                    adapters.push(OpenAdapter { adapter, ..OpenAdapter::default() });
                }
                ENDPOINTS => {
                    endpoints += 1;
                    adapters.last_mut()?.endpoints.push(Endpoint::take(&mut fields)?);
                }
                QUEUES => {
                    queues += 1;
                    adapters.last_mut()?.queues.push(Queue::take(&mut fields)?);
                }
                _ => return None,
            }
        }
        let is_known = matches!(kind, ADAPTER | ENDPOINTS | QUEUES);
        if !is_known || adapters.len() > MAX_ADAPTERS || endpoints.max(queues) > MAX_DETAILS {
            return None;
        }
    }
}

/// Reads the packets after [`END`], and adds what they contain.
fn read_rest(mut next: impl FnMut(&mut [u8]) -> Option<usize>, packet: &mut [u8], adapters: &mut [OpenAdapter]) {
    let (endpoints, queues): (Vec<_>, Vec<_>) =
        adapters.iter_mut().map(|open| (open.endpoints.iter_mut(), open.queues.iter_mut())).unzip();
    let (mut endpoints, mut queues) = (endpoints.into_iter().flatten(), queues.into_iter().flatten());
    while let Some(received) = next(packet) {
        let Some([kind, len, items @ ..]) = packet.get(..received) else { continue };
        for mut item in items.chunks_exact(usize::from(*len).max(1)) {
            match *kind {
                LINKS => {
                    let Some(endpoint) = endpoints.next() else { break };
                    endpoint.links = Field::take(&mut item);
                }
                STREAMS => {
                    let Some(queue) = queues.next() else { break };
                    queue.streams = Field::take(&mut item).unwrap_or(0);
                }
                _ => break,
            }
        }
    }
}

/// Receives a packet. Returns its length, or `None` after an error, at the end of the connection, or after `until`.
fn receive(socket: &Socket, until: Instant, packet: &mut [u8]) -> Option<usize> {
    loop {
        let left = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
        match socket.recv(packet, &mut Vec::new()) {
            Ok(0) => return None,
            Ok(len) => return Some(len),
            Err(Errno::AGAIN) => {
                poll::wait([Some(socket.as_fd())], Some(left)).ok()?;
            }
            Err(_) => return None,
        }
    }
}

/// Returns a random number. If `getrandom` fails, computes a number from the time, the process ID and a count of calls.
pub fn random() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let mut bytes = [0_u8; 8];
    if getrandom(&mut bytes, GetRandomFlags::NONBLOCK) == Ok(bytes.len()) {
        return u64::from_ne_bytes(bytes);
    }
    // `getrandom` fails early at boot, or under a seccomp filter.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    let mixed =
        now ^ u64::from(std::process::id()).rotate_left(40) ^ CALLS.fetch_add(1, Ordering::Relaxed).rotate_left(20);
    mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31)
}

#[cfg(test)]
mod tests;
