//! The calls of programs and providers on the registry.

use std::ffi::CStr;

use dat_registry::{AddError, Identity, RemoveError};
use dat_udat::dat::DAT_PROVIDER_INFO;
use dat_udat::dat_error::{
    DAT_ERROR, DAT_NO_SUBTYPE, DAT_PROVIDER_ALREADY_REGISTERED, DAT_PROVIDER_IN_USE, DAT_RETURN,
};
use dat_udat::dat_platform_specific::DAT_COUNT;
use host::diagnostics::REGISTERED;

use crate::api::{Api, OUT_OF_MEMORY};
use crate::elsewhere::passed_on;
use crate::guard::{slow, slow_for_provider};
use crate::provider::{Table, identity_of, info_of};

/// Copies the entries that fit to the program's list. If `max_to_return` is 0, stores the number of all entries, and
/// returns an error.
///
/// # Safety
/// Each pointer must be NULL or valid as the manual page describes.
pub unsafe fn dat_registry_list_providers<A: Api>(
    max_to_return: DAT_COUNT,
    entries_returned: *mut DAT_COUNT,
    dat_provider_list: *mut *mut DAT_PROVIDER_INFO,
) -> DAT_RETURN {
    slow::<A>(|| {
        if entries_returned.is_null() {
            return Err(A::CODES.argument(2));
        }
        let room = usize::try_from(max_to_return).map_err(|_| A::CODES.argument(1))?;
        if room > 0 && dat_provider_list.is_null() {
            return Err(A::CODES.argument(3));
        }
        let all = |listed: usize, identities: &mut dyn Iterator<Item = &Identity>| {
            let filled = listed.min(room);
            // SAFETY: the caller promises `room` elements, and `filled` is at most `room`.
            let element = |index| unsafe { dat_provider_list.wrapping_add(index).read_unaligned() };
            if (0..filled).any(|index| element(index).is_null()) {
                return Err(A::CODES.argument(3));
            }
            for (index, identity) in identities.take(filled).enumerate() {
                // SAFETY: not NULL as checked, and writable as the caller promises.
                unsafe { element(index).write_unaligned(info_of(identity)) };
            }
            let count = if room == 0 { listed } else { filled };
            // SAFETY: not NULL as checked, and writable as the caller promises.
            unsafe { entries_returned.write_unaligned(DAT_COUNT::try_from(count).unwrap_or(DAT_COUNT::MAX)) };
            if room == 0 { Err(A::CODES.argument(1)) } else { Ok(()) }
        };
        A::statics().registry.visit(all).unwrap_or(Err(OUT_OF_MEMORY))
    })
}

/// Runs the provider's call `name`: passes it to the library of the provider's version if that is another library in
/// this process, or calls `here` with the identity in `info`.
///
/// # Safety
/// Each pointer must be NULL or valid as the manual page describes.
unsafe fn for_provider<A: Api>(
    name: &'static CStr,
    provider: *const A::Provider,
    info: *const DAT_PROVIDER_INFO,
    here: impl FnOnce(Identity) -> Result<(), DAT_RETURN>,
) -> Result<(), DAT_RETURN> {
    if provider.is_null() {
        return Err(A::CODES.argument(1));
    }
    // SAFETY: the caller promises valid pointers.
    if let Some(result) = unsafe { passed_on::<A>(name, provider.cast(), info) } {
        return result;
    }
    // SAFETY: not NULL, so readable as the caller promises.
    let info = (!info.is_null()).then(|| unsafe { info.read_unaligned() });
    here(info.as_ref().and_then(identity_of).ok_or(A::CODES.argument(2))?)
}

/// Registers the table of a provider, with this library or the library of the provider's version.
///
/// # Safety
/// Each pointer must be NULL or valid as the manual page describes.
pub unsafe fn dat_registry_add_provider<A: Api>(
    provider: *const A::Provider,
    provider_info: *const DAT_PROVIDER_INFO,
) -> DAT_RETURN {
    let add = |identity: Identity| {
        if identity.major != A::VERSION.major {
            return Err(A::CODES.argument(2));
        }
        log::debug!(target: REGISTERED, "{}: a provider registers", identity.name.to_string_lossy());
        A::statics().registry.add(identity, Table(provider.cast())).map_err(|error| match error {
            AddError::AlreadyRegistered => DAT_ERROR(DAT_PROVIDER_ALREADY_REGISTERED, DAT_NO_SUBTYPE),
            AddError::Full => OUT_OF_MEMORY,
        })
    };
    slow_for_provider::<A>(|| {
        if !provider.is_aligned() {
            return Err(A::CODES.argument(1));
        }
        // SAFETY: the caller promises valid pointers.
        unsafe { for_provider::<A>(c"dat_registry_add_provider", provider, provider_info, add) }
    })
}

/// Removes the table of a provider from this library or the library of the provider's version.
///
/// # Safety
/// Each pointer must be NULL or valid as the manual page describes.
pub unsafe fn dat_registry_remove_provider<A: Api>(
    provider: *const A::Provider,
    provider_info: *const DAT_PROVIDER_INFO,
) -> DAT_RETURN {
    let remove = |identity: Identity| {
        log::debug!(target: REGISTERED, "{}: a provider is to be removed", identity.name.to_string_lossy());
        A::statics().registry.remove(&identity, Table(provider.cast())).map_err(|error| match error {
            RemoveError::NotRegistered => A::CODES.argument(2),
            RemoveError::InUse => DAT_ERROR(DAT_PROVIDER_IN_USE, DAT_NO_SUBTYPE),
        })
    };
    // SAFETY: the caller promises valid pointers.
    slow_for_provider::<A>(|| unsafe {
        for_provider::<A>(c"dat_registry_remove_provider", provider, provider_info, remove)
    })
}
