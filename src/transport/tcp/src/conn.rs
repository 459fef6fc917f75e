//! One end of a connection: the queue pair of this transport.
//!
//! Each direction has a lock: the receiving direction `Conn::receiving`, and the sending direction
//! ([`Tx`](crate::tx::Tx)) core's lock on the endpoint's requests. The lock order is `receiving`, requests, stream. A
//! thread that ends the connection detaches the [`Stream`] under both locks, so no other thread uses memory of the
//! program afterwards.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dat_core::error;
use dat_core::event::Status;
use dat_core::probes::Stall;
use dat_core::transport::{Checked, ConnectionReport, FailedRequest, Gauge, QpInit, QpSizes, ZoneId};
use dat_software::datagrams::Receiver;
use dat_software::qp::{Phase, QpBase};
use dat_software::records::{Executed, Fatal, Wire};
use dat_software::regions::{AccessContext, RegionTable, next_port};
use dat_software::rnr_line::RnrWaiter;
use host::lock::Mutex;
use host::memory::{self, ArcRoom};

use crate::Tcp;
use crate::device::Device;
use crate::hello::Terms;
use crate::record::End;
use crate::requests::Link;
use crate::rx::{ConnEnd, Rx};
use crate::socket::Socket;
use crate::stream::{NotSent, Stream};
use crate::tx::Tx;

/// Time after which a poll stops reading a connection, and turns to the others.
const TURN: Duration = Duration::from_micros(500);

pub struct Conn {
    pub base: QpBase<Tcp>,
    pub device: Arc<Device>,
    /// Unique number within the process.
    pub number: u64,
    /// Number of the protection zone.
    zone: u32,
    /// Local port, once the kernel has selected it.
    pub port: AtomicU16,
    pub terms: Terms,
    /// Set while the adapter's list of noted connections contains this connection.
    pub noted: AtomicBool,
    /// Set by a post that waits for later posts ([`Leave::WithLater`](crate::tx::Leave::WithLater)), until a flush.
    pub streams: AtomicBool,
    /// Numbers of the connections that last received after this one: after it received only reports, and after other
    /// records. Initially the number of this connection.
    pub next: [AtomicU64; 2],
    pub request_stalls: Gauge,
    receiving: Mutex<Receiving>,
}

#[derive(Default)]
struct Receiving {
    stream: Option<Arc<Stream>>,
    rx: Rx,
}

#[derive(Clone, Copy)]
struct ConnLink<'a> {
    conn: &'a Arc<Conn>,
    stream: &'a Stream,
}

impl Wire for ConnLink<'_> {
    type Transport = Tcp;
    type Revocation = ();

    fn qp(&self) -> &Arc<Conn> {
        self.conn
    }

    fn regions(&self) -> &RegionTable {
        &self.stream.shared.regions
    }

    fn own(&self) -> &AccessContext {
        &self.stream.own
    }

    fn revoke(&self, key: u32, _: &mut ()) -> Executed {
        let revoked = self.stream.shared.regions.invalidate(key, &self.stream.own).is_some();
        if revoked { Ok(()) } else { Err(Fatal::of_peer(Status::RemoteAccess).into()) }
    }
}

impl Link for ConnLink<'_> {
    fn stream(&self) -> &Stream {
        self.stream
    }

    fn serves_extended(self) -> bool {
        self.conn.terms.extended
    }

    fn poll_soon(self) {
        self.conn.poll_soon();
    }

    fn heard(self, what: impl FnOnce(&mut Tx) -> Result<(), Fatal>) -> Result<(), Fatal> {
        self.conn.heard(what)
    }

    fn response(self, len: u64) -> Option<(Checked, u64, bool)> {
        self.conn.base.sink.lock_tx()?.response(len)
    }
}

impl RnrWaiter for Conn {
    fn rnr(&self) -> &AtomicBool {
        &self.base.rnr
    }

    fn resume(self: &Arc<Self>) {
        let receiving = self.receiving.lock();
        self.base.note_stall(false);
        drop(receiving);
        // Flushes now, because the program might not poll.
        self.flush();
    }
}

/// Work for a thread that holds no lock.
pub enum After {
    /// The connection must be closed, and its end reported.
    ConnEnd(Arc<Conn>, ConnEnd),
    /// The last request has completed, for which a disconnect or the owner of an internal connection has waited.
    Drained(Arc<Conn>),
    /// The peer uses a connection that was accepted here, which must be reported as established before all other work.
    Used(Arc<Conn>),
    /// An attempt has failed, and must be reported.
    GivenUp(Arc<Conn>, ConnectionReport),
}

impl Conn {
    pub fn new(device: &Arc<Device>, init: QpInit<'_, Tcp>, receiver: Receiver<Tcp>) -> error::Result<Arc<Self>> {
        let QpInit { sink, zone, extended, sizes: QpSizes { reads_in, reads_out, .. }, .. } = init;
        let number = next_port();
        Ok(memory::arc(Conn {
            number,
            device: device.clone(),
            zone: zone.id(),
            port: AtomicU16::new(0),
            terms: Terms { extended, datagrams: receiver.number(), reads_in, reads_out },
            base: QpBase::new(sink, receiver),
            noted: AtomicBool::new(false),
            streams: AtomicBool::new(false),
            next: [AtomicU64::new(number), AtomicU64::new(number)],
            request_stalls: Gauge::default(),
            receiving: Mutex::default(),
        })?)
    }

    /// Creates the stream of this connection, in memory from [`Stream::room`].
    pub fn new_stream(&self, room: (ArcRoom<Stream>, Vec<u8>), socket: Socket) -> Arc<Stream> {
        Stream::new(room, self.device.shared.clone(), (self.number, self.zone), socket)
    }

    /// Attaches a stream to both directions, and limits outstanding reads to what its peer serves, but at least to one.
    /// Called before the connection is reported as established. Returns `false` if the connection has ended.
    pub fn attach(self: &Arc<Self>, stream: &Arc<Stream>, theirs: &Terms) -> bool {
        let mut receiving = self.receiving.lock();
        // An ending thread changes the phase before it detaches the stream under this lock.
        if self.base.phase() == Phase::Dead {
            return false;
        }
        receiving.stream = Some(stream.clone());
        self.base.note_peer(theirs.extended, theirs.datagrams);
        if let Some(mut tx) = self.base.sink.lock_tx() {
            tx.stream = Some(stream.clone());
            tx.max_reading = tx.max_reading.min(usize::from(theirs.reads_in.max(1)));
        }
        true
    }

    pub fn stream(&self) -> Option<Arc<Stream>> {
        self.receiving.lock().stream.clone()
    }

    /// Reports the connection as established, with the acceptor's private data. Called without a lock.
    pub fn established(self: &Arc<Self>, private_data: Vec<u8>) {
        let phase = self.base.phase();
        if !matches!(phase, Phase::Connecting | Phase::Used) {
            return;
        }
        self.base.sink.connection(ConnectionReport::Established(private_data));
        // Polls read the socket only in the phase `Up`, so the connection's end is reported after its establishment.
        if self.base.shift(phase, Phase::Up) && phase == Phase::Used {
            self.device.handshakes.remove(self.number);
        }
    }

    /// Ends the connection in a thread without locks.
    pub fn end_later(self: &Arc<Self>, over: ConnEnd) {
        self.device.later(After::ConnEnd(self.clone(), over));
    }

    /// Handles data of the socket. Returns whether there was more than reports of handled bytes; `None` without data.
    pub fn receive(self: &Arc<Self>, buffer: &mut [u8]) -> Option<bool> {
        match self.base.phase() {
            Phase::Up => {}
            Phase::Accepting => return self.first_record().then_some(true),
            _ => return None,
        }
        let (mut found, mut began) = (false, None);
        let receiving = &mut *self.receiving.lock();
        let (Some(stream), rx) = (&receiving.stream, &mut receiving.rx) else { return None };
        rx.begin_turn();
        loop {
            match rx.receive(ConnLink { conn: self, stream }, buffer) {
                Ok(None) => break,
                Ok(Some(more)) => {
                    found = true;
                    if !more || began.get_or_insert_with(Instant::now).elapsed() >= TURN {
                        break;
                    }
                }
                Err(over) => {
                    self.end_later(over);
                    return Some(true);
                }
            }
        }
        if !found {
            return None;
        }
        // Acknowledges now only if the peer may soon wait. Otherwise, the next poll without data does, or the next
        // requests of a stream.
        if !stream.acknowledge(true) {
            self.device.note(self, !self.streams.load(Ordering::Relaxed));
        }
        Some(rx.had_records)
    }

    /// Checks whether the peer has used or left an accepted connection. If so, defers the report.
    pub fn first_record(self: &Arc<Self>) -> bool {
        let found = match self.stream().map(|stream| stream.socket.peek()) {
            Some(Ok(Some(true))) => After::Used(self.clone()),
            Some(Ok(Some(false)) | Err(_)) => After::ConnEnd(self.clone(), ConnEnd::Left(End::Disconnected)),
            Some(Ok(None)) | None => return false,
        };
        // Counted before the phase changes, so that a thread that sees the phase waits for the report.
        let begins = usize::from(matches!(found, After::Used(_)));
        self.device.beginning.fetch_add(begins, Ordering::AcqRel);
        if !self.base.shift(Phase::Accepting, Phase::Used) {
            self.device.beginning.fetch_sub(begins, Ordering::AcqRel);
            return false;
        }
        self.device.defer(found);
        true
    }

    /// Notes the connection, and wakes a parked progress thread, because all program threads may be asleep.
    pub fn poll_soon(self: &Arc<Self>) {
        self.device.note(self, true);
        self.device.wake_if(&self.device.parked);
    }

    /// Resumes stored requests of the peer. Sends gathered requests, requests that waited, and acknowledgements.
    pub fn flush(self: &Arc<Self>) {
        self.streams.store(false, Ordering::Relaxed);
        self.noted.store(false, Ordering::Release);
        // Not only in the phase `Up`, because the program may post earlier.
        if self.base.phase() == Phase::Dead {
            return;
        }
        let receiving = &mut *self.receiving.lock();
        let (Some(stream), rx) = (&receiving.stream, &mut receiving.rx) else { return };
        if let Err(over) = rx.resume(ConnLink { conn: self, stream }) {
            return self.end_later(over);
        }
        let _ = self.heard(|tx| {
            tx.stop_gathering();
            Ok(())
        });
        // If the socket has no room, the acknowledgement follows when it reports room.
        let _ = stream.acknowledge(false);
    }

    /// Handles a report that the socket has room: resumes sending.
    pub fn writable(self: &Arc<Self>) {
        let Some(stream) = self.stream() else { return };
        stream.on_room(|pushed| match pushed {
            Err(NotSent::Lost(fatal)) => self.end_later(fatal.into()),
            _ => self.flush(),
        });
    }

    /// Sends waiting requests. The caller has locked the sending direction.
    pub fn pump_locked(self: &Arc<Self>, tx: &mut Tx) {
        if let Err(fatal) = tx.pump() {
            self.end_later(fatal.into());
        }
        self.request_stalls.set(self.base.sink.ep(), Stall::Requests, tx.stalls());
    }

    /// Changes the sending direction with `what`, then sends and completes the requests that this permits. Gathered
    /// requests stay unsent.
    pub fn heard(self: &Arc<Self>, what: impl FnOnce(&mut Tx) -> Result<(), Fatal>) -> Result<(), Fatal> {
        let Some(mut tx) = self.base.sink.lock_tx() else { return Ok(()) };
        let heard = what(&mut tx);
        if heard.is_ok() && tx.is_blocked() {
            self.pump_locked(&mut tx);
        }
        if tx.done().is_some_and(|done| tx.request_done(done)) {
            self.device.later(After::Drained(self.clone()));
        }
        heard
    }

    /// Ends the connection, and sends `end` to the peer, if given. Afterwards, no memory of the program is used. With
    /// `report`, first reports all completed requests. Returns whether this call has ended the connection.
    pub fn close(&self, report: bool, end: Option<End>) -> bool {
        let before = self.base.advance(Phase::Dead);
        let first = before < Phase::Dead;
        let mut drained = false;
        // Both directions lose the stream, without which no later call uses memory of the program.
        let left = {
            let mut receiving = self.receiving.lock();
            self.base.note_stall(false);
            let stream = mem::take(&mut *receiving).stream;
            if let Some(mut tx) = self.base.sink.lock_tx() {
                tx.stream = None;
                let done = tx.done();
                self.request_stalls.set(self.base.sink.ep(), Stall::Requests, false);
                drained = first && report && done.is_some_and(|last| tx.request_done(last));
            }
            stream.filter(|stream| stream.leave(end.filter(|_| before >= Phase::Accepting)))
        };
        self.device.forget(self.number);
        if let Some(stream) = left {
            self.device.handshakes.linger(self.number, stream);
            self.device.wakeup.wake();
        }
        if drained {
            self.base.sink.drained();
        }
        first
    }

    /// Ends the connection after a local failure. Called without a lock.
    pub fn fail(&self, fatal: Fatal) {
        if self.close(true, Some(End::Broken(fatal.peer))) {
            // Reports a failed request only if it is the oldest: core would complete requests before the failed one
            // with success.
            let oldest = self.base.sink.lock_tx().and_then(|tx| tx.oldest()).map(FailedRequest::Number);
            self.base.sink.failed(fatal.recv, fatal.request.filter(|(which, _)| Some(*which) == oldest));
        }
    }

    /// Ends the connection after the peer's end. Called without a lock.
    pub fn peer_left(&self, end: End) {
        let accepting = matches!(self.base.phase(), Phase::Accepting | Phase::Used);
        if !self.close(true, None) {
            return;
        }
        match end {
            _ if accepting => self.base.sink.connection(ConnectionReport::AcceptFailed),
            End::Disconnected => self.base.sink.connection(ConnectionReport::Disconnected),
            End::Broken(None) => self.base.sink.connection(ConnectionReport::Broken),
            End::Broken(Some(status)) => self.base.sink.failed(None, Some((FailedRequest::Oldest, status))),
        }
    }

    /// Ends a connection attempt with a report. Called without a lock.
    pub fn give_up(&self, report: ConnectionReport) {
        if self.close(false, None) {
            self.base.sink.connection(report);
        }
    }
}
