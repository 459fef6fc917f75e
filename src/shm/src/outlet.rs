//! A ring as the side that fills it uses it.

use std::hint;
use std::time::{Duration, Instant};

use dat_core::event::Status;
use dat_core::transport::ShortSend;

use crate::pair::{ANSWER_SLOTS, End, RING_SLOTS};
use crate::record::{self, ANSWER_MAX, Acknowledge, EAGER_MAX, Header, kind};
use crate::regions::live_source;
use crate::ring::{Area, Corrupt, Producer, Reservation, slots_for};

// What `Outlet::put` relies on.
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

/// A ring, filled one record at a time, each shown to the peer at once.
#[derive(Default)]
pub struct Outlet {
    /// `None` before the ring is opened, and after it is closed.
    producer: Option<Producer>,
    /// End of the last record.
    tail: u64,
    /// What the last record asks for.
    asked: Acknowledge,
    /// Where the peer was when its thread was woken last, see [`Outlet::hurry`].
    hurried: Option<u64>,
}

impl Outlet {
    /// Opens the ring.
    pub fn open(&mut self, producer: Producer) {
        self.producer = Some(producer);
    }

    /// Puts nothing more into the ring.
    pub fn close(&mut self) {
        self.producer = None;
    }

    /// Puts one record into the ring: `fill` writes a payload of up to `len` bytes, or returns false if it cannot.
    /// The record also tells how far this side is in the other direction of `end`.
    #[inline]
    pub fn put(
        &mut self,
        end: &End,
        header: Header,
        len: usize,
        fill: impl FnOnce(&mut Reservation<'_>) -> bool,
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
        let end = room.finish(header.kind, flags, header.aux, end.taken());
        self.tail = end;
        self.asked = asked;
        Put::At(end)
    }

    /// Puts a message of one slot into the ring, while no more than a quarter of that is in use: see
    /// [`Producer::put_small`]. Gives the end of the record.
    #[inline(always)]
    pub fn put_small(&mut self, end: &End, send: &ShortSend<'_>) -> Option<u64> {
        let producer = self.producer.as_mut()?;
        if producer.used() >= RING_SLOTS as u64 / 4 {
            return None;
        }
        let acknowledge = Acknowledge::of(send.signalled);
        let flags = (u8::from(send.solicited) * record::SOLICITED) | acknowledge.flag();
        // SAFETY: so the core has found this segment.
        let bytes = unsafe { live_source(send.live, &send.segment) };
        let position = producer.put_small(kind::MESSAGE, flags, send.segment.len, end.taken(), bytes);
        self.tail = position;
        self.asked = acknowledge;
        Some(position)
    }

    /// Asks the peer to tell when it has consumed all records, unless the last one asks for as much already; the end of
    /// the record that asks, if there is a new one for the peer to see.
    pub fn ask(&mut self, end: &End, acknowledge: Acknowledge) -> Option<u64> {
        if self.asked >= acknowledge {
            return None;
        }
        let last = self.tail;
        if self.producer.as_mut().is_none_or(|producer| producer.consumed().is_ok_and(|head| head >= last)) {
            self.asked = Acknowledge::Needed;
            return None;
        }
        // Without room, the last record asks: see `put`.
        let header = Header { kind: kind::NOTHING, solicited: false, acknowledge, aux: 0 };
        match self.put(end, header, 0, |_| true) {
            Put::At(position) => Some(position),
            Put::NoRoom | Put::Failed(_) => None,
        }
    }

    /// True if the last record asks for an acknowledgement.
    #[inline]
    pub fn is_asked(&self) -> bool {
        self.asked != Acknowledge::No
    }

    /// Takes note of the peer's position as a record of it tells.
    ///
    /// # Errors
    /// As for [`Producer::credit`].
    #[inline]
    pub fn credit(&mut self, credit: u64) -> Result<(), Corrupt> {
        self.producer.as_mut().map_or(Ok(()), |producer| producer.credit(credit))
    }

    /// The peer's position as `credit`, which a record told, says, if that is `enough`; else as it has published. `None`
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
    ///
    /// # Errors
    /// As for [`Producer::consumed`].
    #[inline]
    pub fn consumed(&mut self) -> Option<Result<u64, Corrupt>> {
        self.producer.as_mut().map(Producer::consumed)
    }

    /// Sees to it that the peer handles the records up to `position` at once, of which it was told: a program may be
    /// waiting for them that looks at its memory and makes no call. A peer that sleeps was woken. Of another one it is
    /// not known whether anybody is polling, or its thread will look some milliseconds later. So it gets a moment, and
    /// then its thread is woken; once for each position, since records may have to wait for a receive.
    pub fn hurry(&mut self, end: &End, position: u64) {
        if end.peer_sleeps() {
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
