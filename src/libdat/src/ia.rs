//! Interface adapters: libdat's part in opening and closing them.

use std::ffi::c_ulong;
use std::ptr;

use dat_registry::{LoadFailure, Missing, OpenError, Request};
use dat_udat12::{
    DAT_BOOLEAN, DAT_CLOSE_FLAGS, DAT_COUNT, DAT_ERROR, DAT_EVD_HANDLE, DAT_FALSE, DAT_IA_HANDLE, DAT_INVALID_ARG1,
    DAT_INVALID_ARG2, DAT_INVALID_ARG3, DAT_INVALID_HANDLE_IA, DAT_INVALID_PARAMETER, DAT_MAJOR_NOT_FOUND,
    DAT_MINOR_NOT_FOUND, DAT_NAME_MAX_LENGTH, DAT_NAME_NOT_REGISTERED, DAT_NAME_PTR, DAT_NOT_IMPLEMENTED, DAT_PROVIDER,
    DAT_PROVIDER_NOT_FOUND, DAT_RETURN, DAT_SUCCESS, DAT_THREAD_SAFETY_NOT_FOUND, DAT_UINT32,
};
use host::{cstr, diagnostics};

use crate::dispatch::{invalid_handle, provider_of};
use crate::guard::{OUT_OF_MEMORY, making, slow};
use crate::provider::REGISTRY;

/// Finds the entry that serves the request, lets its provider open an instance, and counts the instance.
///
/// # Safety
/// Each pointer must be NULL or valid as its parameter says.
pub unsafe fn dat_ia_openv(
    provider: DAT_NAME_PTR,
    asynch_evd_min_qlen: DAT_COUNT,
    asynch_evd_handle: *mut DAT_EVD_HANDLE,
    ia_handle: *mut DAT_IA_HANDLE,
    dat_major: DAT_UINT32,
    dat_minor: DAT_UINT32,
    thread_safety: DAT_BOOLEAN,
) -> DAT_RETURN {
    making(|| {
        // SAFETY: the caller's promise about `provider`.
        let name = unsafe { cstr::bounded(provider, DAT_NAME_MAX_LENGTH) };
        let name = name.ok_or(DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1))?;
        if ia_handle.is_null() {
            return Err(invalid_handle(DAT_INVALID_HANDLE_IA));
        }
        let request = Request { name, major: dat_major, minor: dat_minor, thread_safe: thread_safety != DAT_FALSE };
        let ticket = REGISTRY.open(&request).map_err(|error| not_found(&request, error))?;
        let mut opened: DAT_IA_HANDLE = ptr::null_mut();
        // SAFETY: the ticket keeps the table registered; the pointers come from the caller or from this frame.
        let code =
            unsafe { open_instance(ticket.table.0, provider, asynch_evd_min_qlen, asynch_evd_handle, &mut opened) };
        if code != DAT_SUCCESS {
            REGISTRY.release(ticket);
            return Err(code);
        }
        REGISTRY.bind(opened.addr(), ticket);
        // SAFETY: not NULL as checked, and writable as the caller promises.
        unsafe { ia_handle.write_unaligned(opened) };
        Ok(())
    })
}

/// The provider's part of dat_ia_openv.
///
/// # Safety
/// Each pointer must be NULL or valid as the parameter of [`dat_ia_openv`] says; `table` is registered, `name` is a C
/// string.
unsafe fn open_instance(
    table: *const DAT_PROVIDER,
    name: DAT_NAME_PTR,
    min_qlen: DAT_COUNT,
    async_evd: *mut DAT_EVD_HANDLE,
    opened: *mut DAT_IA_HANDLE,
) -> DAT_RETURN {
    // Some providers read it without checking for NULL.
    if async_evd.is_null() {
        return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    }
    // SAFETY: a registered table is readable.
    match unsafe { (*table).ia_open_func } {
        // SAFETY: the arguments are valid as the caller promises; the slot has this type.
        Some(open) => unsafe { open(name, min_qlen, async_evd, opened) },
        None => DAT_NOT_IMPLEMENTED,
    }
}

/// The return code of a failed open; also reports the reason.
#[cold]
fn not_found(request: &Request<'_>, error: OpenError) -> DAT_RETURN {
    let subtype = match error {
        OpenError::NotFound(missing) => {
            tell_missing(request, missing);
            match missing {
                Missing::Name => DAT_NAME_NOT_REGISTERED,
                Missing::Major => DAT_MAJOR_NOT_FOUND,
                Missing::Minor => DAT_MINOR_NOT_FOUND,
                Missing::ThreadSafety => DAT_THREAD_SAFETY_NOT_FOUND,
            }
        }
        OpenError::Unusable(LoadFailure { origin, name, library, reason }) => {
            if let Some(reason) = reason {
                diagnostics::report(format_args!("{origin}: {name}: cannot use {library}: {reason}"));
            }
            DAT_NAME_NOT_REGISTERED
        }
        OpenError::NoMemory => return OUT_OF_MEMORY,
    };
    DAT_ERROR(DAT_PROVIDER_NOT_FOUND, subtype)
}

fn tell_missing(request: &Request<'_>, missing: Missing) {
    if !log::log_enabled!(log::Level::Error) {
        return;
    }
    let what = match missing {
        Missing::Name => "no entry has this name",
        Missing::Major => "no entry of this name has the major version",
        Missing::Minor => "no entry of this name has the minor version or a higher one",
        Missing::ThreadSafety => "no entry of this name is threadsafe",
    };
    let snapshot = REGISTRY.snapshot(request.name);
    log::error!(
        "{}, version {}.{}, {}: {what}; there are: {}",
        request.name.to_string_lossy(),
        request.major,
        request.minor,
        ["nonthreadsafe", "threadsafe"][usize::from(request.thread_safe)],
        snapshot.names.join(" "),
    );
    if let Some((origin, bad)) = snapshot.bad_line {
        log::error!("{origin}: this line may be the one: {}", bad.fault);
    }
}

/// Lets the provider close the instance, and removes it from the count of its entry.
///
/// # Safety
/// A handle that is aligned must point to readable memory.
pub unsafe fn dat_ia_close(ia_handle: DAT_IA_HANDLE, close_flags: DAT_CLOSE_FLAGS) -> DAT_RETURN {
    slow(|| {
        // SAFETY: the caller's promise about handles.
        let table = unsafe { provider_of(ia_handle) };
        let table = table.ok_or(invalid_handle(DAT_INVALID_HANDLE_IA))?;
        // SAFETY: a registered table stays readable until its provider removes it.
        let close = unsafe { (*table).ia_close_func }.ok_or(DAT_NOT_IMPLEMENTED)?;
        // The ticket is taken out first: after the close, another thread's new instance may have the same address.
        let ticket = REGISTRY.unbind(ia_handle.addr());
        // SAFETY: the arguments are passed on as they came; the slot has this type.
        let code = unsafe { close(ia_handle, close_flags) };
        match ticket {
            Some(ticket) if code == DAT_SUCCESS => REGISTRY.release(ticket),
            Some(ticket) => REGISTRY.bind(ia_handle.addr(), ticket),
            None => {}
        }
        if code == DAT_SUCCESS { Ok(()) } else { Err(code) }
    })
}

/// Returns the handle if a registered provider made it.
///
/// # Safety
/// A handle that is aligned must point to readable memory; `ia_handle` must be NULL or writable.
pub unsafe fn dats_get_ia_handle(handle: c_ulong, ia_handle: *mut DAT_IA_HANDLE) -> DAT_RETURN {
    let known: DAT_IA_HANDLE = ptr::with_exposed_provenance_mut(handle as usize);
    // SAFETY: the caller's promise about handles.
    if unsafe { provider_of(known) }.is_none() {
        return invalid_handle(DAT_INVALID_HANDLE_IA);
    }
    if ia_handle.is_null() {
        return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    }
    // SAFETY: not NULL as checked, and writable as the caller promises.
    unsafe { ia_handle.write_unaligned(known) };
    DAT_SUCCESS
}
