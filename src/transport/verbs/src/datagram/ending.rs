//! The end and the recovery of UD queue pairs.
//!
//! The device takes receives of the SRQ until the reset. So an end first moves the queue pair to the error state and
//! reports all completions.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dat_core::event::Status;
use dat_core::transport::ConnectionReport;
use rdma_sys::ibv_qp_state;

use super::UdQp;
use crate::ending::{DRAIN_LIMIT, GONE_QUIET, SRQ_LIMIT};

#[derive(Default)]
pub(super) struct Ending {
    since: Option<Instant>,
    /// Value of `completions`, and the time of its last change.
    quiet: Option<(u64, Instant)>,
    /// Set once the device uses no memory for the queue pair.
    ended: bool,
}

impl UdQp {
    pub(super) fn stop(&self) {
        let attempts = std::mem::take(&mut *self.attempts.lock());
        attempts.iter().for_each(|attempt| drop(attempt.conclude()));
        self.sends.lock().open = false;
        let mut ending = self.ending.lock();
        if ending.since.is_none() {
            ending.since = Some(Instant::now());
            self.raw.go(ibv_qp_state::IBV_QPS_ERR);
        }
    }

    /// Returns whether the device has completed all work, or a time limit has passed.
    pub(super) fn is_still(&self) -> bool {
        self.drain();
        let idle = self.sends.lock().on_device == 0;
        let now = Instant::now();
        let mut ending = self.ending.lock();
        let completions = self.completions.load(Ordering::Acquire);
        let quiet = ending.quiet.filter(|(seen, _)| *seen == completions).unwrap_or((completions, now));
        ending.quiet = Some(quiet);
        let (quiet, since) = (now - quiet.1, ending.since.map_or(Duration::MAX, |since| now - since));
        // Soft-RoCE takes and fills a receive in one step, for which a reset waits (Linux 6.1, 6.12, 7.3). So there no
        // report of the last buffer is needed.
        let reached = self.device.limits.quirks.fills_in_one_step
            || self.last_reached.load(Ordering::Acquire)
            || quiet >= SRQ_LIMIT;
        ending.ended || idle && reached || self.device.is_gone() && quiet >= GONE_QUIET || since > DRAIN_LIMIT
    }

    /// Finishes the end. Core completes the remaining datagrams.
    pub(super) fn halt(&self) {
        let mut ending = self.ending.lock();
        if !std::mem::replace(&mut ending.ended, true) {
            self.reset();
            self.leave();
        }
        drop(ending);
        let left = std::mem::take(&mut self.sends.lock().outstanding);
        drop(left);
    }

    fn reset(&self) {
        // Some devices drop unread completions at a reset.
        self.drain();
        self.raw.go(ibv_qp_state::IBV_QPS_RESET);
        self.drain();
        self.sends.lock().on_device = 0;
    }

    pub(super) fn leave(&self) {
        self.srq.end();
        self.entries.iter().for_each(|entries| entries.cq.leave_datagrams(self.number()));
    }

    /// Recovers a failed queue pair once the device has returned its requests. Returns whether to call this again.
    pub fn recover(self: &Arc<Self>) -> bool {
        {
            let ending = self.ending.lock();
            if ending.since.is_some() {
                return false;
            }
            self.raw.go(ibv_qp_state::IBV_QPS_ERR);
        }
        self.drain();
        {
            let sends = self.sends.lock();
            let Some(since) = sends.failed else { return false };
            let reached = self.last_reached.load(Ordering::Acquire) || since.elapsed() >= SRQ_LIMIT;
            let keeps = sends.on_device > 0 || !(reached || self.device.limits.quirks.fills_in_one_step);
            if keeps && since.elapsed() < DRAIN_LIMIT {
                return true;
            }
        }
        let ending = self.ending.lock();
        if ending.since.is_some() {
            return false;
        }
        self.reset();
        self.last_reached.store(false, Ordering::Release);
        let left = {
            // Locked, so that clearing `failed` hides no later failure.
            let mut sends = self.sends.lock();
            let ready = !self.device.is_gone() && self.make_ready().is_ok();
            sends.failed = None;
            // The completion of a posted datagram posts the others.
            if ready && (sends.feed(&self.raw).is_ok() || sends.on_device > 0) {
                log::info!(target: host::diagnostics::EP, "queue pair {}: recovered from an error", self.number());
                return false;
            }
            sends.open = false;
            std::mem::take(&mut sends.outstanding)
        };
        drop(ending);
        log::error!("queue pair {}: cannot recover from an error: its datagrams are lost", self.number());
        left.iter().for_each(|_| self.sink.not_sent(Status::Transport));
        false
    }

    pub fn lose(self: &Arc<Self>) {
        let attempts = self.attempts.lock().clone();
        attempts.iter().for_each(|attempt| attempt.give_up(ConnectionReport::Unreachable));
        self.fail();
    }
}
