//! Interface adapters.

use std::ffi::{CStr, CString};
use std::fmt;
use std::mem::offset_of;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use dat_udat12::*;
use serde::{Deserialize, Serialize};

use super::library::{file_of, text_at};
use super::object::Handle;
use super::{Api, Library, address, udat20};
use crate::shell::operand;

/// Places in the dispatcher of asynchronous events.
const ASYNC_EVENTS: DAT_COUNT = 64;

/// An open instance of an interface adapter. It is closed when it and all that was made from it are dropped.
#[derive(Clone)]
pub struct Ia(pub(super) Arc<Instance>);

pub(super) struct Instance {
    pub library: Library,
    pub handle: Handle,
}

/// What a program asks for when it opens an adapter. As text it is such as `1.2 nonthreadsafe`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Demand {
    /// Version of the interface: major, minor.
    pub version: (u32, u32),
    /// Whether several threads are to call the provider at the same time.
    pub thread_safe: bool,
}

impl Demand {
    /// What a program asks for that says nothing: the version that it was compiled for, without thread safety.
    pub fn of(api: Api) -> Self {
        let version = api.version();
        Demand { version: (version.major, version.minor), thread_safe: false }
    }

    /// The version of which a program is that asks so.
    pub fn api(&self) -> Api {
        Api::ALL.into_iter().find(|api| api.serves(self.version)).unwrap_or(Api::V12)
    }
}

impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.version;
        write!(f, "{major}.{minor} {}", if self.thread_safe { "threadsafe" } else { "nonthreadsafe" })
    }
}

impl Ia {
    /// Opens an adapter as most programs do, who ask for no thread safety. An adapter may be used by several threads if its
    /// [`Attributes`] say `is_thread_safe`; a caller looks there before it starts a second one.
    ///
    /// # Errors
    /// The adapter does not open; the error names it, and the command that explains why.
    pub fn open(library: Library, name: &str) -> Result<Self> {
        // A name with a NUL byte in it is that of no adapter.
        Self::open_as(library, &CString::new(name).unwrap_or_default(), Demand::of(library.api())).with_context(|| {
            format!("the adapter \"{name}\" does not open; `dat-info --explain {}` tells why", operand(name))
        })
    }

    /// Opens an adapter as a program of some version and thread safety does.
    pub fn open_as(library: Library, name: &CStr, demand: Demand) -> Result<Self> {
        library.publish();
        let (mut handle, mut async_evd) = (Handle::NULL, Handle::NULL);
        // SAFETY: the name is a C string, which the call reads only, and both handles are this function's own.
        let code = unsafe {
            (library.calls().dat_ia_openv)(
                name.as_ptr().cast_mut(),
                ASYNC_EVENTS,
                &mut async_evd.0,
                &mut handle.0,
                demand.version.0,
                demand.version.1,
                if demand.thread_safe { DAT_TRUE } else { DAT_FALSE },
            )
        };
        library.check("dat_ia_open", code)?;
        Ok(Self(Arc::new(Instance { library, handle })))
    }

    /// The library that opened it.
    pub fn library(&self) -> Library {
        self.0.library
    }

    pub fn raw(&self) -> DAT_IA_HANDLE {
        self.0.handle.0
    }

    /// The attributes of the adapter and of its provider.
    pub fn attributes(&self) -> Result<Attributes> {
        let mut ia = Box::new(std::mem::MaybeUninit::<DAT_IA_ATTR>::zeroed());
        let mut provider = Box::new(std::mem::MaybeUninit::<DAT_PROVIDER_ATTR>::zeroed());
        // SAFETY: both structures are this function's own.
        let code = unsafe {
            (self.library().calls().dat_ia_query)(
                self.raw(),
                std::ptr::null_mut(),
                DAT_IA_FIELD_ALL,
                ia.as_mut_ptr(),
                DAT_PROVIDER_FIELD_ALL,
                provider.as_mut_ptr(),
            )
        };
        self.library().check("dat_ia_query", code)?;
        let further = match self.library().api() {
            Api::V12 => None,
            Api::V20 => udat20::Further::of(self.raw()),
        };
        // SAFETY: they are numbers and pointers, for which zeros are valid, and what the call filled.
        let (ia, provider) = unsafe { (ia.assume_init(), provider.assume_init()) };
        // SAFETY: what the call returns points to memory that lives as long as the instance is open.
        unsafe {
            Ok(Attributes {
                address: address::read(ia.ia_address_ptr),
                transport: named(ia.num_transport_attr, ia.transport_attr),
                vendor: named(ia.num_vendor_attr, ia.vendor_attr),
                provider_specific: named(provider.num_provider_specific_attr, provider.provider_specific_attr),
                ia,
                provider,
                further,
            })
        }
    }

    /// The library of the provider that serves it: every handle begins with the provider's table.
    pub fn provider_library(&self) -> Option<PathBuf> {
        // SAFETY: behind the handle of an open adapter is a pointer to the table, as the binary interface demands.
        let query = unsafe { (**self.raw().cast::<*const DAT_PROVIDER>()).ia_query_func };
        const _: () =
            assert!(offset_of!(DAT_PROVIDER, ia_query_func) == offset_of!(dat_udat20::DAT_PROVIDER, ia_query_func));
        query.and_then(|function| file_of(function as usize))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the handle is that of an open adapter, and nothing that was made from it is left in this process.
        unsafe { (self.library.calls().dat_ia_close)(self.handle.0, DAT_CLOSE_ABRUPT_FLAG) };
    }
}

/// What an adapter and its provider can do. Pointers in `ia` and `provider` hold while the adapter is open; what they lead
/// to is copied into the other fields.
#[derive(Clone)]
pub struct Attributes {
    /// Its address, if that is one of IP.
    pub address: Option<SocketAddr>,
    /// Attributes of the transport: name and value.
    pub transport: Vec<(String, String)>,
    pub vendor: Vec<(String, String)>,
    pub provider_specific: Vec<(String, String)>,
    /// All attributes of the adapter.
    pub ia: Box<DAT_IA_ATTR>,
    /// All attributes of the provider.
    pub provider: Box<DAT_PROVIDER_ATTR>,
    /// Those that only uDAPL 2.0 has.
    pub further: Option<udat20::Further>,
}

/// Copies a list of named attributes.
///
/// # Safety
/// The list has that many elements, or the pointer is null; names and values are null or strings.
unsafe fn named(count: DAT_COUNT, list: *const DAT_NAMED_ATTR) -> Vec<(String, String)> {
    if list.is_null() {
        return Vec::new();
    }
    // SAFETY: the list has that many elements, as the caller promises.
    let list = unsafe { std::slice::from_raw_parts(list, usize::try_from(count).unwrap_or(0)) };
    // SAFETY: names and values are null or strings, as the caller promises.
    list.iter().map(|attr| unsafe { (text_at(attr.name), text_at(attr.value)) }).collect()
}
