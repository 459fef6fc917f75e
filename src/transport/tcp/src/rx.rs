//! The receiving direction of a connection: splits the byte stream of the socket into records.
//!
//! [`Requests`] handles requests in order, and stores later ones while one waits. Other records are handled as they
//! arrive. Long payloads are received directly into their destination.

use std::io;

use arrayvec::ArrayVec;
use dat_core::Rights;
use dat_core::transport::MAX_SEGMENTS;
use dat_software::copy::{self, Slice};
use dat_software::records::{Fatal, Halt, violation};
use dat_software::user::Target;

use crate::record::{End, HEADER, Header, MAX_HEAD, WAITED, kind};
use crate::requests::{Current, Link, Place, Requests, TAIL, TURN, Tail, store_piece};
use crate::stream::Stream;

/// Minimum remaining payload in bytes that is received directly.
const MIN_DIRECT: u64 = 4096;
/// Minimum length of a record after which the next read ends before the payload, so that a similar payload is received
/// directly. The second system call takes less time than a copy of a whole buffer.
const LONG: u32 = 64 << 10;
#[derive(Debug)]
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

impl From<Halt> for ConnEnd {
    fn from(halt: Halt) -> ConnEnd {
        // Requests that wait are stored, so `halt` is always a failure.
        ConnEnd::Failed(if let Halt::Fail(fatal) = halt { fatal } else { Fatal::default() })
    }
}

#[derive(Default)]
pub struct Rx {
    /// Set once a thread has detected the end of the connection. That thread defers the report of the end.
    over: bool,
    /// First bytes of the next record's header and head, while these are incomplete.
    start: ArrayVec<u8, { HEADER + MAX_HEAD }>,
    /// After a record of at least [`LONG`] bytes: length of the next read, so that it ends before a payload.
    expected: Option<usize>,
    current: Option<Current>,
    /// Set if records other than HANDLED arrived in this turn.
    pub had_records: bool,
    /// `handled` and `window` of the last header.
    reported: (u64, u32),
    /// Received bytes of the last word of the current response.
    tail: Tail,
    requests: Requests,
}

impl Rx {
    pub fn begin_turn(&mut self) {
        self.requests.turn = TURN;
        self.had_records = self.current.is_some();
    }

    /// Receives through `buffer`. Returns whether the socket may have more, or `None` if it had nothing.
    pub fn receive(&mut self, link: impl Link, buffer: &mut [u8]) -> Result<Option<bool>, ConnEnd> {
        if self.over {
            return Ok(None);
        }
        let received = self.receive_next(link, buffer);
        self.over = received.is_err();
        received
    }

    fn receive_next(&mut self, link: impl Link, buffer: &mut [u8]) -> Result<Option<bool>, ConnEnd> {
        let direct = self.direct(link).and_then(|(place, len)| {
            let after = self.current.map_or(0, |current| (current.left - len) as usize + current.header.start());
            let received = receive_direct(link.stream(), &place, len, &mut buffer[..after])?;
            Some((received, len as usize, len as usize + after))
        });
        let (received, placed, asked) = direct.unwrap_or_else(|| {
            let is_next = self.current.is_none() && self.start.is_empty();
            let len = self.expected.filter(|_| is_next).unwrap_or(buffer.len());
            (link.stream().socket.recv_bytes(&mut buffer[..len]), 0, len)
        });
        let received = match received {
            Ok(Some(0)) => return Err(ConnEnd::Left(self.end_of(link.stream()))),
            Ok(Some(received)) => received,
            Ok(None) => return Ok(None),
            Err(_) => return Err(ConnEnd::Left(End::Broken(None))),
        };
        let placed = received.min(placed);
        if let (1.., Some(current)) = (placed, self.current) {
            if current.header.is_request() {
                self.requests.advance(link, placed as u64)?;
            } else {
                link.heard(|tx| tx.on_response(placed as u64, true))?;
            }
            self.consume(current, placed);
        }
        self.feed(link, &buffer[..received - placed])?;
        // After a direct read, the socket counts as having more: the rest of a long payload arrives soon.
        Ok(Some(received == asked || placed > 0))
    }

    /// Returns the reason for a stream's end without an END record.
    fn end_of(&self, stream: &Stream) -> End {
        let whole = self.current.is_none() && self.start.is_empty();
        // A failed send can have taken the error from the socket, which then reports a regular end.
        if whole && !stream.has_failed() { End::Disconnected } else { End::Broken(None) }
    }

    /// Returns destination and length for receiving the rest of the payload directly.
    fn direct(&self, link: impl Link) -> Option<(Place, u64)> {
        let Current { header, left } = self.current.filter(|current| current.left >= MIN_DIRECT)?;
        if header.is_request() {
            return self.requests.direct();
        }
        let (places, offset, ends) = link.response(left)?;
        let tail = if ends { TAIL } else { 0 };
        Some((Place::Local(places, offset), left - tail))
    }

    fn feed(&mut self, link: impl Link, mut bytes: &[u8]) -> Result<(), ConnEnd> {
        while !bytes.is_empty() {
            let Some(current) = self.current else {
                let whole = if self.start.is_empty() { decode_start(bytes)? } else { None };
                if let Some(header) = whole {
                    let (start, rest) = bytes.split_at(header.start());
                    bytes = rest;
                    self.begin(link, header, start)?;
                    continue;
                }
                // The header and head arrive in pieces.
                let (first, rest) = bytes.split_at(1);
                bytes = rest;
                let _ = self.start.try_extend_from_slice(first);
                let gathered = self.start.clone();
                if let Some(header) = decode_start(&gathered)? {
                    self.start.clear();
                    self.begin(link, header, &gathered)?;
                }
                continue;
            };
            let (piece, rest) = bytes.split_at(current.left.min(bytes.len() as u64) as usize);
            bytes = rest;
            if current.header.is_request() {
                self.requests.feed(link, piece)?;
            } else {
                self.respond(link, current.left, piece)?;
            }
            self.consume(current, piece.len());
        }
        Ok(())
    }

    fn consume(&mut self, current: Current, bytes: usize) {
        let left = current.left - bytes as u64;
        self.current = (left > 0).then_some(Current { left, ..current });
    }

    fn begin(&mut self, link: impl Link, header: Header, start: &[u8]) -> Result<(), ConnEnd> {
        // All records of one send contain the same report, so it is processed once. Before a response, it always is:
        // the response is for the oldest request that remains.
        if header.kind == kind::RESPONSE || self.reported != (header.handled, header.window) {
            self.reported = (header.handled, header.window);
            link.heard(|tx| tx.on_handled(header.handled, header.window))?;
        }
        if header.kind != kind::HANDLED {
            self.had_records = true;
            self.expected = (header.len >= LONG).then(|| header.start());
        }
        if header.flags & WAITED != 0 && !self.requests.keeps() {
            link.stream().widen();
        }
        match header.kind {
            kind::HANDLED => {}
            kind::RESPONSE => {
                // The record must not be longer than the rest of the response.
                link.response(header.len.into()).ok_or_else(violation)?;
                if header.len == 0 {
                    link.heard(|tx| tx.on_response(0, true))?;
                }
            }
            kind::END => return Err(ConnEnd::Left(End::decode(header.aux).ok_or_else(violation)?)),
            _ => self.requests.start(link, header, start)?,
        }
        let left = header.payload();
        self.current = (left > 0).then_some(Current { header, left });
        Ok(())
    }

    /// Stores received bytes of a response record. `left` is the number of bytes that its payload lacked before them.
    fn respond(&mut self, link: impl Link, left: u64, bytes: &[u8]) -> Result<(), ConnEnd> {
        let (places, offset, ends) = link.response(left).ok_or_else(violation)?;
        // If the record does not end the response, `len` is so large that no byte is in the last word.
        let len = offset + left + if ends { 0 } else { TAIL };
        let placed = store_piece(&mut self.tail, [offset, len], bytes, |offset, bytes, last| {
            copy::scatter(&link.stream().shared.regions, &places, offset, bytes, last).then_some(()).ok_or(())
        });
        Ok(link.heard(|tx| tx.on_response(bytes.len() as u64, placed.is_ok()))?)
    }

    pub fn resume(&mut self, link: impl Link) -> Result<(), ConnEnd> {
        if self.over {
            return Ok(());
        }
        let resumed = self.requests.resume(link);
        self.over = resumed.is_err();
        Ok(resumed?)
    }
}

/// Returns the header of the record at the start of `bytes`, or `None` if its header or its head
/// ([`record`](crate::record)) is incomplete.
#[inline(always)]
fn decode_start(bytes: &[u8]) -> Result<Option<Header>, ConnEnd> {
    let Some(header) = bytes.first_chunk() else { return Ok(None) };
    let header = Header::decode(header).ok_or_else(violation)?;
    Ok((bytes.len() >= header.start()).then_some(header))
}

/// Receives up to `len` bytes into a place, and the following ones into `buffer`. Returns `None` if the memory is not
/// registered for that; then the buffered path detects the failure.
fn receive_direct(stream: &Stream, place: &Place, len: u64, buffer: &mut [u8]) -> Option<io::Result<Option<usize>>> {
    let regions = &stream.shared.regions;
    let (region_refs, granted);
    let mut pieces = ArrayVec::<Target<'_>, { MAX_SEGMENTS + 2 }>::new();
    match place {
        Place::Local(segments, offset) => {
            region_refs = copy::acquire_all(segments, |key| regions.acquire_counted(key))?;
            pieces.extend(copy::targets(segments, &region_refs, Slice { offset: *offset, len, last: false }));
        }
        Place::Granted(to, offset) => {
            granted = regions.grant(to, Rights::REMOTE_WRITE, &stream.own).ok()?;
            pieces.push(granted.target(*offset, len));
        }
    }
    let found: usize = pieces.iter().map(Target::len).sum();
    if found as u64 != len {
        return None;
    }
    pieces.push(Target::of(buffer));
    Some(stream.socket.recv(&mut pieces))
}
