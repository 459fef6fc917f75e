//! Ranges of registered memory to which peers have access.

use std::sync::atomic::Ordering;

use dat_core::Rights;
use dat_core::transport::RemoteSegment;

use super::row::{AccessContext, RemoteFault, Users, split_key, within};
use super::{GENERATION_SHIFT, REFERENCES, REVOKED, REVOKING, RegionRef, RegionTable, WAITER, WINDOW, WRITES};
use crate::user::{Source, Target};

impl RegionTable {
    /// Returns the users of the window with `key`; `None` if there is no such window, or if they do not include the
    /// connection whose local end is `own`.
    pub fn may_invalidate(&self, key: u32, own: &AccessContext) -> Option<Users> {
        let region_ref = self.acquire(key)?;
        let users = region_ref.users();
        let window = region_ref.local.rights.load(Ordering::Relaxed) & WINDOW != 0;
        (window && users.admit(own)).then_some(users)
    }

    /// Revokes a window for the peer of the connection whose local end is `own`, and waits until all references are
    /// dropped. Returns what [`RegionTable::may_invalidate`] does. The window's owner must still remove the row.
    pub fn invalidate(&self, key: u32, own: &AccessContext) -> Option<Users> {
        let users = self.may_invalidate(key, own)?;
        let (index, generation) = split_key(key);
        let gone = |state: u64| {
            let alive = (state >> GENERATION_SHIFT) as u32 == generation;
            alive
                .then_some(u64::from(generation | REVOKED) << GENERATION_SHIFT | state & REFERENCES | WAITER | REVOKING)
        };
        let local = self.close(index, gone)?;
        let mut sleeper = self.waiters.sleepers.lock();
        while local.is_referenced() {
            self.waiters.released.wait(&mut sleeper);
        }
        local.state.fetch_and(!REVOKING, Ordering::Relaxed);
        // A concurrent `remove` may wait for the end of REVOKING.
        self.waiters.released.notify_all();
        Some(users)
    }

    /// Grants the peer of the connection whose local end is `own` the rights `wanted` on a segment, or returns why not.
    #[inline(always)]
    pub fn grant(
        &self,
        remote: &RemoteSegment,
        wanted: Rights,
        own: &AccessContext,
    ) -> Result<Granted<'_>, RemoteFault> {
        let RemoteSegment { addr, len, key } = *remote;
        let region_ref = self.acquire(key).ok_or(RemoteFault::Key)?;
        if !region_ref.users().admit(own) {
            return Err(RemoteFault::Users);
        }
        if !region_ref.rights().contains(wanted) {
            return Err(RemoteFault::Rights);
        }
        let local = region_ref.local;
        let (first, size) = (local.first.load(Ordering::Relaxed), local.len.load(Ordering::Relaxed));
        if !within(addr, len, first, size) {
            return Err(RemoteFault::Bounds);
        }
        let addr = local.addr.load(Ordering::Relaxed) + (addr - first);
        Ok(Granted { _pin: region_ref, addr, len, rights: wanted })
    }
}

/// A range to which a peer has access; keeps the memory registered.
#[derive(Debug)]
#[must_use]
pub struct Granted<'t> {
    _pin: RegionRef<'t>,
    addr: u64,
    len: u64,
    rights: Rights,
}

impl Granted<'_> {
    /// Returns the address of the first byte.
    pub fn addr(&self) -> u64 {
        self.addr
    }

    #[inline]
    fn part(&self, skip: u64, most: u64) -> (u64, usize) {
        let skip = skip.min(self.len);
        (self.addr + skip, (self.len - skip).min(most) as usize)
    }

    /// Returns up to `most` bytes to read after the first `skip`.
    #[inline]
    pub fn source(&self, skip: u64, most: u64) -> Source<'_> {
        let (addr, len) = self.part(skip, most);
        // SAFETY: the range is in the region, which is readable (`insert`) until its removal, which waits for `_pin`.
        unsafe { Source::new(addr, len) }
    }

    /// Returns up to `most` bytes to write after the first `skip`; none without a granted right to write.
    #[inline]
    pub fn target(&self, skip: u64, most: u64) -> Target<'_> {
        if !self.rights.intersects(WRITES) {
            return Target::EMPTY;
        }
        let (addr, len) = self.part(skip, most);
        // SAFETY: the range is in the region, which has a right to write. So it is writable (`insert`) until its
        // removal, which waits for `_pin`.
        unsafe { Target::new(addr, len) }
    }
}
