//! The end of connected queue pairs.
//!
//! | step | effect |
//! |---|---|
//! | [`Qp::begin_end`] | moves the queue pair to the error state |
//! | [`Qp::drained`] | polled by the progress thread until all work has completed |
//! | [`Qp::finish`] | resets the queue pair, and reports the end; the program owns its buffers again |
//!
//! The last step frees windows, which can block, so it does not run in the progress thread ([`Qp::apart`]).
//!
//! On an SRQ, `drained` waits until the device has reported the last buffer that the queue pair takes. Soft-RoCE of
//! Linux 6.12 and 7.3 reports this buffer. Soft-RoCE of Linux 6.1 and soft-iWARP do not, so there `drained` waits for
//! 10 ms without a completion instead. Soft-iWARP does not even flush work that is posted late, so after these 10 ms
//! `drained` ignores its missing completions.
//!
//! Freeing an endpoint waits for the end ([`Qp::await_end`]). Closing an adapter begins all ends before it waits.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dat_core::transport::ConnectionReport;
use rdma_sys::ibv_qp_state;

use crate::qp::{Qp, QpPhase, QpState};
use crate::sys::cm::CmId;

/// Maximum time for the device to complete the outstanding work of an ending queue pair.
pub const DRAIN_LIMIT: Duration = Duration::from_secs(5);
/// Time without a completion after which a queue pair counts as drained. Applies on an SRQ of a device that never
/// reports the last buffer, and on devices that forget work at a connection's end.
const SRQ_QUIET: Duration = Duration::from_millis(10);
/// The time instead of [`SRQ_QUIET`] on devices that should report the last buffer, in case the report is missing.
pub const SRQ_LIMIT: Duration = Duration::from_secs(1);
/// The time instead of [`SRQ_QUIET`] for all queue pairs of a device that has failed or was removed.
pub const GONE_QUIET: Duration = Duration::from_millis(200);
/// Maximum time that an end waits for the local device to reject a request that violates the peer's access rights.
const REJECTION_LIMIT: Duration = Duration::from_secs(1);
/// Maximum time that an end, after the peer's disconnect message, waits for the peer's rejection of a request.
const REJECTED_LIMIT: Duration = Duration::from_millis(50);
/// Time for which an identifier outlives its connection, so that the kernel can repeat a lost disconnect message.
const REPEAT_TIME: Duration = Duration::from_secs(10);

impl Qp {
    /// Begins the end of an accepted or established connection. Returns `false` if there is none, or if an accepted
    /// connection must be reported as established first.
    pub fn begin_end(self: &Arc<Self>, cause: ConnectionReport) -> bool {
        let cm = {
            let mut state = self.state.lock();
            // A violation is the cause, even if the peer ends the connection first.
            let cause = if state.violated.is_some() { ConnectionReport::Broken } else { cause };
            let cause = match state.phase {
                QpPhase::Connected => cause,
                // The peer has sent a message, so the connection must be reported as established first. [`Qp::report`]
                // then begins the end.
                QpPhase::Accepting if state.failed_recv.is_some() && cause == ConnectionReport::Broken => return false,
                QpPhase::Accepting if cause == ConnectionReport::Broken => ConnectionReport::AcceptFailed,
                QpPhase::Accepting => cause,
                _ => return false,
            };
            state.phase = QpPhase::Draining;
            state.cause = Some(cause);
            state.since = Some(Instant::now());
            state.cm.clone()
        };
        self.sends.lock().close();
        self.recvs.lock().close();
        self.raw.go(ibv_qp_state::IBV_QPS_ERR);
        // This sends the disconnect message, or confirms the peer's.
        let disconnected = cm.is_some_and(|cm| cm.disconnect().is_ok());
        self.state.lock().disconnected = disconnected;
        self.device.command(|work| work.draining.push_back(self.clone()));
        true
    }

    /// Notes that the peer violated its access rights. [`Qp::awaits_rejection`] begins the end.
    pub fn note_violation(self: &Arc<Self>) {
        self.state.lock().violated.get_or_insert_with(Instant::now);
        self.device.command(|work| work.rejecting.push_back(self.clone()));
    }

    /// Notes that the peer has disconnected. [`Qp::awaits_rejection`] begins the end.
    pub fn note_disconnect(self: &Arc<Self>) {
        self.state.lock().left.get_or_insert_with(Instant::now);
        self.device.command(|work| work.rejecting.push_back(self.clone()));
    }

    /// Begins the end after a violation or the peer's disconnect message, once no rejection can follow. Returns `true`
    /// if a rejection can still follow, so that the progress thread must call this again:
    /// - Soft-RoCE reports a violation before it rejects the request. It does not reject a request in the error state
    ///   (Linux 7.3). So this waits until the device itself has moved the queue pair to that state.
    /// - The disconnect message of a peer that rejects a request can be handled before the rejection. So this waits for
    ///   outstanding requests, up to a limit: in the error state, the device would flush them.
    pub fn awaits_rejection(self: &Arc<Self>) -> bool {
        self.reap();
        let (phase, violated, left) = {
            let state = self.state.lock();
            (state.phase, state.violated, state.left)
        };
        let within = |since: Option<Instant>, limit| since.is_some_and(|since| since.elapsed() < limit);
        let receives = |state| matches!(state, ibv_qp_state::IBV_QPS_RTR | ibv_qp_state::IBV_QPS_RTS);
        let rejects = || within(violated, REJECTION_LIMIT) && self.raw.state().is_ok_and(receives);
        let is_rejected = || within(left, REJECTED_LIMIT) && !self.sends.lock().is_back();
        let connected = matches!(phase, QpPhase::Connected | QpPhase::Accepting) && !self.device.is_gone();
        if connected && (rejects() || is_rejected()) {
            return true;
        }
        self.begin_end(ConnectionReport::Disconnected);
        false
    }

    /// Resets the queue pair, after freeing its windows.
    fn reset(&self) {
        self.end_binds();
        self.raw.go(ibv_qp_state::IBV_QPS_RESET);
    }

    /// Returns whether all work has completed, according to the completions polled so far, or a time limit has passed.
    pub fn drained(&self) -> bool {
        let all = self.sends.lock().is_back() && self.recvs.lock().is_back();
        let now = Instant::now();
        let (since, quiet) = {
            let mut state = self.state.lock();
            if state.phase == QpPhase::Dead {
                return true;
            }
            let completions = self.completions.load(Ordering::Acquire);
            let quiet = state.quiet.filter(|(seen, _)| *seen == completions).unwrap_or((completions, now));
            state.quiet = Some(quiet);
            (state.since.map_or(Duration::ZERO, |since| now - since), now - quiet.1)
        };
        let quirks = &self.device.limits.quirks;
        // On Linux 6.1, no event of Soft-RoCE reports the last buffer that a queue pair takes from an SRQ.
        let quiet_limit = if quirks.omits_last_buffer { SRQ_QUIET } else { SRQ_LIMIT };
        if quirks.forgets_work_at_end && quiet >= SRQ_QUIET {
            return true;
        }
        if all && (self.srq.is_none() || self.last_reached.load(Ordering::Acquire) || quiet >= quiet_limit) {
            return true;
        }
        if self.device.is_gone() && quiet >= GONE_QUIET {
            return true;
        }
        if since > DRAIN_LIMIT {
            log::warn!("queue pair {}: the device does not complete all of its work", self.number());
            return true;
        }
        if !all && quiet > Duration::from_millis(2) {
            // Some devices flush work that was posted late only when the error state is set again.
            self.raw.go(ibv_qp_state::IBV_QPS_ERR);
        }
        false
    }

    /// Resets a drained queue pair and reports its end. Only the first call has an effect.
    pub fn finish(self: &Arc<Self>) {
        if std::mem::replace(&mut self.state.lock().finishing, true) {
            return;
        }
        // Some devices drop unread completions at the reset; others complete more work during it. So this polls before
        // and after.
        self.drain();
        self.reset();
        self.drain();
        self.leave();
        let over = QpState { phase: QpPhase::Dead, finishing: true, ..QpState::default() };
        let ended = {
            let mut state = self.state.lock();
            self.ended.notify_all();
            std::mem::replace(&mut *state, over)
        };
        let cause = ended.cause.unwrap_or(ConnectionReport::Disconnected);
        log::debug!(target: host::diagnostics::EP, "queue pair {}: connection ended: {cause:?}", self.number());
        if let Some(cm) = ended.cm {
            let leave = Instant::now()
                + if ended.disconnected && !self.device.is_gone() { REPEAT_TIME } else { Duration::ZERO };
            self.device.forget_owner(&cm);
            self.device.work.lock().leaving.set(leave, cm);
        }
        // A failed receive or request is the cause, even if the peer's disconnect message arrived first.
        if (ended.failed_recv.is_some() || ended.failed_request.is_some()) && cause != ConnectionReport::AcceptFailed {
            self.sink.failed(ended.failed_recv, ended.failed_request);
        } else {
            self.sink.connection(cause);
        }
    }

    /// Waits until the queue pair has ended. After `2 * DRAIN_LIMIT`, this thread ends it.
    pub fn await_end(self: &Arc<Self>) {
        let limit = Instant::now() + 2 * DRAIN_LIMIT;
        let mut state = self.state.lock();
        while state.phase != QpPhase::Dead && Instant::now() < limit {
            self.ended.wait_until(&mut state, limit);
        }
        if state.phase != QpPhase::Dead {
            // The progress thread is stuck, or is this thread.
            drop(state);
            self.finish();
        }
    }

    /// Ends an idle queue pair or a connection attempt immediately. Returns `false`, without effect, in other phases.
    pub fn abandon(self: &Arc<Self>) -> bool {
        let cm = {
            let mut state = self.state.lock();
            if !matches!(state.phase, QpPhase::Idle | QpPhase::Connecting) {
                return false;
            }
            state.phase = QpPhase::Dead;
            state.cm.take()
        };
        self.sends.lock().close();
        self.recvs.lock().close();
        if let Some(cm) = &cm {
            self.device.forget_owner(cm);
        }
        // After either branch, the device no longer accesses buffers.
        if self.device.limits.iwarp {
            self.end_binds();
            self.raw.go(ibv_qp_state::IBV_QPS_ERR);
            self.free_apart(cm);
        } else {
            self.reset();
            self.leave();
        }
        true
    }

    /// Frees the queue pair and its identifier in another thread. On iWARP the kernel blocks the destruction until the
    /// peer responds, for up to 20 seconds. Polls before [`Qp::leave`], so that completions of flushed receives still
    /// find the queue pair.
    fn free_apart(self: &Arc<Self>, cm: Option<Arc<CmId>>) {
        let qp = self.clone();
        let free = move || {
            qp.drain();
            qp.leave();
            // Usually this thread has the last reference to the queue pair.
            drop(cm);
            drop(qp);
        };
        if self.device.freeing.run(free).is_err() {
            self.leave();
        }
    }

    /// Calls `f`, which can destroy objects: in another thread if this is the progress thread and memory suffices.
    pub fn apart(self: &Arc<Self>, f: fn(&Arc<Self>)) {
        let qp = self.clone();
        let freeing = &self.device.freeing;
        if !freeing.is_progress_thread() || freeing.run(move || f(&qp)).is_err() {
            f(self);
        }
    }

    /// Ends a connection attempt and reports `report`, unless the attempt has ended. Called without a lock.
    pub fn give_up(self: &Arc<Self>, report: ConnectionReport) {
        if self.abandon() {
            self.sink.connection(report);
        }
    }

    /// Removes the queue pair from all tables, and detaches it from its SRQ.
    pub(crate) fn leave(&self) {
        self.device.table.write().remove(&self.number());
        if let Some(srq) = &self.srq {
            srq.end();
        }
        self.entries.iter().for_each(|entries| entries.cq.leave(self));
    }
}
