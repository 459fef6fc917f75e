//! libfabric's provider at an address: its fabric and its domain.

use std::ffi::CStr;
use std::net::SocketAddr;
use std::ptr;
use std::sync::Arc;

use super::abi::{
    FI_EP_MSG, FI_MR_VIRT_ADDR, FI_MSG, FI_PROGRESS_MANUAL, FI_SOCKADDR_IN, FI_SOCKADDR_IN6, FI_THREAD_SAFE, FidDomain,
    FidFabric, VERSION,
};
use super::descriptors::Descriptors;
use super::{Cq, FiError, OwnedInfo, close, load, shared};

/// An open provider at an address.
pub struct Fabric {
    pub(super) info: OwnedInfo,
    pub(super) fabric: *mut FidFabric,
    pub(super) domain: *mut FidDomain,
    pub(super) descriptors: Descriptors,
}

// SAFETY: libfabric's objects may be used by any thread: the domain is opened with FI_THREAD_SAFE.
unsafe impl Send for Fabric {}
// SAFETY: as for Send.
unsafe impl Sync for Fabric {}

impl Fabric {
    /// Opens a provider, which must have connections, at an address of this host.
    ///
    /// # Errors
    /// What libfabric says; `ENODATA` if it has no such provider, or that has no such address.
    pub fn open(provider: &str, source: SocketAddr) -> Result<Arc<Fabric>, FiError> {
        let library = load().map_err(|_| FiError(libc::ENOSYS))?;
        let mut hints = OwnedInfo::copy(None)?;
        hints.set_source(source)?;
        let name = std::ffi::CString::new(provider).map_err(|_| FiError(libc::EINVAL))?;
        let info = hints.get_mut();
        info.caps = FI_MSG;
        info.addr_format = if source.is_ipv4() { FI_SOCKADDR_IN } else { FI_SOCKADDR_IN6 };
        // SAFETY: an empty description has all its parts; the name is a copy that the C library's `free` frees.
        unsafe {
            (*info.ep_attr).kind = FI_EP_MSG;
            (*info.domain_attr).threading = FI_THREAD_SAFE;
            (*info.domain_attr).control_progress = FI_PROGRESS_MANUAL;
            (*info.domain_attr).data_progress = FI_PROGRESS_MANUAL;
            (*info.domain_attr).mr_mode = FI_MR_VIRT_ADDR;
            (*info.fabric_attr).prov_name = libc::strdup(name.as_ptr());
        }
        let mut found = ptr::null_mut();
        // SAFETY: the hints are a description, and the place for the answer is writable.
        let result =
            unsafe { (library.getinfo)(VERSION, ptr::null(), ptr::null(), 0, hints.0.cast_const(), &raw mut found) };
        FiError::check(result as isize)?;
        // The first of the list is the one that fits best; the others go with it.
        let info = OwnedInfo(found);
        let mut fabric = ptr::null_mut();
        // SAFETY: the description has its parts, and the place for the answer is writable.
        let result = unsafe { (library.fabric)(info.get().fabric_attr, &raw mut fabric, ptr::null_mut()) };
        FiError::check(result as isize)?;
        let mut domain = ptr::null_mut();
        // SAFETY: an open fabric has its operations; the description is that of this fabric.
        let result = unsafe { ((*(*fabric).ops).domain)(fabric, info.0, &raw mut domain, ptr::null_mut()) };
        if let Err(error) = FiError::check(result as isize) {
            // SAFETY: it is open, and nobody uses it.
            let _ = unsafe { close(fabric.cast()) };
            return Err(error);
        }
        shared(Fabric { info, fabric, domain, descriptors: Descriptors::default() })
    }

    /// The most bytes that libfabric copies in a call.
    pub fn inject_size(&self) -> usize {
        // SAFETY: a description of libfabric's has this part.
        unsafe { (*self.info.get().tx_attr).inject_size }
    }

    /// The most pieces of a message.
    pub fn pieces(&self) -> usize {
        // SAFETY: a description of libfabric's has this part.
        unsafe { (*self.info.get().tx_attr).iov_limit }.clamp(1, super::VECS)
    }

    /// The name of the provider, behind which come those of layers over it.
    pub fn name(&self) -> String {
        // SAFETY: a description of libfabric's has this part, whose name is a C string or missing.
        let name = unsafe { (*self.info.get().fabric_attr).prov_name.as_ref().map(|name| CStr::from_ptr(name)) };
        name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// The version of the provider.
    pub fn provider_version(&self) -> (u32, u32) {
        // SAFETY: a description of libfabric's has this part.
        let version = unsafe { (*self.info.get().fabric_attr).prov_version };
        (version >> 16, version & 0xffff)
    }

    /// The name of libfabric's device, mostly that of the network interface.
    pub fn device(&self) -> String {
        // SAFETY: a description of libfabric's has this part, whose name is a C string or missing.
        let name = unsafe { (*self.info.get().domain_attr).name.as_ref().map(|name| CStr::from_ptr(name)) };
        name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// Whether a thread can sleep on the descriptor of a completion queue now, which has no entry.
    pub(super) fn try_wait(&self, cq: &Cq) -> bool {
        let mut fid = cq.cq.cast();
        // SAFETY: both are open, and the list has one entry.
        unsafe { ((*(*self.fabric).ops).trywait)(self.fabric, &raw mut fid, 1) == 0 }
    }
}

impl Drop for Fabric {
    fn drop(&mut self) {
        self.descriptors.forget_all();
        // libfabric has a lock for all fabrics, which a child must not find locked.
        host::fork::undivided(|| {
            // SAFETY: both are open, and all that was made from them is closed, as it keeps this alive.
            unsafe {
                let _ = close(self.domain.cast());
                let _ = close(self.fabric.cast());
            }
        });
    }
}
