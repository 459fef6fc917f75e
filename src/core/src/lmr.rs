//! Local memory regions.

use std::sync::Arc;

use host::lock::Mutex;
use host::memory;

use crate::error::{Arg, Error, Resource, Result, Role, StateError};
use crate::ia::Ia;
use crate::lmr_table::{LmrTable, Registration};
use crate::mem::{Base, Rights};
use crate::pz::Pz;
use crate::rmr_table::KeyRow;
use crate::slab::{Handle, Header, Kind};
use crate::transport::{RegionKeys, Shown, Transport};
use crate::users::Use;

/// The description from which a region was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// An address range of the process, by its first byte.
    Virtual(u64),
    /// The memory of another region.
    Region(Handle),
    /// An address range that other processes map too: its first byte, and the name that they know it by.
    Shared(u64, Box<[u8]>),
}

/// A local memory region.
pub struct Lmr<T: Transport> {
    pub(crate) header: Header,
    pub(crate) ia: Arc<Ia<T>>,
    pz: Mutex<Option<Use<Pz<T>>>>,
    /// The description of the memory. The name of shared memory stays in place as long as the region.
    pub memory: Memory,
    /// The address of its first byte.
    pub(crate) start: u64,
    /// How the number of its first byte is chosen.
    pub base: Base,
    /// Bytes registered. Never 0.
    pub len: u64,
    /// Rights granted.
    pub rights: Rights,
    /// The context by which local segments name it.
    pub context: u32,
    /// The key by which peers name it; 0 if it grants no remote right.
    pub remote_key: u32,
    /// Where that key is among those of the adapter.
    key_row: Option<KeyRow>,
    region: Mutex<Option<Arc<T::Region>>>,
}

/// The error of a region that got no context.
fn no_context<T: Transport>(ia: &Ia<T>) -> Error {
    let all = ia.count(Kind::Lmr) >= LmrTable::CAPACITY;
    Error::InsufficientResources(if all { Resource::Region } else { Resource::Memory })
}

impl<T: Transport> Lmr<T> {
    /// Registers memory. For [`Memory::Region`] the range is that of `source`, and `len` is ignored. `base` says by which
    /// number its first byte is named, with each of its contexts.
    ///
    /// # Errors
    /// [`Error::ModelNotSupported`] for another number than the address where the transport has no others;
    /// [`Arg::Length`] for length 0 or above the adapter's limit, [`Arg::Region`] for a
    /// range that does not fit the address space, [`Error::InsufficientResources`].
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
        let limits = ia.transport.attributes();
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
        let registration = Registration { addr: first, origin, len, rights, zone: zone_id, key: region.local_key() };
        let remote_key = if rights.intersects(Rights::REMOTE) { region.remote_key() } else { 0 };
        let key_row = if remote_key == 0 { None } else { Some(ia.remote_keys.enter()?) };
        let Some(context) = ia.lmrs.insert(&registration) else {
            key_row.into_iter().for_each(|row| ia.remote_keys.leave(row));
            return Err(no_context(ia));
        };
        // The memory stays registered until no post finds it, also if there is no handle for it.
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
    /// [`StateError::LmrInUse`] while a remote memory region is bound into it, or the request that unbinds it is held up.
    pub fn free(&self) -> Result<()> {
        if !self.header.users.retire() {
            return Err(Error::InvalidState(StateError::LmrInUse));
        }
        // Nobody binds it meanwhile.
        if self.region().is_some_and(|region| !self.ia.transport.await_peers(Shown::Region(&*region))) {
            self.header.users.revive();
            return Err(Error::InvalidState(StateError::LmrInUse));
        }
        self.reclaim();
        Ok(())
    }

    /// Deregisters the memory even while it is used, for the abrupt close of the adapter.
    pub(crate) fn free_anyway(&self) {
        self.header.users.retire_anyway();
        self.reclaim();
    }

    fn reclaim(&self) {
        self.ia.lmrs.remove(self.context);
        let region = self.region.lock().take();
        if let (Some(row), true) = (self.key_row, region.is_some()) {
            self.ia.remote_keys.leave(row);
        }
        // Without a lock, since that may wait for a peer.
        drop(region);
        self.pz.lock().take();
        self.ia.disown(self);
    }

    /// Its protection zone; `None` once freed.
    pub fn pz(&self) -> Option<Arc<Pz<T>>> {
        self.pz.lock().as_ref().map(|pz| pz.object().clone())
    }

    /// The number by which its first byte is named with its contexts: its address, or 0.
    pub fn addr(&self) -> u64 {
        self.base.first(self.start)
    }

    /// The transport's side of it; `None` once freed.
    pub fn region(&self) -> Option<Arc<T::Region>> {
        self.region.lock().clone()
    }
}
