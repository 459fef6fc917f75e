//! The position of a ring's consumer, as one word: lap and next slot.

use std::sync::atomic::Ordering;

use host::cold_path;

use super::{Area, First, POSITION, SLOT};
use host::word::Word;

/// Returns the lap at `position`. Consecutive laps differ, and a new ring's zeros are the lap before the first.
#[inline]
pub(super) fn lap_at(area: &impl Area, position: u64) -> u8 {
    ((position >> area.shift()) as u8).wrapping_add(1)
}

/// The consumer's position as one word: the lap, and the [`POSITION`] bits of the position as a slot's byte offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingCursor(pub u64);

const _: () = assert!((POSITION * SLOT as u64) >> RingCursor::LAP == 0);

impl RingCursor {
    /// Lowest bit of the lap. The bits below are the slot's byte offset, which an [`Area`] takes modulo its size.
    const LAP: u32 = 48;
    /// Flag above the lap. While it is set, the cursor is shut: [`is_there`] compares all bits, and finds no record.
    const SHUT: u64 = 1 << 56;

    pub(super) fn new(area: &impl Area, position: u64) -> RingCursor {
        let at = (position & POSITION) * SLOT as u64;
        RingCursor(u64::from(lap_at(area, position)) << Self::LAP | at)
    }

    pub const FIRST: RingCursor = RingCursor(1 << Self::LAP);

    /// Returns a cursor with the same position; if `shut`, [`is_there`] finds no record at that cursor.
    #[inline]
    pub fn shut(self, shut: bool) -> RingCursor {
        RingCursor(if shut { self.0 | Self::SHUT } else { self.0 & !Self::SHUT })
    }

    /// Returns the [`POSITION`] bits of the position, which records contain.
    #[inline]
    pub fn position(self) -> u64 {
        (self.0 / SLOT as u64) & POSITION
    }

    #[inline]
    pub(super) fn next(self, area: &impl Area, position: u64) -> RingCursor {
        let next = self.0 + SLOT as u64;
        if area.is_start(next) {
            cold_path();
            return RingCursor::new(area, position);
        }
        RingCursor(next)
    }

    #[inline]
    pub(super) fn lap(self) -> u8 {
        (self.0 >> Self::LAP) as u8
    }
}

/// Returns whether there is a record or a pad at the consumer's `spot`. Returns `false` if the cursor is shut.
#[inline]
pub fn is_there<A: Area>(area: &A, spot: RingCursor) -> bool {
    u64::from(First::unpack(area.first(spot.0).load(Ordering::Relaxed)).lap) == spot.0 >> RingCursor::LAP
}
