//! The progress thread of an adapter. It handles connections, asynchronous events and the ends of queue pairs. It
//! sleeps on rdma_cm's event channel, the device's asynchronous events, and a wakeup descriptor for tasks.
//!
//! Threads that dequeue or wait poll for completions. While a thread sleeps or an agent is set, this thread polls every
//! [`WATCH_TICK`], because possibly no other thread reads the queue concerned. Overflows, watermarks, failures and
//! graceful disconnects depend on these polls. A panic loses only the task in which it occurs.
//!
//! Soft-RoCE of Linux 6.1 may forget a fenced request that starts to wait while the last read before it completes. The
//! driver records the wait only after the completion that should end it. In Linux 6.12 and 7.3, one task sends and
//! completes. So while a fenced request is outstanding (`Work::fenced`), the thread notifies the kernel every 20 ms, as
//! a post does, but without a request ([`Qp::pass_fence`]).

use std::collections::VecDeque;
use std::iter;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dat_core::transport::ConnectionReport;
use host::diagnostics::EXCEPTION;
use host::lock::Mutex;
use host::poll;
use host::thread::{self, Thread, isolate};

use crate::channels;
use crate::cm;
use crate::datagram::UdQp;
use crate::device::{Device, Work};
use crate::qp::{Qp, QpPhase};
use crate::srq::SharedQueue;
use crate::sys::device::{AsyncEvent, event};

/// Time between polls of queue pairs in the error state.
const DRAIN_TICK: Duration = Duration::from_millis(1);
/// Maximum number of events of each kind per turn, so that a flood of requests does not delay the ends of connections.
const MAX_EVENTS: usize = 64;
/// Time between polls while threads sleep, agents are set or work waits, for example a backlog.
const WATCH_TICK: Duration = Duration::from_millis(20);
/// Time between polls otherwise, while there are queue pairs.
const IDLE_TICK: Duration = Duration::from_millis(100);

pub fn start(device: &Arc<Device>) -> std::io::Result<Thread> {
    let device = device.clone();
    thread::start(c"dat-verbs", move || run(&device))
}

#[derive(Default)]
struct Turns {
    /// Addresses of SRQs whose limit event was caused by receives that are not reported to core yet.
    limits_due: Vec<usize>,
    /// Time of the last periodic poll.
    watched: Option<Instant>,
    /// Set once the descriptor of asynchronous events has failed.
    lost: bool,
}

fn run(device: &Arc<Device>) {
    device.freeing.spare_this_thread();
    log::debug!(target: host::diagnostics::THREAD, "device {}: its thread begins", device.place.name);
    let mut turns = Turns::default();
    loop {
        device.wakeup_fd.clear();
        if device.stop.load(Ordering::Acquire) {
            return;
        }
        let next = isolate(|| turn(device, &mut turns));
        sleep(device, &mut turns, next.unwrap_or(Some(IDLE_TICK)));
    }
}

/// Handles events, then due tasks. Returns the time until the next task, if any.
fn turn(device: &Arc<Device>, turns: &mut Turns) -> Option<Duration> {
    // Remaining events end the next sleep immediately.
    for found in iter::from_fn(|| device.context.next_event()).take(MAX_EVENTS) {
        isolate(|| device_event(device, &found, &mut turns.limits_due));
    }
    for event in iter::from_fn(|| device.channel.next()).take(MAX_EVENTS) {
        isolate(|| cm::handle(device, event));
    }
    work(device, turns)
}

/// Iterates over the tasks that `take` removes. The task lists are unlocked while the caller handles a task.
fn each<T>(device: &Device, mut take: impl FnMut(&mut Work) -> Option<T>) -> impl Iterator<Item = T> {
    iter::from_fn(move || take(&mut device.work.lock()))
}

/// Calls `stays` for each task of a list once, oldest first, without a lock. Puts it back if that returns `true`.
fn again<W, T>(work: &Mutex<W>, list: fn(&mut W) -> &mut VecDeque<T>, mut stays: impl FnMut(&T) -> bool) {
    let left = list(&mut work.lock()).len();
    for _ in 0..left {
        let Some(entry) = list(&mut work.lock()).pop_front() else { return };
        if isolate(|| stays(&entry)) == Some(true) {
            list(&mut work.lock()).push_back(entry);
        }
    }
}

/// Handles due tasks. Returns the time until the next task, if any.
fn work(device: &Arc<Device>, turns: &mut Turns) -> Option<Duration> {
    let now = Instant::now();
    for (qp, report) in each(device, |work| work.reports.pop_front()) {
        isolate(|| qp.give_up(report));
    }
    for attempt in each(device, |work| work.unreachable.pop_front()) {
        isolate(|| attempt.give_up(ConnectionReport::Unreachable));
    }
    for (exchange, peer) in each(device, |work| work.answered.pop_front()) {
        isolate(|| match peer {
            Some(peer) => exchange.established(peer, 0, Vec::new()),
            None => exchange.failed(ConnectionReport::AcceptFailed),
        });
    }
    for qp in each(device, |work| work.timers.take_due(now)) {
        isolate(|| qp.upgrade().map(|qp| qp.give_up(ConnectionReport::TimedOut)));
    }
    for id in each(device, |work| work.leaving.take_due(now)) {
        isolate(|| drop(id));
    }
    let tick = watch(device, turns, now);
    again(&device.work, |work| &mut work.rejecting, Qp::awaits_rejection);
    drain(device);
    again(&device.work, |work| &mut work.failed, UdQp::recover);
    turns.limits_due.retain(|&address| device.srq(address).is_some_and(|srq| srq.limit_pending()));

    let work = device.work.lock();
    let now = Instant::now();
    let until = |due: Option<Instant>| due.map(|due| due.saturating_duration_since(now));
    let ending = !work.draining.is_empty() || !work.rejecting.is_empty();
    let draining = ending || !work.failed.is_empty() || !turns.limits_due.is_empty();
    let now_due = work.drain || !work.reports.is_empty() || !work.answered.is_empty() || !work.unreachable.is_empty();
    let next = [
        until(work.timers.next_due()),
        until(work.leaving.next_due()),
        tick,
        draining.then_some(DRAIN_TICK),
        now_due.then_some(Duration::ZERO),
    ];
    next.into_iter().flatten().min()
}

/// Polls and retries rejected work, if due. Returns the time until the next poll, if any.
fn watch(device: &Arc<Device>, turns: &mut Turns, now: Instant) -> Option<Duration> {
    let (drain, demanded) = {
        let mut work = device.work.lock();
        let demanded = !work.awaited.is_empty() || !work.refused.is_empty() || !work.fenced.is_empty();
        (std::mem::take(&mut work.drain), demanded)
    };
    if drain {
        isolate(|| device.drain());
    } else if !turns.limits_due.is_empty() {
        isolate(|| turns.limits_due.iter().for_each(|&address| device.drain_takers(address)));
    }
    let starving: Vec<_> = channels::each(&device.srqs).filter(|srq| srq.is_starving()).collect();
    if starving.is_empty() && device.table.read().is_empty() && channels::each(&device.datagrams).next().is_none() {
        tidy(device);
        return None;
    }
    let watched = demanded || !starving.is_empty() || device.sleepers.load(Ordering::Acquire) > 0;
    let tick = if watched { WATCH_TICK } else { IDLE_TICK };
    let rest = turns.watched.map_or(Duration::ZERO, |last| (last + tick).saturating_duration_since(now));
    if !rest.is_zero() {
        return Some(rest);
    }
    turns.watched = Some(now);
    tidy(device);
    isolate(|| device.drain_unread());
    for srq in &starving {
        isolate(|| feed(device, srq));
    }
    again(&device.work, |work| &mut work.refused, Qp::try_again);
    again(&device.work, |work| &mut work.fenced, |qp| qp.upgrade().is_some_and(|qp| qp.pass_fence()));
    Some(tick)
}

fn tidy(device: &Device) {
    again(&device.work, |work| &mut work.awaited, |qp| qp.phase() == QpPhase::Connected);
}

/// Polls for ending queue pairs, and finishes drained ones.
fn drain(device: &Arc<Device>) {
    let draining: Vec<_> = device.work.lock().draining.iter().cloned().collect();
    isolate(|| device.drain_queues_of(&draining));
    let stays = |qp: &Arc<Qp>| {
        let drained = qp.drained();
        if drained {
            qp.apart(Qp::finish);
        }
        !drained
    };
    again(&device.work, |work| &mut work.draining, stays);
}

/// Retries rejected receives of an SRQ, or after too many rejections ends the SRQ's connections.
fn feed(device: &Device, srq: &SharedQueue) {
    device.drain_takers(srq.raw.address());
    if srq.try_again() {
        log::error!("shared receive queue: the device rejects all receives: its connections end");
        end_takers(device, srq.raw.address());
    }
}

/// Ends the connections on a failed SRQ, and makes its UD queue pairs ready again.
fn end_takers(device: &Device, address: usize) {
    end(device.takers(address));
    device.datagram_takers(address).for_each(|qp| qp.fail());
}

fn end(qps: impl IntoIterator<Item = Arc<Qp>>) {
    for qp in qps {
        qp.begin_end(ConnectionReport::Broken);
    }
}

fn device_event(device: &Arc<Device>, found: &AsyncEvent, limits_due: &mut Vec<usize>) {
    log::debug!(target: EXCEPTION, "device: asynchronous event {found:?}");
    let address = found.object;
    let qp = || device.qp(found.object as u32);
    let datagrams = || channels::each(&device.datagrams).filter(|qp| qp.number() == found.object as u32);
    match found.kind {
        // Soft-iWARP raises this when it cannot send, because the connection has ended. rdma_cm reports that end.
        event::QP_REQ_ERR | event::QP_FATAL if device.limits.quirks.raises_failure_at_end => {}
        // The peer violated its access rights.
        event::QP_REQ_ERR | event::QP_ACCESS_ERR => {
            if let Some(qp) = qp() {
                cm::used_by_peer(&qp);
                qp.note_violation();
            }
        }
        event::QP_FATAL => {
            end(qp());
            datagrams().for_each(|qp| qp.fail());
        }
        // Data arrived before the connection was established.
        event::COMM_EST => {
            let id = qp().and_then(|qp| qp.state.lock().cm.clone());
            if let Some(id) = id {
                id.established_by_data();
            }
        }
        // The queue pair takes no more buffers of its SRQ.
        event::QP_LAST_WQE_REACHED => {
            if let Some(qp) = qp() {
                qp.last_reached.store(true, Ordering::Release);
            }
            datagrams().for_each(|qp| qp.last_reached.store(true, Ordering::Release));
        }
        event::SRQ_LIMIT_REACHED => {
            device.drain_takers(address);
            if device.srq(address).is_some_and(|srq| srq.limit_reached()) && !limits_due.contains(&address) {
                limits_due.push(address);
            }
        }
        event::CQ_ERR => {
            log::error!("completion queue: overflow: its connections end");
            let uses = |qp: &Arc<Qp>| qp.entries.iter().any(|entries| entries.raw.address() == address);
            end(device.qps().into_iter().filter(uses));
            let uses = |qp: &Arc<UdQp>| qp.entries.iter().any(|entries| entries.raw.address() == address);
            channels::each(&device.datagrams).filter(uses).for_each(|qp| qp.fail());
        }
        event::SRQ_ERR => {
            log::error!("shared receive queue: has failed: its connections end");
            end_takers(device, address);
        }
        event::DEVICE_FATAL => device.lose(),
        _ => log::info!(target: EXCEPTION, "device {}: {found:?}", device.place.name),
    }
}

fn sleep(device: &Device, turns: &mut Turns, limit: Option<Duration>) {
    // A removed device's descriptor reports an error permanently, so a sleep on it would return immediately.
    let events = (!turns.lost).then(|| device.context.as_fd());
    let (beacon, pause) = device.beacon.watched();
    let fds = [Some(device.wakeup_fd.as_fd()), Some(device.channel.as_fd()), events, beacon];
    let Ok([_, _, events, beacon]) = poll::wait(fds, limit.into_iter().chain(pause).min()) else { return };
    if events.failed && !events.readable {
        turns.lost = true;
    }
    if beacon.readable {
        isolate(|| device.beacon.respond());
    }
}

#[cfg(test)]
mod tests;
