//! libdat.so.1: where it is, its functions, and the adapters that it lists.

use std::ffi::{CStr, CString, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use dat_udat12::*;
use libloading::os::unix;

use super::ia::Demand;
use crate::child::own_file;

/// The name by which programs know the library.
pub const NAME: &str = "libdat.so.1";

/// The type of the function behind the type of a slot, which is an `Option` of it.
pub trait SlotType {
    type Function: Copy;
}

impl<F: Copy> SlotType for Option<F> {
    type Function = F;
}

/// Makes [`Calls`] from the list of slots: each slot but the first has the type of the function of its name.
macro_rules! calls {
    (dat_ia_openv: $open:ident, $open_type:ident; $($name:ident: $field:ident, $type:ident;)*) => {
        /// The functions of libdat.so.1, under their names.
        #[allow(dead_code, reason = "the list is that of the interface")]
        pub struct Calls {
            pub dat_ia_openv: <DAT_IA_OPENV_FUNC as SlotType>::Function,
            $(pub $name: <$type as SlotType>::Function,)*
            pub dat_registry_list_providers:
                unsafe extern "C" fn(DAT_COUNT, *mut DAT_COUNT, *mut *mut DAT_PROVIDER_INFO) -> DAT_RETURN,
            pub dat_strerror: unsafe extern "C" fn(DAT_RETURN, *mut *const c_char, *mut *const c_char) -> DAT_RETURN,
        }

        impl Calls {
            /// Looks all functions up; the error is the loader's, about the first that is missing.
            fn of(library: &unix::Library) -> std::result::Result<Self, libloading::Error> {
                // SAFETY: libdat.so.1 has these functions with these types, which are its binary interface.
                unsafe {
                    Ok(Calls {
                        dat_ia_openv: *library.get(b"dat_ia_openv\0")?,
                        $($name: *library.get(concat!(stringify!($name), "\0").as_bytes())?,)*
                        dat_registry_list_providers: *library.get(b"dat_registry_list_providers\0")?,
                        dat_strerror: *library.get(b"dat_strerror\0")?,
                    })
                }
            }
        }
    };
}

dat_udat12::for_each_slot!(calls);

/// An adapter that programs can ask for, as the registry lists it.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// Its name, which need not be text.
    pub name: CString,
    /// What a program asks for that gets this adapter and no other one of its name.
    pub demand: Demand,
}

/// The library, which stays in the process until its end: its providers have threads.
#[derive(Clone, Copy)]
pub struct Library {
    calls: &'static Calls,
    /// Why the loader found none, if this is the one beside the tool.
    missed: Option<&'static str>,
}

impl Library {
    /// Opens the library.
    ///
    /// # Parameters
    /// * `path` - the file. Without it, the loader looks for [`NAME`] as it does for programs: first in `LD_LIBRARY_PATH`. If it
    ///   finds no file, the library is taken that is installed together with this tool; see [`Library::missed`].
    ///
    /// # Errors
    /// There is no such library, it cannot be loaded, or it lacks functions of uDAPL 1.2.
    pub fn load(path: Option<&Path>) -> Result<Self> {
        let named = path.unwrap_or(Path::new(NAME));
        let failed = |reason: &str| {
            let hint = "\nIt is looked for in LD_LIBRARY_PATH, in the directories of the system, and in ../lib beside this \
                        tool. Name the file with --library PATH, or its directory in LD_LIBRARY_PATH.";
            let hint = if path.is_none() { hint } else { "" };
            anyhow!("{} cannot be used: {reason}{hint}", named.display())
        };
        let (library, missed) = match open(named) {
            Ok(library) => (library, None),
            Err(reason) => {
                let absent = path.is_none() && is_absence(named, &reason);
                let beside = absent.then(beside_this_tool).flatten().and_then(|file| open(&file).ok());
                (beside.ok_or_else(|| failed(&reason))?, Some(&*reason.leak()))
            }
        };
        let calls = Calls::of(&library).map_err(|error| failed(&reason(&error)))?;
        std::mem::forget(library);
        Ok(Self { calls: Box::leak(Box::new(calls)), missed })
    }

    /// Why the loader found no library, if this one was used because it is installed together with this tool: programs
    /// without a search path do not start.
    pub fn missed(self) -> Option<&'static str> {
        self.missed
    }

    /// The functions themselves.
    #[inline(always)]
    pub fn calls(self) -> &'static Calls {
        self.calls
    }

    /// The file that the loader chose.
    pub fn path(self) -> Option<PathBuf> {
        file_of(self.calls.dat_strerror as usize)
    }

    /// The adapters that programs can open, in order, with entries of other versions of the interface where the library
    /// lists these.
    pub fn adapters(self) -> Result<Vec<Adapter>> {
        const NONE: DAT_PROVIDER_INFO = DAT_PROVIDER_INFO {
            ia_name: [0; DAT_NAME_MAX_LENGTH],
            dapl_version_major: 0,
            dapl_version_minor: 0,
            is_thread_safe: DAT_FALSE,
        };
        let list = self.calls.dat_registry_list_providers;
        let mut room = 16;
        loop {
            let mut entries = vec![NONE; room];
            let mut places: Vec<*mut DAT_PROVIDER_INFO> = entries.iter_mut().map(|entry| &raw mut *entry).collect();
            let mut count: DAT_COUNT = 0;
            // SAFETY: `places` has `room` pointers, each to a structure of its own.
            let code = unsafe { list(room as DAT_COUNT, &mut count, places.as_mut_ptr()) };
            // The library says how many there are if the list is too short.
            if code != DAT_SUCCESS && count as usize > room {
                room = count as usize;
                continue;
            }
            self.check("dat_registry_list_providers", code)?;
            entries.truncate(count as usize);
            let adapter = |info: &DAT_PROVIDER_INFO| Adapter {
                name: string(&info.ia_name),
                demand: Demand {
                    version: (info.dapl_version_major, info.dapl_version_minor),
                    thread_safe: info.is_thread_safe != DAT_FALSE,
                },
            };
            return Ok(entries.iter().map(adapter).collect());
        }
    }

    /// A return code as a result; warnings are successes.
    #[inline(always)]
    pub(super) fn check(self, call: &'static str, code: DAT_RETURN) -> Result<()> {
        if code == DAT_SUCCESS { Ok(()) } else { self.failed(call, code) }
    }

    #[cold]
    fn failed(self, call: &'static str, code: DAT_RETURN) -> Result<()> {
        let class = code & (DAT_CLASS_ERROR | DAT_CLASS_WARNING);
        if class == DAT_CLASS_WARNING { Ok(()) } else { Err(self.error(call, code)) }
    }

    /// The error of a call, with the names that the library has for its return code, or its number.
    #[cold]
    pub fn error(self, call: &'static str, code: DAT_RETURN) -> anyhow::Error {
        let (mut major, mut minor) = (std::ptr::null::<c_char>(), std::ptr::null::<c_char>());
        // SAFETY: both places are this function's own.
        let known = unsafe { (self.calls.dat_strerror)(code, &mut major, &mut minor) } == DAT_SUCCESS;
        if !known || major.is_null() {
            return anyhow!("{call}: 0x{code:08x}");
        }
        // SAFETY: what the call writes on success are strings that live as long as the library.
        let [major, minor] = [major, minor].map(|name| unsafe { text_at(name) });
        if minor.is_empty() { anyhow!("{call}: {major}") } else { anyhow!("{call}: {major}, {minor}") }
    }
}

/// The string in an array that need not be full.
pub fn text(array: &[c_char]) -> String {
    string(array).to_string_lossy().into_owned()
}

/// A C string as text; an empty one for NULL.
///
/// # Safety
/// The pointer is NULL or leads to a string.
pub unsafe fn text_at(string: *const c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}

fn string(array: &[c_char]) -> CString {
    let bytes: Vec<u8> = array.iter().map(|&byte| byte as u8).take_while(|&byte| byte != 0).collect();
    CString::new(bytes).unwrap_or_default()
}

/// The file from which the function or object at an address was loaded.
pub fn file_of(address: usize) -> Option<PathBuf> {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr only compares the address, and fills the structure if it finds a library there.
    let known = unsafe { libc::dladdr(std::ptr::without_provenance(address), found.as_mut_ptr()) } != 0;
    // SAFETY: the structure is plain data, of which zeros are valid.
    let file = unsafe { found.assume_init() }.dli_fname;
    if !known || file.is_null() {
        return None;
    }
    // SAFETY: the loader's name of a library is a string that lives as long as the library.
    let file = unsafe { CStr::from_ptr(file) };
    let path = Path::new(OsStr::from_bytes(file.to_bytes()));
    Some(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
}

/// Loads a library as the loader does it for a program that is linked with it: its symbols are there for providers.
///
/// # Errors
/// The loader's own text.
fn open(file: &Path) -> std::result::Result<unix::Library, String> {
    // SAFETY: what runs when libdat.so.1 is loaded is for any program to be run.
    unsafe { unix::Library::open(Some(file), unix::RTLD_NOW | unix::RTLD_GLOBAL) }.map_err(|error| reason(&error))
}

/// The loader's own text, which is in the source of the error.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).unwrap_or(error).to_string()
}

/// The library in the tree in which this tool is installed: its bin/ and lib/ are in one directory, and below lib/ there may be
/// a directory for the kind of machine.
fn beside_this_tool() -> Option<PathBuf> {
    let tool = own_file().ok()?;
    let lib = tool.parent()?.parent()?.join("lib");
    let machine = lib.join(format!("{}-linux-gnu", std::env::consts::ARCH));
    [lib, machine].into_iter().map(|folder| folder.join(NAME)).find(|file| file.exists())
}

/// Whether the loader's reason is that there is no file of this name. A file that cannot be used, or lacks a library of its
/// own, is another one.
fn is_absence(file: &Path, reason: &str) -> bool {
    reason.ends_with("No such file or directory") && reason.contains(&format!("{}: ", file.display()))
}

#[cfg(test)]
mod tests;
