//! What a process tells of its open adapters to one of its user that only asks, such as dat-info.
//!
//! The one that asks connects to the socket of the other in the directory and sends [`Message::Ask`] where a peer says
//! hello. The other one's thread answers with a packet for each adapter and closes the connection, so the answer costs
//! the calls of its program nothing. The thread waits for no thread of the program: if one keeps a lock on counters for
//! longer than [`WITHIN`], the answer is [`Message::Again`]. An answer serves all who ask within [`FRESH`], so that asking often
//! does not keep the thread from its work.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use dat_core::event::Transfer;
use dat_core::transport::{AdapterSink, AdapterSnapshot, Glanced};
use host::lock::Mutex;
use host::memory::Room;
use host::poll;
use rustix::io::Errno;

use crate::Shm;
use crate::os::directory::SocketName;
use crate::os::socket::Socket;
use crate::wire::{MAX_PACKET, MAX_PRIVATE_DATA, Message, OpenAdapter};

/// How long the thread looks for locks on counters that others have.
const WITHIN: Duration = Duration::from_millis(5);
/// How long an answer is given again.
const FRESH: Duration = Duration::from_millis(100);

/// The open adapters of a node, and when they were opened.
#[derive(Default)]
pub struct Census(Mutex<Vec<(AdapterSink<Shm>, Instant)>>);

impl Census {
    /// Adds an adapter. Without memory for that, nobody is told of it.
    pub fn add(&self, sink: AdapterSink<Shm>) {
        let mut adapters = self.0.lock();
        adapters.retain(|(sink, _)| !sink.is_gone());
        if adapters.room(1).is_ok() {
            adapters.push((sink, Instant::now()));
        }
    }

    /// What there is to tell; none if a thread keeps a lock, or there is no memory.
    fn adapters(&self) -> Option<Vec<OpenAdapter>> {
        let until = Instant::now() + WITHIN;
        let mut open = Vec::new();
        for (sink, since) in self.0.lock().iter() {
            match sink.glance(until) {
                Glanced::Told(glance) => {
                    open.room(1).ok()?;
                    open.push(adapter(glance, since.elapsed()));
                }
                Glanced::Busy => return None,
                Glanced::Closed => {}
            }
        }
        Some(open)
    }

    /// The packets of the answer.
    fn packets(&self) -> Option<Vec<Vec<u8>>> {
        let (adapters, mut packets) = (self.adapters()?, Vec::new());
        packets.room(adapters.len()).ok()?;
        for mut adapter in adapters.into_iter().rev() {
            adapter.left = packets.len() as u32;
            packets.push(Message::Open(adapter).encode());
        }
        packets.reverse();
        Some(packets)
    }
}

fn adapter(glance: AdapterSnapshot, age: Duration) -> OpenAdapter {
    let AdapterSnapshot { mut name, version: (major, minor), connections, counters, fates } = glance;
    // It fits as long as it is one of ASCII.
    while name.len() > MAX_PRIVATE_DATA {
        name.pop();
    }
    let [sends, writes, reads, receives] =
        [Transfer::Send, Transfer::Write, Transfer::Read, Transfer::Recv].map(|transfer| counters.tallies.of(transfer));
    let (age, flow) = (age.as_secs(), counters.flow);
    OpenAdapter { left: 0, name, major, minor, age, connections, sends, writes, reads, receives, flow, fates }
}

/// The last answer of a node.
#[derive(Default)]
pub struct Answer {
    packets: Vec<Vec<u8>>,
    given: Option<Instant>,
}

impl Answer {
    /// Answers a process that asks, which is to ask again if it does not get everything.
    pub fn give(&mut self, census: &Census, socket: &Socket) {
        if self.given.is_none_or(|given| given.elapsed() >= FRESH) {
            self.packets = census.packets().unwrap_or_else(|| vec![Message::Again.encode()]);
            self.given = Some(Instant::now());
        }
        let _ = self.packets.iter().try_for_each(|packet| socket.send(packet, &[]));
    }
}

// ---- The side that asks ----

/// How long a process may take to answer, and the time between two questions.
const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(20);
/// Processes that are asked at a time, and entries of a directory that are looked at.
const AT_A_TIME: usize = 64;
const ENTRIES: usize = 65536;
/// Adapters of a process that are heard; a socket has room for some hundred.
const MOST: u32 = 1024;

/// A process that can be reached in a directory.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its number, as the kernel vouches; 0 if it is not visible from here.
    pub pid: i32,
    /// What it has open; none if it does not say.
    pub adapters: Option<Vec<OpenAdapter>>,
}

/// Asks all processes that can be reached in `directory`, which belongs to the effective user. Changes nothing in it.
///
/// # Errors
/// Those of the system, and `PermissionDenied` for a directory of another user, or what is none.
pub fn processes(directory: &Path) -> io::Result<Vec<Process>> {
    let metadata = fs::symlink_metadata(directory)?;
    if !metadata.is_dir() || metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let names = fs::read_dir(directory)?.take(ENTRIES).flatten().map(|entry| entry.file_name());
    let sockets = names.filter(|name| name.to_str().and_then(SocketName::parse).is_some());
    let sockets: Vec<_> = sockets.map(|name| directory.join(name)).collect();
    let mut all = Vec::new();
    for some in sockets.chunks(AT_A_TIME) {
        thread::scope(|scope| {
            let threads: Vec<_> = some.iter().map(|socket| scope.spawn(|| ask(socket))).collect();
            all.extend(threads.into_iter().filter_map(|thread| thread.join().ok().flatten()));
        });
    }
    Ok(all)
}

/// Asks the process that listens at `path` until it has told everything, or the time is over; none if there is none.
fn ask(path: &Path) -> Option<Process> {
    let until = Instant::now() + PATIENCE;
    let mut process = None;
    loop {
        match Socket::connect(path) {
            Err(Errno::AGAIN) => {}
            // Nobody listens there, or not any more, or it is no socket.
            Err(_) => return None,
            Ok(socket) => {
                let pid = socket.peer().ok()?;
                let adapters = socket.send(&Message::Ask.encode(), &[]).ok().and_then(|()| hear(&socket, until));
                let told = adapters.is_some();
                process = Some(Process { pid, adapters });
                if told {
                    return process;
                }
            }
        }
        if Instant::now() >= until {
            return process;
        }
        thread::sleep(PAUSE);
    }
}

/// The whole answer; none if a part of it does not come.
fn hear(socket: &Socket, until: Instant) -> Option<Vec<OpenAdapter>> {
    let (mut adapters, mut packet) = (Vec::<OpenAdapter>::new(), [0; MAX_PACKET]);
    loop {
        match socket.recv(&mut packet, &mut Vec::new()) {
            Ok(len) => {
                let Message::Open(adapter) = Message::decode(packet.get(..len)?)? else { return None };
                let last = adapter.left == 0;
                let follows = |before: &OpenAdapter| before.left.checked_sub(1) == Some(adapter.left);
                if !adapters.last().map_or(adapter.left < MOST, follows) {
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
