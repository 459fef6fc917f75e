//! The registry as programs and providers see it.

use dat_registry::{AddError, Identity, RemoveError};
use dat_udat12::{
    DAT_COUNT, DAT_ERROR, DAT_INSUFFICIENT_RESOURCES, DAT_INVALID_ARG1, DAT_INVALID_ARG2, DAT_INVALID_ARG3,
    DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE, DAT_PROVIDER, DAT_PROVIDER_ALREADY_REGISTERED, DAT_PROVIDER_IN_USE,
    DAT_PROVIDER_INFO, DAT_RESOURCE_MEMORY, DAT_RETURN, DAT_RETURN_SUBTYPE, DAT_VERSION_MAJOR,
};

use crate::guard::{OUT_OF_MEMORY, slow};
use crate::provider::{REGISTRY, Table, identity_of, info_of};

const fn invalid(argument: DAT_RETURN_SUBTYPE) -> DAT_RETURN {
    DAT_ERROR(DAT_INVALID_PARAMETER, argument)
}

/// The identity that a program or a provider describes; `None` if there is none.
///
/// # Safety
/// `info` is NULL or readable; it need not be aligned.
unsafe fn identity_at(info: *const DAT_PROVIDER_INFO) -> Option<Identity> {
    if info.is_null() {
        return None;
    }
    // SAFETY: not NULL, so readable as the caller promises.
    identity_of(&unsafe { info.read_unaligned() })
}

/// Copies the entries out, if there is room for all of them.
///
/// # Safety
/// Each pointer must be NULL or valid as its parameter says.
pub unsafe fn dat_registry_list_providers(
    max_to_return: DAT_COUNT,
    entries_returned: *mut DAT_COUNT,
    dat_provider_list: *mut *mut DAT_PROVIDER_INFO,
) -> DAT_RETURN {
    slow(|| {
        if entries_returned.is_null() {
            return Err(invalid(DAT_INVALID_ARG2));
        }
        let room = usize::try_from(max_to_return).map_err(|_| invalid(DAT_INVALID_ARG1))?;
        if room > 0 && dat_provider_list.is_null() {
            return Err(invalid(DAT_INVALID_ARG3));
        }
        let all = |listed: usize, identities: &mut dyn Iterator<Item = &Identity>| {
            let count = DAT_COUNT::try_from(listed).unwrap_or(DAT_COUNT::MAX);
            if room == 0 || room < listed {
                // SAFETY: not NULL as checked, and writable as the caller promises.
                unsafe { entries_returned.write_unaligned(count) };
                return Err(invalid(DAT_INVALID_ARG1));
            }
            // SAFETY: the caller promises `room` elements, and there are no more entries than that.
            let element = |index| unsafe { dat_provider_list.wrapping_add(index).read_unaligned() };
            if (0..listed).any(|index| element(index).is_null()) {
                return Err(invalid(DAT_INVALID_ARG3));
            }
            for (index, identity) in identities.enumerate() {
                // SAFETY: not NULL as checked, and writable as the caller promises.
                unsafe { element(index).write_unaligned(info_of(identity)) };
            }
            // SAFETY: not NULL as checked, and writable as the caller promises.
            unsafe { entries_returned.write_unaligned(count) };
            Ok(())
        };
        REGISTRY.visit(all).unwrap_or(Err(OUT_OF_MEMORY))
    })
}

/// Registers the table, if its identity is valid.
///
/// # Safety
/// Each pointer must be NULL or valid as its parameter says.
pub unsafe fn dat_registry_add_provider(
    provider: *const DAT_PROVIDER,
    provider_info: *const DAT_PROVIDER_INFO,
) -> DAT_RETURN {
    slow(|| {
        if provider.is_null() || !provider.is_aligned() {
            return Err(invalid(DAT_INVALID_ARG1));
        }
        // SAFETY: the caller's promise about `provider_info`.
        let identity = unsafe { identity_at(provider_info) }
            .filter(|identity| identity.major == DAT_VERSION_MAJOR)
            .ok_or(invalid(DAT_INVALID_ARG2))?;
        log::debug!("{} registers", identity.name.to_string_lossy());
        REGISTRY.add(identity, Table(provider)).map_err(|error| match error {
            AddError::AlreadyRegistered => DAT_ERROR(DAT_PROVIDER_ALREADY_REGISTERED, DAT_NO_SUBTYPE),
            AddError::Full => DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY),
        })
    })
}

/// Removes the table from the registry.
///
/// # Safety
/// Each pointer must be NULL or valid as its parameter says.
pub unsafe fn dat_registry_remove_provider(
    provider: *const DAT_PROVIDER,
    provider_info: *const DAT_PROVIDER_INFO,
) -> DAT_RETURN {
    slow(|| {
        if provider.is_null() {
            return Err(invalid(DAT_INVALID_ARG1));
        }
        // SAFETY: the caller's promise about `provider_info`.
        let identity = unsafe { identity_at(provider_info) }.ok_or(invalid(DAT_INVALID_ARG2))?;
        REGISTRY.remove(&identity, Table(provider)).map_err(|error| match error {
            RemoveError::NotRegistered => invalid(DAT_INVALID_ARG2),
            RemoveError::InUse => DAT_ERROR(DAT_PROVIDER_IN_USE, DAT_NO_SUBTYPE),
        })
    })
}
