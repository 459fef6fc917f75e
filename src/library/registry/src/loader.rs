//! The dynamic loader: finding and opening provider libraries.
//!
//! A provider library is not linked against the library that loads it. It calls back into it by names that it finds in
//! the global scope of the process. So before loading the first provider, [`Loader::load`] makes this library's own
//! names global. They are not global if the program itself was opened as a private plug-in.
//!
//! Provider libraries are loaded with local scope: their symbols are found through their handle alone, and the names of
//! one provider never replace those of another. They are never unloaded, because thread-local data with destructors
//! would outlive their code.
//!
//! A library that was not loaded for lack of memory is tried again at the next dat_ia_open. So the loader is called without
//! RTLD_NODELETE: with it, glibc keeps a library for which memory ran out in the last step, and returns it to the next
//! caller as a complete one.

use std::ffi::{CStr, CString, OsStr, c_void};
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::ptr::NonNull;

use host::{memory, own_library};

/// Opens provider libraries on behalf of the shared library that it is part of.
#[derive(Clone, Copy, Debug)]
pub struct Loader {
    /// The function every provider library must have.
    pub init: &'static CStr,
    /// The function a provider library may have.
    pub fini: &'static CStr,
}

/// Why a library cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// There is no memory, or no descriptor to open the file with; another attempt may succeed.
    NoMemory,
    /// The loader's message.
    Refused(String),
}

/// A loaded provider library.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// Address of the init function, if the library has one.
    pub init: Option<NonNull<c_void>>,
    /// Address of the fini function, if the library has one.
    pub fini: Option<NonNull<c_void>>,
}

// SAFETY: the addresses point to code in a library that is never unloaded; any thread may call it.
unsafe impl Send for Library {}

impl Loader {
    /// Loads a library, which then stays in the process.
    ///
    /// A name with a slash is a path. Any other name is first looked for beside this library, both at the path where the
    /// loader found it and with symbolic links followed, and then by the loader in its usual places. A file beside this
    /// library is used even if it is broken, so that the choice of the file never depends on its contents.
    ///
    /// The library's constructors run before this returns and may call the registry, so the caller must not hold a lock.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn load(&self, library: &CStr) -> Result<Library, LoadError> {
        let own = own_file(promote());
        let path = own.map_or(Ok(None), |own| beside(library, own))?;
        let handle = open(path.as_deref().unwrap_or(library))?;
        Ok(Library { init: symbol(handle, self.init), fini: symbol(handle, self.fini) })
    }
}

/// The path of a library without a slash in its name, if it lies beside the library `own` that is to load it.
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
    let path = [Some(own), real].into_iter().flatten().map(|file| file.with_file_name(name)).find(|path| path.exists());
    Ok(path.and_then(|path| CString::new(path.into_os_string().into_vec()).ok()))
}

/// The file of this library, as the loader knows it: a path that need not be absolute.
pub fn own() -> Option<PathBuf> {
    own_library::path().map(|path| PathBuf::from(OsStr::from_bytes(path.to_bytes())))
}

/// The file of this library, as an absolute path if possible.
fn own_file(own: Option<NonNull<c_void>>) -> Option<PathBuf> {
    let path = self::own()?;
    if path.is_absolute() {
        return Some(path);
    }
    // The program may have changed its working directory since, but the loader knows the library's directory.
    Some(origin(own?)?.join(path.file_name()?))
}

/// The folder in which a library was found.
#[cfg(target_env = "gnu")]
fn origin(library: NonNull<c_void>) -> Option<PathBuf> {
    let mut folder = vec![0u8; libc::PATH_MAX as usize + 1];
    // SAFETY: the handle comes from dlopen and is never closed. For this request the loader writes a path, which is
    // shorter than PATH_MAX because it was used to open a file.
    let failed = unsafe { libc::dlinfo(library.as_ptr(), libc::RTLD_DI_ORIGIN, folder.as_mut_ptr().cast()) } != 0;
    if failed {
        return None;
    }
    let folder = CStr::from_bytes_until_nul(&folder).ok()?;
    Some(PathBuf::from(OsStr::from_bytes(folder.to_bytes())))
}

/// Other loaders do not provide it.
#[cfg(not(target_env = "gnu"))]
fn origin(_library: NonNull<c_void>) -> Option<PathBuf> {
    None
}

/// Puts this library's names into the global scope, if they are not there already, and returns its handle; `None` if this
/// code is part of the program itself. The library stays loaded, because providers hold addresses in it.
fn promote() -> Option<NonNull<c_void>> {
    let handle = own_library::keep_with_global_names();
    if handle.is_none() {
        log::debug!("own names stay as they are: {}", last_error());
    }
    handle
}

fn open(path: &CStr) -> Result<NonNull<c_void>, LoadError> {
    let flags = libc::RTLD_NOW | libc::RTLD_LOCAL;
    let attempt = || {
        // SAFETY: the path is a C string. The library's constructors run while this library holds no lock; to load a
        // provider means to trust its constructors.
        NonNull::new(unsafe { libc::dlopen(path.as_ptr(), flags) })
    };
    // The loader does not always say that it lacked memory. If the lack was momentary, the second attempt succeeds; a lasting
    // one shows in the message, or in an allocation made here.
    attempt().or_else(attempt).ok_or_else(|| {
        let message = last_error();
        let lacking = lacks_memory(&message) || memory::probe(LARGE).is_err() || lacks_descriptors();
        if lacking { LoadError::NoMemory } else { LoadError::Refused(message) }
    })
}

/// Whether no further file can be opened.
pub(crate) fn lacks_descriptors() -> bool {
    let full = |error: io::Error| matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE));
    File::open("/").err().is_some_and(full)
}

/// More memory in bytes than the loader, or a provider that registers, asks for at once.
pub(crate) const LARGE: usize = 64 << 10;

/// Whether the loader's message says that there was no memory, or is the one for which it needs none itself.
fn lacks_memory(message: &str) -> bool {
    // SAFETY: the number is that of an error.
    let text = unsafe { libc::strerror(libc::ENOMEM) };
    // SAFETY: the text is a C string, valid until this thread's next call.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    message.contains(&*text) || message.contains("out of memory")
}

fn symbol(handle: NonNull<c_void>, name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the handle comes from dlopen and is never closed; the name is a C string.
    NonNull::new(unsafe { libc::dlsym(handle.as_ptr(), name.as_ptr()) })
}

/// The loader's message about this thread's last failure.
fn last_error() -> String {
    // SAFETY: dlerror has no preconditions.
    let message = unsafe { libc::dlerror() };
    if message.is_null() {
        return "the loader gave no reason".to_owned();
    }
    // SAFETY: a message that is not NULL is a C string, valid until this thread's next call of the loader; it is copied
    // here.
    unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
