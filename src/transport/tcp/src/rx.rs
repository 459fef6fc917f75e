//! The receiving direction of a connection: splits the byte stream of the socket into records.
//!
//! [`Requests`] handles requests in order. While one waits, for a receive or for room to respond, this module stores
//! later ones, up to the peer's window. Other records are handled as they arrive. Long payloads are received directly
//! into their destination.

use std::sync::Arc;

use arrayvec::ArrayVec;
use dat_core::Rights;
use dat_core::event::Status;
use dat_core::transport::{Checked, FailedRequest, MAX_SEGMENTS, RecvDone, RemoteSegment};
use dat_memory::copy::{self, Slice};
use dat_memory::user::{Source, Target};
use host::memory::Room;

use crate::conn::{Conn, had_to_wait};
use crate::record::{End, HEADER, Header, MAX_HEAD, kind};
use crate::requests::Requests;
use crate::stream::Stream;

/// Minimum rest of a payload for direct receiving.
const MIN_DIRECT: u64 = 4096;
/// Maximum bytes of the last word of a transfer, which is stored last and atomically.
pub const TAIL: u64 = 8;
/// Capacity for stored requests that is not freed.
const MAX_KEPT: usize = 64 << 10;

#[derive(Clone, Copy, Debug, Default)]
pub struct Fatal {
    pub recv: Option<RecvDone>,
    /// The failing request of this end.
    pub request: Option<(FailedRequest, Status)>,
    /// The status of the peer's oldest request, if it fails.
    pub peer: Option<Status>,
}

#[derive(Clone, Copy, Debug)]
pub enum ConnEnd {
    /// This end detected a failure.
    Failed(Fatal),
    Left(End),
}

impl From<Fatal> for ConnEnd {
    fn from(fatal: Fatal) -> ConnEnd {
        ConnEnd::Failed(fatal)
    }
}

#[cold]
fn violation() -> ConnEnd {
    ConnEnd::Failed(Fatal::default())
}

#[allow(clippy::large_enum_variant, reason = "a box needs memory, which may be refused")]
pub enum Place {
    /// Own segments, from an offset.
    Local(Checked, u64),
    /// Target of the peer's write, from an offset.
    Granted(RemoteSegment, u64),
}

/// The last bytes of a transfer until they are complete.
pub type Tail = ArrayVec<u8, { TAIL as usize }>;

#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub offset: u64,
    pub len: u64,
}

/// Stores `bytes` by `store(offset, bytes, is_last)`, and the last word last, in one call. Returns `false` if `store`
/// does.
pub fn store_piece(
    tail: &mut Tail,
    piece: Piece,
    bytes: &[u8],
    mut store: impl FnMut(u64, Source<'_>, bool) -> bool,
) -> bool {
    let Piece { offset, len } = piece;
    let rest = len - offset;
    if bytes.len() as u64 == rest && tail.is_empty() {
        return store(offset, Source::of(bytes), true);
    }
    let end = len - len.min(TAIL);
    let before = (bytes.len() as u64).min(end.saturating_sub(offset)) as usize;
    if before > 0 && !store(offset, Source::of(&bytes[..before]), false) {
        return false;
    }
    tail.extend(bytes[before..].iter().copied());
    if bytes.len() as u64 == rest {
        let stored = store(len - tail.len() as u64, Source::of(tail), true);
        tail.clear();
        return stored;
    }
    true
}

/// Moves bytes to `gathered` until it has `wanted`. Returns the rest.
pub fn gather<'b, const N: usize>(gathered: &mut ArrayVec<u8, N>, wanted: usize, bytes: &'b [u8]) -> &'b [u8] {
    let missing = wanted.saturating_sub(gathered.len()).min(gathered.remaining_capacity());
    let (piece, rest) = bytes.split_at(missing.min(bytes.len()));
    let _ = gathered.try_extend_from_slice(piece);
    rest
}

#[derive(Clone, Copy)]
struct Current {
    header: Header,
    left: u64,
}

#[derive(Default)]
pub struct Rx {
    stream: Option<Arc<Stream>>,
    /// Set by the thread that has detected, and will report, the end.
    over: bool,
    frame: ArrayVec<u8, HEADER>,
    current: Option<Current>,
    /// Set if records other than HANDLED arrived in this turn.
    had_records: bool,
    /// `handled` and `window` of the last header.
    reported: (u64, u32),
    tail: Tail,
    requests: Requests,
    /// Bytes of waiting requests, after `gone` handled bytes.
    kept: Vec<u8>,
    gone: usize,
}

impl Rx {
    pub fn open(&mut self, stream: Arc<Stream>) {
        self.stream = Some(stream);
    }

    pub fn close(&mut self) -> Option<Arc<Stream>> {
        self.kept = Vec::new();
        self.gone = 0;
        self.requests = Requests::default();
        self.stream.take()
    }

    pub fn stream(&self) -> Option<&Arc<Stream>> {
        self.stream.as_ref()
    }

    pub fn begin_turn(&mut self) {
        self.requests.begin_turn();
        self.had_records = self.current.is_some();
    }

    pub fn had_records(&self) -> bool {
        self.had_records
    }

    /// Receives through `buffer`. Returns whether the socket may have more, or `None` if it had nothing.
    pub fn receive(&mut self, conn: &Arc<Conn>, buffer: &mut [u8]) -> Result<Option<bool>, ConnEnd> {
        if self.over {
            return Ok(None);
        }
        let Some(stream) = self.stream.take() else { return Ok(None) };
        let received = self.receive_next(conn, &stream, buffer);
        self.stream = Some(stream);
        self.over = received.is_err();
        received
    }

    fn receive_next(
        &mut self,
        conn: &Arc<Conn>,
        stream: &Arc<Stream>,
        buffer: &mut [u8],
    ) -> Result<Option<bool>, ConnEnd> {
        let direct = self.direct(conn);
        let (received, placed, asked) = match &direct {
            Some((place, len)) => receive_direct(stream, place, *len, buffer).ok_or_else(violation)?,
            None => {
                let received = stream.socket().recv_bytes(buffer);
                (received, 0, buffer.len())
            }
        };
        let received = match received {
            Ok(Some(0)) => return Err(ConnEnd::Left(self.end_of(stream))),
            Ok(Some(received)) => received,
            Ok(None) => return Ok(None),
            Err(_) => return Err(ConnEnd::Left(End::Broken(None))),
        };
        let placed = received.min(placed);
        if placed > 0 {
            self.advance(conn, stream, placed as u64)?;
        }
        self.feed(conn, stream, &buffer[..received - placed])?;
        Ok(Some(received == asked))
    }

    /// Returns the reason for a stream's end without an END record.
    fn end_of(&self, stream: &Stream) -> End {
        let whole = self.current.is_none() && self.frame.is_empty();
        if whole && !stream.is_cut() && !stream.socket().is_silent() { End::Disconnected } else { End::Broken(None) }
    }

    /// Returns destination and length for receiving the rest of the payload directly.
    fn direct(&mut self, conn: &Arc<Conn>) -> Option<(Place, u64)> {
        let current = self.current?;
        if current.left < MIN_DIRECT {
            return None;
        }
        if current.header.is_request() {
            return if self.keeps() { None } else { self.requests.direct() };
        }
        let (places, offset, ends) = conn.response(current.left)?;
        let tail = if ends { TAIL } else { 0 };
        Some((Place::Local(places, offset), current.left - tail))
    }

    fn advance(&mut self, conn: &Arc<Conn>, stream: &Arc<Stream>, bytes: u64) -> Result<(), ConnEnd> {
        let Some(current) = &mut self.current else { return Ok(()) };
        current.left -= bytes;
        if current.header.is_request() {
            self.requests.advance(bytes);
            // Completes the request if these were its last bytes.
            self.requests.feed(conn, stream, &[])?;
        } else {
            conn.on_response(bytes, true)?;
        }
        self.end_record();
        Ok(())
    }

    fn feed(&mut self, conn: &Arc<Conn>, stream: &Arc<Stream>, mut bytes: &[u8]) -> Result<(), ConnEnd> {
        while !bytes.is_empty() {
            let Some(current) = self.current else {
                bytes = self.begin(conn, stream, bytes)?;
                continue;
            };
            let (piece, rest) = bytes.split_at(current.left.min(bytes.len() as u64) as usize);
            bytes = rest;
            let left = current.left - piece.len() as u64;
            self.current = Some(Current { left, ..current });
            if current.header.is_request() {
                self.pass(conn, stream, piece)?;
            } else {
                self.respond(conn, stream, current.left, piece)?;
            }
            self.end_record();
        }
        Ok(())
    }

    fn end_record(&mut self) {
        if self.current.is_some_and(|current| current.left == 0) {
            self.current = None;
        }
    }

    /// Gathers the header of the next record. Returns the bytes after it.
    fn begin<'b>(&mut self, conn: &Arc<Conn>, stream: &Arc<Stream>, bytes: &'b [u8]) -> Result<&'b [u8], ConnEnd> {
        let rest = gather(&mut self.frame, HEADER, bytes);
        let Ok(frame) = <[u8; HEADER]>::try_from(&self.frame[..]) else { return Ok(rest) };
        self.frame.clear();
        let header = Header::decode(&frame).ok_or_else(violation)?;
        // Records of one send report the same.
        if self.reported != (header.handled, header.window) {
            self.reported = (header.handled, header.window);
            conn.peer_reports(&header)?;
        }
        self.had_records |= header.kind != kind::HANDLED;
        if had_to_wait(&header) && !self.keeps() {
            stream.widen();
        }
        if header.is_request() {
            self.current = Some(Current { header, left: header.len.into() });
            self.pass(conn, stream, &frame)?;
            self.end_record();
            return Ok(rest);
        }
        match header.kind {
            kind::HANDLED if header.len == 0 => {}
            kind::RESPONSE => {
                // The whole payload must fit the response.
                conn.response(header.len.into()).ok_or_else(violation)?;
                if header.len == 0 {
                    conn.on_response(0, true)?;
                } else {
                    self.current = Some(Current { header, left: header.len.into() });
                }
            }
            kind::END => return Err(End::decode(header.aux).map_or_else(violation, ConnEnd::Left)),
            _ => return Err(violation()),
        }
        Ok(rest)
    }

    /// Stores bytes of a response that lacked `left` bytes.
    fn respond(&mut self, conn: &Arc<Conn>, stream: &Stream, left: u64, bytes: &[u8]) -> Result<(), ConnEnd> {
        let (places, offset, ends) = conn.response(left).ok_or_else(violation)?;
        // Otherwise the bytes do not end the response, and need no last word.
        let len = offset + left + if ends { 0 } else { TAIL };
        let placed = store_piece(&mut self.tail, Piece { offset, len }, bytes, |offset, bytes, last| {
            copy::scatter(stream.regions(), &places, offset, bytes, last)
        });
        conn.on_response(bytes.len() as u64, placed)
    }

    // ---- Requests ----

    fn keeps(&self) -> bool {
        self.gone < self.kept.len() || self.requests.waits()
    }

    fn pass(&mut self, conn: &Arc<Conn>, stream: &Arc<Stream>, bytes: &[u8]) -> Result<(), ConnEnd> {
        let done = if self.keeps() { 0 } else { self.requests.feed(conn, stream, bytes)? };
        let rest = &bytes[done..];
        if rest.is_empty() {
            return Ok(());
        }
        // The peer exceeds its window.
        let most = stream.window() as usize + HEADER + MAX_HEAD;
        if self.kept.len() - self.gone + rest.len() > most || self.kept.room(rest.len()).is_err() {
            return Err(violation());
        }
        self.kept.extend_from_slice(rest);
        Ok(())
    }

    pub fn resume(&mut self, conn: &Arc<Conn>) -> Result<(), ConnEnd> {
        if self.over {
            return Ok(());
        }
        let Some(stream) = &self.stream else { return Ok(()) };
        self.requests.begin_turn();
        let done = self.requests.feed(conn, stream, &self.kept[self.gone..]);
        self.over = done.is_err();
        self.gone += done?;
        if self.gone == self.kept.len() {
            self.gone = 0;
            self.kept.clear();
            if self.kept.capacity() > MAX_KEPT {
                self.kept = Vec::new();
            }
        } else if self.gone >= MAX_KEPT.max(self.kept.len() / 2) {
            self.kept.drain(..self.gone);
            self.gone = 0;
        }
        Ok(())
    }
}

/// Result of the call, length of the destination, maximum number of bytes.
type Received = (std::io::Result<Option<usize>>, usize, usize);

/// Receives up to `len` bytes into a place, and the next header into `buffer`. Returns `None` if the memory is not
/// registered for that.
fn receive_direct(stream: &Stream, place: &Place, len: u64, buffer: &mut [u8]) -> Option<Received> {
    const MAX_PIECES: usize = MAX_SEGMENTS + 2;
    let regions = stream.regions();
    let next = &mut buffer[..HEADER + MAX_HEAD];
    let asked = len as usize + next.len();
    let (region_refs, granted);
    let mut pieces = ArrayVec::<Target<'_>, MAX_PIECES>::new();
    match place {
        Place::Local(segments, offset) => {
            region_refs = copy::acquire_all(segments, |key| regions.acquire_counted(key))?;
            pieces.extend(copy::targets(segments, &region_refs, Slice { offset: *offset, len, last: false }));
        }
        Place::Granted(to, offset) => {
            granted = regions.grant(to.key, to.addr, to.len, Rights::REMOTE_WRITE, &stream.own).ok()?;
            pieces.push(granted.target(*offset, len));
        }
    }
    let found: usize = pieces.iter().map(Target::len).sum();
    if found as u64 != len {
        return None;
    }
    pieces.push(Target::of(next));
    Some((stream.socket().recv(&pieces), found, asked))
}

#[cfg(test)]
mod tests;
