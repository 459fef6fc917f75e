//! The thread of an adapter. It handles connections, asynchronous events and the ends of queue pairs. Threads that
//! dequeue or wait fetch completions; this thread looks for them now and then, because they may have consequences while
//! no thread calls in.
//!
//! It sleeps on three descriptors: the event channel of rdma_cm, the asynchronous events of the device, and a bell for
//! work that other threads give it. It looks for completions more often while a thread sleeps or an agent is set, since
//! an overflow, a watermark, the last request of a graceful disconnect or a failure may show on a queue that nobody
//! reads. A panic loses the piece of work in which it happens, and no other.
//!
//! Soft-RoCE forgets a request with a fence that begins to wait just when the last read before it ends: its sender
//! notes that it waits only after the completion that would have woken it. So a queue pair with such a request is on a
//! list (`Work::fenced`), and every 20 ms until the request is done the thread gives the device the command that each
//! post ends with. The command carries no request, so it changes neither order nor counts.

use std::iter;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dat_core::transport::ConnectionReport;
use host::diagnostics::EXCEPTION;
use host::poll;
use host::thread::{self, Thread};

use crate::cm;
use crate::hub::{Hub, Work};
use crate::qp::{Qp, QpPhase};
use crate::srq::SharedQueue;
use crate::sys::device::AsyncEvent;

/// Time between two looks at a queue pair whose work is coming back.
const DRAIN_TICK: Duration = Duration::from_millis(1);
/// Events handled at a time: a flood of requests must not keep connections from ending.
const EVENTS: usize = 64;
/// Time between two looks for completions while threads sleep or agents are set, or while a shared receive queue has
/// more buffers than its device: an overflow, a watermark or a failure may show on a queue that nobody reads.
const WATCH_TICK: Duration = Duration::from_millis(20);
/// Time between two looks otherwise, while there are connections.
const IDLE_TICK: Duration = Duration::from_millis(100);
/// Time between two searches for attempts and connections that have ended.
const TIDY_TICK: Duration = Duration::from_millis(10);

/// Starts the thread.
pub fn start(hub: &Arc<Hub>) -> std::io::Result<Thread> {
    let hub = hub.clone();
    thread::start(c"dat-verbs", move || run(&hub))
}

/// What the thread remembers from one turn to the next.
#[derive(Default)]
struct Turns {
    /// Shared receive queues, by address, whose limit was reached by receives that are still to be reported.
    limits_due: Vec<usize>,
    /// The last look for completions that nothing demanded.
    watched: Option<Instant>,
    /// The last time that attempts and connections that have ended were forgotten.
    tidied: Option<Instant>,
}

fn run(hub: &Arc<Hub>) {
    log::debug!("device {}: its thread begins", hub.place.device);
    let mut turns = Turns::default();
    loop {
        hub.bell.clear();
        if hub.stop.load(Ordering::Acquire) {
            return;
        }
        let next = alone(|| turn(hub, &mut turns));
        sleep(hub, next.unwrap_or(Some(IDLE_TICK)));
    }
}

/// Does one piece of work. One that panics, about which the panic hook has written a line, is lost, and the others are
/// done all the same.
fn alone<R>(piece: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(piece)).ok()
}

/// Handles events that have come, then work that is due; gives the time until more is due.
fn turn(hub: &Arc<Hub>, turns: &mut Turns) -> Option<Duration> {
    // Events that are left over end the next sleep at once.
    for event in iter::from_fn(|| hub.context.next_event()).take(EVENTS) {
        alone(|| device_event(hub, event, &mut turns.limits_due));
    }
    for event in iter::from_fn(|| hub.channel.next()).take(EVENTS) {
        alone(|| cm::handle(hub, event));
    }
    work(hub, turns)
}

/// Takes entries off a list of the thread's work until `take` finds none, so that a panic loses none of the others.
fn each<T>(hub: &Hub, mut take: impl FnMut(&mut Work) -> Option<T>) -> impl Iterator<Item = T> {
    iter::from_fn(move || take(&mut hub.work.lock()))
}

/// Does the work that is due; gives the time until more is due.
fn work(hub: &Arc<Hub>, turns: &mut Turns) -> Option<Duration> {
    let now = Instant::now();
    for (qp, report) in each(hub, |work| work.reports.pop_front()) {
        alone(|| qp.give_up(report));
    }
    for qp in each(hub, |work| work.timers.take_due(now)) {
        alone(|| qp.upgrade().map(|qp| qp.give_up(ConnectionReport::TimedOut)));
    }
    for (token, id) in each(hub, |work| work.leaving.take_due(now)) {
        alone(|| {
            hub.parties.lock().remove(&token);
            drop(id);
        });
    }
    if turns.tidied.is_none_or(|last| now - last >= TIDY_TICK) {
        tidy(hub);
        turns.tidied = Some(now);
    }
    let tick = watch(hub, turns, now);
    drain(hub);
    turns.limits_due.retain(|&address| hub.srq(address).is_some_and(|srq| srq.limit_pending()));

    let work = hub.work.lock();
    let now = Instant::now();
    let due = [work.timers.next_due(), work.leaving.next_due()].into_iter().flatten().min();
    let mut next = due.map(|due| due.saturating_duration_since(now));
    let mut sooner = |limit: Duration| next = Some(next.map_or(limit, |next| next.min(limit)));
    if let Some(tick) = tick {
        sooner(tick);
    }
    if !work.draining.is_empty() || !turns.limits_due.is_empty() {
        sooner(DRAIN_TICK);
    }
    if work.look || !work.reports.is_empty() {
        sooner(Duration::ZERO);
    }
    next
}

/// Looks for completions if it is time, and tries again what the device refused; gives the time until the next look.
fn watch(hub: &Arc<Hub>, turns: &mut Turns, now: Instant) -> Option<Duration> {
    let (look, demanded) = {
        let mut work = hub.work.lock();
        let demanded = !work.awaited.is_empty() || !work.refused.is_empty() || !work.fenced.is_empty();
        (std::mem::take(&mut work.look), demanded)
    };
    if look {
        alone(|| hub.settle());
    } else if !turns.limits_due.is_empty() {
        alone(|| settle_takers(hub, &turns.limits_due));
    }
    let starving = hub.starving();
    if starving.is_empty() && hub.table.read().is_empty() {
        return None;
    }
    let watched = demanded || !starving.is_empty() || hub.sleepers.load(Ordering::Acquire) > 0;
    let tick = if watched { WATCH_TICK } else { IDLE_TICK };
    let rest = turns.watched.map_or(Duration::ZERO, |last| (last + tick).saturating_duration_since(now));
    if !rest.is_zero() {
        return Some(rest);
    }
    turns.watched = Some(now);
    alone(|| hub.glance());
    for srq in &starving {
        alone(|| feed(hub, srq));
    }
    let refused = hub.work.lock().refused.len();
    for qp in each(hub, |work| work.refused.pop()).take(refused) {
        // What panics is not tried again.
        if alone(|| qp.try_again()) == Some(true) {
            hub.work.lock().refused.push(qp);
        }
    }
    pass_fences(hub);
    Some(tick)
}

/// Rings for requests that wait for those before them. Soft-RoCE may forget such a request: its sender finds that it has to
/// wait, and notes that only after the last completion, which would have woken it.
fn pass_fences(hub: &Hub) {
    let mut fenced = std::mem::take(&mut hub.work.lock().fenced);
    fenced.retain(|qp| alone(|| qp.upgrade().is_some_and(|qp| qp.pass_fence())) == Some(true));
    hub.work.lock().fenced.append(&mut fenced);
}

/// Forgets attempts and connections that have ended.
fn tidy(hub: &Hub) {
    let awaited = std::mem::take(&mut hub.work.lock().awaited);
    // The last use of a queue pair ends without a lock.
    let awaited: Vec<_> = awaited.into_iter().filter(|qp| qp.phase() == QpPhase::Connected).collect();
    let mut work = hub.work.lock();
    work.awaited.extend(awaited);
    work.timers.retain(|qp| qp.strong_count() > 0);
}

/// Reports what has completed in the queues of those that take buffers from the shared receive queues at these
/// addresses.
fn settle_takers(hub: &Hub, addresses: &[usize]) {
    for &address in addresses {
        hub.settle_queues_of(&hub.takers(address));
    }
}

/// Fetches the work of queue pairs that go down, and ends those that have all of it back.
fn drain(hub: &Arc<Hub>) {
    let draining: Vec<_> = hub.work.lock().draining.iter().cloned().collect();
    alone(|| hub.settle_queues_of(&draining));
    for qp in each(hub, |work| work.draining.pop_front()).take(draining.len()) {
        if alone(|| finished(&qp)) == Some(false) {
            hub.work.lock().draining.push_back(qp);
        }
    }
}

/// Hands over receives that the device refused before; the connections end that wait for them without hope.
fn feed(hub: &Hub, srq: &SharedQueue) {
    hub.settle_queues_of(&hub.takers(srq.raw.address()));
    if srq.try_again() {
        log::error!("a shared receive queue takes no more receives: its connections end");
        end_takers(hub, srq.raw.address());
    }
}

fn end_takers(hub: &Hub, address: usize) {
    for qp in hub.takers(address) {
        qp.begin_end(ConnectionReport::Broken);
    }
}

fn finished(qp: &Arc<Qp>) -> bool {
    let drained = qp.drained();
    if drained {
        qp.finish();
    }
    drained
}

fn device_event(hub: &Arc<Hub>, event: AsyncEvent, limits_due: &mut Vec<usize>) {
    log::debug!(target: EXCEPTION, "asynchronous event {event:?}");
    match event {
        AsyncEvent::QpFailed(number) => {
            if let Some(qp) = hub.qp(number) {
                qp.begin_end(ConnectionReport::Broken);
            }
        }
        AsyncEvent::QpMisused(number) => {
            if let Some(qp) = hub.qp(number) {
                cm::used_by_peer(&qp);
                qp.begin_end(ConnectionReport::Broken);
            }
        }
        AsyncEvent::QpEstablished(number) => {
            let id = hub.qp(number).and_then(|qp| qp.state.lock().cm.as_ref().map(|(_, id)| id.clone()));
            if let Some(id) = id {
                id.established_by_data();
            }
        }
        AsyncEvent::QpLastReached(number) => {
            if let Some(qp) = hub.qp(number) {
                qp.last_reached();
            }
        }
        AsyncEvent::SrqLimit(address) => {
            settle_takers(hub, &[address]);
            if hub.srq(address).is_some_and(|srq| srq.limit_reached()) && !limits_due.contains(&address) {
                limits_due.push(address);
            }
        }
        AsyncEvent::CqFailed(address) => {
            log::error!("a completion queue overflowed: its connections end");
            for qp in hub.qps().into_iter().filter(|qp| qp.completes_in(address)) {
                qp.begin_end(ConnectionReport::Broken);
            }
        }
        AsyncEvent::SrqFailed(address) => {
            log::error!("a shared receive queue cannot go on: its connections end");
            end_takers(hub, address);
        }
        AsyncEvent::DeviceFailed => lose_device(hub),
        AsyncEvent::Other(number) => log::info!(target: EXCEPTION, "device {}: event {number}", hub.place.device),
    }
}

/// The device cannot go on, or the system waits for this process to let go of it: all connections end, and the program
/// is told.
pub fn lose_device(hub: &Hub) {
    if hub.lose_device() {
        log::error!("device {} cannot go on: all connections end", hub.place.device);
    }
    for qp in hub.qps() {
        qp.lose_device();
    }
    // No farewell reaches anybody any more.
    hub.work.lock().leaving.move_to(Instant::now(), |_| true);
}

fn sleep(hub: &Hub, limit: Option<Duration>) {
    // The descriptor of a device that is gone reports an error for ever, so it is left out.
    let device = (!hub.lost.load(Ordering::Relaxed)).then(|| hub.context.events());
    let found = poll::wait([Some(hub.bell.as_fd()), Some(hub.channel.as_fd()), device], limit);
    if let Ok([_, _, device]) = found
        && device.failed
        && !device.readable
    {
        hub.lost.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
