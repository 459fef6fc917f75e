//! Bytes that both sides of a connection know, so that each byte that arrives can be compared.

/// The bytes of one transfer. Those of transfers one after the other differ, and so do those of different lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// A connection, or a kind of transfers.
    pub lane: usize,
    /// The number of the transfer there.
    pub number: u64,
}

impl Pattern {
    /// The byte at a place of the transfer.
    #[inline(always)]
    pub fn at(self, place: usize) -> u8 {
        let seed = self.lane.wrapping_mul(101).wrapping_add((self.number as usize).wrapping_mul(31));
        (place * 7 + (place >> 8)).wrapping_add(seed) as u8
    }
}
