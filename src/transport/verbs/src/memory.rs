//! Zones and regions.

use std::io;
use std::sync::Arc;

use dat_core::Rights;
use dat_core::error::{Error, Resource, Result};
use dat_core::transport::{RegisteredRegion, ZoneId};
use host::lock::Mutex;
use host::memory;
use host::{limit, zone};

use crate::device::Device;
use crate::status::exhausted;
use crate::sys::memory::{LOCAL_WRITE, MW_BIND, Mr, Pd, remote_access};
use crate::window::await_binds;

pub struct Zone {
    /// `None` until a window needs the anchor. Dropped before `pd`, in which the memory is registered.
    anchor: Mutex<Option<Arc<Anchor>>>,
    pub(crate) pd: Arc<Pd>,
    number: u32,
}

/// Registered memory that is never accessed. An unbind binds the window to zero bytes of it, because some devices
/// require a region even then.
pub(crate) struct Anchor {
    pub(crate) mr: Mr,
    pub(crate) bytes: Box<[u8; 64]>,
}

impl ZoneId for Zone {
    fn id(&self) -> u32 {
        self.number
    }
}

impl Zone {
    pub fn new(device: &Device) -> Result<Self> {
        let pd = Pd::new(&device.context).map_err(exhausted(Resource::Zone))?;
        Ok(Zone { anchor: Mutex::new(None), pd, number: zone::next_number() })
    }

    /// Returns the anchor, which the first call creates.
    pub(crate) fn anchor(&self) -> Result<Arc<Anchor>> {
        let mut anchor = self.anchor.lock();
        if let Some(anchor) = &*anchor {
            return Ok(anchor.clone());
        }
        let bytes = memory::boxed([0; 64])?;
        let mr = Mr::new(&self.pd, bytes.as_ptr() as u64, bytes.len(), LOCAL_WRITE | MW_BIND);
        let mr = mr.map_err(exhausted(Resource::Region))?;
        Ok(anchor.insert(memory::arc(Anchor { mr, bytes })?).clone())
    }
}

pub struct Region {
    pub(crate) mr: Arc<Mr>,
    remote: bool,
    device: Arc<Device>,
}

impl RegisteredRegion for Region {
    fn local_key(&self) -> u64 {
        self.mr.lkey.into()
    }

    fn remote_key(&self) -> u32 {
        if self.remote { self.mr.rkey } else { 0 }
    }

    fn await_peers(&self) -> bool {
        await_binds(&self.device, || Arc::strong_count(&self.mr) > 1)
    }
}

impl Region {
    pub fn new(device: &Arc<Device>, zone: &Zone, addr: u64, len: u64, rights: Rights) -> Result<Self> {
        let granted = device.limits.granted(rights);
        let mut access = remote_access(granted);
        if granted.intersects(Rights::LOCAL_WRITE | Rights::REMOTE_WRITE | Rights::REMOTE_ATOMIC) {
            // The device requires this right for remote writes, too. Core still checks local accesses.
            access |= LOCAL_WRITE;
        }
        let too_long = Error::InsufficientResources(Resource::Region);
        let bytes = usize::try_from(len).map_err(|_| too_long)?;
        let windows = if device.limits.windows { MW_BIND } else { 0 };
        let mut made = Mr::new(&zone.pd, addr, bytes, access | windows);
        if windows != 0 && access & LOCAL_WRITE == 0 && made.is_err() {
            // Registers without the right to bind windows, for which the kernel requires writable pages.
            made = Mr::new(&zone.pd, addr, bytes, access);
        }
        let mr = made.map_err(|error| explain(&error, addr, len))?;
        Ok(Region { mr: memory::arc(mr)?, remote: rights.intersects(Rights::REMOTE), device: device.clone() })
    }
}

fn explain(error: &io::Error, addr: u64, len: u64) -> Error {
    match error.raw_os_error() {
        Some(libc::EFAULT) => {
            log::error!(
                "memory region: cannot register {len} bytes at {addr:#x}: not mapped, or mapped without the requested rights"
            );
            Error::InvalidParameter(dat_core::error::Arg::Region)
        }
        _ => {
            let value = match limit::locked_memory() {
                Ok(Some(bytes)) => format!("{bytes} bytes"),
                Ok(None) => "unlimited".to_owned(),
                Err(_) => "unknown".to_owned(),
            };
            log::error!(
                "memory region: cannot register {len} bytes: {error}; limit on locked memory (ulimit -l): {value}"
            );
            Error::InsufficientResources(Resource::Region)
        }
    }
}
