//! Zones, regions and windows.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Weak};

use dat_core::Rights;
use dat_core::error::{Error, Resource, Result};
use dat_core::transport::{BindTarget, RegionKeys, ZoneId};
use host::lock::Mutex;
use host::memory::{self, Room};
use host::{limit, zone};
use rdma_sys::ibv_access_flags;

use crate::hub::Hub;
use crate::status::exhausted;
use crate::sys::memory::{Access, Mr, Mw, Pd};

/// A protection zone.
pub struct Zone {
    /// Dropped before the zone of the device, in which it is registered.
    anchor: Mutex<Option<Arc<Anchor>>>,
    pub(crate) pd: Arc<Pd>,
    number: u32,
}

/// Memory of our own that is never used: a window is unbound by binding it to no byte of a region, and some devices
/// insist on the region.
struct Anchor {
    mr: Mr,
    bytes: Box<[u8; 64]>,
}

impl ZoneId for Zone {
    fn id(&self) -> u32 {
        self.number
    }
}

impl Zone {
    /// Makes a zone.
    pub fn new(hub: &Hub) -> Result<Self> {
        let pd = Pd::new(&hub.context).map_err(exhausted(Resource::Zone))?;
        Ok(Zone { anchor: Mutex::new(None), pd, number: zone::next_number() })
    }
}

impl Zone {
    fn anchor(&self) -> Result<Arc<Anchor>> {
        let mut anchor = self.anchor.lock();
        if let Some(anchor) = &*anchor {
            return Ok(anchor.clone());
        }
        let bytes = Box::new([0; 64]);
        let mr = Mr::new(&self.pd, bytes.as_ptr() as u64, bytes.len(), LOCAL_WRITE | MW_BIND);
        let mr = mr.map_err(exhausted(Resource::Region))?;
        Ok(anchor.insert(Arc::new(Anchor { mr, bytes })).clone())
    }
}

/// Registered memory.
pub struct Region {
    shared: Arc<Shared>,
    remote: bool,
    /// The hub in whose table it is listed, if it is.
    listed: Option<Arc<Hub>>,
}

/// The registrations of a region.
struct Shared {
    mr: Mr,
    addr: u64,
    len: usize,
    access: Access,
    /// Its registrations in other zones, where shared receive queues use it.
    elsewhere: Mutex<Vec<(Arc<Pd>, Mr)>>,
}

/// Regions by local key. Soft-RoCE looks for the buffers of a shared receive queue in the zone of the
/// endpoint, not of the queue; where these differ, the memory is registered in both.
#[derive(Default)]
pub struct Regions(Mutex<HashMap<u32, Weak<Shared>>>);

impl Regions {
    /// The key in the zone `pd` of the region that has this key in its own zone.
    pub fn key_in(&self, key: u32, pd: &Arc<Pd>) -> io::Result<u32> {
        let region = self.0.lock().get(&key).and_then(Weak::upgrade);
        let region = region.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
        let mut elsewhere = region.elsewhere.lock();
        if let Some((_, mr)) = elsewhere.iter().find(|(known, _)| Arc::ptr_eq(known, pd)) {
            return Ok(mr.lkey());
        }
        let mr = Mr::new(pd, region.addr, region.len, region.access & LOCAL_WRITE)?;
        let key = mr.lkey();
        elsewhere.push((pd.clone(), mr));
        Ok(key)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if let Some(hub) = &self.listed {
            hub.regions.0.lock().remove(&self.local_key());
        }
    }
}

impl RegionKeys for Region {
    fn local_key(&self) -> u32 {
        self.shared.mr.lkey()
    }

    fn remote_key(&self) -> u32 {
        if self.remote { self.shared.mr.rkey() } else { 0 }
    }
}

const LOCAL_WRITE: Access = ibv_access_flags::IBV_ACCESS_LOCAL_WRITE.0 as Access;
const REMOTE_WRITE: Access = ibv_access_flags::IBV_ACCESS_REMOTE_WRITE.0 as Access;
const REMOTE_READ: Access = ibv_access_flags::IBV_ACCESS_REMOTE_READ.0 as Access;
const MW_BIND: Access = ibv_access_flags::IBV_ACCESS_MW_BIND.0 as Access;

fn remote_access(rights: Rights) -> Access {
    let mut access = 0;
    if rights.contains(Rights::REMOTE_READ) {
        access |= REMOTE_READ;
    }
    if rights.contains(Rights::REMOTE_WRITE) {
        access |= REMOTE_WRITE;
    }
    access
}

impl Region {
    /// Registers `len` bytes at `addr`.
    pub fn new(hub: &Arc<Hub>, zone: &Zone, addr: u64, len: u64, rights: Rights) -> Result<Self> {
        let mut access = remote_access(rights);
        if rights.intersects(Rights::LOCAL_WRITE | Rights::REMOTE_WRITE) {
            // The device demands the local right with the remote one. The core checks the rights that the program
            // asked for.
            access |= LOCAL_WRITE;
            if hub.limits.iwarp {
                // There the peer answers a read with a write.
                access |= REMOTE_WRITE;
            }
        }
        let too_long = Error::InsufficientResources(Resource::Region);
        let bytes = usize::try_from(len).map_err(|_| too_long)?;
        let windows = if hub.limits.windows { MW_BIND } else { 0 };
        let mut made = Mr::new(&zone.pd, addr, bytes, access | windows);
        if windows != 0 && access & LOCAL_WRITE == 0 && made.is_err() {
            // The kernel wants pages for windows to be writable, which these may not be.
            made = Mr::new(&zone.pd, addr, bytes, access);
        }
        let mr = made.map_err(|error| explain(&error, addr, len))?;
        let shared = memory::arc(Shared { mr, addr, len: bytes, access, elsewhere: Mutex::default() })?;
        let listed = hub.limits.soft_roce.then(|| hub.clone());
        if let Some(hub) = &listed {
            let mut regions = hub.regions.0.lock();
            regions.room(1)?;
            regions.insert(shared.mr.lkey(), Arc::downgrade(&shared));
        }
        Ok(Region { shared, remote: rights.intersects(Rights::REMOTE_READ | Rights::REMOTE_WRITE), listed })
    }
}

/// Says why memory was not registered.
fn explain(error: &io::Error, addr: u64, len: u64) -> Error {
    match error.raw_os_error() {
        Some(libc::EFAULT) => {
            log::error!("{len} bytes at {addr:#x} are not all there, or not with the rights asked for");
            Error::InvalidParameter(dat_core::error::Arg::Region)
        }
        _ => {
            let value = match limit::locked_memory() {
                Ok(Some(bytes)) => format!("{bytes} bytes"),
                Ok(None) => "unlimited".to_owned(),
                Err(_) => "unknown".to_owned(),
            };
            log::error!("cannot register {len} bytes: {error}; locked memory (ulimit -l) is limited to: {value}");
            Error::InsufficientResources(Resource::Region)
        }
    }
}

/// A window, to which remote rights can be bound.
pub struct Window(Mutex<Bound>);

enum Bound {
    /// A window of the device, and the region that it shows.
    Window { mw: Arc<Mw>, region: Option<Arc<Shared>>, anchor: Arc<Anchor> },
    /// A registration of just the range, where the device does not keep peers within the range of a window.
    Range { pd: Arc<Pd>, range: Option<Mr> },
}

/// The request that a bind posts.
pub enum Posting<'a> {
    /// Have the window show a range (first, count) of a region with some access.
    Bind(&'a Mw, (&'a Mr, u64, u64, u32)),
    /// Something that only completes in the order of the other requests.
    Nothing,
}

/// Objects that a bind needs until it is done, even if the program frees its own references meanwhile.
#[derive(Default)]
pub struct Kept {
    _mw: Option<Arc<Mw>>,
    _anchor: Option<Arc<Anchor>>,
    /// The regions that the window was and will be bound to.
    _regions: [Option<Arc<Shared>>; 2],
    /// The range that peers could reach before.
    _range: Option<Mr>,
}

impl Window {
    /// Makes an unbound window.
    pub fn new(hub: &Hub, zone: &Zone) -> Result<Self> {
        let bound = if hub.limits.soft_roce {
            Bound::Range { pd: zone.pd.clone(), range: None }
        } else {
            let mw = Arc::new(Mw::new(&zone.pd).map_err(exhausted(Resource::Region))?);
            Bound::Window { mw, region: None, anchor: zone.anchor()? }
        };
        Ok(Window(Mutex::new(bound)))
    }

    /// Binds the window to `target`, or unbinds it: calls `post` with the request to post. Gives the key that peers use
    /// from then on, 0 if there is none, and the objects that must stay until the bind is done.
    pub fn bind(
        &self,
        target: Option<&BindTarget<'_, Region>>,
        post: impl FnOnce(Posting<'_>) -> io::Result<()>,
    ) -> Result<(u32, Kept)> {
        let failed = exhausted(Resource::Region);
        match &mut *self.0.lock() {
            Bound::Window { mw, region, anchor } => {
                let nothing = (&anchor.mr, anchor.bytes.as_ptr() as u64, 0, 0);
                let range = target.map_or(nothing, |target| {
                    (&target.region.shared.mr, target.addr, target.len, remote_access(target.rights) as u32)
                });
                post(Posting::Bind(mw, range)).map_err(failed)?;
                let now = target.map(|target| target.region.shared.clone());
                let before = std::mem::replace(region, now.clone());
                let kept = Kept {
                    _mw: Some(mw.clone()),
                    _anchor: Some(anchor.clone()),
                    _regions: [before, now],
                    ..Kept::default()
                };
                Ok((if target.is_some() { mw.rkey() } else { 0 }, kept))
            }
            Bound::Range { pd, range } => {
                let register = |target: &BindTarget<'_, Region>| {
                    let access = remote_access(target.rights);
                    let local = if access & REMOTE_WRITE == 0 { 0 } else { LOCAL_WRITE };
                    Mr::new(pd, target.addr, usize::try_from(target.len).unwrap_or(usize::MAX), access | local)
                };
                let now = target.map(register).transpose().map_err(&failed)?;
                post(Posting::Nothing).map_err(&failed)?;
                let key = now.as_ref().map_or(0, Mr::rkey);
                Ok((key, Kept { _range: std::mem::replace(range, now), ..Kept::default() }))
            }
        }
    }
}
