//! Connection requests.

use dat_core::Cr;
use dat_core::error::Role;
use dat_udat12::{DAT_CR_HANDLE, DAT_RETURN};

use crate::call::slow;
use crate::handle::find;
use crate::v12::Udat12;
use crate::{At, Provider};

/// Slot of dat_cr_reject.
pub fn dat_cr_reject<F: Provider<Version = Udat12>>(cr_handle: DAT_CR_HANDLE) -> DAT_RETURN {
    slow::<F>(|| find::<F, Cr<F::Transport>>(cr_handle, Role::Cr)?.reject(&[]).at(&[]))
}
