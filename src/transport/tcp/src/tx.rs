//! The sending direction of a connection.
//!
//! Requests are sent in posting order, as one or several records each. Records are gathered into one system call
//! ([`Tx::gather`]). A request waits for the peer's window, for room in the socket, for a fence, or for the limit of
//! outstanding reads. It completes when the peer has handled its last record and any response has arrived. Core gets
//! completions in order, by number ([`SeqNo`]).

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrayvec::ArrayVec;
use dat_core::error;
use dat_core::event::Status;
use dat_core::transport::{Checked, Operation, QpSizes, RemoteSegment, Request, RequestId, Segment, SeqNo};
use dat_software::copy;
use dat_software::records::Fatal;
use dat_software::wire;
use host::memory::Room;

use crate::record::{HEADER, MAX_HEAD, MAX_PAYLOAD, MIN_WINDOW, kind};
use crate::stream::{Body, NotSent, Stream};

/// Maximum bytes of the records that one system call sends from the buffer.
const BATCH: usize = 64 << 10;
/// Maximum payload in bytes that is always copied into the buffer.
const SHORT: u64 = 512;
/// Maximum payload in bytes that is copied into the buffer if another request follows, because the copy takes less time
/// than a system call.
const MEDIUM: u64 = 16 << 10;
/// Minimum bytes of waiting requests that a post sends, so that the receiver handles them while more are posted.
const GROUP_BYTES: u64 = 32 << 10;
/// Maximum number of requests that a post defers while earlier ones are outstanding.
const GATHERED: usize = 16;
/// Number of outstanding requests from which a connection is a *stream*, whose short posts wait for later posts.
const STREAM: usize = 2;
/// Minimum number of waiting requests of a stream that a post sends.
const GROUP: usize = 8;

/// The time at which waiting requests are sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// In the post.
    Now,
    /// In the next poll without data.
    Soon,
    /// In a later post, or after several polls.
    WithLater,
}

/// A request that is not complete.
struct Posted {
    id: RequestId,
    operation: Operation,
    /// Number of its segments. In `Tx::segments` they follow the segments of earlier requests.
    count: usize,
    len: u64,
    fence: bool,
    /// Set for a bind, which needs no record.
    local: bool,
    /// Value of [`Tx::sent`] after its last record; the maximum while it waits.
    end: u64,
    /// Set while its response is incomplete.
    responds: bool,
}

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
    pub stream: Option<Arc<Stream>>,
    /// Bytes of requests that were sent, and how many of these bytes the peer has handled.
    sent: u64,
    handled: u64,
    window: u32,
    /// Requests in posting order. The first `launched` were sent, and have the first `launched_segments` segments.
    requests: VecDeque<Posted>,
    segments: VecDeque<Segment>,
    launched: usize,
    launched_segments: usize,
    /// Set while the waiting requests are gathered: they wait for later posts or a poll, not for peer or socket.
    gathers: bool,
    /// Bytes of the gathered requests.
    gathered: u64,
    /// Number of the adapter's polls before the last post.
    polls: u64,
    /// Set by a post that follows another post without a poll, until a post finds no outstanding request.
    bursts: bool,
    /// Set once a record of the oldest waiting request was sent; `offset` counts its sent payload.
    begun: bool,
    offset: u64,
    /// Number of incomplete responses. `arrived` counts the received bytes of the oldest.
    reading: usize,
    arrived: u64,
    /// Maximum number of outstanding requests with responses.
    pub max_reading: usize,
}

impl Posted {
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
    pub fn new(sizes: &QpSizes) -> error::Result<Tx> {
        let max_reading = usize::from(sizes.reads_out.max(1));
        let mut tx = Tx { max_reading, window: MIN_WINDOW, ..Tx::default() };
        tx.requests.room(sizes.requests)?;
        tx.segments.room(sizes.requests)?;
        Ok(tx)
    }

    /// Returns whether a request waits to be sent.
    pub fn stalls(&self) -> bool {
        self.stream.is_some() && self.launched < self.requests.len()
    }

    /// Returns whether a request waits for the peer or the socket.
    pub fn is_blocked(&self) -> bool {
        self.stalls() && !self.gathers
    }

    /// Queues a request. If `local`, it needs no record, and completes with earlier requests. Fails without memory.
    #[inline]
    pub fn post(&mut self, request: &Request<'_>, local: bool) -> error::Result<()> {
        let Request { id, operation, segments, len, fence, .. } = *request;
        self.segments.room(segments.len())?;
        self.requests.room(1)?;
        self.segments.extend(segments);
        let count = segments.len();
        self.requests.push_back(Posted { id, operation, count, len, fence, local, end: u64::MAX, responds: false });
        Ok(())
    }

    /// Determines when to send the waiting requests, after a post. `polls` is the number of polls before it.
    ///
    /// Requests of up to [`MEDIUM`] bytes are deferred while earlier ones are outstanding. The short requests of a
    /// stream wait until they are as many as the outstanding requests, and at least [`GROUP`]. So several share a
    /// system call and the peer's report. Without outstanding requests, a request is sent in its post, unless a burst
    /// is expected: since the last such request, a post has followed another without a poll.
    pub fn gather(&mut self, polls: u64) -> Leave {
        let waiting = self.requests.len() - self.launched;
        self.bursts |= std::mem::replace(&mut self.polls, polls) == polls;
        let waits = self.launched > 0 || (waiting == 1 && std::mem::take(&mut self.bursts)) || self.gathers;
        if !waits || waiting >= GATHERED || self.begun {
            return Leave::Now;
        }
        let Some(last) = self.requests.back().filter(|last| last.len <= MEDIUM) else { return Leave::Now };
        if waiting > 1 && !self.gathers {
            return Leave::Soon;
        }
        self.gathers = true;
        self.gathered += last.len;
        if self.gathered >= GROUP_BYTES {
            return Leave::Now;
        }
        let is_short = self.gathered <= SHORT * GROUP as u64;
        if !is_short || self.launched < STREAM || self.reading > 0 || last.fence || has_response(&last.operation) {
            Leave::Soon
        } else if waiting < self.launched.max(GROUP) {
            Leave::WithLater
        } else {
            Leave::Now
        }
    }

    /// Permits [`Conn::heard`](crate::conn::Conn::heard) to send gathered requests.
    pub fn stop_gathering(&mut self) {
        self.gathers = false;
    }

    /// Sends a datagram if no request waits and there is room. Returns whether it was sent. It gets no completion here.
    pub fn try_send(&mut self, datagram: &Request<'_>) -> bool {
        let &Request { segments, len, .. } = datagram;
        let Some(stream) = self.stream.as_ref().filter(|_| self.launched == self.requests.len()) else { return false };
        let size = HEADER as u64 + len;
        if self.handled + u64::from(self.window) < self.sent + size {
            stream.waited.store(true, Ordering::Relaxed);
            return false;
        }
        let sent = stream.sender().and_then(|mut sender| {
            let payload = sender.add(kind::MESSAGE, datagram.is_solicited(), len, len, len)?;
            if !copy::gather_into(&stream.shared.regions, segments, 0, payload) {
                sender.undo();
                return Err(NotSent::NoMemory);
            }
            sender.send()
        });
        self.sent += if sent.is_ok() { size } else { 0 };
        sent.is_ok()
    }

    /// Sends the kernel's TCP acknowledgement of the `HANDLED` records just received. Otherwise the kernel would send
    /// it when the peer's next request is read, before the reply. Does nothing if the peer has sent no requests, or if
    /// requests of this end are outstanding: these contain the acknowledgement.
    pub fn acknowledge_reports(&self) {
        let serves = |stream: &&Arc<Stream>| self.requests.is_empty() && stream.handled.load(Ordering::Relaxed) > 0;
        self.stream.iter().filter(serves).for_each(|stream| stream.socket.acknowledge());
    }

    /// Sends waiting requests while peer and socket permit it. Fails if the memory of the oldest incomplete request, or
    /// of an unsent payload, is not registered.
    pub fn pump(&mut self) -> Result<(), Fatal> {
        let Some(stream) = self.stream.take() else { return Ok(()) };
        (self.gathers, self.gathered) = (false, 0);
        let mut sent = Ok(());
        while sent.is_ok() && self.launched < self.requests.len() {
            sent = self.launch(&stream);
        }
        match sent {
            Err(NotSent::Lost(fatal)) => return Err(fatal),
            Err(NotSent::NoMemory) => self.lost()?,
            // An acknowledgement or a report of room resumes this; a read of the socket reports the end.
            Ok(()) | Err(NotSent::Busy | NotSent::Gone) => {}
        }
        self.stream = Some(stream);
        Ok(())
    }

    /// Sends as many records as one system call takes.
    fn launch(&mut self, stream: &Stream) -> Result<(), NotSent> {
        let mut sender = stream.sender()?;
        let stop = loop {
            let Some(request) = self.requests.get(self.launched) else { break Ok(()) };
            if request.local && !self.is_fenced(request) {
                self.launched();
                continue;
            }
            let Some(record) = self.next_record(request, stream) else { break Err(NotSent::Busy) };
            let (id, part, head) = (request.id, record.part, record.head.len() as u64);
            let is_followed = self.launched + 1 < self.requests.len();
            let is_copied = part <= SHORT || (part <= MEDIUM && is_followed);
            let filled = if is_copied { head + part } else { head };
            if sender.len() + HEADER + filled as usize > BATCH {
                break Ok(());
            }
            let added = sender.add(record.kind, record.solicited, head + part, request.len, filled);
            let Ok(place) = added else { break Err(NotSent::Busy) };
            let (head, payload) = place.split_at_mut(record.head.len());
            head.copy_from_slice(&record.head);
            let segments: Checked =
                self.segments.range(self.launched_segments..).take(request.count).copied().collect();
            if !is_copied {
                // The payload is sent from the program's memory, so no record can follow it in this system call.
                match sender.send_with(Body::Local(id), &segments, self.offset, part) {
                    Err(NotSent::NoMemory) => break Err(NotSent::NoMemory),
                    sent => return sent.map(|()| self.advance(&record)),
                }
            }
            if part > 0 && !copy::gather_into(&stream.shared.regions, &segments, self.offset, payload) {
                sender.undo();
                break Err(NotSent::NoMemory);
            }
            self.advance(&record);
        };
        if sender.len() > 0 {
            sender.send()?;
        }
        stop
    }

    /// Called if the memory of the oldest waiting request is not registered. Fails if this request is the oldest
    /// incomplete one; otherwise, the failure is deferred until the earlier requests are complete.
    fn lost(&self) -> Result<(), Fatal> {
        let before = self.launched.checked_sub(1).map(|last| &self.requests[last]);
        let is_oldest = self.reading == 0 && before.is_none_or(|before| before.end <= self.handled);
        let lost = self.requests.get(self.launched).filter(|_| is_oldest);
        lost.map_or(Ok(()), |request| Err(Fatal::of_request(request.id, Status::LocalProtection)))
    }

    /// Returns the oldest incomplete request, after [`Tx::done`].
    pub fn oldest(&self) -> Option<RequestId> {
        self.requests.front().map(|front| front.id)
    }

    /// Returns whether a request waits for outstanding responses.
    fn is_fenced(&self, request: &Posted) -> bool {
        request.fence && self.reading > 0
    }

    /// Returns the next record of the oldest waiting request. `None` if a fence, the limit of reads or the window
    /// delays it.
    fn next_record(&self, request: &Posted, stream: &Stream) -> Option<Record> {
        let waits = self.is_fenced(request) || (has_response(&request.operation) && self.reading >= self.max_reading);
        if waits && !self.begun {
            return None;
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
            stream.waited.store(true, Ordering::Relaxed);
        }
        let value_follows = has_payload && matches!(request.operation, Operation::WriteImmediate { .. });
        let is_last = part == rest && kind != kind::INVALIDATE && !value_follows;
        (!waits).then_some(Record { kind, solicited, head, part, is_last })
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
        let Some(request) = self.requests.get_mut(self.launched) else { return };
        request.end = self.sent;
        request.responds = has_response(&request.operation);
        self.reading += usize::from(request.responds);
        self.launched += 1;
        self.launched_segments += request.count;
    }

    /// Handles a report of the bytes that the peer has handled, and of its window. Fails if the values are impossible.
    #[inline]
    pub fn on_handled(&mut self, handled: u64, window: u32) -> Result<(), Fatal> {
        // Only the last sent request can have an unsent payload in the program's memory. If the request completed, the
        // program could change this payload.
        let lies = handled == self.sent && self.stream.as_ref().is_some_and(|stream| stream.holds_request());
        if handled > self.sent || lies || window < self.window {
            return Err(Fatal::default());
        }
        self.window = window;
        self.handled = self.handled.max(handled);
        Ok(())
    }

    /// Returns the segments of the current response, the number of bytes that have arrived, and whether `len` more end
    /// it. Returns `None` if no response is expected, or not `len` more bytes of it.
    pub fn response(&self, len: u64) -> Option<(Checked, u64, bool)> {
        // A peer acknowledges all earlier requests before it responds, so the response belongs to the oldest request.
        let request = self.requests.front().filter(|request| request.responds)?;
        if len > request.len - self.arrived || (len == 0 && request.len > 0) {
            return None;
        }
        let places = self.segments.iter().take(request.count).copied().collect();
        Some((places, self.arrived, self.arrived + len == request.len))
    }

    /// Records `len` bytes of a response. Fails unless they were placed in registered memory.
    pub fn on_response(&mut self, len: u64, placed: bool) -> Result<(), Fatal> {
        let Some(request) = self.requests.front_mut().filter(|request| request.responds) else { return Ok(()) };
        if !placed {
            return Err(Fatal::of_request(request.id, Status::LocalProtection));
        }
        self.arrived += len;
        if self.arrived == request.len {
            request.responds = false;
            self.arrived = 0;
            self.reading -= 1;
        }
        Ok(())
    }

    /// Removes complete requests. Returns the number of the last one.
    pub fn done(&mut self) -> Option<SeqNo> {
        let mut last = None;
        while let Some(front) = self.requests.front().filter(|front| front.end <= self.handled && !front.responds) {
            last = Some(SeqNo(front.id));
            self.launched -= 1;
            self.launched_segments -= front.count;
            for _ in 0..front.count {
                self.segments.pop_front();
            }
            self.requests.pop_front();
        }
        last
    }
}

fn has_response(operation: &Operation) -> bool {
    matches!(operation, Operation::Read(_) | Operation::Atomic { .. })
}

#[cfg(test)]
mod tests;
