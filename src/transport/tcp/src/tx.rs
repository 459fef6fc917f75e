//! The sending direction of a connection.
//!
//! Requests are sent in posting order, as one or several records each. Records with short payloads are gathered into
//! one system call. A request waits for the peer's window, for room in the socket, for a fence, or for the limit of
//! outstanding reads. It completes when the peer has handled its last record and any response has arrived. Core gets
//! completions in order, by number ([`SeqNo`]).

use std::collections::VecDeque;
use std::sync::Arc;

use arrayvec::ArrayVec;
use dat_core::Handle;
use dat_core::error::Result;
use dat_core::event::Status;
use dat_core::probes::Stall;
use dat_core::transport::datagrams::Datagram;
use dat_core::transport::{Checked, Gauge, Operation, QpSizes, RemoteSegment, Request, RequestId, Segment, SeqNo};
use dat_memory::copy;
use dat_memory::records::Fatal;
use dat_memory::wire;
use host::memory::Room;

use crate::record::{self, HEADER, MAX_HEAD, MAX_PAYLOAD, MIN_WINDOW, kind};
use crate::stream::{Body, NotSent, Stream};

/// Maximum bytes of gathered records.
const BATCH: usize = 4096;
/// Maximum payload that is copied into a batch.
const SHORT: u64 = 512;
/// Maximum number of requests that a post defers while earlier ones are outstanding.
const GATHERED: usize = 16;

/// A request that is not completely sent.
struct Waiting {
    id: RequestId,
    operation: Operation,
    /// Number of its segments, the next ones in the segment queue.
    count: usize,
    len: u64,
    fence: bool,
    /// Set for a bind, which needs no record.
    local: bool,
}

/// A request that was sent, but is not complete.
struct TxInFlight {
    id: RequestId,
    /// Value of [`Tx::sent`] after its last record.
    end: u64,
}

/// A request whose response has not arrived completely.
struct PendingRead {
    id: RequestId,
    count: usize,
    len: u64,
    offset: u64,
}

/// The reason to stop sending: a failure, or `None` to wait for the peer or for room in the socket.
type Stop = Option<Fatal>;

/// The next record of a request.
struct Record {
    kind: u8,
    solicited: bool,
    head: Head,
    /// Bytes of its payload.
    part: u64,
    /// Set for the last record of the request.
    is_last: bool,
}

type Head = ArrayVec<u8, MAX_HEAD>;

/// The sending direction. The default is unconnected.
#[derive(Default)]
pub struct Tx {
    stream: Option<Arc<Stream>>,
    /// Bytes of requests: sent, and handled by the peer.
    sent: u64,
    handled: u64,
    window: u32,
    waiting: VecDeque<Waiting>,
    /// Set once a record of the oldest request was sent; `offset` counts its sent payload.
    begun: bool,
    offset: u64,
    segments: VecDeque<Segment>,
    in_flight: VecDeque<TxInFlight>,
    pending_reads: VecDeque<PendingRead>,
    places: VecDeque<Segment>,
    /// Maximum number of outstanding requests with responses.
    reads: usize,
    stalls: Gauge,
    ep: Option<Handle>,
}

impl Waiting {
    /// Returns kind, solicited flag and head of the next record, after `offset` bytes of payload.
    fn next(&self, begun: bool, offset: u64) -> (u8, bool, Head) {
        let head = |bytes: &[u8]| Head::try_from(bytes).unwrap_or_default();
        match &self.operation {
            Operation::SendInvalidate { key, .. } if !begun => (kind::INVALIDATE, false, head(&key.to_le_bytes())),
            Operation::Send { solicited } | Operation::SendInvalidate { solicited, .. } => {
                (kind::MESSAGE, *solicited, Head::new())
            }
            Operation::WriteImmediate { value, solicited, .. } if offset == self.len => {
                (kind::IMMEDIATE, *solicited, head(&value.to_le_bytes()))
            }
            Operation::Write(to) | Operation::WriteImmediate { to, .. } if !begun => {
                (kind::WRITE, false, head(&wire::target(&RemoteSegment { len: self.len, ..*to })))
            }
            Operation::Write(_) | Operation::WriteImmediate { .. } => (kind::WRITE_PART, false, Head::new()),
            Operation::Read(from) => (kind::READ, false, head(&wire::target(from))),
            Operation::Atomic { addr, key, change, .. } => {
                (kind::ATOMIC, false, head(&wire::atomic(*addr, *key, *change)))
            }
        }
    }
}

impl Tx {
    pub fn new(ep: Handle, sizes: &QpSizes) -> Result<Tx> {
        let mut tx =
            Tx { ep: Some(ep), reads: usize::from(sizes.reads_out.max(1)), window: MIN_WINDOW, ..Tx::default() };
        tx.waiting.room(sizes.requests)?;
        tx.segments.room(sizes.requests)?;
        tx.in_flight.room(sizes.requests)?;
        tx.pending_reads.room(tx.reads.min(sizes.requests))?;
        tx.places.room(tx.reads.min(sizes.requests))?;
        Ok(tx)
    }

    pub fn open(&mut self, stream: Arc<Stream>) {
        self.stream = Some(stream);
    }

    pub fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    /// Limits outstanding reads to the number that the peer serves, but at least to one.
    pub fn limit_reads(&mut self, reads: u8) {
        self.reads = self.reads.min(usize::from(reads.max(1)));
    }

    /// Detaches the stream. Returns the [`SeqNo`] up to which requests are complete.
    pub fn close(&mut self) -> Option<SeqNo> {
        let done = self.done();
        self.stream = None;
        self.note_stall();
        done
    }

    pub fn stalls(&self) -> u64 {
        self.stalls.stalls()
    }

    fn note_stall(&self) {
        if let Some(ep) = self.ep {
            self.stalls.set(ep, Stall::Requests, self.stream.is_some() && !self.waiting.is_empty());
        }
    }

    /// Queues a request. Fails without memory.
    pub fn post(&mut self, request: &Request<'_>) -> Result<()> {
        self.waiting.room(1)?;
        self.in_flight.room(self.waiting.len() + 1)?;
        self.segments.room(request.segments.len())?;
        if has_response(&request.operation) {
            self.pending_reads.room(1)?;
            self.places.room(request.segments.len())?;
        }
        self.segments.extend(request.segments);
        let Request { id, operation, len, fence, .. } = *request;
        let count = request.segments.len();
        self.waiting.push_back(Waiting { id, operation, count, len, fence, local: false });
        Ok(())
    }

    /// Queues a request that completes together with those before it.
    pub fn post_done(&mut self, id: RequestId) -> Result<()> {
        self.waiting.room(1)?;
        self.in_flight.room(self.waiting.len() + 1)?;
        let operation = Operation::Send { solicited: false };
        self.waiting.push_back(Waiting { id, operation, count: 0, len: 0, fence: false, local: true });
        Ok(())
    }

    /// Returns whether the waiting requests can be deferred to the next call: they are few and short, and earlier ones
    /// are outstanding.
    pub fn can_gather(&self) -> bool {
        !self.in_flight.is_empty()
            && self.waiting.len() < GATHERED
            && !self.begun
            && self.waiting.iter().all(|request| request.len <= SHORT)
    }

    /// Sends a datagram if nothing waits and there is room. It has no number, because it gets no completion here.
    pub fn try_send(&mut self, datagram: &Datagram<'_>) -> bool {
        let &Datagram { segments, len, solicited, .. } = datagram;
        let Some(stream) = self.stream.as_ref().filter(|_| self.waiting.is_empty()) else { return false };
        let size = HEADER as u64 + len;
        if self.handled + u64::from(self.window) < self.sent + size {
            stream.note_waited();
            return false;
        }
        let sent = stream.sender().and_then(|mut sender| {
            let flags = if solicited { record::SOLICITED } else { 0 };
            let header = sender.header(kind::MESSAGE, flags, len as usize, len);
            sender.send(&header.encode(), Body::Copied(segments), 0, len)
        });
        if sent.is_ok() {
            self.sent += size;
        }
        sent.is_ok()
    }

    /// Sends requests. Fails if one cannot be executed.
    pub fn pump(&mut self) -> std::result::Result<(), Fatal> {
        let mut stop = None;
        if let Some(stream) = self.stream.take_if(|_| !self.waiting.is_empty()) {
            while stop.is_none() && !self.waiting.is_empty() {
                stop = self.launch(&stream).err();
            }
            self.stream = Some(stream);
        }
        self.note_stall();
        let Some(Some(fatal)) = stop else { return Ok(()) };
        self.stream = None;
        Err(fatal)
    }

    /// Sends as many records as one system call takes.
    fn launch(&mut self, stream: &Arc<Stream>) -> std::result::Result<(), Stop> {
        let mut sender = stream.sender().map_err(|error| self.stop(error))?;
        let mut batch = ArrayVec::<u8, BATCH>::new();
        let stop = loop {
            let Some(request) = self.waiting.front() else { break Ok(()) };
            if request.local {
                self.launched();
                continue;
            }
            let record = match self.next_record(request, stream) {
                Ok(record) => record,
                Err(stop) => break Err(stop),
            };
            let (id, len, part) = (request.id, record.head.len() + record.part as usize, record.part);
            let short = part <= SHORT;
            let size = HEADER + if short { len } else { record.head.len() };
            if batch.remaining_capacity() < size {
                break Ok(());
            }
            if let Err(error) = sender.reserve(batch.len() + size) {
                break Err(self.stop(error));
            }
            let flags = if record.solicited { record::SOLICITED } else { 0 };
            let mark = batch.len();
            let _ = batch.try_extend_from_slice(&sender.header(record.kind, flags, len, request.len).encode());
            let _ = batch.try_extend_from_slice(&record.head);
            let segments: Checked = self.segments.iter().take(request.count).copied().collect();
            let sent = if short {
                let start = batch.len();
                let _ = batch.try_extend_from_slice(&[0; SHORT as usize][..part as usize]);
                let to = &mut batch[start..];
                let found = part == 0 || copy::gather_into(stream.regions(), &segments, self.offset, to);
                found.then_some(()).ok_or(NotSent::NoMemory)
            } else {
                // No record can follow a payload that is sent from its place.
                sender.send(&batch, Body::Local(id, &segments), self.offset, part)
            };
            match sent {
                Ok(()) => self.advance(&record),
                Err(NotSent::NoMemory) => {
                    // Earlier records of the batch are still sent.
                    batch.truncate(mark);
                    break Err(self.lost());
                }
                Err(error) => return Err(self.stop(error)),
            }
            if !short {
                return Ok(());
            }
        };
        if !batch.is_empty() {
            sender.send(&batch, Body::None, 0, 0).map_err(|error| self.stop(error))?;
        }
        stop
    }

    fn stop(&self, error: NotSent) -> Stop {
        match error {
            // A report of room, or a read of the socket, follows.
            NotSent::Busy | NotSent::Gone | NotSent::Lost(None) => None,
            NotSent::Lost(Some(id)) => Some(Fatal::of_request(id, Status::LocalProtection)),
            NotSent::NoMemory => self.lost(),
        }
    }

    /// Returns the failure of the oldest waiting request for unregistered memory, or `None` while earlier ones are
    /// incomplete.
    fn lost(&self) -> Stop {
        let is_last =
            self.pending_reads.is_empty() && self.in_flight.back().is_none_or(|last| last.end <= self.handled);
        let front = self.waiting.front().filter(|_| is_last)?;
        Some(Fatal::of_request(front.id, Status::LocalProtection))
    }

    /// Returns the next record of the oldest request, if the peer permits it.
    fn next_record(&self, request: &Waiting, stream: &Stream) -> std::result::Result<Record, Stop> {
        let reads = self.pending_reads.len();
        let waits = (request.fence && reads > 0) || (has_response(&request.operation) && reads >= self.reads);
        if waits && !self.begun {
            return Err(None);
        }
        let (kind, solicited, head) = request.next(self.begun, self.offset);
        let has_payload = matches!(kind, kind::MESSAGE | kind::WRITE | kind::WRITE_PART);
        let rest = if has_payload { request.len - self.offset } else { 0 };
        let before = (HEADER + head.len()) as u64;
        let window = u64::from(self.window);
        let whole = rest.min(MAX_PAYLOAD);
        let part = whole.min(window / 4);
        let waits = self.sent + before + part > self.handled + window;
        if waits || part < whole {
            stream.note_waited();
        }
        if waits {
            return Err(None);
        }
        let value_follows = has_payload && matches!(request.operation, Operation::WriteImmediate { .. });
        let is_last = part == rest && kind != kind::INVALIDATE && !value_follows;
        Ok(Record { kind, solicited, head, part, is_last })
    }

    /// Records that the next record was sent.
    fn advance(&mut self, record: &Record) {
        self.sent += (HEADER + record.head.len()) as u64 + record.part;
        (self.begun, self.offset) = (true, self.offset + record.part);
        if record.is_last {
            self.launched();
        }
    }

    /// Records that the oldest waiting request was sent.
    fn launched(&mut self) {
        (self.begun, self.offset) = (false, 0);
        let Some(Waiting { id, operation, count, len, .. }) = self.waiting.pop_front() else { return };
        let segments = self.segments.drain(..count);
        if has_response(&operation) {
            self.places.extend(segments);
            self.pending_reads.push_back(PendingRead { id, count, len, offset: 0 });
        }
        self.in_flight.push_back(TxInFlight { id, end: self.sent });
    }

    /// Handles an acknowledgement and the peer's window. Fails if they are impossible.
    pub fn on_handled(&mut self, handled: u64, window: u32) -> std::result::Result<(), Fatal> {
        // Only the last request can be partly sent. If it completed here, the program could change its unsent bytes.
        let lies = handled == self.sent && self.stream.as_ref().is_some_and(|stream| stream.holds_request());
        if handled > self.sent || lies || window < self.window {
            return Err(Fatal::default());
        }
        self.window = window;
        self.handled = self.handled.max(handled);
        Ok(())
    }

    /// Returns the segments of the current response, the number of bytes that have arrived, and whether `len` more end
    /// it. Returns `None` if these are not expected.
    pub fn response(&self, len: u64) -> Option<(Checked, u64, bool)> {
        let pending_read = self.pending_reads.front()?;
        if len > pending_read.len - pending_read.offset || (len == 0 && pending_read.len > 0) {
            return None;
        }
        let places = self.places.iter().take(pending_read.count).copied().collect();
        Some((places, pending_read.offset, pending_read.offset + len == pending_read.len))
    }

    /// Records `len` bytes of a response. Fails unless they were placed in registered memory.
    pub fn on_response(&mut self, len: u64, placed: bool) -> std::result::Result<(), Fatal> {
        let Some(pending_read) = self.pending_reads.front_mut() else { return Ok(()) };
        if !placed {
            return Err(Fatal::of_request(pending_read.id, Status::LocalProtection));
        }
        pending_read.offset += len;
        if pending_read.offset == pending_read.len {
            let count = pending_read.count;
            self.pending_reads.pop_front();
            self.places.drain(..count);
        }
        Ok(())
    }

    /// Removes complete requests. Returns the number of the last one.
    pub fn done(&mut self) -> Option<SeqNo> {
        let mut last = None;
        let awaited = self.pending_reads.front().map(|read| read.id);
        let is_done = |front: &&TxInFlight| front.end <= self.handled && Some(front.id) != awaited;
        while let Some(front) = self.in_flight.front().filter(is_done) {
            last = Some(SeqNo(front.id));
            self.in_flight.pop_front();
        }
        last
    }
}

fn has_response(operation: &Operation) -> bool {
    matches!(operation, Operation::Read(_) | Operation::Atomic { .. })
}
