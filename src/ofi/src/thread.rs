//! The thread of an adapter. It handles connections, and polls while nobody else does: see [`crate::device`].

use std::iter;
use std::os::fd::{AsFd, BorrowedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dat_core::transport::{ConnectionReport, Poll};
use host::poll;
use host::thread::{self, Thread};

use crate::cm;
use crate::conn::Phase;
use crate::device::{Device, PARK, STAY, TICK};

/// Events handled at a time: a flood of requests must not keep connections from ending.
const EVENTS: usize = 64;

/// Starts the thread of an adapter.
pub fn start(device: &Arc<Device>) -> std::io::Result<Thread> {
    let device = device.clone();
    thread::start(c"dat-ofi", move || run(&device))
}

/// Does one piece of work. If it panics the panic hook has written a line; the others are done all the same.
fn alone<R>(piece: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(piece)).ok()
}

fn run(device: &Arc<Device>) {
    log::debug!(target: host::diagnostics::THREAD, "adapter {}: its thread begins", device.place.netdev);
    let mut look = Look { polls: 0, stay: Instant::now() };
    loop {
        device.bell.clear();
        if device.stop.load(Ordering::Acquire) {
            return;
        }
        let due = alone(|| work(device)).flatten();
        alone(|| sleep(device, &mut look, due));
    }
}

/// Time between two looks at connections for which libfabric still moves bytes.
const NEXT_ENDING: Duration = Duration::from_millis(1);

/// Handles what has come and what is due; gives the time until more is due.
fn work(device: &Arc<Device>) -> Option<Duration> {
    for event in iter::from_fn(|| device.events.next()).take(EVENTS) {
        alone(|| cm::handle(device, event));
    }
    loop {
        let Some((conn, report)) = device.work.lock().reports.pop() else { break };
        alone(|| match report {
            ConnectionReport::AcceptFailed => conn.peer_left(crate::record::End::Disconnected),
            report => conn.give_up(report),
        });
    }
    let now = Instant::now();
    while let Some(conn) = device.take_due(now) {
        alone(|| {
            if conn.phase() == Phase::Connecting {
                conn.give_up(ConnectionReport::TimedOut);
            }
        });
    }
    alone(|| device.run_kept());
    let endings = std::mem::take(&mut device.work.lock().endings);
    if !endings.is_empty() {
        alone(|| device.poll_once(Poll::IfFree));
    }
    for conn in endings {
        if alone(|| conn.finish_later()) == Some(false) {
            device.work.lock().endings.push(conn);
        }
    }
    let leaving = alone(|| device.let_go_due(now)).flatten();
    let mut work = device.work.lock();
    work.timers.retain(|conn| conn.phase() == Phase::Connecting);
    let attempt = work.timers.next_due().map(|due| due.saturating_duration_since(now));
    leaving.into_iter().chain(attempt).chain((!work.endings.is_empty()).then_some(NEXT_ENDING)).min()
}

/// What the thread knows of the program.
struct Look {
    /// How often it had polled.
    polls: u64,
    /// Until then it is not relied upon, because something came that it did not poll for, such as writes to memory at which it
    /// looks.
    stay: Instant,
}

impl Look {
    /// Polls, and notes if that found something that the program did not poll for.
    fn poll(&mut self, device: &Device, how: Poll) {
        let polls = device.polls();
        if device.poll_once(how) && device.polls() == polls {
            self.stay = Instant::now() + STAY;
        }
    }
}

/// Sleeps until there is something to do, which may be to poll.
fn sleep(device: &Arc<Device>, look: &mut Look, due: Option<Duration>) {
    let bell = Some(device.bell.as_fd());
    // SAFETY: the queue is open as long as the device is.
    let events = unsafe { BorrowedFd::borrow_raw(device.events.fd()) };
    let completions = device.queues.fd();
    let rest = |descriptors, limit: Option<Duration>| {
        if !device.events.try_wait() {
            // An event has come.
            return;
        }
        let limit = limit.into_iter().chain(due).min();
        let _ = poll::wait(descriptors, limit);
    };
    if device.is_idle() {
        return rest([bell, Some(events), None], None);
    }
    let polls = device.polls();
    let sleepers = device.has_sleepers();
    let watched = device.watchers.load(Ordering::Acquire) > 0;
    let stays = Instant::now() < look.stay;
    if !watched && (sleepers || (polls != look.polls && !stays)) {
        look.polls = polls;
        device.parked.store(sleepers, Ordering::SeqCst);
        if device.is_noted() || device.is_kept() {
            device.poll_once(Poll::IfFree);
        }
        rest([bell, Some(events), None], Some(if sleepers { PARK } else { TICK }));
        device.parked.store(false, Ordering::SeqCst);
        // The thread that sleeps may be held up, by a signal for example.
        if sleepers && device.polls() == polls {
            device.poll_once(Poll::IfFree);
        }
    } else {
        look.poll(device, Poll::Complete);
        if device.queues.try_wait(true) {
            device.watching.store(true, Ordering::SeqCst);
            // What is noted or kept from now on rings the bell.
            let left = device.is_noted() || device.is_kept();
            rest([bell, Some(events), Some(completions)], left.then_some(TICK));
            device.watching.store(false, Ordering::SeqCst);
        }
        // What has come is left to the program, if that polls.
        if stays || device.polls() == polls {
            look.poll(device, Poll::IfFree);
        }
    }
}
