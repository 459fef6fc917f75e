//! The response to a process that asks for the open adapters, such as dat-info: see [`dat_census`].
//!
//! The progress thread responds, so a response does not delay the calls of the program. The thread waits for no thread of the
//! program: if one holds a lock on counters for longer than [`WITHIN`], the response is [`Message::Again`]. A response is
//! reused for [`FRESH`], so that frequent questions do not keep the thread from its work.

use std::time::{Duration, Instant};

use dat_census::socket::Socket;
use dat_census::{MAX_BYTES, OpenAdapter};
use dat_core::event::Transfer;
use dat_core::transport::{AdapterSink, AdapterSnapshot, Glanced};
use host::lock::Mutex;
use host::memory::Room;

use crate::Shm;
use crate::wire::Message;

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
    while name.len() > MAX_BYTES {
        name.pop();
    }
    let [sends, writes, reads, receives] =
        [Transfer::Send, Transfer::Write, Transfer::Read, Transfer::Recv].map(|transfer| counters.tallies.of(transfer));
    OpenAdapter {
        left: 0,
        name,
        major,
        minor,
        age: age.as_secs(),
        connections,
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
        established: fates.established,
        failures: fates.failures,
        async_events: fates.async_events,
    }
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

#[cfg(test)]
mod tests;
