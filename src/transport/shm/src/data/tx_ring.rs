//! A ring, of requests or of responses, from its producer's view.
//!
//! # Notification of the producer
//! A producer that waits for the peer does not poll: one of its records requests a notification when the peer has
//! consumed that record. Before a request waits, [`TxRing::ask`] ensures one of three cases. The last record already
//! requests a notification, or a new record does, or the peer has consumed all records and the caller continues itself.
//! The peer stores its position and then notifies. So if the producer has not seen the position, the notification
//! follows all that the producer stored under its lock (SYNC await).
//!
//! Only writes and atomic operations wake a peer that makes no call: see [`guard`](crate::guard). A message to such a
//! peer waits up to 8 ms, until the peer's progress thread polls.

use dat_core::event::Status;
use dat_software::user::Source;

use crate::peer_segment::{ANSWER_SLOTS, End, RING_SLOTS};
use crate::record::{self, ANSWER_MAX, Acknowledge, EAGER_MAX, Header, kind};
use crate::ring::{Area, Corrupt, Mapped, Producer, Reservation, slots_for};

// `TxRing::put` relies on these limits: a record takes about a quarter of its ring at most.
const _: () = assert!(slots_for(EAGER_MAX as usize + record::TARGET) <= RING_SLOTS as u64 / 4 + 1);
const _: () = assert!(slots_for(ANSWER_MAX as usize) <= ANSWER_SLOTS as u64 / 4);

pub enum Put {
    /// The record ends at this position.
    At(u64),
    NoRoom,
    Failed(Status),
}

/// How the producer learns that the peer has consumed all records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Asked {
    /// The last record already requests a notification.
    Before,
    /// A new record, which ends here, requests a notification. The caller must notify the peer of the record.
    Now(u64),
    /// The peer has consumed all records or violated the protocol: the caller must continue.
    Consumed,
}

pub struct TxRing<A: Area = Mapped> {
    producer: Option<Producer<A>>,
    tail: u64,
    /// Acknowledgement that the last record requests. [`Acknowledge::Needed`], the maximum, also if this side has seen
    /// that the peer has consumed all records: then no request is needed.
    asked: Acknowledge,
}

impl<A: Area> Default for TxRing<A> {
    fn default() -> Self {
        TxRing { producer: None, tail: 0, asked: Acknowledge::Needed }
    }
}

impl<A: Area> TxRing<A> {
    pub fn open(&mut self, producer: Producer<A>) {
        self.producer = Some(producer);
    }

    /// Puts one record into the ring. `fill` writes up to `len` payload bytes; if it returns `false`, the put fails.
    /// `taken` is this side's position in the opposite ring.
    #[inline]
    pub fn put(
        &mut self,
        taken: u64,
        header: Header,
        len: usize,
        fill: impl FnOnce(&mut Reservation<'_, A>) -> bool,
    ) -> Put {
        let Some(producer) = &mut self.producer else { return Put::NoRoom };
        // A producer without room needs a notification from a record in the ring. A record and the pad before it take
        // at most a quarter each, so only a half-full ring can lack room. Therefore each record that fills the ring
        // beyond a quarter requests a notification.
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
        let flags = (u8::from(header.solicited) * record::SOLICITED) | asked as u8;
        let end = room.finish(header.kind, flags, header.aux, taken);
        self.tail = end;
        self.asked = asked;
        Put::At(end)
    }

    /// Ensures that the caller, which will wait, is notified when the peer has consumed the last record. See [`Asked`].
    pub fn ask(&mut self, taken: u64, acknowledge: Acknowledge) -> Asked {
        if self.asked >= acknowledge {
            return Asked::Before;
        }
        let last = self.tail;
        // SYNC await: if the loaded position is before the end of the last record, the peer stores its position later,
        // then notifies. Otherwise no notification follows, and the caller continues itself.
        let waits = self.producer.as_mut().is_some_and(|producer| producer.consumed().is_ok_and(|head| head < last));
        if !waits {
            self.asked = Acknowledge::Needed;
            return Asked::Consumed;
        }
        let header = Header { kind: kind::NOTHING, solicited: false, acknowledge, aux: 0 };
        match self.put(taken, header, 0, |_| true) {
            Put::At(position) => Asked::Now(position),
            // If the ring is that full, its last record requests a notification: see `put`.
            Put::NoRoom => Asked::Before,
            Put::Failed(_) => Asked::Consumed,
        }
    }

    #[inline]
    pub fn is_asked(&self) -> bool {
        self.asked != Acknowledge::No
    }

    /// Returns the peer's position: from a record's `credit`, if `enough` accepts that position, otherwise the
    /// published position. Returns `None` if the ring is not open.
    #[inline]
    pub fn position(&mut self, credit: Option<u64>, enough: impl Fn(u64) -> bool) -> Option<Result<u64, Corrupt>> {
        let producer = self.producer.as_mut()?;
        if let Some(credit) = credit {
            if producer.credit(credit).is_err() {
                return Some(Err(Corrupt));
            }
            let known = producer.known();
            if enough(known) {
                return Some(Ok(known));
            }
        }
        Some(producer.consumed())
    }

    #[inline]
    pub fn tail(&self) -> u64 {
        self.tail
    }

    #[inline]
    pub fn known(&self) -> Option<u64> {
        self.producer.as_ref().map(Producer::known)
    }

    #[inline]
    pub fn consumed(&mut self) -> Option<Result<u64, Corrupt>> {
        self.producer.as_mut().map(Producer::consumed)
    }

    /// Returns whether the peer has consumed the ring up to `position`.
    #[inline]
    pub fn has_consumed(&mut self, position: u64) -> bool {
        self.known() >= Some(position) || self.consumed().is_some_and(|head| head.is_ok_and(|head| head >= position))
    }
}

impl TxRing {
    /// Returns the `len` payload bytes of an unconsumed record that ends at `end`; `None` if the ring is not open.
    pub fn payload(&self, end: u64, len: usize) -> Option<Source<'_>> {
        self.producer.as_ref().map(|producer| producer.payload(end, len))
    }

    /// Puts a small record into the ring, and returns its end. Returns `None` if more than a quarter of the ring would
    /// be in use, or if [`Producer::put_small`] does.
    #[inline(always)]
    pub fn put_small<const N: usize>(
        &mut self,
        end: &End,
        header: Header,
        head: [u64; N],
        rest: Source<'_>,
    ) -> Option<u64> {
        let producer = self.producer.as_mut()?;
        // Small records take at most two slots.
        if producer.used() + 2 > RING_SLOTS as u64 / 4 {
            return None;
        }
        let flags = (u8::from(header.solicited) * record::SOLICITED) | header.acknowledge as u8;
        let position = producer.put_small([header.kind, flags], header.aux, end.taken(), head, rest)?;
        self.tail = position;
        self.asked = header.acknowledge;
        Some(position)
    }
}

#[cfg(all(test, loom))]
mod model;
