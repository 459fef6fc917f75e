//! The interface's part of the registry: tables of providers, their init and fini functions, and identities.

use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::mem;
use std::ptr::NonNull;

use dat_registry::loader::{self, Library, LoadError};
use dat_registry::search::{Found, Places, find};
use dat_registry::step::{LineUse, Step};
use dat_registry::{Backend, Identity, InitError};
use dat_udat::dat::{DAT_FALSE, DAT_PROVIDER_INFO, DAT_TRUE};
use host::thread::{self, Ended};
use host::topic::Topic;
use host::{cstr, diagnostics};

use crate::api::Api;
use crate::dispatch;
use crate::head::Head;
use crate::tables::TABLES;

/// Providers of a version of the interface.
pub struct Providers<A>(PhantomData<fn() -> A>);

impl<A: Api> Providers<A> {
    pub(crate) const fn new() -> Self {
        Providers(PhantomData)
    }
}

/// A provider's table, compared by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Table(pub *const Head);

// SAFETY: any thread may read a registered table.
unsafe impl Send for Table {}

impl<A: Api> Backend for Providers<A> {
    type Table = Table;
    type Library = Library;

    fn configure(&self) -> Found {
        // The loop below logs malformed lines as warnings.
        let found = find(&Places::of_this_process(), A::VERSION, &mut |step| match step {
            Step::Line(_, LineUse::Bad(_)) => {}
            Step::Unlisted(_) | Step::Line(_, LineUse::OldVersion(..)) => log::warn!("{step}"),
            _ => log::debug!("{step}"),
        });
        if let Some((path, error)) = &found.failure {
            let text = format!("{}: cannot be read, so there are no interface adapters: {error}", path.display());
            let reason = Topic::UnreadableConfiguration.error(error, text);
            diagnostics::announce(reason.topic, format_args!("{reason}"));
        }
        if let Some((origin, excess)) = &found.excess {
            diagnostics::report(
                Topic::IgnoredLine,
                format_args!("{origin}: {excess}: this line and all that follow are ignored"),
            );
        }
        for (origin, bad) in &found.bad {
            log::warn!("{origin}: {}", LineUse::Bad(bad));
        }
        found
    }

    fn load(&self, library: &CStr) -> Result<Library, LoadError> {
        loader::load(library)
    }

    fn init(&self, library: &Library, identity: &Identity, data: &CStr) -> Result<(), InitError> {
        let function = library.init.ok_or(InitError::Absent)?;
        match (Call { function, info: info_of(identity), data: Some(data.as_ptr()) }).make() {
            Ended::Returned => Ok(()),
            Ended::Exited => Err(InitError::Ended),
        }
    }

    fn fini(&self, library: &Library, identity: &Identity) {
        let Some(function) = library.fini else { return };
        if (Call { function, info: info_of(identity), data: None }).make() == Ended::Exited {
            log::warn!(
                "provider {}: dat_provider_fini ended the thread that called it",
                identity.name.to_string_lossy()
            );
        }
    }

    fn publish(&self, table: Table) -> bool {
        TABLES.insert(table.0)
    }

    fn retire(&self, table: Table) {
        dispatch::retire(table.0);
    }
}

/// A call of a provider's init, or of its fini if `data` is `None`.
struct Call {
    function: NonNull<c_void>,
    info: DAT_PROVIDER_INFO,
    data: Option<*const c_char>,
}

impl Call {
    /// Runs the call in a separate thread, so that a function that exits its thread does not end the caller's. If no
    /// thread can be created, runs the call in this thread.
    fn make(mut self) -> Ended {
        let argument = (&raw mut self).cast();
        // SAFETY: the argument is a `Call`, which outlives the thread. Providers allow calls from any thread.
        match unsafe { thread::apart(call, argument) } {
            Ok(ended) => ended,
            Err(error) => {
                log::debug!("provider: cannot start a thread for its function: {error}");
                // SAFETY: the argument is a `Call`, which outlives this call.
                unsafe { call(argument) };
                Ended::Returned
            }
        }
    }
}

/// Calls the function. A function that exits its thread unwinds this frame, so the frame owns no value with a
/// destructor.
#[expect(clippy::multiple_unsafe_ops_per_block, reason = "the same conditions cover init and fini")]
unsafe extern "C-unwind" fn call(call: *mut c_void) {
    type Init = unsafe extern "C-unwind" fn(*const DAT_PROVIDER_INFO, *const c_char);
    type Fini = unsafe extern "C-unwind" fn(*const DAT_PROVIDER_INFO);
    // SAFETY: `Call::make` passes a pointer to a `Call`.
    let &Call { function, ref info, data } = unsafe { &*call.cast::<Call>() };
    // SAFETY: a provider's functions of these names have these types, the arguments outlive the call, and the provider
    // copies what it keeps. The registry calls init before fini.
    unsafe {
        match data {
            Some(data) => mem::transmute::<NonNull<c_void>, Init>(function)(info, data),
            None => mem::transmute::<NonNull<c_void>, Fini>(function)(info),
        }
    }
}

/// Converts an identity to the structure that programs and providers use.
pub fn info_of(identity: &Identity) -> DAT_PROVIDER_INFO {
    DAT_PROVIDER_INFO {
        ia_name: cstr::array(identity.name.to_bytes()),
        dapl_version_major: identity.major,
        dapl_version_minor: identity.minor,
        is_thread_safe: if identity.thread_safe { DAT_TRUE } else { DAT_FALSE },
    }
}

/// Returns the identity under which a provider registers, or `None` if its name is empty or unterminated.
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
mod tests;
