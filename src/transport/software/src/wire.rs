//! Targets, atomic operations and numbers in records, all little-endian.

use dat_core::Change;
use dat_core::transport::RemoteSegment;

/// Maximum bytes of a message or RDMA operation.
pub const LARGEST: u64 = 1 << 31;
/// Bytes that an atomic operation changes.
pub const WORD: u64 = 8;
/// Bytes of a key or immediate value.
pub const NUMBER: usize = 4;
/// Bytes of a target.
pub const TARGET: usize = 24;
/// Bytes of an atomic operation.
pub const ATOMIC: usize = 32;

const ADD: u32 = 0;
const SWAP: u32 = 1;

/// Decodes the 8 bytes from `at`.
#[inline]
pub fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|k| bytes[at + k]))
}

/// Decodes the 4 bytes from `at`.
#[inline]
pub fn half(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|k| bytes[at + k]))
}

/// Decodes a key or immediate value.
pub fn read_number(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_le_bytes)
}

/// Returns [`target`] as words.
#[inline]
pub fn target_words(remote: &RemoteSegment) -> [u64; TARGET / 8] {
    [remote.addr, remote.len, remote.key.into()]
}

/// Encodes `remote`, a range of registered memory: the receiver's, or the sender's if the receiver reads there.
pub fn target(remote: &RemoteSegment) -> [u8; TARGET] {
    let mut bytes = [0; TARGET];
    for (place, word) in bytes.chunks_exact_mut(8).zip(target_words(remote)) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// Decodes a [`target`]. Returns `None` if `bytes` has a wrong length, or if the range is too long for a transfer.
pub fn read_target(bytes: &[u8]) -> Option<RemoteSegment> {
    let bytes: &[u8; TARGET] = bytes.try_into().ok()?;
    let (addr, len, key) = (word(bytes, 0), word(bytes, 8), half(bytes, 16));
    (len <= LARGEST).then_some(RemoteSegment { addr, len, key })
}

/// Encodes an atomic operation on the receiver's memory: address, two operands, key, operation.
pub fn atomic(addr: u64, key: u32, change: Change) -> [u8; ATOMIC] {
    let (what, first, second) = match change {
        Change::Add(add) => (ADD, add, 0),
        Change::Swap { expected, new } => (SWAP, expected, new),
    };
    let mut bytes = [0; ATOMIC];
    for (place, word) in bytes.chunks_exact_mut(8).zip([addr, first, second]) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes[24..28].copy_from_slice(&key.to_le_bytes());
    bytes[28..].copy_from_slice(&what.to_le_bytes());
    bytes
}

/// Decodes an [`atomic`]. Returns `None` if `bytes` has a wrong length, or for an unknown operation.
pub fn read_atomic(bytes: &[u8]) -> Option<(RemoteSegment, Change)> {
    let bytes: &[u8; ATOMIC] = bytes.try_into().ok()?;
    let change = match (half(bytes, 28), word(bytes, 8), word(bytes, 16)) {
        (ADD, add, 0) => Change::Add(add),
        (SWAP, expected, new) => Change::Swap { expected, new },
        _ => return None,
    };
    Some((RemoteSegment { addr: word(bytes, 0), len: WORD, key: half(bytes, 24) }, change))
}

#[cfg(test)]
mod tests;
