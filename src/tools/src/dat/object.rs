//! What all objects have in common: a handle, and that they are freed with their last owner.

use std::sync::Arc;

use anyhow::Result;
use dat_udat12::*;

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

/// An object of an adapter. Clones are of the same object, which is freed with the last of them. The handle and the functions
/// are in each clone: loops whose time is measured follow no pointer for them.
#[derive(Clone)]
pub struct Object {
    handle: Handle,
    library: Library,
    owned: Arc<Owned>,
}

struct Owned {
    handle: Handle,
    free: Free,
    // These stay until the object is freed.
    _uses: Vec<Object>,
    ia: Ia,
}

impl Object {
    /// The object that a call has made.
    ///
    /// # Parameters
    /// * `call` - the name of the call.
    /// * `free` - the call for objects of this kind.
    /// * `uses` - the objects that it refers to.
    /// * `make` - makes the call, which writes the handle.
    pub(super) fn new(
        ia: &Ia,
        call: &'static str,
        free: Free,
        uses: Vec<Object>,
        make: impl FnOnce(&mut DAT_HANDLE) -> DAT_RETURN,
    ) -> Result<Self> {
        let mut handle = Handle::NULL;
        let library = ia.library();
        library.check(call, make(&mut handle.0))?;
        Ok(Self { handle, library, owned: Arc::new(Owned { handle, free, _uses: uses, ia: ia.clone() }) })
    }

    #[inline(always)]
    pub fn raw(&self) -> DAT_HANDLE {
        self.handle.0
    }

    #[inline(always)]
    pub fn library(&self) -> Library {
        self.library
    }

    /// The adapter that it belongs to.
    pub fn ia(&self) -> &Ia {
        &self.owned.ia
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the handle is that of an object of this kind, which nobody else owns.
        unsafe { (self.free)(self.handle.0) };
    }
}

/// A kind of objects.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(pub(super) $crate::dat::object::Object);

        impl std::ops::Deref for $name {
            type Target = $crate::dat::object::Object;

            #[inline(always)]
            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }
    };
}
pub(super) use object;
