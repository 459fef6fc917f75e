//! Ranges of registered memory that peers were granted.

use std::sync::atomic::Ordering;

use dat_core::Rights;

use super::row::{AccessContext, RemoteFault, Users, split_key, within};
use super::{GENERATION_SHIFT, Mirror, REFERENCES, REVOKED, REVOKING, RegionRef, RegionTable, WAITER, WINDOW, WRITES};
use crate::user::{Source, Target};

impl<M: Mirror> RegionTable<M> {
    /// The connections to which the window is open that `key` names; `None` if it names no window, or the connection that
    /// has the end `own` is not among them.
    pub fn may_invalidate(&self, key: u32, own: &AccessContext) -> Option<Users> {
        let region_ref = self.acquire(key)?;
        let users = region_ref.users();
        let window = region_ref.local.rights.load(Ordering::Relaxed) & WINDOW != 0;
        (window && users.admit(own)).then_some(users)
    }

    /// Closes the row of a window, because a peer wants that over the connection that has the end `own`, and waits until no
    /// thread has it pinned; gives the connections to which it was open. `None` if `key` names no window that is open to that
    /// connection. The row stays that of the window until [`RegionTable::remove`].
    pub fn invalidate(&self, key: u32, own: &AccessContext) -> Option<Users> {
        self.invalidate_with(key, own, || {})
    }

    /// As [`RegionTable::invalidate`]. Calls `closed` once nobody can hold the row any more, before it waits.
    pub fn invalidate_with(&self, key: u32, own: &AccessContext, closed: impl FnOnce()) -> Option<Users> {
        let users = self.may_invalidate(key, own)?;
        let (index, generation) = split_key(key);
        let gone = |state: u64| {
            let alive = (state >> GENERATION_SHIFT) as u32 == generation;
            alive
                .then_some(u64::from(generation | REVOKED) << GENERATION_SHIFT | state & REFERENCES | WAITER | REVOKING)
        };
        let local = self.close(index, gone)?;
        closed();
        let mut sleeper = self.waiters.sleepers.lock();
        while local.is_referenced() {
            self.waiters.released.wait(&mut sleeper);
        }
        local.state.fetch_and(!REVOKING, Ordering::Relaxed);
        // The window's own end may wait for that.
        self.waiters.released.notify_all();
        Some(users)
    }

    /// Grants a peer `wanted` on the `len` bytes that it names `addr`, over the connection that has the end `own`.
    ///
    /// # Errors
    /// The first of [`RemoteFault::Key`], [`RemoteFault::Users`], [`RemoteFault::Rights`], [`RemoteFault::Bounds`] that
    /// applies.
    #[inline(always)]
    pub fn grant(
        &self,
        key: u32,
        addr: u64,
        len: u64,
        wanted: Rights,
        own: &AccessContext,
    ) -> Result<Granted<'_>, RemoteFault> {
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

/// A range of registered memory on which a peer was granted rights. It cannot be deregistered as long as this lives.
#[derive(Debug)]
#[must_use]
pub struct Granted<'t> {
    _pin: RegionRef<'t>,
    addr: u64,
    len: u64,
    rights: Rights,
}

impl Granted<'_> {
    /// The address of the first byte.
    pub fn addr(&self) -> u64 {
        self.addr
    }

    /// The first byte behind the first `skip` ones, and so many bytes of the range from there, at most `most`.
    #[inline]
    fn part(&self, skip: u64, most: u64) -> (u64, usize) {
        let skip = skip.min(self.len);
        (self.addr + skip, (self.len - skip).min(most) as usize)
    }

    /// Bytes of the range to copy from, at most `most` behind the first `skip` ones.
    #[inline]
    pub fn source(&self, skip: u64, most: u64) -> Source<'_> {
        let (addr, len) = self.part(skip, most);
        // SAFETY: inside of what the contract of `insert` says can be read as long as the row is not removed, for which
        // its removal waits for the pin.
        unsafe { Source::new(addr, len) }
    }

    /// Bytes of the range to copy to, at most `most` behind the first `skip` ones; none if no right to write was granted.
    #[inline]
    pub fn target(&self, skip: u64, most: u64) -> Target<'_> {
        if !self.rights.intersects(WRITES) {
            return Target::EMPTY;
        }
        let (addr, len) = self.part(skip, most);
        // SAFETY: inside of what the contract of `insert` says can be written, for the region has a right to write, as
        // long as the row is not removed.
        unsafe { Target::new(addr, len) }
    }
}
