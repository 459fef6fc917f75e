//! Adapters that can take over each other's connections. libdat has no such adapters.

use dat_core::Ia;
use dat_core::error::Role;
use dat_udat20::{DAT_BOOLEAN, DAT_IA_HANDLE, DAT_NAME_MAX_LENGTH, DAT_NAME_PTR, DAT_RETURN};
use host::cstr;

use crate::attr::boolean;
use crate::call::slow;
use crate::handle::find;
use crate::ptr::OutPtr;
use crate::v20::Udat20;
use crate::{Fault, Provider};

/// Slot of dat_ia_ha_related. The answer is true only for the adapter's own name.
///
/// # Safety
/// The name is NULL or a C string.
pub unsafe fn dat_ia_ha_related<F: Provider<Version = Udat20>>(
    ia_handle: DAT_IA_HANDLE,
    provider: DAT_NAME_PTR,
    answer: OutPtr<DAT_BOOLEAN>,
) -> DAT_RETURN {
    slow::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        // SAFETY: the caller passes NULL or a C string.
        let name = unsafe { cstr::bounded(provider, DAT_NAME_MAX_LENGTH) }.ok_or(Fault::Argument(2))?;
        answer.required(3)?.write(boolean(name.to_bytes() == ia.name.as_bytes()));
        Ok(())
    })
}
