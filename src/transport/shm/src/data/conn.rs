//! One end of a connection: the queue pair of this transport.
//!
//! The two directions have separate locks. That of [`Rx`] is here; [`Tx`] lies with the endpoint, behind the lock on
//! its requests ([`EndpointSink::lock_tx`]), and is out of reach once the endpoint's connection has ended. The order is
//! `rx`, then `tx`.
//!
//! # Work that waits
//! Work waits in five places: in the queue of requests (`tx`), as what the peer is owed (`responses`), as the record at
//! the head of a ring (`rx`), as an announced message whose bytes the peer is to be asked for, and as a connection that
//! ends while the peer has a transfer under way (`pending`, the progress thread). It is continued through one of three
//! words: the ready bit, which the peer or this process sets and the next round takes, whichever thread makes it; the
//! bits `Busy` of the end, which a round looks at while the connection is polled; and the turn left to the holder of
//! the lock on sending, who sets the ready bit. Work that waits for the peer's position has a record in the ring that
//! asks the peer to tell ([`crate::tx_ring`]). A copy that has used up its turn sets its own bit. A message that waits
//! for a receive is continued by the post of the receive.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

use dat_core::ep::TxGuard;
use dat_core::error::Result;
use dat_core::event::Status;
use dat_core::probes::Stall;
use dat_core::transport::{ConnectionReport, EndpointSink, FailedRequest, Gauge, RecvDone};
use host::cold_path;
use host::lock::Mutex;
use host::memory;
use once_cell::sync::OnceCell;

use crate::Shm;
use crate::link::Link;
use crate::peer_segment::{End, Open};
use crate::pending::Pending;
use crate::process_context::Command;
use crate::record::Acknowledge;
use crate::rx::{AckInfo, Advance, Fatal, Rx, Stop};
use crate::sleep::News;
use crate::srq::SharedQueue;
use crate::wire::{CloseReason, ConnId, EndInfo, Message};

mod deliver;
mod ending;

pub use self::ending::{Ending, Report};

/// Turns that the receiving direction gets when the peer has disconnected.
const DRAIN_TURNS: u32 = 64;

/// Records that polls find by ready bits before the connection is polled.
const WARM: u32 = 4;

/// In the place of their number while callers poll the connection.
const HOT: u32 = u32::MAX;

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
#[repr(u8)]
pub enum ConnPhase {
    /// Not yet tied to a link.
    Idle,
    /// A connect or an accept is under way.
    Pending,
    /// Data can flow.
    Up,
    /// Over.
    Dead,
    /// Over, as are the transfers that the peer had under way at its end.
    Still,
}

impl ConnPhase {
    fn from_u8(value: u8) -> Self {
        match value {
            0 => ConnPhase::Idle,
            1 => ConnPhase::Pending,
            2 => ConnPhase::Up,
            3 => ConnPhase::Dead,
            _ => ConnPhase::Still,
        }
    }
}

/// A connection's place on its link, and the link that keeps it.
struct Attachment {
    end: End,
    id: ConnId,
    link: Arc<Link>,
}

/// One end of a connection.
pub struct Conn {
    sink: EndpointSink<Shm>,
    info: EndInfo,
    /// The program of the other end takes extended operations.
    to_extended: AtomicBool,
    /// The number of the endpoint of the other end, if that is for datagrams; otherwise 0.
    to_datagrams: AtomicU32,
    phase: AtomicU8,
    attachment: OnceCell<Attachment>,
    /// The queue of its receives, if that is a shared one.
    srq: Option<Arc<SharedQueue>>,
    /// The queue of its receives, if it carries datagrams.
    datagrams: Option<Arc<SharedQueue>>,
    /// A message waits for a receive of the endpoint's own queue.
    rnr: AtomicBool,
    /// Whether a message waits for a receive of any queue, and how often one did. Changed under the lock of `rx`.
    stalls: Gauge,
    /// It stands in line at `srq`.
    pub rnr_queued: AtomicBool,
    rx: Mutex<Rx>,
    /// Records that were found by a ready bit while callers polled, up to [`WARM`], or [`HOT`].
    heat: AtomicU32,
}

impl Conn {
    /// A queue pair that is not connected; `info` is what its peer will know of it.
    pub fn new(sink: EndpointSink<Shm>, info: EndInfo, srq: Option<Arc<SharedQueue>>) -> Result<Arc<Self>> {
        let (datagrams, srq) = if info.datagrams != 0 { (srq, None) } else { (None, srq) };
        if let Some(srq) = &srq {
            srq.expect()?;
        }
        Ok(memory::arc(Conn {
            sink,
            info,
            to_extended: AtomicBool::new(false),
            to_datagrams: AtomicU32::new(0),
            phase: AtomicU8::new(ConnPhase::Idle as u8),
            attachment: OnceCell::new(),
            srq,
            datagrams,
            rnr: AtomicBool::new(false),
            stalls: Gauge::default(),
            rnr_queued: AtomicBool::new(false),
            rx: Mutex::new(Rx::default()),
            heat: AtomicU32::new(0),
        })?)
    }

    /// What the peer knows of this end.
    pub fn info(&self) -> EndInfo {
        self.info
    }

    /// Its end in the memory of its link, once it has one.
    #[inline]
    pub fn end(&self) -> Option<&End> {
        self.attachment.get().map(|attachment| &attachment.end)
    }

    /// Counts that a poll has found something by a ready bit; true if that was often enough for the connection to be
    /// polled. It is not polled yet.
    pub fn warm(&self) -> bool {
        let heat = (self.heat.load(Ordering::Relaxed) + 1).min(WARM);
        self.heat.store(heat, Ordering::Relaxed);
        heat == WARM
    }

    /// True if it is among those that callers poll.
    pub fn is_hot(&self) -> bool {
        self.heat.load(Ordering::Relaxed) == HOT
    }

    /// Sets the connection's ready bit if it has something to do. Its polling has ended before, as the peer can see.
    pub fn poll_if_pending(&self) {
        let Some(end) = self.end() else { return };
        if !self.is_up() {
            return;
        }
        // SYNC polled: the peer may have answered a record, telling nobody, before the thread that put the record there
        // notes what it waits for; or a record may have come before the thread that made room notes how far it is. Both
        // notes are made under these locks.
        let rx = self.rx.lock();
        let Some(tx) = self.sink.try_lock_tx() else { return };
        let news = end.has_news();
        drop(tx);
        drop(rx);
        if news {
            end.repoll();
        }
    }

    /// Tells the peer that this process polls the connection; false if that is over, or has not begun.
    pub fn begin_polling(&self) -> bool {
        // A thread that closes the connection does so under the same lock, and finds this set or keeps it from being polled.
        self.heat.store(HOT, Ordering::Relaxed);
        let begun = self.is_up() && self.end().is_some_and(|end| self.rx.lock().begin_polling(end));
        if !begun {
            self.heat.store(WARM, Ordering::Relaxed);
        }
        begun
    }

    /// Tells the peer that this process no longer polls the connection. The caller calls
    /// [`ControlRegion::fence_peers`](crate::home::Home::fence_peers) and looks once more.
    pub fn end_polling(&self) {
        self.heat.store(0, Ordering::Relaxed);
        if let Some(end) = self.end() {
            end.set_polled(false);
        }
    }

    /// How far it has come.
    pub fn phase(&self) -> ConnPhase {
        ConnPhase::from_u8(self.phase.load(Ordering::Acquire))
    }

    /// Goes from one phase to another, if it is still in the first.
    pub fn shift(&self, from: ConnPhase, to: ConnPhase) -> bool {
        self.phase.compare_exchange(from as u8, to as u8, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Ties the connection to its place and opens its rings; false if there is no memory for them, or it was tied
    /// before.
    pub fn attachment(&self, link: Arc<Link>, id: ConnId, end: End) -> bool {
        let (Some(producers), Some(consumers)) =
            (end.peer_segment.producers(end.index, end.side), end.peer_segment.consumers(end.index, end.side))
        else {
            return false;
        };
        if self.attachment.set(Attachment { end, id, link }).is_err() {
            return false;
        }
        if let Some(mut tx) = self.sink.lock_tx() {
            tx.open(producers);
        }
        self.rx.lock().open(consumers);
        true
    }

    /// Notes what the other end says of itself.
    pub fn set_peer(&self, info: &EndInfo) {
        self.note_peer(info);
        if let Some(Attachment { end, .. }) = self.attachment.get() {
            end.theirs.set(info.zone, info.port);
        }
    }

    /// Notes what the other end says of itself. Called before the endpoint learns that the connection is established, under a
    /// lock that its posts take.
    pub fn note_peer(&self, info: &EndInfo) {
        self.to_extended.store(info.extended, Ordering::Relaxed);
        self.to_datagrams.store(info.datagrams, Ordering::Relaxed);
    }

    /// The number of the other end's endpoint, if that is for datagrams.
    pub fn datagrams_of_peer(&self) -> Option<u32> {
        Some(self.to_datagrams.load(Ordering::Relaxed)).filter(|number| *number != 0)
    }

    /// Whether the program of the other end takes extended operations.
    pub fn takes_extended(&self) -> bool {
        self.to_extended.load(Ordering::Relaxed)
    }

    /// Tells the endpoint what befell the connection. Called without a lock.
    pub fn report(&self, report: ConnectionReport) {
        self.sink.connection(report);
    }

    /// True if a message waits for a receive of the endpoint's own queue.
    #[inline]
    pub fn awaits_recv(&self) -> bool {
        self.rnr.load(Ordering::SeqCst)
    }

    /// Continues a message that waited for a receive of the own queue.
    pub fn recv_kick(self: &Arc<Self>) {
        if self.rnr.load(Ordering::SeqCst) && self.rnr.swap(false, Ordering::SeqCst) {
            self.resume_rx();
        }
    }

    /// Continues a message that waited for a receive.
    pub fn resume_rx(self: &Arc<Self>) {
        let rx = self.rx.lock();
        self.note_stall(false);
        drop(rx);
        self.progress_rx(Advance::Batch);
    }

    /// Notes whether a message waits for a receive. Called with `rx` locked.
    fn note_stall(&self, waits: bool) {
        self.stalls.set(self.sink.ep(), Stall::Message, waits);
    }

    /// How often a message had to wait for a receive.
    pub fn stalls(&self) -> u64 {
        self.stalls.stalls()
    }

    /// From now on the program waits for the last request.
    pub fn drain(&self) {
        if let (Some(Attachment { end, .. }), Some(mut tx)) = (self.attachment.get(), self.sink.lock_tx()) {
            tx.drain(end);
        }
    }

    /// Does all that can be done: arrived records, acknowledged requests, requests that waited for room. Called with
    /// no lock of the connection held.
    pub fn progress(self: &Arc<Self>) {
        let (_, credit) = self.progress_rx(Advance::Batch);
        let Some(Attachment { end, link, .. }) = self.attachment.get() else { return };
        if end.peer_segment.take_untold() {
            link.send(Message::Reads(false));
        }
        self.try_progress_tx(end, credit);
    }

    /// Handles requests of the peer that have arrived. Gives what they said of the peer's position, if the sending direction
    /// has to know, or has something else to do. Answers wait for another look.
    #[inline(always)]
    pub fn take_requests(self: &Arc<Self>, end: &End) -> Option<Option<u64>> {
        let taken = self.rx.lock().take_small(end, self);
        let credit = match taken {
            Ok(small) => {
                acknowledge(end, small.flags());
                Some(small.credit())
            }
            Err((stop, told)) => {
                cold_path();
                self.take_more(end, stop, told)
            }
        };
        let open = credit.is_some_and(|credit| end.is_news(credit)) || end.open() != Open::Nothing;
        open.then_some(credit)
    }

    /// Goes on where [`Rx::take_small`] has stopped. Gives what all records said of the peer's position.
    #[inline(never)]
    fn take_more(self: &Arc<Self>, end: &End, stop: Stop, told: AckInfo) -> Option<u64> {
        acknowledge(end, told.flags);
        match stop {
            Stop::Nothing => {}
            Stop::More => end.repoll(),
            Stop::Other => return self.progress_rx(Advance::Batch).1.or(told.credit),
            Stop::Broken => self.fail(Fatal::default()),
            Stop::TooLong => self.fail_recv(Status::LocalLength),
            Stop::NoRegion => self.fail_recv(Status::LocalProtection),
        }
        told.credit
    }

    /// The receive that the last message took could not have it: the connection fails.
    fn fail_recv(self: &Arc<Self>, status: Status) {
        let failed = self.rx.lock().failed();
        let recv = failed.map(|id| RecvDone { id, status, len: 0, solicited: false });
        self.fail(Fatal { recv, request: None, peer: Some(Status::RemoteResponder) });
    }

    /// Handles what the peer has consumed, as a record of the peer says (`credit`) or as it has published.
    #[inline(always)]
    pub fn try_progress_tx(self: &Arc<Self>, end: &End, credit: Option<u64>) {
        // If another thread is in the middle of a post, which may be a long one, it takes this turn over.
        let Some(mut tx) = self.sink.try_lock_tx() else { return };
        let Some(done) = tx.progress_plain(end, credit) else { return self.advance_tx(tx, end, credit) };
        if tx.request_done(done) {
            cold_path();
            drop(tx);
            self.sink.drained();
        }
    }

    /// Handles arrived records; true if more are left, at which this process looks again soon. Also gives what they said
    /// of the peer's position.
    fn progress_rx(self: &Arc<Self>, advance: Advance) -> (bool, Option<u64>) {
        let Some(Attachment { end, .. }) = self.attachment.get() else { return (false, None) };
        let report = self.rx.lock().progress(end, self, advance);
        let report = match report {
            Ok(report) => report,
            Err(fatal) => {
                self.fail(fatal);
                return (false, None);
            }
        };
        acknowledge(end, report.flags);
        if report.more && advance == Advance::Batch {
            // Other connections come first.
            if report.responses { end.repoll() } else { end.go_on() }
        }
        (report.more, report.credit)
    }

    /// Reports acknowledged requests and goes on with those that wait.
    pub fn progress_tx(self: &Arc<Self>) {
        if let (Some(Attachment { end, .. }), Some(tx)) = (self.attachment.get(), self.sink.lock_tx()) {
            self.advance_tx(tx, end, None);
        }
    }

    #[inline(never)]
    fn advance_tx(self: &Arc<Self>, mut tx: TxGuard<'_, Shm>, end: &End, credit: Option<u64>) {
        let report = tx.progress(end, credit);
        let drained = report.done.is_some_and(|last| tx.request_done(last));
        drop(tx);
        if drained {
            self.sink.drained();
        }
        if let Some(fatal) = report.fatal {
            self.fail(fatal);
        }
    }

    /// Fails the connection from this end.
    fn fail(self: &Arc<Self>, fatal: Fatal) {
        if self.kill(true) {
            self.finish(CloseReason::Broken(fatal.peer), Report::Failed(fatal.recv, fatal.request));
        }
    }

    /// Closes the connection at this end; false if that was done before. On return this process touches no memory on
    /// behalf of the connection, whichever thread closed it, nor does a transfer of the peer that begins later. All
    /// successful requests are reported if `report` is set.
    pub fn kill(&self, report: bool) -> bool {
        let first = self.phase.fetch_max(ConnPhase::Dead as u8, Ordering::AcqRel) < ConnPhase::Dead as u8;
        {
            let mut rx = self.rx.lock();
            rx.close(self.end());
            self.note_stall(false);
        }
        let mut drained = false;
        if let Some(mut tx) = self.sink.lock_tx() {
            let done = tx.close(self.end());
            drained = first && report && done.is_some_and(|last| tx.request_done(last));
        }
        if let Some(Attachment { end, id, link }) = self.attachment.get() {
            link.detach(*id, end.side);
        }
        if drained {
            self.sink.drained();
        }
        first
    }

    /// The transfers of the peer that were under way when the connection was closed, and may still be.
    fn pending(&self) -> Option<Pending> {
        if self.phase() == ConnPhase::Still {
            return None;
        }
        let pending = self
            .attachment
            .get()
            .and_then(|Attachment { end, .. }| Pending::new(end.control(), std::iter::once(&end.peer_segment)));
        if pending.is_none() {
            self.phase.store(ConnPhase::Still as u8, Ordering::Release);
        }
        pending
    }

    /// Waits until no transfer of the peer touches memory on behalf of this connection, which was closed before.
    pub fn await_still(&self) {
        if let (Some(pending), Some(Attachment { end, .. })) = (self.pending(), self.attachment.get()) {
            pending.wait(end.control());
            self.phase.store(ConnPhase::Still as u8, Ordering::Release);
        }
    }

    /// Reports the end of this connection, which the caller has closed, to the peer and to the endpoint. That is at once, or,
    /// while the peer may still touch the memory of the program, later and by the progress thread. Does not wait.
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

    /// Ends the connection for the endpoint. If this returns true it is over, and nothing is reported. Otherwise the peer may
    /// still touch the memory of the program, and the endpoint gets `report` as soon as it does not. Does not wait.
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
        self.phase.store(ConnPhase::Still as u8, Ordering::Release);
        self.release(reason);
        match report {
            Report::Failed(recv, request) => {
                self.sink.failed(recv, request);
            }
            Report::Ended(report) => self.sink.connection(report),
        }
    }

    /// Tells the peer that this end has disconnected.
    fn release(&self, reason: CloseReason) {
        if let Some(Attachment { end, id, link }) = self.attachment.get() {
            link.clone().release(*id, end.side, reason);
        }
    }

    /// The peer has disconnected, or is gone: what arrived before is delivered, then the connection is over.
    pub fn on_peer_close(self: &Arc<Self>, reason: CloseReason) {
        if self.is_up() {
            // A peer that has disconnected adds nothing, so this ends; one that does not keep to the rules is not listened
            // to for ever.
            for _ in 0..DRAIN_TURNS {
                if !self.progress_rx(Advance::Drain).0 {
                    break;
                }
            }
            self.progress_tx();
        }
        if !self.kill(true) {
            return;
        }
        let report = match reason {
            CloseReason::Broken(Some(status)) => Report::Failed(None, Some((FailedRequest::Oldest, status))),
            CloseReason::Broken(None) => Report::Ended(ConnectionReport::Broken),
            CloseReason::Disconnected | CloseReason::Answer => Report::Ended(ConnectionReport::Disconnected),
        };
        self.finish(CloseReason::Answer, report);
    }
}

/// Gives the peer notice of how far this side got with records of these flags, if it wants to know.
#[inline]
fn acknowledge(end: &End, flags: u8) {
    // SYNC await: this side's position was stored before. So the telling comes behind the look of a producer that did
    // not find the position, and behind what that producer noted first under its lock.
    match Acknowledge::wanted(flags) {
        Acknowledge::No => {}
        Acknowledge::Completion => end.tell_peer(News::Completion),
        Acknowledge::Needed => end.tell_peer(News::Record),
    }
}
