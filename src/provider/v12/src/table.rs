//! The provider table.

use dat_udat12::*;

use crate::Udat12 as Udat;

/// Slots by the name of their call.
mod slots {
    pub use dat_provider_common::slots::*;

    pub use crate::cno::*;
    pub use crate::cr::*;
    pub use crate::ep::*;
    pub use crate::lmr::*;
    pub use crate::rmr::*;
}

for_each_call!(dat_provider_common::table);
