//! The provider table.

use dat_udat12::*;

use crate::Udat12 as Udat;

/// The slots, each with the name of its call.
mod slots {
    pub use dat_provider_common::slots::*;

    pub use crate::cr::dat_cr_reject;
    pub use crate::lmr::dat_lmr_create;
    pub use crate::rmr::dat_rmr_bind;
}

/// What stands in the table, each with the name of its call.
mod functions {
    use super::*;

    for_each_call!(dat_provider_common::function);
}

for_each_slot!(dat_provider_common::table);
