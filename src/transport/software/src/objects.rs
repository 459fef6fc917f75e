//! Zones, regions and windows of a transport with a [`RegionTable`].

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dat_core::Rights;
use dat_core::addr::Address;
use dat_core::error::{Arg, Error, Resource, Result};
use dat_core::transport::{AdapterAttributes, BindTarget, Fabric, MAX_SEGMENTS, RegisteredRegion, Scope, ZoneId};
use host::lock::Mutex;
use host::zone;

use crate::pages;
use crate::regions::{NewRow, ROWS, RegionTable, Users, WRITES};

/// The owner of a [`RegionTable`].
pub trait Owner: Send + Sync + 'static {
    /// Returns the table.
    fn regions(&self) -> &RegionTable;

    /// Waits until no peer copies to or from memory of removed rows, if peers access it directly.
    fn await_peers(&self) {}

    /// Ends transfers that would block the free of the region with this key. Called without a lock when the program
    /// frees the region.
    fn region_freed(&self, _key: u32) {}
}

/// Returns the `key` that [`RegionTable::insert`] returned. If it is `None`, returns the error of the lacking row or
/// memory.
fn inserted(regions: &RegionTable, key: Option<u32>) -> Result<u32> {
    key.ok_or_else(|| Error::InsufficientResources(if regions.is_full() { Resource::Region } else { Resource::Memory }))
}

/// A protection zone.
pub struct Zone(u32);

impl Zone {
    /// Creates a zone.
    #[allow(clippy::new_without_default, reason = "each zone is different")]
    pub fn new() -> Zone {
        Zone(zone::next_number())
    }
}

impl ZoneId for Zone {
    fn id(&self) -> u32 {
        self.0
    }
}

/// Registered memory.
pub struct Region<O: Owner> {
    owner: Arc<O>,
    key: u32,
    zone: u32,
    is_remote: bool,
}

impl<O: Owner> Region<O> {
    /// Registers memory whose first byte has the remote address `first`. Fails with [`Arg::Region`] if the memory is
    /// not mapped, or its pages do not permit the rights.
    pub fn register(owner: &Arc<O>, zone: &Zone, addr: u64, len: u64, rights: Rights, first: u64) -> Result<Region<O>> {
        if !pages::is_mapped(addr, len) || !pages::is_accessible(addr, len, rights.intersects(WRITES)) {
            return Err(Error::InvalidParameter(Arg::Region));
        }
        let row = NewRow { addr, len, first, rights, users: Users::of_zone(zone.0), window: false };
        // SAFETY: the program keeps the memory mapped with these rights until it frees the region.
        let key = inserted(owner.regions(), unsafe { owner.regions().insert(&row) })?;
        let is_remote = rights.intersects(Rights::REMOTE);
        Ok(Region { owner: owner.clone(), key, zone: zone.0, is_remote })
    }
}

impl<O: Owner> RegisteredRegion for Region<O> {
    fn local_key(&self) -> u64 {
        self.key.into()
    }

    fn remote_key(&self) -> u32 {
        if self.is_remote { self.key } else { 0 }
    }

    fn await_peers(&self) -> bool {
        self.owner.region_freed(self.key);
        // Binds and unbinds take effect immediately, and the drop of the region, which follows, waits for the peers.
        true
    }
}

impl<O: Owner> Drop for Region<O> {
    fn drop(&mut self) {
        self.owner.regions().remove(self.key);
        // Peers that copy directly also access regions without remote rights, because they access the memory of
        // messages.
        self.owner.await_peers();
    }
}

/// A memory window, which has a row while it is bound.
pub struct Window<O: Owner> {
    owner: Arc<O>,
    scope: Scope,
    key: Mutex<Option<u32>>,
    was_bound: AtomicBool,
}

impl<O: Owner> Window<O> {
    /// Creates an unbound window.
    pub fn new(owner: &Arc<O>, scope: Scope) -> Window<O> {
        Window { owner: owner.clone(), scope, key: Mutex::new(None), was_bound: AtomicBool::new(false) }
    }

    /// Binds the window to `target`, and returns its key. Without a target, unbinds the window and returns 0. An error
    /// leaves the window unchanged. The caller must call [`Window::await_peers`] later.
    pub fn bind(&self, target: Option<&BindTarget<'_, Region<O>>>, connection: u64) -> Result<u32> {
        let key = match target {
            Some(&BindTarget { region, addr, len, rights, first }) => {
                let users = match self.scope {
                    Scope::Zone => Users::of_zone(region.zone),
                    Scope::Endpoint => Users::of_connection(connection),
                };
                let (rights, regions) = (rights.intersection(Rights::REMOTE), self.owner.regions());
                let row = NewRow { addr, len, first, rights, users, window: true };
                // SAFETY: the range is in a region, which core does not free while it has windows.
                Some(inserted(regions, unsafe { regions.insert(&row) })?)
            }
            None => None,
        };
        self.replace(key);
        Ok(key.unwrap_or(0))
    }

    fn replace(&self, key: Option<u32>) {
        let old = mem::replace(&mut *self.key.lock(), key);
        if let Some(old) = old {
            self.owner.regions().remove(old);
            self.was_bound.store(true, Ordering::Relaxed);
        }
    }

    /// Waits until no peer uses memory of earlier binds.
    pub fn await_peers(&self) {
        if self.was_bound.load(Ordering::Relaxed) {
            self.owner.await_peers();
        }
    }

    /// Unbinds the window, and waits until no peer uses its memory.
    pub fn close(&self) {
        self.replace(None);
        self.await_peers();
    }
}

impl<O: Owner> Drop for Window<O> {
    fn drop(&mut self) {
        self.close();
    }
}

/// Returns the attributes of an adapter that executes requests itself, with a table of [`ROWS`] rows.
pub fn attributes(
    provider: &str,
    address: Address,
    fabric: Fabric,
    max_transfer: u64,
    max_private_data: usize,
) -> AdapterAttributes {
    const MAX_EPS: usize = 16384;
    const MAX_READS: usize = 128;
    AdapterAttributes {
        vendor: "libdat".into(),
        provider: provider.into(),
        hardware_version: (1, 0),
        firmware_version: (1, 0),
        address,
        max_eps: MAX_EPS,
        max_dto_per_ep: 65536,
        max_rdma_read_per_ep_in: MAX_READS,
        max_rdma_read_per_ep_out: MAX_READS,
        max_rdma_read_in: MAX_READS * MAX_EPS,
        max_rdma_read_out: MAX_READS * MAX_EPS,
        max_evds: 65536,
        max_evd_qlen: 1 << 20,
        max_segments: MAX_SEGMENTS,
        max_segments_read: MAX_SEGMENTS,
        max_segments_write: MAX_SEGMENTS,
        max_lmrs: ROWS - 1024,
        max_lmr_block: 1 << 46,
        max_lmr_address: u64::MAX >> 1,
        max_pzs: 65536,
        max_transfer,
        max_rmrs: ROWS / 2,
        max_rmr_address: u64::MAX >> 1,
        max_srqs: 4096,
        max_eps_per_srq: MAX_EPS,
        max_recvs_per_srq: 65536,
        max_private_data,
        max_reject_data: max_private_data,
        optimal_alignment: 64,
        srq: true,
        srq_low_watermark: true,
        srq_zone_difference: true,
        rmr: true,
        zero_based: true,
        immediate: true,
        atomics: true,
        invalidate: true,
        endpoint_windows: true,
        datagrams: true,
        fabric,
    }
}
