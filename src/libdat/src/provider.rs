//! The parts that uDAPL 1.2 adds to the registry: its provider table, its init and fini, its entries.

use std::ffi::{CStr, c_char};
use std::mem;

use dat_registry::builtin::Version;
use dat_registry::loader::{Library, LoadError, Loader};
use dat_registry::search::{Found, Places, find};
use dat_registry::{Backend, Identity, Registry};
use dat_udat12::{
    DAT_FALSE, DAT_NAME_MAX_LENGTH, DAT_PROVIDER, DAT_PROVIDER_FINI_FUNC, DAT_PROVIDER_FINI_FUNC_STR,
    DAT_PROVIDER_INFO, DAT_PROVIDER_INIT_FUNC, DAT_PROVIDER_INIT_FUNC_STR, DAT_TRUE, DAT_VERSION_MAJOR,
    DAT_VERSION_MINOR,
};
use host::diagnostics;

use crate::tables::TABLES;

/// The registry of this process.
pub static REGISTRY: Registry<Udat12Backend> = Registry::new(Udat12Backend);

/// Providers of uDAPL 1.2.
pub struct Udat12Backend;

/// A provider's table; compared by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table(pub *const DAT_PROVIDER);

// SAFETY: the interface lets any thread read a table from the moment it is registered.
unsafe impl Send for Table {}

const LOADER: Loader = Loader { init: DAT_PROVIDER_INIT_FUNC_STR, fini: DAT_PROVIDER_FINI_FUNC_STR };

/// The contents of the entries that need no configuration.
const VERSION: Version = Version {
    major: DAT_VERSION_MAJOR,
    minor: DAT_VERSION_MINOR,
    shm: c"libdaplshm.so.1",
    verbs: c"libdaplverbs.so.1",
};

impl Backend for Udat12Backend {
    type Table = Table;
    type Library = Library;

    fn configure(&self) -> Found {
        diagnostics::init("libdat");
        let found = find(&Places::of_this_process(), &VERSION);
        if let Some((path, error)) = &found.failure {
            diagnostics::report(format_args!(
                "{}: cannot be read, so there are no interface adapters: {error}",
                path.display()
            ));
        }
        for (origin, bad) in &found.bad {
            log::warn!("{origin}: line ignored: {}", bad.fault);
        }
        for (origin, entry) in &found.entries {
            log::debug!("{origin}: {} by {}", entry.name.to_string_lossy(), entry.library.to_string_lossy());
        }
        found
    }

    fn load(&self, library: &CStr) -> Result<Library, LoadError> {
        LOADER.load(library)
    }

    fn init(&self, library: &Library, identity: &Identity, data: &CStr) -> Result<(), String> {
        let Some(address) = library.init else {
            return Err("the library has no dat_provider_init".to_owned());
        };
        // SAFETY: the symbol of that name in a provider library is a function of this type.
        let init: DAT_PROVIDER_INIT_FUNC = unsafe { mem::transmute(address) };
        let info = info_of(identity);
        if let Some(init) = init {
            // SAFETY: both arguments outlive the call; the provider copies what it keeps.
            unsafe { init(&info, data.as_ptr()) };
        }
        Ok(())
    }

    fn fini(&self, library: &Library, identity: &Identity) {
        let Some(address) = library.fini else { return };
        // SAFETY: the symbol of that name in a provider library is a function of this type.
        let fini: DAT_PROVIDER_FINI_FUNC = unsafe { mem::transmute(address) };
        let info = info_of(identity);
        if let Some(fini) = fini {
            // SAFETY: the argument outlives the call; the registry makes sure that init came before.
            unsafe { fini(&info) };
        }
    }

    fn publish(&self, table: Table) -> bool {
        TABLES.insert(table.0)
    }

    fn retire(&self, table: Table) {
        TABLES.remove(table.0);
    }
}

/// An identity in the form that programs and providers know.
pub fn info_of(identity: &Identity) -> DAT_PROVIDER_INFO {
    let mut name: [c_char; DAT_NAME_MAX_LENGTH] = [0; DAT_NAME_MAX_LENGTH];
    // The last element stays 0, whatever the length.
    let room = &mut name[..DAT_NAME_MAX_LENGTH - 1];
    for (to, from) in room.iter_mut().zip(identity.name.to_bytes()) {
        *to = c_char::from_ne_bytes([*from]);
    }
    DAT_PROVIDER_INFO {
        ia_name: name,
        dapl_version_major: identity.major,
        dapl_version_minor: identity.minor,
        is_thread_safe: if identity.thread_safe { DAT_TRUE } else { DAT_FALSE },
    }
}

/// The identity under which a provider registers, or `None` if its name is empty or unterminated.
pub fn identity_of(info: &DAT_PROVIDER_INFO) -> Option<Identity> {
    let bytes = info.ia_name.map(|byte| byte.to_ne_bytes()[0]);
    let name = CStr::from_bytes_until_nul(&bytes).ok()?;
    if name.is_empty() {
        return None;
    }
    Some(Identity {
        name: name.to_owned(),
        major: info.dapl_version_major,
        minor: info.dapl_version_minor,
        thread_safe: info.is_thread_safe != DAT_FALSE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_survive_the_way_through_c() {
        for (name, thread_safe) in [("a".to_owned(), true), ("n".repeat(255), false)] {
            let identity = Identity { name: std::ffi::CString::new(name).unwrap(), major: 1, minor: 2, thread_safe };
            assert_eq!(identity_of(&info_of(&identity)), Some(identity));
        }
    }

    #[test]
    fn a_name_needs_a_beginning_and_an_end() {
        let mut info = info_of(&Identity { name: c"a".to_owned(), major: 1, minor: 2, thread_safe: true });
        info.ia_name[0] = 0;
        assert!(identity_of(&info).is_none());
        info.ia_name = [1; DAT_NAME_MAX_LENGTH];
        assert!(identity_of(&info).is_none());
    }
}
