//! dat_registry_providers_related: adapters that can take over each other's connections.

use std::ffi::CStr;

use dat_library::api::{Api, OUT_OF_MEMORY};
use dat_library::guard::making;
use dat_registry::{Missing, Purpose};
use dat_udat20::{
    DAT_BOOLEAN, DAT_FALSE, DAT_HA_CONFLICTING, DAT_HA_FALSE, DAT_HA_RELATIONSHIP, DAT_HA_TRUE, DAT_HA_UNKNOWN,
    DAT_IA_HANDLE, DAT_NAME_MAX_LENGTH, DAT_NAME_PTR, DAT_PROVIDER, DAT_RETURN, DAT_SUCCESS,
};
use host::cstr;

/// Stores how two adapters are related: asks the provider of each that is open about the other. Loads no library.
///
/// # Safety
/// Each pointer must be NULL or valid as the manual page describes.
pub unsafe fn dat_registry_providers_related<A: Api>(
    name1: DAT_NAME_PTR,
    name2: DAT_NAME_PTR,
    relationship: *mut DAT_HA_RELATIONSHIP,
) -> DAT_RETURN {
    making::<A>(|| {
        // SAFETY: the name is NULL or valid, as the caller promises.
        let first = unsafe { cstr::bounded(name1, DAT_NAME_MAX_LENGTH) }.ok_or(A::CODES.argument(1))?;
        // SAFETY: the name is NULL or valid, as the caller promises.
        let second = unsafe { cstr::bounded(name2, DAT_NAME_MAX_LENGTH) }.ok_or(A::CODES.argument(2))?;
        if relationship.is_null() {
            return Err(A::CODES.argument(3));
        }
        for name in [first, second] {
            if !A::statics().registry.has_name(name).map_err(|_| OUT_OF_MEMORY)? {
                return Err(A::CODES.not_found(Missing::Name));
            }
        }
        let answer = if first == second {
            DAT_HA_TRUE
        } else {
            match (asked::<A>(first, second), asked::<A>(second, first)) {
                (Some(one), Some(other)) if one != other => DAT_HA_CONFLICTING,
                (Some(true), _) | (_, Some(true)) => DAT_HA_TRUE,
                (Some(false), _) | (_, Some(false)) => DAT_HA_FALSE,
                (None, None) => DAT_HA_UNKNOWN,
            }
        };
        // SAFETY: not NULL as checked, and writable as the caller promises.
        unsafe { relationship.write_unaligned(answer) };
        Ok(())
    })
}

/// Asks the provider of `name` whether `other` is related. Returns `None` if `name` is not open, or if the provider
/// does not know.
fn asked<A: Api>(name: &CStr, other: &CStr) -> Option<bool> {
    let (_, address, ticket) = A::statics().registry.instance(Purpose::Use, |_, its_name| its_name == name)?;
    let table: *const DAT_PROVIDER = ticket.table.0.cast();
    // SAFETY: the ticket keeps the table registered, and registered tables are of this version.
    let answer = unsafe { (*table).ia_ha_related_func }.and_then(|related| {
        let handle: DAT_IA_HANDLE = std::ptr::with_exposed_provenance_mut(address);
        let mut answer: DAT_BOOLEAN = DAT_FALSE;
        // SAFETY: the registry has just returned this handle of an open adapter, and the function does not write the
        // name, a C string.
        let code = unsafe { related(handle, other.as_ptr().cast_mut(), &mut answer) };
        (code == DAT_SUCCESS).then_some(answer != DAT_FALSE)
    });
    A::statics().registry.release(ticket);
    answer
}
