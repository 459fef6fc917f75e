//! Contents of rows, as peers see them.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use dat_core::Rights;

use super::{INDEX_BITS, ROW_SIZE, ROWS};

/// The reason for rejecting a peer's access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteFault {
    /// No region has the key.
    Key,
    /// The region belongs to another zone or connection.
    Users,
    /// The region does not grant the right.
    Rights,
    /// The range exceeds the region.
    Bounds,
}

/// Connections that may use a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Users(pub u64);

impl Users {
    const ONE: u64 = 1 << 63;

    /// Returns all connections of the protection zone.
    pub fn of_zone(zone: u32) -> Users {
        Users(zone.into())
    }

    /// Returns the connection whose local end has this port qualifier.
    pub fn of_connection(port: u64) -> Users {
        Users(Users::ONE | port)
    }

    /// Returns the protection zone; `None` for one connection.
    pub fn zone(self) -> Option<u32> {
        u32::try_from(self.0).ok()
    }

    /// Returns whether the connection whose end at the row's owner is `end` may use the row.
    #[inline]
    pub fn admit(self, end: &AccessContext) -> bool {
        self == Users::of_zone(end.zone.load(Ordering::Relaxed))
            || self == Users::of_connection(end.port.load(Ordering::Relaxed))
    }
}

/// Returns a port qualifier that is unique in this library and process. Programs use lower qualifiers, of 16 bits, for
/// service points.
pub fn next_port() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0x1_0001);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Zone and port qualifier of a connection's end, by which rows admit the connection.
#[derive(Debug)]
pub struct AccessContext {
    zone: AtomicU32,
    port: AtomicU64,
}

impl AccessContext {
    /// Creates an end. `port` is from [`next_port`] of its process, or 0.
    pub fn new(zone: u32, port: u64) -> AccessContext {
        AccessContext { zone: AtomicU32::new(zone), port: AtomicU64::new(port) }
    }

    /// Stores the values of the peer's end, which are unknown until the peer accepts.
    pub fn set(&self, zone: u32, port: u64) {
        self.zone.store(zone, Ordering::Relaxed);
        self.port.store(port, Ordering::Relaxed);
    }
}

/// Contents of a new row.
#[derive(Clone, Copy, Debug)]
pub struct NewRow {
    /// Address of the first byte.
    pub addr: u64,
    /// Number of bytes.
    pub len: u64,
    /// Remote address of the first byte.
    pub first: u64,
    /// Granted rights.
    pub rights: Rights,
    /// Connections that may use the row.
    pub users: Users,
    /// Set for a window, which a peer may invalidate.
    pub window: bool,
}

/// A row as peers see it.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Row<H = AtomicU32, W = AtomicU64> {
    /// 0 while the row is free.
    pub generation: H,
    /// Bits of the rights.
    pub rights: H,
    /// [`Users`].
    pub users: W,
    /// Remote address of the first byte.
    pub first: W,
    /// Number of bytes.
    pub len: W,
    /// Virtual address of the first byte.
    pub addr: W,
}

const _: () = assert!(size_of::<Row>() == ROW_SIZE);

/// Returns the index and the generation in a key.
#[inline]
pub fn split_key(key: u32) -> (usize, u32) {
    ((key & (ROWS as u32 - 1)) as usize, key >> INDEX_BITS)
}

/// Returns whether `len` bytes at `addr` are inside the `size` bytes at `base`.
#[inline]
pub fn within(addr: u64, len: u64, base: u64, size: u64) -> bool {
    addr >= base && addr - base <= size && len <= size - (addr - base)
}
