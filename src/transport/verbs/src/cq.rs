//! Completion queues. They report completions to the endpoints and announce them to threads that sleep, and they
//! never overflow.
//!
//! A dispatcher's queue consists of *parts*, queues of the device. Each queue pair reserves entries for all of its work
//! in one part before it is made. The first one makes the first part, which is long enough for it: to resize a queue
//! takes as long as to make one. A part that is too short for another queue pair is resized; if the device cannot do
//! that, another part is added.
//!
//! Receives whose waiters wake for solicited messages alone complete in parts of their own: completions do not carry
//! the sender's flag, but the device can be asked to announce only those that have it. Such a part is armed all the
//! time. Soft-iWARP drops the flag, so there every message is announced.
//!
//! A thread that polls holds the queue's lock while it reports, so on return all earlier completions have been
//! reported, whichever thread fetched them; reports that may end a connection are made without a lock afterwards. A
//! completion names its queue pair by number, which is looked up among those that complete here, so
//! one of a queue pair that is gone is dropped. The queue remembers whose completion came last. A fetch takes up to
//! 16, and the core gets one report of requests that follow each other. Every request is signalled, also those whose
//! completion the program suppresses: the counts are exact at any time, whether an endpoint is idle is known, and a
//! an entry is free once its completion is fetched.
//!
//! An announcement may come a little before its completion or after it; so a queue for announced messages is read to
//! its end before this is reported. Fetching some of these asks the channel, the one
//! system call of a dequeue.

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

/// A dispatcher's first queue is no longer than this or what the first queue pair needs; others add what they need.
const FIRST: usize = 1024;

/// The completion queue of a dispatcher.
pub struct CompletionQueue {
    /// Completions that the program expects at a time.
    depth: usize,
    channel: Arc<CompletionChannel>,
    parts: Mutex<Vec<Part>>,
    /// A thread that fetches completions holds this lock until it has reported them, so that reports are in order.
    fetch: Mutex<Fetch>,
    /// Waits that sleep on it.
    armed: AtomicUsize,
    /// Set if the device drops the flag of solicited messages.
    drops_flag: bool,
    /// A thread has fetched since the last [`CompletionQueue::drain_if_unread`].
    read: AtomicBool,
}

struct Part {
    raw: Arc<RawCq>,
    solicited: bool,
    depth: usize,
    taken: usize,
    /// Shared receive queues whose buffers complete here, by address, and the number of buffers that there is room
    /// for.
    shared: BTreeMap<usize, usize>,
}

/// The tools of a thread that fetches completions.
struct Fetch {
    batch: Box<Batch>,
    sources: Vec<Source>,
    table: Table,
    /// The queue pairs for datagrams that complete here.
    datagrams: Vec<Arc<UdQp>>,
    /// Queue pairs that have something to report once no lock is held.
    touched: Vec<Arc<Qp>>,
}

/// The queue pairs that complete here, in the order of their numbers, which completions carry.
type Table = Vec<(u32, Arc<Qp>)>;

/// A part, as it is fetched from.
struct Source {
    raw: Arc<RawCq>,
    solicited: bool,
    /// The place of the queue pair whose completion came last.
    last: usize,
    /// A solicited message was among those fetched, or will be the next.
    due: bool,
}

#[derive(Default)]
struct Found {
    more: bool,
    /// Announcements were taken from the channel, perhaps those of other queues.
    drained: bool,
}

/// Entries of a part that a queue pair has for as long as the value lives.
pub struct Reservation {
    pub(crate) cq: Arc<CompletionQueue>,
    /// The queue of the device.
    pub(crate) raw: Arc<RawCq>,
    count: usize,
}

impl Reservation {
    /// The number of entries for work of its own.
    pub fn count(&self) -> usize {
        self.count
    }
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
    /// A queue, of which the device has no part yet, of a dispatcher for `depth` completions.
    pub fn new(device: &Device, depth: usize) -> Result<Arc<Self>> {
        let channel = device.channels.get(&device.context).map_err(exhausted(Resource::Evd))?;
        let cq = memory::arc(CompletionQueue {
            depth: depth.min(FIRST),
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
            drops_flag: device.limits.soft_iwarp,
            read: AtomicBool::new(false),
        })?;
        channels::add(&mut cq.channel.queues.lock(), &cq)?;
        channels::add(&mut device.cqs.lock(), &cq)?;
        Ok(cq)
    }

    /// The queues for the requests and the receives of a queue pair, whose dispatchers have these.
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

    /// Adds a part of `expected` entries, or of those that it needs if these are more or the device cannot make it as long. The
    /// caller adds the source to those that are fetched from, without the lock of the parts: a thread
    /// that fetches may hold the lock of the sources and wait for one that is held by a thread that wants the parts.
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

    /// Reserves entries for the work of one queue pair.
    ///
    /// # Parameters
    /// * `count` - entries for work of its own.
    /// * `shared` - a shared receive queue, by its address, and its receives: its queue pairs share the entries for these.
    /// * `solicited` - waiters wake for solicited messages alone.
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
        // Where the receives of the shared queue have entries already, they need no others.
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
                // With parts that cannot be resized, there are few of them if each is as long as all others together.
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
        // In time: there is no queue pair yet that completes there.
        self.fetch.lock().sources.extend(source);
        Ok(reservation)
    }

    /// Makes room for `receives` buffers of a shared queue, if any complete here. False if the device has no room for them.
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

    /// Forgets a shared queue.
    pub fn forget_shared(&self, address: usize) {
        for part in self.parts.lock().iter_mut() {
            part.taken -= part.shared.remove(&address).unwrap_or(0);
        }
    }

    /// Completions of `qp` are reported from now on, until [`CompletionQueue::leave`].
    pub fn join(&self, qp: &Arc<Qp>) -> Result<()> {
        let Fetch { table, sources, .. } = &mut *self.fetch.lock();
        table.room(1)?;
        if let Err(at) = place(table, qp.number()) {
            table.insert(at, (qp.number(), qp.clone()));
            sources.iter_mut().filter(|source| source.last >= at).for_each(|source| source.last += 1);
        }
        Ok(())
    }

    /// Completions of `qp` are no longer reported.
    pub fn leave(&self, qp: &Qp) {
        let gone = {
            let Fetch { table, sources, .. } = &mut *self.fetch.lock();
            place(table, qp.number()).map(|at| {
                sources.iter_mut().filter(|source| source.last > at).for_each(|source| source.last -= 1);
                table.remove(at)
            })
        };
        drop(gone);
    }

    /// Completions of a queue pair for datagrams are reported from now on, until [`CompletionQueue::leave_datagrams`].
    pub fn join_datagrams(&self, qp: &Arc<UdQp>) -> Result<()> {
        let mut fetch = self.fetch.lock();
        fetch.datagrams.room(1)?;
        fetch.datagrams.push(qp.clone());
        Ok(())
    }

    /// Completions of the queue pair for datagrams of this number are no longer reported.
    pub fn leave_datagrams(&self, number: u32) {
        let mut gone = Vec::new();
        self.fetch.lock().datagrams.retain(|qp| {
            let stays = qp.number() != number;
            if !stays {
                gone.push(qp.clone());
            }
            stays
        });
        // Without the lock, since it may be the last reference.
        drop(gone);
    }

    /// Reports all work that has completed, after any other thread that does: on return all that had completed before
    /// the call is reported.
    #[inline]
    pub fn drain(&self) {
        if self.drain_alone() {
            self.drain_others();
        }
    }

    /// Reports all work that has completed, unless a thread has fetched since the last call: a queue that the program
    /// reads is left to the program's threads. One thread at a time calls this.
    pub fn drain_if_unread(&self) {
        if !self.read.swap(false, Ordering::Relaxed) {
            self.drain();
            self.read.store(false, Ordering::Relaxed);
        }
    }

    /// Reports all work that has completed here. True if announcements were taken from the channel, perhaps those of
    /// other queues.
    #[inline]
    fn drain_alone(&self) -> bool {
        let mut fetch = self.fetch.lock();
        let found = self.fetch(&mut fetch);
        if !found.more && !found.drained && fetch.touched.is_empty() {
            return false;
        }
        self.drain_rest(fetch, found)
    }

    /// Goes on after a fetch that leaves something to do.
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

    /// Announcements were taken from the channel: the queues that they are of and that threads sleep on are asked to
    /// announce again, and looked through.
    #[cold]
    fn drain_others(&self) {
        let mut more = true;
        while std::mem::take(&mut more) {
            for cq in channels::each(&self.channel.queues).filter(|cq| !std::ptr::eq(&**cq, self)) {
                if cq.armed.load(Ordering::Acquire) > 0 && cq.was_announced() {
                    cq.notify();
                    more |= cq.drain_alone();
                }
            }
        }
    }

    /// True if an announcement of this queue was taken from the channel, by whichever thread, since the last call.
    fn was_announced(&self) -> bool {
        let mut any = false;
        for part in self.parts.lock().iter() {
            // The next fetch takes the announcement of a part for solicited messages.
            any |= if part.solicited { part.raw.is_announced() } else { part.raw.take_announced() };
        }
        any
    }

    /// Fetches one batch a part, and reports it.
    #[inline(always)]
    fn fetch(&self, fetch: &mut Fetch) -> Found {
        let Fetch { batch, sources, table, datagrams, touched } = fetch;
        self.read.store(true, Ordering::Relaxed);
        // Nearly always there is one part, which has no completion or one.
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

    /// The same for several parts, or for one that cannot be read.
    #[inline(never)]
    fn fetch_parts(&self, fetch: &mut Fetch) -> Found {
        let Fetch { batch, sources, table, datagrams, touched } = fetch;
        let mut found = Found::default();
        for source in sources {
            let done = match source.raw.poll(batch) {
                Ok(done) => done,
                Err(errno) => {
                    let error = io::Error::from_raw_os_error(errno);
                    log::error!("a completion queue cannot be read: {error}");
                    continue;
                }
            };
            report_runs(done, &mut source.last, (table, datagrams), touched);
            found.more |= done.len() == BATCH;
            if source.solicited {
                self.look_for_announcement(source, (table, datagrams), done.is_empty(), &mut found);
            }
        }
        found
    }

    /// Asks the channel whether one of the messages that were fetched is solicited; see above.
    #[cold]
    fn look_for_announcement(
        &self,
        source: &mut Source,
        (table, datagrams): (&Table, &[Arc<UdQp>]),
        nothing: bool,
        found: &mut Found,
    ) {
        if std::mem::take(&mut source.due) {
            match (table.get(source.last).or_else(|| table.first()), datagrams.first()) {
                (Some((_, qp)), _) => qp.sink.recv_announced(),
                (None, Some(qp)) => qp.announce(),
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

    /// Has the next completion announced; gives the descriptor that becomes readable.
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

    /// Ends what [`CompletionQueue::arm`] began.
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

    /// Announcements were taken that may have been for other threads that sleep on this queue: true if there are any,
    /// and then the queue has to be looked at again.
    fn notify_sleepers(&self) -> bool {
        let slept_on = self.armed.load(Ordering::Acquire) > 0;
        if slept_on {
            self.notify();
        }
        slept_on
    }
}

/// Asks a queue of the device to announce the next completion, or the next `solicited` one.
fn arm(raw: &RawCq, solicited: bool) {
    if let Err(error) = raw.arm(solicited) {
        log::error!("a completion queue does not announce completions: {error}");
    }
}

/// Reports completions to their queue pairs. Those that have more to report are added to `touched`.
#[inline(never)]
fn report_runs(done: &[ibv_wc], last: &mut usize, of: (&Table, &[Arc<UdQp>]), touched: &mut Vec<Arc<Qp>>) {
    for run in done.chunk_by(belong_together) {
        report(run, last, of, touched);
    }
}

/// Reports completions that belong together.
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

/// Where the queue pair of this number is in the table, or would be.
#[inline(never)]
fn place<Q>(table: &[(u32, Q)], number: u32) -> std::result::Result<usize, usize> {
    table.binary_search_by_key(&number, |(number, _)| *number)
}

/// The queue pair of this number. Completions of one mostly come in a row, so `last` is the place of the one that was found
/// last.
#[inline(always)]
fn find<'a, Q>(table: &'a [(u32, Q)], number: u32, last: &mut usize) -> Option<&'a Q> {
    if let Some((known, qp)) = table.get(*last) {
        if *known == number {
            return Some(qp);
        }
    }
    cold_path();
    *last = place(table, number).ok()?;
    table.get(*last).map(|(_, qp)| qp)
}

/// Notes that a queue pair has more to report.
#[cold]
#[inline(never)]
fn touch(qp: &Arc<Qp>, touched: &mut Vec<Arc<Qp>>) {
    if !touched.iter().any(|known| Arc::ptr_eq(known, qp)) {
        touched.push(qp.clone());
    }
}

/// Reports completions of a queue pair that is none of a connection.
#[cold]
#[inline(never)]
fn report_datagrams(run: &[ibv_wc], number: u32, datagrams: &[Arc<UdQp>]) {
    match datagrams.iter().find(|qp| qp.number() == number) {
        Some(qp) => qp.complete(run),
        None => log::debug!(target: host::diagnostics::EVD, "a completion of queue pair {number}, which is gone"),
    }
}

impl Part {
    /// Entries that receives of a shared queue need beyond those they have.
    fn missing(&self, shared: Option<(usize, usize)>) -> usize {
        let Some((address, receives)) = shared else { return 0 };
        receives.saturating_sub(self.shared.get(&address).copied().unwrap_or(0))
    }

    /// Resizes to at least `need`, better twice as much as now.
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
                log::debug!(target: host::diagnostics::EVD, "a completion queue stays at {}: {error}", self.depth);
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
