//! Loading libfabric, once in a process.
//!
//! It is opened at run time, so that this library loads on machines without it. Its own libraries may take over signals
//! (that of PSM does so with those of crashes), which belong to the program: what it had is put back.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::OnceLock;

use host::{environment, fork};

use super::abi::{FabricAttr, FiInfo, FidFabric, VERSION};

/// The functions of libfabric that are symbols.
pub struct Library {
    pub getinfo: unsafe extern "C" fn(u32, *const c_char, *const c_char, u64, *const FiInfo, *mut *mut FiInfo) -> c_int,
    pub freeinfo: unsafe extern "C" fn(*mut FiInfo),
    pub dupinfo: unsafe extern "C" fn(*const FiInfo) -> *mut FiInfo,
    pub fabric: unsafe extern "C" fn(*mut FabricAttr, *mut *mut FidFabric, *mut c_void) -> c_int,
    pub strerror: unsafe extern "C" fn(c_int) -> *const c_char,
}

/// Why there is no libfabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Load {
    /// The process runs with more rights than its starter, whose environment could name libraries for libfabric to load.
    Privileged,
    /// It is not installed, or cannot be loaded, as the system says.
    Missing(String),
    /// It is an older one than 1.14, or has not the symbols of that.
    TooOld(String),
}

impl std::fmt::Display for Load {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Load::Privileged => f.write_str("libfabric is not loaded into a process with more rights than its starter"),
            Load::Missing(why) => write!(f, "libfabric.so.1 cannot be loaded (Debian has it in libfabric1): {why}"),
            Load::TooOld(what) => write!(f, "libfabric is older than 1.14: {what}"),
        }
    }
}

/// The library. A child of a fork finds it loaded or not begun.
pub fn load() -> Result<&'static Library, &'static Load> {
    static LIBRARY: OnceLock<Result<Library, Load>> = OnceLock::new();
    LIBRARY.get().unwrap_or_else(|| fork::undivided(|| LIBRARY.get_or_init(|| with_signals_kept(open)))).as_ref()
}

fn open() -> Result<Library, Load> {
    if environment::privileged() {
        return Err(Load::Privileged);
    }
    // SAFETY: the name is a C string; what the library does at load is its own affair.
    let handle = unsafe { libc::dlopen(c"libfabric.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() {
        // SAFETY: dlerror gives a C string, or nothing.
        let why = unsafe { libc::dlerror().as_ref().map(|why| CStr::from_ptr(why)) };
        return Err(Load::Missing(why.map_or_else(String::new, |why| why.to_string_lossy().into_owned())));
    }
    let version: unsafe extern "C" fn() -> u32 = function(handle, c"fi_version", c"FABRIC_1.0")?;
    // SAFETY: it takes nothing and only answers.
    let found = unsafe { version() };
    if found < VERSION {
        return Err(Load::TooOld(format!("it is {}.{}", found >> 16, found & 0xffff)));
    }
    let library = Library {
        getinfo: function(handle, c"fi_getinfo", c"FABRIC_1.3")?,
        freeinfo: function(handle, c"fi_freeinfo", c"FABRIC_1.3")?,
        dupinfo: function(handle, c"fi_dupinfo", c"FABRIC_1.3")?,
        fabric: function(handle, c"fi_fabric", c"FABRIC_1.1")?,
        strerror: function(handle, c"fi_strerror", c"FABRIC_1.0")?,
    };
    // The first question loads the providers.
    let mut list = ptr::null_mut();
    // SAFETY: no hints are allowed; the list is freed.
    unsafe {
        if (library.getinfo)(VERSION, ptr::null(), ptr::null(), 0, ptr::null(), &raw mut list) == 0 {
            (library.freeinfo)(list);
        }
    }
    Ok(library)
}

/// A function of the library, in the version whose structures [`super::abi`] has.
fn function<F: Copy>(handle: *mut c_void, name: &CStr, version: &CStr) -> Result<F, Load> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    let found = versioned(handle, name, version);
    if found.is_null() {
        return Err(Load::TooOld(format!("it has no {} {}", name.to_string_lossy(), version.to_string_lossy())));
    }
    // SAFETY: `F` is the type of the function of this name and version, whose address this is.
    Ok(unsafe { mem::transmute_copy(&found) })
}

#[cfg(target_env = "gnu")]
fn versioned(handle: *mut c_void, name: &CStr, version: &CStr) -> *mut c_void {
    unsafe extern "C" {
        fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
    }
    // SAFETY: an open library and two C strings.
    unsafe { dlvsym(handle, name.as_ptr(), version.as_ptr()) }
}

#[cfg(not(target_env = "gnu"))]
fn versioned(handle: *mut c_void, name: &CStr, _version: &CStr) -> *mut c_void {
    // SAFETY: an open library and a C string.
    unsafe { libc::dlsym(handle, name.as_ptr()) }
}

/// Calls `f`, and then puts back what the program does on signals, where that was changed.
fn with_signals_kept<R>(f: impl FnOnce() -> R) -> R {
    const LAST: c_int = 31;
    let action = |signal, new: *const libc::sigaction| {
        let mut old = mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: the place is writable, and `new` is NULL or what the system gave before.
        let known = unsafe { libc::sigaction(signal, new, old.as_mut_ptr()) } == 0;
        // SAFETY: it was filled, and all zeros would do as well.
        known.then(|| unsafe { old.assume_init() })
    };
    let before: Vec<_> = (1..=LAST).map(|signal| (signal, action(signal, ptr::null()))).collect();
    let result = f();
    for (signal, before) in before {
        let Some(before) = before else { continue };
        let changed = action(signal, ptr::null()).is_some_and(|now| now.sa_sigaction != before.sa_sigaction);
        if changed {
            action(signal, &raw const before);
        }
    }
    result
}
