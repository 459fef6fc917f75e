//! The dynamic loader: finds and opens provider libraries.
//!
//! A provider library finds the functions of libdat by name in the global scope. [`load`] adds them to that scope,
//! because a plug-in with local scope may have loaded libdat.
//!
//! Provider libraries have local scope, so their symbols never replace others. They are never unloaded, because
//! thread-local data with destructors would outlive their code. RTLD_NODELETE is not used: with it, if a load lacks
//! memory in its last step, the next dlopen of glibc returns the incomplete library.

use std::ffi::{CStr, CString, OsStr, OsString, c_void};
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use host::{memory, own_library};

/// The reason why a library cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// Lack of memory or descriptors; another attempt may succeed.
    NoMemory,
    /// The loader's message.
    Refused(String),
}

/// A loaded provider library.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// Address of dat_provider_init, if the library has it.
    pub init: Option<NonNull<c_void>>,
    /// Address of dat_provider_fini, if the library has it.
    pub fini: Option<NonNull<c_void>>,
}

// SAFETY: any thread may call the functions, and their library is never unloaded.
unsafe impl Send for Library {}

/// Loads a library, which is never unloaded. Its constructors may call the registry, so the caller must not hold the
/// registry's lock.
///
/// A name with a slash is a path. Any other name is searched in this library's directory, also with symbolic links
/// resolved, and then by the loader. A file in this directory is used even if it cannot be loaded. A name that ends in
/// `.so`, as in configurations of OFED 1.2, also finds the file of this library's version, such as `libdaplcma.so.1`.
pub fn load(library: &CStr) -> Result<Library, LoadError> {
    let own = own_file(promote());
    let path = own.map_or(Ok(None), |own| beside(library, own))?;
    let handle = open(path.as_deref().unwrap_or(library))?;
    Ok(Library { init: symbol(handle, c"dat_provider_init"), fini: symbol(handle, c"dat_provider_fini") })
}

/// Returns the path of `library` next to the library `own`, if the file exists and the name has no slash. For a name
/// that ends in `.so`, also searches the name with the version of `own` appended.
///
/// # Errors
/// [`LoadError::NoMemory`].
pub fn beside(library: &CStr, own: PathBuf) -> Result<Option<CString>, LoadError> {
    if library.to_bytes().contains(&b'/') {
        return Ok(None);
    }
    let name = OsStr::from_bytes(library.to_bytes());
    let real = match own.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::OutOfMemory => return Err(LoadError::NoMemory),
        real => real.ok(),
    };
    let mut names = vec![name.to_owned()];
    if let (Some(b"so"), Some(version)) = (Path::new(name).extension().map(OsStr::as_bytes), own.extension()) {
        names.push([name, OsStr::new("."), version].into_iter().collect());
    }
    let files = [Some(own), real];
    let path =
        |name: &OsString| files.iter().flatten().map(|file| file.with_file_name(name)).find(|path| path.exists());
    let path = names.iter().find_map(path);
    Ok(path.and_then(|path| CString::new(path.into_os_string().into_vec()).ok()))
}

/// Returns this library's path, which may be relative.
pub fn own() -> Option<PathBuf> {
    own_library::path().map(|path| PathBuf::from(OsStr::from_bytes(path.to_bytes())))
}

/// Returns this library's path, absolute if possible.
fn own_file(own: Option<NonNull<c_void>>) -> Option<PathBuf> {
    let path = self::own()?;
    if path.is_absolute() {
        return Some(path);
    }
    // The program may have changed its directory, but the loader knows the library's.
    Some(origin(own?)?.join(path.file_name()?))
}

#[cfg(target_env = "gnu")]
fn origin(library: NonNull<c_void>) -> Option<PathBuf> {
    let mut directory = vec![0u8; libc::PATH_MAX as usize + 1];
    // SAFETY: the handle is never closed. The loader writes a path that it opened, which fits into PATH_MAX.
    let failed = unsafe { libc::dlinfo(library.as_ptr(), libc::RTLD_DI_ORIGIN, directory.as_mut_ptr().cast()) } != 0;
    if failed {
        return None;
    }
    let directory = CStr::from_bytes_until_nul(&directory).ok()?;
    Some(PathBuf::from(OsStr::from_bytes(directory.to_bytes())))
}

/// Returns `None`, because other loaders lack dlinfo.
#[cfg(not(target_env = "gnu"))]
fn origin(_library: NonNull<c_void>) -> Option<PathBuf> {
    None
}

/// Adds this library's symbols to the global scope. Returns the library's handle, or `None` if this code is in the
/// program itself.
fn promote() -> Option<NonNull<c_void>> {
    let handle = own_library::keep(libc::RTLD_GLOBAL);
    if handle.is_none() {
        log::debug!("registry: cannot make its symbols global: {}", last_error());
    }
    handle
}

fn open(path: &CStr) -> Result<NonNull<c_void>, LoadError> {
    let flags = libc::RTLD_NOW | libc::RTLD_LOCAL;
    let attempt = || {
        // SAFETY: the path is a C string. No lock is held while constructors run.
        NonNull::new(unsafe { libc::dlopen(path.as_ptr(), flags) })
    };
    // The loader does not always report a lack of memory. After a brief lack, the second attempt succeeds. A longer
    // lack is in the message, or a test allocation shows it.
    attempt().or_else(attempt).ok_or_else(|| {
        let message = last_error();
        let lacking = lacks_memory(&message)
            || memory::probe(LARGE).is_err()
            || (message.contains("map") && memory::must_be_mappable(MAPPED).is_err())
            || lacks_descriptors();
        if lacking { LoadError::NoMemory } else { LoadError::Refused(message) }
    })
}

pub(crate) fn lacks_descriptors() -> bool {
    let full = |error: io::Error| host::limit::lacks_descriptors(&error);
    File::open("/").err().is_some_and(full)
}

/// Upper bound of an allocation by the loader or by a registering provider, in bytes.
pub(crate) const LARGE: usize = 64 << 10;
/// Upper bound of a library's mappings, in bytes. glibc names no cause if mapping fails.
const MAPPED: usize = 64 << 20;

fn lacks_memory(message: &str) -> bool {
    // SAFETY: ENOMEM is a valid error number.
    let text = unsafe { libc::strerror(libc::ENOMEM) };
    // SAFETY: strerror returns a C string, valid until this thread's next call.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    message.contains(&*text) || message.contains("out of memory")
}

fn symbol(handle: NonNull<c_void>, name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the handle is never closed; the name is a C string.
    NonNull::new(unsafe { libc::dlsym(handle.as_ptr(), name.as_ptr()) })
}

fn last_error() -> String {
    // SAFETY: dlerror has no preconditions.
    let message = unsafe { libc::dlerror() };
    if message.is_null() {
        return "the loader gave no reason".to_owned();
    }
    // SAFETY: not NULL, so a C string, valid until this thread's next call.
    unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
