//! The tables of adapters, endpoints and queues.

use dat_census::{Adapter, Counts, Endpoint, OpenAdapter, Queue};

use super::{Found, user_name};
use crate::info::shown;
use crate::print::columns;

// Heads of the columns, separated by commas.
const ADAPTERS: &str =
    "PID,COMMAND,USER,ADAPTER,API,CONNECTIONS,MADE,FAILED,SENT,BYTES,RECEIVED,BYTES,STALLS,LOST,DIRECT,AGE";
const ENDPOINTS: &str = "PID,ADAPTER,ENDPOINT,STATE,PEER,PATH,REQUESTS,RECEIVES,SENT,BYTES,RECEIVED,BYTES,WAITS FOR";
const QUEUES: &str = "PID,ADAPTER,QUEUE,HANDLE,SIZE,FILLED,LOST,NOTE";

/// Returns the tables that are not empty. With `all`, the last one contains all queues, otherwise those that are full
/// or have lost events.
pub fn all(found: &[Found], all: bool) -> String {
    let endpoints = each_endpoint(found).map(|(process, open, endpoint)| {
        let [head @ .., waits] = cells(found, process, open, endpoint);
        head.into_iter().chain(traffic(&endpoint.counts)).chain([waits]).collect()
    });
    let queues = each_adapter(found).flat_map(|(process, open)| {
        let wanted = open.queues.iter().filter(move |queue| all || is_full(queue) || queue.lost > 0);
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

/// Returns a row for each adapter, or one for a process that does not respond.
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

/// Returns the cells of an endpoint up to RECEIVES, and what it waits for.
pub fn cells(all: &[Found], found: &Found, open: &OpenAdapter, of: &Endpoint) -> [String; 9] {
    let state = of.state.strip_prefix("DAT_EP_STATE_").unwrap_or(&of.state).to_lowercase();
    let peer = match (of.process, &of.peer_socket, &of.peer) {
        (process @ 1.., ..) => format!("pid {process}"),
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
        of.posted_receives.to_string(),
        waits(all, found, of),
    ]
}

fn traffic(counts: &Counts) -> [String; 4] {
    let [(sent, sent_bytes), (received, received_bytes)] = totals(counts);
    [sent.to_string(), bytes(sent_bytes), received.to_string(), bytes(received_bytes)]
}

/// Returns the numbers and bytes of sends and RDMA writes, and of received messages and RDMA reads.
pub fn totals(of: &Counts) -> [(u64, u64); 2] {
    [
        (of.sends.saturating_add(of.rdma_writes), of.send_bytes.saturating_add(of.rdma_write_bytes)),
        (of.receives.saturating_add(of.rdma_reads), of.receive_bytes.saturating_add(of.rdma_read_bytes)),
    ]
}

/// Returns what an endpoint waits for.
fn waits(all: &[Found], found: &Found, of: &Endpoint) -> String {
    let mut causes = Vec::new();
    if of.evd_full {
        causes.push("room in its EVD");
    }
    if of.message_waits {
        causes.push("a receive");
    }
    if of.outstanding_requests > 0 {
        let is_stopped =
            all.iter().any(|found| found.stopped && found.process.pid > 0 && found.process.pid as u32 == of.process);
        let mut far_ends = each_endpoint(all).filter(|(other, _, far)| are_ends(found, of, other, far)).peekable();
        causes.push(match far_ends.peek().is_some() && far_ends.all(|(_, _, far)| far.message_waits) {
            true => "a receive of the peer",
            false if is_stopped => "the peer, which is stopped",
            false if of.requests_wait => "room at the peer, or earlier requests",
            false => "the peer",
        });
    }
    if causes.is_empty() { "-".to_owned() } else { causes.join("; ") }
}

/// Returns whether two endpoints can be the ends of a connection. Endpoints of shm name only the process of the peer.
fn are_ends(found: &Found, of: &Endpoint, other: &Found, far: &Endpoint) -> bool {
    if of.local_socket.is_empty() {
        let is_peer = |found: &Found, process: u32| process > 0 && i64::from(found.process.pid) == i64::from(process);
        let is_same = found.process.pid == other.process.pid && of.handle == far.handle;
        is_peer(other, of.process) && is_peer(found, far.process) && !is_same
    } else {
        of.local_socket == far.peer_socket && of.peer_socket == far.local_socket
    }
}

fn is_full(queue: &Queue) -> bool {
    !queue.is_srq && queue.filled >= queue.size
}

fn queue_cells(found: &Found, open: &OpenAdapter, of: &Queue) -> Vec<String> {
    let note = match of {
        Queue { is_srq: true, filled: 0, .. } => "no receives".to_owned(),
        Queue { is_srq: true, low_watermark: 1.., .. } => format!("low watermark {}", of.low_watermark),
        _ if is_full(of) => "full".to_owned(),
        Queue { has_waiter: true, .. } => "a thread waits".to_owned(),
        _ => "-".to_owned(),
    };
    vec![
        pid(found),
        shown(&open.adapter.name),
        if of.is_srq { "SRQ" } else { "EVD" }.to_owned(),
        format!("{:#x}", of.handle),
        of.size.to_string(),
        of.filled.to_string(),
        of.lost.to_string(),
        note,
    ]
}

/// Returns whether a process copies directly from and to its peers: `yes`, the reason why not, or both numbers of peers.
fn direct(of: &Adapter) -> String {
    match of.obstacle {
        None if of.peers == 0 => "-".to_owned(),
        None if of.direct_peers == of.peers => "yes".to_owned(),
        None => format!("{}/{}", of.direct_peers, of.peers),
        Some(obstacle) if of.direct_peers == 0 => format!("no:{}", obstacle.word()),
        Some(obstacle) => format!("{}/{}:{}", of.direct_peers, of.peers, obstacle.word()),
    }
}

/// Returns bytes with one decimal in the largest unit that they reach.
pub fn bytes(number: u64) -> String {
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
