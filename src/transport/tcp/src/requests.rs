//! The peer's requests, handled in order.
//!
//! While a request waits for a receive or for room to respond, it and later ones are stored, up to the peer's window.
//! Payloads are stored in their destination as they arrive, in arbitrary pieces.

use arrayvec::ArrayVec;
use dat_core::Rights;
use dat_core::event::Status;
use dat_core::transport::datagrams::MAX_DATAGRAM;
use dat_core::transport::{Checked, RemoteSegment};
use dat_software::datagrams::DatagramReceiver;
use dat_software::qp::SoftwareTransport;
use dat_software::records::{Executed, Fatal, Halt, Incoming, Wire, violation};
use dat_software::user::{Source, change};
use dat_software::wire::{self, LARGEST, WORD};
use host::memory::Room;

use crate::Tcp;
use crate::record::{HEADER, Header, MAX_HEAD, MAX_PAYLOAD, kind};
use crate::stream::{Body, NotSent, Stream};
use crate::tx::Tx;

/// Maximum cost in bytes of the responses in a turn of the connection: their payloads, and [`RESPONSE`] for each.
pub const TURN: u64 = 2 << 20;
/// Fixed cost of a response in a [`TURN`], in bytes.
const RESPONSE: u64 = 16 << 10;
/// Maximum capacity in bytes for stored requests that stays allocated when none is stored.
const MAX_KEPT: usize = 64 << 10;

/// Maximum bytes of the last word of a transfer, which is stored last and atomically.
pub const TAIL: u64 = 8;

#[allow(clippy::large_enum_variant, reason = "a box needs memory, which may be refused")]
pub enum Place {
    /// Segments of this end, from an offset.
    Local(Checked, u64),
    /// Target of the peer's write, from an offset.
    Granted(RemoteSegment, u64),
}

/// Received bytes of the last word of a transfer, until the word is complete.
pub type Tail = ArrayVec<u8, { TAIL as usize }>;

/// Stores `bytes` at `offset` of a transfer of `len` bytes by calls of `store(offset, bytes, is_last)`. The last call
/// stores the whole last word, which `tail` collects. Returns the first error of `store`.
pub fn store_piece<E>(
    tail: &mut Tail,
    [offset, len]: [u64; 2],
    bytes: &[u8],
    mut store: impl FnMut(u64, Source<'_>, bool) -> Result<(), E>,
) -> Result<(), E> {
    let ends = bytes.len() as u64 == len - offset;
    if ends && tail.is_empty() {
        return store(offset, Source::of(bytes), true);
    }
    let end = len - len.min(TAIL);
    let before = (bytes.len() as u64).min(end.saturating_sub(offset)) as usize;
    if before > 0 {
        store(offset, Source::of(&bytes[..before]), false)?;
    }
    tail.extend(bytes[before..].iter().copied());
    if ends {
        store(len - tail.len() as u64, Source::of(tail), true)?;
        tail.clear();
    }
    Ok(())
}

/// A record whose header and head have arrived.
#[derive(Clone, Copy)]
pub struct Current {
    pub header: Header,
    /// Missing bytes of its payload.
    pub left: u64,
}

/// A connection and its stream, as the receiving direction uses them.
pub trait Link: Wire<Transport = Tcp, Revocation = ()> + Copy {
    fn stream(&self) -> &Stream;

    /// Returns whether the peer may use extended operations.
    fn serves_extended(self) -> bool;

    /// Requests another turn of the connection, even if all threads of the program sleep.
    fn poll_soon(self);

    /// Changes the sending direction with `what`, then sends and completes the requests that this permits.
    fn heard(self, what: impl FnOnce(&mut Tx) -> Result<(), Fatal>) -> Result<(), Fatal>;

    /// Calls [`Tx::response`].
    fn response(self, len: u64) -> Option<(Checked, u64, bool)>;
}

#[derive(Default)]
pub struct Requests {
    incoming: Incoming,
    /// The record whose payload is being stored.
    current: Option<Current>,
    tail: Tail,
    /// Bytes that were sent in response to the peer's current read.
    responded: u64,
    /// Cost of the responses that can still be sent in this turn: initially [`TURN`].
    pub turn: u64,
    /// Bytes of the last complete write, which an immediate value may follow.
    written: u64,
    /// Bytes of a partly received datagram.
    datagram: Vec<u8>,
    /// Stored bytes of requests. The first `gone` bytes were handled; the rest waits.
    kept: Vec<u8>,
    gone: usize,
}

impl Requests {
    /// Returns whether a stored request waits.
    pub fn keeps(&self) -> bool {
        self.gone < self.kept.len()
    }

    /// Handles a request with these first bytes: its header and head.
    pub fn start(&mut self, link: impl Link, header: Header, start: &[u8]) -> Result<(), Halt> {
        let begun = if self.keeps() { Err(Halt::Wait) } else { self.begin(link, header, &start[HEADER..]) };
        match begun {
            Err(Halt::Wait) => self.keep(link, start),
            begun => begun,
        }
    }

    /// Handles bytes of the payload of the last started request.
    pub fn feed(&mut self, link: impl Link, bytes: &[u8]) -> Result<(), Halt> {
        if self.keeps() { self.keep(link, bytes) } else { self.store(link, bytes) }
    }

    fn keep(&mut self, link: impl Link, bytes: &[u8]) -> Result<(), Halt> {
        // Fails if the peer exceeds its window.
        let most = link.stream().window() as usize + HEADER + MAX_HEAD;
        if self.kept.len() - self.gone + bytes.len() > most || self.kept.room(bytes.len()).is_err() {
            return Err(violation());
        }
        self.kept.extend_from_slice(bytes);
        Ok(())
    }

    /// Handles stored requests until one waits.
    pub fn resume(&mut self, link: impl Link) -> Result<(), Halt> {
        self.turn = TURN;
        let mut kept = std::mem::take(&mut self.kept);
        while let Some(bytes) = kept.get(self.gone..).filter(|bytes| !bytes.is_empty()) {
            if let Some(Current { left, .. }) = self.current {
                let piece = &bytes[..bytes.len().min(left as usize)];
                self.store(link, piece)?;
                self.gone += piece.len();
                continue;
            }
            // The receiving direction has checked the header, and stores it together with the head.
            let header = bytes.first_chunk().and_then(Header::decode).ok_or_else(violation)?;
            let start = header.start();
            match self.begin(link, header, bytes.get(HEADER..start).unwrap_or_default()) {
                Err(Halt::Wait) => break,
                begun => begun?,
            }
            self.gone += start;
        }
        if self.gone == kept.len() || self.gone >= MAX_KEPT.max(kept.len() / 2) {
            kept.drain(..std::mem::take(&mut self.gone));
        }
        if kept.is_empty() && kept.capacity() > MAX_KEPT {
            kept = Vec::new();
        }
        self.kept = kept;
        Ok(())
    }

    /// Begins a request. After [`Halt::Wait`], the caller repeats the call.
    fn begin(&mut self, link: impl Link, header: Header, head: &[u8]) -> Executed {
        match Tcp::base(link.qp()).receiver.datagrams() {
            None => self.execute(link, header, head)?,
            Some(receiver) => match header.kind {
                kind::MESSAGE if header.aux == header.payload() && header.aux <= MAX_DATAGRAM as u64 => {}
                kind::IMMEDIATE if !receiver.notice_arrived() => {}
                // Both ends have sent a notice, so the connection ends regularly; or the peer violates the protocol.
                _ => return Err(violation()),
            },
        }
        let left = header.payload();
        self.current = Some(Current { header, left });
        if left == 0 { self.store(link, &[]) } else { Ok(()) }
    }

    /// Executes a request up to its payload.
    fn execute(&mut self, link: impl Link, header: Header, head: &[u8]) -> Executed {
        let (aux, part) = (header.aux, header.payload());
        let is_extended = matches!(header.kind, kind::IMMEDIATE | kind::INVALIDATE | kind::ATOMIC);
        if aux > LARGEST || (is_extended && !link.serves_extended()) {
            return Err(violation());
        }
        let number = || wire::read_number(head).ok_or_else(violation);
        match header.kind {
            kind::MESSAGE => self.incoming.begin_message(&link, aux, part),
            kind::WRITE => self.incoming.begin_write(Some(wire::read_target(head).ok_or_else(violation)?), aux, part),
            kind::WRITE_PART => self.incoming.begin_write(None, aux, part),
            kind::IMMEDIATE if aux == 0 || aux == self.written => {
                self.incoming.immediate(&link, number()?, aux, header.is_solicited())
            }
            kind::INVALIDATE => self.incoming.invalidate(&link, number()?, aux),
            kind::READ if self.incoming.is_idle() => self.read(link, head),
            kind::ATOMIC if self.incoming.is_idle() => self.atomic(link, head),
            _ => Err(violation()),
        }
    }

    /// Stores bytes of the current record.
    fn store(&mut self, link: impl Link, bytes: &[u8]) -> Executed {
        if self.current.is_none_or(|current| !current.header.has_payload()) {
            return self.advance(link, 0);
        }
        if let Some(receiver) = Tcp::base(link.qp()).receiver.datagrams() {
            self.store_datagram(link, receiver, bytes)?;
        } else if let Some((offset, len)) = self.incoming.position() {
            store_piece(&mut self.tail, [offset, len], bytes, |offset, bytes, last| {
                self.incoming.store(&link, offset, bytes, last)
            })?;
        }
        self.advance(link, bytes.len() as u64)
    }

    /// Stores bytes of a datagram. Only a complete datagram takes a receive, so no peer can hold a receive.
    fn store_datagram(&mut self, link: impl Link, receiver: &DatagramReceiver<Tcp>, bytes: &[u8]) -> Executed {
        let Some(Current { header, left }) = self.current else { return Ok(()) };
        let (whole, before) = (bytes.len() as u64 == left, !self.datagram.is_empty());
        if before || !whole {
            self.datagram.room(left as usize).map_err(|_| violation())?;
            self.datagram.extend_from_slice(bytes);
        }
        if whole {
            let datagram = std::mem::take(&mut self.datagram);
            let bytes = if before { &datagram } else { bytes };
            receiver.arrived(link.regions(), Source::of(bytes), header.is_solicited());
        }
        Ok(())
    }

    /// Records stored bytes of the current record. If they end the record or its transfer, completes these.
    pub fn advance(&mut self, link: impl Link, bytes: u64) -> Executed {
        let Some(Current { header, left }) = self.current else { return Ok(()) };
        self.incoming.advance(bytes);
        self.current = Some(Current { header, left: left - bytes });
        if left > bytes {
            return Ok(());
        }
        self.current = None;
        link.stream().note_handled(HEADER as u64 + u64::from(header.len));
        match self.incoming.position() {
            Some((offset, len)) if offset == len && header.has_payload() => {
                self.written = self.incoming.target().map_or(self.written, |to| to.len);
                self.incoming.end(&link, header.is_solicited())
            }
            _ => Ok(()),
        }
    }

    /// Returns where to receive the rest of the payload directly, and the number of bytes. `None` if requests wait, or
    /// the payload is not stored in the program's memory.
    #[inline(never)] // Inlined, its unrolled copy costs each receive 80 instructions.
    pub fn direct(&self) -> Option<(Place, u64)> {
        let Current { left, .. } = self.current.filter(|_| !self.keeps())?;
        let (offset, len) = self.incoming.position()?;
        let place = match self.incoming.target() {
            Some(to) => Place::Granted(to, offset),
            None => Place::Local(self.incoming.segments().iter().copied().collect(), offset),
        };
        // The last word of a transfer is stored last, as a whole.
        Some((place, if len - offset == left { left - TAIL } else { left }))
    }

    /// Returns [`Halt::Wait`], and requests the next turn, if this turn has no room for a response.
    fn check_turn(&self, link: impl Link) -> Executed {
        (self.turn > 0).then_some(()).ok_or_else(|| {
            link.poll_soon();
            Halt::Wait
        })
    }

    /// Sends the response to the peer's read, while the turn and the socket have room.
    fn read(&mut self, link: impl Link, head: &[u8]) -> Executed {
        let from = wire::read_target(head).ok_or_else(violation)?;
        loop {
            self.check_turn(link)?;
            let part = (from.len - self.responded).min(MAX_PAYLOAD);
            let sent = link.stream().sender().and_then(|mut sender| {
                sender.add(kind::RESPONSE, false, part, from.len, 0)?;
                sender.send_with(Body::Granted(from), &[], self.responded, part)
            });
            match sent {
                Ok(()) => {}
                Err(NotSent::NoMemory) => return Err(Fatal::of_peer(Status::RemoteAccess).into()),
                Err(NotSent::Lost(fatal)) => return Err(fatal.into()),
                // Room in the socket resumes this. A read of the socket reports the connection's end.
                Err(NotSent::Busy | NotSent::Gone) => return Err(Halt::Wait),
            }
            self.turn = self.turn.saturating_sub(part + RESPONSE);
            self.responded += part;
            if self.responded == from.len {
                self.responded = 0;
                return Ok(());
            }
        }
    }

    /// Executes an atomic operation, once there is room for the response.
    fn atomic(&mut self, link: impl Link, head: &[u8]) -> Executed {
        self.check_turn(link)?;
        let (target, what) = wire::read_atomic(head).ok_or_else(violation)?;
        let refused = || Fatal::of_peer(Status::RemoteAccess);
        let granted = link.regions().grant(&target, Rights::REMOTE_ATOMIC, link.own()).map_err(|_| refused())?;
        let Ok(mut sender) = link.stream().sender() else { return Err(Halt::Wait) };
        let Ok(place) = sender.add(kind::RESPONSE, false, WORD, WORD, WORD) else { return Err(Halt::Wait) };
        let Some(before) = change(granted.target(0, WORD), what) else {
            sender.undo();
            return Err(refused().into());
        };
        place.copy_from_slice(&before.to_le_bytes());
        // If this fails, the connection has ended, which a read of the socket reports.
        let _ = sender.send();
        self.turn = self.turn.saturating_sub(RESPONSE);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
