//! The response of a process. A progress thread responds, so calls of the program are not delayed.
//!
//! If the program holds a lock for longer than [`LOCK_TIMEOUT`], the response is [`AGAIN`]. Reuse of a response for
//! [`REUSE_TIME`] limits the cost of frequent questions.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use dat_core::Handle;
use dat_core::event::Transfer;
use dat_core::transport::{
    AdapterSink, AdapterSnapshot, EndpointSnapshot, Glanced, QueueKind, QueueSnapshot, Transport,
};
use host::lock::Mutex;
use host::memory::{self, Room};

use crate::copies::Obstacle;
use crate::packet::{
    ADAPTER, AGAIN, Adapter, Counts, END, ENDPOINTS, Endpoint, EndpointLinks, Field, LINKS, MAX_BYTES, MAX_DETAILS,
    MAX_PACKET, QUEUES, Queue, STREAMS,
};
use crate::socket::Socket;

const LOCK_TIMEOUT: Duration = Duration::from_millis(5);
const REUSE_TIME: Duration = Duration::from_millis(100);
/// Maximum length of an endpoint or a queue in a packet, in bytes.
const MAX_ITEM: usize = 512;
/// Length of an item of [`LINKS`], in bytes.
const LINKS_LEN: u8 = 24;
/// Length of an item of [`STREAMS`], in bytes.
const STREAMS_LEN: u8 = 4;
/// Maximum number of connections that one call of [`Beacon::respond`] accepts.
const TURN: usize = 16;
/// Pause after such a call, in which further connections wait.
const PAUSE: Duration = Duration::from_millis(20);
/// The user that the kernel reports for all users without a mapping in this user namespace.
const OVERFLOW_USER: u32 = 65534;

/// The direct copies of a process from and to its peers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Copies {
    /// Number of other processes to which this process has a link.
    pub peers: u64,
    /// Number of processes from and to which this process copies directly.
    pub direct_peers: u64,
    /// Why this process does not copy directly from and to some or all of its peers.
    pub obstacle: Option<Obstacle>,
}

/// The open adapters of a process, and the last response.
pub struct Census<T: Transport> {
    adapters: Mutex<Vec<(AdapterSink<T>, Instant)>>,
    response: Mutex<Option<Response>>,
}

/// The last response.
struct Response {
    /// All packets; `None` for [`AGAIN`].
    packets: Option<Vec<Vec<u8>>>,
    made: Instant,
}

impl<T: Transport> Default for Census<T> {
    fn default() -> Self {
        Census { adapters: Mutex::default(), response: Mutex::default() }
    }
}

impl<T: Transport> Census<T> {
    /// Adds an adapter. Without memory for it, responses omit the adapter.
    pub fn add(&self, sink: AdapterSink<T>) {
        let mut adapters = self.adapters.lock();
        adapters.retain(|(sink, _)| !sink.is_gone());
        if adapters.room(1).is_ok() {
            adapters.push((sink, Instant::now()));
        }
    }

    /// Sends a response to the process at the other end of `socket`. That process must ask again if packets up to
    /// [`END`] are missing.
    pub fn respond(&self, socket: &Socket, copies: impl FnOnce() -> Copies) {
        let mut response = self.response.lock();
        let response = match response.take().filter(|response| response.made.elapsed() < REUSE_TIME) {
            Some(recent) => response.insert(recent),
            None => response.insert(Response { packets: self.packets(copies()), made: Instant::now() }),
        };
        let _ = match &response.packets {
            Some(packets) => send(socket, packets),
            None => socket.send(&[AGAIN], &[]),
        };
    }

    /// Returns the packets of a response; `None` if a lock is held for too long, or without memory.
    fn packets(&self, copies: Copies) -> Option<Vec<Vec<u8>>> {
        let until = Instant::now() + LOCK_TIMEOUT;
        let (mut packets, mut left) = (Vec::new(), MAX_DETAILS);
        let (mut all_links, mut all_streams) = (Vec::new(), Vec::new());
        for (sink, since) in self.adapters.lock().iter() {
            match sink.glance(until, left) {
                Glanced::Told(mut snapshot) => {
                    left -= snapshot.endpoints.len().max(snapshot.queues.len());
                    pack(&mut packets, &[ADAPTER], [adapter(&mut snapshot, since.elapsed(), copies)])?;
                    pack(&mut packets, &[ENDPOINTS], snapshot.endpoints.iter().map(endpoint))?;
                    pack(&mut packets, &[QUEUES], snapshot.queues.iter().map(queue))?;
                    all_links.room(snapshot.endpoints.len()).ok()?;
                    all_links.extend(snapshot.endpoints.iter().map(links));
                    all_streams.room(snapshot.queues.len()).ok()?;
                    all_streams.extend(snapshot.queues.iter().map(|queue| queue.streams.bits()));
                }
                Glanced::Busy => return None,
                Glanced::Closed => {}
            }
        }
        pack_end(&mut packets, all_links, all_streams)?;
        packets.iter_mut().for_each(Vec::shrink_to_fit);
        Some(packets)
    }
}

/// Sends the packets of a response.
fn send(socket: &Socket, packets: &[Vec<u8>]) -> rustix::io::Result<()> {
    socket.enlarge();
    packets.iter().try_for_each(|packet| socket.send(packet, &[]))
}

/// Appends [`END`] and the packets after it. Returns `None` without memory.
fn pack_end(packets: &mut Vec<Vec<u8>>, links: Vec<EndpointLinks>, streams: Vec<u32>) -> Option<()> {
    packets.room(1).ok()?;
    let mut end = memory::vec(1).ok()?;
    end.push(END);
    packets.push(end);
    pack(packets, &[LINKS, LINKS_LEN], links)?;
    pack(packets, &[STREAMS, STREAMS_LEN], streams)
}

/// Appends packets that begin with `head` and contain all `items`. Returns `None` without memory.
fn pack<F: Field>(packets: &mut Vec<Vec<u8>>, head: &[u8], items: impl IntoIterator<Item = F>) -> Option<()> {
    let mut room = false;
    for item in items {
        if !room {
            packets.room(1).ok()?;
            let mut packet = memory::vec(MAX_PACKET).ok()?;
            packet.extend_from_slice(head);
            packets.push(packet);
        }
        let packet = packets.last_mut()?;
        item.put(packet);
        room = packet.len() + MAX_ITEM <= MAX_PACKET;
    }
    Some(())
}

/// Returns the packet's fields for an adapter. Moves the name out of the snapshot.
fn adapter(snapshot: &mut AdapterSnapshot, age: Duration, copies: Copies) -> Adapter {
    let mut name = std::mem::take(&mut snapshot.name);
    let AdapterSnapshot { version: (major, minor), connections, ref counters, conn_summary, .. } = *snapshot;
    // Only a name with non-ASCII characters can be too long.
    while name.len() > MAX_BYTES {
        name.pop();
    }
    Adapter {
        name,
        major,
        minor,
        age: age.as_secs(),
        connections,
        counts: counts(counters),
        established: conn_summary.established,
        failures: conn_summary.failures,
        async_events: conn_summary.async_events,
        events_lost: conn_summary.events_lost,
        peers: copies.peers,
        direct_peers: copies.direct_peers,
        obstacle: copies.obstacle,
    }
}

fn counts(counters: &dat_core::counters::Counters) -> Counts {
    let [sends, writes, reads, receives] = [Transfer::Send, Transfer::Write, Transfer::Read, Transfer::Recv]
        .map(|transfer| counters.tallies.total(transfer));
    Counts {
        sends: sends.operations,
        send_bytes: sends.bytes,
        rdma_writes: writes.operations,
        rdma_write_bytes: writes.bytes,
        rdma_reads: reads.operations,
        rdma_read_bytes: reads.bytes,
        receives: receives.operations,
        receive_bytes: receives.bytes,
        request_stalls: counters.flow.request_stalls,
        receive_stalls: counters.flow.message_stalls,
        peer_wakeups: counters.flow.peer_wakeups,
    }
}

fn endpoint(snapshot: &EndpointSnapshot) -> Endpoint {
    let EndpointSnapshot { handle, state, remote, path, requests, receives, evd_full, counters, .. } = snapshot;
    Endpoint {
        handle: handle.0 as u64,
        state: state.to_string(),
        peer: remote.as_ref().map(|(address, _)| address.ip().to_string()).unwrap_or_default(),
        qualifier: remote.as_ref().map_or(0, |(_, qualifier)| *qualifier),
        process: path.process as u32,
        path: path.name.to_owned(),
        local_socket: path.sockets.map(|(local, _)| local.to_string()).unwrap_or_default(),
        peer_socket: path.sockets.map(|(_, peer)| peer.to_string()).unwrap_or_default(),
        outstanding_requests: *requests as u64,
        posted_receives: *receives as u64,
        requests_wait: path.requests_wait,
        message_waits: path.message_waits,
        evd_full: *evd_full,
        counts: counts(counters),
        links: Some(links(snapshot)),
    }
}

fn links(snapshot: &EndpointSnapshot) -> EndpointLinks {
    let handle = |handle: Option<Handle>| handle.map_or(0, |handle| handle.0 as u64);
    let EndpointSnapshot { srq, request_evd, recv_evd, .. } = *snapshot;
    EndpointLinks { srq: handle(srq), request_evd: handle(request_evd), receive_evd: handle(recv_evd) }
}

fn queue(snapshot: &QueueSnapshot) -> Queue {
    let QueueSnapshot { handle, kind, streams, size, filled, low_watermark, lost, has_waiter } = *snapshot;
    Queue {
        handle: handle.0 as u64,
        is_srq: kind == QueueKind::Srq,
        size: size as u64,
        filled: filled as u64,
        low_watermark: low_watermark as u64,
        lost,
        has_waiter,
        streams: streams.bits(),
    }
}

/// The socket at which an adapter responds, if its transport has no sockets between processes of its own. Its name is
/// in the network namespace and has no file. Any local process can connect, but only the user and root get a response.
pub struct Beacon<T: Transport> {
    listener: Option<Socket>,
    census: Census<T>,
    /// End of the pause after the last responses.
    paused_until: Mutex<Option<Instant>>,
}

impl<T: Transport> Beacon<T> {
    /// Opens the socket. Without it, dat-info does not show the adapter.
    pub fn open() -> Self {
        let listener = Socket::listen_in_namespace(&crate::beacon_name())
            .inspect_err(|error| log::debug!("dat-info --processes will not show this adapter: {error}"))
            .ok();
        Beacon { listener, census: Census::default(), paused_until: Mutex::default() }
    }

    /// Adds the adapter.
    pub fn add(&self, sink: AdapterSink<T>) {
        self.census.add(sink);
    }

    /// Returns the descriptor for the next sleep of the progress thread, which calls [`Beacon::respond`] if it is
    /// readable. In a pause, returns the maximum length of that sleep instead.
    pub fn watched(&self) -> (Option<BorrowedFd<'_>>, Option<Duration>) {
        let mut paused_until = self.paused_until.lock();
        let left = paused_until.and_then(|until| until.checked_duration_since(Instant::now()));
        if left.is_none() {
            *paused_until = None;
        }
        (self.listener.as_ref().filter(|_| left.is_none()).map(Socket::as_fd), left)
    }

    /// Responds to processes that have connected, then pauses: other users can connect at any rate, and without
    /// descriptors a connection stays in the queue.
    pub fn respond(&self) {
        *self.paused_until.lock() = Some(Instant::now() + PAUSE);
        let me = rustix::process::geteuid().as_raw();
        for _ in 0..TURN {
            let Some(Ok(Some(socket))) = self.listener.as_ref().map(Socket::accept) else { return };
            let is_entitled = |user| user == 0 || (user == me && user != OVERFLOW_USER);
            if socket.peer_of_any_user().is_ok_and(|(_, user)| is_entitled(user)) {
                self.census.respond(&socket, Copies::default);
            }
        }
    }

    /// Refuses further connections.
    pub fn close(&self) {
        self.listener.iter().for_each(Socket::end);
    }
}

#[cfg(test)]
mod tests;
