//! What rows of a table say, as peers see them.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use dat_core::Rights;

use super::{INDEX_BITS, ROW_SIZE, ROWS};

/// The reason why a peer's operation on registered memory is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteFault {
    /// There is no such region, or not any more.
    Key,
    /// The region belongs to another protection zone, or is open to another connection alone.
    Users,
    /// The region does not grant the operation.
    Rights,
    /// The range reaches beyond the region.
    Bounds,
}

/// The connections over which a row may be used, as a row says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Users(pub u64);

impl Users {
    /// Set for those of one connection.
    const ONE: u64 = 1 << 63;

    /// All connections of the protection zone `zone`.
    pub fn of_zone(zone: u32) -> Users {
        Users(zone.into())
    }

    /// The connection that has an end with the port qualifier `port` on the side of the row.
    pub fn of_connection(port: u64) -> Users {
        Users(Users::ONE | port)
    }

    /// The protection zone; `None` for one connection.
    pub fn zone(self) -> Option<u32> {
        u32::try_from(self.0).ok()
    }

    /// Whether a connection is among them, which has this end on the side of the row.
    #[inline]
    pub fn admit(self, end: &AccessContext) -> bool {
        // What is asked first is the usual case.
        self == Users::of_zone(end.zone.load(Ordering::Relaxed))
            || self == Users::of_connection(end.port.load(Ordering::Relaxed))
    }
}

/// An end of a connection, as rows on its side know it.
#[derive(Debug)]
pub struct AccessContext {
    zone: AtomicU32,
    port: AtomicU64,
}

impl AccessContext {
    /// An end in the protection zone `zone`, with the port qualifier `port`, which no other end of its process ever has; 0
    /// stands for none.
    pub fn new(zone: u32, port: u64) -> AccessContext {
        AccessContext { zone: AtomicU32::new(zone), port: AtomicU64::new(port) }
    }

    /// Stores what the peer says of its end.
    pub fn set(&self, zone: u32, port: u64) {
        self.zone.store(zone, Ordering::Relaxed);
        self.port.store(port, Ordering::Relaxed);
    }
}

/// What a row says of memory.
#[derive(Clone, Copy, Debug)]
pub struct NewRow {
    /// First byte.
    pub addr: u64,
    /// Bytes.
    pub len: u64,
    /// The number by which peers name the first byte; the others follow.
    pub first: u64,
    /// Rights granted.
    pub rights: Rights,
    /// Who may use it.
    pub users: Users,
    /// It is what a window shows, so that a peer may invalidate it.
    pub window: bool,
}

/// A row as peers see it.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Row<H = AtomicU32, W = AtomicU64> {
    /// 0 while the row is free.
    pub generation: H,
    /// The bits of the rights.
    pub rights: H,
    /// [`Users`].
    pub users: W,
    /// The number by which peers name the first byte.
    pub first: W,
    /// Bytes.
    pub len: W,
    /// The address of the first byte.
    pub addr: W,
}

const _: () = assert!(size_of::<Row>() == ROW_SIZE);

/// The row that a key names, and its generation.
#[inline]
pub fn split_key(key: u32) -> (usize, u32) {
    ((key & (ROWS as u32 - 1)) as usize, key >> INDEX_BITS)
}

/// True if `len` bytes at `addr` are inside of the `size` bytes at `base`.
#[inline]
pub fn within(addr: u64, len: u64, base: u64, size: u64) -> bool {
    addr >= base && addr - base <= size && len <= size - (addr - base)
}
