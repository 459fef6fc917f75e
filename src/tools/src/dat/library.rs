//! libdat.so.1 and libdat2.so.2: where they are, their functions, and the adapters that they list.

use std::ffi::{CStr, CString, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use dat_udat12::*;
use libloading::os::unix;

use super::ia::Demand;
use super::{Api, udat20};
use crate::child::own_file;

/// The type of the function behind the type of a slot, which is an `Option` of it.
pub trait SlotType {
    type Function: Copy;
}

impl<F: Copy> SlotType for Option<F> {
    type Function = F;
}

/// Makes [`Calls`] from the names of the functions that the tools call, each with the type of its slot. Those of `alike` are
/// the same in both versions; for the others, [`udat20`] has functions that call those of uDAPL 2.0.
macro_rules! calls {
    (alike: $($alike:ident: $alike_type:ident)*; others: $($other:ident: $other_type:ident)*) => {
        /// The functions of a library under their names, in the form of uDAPL 1.2.
        pub struct Calls {
            $(pub $alike: <$alike_type as SlotType>::Function,)*
            $(pub $other: <$other_type as SlotType>::Function,)*
            pub dat_registry_list_providers:
                unsafe extern "C" fn(DAT_COUNT, *mut DAT_COUNT, *mut *mut DAT_PROVIDER_INFO) -> DAT_RETURN,
            pub dat_strerror: unsafe extern "C" fn(DAT_RETURN, *mut *const c_char, *mut *const c_char) -> DAT_RETURN,
        }

        impl Calls {
            /// Looks all functions up; the error is the loader's, about the first that is missing.
            fn of(library: &unix::Library, api: Api) -> std::result::Result<Self, libloading::Error> {
                if api == Api::V20 {
                    udat20::look_up(library)?;
                }
                // SAFETY: the library of this version has these functions with these types, which are its binary interface.
                unsafe {
                    Ok(Calls {
                        $($alike: *library.get(concat!(stringify!($alike), "\0").as_bytes())?,)*
                        $($other: match api {
                            Api::V12 => *library.get(concat!(stringify!($other), "\0").as_bytes())?,
                            Api::V20 => udat20::$other as <$other_type as SlotType>::Function,
                        },)*
                        dat_registry_list_providers: *library.get(b"dat_registry_list_providers\0")?,
                        dat_strerror: *library.get(b"dat_strerror\0")?,
                    })
                }
            }
        }
    };
}

udat20::for_each_differing!(calls! {
    alike:
        dat_ia_openv: DAT_IA_OPENV_FUNC
        dat_ia_close: DAT_IA_CLOSE_FUNC
        dat_cno_create: DAT_CNO_CREATE_FUNC
        dat_cno_free: DAT_CNO_FREE_FUNC
        dat_cno_wait: DAT_CNO_WAIT_FUNC
        dat_cr_accept: DAT_CR_ACCEPT_FUNC
        dat_cr_query: DAT_CR_QUERY_FUNC
        dat_ep_connect: DAT_EP_CONNECT_FUNC
        dat_ep_disconnect: DAT_EP_DISCONNECT_FUNC
        dat_ep_free: DAT_EP_FREE_FUNC
        dat_evd_create: DAT_EVD_CREATE_FUNC
        dat_evd_free: DAT_EVD_FREE_FUNC
        dat_evd_set_unwaitable: DAT_EVD_SET_UNWAITABLE_FUNC
        dat_lmr_free: DAT_LMR_FREE_FUNC
        dat_psp_create: DAT_PSP_CREATE_FUNC
        dat_psp_create_any: DAT_PSP_CREATE_ANY_FUNC
        dat_psp_free: DAT_PSP_FREE_FUNC
        dat_pz_create: DAT_PZ_CREATE_FUNC
        dat_pz_free: DAT_PZ_FREE_FUNC
        dat_srq_create: DAT_SRQ_CREATE_FUNC
        dat_srq_free: DAT_SRQ_FREE_FUNC;
    others:
});

/// An adapter that programs can ask for, as the registry lists it.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// Its name, which need not be text.
    pub name: CString,
    /// What a program asks for that gets this adapter and no other one of its name.
    pub demand: Demand,
}

/// That there is no library of a version, whereas one that is there and cannot be used is another error.
#[derive(Debug)]
pub struct Absent(String);

impl std::fmt::Display for Absent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Absent {}

/// A library, which stays in the process until its end: its providers have threads.
#[derive(Clone, Copy)]
pub struct Library {
    api: Api,
    calls: &'static Calls,
    /// The file, as it was given to the loader.
    file: &'static Path,
    /// Why the loader found none, if this is the one beside the tool.
    missed: Option<&'static str>,
}

impl Library {
    /// Opens the library of a file.
    ///
    /// # Parameters
    /// * `api` - the version of the interface that it must have, if the user has said one.
    ///
    /// # Errors
    /// It cannot be loaded, is for another version, or lacks functions.
    pub fn of_file(file: &Path, api: Option<Api>) -> Result<Self> {
        let failed = |reason: &str| anyhow!("{} cannot be used: {reason}", file.display());
        let library = open(file, unix::RTLD_LOCAL).map_err(|reason| failed(&reason))?;
        // SAFETY: the symbol is only looked for.
        let is_20 = unsafe { library.get::<*const ()>(b"dat_extension_op\0") }.is_ok();
        let own = if is_20 { Api::V20 } else { Api::V12 };
        match api {
            Some(api) if api != own => Err(failed(&format!("it is a library of uDAPL {own}, and not of {api}"))),
            _ => Self::new(library, own, file, None),
        }
    }

    /// Opens the library of a version as the loader does it for programs: first from `LD_LIBRARY_PATH`. If the loader finds
    /// no file, the library is taken that is installed together with this tool; see [`Library::missed`].
    ///
    /// # Errors
    /// There is no such library, it cannot be loaded, or it lacks functions.
    pub fn of_version(api: Api) -> Result<Self> {
        let named = Path::new(api.library());
        open(named, unix::RTLD_LOCAL).map_or_else(
            |reason| {
                let beside = is_absence(named, &reason).then(|| beside_this_tool(api)).flatten();
                match beside.and_then(|file| Some((open(&file, unix::RTLD_LOCAL).ok()?, file))) {
                    Some((library, file)) => Self::new(library, api, &file, Some(reason)),
                    None => {
                        let text = format!(
                            "{} cannot be used: {reason}\nIt is looked for in LD_LIBRARY_PATH, in the directories of the \
                             system, and in ../lib beside this tool. Name the file with --library PATH, or its directory \
                             in LD_LIBRARY_PATH.",
                            named.display()
                        );
                        Err(if is_absence(named, &reason) { Absent(text).into() } else { anyhow!(text) })
                    }
                }
            },
            |library| Self::new(library, api, named, None),
        )
    }

    fn new(library: unix::Library, api: Api, file: &Path, missed: Option<String>) -> Result<Self> {
        let calls = Calls::of(&library, api)
            .map_err(|error| anyhow!("{} cannot be used: {}", file.display(), reason(&error)))?;
        std::mem::forget(library);
        Ok(Self {
            api,
            calls: Box::leak(Box::new(calls)),
            file: Box::leak(Box::from(file)),
            missed: missed.map(|reason| &*reason.leak()),
        })
    }

    /// Has the symbols of the library be those of the process, as they are in a program that is linked with it: providers
    /// of other makers use them. A library that is only asked for its list leaves those of another version alone.
    pub(super) fn publish(self) {
        // It is there already, so this cannot fail; and if it did, opening the adapter would say why.
        let _ = open(self.file, unix::RTLD_GLOBAL | libc::RTLD_NOLOAD).map(std::mem::forget);
    }

    /// The version of the interface that it has.
    pub fn api(self) -> Api {
        self.api
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

    /// The adapters that programs of its version can open, in order.
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
            let all = entries.iter().map(adapter);
            return Ok(all.filter(|adapter| self.api.serves(adapter.demand.version)).collect());
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

/// Loads a library.
///
/// # Parameters
/// * `scope` - whether its symbols are for other libraries too, `RTLD_LOCAL` or `RTLD_GLOBAL`.
///
/// # Errors
/// The loader's own text.
fn open(file: &Path, scope: c_int) -> std::result::Result<unix::Library, String> {
    // SAFETY: what runs when the library is loaded is for any program to be run.
    unsafe { unix::Library::open(Some(file), unix::RTLD_NOW | scope) }.map_err(|error| reason(&error))
}

/// The loader's own text, which is in the source of the error.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).unwrap_or(error).to_string()
}

/// The library in the tree in which this tool is installed: its bin/ and lib/ are in one directory, and below lib/ there may be
/// a directory for the kind of machine.
fn beside_this_tool(api: Api) -> Option<PathBuf> {
    let tool = own_file().ok()?;
    let lib = tool.parent()?.parent()?.join("lib");
    let machine = lib.join(format!("{}-linux-gnu", std::env::consts::ARCH));
    [lib, machine].into_iter().map(|folder| folder.join(api.library())).find(|file| file.exists())
}

/// Whether the loader's reason is that there is no file of this name. A file that cannot be used, or lacks a library of its
/// own, is another one.
fn is_absence(file: &Path, reason: &str) -> bool {
    reason.ends_with("No such file or directory") && reason.contains(&format!("{}: ", file.display()))
}

#[cfg(test)]
mod tests;
