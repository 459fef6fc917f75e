//! The registry as programs and providers see it.

use dat_registry::{AddError, Identity, RemoveError};
use dat_udat::dat::DAT_PROVIDER_INFO;
use dat_udat::dat_error::DAT_RETURN;
use dat_udat::dat_platform_specific::DAT_COUNT;

use crate::api::Api;
use crate::elsewhere::passed_on;
use crate::guard::{slow, slow_for_provider};
use crate::provider::{Table, identity_of, info_of};

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
            let count = DAT_COUNT::try_from(listed).unwrap_or(DAT_COUNT::MAX);
            if room == 0 || room < listed {
                // SAFETY: not NULL as checked, and writable as the caller promises.
                unsafe { entries_returned.write_unaligned(count) };
                return Err(A::CODES.argument(1));
            }
            // SAFETY: the caller promises `room` elements, and there are no more entries than that.
            let element = |index| unsafe { dat_provider_list.wrapping_add(index).read_unaligned() };
            if (0..listed).any(|index| element(index).is_null()) {
                return Err(A::CODES.argument(3));
            }
            for (index, identity) in identities.enumerate() {
                // SAFETY: not NULL as checked, and writable as the caller promises.
                unsafe { element(index).write_unaligned(info_of(identity)) };
            }
            // SAFETY: not NULL as checked, and writable as the caller promises.
            unsafe { entries_returned.write_unaligned(count) };
            Ok(())
        };
        A::statics().registry.visit(all).unwrap_or(Err(A::CODES.out_of_memory))
    })
}

/// Registers the table, if its identity is valid. A provider for another version goes to that version's library, if the
/// process has it.
///
/// # Safety
/// Each pointer must be NULL or valid as its parameter says.
pub unsafe fn dat_registry_add_provider<A: Api>(
    provider: *const A::Provider,
    provider_info: *const DAT_PROVIDER_INFO,
) -> DAT_RETURN {
    slow_for_provider::<A>(|| {
        if provider.is_null() || !provider.is_aligned() {
            return Err(A::CODES.argument(1));
        }
        // SAFETY: the caller's promise.
        let elsewhere = unsafe { passed_on::<A>(c"dat_registry_add_provider", provider.cast(), provider_info) };
        if let Some(result) = elsewhere {
            return result;
        }
        // SAFETY: the caller's promise about `provider_info`.
        let identity = unsafe { identity_at(provider_info) }
            .filter(|identity| identity.major == A::VERSION.major)
            .ok_or(A::CODES.argument(2))?;
        log::debug!(target: host::diagnostics::REGISTERED, "{}: a provider registers", identity.name.to_string_lossy());
        A::statics().registry.add(identity, Table(provider.cast())).map_err(|error| match error {
            AddError::AlreadyRegistered => A::CODES.already_registered,
            AddError::Full => A::CODES.out_of_memory,
        })
    })
}

/// Removes the table from the registry.
///
/// # Safety
/// Each pointer must be NULL or valid as its parameter says.
pub unsafe fn dat_registry_remove_provider<A: Api>(
    provider: *const A::Provider,
    provider_info: *const DAT_PROVIDER_INFO,
) -> DAT_RETURN {
    slow_for_provider::<A>(|| {
        if provider.is_null() {
            return Err(A::CODES.argument(1));
        }
        // SAFETY: the caller's promise.
        let elsewhere = unsafe { passed_on::<A>(c"dat_registry_remove_provider", provider.cast(), provider_info) };
        if let Some(result) = elsewhere {
            return result;
        }
        // SAFETY: the caller's promise about `provider_info`.
        let identity = unsafe { identity_at(provider_info) }.ok_or(A::CODES.argument(2))?;
        log::debug!(target: host::diagnostics::REGISTERED, "{}: a provider is to be removed", identity.name.to_string_lossy());
        A::statics().registry.remove(&identity, Table(provider.cast())).map_err(|error| match error {
            RemoveError::NotRegistered => A::CODES.argument(2),
            RemoveError::InUse => A::CODES.in_use,
        })
    })
}
