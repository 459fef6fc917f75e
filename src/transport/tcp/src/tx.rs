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
use dat_memory::user::{self, Source, Target};
use host::memory::Room;

use crate::record::{self, HEADER, MAX_HEAD, MAX_PAYLOAD, MIN_WINDOW, kind};
use crate::stream::{Body, NotSent, Sender, Stream};

/// Maximum bytes of gathered records.
const BATCH: usize = 4096;
/// Maximum copied payload, after which further records may follow.
const SHORT: u64 = 512;
/// Minimum payload of a part, except for the last.
const MIN_PART: u64 = 4096;
/// Maximum number of requests completed by gathered records.
const COMPLETED: usize = BATCH / HEADER;
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
    /// A bind, which needs no record.
    local: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Progress {
    /// Nothing.
    #[default]
    New,
    /// The record before its payload.
    Begun,
    /// This number of payload bytes.
    Bytes(u64),
    /// All payload bytes, but not its immediate value.
    Value,
}

/// A request that was sent, but is not complete.
struct TxInFlight {
    id: RequestId,
    /// Sent bytes of requests, up to its end.
    end: u64,
    /// Its number among requests with responses, from 1; 0 without a response.
    pending_read: u64,
}

struct PendingRead {
    id: RequestId,
    count: usize,
    len: u64,
    offset: u64,
}

pub type Failed = (RequestId, Status);

enum Stop {
    /// They wait for the peer.
    Peer,
    /// The socket has no room.
    Busy,
    /// A request cannot be executed.
    Failed(Failed),
}

struct Stage {
    kind: u8,
    flags: u8,
    head: ArrayVec<u8, MAX_HEAD>,
    offset: u64,
    /// Maximum payload bytes that can follow.
    rest: u64,
}

/// Sent bytes of requests at the end of each request that gathered records complete.
type Ends = ArrayVec<u64, COMPLETED>;

struct Long {
    id: RequestId,
    segments: Checked,
    offset: u64,
    part: u64,
}

/// A position in the queue of requests, while records are gathered.
#[derive(Clone, Copy, Default)]
struct Cursor {
    /// Requests completed by the gathered records, and their segments.
    index: usize,
    segments: usize,
    progress: Progress,
    sent: u64,
    pending_reads: usize,
}

/// The sending direction. The default is unconnected.
#[derive(Default)]
pub struct Tx {
    stream: Option<Arc<Stream>>,
    /// Bytes of requests that were sent, and that the peer has handled.
    sent: u64,
    handled: u64,
    window: u32,
    waiting: VecDeque<Waiting>,
    /// Progress of the oldest of these.
    progress: Progress,
    segments: VecDeque<Segment>,
    in_flight: VecDeque<TxInFlight>,
    pending_reads: VecDeque<PendingRead>,
    places: VecDeque<Segment>,
    asked: u64,
    answered: u64,
    /// Maximum number of outstanding requests with responses.
    reads: usize,
    stalls: Gauge,
    ep: Option<Handle>,
}

impl Waiting {
    fn stage(&self, progress: Progress) -> Stage {
        let solicited = |solicited: bool| if solicited { record::SOLICITED } else { 0 };
        let offset = match progress {
            Progress::Bytes(offset) => offset,
            Progress::New | Progress::Begun | Progress::Value => 0,
        };
        let stage = |kind, flags, head: &[u8], rest| Stage {
            kind,
            flags,
            head: head.try_into().unwrap_or_default(),
            offset,
            rest,
        };
        let write = |to: &RemoteSegment| match progress {
            Progress::Bytes(_) => stage(kind::WRITE_PART, 0, &[], self.len - offset),
            _ => stage(kind::WRITE, 0, &record::target(&RemoteSegment { len: self.len, ..*to }), self.len),
        };
        match &self.operation {
            Operation::Send { solicited: flag } => stage(kind::MESSAGE, solicited(*flag), &[], self.len - offset),
            Operation::SendInvalidate { key, .. } if progress == Progress::New => {
                stage(kind::INVALIDATE, 0, &key.to_le_bytes(), 0)
            }
            Operation::SendInvalidate { solicited: flag, .. } => {
                stage(kind::MESSAGE, solicited(*flag), &[], self.len - offset)
            }
            Operation::Write(to) => write(to),
            Operation::WriteImmediate { value, solicited: flag, .. }
                if progress == Progress::Value || self.len == 0 =>
            {
                stage(kind::IMMEDIATE, solicited(*flag), &value.to_le_bytes(), 0)
            }
            Operation::WriteImmediate { to, .. } => write(to),
            Operation::Read(from) => stage(kind::READ, 0, &record::target(from), 0),
            Operation::Atomic { addr, key, change, .. } => {
                stage(kind::ATOMIC, 0, &record::atomic(*addr, *key, *change), 0)
            }
        }
    }

    /// Returns the progress after `part` bytes of payload, or `None` once all is sent.
    fn after(&self, stage: &Stage, part: u64) -> Option<Progress> {
        let end = stage.offset + part;
        match stage.kind {
            kind::INVALIDATE => Some(Progress::Begun),
            kind::MESSAGE | kind::WRITE | kind::WRITE_PART if end < self.len => Some(Progress::Bytes(end)),
            kind::WRITE | kind::WRITE_PART if matches!(self.operation, Operation::WriteImmediate { .. }) => {
                Some(Progress::Value)
            }
            _ => None,
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

    /// Limits outstanding reads to those that the peer serves. At least one is allowed, which fails if it serves none.
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

    /// Queues a request.
    ///
    /// # Errors
    /// [`dat_core::error::Resource::Memory`].
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
            && self.progress == Progress::New
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

    /// Sends requests. Returns whether the socket had no room, or the request that cannot be executed.
    pub fn pump(&mut self) -> std::result::Result<bool, Failed> {
        let result = self.launch_all();
        self.note_stall();
        match result {
            Ok(()) | Err(Stop::Peer) => Ok(false),
            Err(Stop::Busy) => Ok(true),
            Err(Stop::Failed(failed)) => {
                self.stream = None;
                Err(failed)
            }
        }
    }

    fn launch_all(&mut self) -> std::result::Result<(), Stop> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let Some(stream) = self.stream.take() else { return Err(Stop::Peer) };
        let mut launched = Ok(());
        while launched.is_ok() && !self.waiting.is_empty() {
            launched = self.launch(&stream);
        }
        self.stream = Some(stream);
        launched
    }

    /// Sends as many records as one system call takes.
    fn launch(&mut self, stream: &Arc<Stream>) -> std::result::Result<(), Stop> {
        let mut sender = stream.sender().map_err(|error| self.stop(error))?;
        let start = Cursor {
            progress: self.progress,
            sent: self.sent,
            pending_reads: self.pending_reads.len(),
            ..Cursor::default()
        };
        let (mut at, mut heads, mut ends) = (start, ArrayVec::<u8, BATCH>::new(), Ends::new());
        let (stop, long) = loop {
            match self.gather(stream, &mut sender, &mut at, &mut heads, &mut ends) {
                Ok(None) => {}
                Ok(long) => break (None, long),
                Err(stop) => break (stop, None),
            }
        };
        if !heads.is_empty() {
            let (body, offset, part) = match &long {
                Some(Long { id, segments, offset, part }) => (Body::Local(*id, segments), *offset, *part),
                None => (Body::None, 0, 0),
            };
            sender.send(&heads, body, offset, part).map_err(|error| self.stop(error))?;
        }
        self.commit(&at, &ends);
        stop.map_or(Ok(()), Err)
    }

    fn stop(&self, error: NotSent) -> Stop {
        match error {
            NotSent::Busy => Stop::Busy,
            // A read of the socket reports the end of the connection.
            NotSent::Gone | NotSent::Lost(None) => Stop::Peer,
            NotSent::Lost(Some(id)) => Stop::Failed((id, Status::LocalProtection)),
            NotSent::NoMemory => self.lost(),
        }
    }

    /// Returns the failure of a request with unregistered memory, which earlier requests' reports precede.
    fn lost(&self) -> Stop {
        let is_last =
            self.pending_reads.is_empty() && self.in_flight.back().is_none_or(|last| last.end <= self.handled);
        match self.waiting.front() {
            Some(front) if is_last => Stop::Failed((front.id, Status::LocalProtection)),
            _ => Stop::Peer,
        }
    }

    /// Adds the next record to `heads`. Returns a payload to send from its place, which no record can follow. The error
    /// is `None` if nothing is left, or `heads` is full.
    fn gather(
        &self,
        stream: &Stream,
        sender: &mut Sender<'_>,
        at: &mut Cursor,
        heads: &mut ArrayVec<u8, BATCH>,
        ends: &mut Ends,
    ) -> std::result::Result<Option<Long>, Option<Stop>> {
        let Some(request) = self.waiting.get(at.index) else { return Err(None) };
        if ends.is_full() {
            return Err(None);
        }
        if request.local {
            at.index += 1;
            ends.push(at.sent);
            return Ok(None);
        }
        let pending_read = has_response(&request.operation);
        if at.progress == Progress::New
            && ((request.fence && at.pending_reads > 0) || (pending_read && at.pending_reads >= self.reads))
        {
            return Err(Some(Stop::Peer));
        }
        let stage = request.stage(at.progress);
        let before = HEADER + stage.head.len();
        let window = u64::from(self.window);
        let room = (self.handled + window).saturating_sub(at.sent);
        let whole = stage.rest.min(MAX_PAYLOAD);
        let part = whole.min(window / 4).min(room.saturating_sub(before as u64));
        if room < before as u64 || part < whole {
            stream.note_waited();
        }
        if room < before as u64 || part < whole.min(MIN_PART) {
            return Err(Some(Stop::Peer));
        }
        let short = part <= SHORT;
        if heads.remaining_capacity() < before + if short { part as usize } else { 0 } {
            return Err(None);
        }
        let segments: Checked = self.segments.iter().skip(at.segments).take(request.count).copied().collect();
        let mark = heads.len();
        // Send earlier records first, so that only this request fails.
        if !short && mark > 0 && copy::acquire_all(&segments, |key| stream.regions().acquire(key)).is_none() {
            return Err(None);
        }
        let header = sender.header(stage.kind, stage.flags, stage.head.len() + part as usize, request.len);
        let _ = heads.try_extend_from_slice(&header.encode());
        let _ = heads.try_extend_from_slice(&stage.head);
        if short && part > 0 {
            let start = heads.len();
            let _ = heads.try_extend_from_slice(&[0; SHORT as usize][..part as usize]);
            let mut rest = Target::of(&mut heads[start..]);
            let gathered = copy::gather(stream.regions(), &segments, stage.offset, part, |source: Source<'_>| {
                let done = user::copy(rest, source);
                rest = rest.split(done).1;
            });
            if !gathered {
                heads.truncate(mark);
                return Err(if at.index == 0 { Some(self.lost()) } else { None });
            }
        }
        at.sent += (before as u64) + part;
        match request.after(&stage, part) {
            Some(progress) => at.progress = progress,
            None => {
                at.progress = Progress::New;
                at.index += 1;
                at.segments += request.count;
                at.pending_reads += usize::from(pending_read);
                ends.push(at.sent);
            }
        }
        Ok((!short).then_some(Long { id: request.id, segments, offset: stage.offset, part }))
    }

    /// Records that everything before `at` was sent.
    fn commit(&mut self, at: &Cursor, ends: &Ends) {
        for &end in ends {
            let Some(request) = self.waiting.pop_front() else { break };
            let Waiting { id, count, len, .. } = request;
            let pending_read = has_response(&request.operation);
            if pending_read {
                self.asked += 1;
                self.pending_reads.push_back(PendingRead { id, count, len, offset: 0 });
                self.places.extend(self.segments.drain(..count));
            } else {
                self.segments.drain(..count);
            }
            self.in_flight.push_back(TxInFlight { id, end, pending_read: if pending_read { self.asked } else { 0 } });
        }
        self.progress = at.progress;
        self.sent = at.sent;
    }

    /// Handles an acknowledgement and the peer's window. Returns `false` if they are impossible.
    pub fn on_handled(&mut self, handled: u64, window: u32) -> bool {
        // Only the last request can be partly sent. If it completed here, its memory could change.
        let lies = handled == self.sent && self.stream.as_ref().is_some_and(|stream| stream.holds_request());
        if handled > self.sent || lies || window < self.window {
            return false;
        }
        self.window = window;
        self.handled = self.handled.max(handled);
        true
    }

    /// Returns the segments of the current response, and the bytes that have arrived, or `None` if no response, or not
    /// `len` further bytes, are expected.
    pub fn response(&self, len: u64) -> Option<(Checked, u64, bool)> {
        let pending_read = self.pending_reads.front()?;
        if len > pending_read.len - pending_read.offset || (len == 0 && pending_read.len > 0) {
            return None;
        }
        let places = self.places.iter().take(pending_read.count).copied().collect();
        Some((places, pending_read.offset, pending_read.offset + len == pending_read.len))
    }

    /// Records bytes of a response that are in place, or lost. Fails if its memory is not registered.
    pub fn on_response(&mut self, len: u64, placed: bool) -> std::result::Result<(), Failed> {
        let Some(pending_read) = self.pending_reads.front_mut() else { return Ok(()) };
        if !placed {
            return Err((pending_read.id, Status::LocalProtection));
        }
        pending_read.offset += len;
        if pending_read.offset == pending_read.len {
            let count = pending_read.count;
            self.pending_reads.pop_front();
            self.places.drain(..count);
            self.answered += 1;
        }
        Ok(())
    }

    /// Removes complete requests. Returns the number of the last one.
    pub fn done(&mut self) -> Option<SeqNo> {
        let mut last = None;
        let is_done = |front: &&TxInFlight| front.end <= self.handled && front.pending_read <= self.answered;
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
