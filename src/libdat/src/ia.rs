//! Interface adapters: open, close, query.

use std::ffi::c_ulong;
use std::ptr;

use dat_registry::{LoadFailure, Missing, OpenError, Request};
use dat_udat12::{
    DAT_BOOLEAN, DAT_CLOSE_FLAGS, DAT_COUNT, DAT_ERROR, DAT_EVD_HANDLE, DAT_FALSE, DAT_IA_ATTR, DAT_IA_ATTR_MASK,
    DAT_IA_HANDLE, DAT_INVALID_ARG1, DAT_INVALID_ARG2, DAT_INVALID_ARG3, DAT_INVALID_HANDLE_IA, DAT_INVALID_PARAMETER,
    DAT_MAJOR_NOT_FOUND, DAT_MINOR_NOT_FOUND, DAT_NAME_MAX_LENGTH, DAT_NAME_NOT_REGISTERED, DAT_NAME_PTR,
    DAT_NOT_IMPLEMENTED, DAT_PROVIDER, DAT_PROVIDER_ATTR, DAT_PROVIDER_ATTR_MASK, DAT_PROVIDER_NOT_FOUND, DAT_RETURN,
    DAT_SUCCESS, DAT_THREAD_SAFETY_NOT_FOUND, DAT_UINT32, functions,
};
use host::{cstr, diagnostics};

use crate::dispatch::{invalid_handle, provider_of};
use crate::guard::slow;
use crate::provider::REGISTRY;
use crate::symver::symver;

symver!(dat_ia_openv);

/// Opens an instance of an interface adapter.
///
/// Programs call it as `dat_ia_open`, a macro that adds what they were compiled for. The provider
/// library is loaded and initialised when the entry is not in use yet; a library that could not be
/// loaded is not tried again in this process. Blocks while another thread loads the same entry.
/// Thread-safe; not a cancellation point.
///
/// # Parameters
/// * `provider` - in, name of the adapter, 1 to 255 characters.
/// * `asynch_evd_min_qlen` - in, events that the EVD for asynchronous events must hold if one is made.
/// * `asynch_evd_handle` - in and out, `DAT_HANDLE_NULL` to have an EVD made, an EVD for asynchronous
///   events of the same adapter to use that, or `DAT_EVD_ASYNC_EXISTS`.
/// * `ia_handle` - out, the instance; written only on success.
/// * `dat_major`, `dat_minor` - in, version of the interface: the major number must be that of the
///   entry, the minor number at most that.
/// * `thread_safety` - in, whether the program needs a thread-safe provider. A program that does not
///   is served by either kind.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` | `provider` is NULL or longer than 255 characters |
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | `ia_handle` is NULL |
/// | `DAT_PROVIDER_NOT_FOUND` / `DAT_NAME_NOT_REGISTERED` | no entry of that name, or its library cannot be used |
/// | `DAT_PROVIDER_NOT_FOUND` / `DAT_MAJOR_NOT_FOUND`, `DAT_MINOR_NOT_FOUND`, `DAT_THREAD_SAFETY_NOT_FOUND` | the first of these that no entry meets |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `asynch_evd_handle` is NULL |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | an EVD is to be made and the length is below 1 |
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_ASYNC` | the EVD is not one for this |
/// | `DAT_INSUFFICIENT_RESOURCES` | out of memory or of something of the adapter |
///
/// # Specification
/// uDAPL 1.2, dat_ia_open(3DAT); loading: dat_provider_init(3DAT), dat.conf(4).
///
/// # Safety
/// Each pointer must be NULL or valid for what is said above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dat_ia_openv(
    provider: DAT_NAME_PTR,
    asynch_evd_min_qlen: DAT_COUNT,
    asynch_evd_handle: *mut DAT_EVD_HANDLE,
    ia_handle: *mut DAT_IA_HANDLE,
    dat_major: DAT_UINT32,
    dat_minor: DAT_UINT32,
    thread_safety: DAT_BOOLEAN,
) -> DAT_RETURN {
    slow(|| {
        // SAFETY: the caller's promise about `provider`.
        let name = unsafe { cstr::bounded(provider, DAT_NAME_MAX_LENGTH) };
        let name = name.ok_or(DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1))?;
        if ia_handle.is_null() {
            return Err(invalid_handle(DAT_INVALID_HANDLE_IA));
        }
        let request = Request { name, major: dat_major, minor: dat_minor, thread_safe: thread_safety != DAT_FALSE };
        let ticket = REGISTRY.open(&request).map_err(|error| not_found(&request, error))?;
        let mut opened: DAT_IA_HANDLE = ptr::null_mut();
        // SAFETY: the ticket keeps the table registered; the pointers are those of the caller, or of
        // this frame.
        let code =
            unsafe { open_instance(ticket.table.0, provider, asynch_evd_min_qlen, asynch_evd_handle, &mut opened) };
        if code != DAT_SUCCESS {
            REGISTRY.release(ticket);
            return Err(code);
        }
        REGISTRY.bind(opened.addr(), ticket);
        // SAFETY: not NULL as checked, and writable as the caller promises.
        unsafe { ia_handle.write(opened) };
        Ok(())
    })
}

const _: unsafe extern "C" fn(
    DAT_NAME_PTR,
    DAT_COUNT,
    *mut DAT_EVD_HANDLE,
    *mut DAT_IA_HANDLE,
    DAT_UINT32,
    DAT_UINT32,
    DAT_BOOLEAN,
) -> DAT_RETURN = functions::ia::dat_ia_openv;

/// The provider's part of dat_ia_openv.
///
/// # Safety
/// As for [`dat_ia_openv`]; `table` is registered, `name` is a C string.
unsafe fn open_instance(
    table: *const DAT_PROVIDER,
    name: DAT_NAME_PTR,
    min_qlen: DAT_COUNT,
    async_evd: *mut DAT_EVD_HANDLE,
    opened: *mut DAT_IA_HANDLE,
) -> DAT_RETURN {
    // Not every provider looks before it reads.
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

/// The return code, and the line for whoever wants one.
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

symver!(dat_ia_close);

/// Closes an instance of an interface adapter.
///
/// The last instance of an entry to be closed also makes its provider finish; the library stays in
/// the process. An instance of a provider that registered itself without an entry is closed
/// likewise. When the provider refuses, nothing changes.
///
/// # Parameters
/// * `ia_handle` - in, the instance.
/// * `close_flags` - in, `DAT_CLOSE_ABRUPT_FLAG` destroys whatever is left of it,
///   `DAT_CLOSE_GRACEFUL_FLAG` refuses when the program has left anything.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open instance |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | neither of the two flags |
/// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_IA_IN_USE` | graceful, and objects are left |
/// | `DAT_INSUFFICIENT_RESOURCES` | the provider failed to clean up |
///
/// # Specification
/// uDAPL 1.2, dat_ia_close(3DAT); fini: dat_provider_fini(3DAT).
///
/// # Safety
/// A handle that is aligned must point to readable memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dat_ia_close(ia_handle: DAT_IA_HANDLE, close_flags: DAT_CLOSE_FLAGS) -> DAT_RETURN {
    slow(|| {
        // SAFETY: the caller's promise about handles.
        let table = unsafe { provider_of(ia_handle) };
        let table = table.ok_or(invalid_handle(DAT_INVALID_HANDLE_IA))?;
        // SAFETY: a registered table stays readable until its provider removes it.
        let close = unsafe { (*table).ia_close_func }.ok_or(DAT_NOT_IMPLEMENTED)?;
        // Taken out first: once closed, the address may be that of another thread's new instance.
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

const _: unsafe extern "C" fn(DAT_IA_HANDLE, DAT_CLOSE_FLAGS) -> DAT_RETURN = functions::ia::dat_ia_close;

dispatch! {
    /// Tells the EVD for asynchronous events, the attributes of the adapter and those of its provider.
    ///
    /// What the results point to belongs to the provider and lives until the instance is closed.
    ///
    /// # Parameters
    /// * `ia_handle` - in, the instance.
    /// * `async_evd_handle` - out, the EVD for asynchronous events, or `DAT_EVD_OUT_OF_SCOPE`; may be
    ///   NULL.
    /// * `ia_attr_mask` - in, the fields of `ia_attr` that are wanted, bits of `DAT_IA_FIELD_ALL`.
    /// * `ia_attr` - out, attributes of the adapter; may be NULL if the mask is 0.
    /// * `provider_attr_mask` - in, the fields of `provider_attr` that are wanted, bits of
    ///   `DAT_PROVIDER_FIELD_ALL`.
    /// * `provider_attr` - out, attributes of the provider; may be NULL if the mask is 0.
    ///
    /// # Errors
    /// | returned | when |
    /// |---|---|
    /// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not an open instance |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3`, `DAT_INVALID_ARG5` | unknown bits in a mask |
    /// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4`, `DAT_INVALID_ARG6` | a structure is NULL and its mask is not 0 |
    ///
    /// # Specification
    /// uDAPL 1.2, dat_ia_query(3DAT).
    extern "C" fn dat_ia_query(
        ia_handle: DAT_IA_HANDLE,
        async_evd_handle: *mut DAT_EVD_HANDLE,
        ia_attr_mask: DAT_IA_ATTR_MASK,
        ia_attr: *mut DAT_IA_ATTR,
        provider_attr_mask: DAT_PROVIDER_ATTR_MASK,
        provider_attr: *mut DAT_PROVIDER_ATTR,
    ) as ia => ia_query_func, DAT_INVALID_HANDLE_IA
}

symver!(dats_get_ia_handle);

/// Gives the provider's handle of an instance for the one that the program holds.
///
/// They are the same here, so it gives back what it got. Providers made for a library that numbers its
/// instances call it.
///
/// # Parameters
/// * `handle` - in, the program's handle as a number.
/// * `ia_handle` - out, the provider's handle; written only on success.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA` | not a handle of a registered provider |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `ia_handle` is NULL |
///
/// # Specification
/// None; part of the binary interface between the registry and providers on Linux.
///
/// # Safety
/// A handle that is aligned must point to readable memory; `ia_handle` must be NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dats_get_ia_handle(handle: c_ulong, ia_handle: *mut DAT_IA_HANDLE) -> DAT_RETURN {
    let known: DAT_IA_HANDLE = ptr::with_exposed_provenance_mut(handle as usize);
    // SAFETY: the caller's promise about handles.
    if unsafe { provider_of(known) }.is_none() {
        return invalid_handle(DAT_INVALID_HANDLE_IA);
    }
    if ia_handle.is_null() {
        return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    }
    // SAFETY: not NULL as checked, and writable as the caller promises.
    unsafe { ia_handle.write(known) };
    DAT_SUCCESS
}

const _: unsafe extern "C" fn(c_ulong, *mut DAT_IA_HANDLE) -> DAT_RETURN = functions::dat_registry::dats_get_ia_handle;
