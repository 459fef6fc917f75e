//! Numbers of protection zones.

#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU32, Ordering};

/// A number for a new zone.
///
/// Zones are compared only by the process that made them. So the number is unique in this process and in the library
/// that this code is part of, but not beyond.
pub fn next_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests;
