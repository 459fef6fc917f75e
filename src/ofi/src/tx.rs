//! The sending direction of a connection.
//!
//! Requests go out in posting order, each as one record or as several. One that cannot go yet waits in a queue, and goes on
//! when the peer has handled records, when an answer has come, or when libfabric has room. A request is done when the peer has
//! handled its last record and, if it was a question, the whole answer is in its place. Requests are reported in their order,
//! by number ([`Mark`]).

use std::collections::VecDeque;
use std::sync::Arc;

use arrayvec::ArrayVec;
use dat_core::Handle;
use dat_core::error::Result;
use dat_core::event::Status;
use dat_core::probes::Stall;
use dat_core::transport::{Checked, Gauge, Mark, Operation, QpSizes, RemoteSegment, Request, RequestId, Segment};
use dat_memory::copy;
use dat_memory::user::{self, Source, Target};
use host::memory::Room;

use crate::bulk::{self, Body};
use crate::link::{Link, Slot};
use crate::record::{self, BULKS, CREDITS, PAYLOAD, kind};
use crate::sys::FiError;

/// A request that has not gone out whole.
struct Waiting {
    id: RequestId,
    operation: Operation,
    /// Its segments, the next ones of the queue of segments.
    count: usize,
    len: u64,
    fence: bool,
    /// What of it has gone out.
    progress: Progress,
}

/// How far a request is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// Nothing of it has gone out.
    New,
    /// The record before its bytes has gone out.
    Begun,
    /// So many of its bytes have gone out.
    Bytes(u64),
    /// Its bytes have gone out, but not its value.
    Value,
}

/// A request that has gone out, and is not done.
struct Flying {
    id: RequestId,
    /// The number of its last record.
    last: u64,
    /// The number of the question that it is, from 1; 0 if it is none.
    question: u64,
}

/// A question whose answer has not come whole.
struct Question {
    id: RequestId,
    count: usize,
    len: u64,
    offset: u64,
}

/// A request of this end cannot be carried out: the connection fails with it.
pub type Failed = (RequestId, Status);

/// Why requests do not go on.
enum Stop {
    /// They go on when something comes from the peer.
    Peer,
    /// libfabric has no room.
    Busy,
    Failed(Failed),
}

impl From<FiError> for Stop {
    fn from(error: FiError) -> Self {
        // Any other error is the end of the connection, of which libfabric tells in another way.
        if error.is_busy() { Stop::Busy } else { Stop::Peer }
    }
}

/// The sending direction. The default is that of no connection.
#[derive(Default)]
pub struct Tx {
    link: Option<Arc<Link>>,
    /// Records that have gone out as requests.
    sent: u64,
    /// How many of them the peer has handled.
    handled: u64,
    /// The numbers of those that have long parts, up to [`BULKS`] of them, which the peer has not handled.
    bulks: VecDeque<u64>,
    waiting: VecDeque<Waiting>,
    /// The segments of those that wait.
    segments: VecDeque<Segment>,
    flying: VecDeque<Flying>,
    questions: VecDeque<Question>,
    /// The segments that answers go to.
    places: VecDeque<Segment>,
    asked: u64,
    answered: u64,
    /// Questions that there can be at a time.
    reads: usize,
    stalls: Gauge,
    ep: Option<Handle>,
}

/// The bytes behind the first `skip` ones, at most `most`.
fn left(len: u64, skip: u64, most: usize) -> usize {
    (len - skip).min(most as u64) as usize
}

impl Tx {
    /// A sending direction without a connection, with room for requests of these sizes.
    pub fn new(ep: Handle, sizes: &QpSizes) -> Result<Tx> {
        let mut tx = Tx { ep: Some(ep), reads: usize::from(sizes.reads_out.max(1)), ..Tx::default() };
        tx.bulks.room(BULKS)?;
        tx.waiting.room(sizes.requests)?;
        tx.segments.room(sizes.requests)?;
        tx.flying.room(sizes.requests)?;
        tx.questions.room(tx.reads.min(sizes.requests))?;
        tx.places.room(tx.reads.min(sizes.requests))?;
        Ok(tx)
    }

    /// Gives it a connection, over which so many questions can be asked at a time.
    pub fn open(&mut self, link: Arc<Link>) {
        self.link = Some(link);
    }

    /// Whether it has a connection.
    pub fn is_open(&self) -> bool {
        self.link.is_some()
    }

    /// The peer serves so many questions at a time. Where it serves none, one is asked all the same, because it fails.
    pub fn limit_reads(&mut self, reads: u8) {
        self.reads = self.reads.min(usize::from(reads.max(1)));
    }

    /// Takes the connection away; gives the mark of the requests that were done.
    pub fn close(&mut self) -> Option<Mark> {
        let done = self.done();
        self.link = None;
        self.note_stall();
        done
    }

    /// How often requests had to wait.
    pub fn stalls(&self) -> u64 {
        self.stalls.stalls()
    }

    fn note_stall(&self) {
        if let Some(ep) = self.ep {
            self.stalls.set(ep, Stall::Requests, self.link.is_some() && !self.waiting.is_empty());
        }
    }

    /// Posts a request. Whether it has gone out is for [`Tx::pump`].
    ///
    /// # Errors
    /// [`dat_core::error::Resource::Memory`].
    pub fn post(&mut self, request: &Request<'_>) -> Result<()> {
        self.waiting.room(1)?;
        self.flying.room(self.waiting.len() + 1)?;
        self.segments.room(request.segments.len())?;
        if is_question(&request.operation) {
            self.questions.room(1)?;
            self.places.room(request.segments.len())?;
        }
        self.segments.extend(request.segments);
        let Request { id, operation, len, fence, .. } = *request;
        self.waiting.push_back(Waiting {
            id,
            operation,
            count: request.segments.len(),
            len,
            fence,
            progress: Progress::New,
        });
        Ok(())
    }

    /// Notes a request that is done as soon as those before it are.
    ///
    /// # Errors
    /// [`dat_core::error::Resource::Memory`].
    pub fn post_done(&mut self, id: RequestId) -> Result<()> {
        let nothing = Operation::Send { solicited: false };
        if self.waiting.is_empty() {
            self.flying.room(1)?;
            self.flying.push_back(Flying { id, last: 0, question: 0 });
            return Ok(());
        }
        self.waiting.room(1)?;
        self.flying.room(self.waiting.len() + 1)?;
        // It waits behind the others, and needs no record.
        self.waiting.push_back(Waiting {
            id,
            operation: nothing,
            count: 0,
            len: 0,
            fence: false,
            progress: Progress::Value,
        });
        Ok(())
    }

    /// Whether libfabric had no room, so that [`Tx::pump`] is to be called again soon.
    ///
    /// # Errors
    /// A request cannot be carried out.
    pub fn pump(&mut self) -> std::result::Result<bool, Failed> {
        let result = self.launch_all();
        self.note_stall();
        match result {
            Ok(()) | Err(Stop::Peer) => Ok(false),
            Err(Stop::Busy) => Ok(true),
            Err(Stop::Failed(failed)) => {
                self.link = None;
                Err(failed)
            }
        }
    }

    fn launch_all(&mut self) -> std::result::Result<(), Stop> {
        let Some(link) = self.link.clone() else { return Err(Stop::Peer) };
        while !self.waiting.is_empty() {
            self.launch(&link)?;
        }
        Ok(())
    }

    /// Sends what is left of the oldest request that waits.
    fn launch(&mut self, link: &Arc<Link>) -> std::result::Result<(), Stop> {
        let Some(front) = self.waiting.front() else { return Ok(()) };
        let (operation, len, id) = (front.operation, front.len, front.id);
        let question = is_question(&operation);
        if front.progress == Progress::New
            && ((front.fence && !self.questions.is_empty()) || (question && self.questions.len() >= self.reads))
        {
            return Err(Stop::Peer);
        }
        match operation {
            // A request that needs no record.
            Operation::Send { .. } if front.progress == Progress::Value => {}
            Operation::Send { solicited } => self.message(link, solicited)?,
            Operation::SendInvalidate { solicited, key } => {
                if front.progress == Progress::New {
                    self.record(link, kind::INVALIDATE, 0, len, &key.to_le_bytes(), 0, 0)?;
                    self.advance(Progress::Begun);
                }
                self.message(link, solicited)?;
            }
            Operation::Write(to) => self.write(link, &to)?,
            Operation::WriteImmediate { to, value, solicited } => {
                if front.progress != Progress::Value {
                    self.write(link, &to)?;
                    self.advance(Progress::Value);
                }
                let flags = if solicited { record::SOLICITED } else { 0 };
                self.record(link, kind::IMMEDIATE, flags, len, &value.to_le_bytes(), 0, 0)?;
            }
            Operation::Read(from) => self.record(link, kind::READ, 0, len, &record::target(&from), 0, 0)?,
            Operation::Atomic { addr, key, change } => {
                self.record(link, kind::ATOMIC, 0, len, &record::atomic(addr, key, change), 0, 0)?;
            }
        }
        let count = self.waiting.pop_front().map_or(0, |front| front.count);
        if question {
            self.asked += 1;
            self.questions.push_back(Question { id, count, len, offset: 0 });
            self.places.extend(self.segments.drain(..count));
        } else {
            self.segments.drain(..count);
        }
        self.flying.push_back(Flying { id, last: self.sent, question: if question { self.asked } else { 0 } });
        Ok(())
    }

    fn advance(&mut self, progress: Progress) {
        if let Some(front) = self.waiting.front_mut() {
            front.progress = progress;
        }
    }

    /// How many bytes of the oldest request have gone out; `None` if not even the record before them has.
    fn gone(&self) -> Option<u64> {
        match self.waiting.front()?.progress {
            Progress::Bytes(offset) => Some(offset),
            Progress::New | Progress::Begun | Progress::Value => None,
        }
    }

    /// Sends the parts of a message.
    fn message(&mut self, link: &Arc<Link>, solicited: bool) -> std::result::Result<(), Stop> {
        let flags = if solicited { record::SOLICITED } else { 0 };
        let len = self.waiting.front().map_or(0, |front| front.len);
        let mut offset = self.gone().unwrap_or(0);
        loop {
            let part = match self.bulk(link, (kind::MESSAGE, flags, len), &[], offset)? {
                Some(part) => part,
                None => {
                    let part = left(len, offset, PAYLOAD);
                    self.record(link, kind::MESSAGE, flags, len, &[], offset, part)?;
                    part as u64
                }
            };
            offset += part;
            self.advance(Progress::Bytes(offset));
            if offset == len {
                return Ok(());
            }
        }
    }

    /// Sends the parts of a write.
    fn write(&mut self, link: &Arc<Link>, to: &RemoteSegment) -> std::result::Result<(), Stop> {
        let len = self.waiting.front().map_or(0, |front| front.len);
        let to = RemoteSegment { len, ..*to };
        loop {
            let (kind, offset) = match self.gone() {
                None => (kind::WRITE, 0),
                Some(offset) if offset == len => return Ok(()),
                Some(offset) => (kind::WRITE_PART, offset),
            };
            let target = record::target(&to);
            let head = if kind == kind::WRITE { &target[..] } else { &[] };
            let part = match self.bulk(link, (kind, 0, len), head, offset)? {
                Some(part) => part,
                None => {
                    let part = left(len, offset, PAYLOAD);
                    self.record(link, kind, 0, len, head, offset, part)?;
                    part as u64
                }
            };
            self.advance(Progress::Bytes(offset + part));
        }
    }

    /// The first request that waits, and its segments.
    fn front(&self) -> (RequestId, Checked) {
        let (id, count) = self.waiting.front().map_or((0, 0), |front| (front.id, front.count));
        (id, self.segments.iter().take(count).copied().collect())
    }

    /// Sends a long part of the oldest request, from `offset` on, behind `head`; gives its bytes. `None` if what is left is
    /// short, or lies in too many pieces.
    fn bulk(
        &mut self,
        link: &Arc<Link>,
        what: (u8, u8, u64),
        head: &[u8],
        offset: u64,
    ) -> std::result::Result<Option<u64>, Stop> {
        let rest = what.2 - offset;
        if rest <= PAYLOAD as u64 {
            return Ok(None);
        }
        let (id, segments) = self.front();
        let part = bulk::reach(&segments, offset, link.pieces()).min(rest);
        if part <= PAYLOAD as u64 {
            return Ok(None);
        }
        if self.sent - self.handled >= CREDITS as u64 || self.bulks.len() >= BULKS {
            return Err(Stop::Peer);
        }
        let tail = if part == rest { record::TAIL } else { 0 };
        let long = part - tail as u64;
        let mut payload = ArrayVec::<u8, { Link::SHORT }>::new();
        payload.extend(head.iter().copied().chain(std::iter::repeat_n(0, tail)));
        let mut place = Target::of(&mut payload[head.len()..]);
        let sent = copy::gather(link.regions(), &segments, offset + long, tail as u64, |source| {
            let done = user::copy(place, source);
            place = place.split(done).1;
        }) && bulk::with_sources(link.regions(), &segments, offset, long, |from, keys| {
            link.send_bulk(what, &payload, from, keys)
        })
        .unwrap_or(Ok(false))?;
        if sent {
            self.bulks.push_back(self.sent);
            self.sent += 1;
            return Ok(Some(part));
        }
        // Those before it are reported first.
        Err(if self.flying.is_empty() { Stop::Failed((id, Status::LocalProtection)) } else { Stop::Peer })
    }

    /// Sends a record of the oldest request: `head`, then `part` bytes of its segments from `offset` on.
    #[allow(clippy::too_many_arguments)] // the parts of a record, which no struct would make fewer
    fn record(
        &mut self,
        link: &Link,
        kind: u8,
        flags: u8,
        aux: u64,
        head: &[u8],
        offset: u64,
        part: usize,
    ) -> std::result::Result<(), Stop> {
        if self.sent - self.handled >= CREDITS as u64 {
            return Err(Stop::Peer);
        }
        let (id, count) = self.waiting.front().map_or((0, 0), |front| (front.id, front.count));
        let list: Checked;
        let segments = match self.segments.as_slices().0.get(..count) {
            Some(segments) => segments,
            None => {
                list = self.segments.iter().take(count).copied().collect();
                &list
            }
        };
        let fill = |to: Target<'_>| {
            let (to_head, mut rest) = to.split(head.len());
            user::copy(to_head, Source::of(head));
            part == 0
                || copy::gather(link.regions(), segments, offset, part as u64, |source| {
                    let done = user::copy(rest, source);
                    rest = rest.split(done).1;
                })
        };
        match link.send(Slot::Request(self.sent), kind, flags, aux, head.len() + part, fill) {
            Ok(true) => {
                self.sent += 1;
                Ok(())
            }
            // Those before it are reported first.
            Ok(false) if !self.flying.is_empty() => Err(Stop::Peer),
            Ok(false) => Err(Stop::Failed((id, Status::LocalProtection))),
            Err(error) => Err(error.into()),
        }
    }

    /// Notes how many records the peer has handled, as it says; false if that cannot be.
    pub fn on_handled(&mut self, handled: u64) -> bool {
        if handled > self.sent {
            return false;
        }
        self.handled = self.handled.max(handled);
        while self.bulks.front().is_some_and(|number| *number < self.handled) {
            self.bulks.pop_front();
        }
        true
    }

    /// Has libfabric receive `len` bytes of the answer to the oldest question into their place; false if they have none, or
    /// one in too many pieces.
    pub fn await_answer(&self, len: usize) -> bool {
        let (Some(link), Some(question)) = (&self.link, self.questions.front()) else { return false };
        if len as u64 > question.len - question.offset {
            return false;
        }
        let places: Checked = self.places.iter().take(question.count).copied().collect();
        bulk::receive(link, &places, question.offset, len as u64)
    }

    /// Takes the next bytes of the answer to the oldest question; false if there is none that they could belong to.
    ///
    /// # Errors
    /// The memory that they were for is gone.
    pub fn on_answer(&mut self, answer: Body<'_>) -> std::result::Result<bool, Failed> {
        let Some(link) = self.link.clone() else { return Ok(true) };
        let Some(question) = self.questions.front_mut() else { return Ok(false) };
        let (len, count, offset) = (answer.len(), question.count, question.offset);
        if len > question.len - offset || (len == 0 && question.len > 0) {
            return Ok(false);
        }
        question.offset += len;
        let last = question.offset == question.len;
        let list: Checked = self.places.iter().take(count).copied().collect();
        if len > 0 && !answer.scatter(link.regions(), &list, offset, last) {
            return Err((question.id, Status::LocalProtection));
        }
        if last {
            self.questions.pop_front();
            self.places.drain(..count);
            self.answered += 1;
        }
        Ok(true)
    }

    /// Forgets the requests that are done; gives the mark of the last one, if there is any.
    pub fn done(&mut self) -> Option<Mark> {
        let mut last = None;
        while let Some(front) = self.flying.front()
            && front.last <= self.handled
            && front.question <= self.answered
        {
            last = Some(Mark(front.id));
            self.flying.pop_front();
        }
        last
    }
}

/// Whether the peer answers the request with bytes.
fn is_question(operation: &Operation) -> bool {
    matches!(operation, Operation::Read(_) | Operation::Atomic { .. })
}
