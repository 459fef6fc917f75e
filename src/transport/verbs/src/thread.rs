//! The thread of an adapter. It handles connections, asynchronous events and the ends of queue pairs. Threads that
//! dequeue or wait fetch completions; this thread fetches now and then, because completions may have consequences while
//! no thread calls in.
//!
//! It sleeps on three descriptors: the event channel of rdma_cm, the asynchronous events of the device, and a bell for
//! work that other threads give it. It fetches more often while a thread sleeps or an agent is set, since an overflow, a
//! watermark, the last request of a graceful disconnect or a failure may show on a queue that no thread reads. A panic
//! loses the piece of work in which it happens, and no other.
//!
//! Soft-RoCE forgets a request with a fence that begins to wait just when the last read before it ends: its sender
//! notes that it waits only after the completion that would have woken it. So a queue pair with such a request is on a
//! list (`Work::fenced`), and every 20 ms until the request is done the thread gives the device the command that each
//! post ends with. The command carries no request, so it changes neither order nor counts.

use std::collections::VecDeque;
use std::iter;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dat_core::transport::ConnectionReport;
use host::diagnostics::EXCEPTION;
use host::lock::Mutex;
use host::poll;
use host::thread::{self, Thread};

use crate::channels;
use crate::cm;
use crate::datagram::UdQp;
use crate::device::{Device, Work};
use crate::qp::{Qp, QpPhase};
use crate::srq::SharedQueue;
use crate::sys::device::{AsyncEvent, event};

/// Time between two fetches for a queue pair whose work is coming back.
const DRAIN_TICK: Duration = Duration::from_millis(1);
/// Events handled at a time: a flood of requests must not keep connections from ending.
const EVENTS: usize = 64;
/// Time between two fetches while threads sleep or agents are set, or while a shared receive queue has more buffers than
/// its device.
const WATCH_TICK: Duration = Duration::from_millis(20);
/// Time between two fetches otherwise, while there are connections.
const IDLE_TICK: Duration = Duration::from_millis(100);

pub fn start(device: &Arc<Device>) -> std::io::Result<Thread> {
    let device = device.clone();
    thread::start(c"dat-verbs", move || run(&device))
}

/// What the thread remembers from one turn to the next.
#[derive(Default)]
struct Turns {
    /// Shared receive queues, by address, whose limit was reached by receives that are still to be reported.
    limits_due: Vec<usize>,
    /// The last fetch that nothing demanded.
    watched: Option<Instant>,
    /// The descriptor of the device's events has failed.
    lost: bool,
}

fn run(device: &Arc<Device>) {
    log::debug!(target: host::diagnostics::THREAD, "device {}: its thread begins", device.place.name);
    let mut turns = Turns::default();
    loop {
        device.wakeup_fd.clear();
        if device.stop.load(Ordering::Acquire) {
            return;
        }
        let next = alone(|| turn(device, &mut turns));
        sleep(device, &mut turns, next.unwrap_or(Some(IDLE_TICK)));
    }
}

/// Does one piece of work. If it panics the panic hook has written a line; the others are done all the same.
fn alone<R>(piece: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(piece)).ok()
}

/// Handles events that have come, then work that is due; gives the time until more is due.
fn turn(device: &Arc<Device>, turns: &mut Turns) -> Option<Duration> {
    // Events that are left over end the next sleep at once.
    for found in iter::from_fn(|| device.context.next_event()).take(EVENTS) {
        alone(|| device_event(device, &found, &mut turns.limits_due));
    }
    for event in iter::from_fn(|| device.channel.next()).take(EVENTS) {
        alone(|| cm::handle(device, event));
    }
    work(device, turns)
}

/// Takes entries off a list of the thread's work until `take` finds none, so that a panic loses none of the others.
fn each<T>(device: &Device, mut take: impl FnMut(&mut Work) -> Option<T>) -> impl Iterator<Item = T> {
    iter::from_fn(move || take(&mut device.work.lock()))
}

/// Goes once through a list of the work, oldest first and without a lock, and puts those back behind the others for which
/// `stays` is true. One that panics is lost.
fn again<W, T>(work: &Mutex<W>, list: fn(&mut W) -> &mut VecDeque<T>, mut stays: impl FnMut(&T) -> bool) {
    let left = list(&mut work.lock()).len();
    for _ in 0..left {
        let Some(entry) = list(&mut work.lock()).pop_front() else { return };
        if alone(|| stays(&entry)) == Some(true) {
            list(&mut work.lock()).push_back(entry);
        }
    }
}

/// Does the work that is due; gives the time until more is due.
fn work(device: &Arc<Device>, turns: &mut Turns) -> Option<Duration> {
    let now = Instant::now();
    for (qp, report) in each(device, |work| work.reports.pop_front()) {
        alone(|| qp.give_up(report));
    }
    for attempt in each(device, |work| work.unreachable.pop_front()) {
        alone(|| attempt.give_up(ConnectionReport::Unreachable));
    }
    for (exchange, peer) in each(device, |work| work.answered.pop_front()) {
        alone(|| match peer {
            Some(peer) => exchange.established(peer, 0, Vec::new()),
            None => exchange.failed(ConnectionReport::AcceptFailed),
        });
    }
    for qp in each(device, |work| work.timers.take_due(now)) {
        alone(|| qp.upgrade().map(|qp| qp.give_up(ConnectionReport::TimedOut)));
    }
    for id in each(device, |work| work.leaving.take_due(now)) {
        alone(|| drop(id));
    }
    let tick = watch(device, turns, now);
    drain(device);
    again(&device.work, |work| &mut work.failed, UdQp::recover);
    turns.limits_due.retain(|&address| device.srq(address).is_some_and(|srq| srq.limit_pending()));

    let work = device.work.lock();
    let now = Instant::now();
    let until = |due: Option<Instant>| due.map(|due| due.saturating_duration_since(now));
    let draining = !work.draining.is_empty() || !work.failed.is_empty() || !turns.limits_due.is_empty();
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

/// Fetches completions if it is time, and tries again what the device refused; gives the time until the next fetch.
fn watch(device: &Arc<Device>, turns: &mut Turns, now: Instant) -> Option<Duration> {
    let (drain, demanded) = {
        let mut work = device.work.lock();
        let demanded = !work.awaited.is_empty() || !work.refused.is_empty() || !work.fenced.is_empty();
        (std::mem::take(&mut work.drain), demanded)
    };
    if drain {
        alone(|| device.drain());
    } else if !turns.limits_due.is_empty() {
        alone(|| turns.limits_due.iter().for_each(|&address| device.drain_takers(address)));
    }
    let starving = device.starving();
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
    alone(|| device.drain_unread());
    for srq in &starving {
        alone(|| feed(device, srq));
    }
    again(&device.work, |work| &mut work.refused, Qp::try_again);
    again(&device.work, |work| &mut work.fenced, |qp| qp.upgrade().is_some_and(|qp| qp.pass_fence()));
    Some(tick)
}

/// Forgets attempts and connections that have ended.
fn tidy(device: &Device) {
    again(&device.work, |work| &mut work.awaited, |qp| qp.phase() == QpPhase::Connected);
    device.work.lock().timers.retain(|qp| qp.strong_count() > 0);
}

/// Fetches the work of queue pairs that go down, and ends those that have all of it back.
fn drain(device: &Arc<Device>) {
    let draining: Vec<_> = device.work.lock().draining.iter().cloned().collect();
    alone(|| device.drain_queues_of(&draining));
    again(
        &device.work,
        |work| &mut work.draining,
        |qp| {
            let drained = qp.drained();
            if drained {
                qp.finish();
            }
            !drained
        },
    );
}

/// Hands over receives that the device refused before; the connections end that wait for them without hope.
fn feed(device: &Device, srq: &SharedQueue) {
    device.drain_takers(srq.raw.address());
    if srq.try_again() {
        log::error!("a shared receive queue takes no more receives: its connections end");
        device.end_takers(srq.raw.address());
    }
}

fn end(qps: impl IntoIterator<Item = Arc<Qp>>) {
    for qp in qps {
        qp.begin_end(ConnectionReport::Broken);
    }
}

fn device_event(device: &Arc<Device>, found: &AsyncEvent, limits_due: &mut Vec<usize>) {
    log::debug!(target: EXCEPTION, "asynchronous event {found:?}");
    let address = found.object;
    let qp = || device.qp(found.object as u32);
    let datagrams = || channels::each(&device.datagrams).filter(|qp| qp.number() == found.object as u32);
    match found.kind {
        // Soft-iWARP could not send: the connection has ended, and the connection manager reports it.
        event::QP_REQ_ERR | event::QP_FATAL if device.limits.soft_iwarp => {}
        // The peer has asked for what it may not have.
        event::QP_REQ_ERR | event::QP_ACCESS_ERR => {
            if let Some(qp) = qp() {
                cm::used_by_peer(&qp);
                qp.begin_end(ConnectionReport::Broken);
            }
        }
        event::QP_FATAL => {
            end(qp());
            datagrams().for_each(|qp| qp.fail());
        }
        // Data came before the connection was announced.
        event::COMM_EST => {
            let id = qp().and_then(|qp| qp.state.lock().cm.clone());
            if let Some(id) = id {
                id.established_by_data();
            }
        }
        // In the error state it takes no more buffers of its shared queue.
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
            log::error!("a completion queue overflowed: its connections end");
            let uses = |qp: &Arc<Qp>| qp.entries.iter().any(|entries| entries.raw.address() == address);
            end(device.qps().into_iter().filter(uses));
            let uses = |qp: &Arc<UdQp>| qp.entries.iter().any(|entries| entries.raw.address() == address);
            channels::each(&device.datagrams).filter(uses).for_each(|qp| qp.fail());
        }
        event::SRQ_ERR => {
            log::error!("a shared receive queue cannot go on: its connections end");
            device.end_takers(address);
        }
        event::DEVICE_FATAL => device.lose(),
        _ => log::info!(target: EXCEPTION, "device {}: {found:?}", device.place.name),
    }
}

fn sleep(device: &Device, turns: &mut Turns, limit: Option<Duration>) {
    // The descriptor of a device that is gone reports an error for ever, so it is left out.
    let events = (!turns.lost).then(|| device.context.as_fd());
    let found = poll::wait([Some(device.wakeup_fd.as_fd()), Some(device.channel.as_fd()), events], limit);
    if let Ok([_, _, events]) = found {
        if events.failed && !events.readable {
            turns.lost = true;
        }
    }
}

#[cfg(test)]
mod tests;
