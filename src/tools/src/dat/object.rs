//! What all objects have in common: a handle, and that they are freed with their last owner.

use dat_udat12::*;

use super::error::Result;
use super::{Ia, Library};

/// A handle of the interface, which any thread may pass to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Handle(pub(super) DAT_HANDLE);

// SAFETY: a handle is a name for an object, which this process never reads or writes through it. The calls that take it may be
// made by any thread, since adapters of which that is not true are used by one thread; see `Ia::open`.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    /// No object yet, for a call that writes one.
    pub(super) const NULL: Handle = Handle(DAT_HANDLE_NULL);
}

/// The call that frees an object.
type Free = unsafe extern "C" fn(DAT_HANDLE) -> DAT_RETURN;

/// An object of an adapter, which stays open with it. What it uses has to be dropped after it.
#[derive(Debug)]
pub(super) struct Object {
    handle: Handle,
    library: Library,
    free: Free,
    ia: Ia,
}

impl Object {
    /// The object that a call has made.
    ///
    /// # Parameters
    /// * `call` - the name of the call.
    /// * `free` - the call for objects of this kind.
    /// * `make` - makes the call, which writes the handle.
    pub fn new(
        ia: &Ia,
        call: &'static str,
        free: Free,
        make: impl FnOnce(&mut DAT_HANDLE) -> DAT_RETURN,
    ) -> Result<Self> {
        let mut handle = Handle::NULL;
        let library = ia.library();
        library.check(call, make(&mut handle.0))?;
        Ok(Self { handle, library, free, ia: ia.clone() })
    }

    /// Its handle.
    #[inline(always)]
    pub fn raw(&self) -> DAT_HANDLE {
        self.handle.0
    }

    /// The library, which is nearer than that of the adapter.
    #[inline(always)]
    pub fn library(&self) -> Library {
        self.library
    }

    /// The adapter that it belongs to.
    pub fn ia(&self) -> &Ia {
        &self.ia
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: the handle is that of an object of this kind, which nobody else owns.
        unsafe { (self.free)(self.handle.0) };
    }
}
