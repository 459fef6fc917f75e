//! What both directions of a connection share: its socket, and the bytes that the socket had no room for.
//!
//! A record is sent with one system call, from the program's memory. If the socket takes only a part of it, the rest stays
//! here and precedes everything else: the bytes before the payload as a copy, the payload as a reference to registered memory,
//! which is looked up anew. No memory of the program is used between two calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use arrayvec::ArrayVec;
use dat_core::Rights;
use dat_core::transport::{Checked, MAX_SEGMENTS, RemoteSegment, RequestId, Segment};
use dat_memory::copy::{self, Slice};
use dat_memory::regions::AccessContext;
use dat_memory::user::{Source, Target, copy as copy_bytes};
use host::lock::{Mutex, MutexGuard};
use host::memory::{self, Room};
use rustix::net::Shutdown;

use crate::device::{Device, Regions};
use crate::record::{End, HEADER, Header, MAX_WINDOW, MIN_WINDOW, WAITED, kind};
use crate::socket::Socket;

/// Payloads above this length hold their region by a counter, so that only a free of the same region waits for the call.
const LONG: u64 = 4096;

/// A list of pieces: those of a payload, and the bytes before it.
type Pieces<'a> = ArrayVec<Source<'a>, { MAX_SEGMENTS + 2 }>;

/// Where a payload is.
#[derive(Clone, Copy, Debug)]
pub enum Body<'a> {
    /// There is none.
    None,
    /// In segments of a request of this end.
    Local(RequestId, &'a [Segment]),
    /// In memory that the peer reads.
    Granted(RemoteSegment),
}

/// Why nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSent {
    /// The socket has no room. [`Stream::push`] succeeds when it has.
    Busy,
    /// The memory of the payload is not registered, or the peer may not read it.
    NoMemory,
    /// The same is true of a payload of which a part was sent: that of this request, or of a response. The connection must fail.
    Lost(Option<RequestId>),
    /// The connection has ended, which a read reports.
    Gone,
}

/// A [`Body`] that stays.
#[allow(clippy::large_enum_variant, reason = "a box needs memory, which may be refused")]
enum Kept {
    None,
    Local(RequestId, Checked),
    Granted(RemoteSegment),
}

impl Kept {
    fn as_body(&self) -> Body<'_> {
        match self {
            Kept::None => Body::None,
            Kept::Local(id, segments) => Body::Local(*id, segments),
            Kept::Granted(from) => Body::Granted(*from),
        }
    }
}

/// The rest of a record.
struct Out {
    /// Bytes before the payload, of which the first `gone` were sent.
    head: Vec<u8>,
    gone: usize,
    body: Kept,
    offset: u64,
    len: u64,
    /// The connection has ended on this side: after the rest comes the end of the stream.
    leaving: bool,
    /// The set of sockets reports room for this one.
    armed: bool,
    /// Something waits for room since the last report.
    awaits_room: bool,
    /// The adapter knows that payloads of this stream may stay.
    listed: bool,
}

impl Out {
    fn is_empty(&self) -> bool {
        self.gone == self.head.len() && self.len == 0
    }
}

/// A connected socket.
pub struct Stream {
    device: Arc<Device>,
    number: u64,
    socket: Socket,
    /// This end, as rows of registered memory know it.
    pub own: AccessContext,
    /// Bytes of the peer's requests that are handled, and those of which the peer knows.
    handled: AtomicU64,
    told: AtomicU64,
    /// Bytes of requests that the peer can have outstanding.
    window: AtomicU32,
    /// The window was too small for this end since the last record.
    waited: AtomicBool,
    /// Nothing can be sent any more.
    cut: AtomicBool,
    out: Mutex<Out>,
}

impl Stream {
    /// A stream over `socket` for the connection `number` of a protection zone.
    ///
    /// # Errors
    /// There is no memory.
    pub fn new(device: &Arc<Device>, socket: Socket, number: u64, zone: u32) -> dat_core::error::Result<Arc<Stream>> {
        Ok(memory::arc(Stream {
            device: device.clone(),
            number,
            socket,
            own: AccessContext::new(zone, number),
            handled: AtomicU64::new(0),
            told: AtomicU64::new(0),
            window: AtomicU32::new(MIN_WINDOW),
            waited: AtomicBool::new(false),
            cut: AtomicBool::new(false),
            out: Mutex::new(Out {
                head: Vec::new(),
                gone: 0,
                body: Kept::None,
                offset: 0,
                len: 0,
                armed: false,
                awaits_room: false,
                listed: false,
                leaving: false,
            }),
        })?)
    }

    /// The socket.
    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// The table of registered memory.
    pub fn regions(&self) -> &Regions {
        &self.device.regions
    }

    /// The adapter.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    // ---- The window ----

    /// Notes that `bytes` more of the peer's requests are handled.
    pub fn note_handled(&self, bytes: u64) {
        self.handled.fetch_add(bytes, Ordering::AcqRel);
    }

    /// Returns the bytes of handled requests that the peer does not know of.
    pub fn owed(&self) -> u64 {
        // In this order, because both grow.
        let told = self.told.load(Ordering::Acquire);
        self.handled.load(Ordering::Acquire) - told
    }

    /// Returns whether the peer should hear of handled requests now, since it may soon wait for that. A report that can wait
    /// leaves with the program's next message instead of before it.
    pub fn should_tell(&self) -> bool {
        self.owed() >= u64::from(self.window() / 4 * 3)
    }

    /// Returns how many bytes of requests the peer can have outstanding.
    pub fn window(&self) -> u32 {
        self.window.load(Ordering::Relaxed)
    }

    /// Doubles the window, because the peer had to wait.
    pub fn widen(&self) {
        // Records leave in the order in which they read it.
        let _out = self.out.lock();
        let window = self.window().saturating_mul(2).min(MAX_WINDOW);
        self.window.store(window, Ordering::Relaxed);
    }

    /// Notes that this end waits for the peer's window. The next record says so.
    pub fn note_waited(&self) {
        self.waited.store(true, Ordering::Relaxed);
    }

    // ---- Sending ----

    /// Locks the sending side, and sends what is left of an earlier record.
    ///
    /// # Errors
    /// Nothing can be sent now.
    pub fn sender(&self) -> Result<Sender<'_>, NotSent> {
        let mut out = self.out.lock();
        if out.leaving {
            return Err(NotSent::Gone);
        }
        self.push_locked(&mut out)?;
        Ok(Sender { stream: self, out, handled: 0, says_waited: false })
    }

    /// Calls `f` with all pieces of what is to be sent. Their memory stays registered during the call.
    fn with_pieces<R>(
        &self,
        head: &[u8],
        body: Body<'_>,
        offset: u64,
        len: u64,
        f: impl FnOnce(&[Source<'_>]) -> R,
    ) -> Result<R, NotSent> {
        let (region_refs, granted);
        let mut pieces = Pieces::new();
        if !head.is_empty() {
            pieces.push(Source::of(head));
        }
        match body {
            Body::Local(_, segments) if len > 0 => {
                let region_ref =
                    |key| if len > LONG { self.regions().acquire_counted(key) } else { self.regions().acquire(key) };
                region_refs = copy::acquire_all(segments, region_ref).ok_or(NotSent::NoMemory)?;
                pieces.extend(copy::sources(segments, &region_refs, Slice { offset, len, last: false }));
            }
            Body::Granted(from) if len > 0 => {
                let wanted = Rights::REMOTE_READ;
                let found = self.regions().grant(from.key, from.addr, from.len, wanted, &self.own);
                granted = found.map_err(|_| NotSent::NoMemory)?;
                pieces.push(granted.source(offset, len));
            }
            _ => {}
        }
        let found: usize = pieces.iter().map(Source::len).sum();
        if found as u64 != head.len() as u64 + len {
            return Err(NotSent::NoMemory);
        }
        Ok(f(&pieces))
    }

    /// Handles a report of room: sends what is left of a record, and calls `then` with the result. The reports end when nothing
    /// waits for room any more. Only this function ends them, so that a sender that found no room is always called.
    pub fn on_room(&self, then: impl FnOnce(Result<(), NotSent>)) {
        let pushed = {
            let mut out = self.out.lock();
            out.awaits_room = false;
            self.push_locked(&mut out)
        };
        then(pushed);
        let mut out = self.out.lock();
        if out.armed && !out.awaits_room {
            self.device.await_room(&self.socket, self.number, false);
            out.armed = false;
        }
    }

    fn push_locked(&self, out: &mut Out) -> Result<(), NotSent> {
        if self.is_cut() {
            return Err(NotSent::Gone);
        }
        if out.is_empty() {
            return Ok(());
        }
        while !out.is_empty() {
            let body = out.body.as_body();
            let send = |pieces: &[Source<'_>]| self.socket.send(pieces);
            let sent = match self.with_pieces(&out.head[out.gone..], body, out.offset, out.len, send) {
                Ok(Ok(0)) => {
                    self.await_room(out);
                    return Err(NotSent::Busy);
                }
                Ok(Ok(sent)) => sent,
                Ok(Err(_)) => return Err(self.cut()),
                // It stays, so that each later attempt finds the same.
                Err(_) => {
                    return Err(NotSent::Lost(match out.body {
                        Kept::Local(id, _) => Some(id),
                        Kept::None | Kept::Granted(_) => None,
                    }));
                }
            };
            let of_head = sent.min(out.head.len() - out.gone);
            out.gone += of_head;
            let of_body = (sent - of_head) as u64;
            (out.offset, out.len) = (out.offset + of_body, out.len - of_body);
        }
        out.head.clear();
        out.gone = 0;
        out.body = Kept::None;
        if out.leaving {
            self.socket.shut_down(Shutdown::Write);
        }
        Ok(())
    }

    /// Returns whether a payload of a request of this end was not sent completely, so that the peer cannot have handled it.
    pub fn holds_request(&self) -> bool {
        matches!(self.out.lock().body, Kept::Local(..))
    }

    /// Returns the failure if the rest of a record is in the region with this key.
    pub fn lost_with(&self, key: u32) -> Option<NotSent> {
        let out = self.out.lock();
        match &out.body {
            Kept::Local(id, segments) if segments.iter().any(|segment| segment.key as u32 == key) => {
                Some(NotSent::Lost(Some(*id)))
            }
            Kept::Granted(from) if from.key == key => Some(NotSent::Lost(None)),
            _ => None,
        }
    }

    /// Asks for a report when the socket has room.
    fn await_room(&self, out: &mut Out) {
        out.awaits_room = true;
        if !out.armed {
            self.device.await_room(&self.socket, self.number, true);
            out.armed = true;
        }
    }

    /// Makes room for the rest of a record. A sender that finds no memory tries again as if the socket had no room.
    fn reserve(&self, out: &mut Out, bytes: usize) -> Result<(), NotSent> {
        out.head.room(bytes).map_err(|_| {
            self.await_room(out);
            NotSent::Busy
        })
    }

    /// Sends a record without a payload.
    ///
    /// # Errors
    /// As for [`Sender::send`].
    pub fn send_record(&self, kind: u8, flags: u8, aux: u64) -> Result<(), NotSent> {
        let mut sender = self.sender()?;
        let header = sender.header(kind, flags, 0, aux);
        sender.send(&header.encode(), Body::None, 0, 0)
    }

    /// Reports the handled requests to the peer, if it does not know of all. Returns false if the socket has no room.
    pub fn acknowledge(&self) -> bool {
        self.owed() == 0 || self.send_record(kind::HANDLED, 0, 0) != Err(NotSent::Busy)
    }

    // ---- The end ----

    /// Ends the sending direction, and reports `end` to the peer if there is one. After the call no memory of the program is
    /// used. Returns whether the socket should stay open until the peer has read everything.
    pub fn leave(&self, end: Option<End>) -> bool {
        let mut out = self.out.lock();
        if out.leaving {
            return !self.is_cut();
        }
        out.leaving = true;
        if self.is_cut() || !self.detach(&mut out, end) {
            self.cut();
            return false;
        }
        match self.push_locked(&mut out) {
            Ok(()) => {
                self.socket.shut_down(Shutdown::Write);
                true
            }
            Err(NotSent::Busy) => true,
            Err(_) => {
                self.cut();
                false
            }
        }
    }

    /// Ends both directions after an error, so that a read reports the end of the connection.
    fn cut(&self) -> NotSent {
        self.cut.store(true, Ordering::Release);
        self.socket.shut_down(Shutdown::Both);
        NotSent::Gone
    }

    /// Returns whether sending failed.
    pub fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Acquire)
    }

    /// Copies the rest of a payload, and adds the last record. Returns false if that is not possible.
    fn detach(&self, out: &mut Out, end: Option<End>) -> bool {
        let len = out.len as usize;
        if out.head.room(len + HEADER).is_err() {
            return false;
        }
        if len > 0 {
            let mut bytes: Vec<u8> = std::mem::take(&mut out.head);
            let before = bytes.len();
            bytes.resize(before + len, 0);
            let mut rest = Target::of(&mut bytes[before..]);
            let copied = self.with_pieces(&[], out.body.as_body(), out.offset, out.len, |pieces| {
                for piece in pieces {
                    let done = copy_bytes(rest, *piece);
                    rest = rest.split(done).1;
                }
                rest.is_empty()
            });
            out.head = bytes;
            if copied != Ok(true) {
                return false;
            }
            (out.body, out.len) = (Kept::None, 0);
        }
        if let Some(end) = end {
            let handled = self.handled.load(Ordering::Acquire);
            let header =
                Header { kind: kind::END, flags: 0, len: 0, handled, window: self.window(), aux: end.encode() };
            out.head.extend_from_slice(&header.encode());
        }
        true
    }
}

/// The sending side of a stream, on which nothing is left of an earlier record.
pub struct Sender<'s> {
    stream: &'s Stream,
    out: MutexGuard<'s, Out>,
    /// What the headers report.
    handled: u64,
    says_waited: bool,
}

impl Sender<'_> {
    /// Returns the header of a record.
    pub fn header(&mut self, kind: u8, flags: u8, len: usize, aux: u64) -> Header {
        self.says_waited |= self.stream.waited.load(Ordering::Relaxed);
        self.handled = self.stream.handled.load(Ordering::Acquire);
        let flags = flags | if self.says_waited { WAITED } else { 0 };
        Header { kind, flags, len: len as u32, handled: self.handled, window: self.stream.window(), aux }
    }

    /// Notes that the headers were sent.
    fn note_sent(&self) {
        self.stream.told.fetch_max(self.handled, Ordering::AcqRel);
        if self.says_waited {
            self.stream.waited.store(false, Ordering::Relaxed);
        }
    }

    /// Sends records: the bytes `head`, then `len` bytes of `body` from `offset` on. On success the stream has all of it, and
    /// sends later what the socket did not take.
    ///
    /// # Errors
    /// Nothing was sent.
    pub fn send(mut self, head: &[u8], body: Body<'_>, offset: u64, len: u64) -> Result<(), NotSent> {
        let Sender { stream, out, .. } = &mut self;
        // What does not fit must stay, so that there is a place for it first.
        stream.reserve(out, head.len())?;
        let sent = match body {
            Body::None => stream.socket.send_bytes(head),
            _ => stream.with_pieces(head, body, offset, len, |pieces| stream.socket.send(pieces))?,
        };
        let Ok(sent) = sent else { return Err(stream.cut()) };
        if sent == 0 {
            stream.await_room(out);
            return Err(NotSent::Busy);
        }
        let of_head = sent.min(head.len());
        let of_body = (sent - of_head) as u64;
        if sent < head.len() + len as usize {
            out.head.extend_from_slice(&head[of_head..]);
            (out.offset, out.len) = (offset + of_body, len - of_body);
            out.body = match body {
                Body::None => Kept::None,
                Body::Local(id, segments) => Kept::Local(id, segments.iter().copied().collect()),
                Body::Granted(from) => Kept::Granted(from),
            };
            if out.len > 0 && !out.listed {
                out.listed = stream.device.list_blocked(stream.number);
            }
            stream.await_room(out);
        }
        self.note_sent();
        Ok(())
    }

    /// Sends a record with a payload that `compute` returns once the stream can keep it. Nothing is sent if it returns `None`.
    ///
    /// # Errors
    /// Nothing was sent, and `compute` was not called.
    pub fn send_computed(mut self, header: Header, compute: impl FnOnce() -> Option<[u8; 8]>) -> Result<(), NotSent> {
        let Sender { stream, out, .. } = &mut self;
        stream.reserve(out, HEADER + 8)?;
        let Some(payload) = compute() else { return Ok(()) };
        out.head.extend_from_slice(&header.encode());
        out.head.extend_from_slice(&payload);
        // What is left is sent later.
        let _ = stream.push_locked(out);
        self.note_sent();
        Ok(())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.device.remove_socket(&self.socket);
    }
}
