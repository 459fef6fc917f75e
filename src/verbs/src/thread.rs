//! The thread of an adapter. It handles connections, asynchronous events and the ends of queue pairs. Threads that
//! dequeue or wait fetch completions; this thread looks for them now and then, because they may have consequences while
//! no thread calls in.

use std::iter;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dat_core::transport::ConnectionReport;
use host::poll;
use host::thread::{self, Thread};

use crate::cm;
use crate::hub::Hub;
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

/// Starts the thread.
pub fn start(hub: &Arc<Hub>) -> std::io::Result<Thread> {
    let hub = hub.clone();
    thread::start(c"dat-verbs", move || run(&hub))
}

fn run(hub: &Arc<Hub>) {
    let mut limits_due: Vec<usize> = Vec::new();
    loop {
        hub.bell.clear();
        if hub.stop.load(Ordering::Acquire) {
            return;
        }
        let next = alone(|| turn(hub, &mut limits_due));
        sleep(hub, next.unwrap_or(Some(IDLE_TICK)));
    }
}

/// Does one piece of work. One that panics, about which the panic hook has written a line, is lost, and the others are
/// done all the same.
fn alone<R>(piece: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(piece)).ok()
}

/// Handles events that have come, then work that is due; gives the time until more is due.
fn turn(hub: &Arc<Hub>, limits_due: &mut Vec<usize>) -> Option<Duration> {
    // Events that are left over end the next sleep at once.
    for event in iter::from_fn(|| hub.context.next_event()).take(EVENTS) {
        alone(|| device_event(hub, event, limits_due));
    }
    for event in iter::from_fn(|| hub.channel.next()).take(EVENTS) {
        alone(|| cm::handle(hub, event));
    }
    work(hub, limits_due)
}

/// Does the work that is due; gives the time until more is due.
fn work(hub: &Arc<Hub>, limits_due: &mut Vec<usize>) -> Option<Duration> {
    let now = Instant::now();
    let (reports, late, draining, awaited, refused, left, look) = {
        let mut work = hub.work.lock();
        let reports = std::mem::take(&mut work.reports);
        let awaited = std::mem::take(&mut work.awaited);
        let refused = std::mem::take(&mut work.refused);
        let draining = std::mem::take(&mut work.draining);
        let late: Vec<_> = iter::from_fn(|| work.timers.take_due(now)).collect();
        // An attempt that has ended must not be kept alive by its timer.
        work.timers.retain(|qp| qp.phase() == QpPhase::Connecting);
        let left: Vec<_> = iter::from_fn(|| work.leaving.take_due(now)).collect();
        (reports, late, draining, awaited, refused, left, std::mem::take(&mut work.look))
    };
    for (qp, report) in reports {
        alone(|| qp.give_up(report));
    }
    for qp in late {
        alone(|| qp.give_up(ConnectionReport::TimedOut));
    }
    for (token, id) in left {
        alone(|| {
            hub.parties.lock().remove(&token);
            drop(id);
        });
    }
    let connections = !hub.table.read().is_empty();
    let starving = hub.starving();
    if connections || look || !starving.is_empty() {
        alone(|| hub.settle());
    }
    for srq in &starving {
        alone(|| feed(hub, srq));
    }
    // What panics is not tried again.
    let refused: Vec<Arc<Qp>> = refused.into_iter().filter(|qp| alone(|| qp.try_again()) == Some(true)).collect();
    let awaited: Vec<Arc<Qp>> = awaited.into_iter().filter(|qp| qp.phase() == QpPhase::Connected).collect();
    let still: Vec<Arc<Qp>> = draining.into_iter().filter(|qp| alone(|| finished(qp)) == Some(false)).collect();
    limits_due.retain(|&address| hub.srq(address).is_some_and(|srq| srq.limit_pending()));

    let mut work = hub.work.lock();
    work.draining.extend(still);
    work.awaited.extend(awaited);
    work.refused.extend(refused);
    let now = Instant::now();
    let due = [work.timers.next_due(), work.leaving.next_due()].into_iter().flatten().min();
    let mut next = due.map(|due| due.saturating_duration_since(now));
    let mut sooner = |limit: Duration| next = Some(next.map_or(limit, |next| next.min(limit)));
    if connections {
        let watched = !starving.is_empty()
            || !work.refused.is_empty()
            || !work.awaited.is_empty()
            || hub.sleepers.load(Ordering::Acquire) > 0;
        sooner(if watched { WATCH_TICK } else { IDLE_TICK });
    }
    if !work.draining.is_empty() || !limits_due.is_empty() {
        sooner(DRAIN_TICK);
    }
    if work.look || !work.reports.is_empty() {
        sooner(Duration::ZERO);
    }
    next
}

/// Hands over receives that the device refused before; the connections end that wait for them without hope.
fn feed(hub: &Hub, srq: &SharedQueue) {
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
    log::debug!("asynchronous event {event:?}");
    match event {
        AsyncEvent::QpFailed(number) => {
            if let Some(qp) = hub.qp(number) {
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
            hub.settle();
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
        AsyncEvent::DeviceFailed => {
            log::error!("device {} cannot go on: all connections end", hub.place.device);
            if let Some(adapter) = hub.adapter.get() {
                adapter.catastrophe();
            }
            for qp in hub.qps() {
                qp.give_up(ConnectionReport::Unreachable);
                qp.begin_end(ConnectionReport::Broken);
            }
        }
        AsyncEvent::Other(number) => log::info!("device {}: event {number}", hub.place.device),
    }
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
mod tests {
    use super::alone;

    #[test]
    fn a_piece_of_work_that_panics_loses_itself_alone() {
        let mut done = Vec::new();
        let kept: Vec<u32> = (0..4)
            .filter(|&piece| {
                let done = &mut done;
                alone(move || {
                    assert!(piece != 1, "this piece panics");
                    done.push(piece);
                    piece == 2
                }) == Some(true)
            })
            .collect();
        assert_eq!(done, [0, 2, 3]);
        assert_eq!(kept, [2]);
    }
}
