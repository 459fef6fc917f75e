//! Handles, and the lifetime of their objects.

use std::sync::Arc;
use std::thread::{self, ThreadId};

use dat_udat20::*;

use crate::{Ia, Library, Result};

/// A handle, and the threads that may use it.
#[derive(Clone, Copy, Debug)]
pub struct Handle {
    raw: DAT_HANDLE,
    /// The only thread that may use the handle; `None` if the provider is thread-safe.
    owner: Option<ThreadId>,
}

// SAFETY: `Handle::raw` returns the handle only to a thread that may use it, and this process reads only constant
// memory through it.
unsafe impl Send for Handle {}
// SAFETY: a `Handle` is immutable, and `Handle::raw` returns it only to a thread that may use it.
unsafe impl Sync for Handle {}

impl Handle {
    pub fn new(raw: DAT_HANDLE, owner: Option<ThreadId>) -> Self {
        Self { raw, owner }
    }

    /// Returns the handle for a call.
    ///
    /// # Panics
    /// If the provider is not thread-safe and another thread opened the adapter.
    #[inline(always)]
    pub fn raw(self) -> DAT_HANDLE {
        assert!(
            self.is_usable(),
            "the provider is not thread-safe: only the thread that opened the adapter may use it"
        );
        self.raw
    }

    #[inline(always)]
    pub fn is_usable(self) -> bool {
        self.owner.is_none_or(|owner| owner == thread::current().id())
    }

    pub fn owner(self) -> Option<ThreadId> {
        self.owner
    }
}

type Free = unsafe extern "C" fn(DAT_HANDLE) -> DAT_RETURN;

/// An object of an adapter, freed with its last clone. Each clone contains the handle and the library, so that a post
/// or dequeue follows no pointer for them.
#[derive(Clone)]
pub struct Object {
    handle: Handle,
    library: Library,
    owned: Arc<Owned>,
}

struct Owned {
    handle: Handle,
    free: Free,
    // The objects that this object refers to, freed after it.
    _uses: Vec<Object>,
    ia: Ia,
}

impl Object {
    /// Creates an object by `create`, which makes the uDAPL call named `call`. `free` is the call that frees the
    /// object. The object refers to `uses`.
    pub(crate) fn new(
        ia: &Ia,
        call: &'static str,
        free: Free,
        uses: Vec<Object>,
        create: impl FnOnce(&mut DAT_HANDLE) -> DAT_RETURN,
    ) -> Result<Self> {
        let (mut raw, library) = (DAT_HANDLE_NULL, ia.library());
        library.check(call, create(&mut raw))?;
        let handle = Handle::new(raw, ia.owner());
        Ok(Self { handle, library, owned: Arc::new(Owned { handle, free, _uses: uses, ia: ia.clone() }) })
    }

    #[inline(always)]
    pub(crate) fn raw(&self) -> DAT_HANDLE {
        self.handle.raw()
    }

    /// Returns the library that created the object.
    #[inline(always)]
    pub fn library(&self) -> Library {
        self.library
    }

    /// Returns the adapter that the object belongs to.
    pub fn ia(&self) -> &Ia {
        &self.owned.ia
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // If this thread must not call the provider (see [`Handle`]), the object stays until the process ends.
        if self.handle.is_usable() {
            // SAFETY: the object is live, and of the kind that `free` frees; this is its last owner.
            unsafe { (self.free)(self.handle.raw) };
        }
    }
}

/// The identity of an endpoint: events contain the identity that [`Ep::id`](crate::Ep::id) returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpId(usize);

impl EpId {
    #[inline(always)]
    pub(crate) fn of(handle: DAT_EP_HANDLE) -> Self {
        Self(handle.addr())
    }
}

macro_rules! object {
    ($(#[$attribute:meta])* $name:ident $(, $marker:ty)?) => {
        $(#[$attribute])*
        pub struct $name(pub(crate) $crate::Object $(, $marker)?);

        impl std::ops::Deref for $name {
            type Target = $crate::Object;

            #[inline(always)]
            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }
    };
}
pub(crate) use object;
