//! The end of lanes, and of the queue pair with the last one; and what is done after it has failed.
//!
//! A lane ends at once if the device has none of its requests, unless it is the last one. Otherwise the thread of the
//! adapter waits until they are back. For the last one it first stops the queue pair, and reports what had come by then:
//! until the reset the device takes receives of the shared queue.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use dat_core::transport::{Closing, ConnectionReport};
use host::pause::Pause;
use rdma_sys::ibv_qp_state;

use super::shared::SharedQp;
use super::{Lane, LanePhase};
use crate::ending::{DRAIN_LIMIT, GONE_QUIET, SRQ_LIMIT};

impl Lane {
    /// Ends the lane at the wish of the core.
    pub fn disconnect(self: &Arc<Self>) -> Closing {
        let was_up = matches!(self.phase(), LanePhase::Accepting | LanePhase::Up);
        self.begin_end(was_up.then_some(ConnectionReport::Disconnected))
    }

    /// Ends the lane and reports why to the core; called without a lock.
    pub fn give_up(self: &Arc<Self>, report: ConnectionReport) {
        if !matches!(self.phase(), LanePhase::Draining | LanePhase::Dead)
            && self.begin_end(Some(report.clone())) == Closing::Done
        {
            self.sink.connection(report);
        }
    }

    /// Ends the lane because the program can name its peer no more, unless it is the last one: with that no datagram arrived
    /// any more.
    pub fn forget(self: &Arc<Self>) {
        let up = |lane: &Arc<Lane>| !Arc::ptr_eq(lane, self) && lane.phase() == LanePhase::Up;
        if self.shared.lanes.lock().iter().any(up) {
            self.give_up(ConnectionReport::Disconnected);
        }
    }

    /// Begins the end. If that is later, the thread reports `cause`.
    fn begin_end(self: &Arc<Self>, cause: Option<ConnectionReport>) -> Closing {
        let mut lanes = self.shared.lanes.lock();
        let cm = {
            let mut state = self.state.lock();
            match state.phase {
                LanePhase::Dead => return Closing::Done,
                LanePhase::Draining => return Closing::Later,
                _ => state.phase = LanePhase::Draining,
            }
            state.cause = cause;
            state.cm.take()
        };
        let left: VecDeque<_> = {
            let mut sends = self.shared.sends.lock();
            let (own, others) =
                std::mem::take(&mut sends.backlog).into_iter().partition(|next| Arc::ptr_eq(&next.lane, self));
            sends.backlog = others;
            own
        };
        let last = lanes.iter().all(|lane| lane.phase() == LanePhase::Draining);
        let at_once = !last && self.on_device.load(Ordering::Acquire) == 0;
        if at_once {
            lanes.retain(|lane| !Arc::ptr_eq(lane, self));
            self.state.lock().phase = LanePhase::Dead;
        }
        drop(lanes);
        drop(left);
        if let Some(cm) = cm {
            self.device().cm_owners.lock().remove(&cm.token());
        }
        if at_once {
            return Closing::Done;
        }
        self.device().command(|work| work.ending.push_back(self.clone()));
        Closing::Later
    }

    /// Goes on with the end; true if the thread has to ask again.
    pub fn ending(self: &Arc<Self>) -> bool {
        if self.phase() == LanePhase::Dead {
            return false;
        }
        let waits =
            if self.shared.stops() { !self.shared.is_still() } else { self.on_device.load(Ordering::Acquire) > 0 };
        if waits {
            return true;
        }
        self.finish();
        false
    }

    /// Reports the end to the core. Only the first call does it.
    pub fn finish(self: &Arc<Self>) {
        if self.shared.stops() {
            self.shared.halt();
        }
        let cause = {
            let mut lanes = self.shared.lanes.lock();
            let mut state = self.state.lock();
            if state.phase == LanePhase::Dead {
                return;
            }
            state.phase = LanePhase::Dead;
            lanes.retain(|lane| !Arc::ptr_eq(lane, self));
            state.cause.take()
        };
        if let Some(cause) = cause {
            self.sink.connection(cause);
        }
    }

    /// The device has given back the last buffer for the queue pair of this number.
    pub fn note_last(&self, number: u32) {
        if self.shared.number() == number {
            self.shared.last_reached.store(true, Ordering::Release);
        }
    }

    /// Ends the lane; called after [`Lane::disconnect`]. No thread has to wait for another one.
    pub fn await_end(self: &Arc<Self>) {
        let mut pause = Pause::new();
        while self.ending() {
            pause.pass();
        }
    }
}

impl SharedQp {
    /// Whether the queue pair ends, because all lanes do. Once it does, no lane is added to it.
    fn stops(&self) -> bool {
        let mut all = self.device.datagrams.lock();
        let mut stopping = self.stopping.lock();
        if stopping.is_some() {
            return true;
        }
        if !self.lanes.lock().iter().all(|lane| lane.phase() == LanePhase::Draining) {
            return false;
        }
        all.remove(&self.key);
        let now = Instant::now();
        *stopping = Some((now, self.completions.load(Ordering::Acquire), now));
        drop((all, stopping));
        self.sends.lock().open = false;
        self.go(ibv_qp_state::IBV_QPS_ERR);
        true
    }

    fn go(&self, state: ibv_qp_state::Type) {
        if let Err(error) = self.raw.go(state) {
            log::warn!("queue pair {} does not go to state {state}: {error}", self.number());
        }
    }

    /// Whether the device has given back all that it had of a queue pair that ends.
    fn is_still(&self) -> bool {
        self.drain();
        let idle = self.sends.lock().on_device.is_empty();
        let now = Instant::now();
        let mut stopping = self.stopping.lock();
        let Some((since, seen, quiet)) = &mut *stopping else { return true };
        let completions = self.completions.load(Ordering::Acquire);
        if *seen != completions {
            (*seen, *quiet) = (completions, now);
        }
        let quiet = now - *quiet;
        // Soft-RoCE takes a receive and fills it in one step, which a reset awaits.
        let reached = self.device.limits.soft_roce || self.last_reached.load(Ordering::Acquire) || quiet >= SRQ_LIMIT;
        let given_back = idle && reached;
        given_back || (self.device.is_gone() && quiet >= GONE_QUIET) || now - *since > DRAIN_LIMIT
    }

    /// From now on the device touches no memory for the queue pair, and all that it has done is reported.
    fn halt(self: &Arc<Self>) {
        let _resetting = self.resetting.lock();
        self.drain();
        self.go(ibv_qp_state::IBV_QPS_RESET);
        self.drain();
        // Some devices drop what was not fetched.
        while !self.sends.lock().on_device.is_empty() {
            self.complete_sends(usize::MAX, false);
        }
        self.dissolve();
    }

    /// Takes the queue pair out of all tables. No lane uses it any longer.
    pub(super) fn dissolve(&self) {
        self.srq.end();
        self.entries.cq.leave_datagrams(self.number());
    }

    /// Makes a queue pair that has failed ready again once its requests are back; true if the thread has to ask again.
    pub fn recover(self: &Arc<Self>) -> bool {
        if self.stopping.lock().is_some() {
            return false;
        }
        self.go(ibv_qp_state::IBV_QPS_ERR);
        self.drain();
        {
            let sends = self.sends.lock();
            let Some(since) = sends.failed else { return false };
            if !sends.on_device.is_empty() && since.elapsed() < DRAIN_LIMIT {
                return true;
            }
        }
        let resetting = self.resetting.lock();
        if self.stopping.lock().is_some() {
            return false;
        }
        self.go(ibv_qp_state::IBV_QPS_RESET);
        self.drain();
        while !self.sends.lock().on_device.is_empty() {
            self.complete_sends(usize::MAX, false);
        }
        let ready = self.raw.make_ready(self.device.place.port);
        drop(resetting);
        {
            let mut sends = self.sends.lock();
            (sends.failed, sends.open) = (None, ready.is_ok());
            self.feed(&mut sends);
            if ready.is_ok() && (sends.backlog.is_empty() || !sends.on_device.is_empty()) {
                log::info!(target: host::diagnostics::EP, "queue pair {}: goes on after an error", self.number());
                return false;
            }
        }
        log::error!("queue pair {} does not go on: its datagrams are lost", self.number());
        // The next lane gets another one.
        self.device.datagrams.lock().remove(&self.key);
        self.end(&ConnectionReport::Broken);
        false
    }

    /// Ends all lanes.
    pub fn end(&self, cause: &ConnectionReport) {
        let lanes = self.lanes.lock().clone();
        lanes.iter().for_each(|lane| lane.give_up(cause.clone()));
    }
}
