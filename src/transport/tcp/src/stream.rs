//! The shared state of both directions of a connection: its socket, and unsent bytes.
//!
//! A record is sent with one system call, from the program's memory. What the socket does not take stays here and is
//! sent before anything else: bytes before the payload as a copy, the payload as a reference to registered memory,
//! which is looked up again. Between calls no memory of the program is used.

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

/// Length above which a payload's regions are held by counters, so that only their own frees wait for the system
/// call.
const LONG: u64 = 4096;

/// Pieces of a payload, and of the bytes before it.
type Pieces<'a> = ArrayVec<Source<'a>, { MAX_SEGMENTS + 2 }>;

#[derive(Clone, Copy, Debug)]
pub enum Body<'a> {
    None,
    /// In segments of a request of this end.
    Local(RequestId, &'a [Segment]),
    /// In segments that are not used after the call: unsent bytes are copied.
    Copied(&'a [Segment]),
    Granted(RemoteSegment),
}

/// The reason why nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSent {
    /// The socket has no room. [`Stream::on_room`] reports when it has.
    Busy,
    /// The payload's memory is not registered, or not readable for the peer.
    NoMemory,
    /// The same, after part of the payload was sent: of this request, or of a response. The connection must fail.
    Lost(Option<RequestId>),
    /// The connection has ended, which a read reports.
    Gone,
}

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

struct Out {
    /// Bytes before the payload; the first `gone` were sent.
    head: Vec<u8>,
    gone: usize,
    body: Kept,
    offset: u64,
    len: u64,
    /// Set once this side has ended the connection: the stream ends after the rest.
    leaving: bool,
    /// Set while the set of sockets reports room.
    armed: bool,
    /// Set if a sender has found no room since the last report.
    awaits_room: bool,
    /// Set once the stream is in the adapter's list of partly sent payloads.
    listed: bool,
}

impl Out {
    fn is_empty(&self) -> bool {
        self.gone == self.head.len() && self.len == 0
    }
}

pub struct Stream {
    device: Arc<Device>,
    number: u64,
    socket: Socket,
    /// Access context of this end for registered memory.
    pub own: AccessContext,
    /// Handled bytes of the peer's requests, and the acknowledged ones.
    handled: AtomicU64,
    told: AtomicU64,
    /// Maximum outstanding bytes of the peer's requests.
    window: AtomicU32,
    /// Set if this end has waited for the window since the last record.
    waited: AtomicBool,
    /// Set once sending has failed.
    cut: AtomicBool,
    out: Mutex<Out>,
}

impl Stream {
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

    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    pub fn regions(&self) -> &Regions {
        &self.device.regions
    }

    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    // ---- The window ----

    pub fn note_handled(&self, bytes: u64) {
        self.handled.fetch_add(bytes, Ordering::AcqRel);
    }

    /// Returns the handled bytes without an acknowledgement.
    pub fn owed(&self) -> u64 {
        // In this order, because both grow.
        let told = self.told.load(Ordering::Acquire);
        self.handled.load(Ordering::Acquire) - told
    }

    /// Returns whether to acknowledge before the program's next message, because the peer may soon wait.
    pub fn should_tell(&self) -> bool {
        self.owed() >= u64::from(self.window() / 4 * 3)
    }

    pub fn window(&self) -> u32 {
        self.window.load(Ordering::Relaxed)
    }

    /// Doubles the window, because the peer had to wait.
    pub fn widen(&self) {
        // The lock keeps the windows of sent records in order.
        let _out = self.out.lock();
        let window = self.window().saturating_mul(2).min(MAX_WINDOW);
        self.window.store(window, Ordering::Relaxed);
    }

    /// Records that this end waits for the peer's window.
    pub fn note_waited(&self) {
        self.waited.store(true, Ordering::Relaxed);
    }

    // ---- Sending ----

    /// Locks the sending side, and sends the rest of an earlier record.
    pub fn sender(&self) -> Result<Sender<'_>, NotSent> {
        let mut out = self.out.lock();
        if out.leaving {
            return Err(NotSent::Gone);
        }
        self.push_locked(&mut out)?;
        Ok(Sender { stream: self, out, handled: 0, says_waited: false })
    }

    /// Calls `f` with all pieces to send. Their memory stays registered during the call.
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
            Body::Local(_, segments) | Body::Copied(segments) if len > 0 => {
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

    /// Handles a report of room: sends the rest of a record, calls `then` with the result, and disables the reports if
    /// no sender waits. Only this function disables them, so no waiting sender is missed.
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
                // The rest stays, so later attempts return the same error.
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

    /// Returns whether a request is partly sent, so the peer cannot have handled it.
    pub fn holds_request(&self) -> bool {
        matches!(self.out.lock().body, Kept::Local(..))
    }

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

    fn await_room(&self, out: &mut Out) {
        out.awaits_room = true;
        if !out.armed {
            self.device.await_room(&self.socket, self.number, true);
            out.armed = true;
        }
    }

    /// Reserves memory for the rest of a record. Without memory, the sender retries as if the socket had no room.
    fn reserve(&self, out: &mut Out, bytes: usize) -> Result<(), NotSent> {
        out.head.room(bytes).map_err(|_| {
            self.await_room(out);
            NotSent::Busy
        })
    }

    /// Sends a record without a payload. After an error, nothing was sent.
    pub fn send_record(&self, kind: u8, flags: u8, aux: u64) -> Result<(), NotSent> {
        let mut sender = self.sender()?;
        let header = sender.header(kind, flags, 0, aux);
        sender.send(&header.encode(), Body::None, 0, 0)
    }

    /// Acknowledges handled requests, if any. Returns `false` if the socket has no room.
    pub fn acknowledge(&self) -> bool {
        self.owed() == 0 || self.send_record(kind::HANDLED, 0, 0) != Err(NotSent::Busy)
    }

    // ---- The end ----

    /// Ends the sending direction, and sends `end` to the peer. Afterwards no memory of the program is used. Returns
    /// whether to keep the socket open until the peer has read everything.
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

    /// Shuts down both directions, so that a read reports the end.
    fn cut(&self) -> NotSent {
        self.cut.store(true, Ordering::Release);
        self.socket.shut_down(Shutdown::Both);
        NotSent::Gone
    }

    pub fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Acquire)
    }

    /// Copies the rest of a payload, and adds the last record. Returns `false` on failure.
    fn detach(&self, out: &mut Out, end: Option<End>) -> bool {
        let len = out.len as usize;
        if out.head.room(len + HEADER).is_err() {
            return false;
        }
        if len > 0 {
            let mut bytes: Vec<u8> = std::mem::take(&mut out.head);
            let copied =
                self.with_pieces(&[], out.body.as_body(), out.offset, out.len, |pieces| append(&mut bytes, pieces, 0));
            out.head = bytes;
            if copied.is_err() {
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

/// Appends all pieces except their first `skip` bytes to a list with enough capacity.
fn append(list: &mut Vec<u8>, pieces: &[Source<'_>], mut skip: usize) {
    for piece in pieces {
        let rest = piece.split(skip.min(piece.len())).1;
        skip -= piece.len() - rest.len();
        let before = list.len();
        list.resize(before + rest.len(), 0);
        copy_bytes(Target::of(&mut list[before..]), rest);
    }
}

/// The locked sending side of a stream, without unsent bytes.
pub struct Sender<'s> {
    stream: &'s Stream,
    out: MutexGuard<'s, Out>,
    /// Contents of the last header.
    handled: u64,
    says_waited: bool,
}

impl Sender<'_> {
    pub fn header(&mut self, kind: u8, flags: u8, len: usize, aux: u64) -> Header {
        self.says_waited |= self.stream.waited.load(Ordering::Relaxed);
        self.handled = self.stream.handled.load(Ordering::Acquire);
        let flags = flags | if self.says_waited { WAITED } else { 0 };
        Header { kind, flags, len: len as u32, handled: self.handled, window: self.stream.window(), aux }
    }

    /// Reserves memory for records, which the stream then takes even without room in the socket.
    pub fn reserve(&mut self, bytes: usize) -> Result<(), NotSent> {
        self.stream.reserve(&mut self.out, bytes)
    }

    /// Records that the headers were sent.
    fn note_sent(&self) {
        self.stream.told.fetch_max(self.handled, Ordering::AcqRel);
        if self.says_waited {
            self.stream.waited.store(false, Ordering::Relaxed);
        }
    }

    /// Sends records: the bytes `head`, then `len` bytes of `body` from `offset`. On success, the stream sends later
    /// what the socket did not take. After an error, nothing was sent.
    pub fn send(&mut self, head: &[u8], body: Body<'_>, offset: u64, len: u64) -> Result<(), NotSent> {
        let Sender { stream, out, .. } = self;
        let copied = if let Body::Copied(_) = body { len as usize } else { 0 };
        stream.reserve(out, head.len() + copied)?;
        let sent = match body {
            Body::None => stream.socket.send_bytes(head),
            _ => stream.with_pieces(head, body, offset, len, |pieces| {
                let sent = stream.socket.send(pieces);
                if let (Ok(sent), true) = (&sent, copied > 0) {
                    append(&mut out.head, pieces, *sent);
                }
                sent
            })?,
        };
        let Ok(sent) = sent else { return Err(stream.cut()) };
        let of_head = sent.min(head.len());
        let of_body = (sent - of_head) as u64;
        if sent < head.len() + len as usize {
            if copied == 0 {
                out.head.extend_from_slice(&head[of_head..]);
                (out.offset, out.len) = (offset + of_body, len - of_body);
            }
            out.body = match body {
                Body::None | Body::Copied(_) => Kept::None,
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

    /// Sends a record with a payload that `compute` returns, after reserving memory. Sends nothing if it returns
    /// `None`. After an error, nothing was sent, and `compute` was not called.
    pub fn send_computed(mut self, header: Header, compute: impl FnOnce() -> Option<[u8; 8]>) -> Result<(), NotSent> {
        let Sender { stream, out, .. } = &mut self;
        stream.reserve(out, HEADER + 8)?;
        let Some(payload) = compute() else { return Ok(()) };
        out.head.extend_from_slice(&header.encode());
        out.head.extend_from_slice(&payload);
        // The rest is sent later.
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
