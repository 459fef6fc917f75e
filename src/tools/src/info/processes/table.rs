//! The tables of adapters, endpoints and queues.

use dat_census::{Adapter, Counts, Endpoint, OpenAdapter, Queue};

use super::{Found, user_name};
use crate::info::shown;
use crate::print::columns;

// Heads of the columns, separated by commas.
const ADAPTERS: &str =
    "PID,COMMAND,USER,ADAPTER,API,CONNECTIONS,MADE,FAILED,SENT,BYTES,RECEIVED,BYTES,STALLS,LOST,DIRECT,AGE";
const ENDPOINTS: &str = "PID,ADAPTER,ENDPOINT,STATE,PEER,PATH,REQUESTS,RECEIVES,SENT,BYTES,RECEIVED,BYTES,WAITS FOR";
const QUEUES: &str = "PID,ADAPTER,QUEUE,HANDLE,KIND,SIZE,FILLED,LOST,NOTE";
const STATE: &str = "DAT_EP_STATE_";
/// DAT_EVD_CR_FLAG.
const CR: u32 = 0x010;
/// The bits of DAT_EVD_FLAGS, and their names without DAT_EVD and FLAG. The last bit is DAT_IB_EVD_EXTENSION_FLAG.
const STREAMS: [(u32, &str); 7] = [
    (0x001, "software"),
    (CR, "cr"),
    (0x020, "dto"),
    (0x040, "connection"),
    (0x080, "rmr-bind"),
    (0x100, "async"),
    (0x200, "extension"),
];

/// Returns the tables that are not empty. The table of queues contains all queues with `all`, otherwise only queues
/// that can be the cause of a hang.
pub fn all(found: &[Found], all: bool) -> String {
    let endpoints = each_endpoint(found).map(|(process, open, endpoint)| {
        let [head @ .., waits] = cells(found, process, open, endpoint);
        head.into_iter().chain(traffic(&endpoint.counts)).chain([waits]).collect()
    });
    let queues = each_adapter(found).flat_map(|(process, open)| {
        let wanted = open.queues.iter().filter(move |queue| all || is_suspect(open, queue));
        wanted.map(move |queue| queue_cells(process, open, queue))
    });
    let tables = [
        (ADAPTERS, found.iter().flat_map(adapters).collect::<Vec<_>>()),
        (ENDPOINTS, endpoints.collect()),
        (QUEUES, queues.collect()),
    ];
    let tables = tables.into_iter().filter(|(_, rows)| !rows.is_empty());
    tables.map(|(heads, rows)| columns(&heads.split(',').collect::<Vec<_>>(), rows)).collect::<Vec<_>>().join("\n\n")
}

fn each_adapter(found: &[Found]) -> impl Iterator<Item = (&Found, &OpenAdapter)> {
    found.iter().flat_map(|found| found.process.adapters.iter().flatten().map(move |open| (found, open)))
}

pub fn each_endpoint(found: &[Found]) -> impl Iterator<Item = (&Found, &OpenAdapter, &Endpoint)> {
    each_adapter(found).flat_map(|(found, open)| open.endpoints.iter().map(move |endpoint| (found, open, endpoint)))
}

fn pid(found: &Found) -> String {
    if found.process.pid > 0 { found.process.pid.to_string() } else { "-".to_owned() }
}

/// Returns a row for each adapter of a process, or a single row if the process does not respond.
fn adapters(found: &Found) -> Vec<Vec<String>> {
    let command = found.command.as_deref().map_or("-".to_owned(), shown);
    let head = [pid(found), command, user_name(found.process.user)];
    let row = |cells: [String; 13]| head.iter().cloned().chain(cells).collect();
    match &found.process.adapters {
        Some(adapters) => adapters.iter().map(|open| row(adapter(&open.adapter))).collect(),
        None => {
            let state = if found.stopped { "stopped" } else { "-" };
            vec![row(std::array::from_fn(|at| if at == 0 { state } else { "-" }.to_owned()))]
        }
    }
}

fn adapter(of: &Adapter) -> [String; 13] {
    let [sent, sent_bytes, received, received_bytes] = traffic(&of.counts);
    [
        shown(&of.name),
        format!("{}.{}", of.major, of.minor),
        of.connections.to_string(),
        of.established.to_string(),
        of.failures.to_string(),
        sent,
        sent_bytes,
        received,
        received_bytes,
        format!("{}/{}", of.counts.request_stalls, of.counts.receive_stalls),
        of.events_lost.to_string(),
        direct(of),
        age(of.age),
    ]
}

/// Returns the cells of an endpoint: the columns up to RECEIVES, then WAITS FOR.
pub fn cells(all: &[Found], found: &Found, open: &OpenAdapter, of: &Endpoint) -> [String; 9] {
    let state = state(of).to_lowercase();
    let peer = match (process(all, found, of), &of.peer_socket, &of.peer) {
        _ if has_no_peer(of) => "-".to_owned(),
        (Some(process), ..) => format!("pid {process}"),
        (_, socket, _) if !socket.is_empty() => shown(socket),
        (_, _, peer) if !peer.is_empty() => format!("{} {}", shown(peer), of.qualifier),
        _ => "-".to_owned(),
    };
    let path = match (of.path.as_str(), open.adapter.obstacle) {
        ("", _) => "-".to_owned(),
        ("ring", Some(obstacle)) => format!("ring:{}", obstacle.word()),
        (path, _) => shown(path),
    };
    [
        pid(found),
        shown(&open.adapter.name),
        format!("{:#x}", of.handle),
        shown(&state),
        peer,
        path,
        of.outstanding_requests.to_string(),
        match srq(open, of) {
            None => of.posted_receives.to_string(),
            Some((_, None)) => "SRQ".to_owned(),
            Some((_, Some(queue))) => format!("SRQ {}", queue.filled),
        },
        waits(all, found, open, of).unwrap_or("-".to_owned()),
    ]
}

fn traffic(counts: &Counts) -> [String; 4] {
    let [(sent, sent_bytes), (received, received_bytes)] = totals(counts);
    [sent.to_string(), bytes(sent_bytes), received.to_string(), bytes(received_bytes)]
}

/// Returns two pairs of a number and bytes: of sends plus RDMA writes, and of received messages plus RDMA reads.
pub fn totals(of: &Counts) -> [(u64, u64); 2] {
    [
        (of.sends.saturating_add(of.rdma_writes), of.send_bytes.saturating_add(of.rdma_write_bytes)),
        (of.receives.saturating_add(of.rdma_reads), of.receive_bytes.saturating_add(of.rdma_read_bytes)),
    ]
}

/// Returns the state of an endpoint without its prefix.
fn state(of: &Endpoint) -> &str {
    of.state.strip_prefix(STATE).unwrap_or(&of.state)
}

/// Returns whether an endpoint is neither connected nor connecting. Its address of a peer, if any, is then from an
/// earlier connection.
pub fn has_no_peer(of: &Endpoint) -> bool {
    matches!(state(of), "UNCONNECTED" | "RESERVED" | "DISCONNECTED")
}

/// Returns the ID of the peer's process, or `None` if it is unknown. Endpoints of tcp do not know the ID, but the other
/// end of the connection can belong to a process in the table.
pub fn process(all: &[Found], found: &Found, of: &Endpoint) -> Option<u32> {
    if has_no_peer(of) {
        return None;
    }
    let of_other_end = || {
        let mut ends = each_endpoint(all).filter(|(other, _, far)| are_ends(found, of, other, far));
        let silent = || {
            let ends = (of.peer_socket.parse().ok()?, of.local_socket.parse().ok()?);
            all.iter().find(|other| other.connections.contains(&ends))
        };
        let other = ends.next().map(|(other, ..)| other).or_else(silent)?;
        id(other)
    };
    Some(of.process).filter(|process| *process > 0).or_else(of_other_end)
}

/// Returns the ID of a process; `None` if it is not visible from here.
fn id(found: &Found) -> Option<u32> {
    u32::try_from(found.process.pid).ok().filter(|id| *id > 0)
}

/// Returns the handle of an endpoint's SRQ, and the SRQ itself if it is among the adapter's queues. `None` without an
/// SRQ.
pub fn srq<'a>(open: &'a OpenAdapter, of: &Endpoint) -> Option<(u64, Option<&'a Queue>)> {
    let handle = of.links.map(|links| links.srq).filter(|handle| *handle > 0)?;
    Some((handle, open.queues.iter().find(|queue| queue.is_srq && queue.handle == handle)))
}

/// Returns what an endpoint waits for; `None` if it waits for nothing.
pub fn waits(all: &[Found], found: &Found, open: &OpenAdapter, of: &Endpoint) -> Option<String> {
    let mut causes = Vec::new();
    match state(of) {
        "ACTIVE_CONNECTION_PENDING" => causes.push("the peer to accept"),
        "PASSIVE_CONNECTION_PENDING" | "TENTATIVE_CONNECTION_PENDING" => causes.push("the program to accept"),
        "COMPLETION_PENDING" => causes.push("the peer to complete the connection"),
        _ => {}
    }
    let (has_peer, has_lost) = (!has_no_peer(of), has_lost(open, of));
    if of.evd_full && !has_lost && has_peer {
        causes.push("room in its EVD");
    }
    if of.message_waits {
        causes.push("a receive");
    }
    if of.outstanding_requests > 0 {
        let peer = process(all, found, of);
        let is_stopped = peer.is_some() && all.iter().any(|other| other.stopped && peer == id(other));
        let mut far_ends = each_endpoint(all).filter(|(other, _, far)| are_ends(found, of, other, far)).peekable();
        causes.push(match far_ends.peek().is_some() && far_ends.all(|(_, _, far)| far.message_waits) {
            true => "a receive of the peer",
            false if is_stopped => "the peer, which is stopped",
            false if of.requests_wait => "room at the peer, or earlier requests",
            false => "the peer",
        });
    }
    if causes.is_empty() && has_lost && has_peer {
        causes.push("nothing, because its EVD lost events");
    }
    (!causes.is_empty()).then(|| causes.join("; "))
}

/// Returns whether the EVD of requests or of receives has lost events. Ignores EVDs for connection requests, because
/// their number of lost events includes rejected requests.
fn has_lost(open: &OpenAdapter, of: &Endpoint) -> bool {
    let Some(links) = of.links else { return false };
    open.queues.iter().any(|queue| {
        let is_own = !queue.is_srq && [links.request_evd, links.receive_evd].contains(&queue.handle);
        is_own && queue.lost > 0 && queue.streams & CR == 0
    })
}

/// Returns whether two endpoints can be the ends of a connection. Endpoints of shm have no sockets, only the ID of the
/// peer's process.
fn are_ends(found: &Found, of: &Endpoint, other: &Found, far: &Endpoint) -> bool {
    if of.local_socket.is_empty() {
        let is_same = found.process.pid == other.process.pid && of.handle == far.handle;
        id(other) == Some(of.process) && id(found) == Some(far.process) && !is_same
    } else {
        of.local_socket == far.peer_socket && of.peer_socket == far.local_socket
    }
}

fn is_full(evd: &Queue) -> bool {
    evd.filled >= evd.size
}

/// Returns whether a queue can be the cause of a hang. An EVD: it is full, has lost events, or has events without a
/// waiter. An SRQ: it is empty, and a message waits for a receive.
fn is_suspect(open: &OpenAdapter, of: &Queue) -> bool {
    let is_short = || {
        let mut endpoints = open.endpoints.iter();
        endpoints.any(|endpoint| endpoint.message_waits && srq(open, endpoint).is_some_and(|srq| srq.0 == of.handle))
    };
    if of.is_srq { of.filled == 0 && is_short() } else { of.lost > 0 || is_full(of) || is_unattended(of) }
}

/// Returns whether an EVD has events, and no thread waits on it.
fn is_unattended(evd: &Queue) -> bool {
    evd.filled > 0 && !evd.has_waiter
}

/// Returns the names of the streams of an EVD.
pub fn streams(of: &Queue) -> Vec<&'static str> {
    STREAMS.iter().filter(|(bit, _)| of.streams & bit > 0).map(|(_, name)| *name).collect()
}

fn queue_cells(found: &Found, open: &OpenAdapter, of: &Queue) -> Vec<String> {
    let streams = streams(of);
    let note = match of {
        Queue { is_srq: true, filled: 0, .. } => "no receives".to_owned(),
        Queue { is_srq: true, low_watermark: 1.., .. } => format!("low watermark {}", of.low_watermark),
        Queue { is_srq: true, .. } => "-".to_owned(),
        _ if is_full(of) => "full".to_owned(),
        Queue { has_waiter: true, .. } => "a thread waits".to_owned(),
        _ if is_unattended(of) => "no thread waits on it".to_owned(),
        _ => "-".to_owned(),
    };
    vec![
        pid(found),
        shown(&open.adapter.name),
        if of.is_srq { "SRQ" } else { "EVD" }.to_owned(),
        format!("{:#x}", of.handle),
        if streams.is_empty() { "-".to_owned() } else { streams.join(",") },
        of.size.to_string(),
        of.filled.to_string(),
        of.lost.to_string(),
        note,
    ]
}

/// Returns the cell of the column DIRECT: `yes` if the process copies directly from and to all its peers, otherwise
/// `no` or the numbers of such peers and of all peers (`1/3`). Appends the obstacle, if any. Returns `-` if there is
/// neither a peer nor an obstacle.
fn direct(of: &Adapter) -> String {
    match of.obstacle {
        None if of.peers == 0 => "-".to_owned(),
        None if of.direct_peers == of.peers => "yes".to_owned(),
        None => format!("{}/{}", of.direct_peers, of.peers),
        Some(obstacle) if of.direct_peers == 0 => format!("no:{}", obstacle.word()),
        Some(obstacle) => format!("{}/{}:{}", of.direct_peers, of.peers, obstacle.word()),
    }
}

/// Formats bytes in the largest unit that they reach, with one decimal.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = number.checked_ilog2().unwrap_or(0) as usize / 10;
    match power {
        0 => format!("{number} B"),
        _ => format!("{:.1} {}", number as f64 / (1_u64 << (10 * power)) as f64, UNITS[power]),
    }
}

/// Formats a time as ps(1) does: `[[DAYS-]HH:]MM:SS`.
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
