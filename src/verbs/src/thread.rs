//! The thread of an adapter. It handles connections, asynchronous events and the ends of queue pairs. Completions are
//! fetched by threads that dequeue or wait; this one looks for them now and then, because they may have consequences
//! while no thread calls in.

use std::os::fd::RawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dat_core::transport::ConnectionReport;

use crate::conn;
use crate::hub::Hub;
use crate::qp::{Qp, QpPhase};
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
pub fn start(hub: &Arc<Hub>) -> std::io::Result<JoinHandle<()>> {
    let hub = hub.clone();
    std::thread::Builder::new().name("dat-verbs".into()).spawn(move || {
        block_all_signals();
        run(&hub);
    })
}

/// Keeps the program's signal handlers from running on this thread.
fn block_all_signals() {
    // SAFETY: plain data, for which zero is a value.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: writes to a live variable.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: reads a live variable; the old mask is not wanted.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut()) };
}

fn run(hub: &Arc<Hub>) {
    let mut limits_due: Vec<usize> = Vec::new();
    loop {
        hub.bell.clear();
        if hub.stop.load(Ordering::Acquire) {
            return;
        }
        // A panic must not take all connections along. The panic hook has written a line about it.
        let turn = catch_unwind(AssertUnwindSafe(|| turn(hub, &mut limits_due)));
        sleep(hub, turn.unwrap_or(Some(IDLE_TICK)));
    }
}

/// Handles events that have come, then work that is due; gives the time until more is due.
fn turn(hub: &Arc<Hub>, limits_due: &mut Vec<usize>) -> Option<Duration> {
    // Events that are left over end the next sleep at once.
    for event in std::iter::from_fn(|| hub.context.next_event()).take(EVENTS) {
        device_event(hub, event, limits_due);
    }
    for event in std::iter::from_fn(|| hub.channel.next()).take(EVENTS) {
        conn::handle(hub, event);
    }
    work(hub, limits_due)
}

/// Does the work that is due; gives the time until more is due.
fn work(hub: &Arc<Hub>, limits_due: &mut Vec<usize>) -> Option<Duration> {
    let now = Instant::now();
    let (reports, late, draining, awaited, left, look) = {
        let mut work = hub.work.lock();
        let reports = std::mem::take(&mut work.reports);
        let awaited = std::mem::take(&mut work.awaited);
        let draining = std::mem::take(&mut work.draining);
        let (late, timers) = std::mem::take(&mut work.timers).into_iter().partition::<Vec<_>, _>(|(at, _)| *at <= now);
        work.timers = timers;
        // An attempt that has ended must not be kept alive by its timer.
        work.timers.retain(|(_, qp)| qp.phase() == QpPhase::Connecting);
        let (left, leaving) =
            std::mem::take(&mut work.leaving).into_iter().partition::<Vec<_>, _>(|(at, _, _)| *at <= now);
        work.leaving = leaving;
        (reports, late, draining, awaited, left, std::mem::take(&mut work.look))
    };
    for (qp, report) in reports {
        qp.give_up(report);
    }
    for (_, qp) in late {
        qp.give_up(ConnectionReport::TimedOut);
    }
    for (_, token, id) in left {
        hub.parties.lock().remove(&token);
        drop(id);
    }
    let connections = !hub.table.read().is_empty();
    let starving = hub.is_starving();
    if connections || look || starving {
        hub.settle();
    }
    let awaited: Vec<Arc<Qp>> = awaited.into_iter().filter(|qp| qp.phase() == QpPhase::Connected).collect();
    let still: Vec<Arc<Qp>> = draining.into_iter().filter(|qp| !finished(qp)).collect();
    limits_due.retain(|&address| hub.srq(address).is_some_and(|srq| srq.limit_pending()));

    let mut work = hub.work.lock();
    work.draining.extend(still);
    work.awaited.extend(awaited);
    let now = Instant::now();
    let mut next = work
        .timers
        .iter()
        .map(|(at, _)| *at)
        .chain(work.leaving.iter().map(|(at, _, _)| *at))
        .min()
        .map(|at| at.saturating_duration_since(now));
    let mut sooner = |limit: Duration| next = Some(next.map_or(limit, |next| next.min(limit)));
    if connections {
        let watched = starving || !work.awaited.is_empty() || hub.sleepers.load(Ordering::Acquire) > 0;
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
        AsyncEvent::SrqFailed(_) => log::error!("a shared receive queue cannot go on"),
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
    let entry = |fd: RawFd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // The descriptor of a device that is gone reports an error for ever, so it is left out.
    let device = if hub.lost.load(Ordering::Relaxed) { -1 } else { hub.context.event_fd() };
    let mut fds = [entry(hub.bell.fd()), entry(hub.channel.fd()), entry(device)];
    let time = limit.map(|limit| libc::timespec {
        tv_sec: libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the array and the time live through the call; no signal mask is given.
    let ready = unsafe { libc::ppoll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, time, std::ptr::null()) };
    if ready > 0 && fds[2].revents != 0 && fds[2].revents & libc::POLLIN == 0 {
        hub.lost.store(true, Ordering::Relaxed);
    }
}
