//! One end of a connection: the queue pair of this transport.
//!
//! Each direction has a lock. [`Conn`] has the lock on [`Rx`]. The lock on [`Tx`](crate::tx::Tx) is the endpoint's lock
//! on its requests ([`EndpointSink::lock_tx`]), until the connection ends. Lock order: `rx`, `tx`.
//!
//! # Waiting work
//! * A queued request (`tx`).
//! * A response to the peer (`responses`).
//! * A record at the head of a ring (`rx`).
//! * A rendezvous message or write whose bytes must be requested.
//! * A closing connection with transfers of the peer in flight (`pending`, the progress thread).
//!
//! Three things resume waiting work:
//! * The ready bit, which the peer or this process sets, also for a copy that has used up its share. The next round of
//!   any thread clears the bit and polls the connection.
//! * The `Busy` bits of the end, which each round checks while the connection is polled.
//! * The holder of the transmit lock, if a poll found it locked: after unlocking, the holder sets the ready bit.
//!
//! For work that waits for the peer's position, a record requests a notification ([`crate::tx_ring`]). The post of a
//! receive resumes a message that waits for a receive.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use dat_core::ep::TxGuard;
use dat_core::error::Result;
use dat_core::event::Status;
use dat_core::transport::{ConnectionReport, EndpointSink, FailedRequest, RecvDone};
use dat_software::datagrams::Receiver;
use dat_software::qp::{Phase, QpBase};
use dat_software::records::Fatal;
use dat_software::rnr_line::RnrWaiter;
use host::cold_path;
use host::lock::Mutex;
use host::memory;
use once_cell::sync::OnceCell;

use crate::Shm;
use crate::link::Link;
use crate::peer_segment::End;
use crate::pending::Pending;
use crate::process_context::Command;
use crate::record::Acknowledge;
use crate::rx::{Advance, Rx, RxReport, Stop};
use crate::sleep::Notice;
use crate::wire::{CloseReason, ConnId, EndInfo, Message};

mod deliver;

/// Maximum number of receive turns after the peer has disconnected.
const DRAIN_TURNS: u32 = 64;

/// Number of polls that must find the ready bit before callers poll the connection ([`Hot`](crate::hot::Hot)).
const ACTIVE_POLLS: u32 = 4;

const HOT: u32 = u32::MAX;

struct Attachment {
    end: End,
    id: ConnId,
    link: Arc<Link>,
}

pub enum Report {
    Failed(Option<RecvDone>, Option<(FailedRequest, Status)>),
    Ended(ConnectionReport),
}

/// The end of a closed connection, which the progress thread reports once the peer's transfers have ended.
pub struct Ending {
    conn: Arc<Conn>,
    pub pending: Pending,
    reason: CloseReason,
    report: Report,
}

impl Ending {
    /// Reports the end. Called without locks after the transfers have ended.
    pub fn tell(self) {
        self.conn.tell(self.reason, self.report);
    }
}

pub struct Conn {
    pub base: QpBase<Shm>,
    pub info: EndInfo,
    attachment: OnceCell<Attachment>,
    rx: Mutex<Rx>,
    /// Number of polls that found the ready bit, up to [`ACTIVE_POLLS`]; [`HOT`] while the connection is polled.
    activity: AtomicU32,
}

impl RnrWaiter for Conn {
    #[inline]
    fn rnr(&self) -> &AtomicBool {
        &self.base.rnr
    }

    fn resume(self: &Arc<Self>) {
        let rx = self.rx.lock();
        self.base.note_stall(false);
        drop(rx);
        self.progress_rx(Advance::Batch);
    }
}

impl Conn {
    /// Creates an unconnected queue pair. Messages of the connection establishment carry `info` to the peer.
    pub fn new(sink: EndpointSink<Shm>, info: EndInfo, receiver: Receiver<Shm>) -> Result<Arc<Self>> {
        Ok(memory::arc(Conn {
            base: QpBase::new(sink, receiver),
            info,
            attachment: OnceCell::new(),
            rx: Mutex::new(Rx::default()),
            activity: AtomicU32::new(0),
        })?)
    }

    #[inline]
    pub fn end(&self) -> Option<&End> {
        self.attachment.get().map(|attachment| &attachment.end)
    }

    /// Counts a poll that found the ready bit. Returns whether to add the connection to the polled set.
    pub fn note_ready(&self) -> bool {
        let activity = (self.activity.load(Ordering::Relaxed) + 1).min(ACTIVE_POLLS);
        self.activity.store(activity, Ordering::Relaxed);
        activity == ACTIVE_POLLS
    }

    pub fn is_hot(&self) -> bool {
        self.activity.load(Ordering::Relaxed) == HOT
    }

    /// Sets the ready bit if there is pending work. The peer must already see that this process does not poll.
    pub fn poll_if_pending(&self) {
        let Some(end) = self.end() else { return };
        if !self.base.is_up() {
            return;
        }
        // SYNC polled: while this process polled, the peer set no ready bit. So the peer may have moved before a
        // producer noted its wait under `tx`. Or it may have sent a record before a consumer noted its position under
        // `rx`. Under both locks, this thread sees the notes.
        let rx = self.rx.lock();
        let Some(tx) = self.base.sink.try_lock_tx() else { return };
        let has_events = end.has_events();
        drop(tx);
        drop(rx);
        if has_events {
            end.repoll();
        }
    }

    /// Publishes that this process polls the connection. Returns `false` if the connection is not up.
    pub fn begin_polling(&self) -> bool {
        // A thread that closes the connection under the lock on `rx` either sees HOT or makes this call fail.
        self.activity.store(HOT, Ordering::Relaxed);
        let begun = self.base.is_up() && self.end().is_some_and(|end| self.rx.lock().begin_polling(end));
        if !begun {
            self.activity.store(ACTIVE_POLLS, Ordering::Relaxed);
        }
        begun
    }

    /// Publishes that this process no longer polls. The caller must then call
    /// [`ControlRegion::fence_peers`](crate::control_region::ControlRegion::fence_peers) and poll once more.
    pub fn end_polling(&self) {
        self.activity.store(0, Ordering::Relaxed);
        if let Some(end) = self.end() {
            end.set_polled(false);
        }
    }

    /// Attaches this end to its place in the shared memory, and opens its rings. Returns `false` if the rings cannot be
    /// mapped, or if this end is already attached.
    pub fn attachment(&self, link: Arc<Link>, id: ConnId, end: End) -> bool {
        let (Some(producers), Some(consumers)) =
            (end.peer_segment.producers(end.index, end.side), end.peer_segment.consumers(end.index, end.side))
        else {
            return false;
        };
        if self.attachment.set(Attachment { end, id, link }).is_err() {
            return false;
        }
        if let Some(mut tx) = self.base.sink.lock_tx() {
            tx.open(producers);
        }
        self.rx.lock().open(consumers);
        true
    }

    pub fn set_peer(&self, info: &EndInfo) {
        self.base.note_peer(info.extended, info.datagrams);
        if let Some(Attachment { end, .. }) = self.attachment.get() {
            end.theirs.set(info.zone, info.port);
        }
    }

    pub fn drain(&self) {
        if let (Some(Attachment { end, .. }), Some(mut tx)) = (self.attachment.get(), self.base.sink.lock_tx()) {
            tx.drain(end);
        }
    }

    /// Handles arrived records, acknowledged and queued requests. Called without the connection's locks.
    pub fn progress(self: &Arc<Self>) {
        let (_, credit) = self.progress_rx(Advance::Batch);
        let Some(Attachment { end, link, .. }) = self.attachment.get() else { return };
        if end.peer_segment.take_untold() {
            link.send(Message::Reads(false));
        }
        self.try_progress_tx(end, credit);
    }

    /// Handles arrived requests. Returns `None` if the sending direction has no work, otherwise the peer's position, if
    /// a record contained it.
    #[inline(always)]
    pub fn take_requests(self: &Arc<Self>, end: &End) -> Option<Option<u64>> {
        let taken = self.rx.lock().take_small(end, self);
        let credit = match taken {
            Ok(small) => {
                acknowledge(end, small.flags());
                Some(small.credit())
            }
            Err((stop, report)) => {
                cold_path();
                self.take_more(end, stop, report)
            }
        };
        let open = credit.is_some_and(|credit| end.is_news(credit)) || end.needs_poll();
        open.then_some(credit)
    }

    #[inline(never)]
    fn take_more(self: &Arc<Self>, end: &End, stop: Stop, report: RxReport) -> Option<u64> {
        acknowledge(end, report.flags);
        match stop {
            Stop::Nothing => {}
            Stop::More => end.repoll(),
            Stop::Other => return self.progress_rx(Advance::Batch).1.or(report.credit),
            Stop::Failed => {
                let recv = self.rx.lock().failed();
                self.refuse(end, Fatal { recv, request: None, peer: Some(Status::RemoteResponder) }, false);
            }
        }
        report.credit
    }

    /// Fails the connection. If a request of the peer has failed (`fatal.peer`), this happens after the pending
    /// responses to its earlier requests; if `closing`, at the connection's close. Does not wait.
    fn refuse(self: &Arc<Self>, end: &End, fatal: Fatal, closing: bool) {
        let waits = fatal.peer.is_some() && self.base.sink.lock_tx().is_some_and(|mut tx| tx.refuse(fatal, closing));
        if waits { end.repoll() } else { self.fail(fatal) }
    }

    #[inline(always)]
    pub fn try_progress_tx(self: &Arc<Self>, end: &End, credit: Option<u64>) {
        // If another thread holds the lock, that thread polls again after unlocking.
        let Some(mut tx) = self.base.sink.try_lock_tx() else { return };
        let Some(done) = tx.progress_plain(end, credit) else { return self.advance_tx(tx, end, credit) };
        if tx.request_done(done) {
            cold_path();
            drop(tx);
            self.base.sink.drained();
        }
    }

    /// Handles arrived records. Returns whether more remain, and the peer's position, if a record contained it. If more
    /// remain, [`Advance::Batch`] schedules another poll.
    fn progress_rx(self: &Arc<Self>, advance: Advance) -> (bool, Option<u64>) {
        let Some(Attachment { end, .. }) = self.attachment.get() else { return (false, None) };
        let report = self.rx.lock().progress(end, self, advance);
        let report = match report {
            Ok(report) => report,
            Err((fatal, flags)) => {
                acknowledge(end, flags);
                let closing = advance == Advance::Drain;
                self.refuse(end, fatal, closing);
                return (closing, None);
            }
        };
        acknowledge(end, report.flags);
        if report.more && advance == Advance::Batch {
            // A later poll continues, so that other connections get their turn first.
            if report.responses { end.repoll() } else { end.go_on() }
        }
        (report.more, report.credit)
    }

    pub fn progress_tx(self: &Arc<Self>) {
        if let (Some(Attachment { end, .. }), Some(tx)) = (self.attachment.get(), self.base.sink.lock_tx()) {
            self.advance_tx(tx, end, None);
        }
    }

    #[inline(never)]
    fn advance_tx(self: &Arc<Self>, mut tx: TxGuard<'_, Shm>, end: &End, credit: Option<u64>) {
        let report = tx.progress(end, credit);
        let drained = report.done.is_some_and(|last| tx.request_done(last));
        drop(tx);
        if drained {
            self.base.sink.drained();
        }
        if let Some(fatal) = report.fatal {
            self.fail(fatal);
        }
    }

    fn fail(self: &Arc<Self>, fatal: Fatal) {
        if self.kill(true) {
            self.finish(CloseReason::Broken(fatal.peer), Report::Failed(fatal.recv, fatal.request));
        }
    }

    /// Closes this end, and reports all successful requests if `report` is set. Returns whether this end was open.
    /// Afterwards, neither this process nor new transfers of the peer access memory for the connection.
    pub fn kill(&self, report: bool) -> bool {
        let first = self.base.advance(Phase::Dead) < Phase::Dead;
        {
            let mut rx = self.rx.lock();
            rx.close(self.end());
            self.base.note_stall(false);
        }
        let mut drained = false;
        if let Some(mut tx) = self.base.sink.lock_tx() {
            let done = tx.close(self.end());
            drained = first && report && done.is_some_and(|last| tx.request_done(last));
        }
        if let Some(Attachment { end, id, link }) = self.attachment.get() {
            link.detach(*id, end.side);
        }
        if drained {
            self.base.sink.drained();
        }
        first
    }

    /// Returns the peer's transfers that are still in flight after this end has closed; `None` once there are none.
    fn pending(&self) -> Option<Pending> {
        if self.base.phase() == Phase::Still {
            return None;
        }
        let pending = self
            .attachment
            .get()
            .and_then(|Attachment { end, .. }| Pending::new(end.control(), std::iter::once(&end.peer_segment)));
        if pending.is_none() {
            self.base.advance(Phase::Still);
        }
        pending
    }

    pub fn await_still(&self) {
        if let (Some(pending), Some(Attachment { end, .. })) = (self.pending(), self.attachment.get()) {
            pending.wait(end.control());
            self.base.advance(Phase::Still);
        }
    }

    /// Reports the end of this closed connection to the peer and the endpoint. If the peer may still access the
    /// program's memory, the progress thread makes the report later. Does not wait.
    pub fn finish(self: &Arc<Self>, reason: CloseReason, report: Report) {
        match self.pending() {
            Some(pending) => self.finish_later(pending, reason, report),
            None => self.tell(reason, report),
        }
    }

    fn finish_later(self: &Arc<Self>, pending: Pending, reason: CloseReason, report: Report) {
        if let Some(context) = self.attachment.get().and_then(|attachment| attachment.link.context()) {
            context.command(Command::Finish(Ending { conn: self.clone(), pending, reason, report }));
        }
    }

    /// Closes the connection for the endpoint. Returns `true` if the peer can no longer access the program's memory.
    /// Otherwise the progress thread later reports the end to the endpoint, with `report` unless the connection was
    /// already closed. Does not wait.
    pub fn leave(self: &Arc<Self>, reason: CloseReason, report: ConnectionReport) -> bool {
        let first = self.kill(false);
        match self.pending() {
            Some(pending) if first => {
                self.finish_later(pending, reason, Report::Ended(report));
                false
            }
            Some(_) => false,
            None => {
                if first {
                    self.release(reason);
                }
                true
            }
        }
    }

    fn tell(&self, reason: CloseReason, report: Report) {
        self.base.advance(Phase::Still);
        self.release(reason);
        match report {
            Report::Failed(recv, request) => self.base.sink.failed(recv, request),
            Report::Ended(report) => self.base.sink.connection(report),
        }
    }

    fn release(&self, reason: CloseReason) {
        if let Some(Attachment { end, id, link }) = self.attachment.get() {
            link.clone().release(*id, end.side, reason);
        }
    }

    /// Handles the records that arrived before the peer disconnected or exited, then closes the connection.
    pub fn on_peer_close(self: &Arc<Self>, reason: CloseReason) {
        let mut failed = None;
        if self.base.is_up() {
            // Bounded, because a peer that violates the protocol can add records after a disconnect.
            for _ in 0..DRAIN_TURNS {
                if !self.progress_rx(Advance::Drain).0 {
                    break;
                }
            }
            let refusal = self.base.sink.lock_tx().and_then(|mut tx| tx.responses.take_refusal());
            failed = refusal.and_then(|fatal| fatal.recv);
            self.progress_tx();
        }
        if !self.kill(true) {
            return;
        }
        let report = match reason {
            CloseReason::Broken(Some(status)) => Report::Failed(failed, Some((FailedRequest::Oldest, status))),
            _ if failed.is_some() => Report::Failed(failed, None),
            CloseReason::Broken(None) => Report::Ended(ConnectionReport::Broken),
            CloseReason::Disconnected | CloseReason::Answer => Report::Ended(ConnectionReport::Disconnected),
        };
        self.finish(CloseReason::Answer, report);
    }
}

/// Notifies the peer of this side's position if `flags`, the flags of the handled records, request a notification.
#[inline]
fn acknowledge(end: &End, flags: u8) {
    // SYNC await: this side has already stored its position. If the peer's producer has loaded an older position, this
    // notification follows that load, and all that the producer noted under its lock.
    match Acknowledge::wanted(flags) {
        Acknowledge::No => {}
        Acknowledge::Completion => end.notify_peer(Notice::Completion),
        Acknowledge::Needed => end.notify_peer(Notice::Record),
    }
}
