//! Connection requests.

use dat_core::Cr;
use dat_core::error::Role;
use dat_provider_common::call::slow;
use dat_provider_common::handle::find;
use dat_provider_common::{At, Provider};
use dat_udat12::{DAT_CR_HANDLE, DAT_RETURN};

use crate::Udat12;

/// Slot of dat_cr_reject.
pub fn dat_cr_reject<F: Provider<Version = Udat12>>(cr_handle: DAT_CR_HANDLE) -> DAT_RETURN {
    slow::<F>(|| find::<F, Cr<F::Transport>>(cr_handle, Role::Cr)?.reject(&[]).at(&[]))
}
