//! Where a side of a ring is: the number of the lap, and the slot that is next.

use std::sync::atomic::Ordering;

use host::cold_path;

use super::{Area, First, POSITION, SLOT};
use crate::word::Word;

/// The number of the lap at `position`; those of the laps before and behind it differ. A ring that is new or was reset
/// is at the lap before the first one.
#[inline]
pub(super) fn lap_at(area: &impl Area, position: u64) -> u8 {
    ((position >> area.shift()) as u8).wrapping_add(1)
}

/// The slot at a position, in one word: what is needed to look whether a record is there, and as much of the position as
/// travels in records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingCursor(pub u64);

const _: () = assert!((POSITION * SLOT as u64) >> RingCursor::LAP == 0);

impl RingCursor {
    /// Where the number of the lap is. Below it is the offset of the slot, of which an area takes no more bits than it has.
    const LAP: u32 = 48;
    /// No record has this instead of the number of the lap.
    const SHUT: u64 = 1 << 56;

    pub(super) fn new(area: &impl Area, position: u64) -> RingCursor {
        let at = (position & POSITION) * SLOT as u64;
        RingCursor(u64::from(lap_at(area, position)) << Self::LAP | at)
    }

    /// The first slot of a ring, in the first lap.
    pub const FIRST: RingCursor = RingCursor(1 << Self::LAP);

    /// The same spot, at which no record is found if `shut` is set, whatever is there.
    #[inline]
    pub fn shut(self, shut: bool) -> RingCursor {
        RingCursor(if shut { self.0 | Self::SHUT } else { self.0 & !Self::SHUT })
    }

    /// The position, as far as it travels in records.
    #[inline]
    pub fn position(self) -> u64 {
        (self.0 / SLOT as u64) & POSITION
    }

    /// The slot behind this one, which is the one at `position`.
    #[inline]
    pub(super) fn next(self, area: &impl Area, position: u64) -> RingCursor {
        let next = self.0 + SLOT as u64;
        if area.is_start(next) {
            cold_path();
            return RingCursor::new(area, position);
        }
        RingCursor(next)
    }

    /// The number of the lap.
    #[inline]
    pub(super) fn lap(self) -> u8 {
        (self.0 >> Self::LAP) as u8
    }
}

/// True if there is a record, or padding, at `spot` of a ring whose consumer is there, unless the spot is shut.
#[inline]
pub fn is_there<A: Area>(area: &A, spot: RingCursor) -> bool {
    u64::from(First::unpack(area.first(spot.0).load(Ordering::Relaxed)).lap) == spot.0 >> RingCursor::LAP
}
