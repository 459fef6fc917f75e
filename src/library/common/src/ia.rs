//! Interface adapters: the library's part in opening and closing them.

use std::ffi::CStr;
use std::fmt;
use std::ptr;

use dat_registry::{Missing, OpenError, Origin, Purpose, Request};
use dat_udat::dat::{
    DAT_BOOLEAN, DAT_CLOSE_FLAGS, DAT_EVD_HANDLE, DAT_FALSE, DAT_IA_HANDLE, DAT_NAME_MAX_LENGTH, DAT_NAME_PTR,
};
use dat_udat::dat_error::{DAT_GET_TYPE, DAT_INSUFFICIENT_RESOURCES, DAT_INVALID_HANDLE, DAT_RETURN, DAT_SUCCESS};
use dat_udat::dat_platform_specific::{DAT_COUNT, DAT_UINT32};
use host::topic::Topic;
use host::{cstr, diagnostics};

use crate::api::{Api, INVALID_IA, OUT_OF_MEMORY};
use crate::guard::making_with;
use crate::head::Head;

/// Opens an instance with the provider whose entry serves the request, and counts the instance as a use of the
/// provider.
///
/// # Safety
/// Each pointer must be NULL or valid as the manual page describes.
pub unsafe fn dat_ia_openv<A: Api>(
    provider: DAT_NAME_PTR,
    asynch_evd_min_qlen: DAT_COUNT,
    asynch_evd_handle: *mut DAT_EVD_HANDLE,
    ia_handle: *mut DAT_IA_HANDLE,
    dat_major: DAT_UINT32,
    dat_minor: DAT_UINT32,
    thread_safety: DAT_BOOLEAN,
) -> DAT_RETURN {
    // SAFETY: `provider` is NULL or a readable name, as the caller promises.
    let name = unsafe { cstr::bounded(provider, DAT_NAME_MAX_LENGTH) };
    making_with::<A>(&Opening { name, version: (dat_major, dat_minor) }, || {
        let name = name.ok_or(A::CODES.argument(1))?;
        if ia_handle.is_null() {
            return Err(INVALID_IA);
        }
        let request = Request { name, major: dat_major, minor: dat_minor, thread_safe: thread_safety != DAT_FALSE };
        // SAFETY: the request has the name; the other pointer comes from the caller.
        let (handle, _) = unsafe { open::<A>(&request, Purpose::Use, asynch_evd_min_qlen, asynch_evd_handle)? };
        // SAFETY: not NULL as checked, and writable as the caller promises.
        unsafe { ia_handle.write_unaligned(handle) };
        Ok(())
    })
}

/// The arguments of dat_ia_openv, as a log message shows them.
struct Opening<'a> {
    name: Option<&'a CStr>,
    version: (u32, u32),
}

impl fmt::Display for Opening<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.name {
            write!(f, " provider={}", name.to_string_lossy())?;
        }
        write!(f, " version={}.{}", self.version.0, self.version.1)
    }
}

/// Opens an instance for `purpose` with the provider whose entry serves the request, and counts it. Returns its handle
/// and the provider's table, which stays registered while the instance is open. After an error, no instance is open.
///
/// # Safety
/// `async_evd` must be NULL or valid as the parameter of dat_ia_open says.
pub unsafe fn open<A: Api>(
    request: &Request<'_>,
    purpose: Purpose,
    min_qlen: DAT_COUNT,
    async_evd: *mut DAT_EVD_HANDLE,
) -> Result<(DAT_IA_HANDLE, *const Head), DAT_RETURN> {
    let registry = &A::statics().registry;
    let ticket = registry.open(request).map_err(|error| not_found::<A>(request, error))?;
    let mut handle: DAT_IA_HANDLE = ptr::null_mut();
    let table = ticket.table.0;
    // SAFETY: the ticket keeps the table registered.
    let code = match unsafe { A::ia_functions(table) }.0 {
        // Some providers dereference `async_evd` unchecked.
        _ if async_evd.is_null() => A::CODES.argument(3),
        Some(open) => {
            let _note = registry.opening();
            // SAFETY: the name is a C string that the slot does not write, and the other pointers are valid or the
            // caller's. The slot has this type.
            unsafe { open(request.name.as_ptr().cast_mut(), min_qlen, async_evd, &mut handle) }
        }
        None => A::CODES.not_implemented,
    };
    if code != DAT_SUCCESS {
        registry.release(ticket);
        tell_refused(request.name, code);
        return Err(code);
    }
    registry.bind(handle.addr(), purpose, ticket);
    Ok((handle, table))
}

/// Returns the return code for `error`. Reports the reason to the user, except a lack of memory, and the failure of a
/// library that was reported before.
#[cold]
fn not_found<A: Api>(request: &Request<'_>, error: OpenError) -> DAT_RETURN {
    match error {
        OpenError::NotFound(missing) => {
            tell_missing::<A>(request, missing);
            A::CODES.not_found(missing)
        }
        OpenError::Unusable(failure) => {
            if failure.reason.is_some() {
                diagnostics::report(Topic::ProviderLibrary, format_args!("{failure}"));
            }
            A::CODES.not_found(Missing::Name)
        }
        OpenError::NoMemory => OUT_OF_MEMORY,
    }
}

/// If a provider lacks resources and errors are not logged, shows a user at a terminal how to find the reason.
#[cold]
fn tell_refused(name: &CStr, code: DAT_RETURN) {
    if DAT_GET_TYPE(code) == DAT_INSUFFICIENT_RESOURCES && !log::log_enabled!(log::Level::Error) {
        let name = name.to_string_lossy();
        diagnostics::hint(format_args!(
            "{name}: its provider cannot open it; \"dat-info --explain {name}\" shows the reason"
        ));
    }
}

fn tell_missing<A: Api>(request: &Request<'_>, missing: Missing) {
    if !diagnostics::reports() {
        return;
    }
    let what = match missing {
        Missing::Name => "no entry has this name",
        Missing::Major => "no entry of this name has the major version",
        Missing::Minor => "no entry of this name has the minor version or a higher one",
        Missing::ThreadSafety => "no entry of this name is threadsafe",
    };
    let snapshot = A::statics().registry.snapshot(request.name);
    let name = request.name.to_string_lossy();
    let entries = || format!("this library has entries for: {}", snapshot.shown());
    let hint = match (&snapshot.bad_line, missing, snapshot.nearest(&name)) {
        // A list of other names would hide the line to repair.
        (Some((origin, bad)), ..) => format!("{origin} may be its line: {}", bad.fault),
        (None, Missing::Name, Some(nearest)) => format!("perhaps {nearest} was meant"),
        (None, Missing::Name, None) => format!("there are: {}", snapshot.shown()),
        (None, Missing::Minor, _) => match &snapshot.entry {
            Some((origin @ Origin::Line(..), own)) if own.minor < A::VERSION.minor => {
                let (major, minor) = (A::VERSION.major, A::VERSION.minor);
                format!("{origin} is for {}.{}: write u{major}.{minor}", own.major, own.minor)
            }
            _ => entries(),
        },
        _ => entries(),
    };
    let topic = if snapshot.bad_line.is_some() { Topic::IgnoredLine } else { Topic::NoEntry };
    let (major, minor) = (request.major, request.minor);
    let safety = if request.thread_safe { "threadsafe" } else { "nonthreadsafe" };
    diagnostics::report(
        topic,
        format_args!(
            "{name}, version {major}.{minor}, {safety}: {what}; {hint}; \"dat-info --explain {name}\" shows more"
        ),
    );
}

/// Closes an instance that this library opened for `purpose`, and subtracts it from its entry's count.
///
/// Returns `None` for any other handle, without reading its memory. After an error of the provider other than
/// `DAT_INVALID_HANDLE`, the instance stays open.
#[expect(clippy::not_unsafe_ptr_arg_deref, reason = "only handles that the registry knows are used")]
pub fn close<A: Api>(
    handle: DAT_IA_HANDLE,
    flags: DAT_CLOSE_FLAGS,
    purpose: Purpose,
) -> Option<Result<(), DAT_RETURN>> {
    let registry = &A::statics().registry;
    // The instance stays bound during the close: concurrent calls reach the provider, which decides what they return.
    let (serial, _, provider) = registry.instance(purpose, |address, _| address == handle.addr())?;
    // SAFETY: this provider created the handle, and the reference keeps its table registered.
    let result = unsafe { close_instance::<A>(provider.table.0, handle, flags) };
    // The provider finds the handle invalid if another thread has closed the instance.
    let is_closed = result.map_or_else(|code| DAT_GET_TYPE(code) == DAT_INVALID_HANDLE, |()| true);
    if let Some(ticket) = is_closed.then(|| registry.unbind(serial)).flatten() {
        registry.release(ticket);
    }
    registry.release(provider);
    Some(result)
}

/// Closes an instance with the provider's function.
///
/// # Errors
/// The provider's code, or `DAT_NOT_IMPLEMENTED` if the table has no close function.
///
/// # Safety
/// `table` is registered, and its provider created the handle.
pub unsafe fn close_instance<A: Api>(
    table: *const Head,
    handle: DAT_IA_HANDLE,
    flags: DAT_CLOSE_FLAGS,
) -> Result<(), DAT_RETURN> {
    // SAFETY: the table is registered, as the caller promises.
    let close = unsafe { A::ia_functions(table) }.1.ok_or(A::CODES.not_implemented)?;
    // SAFETY: the provider created the handle, as the caller promises, and the slot has this type.
    match unsafe { close(handle, flags) } {
        DAT_SUCCESS => Ok(()),
        code => Err(code),
    }
}
