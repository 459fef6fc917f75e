//! The end of queue pairs. However a connection ends, the queue pair goes to the error state ([`Qp::begin_end`]), the
//! thread waits until all of its work has come back ([`Qp::drained`]), and only then reports it ([`Qp::finish`]):
//! from that moment the buffers belong to the program again.
//!
//! On a shared queue the thread fetches until the device has reported the last buffer that it takes. Soft-RoCE and
//! soft-iWARP report none, so there the thread waits until the device has been quiet for 10 ms. Soft-iWARP does not flush a
//! late post, so there the thread does not wait for missing work. Freeing an endpoint waits for the end (`await_end`); closing an adapter begins all ends before it waits for the first.
//!
//! On iWARP the kernel destroys neither the identifier nor the queue pair of an attempt until the peer responds, for up to 20
//! seconds. So a separate thread frees these ([`Qp::abandon`]).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dat_core::transport::ConnectionReport;
use host::thread;
use rdma_sys::ibv_qp_state;

use crate::qp::{Qp, QpPhase, QpState};
use crate::sys::cm::CmId;

/// The longest that the device may take to give work back.
pub const DRAIN_LIMIT: Duration = Duration::from_secs(5);
/// Time without a completion after which a queue pair on a shared queue counts as drained, if the device does not report the
/// last buffer that it takes.
const SRQ_QUIET: Duration = Duration::from_millis(10);
/// The longest that any other device may take to report the last buffer of a shared queue.
pub const SRQ_LIMIT: Duration = Duration::from_secs(1);
/// Time without a completion after which the queue pairs of a device that is gone count as drained.
pub const GONE_QUIET: Duration = Duration::from_millis(200);
/// The time in which the kernel may repeat a disconnect message that got lost.
const REPEATS: Duration = Duration::from_secs(10);

impl Qp {
    /// Begins the end of a connection that is up or nearly so: the queue pair goes to the error state, and the thread
    /// does the rest. False if the connection is going down already, or was never up.
    pub fn begin_end(self: &Arc<Self>, cause: ConnectionReport) -> bool {
        let cm = {
            let mut state = self.state.lock();
            let cause = match state.phase {
                QpPhase::Connected => cause,
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
        self.go(ibv_qp_state::IBV_QPS_ERR);
        // This answers the peer's message, too.
        let disconnected = cm.is_some_and(|cm| cm.disconnect().is_ok());
        self.state.lock().disconnected = disconnected;
        self.device.command(|work| work.draining.push_back(self.clone()));
        true
    }

    fn go(&self, state: ibv_qp_state::Type) {
        if let Err(error) = self.raw.go(state) {
            log::warn!("queue pair {} does not go to state {state}: {error}", self.number());
        }
    }

    /// Has the device forget all work. Windows are freed before, while the queue pair to which they are bound is there.
    fn reset(&self) {
        self.end_binds();
        self.go(ibv_qp_state::IBV_QPS_RESET);
    }

    /// True if all work has come back, as far as completions were fetched. The thread asks now and then while the
    /// queue pair goes down.
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
        let limits = &self.device.limits;
        let patience = if limits.reports_last_buffer() { SRQ_LIMIT } else { SRQ_QUIET };
        if limits.soft_iwarp && quiet >= SRQ_QUIET {
            return true;
        }
        if all && (self.srq.is_none() || self.last_reached.load(Ordering::Acquire) || quiet >= patience) {
            return true;
        }
        if self.device.is_gone() && quiet >= GONE_QUIET {
            // The queue pair may be gone with it.
            return true;
        }
        if since > DRAIN_LIMIT {
            log::warn!("queue pair {} does not give all of its work back", self.number());
            return true;
        }
        if !all && quiet > Duration::from_millis(2) {
            // Some devices flush a post that came late only when the state is set again.
            self.go(ibv_qp_state::IBV_QPS_ERR);
        }
        false
    }

    /// Reports the end to the core; called by the thread once the queue pair is drained. Only the first call does it.
    pub fn finish(self: &Arc<Self>) {
        if std::mem::replace(&mut self.state.lock().finishing, true) {
            return;
        }
        // From the reset on the device touches no buffer. Completions are fetched before it, because some
        // devices drop those that were not fetched, and once more after it, because others complete more work then.
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
        log::debug!(target: host::diagnostics::EP, "queue pair {}: over, {cause}", self.number());
        if let Some(cm) = ended.cm {
            // The kernel repeats a message that got lost, as long as the identifier is there.
            let leave =
                Instant::now() + if ended.disconnected && !self.device.is_gone() { REPEATS } else { Duration::ZERO };
            self.device.cm_owners.lock().remove(&cm.token());
            self.device.work.lock().leaving.set(leave, cm);
        }
        // The first failure has ended the connection, though the peer's message may have been seen before it.
        if (ended.failed_recv.is_some() || ended.failed_request.is_some()) && cause != ConnectionReport::AcceptFailed {
            self.sink.failed(ended.failed_recv, ended.failed_request);
        } else {
            self.sink.connection(cause);
        }
    }

    /// Waits until the end is reported to the core.
    pub fn await_end(self: &Arc<Self>) {
        let limit = Instant::now() + 2 * DRAIN_LIMIT;
        let mut state = self.state.lock();
        while state.phase != QpPhase::Dead && Instant::now() < limit {
            self.ended.wait_until(&mut state, limit);
        }
        if state.phase != QpPhase::Dead {
            // The thread cannot do it: it is stuck, or it is the thread that waits here.
            drop(state);
            self.finish();
        }
    }

    /// Ends an attempt at a connection that never carried anything; true if there was one.
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
            let party = self.device.cm_owners.lock().remove(&cm.token());
            drop(party);
        }
        // From now on the device touches no buffer.
        if self.device.limits.iwarp {
            self.end_binds();
            self.go(ibv_qp_state::IBV_QPS_ERR);
            self.free_aside(cm);
        } else {
            self.reset();
            self.leave();
        }
        true
    }

    /// Removes the queue pair from all tables and frees it with its identifier, in a separate thread. Completions of flushed
    /// receives stay in the completion queue when the device destroys the queue pair, so this fetches them first.
    fn free_aside(self: &Arc<Self>, cm: Option<Arc<CmId>>) {
        let qp = self.clone();
        let free = move || {
            qp.drain();
            qp.leave();
            // The kernel waits here. The queue pair is freed by its last user, which is this thread then.
            drop(cm);
            drop(qp);
        };
        if let Err(error) = thread::start(c"dat-verbs-free", free) {
            log::warn!("queue pair {}: no thread to free it: {error}", self.number());
        }
    }

    /// Ends an attempt and reports why to the core; called without a lock.
    pub fn give_up(self: &Arc<Self>, report: ConnectionReport) {
        if self.abandon() {
            self.sink.connection(report);
        }
    }

    /// Takes the queue pair out of all tables.
    pub(crate) fn leave(&self) {
        self.device.table.write().remove(&self.number());
        if let Some(srq) = &self.srq {
            srq.end();
        }
        self.entries.iter().for_each(|entries| entries.cq.leave(self));
    }
}
