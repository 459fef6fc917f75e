//! A ring as the side that fills it uses it.
//!
//! # How a producer learns that the peer has got on
//! A producer that waits for the peer looks at nothing meanwhile: the peer gives notice when it has consumed a record that asks
//! for that. So before anything is left to wait, [`TxRing::ask`] looks behind its records once more, with one of three results:
//! the last record asks already, a new one is put behind it that asks, or the peer has consumed all of them and will give no
//! notice. In the last case the caller has to continue by itself. The peer gives notice behind the store of its position, which
//! was not yet there at that look; so the notice comes after all that the producer noted before it asked, under the lock of its
//! direction (SYNC await).
//!
//! A thread that wakes the peer's thread for the last word of a write does so because the program there may spin on
//! memory without any call. A message gets no such help: if its receiver makes no call, it may wait up to 8 ms, between
//! two looks of the progress thread.

use std::hint;
use std::time::{Duration, Instant};

use dat_core::event::Status;
use dat_memory::user::Source;

use crate::guard::Trust;
use crate::peer_segment::{ANSWER_SLOTS, End, RING_SLOTS};
use crate::record::{self, ANSWER_MAX, Acknowledge, EAGER_MAX, Header, kind};
use crate::ring::{Area, Corrupt, Mapped, Producer, Reservation, slots_for};

// What `TxRing::put` relies on.
const _: () = assert!(slots_for(EAGER_MAX as usize + record::TARGET) <= RING_SLOTS as u64 / 4 + 1);
const _: () = assert!(slots_for(ANSWER_MAX as usize) <= ANSWER_SLOTS as u64 / 4);

/// Time in which a peer that polls has handled a record.
const MOMENT: Duration = Duration::from_micros(2);

/// The outcome of putting a record into the ring.
pub enum Put {
    /// It is in the ring and ends there.
    At(u64),
    /// It has to wait until the peer has made room.
    NoRoom,
    /// It cannot be put there, ever.
    Failed(Status),
}

/// Who finds out that the peer has consumed all records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Asked {
    /// The peer gives notice, since the last record asks for it.
    Before,
    /// The peer gives notice, since a record that ends there was added, which the peer does not know of yet.
    Now(u64),
    /// The caller has, because the peer has consumed them already, or broke the rules. It gives no notice.
    Consumed,
}

/// A ring, filled one record at a time, each shown to the peer at once.
pub struct TxRing<A: Area = Mapped> {
    /// `None` before the ring is opened, and after it is closed.
    producer: Option<Producer<A>>,
    /// End of the last record.
    tail: u64,
    /// What the last record asks for; the most, once the peer is known to have consumed it.
    asked: Acknowledge,
    /// Where the peer was when its thread was woken last, and whether that is left to time: see [`TxRing::hurry`].
    hurried: Option<u64>,
    trust: Trust,
}

impl<A: Area> Default for TxRing<A> {
    fn default() -> Self {
        TxRing { producer: None, tail: 0, asked: Acknowledge::Needed, hurried: None, trust: Trust::default() }
    }
}

impl<A: Area> TxRing<A> {
    /// Opens the ring.
    pub fn open(&mut self, producer: Producer<A>) {
        self.producer = Some(producer);
    }

    /// Puts nothing more into the ring.
    pub fn close(&mut self) {
        self.producer = None;
    }

    /// Puts one record into the ring: `fill` writes a payload of up to `len` bytes, or returns false if it cannot.
    /// The record also tells how far this side is in the other direction: `taken`.
    #[inline]
    pub fn put(
        &mut self,
        taken: u64,
        header: Header,
        len: usize,
        fill: impl FnOnce(&mut Reservation<'_, A>) -> bool,
    ) -> Put {
        let Some(producer) = &mut self.producer else { return Put::NoRoom };
        // A producer that finds no room waits for the peer's word, and has it only if a record in the ring asks for
        // it. There is no room only if about half of the ring is in use: a record takes a quarter at most, and so
        // does the pad before it. So it is enough that each record asks that fills the ring to more than a quarter.
        let pressed = producer.used() + slots_for(len) > producer.area().slots() / 4;
        let mut room = match producer.reserve(len) {
            Ok(Some(room)) => room,
            Ok(None) => return Put::NoRoom,
            Err(Corrupt) => return Put::Failed(Status::Transport),
        };
        if !fill(&mut room) {
            return Put::Failed(Status::LocalProtection);
        }
        let asked = if pressed { Acknowledge::Needed } else { header.acknowledge };
        let flags = (u8::from(header.solicited) * record::SOLICITED) | asked.flag();
        let end = room.finish(header.kind, flags, header.aux, taken);
        self.tail = end;
        self.asked = asked;
        Put::At(end)
    }

    /// Asks the peer for notice when it has consumed all records, unless the last one asks for as much already. Called
    /// before this side waits for that.
    pub fn ask(&mut self, taken: u64, acknowledge: Acknowledge) -> Asked {
        if self.asked >= acknowledge {
            return Asked::Before;
        }
        let last = self.tail;
        // SYNC await: if the position is short of the last record, the peer has not stored it yet and tells this side
        // behind that store. Otherwise the peer tells nobody, and the caller continues by itself.
        let waits = self.producer.as_mut().is_some_and(|producer| producer.consumed().is_ok_and(|head| head < last));
        if !waits {
            self.asked = Acknowledge::Needed;
            return Asked::Consumed;
        }
        let header = Header { kind: kind::NOTHING, solicited: false, acknowledge, aux: 0 };
        match self.put(taken, header, 0, |_| true) {
            Put::At(position) => Asked::Now(position),
            // The last record asks: see `put`.
            Put::NoRoom => Asked::Before,
            Put::Failed(_) => Asked::Consumed,
        }
    }

    /// True if the last record asks for an acknowledgement.
    #[inline]
    pub fn is_asked(&self) -> bool {
        self.asked != Acknowledge::No
    }

    /// Notes the peer's position as a record of it says.
    #[inline]
    pub fn credit(&mut self, credit: u64) -> Result<(), Corrupt> {
        self.producer.as_mut().map_or(Ok(()), |producer| producer.credit(credit))
    }

    /// The peer's position as `credit` of a record says, if that is `enough`; else as it has published. `None`
    /// while the ring is not open, and if the peer breaks the rules.
    #[inline]
    pub fn position(&mut self, credit: Option<u64>, enough: impl Fn(u64) -> bool) -> Option<u64> {
        let producer = self.producer.as_mut()?;
        if let Some(credit) = credit {
            producer.credit(credit).ok()?;
            let known = producer.known();
            if enough(known) {
                return Some(known);
            }
        }
        producer.consumed().ok()
    }

    /// The end of the last record.
    #[inline]
    pub fn tail(&self) -> u64 {
        self.tail
    }

    /// The peer's position as far as this side knows; `None` while the ring is not open.
    #[inline]
    pub fn known(&self) -> Option<u64> {
        self.producer.as_ref().map(Producer::known)
    }

    /// The peer's position; `None` while the ring is not open.
    #[inline]
    pub fn consumed(&mut self) -> Option<Result<u64, Corrupt>> {
        self.producer.as_mut().map(Producer::consumed)
    }
}

impl TxRing {
    /// The `len` bytes of payload of the record that ends at `end` and is not consumed; `None` while the ring is not open.
    pub fn payload(&self, end: u64, len: usize) -> Option<Source<'_>> {
        self.producer.as_ref().map(|producer| producer.payload(end, len))
    }

    /// Puts a small record into the ring, while no more than a quarter of that is in use: see [`Producer::put_small`]. Gives the
    /// end of the record.
    #[inline(always)]
    pub fn put_small<const N: usize>(
        &mut self,
        end: &End,
        header: Header,
        head: [u64; N],
        rest: Source<'_>,
    ) -> Option<u64> {
        let producer = self.producer.as_mut()?;
        // Of small records either takes no more than two slots.
        if producer.used() + 2 > RING_SLOTS as u64 / 4 {
            return None;
        }
        let flags = (u8::from(header.solicited) * record::SOLICITED) | header.acknowledge.flag();
        let position = producer.put_small([header.kind, flags], header.aux, end.taken(), head, rest)?;
        self.tail = position;
        self.asked = header.acknowledge;
        Some(position)
    }

    /// Has the peer handle the records up to `position` soon, of which it has notice: a program may be waiting for them that
    /// looks at its memory and makes no call. A peer that sleeps was woken. Of another one it is not known whether anybody
    /// is polling, or its thread will look some milliseconds later. Usually that is left to the [`guard`](crate::guard). If the
    /// peer had to be woken lately, it gets a moment, and then its thread is woken; once for each position, since records may
    /// have to wait for a receive.
    pub fn hurry(&mut self, end: &End, position: u64) {
        if end.peer_sleeps() || (self.trust.next(&end.owed) && end.control().guard.watch(&end.owed, position)) {
            return;
        }
        let limit = Instant::now() + MOMENT;
        loop {
            let Some(Ok(head)) = self.consumed() else { return };
            if head >= position || self.hurried == Some(head) {
                return;
            }
            if Instant::now() >= limit {
                self.hurried = Some(head);
                end.wake_peer_thread();
                return;
            }
            hint::spin_loop();
        }
    }
}

#[cfg(all(test, loom))]
mod model;
