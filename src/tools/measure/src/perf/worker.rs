//! The objects of one thread, and the calls whose time is measured.

use std::cell::Cell;
use std::time::Duration;

use anyhow::{anyhow, bail, ensure};
use dat::sys::*;
use dat::{
    Attributes, Completion, Ep, EpId, Evd, Evds, Event, IaAttributes, Pz, Region, Remote, Segment, Srq, event_name,
    status_name,
};

use super::limit::{GONE, Limit};
use super::plan::{Plan, Transfer};
use super::stream;
use crate::pattern::Pattern;

const PAGE: usize = 4_096;
/// Receive buffers of a connection without traffic.
const IDLE: usize = 1;
/// Receive buffers for empty messages, each of which returns a quarter of the credits.
pub(crate) const CREDIT_BUFFERS: usize = 8;
/// Unsuccessful polls before a thread yields.
const POLLS: u32 = 1 << 12;
/// Polls before a yield if threads outnumber CPUs: an event needs another thread to run.
const CROWDED_POLLS: u32 = 8;
/// Yields before a thread checks that the measurement continues.
const YIELDS: u32 = 1 << 8;
/// Interval at which a thread that sleeps until an event checks that the measurement continues.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// How often a target of RDMA reads its memory, or polls its dispatcher, between two checks for the next turn. A check
/// polls the adapter. Over shm, the initiator of a transfer waits for a target that polls every 5 us, so this many
/// reads of memory take longer.
const READS_PER_CHECK: usize = 100_000;
/// [`READS_PER_CHECK`] if threads outnumber CPUs.
const CROWDED_READS_PER_CHECK: usize = 100;

/// The peer's memory for the RDMA operations of a thread: RMR context, address, and bytes from one buffer to the next.
pub type Memory = (u32, u64, u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    bytes: usize,
    /// Bytes from one buffer to the next; 0 for a single buffer.
    step: usize,
    /// Total bytes. Saturated, because the peer's plan may contain large numbers.
    length: u64,
}

impl Layout {
    /// Creates the layout of a buffer of `bytes` bytes, and `slots` further buffers.
    fn new(bytes: usize, slots: usize) -> Self {
        let bytes = bytes.max(64);
        let step = if slots > 0 { bytes.next_multiple_of(64) } else { 0 };
        Self { bytes, step, length: (slots as u64).saturating_mul(step as u64).saturating_add(bytes as u64) }
    }

    /// Returns the layouts of `out` and `into` of a [`Worker`].
    fn of(plan: &Plan, depth: usize, initiator: bool) -> (Self, Self) {
        let size = usize::try_from(plan.size).unwrap_or(usize::MAX / 2);
        let targets = if plan.verify { plan.outstanding as usize * plan.active as usize } else { 0 };
        let only_sends = initiator && !plan.both && !plan.test.is_latency();
        let into = match plan.test.transfer() {
            Transfer::Send if only_sends || !plan.verify => Self::new(size, 0),
            Transfer::Send => Self::new(size, receives(plan, depth)),
            Transfer::Write | Transfer::Read => Self::new(size, targets),
        };
        (Self::new(size, targets), into)
    }
}

/// Returns the bytes of all buffers of a process.
pub fn memory(plan: &Plan, adapter: &IaAttributes, initiator: bool) -> u64 {
    let (out, into) = Layout::of(plan, depth(plan, adapter), initiator);
    out.length.saturating_add(into.length).saturating_mul(u64::from(plan.threads))
}

fn receives(plan: &Plan, depth: usize) -> usize {
    let (active, idle) = (plan.active as usize, (plan.connections - plan.active) as usize);
    if plan.srq { depth } else { depth * active + IDLE * idle }
}

/// Registered memory with consecutive buffers, or with one buffer for all transfers.
pub(crate) struct Buffers {
    region: Region,
    layout: Layout,
}

impl Buffers {
    fn new(pz: &Pz, layout: Layout) -> anyhow::Result<Self> {
        let region = Region::new(pz, usize::try_from(layout.length)?, DAT_MEM_PRIV_ALL_FLAG)?;
        // Write each page: unwritten pages would share one page of zeros, which stays in the cache.
        for page in (0..region.length()).step_by(PAGE) {
            region.write(page, &[0]);
        }
        Ok(Self { region, layout })
    }

    #[inline(always)]
    fn segment(&self, slot: usize, size: usize) -> Segment {
        self.region.segment(slot * self.layout.step, size)
    }

    /// Returns the byte of the first buffer at `offset`, which the peer may be writing.
    #[inline(always)]
    pub(crate) fn load(&self, offset: usize) -> u8 {
        self.region.load(offset)
    }

    /// Writes a number to the end of a transfer in the first buffer. Consecutive numbers differ in the last byte.
    #[inline(always)]
    pub(crate) fn set_end(&self, size: usize, number: u64) {
        let bytes = number.to_be_bytes();
        self.region.write(size - size.min(8), &bytes[8 - size.min(8)..]);
    }

    pub(crate) fn fill(&self, slot: usize, size: usize, lane: usize, number: u64) {
        Pattern { lane, number }.write(&self.region, slot * self.layout.step, size);
    }

    pub(crate) fn clear(&self, slot: usize, size: usize) {
        for from in (0..size).step_by(PAGE) {
            self.region.write(slot * self.layout.step + from, &[0; PAGE][..PAGE.min(size - from)]);
        }
    }

    pub(crate) fn check(&self, slot: usize, size: usize, lane: usize, number: u64) -> anyhow::Result<()> {
        match (Pattern { lane, number }).first_difference(&self.region, slot * self.layout.step, size) {
            None => Ok(()),
            Some(at) => bail!("connection {lane}, transfer {number}: byte {at} is wrong"),
        }
    }

    /// Checks a transfer in the first buffer, whose end the peer wrote with [`set_end`](Self::set_end).
    pub(crate) fn check_with_end(&self, size: usize, lane: usize, number: u64) -> anyhow::Result<()> {
        let (end, wanted) = (size.min(8), number.to_be_bytes());
        self.check(0, size - end, lane, number)?;
        let mut found = [0; 8];
        self.region.read(size - end, &mut found[..end]);
        ensure!(found[..end] == wanted[8 - end..], "connection {lane}, transfer {number}: its last bytes are wrong");
        Ok(())
    }
}

#[inline(always)]
pub(crate) fn slot(done: &Completion) -> usize {
    (done.cookie & 0xffff_ffff) as usize
}

#[inline(always)]
pub(crate) fn posted_for(done: &Completion) -> usize {
    (done.cookie >> 32) as usize
}

/// The objects of one thread. Endpoints are freed first, then the objects that they use.
pub struct Worker {
    /// The measurement.
    pub plan: Plan,
    /// See [`Plan::is_initiator`].
    pub initiator: bool,
    /// The endpoints of the connections.
    pub eps: Vec<Ep>,
    pub(crate) shared: Option<Srq>,
    evds: Evds,
    /// The source of sends and writes, and the target of reads.
    pub(crate) out: Buffers,
    /// The target of receives, and of the peer's RDMA operations.
    pub(crate) into: Buffers,
    /// The peer's memory, from its [`Worker::offer`].
    pub target: Memory,
    /// Receive buffers of a connection, or in the shared receive queue.
    pub(crate) depth: usize,
    /// Maximum outstanding RDMA reads of a connection.
    reads: usize,
    /// Posted requests without a reaped completion.
    pub(crate) outstanding: usize,
    pub(crate) polls: u32,
    yields: Cell<u32>,
    limit: Limit,
}

impl Worker {
    /// Creates the objects of a thread, and posts its receives.
    pub fn new(pz: &Pz, adapter: &Attributes, plan: &Plan, initiator: bool, limit: &Limit) -> anyhow::Result<Self> {
        let (outstanding, active) = (plan.outstanding as usize, plan.active as usize);
        let connections = plan.connections as usize;
        let depth = depth(plan, &adapter.ia);
        let evds =
            Evds::new(pz.ia(), [receives(plan, depth) + 1, outstanding + 8 * active + 8, 2 * connections], None)?;
        let (out, into) = Layout::of(plan, depth, initiator);
        let (out, into) = (Buffers::new(pz, out)?, Buffers::new(pz, into)?);
        let srq = if plan.srq { Some(Srq::new(pz, depth)?) } else { None };
        let largest = plan.size.max(into.layout.bytes as u64);
        let mut eps = Vec::with_capacity(connections);
        for connection in 0..connections {
            let counts = if connection < active { [depth, outstanding + 8] } else { [IDLE, 4] };
            eps.push(Ep::new(pz, &evds, srq.as_ref(), adapter, largest, counts)?);
        }
        let worker = Worker {
            plan: *plan,
            initiator,
            eps,
            shared: srq,
            evds,
            out,
            into,
            target: Memory::default(),
            depth,
            reads: usize::try_from(adapter.ia.max_rdma_read_per_ep_out).unwrap_or(0).max(1),
            outstanding: 0,
            polls: if plan.crowded { CROWDED_POLLS } else { POLLS },
            yields: Cell::new(0),
            limit: limit.clone(),
        };
        worker.post_all()?;
        stream::fill_readable(&worker);
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

    /// Waits until the last requested or accepted connection is established.
    pub fn established(&self) -> anyhow::Result<()> {
        loop {
            match self.evds.connect.wait(CHECK_INTERVAL)? {
                Some(Event::Connection(event)) if event.number == DAT_CONNECTION_EVENT_ESTABLISHED => return Ok(()),
                Some(Event::Connection(event)) => bail!(event_name(event.number)),
                _ => self.limit.check()?,
            }
        }
    }

    #[inline(always)]
    pub(crate) fn next(&self, connection: usize) -> usize {
        if connection + 1 == self.plan.active as usize { 0 } else { connection + 1 }
    }

    pub(crate) fn connection_at(&self, number: u64) -> usize {
        (number % u64::from(self.plan.active)) as usize
    }

    /// Returns the memory for the peer's RDMA operations.
    pub fn offer(&self) -> Memory {
        let memory = self.into.region.remote(0, self.into.layout.bytes);
        (memory.context, memory.address, self.into.layout.step as u64)
    }

    /// Returns the maximum outstanding transfers of this thread. Reads also stay within the limits of its endpoints.
    pub fn window(&self) -> u32 {
        match self.plan.test.transfer() {
            Transfer::Read => {
                self.plan.outstanding.min(u32::try_from(self.reads * self.plan.active as usize).unwrap_or(u32::MAX))
            }
            Transfer::Send | Transfer::Write => self.plan.outstanding,
        }
    }

    pub(crate) fn connection_of(&self, ep: EpId) -> anyhow::Result<usize> {
        self.eps.iter().position(|own| own.id() == ep).ok_or_else(|| anyhow!("an event of an unknown endpoint"))
    }

    /// As the target of RDMA, polls the memory that the peer writes, or the dispatcher with --target-polls. Returns when
    /// the thread must check for the next turn.
    ///
    /// The loop over the memory contains only reads, because its duration affects how long the initiator waits.
    pub fn poll_as_target(&self) {
        let Plan { size, target_polls, crowded, .. } = self.plan;
        let reads = if crowded { CROWDED_READS_PER_CHECK } else { READS_PER_CHECK };
        if target_polls {
            for _ in 0..reads {
                // Errors are ignored: the control connection reports the end of the peer.
                let _ = self.try_receive();
            }
        } else {
            let last = size as usize - 1;
            for _ in 0..reads {
                let _ = self.into.load(last);
            }
        }
        if crowded {
            rustix::thread::sched_yield();
        }
    }

    // ---- The calls whose time is measured ----

    #[inline(always)]
    pub(crate) fn post_recv(&self, connection: usize, slot: usize) -> anyhow::Result<()> {
        let segment = self.into.segment(slot, self.into.layout.bytes);
        let cookie = (connection as u64) << 32 | slot as u64;
        match &self.shared {
            None => Ok(self.eps[connection].post_recv(segment, cookie)?),
            Some(queue) => Ok(queue.post_recv(segment, cookie)?),
        }
    }

    #[inline(always)]
    pub(crate) fn post_send(&mut self, connection: usize, size: usize, slot: usize) -> anyhow::Result<()> {
        self.outstanding += 1;
        Ok(self.eps[connection].post_send(self.out.segment(slot, size), slot as u64)?)
    }

    #[inline(always)]
    pub(crate) fn post_write(&mut self, connection: usize, size: usize, slot: usize) -> anyhow::Result<()> {
        self.outstanding += 1;
        let (segment, remote) = (self.out.segment(slot, size), remote(self.target, slot, size));
        Ok(self.eps[connection].post_rdma_write(segment, remote, slot as u64)?)
    }

    #[inline(always)]
    pub(crate) fn post_read(&mut self, connection: usize, size: usize, slot: usize) -> anyhow::Result<()> {
        self.outstanding += 1;
        let (segment, remote) = (self.out.segment(slot, size), remote(self.target, slot, size));
        Ok(self.eps[connection].post_rdma_read(segment, remote, slot as u64)?)
    }

    #[inline(always)]
    pub(crate) fn try_receive(&self) -> anyhow::Result<Option<Completion>> {
        self.evds.recv.dequeue()?.map(|event| self.completion(event)).transpose()
    }

    #[inline(always)]
    fn fetch(&self, from: &Evd) -> anyhow::Result<Completion> {
        if self.plan.wait {
            loop {
                match from.wait(CHECK_INTERVAL)? {
                    Some(event) => return self.completion(event),
                    None => self.check()?,
                }
            }
        }
        let mut polls = 0;
        loop {
            if let Some(event) = from.dequeue()? {
                return self.completion(event);
            }
            polls += 1;
            if polls == self.polls {
                polls = 0;
                self.yield_cpu()?;
            }
        }
    }

    /// Yields the CPU. Every [`YIELDS`] calls, checks that the measurement continues.
    #[cold]
    pub(crate) fn yield_cpu(&self) -> anyhow::Result<()> {
        rustix::thread::sched_yield();
        self.yields.set(self.yields.get().wrapping_add(1));
        if self.yields.get() % YIELDS == 0 { self.check() } else { Ok(()) }
    }

    /// Fails after the end of a connection or at a limit. A thread that waits for a receive of an SRQ sees the end of a
    /// connection only here.
    #[cold]
    fn check(&self) -> anyhow::Result<()> {
        match self.evds.connect.dequeue()? {
            Some(Event::Connection(event)) if event.number != DAT_CONNECTION_EVENT_ESTABLISHED => bail!(GONE),
            _ => self.limit.check(),
        }
    }

    #[inline(always)]
    pub(crate) fn receive(&self) -> anyhow::Result<Completion> {
        self.fetch(&self.evds.recv)
    }

    #[inline(always)]
    pub(crate) fn reap(&mut self) -> anyhow::Result<usize> {
        let slot = slot(&self.fetch(&self.evds.request)?);
        self.outstanding -= 1;
        Ok(slot)
    }

    /// Reaps the completions of all posted requests.
    #[inline(always)]
    pub fn reap_all(&mut self) -> anyhow::Result<()> {
        while self.outstanding > 0 {
            self.reap()?;
        }
        Ok(())
    }

    #[inline(always)]
    fn completion(&self, event: Event) -> anyhow::Result<Completion> {
        match event {
            Event::Completion(completion) if completion.status == DAT_DTO_SUCCESS => Ok(completion),
            event => Err(self.failed(&event)),
        }
    }

    #[cold]
    fn failed(&self, event: &Event) -> anyhow::Error {
        let Event::Completion(Completion { status, ep, .. }) = *event else {
            return anyhow!("an unexpected event instead of a completion");
        };
        match self.connection_of(ep) {
            _ if status == DAT_DTO_ERR_FLUSHED => anyhow!(GONE),
            Ok(connection) => anyhow!("connection {connection}: a transfer failed: {}", status_name(status)),
            Err(error) => error,
        }
    }
}

/// Returns `length` bytes of the peer's buffer `slot`, for an RDMA operation.
#[inline(always)]
fn remote((context, address, step): Memory, slot: usize, length: usize) -> Remote {
    Remote { context, address: address.wrapping_add((slot as u64).wrapping_mul(step)), length: length as u64 }
}

/// Returns the number of receive buffers of an active connection, or of the shared receive queue: enough that the
/// sender rarely waits for credits.
fn depth(plan: &Plan, adapter: &IaAttributes) -> usize {
    let (outstanding, active) = (plan.outstanding as usize, plan.active as usize);
    let mut depth = 4;
    if !plan.test.is_latency() && plan.test.transfer() == Transfer::Send {
        depth = if plan.size <= 8_192 && !plan.verify { 8 * outstanding } else { 2 * outstanding };
        if !plan.srq {
            depth /= active;
        }
        depth = depth.max(2 * CREDIT_BUFFERS);
    } else if plan.srq {
        depth *= active;
    }
    let limit = if plan.srq { adapter.max_recv_per_srq } else { adapter.max_dto_per_ep };
    depth.min(usize::try_from(limit).unwrap_or(depth))
}

#[cfg(test)]
mod tests;
