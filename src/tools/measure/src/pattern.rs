//! Bytes that both sides of a connection know, so that the receiver can compare each byte.

use dat::Region;

const STEP: usize = 4096;

/// The bytes of a transfer. They differ between consecutive transfers and between lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Number of a connection; or 0 if the numbers of transfers do not depend on a connection.
    pub lane: usize,
    /// Number of the transfer in its lane.
    pub number: u64,
}

impl Pattern {
    /// Returns the byte at `place`.
    #[inline(always)]
    pub fn at(self, place: usize) -> u8 {
        let seed = self.lane.wrapping_mul(101).wrapping_add((self.number as usize).wrapping_mul(31));
        (place * 7 + (place >> 8)).wrapping_add(seed) as u8
    }

    /// Writes `length` bytes of the pattern at `offset` of a region.
    pub fn write(self, region: &Region, offset: usize, length: usize) {
        let mut bytes = [0; STEP];
        for from in (0..length).step_by(STEP) {
            let bytes = &mut bytes[..STEP.min(length - from)];
            bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = self.at(from + at));
            region.write(offset + from, bytes);
        }
    }

    /// Returns the index of the first of `length` bytes at `offset` that differs from the pattern, or `None` if all are
    /// equal.
    pub fn first_difference(self, region: &Region, offset: usize, length: usize) -> Option<usize> {
        let mut bytes = [0; STEP];
        (0..length).step_by(STEP).find_map(|from| {
            let bytes = &mut bytes[..STEP.min(length - from)];
            region.read(offset + from, bytes);
            let wrong = bytes.iter().enumerate().position(|(at, &byte)| byte != self.at(from + at));
            wrong.map(|at| from + at)
        })
    }
}
