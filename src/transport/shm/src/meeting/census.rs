//! The response to a process that asks for the open adapters, such as dat-info: see [`dat_census`].
//!
//! The progress thread responds, so calls of the program are not delayed. If the program holds a counter lock for
//! longer than [`LOCK_TIMEOUT`], the response is [`Message::Again`]. Reuse of a response for [`REUSE_TIME`] limits the
//! cost of frequent questions.

use std::time::{Duration, Instant};

use dat_census::socket::Socket;
use dat_census::{MAX_BYTES, OpenAdapter};
use dat_core::event::Transfer;
use dat_core::transport::{AdapterSink, AdapterSnapshot, Glanced};
use host::lock::Mutex;
use host::memory::Room;

use crate::Shm;
use crate::link::Copies;
use crate::process_context::ProcessContext;
use crate::wire::Message;

const LOCK_TIMEOUT: Duration = Duration::from_millis(5);
const REUSE_TIME: Duration = Duration::from_millis(100);

#[derive(Default)]
pub struct Census(Mutex<Vec<(AdapterSink<Shm>, Instant)>>);

impl Census {
    /// Adds an adapter. Without memory for it, responses omit the adapter.
    pub fn add(&self, sink: AdapterSink<Shm>) {
        let mut adapters = self.0.lock();
        adapters.retain(|(sink, _)| !sink.is_gone());
        if adapters.room(1).is_ok() {
            adapters.push((sink, Instant::now()));
        }
    }

    /// Returns the adapters' data; `None` if a lock is held for too long, or without memory.
    fn adapters(&self, copies: Copies) -> Option<Vec<OpenAdapter>> {
        let until = Instant::now() + LOCK_TIMEOUT;
        let mut open = Vec::new();
        for (sink, since) in self.0.lock().iter() {
            match sink.glance(until) {
                Glanced::Told(glance) => {
                    open.room(1).ok()?;
                    open.push(adapter(glance, since.elapsed(), copies));
                }
                Glanced::Busy => return None,
                Glanced::Closed => {}
            }
        }
        Some(open)
    }

    /// Returns the packets of a response; `None` in the cases of [`Census::adapters`].
    fn packets(&self, copies: Copies) -> Option<Vec<Vec<u8>>> {
        let (adapters, mut packets) = (self.adapters(copies)?, Vec::new());
        packets.room(adapters.len()).ok()?;
        for mut adapter in adapters.into_iter().rev() {
            adapter.left = packets.len() as u32;
            packets.push(Message::Open(adapter).encode());
        }
        packets.reverse();
        Some(packets)
    }
}

fn adapter(glance: AdapterSnapshot, age: Duration, copies: Copies) -> OpenAdapter {
    let AdapterSnapshot { mut name, version: (major, minor), connections, counters, fates } = glance;
    // Only a name with non-ASCII characters can be too long.
    while name.len() > MAX_BYTES {
        name.pop();
    }
    let [sends, writes, reads, receives] = [Transfer::Send, Transfer::Write, Transfer::Read, Transfer::Recv]
        .map(|transfer| counters.tallies.total(transfer));
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
        events_lost: fates.events_lost,
        peers: copies.peers,
        direct_peers: copies.direct_peers,
        obstacle: copies.obstacle,
    }
}

#[derive(Default)]
pub struct Answer {
    packets: Vec<Vec<u8>>,
    given: Option<Instant>,
}

impl Answer {
    /// Responds to a process that asks. That process must ask again if packets are missing.
    pub fn give(&mut self, context: &ProcessContext, socket: &Socket) {
        if self.given.is_none_or(|given| given.elapsed() >= REUSE_TIME) {
            let copies = context.links.copies(context.vm);
            self.packets = context.census.packets(copies).unwrap_or_else(|| vec![Message::Again.encode()]);
            self.given = Some(Instant::now());
        }
        let _ = self.packets.iter().try_for_each(|packet| socket.send(packet, &[]));
    }
}

#[cfg(test)]
mod tests;
