//! The registry as programs and providers see it.

use dat_registry::{AddError, RemoveError};
use dat_udat12::{
    DAT_COUNT, DAT_ERROR, DAT_INSUFFICIENT_RESOURCES, DAT_INVALID_ARG1, DAT_INVALID_ARG2, DAT_INVALID_ARG3,
    DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE, DAT_PROVIDER, DAT_PROVIDER_ALREADY_REGISTERED, DAT_PROVIDER_IN_USE,
    DAT_PROVIDER_INFO, DAT_RESOURCE_MEMORY, DAT_RETURN, DAT_RETURN_SUBTYPE, DAT_VERSION_MAJOR, functions,
};

use crate::guard::slow;
use crate::provider::{REGISTRY, Table, identity_of, info_of};
use crate::symver::symver;

const fn invalid(argument: DAT_RETURN_SUBTYPE) -> DAT_RETURN {
    DAT_ERROR(DAT_INVALID_PARAMETER, argument)
}

symver!(dat_registry_list_providers);

/// Lists what `dat_ia_open` can open.
///
/// First the entries of the configuration in their order, loaded or not, then providers that
/// registered themselves without an entry. Nothing is loaded. Thread-safe.
///
/// # Parameters
/// * `max_to_return` - in, elements of `dat_provider_list`; 0 only asks for the number.
/// * `entries_returned` - out, how many there are. Written on success, and also when
///   `max_to_return` is 0 or too small.
/// * `dat_provider_list` - in, pointers to structures of the caller, which are filled on success; as
///   many as there are entries. Further elements are not touched. May be NULL if `max_to_return`
///   is 0.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `entries_returned` is NULL |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` | `max_to_return` is negative, 0, or too small for the entries there are |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | the list, or a pointer in it that is needed, is NULL |
///
/// # Specification
/// uDAPL 1.2, dat_registry_list_providers(3DAT).
///
/// # Safety
/// Each pointer must be NULL or valid for what is said above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dat_registry_list_providers(
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
        let list = REGISTRY.list();
        let count = DAT_COUNT::try_from(list.len()).unwrap_or(DAT_COUNT::MAX);
        if room == 0 || room < list.len() {
            // SAFETY: not NULL as checked, and writable as the caller promises.
            unsafe { entries_returned.write(count) };
            return Err(invalid(DAT_INVALID_ARG1));
        }
        // SAFETY: the caller promises `room` elements, and there are no more entries than that.
        let element = |index| unsafe { dat_provider_list.add(index).read() };
        if (0..list.len()).any(|index| element(index).is_null()) {
            return Err(invalid(DAT_INVALID_ARG3));
        }
        for (index, identity) in list.iter().enumerate() {
            // SAFETY: not NULL as checked, and writable as the caller promises.
            unsafe { element(index).write(info_of(identity)) };
        }
        // SAFETY: not NULL as checked, and writable as the caller promises.
        unsafe { entries_returned.write(count) };
        Ok(())
    })
}

const _: unsafe extern "C" fn(DAT_COUNT, *mut DAT_COUNT, *mut *mut DAT_PROVIDER_INFO) -> DAT_RETURN =
    functions::registry::dat_registry_list_providers;

symver!(dat_registry_add_provider);

/// Makes a provider known under an identity: name, version and thread safety.
///
/// A provider calls it from its dat_provider_init, or a program that brings its own provider calls it
/// at any time. The table is used where it is and must stay there until it is removed; the
/// information is copied. Thread-safe; may be called from a library's constructor.
///
/// # Parameters
/// * `provider` - in, the table of the provider's functions.
/// * `provider_info` - in, the identity.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` | `provider` is NULL or not aligned |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `provider_info` is NULL, its name is empty or has no end, or its major version is not 1, whose table this is |
/// | `DAT_PROVIDER_ALREADY_REGISTERED` | a provider has this identity |
/// | `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY` | too many tables |
///
/// # Specification
/// uDAPL 1.2, dat_registry_add_provider(3DAT).
///
/// # Safety
/// Each pointer must be NULL or valid for what is said above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dat_registry_add_provider(
    provider: *const DAT_PROVIDER,
    provider_info: *const DAT_PROVIDER_INFO,
) -> DAT_RETURN {
    slow(|| {
        if provider.is_null() || !provider.is_aligned() {
            return Err(invalid(DAT_INVALID_ARG1));
        }
        // SAFETY: the caller's promise about `provider_info`.
        let info = unsafe { provider_info.as_ref() }.ok_or(invalid(DAT_INVALID_ARG2))?;
        let identity = identity_of(info)
            .filter(|identity| identity.major == DAT_VERSION_MAJOR)
            .ok_or(invalid(DAT_INVALID_ARG2))?;
        log::debug!("{} registers", identity.name.to_string_lossy());
        REGISTRY.add(identity, Table(provider)).map_err(|error| match error {
            AddError::AlreadyRegistered => DAT_ERROR(DAT_PROVIDER_ALREADY_REGISTERED, DAT_NO_SUBTYPE),
            AddError::Full => DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY),
        })
    })
}

const _: unsafe extern "C" fn(*const DAT_PROVIDER, *const DAT_PROVIDER_INFO) -> DAT_RETURN =
    functions::dat_registry::dat_registry_add_provider;

symver!(dat_registry_remove_provider);

/// Takes a provider away again.
///
/// A provider calls it from its dat_provider_fini, or whoever added the provider calls it. On return
/// the table is no longer used, unless it stands under other identities too, and handles that point to
/// it are invalid. Thread-safe.
///
/// # Parameters
/// * `provider` - in, the table that was added.
/// * `provider_info` - in, the identity that it was added under.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG1` | `provider` is NULL |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | `provider_info` is NULL, or `provider` is not registered under it |
/// | `DAT_PROVIDER_IN_USE` | instances of it are open |
///
/// # Specification
/// uDAPL 1.2, dat_registry_remove_provider(3DAT).
///
/// # Safety
/// Each pointer must be NULL or valid for what is said above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dat_registry_remove_provider(
    provider: *const DAT_PROVIDER,
    provider_info: *const DAT_PROVIDER_INFO,
) -> DAT_RETURN {
    slow(|| {
        if provider.is_null() {
            return Err(invalid(DAT_INVALID_ARG1));
        }
        // SAFETY: the caller's promise about `provider_info`.
        let info = unsafe { provider_info.as_ref() }.ok_or(invalid(DAT_INVALID_ARG2))?;
        let identity = identity_of(info).ok_or(invalid(DAT_INVALID_ARG2))?;
        REGISTRY.remove(&identity, Table(provider)).map_err(|error| match error {
            RemoveError::NotRegistered => invalid(DAT_INVALID_ARG2),
            RemoveError::InUse => DAT_ERROR(DAT_PROVIDER_IN_USE, DAT_NO_SUBTYPE),
        })
    })
}

const _: unsafe extern "C" fn(*const DAT_PROVIDER, *const DAT_PROVIDER_INFO) -> DAT_RETURN =
    functions::dat_registry::dat_registry_remove_provider;
