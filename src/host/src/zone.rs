//! Numbers of protection zones.

#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU32, Ordering};

/// Returns the number of a new zone, unique in this library and process: only the zone's process compares it.
pub fn next_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests;
