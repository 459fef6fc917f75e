//! Loads the libraries of uDAPL, and lists their adapters.

use std::ffi::{CStr, CString, OsStr, c_char, c_int};
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

use dat_udat20::*;
use libloading::os::unix;

use crate::abi::{Calls, text};
use crate::{Error, Request, Result};

/// A version of uDAPL; each has its own library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// uDAPL 1.2
    V12,
    /// uDAPL 2.0
    V20,
}

impl Api {
    /// All versions, the oldest first.
    pub const ALL: [Api; 2] = [Api::V12, Api::V20];

    /// Returns the file name with which programs of this version are linked.
    pub fn library(self) -> &'static str {
        match self {
            Api::V12 => "libdat.so.1",
            Api::V20 => "libdat2.so.2",
        }
    }

    /// Returns the name: `1.2` or `2.0`.
    pub fn name(self) -> &'static str {
        match self {
            Api::V12 => "1.2",
            Api::V20 => "2.0",
        }
    }

    /// Returns the major and minor number.
    pub fn version(self) -> (u32, u32) {
        match self {
            Api::V12 => (1, 2),
            Api::V20 => (2, 0),
        }
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An adapter in the list of a library.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// Name, which need not be UTF-8.
    pub name: CString,
    /// The request that opens this adapter and no other of the same name.
    pub request: Request,
}

/// A library, never unloaded because its providers have threads.
#[derive(Clone, Copy)]
pub struct Library {
    api: Api,
    calls: &'static Calls,
    /// Name or path that was passed to the loader.
    file: &'static Path,
}

impl Library {
    /// Loads the library in `file`, and detects its version.
    pub fn open(file: &Path) -> Result<Self> {
        let library = load(file, unix::RTLD_LOCAL)?;
        // SAFETY: the address of the symbol is not used.
        let is_20 = unsafe { library.get::<*const ()>(b"dat_extension_op\0") }.is_ok();
        Self::new(library, if is_20 { Api::V20 } else { Api::V12 }, file)
    }

    /// Loads the library that the loader finds for programs of a version.
    ///
    /// # Errors
    /// [`Error::absent`] distinguishes a missing library from one that cannot be loaded.
    pub fn find(api: Api) -> Result<Self> {
        let file = Path::new(api.library());
        Self::new(load(file, unix::RTLD_LOCAL)?, api, file)
    }

    fn new(library: unix::Library, api: Api, file: &Path) -> Result<Self> {
        let calls = Calls::of(&library, api).map_err(|error| Error::library(file, reason(&error)))?;
        std::mem::forget(library);
        Ok(Self { api, calls: Box::leak(Box::new(calls)), file: Box::leak(Box::from(file)) })
    }

    /// Adds the symbols of the library, which some providers use, to the global scope, as in a program linked with it.
    pub(crate) fn publish(self) {
        // This succeeds, because the library is already loaded. After a failure, opening the adapter would report the
        // missing symbol.
        let _ = load(self.file, unix::RTLD_GLOBAL | libc::RTLD_NOLOAD).map(std::mem::forget);
    }

    /// Returns the version of the library.
    pub fn api(self) -> Api {
        self.api
    }

    #[inline(always)]
    pub(crate) fn calls(self) -> &'static Calls {
        self.calls
    }

    /// Returns the file from which the loader loaded the library, or `None` if it is unknown.
    pub fn path(self) -> Option<PathBuf> {
        file_of(self.calls.common.dat_strerror as usize)
    }

    /// Returns whether this is libdat, not the library of another vendor. Also returns `true` if its file cannot be
    /// read.
    pub fn is_libdat(self) -> bool {
        self.path().and_then(|file| is_libdat(&file).ok()).unwrap_or(true)
    }

    /// Returns the adapters that the library lists for programs of its version, in the order of the list.
    pub fn adapters(self) -> Result<Vec<Adapter>> {
        const NONE: DAT_PROVIDER_INFO = DAT_PROVIDER_INFO {
            ia_name: [0; DAT_NAME_MAX_LENGTH],
            dapl_version_major: 0,
            dapl_version_minor: 0,
            is_thread_safe: DAT_FALSE,
        };
        let mut room = 16;
        loop {
            let mut entries = vec![NONE; room];
            let mut places: Vec<*mut DAT_PROVIDER_INFO> = entries.iter_mut().map(|entry| &raw mut *entry).collect();
            let mut count: DAT_COUNT = 0;
            let list = self.calls.common.dat_registry_list_providers;
            // SAFETY: `places` has `room` pointers, each to a separate structure.
            let code = unsafe { list(room as DAT_COUNT, &mut count, places.as_mut_ptr()) };
            // If the array is too short, some libraries store the necessary length in `count`, others the number of
            // entries that fit.
            let count = usize::try_from(count).unwrap_or(0);
            if count >= room {
                room = 2 * count;
                continue;
            }
            self.check("dat_registry_list_providers", code)?;
            entries.truncate(count);
            let own = |info: &&DAT_PROVIDER_INFO| info.dapl_version_major == self.api.version().0;
            let adapter = |info: &DAT_PROVIDER_INFO| {
                let version = (info.dapl_version_major, info.dapl_version_minor);
                let request = Request { version, thread_safe: info.is_thread_safe != DAT_FALSE };
                Adapter { name: string(&info.ia_name), request }
            };
            return Ok(entries.iter().filter(own).map(adapter).collect());
        }
    }

    /// Converts a return code; a warning is a success.
    #[inline(always)]
    pub(crate) fn check(self, call: &'static str, code: DAT_RETURN) -> Result<()> {
        if code == DAT_SUCCESS { Ok(()) } else { self.failed(call, code) }
    }

    #[cold]
    fn failed(self, call: &'static str, code: DAT_RETURN) -> Result<()> {
        let class = code & (DAT_CLASS_ERROR | DAT_CLASS_WARNING);
        if class == DAT_CLASS_WARNING { Ok(()) } else { Err(self.error(call, code)) }
    }

    /// Returns the error of a call, with the library's names for `code`, or the number if the library has no names for
    /// it.
    #[cold]
    pub(crate) fn error(self, call: &'static str, code: DAT_RETURN) -> Error {
        let (mut major, mut minor) = (ptr::null::<c_char>(), ptr::null::<c_char>());
        // SAFETY: both places are local variables.
        let known = unsafe { (self.calls.common.dat_strerror)(code, &mut major, &mut minor) } == DAT_SUCCESS;
        if !known || major.is_null() {
            return Error::new(format!("{call}: 0x{code:08x}"));
        }
        // SAFETY: on success the call writes NULL, or strings that live as long as the library.
        let [major, minor] = [major, minor].map(|name| unsafe { text(name) });
        let separator = if minor.is_empty() { "" } else { ", " };
        Error::new(format!("{call}: {major}{separator}{minor}"))
    }
}

/// Returns whether a file is libdat and not the library of another vendor. Only libdat's messages name a tool.
///
/// # Errors
/// The file cannot be read.
pub fn is_libdat(file: &Path) -> io::Result<bool> {
    const TOOL: &[u8] = b"dat-info --explain";
    Ok(std::fs::read(file)?.windows(TOOL.len()).any(|some| some == TOOL))
}

/// Returns the string in an array, up to a NUL byte or the end.
pub(crate) fn string(array: &[c_char]) -> CString {
    let bytes: Vec<u8> = array.iter().map(|&byte| byte as u8).take_while(|&byte| byte != 0).collect();
    CString::new(bytes).unwrap_or_default()
}

/// Returns the file from which the function at an address was loaded, or `None` if the loader does not know the
/// address.
pub(crate) fn file_of(address: usize) -> Option<PathBuf> {
    let (name, base) = (ptr::null(), ptr::null_mut());
    let mut found = libc::Dl_info { dli_fname: name, dli_fbase: base, dli_sname: name, dli_saddr: base };
    // SAFETY: dladdr only compares the address, and fills the structure if a library contains it.
    let known = unsafe { libc::dladdr(ptr::without_provenance(address), &mut found) } != 0;
    if !known || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's string lives as long as the library.
    let file = unsafe { CStr::from_ptr(found.dli_fname) };
    let path = Path::new(OsStr::from_bytes(file.to_bytes()));
    Some(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
}

/// Loads a library with scope `RTLD_LOCAL`, or `RTLD_GLOBAL` if other libraries may use its symbols.
fn load(file: &Path, scope: c_int) -> Result<unix::Library> {
    // SAFETY: the caller names a uDAPL library, and every program that uses one runs its constructors.
    unsafe { unix::Library::open(Some(file), unix::RTLD_NOW | scope) }
        .map_err(|error| Error::library(file, reason(&error)))
}

/// Returns the loader's own text, which is the source of the error.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).unwrap_or(error).to_string()
}

#[cfg(test)]
mod tests;
