//! Interface adapters.

use std::ffi::CStr;
use std::fmt;
use std::mem::offset_of;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::thread::{self, ThreadId};

use dat_udat20::*;

use crate::library::file_of;
use crate::object::Handle;
use crate::{Api, Attributes, Library, Result};

const ASYNC_EVENTS: DAT_COUNT = 64;

/// An open interface adapter. It is closed when its last clone and all its objects are dropped.
///
/// If the provider is not thread-safe
/// ([`ProviderAttributes::is_thread_safe`](crate::ProviderAttributes::is_thread_safe)), a call panics in each thread
/// except the thread that opened the adapter.
#[derive(Clone)]
pub struct Ia(Arc<Instance>);

struct Instance {
    library: Library,
    handle: Handle,
}

/// The properties that a program requests of an adapter, such as `1.2 nonthreadsafe`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Major and minor number of the interface.
    pub version: (u32, u32),
    /// `true` if several threads will call the provider concurrently.
    pub thread_safe: bool,
}

impl Request {
    /// Returns the request of a program for `api` that uses the adapter in one thread.
    pub fn of(api: Api) -> Self {
        Self { version: api.version(), thread_safe: false }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.version;
        write!(f, "{major}.{minor} {}", if self.thread_safe { "threadsafe" } else { "nonthreadsafe" })
    }
}

impl FromStr for Request {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parse = || {
            let (version, safety) = text.split_once(' ')?;
            let (major, minor) = version.split_once('.')?;
            let version = (major.parse().ok()?, minor.parse().ok()?);
            let thread_safe = match safety {
                "threadsafe" => true,
                "nonthreadsafe" => false,
                _ => return None,
            };
            Some(Self { version, thread_safe })
        };
        parse().ok_or_else(|| format!("{text} is not of the form \"1.2 threadsafe\""))
    }
}

impl Ia {
    /// Opens the adapter `name` with the properties `request`.
    pub fn open(library: Library, name: &CStr, request: Request) -> Result<Self> {
        library.publish();
        let (mut raw, mut async_evd) = (DAT_HANDLE_NULL, DAT_HANDLE_NULL);
        // SAFETY: the name is a C string, and both handles are local variables.
        let code = unsafe {
            (library.calls().common.dat_ia_openv)(
                name.as_ptr().cast_mut(),
                ASYNC_EVENTS,
                &mut async_evd,
                &mut raw,
                request.version.0,
                request.version.1,
                if request.thread_safe { DAT_TRUE } else { DAT_FALSE },
            )
        };
        library.check("dat_ia_open", code)?;
        // SAFETY: the adapter is open.
        let attributes = unsafe { Attributes::query(library, raw) };
        let thread_safe = attributes.is_ok_and(|all| all.provider.is_thread_safe);
        let owner = (!thread_safe).then(|| thread::current().id());
        Ok(Self(Arc::new(Instance { library, handle: Handle::new(raw, owner) })))
    }

    /// Returns the library that opened the adapter.
    pub fn library(&self) -> Library {
        self.0.library
    }

    #[inline(always)]
    pub(crate) fn raw(&self) -> DAT_IA_HANDLE {
        self.0.handle.raw()
    }

    pub(crate) fn owner(&self) -> Option<ThreadId> {
        self.0.handle.owner()
    }

    /// Returns the attributes of the adapter and of its provider.
    pub fn attributes(&self) -> Result<Attributes> {
        // SAFETY: the adapter is open.
        unsafe { Attributes::query(self.library(), self.raw()) }
    }

    /// Returns the file of the provider's library, or `None` if the loader does not know it.
    pub fn provider_library(&self) -> Option<PathBuf> {
        use dat_udat12::DAT_PROVIDER as Table;
        const _: () = assert!(offset_of!(Table, ia_query_func) == offset_of!(DAT_PROVIDER, ia_query_func));
        const _: () = assert!(size_of::<Table>() <= size_of::<DAT_PROVIDER>());
        // SAFETY: by the binary interface, an open adapter begins with a pointer to a table of at least this size.
        let table = unsafe { *self.raw().cast::<&Table>() };
        table.ia_query_func.and_then(|function| file_of(function as usize))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if self.handle.is_usable() {
            // SAFETY: the adapter is open, and all its objects have been freed.
            unsafe { (self.library.calls().common.dat_ia_close)(self.handle.raw(), DAT_CLOSE_ABRUPT_FLAG) };
        }
    }
}

#[cfg(test)]
mod tests;
