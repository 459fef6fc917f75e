//! The shared state of both directions of a connection: its socket, and unsent bytes.
//!
//! A group of records is sent with one system call. Headers, short payloads and datagrams are copied into a buffer. A
//! longer payload, which can only be the last, is sent from the program's memory. What the socket does not take is sent
//! before any later record. The registered memory of a partly sent payload is then looked up again. Between calls no
//! memory of the program is used.

use std::mem;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use arrayvec::ArrayVec;
use dat_core::Rights;
use dat_core::event::Status;
use dat_core::transport::{Checked, MAX_SEGMENTS, RemoteSegment, RequestId, Segment};
use dat_software::copy::{self, Slice};
use dat_software::records::Fatal;
use dat_software::regions::{AccessContext, RegionTable};
use dat_software::user::{Source, Target, copy_lists};
use host::lock::{Mutex, MutexGuard};
use host::memory::{self, ArcRoom, NoMemory, Room};
use host::poll::Epoll;
use rustix::net::Shutdown;

use crate::record::{End, HEADER, Header, MAX_WINDOW, MIN_WINDOW, SOLICITED, WAITED, kind};
use crate::socket::Socket;

/// State that all streams of an adapter share.
pub struct Shared {
    pub regions: RegionTable,
    /// Sockets of connections, by number.
    pub sockets: Epoll,
    /// Numbers of connections that may have a partly sent payload.
    pub blocked: Mutex<Vec<u64>>,
}

impl Shared {
    /// Records that a connection may have a partly sent payload in registered memory. Returns `false` without memory.
    #[cold]
    fn list_blocked(&self, number: u64) -> bool {
        let mut blocked = self.blocked.lock();
        blocked.room(1).map(|()| blocked.push(number)).is_ok()
    }
}

/// The memory of a payload.
#[derive(Clone, Copy, Debug, Default)]
pub enum Body {
    #[default]
    None,
    /// Segments of a request of this end.
    Local(RequestId),
    /// Memory that the peer reads.
    Granted(RemoteSegment),
}

/// The reason why a send failed.
#[derive(Debug)]
pub enum NotSent {
    /// The socket has no room, or memory is exhausted. [`Stream::on_room`] reports when to retry.
    Busy,
    /// The payload's memory is not registered, or not readable for the peer.
    NoMemory,
    /// Like [`NotSent::NoMemory`], for the rest of an earlier record, so the connection must fail.
    Lost(Fatal),
    /// The connection has ended, which a read reports.
    Gone,
}

#[derive(Default)]
struct Out {
    /// A buffer for the bytes before the payload, which end at `end`. The first `gone` of them were sent. There is
    /// capacity for an END record after `end`.
    head: Vec<u8>,
    end: usize,
    gone: usize,
    /// The payload and its segments, and the offset and length of its unsent bytes.
    body: Body,
    segments: Checked,
    offset: u64,
    len: u64,
    /// Set once this side has ended the connection: the stream ends after the unsent bytes.
    leaving: bool,
    /// Set while the set of sockets must report room.
    armed: bool,
    /// Set if a sender has found no room since the last report.
    awaits_room: bool,
    /// Set once the stream is in the adapter's list of partly sent payloads.
    listed: bool,
}

impl Out {
    fn is_empty(&self) -> bool {
        self.gone == self.end && self.len == 0
    }

    /// Returns the failure of the connection if the unsent payload is no longer registered.
    fn lost(&self) -> Fatal {
        match self.body {
            Body::Local(id) => Fatal::of_request(id, Status::LocalProtection),
            _ => Fatal::of_peer(Status::RemoteAccess),
        }
    }
}

pub struct Stream {
    pub shared: Arc<Shared>,
    number: u64,
    pub socket: Socket,
    /// Access context of this end for registered memory.
    pub own: AccessContext,
    /// Handled bytes of the peer's requests. Only the thread that has locked the receiving direction changes them.
    pub handled: AtomicU64,
    /// Handled bytes that were reported to the peer. Only a [`Sender`] changes them.
    acknowledged: AtomicU64,
    /// Maximum outstanding bytes of the peer's requests.
    window: AtomicU32,
    /// Set if the window that the peer grants has delayed or split a request since this end last sent [`WAITED`].
    pub waited: AtomicBool,
    /// Set once sending has failed.
    cut: AtomicBool,
    out: Mutex<Out>,
}

impl Stream {
    /// Allocates a stream, for [`Stream::new`], and its first record, for which the acceptor waits.
    pub fn room() -> Result<(ArcRoom<Stream>, Vec<u8>), NoMemory> {
        Ok((ArcRoom::new()?, memory::vec(2 * HEADER)?))
    }

    /// Creates the stream of a connection with this number and protection zone.
    pub fn new(
        (place, head): (ArcRoom<Stream>, Vec<u8>),
        shared: Arc<Shared>,
        (number, zone): (u64, u32),
        socket: Socket,
    ) -> Arc<Stream> {
        place.fill(Stream {
            shared,
            number,
            socket,
            own: AccessContext::new(zone, number),
            handled: AtomicU64::new(0),
            acknowledged: AtomicU64::new(0),
            window: AtomicU32::new(MIN_WINDOW),
            waited: AtomicBool::new(false),
            cut: AtomicBool::new(false),
            out: Mutex::new(Out { head, ..Out::default() }),
        })
    }

    pub fn note_handled(&self, bytes: u64) {
        self.handled.store(self.handled.load(Ordering::Relaxed) + bytes, Ordering::Release);
    }

    /// Returns the number of handled bytes that were not reported to the peer.
    fn unacknowledged(&self) -> u64 {
        // Loads `handled` last: both grow, and `handled` must not be the smaller number.
        let acknowledged = self.acknowledged.load(Ordering::Acquire);
        self.handled.load(Ordering::Acquire) - acknowledged
    }

    pub fn window(&self) -> u32 {
        self.window.load(Ordering::Relaxed)
    }

    /// Doubles the window of the peer, up to [`MAX_WINDOW`], because the window has delayed the peer.
    pub fn widen(&self) {
        // The lock keeps the windows of sent records in order.
        let _out = self.out.lock();
        self.window.store((self.window() * 2).min(MAX_WINDOW), Ordering::Relaxed);
    }

    /// Locks the sending side, and sends the rest of earlier records.
    pub fn sender(&self) -> Result<Sender<'_>, NotSent> {
        let mut out = self.out.lock();
        if out.leaving || self.is_cut() {
            return Err(NotSent::Gone);
        }
        if !out.is_empty() {
            self.push_rest(&mut out)?;
        }
        Ok(Sender { stream: self, out, mark: 0, handled: self.handled.load(Ordering::Acquire), says_waited: false })
    }

    /// Calls `f` with `head` and the unsent payload. Their memory stays registered during the call.
    fn with_pieces<R>(&self, head: &[u8], out: &Out, f: impl FnOnce(&[Source<'_>]) -> R) -> Result<R, NotSent> {
        let (offset, len) = (out.offset, out.len);
        let (region_refs, granted);
        let mut pieces = ArrayVec::<Source<'_>, { MAX_SEGMENTS + 2 }>::new();
        if !head.is_empty() {
            pieces.push(Source::of(head));
        }
        match &out.body {
            Body::Local(_) if len > 0 => {
                // Counted references, so that only frees of these regions wait for the system call.
                let region_ref = |key| self.shared.regions.acquire_counted(key);
                region_refs = copy::acquire_all(&out.segments, region_ref).ok_or(NotSent::NoMemory)?;
                pieces.extend(copy::sources(&out.segments, &region_refs, Slice { offset, len, last: false }));
            }
            Body::Granted(from) if len > 0 => {
                let found = self.shared.regions.grant(from, Rights::REMOTE_READ, &self.own);
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

    /// Sends the unsent bytes. Returns `false` if the socket has no room for all. After an error, none were sent.
    #[inline]
    fn push(&self, out: &mut Out) -> Result<bool, NotSent> {
        if self.is_cut() {
            return Err(NotSent::Gone);
        }
        if !out.is_empty() {
            let head = &out.head[out.gone..out.end];
            let sent = match out.body {
                Body::None => self.socket.send_bytes(head),
                _ => self.with_pieces(head, out, |pieces| self.socket.send(pieces))?,
            };
            let Ok(sent) = sent else { return Err(self.cut()) };
            let of_head = sent.min(head.len());
            let of_body = (sent - of_head) as u64;
            out.gone += of_head;
            (out.offset, out.len) = (out.offset + of_body, out.len - of_body);
            if !out.is_empty() {
                self.await_room(out);
                return Ok(false);
            }
            (out.end, out.gone) = (0, 0);
            out.body = Body::None;
        }
        if out.leaving {
            self.socket.shut_down(Shutdown::Write);
        }
        Ok(true)
    }

    fn push_rest(&self, out: &mut Out) -> Result<(), NotSent> {
        match self.push(out) {
            Ok(true) => Ok(()),
            Ok(false) => Err(NotSent::Busy),
            // The rest stays unsent, so later attempts return the same error.
            Err(NotSent::NoMemory) => Err(NotSent::Lost(out.lost())),
            Err(error) => Err(error),
        }
    }

    /// Handles a report of room: sends the rest of a record, calls `then` with the result, and disables the reports if
    /// no sender waits now. No other function disables them, so no waiting sender is missed.
    pub fn on_room(&self, then: impl FnOnce(Result<(), NotSent>)) {
        let pushed = {
            let mut out = self.out.lock();
            out.awaits_room = false;
            self.push_rest(&mut out)
        };
        then(pushed);
        let mut out = self.out.lock();
        if out.armed && !out.awaits_room {
            let _ = self.shared.sockets.modify(self.socket.as_fd(), self.number, false);
            out.armed = false;
        }
    }

    /// Returns whether a request is partly sent, so the peer cannot have handled it.
    pub fn holds_request(&self) -> bool {
        matches!(self.out.lock().body, Body::Local(..))
    }

    /// Returns the failure of the connection if it has a partly sent payload in this region.
    pub fn lost_with(&self, key: u32) -> Option<Fatal> {
        let out = self.out.lock();
        let uses = match &out.body {
            Body::Local(_) => out.segments.iter().any(|segment| segment.key as u32 == key),
            Body::Granted(from) => from.key == key,
            Body::None => false,
        };
        uses.then(|| out.lost())
    }

    fn await_room(&self, out: &mut Out) {
        out.awaits_room = true;
        if !out.armed {
            let _ = self.shared.sockets.modify(self.socket.as_fd(), self.number, true);
            out.armed = true;
        }
    }

    /// Copies the unsent payload from the program's memory into the buffer, and ensures capacity for an END record.
    fn copy_rest(&self, out: &mut Out) -> Result<(), NotSent> {
        out.head.truncate(out.end);
        out.head.room(out.len as usize + HEADER).map_err(|_| NotSent::NoMemory)?;
        let mut head = mem::take(&mut out.head);
        let start = head.len();
        head.resize(start + out.len as usize, 0);
        let copied = self.with_pieces(&[], out, |pieces| copy_lists([Target::of(&mut head[start..])], pieces));
        (out.end, out.head) = (head.len(), head);
        (out.body, out.len) = (Body::None, 0);
        copied
    }

    /// Sends a record that only reports the handled bytes.
    pub fn report(&self) -> Result<(), NotSent> {
        let mut sender = self.sender()?;
        sender.add(kind::HANDLED, false, 0, 0, 0)?;
        sender.send()
    }

    /// Reports the handled bytes to the peer. If `early`, only if the peer's window is nearly used up. Returns `false`
    /// if a later call must report bytes.
    pub fn acknowledge(&self, early: bool) -> bool {
        let bytes = self.unacknowledged();
        let is_due = || !early || bytes >= u64::from(self.window() / 4 * 3);
        bytes == 0 || (is_due() && !matches!(self.report(), Err(NotSent::Busy)))
    }

    /// Ends the sending direction, and sends `end` to the peer. Afterwards no memory of the program is used. Returns
    /// whether to keep the socket open until the peer has read everything.
    pub fn leave(&self, end: Option<End>) -> bool {
        let out = &mut *self.out.lock();
        if out.leaving {
            return !self.is_cut();
        }
        out.leaving = true;
        let detached = !self.is_cut() && self.copy_rest(out).is_ok();
        if let Some(end) = end.filter(|_| detached) {
            let (handled, window) = (self.handled.load(Ordering::Acquire), self.window());
            let header = Header { kind: kind::END, aux: end.encode(), handled, window, ..Header::default() };
            out.head.truncate(out.end);
            out.head.extend_from_slice(&header.encode());
            out.end = out.head.len();
        }
        let leaves = detached && self.push(out).is_ok();
        if !leaves {
            self.cut();
        }
        leaves
    }

    /// Shuts down both directions, so that a read reports the end.
    fn cut(&self) -> NotSent {
        self.cut.store(true, Ordering::Release);
        self.socket.shut_down(Shutdown::Both);
        NotSent::Gone
    }

    fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Acquire)
    }

    /// Waits until no other thread sends. Returns whether sending has failed.
    pub fn has_failed(&self) -> bool {
        let _out = self.out.lock();
        self.is_cut()
    }
}

/// The locked sending side of a stream, in which no bytes of earlier senders are left.
pub struct Sender<'s> {
    stream: &'s Stream,
    out: MutexGuard<'s, Out>,
    /// Length of the records before the last one.
    mark: usize,
    /// Value of `handled` in the headers of the added records.
    handled: u64,
    /// Set if a header has the flag [`WAITED`].
    says_waited: bool,
}

impl Sender<'_> {
    pub fn len(&self) -> usize {
        self.out.end
    }

    /// Adds a record with `len` bytes after its header. Returns the first `filled` of them, which the caller must fill.
    /// Without memory, fails as if the socket had no room.
    #[inline]
    pub fn add(&mut self, kind: u8, solicited: bool, len: u64, aux: u64, filled: u64) -> Result<&mut [u8], NotSent> {
        let out = &mut *self.out;
        let (start, end) = (out.end + HEADER, out.end + HEADER + filled as usize);
        if out.head.room((end + HEADER).saturating_sub(out.head.len())).is_err() {
            self.stream.await_room(out);
            return Err(NotSent::Busy);
        }
        self.says_waited |= self.stream.waited.load(Ordering::Relaxed);
        let flags = if solicited { SOLICITED } else { 0 } | if self.says_waited { WAITED } else { 0 };
        let (handled, window) = (self.handled, self.stream.window());
        let header = Header { kind, flags, len: len as u32, aux, handled, window };
        if out.head.len() < end {
            out.head.resize(end, 0);
        }
        self.mark = mem::replace(&mut out.end, end);
        out.head[self.mark..start].copy_from_slice(&header.encode());
        Ok(&mut out.head[start..end])
    }

    pub fn undo(&mut self) {
        self.out.end = self.mark;
    }

    /// Sends the added records, whose payloads are all in the buffer.
    pub fn send(&mut self) -> Result<(), NotSent> {
        self.send_with(Body::None, &[], 0, 0)
    }

    /// Sends the added records, and `len` bytes of `body` from `offset`, which end the last record. [`Body::Local`]
    /// needs `segments`. On success, the stream sends later what the socket did not take. After an error, the last
    /// record is removed.
    pub fn send_with(&mut self, body: Body, segments: &[Segment], offset: u64, len: u64) -> Result<(), NotSent> {
        let out = &mut *self.out;
        (out.body, out.offset, out.len) = (body, offset, len);
        out.segments.clear();
        out.segments.extend(segments.iter().copied());
        match self.stream.push(out) {
            Ok(false) if out.len > 0 && !out.listed => {
                out.listed = self.stream.shared.list_blocked(self.stream.number);
            }
            Ok(_) => {}
            Err(error) => {
                (out.body, out.len) = (Body::None, 0);
                self.undo();
                return Err(error);
            }
        }
        self.stream.acknowledged.store(self.handled, Ordering::Release);
        if self.says_waited {
            self.stream.waited.store(false, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _ = self.shared.sockets.delete(self.socket.as_fd());
    }
}
