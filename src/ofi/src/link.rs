//! What both directions of an established connection share: libfabric's endpoint, the memory of its records, and how many
//! requests of the peer are handled.
//!
//! Records lie in memory of the connection. So it can end at once, however many are under way: whoever drops the last reference
//! closes the endpoint, and frees the records behind it. Bytes of long parts go from and to the program's memory
//! ([`crate::bulk`]), which libfabric leaves alone once such a message is over, or [`Link::cut`] has ended the connection.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dat_core::error::Result;
use dat_memory::regions::Party;
use dat_memory::user::{Source, Target, copy};
use host::lock::Mutex;

use crate::bulk::{Held, Keys, Pieces};
use crate::device::{Device, Regions};
use crate::record::{self, ANSWERS, BULK, BULKS, CREDITS, End, HEADER, Header, RECEIVES, SLOT, kind};
use crate::records::Records;
use crate::sys::{Ep, FiError};

/// The most bytes that are handed over for libfabric to copy, so that they need no slot. It has a lower limit than this with
/// no provider that has connections.
const INJECT: usize = 128;

/// Slots of requests, of answers and of receives.
const SLOTS: usize = CREDITS + ANSWERS + RECEIVES;

/// The number of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// That of the request of this number, until it is handled.
    Request(u64),
    /// One for an answer, until libfabric has sent it.
    Answer(usize),
    /// One that libfabric receives into.
    Receive(usize),
    /// None: bytes of a long part that libfabric receives.
    BulkIn,
    /// None: bytes of a long part that libfabric sends.
    BulkOut,
}

impl Slot {
    fn index(self) -> usize {
        match self {
            Slot::Request(number) => (number % CREDITS as u64) as usize,
            Slot::Answer(at) => CREDITS + at % ANSWERS,
            Slot::Receive(at) => CREDITS + ANSWERS + at % RECEIVES,
            Slot::BulkIn => SLOTS,
            Slot::BulkOut => SLOTS + 1,
        }
    }

    /// What names the completion of this slot among those of its connection.
    fn context(self) -> u64 {
        self.index() as u64
    }

    /// The slot of a completion; `None` if slots of that kind have no completions.
    pub fn of_context(context: u64) -> Option<Slot> {
        match (context as usize).checked_sub(CREDITS)? {
            at if at < ANSWERS => Some(Slot::Answer(at)),
            at if at < ANSWERS + RECEIVES => Some(Slot::Receive(at - ANSWERS)),
            at if at == SLOTS - CREDITS => Some(Slot::BulkIn),
            at if at == SLOTS - CREDITS + 1 => Some(Slot::BulkOut),
            _ => None,
        }
    }
}

/// Bits of a completion's context that name the slot; the others name the connection.
pub const SLOT_BITS: u32 = 8;

const _: () = assert!(SLOTS + 2 <= 1 << SLOT_BITS);

/// Places for the bytes of long parts: one for each request that waits with such bytes, and one for an answer.
pub const PLACES: usize = BULKS + 1;

/// An established connection, or one that is about to be.
pub struct Link {
    // Closed before the records go.
    ep: Ep,
    records: Records,
    /// The number of its connection.
    number: u64,
    /// The most bytes that libfabric copies.
    inject: usize,
    device: Arc<Device>,
    /// What regions know this end by.
    pub own: Party,
    /// Requests of the peer that are handled.
    handled: AtomicU64,
    /// How many the peer was told of.
    told: AtomicU64,
    /// Orders what is sent: the bytes of a long part follow their record. Memory of the parts that libfabric sends, the oldest
    /// first, and whether they are of an answer.
    out: Mutex<VecDeque<(Held, bool)>>,
    /// Memory that libfabric receives the bytes of a long part into.
    into: Mutex<Option<Held>>,
    /// It was cut.
    cut: AtomicBool,
}

impl Link {
    /// Ties an endpoint of libfabric to the connection of this number, and has it receive.
    ///
    /// # Errors
    /// [`dat_core::error::Resource::Memory`], or what libfabric refuses.
    pub fn new(device: &Arc<Device>, ep: Ep, number: u64, zone: u32) -> Result<Arc<Link>> {
        let records = Records::new(SLOTS, PLACES).map_err(|_| crate::device::no_memory())?;
        let link = host::memory::arc(Link {
            ep,
            records,
            number,
            inject: device.fabric.inject_size().min(INJECT),
            device: device.clone(),
            own: Party::new(zone, number),
            handled: AtomicU64::new(0),
            told: AtomicU64::new(0),
            out: Mutex::new(host::memory::vec(2 * BULKS)?.into()),
            into: Mutex::default(),
            cut: AtomicBool::new(false),
        })?;
        link.receive(0).map_err(|_| crate::device::no_memory())?;
        Ok(link)
    }

    /// libfabric's endpoint.
    pub fn ep(&self) -> &Ep {
        &self.ep
    }

    /// The number of its connection.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The adapter.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The most pieces of a message.
    pub fn pieces(&self) -> usize {
        self.device.fabric.pieces()
    }

    /// The memory that peers may be granted.
    pub fn regions(&self) -> &Regions {
        &self.device.regions
    }

    /// Has libfabric receive the next record into a slot.
    pub fn receive(&self, at: usize) -> std::result::Result<(), FiError> {
        let slot = Slot::Receive(at);
        // SAFETY: nobody reads the slot until its completion has come, and the records outlive the endpoint.
        unsafe { self.ep.recv(self.records.slot(slot.index()), SLOT, self.context(slot)) }
    }

    /// Calls `f` with the first `len` bytes of a slot that libfabric has received into.
    pub fn with_received<R>(&self, at: usize, len: usize, f: impl FnOnce(&[u8]) -> R) -> R {
        let place = self.records.slot(Slot::Receive(at).index());
        // SAFETY: libfabric has completed the receive, and gets the slot back only from the thread that is here.
        f(unsafe { std::slice::from_raw_parts(place, len.min(SLOT)) })
    }

    /// Has libfabric receive the bytes of a long part into memory of the program.
    ///
    /// # Errors
    /// libfabric refuses it, because the connection ends.
    pub fn receive_into(&self, to: &[Target<'_>], held: Held) -> std::result::Result<(), FiError> {
        let mut into = self.into.lock();
        if self.is_cut() {
            return Err(FiError(libc::ENOTCONN));
        }
        // SAFETY: the memory is held until the completion has come, or the endpoint is shut down.
        unsafe { self.ep.recv_into(to, self.context(Slot::BulkIn))? };
        *into = Some(held);
        Ok(())
    }

    /// Has libfabric receive `len` bytes of a long part into a place of the connection's own.
    ///
    /// # Errors
    /// As for [`Link::receive_into`].
    pub fn receive_apart(&self, place: usize, len: usize) -> std::result::Result<(), FiError> {
        // SAFETY: nobody reads the place until the completion has come, and it outlives the endpoint.
        unsafe { self.ep.recv(self.records.place(place), len.min(BULK), self.context(Slot::BulkIn)) }
    }

    /// Calls `f` with the first `len` bytes of such a place, into which libfabric has received.
    pub fn with_apart<R>(&self, place: usize, len: usize, f: impl FnOnce(&[u8]) -> R) -> R {
        // SAFETY: libfabric has completed the receive, and gets the place back only from the thread that is here.
        f(unsafe { std::slice::from_raw_parts(self.records.place(place), len.min(BULK)) })
    }

    /// Gives the memory of such a place back.
    pub fn give_back(&self, place: usize) {
        self.records.give_back(place);
    }

    /// The bytes of a long part have come.
    pub fn bulk_in(&self) {
        let held = self.into.lock().take();
        drop(held);
    }

    /// The bytes of the oldest long part are sent; true if they were of an answer.
    pub fn bulk_out(&self) -> bool {
        let sent = self.out.lock().pop_front();
        sent.is_some_and(|(_, answer)| answer)
    }

    /// Whether libfabric has memory of the program.
    pub fn moves(&self) -> bool {
        !self.out.lock().is_empty() || self.into.lock().is_some()
    }

    /// Ends the connection, so that libfabric leaves the program's memory alone.
    pub fn cut(&self) {
        self.cut.store(true, Ordering::Release);
        self.ep.shutdown();
        let out: Vec<_> = self.out.lock().drain(..).collect();
        let into = self.into.lock().take();
        drop((out, into));
    }

    /// Whether it was cut.
    pub fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Acquire)
    }

    fn context(&self, slot: Slot) -> u64 {
        self.number << SLOT_BITS | slot.context()
    }

    /// Sends a record of `len` bytes of payload, which `fill` puts into their place; false if it could not.
    ///
    /// # Errors
    /// libfabric refuses it for now, or for ever; nothing was sent.
    pub fn send(
        &self,
        slot: Slot,
        kind: u8,
        flags: u8,
        aux: u64,
        len: usize,
        fill: impl FnOnce(Target<'_>) -> bool,
    ) -> std::result::Result<bool, FiError> {
        debug_assert!(HEADER + len <= SLOT);
        let _order = self.out.lock();
        let handled = self.handled.load(Ordering::Acquire);
        let head = Header { kind, flags, bulk: 0, handled, aux }.encode();
        let size = HEADER + len;
        if size <= self.inject {
            let mut bytes = [0; INJECT];
            bytes[..HEADER].copy_from_slice(&head);
            if !fill(Target::of(&mut bytes[HEADER..size])) {
                return Ok(false);
            }
            self.ep.inject(&bytes[..size])?;
        } else {
            let place = self.records.slot(slot.index());
            // SAFETY: libfabric has sent what the slot held before: its answer has completed, or the peer has handled the
            // request. A peer that lies about that gets bytes of another record.
            let whole = unsafe { Target::new(place.expose_provenance() as u64, size) };
            let (to_head, to_payload) = whole.split(HEADER);
            copy(to_head, Source::of(&head));
            if !fill(to_payload) {
                return Ok(false);
            }
            let context = matches!(slot, Slot::Answer(_)).then(|| self.context(slot));
            // SAFETY: the slot stays as it is until then, and the records outlive the endpoint.
            unsafe { self.ep.send(&[Source::new(place.expose_provenance() as u64, size)], context)? };
        }
        self.told.fetch_max(handled, Ordering::AcqRel);
        Ok(true)
    }

    /// Sends a record with a payload of at most [`Link::SHORT`] bytes, and behind it the bytes of a long part, which lie in the
    /// regions of these keys; false if one of them is gone.
    ///
    /// # Errors
    /// libfabric refuses it for now, or for ever; nothing was sent.
    pub fn send_bulk(
        self: &Arc<Self>,
        (kind, flags, aux): (u8, u8, u64),
        payload: &[u8],
        from: &Pieces<dat_memory::user::Read<'_>>,
        keys: &Keys,
    ) -> std::result::Result<bool, FiError> {
        let Some(held) = Held::new(self, keys) else { return Ok(false) };
        let mut out = self.out.lock();
        if self.is_cut() {
            return Err(FiError(libc::ENOTCONN));
        }
        let handled = self.handled.load(Ordering::Acquire);
        let bulk = from.iter().map(Source::len).sum::<usize>() as u32;
        let head = Header { kind, flags, bulk, handled, aux }.encode();
        let mut bytes = [0; HEADER + Self::SHORT];
        let size = HEADER + payload.len();
        bytes[..HEADER].copy_from_slice(&head);
        bytes[HEADER..size].copy_from_slice(payload);
        self.ep.inject(&bytes[..size])?;
        // SAFETY: the memory is held until the completion has come, or the endpoint is shut down.
        let sent = unsafe { self.ep.send(from, Some(self.context(Slot::BulkOut))) };
        if let Err(error) = sent {
            // The peer takes the next record for these bytes.
            drop(out);
            self.cut();
            return Err(error);
        }
        out.push_back((held, kind == kind::ANSWER));
        self.told.fetch_max(handled, Ordering::AcqRel);
        Ok(true)
    }

    /// The most bytes of the payload of a record that announces a long part.
    pub const SHORT: usize = record::TARGET + record::TAIL;

    /// Whether a record of so many bytes of payload needs no slot.
    pub fn is_injected(&self, len: usize) -> bool {
        HEADER + len <= self.inject
    }

    /// Notes that another request of the peer is handled.
    pub fn note_handled(&self) {
        self.handled.fetch_add(1, Ordering::AcqRel);
    }

    /// Handled requests that the peer was not told of.
    pub fn owed(&self) -> u64 {
        self.handled.load(Ordering::Acquire).saturating_sub(self.told.load(Ordering::Acquire))
    }

    /// Tells the peer how many requests are handled, if it does not know; false if that has to be tried again.
    pub fn acknowledge(&self) -> bool {
        self.owed() == 0 || self.send(Slot::Answer(0), kind::HANDLED, 0, 0, 0, |_| true).is_ok()
    }

    /// Sends a first record, which says nothing. Nothing was sent before, so that libfabric has room.
    pub fn greet(&self) {
        if let Err(error) = self.send(Slot::Answer(0), kind::HANDLED, 0, 0, 0, |_| true) {
            log::debug!(target: host::diagnostics::CM, "connection {}: not greeted: {error}", self.number);
        }
    }

    /// Tells the peer that this end leaves; false if libfabric does not take that. The endpoint stays open until the peer has
    /// answered or has left ([`crate::device::Device::linger`]): a socket that is closed with bytes to read takes back what
    /// the peer has not read.
    pub fn leave(&self, end: End) -> bool {
        self.send(Slot::Answer(0), kind::END, 0, end.encode(), 0, |_| true).is_ok()
    }

    /// Takes a record behind the end of this side; true if it is the end of the other one.
    pub fn is_left(&self, at: usize, len: usize) -> bool {
        let header = self.with_received(at, len, |bytes| Header::decode(bytes).map(|(header, _)| header));
        match header {
            Some(Header { bulk: 1.., .. }) => self.receive_apart(0, BULK).is_err(),
            Some(Header { kind, .. }) if kind != kind::END => self.receive(at).is_err(),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests;
