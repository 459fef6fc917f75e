//! Interface adapters.

#![expect(missing_docs, reason = "the list of calls documents the slots")]

use std::mem;
use std::ptr::null_mut;

use dat_core::error::{Arg, Role};
use dat_core::{AsyncEvd, Evd, Ia};
use dat_udat::*;
use host::{cstr, memory};

use crate::call::{making, slow};
use crate::handle::{find, give, handle_of, raw};
use crate::ptr::OutPtr;
use crate::registration::RegistryFunction;
use crate::{At, Fault, Provider, Version};

type IaAttr<F> = <<F as Provider>::Version as Version>::IaAttr;
type ProviderAttr<F> = <<F as Provider>::Version as Version>::ProviderAttr;

/// Returns the program's handle of an adapter. Some registries translate the provider's handle, so this function asks
/// the registry.
pub fn ia_handle<F: Provider>(ia: &Ia<F::Transport>) -> DAT_IA_HANDLE {
    let handle = handle_of(ia);
    if F::Version::IA_HANDLES.is_none() {
        return handle;
    }
    let ask = F::domain().registrations().of(ia.face).and_then(|known| known.ia_handles);
    ask.map_or(handle, |ask| {
        type Ask = unsafe extern "C" fn(DAT_IA_HANDLE, *mut DAT_IA_HANDLE) -> DAT_RETURN;
        // SAFETY: the registry exports this function under the name of that type.
        let ask = unsafe { mem::transmute::<RegistryFunction, Ask>(ask) };
        let mut number = handle;
        // SAFETY: the function accepts any handle; `number` is a live variable.
        let code = unsafe { ask(handle, &mut number) };
        if code == DAT_SUCCESS && !number.is_null() { number } else { handle }
    })
}

/// Slot of dat_ia_openv. The registry has already checked version and thread safety.
///
/// # Safety
/// `name` is NULL or a C string; `async_evd_handle` is NULL, or readable and writable.
pub unsafe fn dat_ia_openv<F: Provider>(
    name: DAT_NAME_PTR,
    async_evd_qlen: DAT_COUNT,
    async_evd_handle: OutPtr<DAT_EVD_HANDLE>,
    ia_handle: OutPtr<DAT_IA_HANDLE>,
) -> DAT_RETURN {
    making::<F>(|| {
        // SAFETY: the caller promises NULL or a C string.
        let name = unsafe { cstr::bounded(name, DAT_NAME_MAX_LENGTH) }.ok_or(Fault::Argument(1))?;
        let out = ia_handle.required(4).map_err(|_| Fault::Handle(Role::Ia))?;
        let async_evd_handle = async_evd_handle.required(3)?;
        let domain = F::domain();
        let (face, instance) = {
            let mut registrations = domain.registrations();
            let (registration, known) = registrations.newest(name, F::Version::MAJOR).ok_or(Fault::NotRegistered)?;
            known.thread_safe = registration.identity.thread_safe;
            (known.adapter.face(), memory::text(&registration.instance_data)?)
        };
        // SAFETY: the caller promises a readable argument.
        let wanted = unsafe { async_evd_handle.read() };
        let (async_evd, number) = if wanted.is_null() {
            let qlen = usize::try_from(async_evd_qlen).ok().filter(|&qlen| qlen > 0).ok_or(Fault::Argument(2))?;
            (AsyncEvd::Create(qlen), None)
        } else if wanted == DAT_EVD_ASYNC_EXISTS {
            (AsyncEvd::Elsewhere, Some(DAT_EVD_OUT_OF_SCOPE))
        } else {
            (AsyncEvd::Given(find::<F, Evd<F::Transport>>(wanted, Role::EvdAsync)?), Some(wanted))
        };
        let made = matches!(async_evd, AsyncEvd::Create(qlen) if qlen < F::Version::MIN_ASYNC_QLEN);
        let ia = Ia::open(&domain.arena, face, &name.to_string_lossy(), &instance, async_evd, F::Version::API_CAPS)
            .at(&[(Arg::QueueLength, 2)])?;
        if made {
            if let Some(evd) = ia.async_evd().and_then(|evd| find::<F, Evd<F::Transport>>(raw(evd), Role::Evd).ok()) {
                // Ignores an error, because the program did not request this size.
                let _ = evd.resize(F::Version::MIN_ASYNC_QLEN);
            }
        }
        async_evd_handle.write(number.unwrap_or_else(|| ia.async_evd().map_or(null_mut(), raw)));
        give(out, &ia)
    })
}

pub fn dat_ia_query<F: Provider>(
    ia_handle: DAT_IA_HANDLE,
    async_evd_handle: OutPtr<DAT_EVD_HANDLE>,
    ia_attr_mask: DAT_IA_ATTR_MASK,
    ia_attr: OutPtr<IaAttr<F>>,
    provider_attr_mask: DAT_PROVIDER_ATTR_MASK,
    provider_attr: OutPtr<ProviderAttr<F>>,
) -> DAT_RETURN {
    slow::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        if ia_attr_mask & !F::Version::IA_FIELDS != 0 {
            return Err(Fault::Argument(3));
        }
        let ia_attr = if ia_attr_mask == 0 { None } else { Some(ia_attr.required(4)?) };
        if provider_attr_mask & !F::Version::PROVIDER_FIELDS != 0 {
            return Err(Fault::Argument(5));
        }
        let provider_attr = if provider_attr_mask == 0 { None } else { Some(provider_attr.required(6)?) };
        async_evd_handle.offer(ia.async_evd().map_or(DAT_EVD_OUT_OF_SCOPE, raw));
        if let Some(out) = ia_attr {
            out.write(F::Version::ia_attr::<F>(&ia));
        }
        if let Some(out) = provider_attr {
            let thread_safe = F::domain().registrations().of(ia.face).is_none_or(|known| known.thread_safe);
            out.write(F::Version::provider_attr::<F>(&ia, thread_safe));
        }
        Ok(())
    })
}

pub fn dat_ia_close<F: Provider>(ia_handle: DAT_IA_HANDLE, close_flags: DAT_CLOSE_FLAGS) -> DAT_RETURN {
    slow::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        match close_flags {
            DAT_CLOSE_ABRUPT_FLAG => ia.close_abrupt().at(&[]),
            DAT_CLOSE_GRACEFUL_FLAG => ia.close_graceful().at(&[]),
            _ => Err(Fault::Argument(2)),
        }
    })
}
