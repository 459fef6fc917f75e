//! The position of a ring's side: lap and next slot.

use std::sync::atomic::Ordering;

use host::cold_path;

use super::{Area, First, POSITION, SLOT};
use host::word::Word;

/// Returns the lap at `position`. Consecutive laps differ, and the zeros of a new ring are the lap before the first.
#[inline]
pub(super) fn lap_at(area: &impl Area, position: u64) -> u8 {
    ((position >> area.shift()) as u8).wrapping_add(1)
}

/// A slot's offset and lap in one word, with as much of the position as records contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingCursor(pub u64);

const _: () = assert!((POSITION * SLOT as u64) >> RingCursor::LAP == 0);

impl RingCursor {
    /// Bit position of the lap. The lower bits are the offset of the slot, which areas mask.
    const LAP: u32 = 48;
    /// Flag with which a cursor matches no record's lap.
    const SHUT: u64 = 1 << 56;

    pub(super) fn new(area: &impl Area, position: u64) -> RingCursor {
        let at = (position & POSITION) * SLOT as u64;
        RingCursor(u64::from(lap_at(area, position)) << Self::LAP | at)
    }

    pub const FIRST: RingCursor = RingCursor(1 << Self::LAP);

    /// Returns a cursor with the same position, which matches no record if `shut`.
    #[inline]
    pub fn shut(self, shut: bool) -> RingCursor {
        RingCursor(if shut { self.0 | Self::SHUT } else { self.0 & !Self::SHUT })
    }

    /// Returns the bits of the position that records contain.
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
