//! The progress thread. It handles connection requests and attempts, and polls if the program does not
//! ([`crate::poll`]).

use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dat_core::transport::Poll;
use host::poll;
use host::thread::isolate;

use crate::cm::{self, ACCEPT_PAUSE};
use crate::poll::{BRISK, PARK, Poller, TICK};

pub fn run(poller: &Poller) {
    let device = &poller.device;
    log::debug!(target: host::diagnostics::THREAD, "adapter {}: the progress thread begins", device.place.netdev);
    let mut polls = 0;
    loop {
        device.wakeup.clear();
        if device.stop.load(Ordering::Acquire) {
            return;
        }
        let due = isolate(|| work(poller)).flatten();
        isolate(|| sleep(poller, due, &mut polls));
    }
}

/// Handles handshakes, deferred work and deadlines. Returns the time until the next deadline.
fn work(poller: &Poller) -> Option<Duration> {
    let device = &poller.device;
    device.handshakes.sockets.look(|ready| {
        isolate(|| cm::handle(device, ready));
    });
    let now = Instant::now();
    let (due, next) = device.handshakes.due(now);
    // The handling of expired halves may set earlier deadlines.
    let next = if due.is_empty() { next } else { Some(now) };
    for half in due.into_iter().filter_map(|number| device.handshakes.remove(number)) {
        isolate(|| cm::expire(half, now));
    }
    isolate(|| poller.run_deferred());
    next.map(|next| next.saturating_duration_since(now))
}

/// Sleeps until there is work, and polls if the program does not. `polls` is the adapter's count of program polls at
/// the last call.
fn sleep(poller: &Poller, due: Option<Duration>, polls: &mut u64) {
    let device = &poller.device;
    let wakeup = Some(device.wakeup.as_fd());
    let is_paused = device.handshakes.accept_paused.swap(false, Ordering::Relaxed);
    let handshakes = (!is_paused).then(|| device.handshakes.sockets.as_fd());
    let due = due.into_iter().chain(is_paused.then_some(ACCEPT_PAUSE)).min();
    let wait = |sockets, limit: Option<Duration>| {
        let (beacon, pause) = device.beacon.watched();
        let limit = limit.into_iter().chain(due).chain(pause).min();
        let found = poll::wait([wakeup, handshakes, sockets, beacon], limit);
        if found.is_ok_and(|[.., beacon]| beacon.readable) {
            isolate(|| device.beacon.respond());
        }
    };
    // While closed streams linger, `due` is not `None`, because they have a deadline.
    if device.table.read().is_empty() && due.is_none() {
        return wait(None, None);
    }
    let before = std::mem::replace(polls, device.polls.load(Ordering::Relaxed));
    let polled = *polls != before || poller.is_polled();
    let sleepers = device.sleepers.load(Ordering::SeqCst) > 0;
    if device.watchers.load(Ordering::Acquire) > 0 || !(sleepers || polled) {
        poller.poll_once(Poll::Complete);
        device.watching.store(true, Ordering::SeqCst);
        // After this store, noted and deferred work wakes this thread, so this check misses none.
        let left = device.is_noted() || device.is_deferred();
        wait(Some(device.shared.sockets.as_fd()), left.then_some(Duration::ZERO));
        device.watching.store(false, Ordering::SeqCst);
    } else if sleepers {
        device.parked.store(true, Ordering::SeqCst);
        poller.flush_all();
        wait(None, Some(if device.is_deferred() { Duration::ZERO } else { PARK }));
        device.parked.store(false, Ordering::SeqCst);
        poller.flush_all();
    } else {
        // A program that polls often sends for noted connections itself.
        let is_brisk = polls.wrapping_sub(before) >= BRISK;
        device.is_brisk.store(is_brisk, Ordering::Relaxed);
        wait(None, Some(TICK));
        if !is_brisk {
            poller.flush_all();
        }
        return;
    }
    // If the program has polled, it handles new data. Otherwise this thread does: a program thread that wakes for the
    // data may be delayed, for example by a signal.
    if device.polls.load(Ordering::Relaxed) == *polls {
        poller.poll_once(Poll::IfFree);
    }
}
