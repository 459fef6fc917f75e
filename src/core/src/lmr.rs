//! Local memory regions.

use std::sync::Arc;

use host::lock::Mutex;
use host::memory;

use crate::arena::{Handle, Header, Kind};
use crate::error::{Arg, Error, Resource, Result, Role, StateError};
use crate::ia::Ia;
use crate::lmr_table::{LmrTable, Registration};
use crate::mem::{Base, Rights};
use crate::pz::Pz;
use crate::rmr_table::KeyRow;
use crate::transport::{RegisteredRegion, Transport};
use crate::users::Use;

/// The program's description of a region's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// An address range of this process, by the address of its first byte.
    Virtual(u64),
    /// The memory of another region.
    Region(Handle),
    /// An address range that other processes share, by the address of its first byte and its name.
    Shared(u64, Box<[u8]>),
}

/// A local memory region.
#[allow(missing_docs)]
pub struct Lmr<T: Transport> {
    pub(crate) header: Header,
    pub(crate) ia: Arc<Ia<T>>,
    pub(crate) pz: Mutex<Option<Use<Pz<T>>>>,
    /// The memory as the program described it. The name of shared memory keeps its address until the region is freed,
    /// because queries return a pointer to it.
    pub memory: Memory,
    pub(crate) start: u64,
    /// Determines the address by which programs and peers name the first byte.
    pub base: Base,
    /// Length in bytes; never 0.
    pub len: u64,
    pub rights: Rights,
    pub context: u32,
    /// The key for peers; 0 without remote rights.
    pub remote_key: u32,
    key_row: Option<KeyRow>,
    region: Mutex<Option<Arc<T::Region>>>,
}

impl<T: Transport> Lmr<T> {
    /// Registers memory. For [`Memory::Region`], registers the range of the region `source` again, and ignores `len`.
    ///
    /// # Errors
    /// [`Error::ModelNotSupported`] for [`Base::Zero`] if the transport does not support it; [`Arg::Length`] for 0 or
    /// above the limit; [`Arg::Region`] for a range outside the address space, or that is not mapped with these rights;
    /// [`Role::Pz`] if the zone is being freed; [`Error::InsufficientResources`].
    pub fn create(
        ia: &Arc<Ia<T>>,
        memory: Memory,
        source: Option<&Lmr<T>>,
        len: u64,
        pz: &Arc<Pz<T>>,
        rights: Rights,
        base: Base,
    ) -> Result<Arc<Self>> {
        let (start, len) = match (&memory, source) {
            (Memory::Virtual(addr) | Memory::Shared(addr, _), _) => (*addr, len),
            (Memory::Region(_), Some(source)) => (source.start, source.len),
            (Memory::Region(_), None) => return Err(Error::InvalidParameter(Arg::Region)),
        };
        let limits = ia.attributes();
        if base == Base::Zero && !limits.zero_based {
            return Err(Error::ModelNotSupported);
        }
        if len == 0 || len > limits.max_lmr_block {
            return Err(Error::InvalidParameter(Arg::Length));
        }
        if start == 0 || start.checked_add(len - 1).is_none_or(|last| last > limits.max_lmr_address) {
            return Err(Error::InvalidParameter(Arg::Region));
        }
        ia.room_for(Kind::Lmr)?;
        let zone = Use::of(pz).ok_or(Error::InvalidHandle(Role::Pz))?;
        let first = base.first(start);
        let region = memory::arc(ia.transport.register(&zone.zone, start, len, rights, first)?)?;
        let (origin, zone_id) = (start - first, zone.id());
        let (key, handle) = (region.local_key(), Handle::NULL);
        let registration = Registration { addr: first, origin, len, rights, zone: zone_id, key, handle };
        let remote_key = if rights.intersects(Rights::REMOTE) { region.remote_key() } else { 0 };
        let key_row = if remote_key == 0 { None } else { Some(ia.remote_keys.enter()?) };
        let Some(context) = ia.lmrs.insert(&registration) else {
            key_row.into_iter().for_each(|row| ia.remote_keys.leave(row));
            let all = ia.count(Kind::Lmr) >= LmrTable::CAPACITY;
            return Err(Error::InsufficientResources(if all { Resource::Region } else { Resource::Memory }));
        };
        // If no handle is left, the memory must stay registered until its context is removed. Otherwise a post with
        // this context could use deregistered memory.
        let kept = region.clone();
        let lmr = ia.adopt(Lmr {
            header: Header::default(),
            ia: ia.clone(),
            memory,
            start,
            base,
            len,
            rights,
            context,
            remote_key,
            key_row,
            region: Mutex::new(Some(region)),
            pz: Mutex::new(Some(zone)),
        });
        if let Ok(lmr) = &lmr {
            ia.lmrs.set_handle(context, lmr.header.handle());
            key_row.into_iter().for_each(|row| ia.remote_keys.set(row, remote_key, lmr.header.handle()));
        } else {
            ia.lmrs.remove(context);
            key_row.into_iter().for_each(|row| ia.remote_keys.leave(row));
        }
        drop(kept);
        lmr
    }

    /// Deregisters the memory.
    ///
    /// # Errors
    /// [`StateError::LmrInUse`] while an RMR is bound to the memory, or while a peer may still access it.
    pub fn free(&self) -> Result<()> {
        if !self.header.users.retire() {
            return Err(Error::InvalidState(StateError::LmrInUse));
        }
        // The retired region accepts no new bind during the wait.
        if self.region().is_some_and(|region| !region.await_peers()) {
            self.header.users.revive();
            return Err(Error::InvalidState(StateError::LmrInUse));
        }
        self.free_anyway();
        Ok(())
    }

    pub(crate) fn free_anyway(&self) {
        self.header.users.retire_anyway();
        self.ia.lmrs.remove(self.context);
        let region = self.region.lock().take();
        if let (Some(row), true) = (self.key_row, region.is_some()) {
            self.ia.remote_keys.leave(row);
        }
        // Dropped without a lock, because the transport may wait for a peer.
        drop(region);
        self.pz.lock().take();
        self.ia.disown(self);
    }

    /// Returns the address by which programs name the first byte: its real address, or 0 for [`Base::Zero`].
    pub fn addr(&self) -> u64 {
        self.base.first(self.start)
    }

    /// Returns the transport's region, or `None` after the free.
    pub fn region(&self) -> Option<Arc<T::Region>> {
        self.region.lock().clone()
    }
}
