//! Connection requests.

use dat_core::Cr;
use dat_core::error::Role;
use dat_udat20::{DAT_COUNT, DAT_CR_HANDLE, DAT_PVOID, DAT_RETURN};

use crate::call::slow;
use crate::ep::connect;
use crate::handle::find;
use crate::v20::Udat20;
use crate::{At, Provider};

/// Slot of dat_cr_reject.
///
/// # Safety
/// `private_data` is NULL or has `private_data_size` bytes.
pub unsafe fn dat_cr_reject<F: Provider<Version = Udat20>>(
    cr_handle: DAT_CR_HANDLE,
    private_data_size: DAT_COUNT,
    private_data: DAT_PVOID,
) -> DAT_RETURN {
    slow::<F>(|| {
        let cr = find::<F, Cr<F::Transport>>(cr_handle, Role::Cr)?;
        let most = cr.ia().attributes().max_reject_data;
        // SAFETY: the caller guarantees that `private_data` is NULL or has `private_data_size` bytes.
        let private_data = unsafe { connect::private_data(private_data_size, private_data, most, 2) }?;
        cr.reject(&private_data).at(&[])
    })
}
