//! Completion queues. They report completions to endpoints, wake sleeping threads, and never overflow.
//!
//! # Parts
//! The queue of an EVD consists of *parts*, which are completion queues of the device. Before a queue pair is created,
//! it reserves entries for all its work in one part. If no part has room, the last part is resized. If this fails, a
//! part is added. The first part is created only with the first queue pair, whose need is then known, because a resize
//! costs as much as a creation.
//!
//! If the waiters of receives wake only for solicited messages, these receives complete in separate parts, which are
//! always armed. A completion lacks the sender's solicited flag, but the device can restrict events to messages with
//! the flag. Soft-iWARP drops the flag (Linux 6.1, 6.12, 7.3), so there all messages raise events.
//!
//! # Reports
//! A thread holds the queue's lock from the poll to the last report. So when a poll returns, all earlier completions
//! have been reported, even those read by other threads. Reports that may end a connection follow without a lock. Core
//! gets one report for consecutive requests.
//!
//! Each queue has a table of its queue pairs by number, caches the last one found, and drops completions of other queue
//! pairs. All requests are signalled, even if the program suppresses their completions. So counts are exact, idle
//! endpoints are detected, and an entry is free once its completion is read.
//!
//! An event may arrive shortly before or after its completion. So a part for solicited messages is polled once more
//! before its event is reported to core. A poll that finds completions in such a part also reads the channel, by a
//! system call. Other polls do not.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use dat_core::error::{Resource, Result};
use host::cold_path;
use host::lock::{Mutex, MutexGuard};
use host::memory::{self, Room};
use rdma_sys::ibv_wc;

use crate::channels::{self, CompletionChannel};
use crate::datagram::UdQp;
use crate::device::Device;
use crate::qp::{Qp, belong_together};
use crate::status::exhausted;
use crate::sys::cq::{BATCH, Batch, RawCq, batch};

/// Maximum length of an EVD's first part, unless the first queue pair needs more.
const MAX_FIRST_PART: usize = 1024;

/// The completion queue of an EVD.
pub struct CompletionQueue {
    /// Length of the first part, unless its queue pair needs more: the EVD's length, but at most [`MAX_FIRST_PART`].
    depth: usize,
    channel: Arc<CompletionChannel>,
    parts: Mutex<Vec<Part>>,
    /// Locked from a poll until its completions are reported, which keeps reports in order.
    fetch: Mutex<Fetch>,
    /// Number of waits that have called [`CompletionQueue::arm`] and may sleep.
    armed: AtomicUsize,
    /// Set if the device drops the solicited flag.
    drops_flag: bool,
    /// Set if a thread has polled since the last [`CompletionQueue::drain_if_unread`].
    read: AtomicBool,
}

struct Part {
    raw: Arc<RawCq>,
    solicited: bool,
    depth: usize,
    taken: usize,
    /// Numbers of entries reserved for SRQs, by the SRQ's address.
    shared: BTreeMap<usize, usize>,
}

struct Fetch {
    batch: Box<Batch>,
    sources: Vec<Source>,
    table: Table,
    datagrams: Vec<Arc<UdQp>>,
    /// Queue pairs on which to call [`Qp::report`] after unlocking.
    touched: Vec<Arc<Qp>>,
}

/// The queue pairs that complete here, sorted by number.
type Table = Vec<(u32, Arc<Qp>)>;

/// A part as polls use it. Polls lock `fetch`. They lock `parts` only after they have read events from the channel.
struct Source {
    raw: Arc<RawCq>,
    solicited: bool,
    /// Index in `table` of the last completion's queue pair.
    last: usize,
    /// Set if an event was read that core does not know yet: a message polled so far, or the next one, is solicited.
    due: bool,
}

#[derive(Default)]
struct Found {
    more: bool,
    /// Set if events were read from the channel, maybe of other queues.
    drained: bool,
}

/// Entries of a part that are reserved for a queue pair, without the entries for the receives of its SRQ.
pub struct Reservation {
    pub(crate) cq: Arc<CompletionQueue>,
    pub(crate) raw: Arc<RawCq>,
    pub(crate) count: usize,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut parts = self.cq.parts.lock();
        if let Some(part) = parts.iter_mut().find(|part| Arc::ptr_eq(&part.raw, &self.raw)) {
            part.taken -= self.count;
        }
    }
}

impl CompletionQueue {
    pub fn new(device: &Device, depth: usize) -> Result<Arc<Self>> {
        let channel = device.channels.get(&device.context).map_err(exhausted(Resource::Evd))?;
        let cq = memory::arc(CompletionQueue {
            depth: depth.min(MAX_FIRST_PART),
            channel,
            parts: Mutex::default(),
            fetch: Mutex::new(Fetch {
                batch: batch()?,
                sources: Vec::new(),
                table: Vec::new(),
                datagrams: Vec::new(),
                touched: Vec::new(),
            }),
            armed: AtomicUsize::new(0),
            drops_flag: device.limits.quirks.drops_solicited,
            read: AtomicBool::new(false),
        })?;
        channels::add(&mut cq.channel.queues.lock(), &cq)?;
        channels::add(&mut device.cqs.lock(), &cq)?;
        Ok(cq)
    }

    /// Returns the queues for a queue pair's requests and receives, from its EVDs. If it has only one EVD, that queue
    /// serves both. If it has none, a new queue does.
    pub fn for_work(
        device: &Device,
        requests: Option<&Arc<Self>>,
        receives: Option<&Arc<Self>>,
    ) -> Result<[Arc<Self>; 2]> {
        Ok(match (requests, receives) {
            (Some(requests), Some(receives)) => [requests, receives].map(Arc::clone),
            (Some(one), None) | (None, Some(one)) => [one, one].map(Arc::clone),
            (None, None) => {
                let spare = CompletionQueue::new(device, 1)?;
                [spare.clone(), spare]
            }
        })
    }

    /// Adds a part with `expected` entries, or if that fails or is less, with `need`. Returns its source. The caller
    /// unlocks `parts` before it adds the source to `fetch`: a holder of `fetch` may wait for a lock whose holder waits
    /// for `parts`.
    fn add_part(
        &self,
        device: &Device,
        parts: &mut Vec<Part>,
        need: usize,
        expected: usize,
        solicited: bool,
    ) -> Result<Source> {
        let failed = exhausted(Resource::Evd);
        parts.room(1)?;
        let make = |depth: usize| RawCq::new(&self.channel.raw, depth.min(device.limits.cqe).max(1));
        let raw = make(need.max(expected)).or_else(|_| make(need)).map_err(&failed)?;
        if solicited || self.armed.load(Ordering::Acquire) > 0 {
            raw.arm(solicited && !self.drops_flag).map_err(&failed)?;
        }
        parts.push(Part { depth: raw.depth(), raw: raw.clone(), solicited, taken: 0, shared: BTreeMap::new() });
        Ok(Source { raw, solicited, last: 0, due: false })
    }

    /// Reserves `count` entries for a queue pair. In the same part, also reserves an entry for each receive of its SRQ
    /// (`shared`: address, length) that has none there. With `solicited`, uses a part for solicited messages.
    pub fn reserve(
        self: &Arc<Self>,
        device: &Device,
        count: usize,
        shared: Option<(usize, usize)>,
        solicited: bool,
    ) -> Result<Reservation> {
        let mut parts = self.parts.lock();
        let mut source = None;
        let need = |part: &Part| part.taken + count + part.missing(shared);
        // Prefers a part that already has entries for the SRQ.
        let fitting = (0..parts.len())
            .filter(|&at| parts[at].solicited == solicited && need(&parts[at]) <= parts[at].depth)
            .min_by_key(|&at| parts[at].missing(shared));
        let at = match fitting.or_else(|| {
            let last = parts.iter().rposition(|part| part.solicited == solicited)?;
            let need = need(&parts[last]);
            parts[last].grow(device, need).then_some(last)
        }) {
            Some(at) => at,
            None => {
                let need = count + shared.map_or(0, |(_, receives)| receives);
                // A part as long as all earlier parts of its kind together keeps their number small.
                let others = parts.iter().filter(|part| part.solicited == solicited).map(|part| part.depth).sum();
                let expected = if parts.is_empty() { self.depth } else { others };
                source = Some(self.add_part(device, &mut parts, need, expected, solicited)?);
                parts.len() - 1
            }
        };
        let part = &mut parts[at];
        part.taken += count;
        if let Some((address, receives)) = shared {
            part.share(address, receives);
        }
        let reservation = Reservation { cq: self.clone(), raw: part.raw.clone(), count };
        drop(parts);
        // Not too late: until the queue pair exists, no work completes in the new part.
        self.fetch.lock().sources.extend(source);
        Ok(reservation)
    }

    /// Reserves entries for an SRQ of now `receives` receives, in all parts in which these complete. Returns `false` if
    /// a part has no room and cannot grow.
    pub fn enlarge_shared(&self, device: &Device, address: usize, receives: usize) -> bool {
        self.parts.lock().iter_mut().filter(|part| part.shared.contains_key(&address)).all(|part| {
            let need = part.taken + part.missing(Some((address, receives)));
            let fits = need <= part.depth || part.grow(device, need);
            if fits {
                part.share(address, receives);
            }
            fits
        })
    }

    pub fn forget_shared(&self, address: usize) {
        for part in self.parts.lock().iter_mut() {
            part.taken -= part.shared.remove(&address).unwrap_or(0);
        }
    }

    pub fn join(&self, qp: &Arc<Qp>) -> Result<()> {
        let Fetch { table, sources, .. } = &mut *self.fetch.lock();
        table.room(1)?;
        if let Err(at) = position(table, qp.number()) {
            table.insert(at, (qp.number(), qp.clone()));
            sources.iter_mut().filter(|source| source.last >= at).for_each(|source| source.last += 1);
        }
        Ok(())
    }

    pub fn leave(&self, qp: &Qp) {
        let gone = {
            let Fetch { table, sources, .. } = &mut *self.fetch.lock();
            position(table, qp.number()).map(|at| {
                sources.iter_mut().filter(|source| source.last > at).for_each(|source| source.last -= 1);
                table.remove(at)
            })
        };
        drop(gone);
    }

    pub fn join_datagrams(&self, qp: &Arc<UdQp>) -> Result<()> {
        let mut fetch = self.fetch.lock();
        fetch.datagrams.room(1)?;
        fetch.datagrams.push(qp.clone());
        Ok(())
    }

    /// Undoes one [`CompletionQueue::join_datagrams`] of the queue pair `number`, which can have joined twice.
    pub fn leave_datagrams(&self, number: u32) {
        let gone = {
            let datagrams = &mut self.fetch.lock().datagrams;
            datagrams.iter().position(|qp| qp.number() == number).map(|at| datagrams.swap_remove(at))
        };
        // Unlocked, because this may drop the last reference.
        drop(gone);
    }

    /// Polls until the queue is empty. Earlier completions have then been reported, even those read by other threads.
    #[inline]
    pub fn drain(&self) {
        if self.drain_own() {
            self.drain_others();
        }
    }

    /// Calls [`CompletionQueue::drain`], unless a thread has polled since the last call of this function, which must
    /// not run concurrently.
    pub fn drain_if_unread(&self) {
        if !self.read.swap(false, Ordering::Relaxed) {
            self.drain();
            self.read.store(false, Ordering::Relaxed);
        }
    }

    /// Polls only this queue until it is empty. Returns whether events were read from the channel.
    #[inline]
    fn drain_own(&self) -> bool {
        let mut fetch = self.fetch.lock();
        let found = self.fetch(&mut fetch);
        // Not `||`, which takes one more instruction.
        if !(found.more | found.drained) && fetch.touched.is_empty() {
            return false;
        }
        self.drain_rest(fetch, found)
    }

    #[cold]
    fn drain_rest<'a>(&'a self, mut fetch: MutexGuard<'a, Fetch>, mut found: Found) -> bool {
        let mut drained = false;
        loop {
            let touched = std::mem::take(&mut fetch.touched);
            drop(fetch);
            for qp in touched {
                qp.report();
            }
            drained |= found.drained;
            let slept_on = found.drained && self.notify_sleepers();
            if !found.more && !slept_on {
                return drained;
            }
            fetch = self.fetch.lock();
            found = self.fetch(&mut fetch);
        }
    }

    /// Rearms and polls the channel's other queues that have events and sleeping waiters.
    #[cold]
    fn drain_others(&self) {
        let mut more = true;
        while std::mem::take(&mut more) {
            for cq in channels::each(&self.channel.queues).filter(|cq| !std::ptr::eq(&**cq, self)) {
                if cq.armed.load(Ordering::Acquire) > 0 && cq.was_announced() {
                    cq.notify();
                    more |= cq.drain_own();
                }
            }
        }
    }

    /// Clears the events of this queue that threads have read from the channel. Returns whether there were any.
    fn was_announced(&self) -> bool {
        let mut any = false;
        for part in self.parts.lock().iter() {
            // The next poll clears the event of a part for solicited messages.
            any |= if part.solicited { part.raw.is_announced() } else { part.raw.take_announced() };
        }
        any
    }

    #[inline(always)]
    fn fetch(&self, fetch: &mut Fetch) -> Found {
        let Fetch { batch, sources, table, datagrams, touched } = fetch;
        self.read.store(true, Ordering::Relaxed);
        // Fast path: one part, not for solicited messages.
        if let [source] = &mut **sources {
            if !source.solicited {
                if let Ok(done) = source.raw.poll(batch) {
                    match done {
                        [] => {}
                        [only] => report(slice::from_ref(only), &mut source.last, (table, datagrams), touched),
                        _ => report_runs(done, &mut source.last, (table, datagrams), touched),
                    }
                    return Found { more: done.len() == BATCH, drained: false };
                }
            }
        }
        self.fetch_parts(fetch)
    }

    /// Polls parts of any number and kind, and logs errors.
    #[inline(never)]
    fn fetch_parts(&self, fetch: &mut Fetch) -> Found {
        let Fetch { batch, sources, table, datagrams, touched } = fetch;
        let mut found = Found::default();
        for source in sources {
            let done = match source.raw.poll(batch) {
                Ok(done) => done,
                Err(errno) => {
                    let error = io::Error::from_raw_os_error(errno);
                    log::error!("completion queue: cannot read: {error}");
                    continue;
                }
            };
            report_runs(done, &mut source.last, (table, datagrams), touched);
            found.more |= done.len() == BATCH;
            if source.solicited {
                self.read_solicited_event(source, (table, datagrams), done.is_empty(), &mut found);
            }
        }
        found
    }

    /// Reads the channel, unless the part's last poll found `nothing`. Its event is reported only after the next poll.
    #[cold]
    fn read_solicited_event(
        &self,
        source: &mut Source,
        (table, datagrams): (&Table, &[Arc<UdQp>]),
        nothing: bool,
        found: &mut Found,
    ) {
        if std::mem::take(&mut source.due) {
            // Reports to a queue pair whose receives complete in this part. Other queue pairs use the part only for
            // requests.
            let receives = |entries: &[Reservation; 2]| Arc::ptr_eq(&entries[1].raw, &source.raw);
            let last = table.get(source.last).into_iter().chain(table).find(|(_, qp)| receives(&qp.entries));
            match (last, datagrams.iter().find(|qp| receives(&qp.entries))) {
                (Some((_, qp)), _) => qp.sink.recv_announced(),
                (None, Some(qp)) => qp.sink.announced(),
                (None, None) => {}
            }
        }
        if !nothing {
            found.drained |= self.channel.raw.drain();
        }
        if source.raw.take_announced() {
            arm(&source.raw, !self.drops_flag);
            source.due = true;
            found.more = true;
        }
    }

    /// Requests an event for the next completion. Returns the channel's descriptor.
    pub fn arm(&self) -> RawFd {
        self.armed.fetch_add(1, Ordering::AcqRel);
        self.notify();
        self.channel.raw.as_fd().as_raw_fd()
    }

    fn notify(&self) {
        for part in self.parts.lock().iter().filter(|part| !part.solicited) {
            arm(&part.raw, false);
        }
    }

    /// Undoes [`CompletionQueue::arm`]. If that reads events, polls the queues on which other threads sleep.
    pub fn disarm(&self) {
        self.armed.fetch_sub(1, Ordering::AcqRel);
        if !self.channel.raw.drain() {
            return;
        }
        if self.notify_sleepers() {
            self.drain();
        }
        self.drain_others();
    }

    /// Rearms the queue if threads sleep on it, because this thread may have read the event that should wake them.
    /// Returns whether to poll again.
    fn notify_sleepers(&self) -> bool {
        let slept_on = self.armed.load(Ordering::Acquire) > 0;
        if slept_on {
            self.notify();
        }
        slept_on
    }
}

fn arm(raw: &RawCq, solicited: bool) {
    if let Err(error) = raw.arm(solicited) {
        log::error!("completion queue: cannot arm: {error}");
    }
}

/// Reports completions to their queue pairs. Adds the queue pairs that need [`Qp::report`] to `touched`.
#[inline(never)]
fn report_runs(done: &[ibv_wc], last: &mut usize, of: (&Table, &[Arc<UdQp>]), touched: &mut Vec<Arc<Qp>>) {
    for run in done.chunk_by(belong_together) {
        report(run, last, of, touched);
    }
}

#[inline(always)]
fn report(run: &[ibv_wc], last: &mut usize, of: (&Table, &[Arc<UdQp>]), touched: &mut Vec<Arc<Qp>>) {
    let Some(first) = run.first() else { return };
    let Some(qp) = find(of.0, first.qp_num, last) else {
        report_datagrams(run, first.qp_num, of.1);
        return;
    };
    if qp.complete(run) {
        touch(qp, touched);
    }
}

#[inline(never)]
fn position<Q>(table: &[(u32, Q)], number: u32) -> std::result::Result<usize, usize> {
    table.binary_search_by_key(&number, |(number, _)| *number)
}

/// Returns the entry of queue pair `number`. `last` caches its index.
#[inline(always)]
fn find<'a, Q>(table: &'a [(u32, Q)], number: u32, last: &mut usize) -> Option<&'a Q> {
    if let Some((known, qp)) = table.get(*last) {
        if *known == number {
            return Some(qp);
        }
    }
    cold_path();
    *last = position(table, number).ok()?;
    table.get(*last).map(|(_, qp)| qp)
}

#[cold]
#[inline(never)]
fn touch(qp: &Arc<Qp>, touched: &mut Vec<Arc<Qp>>) {
    if !touched.iter().any(|known| Arc::ptr_eq(known, qp)) {
        touched.push(qp.clone());
    }
}

#[cold]
#[inline(never)]
fn report_datagrams(run: &[ibv_wc], number: u32, datagrams: &[Arc<UdQp>]) {
    match datagrams.iter().find(|qp| qp.number() == number) {
        Some(qp) => qp.complete(run),
        None => {
            log::debug!(target: host::diagnostics::EVD, "completion queue: a completion of queue pair {number}, which no longer exists")
        }
    }
}

impl Part {
    fn missing(&self, shared: Option<(usize, usize)>) -> usize {
        let Some((address, receives)) = shared else { return 0 };
        receives.saturating_sub(self.shared.get(&address).copied().unwrap_or(0))
    }

    /// Resizes to the larger of `need` and twice the length, within the device's limit. Returns `false` on failure.
    fn grow(&mut self, device: &Device, need: usize) -> bool {
        if need > device.limits.cqe {
            return false;
        }
        let depth = need.max(self.depth * 2).min(device.limits.cqe);
        match self.raw.resize(depth) {
            Ok(()) => {
                self.depth = self.raw.depth().max(need);
                true
            }
            Err(error) => {
                log::debug!(target: host::diagnostics::EVD, "completion queue: cannot resize from {} entries: {error}", self.depth);
                false
            }
        }
    }

    fn share(&mut self, address: usize, receives: usize) {
        self.taken += self.missing(Some((address, receives)));
        let have = self.shared.entry(address).or_default();
        *have = receives.max(*have);
    }
}

#[cfg(test)]
mod tests;
