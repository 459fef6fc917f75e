//! A ring as the side that fills it uses it: one record at a time, shown to the peer at once.

use dat_core::event::Status;

use crate::pair::{ANSWER_SLOTS, RING_SLOTS};
use crate::record::{self, ANSWER_MAX, EAGER_MAX, Header, kind};
use crate::ring::{Area, Corrupt, Producer, Reservation, slots_for};

// What `Outlet::put` relies on.
const _: () = assert!(slots_for(EAGER_MAX as usize + record::TARGET) <= RING_SLOTS as u64 / 4 + 1);
const _: () = assert!(slots_for(ANSWER_MAX as usize) <= ANSWER_SLOTS as u64 / 4);

/// What came of a record.
pub enum Put {
    /// It is in the ring and ends there.
    At(u64),
    /// It has to wait until the peer has made room.
    NoRoom,
    /// It cannot be put there, ever.
    Failed(Status),
}

/// A ring to be filled; closed in the beginning.
#[derive(Default)]
pub struct Outlet {
    producer: Option<Producer>,
    /// End of the last record, if neither it nor a later one asks for an acknowledgement.
    unasked: Option<u64>,
}

impl Outlet {
    /// Opens it.
    pub fn open(&mut self, producer: Producer) {
        self.producer = Some(producer);
    }

    /// Closes it for good.
    pub fn close(&mut self) {
        self.producer = None;
    }

    /// Puts one record into the ring: `fill` writes a payload of up to `len` bytes, or returns false if it cannot.
    #[inline]
    pub fn put(&mut self, header: Header, len: usize, fill: impl FnOnce(&mut Reservation<'_>) -> bool) -> Put {
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
        let flags = if pressed { header.flags | record::ACKNOWLEDGE } else { header.flags };
        let end = room.finish(header.kind, flags, header.aux);
        producer.commit();
        self.unasked = (flags & record::ACKNOWLEDGE == 0).then_some(end);
        Put::At(end)
    }

    /// Asks the peer to tell when it has consumed all records, unless one of them does so already; true if there is
    /// a new record for the peer to see.
    pub fn ask(&mut self) -> bool {
        let Some(end) = self.unasked else { return false };
        if self.producer.as_mut().is_none_or(|producer| producer.consumed().is_ok_and(|head| head >= end)) {
            self.unasked = None;
            return false;
        }
        // Without room, the last record asks: see `put`.
        matches!(self.put(Header { kind: kind::NOTHING, flags: record::ACKNOWLEDGE, aux: 0 }, 0, |_| true), Put::At(_))
    }

    /// Position up to which the peer has consumed the ring; `None` if it is closed.
    #[inline]
    pub fn consumed(&mut self) -> Option<Result<u64, Corrupt>> {
        self.producer.as_mut().map(Producer::consumed)
    }
}
