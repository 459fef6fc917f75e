//! The provider table.

use dat_udat12::*;

use crate::Udat12 as Udat;

/// Slots by the name of their call.
mod slots {
    pub use dat_provider_common::slots::*;

    pub use crate::cr::dat_cr_reject;
    pub use crate::lmr::dat_lmr_create;
    pub use crate::rmr::dat_rmr_bind;
}

/// Functions of the table by the name of their call.
mod functions {
    use super::*;

    for_each_call!(dat_provider_common::function);
}

for_each_slot!(dat_provider_common::table);
