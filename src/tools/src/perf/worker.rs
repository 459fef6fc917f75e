//! What one thread has for a measurement, and the calls whose time is taken.

use std::cell::Cell;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use dat_udat12::*;
use serde::{Deserialize, Serialize};

use super::control::{GONE, still_connected};
use super::plan::{Plan, Transfer};
use crate::dat::{Attributes, Ep, Evd, Evds, Ia, Pattern, Pz, RawEvent, Region, Remote, Segment, Srq, ep, event};

/// Bytes that are cleared at a time.
const PIECE: usize = 4_096;
/// Receive buffers of a connection without traffic.
const IDLE: usize = 1;
/// Where both sides send: buffers for messages without bytes, each of which gives back a quarter of the credits.
pub const CREDIT_BUFFERS: usize = 8;
/// Polls in vain before a thread gives its processor to another thread for a moment.
const LOOKS: u32 = 1 << 12;
/// The same where there are fewer processors than threads that poll, and another one is to run for anything to happen.
const CROWDED_LOOKS: u32 = 8;
/// How often it does so before it checks that its connections are still there.
const RESTS: u32 = 1 << 8;
/// Microseconds that a thread with a shared receive queue waits before it checks the same.
const SLEEP: DAT_TIMEOUT = 1_000_000;

/// How memory is divided into buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// Bytes of a buffer.
    bytes: usize,
    /// Bytes from one buffer to the next; 0 if there is one.
    slot: usize,
    /// Buffers, beside one more.
    slots: usize,
}

impl Layout {
    fn new(bytes: usize, slots: usize) -> Self {
        let bytes = bytes.max(64);
        Self { bytes, slot: if slots > 0 { bytes.next_multiple_of(64) } else { 0 }, slots }
    }

    /// Bytes of all, which a peer chooses.
    fn length(self) -> u64 {
        (self.slots as u64).saturating_mul(self.slot as u64).saturating_add(self.bytes as u64)
    }

    /// Of a thread: what it sends from, and where it receives.
    fn of(plan: &Plan, depth: usize, client: bool) -> (Self, Self) {
        let size = usize::try_from(plan.size).unwrap_or(usize::MAX / 2);
        let messages = !plan.test.is_latency() && plan.test.transfer() == Transfer::Send;
        let receives = receives(plan, depth);
        let targets = if plan.verify { plan.outstanding as usize * plan.active as usize } else { 0 };
        let into = match (messages, client && !plan.both) {
            // It receives nothing but credits.
            (true, true) => Self::new(0, receives),
            _ if plan.verify && plan.test.transfer() == Transfer::Send => Self::new(size, receives),
            _ => Self::new(size, targets),
        };
        (Self::new(size, targets), into)
    }
}

/// Bytes of the buffers of all threads of a process.
pub fn memory(plan: &Plan, adapter: &DAT_IA_ATTR, client: bool) -> u64 {
    let (out, into) = Layout::of(plan, depth(plan, adapter), client);
    out.length().saturating_add(into.length()).saturating_mul(u64::from(plan.threads))
}

/// Receive buffers of a thread.
fn receives(plan: &Plan, depth: usize) -> usize {
    let (active, idle) = (plan.active as usize, (plan.connections - plan.active) as usize);
    if plan.srq { depth } else { depth * active + IDLE * idle }
}

/// Registered memory, as buffers one behind the other, or as a single one that all transfers use.
pub struct Buffers {
    region: Region,
    layout: Layout,
}

impl Buffers {
    fn new(pz: &Pz, layout: Layout) -> anyhow::Result<Self> {
        let region = Region::new(pz, usize::try_from(layout.length())?, DAT_MEM_PRIV_ALL_FLAG)?;
        // Memory that was never written is one page of zeros, which the cache always has.
        for page in (0..region.length()).step_by(4_096) {
            region.write(page, &[0]);
        }
        Ok(Self { region, layout })
    }

    #[inline(always)]
    fn segment(&self, slot: usize, size: usize) -> Segment {
        self.region.segment(slot * self.layout.slot, size)
    }

    /// Writes bytes at the beginning of a buffer, or further behind.
    pub fn write(&self, slot: usize, offset: usize, bytes: &[u8]) {
        self.region.write(slot * self.layout.slot + offset, bytes);
    }

    /// Reads the first bytes of a buffer.
    pub fn read(&self, slot: usize, size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        self.region.read(slot * self.layout.slot, &mut bytes);
        bytes
    }

    /// Looks at one byte of the first buffer, which the peer may be about to write.
    #[inline(always)]
    pub fn load(&self, offset: usize) -> u8 {
        self.region.load(offset)
    }

    /// Writes a number where a transfer of the first buffer ends, whose last byte differs from number to number.
    #[inline(always)]
    pub fn set_end(&self, size: usize, number: u64) {
        if size >= 8 {
            self.region.write(size - 8, &number.to_be_bytes());
        } else {
            self.region.write(size - 1, &[number as u8]);
        }
    }

    // ---- Comparing bytes ----

    /// Writes the bytes of a message into a buffer.
    pub fn stamp(&self, slot: usize, size: usize, lane: usize, number: u64) {
        self.region.stamp(slot * self.layout.slot, size, Pattern { lane, number });
    }

    pub fn clear(&self, slot: usize, size: usize) {
        for from in (0..size).step_by(PIECE) {
            self.write(slot, from, &[0; PIECE][..PIECE.min(size - from)]);
        }
    }

    /// Looks whether a buffer has the bytes of a message.
    pub fn check(&self, slot: usize, size: usize, lane: usize, number: u64) -> anyhow::Result<()> {
        match self.region.first_difference(slot * self.layout.slot, size, Pattern { lane, number }) {
            None => Ok(()),
            Some(at) => bail!("connection {lane}, transfer {number}: byte {at} is wrong"),
        }
    }

    /// The same of the first buffer, for a message that ends as [`set_end`](Self::set_end) says.
    pub fn check_with_end(&self, size: usize, connection: usize, number: u64) -> anyhow::Result<()> {
        let wanted = if size >= 8 { number.to_be_bytes().to_vec() } else { vec![number as u8] };
        self.check(0, size - wanted.len(), connection, number)?;
        let mut end = wanted.clone();
        self.region.read(size - wanted.len(), &mut end);
        if end != wanted {
            bail!("connection {connection}, transfer {number}: its last bytes are wrong");
        }
        Ok(())
    }
}

/// The memory of the peer's thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its name in RDMA operations.
    pub context: DAT_RMR_CONTEXT,
    pub address: u64,
    /// Bytes from one buffer to the next.
    pub slot: u64,
}

/// A transfer that has ended well, in the place of its event: copies of it would be measured too.
#[derive(Clone, Copy)]
pub struct Done<'a>(&'a DAT_DTO_COMPLETION_EVENT_DATA);

impl Done<'_> {
    pub fn ep(self) -> DAT_EP_HANDLE {
        self.0.ep_handle
    }

    /// Bytes of a message.
    #[inline(always)]
    pub fn length(self) -> u64 {
        self.0.transfered_length
    }

    /// The buffer of the transfer.
    #[inline(always)]
    pub fn slot(self) -> usize {
        (self.cookie() & 0xffff_ffff) as usize
    }

    /// The connection for which a receive was posted.
    #[inline(always)]
    pub fn posted_for(self) -> usize {
        (self.cookie() >> 32) as usize
    }

    #[inline(always)]
    fn cookie(self) -> u64 {
        // SAFETY: every bit pattern is a number.
        unsafe { self.0.user_cookie.as_64 }
    }
}

/// The objects of one thread. Endpoints are freed first, then what they use.
pub struct Worker {
    /// What is measured.
    pub plan: Plan,
    /// Whether this is the process that measures.
    pub client: bool,
    /// An endpoint for each connection.
    pub eps: Arc<[Ep]>,
    pub shared: Option<Srq>,
    /// Where receives, requests and connections end.
    pub evds: Evds,
    /// What is sent, written, and where reads land.
    pub out: Buffers,
    /// What is received, and the target of the peer.
    pub into: Buffers,
    /// The memory of the peer.
    pub target: Target,
    /// Receive buffers of a connection, or in the shared receive queue.
    pub depth: usize,
    /// RDMA reads that may be under way on a connection.
    pub reads: usize,
    /// Requests that are posted, and whose completion is not yet reaped.
    pub under_way: usize,
    /// Polls in vain before [`give_way`](Self::give_way).
    pub looks: u32,
    /// How often it has done so.
    rests: Cell<u32>,
}

impl Worker {
    /// Makes the objects, and posts the receives.
    pub fn new(ia: &Ia, pz: &Pz, adapter: &Attributes, plan: &Plan, client: bool) -> anyhow::Result<Self> {
        let (outstanding, active) = (plan.outstanding as usize, plan.active as usize);
        let connections = plan.connections as usize;
        let depth = depth(plan, &adapter.ia);
        let receives = receives(plan, depth);
        let evds = Evds::new(ia, [receives + 1, outstanding + 8 * active + 8, 2 * connections], None)?;
        let (out, into) = Layout::of(plan, depth, client);
        let (out, into) = (Buffers::new(pz, out)?, Buffers::new(pz, into)?);
        let srq = if plan.srq { Some(Srq::new(pz, depth)?) } else { None };
        let largest = plan.size.max(into.layout.bytes as u64);
        let mut eps = Vec::with_capacity(connections);
        for connection in 0..connections {
            let attr = if connection < active {
                ep::attributes(adapter, largest, depth, outstanding + 8)
            } else {
                ep::attributes(adapter, largest, IDLE, 4)
            };
            eps.push(Ep::new(pz, &evds, srq.as_ref(), &attr)?);
        }
        let reads = usize::try_from(adapter.ia.max_rdma_read_per_ep_out).unwrap_or(0).max(1);
        let worker = Worker {
            plan: *plan,
            client,
            eps: eps.into(),
            shared: srq,
            evds,
            out,
            into,
            target: Target::default(),
            depth,
            reads,
            under_way: 0,
            looks: if plan.crowded { CROWDED_LOOKS } else { LOOKS },
            rests: Cell::new(0),
        };
        worker.post_all()?;
        Ok(worker)
    }

    fn post_all(&self) -> anyhow::Result<()> {
        let connections = if self.shared.is_some() { 1 } else { self.eps.len() };
        for connection in 0..connections {
            let active = connection < self.plan.active as usize;
            for buffer in 0..if active { self.depth } else { IDLE } {
                let own = active && self.plan.test.transfer() == Transfer::Send;
                self.post_recv(connection, if own { connection * self.depth + buffer } else { 0 })?;
            }
        }
        Ok(())
    }

    /// The connection behind this one, or the first again.
    #[inline(always)]
    pub fn next(&self, connection: usize) -> usize {
        if connection + 1 == self.plan.active as usize { 0 } else { connection + 1 }
    }

    /// The connection of a transfer by its number.
    pub fn connection_at(&self, number: u64) -> usize {
        (number % u64::from(self.plan.active)) as usize
    }

    /// The memory that the peer needs to know.
    pub fn offer(&self) -> Target {
        let Remote { context, address, .. } = self.into.region.remote(0, self.into.layout.bytes);
        Target { context, address, slot: self.into.layout.slot as u64 }
    }

    /// Transfers that are under way at a time: not more reads than the connections take.
    pub fn window(&self) -> u32 {
        match self.plan.test.transfer() {
            Transfer::Read => {
                self.plan.outstanding.min(u32::try_from(self.reads * self.plan.active as usize).unwrap_or(u32::MAX))
            }
            Transfer::Send | Transfer::Write => self.plan.outstanding,
        }
    }

    /// The connection to which an endpoint belongs.
    pub fn connection_of(&self, ep: DAT_EP_HANDLE) -> anyhow::Result<usize> {
        match self.eps.iter().position(|own| own.raw() == ep) {
            Some(connection) => Ok(connection),
            None => bail!("an event of an endpoint that is none of ours"),
        }
    }

    // ---- The calls whose time is taken ----

    /// Posts a buffer for a connection, or for all of them if there is a shared receive queue.
    #[inline(always)]
    pub fn post_recv(&self, connection: usize, slot: usize) -> anyhow::Result<()> {
        let segment = self.into.segment(slot, self.into.layout.bytes);
        let cookie = (connection as u64) << 32 | slot as u64;
        match &self.shared {
            None => self.eps[connection].post_recv(segment, cookie),
            Some(queue) => queue.post_recv(segment, cookie),
        }
    }

    #[inline(always)]
    pub fn post_send(&mut self, connection: usize, size: usize, slot: usize) -> anyhow::Result<()> {
        self.under_way += 1;
        let segment = self.out.segment(slot, size);
        self.eps[connection].post_send(segment, slot as u64)
    }

    #[inline(always)]
    pub fn post_write(&mut self, connection: usize, size: usize, slot: usize) -> anyhow::Result<()> {
        self.under_way += 1;
        let (segment, remote) = (self.out.segment(slot, size), self.remote(slot, size));
        self.eps[connection].post_rdma_write(segment, remote, slot as u64)
    }

    #[inline(always)]
    pub fn post_read(&mut self, connection: usize, size: usize, slot: usize) -> anyhow::Result<()> {
        self.under_way += 1;
        let (segment, remote) = (self.out.segment(slot, size), self.remote(slot, size));
        self.eps[connection].post_rdma_read(segment, remote, slot as u64)
    }

    #[inline(always)]
    fn remote(&self, slot: usize, size: usize) -> Remote {
        let Target { context, address, slot: step } = self.target;
        Remote { context, address: address.wrapping_add((slot as u64).wrapping_mul(step)), length: size as u64 }
    }

    /// Fetches the end of a transfer if one is there.
    #[inline(always)]
    pub fn try_fetch<'a>(&self, from: &Evd, place: &'a mut RawEvent) -> anyhow::Result<Option<Done<'a>>> {
        match from.dequeue_into(place) {
            // SAFETY: the call wrote the event.
            DAT_SUCCESS => self.done(unsafe { place.assume_init_ref() }).map(Some),
            code if DAT_GET_TYPE(code) == DAT_QUEUE_EMPTY => Ok(None),
            code => Err(from.library().error("dat_evd_dequeue", code)),
        }
    }

    /// Fetches the end of a transfer; polls or waits, as the plan says.
    #[inline(always)]
    pub fn fetch<'a>(&self, from: &Evd, place: &'a mut RawEvent) -> anyhow::Result<Done<'a>> {
        if self.plan.wait {
            // Receives of a shared receive queue do not end with a connection, so nothing would end the wait for them.
            let longest = if self.shared.is_some() { SLEEP } else { DAT_TIMEOUT_INFINITE };
            loop {
                match from.wait_into(longest, place) {
                    DAT_SUCCESS => break,
                    code if DAT_GET_TYPE(code) == DAT_TIMEOUT_EXPIRED => self.still_connected()?,
                    code => return Err(from.library().error("dat_evd_wait", code)),
                }
            }
        } else {
            let mut looks = 0;
            loop {
                match from.dequeue_into(place) {
                    DAT_SUCCESS => break,
                    code if DAT_GET_TYPE(code) == DAT_QUEUE_EMPTY => {
                        looks += 1;
                        if looks == self.looks {
                            looks = 0;
                            self.give_way()?;
                        }
                    }
                    code => return Err(from.library().error("dat_evd_dequeue", code)),
                }
            }
        }
        // SAFETY: the call wrote the event.
        self.done(unsafe { place.assume_init_ref() })
    }

    /// Lets another thread run, and looks now and then whether the peer is still there.
    #[cold]
    pub fn give_way(&self) -> anyhow::Result<()> {
        rustix::thread::sched_yield();
        self.rests.set(self.rests.get().wrapping_add(1));
        if self.rests.get() % RESTS == 0 { self.still_connected() } else { Ok(()) }
    }

    /// Checks that no connection has ended. Receives of a shared receive queue are not flushed then, so they do not show it.
    #[cold]
    pub fn still_connected(&self) -> anyhow::Result<()> {
        still_connected(&self.evds.connect)
    }

    #[inline(always)]
    pub fn receive<'a>(&self, place: &'a mut RawEvent) -> anyhow::Result<Done<'a>> {
        self.fetch(&self.evds.recv, place)
    }

    /// Reaps the completion of one request.
    #[inline(always)]
    pub fn reap(&mut self) -> anyhow::Result<()> {
        self.reap_slot().map(drop)
    }

    /// The same; the buffer of the request.
    #[inline(always)]
    pub fn reap_slot(&mut self) -> anyhow::Result<usize> {
        let mut place = RawEvent::uninit();
        let slot = self.fetch(&self.evds.request, &mut place)?.slot();
        self.under_way -= 1;
        Ok(slot)
    }

    /// Reaps the completions of all requests.
    #[inline(always)]
    pub fn reap_all(&mut self) -> anyhow::Result<()> {
        while self.under_way > 0 {
            self.reap()?;
        }
        Ok(())
    }

    #[inline(always)]
    fn done<'a>(&self, event: &'a DAT_EVENT) -> anyhow::Result<Done<'a>> {
        if event.event_number != DAT_DTO_COMPLETION_EVENT {
            return Err(wrong_event(event.event_number));
        }
        // SAFETY: the number says that the event is of this kind.
        let data = unsafe { &event.event_data.dto_completion_event_data };
        if data.status == DAT_DTO_SUCCESS { Ok(Done(data)) } else { Err(self.ended(data.ep_handle, data.status)) }
    }

    #[cold]
    fn ended(&self, ep: DAT_EP_HANDLE, status: DAT_DTO_COMPLETION_STATUS) -> anyhow::Error {
        match self.connection_of(ep) {
            _ if status == DAT_DTO_ERR_FLUSHED => anyhow!(GONE),
            Ok(connection) => anyhow!("connection {connection}: a transfer ended with {}", event::status_name(status)),
            Err(error) => error,
        }
    }
}

#[cold]
fn wrong_event(number: DAT_EVENT_NUMBER) -> anyhow::Error {
    anyhow!("{} instead of a completion", event::event_name(number))
}

/// Receive buffers of an active connection, or in the shared receive queue: enough that the sender seldom has to stop.
fn depth(plan: &Plan, adapter: &DAT_IA_ATTR) -> usize {
    let (outstanding, active) = (plan.outstanding as usize, plan.active as usize);
    let mut depth = 4;
    if !plan.test.is_latency() && plan.test.transfer() == Transfer::Send {
        depth = if plan.size <= 8_192 && !plan.verify { 8 * outstanding } else { 2 * outstanding };
        if !plan.srq {
            depth /= active;
        }
        depth = depth.max(if plan.both { 2 * CREDIT_BUFFERS } else { 8 });
    } else if plan.srq {
        depth *= active;
    }
    let limit = if plan.srq { adapter.max_recv_per_srq } else { adapter.max_dto_per_ep };
    depth.min(usize::try_from(limit).unwrap_or(depth))
}

#[cfg(test)]
mod tests;
